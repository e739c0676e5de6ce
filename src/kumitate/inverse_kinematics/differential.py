"""`DifferentialIK`: inverse kinematics in time, step by step towards goals, within limits of velocity and acceleration."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from ..compile import Kernel
from ..dynamics import projected
from ..dynamics.factored import largest, least_within
from ..errors import InputError
from ..kinematics import integrate, normalized
from ..model import HasMechanism, Mechanism, joint_columns
from ..scalar import Scalar, loop, maximum, minimum, select, sqrt, trace
from ..spatial import Vector3, dot
from .goals import CenterOfMassGoal, Goal, KeyedGoals, Posture, by_priority
from .search import Level, level_of, limits_of, with_loops

__all__ = ["AccelerationLimit", "CollisionLimit", "DifferentialIK", "JointLimit", "Moved", "SupportLimit", "VelocityLimit"]

#: Loops count by this in a step, which is then closed; no goal is worth more.
_LOOP = 1e4
#: How much more errors count than those of lists behind them, the root of a weight; the weight of limits of distances; how
#: often it is tried which of these limits hold; and what rounding leaves of a gradient, per weight.
_FIRST, _SIDE, _TRIES, _NOISE = 1e4, 1e6, 12, 1e-7


@dataclass(frozen=True)
class JointLimit:
    """Joints stay within the position limits of the file, and can brake before them where accelerations have limits, too."""


@dataclass(frozen=True)
class VelocityLimit:
    """Joints are not faster than this [rad/s, m/s]: a number, one for each degree of freedom (nv), or the file's own."""

    velocity: float | tuple[float, ...] | None = None


@dataclass(frozen=True)
class AccelerationLimit:
    """Velocities change no faster than this [rad/s², m/s²]: a number for all joints, or one for each degree of freedom (nv)."""

    acceleration: float | tuple[float, ...]


@dataclass(frozen=True)
class CollisionLimit:
    """Bodies, or shapes of bodies, stay apart by a distance, as far as a step is straight.

    Attributes:
        pairs: of their names; each keeps its shortest way, of all its collision shapes, as long as the distance [m].
    """

    pairs: Sequence[tuple[str, str]]
    distance: float = 0.01

    def __post_init__(self) -> None:
        object.__setattr__(self, "pairs", tuple(tuple(pair) for pair in self.pairs))  # programs are found by their limits


@dataclass(frozen=True)
class SupportLimit:
    """The center of mass stays over a convex polygon, that of the feet, say.

    Attributes:
        corners: (k, 2) in the world, in any order [m]; margin: from its edges [m].
    """

    corners: Sequence[Sequence[float]]
    margin: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "corners", tuple((float(x), float(y)) for x, y in self.corners))


class Moved(NamedTuple):
    """A step of inverse kinematics in time.

    Attributes:
        q: coordinates after it (..., nq); v: the velocities that lead there (..., nv).
        error: the largest error before it (...) [m, rad], of goals that are not wishes, as a `PostureGoal` is.
    """

    q: np.ndarray
    v: np.ndarray
    error: np.ndarray


