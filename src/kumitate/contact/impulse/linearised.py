"""The laws of contact at the solution of a step, linearised: how the impulses change with the posture and the velocities.

A point keeps its mode. While it rests, its impulse changes so that its velocity relative to the target stays; while it slides,
so that the normal part does, and friction keeps its size μ λₙ and its direction against the sliding velocity:

    dλ = D dλ − K da,   a = (uₙ − target, u₁, u₂)

for a stiffness K far above that of the mechanism, which is met by repetition: D selects what is carried over from the last
round (the augmented Lagrangian of `newton`). All points of a link add up to 6×6 matrices from its small motions to wrenches.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache, partial
from typing import Any, NamedTuple

from ...model import Link, PerLink, Tree, inward, outward
from ...scalar import Program, Scalar, absolute, call, either, equal, jacobian, maximum, minimum, select, sqrt, trace, when
from ...spatial import Dense, DenseRotation, Force, Matrix3, Motion, Transform, Vector3, dot
from ..scene import Pair
from ..shapes import capacity, touches
from .contact_points import RECOVERY, ContactFrame, tangents
from .jacobians import LinkJacobians, Pattern

__all__ = ["LinearisedContact", "Pressing", "linearised"]


class Pressing(NamedTuple):
    """The points of a pair at the solution: their impulses (n, 3) in the world's axes [N·s], and coefficients of friction."""

    impulses: Sequence[Sequence[Scalar]]
    frictions: Sequence[Scalar]


class LinearisedContact(NamedTuple):
    """How the generalised impulses of all points change; matrices (nv, nv) with the sparsity of the tree.

    Attributes:
        stiffness: JᵀKJ, by the velocities after the step; `carried_over`: JᵀDKJ.
        opening: JᵀK ∂a/∂q, by the posture while the velocities stay; `opening_over`: JᵀDK ∂a/∂q.
        turning: ∂(Jᵀλ)/∂q, while λ stays along the axes of the points.
    """

    stiffness: Pattern
    carried_over: Pattern
    opening: Pattern
    opening_over: Pattern
    turning: Pattern


class _OnLink(NamedTuple):
    """The same for one link, from its small motions about the origin of its twists to wrenches (6×6)."""

    stiffness: Dense
    carried_over: Dense
    opening: Dense
    opening_over: Dense
    turning: Dense

    def plus(self, other: _OnLink) -> _OnLink:
        return _OnLink(*(a + b for a, b in zip(self, other, strict=True)))


_NOTHING = _OnLink(*[Dense.zero(6, 6)] * 5)


