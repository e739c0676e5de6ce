"""Connections, which assembly closes: joints of the tree and chords, each between two handles, and gears between joints.

A connection has its own space: the six directions of the frame J in which a joint is closed, or the single direction of a gear.
In this space it gives the motion of one side relative to the other, and the effect of its forces on the handles.

Articulated bodies described at their handles, as in ADA and DCA: V̇_a = Σ Φ_ab F_b + B_a (thesis eq. 2.4).

A handle is a link that further joints will act on, taken at its center of mass and in its own axes: there the Φ of a rigid body
has few entries, and all joints of a link share it. V̇ is the classical acceleration [α; a] of `link_motions`, at the handle but
without the centripetal term from the link's origin to it; B contains the contributions of velocities and drives.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from ...model import Tree
from ...scalar import Scalar, Scalars, is_zero
from ...spatial import Dense, Force, InverseInertia, Motion, Transform
from ..loops.constraints import DAMPING


@dataclass(frozen=True)
class Route:
    """A sequence of poses from an outer frame to an inner one, applied one after the other rather than multiplied."""

    poses: tuple[Transform, ...]

    def outward(self, thing: Any) -> Any:
        """Transforms a motion, a force or an inverse inertia from the inner frame to the outer one."""
        for X in reversed(self.poses):
            thing = thing.to_parent(X)
        return thing

    def inward(self, thing: Any) -> Any:
        """Transforms a motion, a force or an inverse inertia from the outer frame to the inner one."""
        for X in self.poses:
            thing = thing.to_child(X)
        return thing

    def inverse(self) -> Route:
        """The inverse route: each pose is undone by its rotation, then its translation."""
        back = [(Transform(X.rotation.inverse()), Transform(translation=-X.translation)) for X in reversed(self.poses)]
        return Route(tuple(X for pair in back for X in pair))


@dataclass(frozen=True)
class Bodies:
    """A set of articulated bodies (2.4).

    Attributes:
        Phi, B: Φ_aa and B_a by the link's index.
        between: Φ_ab by a, then by b, and also by b, then a; absent where forces at b have no effect at a.
    """

    Phi: Mapping[int, InverseInertia]
    B: Mapping[int, Motion]
    between: Mapping[int, Mapping[int, Dense]]

    def coupled(self, handle: int) -> list[int]:
        """The handles that accelerate under a force at this one, including itself."""
        return [handle, *self.between.get(handle, ())]

    def response(self, handle: int, forces: Mapping[int, Force]) -> Motion:
        """The contribution of forces on handles, by link index, to V̇ at one handle: Σ Φ_ab F_b."""
        others = (other for other in self.coupled(handle) if other in forces)
        return sum((self._answer(handle, other, forces[other]) for other in others), Motion())

    def _answer(self, handle: int, other: int, force: Force) -> Motion:
        """Φ_ab F_b."""
        if handle == other:
            return self.Phi[handle].times(force)
        return Motion.of((self.between[handle][other] @ Dense.column(force)).entries())

    def block(self, handle: int, other: int) -> Dense | None:
        """Φ_ab, or None where it is zero."""
        return self.Phi[handle].matrix() if handle == other else self.between.get(handle, {}).get(other)


def heavy_freedoms(armature: Scalars) -> list[int]:
    """The degrees of freedom with an armature; symbolic values count as nonzero."""
    return [k for k, a in enumerate(armature) if not is_zero(a)]


@dataclass(frozen=True)
class Holding:
    """The constraint forces T λ of a connection, and its compliance: Tᵀ(relative acceleration of A and B) = (… + softness) λ.

    Attributes:
        T: one column per force.
        softness: the compliance, one value per column.
        angular: whether each column is a moment.
    """

    T: Dense
    softness: tuple[Scalar, ...]
    angular: tuple[bool, ...]

    def damping(self, tree: Tree) -> list[float]:
        """The damping of Tᵀ Ψ T where it may be singular, one value per column."""
        return [DAMPING / tree.mass * (tree.size**-2 if turning else 1.0) for turning in self.angular]


@dataclass(frozen=True)
class HandleResponse:
    """The effect of forces in a connection's space at a handle: sign · block (6, size of the space)."""

    block: Dense
    sign: float

    @property
    def empty(self) -> bool:
        """Whether they have no effect."""
        return all(is_zero(x) for x in self.block.entries())


