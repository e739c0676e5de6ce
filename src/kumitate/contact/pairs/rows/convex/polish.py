"""The normal of two solids with round parts, made exact: Newton's method on the support function."""

from __future__ import annotations

import math

import numpy as np

from .....procedure import Floats, Ints, Shaped, local, local_ints, procedure
from ..solids import Solids, across
from .support import Couple, Difference, lift

_ROUNDS = 5
#: A step shorter than this is the last; one longer than the other leads elsewhere [rad].
_SHORTEST, _LONGEST = 1e-8, 0.1
#: Corners with less weight do not matter; flat parts closer than this part of the size are one.
_WEIGHT, _ONE = 1e-7, 1e-9
#: Two directions are different from this sine of their angle on.
_SPREAD = 1e-3
#: How far outside of its corners the closest point may be, by rounding [1].
_BEYOND = 1e-6
#: A disk seen along its axis, to this [1], is flat.
_FLAT = 1e-6


@procedure
def _flat_part(solids: Solids, i: int, point: Shaped[3]) -> None:
    """Takes the round part from a point of solid i, in the solid's frame."""
    if solids.spans[i, 1] == 0:
        for c in range(3):
            if solids.sizes[i, c] == 0.0:
                point[c] = 0.0


@procedure
def _flat_difference(couple: Couple, points: Difference, k: int, flat: Shaped[3]) -> None:
    """Point k of the difference without round parts, in the frame A."""
    W, P, B, p, q = points.W, points.P, couple.B, local(3), local(3)
    p[:] = P[k]
    q[:] = (W[k] + p - B[3]) @ B[0:3]
    _flat_part(couple.solids, couple.a, p)
    _flat_part(couple.solids, couple.b, q)
    flat[:] = B[0:3] @ q + B[3] - p


@procedure
def _bend(size: Shaped[8], m: Shaped[3], t: Shaped[3], u: Shaped[3], sums: Shaped[5]) -> float:
    """Adds, of an ellipsoid, tᵀw and uᵀw of its furthest point w along m, and tᵀHt, uᵀHu, tᵀHu of its derivative H.

    Returns its extent along m [m].
    """
    squares = size[3:6] * size[3:6]
    square = squares * m @ m
    if square == 0.0:
        return 0.0
    along = math.sqrt(square)
    e = squares / along
    wt, wu = e * m @ t, e * m @ u
    sums[0] += wt
    sums[1] += wu
    sums[2] += e * t @ t - wt * wt / along
    sums[3] += e * u @ u - wu * wu / along
    sums[4] += e * t @ u - wt * wu / along
    return along


@procedure
def _edges(
    couple: Couple, size: float, points: Difference, weights: Shaped[4], count: int, axes: Shaped[3, 3], which: Ints
) -> int:
    """How many directions the flat parts of the corners that matter have between them, 0, 1 or 2; `which` differ by these.

    Where one such part, one such direction, and the unit vector across two of them are written is `axes`.
    """
    flat, edge, normal, here, found, first = axes[0], axes[1], axes[2], local(3), 0, True
    for k in range(count):
        if weights[k] > _WEIGHT:
            _flat_difference(couple, points, k, here)
            if first:
                flat[:] = here
                which[0], first = k, False
            else:
                d = here - flat
                length = math.sqrt(d @ d)
                if length > _ONE * size:
                    d *= 1.0 / length
                    if found == 0:
                        edge[:] = d
                        which[1], found = k, 1
                    else:
                        aside = np.cross(edge, d)
                        sine = math.sqrt(aside @ aside)
                        if sine > _SPREAD:
                            normal[:] = aside / sine
                            which[2], found = k, 2
    return found


@procedure
def _is_flat(size: Shaped[8], reach: float) -> bool:
    """Whether a disk is seen along its axis, with its extent along the normal."""
    largest = max(size[3], size[4], size[5])
    return largest > 0.0 and reach < _FLAT * largest


@procedure
def _seen_flat(size: Shaped[8], along: Shaped[3]) -> bool:
    """Whether a solid is a disk that is seen along its axis."""
    e = size[3:6] * along
    return _is_flat(size, math.sqrt(e @ e))


