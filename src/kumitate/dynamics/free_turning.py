"""The free turning of single bodies in a step, of order two in their gyroscopic torque, as steps with contact need it."""

from __future__ import annotations

from ..model import Link, Tree
from ..scalar import Scalar, Scalars, maximum, select
from ..spatial import Symmetric3, Vector3

#: An inertia whose determinant is below this part of the cube of its trace is that of a point or a rod: no torque of its own.
FLAT = 1e-12


def lone_bodies(tree: Tree) -> list[Link]:
    """The links that move freely in the world and carry no other."""
    held = {end.link for chord in tree.chords for end in (chord.base, chord.follower)}
    free = (link for link in tree.children(-1) if (link.kind.nq, link.kind.nv) == (7, 6))
    return [link for link in free if not tree.children(link.index) and link.index not in held]


def turned_freely(tree: Tree, v: Scalars, h: Scalar) -> list[Scalar]:
    """The change of v (nv) in a time h by the gyroscopic torques of lone bodies; zero for all other links.

    One linearly implicit step of the midpoint rule on I ω̇ = −ω × I ω: (I + h/2 G) Δω = −h ω × I ω with G = ∂(ω × I ω)/∂ω =
    [ω] I − [I ω] (Hairer and Wanner, Solving Ordinary Differential Equations II, IV.7). About an axis of symmetry it turns ω
    and keeps its length, where an explicit step makes it longer by the part (h Ω)²/2, Ω being the rate at which it turns.
    """
    return _changes(tree, v, h, 0.5)


def turned_more(tree: Tree, v: Scalars, h: Scalar) -> list[Scalar]:
    """By how much `turned_freely` differs from an explicit step."""
    explicit = _changes(tree, v, h, 0.0)
    return [ours - theirs for ours, theirs in zip(_changes(tree, v, h, 0.5), explicit, strict=True)]


def _changes(tree: Tree, v: Scalars, h: Scalar, implicit: float) -> list[Scalar]:
    found: list[Scalar] = [0.0] * tree.nv
    for link in lone_bodies(tree):
        center = link.inertia.first_moment * (1.0 / link.inertia.mass)
        central = link.inertia.rotational + _about(center, -link.inertia.mass)
        turn = turn_of(central, Vector3.of(link.velocities(v)[:3]), h, implicit * h)
        # the center of mass goes on as it did
        found[link.v_start : link.v_start + 6] = [*turn, *center.cross(turn)]
    return found


def turn_of(central: Symmetric3, omega: Vector3, h: Scalar, ahead: Scalar) -> Vector3:
    """Δω of (I + ahead · G) Δω = −h ω × I ω, with the inertia I about the center of mass; zero for points and rods."""
    spin = central @ omega
    units = (Vector3(1.0, 0.0, 0.0), Vector3(0.0, 1.0, 0.0), Vector3(0.0, 0.0, 1.0))
    columns = [central @ unit + (omega.cross(central @ unit) - spin.cross(unit)) * ahead for unit in units]
    a, b, c = columns
    whole, trace = a.dot(b.cross(c)), central.xx + central.yy + central.zz
    least = FLAT * trace * trace * trace
    push = spin.cross(omega) * (h / maximum(whole, maximum(least, 1e-300)))
    turn = Vector3(push.dot(b.cross(c)), push.dot(c.cross(a)), push.dot(a.cross(b)))  # by Cramer's rule
    return Vector3(*(select(whole <= least, 0.0, part) for part in turn))


def _about(c: Vector3, mass: Scalar) -> Symmetric3:
    """The inertia of a point about an origin at −c."""
    square = c.dot(c)
    return Symmetric3(
        mass * (square - c.x * c.x), mass * (square - c.y * c.y), mass * (square - c.z * c.z),
        -mass * c.x * c.y, -mass * c.x * c.z, -mass * c.y * c.z,
    )  # fmt: skip
