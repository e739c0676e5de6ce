"""Writing MJCF, the format of MuJoCo (mujoco.readthedocs.io/en/stable/XMLreference.html).

A body of MJCF holds a row of joints, so that joints of several degrees of freedom need no bodies in between. Frames become
sites. Loops and couplings become equality constraints, which are soft there.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element, SubElement, indent, tostring

import numpy as np

from ...errors import InputError
from ...spatial import Transform, pose
from ..elements import Body, Joint, Limits, Loop
from ..mechanism import WORLD, Mechanism
from ..read.xml import Notes
from ..shapes import Geometry, Mesh
from .parts import SinglePart, leave_shapes, mesh_path, note_fields, note_mechanism, numbers, quaternion, single_parts, xyz

#: The kinds of shapes that MJCF has, and the sizes of each: half of lengths along axes.
KINDS_OF_GEOMS: dict[str, Any] = {
    "box": lambda shape: [0.5 * edge for edge in shape.size],
    "sphere": lambda shape: [shape.radius],
    "cylinder": lambda shape: [shape.radius, 0.5 * shape.length],
    "capsule": lambda shape: [shape.radius, 0.5 * shape.length],
    "mesh": None,
}
#: Formats of meshes that MuJoCo reads.
_MESHES = (".stl", ".obj", ".msh")


#: By the kind of a drive: MuJoCo's actuator, and the numbers of it with their names there.
_ACTUATORS: dict[str, tuple[str, dict[str, str]]] = {
    "position": ("position", {"kp": "kp", "kd": "kv"}), "velocity": ("velocity", {"kd": "kv"}), "effort": ("motor", {}),
}  # fmt: skip


def write_drives(model: Element, mechanism: Mechanism, notes: Notes) -> None:
    """Adds the actuators to a model; they have the names of their joints."""
    for joint in mechanism.joints:
        drive = joint.drive
        if drive is None:
            continue
        if drive.kind not in _ACTUATORS:
            notes.add(f"drives of the kind {drive.kind}, left out", joint.name)
            continue
        tag, names = _ACTUATORS[drive.kind]
        made = SubElement(_section(model, "actuator"), tag, name=joint.name, joint=joint.name)
        for ours, theirs in names.items():
            made.set(theirs, numbers([getattr(drive, ours)]))
        if drive.limit is not None:
            made.set("forcerange", numbers((-drive.limit, drive.limit)))


_SOFT = "loops and couplings, written as constraints of MuJoCo, which are soft and open under load"
#: By the kind of a loop: the constraint between two sites that it is.
_CONSTRAINTS = {"spherical": "connect", "fixed": "weld", "revolute": "connect"}
#: Fields of loops that are written, for all kinds; those of springs in addition.
_PLACES = {"name", "kind", "body_a", "body_b", "pose_a", "pose_b", "axis", "second_axis"}
_SPRING = {"stiffness", "rest", "damping", "friction"}


def write_loops(model: Element, bodies: Mapping[str, Element], mechanism: Mechanism, notes: Notes) -> None:
    """Adds loops and couplings to a model whose bodies are there; notes loops that cannot be expressed."""
    for loop in mechanism.loops:
        kind = loop.kind.name
        if kind == "line":
            note_fields(loop, _PLACES | _SPRING, "loops'", notes)
            _write_spring(model, bodies, loop, notes)
        elif kind in _CONSTRAINTS:
            note_fields(loop, _PLACES, "loops'", notes)
            notes.add(_SOFT, loop.name)
            # a hinge is two points on its axis: five constraints, and one more that follows from them
            lever = 0.5 * mechanism.tree.size
            for suffix, side in {".low": -lever, ".high": lever}.items() if kind == "revolute" else (("", 0.0),):
                one, two = _sites(bodies, loop, suffix, pose([side * part for part in loop.axis]))
                section = _section(model, "equality")
                SubElement(section, _CONSTRAINTS[kind], name=f"{loop.name}{suffix}", site1=one, site2=two)
        else:
            notes.add(f"loops of the kind {kind}, left out: the mechanism moves otherwise", loop.name)
    for item in mechanism.couplings:
        notes.add(_SOFT, item.name)
        names = {"name": item.name, "joint1": item.joint, "joint2": item.of}
        polynomial = numbers([item.offset, item.ratio, 0.0, 0.0, 0.0])
        SubElement(_section(model, "equality"), "joint", names, polycoef=polynomial)


def _write_spring(model: Element, bodies: Mapping[str, Element], loop: Loop, notes: Notes) -> None:
    """A line with a spring and a damper is a tendon between two sites."""
    if loop.limits[0] != Limits():
        notes.add("limits of lines, left out", loop.name)
    values = {"stiffness": loop.stiffness, "damping": loop.damping, "frictionloss": loop.friction, "springlength": loop.rest}
    given = {name: numbers(value) for name, value in values.items()}  # type: ignore[arg-type]
    tendon = SubElement(_section(model, "tendon"), "spatial", given, name=loop.name)
    for end in _sites(bodies, loop, "", Transform()):
        SubElement(tendon, "site", site=end)


def _sites(bodies: Mapping[str, Element], loop: Loop, suffix: str, shift: Transform) -> tuple[str, str]:
    """The names of the sites at the two ends, moved by `shift` in the loop's frames."""
    names = (f"{loop.name}{suffix}.a", f"{loop.name}{suffix}.b")
    for name, body, at in zip(names, (loop.body_a, loop.body_b), (loop.pose_a, loop.pose_b), strict=True):
        there = at @ shift
        SubElement(bodies[body], "site", name=name, pos=xyz(there), quat=numbers(quaternion(there)))
    return names


