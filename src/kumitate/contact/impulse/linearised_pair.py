"""The laws of contact of one pair at the solution of a step, linearised: how its wrench changes with what moves its first link.

A point keeps its mode. While it rests, its impulse changes so that its velocity relative to the target stays; while it slides,
so that the normal part does, and friction keeps its size μ λₙ and its direction against the sliding velocity:

    dλ = D dλ − K da,   a = (uₙ − target, u₁, u₂)

for a stiffness K far above that of the mechanism, which is met by repetition: D selects what is carried over from the last
round (the augmented Lagrangian of `newton`). All points of a link add up to 6×6 matrices from its small motions to wrenches.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from ...scalar import Program, Scalar, call, either, equal, jacobian, maximum, minimum, select, sqrt, trace
from ...spatial import Dense, DenseRotation, Force, Matrix3, Motion, Transform, Vector3, dot
from ..laws import RECOVERY, tangents
from ..pairs import capacity, touches
from ..scene import Pair
from ..surface import Surface
from .contact_points import ContactFrame


class LinearisedPair(NamedTuple):
    """How the wrench on the first link of a pair changes (6×6), about the origin of its twists; and the wrench itself.

    Attributes:
        stiffness: less wrench by more twist; `carried_over`: what of it the second round takes back.
        by_motion: more wrench by a small motion of the link, which turns its twist, while joints keep their velocities.
        by_motion_over: what the second round adds to it.
    """

    stiffness: Dense
    by_motion: Dense
    carried_over: Dense
    by_motion_over: Dense
    wrench: Force

    def plus(self, other: LinearisedPair) -> LinearisedPair:
        """Both pairs of a link."""
        pairs: Any = zip(self, other, strict=True)
        return LinearisedPair(*(a + b for a, b in pairs))


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


def _pose(entries: Sequence[Scalar]) -> Transform:
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
    inputs: dict[str, int | tuple[int, ...]] = {
        "motion": 6, "X_WA": 12, "origin": 3, "twist": 6, "along": (count, 3), "h": (),
    }  # fmt: skip
    return trace(moved, inputs, f"moved_{type(a).__name__}_{type(b).__name__}".lower())


def _frames(
    a: Any, X_WA: Transform, b: Any, X_WB: Transform, origin: Vector3, surface: Surface
) -> tuple[list[ContactFrame], list[Scalar]]:
    """The frames of all points of A with B in the world, as in `contact_patches`; and their gaps."""
    met = [touch.on_b for touch in touches(a, X_WA, b, X_WB)]
    frames = [ContactFrame(touch.point - origin, (touch.normal, *tangents(touch.normal, surface)), 0.0) for touch in met]
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