def linearised(
    jacobians: LinkJacobians,
    pairs: Sequence[Pair],
    pressing: Sequence[Pressing],
    q: Sequence[Scalar],
    v: Sequence[Scalar],
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
    on: dict[int, _OnLink] = {}
    wrenches: dict[int, Force] = {}
    for pair, points in zip(pairs, pressing, strict=True):
        link = tree.links[pair.links[0]]
        X_WA, X_WB = pair.poses(tree, jacobians.poses)
        shapes = tuple(geometry.shape for geometry in pair.geometries)
        program = _pair_program(*shapes, tuple(map(float, _entries(X_WB))), stiff)
        state = (_entries(X_WA), list(jacobians.origins[link]), list(twists[link]), *points, h, slow)
        pressed = sum((absolute(part) for impulse in points.impulses for part in impulse), 0.0) > 0.0
        felt, wrench = when(pressed, partial(_felt, program, state), (_NOTHING, Force()))
        on[link.index] = on[link.index].plus(felt) if link.index in on else felt
        wrenches[link.index] = wrenches.get(link.index, Force()) + wrench
    slopes = _subspace_slopes(jacobians, q)
    lagging = _lagging(jacobians, twists, slopes, v)

    pattern, program = _tree_program(tree, tuple(on))
    left, lag = ([list(column) for link in tree.links for column in columns[link]] for columns in (jacobians.S, lagging))

    def whole(name: str, moved: list[list[Scalar]] = left) -> Pattern:
        found = iter(call(program, [getattr(felt, name).rows for felt in on.values()], left, moved))
        return {i: {j: next(found) for j in row} for i, row in pattern.items()}

    turning = whole("turning")
    _add_turned_columns(turning, jacobians, slopes, wrenches)
    return LinearisedContact(
        whole("stiffness"), whole("carried_over"), _minus(whole("opening"), whole("stiffness", lag)),
        _minus(whole("opening_over"), whole("carried_over", lag)), turning,
    )  # fmt: skip


def _tree_program(tree: Tree, loaded: tuple[int, ...]) -> tuple[dict[int, list[int]], Program]:
    """The places of the entries of Σ Jᵀ K J′, and (K (6×6) of the loaded links, columns of J, columns of J′) → its entries."""
    places: dict[int, list[int]] = {}

    def entries(K: Any, left: Any, right: Any) -> list[Scalar]:
        S, moved = _columns(tree, left), _columns(tree, right)
        still = outward(tree, lambda link, _: Transform(), None)
        origins = outward(tree, lambda link, _: Vector3(), None)
        found: Pattern = {k: {} for k in range(tree.nv)}
        on = {index: Dense.of(K[6 * k : 6 * k + 6]) for k, index in enumerate(loaded)}
        LinkJacobians(tree, still, origins, S).add_stiffness(found, tree.links, on, moved)
        places.update({i: list(row) for i, row in found.items()})
        return [x for row in found.values() for x in row.values()]

    program = trace(entries, {"K": (6 * len(loaded), 6), "left": (tree.nv, 6), "right": (tree.nv, 6)}, f"felt_{tree.nv}")
    return places, program


def _columns(tree: Tree, rows: Sequence[Sequence[Scalar]]) -> PerLink[tuple[Motion, ...]]:
    """Motions (nv, 6) by the links whose joints they belong to."""

    def stage(link: Link, _: object) -> tuple[Motion, ...]:
        return tuple(Motion.of(row) for row in rows[link.v_start : link.v_start + link.kind.nv])

    return outward(tree, stage, None)


def _lagging(
    jacobians: LinkJacobians, twists: PerLink[Motion], slopes: PerLink[list[tuple[Motion, ...]]], v: Sequence[Scalar]
) -> PerLink[tuple[Motion, ...]]:
    """What the twist of a carried link lacks of S × twist, as a joint moves by S: S × the twist of the joint's parent."""
    still = Motion()

    def stage(link: Link, _: object) -> tuple[Motion, ...]:
        rates = link.velocities(v)
        parent = twists[link] - sum((S * rate for S, rate in zip(jacobians.S[link], rates, strict=True)), still)
        own = (sum((dS * rate for dS, rate in zip(each, rates, strict=True)), still) for each in slopes[link])
        return tuple(S.cross(parent) - change for S, change in zip(jacobians.S[link], own, strict=True))

    return outward(jacobians.tree, stage, None)


def _subspace_slopes(jacobians: LinkJacobians, q: Sequence[Scalar]) -> PerLink[list[tuple[Motion, ...]]]:
    """∂S/∂q of every joint by coordinate, as seen from its link, in the axes of the world about the origin of twists."""

    def stage(link: Link, _: object) -> list[tuple[Motion, ...]]:
        X_WL, n = jacobians.poses[link], link.kind.nv
        lever = X_WL.translation - jacobians.origins[link]
        found = []
        for k in range(n):
            unit = [1.0 if i == k else 0.0 for i in range(n)]
            turned = [(X_WL.rotation.rotate(S.angular), X_WL.rotation.rotate(S.linear))
                      for S in link.kind.subspace_rate(link.coordinates(q), unit)]  # fmt: skip
            found.append(tuple(Motion(omega, v + lever.cross(omega)) for omega, v in turned))
        return found

    return outward(jacobians.tree, stage, None)


def _add_turned_columns(
    total: Pattern, jacobians: LinkJacobians, slopes: PerLink[list[tuple[Motion, ...]]], wrenches: dict[int, Force]
) -> None:
    """Adds ∂Jᵀ/∂q F: a joint turns the columns of all that it carries."""
    tree, S = jacobians.tree, jacobians.S
    felt: PerLink[Force] = inward(tree, lambda link, behind: sum(behind, wrenches.get(link.index, Force())))
    for link in tree.links:
        for i, column in enumerate(S[link], link.v_start):
            for ancestor in tree.ancestors(link.index):
                for j, moved in enumerate(S[ancestor], ancestor.v_start):
                    change = moved.cross(column)
                    if ancestor is link:
                        change = change + slopes[link][j - link.v_start][i - link.v_start]
                    total[i][j] = total[i].get(j, 0.0) + change.dot(felt[link])


def _minus(one: Pattern, other: Pattern) -> Pattern:
    return {i: {j: row.get(j, 0.0) - other[i].get(j, 0.0) for j in {**row, **other[i]}} for i, row in one.items()}


# --- one pair -----------------------------------------------------------------------------------------------------------------
def _entries(X: Transform) -> list[Scalar]:
    """The rotation's rows, and the translation."""
    return [entry for row in X.rotation.matrix() for entry in row] + list(X.translation)


def _pose(entries: Sequence[Scalar]) -> Transform:
    return Transform(DenseRotation(Matrix3.of([entries[0:3], entries[3:6], entries[6:9]])), Vector3.of(entries[9:12]))


def _felt(program: Program, state: Sequence[Any]) -> tuple[_OnLink, Force]:
    found = call(program, *state)
    return _OnLink(*(Dense.of(found[name]) for name in _OnLink._fields)), Force.of(found["wrench"])


@lru_cache(maxsize=256)
def _pair_program(a: Any, b: Any, X_WB: tuple[float, ...], stiff: float) -> Program:
    """(X_WA, origin of twists, twist, impulses, frictions, h, slow) → the fields of `_OnLink`, and the wrench."""
    count, moved = capacity(a, b), jacobian(_moved_program(a, b, X_WB), "motion")

    def pair(X_WA: Any, origin: Any, twist: Any, impulses: Any, frictions: Any, h: Any, slow: Any) -> dict[str, Any]:
        frames = _frames(a, _pose(X_WA), b, _pose(X_WB), Vector3.of(origin))[0]
        along = [[axis.dot(Vector3.of(part)) for axis in frame.axes] for frame, part in zip(frames, impulses, strict=True)]
        found = call(moved, [0.0] * 6, X_WA, origin, twist, along, h)
        now = Motion.of(twist)
        # the twist of a link changes by S × twist too, as a joint that carries it moves by S
        swept = [_unit(k).cross(now) for k in range(6)]
        totals: list[list[list[Scalar]]] = [[[0.0] * 6 for _ in range(6)] for _ in range(4)]
        for p, (frame, impulse, mu) in enumerate(zip(frames, along, frictions, strict=True)):
            K, DK = _law(impulse, frame.along(now), mu, stiff, slow)
            by_twist = [frame.along(_unit(k)) for k in range(6)]
            by_motion = [[x + y for x, y in zip(found["above_by_motion"][k][p], frame.along(swept[k]), strict=True)]
                         for k in range(6)]  # fmt: skip
            for total, matrix, columns in zip(totals, (K, DK, K, DK), (by_twist, by_twist, by_motion, by_motion), strict=True):
                for k, column in enumerate(columns):
                    wrench = frame.wrench([dot(row, column) for row in matrix.rows])
                    for i, part in enumerate(wrench):
                        total[i][k] = total[i][k] + part
        turning = [list(row) for row in zip(*found["wrench_by_motion"], strict=True)]
        named = dict(zip(_OnLink._fields, [*totals, turning], strict=True))
        return {**named, "wrench": found["wrench"]}

    sizes: dict[str, int | tuple[int, ...]] = {
        "X_WA": 12, "origin": 3, "twist": 6, "impulses": (count, 3), "frictions": count, "h": (), "slow": (),
    }  # fmt: skip
    return trace(pair, sizes, f"linearised_{type(a).__name__}_{type(b).__name__}".lower())


def _moved_program(a: Any, b: Any, X_WB: tuple[float, ...]) -> Program:
    """(small motion of A, X_WA, origin, twist, impulses along axes, h) → their wrench, and a of every point."""

    def moved(motion: Any, X_WA: Any, origin: Any, twist: Any, along: Any, h: Any) -> dict[str, Any]:
        start, o, turn = _pose(X_WA), Vector3.of(origin), Vector3.of(motion[:3])
        columns = [Vector3.of(column) for column in zip(*start.rotation.matrix(), strict=True)]
        turned = Matrix3.of([list(column + turn.cross(column)) for column in columns]).T
        shift = Vector3.of(motion[3:]) + turn.cross(start.translation - o)
        frames, gaps = _frames(a, Transform(DenseRotation(turned), start.translation + shift), b, _pose(X_WB), o)
        wrench, above = Force(), []
        for frame, gap, impulse in zip(frames, gaps, along, strict=True):
            wrench, u = wrench + frame.wrench(impulse), frame.along(Motion.of(twist))
            above.append([u[0] - minimum(-gap / h, RECOVERY), u[1], u[2]])
        return {"wrench": list(wrench), "above": above}

    count = capacity(a, b)
    inputs: dict[str, int | tuple[int, ...]] = {
        "motion": 6, "X_WA": 12, "origin": 3, "twist": 6, "along": (count, 3), "h": (),
    }  # fmt: skip
    return trace(moved, inputs, f"moved_{type(a).__name__}_{type(b).__name__}".lower())


def _frames(a: Any, X_WA: Transform, b: Any, X_WB: Transform, origin: Vector3) -> tuple[list[ContactFrame], list[Scalar]]:
    """The frames of all points of A with B in the world, as in `contact_patches`; and their gaps."""
    met = [touch.on_b for touch in touches(a, X_WA, b, X_WB)]
    frames = [ContactFrame(touch.point - origin, (touch.normal, *tangents(touch.normal)), 0.0) for touch in met]
    return frames, [touch.gap for touch in met]


def _law(impulse: Sequence[Scalar], u: Sequence[Scalar], friction: Scalar, stiff: float, slow: Scalar) -> tuple[Dense, Dense]:
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


def _unit(k: int) -> Motion:
    return Motion.of([1.0 if i == k else 0.0 for i in range(6)])
