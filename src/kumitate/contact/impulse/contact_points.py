"""The possible contact points at a state, in patches: one per pair of links that can touch."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby
from typing import Any

from ...dynamics.settling.free_turning import lone_bodies
from ...model import Mechanism, PerLink, Tree
from ...scalar import Scalar, absolute, maximum, minimum, select, when
from ...scalar.reuse import call_shared
from ...spatial import Dense, Force, Motion, Transform, Vector3
from ..laws import CLOSED, above, friction_at, masses, modes, onto_cone, onto_disc, projected, sizes, slides, tangents, targets
from ..pairs import FAR, Touch, touches
from ..parting import SHRINKS
from ..scene import Pair
from ..surface import Surface, VariedSurface
from .branch_factors import BranchFactors
from .compliance import NEVER, Compliance, Softened
from .jacobians import LinkJacobians
from .mobility import gives_of, inverse_link_inertia, mobility_of, sizes_of
from .splitting import before_springs, has_corners

#: Shapes whose bounding spheres, scaled by this factor, do not overlap have no contact points.
SURROUND = 1.25
#: The mobility of a patch that is not near.
_IMMOBILE = Dense.zero(6, 6)


@dataclass(frozen=True)
class MomentLimit:
    """Axes about which the moment at a contact point has one limit: the normal (torsional friction), or two tangents (rolling).

    Moments are written as a length times an impulse, and angular velocities as velocities at that length, so that all
    components of a point have the same units.

    Attributes:
        axes: unit vectors times that length [m].
        limit: the largest moment, as a part of the length times the normal impulse [1].
    """

    axes: tuple[Vector3, ...]
    limit: Scalar


@dataclass(frozen=True)
class ContactFrame:
    """The position and axes of the force at a contact point, in the axes of the world.

    Its impulses and velocities have three components along `axes`, and one more for each axis of `turns`.

    Attributes:
        lever: the vector from the origin of A's twists to the point [m].
        axes: the normal and two tangents.
        friction: the coefficient that applies now: static at rest, otherwise kinetic.
        size: the inverse effective mass: the largest velocity along an axis per unit impulse along the same axis [1/kg]. It
            relates velocities to impulses; `mass`: its inverse, the effective mass [kg].
        turns: torsional and rolling friction; softness: see `Compliance`; zero: rigid [1/kg].
    """

    lever: Vector3
    axes: tuple[Vector3, Vector3, Vector3]
    friction: Scalar
    size: Scalar = 1.0
    mass: Scalar = 1.0
    turns: tuple[MomentLimit, ...] = ()
    softness: Scalar = 0.0

    @property
    def spins(self) -> list[Vector3]:
        """The axes of all turns."""
        return [axis for turn in self.turns for axis in turn.axes]

    @property
    def nothing(self) -> list[Scalar]:
        """No impulse."""
        return [0.0] * (3 + len(self.spins))

    @property
    def sizes(self) -> list[Scalar]:
        """Of each component: `size`, and along the normal also what a soft point gives way to."""
        along, across = sizes(self.size, self.softness)
        return [along, *([across] * (2 + len(self.spins)))]

    @property
    def masses(self) -> list[Scalar]:
        """The inverses of `sizes`."""
        along, across = masses(self.mass, self.softness)
        return [along, *([across] * (2 + len(self.spins)))]

    def above(self, u: Sequence[Scalar], impulse: Sequence[Scalar], target: Scalar) -> list[Scalar]:
        """A velocity relative to the target, which a soft point gives way to: what the laws of contact are about."""
        return above(u, impulse, target, self.softness)

    def split(self, components: Sequence[Scalar]) -> tuple[Sequence[Scalar], list[Sequence[Scalar]]]:
        """The components along the axes, and those of each turn."""
        first, found = 3, []
        for turn in self.turns:
            found.append(components[first : first + len(turn.axes)])
            first += len(turn.axes)
        return components[:3], found

    def onto_laws(self, components: Sequence[Scalar]) -> list[Scalar]:
        """An impulse projected onto the friction cone, and the moments onto what its normal component allows them."""
        impulse, moments = self.split(components)
        found = onto_cone(impulse, self.friction)
        for turn, moment in zip(self.turns, moments, strict=True):
            found += onto_disc(moment, turn.limit * found[0])
        return found

    def projected(self, components: Sequence[Scalar], u: Sequence[Scalar], target: Scalar) -> list[Scalar]:
        """The impulse and moments that the laws ask for at a velocity u; see `laws.projected`."""
        impulse, moments = self.split(components)
        asked = projected(impulse, u[:3], target, self.friction, self.mass, self.softness)
        for turn, moment, rates in zip(self.turns, moments, self.split(u)[1], strict=True):
            pushed = [part - rate * self.mass for part, rate in zip(moment, rates, strict=True)]
            asked += onto_disc(pushed, turn.limit * asked[0])
        return asked

    def along(self, twist: Motion) -> list[Scalar]:
        """The point's velocity along its axes, from the twist of A's link relative to B's."""
        at_point = self.velocity(twist)
        return [*(axis.dot(at_point) for axis in self.axes), *(axis.dot(twist.angular) for axis in self.spins)]

    def velocity(self, twist: Motion) -> Vector3:
        """The velocity of A relative to B at the point, in the axes of the world."""
        return twist.linear + twist.angular.cross(self.lever)

    def components(self, impulse: Vector3) -> list[Scalar]:
        """The components along the axes of an impulse, of which `force` makes it again."""
        normal, *tangents = self.axes
        return [normal.dot(impulse), *(axis.dot(impulse) / axis.dot(axis) for axis in tangents)]

    def force(self, components: Sequence[Scalar]) -> Vector3:
        """A force or impulse on A from its components along the axes."""
        return sum((axis * part for axis, part in zip(self.axes, components[:3], strict=True)), Vector3())

    def moment(self, components: Sequence[Scalar]) -> Vector3:
        """The moment on A of the turns."""
        return sum((axis * part for axis, part in zip(self.spins, components[3:], strict=True)), Vector3())

    def wrench(self, components: Sequence[Scalar]) -> Force:
        """Both, as a wrench about the origin of A's twists."""
        force = self.force(components)
        about = self.lever.cross(force)
        return Force(about + self.moment(components) if self.turns else about, force)


