"""Legged robots: gaits, plans of the center of mass, whole-body inverse kinematics, the three-joint model of balance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..analysis import ground_wrench, momentum_matrix
from ..compile import Kernel
from ..control.paths import Spline
from ..dynamics import rnea
from ..errors import InputError
from ..kinematics import center_of_mass, integrate, jacobian, link_poses, neutral, place_pose, total_mass
from ..model import Mechanism
from ..scalar import Scalar, cos, sin, trace
from ..spatial import Vector3

__all__ = ["FootPlan", "Gait", "JointTrajectory", "MassCenterPlan", "ThreeJointModel", "Upright", "mass_center_plan"]


@dataclass(frozen=True, eq=False)
class FootPlan:
    """Two flat feet, and the zero-moment point between them.

    Attributes:
        left, right: positions of the feet's frames over time (3) [m]; their axes stay those of the world.
        times: knots of the zero-moment point [s]; `zmp`: its positions there (k, 2) [m], linear in between.
        loads: the parts of the weight on the left and right foot at these times (k, 2), linear in between.
    """

    left: Spline
    right: Spline
    times: np.ndarray
    zmp: np.ndarray
    loads: np.ndarray

    def zmp_at(self, t: np.ndarray) -> np.ndarray:
        """The zero-moment point at times (n): (n, 2) [m]."""
        return np.column_stack([np.interp(t, self.times, column) for column in self.zmp.T])

    def loads_at(self, t: np.ndarray) -> np.ndarray:
        """The feet's parts of the weight at times (n): (n, 2)."""
        return np.column_stack([np.interp(t, self.times, column) for column in self.loads.T])


@dataclass(frozen=True)
class Gait:
    """Steps of equal length, alternating, the left foot first; the last one brings the feet side by side.

    Attributes:
        steps: the number of steps, 2 or more.
        stride: the advance of the center of mass per step [m]; a foot swings twice as far.
        lift: the height of the swing foot [m].
        single, double: durations of the single-support and double-support phases [s].
        rest: the standing time at either end [s]; during half of it the weight shifts.
    """

    steps: int = 12
    stride: float = 0.04
    lift: float = 0.02
    single: float = 0.4
    double: float = 0.1
    rest: float = 1.0

    def __post_init__(self) -> None:
        lengths = (self.lift, self.single, self.double, self.rest)
        if self.steps < 2 or not all(length > 0.0 for length in lengths):
            raise InputError(f"{self} cannot be walked: it needs 2 steps or more, and a lift and times above zero")

    @property
    def duration(self) -> float:
        """The duration of the whole walk [s]."""
        return 2.0 * self.rest + self.steps * self.single + (self.steps - 1) * self.double

    def plan(self, left: np.ndarray, right: np.ndarray, sole: tuple[float, float]) -> FootPlan:
        """The walk that starts with the feet's frames at these positions, (3) each [m].

        Args:
            sole: the zero-moment point in single support, forward and inward of the foot's frame [m].
        """
        feet = np.array([left, right], dtype=float)
        inward = np.sign(feet[1, 1] - feet[0, 1]) * sole[1]
        soles = np.array([[sole[0], inward], [sole[0], -inward]])
        middle, evenly = (feet[:, :2] + soles).mean(axis=0), (0.5, 0.5)
        turns = [(0.0, middle, evenly), (0.5 * self.rest, middle, evenly)]
        knots = [[(0.0, foot.copy(), 0.0)] for foot in feet]  # of each foot: time, place, whether it rests there
        now = self.rest
        for k in range(self.steps):
            swing, stance = k % 2, 1 - k % 2
            under, alone = feet[stance, :2] + soles[stance], (float(stance == 0), float(stance == 1))
            turns += [(now, under, alone), (now + self.single, under, alone)]
            start = feet[swing].copy()
            feet[swing, 0] += self.stride * (2.0 if 0 < k < self.steps - 1 else 1.0)
            top = 0.5 * (start + feet[swing]) + [0.0, 0.0, self.lift]
            knots[swing] += [(now, start, 0.0), (now + 0.5 * self.single, top, np.nan)]
            knots[swing] += [(now + self.single, feet[swing].copy(), 0.0)]
            now += self.single + self.double
        middle = (feet[:, :2] + soles).mean(axis=0)
        turns += [(self.duration - 0.5 * self.rest, middle, evenly), (self.duration, middle, evenly)]
        splines = [_spline([*of_foot, (self.duration, foot, 0.0)]) for of_foot, foot in zip(knots, feet, strict=True)]
        times, zmp, loads = (np.array(column) for column in zip(*turns, strict=True))
        return FootPlan(splines[0], splines[1], times, zmp, loads)


