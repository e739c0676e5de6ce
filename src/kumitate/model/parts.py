"""The parts of a mechanism, as frozen data: bodies, joints, loops, couplings, frames."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..errors import ModelError
from ..spatial import Inertia, Symmetric3, Transform, Vector3
from .geometry import Geometry
from .joints import KINDS, Closure, JointKind

__all__ = ["Body", "Coupling", "Frame", "Joint", "Limits", "Loop"]

Rows3 = tuple[tuple[float, float, float], ...]


@dataclass(frozen=True)
class Body:
    """A rigid body.

    Attributes:
        name: unique among the bodies of a mechanism.
        mass: [kg], zero or more.
        center_of_mass: in the body's frame [m].
        inertia: rotational inertia about the mass centre, in axes parallel to the body's frame [kg·m²]: 3×3, or its diagonal.
        visuals, collisions: what the body is drawn with, and touches with.
    """

    name: str
    mass: float = 0.0
    center_of_mass: Sequence[float] = (0.0, 0.0, 0.0)
    inertia: Sequence[float] | Sequence[Sequence[float]] = (0.0, 0.0, 0.0)
    visuals: tuple[Geometry, ...] = ()
    collisions: tuple[Geometry, ...] = ()

    def __post_init__(self) -> None:
        rows = np.asarray(self.inertia, dtype=float)
        rows = np.diag(rows) if rows.shape == (3,) else rows
        center = tuple(float(x) for x in self.center_of_mass)
        if rows.shape != (3, 3) or len(center) != 3:
            raise ModelError(
                f"body {self.name!r}: inertia has shape {rows.shape} and center_of_mass {len(center)} numbers; "
                "give a 3×3 matrix (or its diagonal of 3) and 3 numbers"
            )
        _check_mass(self.name, self.mass, center, rows)
        object.__setattr__(self, "mass", float(self.mass))
        object.__setattr__(self, "center_of_mass", center)
        object.__setattr__(self, "inertia", tuple(tuple(float(x) for x in row) for row in rows))

    def spatial_inertia(self) -> Inertia:
        """The body's inertia in its frame."""
        return Inertia.about_center(self.mass, Vector3.of(self.center_of_mass), Symmetric3.of(self.inertia))  # type: ignore[arg-type]


def _check_mass(name: str, mass: float, center: Sequence[float], rows: np.ndarray) -> None:
    if not (np.isfinite(mass) and np.isfinite(center).all() and np.isfinite(rows).all()):
        raise ModelError(
            f"body {name!r}: mass {mass}, center_of_mass {center} or inertia {rows.tolist()} is not finite; give finite numbers"
        )
    if mass < 0.0:
        raise ModelError(f"body {name!r}: mass {mass} kg is negative; it must be zero or more")
    size = float(np.abs(rows).max(initial=0.0))
    if np.abs(rows - rows.T).max() > 1e-9 * size:
        raise ModelError(
            f"body {name!r}: inertia {rows.tolist()} is not symmetric; give the same product of inertia in row i, "
            "column j and in row j, column i"
        )
    lowest = float(np.linalg.eigvalsh(rows).min())
    if lowest < -1e-9 * size:
        raise ModelError(
            f"body {name!r}: inertia has the negative principal value {lowest:.6g} kg·m²; zero is allowed (thin rods, points), "
            "less is not. Check signs and the frame that the numbers are given in"
        )


@dataclass(frozen=True)
class Limits:
    """What one degree of freedom is made for; None where nothing is said. SI units: rad or m, rad/s or m/s, N·m or N.

    A simulation reports where limits are passed; it does not stop the motion there.
    """

    lower: float | None = None
    upper: float | None = None
    velocity: float | None = None
    effort: float | None = None


