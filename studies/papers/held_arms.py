"""Arms of thin rods whose points are held on the floor: the seven cases of N 5, and an arm held at two points."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import acos, cos, pi
from typing import Any

import numpy as np

from kumitate.examples.catalogue import Curves, Plate
from kumitate.held.point import HeldPoint, PlaneSurface
from kumitate.model import KINDS, Body, Capsule, Geometry, Joint, Mechanism, Sphere
from kumitate.model.samples import COLORS, DARK
from kumitate.records.record import Record
from kumitate.simulate.interactions.held import held_motion
from kumitate.simulate.run import simulate
from kumitate.spatial import pose

__all__ = [
    "CASES",
    "DURATION",
    "STEP",
    "TIP",
    "TWO",
    "Case",
    "arm",
    "case_note",
    "case_plate",
    "routes_apart",
    "simulated",
    "two_points",
]

#: Of a rod [m], its mass [kg], the viscous friction of its joint [N·m·s/rad]; of the floor: f_t = K f_n (N 5).
LENGTH, MASS, DAMPING, FRICTION = 0.5, 1.0, 3.0, 0.2
#: Sampling time of N, and the duration, which N does not print [s].
STEP, DURATION = 1e-2, 10.0
#: Angles from the vertical, each from the rod before: the arm arches from its base on the floor to its tip on the floor.
START = (-pi / 6.0, -pi / 3.0, -pi / 3.0)
TIP = HeldPoint("link3", (0.0, 0.0, LENGTH), friction=FRICTION, name="tip")
#: Elbow and tip of an arm of four rods: the elbow on a rail at this height [m], the tip on the floor.
RAIL = 0.4
TWO = (
    HeldPoint("link2", (0.0, 0.0, LENGTH), PlaneSurface(through=(0.0, 0.0, RAIL)), FRICTION, "elbow"),
    HeldPoint("link4", (0.0, 0.0, LENGTH), friction=FRICTION, name="tip"),
)
#: Angles from the vertical of its rods 1 and 3 at the start; those of rods 2 and 4 follow.
_FIRST, _THIRD = -pi / 18.0, -pi / 2.0


@dataclass(frozen=True)
class Case:
    """One of the simulations of N 5.

    Attributes:
        figure: of the paper; `title`: what is special.
        torque: tau(t) (3) [N·m], None for the free response.
        mass, damping: of rods and joints, as multiples of N's.
    """

    figure: int
    title: str
    torque: Callable[[Any, Any, Any], list[Any]] | None = None
    mass: float = 1.0
    damping: float = 1.0


def _steady(t: Any, q: Any, v: Any) -> list[Any]:
    return [-3.0, -3.0, -3.0]


def _slow(t: Any, q: Any, v: Any) -> list[Any]:
    return [3.0 * np.sin(0.2 * pi * t)] * 3


def _fast(t: Any, q: Any, v: Any) -> list[Any]:
    return [-3.0 * np.cos(2.0 * pi * t), -3.0 * np.sin(2.0 * pi * t), 3.0 * np.cos(2.0 * pi * t)]


def _swing(t: Any, q: Any, v: Any) -> list[Any]:
    push = 4.0 * np.sin(0.4 * pi * t)
    return [push, -push, push, -push]


#: The seven cases, by N's numbers.
CASES = {
    "i": Case(3, "τ = (−3, −3, −3) N·m", _steady),
    "ii": Case(4, "τ = 3 sin(2πt/10) (1, 1, 1) N·m", _slow),
    "iii": Case(5, "τ = 3 (−cos 2πt, −sin 2πt, cos 2πt) N·m", _fast),
    "iv": Case(6, "free, masses doubled", mass=2.0),
    "v": Case(7, "free, masses halved", mass=0.5),
    "vi": Case(8, "free, damping doubled", damping=2.0),
    "vii": Case(9, "free, damping halved", damping=0.5),
}


def arm(rods: int = 3, *, mass: float = MASS, damping: float = DAMPING, name: str = "held_arm") -> Mechanism:
    """A planar arm of thin rods of this mass [kg], standing on the floor; its joints about y have this damping [N·m·s/rad]."""
    across = mass * LENGTH**2 / 12.0
    middle = pose((0.0, 0.0, 0.5 * LENGTH))
    bodies, joints = [], []
    for i in range(rods):
        visuals = (Geometry(Capsule(0.015, LENGTH), middle, COLORS[i]), Geometry(Sphere(0.022), pose(), DARK))
        bodies.append(Body(f"link{i + 1}", mass, (0.0, 0.0, 0.5 * LENGTH), (across, across, 0.0), visuals))
        carrier, height = (bodies[i - 1].name, LENGTH) if i else ("world", 0.0)
        joints.append(
            Joint(
                f"joint{i + 1}", KINDS["revolute"], carrier, bodies[i].name, pose((0.0, 0.0, height)), axis=(0.0, 1.0, 0.0),
                damping=(damping,),
            )
        )  # fmt: skip
    return Mechanism(name, tuple(bodies), tuple(joints))


def simulated(case: Case, *, step: float = STEP, **options: Any) -> Record:
    """A case from rest over 10 s; `options` as of `kumitate.simulate`."""
    mechanism = arm(mass=case.mass * MASS, damping=case.damping * DAMPING)
    return simulate(mechanism, START, duration=DURATION, step=step, controller=case.torque, held=(TIP,), **options)


def two_points(*, step: float = 1e-3, **options: Any) -> Record:
    """The arm of four rods, held at its elbow and its tip, over 10 s from rest; a slow torque drives all joints."""
    second, fourth = -acos(RAIL / LENGTH - cos(_FIRST)), -acos(-RAIL / LENGTH - cos(_THIRD))
    q = (_FIRST, second - _FIRST, _THIRD - second, fourth - _THIRD)
    mechanism = arm(4, name="held_two_points")
    return simulate(mechanism, q, duration=DURATION, step=step, controller=_swing, held=TWO, **options)


def routes_apart(result: Record, held: Sequence[HeldPoint]) -> np.ndarray:
    """The differences of the normal forces by both methods (n, points), as fractions of the larger."""
    one, other = (held_motion(result, held, method=method) for method in ("rows", "newton_euler"))
    pairs = [(one[name].normal, other[name].normal) for name in one]
    return np.column_stack([np.abs(a - b) / np.maximum(np.abs(a), np.abs(b)) for a, b in pairs])


def case_note(number: str, result: Record) -> str:
    """A sentence about a case, with the error of its constraint, and that of the same run without projection."""
    tip = held_motion(result, (TIP,))["tip"]
    loose = held_motion(simulated(CASES[number], baumgarte=0.0), (TIP,))["tip"]
    return (
        f"case ({number}), {CASES[number].title}: tip on the floor to {np.abs(tip.gap).max():.1e} m, without projection to "
        f"{np.abs(loose.gap).max():.1e} m; f_n {tip.normal.min():.3f} to {tip.normal.max():.3f} N, equal by both routes to "
        f"{routes_apart(result, (TIP,)).max():.0e}"
    )


def case_plate(number: str, result: Record) -> Plate:
    """The paper's figure of a case, angles and tip height, and the forces."""
    case = CASES[number]
    tip = held_motion(result, (TIP,))["tip"]
    loose = held_motion(simulated(case, baumgarte=0.0), (TIP,))["tip"]
    heights = np.column_stack([1e3 * tip.gap, 1e3 * loose.gap])
    forces = np.column_stack([tip.normal, tip.friction[:, 0]])
    return Plate(
        (
            Curves("Joint angle", "deg", ("q₁", "q₂", "q₃"), np.degrees(result.q)),
            Curves("Height of tip", "mm", ("held", "left to drift"), heights),
            Curves("Force of floor on tip", "N", ("normal", "friction"), forces),
            Curves("Velocity of tip along floor", "m/s", ("x",), tip.velocity[:, :1]),
        ),
        f"Case ({number}), figure {case.figure} of the paper: {case.title}. Steps of {1e3 * STEP:g} ms, "
        "implicit in damping and friction.",
    )
