"""The possible points of contact at a state, in patches: one for every two links that can touch."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby
from typing import Any

from ...model import Mechanism, PerLink, Tree
from ...scalar import Scalar, absolute, both, either, maximum, minimum, select, when
from ...scalar.reuse import call_shared
from ...spatial import Dense, Force, Motion, Transform, Vector3
from ..scene import Pair
from ..shapes import FAR, Touch, touches
from ..surface import Surface
from .branch_factors import BranchFactors
from .inverse_inertia import inverse_link_inertia, twist_of
from .jacobians import LinkJacobians

__all__ = ["ContactFrame", "ContactPatch", "ContactPoint", "contact_patches"]

#: Points that slide slower are at rest: static friction holds them [m/s].
AT_REST = 1e-4
#: A point that closes and opens more slowly than this counts as resting [m/s].
CLOSED = 1e-3
#: Shapes whose bounding spheres, larger by this, do not meet have no points of contact.
SURROUND = 1.25
#: No point is heavier than the inverse of this [1/kg].
SMALLEST = 1e-9
#: What has sunk in comes out no faster [m/s].
RECOVERY = 0.5


@dataclass(frozen=True)
class ContactFrame:
    """Where and along which axes the force of a point acts, in the axes of the world.

    Attributes:
        lever: from the origin of A's twists [m].
        axes: the normal and two tangents.
        friction: the coefficient that holds now: static at rest, else kinetic.
        size: how much velocity along itself a unit impulse along an axis makes here, at most [1/kg]: what velocities and
            impulses are compared by; `mass`: its inverse [kg].
    """

    lever: Vector3
    axes: tuple[Vector3, Vector3, Vector3]
    friction: Scalar
    size: Scalar = 1.0
    mass: Scalar = 1.0

    def along(self, twist: Motion) -> list[Scalar]:
        """The point's velocity along its axes, from the twist of A's link against B's."""
        at_point = twist.linear + twist.angular.cross(self.lever)
        return [axis.dot(at_point) for axis in self.axes]

    def force(self, components: Sequence[Scalar]) -> Vector3:
        """A force or impulse on A from its components along the axes."""
        return sum((axis * part for axis, part in zip(self.axes, components, strict=True)), Vector3())

    def wrench(self, components: Sequence[Scalar]) -> Force:
        """The same as a wrench about the origin of A's twists."""
        force = self.force(components)
        return Force(self.lever.cross(force), force)


@dataclass(frozen=True)
class ContactPoint:
    """A possible point of contact.

    Attributes:
        touch: its position, normal and gap; `pair`: the number of the pair of shapes it belongs to.
        frame: where its force acts, and along which axes.
        target: the least normal velocity after the step [m/s]: what closes the gap just so, or throws back.
        plastic: the same without restitution.
        velocity: of A against B along the axes before the step [m/s]; `free`: after it without contact.
        initial_mode: the velocity above the target [m/s] from which the solver guesses whether the point is apart, sticks or
            slides: as before the step, or as it is about to meet.
    """

    touch: Touch
    pair: int
    surface: Surface
    frame: ContactFrame
    target: Scalar
    plastic: Scalar
    velocity: tuple[Scalar, ...]
    free: tuple[Scalar, ...]
    initial_mode: tuple[Scalar, ...]


@dataclass(frozen=True)
class ContactPatch:
    """Two links that can touch: A moves, B moves or is the world.

    Attributes:
        links: their indices.
        shift: from the origin of B's twists to that of A's [m]; None if B is the world.
        points: all possible ones.
        near: whether any of them may touch within the step.
        size: by the links' masses alone, about how much velocity a unit impulse makes [1/kg].
    """

    links: tuple[int, int]
    shift: Vector3 | None
    points: tuple[ContactPoint, ...]
    near: Scalar
    size: float

    @property
    def frames(self) -> tuple[ContactFrame, ...]:
        """Of all points."""
        return tuple(point.frame for point in self.points)

    @property
    def initial_modes(self) -> tuple[tuple[Scalar, ...], ...]:
        """Of all points."""
        return tuple(point.initial_mode for point in self.points)

    def twist(self, jacobians: LinkJacobians, twists: PerLink[Motion]) -> Motion:
        """[ω; v] of A against B."""
        return _relative(jacobians, twists, self.links, self.shift)

    def wrenches(self, total: Force) -> dict[int, Force]:
        """By link, the wrench on A and its opposite on B, each about the origin of its own twists."""
        on = {self.links[0]: total}
        if self.shift is not None:
            on[self.links[1]] = Force(total.moment + self.shift.cross(total.force), total.force) * -1.0
        return on

    def if_near(self, page: Callable[..., Any], *state: Any, otherwise: Any) -> Any:
        """What `page(*state)` gives where something is near, by one program for all patches alike; elsewhere `otherwise`."""
        return when(self.near, partial(call_shared, page, *state, name=page.__name__.strip("_")), otherwise)

    def sized(self, branch_factors: BranchFactors) -> ContactPatch:
        """The patch with the sizes of its points, which are only computed where something is near."""

        def sizes() -> list[tuple[Scalar, Scalar]]:
            links = branch_factors.jacobians.tree.links
            a, b = (
                inverse_link_inertia(branch_factors.jacobians, links[index], branch_factors.factors) if index >= 0 else None
                for index in self.links
            )
            state = (self.frames, a) if self.shift is None else (self.frames, a, b, self.shift)
            return call_shared(_sizes, *state, name="sizes")

        of_points = when(self.near, sizes, [(1.0, 1.0) for _ in self.points])
        points = (
            replace(point, frame=replace(point.frame, size=size, mass=mass))
            for point, (size, mass) in zip(self.points, of_points, strict=True)
        )
        return replace(self, points=tuple(points))


