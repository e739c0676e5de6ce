"""Couplings between joints of an SDF file: gearboxes, and axes with <mimic>.

A joint of type "gearbox" connects no bodies. By SDF's specification of `<joint>` (`gearbox_ratio`, `gearbox_reference_body`) it
demands θ₂ = −ratio·θ₁, where θ₁ is the angle from the reference body to the parent in the direction of `<axis>`, and θ₂ the
angle from the reference body to the child in the direction of `<axis2>`. Where either angle is that of one joint of the tree,
this is a `Coupling` of the two, with the signs that the joints' own directions give. An axis with a `<mimic>` (since 1.11)
demands position = multiplier·(leader's position − reference) + offset.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ...spatial import Vector3
from ..edits.standing import standing
from ..elements import Coupling, Joint
from ..mechanism import WORLD, Mechanism
from .followers import MISSING_LEADER, check_circles, missing_leader
from .notes import Notes
from .sdf_frames import Frames
from .sdf_joint import SdfJoint, read_direction, read_end
from .sdf_values import read_number, read_text
from .xml import Element

#: The type of joints that couple two rotations instead of connecting bodies.
GEARBOX = "gearbox"

#: Axes are parallel if the cosine of the angle between them is nearer to one than this.
_PARALLEL = 1e-6


@dataclass(frozen=True)
class _Gearbox:
    """A gearbox of the file: keys of links, and the directions of its two angles in the world."""

    parent: str
    child: str
    reference: str
    directions: tuple[np.ndarray, np.ndarray]
    ratio: float


def read_couplings(
    mechanism: Mechanism,
    specs: Sequence[SdfJoint],
    gearboxes: Mapping[str, tuple[Element, str]],
    frames: Frames,
    version: tuple[int, ...],
    notes: Notes,
) -> tuple[Coupling, ...]:
    """The couplings of a file.

    Args:
        mechanism: with all its joints; specs: the joints of the file.
        gearboxes: the elements of the gearboxes by key, with their scopes.
        frames, version: of the file; notes: takes the remarks on what cannot be used.

    Raises:
        ModelError: if joints follow one another in a cycle.
    """
    couplings = _mimics(mechanism, specs, frames, notes)
    follows = {coupling.joint for coupling in couplings}
    for key, (element, scope) in gearboxes.items():
        found: Coupling | str = "names no <gearbox_reference_body>"
        if read_text(element, "gearbox_reference_body") is not None:
            found = _coupling(mechanism, key, _gearbox(element, key, scope, frames, version), follows)
        if isinstance(found, str):
            remark = f"<joint> of type {GEARBOX}, which {found}: not simulated, the turns that it ties together are independent"
            notes.leave(element, remark, key)
        else:
            follows.add(found.joint)
            couplings.append(found)
    return tuple(couplings)


# --- gearboxes --------------------------------------------------------------------------------------------------------------
def _gearbox(element: Element, key: str, scope: str, frames: Frames, version: tuple[int, ...]) -> _Gearbox:
    parent, child, reference = (
        read_end(element, tag, key, scope, frames) for tag in ("parent", "child", "gearbox_reference_body")
    )
    X = frames.relative(key, WORLD, element)
    axes = [read_direction(element.child(tag), key, scope, frames, version) for tag in ("axis", "axis2")]
    first, second = (np.array(list(X.rotation.rotate(Vector3(*axis)))) / np.linalg.norm(axis) for axis in axes)
    return _Gearbox(parent, child, reference, (first, second), read_number(element, "gearbox_ratio", 1.0))


def _coupling(mechanism: Mechanism, key: str, box: _Gearbox, follows: set[str]) -> Coupling | str:
    """The coupling of a gearbox, or the reason why it is not one; `follows`: joints that follow others already."""
    turns = []
    for body, direction in ((box.parent, box.directions[0]), (box.child, box.directions[1])):
        turn = _turn(mechanism, box.reference, body, direction)
        if isinstance(turn, str):
            return turn
        turns.append(turn)
    (first, one), (second, two) = turns
    if first == second:
        return f"ties joint {first!r} to itself"
    ratio = -box.ratio * one * two  # two·q₂ = −ratio·one·q₁
    if second not in follows:
        return Coupling(key, second, first, ratio)
    if first not in follows and ratio != 0.0:
        return Coupling(key, first, second, 1.0 / ratio)
    return f"ties the joints {first!r} and {second!r}, which follow others already"


def _turn(mechanism: Mechanism, reference: str, body: str, direction: np.ndarray) -> tuple[str, float] | str:
    """The joint whose coordinate is the angle from the reference body to a body, and its sign; or the reason for none."""
    whole = _rigid(mechanism)
    if whole[reference] == whole[body]:
        return f"has {body!r} fixed on its reference body {reference!r}"
    between = [
        j for j in mechanism.joints if j.kind.nv and {whole[j.parent], whole[j.child]} == {whole[reference], whole[body]}
    ]
    if not between or between[0].kind.name != "revolute":
        return f"is between {reference!r} and {body!r}, which no revolute joint of the tree joins directly"
    joint = between[0]
    cosine = float(direction @ _axis(mechanism, joint))
    if abs(cosine) < 1.0 - _PARALLEL:
        return f"counts the angle about another axis than that of joint {joint.name!r}"
    outward = 1.0 if whole[joint.parent] == whole[reference] else -1.0
    return joint.name, float(np.sign(cosine)) * outward


def _rigid(mechanism: Mechanism) -> dict[str, str]:
    """By body, the innermost of those that are fixed to it."""
    whole = {WORLD: WORLD}
    for joint in mechanism.joints:  # parents before children
        whole[joint.child] = joint.child if joint.kind.nv else whole[joint.parent]
    return whole


def _axis(mechanism: Mechanism, joint: Joint) -> np.ndarray:
    """The direction of a joint's axis in the world, at zero coordinates."""
    R = np.array([list(row) for row in (standing(mechanism)[joint.parent] @ joint.pose).rotation.matrix()], dtype=float)
    return R @ np.array(joint.axis)


