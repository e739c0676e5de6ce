"""The small humanoid of paper S that walks, jumps and stands: its servos and its planned motions.

Every joint has a servo: a spring and a damper about an angle that moves, and the planned effort on top. Springs and dampers are
parts of the model, so that steps are implicit in them; what moves the angle and the effort is one function of time,
u(t) = k_p q_ref + k_d v_ref + τ_ref. Nothing acts on the floating trunk, and nothing looks at the state: if it does not fall,
the plan was right.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from kumitate.analysis import zero_moment_point
from kumitate.control import Controller, Spline
from kumitate.kinematics import total_mass
from kumitate.model import Joint, Mechanism
from kumitate.model.samples import HOAP1_STANDING, hoap1
from kumitate.papers.legged import Gait, JointTrajectory, Upright, mass_center_plan

__all__ = ["FEET", "SOLE", "Plan", "Servos", "jumping", "standing", "walking"]

FEET = ("left_foot", "right_foot")
#: Distance of the middle of a sole in front of the foot's frame [m], and positions of the feet's frames when it stands.
SOLE = 0.0112
STANCE = (np.array([0.0, 0.039, 0.0355]), np.array([0.0, -0.039, 0.0355]))
GRAVITY = 9.81
#: Time step of a plan, and of the knots of the spline that drives it [s].
GRID, KNOTS = 0.004, 0.02
#: Iterations that bring the plan's zero-moment point to the desired one.
ROUNDS = 6


@dataclass(frozen=True)
class Servos:
    """The drives of the joints.

    Attributes:
        legs, arms: stiffness [N·m/rad] and damping [N·m·s/rad] of their servos.
        armature: a motor's inertia as felt at its joint, behind the gear [kg·m²]; not published, that of a small geared motor.
    """

    legs: tuple[float, float] = (100.0, 1.0)
    arms: tuple[float, float] = (15.0, 0.3)
    armature: float = 2e-3

    def of(self, name: str) -> tuple[float, float]:
        """Stiffness and damping of a joint, by its name."""
        return self.arms if "shoulder" in name or "elbow" in name else self.legs

    def motors(self, mechanism: Mechanism) -> Mechanism:
        """The mechanism with the motors' inertias, its joints otherwise free."""
        return self._on(mechanism, lambda joint: replace(joint, armature=self.armature))

    def on(self, mechanism: Mechanism) -> Mechanism:
        """The mechanism with servos. The drives' limits of torque are left out: what they do is `Plan.torques`."""

        def driven(joint: Joint) -> Joint:
            stiffness, damping = self.of(joint.name)
            limits = tuple(replace(limit, effort=None) for limit in joint.limits)
            return replace(joint, armature=self.armature, stiffness=stiffness, damping=damping, limits=limits)

        return self._on(mechanism, driven)

    def _on(self, mechanism: Mechanism, change: Callable[[Joint], Joint]) -> Mechanism:
        return replace(mechanism, joints=tuple(change(joint) if joint.kind.nv == 1 else joint for joint in mechanism.joints))

    def gains(self, mechanism: Mechanism) -> tuple[np.ndarray, np.ndarray]:
        """Stiffness and damping by degree of freedom (nv) each; zero for the trunk."""
        known = {joint.name: self.of(joint.name) for joint in mechanism.joints if joint.kind.nv == 1}
        found = np.array([known.get(name, (0.0, 0.0)) for name in mechanism.v_names])
        return found[:, 0], found[:, 1]


