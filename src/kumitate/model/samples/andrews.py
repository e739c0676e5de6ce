"""Andrews' squeezer (A03): seven bodies in a plane, six loop equations, a motor and a spring; without gravity.

Geometry, masses and inertias are those of the Test Set for IVP Solvers (problem "Andrews' squeezing mechanism", release 2.4,
Mazzia and Magherini, Bari 2008, after Hairer and Wanner, Solving Ordinary Differential Equations II, VII.7). Its seven angles
are this sample's joint coordinates as they are; only their order differs, going along the tree.
"""

from __future__ import annotations

from itertools import pairwise

from ...spatial import pose
from ..elements import Body, Joint, Loop
from ..joints import KINDS, Line
from ..mechanism import WORLD, Mechanism
from ..shapes import Capsule, Cylinder, Geometry, Sphere

#: The motor's torque at the crank [N·m].
ANDREWS_TORQUE = 0.033
#: The test set's consistent start, from rest: β, Θ, γ, δ, Φ, ε, Ω [rad].
ANDREWS_START = (
    -0.0617138900142764496, 0.0, 0.455279819163070380, 0.487364979543842550, 0.222668390165885884, 1.23054744454982119,
    -0.222668390165885884,
)  # fmt: skip

#: Points of the ground [m]: A carries bodies 5 and 7, B body 3, and the spring is held at C. The crank turns about the origin.
A, B, C = (-0.06934, -0.00227), (-0.03635, 0.03273), (0.014, 0.072)

#: By body: mass [kg], inertia about the center of mass [kg·m²], center of mass [m], points of joints or springs [m], colour.
_BODIES = {
    "crank": (0.04325, 2.194e-6, (0.00092, 0.0), [(0.007, 0.0)], (0.72, 0.25, 0.32, 1.0)),
    "rod": (0.00365, 4.410e-7, (-0.0115, 0.0), [(-0.028, 0.0)], (0.90, 0.49, 0.13, 1.0)),
    "triangle": (0.02373, 5.255e-6, (0.01043, -0.01874), [(0.0, -0.035), (0.020, -0.018)], (0.16, 0.42, 0.70, 1.0)),
    "body5": (0.07050, 1.169e-5, (0.02308, 0.00916), [(0.040, 0.0)], (0.20, 0.60, 0.40, 1.0)),
    "body4": (0.00706, 5.667e-7, (0.0, -0.00579), [(0.0, -0.020)], (0.45, 0.72, 0.55, 1.0)),
    "body7": (0.05498, 1.912e-5, (-0.00449, -0.01228), [(0.0, -0.040)], (0.50, 0.38, 0.70, 1.0)),
    "body6": (0.00706, 5.667e-7, (0.00579, 0.0), [(0.020, 0.0)], (0.68, 0.58, 0.82, 1.0)),
}
#: By joint, named by its angle in the test set: parent, child, position in the parent [m].
_JOINTS = {
    "beta": (WORLD, "crank", (0.0, 0.0)),
    "Theta": ("crank", "rod", (0.007, 0.0)),
    "gamma": (WORLD, "triangle", B),
    "delta": (WORLD, "body5", A),
    "Phi": ("body5", "body4", (0.040, 0.0)),
    "epsilon": (WORLD, "body7", A),
    "Omega": ("body7", "body6", (0.0, -0.040)),
}
_RADIUS = 0.0012


def andrews() -> Mechanism:
    """The mechanism in the plane x-y, its joints about z; bodies are flat plates.

    The rod's end is joined to the triangle, to body 4 and to body 6 (three loops); the spring pulls at the triangle. The motor
    is a constant effort of `ANDREWS_TORQUE` at "beta", which a simulation has to be given.
    """
    bodies = tuple(
        Body(name, mass, (*center, 0.0), (0.5 * inertia, 0.5 * inertia, inertia), _plate(points, color))
        for name, (mass, inertia, center, points, color) in _BODIES.items()
    )
    joints = tuple(
        Joint(name, KINDS["revolute"], parent, child, pose((*place, 0.0))) for name, (parent, child, place) in _JOINTS.items()
    )
    end = pose((-0.028, 0.0, 0.0))
    loops = tuple(
        Loop(f"rod-{name}", KINDS["revolute"], "rod", name, end, pose((*_BODIES[name][3][0], 0.0)))
        for name in ("triangle", "body4", "body6")
    )
    pulled = pose((*_BODIES["triangle"][3][1], 0.0))
    spring = Loop("spring", Line(), WORLD, "triangle", pose((*C, 0.0)), pulled, stiffness=4530.0, rest=0.07785)
    return Mechanism("andrews", bodies, joints, (*loops, spring), gravity=(0.0, 0.0, 0.0))


def _plate(points: list[tuple[float, float]], color: tuple[float, float, float, float]) -> tuple[Geometry, ...]:
    """The drawing: bars from the body's frame to its points, and between these, with a pin at the frame."""
    corners = [(0.0, 0.0), *points]
    ends = [*pairwise(corners), *([(corners[-1], corners[0])] if len(corners) > 2 else [])]
    bars = [_bar(start, end, color) for start, end in ends]
    pin = Geometry(Cylinder(1.6 * _RADIUS, 3.6 * _RADIUS), color=(0.20, 0.22, 0.26, 1.0))
    return (*bars, pin, *_balls(points if len(points) > 1 else [], color))


def _bar(
    start: tuple[float, float], end: tuple[float, float], color: tuple[float, float, float, float]
) -> Geometry:  # fmt: skip
    dx, dy = end[0] - start[0], end[1] - start[1]
    length = (dx * dx + dy * dy) ** 0.5
    c, s = dx / length, dy / length
    middle = ((start[0] + end[0]) / 2.0, (start[1] + end[1]) / 2.0, 0.0)
    return Geometry(Capsule(_RADIUS, length), pose(middle, matrix=((0.0, -s, c), (0.0, c, s), (-1.0, 0.0, 0.0))), color)


def _balls(points: list[tuple[float, float]], color: tuple[float, float, float, float]) -> list[Geometry]:
    return [Geometry(Sphere(1.4 * _RADIUS), pose((*point, 0.0)), color) for point in points]
