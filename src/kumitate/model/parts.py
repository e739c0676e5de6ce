"""The parts of a mechanism, as frozen data: bodies, joints, loops, frames."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from ..errors import ModelError
from ..spatial import Inertia, Symmetric3, Transform, Vector3
from .geometry import Geometry
from .joints import KINDS, JointKind

__all__ = ["Body", "Frame", "Joint", "Limits", "Loop"]

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
        raise ModelError(f"body {name!r}: mass {mass}, center_of_mass {center} or inertia {rows.tolist()} is not finite")
    if mass < 0.0:
        raise ModelError(f"body {name!r}: mass {mass} kg is negative; it must be zero or more")
    size = float(np.abs(rows).max(initial=0.0))
    if np.abs(rows - rows.T).max() > 1e-9 * size:
        raise ModelError(f"body {name!r}: inertia {rows.tolist()} is not symmetric")
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
        kind: a `JointKind`; its name will do, and is turned into the kind.
        parent, child: names of bodies; the parent may be "world".
        pose: of the joint's frame in the parent; at zero coordinates the child's frame coincides with it.
        axis: of the motion, in the joint's frame (z of the kind); need not be of unit length.
        second_axis: for universal joints, the axis of the second turn (y of the kind), at right angles to the first.
        limits: one `Limits` a degree of freedom, or none.
        damping: viscous friction [N·m·s/rad or N·s/m]; `friction`: dry [N·m or N]; `armature`: inertia of the drive as felt at
            the joint [kg·m² or kg]. A number for all degrees of freedom, or one each.
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

    def __post_init__(self) -> None:
        kind = _kind(f"joint {self.name!r}", self.kind)
        object.__setattr__(self, "kind", kind)
        for key in ("damping", "friction", "armature"):
            object.__setattr__(self, key, self._per_freedom(key, kind.nv))
        limits = (self.limits,) if isinstance(self.limits, Limits) else tuple(self.limits)
        if limits and len(limits) != kind.nv:
            raise ModelError(f"joint {self.name!r}: {len(limits)} limits for {kind.nv} degrees of freedom; give one each")
        for limit in limits:
            if limit.lower is not None and limit.upper is not None and limit.lower > limit.upper:
                raise ModelError(f"joint {self.name!r}: lower limit {limit.lower} is above the upper limit {limit.upper}")
        object.__setattr__(self, "limits", limits or (Limits(),) * kind.nv)
        object.__setattr__(self, "axis", _unit(self.name, "axis", self.axis))
        if self.second_axis is not None:
            second = _unit(self.name, "second axis", self.second_axis)
            if abs(float(np.dot(second, self.axis))) > 1e-9:
                raise ModelError(
                    f"joint {self.name!r}: its two axes {self.axis} and {second} are not at right angles; "
                    "write two revolute joints instead"
                )
            object.__setattr__(self, "second_axis", second)

    def _per_freedom(self, key: str, nv: int) -> tuple[float, ...]:
        value = getattr(self, key)
        values = (float(value),) * nv if np.ndim(value) == 0 else tuple(float(x) for x in value)
        if len(values) != nv:
            raise ModelError(f"joint {self.name!r}: {len(values)} values of {key} for {nv} degrees of freedom")
        if any(not np.isfinite(x) or x < 0.0 for x in values):
            raise ModelError(f"joint {self.name!r}: {key} {values} must be finite and not negative")
        return values


def _kind(owner: str, given: JointKind | str) -> JointKind:
    """The kind that is given, by itself or by its name."""
    if not isinstance(given, str):
        return given
    if given not in KINDS:
        raise ModelError(f"{owner}: unknown kind {given!r}; the kinds are {', '.join(sorted(KINDS))}")
    return KINDS[given]


def _unit(joint: str, which: str, axis: Sequence[float]) -> tuple[float, float, float]:
    x, y, z = (float(part) for part in axis)
    length = float(np.linalg.norm((x, y, z)))
    if not np.isfinite(length) or length < 1e-12:
        raise ModelError(f"joint {joint!r}: the {which} {(x, y, z)} has no direction; give a vector that is not zero")
    if abs(length - 1.0) < 4e-16:  # of unit length already: dividing again would only stir its last bits
        return x, y, z
    return x / length, y / length, z / length


@dataclass(frozen=True)
class Loop:
    """A joint that closes a loop: frame `pose_a` on body `body_a` and frame `pose_b` on `body_b` move as the kind allows."""

    name: str
    kind: JointKind
    body_a: str
    body_b: str
    pose_a: Transform = field(default_factory=Transform)
    pose_b: Transform = field(default_factory=Transform)
    axis: Sequence[float] = (0.0, 0.0, 1.0)

    def __post_init__(self) -> None:
        object.__setattr__(self, "kind", _kind(f"loop {self.name!r}", self.kind))
        object.__setattr__(self, "axis", _unit(self.name, "axis", self.axis))


@dataclass(frozen=True)
class Frame:
    """A named frame fixed on a body."""

    name: str
    body: str
    pose: Transform = field(default_factory=Transform)
