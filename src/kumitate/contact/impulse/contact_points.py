"""The possible contact points at a state, in patches: one per pair of links that can touch."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from itertools import groupby
from typing import Any

from ...dynamics.free_turning import lone_bodies
from ...model import Mechanism, PerLink, Tree
from ...scalar import Scalar, Scalars, absolute, both, either, maximum, minimum, select, when
from ...scalar.reuse import call_shared
from ...spatial import Dense, Force, Motion, Transform, Vector3
from .. import tuned
from ..laws import CLOSED, NEVER, NOT_MET, aim, in_turn, meets_after, slides, tangents
from ..pairs import FAR, Touch, touches
from ..parting import SHRINKS
from ..scene import Pair
from ..surface import Surface, VariedSurface
from .branch_factors import BranchFactors
from .compliance import Compliance, Softened
from .frames import ContactFrame, MomentLimit, gives_of, inverse_link_inertia, mobility_of, sizes_of
from .jacobians import LinkJacobians
from .splitting import before_springs, has_corners

#: Shapes whose bounding spheres, scaled by this factor, do not overlap have no contact points.
SURROUND = 1.25
#: The mobility of a patch that is not near.
_IMMOBILE = Dense.zero(6, 6)


@dataclass(frozen=True)
class ContactPoint:
    """A possible contact point."""

    touch: Touch  # its position, normal and gap
    pair: int  # the number of the pair of shapes it belongs to
    surface: Surface | VariedSurface
    frame: ContactFrame  # the position and axes of its force
    target: Scalar  # the least normal velocity after the step [m/s]: the one that closes the gap exactly, or rebounds
    plastic: Scalar  # the target without restitution
    velocity: tuple[Scalar, ...]  # of A relative to B along the axes before the step [m/s]
    free: tuple[Scalar, ...]  # after the step without contact [m/s]
    initial_mode: tuple[Scalar, ...]  # the velocity relative to the target [m/s] that decides at first what the point does
    timing: tuple[Scalar, Scalar]  # the step [s], and the speed below which impacts do not bounce [m/s]
    compliance: Compliance | None = None  # None if it is rigid
    give: Scalar = 1.0  # of a compliant one, its normal velocity per unit impulse [1/kg]
    resolved: Scalar = 0.0  # 1 if the step resolves its spring
    begun: Scalar = 0.0  # its normal velocity before springs act (`splitting`) [m/s]
    # by how much less deep than it is it counts for its spring [m], and how fast that shrinks [m/s]
    left_out: tuple[Scalar, Scalar] = (0.0, 0.0)

    @property
    def rebounds(self) -> bool:
        """Whether its target may be above the plastic one."""
        return self.surface.bounces or self.compliance is not None

    @property
    def closing(self) -> tuple[Scalar, Scalar, Scalar]:
        """Its gap [m], and its normal velocities before springs act and after the step without contact, for its spring."""
        return self._seen(self.begun, self.free[0])

    def softened(self, give: Scalar) -> Softened:
        """The law of a compliant point, from its normal velocity per unit impulse [1/kg]."""
        law = call_shared(Compliance.law, self.compliance, *self.closing, give, name="compliant")
        return law._replace(target=law.target + self.left_out[1], plastic=law.plastic + self.left_out[1])

    def stored(self, after: Scalar) -> Scalar:
        """The energy that its spring takes up in a step to the normal velocity `after` [J]."""
        assert self.compliance is not None
        return self.compliance.stored(*self._seen(self.begun, after), self.give)

    def _seen(self, before: Scalar, after: Scalar) -> tuple[Scalar, Scalar, Scalar]:
        """Its gap and two velocities, from the end of its spring."""
        less, speed = self.left_out
        return self.touch.gap + less, before - speed, after - speed

    def struck(self, change: Scalars) -> ContactPoint:
        """The point, rigid and without moments, after earlier impacts of the step have changed its velocity."""
        before, free = (tuple(a + b for a, b in zip(u, change, strict=True)) for u in (self.velocity, self.free))
        found = aim(self.surface, self.touch.gap, before, free, *self.timing)
        return replace(
            self, frame=replace(self.frame, friction=found.friction), target=found.target, plastic=found.plastic,
            velocity=before, free=free, initial_mode=tuple(found.mode),
        )  # fmt: skip

    def following(self, law: Softened) -> ContactPoint:
        """The point with a law of `softened`."""
        apart = select(self.free[0] < law.target, 0.0, 1.0)
        return replace(
            self, frame=replace(self.frame, softness=law.softness), target=law.target, plastic=law.plastic, give=law.give,
            resolved=law.resolved, initial_mode=(apart, *self.initial_mode[1:]),
        )  # fmt: skip


@dataclass(frozen=True)
class ContactPatch:
    """Two links that can touch: A moves, B moves or is the world."""

    links: tuple[int, int]  # their indices
    shift: Vector3 | None  # from the origin of B's twists to that of A's [m]; None if B is the world
    points: tuple[ContactPoint, ...]  # all possible contact points
    near: Scalar  # whether any of them may touch within the step
    size: float  # an estimate of the velocity per unit impulse from the links' masses alone [1/kg]
    mobility: Dense = _IMMOBILE  # from a wrench on A, and its opposite on B, to their relative twist (6×6), with loops open

    @property
    def frames(self) -> tuple[ContactFrame, ...]:
        """The frames of all points."""
        return tuple(point.frame for point in self.points)

    @property
    def meets(self) -> Scalar:
        """When the first of its points rebounds [s]; see `meets_after`."""
        points = self.points if any(point.surface.bounces for point in self.points) else ()
        times = (meets_after(point.touch.gap, point.velocity[0], point.target, point.plastic) for point in points)
        return reduce(minimum, times, NOT_MET)

    def struck(self, change: Motion) -> ContactPatch:
        """The patch after earlier impacts of the step have changed its twist."""
        return replace(self, points=tuple(point.struck(point.frame.along(change)) for point in self.points))

    def in_turn(self, due: Scalar, first: Scalar) -> list[Scalar]:
        """The targets of its points in the present impact; see `laws.in_turn`."""
        return [in_turn(point.target, point.touch.gap, due, first, point.timing[0]) for point in self.points]

    def opened(self, impulses: Sequence[Scalars]) -> Scalar:
        """Whether impulses push at any of its points that have a gap."""
        pairs = zip(self.points, impulses, strict=True)
        return reduce(either, (both(point.touch.gap > CLOSED * point.timing[0], push[0] > 0.0) for point, push in pairs))

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

        soft = [(point, point.compliance) for point in self.points if point.compliance is not None]

        def sizes() -> tuple[list[tuple[Scalar, Scalar]], list[Softened], Dense]:
            links = branch_factors.jacobians.tree.links
            a, b = (
                inverse_link_inertia(branch_factors.jacobians, links[index], branch_factors.factors) if index >= 0 else None
                for index in self.links
            )
            frames = tuple(replace(frame, size=1.0, mass=1.0) for frame in self.frames)  # whatever they were
            state = (frames, a) if self.shift is None else (frames, a, b, self.shift)
            of_soft = tuple(point.frame for point, _ in soft), tuple(law.touches(*point.closing) for point, law in soft)
            gives = call_shared(gives_of, *of_soft, *state[1:], name="gives") if soft else []
            laws = [point.softened(give) for (point, _), give in zip(soft, gives, strict=True)]
            return call_shared(sizes_of, *state, name="sizes"), laws, mobility_of(*state[1:])

        nowhere = [Softened(1.0, NEVER, NEVER, 1.0, 1.0) for _ in soft]
        of_points, laws, mobility = when(self.near, sizes, ([(1.0, 1.0) for _ in self.points], nowhere, _IMMOBILE))
        points, left = [], iter(laws)
        for point, (size, mass) in zip(self.points, of_points, strict=True):
            sized = replace(point, frame=replace(point.frame, size=size, mass=mass))
            points.append(sized if point.compliance is None else sized.following(next(left)))
        return replace(self, points=tuple(points), mobility=mobility)


def places_for(tree: Tree, patches: Sequence[ContactPatch]) -> int:
    """How many points are few for a robot (`few_points`); 0 where they cost more than they save, or have other laws."""
    points = [point for patch in patches for point in patch.points]
    plain = all(patch.shift is None for patch in patches) and not tree.closed
    plain = plain and all(point.compliance is None and not point.frame.turns for point in points)
    few = min(tuned.FEW if tree.nv <= tuned.MANY_JOINTS else tuned.FEW_OF_MANY, tree.nv // 2)
    return few if plain and tree.nv > tuned.FEWEST_JOINTS and len(points) > few else 0


def contact_patches(
    jacobians: LinkJacobians, pairs: Sequence[Pair], v: Scalars, v_free: Scalars, h: Scalar,
    mechanism: Mechanism, gravity: Scalars | None = None, closed: Scalar | None = None,
    left_out: Scalars = (),
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
                point = _point(place, number, pair, lever, velocity, freely, h, 2.0 * fall)
                less = next(parting, (0.0, 0.0))
                if point.compliance is not None:
                    point = replace(point, left_out=less, begun=point.frame.along(springing)[0])
                points.append(point)
        found.append((links, shift, points))

    fastest: Scalar = fall
    for _, _, points in found:
        for point in points:
            for part in (point.velocity[0], point.free[0]):
                fastest = maximum(fastest, select(point.touch.gap < 1.0, absolute(part), 0.0))
    patches = []
    for links, shift, points in found:
        near = reduce(minimum, (point.touch.gap for point in points)) < 3.0 * h * fastest
        patches.append(ContactPatch(links, shift, tuple(points), near, _size(mechanism.tree, links)))
    return patches


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
    touch: Touch, number: int, pair: Pair, lever: Vector3, before: Motion, after: Motion, h: Scalar, resting: Scalar
) -> ContactPoint:
    """The contact point at given velocities; impacts slower than `resting` [m/s] do not bounce."""
    surface, axes = pair.surface, (touch.normal, *tangents(touch.normal, pair.surface))
    compliance = Compliance.of(surface, h, resting)
    bare = ContactFrame(lever, axes, surface.friction, turns=_turns(pair, axes))
    velocity, free = tuple(bare.along(before)), tuple(bare.along(after))
    found = aim(surface, touch.gap, velocity, free, h, resting)
    initial_mode = list(found.mode)
    for parts in bare.split(velocity)[1]:
        turned = slides(parts)
        initial_mode += [select(turned, part, 0.0) for part in parts]
    frame = replace(bare, friction=found.friction)
    return ContactPoint(
        touch, number, surface, frame, found.target, found.plastic, velocity, free, tuple(initial_mode), (h, resting),
        compliance,
    )  # fmt: skip


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


def _size(tree: Tree, links: tuple[int, int]) -> float:
    """`ContactPatch.size`, from the masses of the bodies of both links."""
    tree.check_physical("contact points")
    total = 0.0
    for index in links:
        if index >= 0:
            mass = float(tree.links[index].inertia.mass)
            total += 3.0 / (mass if mass > 1e-6 * tree.mass else tree.mass)
    return total
