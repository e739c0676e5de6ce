"""Momenta of a mechanism and of its bodies, the maps from velocities to them, the motion of the center of mass (thesis 5.2)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..kinematics import center_of_mass, link_poses, link_twists, rate, total_mass
from ..kinematics.poses import composite_inertias
from ..model import Mechanism, Tree
from ..scalar import Scalar, Scalars, call, directional, trace
from ..spatial import Force, Transform, Vector3
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
    found: list[list[Scalar]] = []
    for body in mechanism.bodies:
        place = tree.places[body.name]
        if place.link < 0:
            found.append([0.0] * 6)
            continue
        link = tree.links[place.link]
        own = body.spatial_inertia().to_parent(place.pose)
        found.append(list(own.times(twists[link]).to_parent(poses[link])))
    return found


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
        about_origin, center = momentum_matrix(tree, q), Vector3.of(center_of_mass(tree, q))
        columns = []
        for column in zip(*about_origin, strict=True):
            turning, moving = Vector3.of(column[:3]), Vector3.of(column[3:])
            columns.append([*(turning - center.cross(moving)), *moving])
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