# --- mimics -----------------------------------------------------------------------------------------------------------------
def _mimics(mechanism: Mechanism, specs: Sequence[SdfJoint], frames: Frames, notes: Notes) -> list[Coupling]:
    joints = {joint.name: joint for joint in mechanism.joints}
    elements = {spec.key: spec.element for spec in specs}
    said = [(spec, index, axis.mimic) for spec in specs for index, axis in enumerate(spec.axes) if axis.mimic is not None]
    owners: dict[str, Element] = {}
    relations: list[tuple[str, str, float, float]] = []
    for spec, index, mimic in said:
        leader = frames.key(spec.scope, mimic.need("joint"))
        multiplier = read_number(mimic, "multiplier")
        offset, reference = (read_number(mimic, tag, 0.0) for tag in ("offset", "reference"))
        which = mimic.get("axis") or "axis"
        if which not in ("axis", "axis2"):
            raise mimic.error(f'joint {spec.key!r}: <mimic> axis="{which}" is neither "axis" nor "axis2"; write one of them')
        name, of = _name(joints, spec.key, index), _name(joints, leader, int(which == "axis2"))
        if leader not in elements:
            notes.leave(mimic, MISSING_LEADER, missing_leader(spec.key, leader, list(elements), notes))
        elif name is None or of is None:
            remark = "<mimic> between joints that have not one degree of freedom each in the tree, not used"
            notes.leave(mimic, remark, f"{spec.key} of {leader}")
        else:
            owners[name] = spec.element
            relations.append((name, of, multiplier, offset - multiplier * reference))
    check_circles({name: of for name, of, *_ in relations}, owners)
    return [Coupling(name, name, of, ratio, offset) for name, of, ratio, offset in relations]


def _name(joints: Mapping[str, Joint], key: str, index: int) -> str | None:
    """The joint of one degree of freedom made from an axis of a joint in the file; a second axis may be a separate joint."""
    name = key if index == 0 else f"{key}_2"
    return name if name in joints and joints[name].kind.nv == 1 else None
