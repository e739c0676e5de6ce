"""Samples that are data: mechanisms of `samples/files`, by functions that say where their numbers are from."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

from ...spatial import pose
from ..elements import Joint
from ..joints import KINDS
from ..mechanism import WORLD, Mechanism
from ..shapes import Box, Geometry

#: The motor's torque at the crank of Andrews' squeezer [N·m].
ANDREWS_TORQUE = 0.033
#: The test set's consistent start, from rest: β, Θ, γ, δ, Φ, ε, Ω [rad].
ANDREWS_START = (
    -0.0617138900142764496, 0.0, 0.455279819163070380, 0.487364979543842550, 0.222668390165885884, 1.23054744454982119,
    -0.222668390165885884,
)  # fmt: skip
#: The radii of the bicycle's wheels [m].
REAR_RADIUS, _FRONT_RADIUS = 0.3, 0.35
#: Upright above the origin, at the center of the rear wheel: orientation, position, then rear wheel, steer, front wheel.
BICYCLE_START = (0.0, 0.0, 0.0, 1.0, 0.0, 0.0, REAR_RADIUS, 0.0, 0.0, 0.0)
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
    files = Path(__file__).parent / "files"  # readers are loaded only to read one
    if name == "hoap1":
        from ..read.urdf import read_urdf

        return read_urdf(files / "hoap1.urdf", floating_base=True)
    from ..read.json import read_json

    return replace(read_json(files / f"{name}.json"), source=None)


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
    turning = (leaning, 0.0, 0.0), (speed, -leaning * REAR_RADIUS, 0.0)
    return *turning[0], *turning[1], speed / REAR_RADIUS, 0.0, speed / _FRONT_RADIUS


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


def hoap1() -> Mechanism:
    """A humanoid of HOAP-1's size (paper S, section 4), of 6 + 20 degrees of freedom, 48 cm and 6 kg, free to move.

    `files/hoap1.urdf` names its sources.
    """
    return _stored("hoap1")


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
    """The same with free feet, for contact: it floats by its left foot; each sole is a collision box.

    It stands on the floor at `HOAP2_STANDING`.
    """
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
