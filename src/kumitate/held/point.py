"""Points that are held on surfaces: the user's declaration, and their position and motion at a state (N 2, fig. 1)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from ..dynamics import Row, link_motions
from ..dynamics.motion import LinkMotion
from ..errors import InputError
from ..kinematics import link_poses, link_twists, place_pose
from ..model import Mechanism, PerLink, Place, Tree
from ..model.tree.traversal import rolled_runs
from ..model.tree.tree import WORLD_LINK
from ..model.values import NOT_NEGATIVE, POSITIVE, SMALLEST, checked_number, checked_numbers, shown
from ..scalar import Program, Scalar, Scalars, TraceError, directional, gradient, inlined, select, sqrt, tanh, trace
from ..spatial import Force, Motion, Transform, Vector3, centripetal

#: C of a position r = (x, y, z) in the world [m]; zero on the surface, positive on the side that the normal points to.
GapFunction = Callable[[Any], Any]


@dataclass(frozen=True)
class PlaneSurface:
    """The plane through a point with this normal (of any length) [m]; by default the floor z = 0.

    >>> PlaneSurface()([0.3, 0.0, 0.25])
    0.25
    """

    normal: tuple[float, float, float] = (0.0, 0.0, 1.0)
    through: tuple[float, float, float] = (0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        _check("PlaneSurface", normal=self.normal, through=self.through)

    def __call__(self, r: Scalars) -> Scalar:
        """The distance from the plane [m]."""
        length = _length(self.normal)
        return sum((n / length * (x - p) for n, x, p in zip(self.normal, r, self.through, strict=True)), 0.0)


@dataclass(frozen=True)
class SphereSurface:
    """The sphere with this radius about a center [m].

    >>> SphereSurface(2.0)([0.0, 3.0, 0.0])
    1.25
    """

    radius: float
    center: tuple[float, float, float] = (0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        _check("SphereSurface", radius=self.radius, center=self.center)

    def __call__(self, r: Scalars) -> Scalar:
        """(|r − c|² − R²)/2R [m]: approximately the distance near the surface, and smooth at the center."""
        d = Vector3.of([x - c for x, c in zip(r, self.center, strict=True)])
        return (d.dot(d) - self.radius**2) * (0.5 / self.radius)


@dataclass(frozen=True)
class CylinderSurface:
    """The infinite cylinder with this radius about the axis through a point [m]; the axis vector may have any length.

    >>> CylinderSurface(2.0)([0.0, 3.0, 7.0])
    1.25
    """

    radius: float
    axis: tuple[float, float, float] = (0.0, 0.0, 1.0)
    through: tuple[float, float, float] = (0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        _check("CylinderSurface", radius=self.radius, axis=self.axis, through=self.through)

    def __call__(self, r: Scalars) -> Scalar:
        """(ρ² − R²)/2R with the distance ρ from the axis [m]."""
        length = _length(self.axis)
        a = Vector3.of([x / length for x in self.axis])
        d = Vector3.of([x - p for x, p in zip(r, self.through, strict=True)])
        along = d.dot(a)
        return (d.dot(d) - along * along - self.radius**2) * (0.5 / self.radius)


@dataclass(frozen=True)
class SurfaceState:
    """The gap, normal and curvature term of a surface at a moving point."""

    gap: Scalar  # C/‖∂C/∂r‖ [m], the distance from the surface to first order
    normal: Vector3  # ∂C/∂r divided by its length
    bending: Scalar  # ṙᵀ (∂²C/∂r²) ṙ/‖∂C/∂r‖ [m/s²]: the first term of N eq. 23


class TracedSurface:
    """A surface's function and its derivatives as programs.

    Raises:
        InputError: if the function cannot be traced or differentiated; `where` names it in the message.
    """

    def __init__(self, surface: GapFunction, where: str):
        def value(r: Any) -> Scalar:
            return surface(np.array(list(r), dtype=object))

        try:
            self.value: Program = trace(value, {"r": 3}, "surface")
            self.slope: Program = gradient(self.value, "r")
        except (TraceError, TypeError, ValueError, IndexError, AttributeError) as error:
            raise InputError(
                f"{where}: the surface {surface!r} cannot be traced ({error}); give a function C(r) of the position "
                "r = (x, y, z) that returns one number by plain operators and NumPy's elementary functions: lambda r: r[2]"
            ) from error
        if all(part.op == "const" and part.payload == 0.0 for part in self.slope.results):
            raise InputError(
                f"{where}: C(r) of the surface {surface!r} does not depend on r; it must change across the "
                "surface. Give a function that is zero on the surface only, such as lambda r: r[2]"
            )
        self.turning: Program = directional(self.slope)

    def at(self, r: Vector3, r_rate: Vector3) -> SurfaceState:
        """The state at the position r [m] in the world, moving with the velocity ṙ [m/s]."""
        (C,) = inlined(self.value, (list(r),))
        *slope, x, y, z = inlined(self.turning, (list(r), list(r_rate)))
        across = Vector3.of(slope)
        shrink = 1.0 / across.norm()
        return SurfaceState(C * shrink, across * shrink, Vector3(x, y, z).dot(r_rate) * shrink)


def _length(vector: Sequence[float]) -> float:
    return math.hypot(*vector)


def _check(what: str, **given: Any) -> None:
    """Refuses radii that are not positive, directions that are zero, and points that are not numbers, by their names."""
    for name, value in given.items():
        if name == "radius":
            checked_number(what, "the radius [m]", value, POSITIVE, error=InputError)
        elif name in ("axis", "normal"):
            if _length(checked_numbers(what, f"the {name}", value, 3, error=InputError)) < SMALLEST:
                raise InputError(f"{what}: the {name} {value!r} has no direction; give a vector that is not zero")
        else:
            checked_numbers(what, f"the point {name!r} [m]", value, 3, error=InputError)


# --- the points -----------------------------------------------------------------------------------------------------------
#: Friction has reached 76 % of its value at this speed [m/s], as tanh(ṙ/ṙ₀): N eq. 6 is 0/0 at rest.
SLIDING_SPEED = 1e-3


@dataclass(frozen=True)
class HeldPoint:
    """A point of a body that is held on a surface bilaterally: whether pushed or pulled, it stays on the surface.

    Attributes:
        body: name of a body or frame.
        point: fixed on it, in its axes from its origin [m].
        surface: C(r), zero on the surface, of a position r = (x, y, z) in the world, by plain operators and NumPy's elementary
            functions; `PlaneSurface` (the floor, by default), `SphereSurface` and `CylinderSurface` are provided.
        friction: the coefficient K of f_t = K |f_n|, which opposes the sliding (N eq. 6).
        name: in messages and figures; the body's by default.

    >>> HeldPoint("hand", (0.0, 0.0, 0.5), lambda r: r[2] - 0.1 * r[0], friction=0.2).label
    'hand'
    """

    body: str
    point: tuple[float, float, float] = (0.0, 0.0, 0.0)
    surface: GapFunction = field(default_factory=PlaneSurface)
    friction: float = 0.0
    name: str = ""

    @property
    def label(self) -> str:
        """The name, or the body's."""
        return self.name or self.body