def _spline(knots: list[tuple[float, np.ndarray, float]]) -> Spline:
    """The spline through positions, at rest in all but those marked by NaN, where only its vertical velocity is zero."""
    times, places, rests = (np.array(column) for column in zip(*knots, strict=True))
    rates = np.repeat(rests[:, None], 3, axis=1)
    climbs = rates.copy()
    climbs[:, 2] = 0.0  # at the top it neither rises nor falls
    return Spline(times, places, velocities=climbs, accelerations=rates)


# --- the linear inverted pendulum: the motion of the center of mass for a given zero-moment point -------------------------
# A center of mass that stays at one height z above the floor, of a body that does not change its angular momentum, obeys
# ẍ = ω²(x − p) with ω² = g/z, p being the zero-moment point (Kajita et al. 2003). Split into ξ = x + ẋ/ω, which diverges, and
# x, which follows ξ, it has exactly one solution that stays with p: ξ̇ = ω(ξ − p) is solved backwards in time (Takenaka et al.
# 2009).


class MassCenterPlan(NamedTuple):
    """A horizontal motion of the center of mass: position [m], velocity [m/s], acceleration [m/s²], shaped like zmp."""

    position: np.ndarray
    velocity: np.ndarray
    acceleration: np.ndarray


def mass_center_plan(times: Any, zmp: Any, height: float, gravity: float = 9.81) -> MassCenterPlan:
    """The bounded motion of the center of mass for a zero-moment point, exact for one that is piecewise linear.

    Args:
        times: (n,) [s], increasing; before the first and after the last the zero-moment point rests.
        zmp: p (n,) or (n, k) [m].
        height: z of the center of mass above the floor [m]; gravity: g > 0 [m/s²].

    Raises:
        InputError: if the times do not increase, shapes do not fit, or height and gravity are not positive.

    In the middle of a slow shift of p the center of mass is in the middle too; while p rests for long, it rests above p:

    >>> plan = mass_center_plan([0.0, 3.0, 4.0, 7.0], [0.0, 0.0, 0.1, 0.1], height=0.25)
    >>> [round(float(x), 6) for x in plan.position]
    [0.0, 0.007967, 0.092033, 0.1]
    """
    t, p = np.asarray(times, dtype=float), np.asarray(zmp, dtype=float)
    if t.ndim != 1 or len(t) < 2 or not (np.diff(t) > 0.0).all() or p.shape[:1] != t.shape:
        raise InputError(
            f"a zero-moment point of shape {p.shape} at times of shape {t.shape}; give increasing times, a row each"
        )
    if not (height > 0.0 and gravity > 0.0):
        raise InputError(f"the height is {height} m and gravity {gravity} m/s²; both must be positive")
    omega = float(np.sqrt(gravity / height))
    h = np.diff(t)
    lead = (np.diff(p, axis=0).T / (h * omega)).T  # ξ − p for a p of constant velocity
    decay = np.exp(-omega * h)
    ahead = np.empty_like(p)  # ξ
    ahead[-1] = p[-1]
    for k in reversed(range(len(h))):
        ahead[k] = p[k] + lead[k] + (ahead[k + 1] - p[k + 1] - lead[k]) * decay[k]
    x = np.empty_like(p)
    x[0] = 0.5 * (p[0] + ahead[0])  # the value if p has always been at rest
    for k in range(len(h)):
        away = ahead[k] - p[k] - lead[k]
        growing = 0.5 * (ahead[k + 1] - p[k + 1] - lead[k])
        x[k + 1] = p[k + 1] + growing + (x[k] - p[k] - 0.5 * away) * decay[k]
    return MassCenterPlan(x, omega * (ahead - x), omega**2 * (x - p))


