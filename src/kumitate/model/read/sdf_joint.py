"""The joints of an SDF file: their links, frames, kinds and axes.

Couplings between joints of an SDF file: gearboxes, and axes with <mimic>.

A joint of type "gearbox" connects no bodies. By SDF's specification of `<joint>` (`gearbox_ratio`, `gearbox_reference_body`) it
demands θ₂ = −ratio·θ₁, where θ₁ is the angle from the reference body to the parent in the direction of `<axis>`, and θ₂ the
angle from the reference body to the child in the direction of `<axis2>`. Where either angle is that of one joint of the tree,
this is a `Coupling` of the two, with the signs that the joints' own directions give. An axis with a `<mimic>` (since 1.11)
demands position = multiplier·(leader's position − reference) + offset.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ...scalar import floats
from ...spatial import Transform, Vector3
from ..edits import standing
from ..elements import Body, Coupling, Frame, Joint, Limits, Loop
from ..joints import KINDS, Helical, JointKind
from ..mechanism import WORLD, Mechanism
from ..tree.tree import alignment
from .parts import check_circles, leave_leaderless
from .sdf_link import MODEL, Frames, read_bound, read_flag, read_number, read_numbers, read_text
from .xml import Element, Notes

#: Kinds and numbers of axes by SDF's names.
_KINDS = {
    "fixed": ("fixed", 0), "revolute": ("revolute", 1), "continuous": ("revolute", 1), "prismatic": ("prismatic", 1),
    "screw": ("helical", 1), "ball": ("spherical", 0), "universal": ("universal", 2), "revolute2": ("universal", 2),
}  # fmt: skip

#: Below this distance a joint's origin counts as on its axis, or as the link's [m]; far below the precision of files.
_TOUCHING = 1e-12


@dataclass(frozen=True)
class SdfAxis:
    """One axis of motion, in the joint's frame; `mimic`: the element that says which other axis it follows."""

    direction: tuple[float, float, float]
    limits: Limits = field(default_factory=Limits)
    damping: float = 0.0
    friction: float = 0.0
    stiffness: float = 0.0
    rest: float = 0.0
    mimic: Element | None = None

    def along(self, direction: Vector3) -> SdfAxis:
        """The same axis in another direction."""
        x, y, z = floats(direction)
        return replace(self, direction=(x, y, z))