class Connection(Protocol):
    """A connection that assembly can close: a joint, a chord or a gear."""

    @property
    def handles(self) -> tuple[int, ...]:
        """The links (or the world) that it acts on."""

    @property
    def drift(self) -> Scalars:
        """The part of `excess` that velocities cause."""

    @property
    def holding(self) -> Holding:
        """Its constraint forces."""

    def excess(self, V: Callable[[int], Motion]) -> list[Scalar]:
        """The acceleration of A relative to B when the handles accelerate with V."""

    def mobility(self, bodies: Bodies) -> Dense:
        """Ψ: the acceleration of B relative to A per force in the connection's space."""

    def reach(self, bodies: Bodies, handle: int) -> HandleResponse:
        """The acceleration of a handle per force in the connection's space."""

    def pull(self, force: Scalars) -> dict[int, Force]:
        """The forces on handles that a force in the connection's space amounts to."""


#: The index of the world.
WORLD = -1


def carriers(tree: Tree) -> dict[int, int]:
    """The index of the link (or the world) that carries a link, by the link's index."""
    return {child.index: index for index in (WORLD, *(link.index for link in tree.links)) for child in tree.children(index)}


def connected_links(tree: Tree) -> list[tuple[int, ...]]:
    """The links (or the world) that each joint, chord and gear constrains to one another; empty if it only applies forces."""
    held: list[tuple[int, ...]] = []
    carried_by = carriers(tree)
    for link in tree.links:
        held.append((carried_by[link.index], link.index) if link.kind.rows or heavy_freedoms(link.armature) else ())
    for chord in tree.chords:
        ends = (chord.base.link, chord.follower.link)
        held.append(ends if ends[0] != ends[1] and (chord.closure.rows or heavy_freedoms(chord.armature)) else ())
    at = {link.v_start + k: (carried_by[link.index], link.index) for link in tree.links for k in range(link.kind.nv)}
    return held + [tuple(dict.fromkeys(end for k, _ in gear.v_ratios for end in at[k])) for gear in tree.gears]


def loop_closers(tree: Tree, order: Sequence[int]) -> set[int]:
    """Those that close a loop when connections are closed in this order, their links being connected already; and all gears."""
    held = connected_links(tree)
    body = {index: index for index in range(WORLD, len(tree.links))}  # named by one of its links
    closers = set(range(len(tree.links) + len(tree.chords), len(held)))
    for j in order:
        names = {body[end] for end in held[j]}
        if len(names) < len(held[j]):
            closers.add(j)
        body = {index: min(names) if name in names else name for index, name in body.items()}
    return closers


