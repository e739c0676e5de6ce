"""The contact of a step at its solution, linearised: how the generalised impulses of all points change with q and v.

The wrench of a pair changes with the motion and the twist of its link, whose changes by q and v are the columns of its
Jacobian. So the sums over a tree are those of a stiffness matrix, from the leaves to the root.

A point keeps its mode. While it rests, its impulse changes so that its velocity relative to the target stays; while it slides,
so that the normal part does, and friction keeps its size μ λₙ and its direction against the sliding velocity:

    dλ = D dλ − K da,   a = (uₙ − target, u₁, u₂)

for a stiffness K far above that of the mechanism, which is met by repetition: D selects what is carried over from the last
round (the augmented Lagrangian of `newton`). All points of a link add up to 6×6 matrices from its small motions to wrenches.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache, partial, reduce
from typing import Any, NamedTuple

from ...model import Link, PerLink, Tree, inward, outward
from ...model.joints.contract import basis_motions
from ...scalar import (
    Program,
    Scalar,
    Scalars,
    absolute,
    call,
    either,
    equal,
    is_zero,
    jacobian,
    maximum,
    minimum,
    select,
    sqrt,
    trace,
    when,
)
from ...spatial import Dense, DenseRotation, Force, Matrix3, Motion, Transform, Vector3, dot
from ..laws import RECOVERY, tangents
from ..pairs import capacity, touches
from ..scene import Pair
from ..surface import Surface
from .frames import ContactFrame
from .jacobians import NO_STIFFNESS, LinkJacobians, Pattern


class LinearisedPair(NamedTuple):
    """How the wrench on the first link of a pair changes (6×6), about the origin of its twists; and the wrench itself."""

    stiffness: Dense  # less wrench by more twist
    by_motion: Dense  # more by a small motion of the link, which turns its twist, while joints keep their velocities
    carried_over: Dense  # what of the stiffness the second round takes back
    by_motion_over: Dense  # what it adds to the other
    wrench: Force


def linearised_pair(pair: Pair, X_WB: Transform, stiff: float, X_WA: Transform, *state: Any) -> LinearisedPair:
    """A pair of a shape A on a link that moves, and a shape B of the world.

    Args:
        stiff: the stiffness K of points along their axes [kg].
        state: the origin of twists (3), the twist of A (6), the impulses (n, 3) and coefficients of friction (n) of the points,
            the step h, and the speed below which points are at rest.
    """
    surface, (a, b) = pair.surface, (geometry.shape for geometry in pair.geometries)
    assert isinstance(surface, Surface), "derivatives with parameters take another way"
    found = call(_pair_program(a, b, surface, tuple(map(float, _entries(X_WB))), stiff), _entries(X_WA), *state)
    K, by_motion, DK, over = (Dense.of(found[name]) for name in LinearisedPair._fields[:4])
    return LinearisedPair(K, by_motion, DK, over, Force.of(found["wrench"]))


def _entries(X: Transform) -> list[Scalar]:
    """The rotation's rows, and the translation."""
    return [entry for row in X.rotation.matrix() for entry in row] + list(X.translation)


def _pose(entries: Scalars) -> Transform:
    return Transform(DenseRotation(Matrix3.of([entries[0:3], entries[3:6], entries[6:9]])), Vector3.of(entries[9:12]))


@lru_cache(maxsize=256)
def _pair_program(a: Any, b: Any, surface: Surface, X_WB: tuple[float, ...], stiff: float) -> Program:
    """(X_WA, origin of twists, twist, impulses, frictions, h, slow) → the fields of `LinearisedPair`."""
    count, moved = capacity(a, b), jacobian(_moved_program(a, b, surface, X_WB), "motion")

    def pair(X_WA: Any, origin: Any, twist: Any, impulses: Any, frictions: Any, h: Any, slow: Any) -> dict[str, Any]:
        frames = _frames(a, _pose(X_WA), b, _pose(X_WB), Vector3.of(origin), surface)[0]
        along = [frame.components(Vector3.of(part)) for frame, part in zip(frames, impulses, strict=True)]
        found = call(moved, [0.0] * 6, X_WA, origin, twist, along, h)
        now = Motion.of(twist)
        # the twist of a link changes by S × twist too, as a joint that carries it moves by S
        units = basis_motions(range(6))
        swept = [unit.cross(now) for unit in units]
        totals: list[list[list[Scalar]]] = [[[0.0] * 6 for _ in range(6)] for _ in range(4)]
        for p, (frame, impulse, mu) in enumerate(zip(frames, along, frictions, strict=True)):
            K, DK = _law(impulse, frame.along(now), mu, stiff, slow)
            by_twist = [frame.along(unit) for unit in units]
            by_motion = [[x + y for x, y in zip(found["above_by_motion"][k][p], frame.along(swept[k]), strict=True)]
                         for k in range(6)]  # fmt: skip
            for total, matrix, columns in zip(totals, (K, DK, K, DK), (by_twist, by_twist, by_motion, by_motion), strict=True):
                for k, column in enumerate(columns):
                    wrench = frame.wrench([dot(row, column) for row in matrix.rows])
                    for i, part in enumerate(wrench):
                        total[i][k] = total[i][k] + part
        stiffness, carried_over, opening, opening_over = totals
        turning = zip(*found["wrench_by_motion"], strict=True)
        by_motion = [[x - y for x, y in zip(*rows, strict=True)] for rows in zip(turning, opening, strict=True)]
        over = [[-x for x in row] for row in opening_over]
        matrices = (stiffness, by_motion, carried_over, over)
        return dict(zip(LinearisedPair._fields, (*matrices, found["wrench"]), strict=True))

    sizes: dict[str, int | tuple[int, ...]] = {
        "X_WA": 12, "origin": 3, "twist": 6, "impulses": (count, 3), "frictions": count, "h": (), "slow": (),
    }  # fmt: skip
    return trace(pair, sizes, f"linearised_{type(a).__name__}_{type(b).__name__}".lower())


