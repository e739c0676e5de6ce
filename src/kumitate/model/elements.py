"""The parts of a mechanism, as frozen data: bodies, joints, loops, couplings, frames."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar

import numpy as np

from ..errors import InputError, ModelError, did_you_mean
from ..scalar.arrays import clip
from ..spatial import Inertia, Symmetric3, Transform, Vector3
from .drives import Drive
from .joints import KINDS, Closure, JointKind
from .shapes import Geometry
from .values import (
    BOUND,
    FINITE,
    MASS,
    MOST,
    NOT_NEGATIVE,
    SCALE,
    checked_name,
    checked_number,
    checked_numbers,
    checked_parts,
    checked_pose,
    shown,
)

Rows3 = tuple[tuple[float, float, float], ...]


@dataclass(frozen=True)
class Body:
    """A rigid body.

    Attributes:
        name: unique among the bodies of a mechanism.
        mass: [kg], zero or more.
        center_of_mass: in the body's frame [m].
        inertia: rotational inertia about the center of mass, in axes parallel to the body's frame [kg·m²]: 3×3 or its diagonal.
        visuals, collisions: the shapes that are drawn, and those used for contact.

    >>> Body("rod", 1.0, (0, 0, 0.5), (1 / 12, 1 / 12, 1e-4)).mass
    1.0
    """

    name: str
    mass: float = 0.0
    center_of_mass: Sequence[float] = (0.0, 0.0, 0.0)
    inertia: Sequence[float] | Sequence[Sequence[float]] = (0.0, 0.0, 0.0)
    visuals: tuple[Geometry, ...] = ()
    collisions: tuple[Geometry, ...] = ()

    def __post_init__(self) -> None:
        owner = f"body {checked_name('a body', self.name)!r}"
        rows = _inertia_rows(owner, self.inertia)
        object.__setattr__(self, "mass", checked_number(owner, "the mass [kg]", self.mass, MASS))
        object.__setattr__(self, "center_of_mass", checked_numbers(owner, "the center_of_mass [m]", self.center_of_mass, 3))
        object.__setattr__(self, "inertia", rows)
        for key in ("visuals", "collisions"):
            object.__setattr__(self, key, checked_parts(owner, key, getattr(self, key), Geometry))

    def spatial_inertia(self) -> Inertia:
        """The body's inertia in its frame."""
        return Inertia.about_center(self.mass, Vector3.of(self.center_of_mass), Symmetric3.of(self.inertia))  # type: ignore[arg-type]


def _inertia_rows(owner: str, given: Any) -> Rows3:
    """The rows of a rotational inertia that is given by them or by its diagonal."""
    try:
        shape = np.shape(given)
    except ValueError:  # rows of different lengths
        shape = ()
    if shape not in ((3,), (3, 3)):
        raise ModelError(
            f"{owner}: the inertia [kg·m²] is {shown(given)}; it must be a 3×3 matrix, or its diagonal of 3. Give one of them"
        )
    if shape == (3,):
        diagonal = checked_numbers(owner, "the diagonal of the inertia [kg·m²]", given, 3)
        rows = tuple(tuple(x if i == k else 0.0 for k in range(3)) for i, x in enumerate(diagonal))
    else:
        rows = tuple(checked_numbers(owner, "a row of the inertia [kg·m²]", row, 3) for row in given)
    _check_inertia(owner, np.array(rows))
    return rows  # type: ignore[return-value]


def _check_inertia(owner: str, rows: np.ndarray) -> None:
    size = float(np.abs(rows).max(initial=0.0))
    if np.abs(rows - rows.T).max() > 1e-9 * size:
        raise ModelError(
            f"{owner}: inertia {rows.tolist()} is not symmetric; give the same product of inertia in row i, "
            "column j and in row j, column i"
        )
    lowest = float(np.linalg.eigvalsh(rows).min())
    if lowest < -1e-9 * size:
        raise ModelError(
            f"{owner}: inertia has the negative principal value {lowest:.6g} kg·m²; zero is allowed (thin rods, points), "
            "less is not. Check signs and the frame that the numbers are given in"
        )
    for axis, value in zip("xyz", rows.diagonal().tolist(), strict=True):
        checked_number(owner, f"the moment of inertia about {axis} [kg·m²]", max(value, 0.0), MASS)