@dataclass(frozen=True)
class ContactPoint:
    """A possible contact point.

    Attributes:
        touch: its position, normal and gap; `pair`: the number of the pair of shapes it belongs to.
        frame: the position and axes of its force.
        target: the least allowed normal velocity after the step [m/s]: the one that closes the gap exactly, or rebounds.
        plastic: the target without restitution.
        velocity: of A relative to B along the axes before the step [m/s]; `free`: after the step without contact.
        initial_mode: the velocity relative to the target [m/s] from which the solver guesses initially whether the point is
            apart, sticks or slides.
        compliance: None if it is rigid; give: of a compliant one, its normal velocity per unit impulse [1/kg]; resolved: 1 if
            the step resolves its spring; begun: its normal velocity before springs act (`splitting`) [m/s].
        left_out: by how much less deep than it is it counts for its spring [m], and how fast that shrinks [m/s]; None: nothing.
    """

    touch: Touch
    pair: int
    surface: Surface | VariedSurface
    frame: ContactFrame
    target: Scalar
    plastic: Scalar
    velocity: tuple[Scalar, ...]
    free: tuple[Scalar, ...]
    initial_mode: tuple[Scalar, ...]
    compliance: Compliance | None = None
    give: Scalar = 1.0
    resolved: Scalar = 0.0
    begun: Scalar = 0.0
    left_out: tuple[Scalar, Scalar] | None = None

    @property
    def rebounds(self) -> bool:
        """Whether its target may be above the plastic one."""
        return self.surface.bounces or self.compliance is not None

    @property
    def closing(self) -> tuple[Scalar, Scalar, Scalar]:
        """Its gap [m], and its normal velocities before springs act and after the step without contact, for its spring."""
        return self._seen(self.begun, self.free[0])

    @property
    def touches_softly(self) -> Scalar:
        """1 if it is compliant and touches now or within the step, else 0."""
        return 0.0 if self.compliance is None else self.compliance.touches(*self.closing)

    def softened(self, give: Scalar) -> Softened:
        """The law of a compliant point, from its normal velocity per unit impulse [1/kg]."""
        law = call_shared(_softened, self.compliance, *self.closing, give, name="compliant")
        if self.left_out is None:
            return law
        return law._replace(target=law.target + self.left_out[1], plastic=law.plastic + self.left_out[1])

    def stored(self, after: Scalar) -> Scalar:
        """The energy that its spring takes up in a step to the normal velocity `after` [J]."""
        assert self.compliance is not None
        return self.compliance.stored(*self._seen(self.begun, after), self.give)

    def _seen(self, before: Scalar, after: Scalar) -> tuple[Scalar, Scalar, Scalar]:
        """Its gap and two velocities, from the end of its spring."""
        if self.left_out is None:
            return self.touch.gap, before, after
        less, speed = self.left_out
        return self.touch.gap + less, before - speed, after - speed

    def following(self, law: Softened) -> ContactPoint:
        """The point with a law of `softened`."""
        apart = select(self.free[0] < law.target, 0.0, 1.0)
        return replace(
            self, frame=replace(self.frame, softness=law.softness), target=law.target, plastic=law.plastic, give=law.give,
            resolved=law.resolved, initial_mode=(apart, *self.initial_mode[1:]),
        )  # fmt: skip


