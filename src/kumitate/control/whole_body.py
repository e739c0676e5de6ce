"""Whole-body control: goals, contacts and limits of effort in one quadratic program at each instant."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..compile import Kernel
from ..dynamics import crba, rnea
from ..errors import DivergenceError, InputError, needed
from ..inverse_kinematics import Goal, Posture
from ..kinematics import jacobian, neutral, rate
from ..model import Mechanism, Place, joint_columns
from ..scalar import Program, call, directional, table, trace
from ..spatial import Transform, Vector3, dot, identity_rotation
from .controllers import mechanism_of

__all__ = ["StandingPoint", "Tracked", "WholeBodyController"]


class DrivenLimits(NamedTuple):
    """Limits of the joints of one degree of freedom, infinite where there are none."""

    driven: np.ndarray  # which of the degrees of freedom (nv) they are
    place: np.ndarray  # where their coordinates are in q (driven)
    least: np.ndarray  # efforts [N·m, N] (driven)
    most: np.ndarray
    low: np.ndarray  # coordinates [rad, m] (driven)
    high: np.ndarray

    @classmethod
    def of(cls, mechanism: Mechanism, efforts: bool) -> DrivenLimits:
        """The limits of a mechanism; those of efforts if wanted."""
        driven = [joint.kind.nv == 1 for joint in mechanism.joints for _ in range(joint.kind.nv)]
        place, rows = [], []
        for joint, kind, q, _ in joint_columns(mechanism):
            if kind.nv == 1:
                limits = joint.limits[0]
                most = np.inf if limits.effort is None or not efforts else limits.effort
                place.append(q.start)
                rows.append((-most, most, *limits.range))
        return cls(np.array(driven), np.array(place, dtype=int), *np.array(rows).reshape(-1, 4).T)

    def stops(self, rate: float, q: Any, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The bounds of v̇ with which the distance d to a stop obeys d̈ + 2 r ḋ + r² d ≥ 0: it stays positive; r = 0: none."""
        if rate == 0.0:
            return np.full(self.low.shape, -np.inf), np.full(self.high.shape, np.inf)
        at, speed = np.asarray(q, dtype=float)[self.place], v[self.driven]
        return rate**2 * (self.low - at) - 2.0 * rate * speed, rate**2 * (self.high - at) - 2.0 * rate * speed


@dataclass(frozen=True)
class StandingPoint:
    """A point that stands: it does not accelerate, and is pushed within a friction cone.

    Attributes:
        body: name of the body or frame.
        point: in its frame [m].
        friction: coefficient of static friction.
        normal: of the surface, in the world, towards the body.
    """

    body: str
    point: Sequence[float] = (0.0, 0.0, 0.0)
    friction: float = 0.6
    normal: Sequence[float] = (0.0, 0.0, 1.0)

    def __post_init__(self) -> None:
        if not (self.friction >= 0.0 and np.isfinite(self.friction)):
            raise InputError(f"the contact point of {self.body!r} has friction {self.friction}; give a number ≥ 0")
        if not np.linalg.norm(self.normal) > 0.0:
            raise InputError(f"the contact point of {self.body!r} has the normal {tuple(self.normal)}; give a direction")

    def cone(self) -> np.ndarray:
        """Rows C (5, 3) of C f ≥ 0: forces within a pyramid inside the friction cone, and pressing."""
        n = np.asarray(self.normal, dtype=float) / np.linalg.norm(self.normal)
        first = np.cross(n, np.eye(3)[int(np.argmin(np.abs(n)))])
        first /= np.linalg.norm(first)
        across = [first, np.cross(n, first)]
        slope = self.friction / np.sqrt(2.0)  # the pyramid's edges lie on the cone
        return np.array([n, *(slope * n + sign * t for t in across for sign in (1.0, -1.0))])


