"""Mechanisms that come with the package, each with its initial state; some are data, files of `samples/files`."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path

from ...errors import InputError, did_you_mean
from ...spatial import pose
from ..elements import Body, Joint, Loop
from ..joints import KINDS
from ..mechanism import WORLD, Mechanism
from ..shapes import Box, Capsule, Cylinder, Geometry

__all__ = [
    "ABOUT_Y", "ANDREWS_START", "ANDREWS_TORQUE", "BICYCLE_START", "COLORS", "DARK", "FLOATING_ARM_START",
    "HOAP1_STANDING", "HOAP2_JOINTS", "HOAP2_STANDING", "LENGTH", "MASS", "SAMPLES",
    "Sample", "andrews", "bicycle", "bicycle_velocity", "bricard", "distance_pendulum", "double_pendulum", "floating_arm",
    "floating_chain", "four_bars", "four_bars_start", "free_rod", "governor", "hinge",
    "hoap1", "hoap2_legs", "hoap2_legs_free", "hoap2_reaching", "hoap2_soles", "pa10", "pendulum", "planar_3r", "planar_4r",
    "planar_4r_leaning", "planar_4r_singular", "planar_7r", "planar_chain", "planar_tree", "planar_tree_5", "rod", "sample",
]  # fmt: skip

#: The motor's torque at the crank of Andrews' squeezer [N·m].
ANDREWS_TORQUE = 0.033
#: The test set's consistent start, from rest: β, Θ, γ, δ, Φ, ε, Ω [rad].
ANDREWS_START = (
    -0.0617138900142764496, 0.0, 0.455279819163070380, 0.487364979543842550, 0.222668390165885884, 1.23054744454982119,
    -0.222668390165885884,
)  # fmt: skip
#: The radii of the bicycle's wheels [m].
_REAR_RADIUS, _FRONT_RADIUS = 0.3, 0.35
#: Upright above the origin, at the center of the rear wheel: orientation, position, then rear wheel, steer, front wheel.
BICYCLE_START = (0.0, 0.0, 0.0, 1.0, 0.0, 0.0, _REAR_RADIUS, 0.0, 0.0, 0.0)
#: Where HOAP-1 stands upright on the floor z = 0: the floating base, then 20 joints at zero. Its trunk's frame is 0.2355 m up.
HOAP1_STANDING = (0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.2355) + (0.0,) * 20
#: HOAP-2's joints by the thesis's numbers 1 to 10 (6.3): hips 1-3 and 6-8, ankles 4, 5 and 9, 10.
HOAP2_JOINTS = tuple(
    f"{side}_{name}" for side in ("right", "left") for name in ("hip_yaw", "hip_roll", "hip_pitch", "ankle_pitch", "ankle_roll")
)
#: HOAP-2's hips off the middle, and its ankles over the floor [m]; the sole's middle before the ankle, its length and width.
_HIP, _ANKLE, _SOLE = 0.039, 0.0355, (0.0112, 0.094, 0.062)
#: Coordinates at which `hoap2_legs_free` stands upright on the floor: its left foot's pose, then ten joints.
HOAP2_STANDING = (0.0, 0.0, 0.0, 1.0, 0.0, _HIP, _ANKLE) + (0.0,) * 10


@cache
def _stored(name: str) -> Mechanism:
    """The mechanism of a file of `samples/files`; its messages name it as those made in Python, without a file."""
    from ..read.json import read_json  # loaded only to read one

    return replace(read_json(Path(__file__).parent / "files" / f"{name}.json"), source=None)


def andrews() -> Mechanism:
    """Andrews' squeezer (A03): seven bodies in the plane x-y, six loop equations, a motor and a spring; without gravity.

    Geometry, masses and inertias are those of the Test Set for IVP Solvers (problem "Andrews' squeezing mechanism", release
    2.4, Mazzia and Magherini, Bari 2008, after Hairer and Wanner, Solving Ordinary Differential Equations II, VII.7). Its
    seven angles are the joint coordinates as they are; only their order differs, going along the tree. Bodies are flat
    plates.

    The rod's end is joined to the triangle, to body 4 and to body 6 (three loops); the spring pulls at the triangle. The
    motor is a constant effort of `ANDREWS_TORQUE` at "beta", which a simulation has to be given.
    """
    return _stored("andrews")


def bicycle() -> Mechanism:
    """The benchmark bicycle: a rigid rider on a frame, a steered fork, two wheels that roll without slip.

    J. P. Meijaard, J. M. Papadopoulos, A. Ruina, A. L. Schwab, Linearized dynamics equations for the balance and steer of a
    bicycle: a benchmark and review, Proc. R. Soc. A 463 (2007) 1955-1982; parameters of table 1.

    x is forward, y to the left, z up; joints "base", "rear", "steer", "front". The publication has z down and y to the
    right: its products of inertia change sign here.
    """
    return _stored("bicycle")


def bicycle_velocity(speed: float, leaning: float = 0.0) -> tuple[float, ...]:
    """v (9) of the upright bicycle at a forward `speed` [m/s], while it leans at a rate [rad/s], positive to the right."""
    turning = (leaning, 0.0, 0.0), (speed, -leaning * _REAR_RADIUS, 0.0)
    return *turning[0], *turning[1], speed / _REAR_RADIUS, 0.0, speed / _FRONT_RADIUS


def bricard() -> Mechanism:
    """Bricard's mechanism (A04): five bars of 1 m, 1 kg and 0.1 m × 0.1 m, each square to the next, both ends on the ground.

    Six bodies with the ground and six joints of one degree of freedom should leave 6·5 − 6·5 = 0 degrees of freedom, yet one
    remains: one equation always follows from the others. IFToMM's y is z here, its z is −y.
    """
    return _stored("bricard")


def governor() -> Mechanism:
    """The stiff flyball governor (A05), with its slider at half the shaft's height and its arms level at zero.

    A positive angle lowers a ball. Springs of 8e5 N/m and dampers of 4e4 N·s/m from the sides of the slider, below the
    hinges, to the middles of the rods make its fastest motion settle at 8100 1/s. They are relaxed with the arms 30 deg
    below level. The balls are points; the shaft turns freely.
    """
    return _stored("governor")


def pa10() -> Mechanism:
    """The seven-joint arm PA-10 (thesis 5.3) on its pedestal, upright at zero; axes z y z y z y z.

    The thesis prints axes and inertias; lengths and masses are those of the arm's published simulator model (another source has
    3.51 kg for link 3). Every link has the rotational inertia diag(1, 1, 1) kg·m² about its center of mass, as in the thesis:
    large for links of a few kilograms. There is no friction and no gear.
    """
    return _stored("pa10")


@cache
def hoap1() -> Mechanism:
    """A humanoid of HOAP-1's size (paper S, section 4; `files/hoap1.urdf`), 6 + 20 degrees of freedom, 48 cm, 6 kg, free."""
    from ..read.urdf import read_urdf

    return read_urdf(Path(__file__).parent / "files" / "hoap1.urdf", floating_base=True)