@dataclass(frozen=True)
class Limits:
    """The limits of one degree of freedom; None where there is none. SI units: rad or m, rad/s or m/s, N·m or N.

    Simulations stop joints at `lower` and `upper`, limit their drives to `effort`, and report limits that are exceeded.

    >>> Limits(-1.5, 1.5, effort=40.0).velocity is None
    True
    """

    lower: float | None = None
    upper: float | None = None
    velocity: float | None = None
    effort: float | None = None

    def __post_init__(self) -> None:
        for key in ("lower", "upper", "velocity", "effort"):
            value = getattr(self, key)
            if value is not None:
                rule = BOUND if key in ("lower", "upper") else MOST
                object.__setattr__(self, key, checked_number("limits", f"the limit {key!r}", value, rule))

    @property
    def range(self) -> tuple[float, float]:
        """From `lower` to `upper`, infinite where there is no limit."""
        return (-math.inf if self.lower is None else self.lower, math.inf if self.upper is None else self.upper)


@dataclass(frozen=True)
class Joint:
    """A joint between two bodies of the tree.

    Attributes:
        name: unique among joints and loops.
        kind: a `JointKind`, such as `Helical(pitch)` or `EulerAngles("zxy")`; for kinds without parameters, its name.
        parent, child: names of bodies; the parent may be "world".
        pose: of the joint's frame in the parent; at zero coordinates the child's frame coincides with it.
        axis: of the motion, in the joint's frame (z of the kind); need not be of unit length.
        second_axis: for universal joints, the second axis (y of the kind), at right angles to the first.
        limits: one `Limits` per degree of freedom, or none.
        damping: viscous friction [N·m·s/rad or N·s/m]; `friction`: dry [N·m or N]; `armature`: inertia of the drive
            reflected to the joint [kg·m² or kg]. A number for all degrees of freedom, or one each.
        stiffness: of a spring in the joint [N·m/rad or N/m], for kinds whose coordinates are angles and lengths; `rest`: its
            equilibrium coordinate [rad or m].
        drive: what drives it in simulations, in joints of one degree of freedom; None for a controller's efforts alone.

    >>> Joint("elbow", "revolute", "upper_arm", "forearm", axis=(0, 1, 0), limits=Limits(-2.0, 2.0), damping=0.1).kind.nv
    1
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
    drive: Drive | None = None

    def __post_init__(self) -> None:
        _check_motion("joint", self)


#: The rules for damping and the like.
_PASSIVE = {"damping": NOT_NEGATIVE, "friction": NOT_NEGATIVE, "armature": MASS, "stiffness": NOT_NEGATIVE, "rest": FINITE}


def _check_motion(what: str, item: Joint | Loop) -> None:
    """Checks and normalizes what joints and loops share: kind, axes, limits, passive forces, drive."""
    owner = f"{what} {checked_name(f'a {what}', item.name)!r}"
    kind = _kind(what, owner, item.kind)
    object.__setattr__(item, "kind", kind)
    for key, rule in _PASSIVE.items():
        given = getattr(item, key)
        values = tuple(given) if isinstance(given, Iterable) and not isinstance(given, str) else (given,) * kind.nv
        if len(values) != kind.nv:
            count = f"{len(values)} values of {key} for {kind.nv} degrees of freedom"
            raise ModelError(f"{owner}: {count}; give one each, or one for all")
        object.__setattr__(item, key, checked_numbers(owner, f"the {key}", values, kind.nv, rule))
    if any(item.stiffness) and kind.nq != kind.nv:  # type: ignore[arg-type]
        raise ModelError(
            f"{owner}: stiffness {item.stiffness} needs coordinates that are angles or lengths, which {kind.name} joints do "
            "not have; take spherical_euler or floating_euler, or loops of the kind Line()"
        )
    limits = checked_parts(owner, "limits", item.limits, Limits)
    if limits and len(limits) != kind.nv:
        raise ModelError(f"{owner}: {len(limits)} limits for {kind.nv} degrees of freedom; give one each")
    for limit in limits:
        if limit.lower is not None and limit.upper is not None and limit.lower > limit.upper:
            remedy = "swap the two, or correct a sign"
            raise ModelError(f"{owner}: lower limit {limit.lower} is above the upper limit {limit.upper}; {remedy}")
    for key in ("pose", "pose_a", "pose_b"):
        if hasattr(item, key):
            object.__setattr__(item, key, checked_pose(owner, f"the {key}", getattr(item, key)))
    object.__setattr__(item, "limits", limits or (Limits(),) * kind.nv)
    object.__setattr__(item, "axis", _unit(owner, "axis", item.axis))
    if item.second_axis is not None:
        second = _unit(owner, "second axis", item.second_axis)
        if abs(float(np.dot(second, item.axis))) > 1e-9:
            raise ModelError(
                f"{owner}: its two axes {item.axis} and {second} are not at right angles; write two revolute joints instead"
            )
        object.__setattr__(item, "second_axis", second)
    if item.drive is not None and not isinstance(item.drive, Drive):
        raise ModelError(
            f"{owner}: the drive is {shown(item.drive)}; give a PositionDrive, VelocityDrive, EffortDrive or DCMotor"
        )
    if item.drive is not None and (kind.nq, kind.nv) != (1, 1):
        raise ModelError(
            f"{owner}: a {kind.name} joint has {kind.nv} degrees of freedom, and a drive is of one; drive joints of one, such "
            "as revolute or prismatic, or give efforts by a controller"
        )


def _kind(what: str, owner: str, given: Closure | str) -> Closure:
    """The kind, given as an object or by its name; a loop may be any closure, a joint of the tree must be a `JointKind`."""
    kind = KINDS.get(given) if isinstance(given, str) else given
    if isinstance(kind, Closure if what == "loop" else JointKind):
        return kind
    of_loops = ", RollingDisc(radius), RollingSphere(radius), Distance(length) and Line()" if what == "loop" else ""
    calls = f"Helical(pitch), EulerAngles(axes){of_loops}"
    if isinstance(kind, Closure):
        raise ModelError(
            f"{owner}: a {kind.name} closes loops and carries no body; write it as a Loop, or take a kind of joint: "
            f"{', '.join(sorted(KINDS))}, {calls}"
        )
    raise ModelError(f"{owner}: unknown kind {given!r}; the kinds are {', '.join(sorted(KINDS))}, and {calls}")


def _unit(owner: str, which: str, axis: Sequence[float]) -> tuple[float, float, float]:
    x, y, z = checked_numbers(owner, f"the {which}", axis, 3)
    length = math.hypot(x, y, z)
    if length < 1e-12:
        raise ModelError(f"{owner}: the {which} {(x, y, z)} has no direction; give a vector that is not zero")
    if abs(length - 1.0) < 4e-16:  # of unit length already: dividing again would only change its last bits
        return x, y, z
    return x / length, y / length, z / length


@dataclass(frozen=True)
class Loop:
    """A joint that closes a loop: frame `pose_b` on body `body_b` moves on frame `pose_a` of body `body_a` as the kind allows.

    Attributes:
        name: unique among joints and loops.
        kind: a `JointKind` or its name; `Distance(length)`, a massless rod with a ball at either end; `RollingDisc(radius)`
            and `RollingSphere(radius)`, which roll without slip on the plane z = 0 of `body_a`'s frame; or `Line()`, without
            constraints: with stiffness and damping it is a spring and a damper between two points.
        body_a, body_b: names of bodies; one may be "world". `body_a` corresponds to a joint's parent, `body_b` to its child.
        pose_a, pose_b: of the joint's frames in them; with coinciding frames the loop's coordinates are zero.
        axis, second_axis, limits, damping, friction, armature, stiffness, rest, drive: as in `Joint`. The effort of a line's
            drive is positive where it pushes the ends apart.

    >>> Loop("pin", "revolute", "world", "rod", axis=(0, 1, 0)).kind.nv
    1
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
    drive: Drive | None = None

    def __post_init__(self) -> None:
        _check_motion("loop", self)
        if self.body_a == self.body_b:
            raise ModelError(f"loop {self.name!r} joins {self.body_a!r} to itself; name the two bodies that it holds together")


