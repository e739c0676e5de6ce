"""Pendulums and linkages of thin rods (thesis chapter 3): every joint about y, rods along the z axes of their frames.

An angle is relative to the previous rod, the first one from +z (pendulums: from hanging); a positive one turns +z towards +x.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...spatial import pose
from ..elements import Body, Joint
from ..joints import KINDS
from ..mechanism import WORLD, Mechanism
from ..shapes import Capsule, Cylinder, Geometry, Sphere

LENGTH = 1.0
MASS = 1.0
RADIUS = 0.03
GREY = (0.55, 0.58, 0.62, 1.0)
DARK = (0.20, 0.22, 0.26, 1.0)
COLORS = (
    (0.16, 0.42, 0.70, 1.0), (0.90, 0.49, 0.13, 1.0), (0.20, 0.60, 0.40, 1.0), (0.72, 0.25, 0.32, 1.0), (0.50, 0.38, 0.70, 1.0),
)  # fmt: skip
ABOUT_Y = (0.0, 1.0, 0.0)


def rod(name: str, color: Sequence[float], *, axial_inertia: float = 0.0, hinged: bool = True) -> Body:
    """A uniform thin rod of 1 kg and 1 m along +z from its frame: inertia diag(ml²/12, ml²/12, axial) about its middle.

    Args:
        name, color: of the body.
        axial_inertia: about the rod's own axis [kg·m²]; zero in the thesis.
        hinged: whether it is drawn with a hinge at its lower end.
    """
    middle = (0.0, 0.0, LENGTH / 2.0)
    across = MASS * LENGTH**2 / 12.0
    visuals = [Geometry(Capsule(RADIUS, LENGTH), pose(middle), tuple(color))]  # type: ignore[arg-type]
    return Body(name, MASS, middle, (across, across, axial_inertia), (*visuals, *([hinge()] if hinged else [])))


def planar_3r() -> Mechanism:
    """The planar serial chain of three rods (T-3.1)."""
    return _rods("planar_3r", [None, 0, 1])


def planar_tree() -> Mechanism:
    """The planar tree of four rods (T-3.2), an F: rods 1, 2 the trunk, rod 3 on the end of rod 2, rod 4 on the end of rod 1."""
    return _rods("planar_tree", [None, 0, 1, 0])


def planar_tree_5() -> Mechanism:
    """The planar tree with a fifth rod on the end of rod 4 (T-3.2, second run)."""
    return _rods("planar_tree_5", [None, 0, 1, 0, 3])


def pendulum() -> Mechanism:
    """A point mass of 1 kg on a massless rod of 1 m, hanging from the world at angle zero."""
    return Mechanism("pendulum", (_bob("bob", COLORS[0]),), (Joint("hinge", KINDS["revolute"], WORLD, "bob", axis=ABOUT_Y),))


def double_pendulum() -> Mechanism:
    """Two point masses of 1 kg on massless rods of 1 m, one hanging from the other."""
    bodies = (_bob("upper", COLORS[0]), _bob("lower", COLORS[1]))
    first = Joint("shoulder", KINDS["revolute"], WORLD, "upper", axis=ABOUT_Y)
    second = Joint("elbow", KINDS["revolute"], "upper", "lower", pose((0.0, 0.0, -LENGTH)), axis=ABOUT_Y)
    return Mechanism("double_pendulum", bodies, (first, second))


def free_rod(*, axial_inertia: float = 1e-6) -> Mechanism:
    """The free rod in space, without gravity (T-3.5): a joint of six degrees of freedom at its lower end.

    Args:
        axial_inertia: about the rod's own axis [kg·m²]. With the thesis's zero the mass matrix is singular and the rod's spin
            has no equation of motion; its direction, center of mass, energy and momentum do not depend on the value.
    """
    body = rod("rod", COLORS[0], axial_inertia=axial_inertia, hinged=False)
    return Mechanism("free_rod", (body,), (Joint("base", KINDS["floating"], WORLD, "rod"),), gravity=(0.0, 0.0, 0.0))


def _rods(name: str, parents: Sequence[int | None]) -> Mechanism:
    """Rods, each hinged on the end of its parent (None: on the world's origin)."""
    bodies = tuple(rod(f"link{i + 1}", COLORS[i % len(COLORS)]) for i in range(len(parents)))
    joints = tuple(
        Joint(
            f"joint{i + 1}", KINDS["revolute"], WORLD if parent is None else bodies[parent].name, bodies[i].name,
            pose((0.0, 0.0, 0.0 if parent is None else LENGTH)), axis=ABOUT_Y,
        )
        for i, parent in enumerate(parents)
    )  # fmt: skip
    return Mechanism(name, bodies, joints)


def _bob(name: str, color: Sequence[float]) -> Body:
    end = (0.0, 0.0, -LENGTH)
    string = Geometry(Capsule(0.01, LENGTH), pose((0.0, 0.0, -LENGTH / 2.0)), GREY)
    ball = Geometry(Sphere(0.08), pose(end), tuple(color))  # type: ignore[arg-type]
    return Body(name, MASS, end, visuals=(string, ball, hinge()))


def hinge(height: float = 0.0) -> Geometry:
    """A pin along y, at this height on the frame's z axis [m]."""
    return Geometry(Cylinder(1.4 * RADIUS, 3.2 * RADIUS), pose((0.0, 0.0, height), (1.5707963267948966, 0.0, 0.0)), DARK)