def _moved_program(a: Any, b: Any, surface: Surface, X_WB: tuple[float, ...]) -> Program:
    """(small motion of A, X_WA, origin, twist, impulses along axes, h) → their wrench, and a of every point."""

    def moved(motion: Any, X_WA: Any, origin: Any, twist: Any, along: Any, h: Any) -> dict[str, Any]:
        start, o, turn = _pose(X_WA), Vector3.of(origin), Vector3.of(motion[:3])
        columns = [Vector3.of(column) for column in zip(*start.rotation.matrix(), strict=True)]
        turned = Matrix3.of([list(column + turn.cross(column)) for column in columns]).T
        shift = Vector3.of(motion[3:]) + turn.cross(start.translation - o)
        frames, gaps = _frames(a, Transform(DenseRotation(turned), start.translation + shift), b, _pose(X_WB), o, surface)
        wrench, above = Force(), []
        for frame, gap, impulse in zip(frames, gaps, along, strict=True):
            wrench, u = wrench + frame.wrench(impulse), frame.along(Motion.of(twist))
            above.append([u[0] - minimum(-gap / h, RECOVERY), u[1], u[2]])
        return {"wrench": list(wrench), "above": above}

    count = capacity(a, b)
    inputs: dict[str, int | tuple[int, ...]] = {"motion": 6, "X_WA": 12, "origin": 3, "twist": 6, "along": (count, 3), "h": ()}
    return trace(moved, inputs, f"moved_{type(a).__name__}_{type(b).__name__}".lower())


def _frames(
    a: Any, X_WA: Transform, b: Any, X_WB: Transform, origin: Vector3, surface: Surface
) -> tuple[list[ContactFrame], list[Scalar]]:
    """The frames of all points of A with B in the world, as in `contact_patches`; and their gaps."""
    met = [touch.on_b for touch in touches(a, X_WA, b, X_WB)]
    frames = [ContactFrame(touch.point - origin, (touch.normal, *tangents(touch.normal, surface)), 0.0) for touch in met]
    return frames, [touch.gap for touch in met]


def _law(impulse: Scalars, u: Scalars, friction: Scalar, stiff: float, slow: Scalar) -> tuple[Dense, Dense]:
    """K and DK of a point along its axes."""
    speed = sqrt(maximum(u[1] * u[1] + u[2] * u[2], 1e-300))
    closed, slides = impulse[0] > 0.0, either(speed > slow, equal(friction, 0.0))
    R = select(closed, stiff, 0.0)
    rests, slips = select(slides, 0.0, R), select(slides, R, 0.0)
    x, y = -u[1] / speed, -u[2] / speed
    # friction turns with the velocity: it is stiff across, more so at lower speed
    across = select(slides, minimum(friction * maximum(impulse[0], 0.0) / speed, stiff), 0.0)
    pulled = [friction * x * slips, friction * y * slips]
    K = Dense.of(
        [
            [R, 0.0, 0.0],
            [pulled[0], rests + across * (y * y), -across * (x * y)],
            [pulled[1], -across * (x * y), rests + across * (x * x)],
        ]
    )
    return K, Dense.of([[R, 0.0, 0.0], [pulled[0], rests, 0.0], [pulled[1], 0.0, rests]])


_NOTHING = LinearisedPair(NO_STIFFNESS, NO_STIFFNESS, NO_STIFFNESS, NO_STIFFNESS, Force())


