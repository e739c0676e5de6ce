"""The joints of an SDF file: their links, frames, kinds and axes."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ...scalar import floats
from ...spatial import Transform, Vector3
from ..elements import Body, Frame, Joint, Limits, Loop
from ..joints import KINDS, Helical, JointKind
from ..tree.tree import alignment
from .notes import Notes
from .sdf_frames import MODEL, Frames
from .sdf_values import read_bound, read_flag, read_number, read_numbers
from .xml import Element

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
        joints: list[Joint] = []
        child, axes, where = self.child, self._turned(X_CJ), X_PC
        if self._apart(X_CJ):
            bodies.append(Body(name))
            child, axes, where = name, self.axes, frames.relative(self.key, self.parent, self.element)
        if len(axes) == 2 and not _square(axes):
            middle = f"{name}_between"
            bodies.append(Body(middle))
            joints.append(self._joint(self.key, "revolute", self.parent, middle, where, axes[:1]))
            joints.append(self._joint(f"{self.key}_2", "revolute", middle, child, Transform(), axes[1:]))
        else:
            joints.append(self._joint(self.key, self.kind, self.parent, child, where, axes))
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


def read_joint(element: Element, key: str, scope: str, frames: Frames, version: tuple[int, ...], notes: Notes) -> SdfJoint:
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
    axes = tuple(_axis(part, index, element, key, scope, frames, version, notes) for index, part in enumerate(parts))
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


def _axis(
    part: Element | None,
    index: int,
    joint: Element,
    key: str,
    scope: str,
    frames: Frames,
    version: tuple[int, ...],
    notes: Notes,
) -> SdfAxis:
    if part is None:
        if index == 1:
            raise joint.error(f"joint {key!r} has no <axis2>; add it")
        return SdfAxis((0.0, 0.0, 1.0))
    direction = read_direction(part, key, scope, frames, version)
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
    damping, friction, stiffness = (read_number(dynamics, tag, 0.0) for tag in ("damping", "friction", "spring_stiffness"))
    for tag, value in (("damping", damping), ("friction", friction), ("spring_stiffness", stiffness)):
        if value < 0.0:
            said = f"joint {key!r}: <{tag}> {value:g} is negative and would drive the joint; give zero or more"
            raise dynamics.need_child(tag).error(said)
    rest = read_number(dynamics, "spring_reference", 0.0)
    return SdfAxis(direction, limits, damping, friction, stiffness, rest, mimic)


def read_direction(
    part: Element | None, key: str, scope: str, frames: Frames, version: tuple[int, ...]
) -> tuple[float, float, float]:
    """The direction of an axis of a joint, in the joint's frame; z where the axis is not given."""
    if part is None:
        return 0.0, 0.0, 1.0
    xyz = part.child("xyz")
    x, y, z = (0.0, 0.0, 1.0) if xyz is None else read_numbers(xyz, 3)
    if x == y == z == 0.0:
        raise (xyz or part).error(
            f"joint {key!r}: the axis (0, 0, 0) has no direction; give a vector that is not zero, such as 0 0 1"
        )
    named = None if xyz is None else xyz.get("expressed_in") or None
    # up to SDF 1.4 axes were given in the model; then on demand; since 1.7 in any frame that is named
    if named is None and read_flag(part, "use_parent_model_frame", default=version <= (1, 4)):
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
    return {
        "limits": tuple(axis.limits for axis in axes),
        "damping": tuple(axis.damping for axis in axes) or 0.0,
        "friction": tuple(axis.friction for axis in axes) or 0.0,
        "stiffness": tuple(axis.stiffness for axis in axes) or 0.0,
        "rest": tuple(axis.rest for axis in axes) or 0.0,
    }
