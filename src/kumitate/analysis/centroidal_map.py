"""The linear maps from velocities to the centroidal momentum and to the velocity of the center of mass, and their rates."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..kinematics import center_of_mass, rate, total_mass
from ..model import Tree
from ..scalar import Scalar, call, directional, trace
from ..spatial import Vector3
from .centroidal import centroidal_momentum_rate, momentum_matrix


def centroidal_map(tree: Tree, q: Sequence[Scalar], v: Sequence[Scalar]) -> dict[str, list[Any]]:
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


def mass_center_jacobian(tree: Tree, q: Sequence[Scalar], v: Sequence[Scalar]) -> dict[str, list[Any]]:
    """J with J v the velocity of the center of mass [m/s] in the world: "jacobian" J (3, nv), and its "rate" J̇ (3, nv).

    Raises:
        InputError: for a base-parameter tree.
    """
    mass = total_mass(tree)

    def jacobian(q: Any) -> list[list[Scalar]]:
        return [[entry / mass for entry in row] for row in momentum_matrix(tree, q)[3:]]

    return _with_rate(jacobian, "jacobian", tree, q, v)


def _with_rate(
    page: Callable[[Any], list[list[Scalar]]], name: str, tree: Tree, q: Sequence[Scalar], v: Sequence[Scalar]
) -> dict[str, list[Any]]:
    """A matrix of q by its name, and its "rate" when the mechanism moves with v."""
    both = directional(trace(lambda q: {name: page(q)}, {"q": tree.nq}, name))
    found = call(both, list(q), rate(tree, q, v))
    return {name: found[name], "rate": found[f"{name}_dot"]}
