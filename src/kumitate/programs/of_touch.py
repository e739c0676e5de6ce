"""What touch sensors measure: the normal forces of contact on their body that push on a volume.

A point of contact counts if the ray from it, out of the body along the normal, meets the volume or starts in it, as in MuJoCo
(E. Todorov et al., MuJoCo documentation, XML reference, sensor/touch).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..contact.pairs.rays import FAR, MET, met
from ..errors import InputError
from ..kinematics import link_poses, place_pose
from ..model import Mechanism, Place, Sensor
from ..scalar import Program, Scalar, maximum, select, trace
from ..simulate.stepping.reading import PUSH, PUSHES
from ..spatial import Vector3


def touch_program(mechanism: Mechanism, sensor: Sensor, body: str, points: Sequence[tuple[str, str]]) -> Program:
    """The sum of normal forces [N] on a body that push on the sensor's volume, as a program of q and of all pushes.

    Args:
        body: that the sensor is on; points: the bodies A and B of every push.

    Raises:
        InputError: for a volume that rays do not meet.
    """
    tree, volume = mechanism.tree, sensor.volume
    if volume is None or volume.endless or type(volume) not in MET:
        known = ", ".join(shape.kind for shape in MET if not shape.endless)
        raise InputError(
            f"{mechanism.name}: the touch sensor at {sensor.of!r} has {'no volume' if volume is None else f'a {volume.kind}'}; "
            f"it measures what pushes on one of {known}. Give it a volume"
        )
    own = [k for k, pair in enumerate(points) if body in pair]
    base = tree.places[sensor.of]
    place = Place(base.link, base.pose @ sensor.pose)

    def felt(q: Any, pushes: Any) -> list[Scalar]:
        X_SW = place_pose(tree, link_poses(tree, q), place).inverse()
        total: Scalar = 0.0
        for k in own:
            force, at, normal = (Vector3.of(list(pushes[PUSH * k + part : PUSH * k + part + 3])) for part in (0, 3, 6))
            outward = normal * (-1.0 if points[k][0] == body else 1.0)
            distance = met(volume, X_SW.rotation.rotate(at) + X_SW.translation, X_SW.rotation.rotate(outward))
            total = total + select(distance < FAR, maximum(force.dot(normal), 0.0), 0.0)
        return [total]

    name = f"touch_{mechanism.name}"
    if not own:
        return trace(lambda q: [0.0], {"q": mechanism.nq}, name)
    return trace(felt, {"q": mechanism.nq, PUSHES: PUSH * len(points)}, name)