def _section(model: Element, tag: str) -> Element:
    found = model.find(tag)
    return SubElement(model, tag) if found is None else found


#: MuJoCo refuses moving bodies with less mass [kg] or principal moments [kg·m²]; its own bound is 1e-15.
_LEAST = 1e-14
#: The sum of two principal moments may be so much less than the third, of this.
_ROUNDING = 1e-12
#: Larger than any limit, for the missing one of two.
_UNLIMITED = 1e16
_OF_JOINTS = {
    "name", "kind", "parent", "child", "pose", "axis", "second_axis", "limits", "damping", "friction", "armature", "stiffness",
    "rest", "drive",
}  # fmt: skip


def mjcf_text(mechanism: Mechanism, folder: Path, notes: Notes) -> str:
    """A mechanism as MJCF, for a file in a folder, to which the paths of meshes are relative.

    The coordinates of a free joint are the pose in the world there, and its linear velocity is in the axes of the world. An
    `InputError` for helical joints, which MJCF has nothing for, and floating ones that are not on the world.
    """
    note_mechanism(mechanism, {"bodies", "joints", "loops", "frames", "couplings", "gravity", "no_contact"}, notes)
    leave_shapes(mechanism, KINDS_OF_GEOMS, notes)
    model = Element("mujoco", model=mechanism.name)
    SubElement(model, "compiler", angle="radian", autolimits="true", inertiafromgeom="false", fusestatic="false")
    SubElement(model, "option", gravity=numbers(mechanism.gravity))
    assets = SubElement(model, "asset")
    world = SubElement(model, "worldbody")
    writer = _Writer(mechanism, assets, folder, notes)
    elements = {WORLD: world}
    for joint, body in zip(mechanism.joints, mechanism.bodies, strict=True):
        elements[body.name] = writer.body(elements[joint.parent], joint, body)
    for frame in mechanism.frames:
        place(SubElement(elements[frame.body], "site", name=frame.name), frame.pose)
    write_loops(model, elements, mechanism, notes)
    write_drives(model, mechanism, notes)
    if mechanism.no_contact:
        contact = SubElement(model, "contact")
        for one, two in mechanism.no_contact:
            SubElement(contact, "exclude", body1=one, body2=two)
    if not len(assets):
        model.remove(assets)
    indent(model, "  ")
    return tostring(model, encoding="unicode") + "\n"


