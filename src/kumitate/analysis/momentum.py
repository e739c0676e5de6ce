"""Momenta of a mechanism and of its bodies, the maps from velocities to them, the motion of the center of mass (thesis 5.2)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from ..dynamics import chord_closings, free_springs, passive_force, pulls, spring_force
from ..kinematics import center_of_mass, chord_closing, link_poses, link_twists, place_pose, place_twist, rate, total_mass
from ..kinematics.poses import composite_inertias
from ..model import Body, Chord, Link, Mechanism, Tree
from ..scalar import Scalar, Scalars, call, directional, is_zero, trace
from ..spatial import Force, Motion, Transform, Vector3, dot
from .balance import momentum_rate


def momentum(tree: Tree, q: Scalars, v: Scalars) -> list[Scalar]:
    """[l; p] (6): angular momentum about the world's origin [kg·m²/s] and linear momentum [kg·m/s], in the world's axes.

    Raises:
        InputError: for a base-parameter tree.
    """
    tree.check_physical("momentum")
    poses, twists = link_poses(tree, q), link_twists(tree, q, v)
    return list(sum((link.inertia.times(twists[link]).to_parent(poses[link]) for link in tree.links), Force()))


def mass_center_motion(tree: Tree, q: Scalars, v: Scalars, vdot: Scalars) -> dict[str, list[Scalar]]:
    """The center of mass: its "position" [m], "velocity" [m/s] and "acceleration" [m/s²], each (3) in the world."""
    mass = total_mass(tree)

    def per_mass(parts: Scalars) -> list[Scalar]:
        return [part / mass if mass else 0.0 for part in parts]

    return {
        "position": center_of_mass(tree, q),
        "velocity": per_mass(momentum(tree, q, v)[3:]),
        "acceleration": per_mass(momentum_rate(tree, q, v, vdot)[3:]),
    }


def centroidal_momentum(tree: Tree, q: Scalars, v: Scalars) -> list[Scalar]:
    """[l; p] (6): angular momentum about the center of mass [kg·m²/s] and linear momentum [kg·m/s], in the world's axes."""
    return list(_about(center_of_mass(tree, q), momentum(tree, q, v)))


def centroidal_momentum_rate(tree: Tree, q: Scalars, v: Scalars, vdot: Scalars) -> list[Scalar]:
    """d/dt of `centroidal_momentum` (6) [N·m, N]: the motion of the center of mass adds no term, as its velocity is along p."""
    return list(_about(center_of_mass(tree, q), momentum_rate(tree, q, v, vdot)))


def _about(point: Scalars, wrench: Scalars) -> Force:
    """Moves the reference point of a momentum or wrench from the world's origin to a point; the axes are unchanged."""
    return Force.of(wrench).to_child(Transform(translation=Vector3.of(point)))


def body_momenta(mechanism: Mechanism, q: Scalars, v: Scalars) -> list[list[Scalar]]:
    """[l; p] (bodies, 6) of every body of the mechanism, in the order of `Mechanism.bodies`.

    About the world's origin and in its axes, so that their sum is `momentum`; zero for bodies fixed to the world.
    """
    tree = mechanism.tree
    poses, twists = link_poses(tree, q), link_twists(tree, q, v)

    def of_body(body: Body) -> list[Scalar]:
        place = tree.places[body.name]
        if place.link < 0:
            return [0.0] * 6
        link, own = tree.links[place.link], body.spatial_inertia().to_parent(place.pose)
        return list(own.times(twists[link]).to_parent(poses[link]))

    return [of_body(body) for body in mechanism.bodies]


def momentum_matrix(tree: Tree, q: Scalars) -> list[list[Scalar]]:
    """A (6, nv) with [l; p] = A v: about the world's origin and in its axes.

    Column i is the momentum of everything that joint i carries, moving as one rigid body.

    Raises:
        InputError: for a base-parameter tree.
    """
    tree.check_physical("momentum_matrix")
    poses, composites = link_poses(tree, q), composite_inertias(tree, q)
    columns = [
        composites[link][0].times(S).to_parent(poses[link])
        for link in tree.links
        for S in link.kind.subspace(link.coordinates(q))
    ]
    return [[column[i] for column in columns] for i in range(6)]


def centroidal_map(tree: Tree, q: Scalars, v: Scalars) -> dict[str, list[Any]]:
    """The map A with [l; p] = A v, and its rate: "matrix" A (6, nv), "rate" Ȧ (6, nv), "drift" Ȧ v (6).

    [l; p] is the centroidal momentum, in the world's axes and about the center of mass; A v̇ + Ȧ v is its rate.

    Raises:
        InputError: for a base-parameter tree.
    """

    def matrix(q: Any) -> list[list[Scalar]]:
        about_origin, center = momentum_matrix(tree, q), center_of_mass(tree, q)
        columns = (_about(center, column) for column in zip(*about_origin, strict=True))
        return [list(row) for row in zip(*columns, strict=True)]

    found = _with_rate(matrix, "matrix", tree, q, v)
    return found | {"drift": centroidal_momentum_rate(tree, q, v, [0.0] * tree.nv)}


def mass_center_jacobian(tree: Tree, q: Scalars, v: Scalars) -> dict[str, list[Any]]:
    """J with J v the velocity of the center of mass [m/s] in the world: "jacobian" J (3, nv), and its "rate" J̇ (3, nv).

    Raises:
        InputError: for a base-parameter tree.
    """
    mass = total_mass(tree)

    def jacobian(q: Any) -> list[list[Scalar]]:
        return [[entry / mass for entry in row] for row in momentum_matrix(tree, q)[3:]]

    return _with_rate(jacobian, "jacobian", tree, q, v)


