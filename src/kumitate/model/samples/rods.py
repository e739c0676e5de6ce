"""Pendulums, chains, trees and closed loops of thin rods: thesis chapters 3 and 4, and IFToMM's problems A01 and A02.

Rods have the length 1 m and the mass 1 kg, and lie along the z axes of their frames; in the plane, every joint is about y. An
angle is relative to the previous rod, the first one from +z (pendulums: from hanging); a positive one turns +z towards +x.
Gravity is along −z; IFToMM has y where z is here.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

from ...spatial import pose
from ..elements import Body, Joint, Loop
from ..joints import KINDS, Distance
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


#: The world's axes turned half a turn about y: an angle seen from a rod's far end.
HALF_TURN = ((-1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, -1.0))


def planar_4r() -> Mechanism:
    """The planar loop of the thesis (T-3.3): the chain of three rods with its end pinned at (1, 0), a parallelogram.

    The loop's joint is joint4; its angle is that of the last rod seen from the ground.
    """
    chain = planar_3r()
    joint4 = Loop(
        "joint4",
        KINDS["revolute"],
        WORLD,
        "link3",
        pose((LENGTH, 0.0, 0.0), matrix=HALF_TURN),
        pose((0.0, 0.0, LENGTH)),
        ABOUT_Y,
    )
    last = chain.bodies[-1]
    bodies = (*chain.bodies[:-1], replace(last, visuals=(*last.visuals, hinge(LENGTH))))
    return replace(chain, name="planar_4r", bodies=bodies, loops=(joint4,))


def planar_4r_singular() -> Mechanism:
    """The same loop (T-3.4), for a start from which it swings through the postures where all rods are in a line."""
    return replace(planar_4r(), name="planar_4r_singular")


def planar_4r_leaning(*, lean: float = math.pi / 6.0) -> Mechanism:
    """The same loop with its plane leaning from the upright (T-sing).

    Then weight acts across the plane, where the loop has three redundant constraints: the motion does not determine those
    forces.

    Args:
        lean: of the plane [rad], turned about x.
    """
    loop = planar_4r()
    turned = pose(rpy=(lean, 0.0, 0.0))
    joints = tuple(replace(joint, pose=turned @ joint.pose) if joint.parent == WORLD else joint for joint in loop.joints)
    loops = tuple(replace(chord, pose_a=turned @ chord.pose_a) for chord in loop.loops)
    return replace(loop, name="planar_4r_leaning", joints=joints, loops=loops)


def four_bars(count: int = 1) -> Mechanism:
    """A row of four-bar linkages (A02): legs 0 to `count` upright on the ground, 1 m apart, joined on top by as many rods.

    In postures where all rods are in a line, it momentarily has `count` + 1 degrees of freedom instead of one.

    Args:
        count: of four-bar linkages, 1 or more.
    """
    top = pose((0.0, 0.0, LENGTH))
    bodies: list[Body] = []
    joints: list[Joint] = []
    for k in range(count + 1):
        bodies.append(rod(f"leg{k}", COLORS[0]))
        joints.append(Joint(f"pivot{k}", KINDS["revolute"], WORLD, f"leg{k}", pose((LENGTH * k, 0.0, 0.0)), ABOUT_Y))
        if k < count:
            bodies.append(rod(f"top{k}", COLORS[1 + k % (len(COLORS) - 1)]))
            joints.append(Joint(f"corner{k}", KINDS["revolute"], f"leg{k}", f"top{k}", top, ABOUT_Y))
    loops = tuple(Loop(f"loop{k}", KINDS["revolute"], f"leg{k + 1}", f"top{k}", top, top, ABOUT_Y) for k in range(count))
    return Mechanism(four_bars_name(count), tuple(bodies), tuple(joints), loops)


def four_bars_start(count: int, angle: float, speed: float) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """q and v of `four_bars(count)` whose legs lean towards +x by `angle` [rad] and turn at `speed` [rad/s]."""
    quarter = 1.5707963267948966
    q = tuple(x for _ in range(count) for x in (angle, quarter - angle))
    v = tuple(x for _ in range(count) for x in (speed, -speed))
    return (*q, angle), (*v, speed)


def four_bars_name(count: int) -> str:
    """What a row of so many is called."""
    return "four_bar" if count == 1 else f"four_bars_{count}"


def four_bars_of(count: int) -> Callable[[], Mechanism]:
    """What builds `four_bars(count)`."""
    return lambda: four_bars(count)


def distance_pendulum() -> Mechanism:
    """A pendulum without a joint (A01): a point mass of 1 kg that moves freely in space, held 1 m from the world's origin."""
    ball = Body("bob", 1.0, visuals=(Geometry(Sphere(0.08), color=COLORS[0]),))
    axes = {"x": (1.0, 0.0, 0.0), "y": ABOUT_Y, "z": (0.0, 0.0, 1.0)}
    carriers = (Body("along_x"), Body("along_y"), ball)
    joints = []
    parent = WORLD
    for (name, axis), body in zip(axes.items(), carriers, strict=True):
        joints.append(Joint(name, KINDS["prismatic"], parent, body.name, axis=axis))
        parent = body.name
    string = Loop("string", Distance(LENGTH), WORLD, "bob")
    return Mechanism("distance_pendulum", carriers, tuple(joints), (string,))