def whole_body_program(mechanism: Mechanism, goals: Sequence[Goal], contacts: Sequence[StandingPoint]) -> Program:
    """(q, v, targets of all goals) → inertia "M", bias "h", and of the rows that are tracked errors, slopes "J" and drifts.

    The rows are first those of the contact points (3 each, without error), then those of the goals. Their "drift" is J̇v: the
    derivative of J v along the motion, with v constant.
    """
    tree = mechanism.tree
    sizes = [goal.size(tree) for goal in goals]
    places = [_place(mechanism, contact) for contact in contacts]

    def rows(q: Any, targets: Any) -> dict[str, Any]:
        posture, begin = Posture(tree, q), 0
        slopes = [row for place in places for row in jacobian(tree, q, place)[3:]]
        errors: list[Any] = [0.0] * len(slopes)
        for goal, size in zip(goals, sizes, strict=True):
            target = list(targets[begin : begin + size])
            errors += goal.errors(posture, target)
            slopes += goal.slopes(posture, target)
            begin += size
        return {"errors": errors, "J": slopes}

    shapes = {"q": mechanism.nq, "v": mechanism.nv, "targets": sum(sizes)}

    def speeds(q: Any, v: Any, targets: Any) -> dict[str, Any]:
        return {"speeds": [dot(row, v) for row in rows(q, targets)["J"]]}

    moving = directional(trace(speeds, shapes, f"tracked_speeds_{mechanism.name}"))

    def page(q: Any, v: Any, targets: Any) -> dict[str, Any]:
        still = table([0.0] * tree.nv)
        along = call(moving, q, v, targets, rate(tree, q, v), still, [0.0] * sum(sizes))
        bias = rnea(tree, q, v, still, gravity=mechanism.gravity)
        return {**rows(q, targets), "M": crba(tree, q), "h": bias, "drift": list(along["speeds_dot"])}

    return trace(page, shapes, f"whole_body_{mechanism.name}")


def _place(mechanism: Mechanism, contact: StandingPoint) -> Place:
    base, offset = mechanism.tree.places[contact.body], Vector3.of([float(x) for x in contact.point])
    return Place(base.link, (base.pose @ Transform(identity_rotation(), offset)).dense())


class QuadraticProgram:
    """min ½ xᵀ H x + gᵀ x with A x = b and low ≤ C x ≤ high, of fixed sizes; each solution begins from the one before."""

    def __init__(self, size: int, equalities: int, inequalities: int):
        proxqp = needed("proxsuite", "whole-body control needs ProxQP", "qp").proxqp
        self._solver, self._begun = proxqp.dense.QP(size, equalities, inequalities), False
        self._solver.settings.eps_abs = 1e-6  # the largest residual of a solution
        self._solver.settings.initial_guess = proxqp.InitialGuess.WARM_START_WITH_PREVIOUS_RESULT
        self._solved = proxqp.QPSolverOutput.PROXQP_SOLVED

    def solve(self, H: Any, g: Any, A: Any, b: Any, C: Any, low: Any, high: Any) -> np.ndarray | None:
        """x, or None if there is no solution."""
        (self._solver.update if self._begun else self._solver.init)(H, g, A, b, C, low, high)
        self._begun = True
        self._solver.solve()
        return self._solver.results.x.copy() if self._solver.results.info.status == self._solved else None


#: Weight of accelerations and forces themselves, so that the solution is unique; of contact points, against goals' weight of 1.
_LEAST, _STANDS = 1e-6, 1e4


@dataclass(frozen=True)
class Tracked:
    """A goal that is followed: its errors e obey ë + kd ė + kp e = 0 as far as other goals, contacts and efforts let them.

    Attributes:
        goal: one of `kumitate.inverse_kinematics`, with its weight.
        kp, kd: gains [1/s²], [1/s]; critically damped by default.
        target: a goal of the same kind at a time, whose target is taken; that of `goal` by default.
    """

    goal: Goal
    kp: float = 100.0
    kd: float | None = None
    target: Callable[[float], Goal] | None = None

    @property
    def damping(self) -> float:
        """kd, or the value of critical damping."""
        return 2.0 * float(np.sqrt(self.kp)) if self.kd is None else self.kd