def hoap2_legs(left_arm: Sequence[float] = (0.0, 0.0)) -> Mechanism:
    """The ten-joint lower body after Fujitsu's HOAP-2, both feet fixed on the floor: the right foot's hold closes the loop.

    The thesis (6.3) prints no masses and no lengths. Masses, centers of mass, lengths and ranges here are of the published
    Webots model of HOAP-2 (Hoap2.proto, Cyberbotics, modelled by P. Cominoli), by the joints' numbers; the 94 × 62 mm
    plates under its feet are the soles. It has no centers of mass of hip bracket, thigh and shoulder: these are in the
    middle of the drawn shapes. Trunk, waist, head, shank, foot, forearm and upper arm have its rotational inertias, the
    thigh that of its upper leg; hip, shoulder and ankle have those of boxes. It is 50 cm high and has 7.07 kg.

    x points forward, y to the left, z up; the floor is z = 0, the feet stand 78 mm apart. The knees are locked straight.
    All angles count along one chain, from the left foot over the trunk to the right foot: positive pitches of the left
    ankle and hip (9, 8) lean the left leg and the trunk forward; those of the right leg (3, 4) move backward what is below
    them. This is what makes θ_a = (θ9 − θ4)/2 (6.3.2) the lean of both legs. Ranges of the left leg, and of yaw and roll,
    are those of its file turned round, which counts what is below against what is above.

    Args:
        left_arm: how far shoulder and elbow of the left arm are raised forward and bent [rad]; the arms do not move.
    """
    legs, (shoulder, elbow) = _stored("hoap2_legs"), left_arm
    bent = {
        "left_shoulder_pitch": pose(rpy=(0.0, -shoulder, 0.0)),
        "left_elbow": pose((0.0, 0.0, -0.101), (0.0, -elbow, 0.0)),
    }
    return replace(legs, joints=tuple(replace(joint, pose=bent.get(joint.name, joint.pose)) for joint in legs.joints))