# --- the three-joint model of balance -------------------------------------------------------------------------------------
# A leg of mass m1 leans by θ_a about y on the floor. At its upper end, l1 over the ankle, sits a hip of mass m_h1; above it the
# upper body m2 turns by θ_h1 about the leg's axis and then by θ_h2 about its own y. The centers of mass lie on the axes, l_g1
# above the ankle and l_g2 over the hip. With the foot at rest, the momentum along x is M_fl θ̇ with M_fl (1 × 3):
#
#     ∂p_x/∂θ̇_a  = (m1 l_g1 + (m_h1 + m2) l1) C_a + m2 l_g2 (C_a C_h2 − S_a C_h1 S_h2)
#     ∂p_x/∂θ̇_h1 = −m2 l_g2 C_a S_h1 S_h2
#     ∂p_x/∂θ̇_h2 = m2 l_g2 (C_a C_h1 C_h2 − S_a S_h2)
#
# The first is n_31 and the last −n_11 of eq. 6.11. The thesis prints n_31 with m_h1 l1 alone for the hip's carried mass, and
# with S_h1 where C_h1 belongs; the formulas here follow from the momentum.


@dataclass(frozen=True)
class ThreeJointModel:
    """Masses [kg] and lengths [m] of the model.

    Attributes:
        leg, leg_center: m1, and its center of mass over the ankle, l_g1.
        leg_length: l1, from the ankle to the hip.
        hip: m_h1.
        body, body_center: m2, and its center of mass over the hip, l_g2.
    """

    leg: float
    leg_center: float
    leg_length: float
    hip: float
    body: float
    body_center: float

    @classmethod
    def of(
        cls, mechanism: Mechanism, legs: Sequence[str], hips: Sequence[str], body: Sequence[str], *, ankle: str, hip: str
    ) -> ThreeJointModel:
        """The model of a robot that stands upright at its neutral coordinates.

        Args:
            legs, hips, body: names of the bodies that make up each part, both sides.
            ankle, hip: names of bodies or frames whose origins are at an ankle and a hip.

        Raises:
            InputError: if a part has no mass.
        """
        tree = mechanism.tree
        poses = link_poses(tree, neutral(tree))

        def height(name: str, center: Sequence[float] = (0.0, 0.0, 0.0)) -> float:
            return float(place_pose(tree, poses, tree.places[name]).point(Vector3.of(center)).z)

        def part(names: Sequence[str], over: float) -> tuple[float, float]:
            bodies = [mechanism.body(name) for name in names]
            mass = sum(one.mass for one in bodies)
            if mass <= 0.0:
                given = ", ".join(names) or "no bodies"
                raise InputError(f"{mechanism.name}: {given} have no mass; name the bodies that make up that part")
            return mass, sum(one.mass * height(one.name, one.center_of_mass) for one in bodies) / mass - over

        low, high = height(ankle), height(hip)
        m1, l_g1 = part(legs, low)
        m_h1, _ = part(hips, high)
        m2, l_g2 = part(body, high)
        return cls(m1, l_g1, high - low, m_h1, m2, l_g2)

    def coupling(self, ankle: Scalar, yaw: Scalar, pitch: Scalar) -> list[Scalar]:
        """M_fl (3): the momentum along x per rate of ankle, hip yaw and hip pitch [kg·m]; angles in rad."""
        C_a, S_a, C_1, S_1, C_2, S_2 = cos(ankle), sin(ankle), cos(yaw), sin(yaw), cos(pitch), sin(pitch)
        below = self.leg * self.leg_center + (self.hip + self.body) * self.leg_length
        above = self.body * self.body_center
        leaning = below * C_a + above * (C_a * C_2 - S_a * C_1 * S_2)
        return [leaning, -above * C_a * S_1 * S_2, above * (C_a * C_1 * C_2 - S_a * S_2)]

    def reactionless_ankle_rate(self, ankle: Scalar, yaw: Scalar, pitch: Scalar, pitch_rate: Scalar) -> Scalar:
        """θ̇_a = (n_11 / n_31) θ̇_h2 (eq. 6.12): with the hip's yaw at rest, it keeps the x of the center of mass [rad/s]."""
        n_31, _, carried = self.coupling(ankle, yaw, pitch)
        return -carried / n_31 * pitch_rate