@dataclass(frozen=True)
class SdfJoint:
    """A joint of the file; `parent` and `child` are keys of links, `key` is that of the joint and of its frame.

    `scope` is that of its names; `pitch`, for screws, is the displacement along the axis per turn [m].
    """

    key: str
    scope: str
    element: Element
    kind: str
    parent: str
    child: str
    axes: tuple[SdfAxis, ...]
    pitch: float = 0.0

    def backward(self) -> SdfJoint:
        """The joint with parent and child swapped; its coordinates keep their signs (except those of ball joints)."""
        axes = tuple(axis.along(-Vector3(*axis.direction)) for axis in reversed(self.axes))
        return replace(self, parent=self.child, child=self.parent, axes=axes)

    def joined(self, frames: Frames, name: str) -> tuple[list[Body], list[Joint]]:
        """The joints of the tree, and the massless bodies between them, of which the first has the name `name`.

        A child's frame must coincide with its joint's. Where they differ in the file, a massless body is the joint's child, and
        the link is fixed to it: so every link keeps its frame, and the joint's own frame has a name too.
        """
        X_PC, X_CJ = frames.relative(self.child, self.parent, self.element), frames.relative(self.key, self.child, self.element)
        bodies: list[Body] = []
        child, axes, where = self.child, self._turned(X_CJ), X_PC
        if self._apart(X_CJ):
            bodies.append(Body(name))
            child, axes, where = name, self.axes, frames.relative(self.key, self.parent, self.element)
        if len(axes) == 2 and not _square(axes):
            bodies.append(Body(middle := f"{name}_between"))
            joints = [self._joint(self.key, "revolute", self.parent, middle, where, axes[:1])]
            joints.append(self._joint(f"{self.key}_2", "revolute", middle, child, Transform(), axes[1:]))
        else:
            joints = [self._joint(self.key, self.kind, self.parent, child, where, axes)]
        if child != self.child:
            joints.append(Joint(f"{name}_to_{self.child}", KINDS["fixed"], child, self.child, X_CJ.inverse().dense()))
        return bodies, joints

    def frame(self, frames: Frames) -> tuple[Frame, ...]:
        """The joint's own frame, on its child, if it differs from the child's."""
        X_CJ = frames.relative(self.key, self.child, self.element)
        return () if X_CJ.almost_equal(Transform(), 0.0) else (Frame(self.key, self.child, X_CJ),)

    def loop(self, frames: Frames) -> Loop:
        """The loop that this joint closes: the frame of the joint, on its parent and on its child."""
        X_AJ, X_BJ = (frames.relative(self.key, body, self.element) for body in (self.parent, self.child))
        axis = self.axes[0].direction if self.axes else (0.0, 0.0, 1.0)
        if len(self.axes) == 2:
            if not _square(self.axes):
                raise self.element.error(
                    f"joint {self.key!r} closes a loop, and its two axes are not at right angles; make them so"
                )
            turn = Transform(alignment(_unit(axis), _unit(self.axes[1].direction)))  # axes of the kind itself: z, then y
            X_AJ, X_BJ, axis = (X_AJ @ turn).dense(), (X_BJ @ turn).dense(), (0.0, 0.0, 1.0)
        with self.element.located():
            return Loop(self.key, self._closure(self.kind), self.parent, self.child, X_AJ, X_BJ, axis, **_passive(self.axes))

    def _joint(self, name: str, kind: str, parent: str, child: str, where: Transform, axes: tuple[SdfAxis, ...]) -> Joint:
        first = axes[0].direction if axes else (0.0, 0.0, 1.0)
        second = axes[1].direction if len(axes) == 2 else None
        with self.element.located():
            return Joint(name, self._closure(kind), parent, child, where, first, second, **_passive(axes))

    def _closure(self, kind: str) -> JointKind:
        return Helical(self.pitch) if kind == Helical.name else KINDS[kind]

    def _turned(self, X: Transform) -> tuple[SdfAxis, ...]:
        """The axes in the frame in which the joint's frame has the pose X."""
        return tuple(axis.along(X.rotation.rotate(Vector3(*axis.direction))) for axis in self.axes)

    def _apart(self, X_CJ: Transform) -> bool:
        """Whether the child's origin differs from the joint's in a way that affects the motion."""
        if self.kind in ("fixed", "prismatic"):
            return False
        offset = np.array(list(X_CJ.translation))
        if self.kind in ("revolute", "helical"):
            axis = np.array(_unit(self._turned(X_CJ)[0].direction))
            offset -= axis * (axis @ offset)
        return bool(np.linalg.norm(offset) > _TOUCHING)


def read_joint(element: Element, key: str, scope: str, frames: Frames, notes: Notes) -> SdfJoint:
    """A joint of a model; `key` and `scope` as in `Frames`."""
    kind = element.need("type")
    if kind not in _KINDS:
        known = ", ".join([*_KINDS, "gearbox"])
        raise element.error(f"joint {key!r} has the type {kind!r}, which cannot be read; the types are {known}")
    ours, count = _KINDS[kind]
    ends = [read_end(element, role, key, scope, frames) for role in ("parent", "child")]
    if ends[0] == ends[1]:
        raise element.error(f"joint {key!r} joins {ends[0]!r} to itself; name two links")
    parts = [element.child(tag) for tag in ("axis", "axis2")[:count]]
    axes = tuple(_axis(part, index, element, key, scope, frames) for index, part in enumerate(parts))
    if kind == "continuous":
        if any(axis.limits.lower is not None or axis.limits.upper is not None for axis in axes):
            notes.add("<lower> and <upper> of continuous joints, which turn without end, not used", key, element.line)
        axes = tuple(replace(axis, limits=replace(axis.limits, lower=None, upper=None)) for axis in axes)
    return SdfJoint(key, scope, element, ours, ends[0], ends[1], axes, _pitch(element) if kind == "screw" else 0.0)


def read_end(element: Element, role: str, key: str, scope: str, frames: Frames) -> str:
    """The key of the link that a child element of a joint names, directly or by a frame on it."""
    part = element.need_child(role)
    if not part.text.strip():
        raise part.error(f"joint {key!r} has an empty <{role}>; name a link, or 'world'")
    return frames.carrier(frames.key(scope, part.text.strip()), part)


