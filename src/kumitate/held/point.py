"""Points that are held on surfaces: the user's declaration, and their position and motion at a state (N 2, fig. 1)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

from ..dynamics import Row, link_motions
from ..dynamics.motion import LinkMotion
from ..errors import InputError
from ..kinematics import link_poses, link_twists, place_pose
from ..model import Mechanism, PerLink, Place, Tree
from ..model.tree.traversal import rolled_runs
from ..model.tree.tree import WORLD_LINK
from ..model.values import NOT_NEGATIVE, checked_number, checked_numbers, shown
from ..scalar import Scalar, select, sqrt, tanh
from ..spatial import Force, Motion, Transform, Vector3, centripetal
from .surface import GapFunction, PlaneSurface, TracedSurface

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
            _check(mechanism, point)
        if self.points and rolled_runs(mechanism.tree):
            raise InputError(
                f"{mechanism.name}: points of chains as long as this one ({len(mechanism.tree.links)} links) cannot be held. "
                "Weld links that need not move"
            )

    @cached_property
    def surfaces(self) -> tuple[TracedSurface, ...]:
        """The surfaces with their derivatives."""
        return tuple(TracedSurface(p.surface, f"{self.mechanism.name}: held point {p.label!r}") for p in self.points)

    def ends(
        self, tree: Tree, q: Sequence[Scalar], v: Sequence[Scalar], motions: PerLink[LinkMotion] | None = None
    ) -> list[HeldEnd]:
        """Every point at a state; `tree` is that of the mechanism, or its base-parameter tree."""
        motions = link_motions(tree, q, v) if motions is None else motions
        poses, twists = link_poses(tree, q), link_twists(tree, q, v)
        pairs = zip(self.points, self.surfaces, strict=True)
        return [_end(tree, poses, twists, motions, point, surface) for point, surface in pairs]

    def rows(self, tree: Tree, q: Sequence[Scalar], v: Sequence[Scalar]) -> list[Row]:
        """The rows along the normals, which constrain the points."""
        return [end.rows[0] for end in self.ends(tree, q, v)]


def slide(slip: Sequence[Scalar]) -> list[Scalar]:
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


def _check(mechanism: Mechanism, point: HeldPoint) -> None:
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