#: A joint or a loop.
Item = TypeVar("Item", bound=Joint | Loop)


def in_order(items: Iterable[Item]) -> Iterator[tuple[Item, int, int]]:
    """Joints and loops, each with the indices of its first coordinate and of its first velocity among those of all."""
    q = v = 0
    for item in items:
        yield item, q, v
        q, v = q + item.kind.nq, v + item.kind.nv


@dataclass(frozen=True)
class Coupling:
    """A gear, rack or belt between two joints of one degree of freedom: q(joint) = ratio·q(of) + offset.

    Attributes:
        name: unique among couplings; in files without a name it is the joint's.
        joint, of: names of joints of the tree.
        ratio: [1, or m/rad and the like]; `offset`: [rad or m].

    >>> Coupling("gear", joint="output", of="motor", ratio=0.1).offset
    0.0
    """

    name: str
    joint: str
    of: str
    ratio: float = 1.0
    offset: float = 0.0

    def __post_init__(self) -> None:
        owner = f"coupling {checked_name('a coupling', self.name)!r}"
        if self.joint == self.of:
            raise ModelError(f"{owner}: joint {self.joint!r} is coupled to itself; name two joints")
        object.__setattr__(self, "ratio", checked_number(owner, "the ratio", self.ratio, SCALE))
        object.__setattr__(self, "offset", checked_number(owner, "the offset", self.offset))


@dataclass(frozen=True)
class Frame:
    """A named frame fixed on a body.

    >>> from kumitate import pose
    >>> Frame("tool", "hand", pose((0, 0, 0.1))).body
    'hand'
    """

    name: str
    body: str
    pose: Transform = field(default_factory=Transform)

    def __post_init__(self) -> None:
        owner = f"frame {checked_name('a frame', self.name)!r}"
        object.__setattr__(self, "pose", checked_pose(owner, "the pose", self.pose))