def contact_patches(
    jacobians: LinkJacobians,
    pairs: Sequence[Pair],
    v: Sequence[Scalar],
    v_free: Sequence[Scalar],
    h: Scalar,
    mechanism: Mechanism,
) -> list[ContactPatch]:
    """All patches at a state, their points not yet sized.

    Args:
        jacobians: of the tree at its posture.
        v: velocities (nv) before the step; v_free: after it, if nothing touched; h: the step [s].
    """
    tree = jacobians.tree
    before, after = jacobians.twists(v), jacobians.twists(v_free)
    fall, per_step = Vector3.of(mechanism.gravity).norm() * h, 1.0 / h
    found: list[tuple[tuple[int, int], Vector3 | None, list[ContactPoint]]] = []
    for links, group in groupby(enumerate(pairs), key=lambda item: item[1].links):
        shift = None
        if links[1] >= 0:
            shift = jacobians.origins[tree.links[links[0]]] - jacobians.origins[tree.links[links[1]]]
        velocity, freely = (_relative(jacobians, twists, links, shift) for twists in (before, after))
        points: list[ContactPoint] = []
        for number, pair in group:
            for touch in _touches(pair, *pair.poses(tree, jacobians.poses)):
                # on what stands still, not midway: points of a sole at different heights could not all stick while it tilts
                place = touch.on_b if shift is None else touch
                lever = place.point - jacobians.origins[tree.links[links[0]]]
                points.append(_point(place, number, pair.surface, lever, velocity, freely, h, per_step, 2.0 * fall))
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


def _sizes(frames: Sequence[ContactFrame], a: Dense, b: Dense | None = None, shift: Vector3 | None = None) -> Any:
    """Of every point the most velocity that a unit impulse along one of its axes gives it along this axis, and the inverse."""
    found = []
    for frame in frames:
        most: Scalar = SMALLEST
        for k, axis in enumerate(frame.axes):
            unit = Force(frame.lever.cross(axis), axis)
            twist = twist_of(a, unit)
            if b is not None and shift is not None:
                other = twist_of(b, Force(unit.moment + shift.cross(unit.force), unit.force))
                twist = twist + Motion(other.angular, other.linear + other.angular.cross(shift))
            most = maximum(most, frame.along(twist)[k])
        found.append((most, 1.0 / most))
    return found


def _relative(jacobians: LinkJacobians, twists: PerLink[Motion], links: tuple[int, int], shift: Vector3 | None) -> Motion:
    twist = twists[jacobians.tree.links[links[0]]]
    if shift is None:
        return twist
    other = twists[jacobians.tree.links[links[1]]]
    return twist - Motion(other.angular, other.linear + other.angular.cross(shift))


def _point(
    touch: Touch,
    pair: int,
    surface: Surface,
    lever: Vector3,
    before: Motion,
    after: Motion,
    h: Scalar,
    per_step: Scalar,
    resting: Scalar,
) -> ContactPoint:
    """The point, with what the velocities decide; per_step: 1 / h; a bounce slower than `resting` [m/s] is over soon."""
    axes = (touch.normal, *_tangents(touch.normal))
    bare = ContactFrame(lever, axes, surface.friction)
    velocity, free = tuple(bare.along(before)), tuple(bare.along(after))
    slid = velocity[1] * velocity[1] + velocity[2] * velocity[2] > AT_REST**2
    friction = surface.friction if surface.kinetic == surface.friction else select(slid, surface.kinetic, surface.friction)
    target = plastic = minimum(-touch.gap * per_step, RECOVERY)
    if surface.restitution > 0.0:
        # what acts all along the step acts on the way back, too: without that a ball would gain g h with every bounce
        back = minimum(free[0] - velocity[0], 0.0) - surface.restitution * velocity[0]
        arrives = both(touch.gap + h * minimum(velocity[0], free[0]) < 0.0, velocity[0] < -resting)
        target = select(arrives, maximum(plastic, back), plastic)
    stays = both(touch.gap < CLOSED * h, velocity[0] < CLOSED)
    initial_mode = (select(either(stays, free[0] < target), 0.0, 1.0), *(select(slid, part, 0.0) for part in velocity[1:]))
    return ContactPoint(
        touch, pair, surface, ContactFrame(lever, axes, friction), target, plastic, velocity, free, initial_mode
    )


def _touches(pair: Pair, X_WA: Transform, X_WB: Transform) -> list[Touch]:
    """Where two shapes touch; those that take some work are only asked where they come near each other."""
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
    """By the masses of the bodies of both links."""
    tree.check_physical("contact points")
    total = 0.0
    for index in links:
        if index >= 0:
            mass = float(tree.links[index].inertia.mass)
            total += 3.0 / (mass if mass > 1e-6 * tree.mass else tree.mass)
    return total


def _tangents(n: Vector3) -> tuple[Vector3, Vector3]:
    """Two unit vectors at right angles to n and to each other."""
    along_x = absolute(n.x) < 0.7
    across = n.cross(Vector3(select(along_x, 1.0, 0.0), select(along_x, 0.0, 1.0), 0.0))
    first = across * (1.0 / across.norm())
    return first, n.cross(first)
