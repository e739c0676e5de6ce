"""What sensors measure, as functions of the state, the accelerations and the efforts.

A force between two bodies is the rate of the momentum of all that the outer one carries, minus its weight (Newton's and Euler's
equations).

Poses, velocities and accelerations of frames in the world, by the outward pass of the Newton-Euler method (N eq. 2-4).

Of contact, programs take all pushes; `points` are the bodies A and B of each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..contact.pairs.rays import FAR, MET, met
from ..dynamics import link_motions
from ..dynamics.motion import acceleration, falling
from ..errors import InputError, did_you_mean
from ..kinematics import link_poses, link_twists, place_pose, place_twist
from ..model import Body, Mechanism, Place, Sensor, joint_columns, outward
from ..model.sensors import AT_JOINTS
from ..model.things import belongs, pushes
from ..scalar import Program, Scalar, Scalars, maximum, minimum, select, sqrt, trace
from ..simulate.driving.forcing import LAST, PUSH, PUSHES
from ..spatial import Transform, Vector3, centripetal

_HERE = Transform()


class MovingFrame(NamedTuple):
    """The motion of a frame B: its pose X in the world; in the world's axes its velocities and accelerations, minus gravity."""

    X: Transform
    angular: Vector3
    linear: Vector3
    turning: Vector3
    acceleration: Vector3


class MovingFrames:
    """The mechanism at one state."""

    def __init__(self, mechanism: Mechanism, q: Any, v: Any, a: Any):
        self.mechanism, tree = mechanism, mechanism.tree
        self._poses, self._twists, motions = link_poses(tree, q), link_twists(tree, q, v), link_motions(tree, q, v)
        self._accelerations = outward(
            tree, lambda link, parent: acceleration(motions[link], parent, link.velocities(a)), falling(mechanism.gravity)
        )

    def at(self, name: str, pose: Transform = _HERE) -> MovingFrame:
        """The frame at a pose in a body or frame."""
        tree = self.mechanism.tree
        base = tree.places[name]
        place = Place(base.link, base.pose @ pose)
        X, twist = place_pose(tree, self._poses, place), place_twist(tree, self._twists, place)
        angular, linear = (X.rotation.rotate(part) for part in (twist.angular, twist.linear))
        if place.link < 0:
            return MovingFrame(X, angular, linear, Vector3(), -Vector3.of(self.mechanism.gravity))
        link = tree.links[place.link]
        own, omega, r = self._accelerations[link], self._twists[link].angular, place.pose.translation
        there = own.linear + own.angular.cross(r) + centripetal(omega, r)
        R = self._poses[link].rotation
        return MovingFrame(X, angular, linear, R.rotate(own.angular), R.rotate(there))

    def carried(self, name: str) -> list[tuple[Body, MovingFrame]]:
        """The bodies that a body carries, with itself, and the motion of their centers of mass."""
        joints, found = self.mechanism.joints, {name}
        for _ in joints:
            found |= {joint.child for joint in joints if joint.parent in found}
        bodies = [body for body in self.mechanism.bodies if body.name in found and body.mass]
        return [(body, self.at(body.name, Transform(translation=Vector3.of(body.center_of_mass)))) for body in bodies]


#: What only accelerations tell, and what is of all that a body carries.
_OF_ACCELERATIONS = ("accelerometer", "proper_acceleration", "angular_acceleration", "force", "torque")
_OF_POSTURES = ("position", "orientation", "x_axis", "y_axis", "z_axis", "subtree_center", "rangefinder")


