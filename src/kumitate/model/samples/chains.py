"""Chains of thin rods, planar and in space, that the thesis compares its methods on (chapter 4).

Rods have the length 1 m and the mass 1 kg, and lie along the z axes of their frames.
"""

from __future__ import annotations

import math

from ...spatial import pose
from ..elements import Joint
from ..joints import KINDS
from ..mechanism import WORLD, Mechanism
from .linkages import ABOUT_Y, COLORS, LENGTH, rod

#: q and v that `floating_arm` starts at (thesis 4.4.2): ω and v of its base, then the joints of table 4.1.
FLOATING_ARM_START = (
    (0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, *(math.radians(angle) for angle in (0.0, 90.0, 0.0, 90.0, 0.0))),
    (-1.01, -0.61, 0.0, 0.96, -1.18, 0.24, -0.83, 0.86, 2.01, -0.44, -0.84),
)


def planar_chain(links: int) -> Mechanism:
    """The planar serial chain of so many rods on the ground (T-4.3): every joint about y, angles relative to the rod before."""
    bodies = tuple(rod(f"link{i + 1}", COLORS[i % len(COLORS)]) for i in range(links))
    joints = tuple(
        Joint(
            f"joint{i + 1}", KINDS["revolute"], bodies[i - 1].name if i else WORLD, body.name,
            pose((0.0, 0.0, LENGTH if i else 0.0)), axis=ABOUT_Y,
        )
        for i, body in enumerate(bodies)
    )  # fmt: skip
    return Mechanism(f"planar_{links}r", bodies, joints)


def planar_7r() -> Mechanism:
    """The planar arm of seven rods (T-4.1)."""
    return planar_chain(7)


def floating_chain(links: int, *, axial_inertia: float = 1e-6) -> Mechanism:
    """A chain of rods in space on a floating base, the first rod, without gravity (T-4.2, T-4.4): joints about z, y, z, y, …

    Args:
        links: number of rods.
        axial_inertia: about each rod's own axis [kg·m²]. With the thesis's zero the mass matrix is singular: nothing resists
            the spin of rods about themselves. The rods' directions, the center of mass, energy and momentum do not depend on
            it.
    """
    bodies = tuple(
        rod(f"link{i + 1}", COLORS[i % len(COLORS)], axial_inertia=axial_inertia, hinged=False) for i in range(links)
    )  # fmt: skip
    joints = [Joint("base", KINDS["floating"], WORLD, bodies[0].name)]
    for i, body in enumerate(bodies[1:]):
        axis = ABOUT_Y if i % 2 else (0.0, 0.0, 1.0)
        joints.append(Joint(f"joint{i + 1}", KINDS["revolute"], bodies[i].name, body.name, pose((0.0, 0.0, LENGTH)), axis=axis))
    return Mechanism(f"floating_chain_{links}", bodies, tuple(joints), gravity=(0.0, 0.0, 0.0))


def floating_arm(*, axial_inertia: float = 1e-6) -> Mechanism:
    """The arm of six rods in space on a floating base (T-4.2); `axial_inertia` as in `floating_chain`."""
    chain = floating_chain(6, axial_inertia=axial_inertia)
    return Mechanism("floating_arm", chain.bodies, chain.joints, gravity=chain.gravity)
