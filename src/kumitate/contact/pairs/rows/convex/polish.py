"""The normal of two solids with round parts, made exact: Newton's method on the support function."""

from __future__ import annotations

import math

from .....procedure import Floats, Ints, Shaped, local, local_ints, procedure
from ..frames import across, inverse_turned, local_point, turned
from ..solids import Solids
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
    p = local(3)
    q = local(3)
    W, P, B = points.W, points.P, couple.B
    p[0], p[1], p[2] = P[k, 0], P[k, 1], P[k, 2]
    q[0], q[1], q[2] = local_point(B, W[k, 0] + p[0], W[k, 1] + p[1], W[k, 2] + p[2])
    _flat_part(couple.solids, couple.a, p)
    _flat_part(couple.solids, couple.b, q)
    x, y, z = turned(B, q[0], q[1], q[2])
    flat[0], flat[1], flat[2] = x + B[9] - p[0], y + B[10] - p[1], z + B[11] - p[2]


@procedure
def _bend(size: Shaped[8], m: Shaped[3], t: Shaped[3], u: Shaped[3], sums: Shaped[5]) -> float:
    """Adds, of an ellipsoid, tᵀw and uᵀw of its furthest point w along m, and tᵀHt, uᵀHu, tᵀHu of its derivative H.

    Returns:
        The ellipsoid's extent along m [m].
    """
    square = 0.0
    for c in range(3):
        square += size[3 + c] * size[3 + c] * m[c] * m[c]
    if square == 0.0:
        return 0.0
    along = math.sqrt(square)
    wt, wu, tt, uu, tu = 0.0, 0.0, 0.0, 0.0, 0.0
    for c in range(3):
        e = size[3 + c] * size[3 + c] / along
        wt += e * m[c] * t[c]
        wu += e * m[c] * u[c]
        tt += e * t[c] * t[c]
        uu += e * u[c] * u[c]
        tu += e * t[c] * u[c]
    sums[0] += wt
    sums[1] += wu
    sums[2] += tt - wt * wt / along
    sums[3] += uu - wu * wu / along
    sums[4] += tu - wt * wu / along
    return along


@procedure
def _edges(
    couple: Couple, size: float, points: Difference, weights: Shaped[4], count: int, axes: Shaped[3, 3], which: Ints
) -> int:
    """How many directions the flat parts of the corners that matter have between them: 0, 1 or 2.

    Args:
        axes: where one such part, one such direction, and the unit vector across two of them are written.
        which: corners that differ by these directions.
    """
    flat, edge, normal = axes[0], axes[1], axes[2]
    here = local(3)
    found = 0
    first = True
    for k in range(count):
        if weights[k] > _WEIGHT:
            _flat_difference(couple, points, k, here)
            if first:
                flat[0], flat[1], flat[2] = here[0], here[1], here[2]
                which[0] = k
                first = False
            else:
                dx, dy, dz = here[0] - flat[0], here[1] - flat[1], here[2] - flat[2]
                length = math.sqrt(dx * dx + dy * dy + dz * dz)
                if length > _ONE * size:
                    dx, dy, dz = dx / length, dy / length, dz / length
                    if found == 0:
                        edge[0], edge[1], edge[2] = dx, dy, dz
                        which[1] = k
                        found = 1
                    else:
                        x, y, z = edge[1] * dz - edge[2] * dy, edge[2] * dx - edge[0] * dz, edge[0] * dy - edge[1] * dx
                        sine = math.sqrt(x * x + y * y + z * z)
                        if sine > _SPREAD:
                            normal[0], normal[1], normal[2] = x / sine, y / sine, z / sine
                            which[2] = k
                            found = 2
    return found


@procedure
def _is_flat(size: Shaped[8], reach: float) -> bool:
    """Whether a disk is seen along its axis, with its extent along the normal."""
    largest = max(size[3], size[4], size[5])
    return largest > 0.0 and reach < _FLAT * largest