def sensor_program(mechanism: Mechanism, sensor: Sensor, points: Sequence[tuple[str, str]] = ()) -> Program:
    """What a sensor measures, as a program of q, v, a, tau and pushes of contact, as many as it needs.

    Raises:
        InputError: for a body, frame or joint that does not exist; for a force where loops act on bodies; for shapes that a
            rangefinder's ray does not meet.
    """
    name = f"{sensor.kind}_{mechanism.name}"
    if sensor.kind in AT_JOINTS:
        return _of_joint(mechanism, sensor, name)
    for place in (sensor.of, sensor.seen_from):
        mechanism.tree.place(place, f"{mechanism.name}: a sensor is at")
    if sensor.kind in ("force", "torque") and mechanism.loops:
        raise InputError(
            f"{mechanism.name}: the {sensor.kind} at {sensor.of!r} cannot be measured, as forces of loops act on bodies; the "
            "joints' efforts and the loops' forces are in the results"
        )
    if sensor.kind == "touch":
        return touch_program(mechanism, sensor, _body(mechanism, sensor.of), points)
    sizes: dict[str, int | tuple[int, ...]] = {"q": mechanism.nq}
    if sensor.kind not in _OF_POSTURES:
        sizes["v"] = mechanism.nv
    if sensor.kind in _OF_ACCELERATIONS:
        sizes["a"] = mechanism.nv

    def page(q: Any, v: Any = (0.0,) * mechanism.nv, a: Any = (0.0,) * mechanism.nv) -> list[Scalar]:
        return list(_OF_PLACES[sensor.kind](MovingFrames(mechanism, q, v, a), sensor))

    return trace(page, sizes, name)


def _of_joint(mechanism: Mechanism, sensor: Sensor, name: str) -> Program:
    """Coordinates, velocities or efforts of a joint."""
    own = next((item for item in joint_columns(mechanism) if item.joint.name == sensor.of), None)
    if own is None:
        meant = did_you_mean(sensor.of, [joint.name for joint in mechanism.joints], lead="; ")
        raise InputError(f"{mechanism.name}: a sensor is at {sensor.of!r}, which is not a joint{meant}")
    signal = {"joint_position": "q", "joint_velocity": "v", "joint_effort": "tau"}[sensor.kind]
    part, size = (own.q, mechanism.nq) if signal == "q" else (own.v, mechanism.nv)
    return trace(lambda values: [sensor.scale * x for x in list(values)[part]], {signal: size}, name)


def _in_its_axes(of: Callable[[MovingFrame], Vector3]) -> Callable[[MovingFrames, Sensor], Vector3]:
    """What is known of a sensor's frame in the world's axes, in its own."""

    def measured(moving: MovingFrames, sensor: Sensor) -> Vector3:
        frame = moving.at(sensor.of, sensor.pose)
        return frame.X.rotation.unrotate(of(frame))

    return measured


def _relative(moving: MovingFrames, sensor: Sensor) -> Transform:
    """X_RB."""
    X_WR, X_WB = moving.at(sensor.seen_from, sensor.its_pose).X, moving.at(sensor.of, sensor.pose).X
    return (X_WR.inverse() @ X_WB).dense()


def _orientation(moving: MovingFrames, sensor: Sensor) -> Scalars:
    """The quaternion by its squares, each from the diagonal, and signs from the differences (S. Sarabandi, F. Thomas,
    Accurate computation of quaternions from rotation matrices, ARK 2018)."""
    (xx, xy, xz), (yx, yy, yz), (zx, zy, zz) = (list(row) for row in _relative(moving, sensor).rotation.matrix())
    squares = [1.0 + xx - yy - zz, 1.0 - xx + yy - zz, 1.0 - xx - yy + zz, 1.0 + xx + yy + zz]
    x, y, z, w = (0.5 * sqrt(maximum(square, 0.0)) for square in squares)
    signed = [select(part < 0.0, -size, size) for size, part in zip((x, y, z), (zy - yz, xz - zx, yx - xy), strict=True)]
    return [*signed, w]


def _linear_velocity(moving: MovingFrames, sensor: Sensor) -> Vector3:
    frame, base = moving.at(sensor.of, sensor.pose), moving.at(sensor.seen_from, sensor.its_pose)
    away = frame.X.translation - base.X.translation
    return base.X.rotation.unrotate(frame.linear - base.linear - base.angular.cross(away))