@dataclass(frozen=True)
class Joint:
    """A joint between two bodies of the tree.

    Attributes:
        name: unique among joints and loops.
        kind: a `JointKind`, such as `Helical(pitch)` or `EulerAngles("zxy")`; for those without parameters its name will do.
        parent, child: names of bodies; the parent may be "world".
        pose: of the joint's frame in the parent; at zero coordinates the child's frame coincides with it.
        axis: of the motion, in the joint's frame (z of the kind); need not be of unit length.
        second_axis: for universal joints, the axis of the second turn (y of the kind), at right angles to the first.
        limits: one `Limits` a degree of freedom, or none.
        damping: viscous friction [N·m·s/rad or N·s/m]; `friction`: dry [N·m or N]; `armature`: inertia of the drive as felt at
            the joint [kg·m² or kg]. A number for all degrees of freedom, or one each.
        stiffness: of a spring in the joint [N·m/rad or N/m], for kinds whose coordinates are angles and lengths; `rest`: the
            coordinate at which it is at ease [rad or m].
    """

    name: str
    kind: JointKind
    parent: str
    child: str
    pose: Transform = field(default_factory=Transform)
    axis: Sequence[float] = (0.0, 0.0, 1.0)
    second_axis: Sequence[float] | None = None
    limits: tuple[Limits, ...] = ()
    damping: float | Sequence[float] = 0.0
    friction: float | Sequence[float] = 0.0
    armature: float | Sequence[float] = 0.0
    stiffness: float | Sequence[float] = 0.0
    rest: float | Sequence[float] = 0.0

    def __post_init__(self) -> None:
        _check_motion("joint", self)


def _check_motion(what: str, item: Joint | Loop) -> None:
    """Brings what joints and loops share into its one form: kind, axes, limits, passive forces."""
    owner = f"{what} {item.name!r}"
    kind = _kind(what, owner, item.kind)
    object.__setattr__(item, "kind", kind)
    for key in ("damping", "friction", "armature", "stiffness", "rest"):
        values = _per_freedom(owner, key, getattr(item, key), kind.nv)
        if key != "rest" and any(x < 0.0 for x in values):
            raise ModelError(f"{owner}: {key} {values} must not be negative; give zero or more")
        object.__setattr__(item, key, values)
    if any(item.stiffness) and kind.nq != kind.nv:  # type: ignore[arg-type]
        raise ModelError(
            f"{owner}: stiffness {item.stiffness} needs coordinates that are angles or lengths, which {kind.name} joints do "
            "not have; take spherical_euler or floating_euler, or loops of the kind Line()"
        )
    limits = (item.limits,) if isinstance(item.limits, Limits) else tuple(item.limits)
    if limits and len(limits) != kind.nv:
        raise ModelError(f"{owner}: {len(limits)} limits for {kind.nv} degrees of freedom; give one each")
    for limit in limits:
        if limit.lower is not None and limit.upper is not None and limit.lower > limit.upper:
            raise ModelError(
                f"{owner}: lower limit {limit.lower} is above the upper limit {limit.upper}; swap the two, or correct a sign"
            )
    object.__setattr__(item, "limits", limits or (Limits(),) * kind.nv)
    object.__setattr__(item, "axis", _unit(owner, "axis", item.axis))
    if item.second_axis is not None:
        second = _unit(owner, "second axis", item.second_axis)
        if abs(float(np.dot(second, item.axis))) > 1e-9:
            raise ModelError(
                f"{owner}: its two axes {item.axis} and {second} are not at right angles; write two revolute joints instead"
            )
        object.__setattr__(item, "second_axis", second)


def _per_freedom(owner: str, key: str, value: Any, nv: int) -> tuple[float, ...]:
    values = (float(value),) * nv if np.ndim(value) == 0 else tuple(float(x) for x in value)
    if len(values) != nv:
        raise ModelError(f"{owner}: {len(values)} values of {key} for {nv} degrees of freedom; give one each, or one for all")
    if not all(np.isfinite(x) for x in values):
        raise ModelError(f"{owner}: {key} {values} must be finite; leave out what is not known")
    return values