def _with_rate(
    page: Callable[[Any], list[list[Scalar]]], name: str, tree: Tree, q: Scalars, v: Scalars
) -> dict[str, list[Any]]:
    """A matrix of q by its name, and its "rate" when the mechanism moves with v."""
    both = directional(trace(lambda q: {name: page(q)}, {"q": tree.nq}, name))
    found = call(both, list(q), rate(tree, q, v))
    return {name: found[name], "rate": found[f"{name}_dot"]}


# --- energies -------------------------------------------------------------------------------------------------------------
def kinetic_energy(tree: Tree, q: Scalars, v: Scalars) -> Scalar:
    """½ Σ V·I V of all links, and ½ Σ armature·v² of the drives [J]."""
    twists = link_twists(tree, q, v)
    total: Scalar = 0.0
    for link in tree.links:
        total = total + twists[link].dot(link.inertia.times(twists[link]))
        total = sum(_doubled(link.armature, link.velocities(v)), total)
    return 0.5 * sum(_doubled_of_chords(tree, q, v), total)


def potential_energy(tree: Tree, q: Scalars, gravity: Scalars) -> Scalar:
    """−m g·c (center of mass c, field `gravity` g [m/s²], 0 at the world's origin) plus ½k(q − rest)² of springs [J]."""
    weight = [total_mass(tree) * g for g in gravity]
    energy = -sum((w * c for w, c in zip(weight, center_of_mass(tree, q), strict=True)), 0.0)
    energy = sum((strain(link, link.coordinates(q)) for link in tree.links), energy)
    return sum(_strains_of_chords(tree, q), energy)


def chord_energies(tree: Tree, q: Scalars, v: Scalars) -> list[Scalar]:
    """The parts of `kinetic_energy` and `potential_energy` of the joints that close loops, apart from the links [J]."""
    return [0.5 * sum(_doubled_of_chords(tree, q, v), 0.0), sum(_strains_of_chords(tree, q), 0.0)]


def _doubled(armatures: Scalars, speeds: Scalars) -> list[Scalar]:
    return [armature * speed * speed for armature, speed in zip(armatures, speeds, strict=True)]


def _doubled_of_chords(tree: Tree, q: Scalars, v: Scalars) -> Iterator[Scalar]:
    for chord in tree.chords:
        yield from _doubled(chord.armature, chord_closing(tree, q, v, chord).rates)


def _strains_of_chords(tree: Tree, q: Scalars) -> Iterator[Scalar]:
    for chord in tree.chords:
        closing = chord_closing(tree, q, [0.0] * tree.nv, chord)
        springs = free_springs(chord, closing)
        yield from (0.5 * k * x * x for _, k, x in springs)
        if not springs:
            yield strain(chord, closing.coordinates)


def strain(joint: Link | Chord, coordinates: Scalars) -> Scalar:
    """½ k (q − rest)² of a joint's springs."""
    forces = spring_force(joint, coordinates)
    if all(is_zero(force) for force in forces):
        return 0.0
    return sum((0.5 * f * (x - rest) for f, x, rest in zip(forces, coordinates, joint.rest, strict=True)), 0.0)


def powers(
    tree: Tree,
    q: Scalars,
    v: Scalars,
    tau: Scalars,
    *,
    gravity: Scalars,
    wrenches: Mapping[str, Scalars] | None = None,
    loop_tau: Mapping[str, Scalars] | None = None,
) -> dict[str, Any]:
    """The power of each source [W], negative where it removes energy; constraint forces of joints do no work.

    Their sum is the rate of the kinetic energy; without "gravity" and "springs" it is the rate of the total energy, which
    includes the potential energy of these two.

    Args:
        tau: the drives' forces (nv) [N·m, N].
        gravity: acceleration of free fall in the world [m/s²].
        wrenches: [n; f] (6) by name of the body or frame they act on: axes of the world, about its origin.
        loop_tau: forces of drives along the degrees of freedom of loop joints, by the loop's name.

    Returns:
        "drives", "damping" (with dry friction and the forces of nonlinear lines) and "springs" by degree of freedom, first
        those of the tree in the order of v, then those of loop joints; "wrenches", one per place, in the order given;
        "gravity".
    """
    found: dict[str, list[Scalar]] = {"drives": [], "damping": [], "springs": []}

    def add(joint: Link | Chord, efforts: Scalars, coordinates: Scalars, rates: Scalars, own: Scalars) -> None:
        lost = (passive + pull for passive, pull in zip(passive_force(joint, rates), own, strict=True))
        n = len(joint.stiffness)  # coordinates that are not angles or lengths have no springs
        springs = spring_force(joint, coordinates) if len(coordinates) == n else [0.0] * n
        found["drives"] += [force * rate for force, rate in zip(efforts, rates, strict=True)]
        found["damping"] += [-force * rate for force, rate in zip(lost, rates, strict=True)]
        found["springs"] += [-force * rate for force, rate in zip(springs, rates, strict=True)]

    for link in tree.links:
        add(link, link.velocities(tau), link.coordinates(q), link.velocities(v), (0.0,) * link.kind.nv)
    for chord, closing in zip(tree.chords, chord_closings(tree, q, v), strict=True):
        efforts = (loop_tau or {}).get(chord.name, (0.0,) * len(closing.rates))
        add(chord, efforts, closing.coordinates, closing.rates, pulls(chord, closing))

    poses, twists = link_poses(tree, q), link_twists(tree, q, v)
    pushed = []
    for name, wrench in (wrenches or {}).items():
        R = place_pose(tree, poses, tree.places[name]).rotation
        twist = place_twist(tree, twists, tree.places[name])
        pushed.append(dot(Motion(R.rotate(twist.angular), R.rotate(twist.linear)), wrench))
    return {**found, "wrenches": pushed, "gravity": dot(gravity, momentum(tree, q, v)[3:])}
