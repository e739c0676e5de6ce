"""Sensors: what is measured, and where, for the outputs of simulations."""

from __future__ import annotations

from dataclasses import dataclass

from ..errors import InputError
from ..spatial import Transform
from .shapes import Shape
from .values import checked_pose, shown

#: What is measured at places: of a frame B in the body, seen from a frame R, which is the world unless said otherwise.
AT_PLACES = (
    "gyro", "velocimeter", "accelerometer", "position", "orientation", "x_axis", "y_axis", "z_axis", "linear_velocity",
    "angular_velocity", "proper_acceleration", "angular_acceleration", "force", "torque", "subtree_center",
    "subtree_velocity", "subtree_angular_momentum", "rangefinder",
    "touch",
)  # fmt: skip
_HERE = Transform()
#: What is measured at joints.
AT_JOINTS = ("joint_position", "joint_velocity", "joint_effort")


@dataclass(frozen=True)
class Sensor:
    """What is measured at a place or at a joint, as an output of a simulation: `Simulation(robot, outputs={"imu": sensor})`.

    | kind | what |
    |---|---|
    | gyro, velocimeter | angular velocity, velocity of B's origin (3) [rad/s, m/s], in B's axes |
    | accelerometer | acceleration of B's origin minus gravity (3) [m/s²], in B's axes |
    | proper_acceleration, angular_acceleration | the same, and the angular acceleration (3), in the world's axes |
    | position, orientation | of B in R: (3) [m]; the quaternion (4), (x, y, z, w) with w ≥ 0 |
    | x_axis, y_axis, z_axis | of B in R's axes (3) |
    | linear_velocity, angular_velocity | of B as seen from R, in R's axes (3) |
    | force, torque | what the parent exerts on the body, about B's origin, in B's axes (3) [N, N·m] |
    | subtree_center, subtree_velocity | of the center of mass of the body and all that it carries, in the world (3) |
    | subtree_angular_momentum | about that center, in the world's axes (3) [kg·m²/s] |
    | rangefinder | distance from B's origin along its z axis to the nearest collision shape of another body (1) [m]; −1: none |
    | touch | the sum of normal forces of contact on the body that push on a volume (1) [N], as results of contact have them |
    | joint_position, joint_velocity, joint_effort | coordinates, velocities, efforts of a joint, times `scale` |

    Rays meet planes from above, boxes, balls, capsules, cylinders and ellipsoids of bodies, but for shapes of opacity 0; from
    inside of a shape they meet it where they leave it. The ground of `Contact` is not a body's.

    Attributes:
        kind: one of these.
        of: the name of the body or frame, or of the joint.
        pose: of B in the body or frame.
        seen_from: the body or frame of R; R is in `its_pose` there.
        volume: of a touch sensor, in B: a box, sphere, capsule, cylinder or ellipsoid. A force counts if the ray from where it
            acts, out of the body along the normal, starts in it or meets it.
        scale: of what is measured at a joint, such as a gear ratio.

    Raises:
        InputError: for a kind that does not exist.

    >>> import kumitate as km
    >>> simulation = km.Simulation(km.load("pendulum"), outputs={"imu": km.Sensor("accelerometer", "bob")})
    >>> simulation.start().outputs["imu"].shape
    (3,)
    """

    kind: str
    of: str
    pose: Transform = _HERE
    seen_from: str = "world"
    its_pose: Transform = _HERE
    scale: float = 1.0
    volume: Shape | None = None

    def __post_init__(self) -> None:
        known = (*AT_PLACES, *AT_JOINTS)
        if self.kind not in known:
            raise InputError(f"there is no sensor of kind {shown(self.kind)}; there are {', '.join(known)}")
        for key in ("pose", "its_pose"):
            object.__setattr__(self, key, checked_pose(f"a sensor of {self.of!r}", f"the {key}", getattr(self, key)))
