"""Writing URDF, the robot description format of ROS (wiki.ros.org/urdf/XML).

Joints of several degrees of freedom become rows of revolute and prismatic joints with links without mass between them; frames
become links without mass. Loops, springs and capsules are written by the extensions that kumitate and others read; other
programs pass over them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from xml.etree.ElementTree import Element, SubElement, indent, tostring

import numpy as np

from ...spatial import Transform
from ..elements import Body, Frame, Joint, Limits, Loop
from ..mechanism import WORLD, Mechanism, take_name
from ..read.urdf import DYNAMICS, LOOP_KINDS, LOOPS_WITHOUT_AXIS, SIZED
from ..read.xml import UNLIMITED, Notes
from ..shapes import Geometry
from ..tree.tree import alignment
from .parts import SinglePart, leave_shapes, mesh_path, note_fields, note_mechanism, numbers, roll_pitch_yaw, single_parts, xyz

#: The types of loops by their kinds: of several that are read, the first.
_TYPES = {kind.name: word for word, kind in reversed(LOOP_KINDS.items())} | dict(zip(SIZED, SIZED, strict=True))
#: Fields that are written.
_WRITTEN = {
    "name", "kind", "body_a", "body_b", "pose_a", "pose_b", "axis", "second_axis", "limits", "damping", "friction", "stiffness",
    "rest",
}  # fmt: skip


def write_loop(robot: Element, loop: Loop, notes: Notes) -> None:
    """Adds a loop to the robot; notes what cannot be expressed."""
    kind = loop.kind.name
    if kind not in _TYPES:
        notes.add(f"loops of the kind {kind}, left out: the mechanism moves otherwise", loop.name)
        return
    note_fields(loop, _WRITTEN, "loops'", notes)
    element = SubElement(robot, "loop_joint", name=loop.name, type=_TYPES[kind])
    for tag, body, place in (("link1", loop.body_a, loop.pose_a), ("link2", loop.body_b, loop.pose_b)):
        SubElement(element, tag, link=body, xyz=xyz(place), rpy=numbers(roll_pitch_yaw(place)))
    if kind in SIZED:
        size = SIZED[kind][1]
        element.set(size, numbers([getattr(loop.kind, size)]))
    if _TYPES[kind] not in LOOPS_WITHOUT_AXIS:
        SubElement(element, "axis", xyz=numbers(loop.axis))
    if kind == "universal":  # the second axis is y of the kind where none was given
        second = [row[1] for row in alignment(loop.axis, loop.second_axis).matrix()]
        SubElement(element, "axis2", xyz=numbers(second))  # type: ignore[arg-type]
    _motion(element, loop, notes)


def _motion(element: Element, loop: Loop, notes: Notes) -> None:
    """Limits and passive forces, which the format has for one degree of freedom, or the same for all."""
    if loop.kind.nv == 1 and loop.limits[0] != Limits():
        none = {"lower": "-inf", "upper": "inf", "velocity": "inf", "effort": "inf"}
        given = {key: numbers([x]) for key, x in vars(loop.limits[0]).items() if x is not None}
        SubElement(element, "limit", none | given)
    elif any(limit != Limits() for limit in loop.limits):
        notes.add("limits of loops of several degrees of freedom, left out", loop.name)
    values: dict[str, tuple[float, ...]] = {theirs: getattr(loop, ours) for ours, theirs in DYNAMICS.items()}
    if any(len(set(numbers_of)) > 1 for numbers_of in values.values()):
        notes.add("unequal damping, friction or springs of loops, left out", loop.name)
    elif any(any(numbers_of) for numbers_of in values.values()):
        SubElement(element, "dynamics", {key: numbers(value[:1]) for key, value in values.items() if any(value)})


_GRAVITY = (0.0, 0.0, -9.81)
#: Fields of joints that are written, with those that a joint's kind stands for.
_OF_JOINTS = {
    "name", "kind", "parent", "child", "pose", "axis", "second_axis", "limits", "damping", "friction", "stiffness", "rest",
    "drive",
}  # fmt: skip
#: What ros2_control calls the commands of drives, by their kinds; those of all others are efforts.
_COMMANDS = {"position": "position", "velocity": "velocity"}
#: Attributes of each shape's element.
_SHAPES = {
    "box": ("size",), "sphere": ("radius",), "cylinder": ("radius", "length"), "capsule": ("radius", "length"), "mesh": (),
}  # fmt: skip


def urdf_text(mechanism: Mechanism, folder: Path, notes: Notes) -> str:
    """A mechanism as URDF, for a file in a folder, to which the paths of meshes are relative.

    An `InputError` for joints of kinds that are neither URDF's nor rows of them (helical).
    """
    note_mechanism(mechanism, {"bodies", "joints", "loops", "frames", "couplings", "gravity"}, notes)
    if mechanism.gravity != _GRAVITY:
        notes.add(f"gravity {numbers(mechanism.gravity)} m/s², which the format does not have; programs take their own")
    leave_shapes(mechanism, _SHAPES, notes)
    robot = Element("robot", name=mechanism.name)
    writer = _Writer(robot, mechanism, folder, notes)
    if not _held_at_origin(mechanism):
        SubElement(robot, "link", name=WORLD)
    for body in mechanism.bodies:
        writer.link(body)
    for joint in mechanism.joints:
        if not (joint.parent == WORLD and _held_at_origin(mechanism)):
            writer.joint(joint)
    for frame in mechanism.frames:
        writer.frame(frame)
    for loop in mechanism.loops:
        write_loop(robot, loop, notes)
    _write_drives(robot, mechanism, notes)
    indent(robot, "  ")
    return f'<?xml version="1.0"?>\n{tostring(robot, encoding="unicode")}\n'


def _held_at_origin(mechanism: Mechanism) -> bool:
    """Whether the root is fixed at the world's origin, as URDF takes it, and nothing else refers to the world."""
    roots = [joint for joint in mechanism.joints if joint.parent == WORLD]
    named = {loop.body_a for loop in mechanism.loops} | {loop.body_b for loop in mechanism.loops}
    named |= {frame.body for frame in mechanism.frames}
    fixed = len(roots) == 1 and roots[0].kind.name == "fixed" and WORLD not in named
    return fixed and np.array_equal(np.array(roots[0].pose.matrix(), dtype=float), np.eye(4))


