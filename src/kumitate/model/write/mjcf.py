"""Writing MJCF, the format of MuJoCo (mujoco.readthedocs.io/en/stable/XMLreference.html).

A body of MJCF holds a row of joints, so that joints of several degrees of freedom need no bodies in between. Frames become
sites. Loops and couplings become equality constraints, which are soft there.
"""

from __future__ import annotations

from pathlib import Path
from xml.etree.ElementTree import Element, SubElement, indent, tostring

import numpy as np

from ...errors import InputError
from ...spatial import Transform
from ..elements import Body, Joint, Limits
from ..mechanism import WORLD, Mechanism
from ..read.notes import Notes
from .geometry import leave_shapes
from .inexpressible import note_fields, note_mechanism
from .mjcf_drives import drive_armature, write_drives
from .mjcf_loops import write_couplings, write_loops
from .mjcf_shapes import KINDS_OF_GEOMS, ShapeWriter
from .numbers import numbers, quaternion, xyz
from .single import SinglePart, single_parts

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

    The coordinates of a free joint are the pose in the world there, and its linear velocity is in the axes of the world.

    Raises:
        InputError: for helical joints, which MJCF has nothing for, and floating ones that are not on the world.
    """
    note_mechanism(mechanism, {"bodies", "joints", "loops", "frames", "couplings", "gravity", "no_contact"}, notes)
    leave_shapes(mechanism, KINDS_OF_GEOMS, notes)
    model = Element("mujoco", model=mechanism.name)
    SubElement(model, "compiler", angle="radian", autolimits="true", inertiafromgeom="false", fusestatic="false")
    SubElement(model, "option", gravity=numbers(mechanism.gravity))
    assets = SubElement(model, "asset")
    world = SubElement(model, "worldbody")
    writer = _Writer(mechanism, notes, ShapeWriter(assets, folder, notes))
    elements = {WORLD: world}
    for joint, body in zip(mechanism.joints, mechanism.bodies, strict=True):
        elements[body.name] = writer.body(elements[joint.parent], joint, body)
    for frame in mechanism.frames:
        place(SubElement(elements[frame.body], "site", name=frame.name), frame.pose)
    write_loops(model, elements, mechanism, notes)
    write_couplings(model, mechanism, notes)
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
    def __init__(self, mechanism: Mechanism, notes: Notes, shapes: ShapeWriter):
        self._mechanism, self._notes, self._shapes = mechanism, notes, shapes
        self._heavy = _bodies_with_mass(mechanism)

    def body(self, parent: Element, joint: Joint, body: Body) -> Element:
        """A body with its joint."""
        element = SubElement(parent, "body", name=body.name)
        place(element, joint.pose)
        self._joint(element, joint)
        self._inertia(element, body, moves=joint.kind.nv > 0)  # type: ignore[union-attr]
        self._shapes.add(element, body)
        return element

    # --- inertia --------------------------------------------------------------------------------------------------------
    def _inertia(self, element: Element, body: Body, *, moves: bool) -> None:
        rows, mass = np.array(body.inertia, dtype=float), body.mass
        lowest, middle, largest = (float(moment) for moment in np.linalg.eigvalsh(rows))
        if body.name in self._heavy and lowest + middle < largest * (1.0 - _ROUNDING):
            self._notes.add("inertias that no body can have, made equal about all axes: MuJoCo refuses them", body.name)
            rows = np.eye(3) * rows.trace() / 3.0
        if moves and (mass < _LEAST or lowest < _LEAST) and body.name not in self._heavy:
            self._notes.add(
                f"bodies without mass, or with a principal moment of zero, given {_LEAST:g} kg and kg·m²: MuJoCo refuses less",
                body.name,
            )
            mass, rows = max(mass, _LEAST), rows + np.eye(3) * (2.0 * _LEAST - min(lowest, 0.0))
        if mass == 0.0 and not rows.any():
            return
        full = [rows[0, 0], rows[1, 1], rows[2, 2], rows[0, 1], rows[0, 2], rows[1, 2]]
        SubElement(
            element, "inertial", pos=numbers(body.center_of_mass), mass=numbers([mass]), fullinertia=numbers(full)
        )  # fmt: skip

    # --- joints ---------------------------------------------------------------------------------------------------------
    def _joint(self, element: Element, joint: Joint) -> None:
        note_fields(joint, _OF_JOINTS, "joints'", self._notes)
        kind = joint.kind.name
        if kind == "fixed":
            return
        if kind in ("floating", "spherical"):
            self._quaternion_joint(element, joint, {"floating": "free", "spherical": "ball"}[kind])
            return
        parts = single_parts(joint)
        if parts is None:
            raise InputError(
                f"{self._notes.source}: joint {joint.name!r} is {kind}, which MJCF has nothing for; write kumitate's own "
                ".json, which expresses everything, or replace the joint"
            )
        for part in parts:
            self._single(element, part, drive_armature(joint))

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
        made = SubElement(
            element, "joint", name=part.name, type="hinge" if part.turns else "slide", axis=numbers(part.axis)
        )  # fmt: skip
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
