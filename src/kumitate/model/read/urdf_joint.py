"""The joints of a URDF: how they move, how far, and against what friction; which ones follow others."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches

from ...errors import ModelError
from ..joints import KINDS
from ..parts import Joint, Limits
from .notes import Notes
from .urdf_link import read_origin
from .xml import Element

__all__ = ["leave_mimics", "read_axis", "read_friction", "read_joint", "read_limits"]

#: Kinds by URDF's names for them.
_KINDS = {
    "fixed": "fixed", "revolute": "revolute", "continuous": "revolute", "prismatic": "prismatic", "planar": "planar",
    "floating": "floating",
}  # fmt: skip


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
    if kind == "floating":
        _leave(element, "axis", "of floating joints, which have none", name, notes)
    else:
        direction = read_axis(element, f"joint {name!r}")
    damping, friction = read_friction(element, f"joint {name!r}")
    place, limits = read_origin(element), read_limits(element, name, kind, notes)
    try:
        return Joint(
            name, KINDS[_KINDS[kind]], parent, child, place, direction, limits=limits, damping=damping, friction=friction
        )
    except ModelError as error:
        raise element.error(str(error)) from None


def read_axis(element: Element, owner: str) -> tuple[float, ...]:
    """The direction of a joint's axis, not of unit length yet; x where there is no <axis>."""
    axis = element.child("axis")
    if axis is None:
        return 1.0, 0.0, 0.0
    direction = axis.numbers("xyz", 3, (1.0, 0.0, 0.0))
    if not any(direction):
        raise axis.error(
            f'{owner}: <axis> xyz="{axis.get("xyz")}" has no direction; give a vector that is not zero, such as "0 0 1"'
        )
    return direction


def read_friction(element: Element, owner: str) -> tuple[float, float]:
    """Viscous and dry friction of a joint's <dynamics>, zero where it says nothing."""
    dynamics = element.child("dynamics")
    if dynamics is None:
        return 0.0, 0.0
    damping, friction = (dynamics.number(key, 0.0) for key in ("damping", "friction"))
    for key, value in (("damping", damping), ("friction", friction)):
        if value < 0.0:
            raise dynamics.error(
                f'{owner}: <dynamics> {key}="{dynamics.get(key)}" is negative and would drive the joint; give zero or more'
            )
    return damping, friction


def read_limits(element: Element, name: str, kind: str, notes: Notes) -> tuple[Limits, ...]:
    """The limits of a joint of one degree of freedom; of others none, which is told of."""
    limit = element.child("limit")
    if limit is None:
        if kind in ("revolute", "prismatic"):
            notes.add(f"{kind} joints without <limit>, read as unlimited", name, element.line)
        return ()
    if kind not in ("revolute", "prismatic", "continuous"):
        notes.leave(limit, "<limit> of joints with several degrees of freedom, not used", name)
        return ()
    lower, upper, velocity, effort = (limit.bound(key) for key in ("lower", "upper", "velocity", "effort"))
    if kind == "continuous":
        if lower or upper:
            notes.add("lower and upper of the <limit> of continuous joints, which turn without end, not used", name, limit.line)
        return (Limits(None, None, velocity, effort),)
    # URDF's default for either bound is 0; an infinite one was said, so it is not the default
    lower, upper = (0.0 if not limit.get(key) else value for key, value in (("lower", lower), ("upper", upper)))
    if lower is not None and upper is not None and lower > upper:
        raise limit.error(
            f"joint {name!r}: the lower limit {lower:g} is above the upper limit {upper:g}; swap the two, or correct a sign"
        )
    return (Limits(lower, upper, velocity, effort),)


def _leave_of_fixed(element: Element, tag: str, name: str, notes: Notes) -> None:
    """Tells of what a fixed joint has no use for, unless it says nothing: an axis (0, 0, 0), limits of 0."""
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


def leave_mimics(joints: Mapping[str, Element], notes: Notes) -> None:
    """Tells which joints are said to follow others; refuses those that would follow themselves in the end."""
    followed: dict[str, str] = {}
    for name, joint in joints.items():
        mimic = joint.child("mimic")
        if mimic is None:
            continue
        followed[name] = mimic.need("joint")
        for key, default in (("multiplier", 1.0), ("offset", 0.0)):
            mimic.number(key, default)
        if followed[name] in joints:
            notes.leave(mimic, "<mimic> is not simulated; these joints move independently", name)
        else:
            near = get_close_matches(followed[name], joints, 1)
            which = f"{name!r} of {followed[name]!r}" + (f", not {near[0]!r}?," if near else "")
            notes.leave(mimic, "<mimic> of joints that the file does not have; these joints move independently", which)
    for name in followed:
        chain = [name]
        while chain[-1] in followed:
            chain.append(followed[chain[-1]])
            if chain[-1] == name:
                raise joints[name].error(
                    f"joint {name!r} mimics itself ({' → '.join(chain)}); let one of these joints move by itself"
                )
            if len(chain) > len(followed) + 1:  # a circle further on, told of at one of its own joints
                break