#: The name of the state at which simulations begin by default, if a mechanism has one of this name.
INITIAL = "initial"

#: Coordinates or velocities by the names of joints.
ByJoint = tuple[tuple[str, tuple[float, ...]], ...]


@dataclass(frozen=True)
class NamedState:
    """A named state, as the coordinates and velocities of joints.

    Attributes:
        name: unique among the starts of a mechanism.
        q, v: (joint, numbers) of the joints that are not at their neutral coordinates, or not at rest; or a dictionary of them.
    """

    name: str
    q: ByJoint = ()
    v: ByJoint = ()

    def __post_init__(self) -> None:
        owner = f"start {checked_name('a start', self.name)!r}"
        for key in ("q", "v"):
            given: Any = getattr(self, key)
            pairs = given.items() if isinstance(given, Mapping) else given
            try:
                found = tuple((name, tuple(numbers)) for name, numbers in pairs)
            except (TypeError, ValueError):
                raise ModelError(
                    f"{owner}: {key} is {shown(given)}; it must be pairs of a joint and its numbers. Give {{'hinge': (0.1,)}}"
                ) from None
            checked = tuple((n, checked_numbers(owner, f"{key} of joint {n!r}", x, len(x))) for n, x in found)
            object.__setattr__(self, key, checked)

    def check(self, mechanism: str, joints: Mapping[str, Joint]) -> None:
        """Refuses, by a `ModelError`, joints that are not those of the mechanism, and wrong numbers of coordinates."""
        for key, count in (("q", "nq"), ("v", "nv")):
            for name, numbers in getattr(self, key):
                if name not in joints:
                    remedy = did_you_mean(name, joints, f"there are {', '.join(joints) or 'none'}")
                    raise ModelError(f"{mechanism}: start {self.name!r} names the joint {name!r}, which is not there; {remedy}")
                needed = getattr(joints[name].kind, count)
                if len(numbers) != needed:
                    found = f"{len(numbers)} numbers for {key} of joint {name!r}"
                    raise ModelError(f"{mechanism}: start {self.name!r} has {found}; it has {needed}, give these")


def fitting(starts: Iterable[NamedState], joints: Iterable[Joint]) -> tuple[NamedState, ...]:
    """The starts without the joints that are not among these, or have other coordinates now: those of an edited mechanism."""
    kinds = {joint.name: joint.kind for joint in joints}

    def kept(pairs: ByJoint, size: str) -> ByJoint:
        return tuple((name, x) for name, x in pairs if name in kinds and getattr(kinds[name], size) == len(x))

    return tuple(NamedState(start.name, kept(start.q, "nq"), kept(start.v, "nv")) for start in starts)


# --- actuators of robot files in their own order, and the targets of our drives that their controls stand for -------------
class Actuator(NamedTuple):
    """An actuator of a robot file, or of MuJoCo's model.

    Attributes:
        name: its own, or "actuator_2" of the one of number 2, counted from 0.
        joint: that it drives.
        gear: the ratio of its length and the joint's coordinate.
        lower, upper: within which its control is clipped; infinite without a range.
        scale, offset: the drive's target is scale · control + offset.
        fault: why there is no such drive here, or "".
    """

    name: str
    joint: str
    gear: float
    lower: float
    upper: float
    scale: float = 0.0
    offset: float = 0.0
    fault: str = ""


def drive_targets(
    owner: str, source: str, actuators: Sequence[Actuator], driven: Sequence[str], controls: Any, remedy: str
) -> Any:
    """The targets (..., driven) of drives for controls (..., actuators), clipped to their ranges; also while tracing.

    An `InputError` with the remedy, and the `source` that named the actuators, if an actuator has no drive, or a drive none.
    """
    faults = [f"{one.name!r}: {one.fault}" for one in actuators if one.fault]
    joints = [one.joint for one in actuators]
    faults += [f"{name!r} has a drive here that no actuator is" for name in driven if name not in joints]
    if faults or not actuators:
        why = "; ".join(faults) or f"{source} has named no actuators"
        raise InputError(f"{owner}: controls cannot be converted: {why}. {remedy}")
    size = np.shape(controls)[-1:]
    if size != (len(joints),):
        names = ", ".join(one.name for one in actuators)
        raise InputError(f"{owner}: ctrl has shape {np.shape(controls)}; it must be (..., {len(joints)}): {names}")
    at = [joints.index(name) for name in driven]
    lower, upper, scale, offset = np.array([actuators[k][3:7] for k in at]).T
    return clip(np.asarray(controls)[..., at], lower, upper) * scale + offset