@dataclass(frozen=True)
class HeldEnd:
    """A held point at a state. Vectors are in the axes of the world."""

    link: int  # the index of the link it is on
    axes: tuple[Vector3, Vector3, Vector3]  # the surface's normal n and two tangents e₁, e₂, orthonormal
    r: Vector3  # position [m]
    rate: Vector3  # velocity [m/s]
    gap: Scalar  # distance from the surface [m]
    slip: tuple[Scalar, Scalar]  # velocity along e₁ and e₂ [m/s]
    friction: float  # the coefficient K
    # a unit force along each of the axes, and its opposite on the world, in the form of loop rows; along n the acceleration is
    # relative to the surface
    rows: tuple[Row, Row, Row]


class HeldPoints:
    """The held points of a mechanism, checked.

    Attributes:
        mechanism: the mechanism that they are on.
        points: as declared; `names`: their unique names.

    Raises:
        InputError: if a point is not on a moving body, is not finite, has negative friction or a surface that cannot be traced.
    """

    def __init__(self, mechanism: Mechanism, points: Sequence[HeldPoint]):
        self.mechanism, self.points = mechanism, tuple(points)
        for point in self.points:
            if not isinstance(point, HeldPoint):
                raise InputError(
                    f"{mechanism.name}: held has {shown(point)}, which is not a held point; give a kumitate.HeldPoint"
                )
        self.names = tuple(point.label for point in self.points)
        for k, name in enumerate(self.names):
            if name in self.names[:k]:
                raise InputError(f"{mechanism.name}: two held points are named {name!r}; give them a `name` each")
        for point in self.points:
            _check_point(mechanism, point)
        if self.points and rolled_runs(mechanism.tree):
            raise InputError(
                f"{mechanism.name}: points of chains as long as this one ({len(mechanism.tree.links)} links) cannot be held. "
                "Weld links that need not move"
            )

    @cached_property
    def surfaces(self) -> tuple[TracedSurface, ...]:
        """The surfaces with their derivatives."""
        return tuple(TracedSurface(p.surface, f"{self.mechanism.name}: held point {p.label!r}") for p in self.points)

    def ends(self, tree: Tree, q: Scalars, v: Scalars, motions: PerLink[LinkMotion] | None = None) -> list[HeldEnd]:
        """Every point at a state; `tree` is that of the mechanism, or its base-parameter tree."""
        motions = link_motions(tree, q, v) if motions is None else motions
        poses, twists = link_poses(tree, q), link_twists(tree, q, v)
        pairs = zip(self.points, self.surfaces, strict=True)
        return [_end(tree, poses, twists, motions, point, surface) for point, surface in pairs]

    def rows(self, tree: Tree, q: Scalars, v: Scalars) -> list[Row]:
        """The rows along the normals, which constrain the points."""
        return [end.rows[0] for end in self.ends(tree, q, v)]