class DifferentialIK:
    """Moves a robot towards goals in steps of time, within limits: min Σ w |J v dt − gain·e|² + damping |v dt|².

    Limits are bounds of the velocities and hold in each step, with closed loops but for what closes them. Distances from
    collision and the center of mass hold to a millionth of the errors that press against them, as far as steps are straight.

    Attributes:
        v: the velocities of the last step, from which the next one accelerates.

    >>> from kumitate import load
    >>> from kumitate.inverse_kinematics import PositionGoal
    >>> arm, q = load("planar_3r"), [0.3, 0.5, 0.2]
    >>> hand = arm.pose([0.8, 0.2, 0.4], "link3")[:3, 3]
    >>> moving = DifferentialIK(arm, PositionGoal("link3", hand), limits=[VelocityLimit(1.0)])
    >>> for _ in range(300):
    ...     q, v, error = moving.step(q, 0.01)
    >>> bool(error < 1e-6), bool(abs(v).max() < 1e-4)
    (True, True)
    """

    def __init__(
        self,
        robot: Mechanism | HasMechanism,
        goals: Goal | Sequence[Goal] | Sequence[Sequence[Goal]],
        *,
        limits: Sequence[JointLimit | VelocityLimit | AccelerationLimit | CollisionLimit | SupportLimit] = (
            JointLimit(),
            VelocityLimit(),
        ),
        gain: float = 1.0,
        damping: float = 1e-6,
    ):
        """Motions of a robot towards goals.

        Args:
            goals: weighted against each other; lists of goals by priority, the first first, each of which moves only as those
                before it let it. `step` takes others of the same kinds.
            limits: that hold in every step, before all goals.
            gain: the part of the errors that a step takes away where limits let it.
            damping: of the motion in a step, so that singular postures are left slowly.

        Raises:
            InputError: for anything but goals or limits, or numbers of another shape.
        """
        self.mechanism = robot if isinstance(robot, Mechanism) else robot.mechanism
        self.v = np.zeros(self.mechanism.nv)
        self._goals: list[Goal] = []
        self._levels: list[int] = []
        self._targets: list[np.ndarray] = []
        self._settle(goals)
        self._near = _near(self.mechanism, tuple(limits))
        self._kernel = _kernel(self.mechanism, KeyedGoals(by_priority(goals)), tuple(limits), float(gain), float(damping))

    def step(self, q: Any, dt: float, goals: Any = None) -> Moved:
        """The state after a time dt [s], from coordinates q (..., nq); of many states side by side, each with its `v`.

        Args:
            goals: with other targets; those of the last step, unless given. The target of one that is the same object as in the
                last step is not looked at again.

        Raises:
            InputError: for goals of other kinds, another shape of q, or a time that is not positive.
        """
        if goals is not None:
            self._settle(goals)
        if not dt > 0.0:
            raise InputError(f"{self.mechanism.name}: a step lasts {dt} s; give a positive time")
        q = np.asarray(q, dtype=float)
        if self.v.shape[:-1] != q.shape[:-1]:
            self.v = np.zeros((*q.shape[:-1], self.mechanism.nv))
        near = [] if self._near is None else [self._near.at(q)]
        found = Moved(*self._kernel(q, self.v, dt, *near, *self._targets))
        self.v = found.v
        return found

    def _settle(self, goals: Any) -> None:
        """Takes goals."""
        levels, tree = by_priority(goals), self.mechanism.tree
        given = [goal for level in levels for goal in level]
        numbers = [k for k, level in enumerate(levels) for _ in level]
        if self._goals and ([goal.key for goal in given], numbers) != ([goal.key for goal in self._goals], self._levels):
            raise InputError(f"{self.mechanism.name}: goals of other kinds, places or weights; make another DifferentialIK")
        known = dict(zip(map(id, self._goals), self._targets, strict=True))
        self._targets = [known[id(goal)] if id(goal) in known else goal.target(tree) for goal in given]
        self._goals, self._levels = given, numbers


class _Pairs:
    """The shortest ways between the bodies and shapes of some pairs, that have distances to keep."""

    def __init__(self, mechanism: Mechanism, pairs: Sequence[tuple[str, str, float]]):
        from ..contact.queries import ShapeTable  # loaded only where it is asked for

        self._table, self._pairs, tree = ShapeTable(mechanism), pairs, mechanism.tree
        self.bodies = [(self._table.body(a), self._table.body(b)) for a, b, _ in pairs]
        self._names = list(dict.fromkeys(name for pair in self.bodies for name in pair))

        def poses(q: Any) -> dict[str, Any]:
            posture = Posture(tree, q)
            return {f"pose_{k}": posture.pose(name).matrix() for k, name in enumerate(self._names)}

        self._poses = Kernel(trace(poses, {"q": tree.nq}, f"poses_{mechanism.name}"))

    def at(self, q: np.ndarray) -> np.ndarray:
        """(..., pairs, 10): what is left of each distance, the normal from the first to the second, and both points."""
        found = self._poses(q)
        poses = dict(zip(self._names, found if isinstance(found, tuple) else (found,), strict=True))
        rows = []
        for a, b, distance in self._pairs:
            near = self._table.distance(poses, a, b)
            left = np.asarray(near.distance)[..., None] - distance
            rows.append(np.concatenate([left, near.normal, near.points[..., 0, :], near.points[..., 1, :]], axis=-1))
        return np.stack(rows, axis=-2)


@lru_cache(maxsize=64)
def _near(mechanism: Mechanism, limits: tuple[Any, ...]) -> _Pairs | None:
    """The pairs of these limits; None without any."""
    pairs = [(*pair, limit.distance) for limit in limits if isinstance(limit, CollisionLimit) for pair in limit.pairs]
    return _Pairs(mechanism, pairs) if pairs else None