def hoap2_reaching() -> Mechanism:
    """`hoap2_legs` that stretches its left hand out, shoulder and elbow at 60 deg (thesis fig. 6.5b)."""
    return replace(hoap2_legs((math.pi / 3.0, math.pi / 3.0)), name="hoap2_reaching")


def hoap2_legs_free(left_arm: Sequence[float] = (0.0, 0.0)) -> Mechanism:
    """The same with free feet, at `HOAP2_STANDING`, for contact: it floats by its left foot; each sole is a collision box."""
    legs, (middle, length, width) = hoap2_legs(left_arm), _SOLE
    sole = Geometry(Box((length, width, 0.010)), pose((middle, 0.0, 0.005 - _ANKLE)), name="sole")
    shod = tuple(replace(body, collisions=(sole,)) if body.name.endswith("_foot") else body for body in legs.bodies)
    root = Joint("floating_base", KINDS["floating"], WORLD, "left_foot")
    return replace(legs, name="hoap2_legs_free", bodies=shod, joints=(root, *legs.joints[1:]), loops=())


def hoap2_soles() -> tuple[tuple[float, float, float], ...]:
    """The corners of both soles on the floor, in the world [m]: the zero-moment point must not leave their hull."""
    middle, length, width = _SOLE
    return tuple(
        (middle + a * length / 2.0, side * _HIP + b * width / 2.0, 0.0) for side in (1, -1) for a in (1, -1) for b in (1, -1)
    )


# --- pendulums, chains, trees and closed loops of thin rods ---------------------------------------------------------------
# Rods have the length 1 m and the mass 1 kg, and lie along the z axes of their frames; in the plane, every joint is about y.
# An angle is relative to the previous rod, the first one from +z (pendulums: from hanging); a positive one turns +z towards
# +x. Gravity is along −z; IFToMM has y where z is here.

LENGTH = 1.0
MASS = 1.0
_RADIUS = 0.03
DARK = (0.20, 0.22, 0.26, 1.0)
COLORS = (
    (0.16, 0.42, 0.70, 1.0), (0.90, 0.49, 0.13, 1.0), (0.20, 0.60, 0.40, 1.0), (0.72, 0.25, 0.32, 1.0), (0.50, 0.38, 0.70, 1.0),
)  # fmt: skip
ABOUT_Y = (0.0, 1.0, 0.0)


def rod(name: str, color: Sequence[float], *, axial_inertia: float = 0.0, hinged: bool = True) -> Body:
    """A uniform thin rod of 1 kg and 1 m along +z from its frame: inertia diag(ml²/12, ml²/12, axial) about its middle.

    The inertia about its own axis is zero in the thesis [kg·m²]; `hinged`: it is drawn with a hinge at its lower end.
    """
    middle = (0.0, 0.0, LENGTH / 2.0)
    across = MASS * LENGTH**2 / 12.0
    visuals = [Geometry(Capsule(_RADIUS, LENGTH), pose(middle), tuple(color))]  # type: ignore[arg-type]
    return Body(name, MASS, middle, (across, across, axial_inertia), (*visuals, *([hinge()] if hinged else [])))


