"""The ten-joint lower body after Fujitsu's HOAP-2 (thesis 6.3): 50 cm, 7.07 kg.

The thesis prints no masses and no lengths. Masses, centers of mass, lengths and ranges here are of the published Webots model
of HOAP-2 (Hoap2.proto, Cyberbotics, modelled by P. Cominoli), by the joints' numbers; the 94 × 62 mm plates under its feet are
the soles. It has no centers of mass of hip bracket, thigh and shoulder: these are in the middle of the drawn shapes. Trunk,
waist, head, shank, foot, forearm and upper arm have its rotational inertias, the thigh that of its upper leg; hip, shoulder
and ankle have those of boxes.

x points forward, y to the left, z up; the floor is z = 0, the feet stand 78 mm apart. The knees are locked straight. All angles
count along one chain, from the left foot over the trunk to the right foot: positive pitches of the left ankle and hip (9, 8)
lean the left leg and the trunk forward; those of the right leg (3, 4) move backward what is below them. This is what makes
θ_a = (θ9 − θ4)/2 (6.3.2) the lean of both legs.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from ...scalar import floats
from ...spatial import Transform, pose
from ..elements import Body, Frame, Joint, Limits, Loop
from ..joints import KINDS
from ..mechanism import WORLD, Mechanism
from ..shapes import Box, Capsule, Cylinder, Geometry, Sphere

#: The joints by the thesis's numbers 1 to 10 (6.3): hips 1-3 and 6-8, ankles 4, 5 and 9, 10.
HOAP2_JOINTS = tuple(
    f"{side}_{name}" for side in ("right", "left") for name in ("hip_yaw", "hip_roll", "hip_pitch", "ankle_pitch", "ankle_roll")
)
SHELL, BLUE, DARK = (0.86, 0.87, 0.89, 1.0), (0.16, 0.38, 0.66, 1.0), (0.24, 0.26, 0.30, 1.0)
#: Hips off the middle, thigh and shank, ankle over the floor [m].
_HIP, _LEG, _ANKLE = 0.039, 0.100, 0.0355
#: The sole's middle before the ankle, its length and width [m].
_SOLE = (0.0112, 0.094, 0.062)
_SHOULDER = (0.0, 0.0995, 0.145)
#: Coordinates at which `hoap2_legs_free` stands upright on the floor: its left foot's pose, then ten joints.
HOAP2_STANDING = (0.0, 0.0, 0.0, 1.0, 0.0, _HIP, _ANKLE) + (0.0,) * 10
_X, _Y, _Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
_ACROSS = (math.pi / 2.0, 0.0, 0.0)


@dataclass(frozen=True)
class _Part:
    """A body, in a frame at its upper joint: mass [kg], center of mass [m], inertia about it [kg·m²], drawn shapes."""

    mass: float
    center: tuple[float, float, float]
    inertia: tuple[float, float, float]
    drawn: tuple[Geometry, ...]

    def body(self, name: str, up: float = 0.0, mirror: float = 1.0) -> Body:
        """The body, with its frame `up` higher than where its upper joint is [m]; `mirror` −1: of the right."""
        x, y, z = self.center
        visuals = tuple(_moved(shape, up, mirror) for shape in self.drawn)
        return Body(name, self.mass, (x, mirror * y, z - up), self.inertia, visuals)


def _drawn(shape: Box | Capsule | Cylinder | Sphere, x: float, y: float, z: float, color: tuple[float, ...], *,
           turn: tuple[float, float, float] = (0.0, 0.0, 0.0)) -> Geometry:  # fmt: skip
    return Geometry(shape, pose((x, y, z), turn), color)  # type: ignore[arg-type]


def _moved(item: Geometry, up: float, mirror: float) -> Geometry:
    x, y, z = floats(item.pose.translation)
    return replace(item, pose=Transform(item.pose.rotation, pose((x, mirror * y, z - up)).translation))


def _box(mass: float, x: float, y: float, z: float) -> tuple[float, float, float]:
    """The inertia of a uniform box."""
    return mass * (y * y + z * z) / 12.0, mass * (x * x + z * z) / 12.0, mass * (x * x + y * y) / 12.0


_TRUNK = _Part(
    2.37622, (0.004, 0.0, 0.1222), (0.008602, 0.011272, 0.009781),
    (
        _drawn(Box((0.096, 0.134, 0.135)), 0.008, 0.0, 0.111, SHELL),
        _drawn(Box((0.063, 0.124, 0.133)), -0.068, 0.0, 0.130, DARK),
        _drawn(Box((0.004, 0.070, 0.050)), 0.057, 0.0, 0.125, BLUE),
        _drawn(Cylinder(0.012, 0.172), 0.0, 0.0, 0.145, DARK, turn=_ACROSS),
        _drawn(Cylinder(0.012, 0.04), 0.0, 0.0, 0.190, DARK),
    ),
)  # fmt: skip
_WAIST = _Part(
    0.49768, (0.0083, -_HIP, 0.0606), (0.000016, 0.000345, 0.000330), (_drawn(Box((0.06, 0.11, 0.03)), 0.0, -_HIP, 0.03, DARK),)
)
_HEAD = _Part(
    0.0878778, (0.0005, 0.0, -0.01), (0.000047, 0.000047, 0.000039),
    (_drawn(Sphere(0.038), 0.0, 0.0, 0.0, BLUE), _drawn(Box((0.012, 0.05, 0.02)), 0.032, 0.0, 0.004, DARK)),
)  # fmt: skip
_SHOULDER_BLOCK = _Part(
    0.400470, (0.0, -0.006, 0.0), _box(0.400470, 0.044, 0.07, 0.045),
    (_drawn(Cylinder(0.017, 0.03), 0.0, -0.012, 0.0, DARK, turn=_ACROSS), _drawn(Sphere(0.023), 0.0, 0.0, 0.0, BLUE)),
)  # fmt: skip
_UPPER_ARM = _Part(
    0.220645, (0.0, 0.0, -0.0686), (0.000118, 0.000107, 0.000057),
    (
        _drawn(Capsule(0.017, 0.05), 0.0, 0.0, -0.055, SHELL),
        _drawn(Cylinder(0.015, 0.04), 0.0, 0.0, -0.101, DARK, turn=_ACROSS),
    ),
)  # fmt: skip
_FOREARM = _Part(
    0.167552, (0.0, 0.0, -0.0462), (0.000119, 0.000105, 0.000043),
    (_drawn(Capsule(0.016, 0.05), 0.0, 0.0, -0.048, SHELL), _drawn(Box((0.024, 0.014, 0.05)), 0.003, 0.0, -0.110, BLUE)),
)  # fmt: skip
_HIP_BRACKET = _Part(
    0.039388, (0.0, 0.0, 0.02), _box(0.039388, 0.03, 0.03, 0.03), (_drawn(Box((0.03, 0.026, 0.04)), 0.0, 0.0, 0.022, DARK),)
)
_HIP_BLOCK = _Part(
    0.172696,
    (0.0035, 0.0, -0.0033),
    _box(0.172696, 0.043, 0.054, 0.03),
    (_drawn(Box((0.043, 0.05, 0.03)), 0.0, 0.0, 0.0, SHELL),),
)
_THIGH = _Part(
    0.438537, (0.012, 0.0, -0.05), (0.000532, 0.000529, 0.000112),
    (
        _drawn(Box((0.048, 0.056, 0.088)), 0.010, 0.0, -0.052, SHELL),
        _drawn(Cylinder(0.015, 0.066), 0.0, 0.0, 0.0, DARK, turn=_ACROSS),
    ),
)  # fmt: skip
_SHANK = _Part(
    0.285827, (0.0117, 0.0, -0.0429), (0.000532, 0.000529, 0.000112),
    (
        _drawn(Box((0.046, 0.054, 0.07)), 0.008, 0.0, -0.056, SHELL),
        _drawn(Cylinder(0.021, 0.062), 0.004, 0.0, 0.0, BLUE, turn=_ACROSS),
    ),
)  # fmt: skip
_ANKLE_BLOCK = _Part(
    0.171128,
    (0.0047, 0.0, 0.0032),
    (0.000006, 0.000008, 0.000006),
    (_drawn(Cylinder(0.013, 0.058), 0.0, 0.0, 0.0, DARK, turn=_ACROSS),),
)
_FOOT = _Part(
    0.156753, (0.0048, 0.0, -0.0259), (0.000087, 0.000153, 0.000171),
    (
        _drawn(Box((_SOLE[1], _SOLE[2], 0.010)), _SOLE[0], 0.0, 0.005 - _ANKLE, DARK),
        _drawn(Box((0.074, 0.050, 0.014)), 0.0052, 0.0, -0.0185, SHELL),
        _drawn(Cylinder(0.010, 0.066), 0.0032, 0.0, 0.0, DARK, turn=(0.0, math.pi / 2.0, 0.0)),
    ),
)  # fmt: skip
#: Ranges of the left leg's joints, as its own file counts them: of what is below against what is above [rad].
_RANGES = {
    "hip_yaw": (-0.541, 1.588), "hip_roll": (-0.3665, 0.541), "hip_pitch": (-1.431, 1.239), "ankle_pitch": (-1.065, 1.065),
    "ankle_roll": (-0.436, 0.436),
}  # fmt: skip


def hoap2_legs(left_arm: Sequence[float] = (0.0, 0.0)) -> Mechanism:
    """The lower body with both feet fixed on the floor: ten joints, the right foot's hold closing the loop (thesis 6.3).

    Args:
        left_arm: how far shoulder and elbow of the left arm are raised forward and bent [rad]; the arms do not move.
    """
    bodies, joints, frames = _body(left_arm)
    hold = Loop("right_foot_hold", KINDS["fixed"], WORLD, "right_foot", pose((0.0, -_HIP, _ANKLE)))
    root = Joint("left_foot_hold", KINDS["fixed"], WORLD, "left_foot", pose((0.0, _HIP, _ANKLE)))
    return Mechanism("hoap2_legs", bodies, (root, *joints), (hold,), frames)


def hoap2_reaching() -> Mechanism:
    """`hoap2_legs` that stretches its left hand out, shoulder and elbow at 60 deg (thesis fig. 6.5b)."""
    return replace(hoap2_legs((math.pi / 3.0, math.pi / 3.0)), name="hoap2_reaching")


def hoap2_legs_free(left_arm: Sequence[float] = (0.0, 0.0)) -> Mechanism:
    """The same with free feet, for contact: it floats by its left foot; each sole is a collision box.

    It stands on the floor at `HOAP2_STANDING`.
    """
    bodies, joints, frames = _body(left_arm)
    sole = Geometry(Box((_SOLE[1], _SOLE[2], 0.010)), pose((_SOLE[0], 0.0, 0.005 - _ANKLE)), name="sole")
    shod = tuple(replace(body, collisions=(sole,)) if body.name.endswith("_foot") else body for body in bodies)
    root = Joint("floating_base", KINDS["floating"], WORLD, "left_foot")
    return Mechanism("hoap2_legs_free", shod, (root, *joints), frames=frames)


def hoap2_soles() -> tuple[tuple[float, float, float], ...]:
    """The corners of both soles on the floor, in the world [m]: the zero-moment point must not leave their hull."""
    middle, length, width = _SOLE
    return tuple(
        (middle + a * length / 2.0, side * _HIP + b * width / 2.0, 0.0) for side in (1, -1) for a in (1, -1) for b in (1, -1)
    )


def _body(left_arm: Sequence[float]) -> tuple[tuple[Body, ...], tuple[Joint, ...], tuple[Frame, ...]]:
    """All from the left foot on, without what holds the feet."""
    bodies = [_FOOT.body("left_foot")]
    joints: list[Joint] = []

    def add(kind: str, name: str, body: Body, parent: str, place: Transform, axis: tuple[float, ...] = _Z) -> None:
        limits = (_limits(name),) if kind == "revolute" else ()
        bodies.append(body)
        joints.append(Joint(name, KINDS[kind], parent, body.name, place, axis, limits=limits))

    # the left leg, from below: the frames are at the lower joints
    add("revolute", "left_ankle_roll", _ANKLE_BLOCK.body("left_ankle"), "left_foot", pose(), _X)
    add("revolute", "left_ankle_pitch", _SHANK.body("left_shank", -_LEG), "left_ankle", pose(), _Y)
    add("fixed", "left_knee", _THIGH.body("left_thigh", -_LEG), "left_shank", pose((0.0, 0.0, _LEG)))
    add("revolute", "left_hip_pitch", _HIP_BLOCK.body("left_hip_block"), "left_thigh", pose((0.0, 0.0, _LEG)), _Y)
    add("revolute", "left_hip_roll", _HIP_BRACKET.body("left_hip"), "left_hip_block", pose(), _X)
    add("revolute", "left_hip_yaw", _WAIST.body("waist"), "left_hip", pose(), _Z)
    # the upper body, one rigid body
    add("fixed", "waist_joint", _TRUNK.body("trunk"), "waist", pose((0.0, -_HIP, 0.0)))
    add("fixed", "neck", _HEAD.body("head"), "trunk", pose((0.0, 0.0, 0.2265)))
    for side, mirror, (shoulder, elbow) in (("left", 1.0, left_arm), ("right", -1.0, (0.0, 0.0))):
        x, y, z = _SHOULDER
        add(
            "fixed",
            f"{side}_shoulder_mount",
            _SHOULDER_BLOCK.body(f"{side}_shoulder", mirror=mirror),
            "trunk",
            pose((x, mirror * y, z)),
        )
        add(
            "fixed",
            f"{side}_shoulder_pitch",
            _UPPER_ARM.body(f"{side}_upper_arm"),
            f"{side}_shoulder",
            pose(rpy=(0.0, -shoulder, 0.0)),
        )
        add(
            "fixed",
            f"{side}_elbow",
            _FOREARM.body(f"{side}_forearm"),
            f"{side}_upper_arm",
            pose((0.0, 0.0, -0.101), (0.0, -elbow, 0.0)),
        )
    # the right leg, from above
    add("revolute", "right_hip_yaw", _HIP_BRACKET.body("right_hip"), "trunk", pose((0.0, -_HIP, 0.0)), _Z)
    add("revolute", "right_hip_roll", _HIP_BLOCK.body("right_hip_block"), "right_hip", pose(), _X)
    add("revolute", "right_hip_pitch", _THIGH.body("right_thigh"), "right_hip_block", pose(), _Y)
    add("fixed", "right_knee", _SHANK.body("right_shank"), "right_thigh", pose((0.0, 0.0, -_LEG)))
    add("revolute", "right_ankle_pitch", _ANKLE_BLOCK.body("right_ankle"), "right_shank", pose((0.0, 0.0, -_LEG)), _Y)
    add("revolute", "right_ankle_roll", _FOOT.body("right_foot"), "right_ankle", pose(), _X)
    frames = (
        Frame("left_hand", "left_forearm", pose((0.0, 0.0, -0.12))),
        Frame("right_shoulder_back", "trunk", pose((-0.0475, -_SHOULDER[1], _SHOULDER[2]))),
    )
    return tuple(bodies), tuple(joints), frames


def _limits(name: str) -> Limits:
    side, _, joint = name.partition("_")
    lower, upper = _RANGES[joint]
    # the robot's own angles are of what is below against what is above, which for the left leg is the chain backward
    if side == "left" or joint in ("hip_yaw", "hip_roll"):
        lower, upper = -upper, -lower
    return Limits(lower, upper, 5.0, 9.0)