def _softened(compliance: Compliance, gap: Scalar, before: Scalar, free: Scalar, give: Scalar) -> Softened:
    return compliance.law(gap, before, free, give)


@dataclass(frozen=True)
class ContactPatch:
    """Two links that can touch: A moves, B moves or is the world.

    Attributes:
        links: their indices.
        shift: from the origin of B's twists to that of A's [m]; None if B is the world.
        points: all possible contact points.
        near: whether any of them may touch within the step.
        size: an estimate of the velocity per unit impulse from the links' masses alone [1/kg].
        mobility: from a wrench on A, and its opposite on B, to the twist of A relative to B (6×6), with loops open.
    """

    links: tuple[int, int]
    shift: Vector3 | None
    points: tuple[ContactPoint, ...]
    near: Scalar
    size: float
    mobility: Dense = _IMMOBILE

    @property
    def frames(self) -> tuple[ContactFrame, ...]:
        """The frames of all points."""
        return tuple(point.frame for point in self.points)

    @property
    def initial_modes(self) -> tuple[tuple[Scalar, ...], ...]:
        """The initial modes of all points."""
        return tuple(point.initial_mode for point in self.points)

    def twist(self, jacobians: LinkJacobians, twists: PerLink[Motion]) -> Motion:
        """[ω; v] of A relative to B."""
        return _relative(jacobians, twists, self.links, self.shift)

    def wrenches(self, total: Force) -> dict[int, Force]:
        """By link, the wrench on A and its opposite on B, each about the origin of its own twists."""
        on = {self.links[0]: total}
        if self.shift is not None:
            on[self.links[1]] = Force(total.moment + self.shift.cross(total.force), total.force) * -1.0
        return on

    def if_near(self, page: Callable[..., Any], *state: Any, otherwise: Any) -> Any:
        """`page(*state)` if the patch is near, by one program for all patches of the same kind; else `otherwise`."""
        return when(self.near, partial(call_shared, page, *state, name=page.__name__.strip("_")), otherwise)

    def sized(self, branch_factors: BranchFactors) -> ContactPatch:
        """The patch with its mobility and the sizes of its points, which are computed only if the patch is near."""

        soft = [point for point in self.points if point.compliance is not None]

        def sizes() -> tuple[list[tuple[Scalar, Scalar]], list[Softened], Dense]:
            links = branch_factors.jacobians.tree.links
            a, b = (
                inverse_link_inertia(branch_factors.jacobians, links[index], branch_factors.factors) if index >= 0 else None
                for index in self.links
            )
            state = (self.frames, a) if self.shift is None else (self.frames, a, b, self.shift)
            of_soft = tuple(point.frame for point in soft), tuple(point.touches_softly for point in soft)
            gives = call_shared(gives_of, *of_soft, *state[1:], name="gives") if soft else []
            laws = [point.softened(give) for point, give in zip(soft, gives, strict=True)]
            return call_shared(sizes_of, *state, name="sizes"), laws, mobility_of(*state[1:])

        nowhere = [Softened(1.0, NEVER, NEVER, 1.0, 1.0) for _ in soft]
        of_points, laws, mobility = when(self.near, sizes, ([(1.0, 1.0) for _ in self.points], nowhere, _IMMOBILE))
        points, left = [], iter(laws)
        for point, (size, mass) in zip(self.points, of_points, strict=True):
            sized = replace(point, frame=replace(point.frame, size=size, mass=mass))
            points.append(sized if point.compliance is None else sized.following(next(left)))
        return replace(self, points=tuple(points), mobility=mobility)