def planar_3r() -> Mechanism:
    """The planar serial chain of three rods (T-3.1)."""
    return planar_chain(3)


def planar_tree() -> Mechanism:
    """The planar tree of four rods (T-3.2), an F: rods 1, 2 the trunk, rod 3 on the end of rod 2, rod 4 on the end of rod 1."""
    return _rods("planar_tree", [None, 0, 1, 0])


def planar_tree_5() -> Mechanism:
    """The planar tree with a fifth rod on the end of rod 4 (T-3.2, second run)."""
    return _rods("planar_tree_5", [None, 0, 1, 0, 3])


def pendulum() -> Mechanism:
    """A point mass of 1 kg on a massless rod of 1 m, hanging from the world at angle zero."""
    return _stored("pendulum")


def double_pendulum() -> Mechanism:
    """Two point masses of 1 kg on massless rods of 1 m, one hanging from the other."""
    return _stored("double_pendulum")


def free_rod(*, axial_inertia: float = 1e-6) -> Mechanism:
    """The free rod in space, without gravity (T-3.5): a joint of six degrees of freedom at its lower end.

    With the thesis's zero for the inertia about its own axis [kg·m²] the mass matrix is singular and the rod's spin has no
    equation of motion; its direction, center of mass, energy and momentum do not depend on the value.
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


def hinge(height: float = 0.0) -> Geometry:
    """A pin along y, at this height on the frame's z axis [m]."""
    return Geometry(Cylinder(1.4 * _RADIUS, 3.2 * _RADIUS), pose((0.0, 0.0, height), (1.5707963267948966, 0.0, 0.0)), DARK)


#: q and v that `floating_arm` starts at (thesis 4.4.2): ω and v of its base, then the joints of table 4.1.
FLOATING_ARM_START = (
    (0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, *(math.radians(angle) for angle in (0.0, 90.0, 0.0, 90.0, 0.0))),
    (-1.01, -0.61, 0.0, 0.96, -1.18, 0.24, -0.83, 0.86, 2.01, -0.44, -0.84),
)


def planar_chain(links: int) -> Mechanism:
    """The planar serial chain of so many rods on the ground (T-4.3): every joint about y, angles relative to the rod before."""
    return _rods(f"planar_{links}r", [None, *range(links - 1)])


def planar_7r() -> Mechanism:
    """The planar arm of seven rods (T-4.1)."""
    return planar_chain(7)


def floating_chain(links: int, *, axial_inertia: float = 1e-6) -> Mechanism:
    """A chain of rods in space on a floating base, the first rod, without gravity (T-4.2, T-4.4): joints about z, y, z, y, …

    `axial_inertia` is as in `free_rod`, about each rod's own axis.
    """
    joints, bodies = [Joint("base", KINDS["floating"], WORLD, "link1")], []
    for i in range(links):
        bodies.append(rod(f"link{i + 1}", COLORS[i % len(COLORS)], axial_inertia=axial_inertia, hinged=False))
        if i > 0:
            axis = (0.0, 0.0, 1.0) if i % 2 else ABOUT_Y
            joints.append(
                Joint(f"joint{i}", KINDS["revolute"], f"link{i}", f"link{i + 1}", pose((0.0, 0.0, LENGTH)), axis=axis)
            )
    return Mechanism(f"floating_chain_{links}", tuple(bodies), tuple(joints), gravity=(0.0, 0.0, 0.0))


def floating_arm(*, axial_inertia: float = 1e-6) -> Mechanism:
    """The arm of six rods in space on a floating base (T-4.2); `axial_inertia` as in `floating_chain`."""
    return replace(floating_chain(6, axial_inertia=axial_inertia), name="floating_arm")


#: The world's axes turned half a turn about y: an angle seen from a rod's far end.
_HALF_TURN = ((-1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, -1.0))


