"""The transmissions of a URDF as drives of its joints (wiki.ros.org/urdf/XML/Transmission, wiki.ros.org/pr2_mechanism_model).

A simple transmission is a gear between one motor and one joint: q = angle of the motor / n, and the effort at the joint is n
times the motor's, with the reduction n. Where the joint is commanded by effort, this is an `EffortDrive`. Commands of position
or velocity need gains, which URDF does not have.
"""

from __future__ import annotations

import os

from ...errors import InputError
from ..drives import EffortDrive
from .xml import Element, Notes, read_xml

#: What is said of a transmission that is a drive, when the robot itself is read.
_OFFERED = (
    "<transmission>: drives of effort, which act once you add them by "
    "robot.with_drives(kumitate.read_transmissions(file)); until then, torques act at the joints"
)

#: Why some elements of simple transmissions are not read; all others are unknown.
_UNREAD = {
    "<offset>": "where a motor's zero is, which no effort depends on, not used",
    "<role>": "the part of a joint in transmissions of several, not used",
}

#: Types of joints that have one degree of freedom.
_DRIVEN = ("revolute", "continuous", "prismatic")


def read_transmissions(path_or_text: str | os.PathLike[str]) -> dict[str, EffortDrive]:
    """The drives that the simple transmissions of a URDF are, by the names of their joints, for `Robot.with_drives`.

    Their targets are efforts at the joints, reduction × effort of the motor, within the joint's `<limit effort>`; without a
    target they give none. The gear ratio is the size of `<mechanicalReduction>`, or `<drake:gear_ratio>`; the inertia of the
    rotor is `<drake:rotor_inertia>`, or zero.

    Args:
        path_or_text: a path, such as `robot.mechanism.source`, or the XML itself (a string that starts with `<`).

    Raises:
        ModelError: if the file breaks a rule of XML, or a reduction or inertia is not possible; with file and line.
        InputError: for xacro sources, which have to be expanded first, and for the .yaml with the loops of a URDF.

    Warns:
        KumitateWarning: once for each kind of transmission that is not such a drive, and of content that is not used.

    >>> read_transmissions('''<robot name="arm"><joint name="elbow" type="revolute"/><transmission name="t">
    ...   <type>transmission_interface/SimpleTransmission</type>
    ...   <joint name="elbow"><hardwareInterface>hardware_interface/EffortJointInterface</hardwareInterface></joint>
    ...   <actuator name="m"><mechanicalReduction>50</mechanicalReduction></actuator>
    ... </transmission></robot>''')["elbow"].gear_ratio
    50.0
    """
    if str(path_or_text).lower().endswith((".xacro", ".yaml")):
        raise InputError(
            f"{path_or_text}: transmissions are read from a .urdf; give the one beside the .yaml, or expand the xacro source "
            "first (xacro robot.urdf.xacro > robot.urdf)"
        )
    robot, _ = read_xml(path_or_text, "robot")
    notes = Notes(robot.source)
    drives = {}
    for joint, element in _simple(robot, notes).items():
        with element.located():
            drives[joint] = _drive(element)
        notes.add_unread(element, _UNREAD)
    notes.warn()
    return drives


def note_transmissions(robot: Element, notes: Notes) -> None:
    """Adds a remark on every transmission: those that `read_transmissions` makes drives, and the others, and why."""
    for element in _simple(robot, notes).values():
        notes.leave(element, _OFFERED)


def _simple(robot: Element, notes: Notes) -> dict[str, Element]:
    """The transmissions that are drives of effort, by their joints; with a remark on each of the others."""
    kinds = {joint.attributes.get("name"): joint.attributes.get("type") for joint in robot.children if joint.tag == "joint"}
    found: dict[str, Element] = {}
    for element in robot.children:
        if element.tag != "transmission":
            continue
        reason, joint = _obstacle(element), next(iter(element.all("joint")), None)
        name = "" if joint is None else joint.get("name") or ""
        if not reason and kinds.get(name) not in _DRIVEN:
            reason = "of joints that the file does not have, or that have not one degree of freedom"
        if not reason and name in found:
            reason = "of joints that another one drives already"
        if reason:
            notes.leave(element, f"<transmission> {reason}: not simulated; torques act at the joints")
        else:
            found[name] = element
    return found


def _obstacle(element: Element) -> str:
    """Why a transmission is not a drive of effort at one joint; nothing if it is."""
    written = element.child("type")
    kind = (element.get("type") or "" if written is None else written.text).strip()  # an attribute in the form of the PR2
    if kind.split("/")[-1] != "SimpleTransmission":
        return f"of type {kind}" if kind else "without a type"
    joints, motors = element.all("joint"), element.all("actuator")
    if len(joints) != 1 or len(motors) != 1:
        return "of type SimpleTransmission without one joint and one actuator"
    # those of the joint say how it is commanded; older files give them at the actuator, the oldest (efforts) none
    of_joint, of_motor = (
        {found.text.strip().split("/")[-1] for found in part.all("hardwareInterface")} for part in (joints[0], motors[0])
    )
    interfaces = of_joint or of_motor
    if not interfaces or "EffortJointInterface" in interfaces:
        return ""
    if interfaces & {"PositionJointInterface", "VelocityJointInterface"}:
        return "commanded by position or velocity, whose gains you give (robot.with_drives, PositionDrive, VelocityDrive)"
    return f"with the interface {', '.join(sorted(interfaces))}"


def _drive(element: Element) -> EffortDrive:
    """The drive that a simple transmission is. A motor that turns the other way has the same effect on its joint."""
    name, motor = element.get("name"), element.need_child("actuator")
    motor.get("name")  # of the motor, which is part of the drive
    ratio, inertia = motor.child("drake:gear_ratio"), motor.child("drake:rotor_inertia")
    reduction = motor.child("mechanicalReduction") or element.child("mechanicalReduction")
    gear = 1.0
    if reduction is not None:
        try:
            gear = float(reduction.text)
        except ValueError:
            said = reduction.text.strip()
            rule = "is not a number; give turns of the motor per turn of the joint"
            raise reduction.error(f"<{reduction.tag}> {said!r} {rule}") from None
    if ratio is not None:
        gear = ratio.number("value")
    if gear == 0.0:
        raise element.error(
            f"transmission {name!r} has the reduction 0, at which the joint could not move its motor; give turns of the motor "
            "per turn of the joint"
        )
    return EffortDrive(gear_ratio=abs(gear), rotor_inertia=0.0 if inertia is None else inertia.number("value"))