def _angular_velocity(moving: MovingFrames, sensor: Sensor) -> Vector3:
    frame, base = moving.at(sensor.of, sensor.pose), moving.at(sensor.seen_from, sensor.its_pose)
    return base.X.rotation.unrotate(frame.angular - base.angular)


def _of_subtree(of: Callable[[MovingFrame], Vector3]) -> Callable[[MovingFrames, Sensor], Vector3]:
    """The mean, by their masses, of what is known of the centers of mass that a body carries."""

    def measured(moving: MovingFrames, sensor: Sensor) -> Vector3:
        carried = moving.carried(sensor.of)
        total = sum(body.mass for body, _ in carried)
        return sum((of(frame) * (body.mass / total) for body, frame in carried), Vector3())

    return measured


_subtree_center, _subtree_velocity = _of_subtree(lambda frame: frame.X.translation), _of_subtree(lambda frame: frame.linear)


def _subtree_angular_momentum(moving: MovingFrames, sensor: Sensor) -> Vector3:
    carried = moving.carried(sensor.of)
    center, mean = _subtree_center(moving, sensor), _subtree_velocity(moving, sensor)
    total = Vector3()
    for body, frame in carried:
        total = total + _turned(body, frame, frame.angular)
        total = total + (frame.X.translation - center).cross((frame.linear - mean) * body.mass)
    return total


def _turned(body: Body, frame: MovingFrame, omega: Vector3) -> Vector3:
    """I ω in the world's axes, of an angular velocity or acceleration in them."""
    R = frame.X.rotation
    own = R.unrotate(omega)
    rows = np.asarray(body.inertia, dtype=float).tolist()
    return R.rotate(Vector3.of([own.dot(Vector3.of(row)) for row in rows]))


def _force(moving: MovingFrames, sensor: Sensor) -> Vector3:
    frame = moving.at(sensor.of, sensor.pose)
    bodies = moving.carried(_body(moving.mechanism, sensor.of))
    total = sum((other.acceleration * body.mass for body, other in bodies), Vector3())
    return frame.X.rotation.unrotate(total)


def _torque(moving: MovingFrames, sensor: Sensor) -> Vector3:
    frame = moving.at(sensor.of, sensor.pose)
    total = Vector3()
    for body, other in moving.carried(_body(moving.mechanism, sensor.of)):
        total = total + (other.X.translation - frame.X.translation).cross(other.acceleration * body.mass)
        total = total + _turned(body, other, other.turning) + other.angular.cross(_turned(body, other, other.angular))
    return frame.X.rotation.unrotate(total)


def _rangefinder(moving: MovingFrames, sensor: Sensor) -> list[Scalar]:
    own, X_WB = _body(moving.mechanism, sensor.of), moving.at(sensor.of, sensor.pose).X
    nearest: Scalar = FAR
    for body in moving.mechanism.bodies:
        for item in body.collisions if body.name != own else ():
            if item.color is not None and item.color[3] == 0.0:
                continue
            if type(item.shape) not in MET:
                raise InputError(
                    f"{moving.mechanism.name}: the rangefinder at {sensor.of!r} cannot measure how far {body.name!r} is, which "
                    f"has a {item.shape.kind} to touch; rays meet {', '.join(shape.kind for shape in MET)}. Give it such shapes"
                )
            X_SB = (moving.at(body.name, item.pose).X.inverse() @ X_WB).dense()
            nearest = minimum(nearest, met(item.shape, X_SB.translation, X_SB.rotation.rotate(Vector3.unit(2))))
    return [select(nearest < FAR, nearest, -1.0)]


def _body(mechanism: Mechanism, name: str) -> str:
    """The body that a frame is on; a body itself."""
    return next((frame.body for frame in mechanism.frames if frame.name == name), name)