@lru_cache(maxsize=64)
def _kernel(mechanism: Mechanism, keyed: KeyedGoals, limits: tuple[Any, ...], gain: float, damping: float) -> Kernel:
    """(q, v, dt, what is near, target_0, …) → the next q, the velocities that lead there, and the largest error before."""
    tree, bounds, pairs, levels = mechanism.tree, _Bounds(mechanism, limits), _near(mechanism, limits), keyed.levels
    goals, bodies = [goal for level in levels for goal in level], pairs.bodies if pairs else []
    supports = [limit for limit in limits if isinstance(limit, SupportLimit)]

    def step(q: Any, v: Any, dt: Scalar, *others: Any) -> dict[str, Any]:
        near, targets = (others[0], others[1:]) if bodies else ([], others)
        posture, wanted = Posture(tree, q), dict(zip(map(id, goals), targets, strict=True))
        error = largest(level_of([goal for goal in goals if not goal.wish] or goals, posture, wanted).errors, 0.0)
        low, high = bounds.at(q, v, dt)
        sides = [*_apart(posture, bodies, near), *(side for limit in supports for side in _supported(limit, posture))]
        A, b, move = list[list[Scalar]](), list[Scalar](), list[Scalar]()
        for k, own in enumerate(levels):
            level = level_of(own, posture, wanted)
            if tree.closed and not k:
                count, closed = len(level.errors), with_loops(level, tree, list(q))
                level = Level(closed.errors, closed.slopes, [*level.weights, *([_LOOP] * (len(closed.errors) - count))])
            roots = [w**0.5 for w in level.weights]
            mine = [[root * x for x in row] for root, row in zip(roots, level.slopes, strict=True)]
            asked = [gain * root * e for root, e in zip(roots, level.errors, strict=True)]
            size = largest(
                [dot(column, asked) for column in zip(*mine, strict=True)],
                _NOISE * (_FIRST**2 * bool(k) + _SIDE**2 * bool(sides)),
            )
            move = _least([*A, *mine], [*b, *asked], sides, (low, high, size), damping)
            A += [[_FIRST * x for x in row] for row in mine]  # what is moved here, later lists leave as it is
            b += [_FIRST * dot(row, move) for row in mine]
        there = normalized(tree, integrate(tree, q, move))
        if tree.closed:
            there = normalized(tree, projected(tree, there, [0.0] * tree.nv)[0])
        return {"q": there, "v": [x / dt for x in move], "error": error}

    sizes: dict[str, int | tuple[int, ...]] = {"q": tree.nq, "v": tree.nv, "dt": ()}
    sizes |= {"near": (len(bodies), 10)} if bodies else {}
    sizes |= {f"target_{k}": goal.size(tree) for k, goal in enumerate(goals)}
    return Kernel(trace(step, sizes, f"differential_ik_{mechanism.name}"))


#: A side of the motions x that are allowed, c · x ≤ d: c and d.
Side = tuple[list[Any], Any]


def _apart(posture: Posture, bodies: Sequence[tuple[str, str]], near: Any) -> list[Side]:
    """Pairs of bodies do not come nearer than they may: −n · (v_B − v_A) ≤ what is left, at the two nearest points."""
    found: list[Side] = []
    for pair, row in zip(bodies, near, strict=True):
        n, points = Vector3.of(list(row)[1:4]), (Vector3.of(list(row)[4:7]), Vector3.of(list(row)[7:10]))
        side: list[Scalar] = [0.0] * posture.tree.nv
        for sign, body, point in zip((1.0, -1.0), pair, points, strict=True):
            arm, J = point - posture.pose(body).translation, posture.jacobian(body)
            for k in range(posture.tree.nv):
                turn, shift = (Vector3.of([line[k] for line in part]) for part in (J[:3], J[3:]))
                side[k] = side[k] + sign * n.dot(turn.cross(arm) + shift)
        found.append((side, row[0]))
    return found


def _supported(limit: SupportLimit, posture: Posture) -> list[Side]:
    """The center of mass stays within each edge of a polygon, which must be convex."""
    corners = np.array(limit.corners, dtype=float).reshape(-1, 2)
    from_middle = corners - corners.mean(axis=0)
    corners = corners[np.argsort(np.arctan2(from_middle[:, 1], from_middle[:, 0]))]
    edges = np.roll(corners, -1, axis=0) - corners
    ahead = np.roll(edges, -1, axis=0)
    if len(corners) < 3 or not (edges[:, 0] * ahead[:, 1] - edges[:, 1] * ahead[:, 0] > 0.0).all():
        raise InputError(f"{limit!r:.80}: the corners are not those of a convex polygon. Give at least three, (x, y) each")
    goal, found = CenterOfMassGoal((0.0, 0.0, 0.0)), list[Side]()
    slopes, center = goal.slopes(posture, [0.0] * 3), goal.reached(posture)
    for corner, edge in zip(corners, edges / np.linalg.norm(edges, axis=1)[:, None], strict=True):
        x, y = float(edge[1]), float(-edge[0])  # outwards
        left = float(corner @ (x, y)) - limit.margin - x * center[0] - y * center[1]
        found.append(([x * a + y * b for a, b in zip(slopes[0], slopes[1], strict=True)], left))
    return found


