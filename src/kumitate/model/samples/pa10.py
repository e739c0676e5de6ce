"""The seven-joint arm PA-10 (thesis 5.3)."""

from __future__ import annotations

import math

from ...spatial import pose
from ..elements import Body, Joint
from ..joints import KINDS
from ..mechanism import WORLD, Mechanism
from ..shapes import Capsule, Cylinder, Geometry

LIGHT = (0.86, 0.87, 0.88, 1.0)
ACCENT = (0.13, 0.42, 0.69, 1.0)
DARK = (0.27, 0.29, 0.33, 1.0)

#: For each joint: axis, height above the joint before [m], mass of its link [kg], center of mass above the joint [m], and the
#: drawing: from where to where along z, radius [m]. The thesis prints axes and inertias; lengths and masses are those of the
#: arm's published simulator model (another source has 3.51 kg for link 3).
_LINKS = (
    ("z", 0.200, 9.78, -0.0518, (-0.115, 0.045, 0.085)),
    ("y", 0.115, 8.41, 0.0618, (0.000, 0.200, 0.070)),
    ("z", 0.280, 3.52, 0.0771, (-0.050, 0.110, 0.062)),
    ("y", 0.170, 4.31, 0.0446, (0.000, 0.180, 0.055)),
    ("z", 0.250, 3.45, 0.0838, (-0.045, 0.200, 0.047)),
    ("y", 0.250, 1.46, -0.0315, (0.000, 0.040, 0.036)),
    ("z", 0.080, 0.24, -0.0305, (-0.030, 0.000, 0.036)),
)

_AXES = {"y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}


def pa10() -> Mechanism:
    """The arm on its pedestal, upright at zero; axes z y z y z y z.

    Every link has the rotational inertia diag(1, 1, 1) kg·m² about its center of mass, as in the thesis: large for links of a
    few kilograms. There is no friction and no gear.
    """
    pedestal = Body("base", visuals=(Geometry(Cylinder(0.11, 0.085), pose((0.0, 0.0, 0.0425)), DARK),))
    bodies, joints = [pedestal], [Joint("base", KINDS["fixed"], WORLD, "base")]
    for i, (axis, height, mass, center, drawn) in enumerate(_LINKS, start=1):
        parent = bodies[-1].name
        bodies.append(Body(f"link{i}", mass, (0.0, 0.0, center), (1.0, 1.0, 1.0), _visuals(axis, *drawn)))
        joints.append(Joint(f"joint{i}", KINDS["revolute"], parent, f"link{i}", pose((0.0, 0.0, height)), _AXES[axis]))
    return Mechanism("pa10", tuple(bodies), tuple(joints))


def _visuals(axis: str, start: float, end: float, radius: float) -> tuple[Geometry, ...]:
    """A tube along z, with a drum across it where the joint turns about y, or a ring where it turns about z."""
    middle = pose((0.0, 0.0, (start + end) / 2.0))
    if axis == "y":
        drum = Geometry(Cylinder(1.05 * radius, 2.7 * radius), pose(rpy=(math.pi / 2.0, 0.0, 0.0)), ACCENT)
        return Geometry(Capsule(0.9 * radius, end - start), middle, LIGHT), drum
    ring = Geometry(Cylinder(1.03 * radius, 0.012), pose((0.0, 0.0, start + 0.006)), ACCENT)
    return Geometry(Cylinder(radius, end - start), middle, LIGHT), ring