@dataclass(frozen=True)
class JointConnection:
    """A joint between A and B, the links (or the world) a and b, closed in a frame J (thesis eq. 2.14-2.18, 3.12-3.16).

    Attributes:
        S: the motion subspace; empty for chords, which are closed by their constraint forces.
        T_a, T: the force subspaces.
        armature: along each degree of freedom.
        drive: the force of the drive on B, T_a τ; it acts on both links before they are assembled.
        bias: the part of the relative acceleration that velocities cause.
        outer, inner: the routes from handle a to J, and from J to handle b.
    """

    a: int
    b: int
    S: Dense | None
    T_a: tuple[Force, ...]
    T: tuple[Force, ...]
    armature: tuple[Scalar, ...]
    drive: Force
    bias: Motion
    outer: Route
    inner: Route

    @property
    def handles(self) -> tuple[int, ...]:
        return (self.a, self.b)

    @property
    def drift(self) -> list[Scalar]:
        return list(self.bias)

    @property
    def holding(self) -> Holding:
        """With an armature a, the joint is not free along T_a: it is a constraint with compliance 1/a."""
        heavy = heavy_freedoms(self.armature)
        held = [*self.T, *(self.T_a[k] for k in heavy)]
        softness = [0.0] * len(self.T) + [1.0 / self.armature[k] for k in heavy]
        angular = [all(is_zero(x) for x in T.force) for T in held]
        return Holding(Dense.columns([list(T) for T in held]), tuple(softness), tuple(angular))

    def excess(self, V: Callable[[int], Motion]) -> list[Scalar]:
        return list(self.outer.inward(V(self.a)) - self.inner.outward(V(self.b)))

    def rates(self, V: Callable[[int], Motion]) -> list[Scalar]:
        """v̇ of the joint (2.22)."""
        relative = self.inner.outward(V(self.b)) - self.outer.inward(V(self.a)) - self.bias
        return [relative.dot(T) for T in self.T_a]

    def mobility(self, bodies: Bodies) -> Dense:
        alone = (self.outer.inward(bodies.Phi[self.a]) + self.inner.outward(bodies.Phi[self.b])).matrix()
        crossing = bodies.block(self.a, self.b)
        if crossing is None:
            return alone
        at_a = _by_forces(crossing, self.inner.inverse())
        at_joint = Dense.columns([list(self.outer.inward(Motion.of(column))) for column in zip(*at_a.rows, strict=True)])
        return alone - at_joint - at_joint.T

    def reach(self, bodies: Bodies, handle: int) -> HandleResponse:
        by_a, by_b = bodies.block(handle, self.a), bodies.block(handle, self.b)
        if by_b is None:
            return HandleResponse(Dense.zero(6, 6) if by_a is None else _by_forces(by_a, self.outer), -1.0)
        from_b = _by_forces(by_b, self.inner.inverse())
        return HandleResponse(from_b if by_a is None else from_b - _by_forces(by_a, self.outer), 1.0)

    def pull(self, force: Scalars) -> dict[int, Force]:
        F = Force.of(force)
        if self.a == self.b:
            return {}  # within one rigid body, force and reaction cancel
        return {self.a: self.outer.outward(F) * -1.0, self.b: self.inner.inward(F)}


def _by_forces(block: Dense, to_joint: Route) -> Dense:
    """Φ_ab for forces in the inner frame of a route that starts at handle b; its rows transform like motions."""
    return Dense.of(to_joint.inward(Motion.of(row)) for row in block.rows)


@dataclass(frozen=True)
class GearConnection:
    """A linear relation between joint velocities.

    `units`: the forces on handles per unit force of the gear; `given`: the part of its acceleration that velocities cause."""

    units: Mapping[int, Force]
    given: Scalar

    @classmethod
    def of(cls, joints: Sequence[tuple[JointConnection, int, Scalar]]) -> GearConnection:
        """From terms (joint, index of the degree of freedom, coefficient)."""
        units: dict[int, Force] = {}
        given: Scalar = 0.0
        for joint, k, ratio in joints:
            T = joint.T_a[k] * ratio
            given = given + joint.bias.dot(T)
            for handle, force in joint.pull(list(T)).items():
                units[handle] = units[handle] + force if handle in units else force
        return cls(units, given)

    @property
    def handles(self) -> tuple[int, ...]:
        return tuple(self.units)

    @property
    def drift(self) -> list[Scalar]:
        return [self.given]

    @property
    def holding(self) -> Holding:
        return Holding(Dense.of([[1.0]]), (0.0,), (True,))

    def excess(self, V: Callable[[int], Motion]) -> list[Scalar]:
        return [sum((V(handle).dot(unit) * -1.0 for handle, unit in self.units.items()), 0.0)]

    def mobility(self, bodies: Bodies) -> Dense:
        return Dense.of([[sum((bodies.response(h, self.units).dot(unit) for h, unit in self.units.items()), 0.0)]])

    def reach(self, bodies: Bodies, handle: int) -> HandleResponse:
        return HandleResponse(Dense.column(bodies.response(handle, self.units)), 1.0)

    def pull(self, force: Scalars) -> dict[int, Force]:
        return {handle: unit * force[0] for handle, unit in self.units.items()}
