"""The benchmark bicycle: a rigid rider on a frame, a steered fork, two wheels that roll without slip.

J. P. Meijaard, J. M. Papadopoulos, A. Ruina, A. L. Schwab, Linearized dynamics equations for the balance and steer of a
bicycle: a benchmark and review, Proc. R. Soc. A 463 (2007) 1955-1982; parameters of table 1.
"""

from __future__ import annotations

import math

from ...spatial import pose
from ..elements import Body, Joint, Loop
from ..joints import KINDS, RollingDisc
from ..mechanism import WORLD, Mechanism
from ..shapes import Capsule, Cylinder, Geometry
from .linkages import ABOUT_Y, COLORS, DARK

#: Wheel base w, trail c [m], tilt λ of the steer axis, and the radii of the wheels [m].
_BASE, _TRAIL, _TILT, REAR_RADIUS, _FRONT_RADIUS = 1.02, 0.08, math.pi / 10.0, 0.3, 0.35
#: Upright above the origin, at the center of the rear wheel: orientation, position, then rear wheel, steer, front wheel.
BICYCLE_START = (0.0, 0.0, 0.0, 1.0, 0.0, 0.0, REAR_RADIUS, 0.0, 0.0, 0.0)


def bicycle() -> Mechanism:
    """The bicycle with x forward, y to the left, z up; joints "base", "rear", "steer", "front".

    The publication has z down and y to the right: its products of inertia change sign here.
    """
    rear_place, front_place = (0.0, REAR_RADIUS), (_BASE + _TRAIL, 0.0)  # origins of the frames: (x, height)
    frame = _body("frame", 85.0, (0.3, 0.9), rear_place, (9.2, 11.0, 2.8, 2.4), _frame_drawn())
    fork = _body("fork", 4.0, (0.9, 0.7), front_place, (0.05892, 0.06, 0.00708, -0.00756), _fork_drawn())
    rear = Body("rear_wheel", 2.0, inertia=(0.0603, 0.12, 0.0603), visuals=_wheel_drawn(REAR_RADIUS))
    front = Body("front_wheel", 3.0, inertia=(0.1405, 0.28, 0.1405), visuals=_wheel_drawn(_FRONT_RADIUS))
    axis = (-math.sin(_TILT), 0.0, math.cos(_TILT))
    joints = (
        Joint("base", KINDS["floating"], WORLD, "frame"),
        Joint("rear", KINDS["revolute"], "frame", "rear_wheel", axis=ABOUT_Y),
        Joint("steer", KINDS["revolute"], "frame", "fork", pose((_BASE + _TRAIL, 0.0, -REAR_RADIUS)), axis),
        Joint("front", KINDS["revolute"], "fork", "front_wheel", pose((-_TRAIL, 0.0, _FRONT_RADIUS)), ABOUT_Y),
    )
    axle = pose(rpy=(-0.5 * math.pi, 0.0, 0.0))
    contacts = tuple(
        Loop(f"{wheel}_contact", RollingDisc(radius), WORLD, f"{wheel}_wheel", pose_b=axle)
        for wheel, radius in (("rear", REAR_RADIUS), ("front", _FRONT_RADIUS))
    )
    return Mechanism("bicycle", (frame, rear, fork, front), joints, contacts)


def bicycle_velocity(speed: float, leaning: float = 0.0) -> tuple[float, ...]:
    """v (9) of the upright bicycle at a forward `speed` [m/s], while it leans at a rate [rad/s], positive to the right."""
    turning = (leaning, 0.0, 0.0), (speed, -leaning * REAR_RADIUS, 0.0)
    return *turning[0], *turning[1], speed / REAR_RADIUS, 0.0, speed / _FRONT_RADIUS


def _body(
    name: str, mass: float, center: tuple[float, float], origin: tuple[float, float], inertia: tuple[float, ...],
    drawn: tuple[Geometry, ...],
) -> Body:  # fmt: skip
    """A body of the publication: x and height of its center and of its frame's origin, Ixx, Iyy, Izz and the entry Ixz."""
    xx, yy, zz, xz = inertia
    at = (center[0] - origin[0], 0.0, center[1] - origin[1])
    return Body(name, mass, at, ((xx, 0.0, -xz), (0.0, yy, 0.0), (-xz, 0.0, zz)), drawn)


def _wheel_drawn(radius: float) -> tuple[Geometry, ...]:
    across = pose(rpy=(0.5 * math.pi, 0.0, 0.0))
    spoke = Geometry(Capsule(0.008, 1.9 * radius), color=COLORS[1])
    return Geometry(Cylinder(radius, 0.025), across, (*DARK[:3], 0.45)), spoke


def _tube(start: tuple[float, float], end: tuple[float, float], radius: float, color: tuple[float, ...]) -> Geometry:
    """A tube in the plane of the bicycle between two points (x, z)."""
    dx, dz = end[0] - start[0], end[1] - start[1]
    middle = pose((0.5 * (start[0] + end[0]), 0.0, 0.5 * (start[1] + end[1])), (0.0, math.atan2(dx, dz), 0.0))
    return Geometry(Capsule(radius, math.hypot(dx, dz)), middle, color)  # type: ignore[arg-type]


def _frame_drawn() -> tuple[Geometry, ...]:
    """Tubes from the rear wheel to the crank, the saddle and the steering head, and the rider."""
    crank, saddle, head = (0.45, -0.02), (0.28, 0.55), (0.83, 0.5)
    tubes = (((0.0, 0.0), crank), ((0.0, 0.0), saddle), (crank, saddle), (crank, head), (saddle, head))
    rider = _tube((0.25, 0.68), (0.48, 1.12), 0.12, COLORS[2])
    return *(_tube(start, end, 0.018, COLORS[0]) for start, end in tubes), rider


def _fork_drawn() -> tuple[Geometry, ...]:
    """From the axle of the front wheel up along the steer axis to the handlebar."""
    axle, crown, top = (-_TRAIL, _FRONT_RADIUS), (-0.7 * math.tan(_TILT), 0.7), (-0.95 * math.tan(_TILT), 0.95)
    bar = Geometry(Capsule(0.014, 0.5), pose((top[0], 0.0, top[1]), (0.5 * math.pi, 0.0, 0.0)), DARK)
    return _tube(axle, crown, 0.016, COLORS[1]), _tube(crown, top, 0.016, COLORS[1]), bar