def planar_4r() -> Mechanism:
    """The planar loop of the thesis (T-3.3): the chain of three rods with its end pinned at (1, 0), a parallelogram.

    The loop's joint is joint4; its angle is that of the last rod seen from the ground.
    """
    chain = planar_3r()
    ground = pose((LENGTH, 0.0, 0.0), matrix=_HALF_TURN)
    joint4 = Loop("joint4", KINDS["revolute"], WORLD, "link3", ground, pose((0.0, 0.0, LENGTH)), ABOUT_Y)
    last = chain.bodies[-1]
    bodies = (*chain.bodies[:-1], replace(last, visuals=(*last.visuals, hinge(LENGTH))))
    return replace(chain, name="planar_4r", bodies=bodies, loops=(joint4,))


def planar_4r_singular() -> Mechanism:
    """The same loop (T-3.4), for a start from which it swings through the postures where all rods are in a line."""
    return replace(planar_4r(), name="planar_4r_singular")


def planar_4r_leaning() -> Mechanism:
    """The same loop with its plane leaning from the upright by 30 deg, turned about x (T-sing).

    Then weight acts across the plane, where the loop has three redundant constraints: the motion does not determine those
    forces.
    """
    loop, turned = planar_4r(), pose(rpy=(math.pi / 6.0, 0.0, 0.0))
    joints = tuple(replace(joint, pose=turned @ joint.pose) if joint.parent == WORLD else joint for joint in loop.joints)
    loops = tuple(replace(chord, pose_a=turned @ chord.pose_a) for chord in loop.loops)
    return replace(loop, name="planar_4r_leaning", joints=joints, loops=loops)


def four_bars(count: int = 1) -> Mechanism:
    """A row of four-bar linkages (A02): legs 0 to `count` upright on the ground, 1 m apart, joined on top by as many rods.

    In postures where all rods are in a line, it momentarily has `count` + 1 degrees of freedom instead of one.
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
    return Mechanism(_four_bars_name(count), tuple(bodies), tuple(joints), loops)


def four_bars_start(count: int, angle: float, speed: float) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """q and v of `four_bars(count)` whose legs lean towards +x by `angle` [rad] and turn at `speed` [rad/s]."""
    return (*(angle, math.pi / 2.0 - angle) * count, angle), (*(speed, -speed) * count, speed)


def _four_bars_name(count: int) -> str:
    return "four_bar" if count == 1 else f"four_bars_{count}"


def distance_pendulum() -> Mechanism:
    """A pendulum without a joint (A01): a point mass of 1 kg that moves freely in space, held 1 m from the world's origin."""
    return _stored("distance_pendulum")


# --- the catalogue ------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Sample:
    """A mechanism and its initial state. Calling a sample builds its mechanism.

    Attributes:
        name: by which it is loaded; `title`: a description.
        build: makes the mechanism.
        q, v: initial coordinates [rad, m] and velocities [rad/s, m/s].
        duration: of its simulation [s].
        rows: the rows of the papers (docs/rows.md) that it belongs to.
        step: of its simulation [s].
    """

    name: str
    title: str
    build: Callable[[], Mechanism]
    q: tuple[float, ...]
    v: tuple[float, ...]
    duration: float
    rows: tuple[str, ...] = ()
    step: float = 1e-3

    def __call__(self) -> Mechanism:
        return self.build()


def _at_rest(title: str, build: Callable[[], Mechanism], degrees: tuple[float, ...], duration: float, *rows: str) -> Sample:
    """A sample whose joints all turn: it starts at these angles [deg], without velocity."""
    q = tuple(math.radians(angle) for angle in degrees)
    return Sample(build.__name__, title, build, q, (0.0,) * len(q), duration, rows)


def _four_bars(count: int) -> Sample:
    """A row of four-bar linkages whose legs stand upright and whose corners move at 1 m/s."""
    q, v = four_bars_start(count, 0.0, 1.0)
    title = f"Row of {count} four-bar linkages" if count > 1 else "Four-bar linkage"
    return Sample(_four_bars_name(count), f"{title}, toppling", partial(four_bars, count), q, v, 10.0)