class WholeBodyController:
    """Efforts (nv) of a tree that stands on contact points: a controller (t, q, v) that is called at each sample.

    The unknowns are v̇ and the contact forces f. Goals, and contact points that do not accelerate, are weighted squares; the
    equations of motion of joints without drives, friction pyramids and the limits of efforts hold exactly.

    Attributes:
        forces: of the contact points (k, 3) in the world [N], as of the last call.
        acceleration: v̇ (nv), likewise.
    """

    def __init__(
        self, robot: Any, tracked: Sequence[Tracked], contacts: Sequence[StandingPoint] = (), *,
        contact_damping: float = 50.0, effort_limits: bool = True, stop_rate: float = 20.0,
    ):  # fmt: skip
        """A controller of these goals.

        Args:
            robot: a tree; joints of one degree of freedom are driven, others are not.
            tracked: what is wanted.
            contacts: what the robot stands on.
            contact_damping: how fast speeds of contact points are slowed down [1/s].
            effort_limits: whether efforts keep within the joints' limits.
            stop_rate: joints come no nearer to a stop than by this share of what is left per second [1/s], as far as efforts
                let them; 0: stops are not seen.

        Raises:
            InputError: for names that do not exist, closed loops, or if ProxQP is not installed.
        """
        self.mechanism = mechanism_of(robot)
        tree, nv = self.mechanism.tree, self.mechanism.nv
        if tree.closed:
            raise InputError(
                f"{self.mechanism.name}: whole-body control is for trees; open its loops first (`kumitate.model.cut`)"
            )
        for contact in contacts:
            tree.place(contact.body, f"{self.mechanism.name}: a contact point is on")
        self.tracked, self.contacts = tuple(tracked), tuple(contacts)
        self._limits = DrivenLimits.of(self.mechanism, effort_limits)
        self._rate = stop_rate
        self._kernel = Kernel(whole_body_program(self.mechanism, [one.goal for one in tracked], contacts))
        somewhere = Posture(tree, neutral(tree))
        sizes = [len(one.goal.errors(somewhere, one.goal.target(tree).tolist())) for one in tracked]
        pushed = 3 * len(contacts)
        self._kp, self._kd, self._weights = (
            np.repeat(values, [pushed, *sizes])
            for values in (
                [0.0, *(one.kp for one in tracked)],
                [contact_damping, *(one.damping for one in tracked)],
                [_STANDS, *(one.goal.weight for one in tracked)],
            )
        )
        self._cone = np.zeros((5 * len(contacts), pushed))
        for k, contact in enumerate(contacts):
            self._cone[5 * k : 5 * k + 5, 3 * k : 3 * k + 3] = contact.cone()
        self.forces, self.acceleration = np.zeros((len(contacts), 3)), np.zeros(nv)
        driven = int(self._limits.driven.sum())
        self._problem = QuadraticProgram(nv + pushed, nv - driven, len(self._cone) + 2 * driven)

    def __call__(self, t: float, q: Any, v: Any) -> np.ndarray:
        """The efforts (nv): zero for joints without drives.

        Raises:
            DivergenceError: if no accelerations and forces satisfy the constraints.
        """
        v = np.asarray(v, dtype=float)
        goals = [one.goal if one.target is None else one.target(t) for one in self.tracked]
        targets = [goal.target(self.mechanism.tree) for goal in goals]
        errors, J, M, h, drift = self._kernel(q, v, np.concatenate(targets) if targets else np.zeros(0))
        wanted = self._kp * errors - self._kd * (J @ v) - drift
        nv, pushed = self.mechanism.nv, 3 * len(self.contacts)
        H = _LEAST * np.eye(nv + pushed)
        H[:nv, :nv] += J.T @ (self._weights[:, None] * J)
        g = np.concatenate([-J.T @ (self._weights * wanted), np.zeros(pushed)])
        driven, least, most = self._limits.driven, self._limits.least, self._limits.most
        tau = np.hstack([M, -J[:pushed].T])  # tau = M v̇ − Jᵀ f + h
        own = np.eye(nv + pushed)[:nv][driven]  # v̇ of driven joints
        C = np.vstack([np.hstack([np.zeros((len(self._cone), nv)), self._cone]), tau[driven], own])
        inside = np.zeros(len(self._cone)), np.full(len(self._cone), np.inf)
        low, high = (
            np.concatenate([cone, efforts - h[driven], stops])
            for cone, efforts, stops in zip(inside, (least, most), self._limits.stops(self._rate, q, v), strict=True)
        )
        exact = tau[~driven], -h[~driven]
        x = self._problem.solve(H, g, *exact, C, low, high)
        if x is None:  # stops that efforts cannot keep
            low[-len(own) :], high[-len(own) :] = -np.inf, np.inf
            x = self._problem.solve(H, g, *exact, C, low, high)
        if x is None:
            raise DivergenceError(
                f"{self.mechanism.name}: at t = {t:.6g} s no accelerations and contact forces satisfy the equations of motion "
                "within the friction cones and limits of effort; give more contact points, friction or effort"
            )
        self.acceleration, self.forces = x[:nv], x[nv:].reshape(-1, 3)
        return np.where(driven, tau @ x + h, 0.0)