def _write_drives(robot: Element, mechanism: Mechanism, notes: Notes) -> None:
    """Adds the tag by which ros2_control knows what each drive is commanded and what its joint reports.

    The hardware is what mirrors commands (control.ros.org, mock components), to be replaced by the robot's own.
    """
    driven = [joint for joint in mechanism.driven if joint.q < mechanism.nq]
    if not driven:
        return
    control = SubElement(robot, "ros2_control", name=mechanism.name, type="system")
    SubElement(SubElement(control, "hardware"), "plugin").text = "mock_components/GenericSystem"
    for joint in driven:
        notes.add("numbers of drives, which <ros2_control> names by what they are commanded", joint.name)
        element = SubElement(control, "joint", name=joint.name)
        SubElement(element, "command_interface", name=_COMMANDS.get(joint.drive.kind, "effort"))
        for told in ("position", "velocity", "effort"):
            SubElement(element, "state_interface", name=told)


class _Writer:
    """Writes links and joints; names that URDF needs in addition are new ones."""

    def __init__(self, robot: Element, mechanism: Mechanism, folder: Path, notes: Notes):
        self._robot, self._mechanism, self._folder, self._notes = robot, mechanism, folder, notes
        self._links = {WORLD, *(item.name for items in (mechanism.bodies, mechanism.frames) for item in items)}
        self._joints = {item.name for items in (mechanism.joints, mechanism.loops) for item in items}
        self._couplings = {coupling.joint: coupling for coupling in mechanism.couplings}

    # --- links ----------------------------------------------------------------------------------------------------------
    def link(self, body: Body) -> None:
        """A link with its inertia and shapes."""
        link = SubElement(self._robot, "link", name=body.name)
        if body.mass or np.any(body.inertia):
            inertial = SubElement(link, "inertial")
            SubElement(inertial, "origin", xyz=numbers(body.center_of_mass))
            SubElement(inertial, "mass", value=numbers([body.mass]))
            rows = np.array(body.inertia, dtype=float)
            entries = {f"i{'xyz'[i]}{'xyz'[k]}": numbers([rows[i, k]]) for i in range(3) for k in range(i, 3)}
            SubElement(inertial, "inertia", entries)
        for role, items in (("visual", body.visuals), ("collision", body.collisions)):
            for item in items:
                if item.friction is not None and role == "collision":
                    self._notes.add("friction of shapes, left out", body.name)
                if item.shape.kind in _SHAPES:
                    self._shape(SubElement(link, role, {"name": item.name} if item.name else {}), item)

    def _shape(self, owner: Element, item: Geometry) -> None:
        _origin(owner, item.pose)
        shape = item.shape
        part = SubElement(SubElement(owner, "geometry"), shape.kind)
        for key in _SHAPES[shape.kind]:
            part.set(key, numbers(np.atleast_1d(getattr(shape, key)).tolist()))
        if shape.kind == "mesh":
            part.set("filename", mesh_path(shape, self._folder))  # type: ignore[arg-type]
            part.set("scale", numbers(shape.scale))  # type: ignore[attr-defined]
        if item.color is not None and owner.tag == "visual":
            material = SubElement(owner, "material", name="")
            SubElement(material, "color", rgba=numbers(item.color))

    def frame(self, frame: Frame) -> None:
        """A frame as a link without mass."""
        SubElement(self._robot, "link", name=frame.name)
        joint = SubElement(self._robot, "joint", name=take_name(f"{frame.name}_fixed", self._joints), type="fixed")
        _ends(joint, frame.body, frame.name)
        _origin(joint, frame.pose)

    # --- joints ---------------------------------------------------------------------------------------------------------
    def joint(self, joint: Joint) -> None:
        """A joint, or the row of joints that it is."""
        note_fields(joint, _OF_JOINTS, "joints'", self._notes)
        kind = joint.kind.name
        if kind in ("fixed", "floating", "planar"):
            self._whole(joint, kind)
            return
        parts = single_parts(joint, self._notes.source, "URDF")
        if kind == "spherical":
            self._notes.add("spherical joints, written as three revolute joints with other coordinates", joint.name)
        parent = joint.parent
        for k, part in enumerate(parts):
            child = joint.child
            if k < len(parts) - 1:
                SubElement(self._robot, "link", name=(child := take_name(f"{part.name}_link", self._links)))
            self._single(part, parent, child, joint.pose if k == 0 else Transform())
            parent = child

    def _whole(self, joint: Joint, kind: str) -> None:
        """A joint of a kind that URDF has itself."""
        turned = joint.second_axis is not None if kind == "planar" else tuple(joint.axis) != (0.0, 0.0, 1.0)
        if kind != "fixed" and turned:
            self._notes.add(f"the axes of {kind} joints, left out; their coordinates are others", joint.name)
        if kind != "fixed" and (any(limit != Limits() for limit in joint.limits) or _uneven(joint)):
            self._notes.add(f"limits, and unequal damping and friction, of {kind} joints, left out", joint.name)
        element = SubElement(self._robot, "joint", name=joint.name, type=kind)
        _ends(element, joint.parent, joint.child)
        _origin(element, joint.pose)
        if kind == "planar":
            SubElement(element, "axis", xyz=numbers(joint.axis))
        if joint.kind.nv and not _uneven(joint):
            _dynamics(element, {key: getattr(joint, key)[0] for key in ("damping", "friction")})

    def _single(self, part: SinglePart, parent: str, child: str, place: Transform) -> None:
        limit = part.limits
        endless = part.turns and limit.lower is None and limit.upper is None
        kind = "continuous" if endless else "revolute" if part.turns else "prismatic"
        element = SubElement(self._robot, "joint", name=part.name, type=kind)
        _ends(element, parent, child)
        _origin(element, place)
        SubElement(element, "axis", xyz=numbers(part.axis))
        if not endless or limit.velocity is not None or limit.effort is not None:
            bounds = {} if endless else {"lower": (limit.lower, -1.0), "upper": (limit.upper, 1.0)}
            known = {**bounds, "velocity": (limit.velocity, 1.0), "effort": (limit.effort, 1.0)}
            given = {key: numbers([sign * UNLIMITED if x is None else x]) for key, (x, sign) in known.items()}
            SubElement(element, "limit", given)
        _dynamics(element, part.passive)
        if (coupling := self._couplings.get(part.name)) is not None:
            made = SubElement(element, "mimic", joint=coupling.of, multiplier=numbers([coupling.ratio]))
            made.set("offset", numbers([coupling.offset]))


def _uneven(joint: Joint) -> bool:
    """Whether URDF's one number for all degrees of freedom does not express the joint's damping and friction."""
    values: Iterable[tuple[float, ...]] = (joint.damping, joint.friction)  # type: ignore[assignment]
    return any(len(set(numbers)) > 1 for numbers in values)


def _ends(element: Element, parent: str, child: str) -> None:
    SubElement(element, "parent", link=parent)
    SubElement(element, "child", link=child)


def _origin(owner: Element, place: Transform) -> None:
    angles = roll_pitch_yaw(place)
    if any(angles) or any(place.translation):
        SubElement(owner, "origin", xyz=xyz(place), rpy=numbers(angles))


def _dynamics(element: Element, values: Mapping[str, float]) -> None:
    used = {DYNAMICS[key]: numbers([value]) for key, value in values.items() if key in DYNAMICS and value}
    if used:
        SubElement(element, "dynamics", used)