def contact_patches(
    jacobians: LinkJacobians, pairs: Sequence[Pair], v: Sequence[Scalar], v_free: Sequence[Scalar], h: Scalar,
    mechanism: Mechanism, gravity: Sequence[Scalar] | None = None, closed: Scalar | None = None,
    left_out: Sequence[Scalar] = (),
) -> list[ContactPatch]:  # fmt: skip
    """All patches at a state, without the sizes of their points.

    Args:
        jacobians: of the tree at its posture.
        v: velocities (nv) before the step; v_free: after the step without contact; h: the step [s].
        gravity: where it is another than the mechanism's [m/s²].
        closed: 1 where only points take part that have no gap; None: always all.
        left_out: by how much less deep than they are points count for their springs [m]; nothing by default.
    """
    tree = jacobians.tree
    before, after = jacobians.twists(v), jacobians.twists(v_free)
    gravity = mechanism.gravity if gravity is None else gravity
    springs = any(pair.surface.stiffness is not None for pair in pairs)
    begun = jacobians.twists(before_springs(tree, jacobians.poses, v, v_free, h, gravity)) if springs else before
    fall, per_step = Vector3.of(gravity).norm() * h, 1.0 / h
    found: list[tuple[tuple[int, int], Vector3 | None, list[ContactPoint]]] = []
    parting = ((less, minimum(SHRINKS, less * per_step)) for less in left_out)
    for links, group in groupby(enumerate(pairs), key=lambda item: item[1].links):
        shift = None
        if links[1] >= 0:
            shift = jacobians.origins[tree.links[links[0]]] - jacobians.origins[tree.links[links[1]]]
        velocity, freely, springing = (_relative(jacobians, twists, links, shift) for twists in (before, after, begun))
        points: list[ContactPoint] = []
        for number, pair in group:
            for touch in _touches(pair, *pair.poses(tree, jacobians.poses)):
                # on the world's surface, not midway: else points of a sole at different heights could not all stick as it tilts
                place = touch.on_b if shift is None else touch
                place = place if closed is None else place.closed_within(select(closed > 0.5, CLOSED * h, -1.0))
                if pair.surface.stiffness is not None and shift is None and has_corners(pair.geometries[0].shape):
                    corner = place.point + place.normal * place.gap
                    place = replace(place, point=place.point + _half_a_turn(jacobians, links[0], corner, velocity.angular, h))
                lever = place.point - jacobians.origins[tree.links[links[0]]]
                point = _point(place, number, pair, lever, velocity, freely, h, per_step, 2.0 * fall)
                less = next(parting, None)
                if point.compliance is not None:
                    point = replace(point, left_out=less, begun=point.frame.along(springing)[0])
                points.append(point)
        found.append((links, shift, points))

    fastest: Scalar = fall
    for _, _, points in found:
        for point in points:
            for part in (point.velocity[0], point.free[0]):
                fastest = maximum(fastest, select(point.touch.gap < 1.0, absolute(part), 0.0))
    return [
        ContactPatch(links, shift, tuple(points), _any_nearer(points, 3.0 * h * fastest), _size(mechanism.tree, links))
        for links, shift, points in found
    ]


