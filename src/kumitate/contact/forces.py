"""Contact as ordinary forces: the forces of all contact points at a state, on the links, with their power."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from typing import Protocol

from ..kinematics import link_poses, link_twists
from ..model import Mechanism, Tree
from ..scalar import Scalar, Scalars, minimum, when
from ..scalar.reuse import call_shared
from ..spatial import Force, Motion, Transform, Vector3
from .pairs import Touch, touches
from .scene import Contact, Pair, VariedPairs, contact_pairs
from .surface import Surface, VariedSurface


class ForceModel(Protocol):
    """A contact model that gives the force at a point at any time."""

    @property
    def reach(self) -> float:
        """The gap above which the force is zero [m]."""

    def force(self, gap: Scalar, normal: Vector3, velocity: Vector3, surface: Surface | VariedSurface) -> Vector3:
        """The force on A [N] from the gap [m], the normal from B to A, and A's velocity relative to B [m/s], in one frame."""

    def stored(self, depth: Scalar) -> Scalar:
        """The energy that a point gives back as it leaves a depth of zero or more [m] slowly [J]."""


@dataclass(frozen=True)
class PressedPoint:
    """A possible contact point at a state, in the axes and from the origin of the world."""

    position: Vector3  # where the force acts [m]
    normal: Vector3  # from B to A
    gap: Scalar  # [m], negative where they overlap
    velocity: Vector3  # of A relative to B there [m/s]; zero where the whole pair of shapes is out of reach
    force: Vector3  # on A [N]


@dataclass(frozen=True)
class Pressed:
    """All contact forces at a state."""

    points: tuple[PressedPoint, ...]  # those of all pairs, in the order of the pairs
    by_link: dict[int, Force]  # the wrench on each link that can be touched, by its index, in its frame and about its origin
    power: Scalar  # of all forces [W]


@dataclass(frozen=True)
class ContactForces:
    """The pairs of shapes of a mechanism that can touch, and the model of the forces between them.

    Attributes:
        pairs: the pairs of shapes, with links of `tree`.
    """

    tree: Tree
    pairs: Sequence[Pair]
    model: ForceModel

    @classmethod
    def of(cls, mechanism: Mechanism, contact: Contact, model: ForceModel) -> ContactForces:
        """The contact forces of a mechanism, on its base-parameter tree; errors as for `contact_pairs`."""
        tree = mechanism.base_parameter_tree
        return cls(tree, contact_pairs(mechanism, tree, contact), model)

    def at(self, q: Scalars, v: Scalars, varied: VariedPairs | None = None, left_out: Scalars = ()) -> Pressed:
        """The forces at q (nq) and v (nv); `varied`: surfaces that are not those of the pairs.

        Between a body and the world they act at the surface of A (Y 10.1), between moving bodies midway between both surfaces.
        Points count as less deep than they are by what is `left_out` [m]; nothing by default.
        """
        tree = self.tree
        poses, twists = link_poses(tree, q), link_twists(tree, q, v)
        touched = sorted({index for pair in self.pairs for index in pair.links if index >= 0})
        moving = {index: _Moving.of(poses[tree.links[index]], twists[tree.links[index]]) for index in touched}
        points: list[PressedPoint] = []
        on: dict[int, Force] = dict.fromkeys(moving, Force())
        power: Scalar = 0.0
        for pair in self.pairs if varied is None else map(varied.pair, self.pairs):
            X_WA, X_WB = pair.poses(tree, poses)
            found = touches(pair.geometries[0].shape, X_WA, pair.geometries[1].shape, X_WB)
            a, b = (moving.get(index, _STILL) for index in pair.links)
            places = [touch.point if pair.links[1] >= 0 else touch.point + touch.normal * (0.5 * touch.gap) for touch in found]
            counted = found
            if len(left_out):
                first = len(points)
                more = left_out[first : first + len(found)]
                counted = [replace(touch, gap=touch.gap + part) for touch, part in zip(found, more, strict=True)]
            near = reduce(minimum, (touch.gap for touch in counted)) < self.model.reach
            state = (tuple(counted), tuple(places), a, b)
            known, varied_one = (pair.surface, ()) if isinstance(pair.surface, Surface) else (None, (pair.surface,))
            # symbols are arguments, not parts of a page
            acting = partial(call_shared, _Pressing(self.model, known), *state, *varied_one, name="pressing")
            nothing = _Acting((Vector3(),) * len(found), (Vector3(),) * len(found), Force(), Force(), 0.0)
            now = when(near, acting, nothing)
            for touch, position, u, f in zip(found, places, now.velocities, now.forces, strict=True):
                points.append(PressedPoint(position, touch.normal, touch.gap, u, f))
            power = power + now.power
            for index, wrench in zip(pair.links, (now.on_a, now.on_b), strict=True):
                if index >= 0:
                    on[index] = on[index] + wrench
        turns = {index: poses[tree.links[index]].rotation for index in on}  # from the axes of the world to those of each link
        seen = {k: Force(turns[k].unrotate(wrench.moment), turns[k].unrotate(wrench.force)) for k, wrench in on.items()}
        return Pressed(tuple(points), seen, power)


@dataclass(frozen=True)
class _Pressing:
    """The forces of a pair of shapes, as one program for all pairs of the same kind."""

    model: ForceModel
    surface: Surface | None = None

    def __call__(
        self, found: Sequence[Touch], places: Sequence[Vector3], a: _Moving, b: _Moving, varied: VariedSurface | None = None
    ) -> _Acting:
        surface = varied or self.surface
        assert surface is not None
        velocities = [a.velocity(place) - b.velocity(place) for place in places]
        forces = [self.model.force(touch.gap, touch.normal, u, surface) for touch, u in zip(found, velocities, strict=True)]
        power: Scalar = 0.0
        for force, u in zip(forces, velocities, strict=True):
            power = power + force.dot(u)
        return _Acting(tuple(velocities), tuple(forces), a.wrench(places, forces), b.wrench(places, forces) * -1.0, power)


@dataclass(frozen=True)
class _Acting:
    """The forces of a pair, and their resultants about the origins of both links, in the axes of the world."""

    velocities: tuple[Vector3, ...]
    forces: tuple[Vector3, ...]
    on_a: Force
    on_b: Force
    power: Scalar


@dataclass(frozen=True)
class _Moving:
    """The motion of a link: its origin, and its twist there, in the axes of the world."""

    origin: Vector3
    twist: Motion

    @classmethod
    def of(cls, X_WL: Transform, V_WL_L: Motion) -> _Moving:
        R = X_WL.rotation
        return cls(X_WL.translation, Motion(R.rotate(V_WL_L.angular), R.rotate(V_WL_L.linear)))

    def velocity(self, p_W: Vector3) -> Vector3:
        """The velocity of the link's point that is now at p_W."""
        return self.twist.linear + self.twist.angular.cross(p_W - self.origin)

    def wrench(self, places: Sequence[Vector3], forces: Sequence[Vector3]) -> Force:
        """The resultant of forces about the link's origin."""
        moments = [(p_W - self.origin).cross(force) for p_W, force in zip(places, forces, strict=True)]
        return Force(sum(moments, Vector3()), sum(forces, Vector3()))


#: The world.
_STILL = _Moving(Vector3(), Motion())
