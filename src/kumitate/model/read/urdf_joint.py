"""The joints of a URDF: kinds, axes, limits, damping and friction, and couplings (<mimic>)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..elements import Coupling, Joint, Limits
from ..joints import KINDS
from .followers import MISSING_LEADER, check_circles, missing_leader
from .notes import Notes
from .urdf_link import read_origin
from .xml import Element

#: Kinds by URDF's names for them.
_KINDS = {
    "fixed": "fixed", "revolute": "revolute", "continuous": "revolute", "prismatic": "prismatic", "planar": "planar",
    "floating": "floating",
    # not of URDF itself, in the words of Drake and SDF
    "ball": "spherical", "spherical": "spherical", "universal": "universal", "cylindrical": "cylindrical",
}  # fmt: skip

#: Types without an axis.
_ROUND = ("floating", "ball", "spherical")


#: Types of joints and loops with one degree of freedom, which may have a <limit>.
_LIMITED = ("revolute", "prismatic", "continuous", "helical", "line")


def read_joint(element: Element, parent: str, child: str, notes: Notes) -> Joint:
    """A joint between two bodies of the mechanism."""
    name, kind = element.need("name"), element.need("type")
    if kind not in _KINDS:
        raise element.error(f"joint {name!r} has the unknown type {kind!r}; the types are {', '.join(_KINDS)}")
    if kind == "fixed":
        for tag in ("axis", "limit", "dynamics"):
            _leave_of_fixed(element, tag, name, notes)
        return Joint(name, KINDS["fixed"], parent, child, read_origin(element))
    direction: tuple[float, ...] = (0.0, 0.0, 1.0)
    second: tuple[float, ...] | None = None
    if kind in _ROUND:
        _leave(element, "axis", f"of {kind} joints, which have none", name, notes)
    else:
        direction = read_axis(element, f"joint {name!r}")
    if kind == "universal":
        second = read_axis(element, f"joint {name!r}", "axis2")
    passive = read_dynamics(element, f"joint {name!r}")
    with element.located():
        place, limits = read_origin(element), read_limits(element, name, kind, notes)
        return Joint(name, KINDS[_KINDS[kind]], parent, child, place, direction, second, limits, **passive)


def read_axis(element: Element, owner: str, tag: str = "axis") -> tuple[float, ...]:
    """The direction of a joint's axis, not of unit length yet; x where there is no <axis>. An <axis2> must be there."""
    axis = element.child(tag) if tag == "axis" else element.need_child(tag)
    if axis is None:
        return 1.0, 0.0, 0.0
    direction = axis.numbers("xyz", 3, (1.0, 0.0, 0.0))
    if not any(direction):
        raise axis.error(
            f'{owner}: <{tag}> xyz="{axis.get("xyz")}" has no direction; give a vector that is not zero, such as "0 0 1"'
        )
    return direction


#: The content of <dynamics>: our names, and the attributes. URDF itself has no springs; they have SDF's names here.
_DYNAMICS = {"damping": "damping", "friction": "friction", "stiffness": "spring_stiffness", "rest": "spring_reference"}


def read_dynamics(element: Element, owner: str) -> dict[str, Any]:
    """Viscous and dry friction of a joint's <dynamics>, and its spring: as arguments of joints and loops."""
    dynamics = element.child("dynamics")
    if dynamics is None:
        return {}
    found = {ours: dynamics.number(key, 0.0) for ours, key in _DYNAMICS.items()}
    for ours, value in found.items():
        if value < 0.0 and ours != "rest":
            key = _DYNAMICS[ours]
            raise dynamics.error(
                f'{owner}: <dynamics> {key}="{dynamics.get(key)}" is negative and would drive the joint; give zero or more'
            )
    return found


def read_limits(element: Element, name: str, kind: str, notes: Notes) -> tuple[Limits, ...]:
    """The limits of a joint of one degree of freedom; for others there is a remark."""
    limit = element.child("limit")
    if limit is None:
        if kind in ("revolute", "prismatic"):
            notes.add(f"{kind} joints without <limit>, read as unlimited", name, element.line)
        return ()
    if kind not in _LIMITED:
        notes.leave(limit, "<limit> of joints that have not one degree of freedom, not used", name)
        return ()
    lower, upper, velocity, effort = (limit.bound(key) for key in ("lower", "upper", "velocity", "effort"))
    if kind == "continuous":
        if lower or upper:
            notes.add("lower and upper of the <limit> of continuous joints, which turn without end, not used", name, limit.line)
        return (Limits(None, None, velocity, effort),)
    if limit.get("lower") is None and limit.get("upper") is None:  # URDF's defaults, 0 to 0, would lock the joint
        notes.add(f"{kind} joints whose <limit> has neither lower nor upper, read as without bounds", name, limit.line)
        return (Limits(None, None, velocity, effort),)
    # URDF's default for either bound is 0; an infinite one was given, so it is not the default
    lower, upper = (0.0 if not limit.get(key) else value for key, value in (("lower", lower), ("upper", upper)))
    if lower is not None and upper is not None and lower > upper:
        raise limit.error(
            f"joint {name!r}: the lower limit {lower:g} is above the upper limit {upper:g}; swap the two, or correct a sign"
        )
    return (Limits(lower, upper, velocity, effort),)


def _leave_of_fixed(element: Element, tag: str, name: str, notes: Notes) -> None:
    """Adds a remark on elements that a fixed joint cannot use, unless they are empty: an axis (0, 0, 0), limits of 0."""
    part = element.child(tag)
    if part is None:
        return
    words = [word for value in part.attributes.values() for word in value.split()]
    if set(words) <= {"0", "0.0"} and set(part.attributes) <= {"xyz", "lower", "upper", "velocity", "effort"}:
        for key in part.attributes:
            part.get(key)
    else:
        notes.leave(part, "<axis>, <limit> and <dynamics> of fixed joints, which do not move, not used", name)


def _leave(element: Element, tag: str, why: str, name: str, notes: Notes) -> None:
    part = element.child(tag)
    if part is not None:
        notes.leave(part, f"<{tag}> {why}, not used", name)


def read_couplings(elements: Mapping[str, Element], joints: Sequence[Joint], notes: Notes) -> tuple[Coupling, ...]:
    """The couplings of `<mimic>`: q = multiplier·q(joint) + offset, with the name of the joint that follows.

    Args:
        elements: the file's joints by name; joints: those of the mechanism.
        notes: takes the remarks on what cannot be used.

    Raises:
        ModelError: if joints follow one another in a cycle.
    """
    kinds = {joint.name: joint.kind for joint in joints}
    mimics = {name: part for name, element in elements.items() if (part := element.child("mimic")) is not None}
    followed = {name: mimic.need("joint") for name, mimic in mimics.items()}
    check_circles(followed, elements)
    couplings = []
    for name, mimic in mimics.items():
        leader = followed[name]
        multiplier, offset = mimic.number("multiplier", 1.0), mimic.number("offset", 0.0)
        if leader not in elements:
            notes.leave(mimic, MISSING_LEADER, missing_leader(name, leader, list(elements), notes))
        elif not kinds[name].nv == kinds[leader].nv == 1:
            which = f"{name} ({kinds[name].name}) of {leader} ({kinds[leader].name})"
            notes.leave(mimic, "<mimic> between joints that have not one degree of freedom each, not used", which)
        else:
            couplings.append(Coupling(name, name, leader, multiplier, offset))
    return tuple(couplings)