# --- whole-body inverse kinematics ----------------------------------------------------------------------------------------
#: Largest number of Newton steps, and the accepted error of postures [m, rad].
_PASSES, _ENOUGH = 30, 1e-11


class JointTrajectory(NamedTuple):
    """Coordinates (n, nq), velocities (n, nv) and accelerations (n, nv) at n times."""

    q: np.ndarray
    v: np.ndarray
    a: np.ndarray


class Upright:
    """A robot with a floating trunk and legs of six joints each: 18 degrees of freedom for 18 requirements.

    Trunk and feet keep the axes of the world; both feet's frames and the center of mass are where requested. All other joints
    move as given.
    """

    def __init__(self, mechanism: Mechanism, trunk: str, feet: tuple[str, str]):
        """`trunk`: the body that floats; `feet`: the ends of the legs, left and right; together 18 degrees of freedom."""
        self.mechanism, self.feet = mechanism, feet
        tree = mechanism.tree
        own = {link.index: link for body in (trunk, *feet) for link in tree.ancestors(tree.places[body].link)}
        self.free = [k for _, link in sorted(own.items()) for k in range(link.v_start, link.v_start + link.kind.nv)]
        if len(self.free) != 18:
            raise InputError(
                f"{mechanism.name}: trunk {trunk!r} and legs to {feet} have {len(self.free)} degrees of freedom, not 18: six "
                "of a floating trunk and six per leg"
            )
        places = [tree.places[name] for name in (trunk, *feet)]
        mass = total_mass(tree)

        def wishes(q: Any, center: Any, left: Any, right: Any) -> dict[str, Any]:
            poses = link_poses(tree, q)
            frames = [place_pose(tree, poses, place) for place in places]
            missed = [goal - now for goal, now in zip(center, center_of_mass(tree, q), strict=True)]
            rows = [[entry / mass for entry in row] for row in momentum_matrix(tree, q)[3:]]
            for frame, place, goal in zip(frames, places, (None, left, right), strict=True):
                J = jacobian(tree, q, place)
                missed += [-turn for turn in _turn(frame.rotation.matrix())]
                rows += J[:3]
                if goal is not None:
                    missed += [a - b for a, b in zip(goal, frame.translation, strict=True)]
                    rows += J[3:]
            return {"missed": missed, "J": rows}

        def demands(q: Any, v: Any, a: Any) -> dict[str, Any]:
            ground = ground_wrench(tree, q, v, a, gravity=mechanism.gravity)
            tau = rnea(tree, q, v, a, gravity=mechanism.gravity)
            return {"tau": tau, "ground": ground, "J": [jacobian(tree, q, place) for place in places[1:]]}

        nq, nv = mechanism.nq, mechanism.nv
        self._wishes = Kernel(trace(wishes, {"q": nq, "center": 3, "left": 3, "right": 3}, f"upright_{mechanism.name}"))
        self._demands = Kernel(trace(demands, {"q": nq, "v": nv, "a": nv}, f"demands_{mechanism.name}"))
        self._moved = Kernel(trace(lambda q, dv: integrate(tree, q, dv), {"q": nq, "dv": nv}, f"moved_{mechanism.name}"))

    def postures(self, guess: np.ndarray, center: np.ndarray, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        """The coordinates (n, nq) at n times, from a guess (n, nq) whose other joints stay: by Newton's method, all at once.

        Args:
            center, left, right: requested positions of the center of mass and the feet's frames (n, 3) [m].

        Raises:
            InputError: if a posture is out of reach.
        """
        q = np.array(guess, dtype=float)
        for _ in range(_PASSES):
            missed, J = self._wishes(q, center, left, right)
            worst = np.abs(missed).max(axis=1)
            if worst.max() < _ENOUGH:
                return q
            dv = np.zeros((len(q), self.mechanism.nv))
            dv[:, self.free] = np.linalg.solve(J[:, :, self.free], missed[..., None])[..., 0]
            q = self._moved(q, dv * np.minimum(1.0, 0.5 / np.abs(dv).max(axis=1, initial=1e-300, keepdims=True)))
        k = int(np.argmax(worst))
        raise InputError(
            f"{self.mechanism.name}: posture {k} misses its feet or center of mass by {worst[k]:.3g} m after {_PASSES} Newton "
            "steps: out of reach, or a leg is straight; take shorter steps or bend the knees more"
        )

    def motion(
        self, times: np.ndarray, guess: np.ndarray, center: Sequence[np.ndarray], left: Sequence[np.ndarray],
        right: Sequence[np.ndarray],
    ) -> JointTrajectory:  # fmt: skip
        """The motion at evenly spaced times (n), from positions and velocities of the center of mass and the feet's frames.

        Args:
            guess: as in `postures`; its rows give the motion of the other joints.
            center, left, right: position (n, 3) [m] and velocity (n, 3) [m/s] each.
        """
        q = self.postures(guess, center[0], left[0], right[0])
        _, J = self._wishes(q, center[0], left[0], right[0])
        still = np.zeros_like(center[1])
        wanted = np.column_stack([center[1], still, still, left[1], still, right[1]])
        v = np.zeros((len(q), self.mechanism.nv))
        others, columns = self._others()
        v[:, others] = np.gradient(guess[:, columns], times, axis=0)
        wanted -= np.einsum("nij,nj->ni", J, v)
        v[:, self.free] = np.linalg.solve(J[:, :, self.free], wanted[..., None])[..., 0]
        return JointTrajectory(q, v, np.asarray(np.gradient(v, times, axis=0)))

    def ground(self, motion: JointTrajectory) -> np.ndarray:
        """The ground reaction that a motion needs: [n; f] (n, 6) about the world's origin [N·m, N]."""
        return self._demands(*motion)[1]

    def efforts(self, motion: JointTrajectory, loads: np.ndarray) -> np.ndarray:
        """The joint efforts (n, nv) of a motion, if the left and right foot take these parts (n, 2) of the ground reaction.

        Those of the floating base are left out: zero for a motion that the ground allows.
        """
        tau, ground, J = self._demands(*motion)
        forces = loads[..., None] * ground[:, None, 3:]
        moments = loads[..., None] * (ground[:, :3] - np.cross(self._feet(motion.q), forces).sum(axis=1))[:, None]
        tau = tau - np.einsum("nkij,nki->nj", J, np.concatenate([moments, forces], axis=2))
        tau[:, :6] = 0.0
        return tau

    def _feet(self, q: np.ndarray) -> np.ndarray:
        """The positions of the feet's frames (n, 2, 3) [m]: their errors with the world's origin as the target."""
        origin = np.zeros((len(q), 3))
        missed, _ = self._wishes(q, origin, origin, origin)
        return -np.stack([missed[:, 9:12], missed[:, 15:18]], axis=1)

    def _others(self) -> tuple[list[int], list[int]]:
        """The degrees of freedom of the other joints, in v and in q."""
        found = [
            (link.v_start + k, link.q_start + k)
            for link in self.mechanism.tree.links
            for k in range(link.kind.nv)
            if link.v_start + k not in self.free
        ]
        return [v for v, _ in found], [q for _, q in found]


def _turn(R: Any) -> list[Any]:
    """The rotation vector [rad] of a rotation matrix with a small angle; for a larger angle only its direction."""
    return [0.5 * (R[2][1] - R[1][2]), 0.5 * (R[0][2] - R[2][0]), 0.5 * (R[1][0] - R[0][1])]
