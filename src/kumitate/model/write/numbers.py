"""Numbers as the texts of XML attributes; they are read back with the same bits."""

from __future__ import annotations

import math
from collections.abc import Iterable

from ...scalar import floats
from ...spatial import Transform, quaternion_of


def numbers(values: Iterable[float]) -> str:
    """Numbers, separated by blanks.

    >>> numbers((1.0, -0.5, 1e-9))
    '1 -0.5 1e-09'
    """
    return " ".join(repr(float(value)).removesuffix(".0") for value in values)


def xyz(place: Transform) -> str:
    """The position of a pose [m]."""
    return numbers(floats(place.translation))


def roll_pitch_yaw(place: Transform) -> tuple[float, float, float]:
    """Roll, pitch and yaw [rad] about fixed axes: R = Rz(yaw) Ry(pitch) Rx(roll).

    The roll is found after the yaw is taken away, so that the product is exact to rounding at a pitch of ±90°, too, where only
    the sum or the difference of the two is determined (Shoemake, Graphics Gems IV, "Euler angle conversion").

    >>> from ...spatial import pose
    >>> [round(angle, 12) for angle in roll_pitch_yaw(pose(rpy=(0.1, -0.2, 0.3)))]
    [0.1, -0.2, 0.3]
    """
    R = place.rotation.matrix()
    yaw = math.atan2(R[1][0], R[0][0])
    s, c = math.sin(yaw), math.cos(yaw)
    pitch = math.atan2(-R[2][0], c * R[0][0] + s * R[1][0])
    return math.atan2(s * R[0][2] - c * R[1][2], c * R[1][1] - s * R[0][1]), pitch, yaw


def quaternion(place: Transform) -> tuple[float, float, float, float]:
    """The unit quaternion w, x, y, z of a pose.

    >>> quaternion(Transform())
    (1.0, 0.0, 0.0, 0.0)
    """
    x, y, z, w = floats(quaternion_of(place.rotation))
    return w, x, y, z