class Pressing(NamedTuple):
    """The points of a pair at the solution: their impulses (n, 3) in the world's axes [N·s], and coefficients of friction."""

    impulses: Sequence[Scalars]
    frictions: Scalars


class LinearisedContact(NamedTuple):
    """How the generalised impulses of all points change; matrices (nv, nv) with the sparsity of the tree."""

    stiffness: Pattern  # JᵀKJ, less impulse by more velocity after the step
    by_q: Pattern  # more impulse by more of a coordinate, while the velocities stay
    carried_over: Pattern  # JᵀDKJ, what the second round takes back
    by_q_over: Pattern  # what it adds to the other


def linearised(
    jacobians: LinkJacobians,
    pairs: Sequence[Pair],
    pressing: Sequence[Pressing],
    q: Scalars,
    v: Scalars,
    h: Scalar,
    stiff: float,
    slow: Scalar,
) -> LinearisedContact:
    """The contact of a step h at its solution; every pair is one of a moving link and the world, without restitution.

    Args:
        q, v: the posture before the step (nq), the velocities after it (nv).
        stiff: the stiffness K of points along their axes [kg].
        slow: points that slide more slowly are at rest [m/s].
    """
    tree, twists = jacobians.tree, jacobians.twists(v)
    on: dict[int, LinearisedPair] = {}
    for pair, points in zip(pairs, pressing, strict=True):
        link = tree.links[pair.links[0]]
        X_WA, X_WB = pair.poses(tree, jacobians.poses)
        state = (list(jacobians.origins[link]), list(twists[link]), *points, h, slow)
        pressed = sum((absolute(part) for impulse in points.impulses for part in impulse), 0.0) > 0.0
        felt = when(pressed, partial(linearised_pair, pair, X_WB, stiff, X_WA, *state), _NOTHING)
        before: Any = on.get(link.index)
        on[link.index] = felt if before is None else LinearisedPair(*(a + b for a, b in zip(before, felt, strict=True)))
    slopes = _subspace_slopes(jacobians, q)
    lagging = _lagging(jacobians, twists, slopes, v)

    wrenches: PerLink[Force] = inward(
        tree, lambda link, behind: sum(behind, on[link.index].wrench if link.index in on else Force())
    )
    columns = _Columns.of(jacobians, lagging, wrenches)
    places, program = _tree_program(tree, tuple(on), columns)

    def summed(stiffness: str, by_motion: str, turned: Sequence[Scalars]) -> list[Pattern]:
        given = ([row for felt in on.values() for row in getattr(felt, name).rows] for name in (stiffness, by_motion))
        found = call(program, *given, columns.S, columns.lag, turned)
        return [
            {i: dict(zip(row, entries[k : k + len(row)], strict=True)) for i, (k, row) in places.items()}
            for entries in (found["by_v"], found["by_q"])
        ]

    first = summed("stiffness", "by_motion", columns.turned)
    over = summed("carried_over", "by_motion_over", [[0.0] * 6] * tree.nv)
    for link in tree.links:  # ∂Sᵀ/∂q F of joints with several degrees of freedom, which turn their own columns
        for i, column in enumerate(jacobians.S[link]):
            for j, moved in enumerate(jacobians.S[link]):
                change = moved.cross(column) + slopes[link][j][i]
                row, k = first[1][link.v_start + i], link.v_start + j
                row[k] = row.get(k, 0.0) + change.dot(wrenches[link])
    return LinearisedContact(*first, *over)


class _Columns(NamedTuple):
    """The columns of joints (nv, 6), what their twists lack, and S ×* F: what ∂Sᵀ/∂q F is for the joints that carry them."""

    S: list[list[Scalar]]
    lag: list[list[Scalar]]
    turned: list[list[Scalar]]

    @classmethod
    def of(cls, jacobians: LinkJacobians, lagging: PerLink[tuple[Motion, ...]], wrenches: PerLink[Force]) -> _Columns:
        """With the wrenches F on each link and all that it carries."""
        S, links = jacobians.S, jacobians.tree.links
        return cls(
            [list(column) for link in links for column in S[link]],
            [list(column) for link in links for column in lagging[link]],
            [list(column.cross_force(wrenches[link])) for link in links for column in S[link]],
        )