def _pitch(element: Element) -> float:
    """The pitch of a screw [m per turn, right-handed]; before 1.10 it was angle per displacement, left-handed [rad/m]."""
    old = element.child("thread_pitch")
    if old is None or element.has("screw_thread_pitch"):
        return read_number(element, "screw_thread_pitch", 1.0)
    ratio = read_numbers(old, 1)[0]
    if ratio == 0.0:
        raise old.error(
            "<thread_pitch> 0 is the pitch of no screw; give the angle that goes with one metre, or a prismatic joint"
        )
    return -math.tau / ratio


def _axis(part: Element | None, index: int, joint: Element, key: str, scope: str, frames: Frames) -> SdfAxis:
    if part is None:
        if index == 1:
            raise joint.error(f"joint {key!r} has no <axis2>; add it")
        return SdfAxis((0.0, 0.0, 1.0))
    direction = read_direction(part, key, scope, frames)
    mimic = part.child("mimic")
    limit, dynamics = part.child("limit"), part.child("dynamics")
    lower, upper, effort, velocity = (read_bound(limit, tag) for tag in ("lower", "upper", "effort", "velocity"))
    if lower is not None and upper is not None and lower > upper:
        assert limit is not None
        raise limit.error(f"joint {key!r}: <lower> {lower:g} is above <upper> {upper:g}; swap the two, or correct a sign")
    # negative ones are SDF's word for "not limited"
    effort, velocity = (value if value is not None and value >= 0.0 else None for value in (effort, velocity))
    limits = Limits(lower, upper, velocity, effort)
    if dynamics is None:
        return SdfAxis(direction, limits, mimic=mimic)
    passive = {tag: read_number(dynamics, tag, 0.0) for tag in ("damping", "friction", "spring_stiffness")}
    for tag, value in passive.items():
        if value < 0.0:
            said = f"joint {key!r}: <{tag}> {value:g} is negative and would drive the joint; give zero or more"
            raise dynamics.need_child(tag).error(said)
    damping, friction, stiffness = passive.values()
    return SdfAxis(direction, limits, damping, friction, stiffness, read_number(dynamics, "spring_reference", 0.0), mimic)


def read_direction(part: Element | None, key: str, scope: str, frames: Frames) -> tuple[float, float, float]:
    """The direction of an axis of a joint, in the joint's frame; z where the axis is not given."""
    if part is None:
        return 0.0, 0.0, 1.0
    xyz = part.child("xyz")
    x, y, z = (0.0, 0.0, 1.0) if xyz is None else read_numbers(xyz, 3)
    if x == y == z == 0.0:
        rule = "the axis (0, 0, 0) has no direction; give a vector that is not zero, such as 0 0 1"
        raise (xyz or part).error(f"joint {key!r}: {rule}")
    named = None if xyz is None else xyz.get("expressed_in") or None
    # up to SDF 1.4 axes were given in the model; then on demand; since 1.7 in any frame that is named
    if named is None and read_flag(part, "use_parent_model_frame", default=frames.version <= (1, 4)):
        named = MODEL
    if not named:
        return x, y, z
    X = frames.relative(frames.key(scope, named), key, part)
    return tuple(X.rotation.rotate(Vector3(x, y, z)))  # type: ignore[return-value]


def _square(axes: tuple[SdfAxis, ...]) -> bool:
    """Whether two axes are at right angles."""
    return abs(float(np.dot(_unit(axes[0].direction), _unit(axes[1].direction)))) < 1e-9


def _unit(direction: tuple[float, ...]) -> tuple[float, ...]:
    return tuple(np.array(direction) / np.linalg.norm(direction))


def _passive(axes: tuple[SdfAxis, ...]) -> dict[str, Any]:
    """Limits, damping and friction, one per degree of freedom, as arguments of joints and loops."""
    keys = ("limits", "damping", "friction", "stiffness", "rest") if axes else ()
    return {key: tuple(getattr(axis, key) for axis in axes) for key in keys}


#: The type of joints that couple two rotations instead of connecting bodies.
GEARBOX = "gearbox"

#: Axes are parallel if the cosine of the angle between them is nearer to one than this.
_PARALLEL = 1e-6


