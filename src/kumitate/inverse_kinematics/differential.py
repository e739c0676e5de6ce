"""`DifferentialIK`: inverse kinematics in time, step by step towards goals, within limits of velocity and acceleration."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from ..compile import Kernel
from ..dynamics import projected
from ..dynamics.bounded import least_within
from ..errors import InputError
from ..kinematics import integrate, normalized
from ..model import HasMechanism, Mechanism, joint_columns
from ..scalar import Program, Scalar, absolute, maximum, minimum, select, sqrt, trace
from .contract import Goal, KeyedGoals, Posture
from .program import Level, dot, level_of, limits_of, with_loops

__all__ = ["AccelerationLimit", "DifferentialIK", "JointLimit", "Moved", "VelocityLimit"]

#: Loops count by this in a step, which is then closed; no goal is worth more.
_LOOP = 1e4


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

    Limits are bounds of the velocities and hold in each step, with closed loops but for what closes them.

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
        goals: Goal | Sequence[Goal],
        *,
        limits: Sequence[JointLimit | VelocityLimit | AccelerationLimit] = (JointLimit(), VelocityLimit()),
        gain: float = 1.0,
        damping: float = 1e-6,
    ):
        """Motions of a robot towards goals.

        Args:
            goals: weighted against each other; `step` takes others of the same kinds.
            limits: that hold in every step.
            gain: the part of the errors that a step takes away where limits let it.
            damping: of the motion in a step, so that singular postures are left slowly.

        Raises:
            InputError: for anything but goals or limits, or numbers of another shape.
        """
        self.mechanism = robot if isinstance(robot, Mechanism) else robot.mechanism
        self.v = np.zeros(self.mechanism.nv)
        self._goals: list[Goal] = []
        self._targets: list[np.ndarray] = []
        self._settle(goals)
        self._kernel = _kernel(self.mechanism, KeyedGoals([self._goals]), tuple(limits), float(gain), float(damping))

    def step(self, q: Any, dt: float, goals: Goal | Sequence[Goal] | None = None) -> Moved:
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
        found = Moved(*self._kernel(q, self.v, dt, *self._targets))
        self.v = found.v
        return found

    def _settle(self, goals: Goal | Sequence[Goal]) -> None:
        """Takes goals."""
        given, tree = [goals] if isinstance(goals, Goal) else list(goals), self.mechanism.tree
        if not given or not all(isinstance(goal, Goal) for goal in given):
            raise InputError(
                f"{self.mechanism.name}: give goals, such as PoseGoal(place, X), in one list; priorities have none"
            )
        if self._goals and [goal.key for goal in given] != [goal.key for goal in self._goals]:
            raise InputError(f"{self.mechanism.name}: goals of other kinds, places or weights; make another DifferentialIK")
        known = dict(zip(map(id, self._goals), self._targets, strict=True))
        self._targets = [known[id(goal)] if id(goal) in known else goal.target(tree) for goal in given]
        self._goals = given


@lru_cache(maxsize=64)
def _kernel(mechanism: Mechanism, goals: KeyedGoals, limits: tuple[Any, ...], gain: float, damping: float) -> Kernel:
    return Kernel(_program(mechanism, goals.levels[0], limits, gain, damping))


def _program(mechanism: Mechanism, goals: Sequence[Goal], limits: Sequence[Any], gain: float, damping: float) -> Program:
    """(q, v, dt, target_0, …) → the next q, the velocities that lead there, and the largest error before."""
    tree, bounds = mechanism.tree, _Bounds(mechanism, limits)

    def step(q: Any, v: Any, dt: Scalar, *targets: Any) -> dict[str, Any]:
        posture, wanted = Posture(tree, q), dict(zip(map(id, goals), targets, strict=True))
        level = level_of(goals, posture, wanted)
        error: Scalar = 0.0
        for part in level_of([goal for goal in goals if not goal.wish] or goals, posture, wanted).errors:
            error = maximum(error, absolute(part))
        if tree.closed:
            own, closed = len(level.errors), with_loops(level, tree, list(q))
            level = Level(closed.errors, closed.slopes, [*level.weights, *([_LOOP] * (len(closed.errors) - own))])
        low, high = bounds.at(q, v, dt)
        roots = [w**0.5 for w in level.weights]
        A = [[root * x for x in row] for root, row in zip(roots, level.slopes, strict=True)]
        move = _least(A, [gain * root * e for root, e in zip(roots, level.errors, strict=True)], low, high, damping)
        there = normalized(tree, integrate(tree, q, move))
        if tree.closed:
            there = normalized(tree, projected(tree, there, [0.0] * tree.nv)[0])
        return {"q": there, "v": [x / dt for x in move], "error": error}

    sizes: dict[str, int | tuple[int, ...]] = {"q": tree.nq, "v": tree.nv, "dt": ()}
    sizes |= {f"target_{k}": goal.size(tree) for k, goal in enumerate(goals)}
    return trace(step, sizes, f"differential_ik_{mechanism.name}")


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
            elif not isinstance(limit, JointLimit):
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
    A: Sequence[Sequence[Scalar]], b: Sequence[Scalar], low: Sequence[Scalar], high: Sequence[Scalar], damping: float
) -> list[Scalar]:
    """The x within bounds of least |A x − b|² + d |x|²."""
    columns = [list(column) for column in zip(*A, strict=True)]
    H = [[dot(a, c) + damping if i == j else dot(a, c) for j, c in enumerate(columns)] for i, a in enumerate(columns)]
    return least_within(H, [dot(column, b) for column in columns], low, high)[0]