_OF_PLACES: dict[str, Callable[[MovingFrames, Sensor], Iterable[Scalar]]] = {
    "gyro": _in_its_axes(lambda frame: frame.angular),
    "velocimeter": _in_its_axes(lambda frame: frame.linear),
    "accelerometer": _in_its_axes(lambda frame: frame.acceleration),
    "proper_acceleration": lambda moving, sensor: moving.at(sensor.of, sensor.pose).acceleration,
    "angular_acceleration": lambda moving, sensor: moving.at(sensor.of, sensor.pose).turning,
    "position": lambda moving, sensor: _relative(moving, sensor).translation,
    "x_axis": lambda moving, sensor: _relative(moving, sensor).rotation.rotate(Vector3.unit(0)),
    "y_axis": lambda moving, sensor: _relative(moving, sensor).rotation.rotate(Vector3.unit(1)),
    "z_axis": lambda moving, sensor: _relative(moving, sensor).rotation.rotate(Vector3.unit(2)),
    "orientation": _orientation, "linear_velocity": _linear_velocity, "angular_velocity": _angular_velocity,
    "force": _force, "torque": _torque, "subtree_center": _subtree_center, "subtree_velocity": _subtree_velocity,
    "subtree_angular_momentum": _subtree_angular_momentum, "rangefinder": _rangefinder,
}  # fmt: skip


# --- Touch: normal forces of contact that push on a volume -----------------------------------------------------------
# A point of contact counts if the ray from it, out of the body along the normal, meets the volume or starts in it, as in MuJoCo
# (E. Todorov et al., MuJoCo documentation, XML reference, sensor/touch).


def touch_program(mechanism: Mechanism, sensor: Sensor, body: str, points: Sequence[tuple[str, str]]) -> Program:
    """The normal forces [N] on the sensor's body that push on its volume, summed, as a program of q and of all pushes."""
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

    if not own:
        return trace(lambda q: [0.0], {"q": mechanism.nq}, f"touch_{mechanism.name}")
    return trace(felt, {"q": mechanism.nq, PUSHES: PUSH * len(points)}, f"touch_{mechanism.name}")


def force_program(mechanism: Mechanism, name: str, by: str, points: Sequence[tuple[str, str]]) -> Program:
    """The force (3) of contact on a body or a robot [N] `by` another, or by all else if "", in the axes of the world."""
    signs = [(belongs(a, name) and pushes(b, by)) * 1.0 - (belongs(b, name) and pushes(a, by)) * 1.0 for a, b in points]

    def felt(pushed: Any) -> list[Scalar]:
        return [sum((sign * pushed[PUSH * k + axis] for k, sign in enumerate(signs) if sign), 0.0) for axis in range(3)]

    if not any(signs):
        return trace(lambda q: [0.0, 0.0, 0.0], {"q": mechanism.nq}, f"force_{mechanism.name}")
    return trace(felt, {PUSHES: PUSH * len(points)}, f"force_{mechanism.name}")


def wrenches_program(mechanism: Mechanism, points: Sequence[tuple[str, str]]) -> Program:
    """The wrenches [n; f] of contact on all bodies in order over the last step, about the world's origin [N·m, N], flat."""
    at = {body.name: 6 * k for k, body in enumerate(mechanism.bodies)}

    def felt(pushed: Any) -> list[Scalar]:
        total: list[Scalar] = [0.0] * (6 * len(at))
        for k, pair in enumerate(points):
            force, place = (Vector3.of(pushed[PUSH * k + part : PUSH * k + part + 3]) for part in (0, 3))
            for sign, body in zip((1.0, -1.0), pair, strict=True):
                if body in at:  # the ground is not among them
                    for axis, part in enumerate((*place.cross(force), *force), at[body]):
                        total[axis] = total[axis] + sign * part
        return total

    if not points:
        return trace(lambda q: [0.0] * (6 * len(at)), {"q": mechanism.nq}, f"wrenches_{mechanism.name}")
    return trace(felt, {LAST: PUSH * len(points)}, f"wrenches_{mechanism.name}")