def _tree_program(tree: Tree, loaded: Sequence[int], columns: _Columns) -> tuple[dict[int, tuple[int, list[int]]], Program]:
    """(K and F (6×6) of the loaded links, columns) → the entries of Σ Jᵀ K J and of Σ Jᵀ (F J + K lag); and their places.

    By row, the places are those of its first entry and of the columns. Structural zeros of the columns are left out.
    """
    places: dict[int, tuple[int, list[int]]] = {}

    def nonzero(given: Any, known: Sequence[Scalars]) -> list[list[Scalar]]:
        return [[0.0 if is_zero(x) else row[i] for i, x in enumerate(own)] for row, own in zip(given, known, strict=True)]

    def entries(K: Any, F: Any, S: Any, lag: Any, turned: Any) -> dict[str, list[Scalar]]:
        on = {index: tuple(Dense.of(part[6 * k : 6 * k + 6]) for part in (K, F)) for k, index in enumerate(loaded)}
        moved, lags, wrenches = (nonzero(*pair) for pair in zip((S, lag, turned), columns, strict=True))
        by_v, by_q = _summed(tree, on, [*map(Motion.of, moved)], [*map(Motion.of, lags)], [*map(Force.of, wrenches)])
        start = 0
        for i, row in by_v.items():
            places[i], start = (start, list(row)), start + len(row)
        return {
            "by_v": [x for row in by_v.values() for x in row.values()],
            "by_q": [by_q[i][j] for i, row in by_v.items() for j in row],
        }

    matrices, motions = (6 * len(loaded), 6), (tree.nv, 6)
    program = trace(entries, {"K": matrices, "F": matrices, "S": motions, "lag": motions, "turned": motions}, f"felt_{tree.nv}")
    return places, program


def _summed(
    tree: Tree, on: Mapping[int, tuple[Dense, ...]], S: Sequence[Motion], lag: Sequence[Motion], turned: Sequence[Force]
) -> tuple[Pattern, Pattern]:
    """Σ Jᵀ K J and Σ Jᵀ (F J + K lag) over links, with K and F by link index and columns S of joints.

    `turned`: by column, a wrench whose product with the columns of the joints that carry it is added to the second sum.
    """
    by_v: Pattern = {k: {} for k in range(tree.nv)}
    by_q: Pattern = {k: {} for k in range(tree.nv)}

    def stage(link: Link, behind: list[tuple[Dense, ...] | None]) -> tuple[Dense, ...] | None:
        found = [part for part in (on.get(link.index), *behind) if part is not None]
        if not found:
            return None
        K, F = (reduce(Dense.__add__, parts) for parts in zip(*found, strict=True))
        for k in range(link.v_start, link.v_start + link.kind.nv):
            pushed, pushed_by_q = _wrench(K, S[k]), _wrench(F, S[k]) + _wrench(K, lag[k])
            pulled, pulled_by_q = _wrench(K.T, S[k]), _wrench(F.T, S[k]) + turned[k]
            for carrying in tree.ancestors(link.index):
                for i in range(carrying.v_start, carrying.v_start + carrying.kind.nv):
                    by_v[i][k], by_q[i][k] = S[i].dot(pushed), S[i].dot(pushed_by_q)
                    if carrying is not link:
                        by_v[k][i], by_q[k][i] = S[i].dot(pulled), S[i].dot(pulled_by_q) + lag[i].dot(pulled)
        return K, F

    inward(tree, stage)
    return by_v, by_q


def _wrench(matrix: Dense, motion: Motion) -> Force:
    return Force.of([dot(row, motion) for row in matrix.rows])


def _lagging(
    jacobians: LinkJacobians, twists: PerLink[Motion], slopes: PerLink[list[tuple[Motion, ...]]], v: Scalars
) -> PerLink[tuple[Motion, ...]]:
    """What the twist of a carried link lacks of S × twist, as a joint moves by S: S × the twist of the joint's parent."""
    still = Motion()

    def stage(link: Link, _: object) -> tuple[Motion, ...]:
        rates = link.velocities(v)
        parent = twists[link] - sum((S * rate for S, rate in zip(jacobians.S[link], rates, strict=True)), still)
        own = (sum((dS * rate for dS, rate in zip(each, rates, strict=True)), still) for each in slopes[link])
        return tuple(S.cross(parent) - change for S, change in zip(jacobians.S[link], own, strict=True))

    return outward(jacobians.tree, stage, None)


def _subspace_slopes(jacobians: LinkJacobians, q: Scalars) -> PerLink[list[tuple[Motion, ...]]]:
    """∂S/∂q of every joint by coordinate, as seen from its link, in the axes of the world about the origin of twists."""

    def stage(link: Link, _: object) -> list[tuple[Motion, ...]]:
        X = Transform(jacobians.poses[link].rotation, jacobians.poses[link].translation - jacobians.origins[link])
        rates = (link.kind.subspace_rate(link.coordinates(q), unit) for unit in Dense.unit(link.kind.nv).rows)
        return [tuple(S.to_parent(X) for S in rate) for rate in rates]

    return outward(jacobians.tree, stage, None)