@procedure
def _weigh(couple: Couple, points: Difference, weights: Shaped[4], found: Shaped[8], edges: int, which: Ints) -> bool:
    """Chooses the weights of the corners so that their flat parts and the round part at the normal make up the gap, if any do.

    That at the normal is point 3. Without such weights, other corners are closest.
    """
    target, start, end, e = local(3), local(3), local(3), local(2, 3)
    _flat_difference(couple, points, 3, target)
    _flat_difference(couple, points, which[0], start)
    target += found[3] * found[0:3] - points.W[3] - start
    for i in range(edges):
        _flat_difference(couple, points, which[1 + i], end)
        e[i] = end - start
    aa, bb, ab, ad, bd, s, r = e[0] @ e[0], e[1] @ e[1], e[0] @ e[1], e[0] @ target, e[1] @ target, 0.0, 0.0
    if edges == 1:
        s = ad / aa
    elif edges == 2:
        s, r = (ad * bb - bd * ab) / (aa * bb - ab * ab), (bd * aa - ad * ab) / (aa * bb - ab * ab)
    if min(s, r, 1.0 - s - r) < -_BEYOND:
        return False
    weights[0:3] = 0.0
    weights[which[0]] += 1.0 - s - r
    if edges > 0:
        weights[which[1]] += s
    if edges > 1:
        weights[which[2]] += r
    return True


@procedure
def _step(couple: Couple, flat: Shaped[3], edge: Shaped[3], edges: int, m: Shaped[3]) -> float:
    """One step of Newton's method on the unit sphere, (tᵀHt − mᵀw) s = −tᵀw, m + t s, for all t across m.

    Returns its length; infinite if it cannot be made or is too long.
    """
    size_a, size_b, B = couple.solids.sizes[couple.a], couple.solids.sizes[couple.b], couple.B
    u, sums = local(3), local(5)
    u[:] = edge
    if edges == 0:
        across(m, u)
    t = np.cross(m, u)
    sums[0], sums[1] = flat @ t, flat @ u
    extent_a = _bend(size_a, m, t, u, sums)
    extent_b = _bend(size_b, m @ B[0:3], t @ B[0:3], u @ B[0:3], sums)
    if _is_flat(size_a, extent_a) or _is_flat(size_b, extent_b):
        return math.inf
    reach = flat @ m + extent_a + extent_b
    tt, uu, tu, s, r = sums[2] - reach, sums[3] - reach, sums[4], 0.0, 0.0
    if edges == 1 and tt > 0.0:
        s = -sums[0] / tt
    elif edges == 0 and tt > 0.0 and tt * uu > tu * tu:
        s = (sums[1] * tu - sums[0] * uu) / (tt * uu - tu * tu)
        r = (sums[0] * tu - sums[1] * tt) / (tt * uu - tu * tu)
    else:
        return math.inf
    m += s * t + r * u
    m *= 1.0 / math.sqrt(m @ m)
    return abs(s) + abs(r) if abs(s) + abs(r) < _LONGEST else math.inf


@procedure
def polish(couple: Couple, size: float, points: Difference, weights: Shaped[4], found: Shaped[8]) -> bool:
    """Makes the normal and the gap in `found` exact, for solids without their balls of which one has a round part, if it can.

    At the closest or shallowest place the vector w between the two furthest points is along the normal m: tᵀw = 0 for all t
    across m. Where edges meet something round, m is across these; where faces do, m is across two edges. The search, whose
    simplex the points and weights are, has to come close enough first.
    """
    axes = local(3, 3)
    flat, edge, m, which = axes[0], axes[1], axes[2], local_ints(3)
    edges = _edges(couple, size, points, weights, int(found[7]), axes, which)
    step = 0.0
    if edges == 2:
        m *= math.copysign(1.0, -(m @ found[0:3]))
    else:
        along = -(found[0:3] @ edge) if edges == 1 else 0.0
        m[:] = -found[0:3] - along * edge
        m *= 1.0 / math.sqrt(m @ m)
        for _ in range(_ROUNDS):
            step = _step(couple, flat, edge, edges, m)
            if step < _SHORTEST or step == math.inf:
                break
    if step >= _SHORTEST:
        return False
    old = lift(couple, found[0:3], points, 3)
    new = lift(couple, -m, points, 3)
    if new < old - 1e-15 * size:
        return False
    found[0:3] = -m
    found[3] = new
    sizes, in_b = couple.solids.sizes, m @ couple.B[0:3]
    if _seen_flat(sizes[couple.a], m) or _seen_flat(sizes[couple.b], in_b):
        return True
    return _weigh(couple, points, weights, found, edges, which)


@procedure
def closest_point(solids: Solids, a: int, P: Floats[3], weights: Shaped[4], found: Shaped[8]) -> None:
    """Writes into found[4:7] the point of A at the normal, by the weights of the corners of the simplex."""
    p, size = local(3), solids.sizes[a]
    e = size[3:6] * found[0:3]
    along = math.sqrt(e @ e)
    curved = along > 0.0 and not _is_flat(size, along)
    found[4:7] = 0.0
    for k in range(int(found[7])):
        p[:] = P[k]
        if curved:
            _flat_part(solids, a, p)
        found[4:7] += weights[k] * p
    if curved:
        found[4:7] += size[3:6] * e / along
