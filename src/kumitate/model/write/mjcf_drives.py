"""Drives of joints as actuators of MJCF."""

from __future__ import annotations

from xml.etree.ElementTree import Element, SubElement

from ..elements import Joint
from ..mechanism import Mechanism
from ..read.notes import Notes
from .numbers import numbers

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
        section = model.find("actuator")
        section = SubElement(model, "actuator") if section is None else section
        made = SubElement(section, tag, name=joint.name, joint=joint.name)
        for ours, theirs in names.items():
            made.set(theirs, numbers([getattr(drive, ours)]))
        if drive.limit is not None:
            made.set("forcerange", numbers((-drive.limit, drive.limit)))


def drive_armature(joint: Joint) -> float:
    """The reflected inertia of a joint's drive [kg·m² or kg], which MJCF has at the joint."""
    return 0.0 if joint.drive is None else joint.drive.reflected_inertia