#: Every sample by its name.
SAMPLES: dict[str, Sample] = {
    item.name: item
    for item in (
        _at_rest("Pendulum: a point mass on a massless rod", pendulum, (60.0,), 10.0),
        _at_rest("Double pendulum of two point masses", double_pendulum, (90.0, 0.0), 10.0),
        _at_rest("Planar serial chain of three rods", planar_3r, (135.0, -45.0, 225.0), 3.0, "T-3.1"),
        _at_rest("Planar tree of four rods", planar_tree, (0.0, 0.0, 90.0, 90.0), 3.0, "T-3.2"),
        _at_rest("Planar tree of five rods", planar_tree_5, (0.0, 0.0, 90.0, 90.0, 0.0), 3.0, "T-3.2"),
        Sample(
            "free_rod", "Free rod in space", free_rod, (0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0),
            (0.72, 0.48, 0.24, -0.24, 0.36, 0.0), 10.0, ("T-3.5",),
        ),
        _at_rest("Planar loop of three rods and the ground", planar_4r, (135.0, -45.0, 225.0), 3.0, "T-3.3"),
        _at_rest("The loop through its singular posture", planar_4r_singular, (60.0, 30.0, 150.0), 3.0, "T-3.4"),
        _at_rest("The loop in a leaning plane", planar_4r_leaning, (60.0, 30.0, 150.0), 3.0, "T-sing"),
        Sample(
            "distance_pendulum", "Pendulum: a free point mass, held at a distance", distance_pendulum, (-1.0, 0.0, 0.0),
            (0.0, 0.0, 0.0), 10.0,
        ),
        _four_bars(1), _four_bars(2), _four_bars(40),
        Sample("andrews", "Andrews' squeezer, seven bodies", andrews, ANDREWS_START, (0.0,) * 7, 0.03, step=1e-5),
        Sample(
            "bicycle", "Benchmark bicycle with a rigid rider, rolling", bicycle, BICYCLE_START, bicycle_velocity(4.6, 0.5), 5.0,
        ),
        _at_rest("Bricard's mechanism, which ought not to move", bricard, (0.0,) * 5, 10.0),
        Sample(
            "governor", "Stiff flyball governor", governor, (0.0, 0.0, math.pi / 6.0, math.pi / 6.0),
            (2.0 * math.pi, 0.0, 0.0, 0.0), 10.0,
        ),
        _at_rest("Planar arm of seven rods", planar_7r, (90.0, *[0.0] * 6), 3.0, "T-4.1"),
        Sample("floating_arm", "Arm of six rods on a floating base", floating_arm, *FLOATING_ARM_START, 10.0, ("T-4.2",)),
        Sample("hoap1", "Small humanoid of HOAP-1's size, 6 + 20 degrees of freedom", hoap1, HOAP1_STANDING, (0.0,) * 26, 1.0),
        _at_rest("Ten-joint lower body after HOAP-2, feet held", hoap2_legs, (0.0,) * 10, 1.0, "T-6.2"),
        _at_rest("The same, its left arm stretched out", hoap2_reaching, (0.0,) * 10, 1.0, "T-6.2"),
        Sample("hoap2_legs_free", "Lower body after HOAP-2, free", hoap2_legs_free, HOAP2_STANDING, (0.0,) * 16, 1.0),
        _at_rest("Seven-joint arm PA-10 in free fall", pa10, (0.0, 45.0, 10.0, 0.0, 0.0, 0.0, 0.0), 10.0, "T-PA10"),
    )
}  # fmt: skip


def sample(name: str) -> Sample:
    """The sample of this name.

    Raises:
        InputError: if there is no such sample; with the names of all.

    >>> sample("planar_3r").duration
    3.0
    """
    if name not in SAMPLES:
        hint = did_you_mean(name, SAMPLES, ";", lead="; ")
        raise InputError(f"there is no sample {name!r}{hint} The samples are {', '.join(SAMPLES)}")
    return SAMPLES[name]