def _half_a_turn(jacobians: LinkJacobians, index: int, corner: Vector3, omega: Vector3, h: Scalar) -> Vector3:
    """How a corner of a link moves about its center in half a step (`splitting`).

    The center is that of mass for a lone body, and the origin for the link of a robot.
    """
    link = jacobians.tree.links[index]
    pose = jacobians.poses[link]
    center = pose.translation
    if any(link is body for body in lone_bodies(jacobians.tree)):
        center = center + pose.rotation.rotate(link.inertia.first_moment * (1.0 / link.inertia.mass))
    return omega.cross(corner - center) * (0.5 * h)


def _relative(jacobians: LinkJacobians, twists: PerLink[Motion], links: tuple[int, int], shift: Vector3 | None) -> Motion:
    twist = twists[jacobians.tree.links[links[0]]]
    if shift is None:
        return twist
    other = twists[jacobians.tree.links[links[1]]]
    return twist - Motion(other.angular, other.linear + other.angular.cross(shift))


def _point(
    touch: Touch,
    number: int,
    pair: Pair,
    lever: Vector3,
    before: Motion,
    after: Motion,
    h: Scalar,
    per_step: Scalar,
    resting: Scalar,
) -> ContactPoint:
    """The contact point at given velocities; per_step: 1 / h; impacts slower than `resting` [m/s] do not bounce."""
    surface, axes = pair.surface, (touch.normal, *tangents(touch.normal, pair.surface))
    compliance = Compliance.of(surface, h, resting)
    bare = ContactFrame(lever, axes, surface.friction, turns=_turns(pair, axes))
    velocity, free = tuple(bare.along(before)), tuple(bare.along(after))
    slid = slides(velocity[1:3])
    friction = friction_at(surface, slid)
    target, plastic = targets(surface, touch.gap, velocity[0], free[0], h, per_step, resting)
    turning = bare.split(velocity)[1]
    initial_mode = modes(touch.gap, velocity[:3], free[0], target, h, slid)
    for parts in turning:
        turned = slides(parts)
        initial_mode += [select(turned, part, 0.0) for part in parts]
    frame = replace(bare, friction=friction)
    return ContactPoint(touch, number, surface, frame, target, plastic, velocity, free, tuple(initial_mode), compliance)


def _turns(pair: Pair, axes: tuple[Vector3, Vector3, Vector3]) -> tuple[MomentLimit, ...]:
    """Torsional and rolling friction of a pair; moments are in parts of the radius of its smaller shape."""
    surface, radius = pair.surface, min(geometry.shape.bounding_radius for geometry in pair.geometries)
    normal, *tangents = (axis * radius for axis in axes) if surface.turns else axes
    torsional = [MomentLimit((normal,), surface.torsional / radius)] if surface.torsional else []
    rolling = [MomentLimit(tuple(tangents), surface.rolling / radius)] if surface.rolling else []
    return (*torsional, *rolling)


def _touches(pair: Pair, X_WA: Transform, X_WB: Transform) -> list[Touch]:
    """Where two shapes touch; bounded shapes are tested only if they are near each other."""
    a, b = (geometry.shape for geometry in pair.geometries)
    reach = SURROUND * (a.bounding_radius + b.bounding_radius)
    if reach == math.inf:
        return touches(a, X_WA, b, X_WB)
    apart = X_WA.translation - X_WB.translation
    nowhere = [Touch(X_WA.translation, Vector3(0.0, 0.0, 1.0), FAR)] * pair.capacity
    return when(apart.dot(apart) < reach * reach, partial(call_shared, touches, a, X_WA, b, X_WB, name="touches"), nowhere)


def _any_nearer(points: Sequence[ContactPoint], distance: Scalar) -> Scalar:
    closest = points[0].touch.gap
    for point in points[1:]:
        closest = minimum(closest, point.touch.gap)
    return closest < distance


def _size(tree: Tree, links: tuple[int, int]) -> float:
    """`ContactPatch.size`, from the masses of the bodies of both links."""
    tree.check_physical("contact points")
    total = 0.0
    for index in links:
        if index >= 0:
            mass = float(tree.links[index].inertia.mass)
            total += 3.0 / (mass if mass > 1e-6 * tree.mass else tree.mass)
    return total