@procedure
def _seen_flat(size: Shaped[8], x: float, y: float, z: float) -> bool:
    """Whether a solid is a disk that is seen along its axis."""
    ex, ey, ez = size[3] * x, size[4] * y, size[5] * z
    return _is_flat(size, math.sqrt(ex * ex + ey * ey + ez * ez))


@procedure
def _weigh(couple: Couple, points: Difference, weights: Shaped[4], found: Shaped[8], edges: int, which: Ints) -> bool:
    """Chooses the weights of the corners so that their flat parts and the round part at the normal make up the gap.

    Args:
        points: in row 3 that at the normal.

    Returns:
        Whether there are such weights. If not, other corners are closest.

    """
    target = local(3)
    start = local(3)
    end = local(3)
    e = local(2, 3)
    _flat_difference(couple, points, 3, target)
    _flat_difference(couple, points, which[0], start)
    for c in range(3):
        target[c] += found[3] * found[c] - points.W[3, c] - start[c]
    for i in range(edges):
        _flat_difference(couple, points, which[1 + i], end)
        for c in range(3):
            e[i, c] = end[c] - start[c]
    aa, bb, ab, ad, bd = 0.0, 0.0, 0.0, 0.0, 0.0
    for c in range(3):
        aa += e[0, c] * e[0, c]
        bb += e[1, c] * e[1, c]
        ab += e[0, c] * e[1, c]
        ad += e[0, c] * target[c]
        bd += e[1, c] * target[c]
    s, r = 0.0, 0.0
    if edges == 1:
        s = ad / aa
    elif edges == 2:
        s = (ad * bb - bd * ab) / (aa * bb - ab * ab)
        r = (bd * aa - ad * ab) / (aa * bb - ab * ab)
    if min(s, r, 1.0 - s - r) < -_BEYOND:
        return False
    for k in range(3):
        weights[k] = 0.0
    weights[which[0]] += 1.0 - s - r
    if edges > 0:
        weights[which[1]] += s
    if edges > 1:
        weights[which[2]] += r
    return True


@procedure
def _step(couple: Couple, flat: Shaped[3], edge: Shaped[3], edges: int, m: Shaped[3]) -> float:
    """One step of Newton's method on the unit sphere, (tᵀHt − mᵀw) s = −tᵀw, m + t s, for all t across m.

    Returns:
        Its length; infinite if it cannot be made or is too long.
    """
    size_a, size_b, B = couple.solids.sizes[couple.a], couple.solids.sizes[couple.b], couple.B
    t = local(3)
    u = local(3)
    in_b = local(3, 3)
    sums = local(5)
    x, y, z = m[0], m[1], m[2]
    u[0], u[1], u[2] = edge[0], edge[1], edge[2]
    if edges == 0:
        u[0], u[1], u[2] = across(x, y, z)
    t[0], t[1], t[2] = y * u[2] - z * u[1], z * u[0] - x * u[2], x * u[1] - y * u[0]
    sums[0] = flat[0] * t[0] + flat[1] * t[1] + flat[2] * t[2]
    sums[1] = flat[0] * u[0] + flat[1] * u[1] + flat[2] * u[2]
    extent_a = _bend(size_a, m, t, u, sums)
    in_b[0, 0], in_b[0, 1], in_b[0, 2] = inverse_turned(B, x, y, z)
    in_b[1, 0], in_b[1, 1], in_b[1, 2] = inverse_turned(B, t[0], t[1], t[2])
    in_b[2, 0], in_b[2, 1], in_b[2, 2] = inverse_turned(B, u[0], u[1], u[2])
    extent_b = _bend(size_b, in_b[0], in_b[1], in_b[2], sums)
    if _is_flat(size_a, extent_a) or _is_flat(size_b, extent_b):
        return math.inf
    reach = flat[0] * x + flat[1] * y + flat[2] * z + extent_a + extent_b
    tt, uu, tu = sums[2] - reach, sums[3] - reach, sums[4]
    s, r = 0.0, 0.0
    if edges == 1 and tt > 0.0:
        s = -sums[0] / tt
    elif edges == 0 and tt > 0.0 and tt * uu > tu * tu:
        s = (sums[1] * tu - sums[0] * uu) / (tt * uu - tu * tu)
        r = (sums[0] * tu - sums[1] * tt) / (tt * uu - tu * tu)
    else:
        return math.inf
    x, y, z = x + s * t[0] + r * u[0], y + s * t[1] + r * u[1], z + s * t[2] + r * u[2]
    scale = 1.0 / math.sqrt(x * x + y * y + z * z)
    m[0], m[1], m[2] = x * scale, y * scale, z * scale
    return abs(s) + abs(r) if abs(s) + abs(r) < _LONGEST else math.inf