@dataclass(frozen=True, eq=False)
class Plan:
    """A planned motion of the whole body.

    Attributes:
        times: (n) [s], evenly spaced.
        motion: at these times.
        efforts: of the drives (n, nv) [N·m].
        zmp: the desired zero-moment point (n, 2) [m].
        servos: that follow it.
    """

    times: np.ndarray
    motion: JointTrajectory
    efforts: np.ndarray
    zmp: np.ndarray
    servos: Servos

    @property
    def duration(self) -> float:
        """[s]."""
        return float(self.times[-1])

    def controller(self, mechanism: Mechanism) -> Controller:
        """u(t), as a function of time alone that is compiled into the step."""
        stiffness, damping = self.servos.gains(mechanism)
        angles = np.column_stack([np.zeros((len(self.times), 6)), self.motion.q[:, 7:]])
        u = stiffness * angles + damping * self.motion.v + self.efforts
        some = slice(None, None, round(KNOTS / GRID))
        rates, bends = _rates(self.times, u[:, 6:])
        drive = Spline(self.times[some], u[some, 6:], velocities=rates[some], accelerations=bends[some])
        still = [0.0] * 6
        return lambda t, q, v: np.array([*still, *drive(t)])

    def torques(self, mechanism: Mechanism, q: np.ndarray, v: np.ndarray, u: np.ndarray) -> np.ndarray:
        """The servos' torques along a run (n, nv) [N·m]: their springs and dampers with the feed-forward."""
        stiffness, damping = self.servos.gains(mechanism)
        angles = np.column_stack([np.zeros((len(q), 6)), q[:, 7:]])
        return u - stiffness * angles - damping * v

    def zmp_at(self, t: np.ndarray) -> np.ndarray:
        """The desired zero-moment point at times (n): (n, 2) [m]."""
        return np.column_stack([np.interp(t, self.times, column) for column in self.zmp.T])

    def missed(self, mechanism: Mechanism, t: np.ndarray, q: np.ndarray) -> np.ndarray:
        """The joints' tracking errors at times t (n), for a run's coordinates q: (n, joints) [rad]."""
        wanted = np.column_stack([np.interp(t, self.times, column) for column in self.motion.q[:, 7:].T])
        return q[:, 7:] - wanted