def place(element: Element, pose: Transform) -> None:
    """Gives an element its position and quaternion."""
    if any(pose.translation):
        element.set("pos", xyz(pose))
    turn = quaternion(pose)
    if turn != (1.0, 0.0, 0.0, 0.0):
        element.set("quat", numbers(turn))


class _Writer:
    """Writes bodies with their joints and shapes, and meshes to the assets."""

    def __init__(self, mechanism: Mechanism, assets: Element, folder: Path, notes: Notes):
        self._assets, self._folder, self._notes = assets, folder, notes
        self._heavy = _bodies_with_mass(mechanism)
        self._meshes: dict[Mesh, str] = {}

    def body(self, parent: Element, joint: Joint, body: Body) -> Element:
        """A body with its joint."""
        element = SubElement(parent, "body", name=body.name)
        place(element, joint.pose)
        self._joint(element, joint)
        self._inertia(element, body, moves=joint.kind.nv > 0)  # type: ignore[union-attr]
        self._add_shapes(element, body)
        return element

    # --- shapes ---------------------------------------------------------------------------------------------------------
    def _add_shapes(self, element: Element, body: Body) -> None:
        """The shapes of a body: visuals in group 2, which touch nothing, and collisions in group 3, which is not drawn."""
        for items, group, touching in ((body.visuals, "2", "0"), (body.collisions, "3", "1")):
            for item in items:
                sizes = self._sizes(item, body.name)
                if sizes is not None:
                    geom = SubElement(element, "geom", sizes, pos=xyz(item.pose), quat=numbers(quaternion(item.pose)))
                    geom.attrib.update(mass="0", group=group, contype=touching, conaffinity=touching)
                    if item.color is not None:
                        geom.set("rgba", numbers(item.color))
                    if item.friction is not None:
                        geom.set("friction", numbers([item.friction]))

    def _sizes(self, item: Geometry, body: str) -> dict[str, str] | None:
        shape = item.shape
        if isinstance(shape, Mesh):
            name = self._mesh(shape, body)
            return None if name is None else {"type": "mesh", "mesh": name}
        sizes = KINDS_OF_GEOMS.get(shape.kind)
        return None if sizes is None else {"type": shape.kind, "size": numbers(sizes(shape))}

    def _mesh(self, mesh: Mesh, body: str) -> str | None:
        """The name of the asset; None for files that MuJoCo does not read."""
        if mesh.resolved is None or Path(mesh.resolved).suffix.lower() not in _MESHES:
            self._notes.add(f"meshes that are not found, or none of {', '.join(_MESHES)}, left out", f"{body} ({mesh.path})")
            return None
        if mesh not in self._meshes:
            self._meshes[mesh] = name = f"{Path(mesh.resolved).stem}_{len(self._meshes)}"
            file = mesh_path(Mesh(mesh.resolved, resolved=mesh.resolved), self._folder)  # a path, where a robot file has a URI
            SubElement(self._assets, "mesh", name=name, file=file, scale=numbers(mesh.scale))
        return self._meshes[mesh]

    # --- inertia --------------------------------------------------------------------------------------------------------
    def _inertia(self, element: Element, body: Body, *, moves: bool) -> None:
        rows, mass = np.array(body.inertia, dtype=float), body.mass
        lowest, middle, largest = (float(moment) for moment in np.linalg.eigvalsh(rows))
        if body.name in self._heavy and lowest + middle < largest * (1.0 - _ROUNDING):
            self._notes.add("inertias that no body can have, made equal about all axes: MuJoCo refuses them", body.name)
            rows = np.eye(3) * rows.trace() / 3.0
        if moves and (mass < _LEAST or lowest < _LEAST) and body.name not in self._heavy:
            given = f"given {_LEAST:g} kg and kg·m²: MuJoCo refuses less"
            self._notes.add(f"bodies without mass, or with a principal moment of zero, {given}", body.name)
            mass, rows = max(mass, _LEAST), rows + np.eye(3) * (2.0 * _LEAST - min(lowest, 0.0))
        if mass == 0.0 and not rows.any():
            return
        full = [rows[0, 0], rows[1, 1], rows[2, 2], rows[0, 1], rows[0, 2], rows[1, 2]]
        made = SubElement(element, "inertial", pos=numbers(body.center_of_mass), mass=numbers([mass]))
        made.set("fullinertia", numbers(full))

    # --- joints ---------------------------------------------------------------------------------------------------------
    def _joint(self, element: Element, joint: Joint) -> None:
        note_fields(joint, _OF_JOINTS, "joints'", self._notes)
        kind = joint.kind.name
        if kind == "fixed":
            return
        if kind in ("floating", "spherical"):
            self._quaternion_joint(element, joint, {"floating": "free", "spherical": "ball"}[kind])
            return
        armature = 0.0 if joint.drive is None else joint.drive.reflected_inertia  # which MJCF has at the joint
        for part in single_parts(joint, self._notes.source, "MJCF"):
            self._single(element, part, armature)

    def _quaternion_joint(self, element: Element, joint: Joint, kind: str) -> None:
        if kind == "free" and joint.parent != WORLD:
            raise InputError(
                f"{self._notes.source}: joint {joint.name!r} is floating on {joint.parent!r}; MJCF has free joints on the "
                "world only. Take floating_euler, or kumitate's own .json"
            )
        if tuple(joint.axis) != (0.0, 0.0, 1.0):
            self._notes.add(f"the axes of {joint.kind.name} joints, left out; their coordinates are others", joint.name)
        if any(limit != Limits() for limit in joint.limits):
            self._notes.add(f"limits of {joint.kind.name} joints, left out", joint.name)
        made = SubElement(element, "joint", name=joint.name, type=kind)
        for ours, theirs in (("damping", "damping"), ("friction", "frictionloss"), ("armature", "armature")):
            values = getattr(joint, ours)
            if len(set(values)) > 1:
                self._notes.add(f"unequal {ours} of {joint.kind.name} joints, left out", joint.name)
            elif values[0]:
                made.set(theirs, numbers(values[:1]))

    def _single(self, element: Element, part: SinglePart, armature: float) -> None:
        kind = "hinge" if part.turns else "slide"
        made = SubElement(element, "joint", name=part.name, type=kind, axis=numbers(part.axis))
        limit, names = part.limits, {"friction": "frictionloss", "rest": "springref"}
        for key, value in {**part.passive, "armature": part.passive["armature"] + armature}.items():
            if value:
                made.set(names.get(key, key), numbers([value]))
        if limit.lower is not None or limit.upper is not None:
            bounds = (-_UNLIMITED if limit.lower is None else limit.lower, _UNLIMITED if limit.upper is None else limit.upper)
            made.set("range", numbers(bounds))
        if limit.effort is not None:
            made.set("actuatorfrcrange", numbers((-limit.effort, limit.effort)))
        if limit.velocity is not None:
            self._notes.add("limits of velocities, which MJCF does not have, left out", part.name)


def _bodies_with_mass(mechanism: Mechanism) -> set[str]:
    """Bodies that move with enough inertia of their own, or of bodies fixed to them."""
    found = set()
    for joint, body in zip(reversed(mechanism.joints), reversed(mechanism.bodies), strict=True):
        enough = body.mass >= _LEAST and np.linalg.eigvalsh(np.array(body.inertia, dtype=float)).min() >= _LEAST
        if enough or body.name in found:
            found.add(body.name)
            if joint.kind.nv == 0:  # type: ignore[union-attr]
                found.add(joint.parent)
    return found