@procedure
def polish(couple: Couple, size: float, points: Difference, weights: Shaped[4], found: Shaped[8]) -> bool:
    """Makes the normal and the gap in `found` exact, for solids without their balls of which one has a round part.

    At the closest or shallowest place the vector w between the two furthest points is along the normal m: tᵀw = 0 for all t
    across m. Where edges meet something round, m is across these; where faces do, m is across two edges.

    Args:
        points, weights: the simplex with which the search ended; found[7] is the number of its corners.

    Returns:
        Whether it succeeded: the search has to come close enough first.
    """
    axes = local(3, 3)
    flat, edge, m = axes[0], axes[1], axes[2]
    which = local_ints(3)
    edges = _edges(couple, size, points, weights, int(found[7]), axes, which)
    x, y, z = -found[0], -found[1], -found[2]
    step = 0.0
    if edges == 2:
        sign = math.copysign(1.0, m[0] * x + m[1] * y + m[2] * z)
        m[0], m[1], m[2] = sign * m[0], sign * m[1], sign * m[2]
    else:
        along = x * edge[0] + y * edge[1] + z * edge[2] if edges == 1 else 0.0
        x, y, z = x - along * edge[0], y - along * edge[1], z - along * edge[2]
        scale = 1.0 / math.sqrt(x * x + y * y + z * z)
        m[0], m[1], m[2] = x * scale, y * scale, z * scale
        for _ in range(_ROUNDS):
            step = _step(couple, flat, edge, edges, m)
            if step < _SHORTEST or step == math.inf:
                break
    if step >= _SHORTEST:
        return False
    old = lift(couple, found[0], found[1], found[2], points, 3)
    new = lift(couple, -m[0], -m[1], -m[2], points, 3)
    if new < old - 1e-15 * size:
        return False
    found[0], found[1], found[2], found[3] = -m[0], -m[1], -m[2], new
    x, y, z = inverse_turned(couple.B, m[0], m[1], m[2])
    if _seen_flat(couple.solids.sizes[couple.a], m[0], m[1], m[2]) or _seen_flat(couple.solids.sizes[couple.b], x, y, z):
        return True
    return _weigh(couple, points, weights, found, edges, which)


@procedure
def closest_point(solids: Solids, a: int, P: Floats[3], weights: Shaped[4], found: Shaped[8]) -> None:
    """Writes into found[4:7] the point of A at the normal, by the weights of the corners of the simplex."""
    p = local(3)
    size = solids.sizes[a]
    ex, ey, ez = size[3] * found[0], size[4] * found[1], size[5] * found[2]
    along = math.sqrt(ex * ex + ey * ey + ez * ez)
    curved = along > 0.0 and not _is_flat(size, along)
    found[4], found[5], found[6] = 0.0, 0.0, 0.0
    for k in range(int(found[7])):
        p[0], p[1], p[2] = P[k, 0], P[k, 1], P[k, 2]
        if curved:
            _flat_part(solids, a, p)
        for c in range(3):
            found[4 + c] += weights[k] * p[c]
    if curved:
        found[4] += size[3] * ex / along
        found[5] += size[4] * ey / along
        found[6] += size[5] * ez / along