def _kind(what: str, owner: str, given: Closure | str) -> Closure:
    """The kind that is given, by itself or by its name; loops may be of any closure, joints of the tree are joints."""
    kind = KINDS.get(given) if isinstance(given, str) else given
    if isinstance(kind, Closure if what == "loop" else JointKind):
        return kind
    calls = "Helical(pitch), EulerAngles(axes)" + (", Distance(length) and Line()" if what == "loop" else "")
    if isinstance(kind, Closure):
        raise ModelError(
            f"{owner}: a {kind.name} closes loops and carries no body; write it as a Loop, or take a kind of joint: "
            f"{', '.join(sorted(KINDS))}, {calls}"
        )
    raise ModelError(f"{owner}: unknown kind {given!r}; the kinds are {', '.join(sorted(KINDS))}, and {calls}")


def _unit(owner: str, which: str, axis: Sequence[float]) -> tuple[float, float, float]:
    x, y, z = (float(part) for part in axis)
    length = float(np.linalg.norm((x, y, z)))
    if not np.isfinite(length) or length < 1e-12:
        raise ModelError(f"{owner}: the {which} {(x, y, z)} has no direction; give a vector that is not zero")
    if abs(length - 1.0) < 4e-16:  # of unit length already: dividing again would only stir its last bits
        return x, y, z
    return x / length, y / length, z / length


@dataclass(frozen=True)
class Loop:
    """A joint that closes a loop: frame `pose_b` on body `body_b` moves on frame `pose_a` of body `body_a` as the kind allows.

    Attributes:
        name: unique among joints and loops.
        kind: a `JointKind` or its name; `Distance(length)`, a massless rod with a ball at either end; or `Line()`, which holds
            nothing: with stiffness and damping it is a spring and a damper between two points.
        body_a, body_b: names of bodies; one may be "world". `body_a` has the part of a joint's parent, `body_b` of its child.
        pose_a, pose_b: of the joint's frames in them; with coinciding frames the loop's coordinates are zero.
        axis, second_axis, limits, damping, friction, armature, stiffness, rest: as of a `Joint`.
    """

    name: str
    kind: Closure
    body_a: str
    body_b: str
    pose_a: Transform = field(default_factory=Transform)
    pose_b: Transform = field(default_factory=Transform)
    axis: Sequence[float] = (0.0, 0.0, 1.0)
    second_axis: Sequence[float] | None = None
    limits: tuple[Limits, ...] = ()
    damping: float | Sequence[float] = 0.0
    friction: float | Sequence[float] = 0.0
    armature: float | Sequence[float] = 0.0
    stiffness: float | Sequence[float] = 0.0
    rest: float | Sequence[float] = 0.0

    def __post_init__(self) -> None:
        _check_motion("loop", self)
        if self.body_a == self.body_b:
            raise ModelError(f"loop {self.name!r} joins {self.body_a!r} to itself; name the two bodies that it holds together")


@dataclass(frozen=True)
class Coupling:
    """A gear, rack or belt between two joints of one degree of freedom: q(joint) = ratio·q(of) + offset.

    Attributes:
        name: unique among couplings; files that name none call it by its joint.
        joint, of: names of joints of the tree.
        ratio: [1, or m/rad and the like]; `offset`: [rad or m].
    """

    name: str
    joint: str
    of: str
    ratio: float = 1.0
    offset: float = 0.0

    def __post_init__(self) -> None:
        if self.joint == self.of:
            raise ModelError(f"coupling {self.name!r}: joint {self.joint!r} is coupled to itself; name two joints")
        if not (np.isfinite(self.ratio) and np.isfinite(self.offset)):
            raise ModelError(
                f"coupling {self.name!r}: ratio {self.ratio} and offset {self.offset} must be finite; give finite numbers"
            )


@dataclass(frozen=True)
class Frame:
    """A named frame fixed on a body."""

    name: str
    body: str
    pose: Transform = field(default_factory=Transform)