class _Bounds:
    """The bounds of the motion (nv) in a step."""

    def __init__(self, mechanism: Mechanism, limits: Sequence[Any]):
        single = {columns.v.start: columns for columns in joint_columns(mechanism) if columns.kind.nv == 1}
        self._q = {k: columns.q.start for k, columns in single.items()}
        self._low, self._high = limits_of(mechanism) if any(isinstance(one, JointLimit) for one in limits) else ({}, {})
        told = {k: columns.joint.limits[0].velocity for k, columns in single.items() if columns.joint.limits}
        own = {k: most for k, most in told.items() if most is not None}
        self._fastest = self._most = [np.inf] * mechanism.nv
        for limit in limits:
            if isinstance(limit, VelocityLimit):
                given = own if limit.velocity is None else limit.velocity
                self._fastest = _of_freedoms(mechanism, limit, given, list(single))
            elif isinstance(limit, AccelerationLimit):
                self._most = _of_freedoms(mechanism, limit, limit.acceleration, list(single))
            elif not isinstance(limit, JointLimit | CollisionLimit | SupportLimit):
                raise InputError(f"{mechanism.name}: {limit!r:.60} is not a limit; give JointLimit(), VelocityLimit(), …")

    def at(self, q: Any, v: Any, dt: Scalar) -> tuple[list[Scalar], list[Scalar]]:
        """The least and the largest motion in a step from a state."""
        return self._side(q, v, dt, -1.0, self._low), self._side(q, v, dt, 1.0, self._high)

    def _side(self, q: Any, v: Any, dt: Scalar, sign: float, ends: dict[int, float]) -> list[Scalar]:
        found: list[Scalar] = []
        for k, (fastest, most) in enumerate(zip(self._fastest, self._most, strict=True)):
            far, end = fastest * dt if fastest < np.inf else np.inf, ends.get(self._q.get(k, -1))
            speed = sign * v[k]
            if most < np.inf:
                far = minimum(far, (speed + most * dt) * dt)
            if end is not None:
                left = maximum(sign * (end - q[self._q[k]]), 0.0)
                if most < np.inf:  # from there it can brake by a dt in every step: v dt ≤ √(2 a dt² left) − a dt²/2
                    gap = most * dt * dt
                    left = select(2.0 * left < gap, left, sqrt(2.0 * gap * left) - 0.5 * gap)
                far = minimum(far, left)
            if most < np.inf:
                far = maximum(far, (speed - most * dt) * dt)
            found.append(sign * far)
        return found


def _of_freedoms(mechanism: Mechanism, limit: Any, given: Any, single: list[int]) -> list[float]:
    """A number for each degree of freedom (nv): those given by index, one for all in `single`, or all; else infinite."""
    if isinstance(given, dict) or np.ndim(given) == 0:
        known = given if isinstance(given, dict) else dict.fromkeys(single, given)
        given = [known.get(k, np.inf) for k in range(mechanism.nv)]
    values = np.asarray(given, dtype=float)
    if values.shape != (mechanism.nv,) or not (values > 0.0).all():
        raise InputError(f"{mechanism.name}: {limit!r:.60} must be a positive number, or {mechanism.nv} of them")
    return values.tolist()


def _least(
    A: Sequence[Sequence[Scalar]], b: Sequence[Scalar], sides: Sequence[Side], within: tuple[Any, Any, Scalar], damping: float
) -> list[Scalar]:
    """The x of least |A x − b|² + d |x|² within the lower and upper bounds, and on its side of every c · x ≤ d.

    Sides that are passed are springs of large weight: which they are is found by trying (Hintermüller, Ito and Kunisch 2002).
    `within` has the bounds and the size of the gradient.
    """
    columns = [list(column) for column in zip(*A, strict=True)]
    H = [[dot(p, q) + (damping if i == j else 0.0) for j, q in enumerate(columns)] for i, p in enumerate(columns)]
    c = [dot(column, b) for column in columns]
    if not sides:
        return least_within(H, c, *within)[0]
    n = len(c)

    def body(k: Any, carry: tuple[Any, ...]) -> tuple[Any, None]:
        on = [_SIDE * one for one in carry[1]]
        pulled = [[one * x for x in row] for one, (row, _) in zip(on, sides, strict=True)]
        inner = [list(row) for row in H]
        for weighed, (row, _) in zip(pulled, sides, strict=True):
            inner = [[x + w * y for x, y in zip(own, row, strict=True)] for own, w in zip(inner, weighed, strict=True)]
        right = [x + sum((w[i] * left for w, (_, left) in zip(pulled, sides, strict=True)), 0.0) for i, x in enumerate(c)]
        x = least_within(inner, right, *within)[0]
        passed = [select(left < dot(row, x), 1.0, 0.0) for row, left in sides]
        return (x, passed, largest([new - old for new, old in zip(passed, carry[1], strict=True)], 0.0)), None

    start = [0.0] * n, [select(left < 0.0, 1.0, 0.0) for _, left in sides], 1.0
    return list(loop(_TRIES, body, start, while_=lambda carry: carry[2] > 0.5)[0][0])