def _rates(times: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """First and second derivatives of sampled values, zero at both ends."""
    rates = np.gradient(values, times, axis=0)
    bends = np.gradient(rates, times, axis=0)
    for found in (rates, bends):
        found[[0, -1]] = 0.0
    return rates, bends


@cache
def _upright(servos: Servos) -> Upright:
    return Upright(servos.motors(hoap1()), "trunk", FEET)


def _posture(mechanism: Mechanism, times: np.ndarray, posture: Mapping[str, float | np.ndarray]) -> np.ndarray:
    """Coordinates (n, nq): upright, knees a little bent, arms as given: by a joint's name, or without a side for both."""
    q = np.tile(np.array(HOAP1_STANDING), (len(times), 1))
    bent = {"hip_pitch": -0.4, "knee": 0.8, "ankle_pitch": -0.4}
    for side in ("left", "right"):
        for name, angle in {**bent, **posture}.items():
            whole = name if name in mechanism.q_names else f"{side}_{name}"
            mirrored = side == "right" and name.endswith(("roll", "yaw"))
            q[:, mechanism.q_names.index(whole)] = -np.asarray(angle) if mirrored else angle
    return q


def walking(gait: Gait = Gait(), *, height: float = 0.256, servos: Servos = Servos(), swing: float = 0.25) -> Plan:  # noqa: B008
    """A walk straight ahead.

    The linear inverted pendulum gives the center of mass's motion for the wanted zero-moment point; the whole body's own one is
    then computed, and what it lacks is given to the pendulum again (Kajita et al. 2003).

    Args:
        gait: how it steps.
        height: of the center of mass [m]; with straight knees it is at 0.266.
        swing: how far the arms swing [rad].
    """
    body = _upright(servos)
    times = np.arange(round(gait.duration / GRID) + 1) * GRID
    plan = gait.plan(*STANCE, sole=(SOLE - 0.003, 0.002))
    zmp = plan.zmp_at(times)
    paths = [(foot(times), foot.velocity(times)) for foot in (plan.left, plan.right)]
    ahead = (paths[0][0][:, 0] - paths[1][0][:, 0]) / (2.0 * gait.stride)  # how far the left foot is in front of the right one
    arms = {"left_shoulder_pitch": 0.1 + swing * ahead, "right_shoulder_pitch": 0.1 - swing * ahead}
    guess = _posture(body.mechanism, times, {**arms, "shoulder_roll": 0.12, "elbow": -0.5})
    heights, still = np.full((len(times), 1), height), np.zeros((len(times), 1))
    way, rate, _ = mass_center_plan(times, zmp, height)
    for _ in range(ROUNDS):
        motion = body.motion(times, guess, (np.hstack([way, heights]), np.hstack([rate, still])), *paths)
        found = np.array(zero_moment_point(list(body.ground(motion).T))[:2]).T
        more = mass_center_plan(times, zmp - found, height)
        guess, way, rate = motion.q, way + more.position, rate + more.velocity
    return Plan(times, motion, body.efforts(motion, plan.loads_at(times)), zmp, servos)


def jumping(*, flight: float = 0.14, servos: Servos = Servos()) -> Plan:
    """A jump on the spot: it crouches, pushes off, flies for a time [s], lands on both feet and stands up again.

    At take-off and at landing the center of mass has the velocity and the acceleration of free flight.
    """
    body = _upright(servos)
    speed, parts = 0.5 * GRAVITY * flight, (0.3, 0.5, 0.24, flight, 0.3, 0.7, 0.42)
    moments = np.cumsum([0.0, *parts])
    heights = Spline(
        moments, [0.256, 0.256, 0.203, 0.242, 0.242, 0.210, 0.256, 0.256],
        velocities=[0.0, 0.0, 0.0, speed, -speed, 0.0, 0.0, 0.0],
        accelerations=[0.0, 0.0, 0.0, -GRAVITY, -GRAVITY, 0.0, 0.0, 0.0],
    )  # fmt: skip
    off, on = moments[3], moments[4]
    lift = Spline([off, 0.5 * (off + on), on], [0.0, 0.2 * speed * flight, 0.0], velocities=[0.0] * 3)
    arms = Spline(moments, [0.1, 0.1, 0.4, -0.8, 0.1, 0.1, 0.1, 0.1], velocities=[0.0] * 8, accelerations=[0.0] * 8)
    times = np.arange(round(moments[-1] / GRID) + 1) * GRID
    up = np.array([0.0, 0.0, 1.0])
    feet = [(foot + np.outer(lift(times), up), np.outer(lift.velocity(times), up)) for foot in STANCE]
    guess = _posture(body.mechanism, times, {"shoulder_pitch": arms(times), "shoulder_roll": 0.12, "elbow": -0.5})
    center, rate = np.array([SOLE, 0.0, 0.0]) + np.outer(heights(times), up), np.outer(heights.velocity(times), up)
    standing = (times < off) | (times > on)
    for _ in range(ROUNDS):
        motion = body.motion(times, guess, (center, rate), *feet)
        ground = body.ground(motion)
        tipping = np.where(standing, ground[:, 1] + SOLE * ground[:, 5], 0.0)  # the moment about the middle of the soles
        center[:, 0] -= _swayed(times, heights(times), heights.acceleration(times), tipping / total_mass(body.mechanism.tree))
        rate[:, 0] = np.gradient(center[:, 0], times)
        guess = motion.q
    loads = np.tile(np.where(standing, 0.5, 0.0)[:, None], 2)
    zmp = np.tile([SOLE, 0.0], (len(times), 1))
    return Plan(times, motion, body.efforts(motion, loads), zmp, servos)


def _swayed(times: np.ndarray, height: np.ndarray, rise: np.ndarray, moment: np.ndarray) -> np.ndarray:
    """x (n) with z ẍ − (g + z̈) x = moment/mass, zero at both ends: a pendulum whose center of mass rises and falls."""
    h, inner = times[1] - times[0], np.arange(1, len(times) - 1)
    A = np.eye(len(times))
    for k, share in ((-1, 1.0), (0, -2.0), (1, 1.0)):
        A[inner, inner + k] = share * height[inner] / h**2 - (GRAVITY + rise[inner] if k == 0 else 0.0)
    return np.linalg.solve(A, np.concatenate([[0.0], moment[inner], [0.0]]))


def standing(*, servos: Servos = Servos(), duration: float = 1.0) -> Plan:
    """It stands, its knees a little bent and its center of mass above the middle of its soles, for a time [s]."""
    body = _upright(servos)
    times = np.arange(round(duration / GRID) + 1) * GRID
    still = np.zeros((len(times), 3))
    guess = _posture(body.mechanism, times, {"shoulder_pitch": 0.1, "shoulder_roll": 0.12, "elbow": -0.5})
    left, right = (still + foot for foot in STANCE)
    motion = body.motion(times, guess, (still + np.array([SOLE, 0.0, 0.256]), still), (left, still), (right, still))
    return Plan(
        times, motion, body.efforts(motion, np.full((len(times), 2), 0.5)), still[:, :2] + np.array([SOLE, 0.0]), servos
    )