def slide(slip: Scalars) -> list[Scalar]:
    """ṙ/‖ṙ‖ of N eq. 6, with tanh(‖ṙ‖/ṙ₀) for its length: a smooth direction of sliding, zero at rest."""
    speed = sqrt(sum((x * x for x in slip), 0.0) + (1e-12 * SLIDING_SPEED) ** 2)
    ratio = tanh(speed * (1.0 / SLIDING_SPEED)) / speed
    return [x * ratio for x in slip]


def _end(
    tree: Tree,
    poses: PerLink[Transform],
    twists: PerLink[Motion],
    motions: PerLink[LinkMotion],
    point: HeldPoint,
    surface: TracedSurface,
) -> HeldEnd:
    place: Place = tree.places[point.body]
    link = tree.links[place.link]
    arm = place.pose.point(Vector3.of(point.point))  # from L's origin, in L
    X_WL, twist, omega = poses[link], twists[link], motions[link].omega
    r = place_pose(tree, poses, Place(place.link, place.pose)).point(Vector3.of(point.point))
    rate = X_WL.rotation.rotate(twist.linear + twist.angular.cross(arm))
    state = surface.at(r, rate)
    axes = (state.normal, *_along(state.normal))
    swing = centripetal(omega, arm)
    rows = []
    for k, axis in enumerate(axes):
        f_L = X_WL.rotation.unrotate(axis)
        bias = f_L.dot(swing) + (state.bending if k == 0 else 0.0)
        on = {place.link: Force(arm.cross(f_L), f_L), WORLD_LINK: Force(r.cross(axis), axis) * -1.0}
        rows.append(Row(on, {}, bias, axis.dot(rate), state.gap, owner=point.label))  # read of the first alone
    slip = (rows[1].rate, rows[2].rate)
    return HeldEnd(place.link, axes, r, rate, state.gap, slip, point.friction, (rows[0], rows[1], rows[2]))


def _along(n: Vector3) -> tuple[Vector3, Vector3]:
    """Two directions at right angles to n and to each other (T. Duff et al., Building an orthonormal basis, JCGT 6, 2017)."""
    sign = select(n.z < 0.0, -1.0, 1.0)
    a = -1.0 / (sign + n.z)
    b = n.x * n.y * a
    return Vector3(1.0 + sign * n.x * n.x * a, sign * b, -(sign * n.x)), Vector3(b, sign + n.y * n.y * a, -n.y)


def _check_point(mechanism: Mechanism, point: HeldPoint) -> None:
    where = f"{mechanism.name}: held point {point.label!r}"
    place = mechanism.tree.places.get(point.body)
    if place is None:
        known = ", ".join(mechanism.tree.places)
        raise InputError(f"{where} is on {point.body!r}, which is not a body or frame; there are {known}")
    if place.link < 0:
        raise InputError(f"{where} is on {point.body!r}, which does not move. Hold a point of a moving body")
    checked_numbers(where, f"the point in the axes of {point.body!r} [m]", point.point, 3, error=InputError)
    checked_number(where, "the friction K", point.friction, NOT_NEGATIVE, error=InputError)
    if not callable(point.surface):
        raise InputError(f"{where}: the surface is {point.surface!r}; give a function C(r), such as lambda r: r[2]")
