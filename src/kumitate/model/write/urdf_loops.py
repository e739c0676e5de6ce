"""Loops in URDF: `<loop_joint>`, an extension of Drake, with the further types that `read.urdf_loops` describes."""

from __future__ import annotations

from typing import Any
from xml.etree.ElementTree import Element, SubElement

from ..elements import Limits, Loop
from ..joints import Distance, Helical, RollingDisc, RollingSphere
from ..read.notes import Notes
from ..tree.tree import alignment
from .inexpressible import note_fields
from .numbers import numbers, roll_pitch_yaw, xyz

#: Types that URDF has no name of its own for are those of the kinds; spherical is the one that Drake calls ball.
_NAMED = (
    "fixed", "revolute", "prismatic", "cylindrical", "universal", "planar", "line", "helical", "distance", "rolling_disc",
    "rolling_sphere",
)  # fmt: skip
_TYPES = {**dict(zip(_NAMED, _NAMED, strict=True)), "spherical": "ball"}
#: Types with one axis; universal has two.
_WITH_AXIS = ("revolute", "prismatic", "cylindrical", "universal", "planar", "helical", "rolling_disc", "rolling_sphere")
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
    if isinstance(loop.kind, Helical):
        element.set("pitch", numbers([loop.kind.pitch]))
    if isinstance(loop.kind, Distance):
        element.set("length", numbers([loop.kind.length]))
    if isinstance(loop.kind, RollingDisc | RollingSphere):
        element.set("radius", numbers([loop.kind.radius]))
    if kind in _WITH_AXIS:
        SubElement(element, "axis", xyz=numbers(loop.axis))
    if kind == "universal":
        SubElement(element, "axis2", xyz=numbers(_second(loop)))
    _motion(element, loop, notes)


def _second(loop: Loop) -> list[Any]:
    """The second axis, which is y of the kind where none was given."""
    return [row[1] for row in alignment(loop.axis, loop.second_axis).matrix()]


def _motion(element: Element, loop: Loop, notes: Notes) -> None:
    """Limits and passive forces, which the format has for one degree of freedom, or the same for all."""
    if loop.kind.nv == 1 and loop.limits[0] != Limits():
        limit = loop.limits[0]
        bounds = {"lower": limit.lower, "upper": limit.upper, "velocity": limit.velocity, "effort": limit.effort}
        low = {"lower": "-inf"}
        texts = {key: low.get(key, "inf") if x is None else numbers([x]) for key, x in bounds.items()}
        SubElement(element, "limit", texts)
    elif any(limit != Limits() for limit in loop.limits):
        notes.add("limits of loops of several degrees of freedom, left out", loop.name)
    values: dict[str, tuple[float, ...]] = {
        name: getattr(loop, ours)
        for name, ours in {
            "damping": "damping", "friction": "friction", "spring_stiffness": "stiffness", "spring_reference": "rest",
        }.items()
    }  # fmt: skip
    if any(len(set(numbers_of)) > 1 for numbers_of in values.values()):
        notes.add("unequal damping, friction or springs of loops, left out", loop.name)
    elif any(any(numbers_of) for numbers_of in values.values()):
        SubElement(element, "dynamics", {key: numbers(value[:1]) for key, value in values.items() if any(value)})
