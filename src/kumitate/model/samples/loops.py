"""Planar closed loops: the thesis's parallelogram (3.1.3, 3.3) and two of IFToMM's reference problems, A01 and A02.

In the plane x-z, joints about y, rods along the z axes of their frames, gravity along −z; IFToMM has y where z is here.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

from ...spatial import pose
from ..elements import Body, Joint, Loop
from ..joints import KINDS, Distance
from ..mechanism import WORLD, Mechanism
from ..shapes import Geometry, Sphere
from .linkages import ABOUT_Y, COLORS, LENGTH, hinge, planar_3r, rod

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