def read_couplings(
    mechanism: Mechanism, specs: Sequence[SdfJoint], gearboxes: Mapping[str, tuple[Element, str]], frames: Frames, notes: Notes
) -> tuple[Coupling, ...]:
    """The couplings of a file with these joints and gearboxes, which are given by key with their scopes."""
    couplings = _mimics(mechanism, specs, frames, notes)
    follows = {coupling.joint for coupling in couplings}
    for key, (element, scope) in gearboxes.items():
        found = _coupling(element, key, scope, frames, mechanism, follows)
        if isinstance(found, str):
            remark = f"<joint> of type {GEARBOX}, which {found}: not simulated, the turns that it ties together are independent"
            notes.leave(element, remark, key)
        else:
            follows.add(found.joint)
            couplings.append(found)
    return tuple(couplings)


# --- gearboxes --------------------------------------------------------------------------------------------------------------
def _coupling(
    element: Element, key: str, scope: str, frames: Frames, mechanism: Mechanism, follows: set[str]
) -> Coupling | str:
    """The coupling of a gearbox, or the reason why it is not one; `follows`: joints that follow others already."""
    if read_text(element, "gearbox_reference_body") is None:
        return "names no <gearbox_reference_body>"
    reference, *bodies = (read_end(element, tag, key, scope, frames) for tag in ("gearbox_reference_body", "parent", "child"))
    X, ratio = frames.relative(key, WORLD, element), read_number(element, "gearbox_ratio", 1.0)
    turns = []
    for body, tag in zip(bodies, ("axis", "axis2"), strict=True):
        axis = read_direction(element.child(tag), key, scope, frames)
        direction = np.array(list(X.rotation.rotate(Vector3(*axis)))) / np.linalg.norm(axis)
        turn = _turn(mechanism, reference, body, direction)
        if isinstance(turn, str):
            return turn
        turns.append(turn)
    (first, one), (second, two) = turns
    if first == second:
        return f"ties joint {first!r} to itself"
    ratio *= -one * two  # two·q₂ = −ratio·one·q₁
    if second not in follows:
        return Coupling(key, second, first, ratio)
    if first not in follows and ratio != 0.0:
        return Coupling(key, first, second, 1.0 / ratio)
    return f"ties the joints {first!r} and {second!r}, which follow others already"


def _turn(mechanism: Mechanism, reference: str, body: str, direction: np.ndarray) -> tuple[str, float] | str:
    """The joint whose coordinate is the angle from the reference body to a body, and its sign; or the reason for none."""
    whole = {WORLD: WORLD}  # by body, the innermost of those that are fixed to it
    for joint in mechanism.joints:  # parents before children
        whole[joint.child] = joint.child if joint.kind.nv else whole[joint.parent]
    if whole[reference] == whole[body]:
        return f"has {body!r} fixed on its reference body {reference!r}"
    between = [
        j for j in mechanism.joints if j.kind.nv and {whole[j.parent], whole[j.child]} == {whole[reference], whole[body]}
    ]
    if not between or between[0].kind.name != "revolute":
        return f"is between {reference!r} and {body!r}, which no revolute joint of the tree joins directly"
    joint = between[0]
    X_WJ = standing(mechanism)[joint.parent] @ joint.pose
    cosine = float(direction @ floats(X_WJ.rotation.rotate(Vector3(*joint.axis))))
    if abs(cosine) < 1.0 - _PARALLEL:
        return f"counts the angle about another axis than that of joint {joint.name!r}"
    outward = 1.0 if whole[joint.parent] == whole[reference] else -1.0
    return joint.name, float(np.sign(cosine)) * outward


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
            leave_leaderless(mimic, spec.key, leader, list(elements), notes)
        elif name is None or of is None:
            remark = "<mimic> between joints that have not one degree of freedom each in the tree, not used"
            notes.leave(mimic, remark, f"{spec.key} of {leader}")
        else:
            owners[name] = spec.element
            relations.append((name, of, multiplier, offset - multiplier * reference))
    check_circles({name: of for name, of, *_ in relations}, owners)
    return [Coupling(relation[0], *relation) for relation in relations]


def _name(joints: Mapping[str, Joint], key: str, index: int) -> str | None:
    """The joint of one degree of freedom made from an axis of a joint in the file; a second axis may be a separate joint."""
    name = key if index == 0 else f"{key}_2"
    return name if name in joints and joints[name].kind.nv == 1 else None
