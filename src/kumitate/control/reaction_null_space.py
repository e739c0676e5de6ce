"""The reaction null space: joint motions that give a base link no momentum (thesis 6.1, 6.3.2).

The equations of motion are partitioned at any base link f (thesis eq. 6.1): V_f is its velocity [ω; v], θ̇ the rates of all
joints except the one by which the mechanism floats. M_f V_f + M_fl θ̇ is the total momentum. With the base at rest, joint rates
in the null space of M_fl have zero momentum: no reaction acts on the base.

All functions take numbers or symbols. A system may float (its base any of its bodies) or be fixed to the world (base "world").

Torques that move the joints without a reaction on the base: the reaction null space as a controller (T-6.1).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..analysis import momentum_matrix, momentum_rate
from ..dynamics import crba, rnea, solve_symmetric
from ..errors import ModelError
from ..kinematics import center_of_mass, jacobian, jacobian_rate, link_poses, place_pose
from ..kinematics.poses import whole_inertia
from ..model import Link, Place, Tree
from ..scalar import Scalar, Scalars
from ..spatial import Dense, Force, Motion, Transform, Vector3, dot, nearest_solution
from .controllers import CompiledPage, Controller, mechanism_of

#: Damping of the coupling, relative to the whole mass moving with the joints; rows that couple less are ignored smoothly.
DAMPING = 1e-10
_ALL = (0, 1, 2, 3, 4, 5)


@dataclass(frozen=True)
class BasePartition:
    """Inertia partitioned at the base link (thesis eq. 6.1), in world axes, about the base's origin or the center of mass.

    Attributes:
        M_f: (6, 6) of the whole mechanism as one rigid body that moves with the base.
        M_fl: (6, n) coupling inertia: momentum of unit joint rates with the base at rest.
        M_l: (n, n) of the joints with the base at rest.
        joints: indices of the n joint rates in v.
    """

    M_f: list[list[Scalar]]
    M_fl: list[list[Scalar]]
    M_l: list[list[Scalar]]
    joints: list[int]


def partition(tree: Tree, q: Scalars, base: str = "world", *, about_mass_center: bool = False) -> BasePartition:
    """The inertia of a mechanism, partitioned at a body or frame.

    Args:
        tree: the mechanism's (`Mechanism.tree`).
        q: coordinates (nq).
        base: a body or frame of a mechanism that floats by one joint of six degrees of freedom; "world" for one that is fixed
            there.
        about_mass_center: whether momentum, and V_f's linear part, are taken at the center of mass instead of the base's
            origin. The angular rows of M_fl are then what turns a base that is free to move: M_f is block diagonal.

    Raises:
        ModelError: if the mechanism does not float and the base is not the world, or the other way round; InputError: for a
            base-parameter tree.
    """
    tree.check_physical("partition")
    root, place = _base(tree, base)
    p_B = place_pose(tree, link_poses(tree, q), place).translation
    p = Vector3.of(center_of_mass(tree, q)) if about_mass_center else p_B
    at = Transform(translation=p)
    whole = whole_inertia(tree, q).to_parent(Transform(translation=-p))
    units = [Motion.of([1.0 if i == k else 0.0 for i in range(6)]) for k in range(6)]
    M_f = Dense.columns([whole.times(unit) for unit in units])
    joints = actuated_columns(tree, base)
    momenta = list(zip(*momentum_matrix(tree, q), strict=True))
    A = Dense.columns([Force.of(momenta[k]).to_child(at) for k in joints])
    M = crba(tree, q)
    M_l = Dense.of([[M[i][j] for j in joints] for i in joints])
    M_fl = A
    if root is not None:
        shift = Transform(translation=p - p_B)
        velocities = list(zip(*jacobian(tree, q, place), strict=True))
        J = Dense.columns([Motion.of(velocities[k]).to_child(shift) for k in joints])
        M_fl = A - M_f @ J  # the root moves so that the base stays at rest
        M_l = M_l - J.T @ A - (A - M_f @ J).T @ J
    rows = [[list(row) for row in matrix.rows] for matrix in (M_f, M_fl, M_l)]
    return BasePartition(rows[0], rows[1], rows[2], joints)


def reactionless_velocity(
    tree: Tree,
    q: Scalars,
    wish: Scalars,
    base: str = "world",
    *,
    rows: Sequence[int] = _ALL,
    about_mass_center: bool = False,
    weights: Sequence[float] | None = None,
) -> list[Scalar]:
    """The joint rates θ̇ = N_fl b (n) nearest to desired ones b (n) that have no momentum along `rows` (thesis eq. 6.9).

    The projector is smooth: where the coupling loses rank, directions are released gradually, at about 1e-10 of the whole
    inertia.

    Args:
        rows: of [l; p], in the axes of the world; (3,) keeps the x of the center of mass (thesis 6.3.2).
        weights: of the norm that defines "nearest", one per joint rate; 1 by default.
    """
    coupling = _chosen(tree, partition(tree, q, base, about_mass_center=about_mass_center).M_fl, rows)
    return _nearest(coupling, [0.0] * len(rows), wish, weights)


def reactionless_acceleration(
    tree: Tree,
    q: Scalars,
    v: Scalars,
    wish: Scalars,
    base: str = "world",
    *,
    rows: Sequence[int] = _ALL,
    about_mass_center: bool = False,
    weights: Sequence[float] | None = None,
    decay: Scalar = 0.0,
) -> list[Scalar]:
    """The nearest joint accelerations (n) that keep the momentum constant: −M_fl⁺ Ṁ_fl θ̇ + N_fl ζ (thesis eq. 6.4).

    Args:
        v: velocities (nv), of which the joints' are read.
        decay: a rate [1/s] at which existing momentum decays.
        others: as in `reactionless_velocity`.
    """
    parted = partition(tree, q, base, about_mass_center=about_mass_center)
    coupling = _chosen(tree, parted.M_fl, rows)
    reaction = reaction_rate(tree, q, v, base, about_mass_center=about_mass_center)
    rate = [_scaled(tree, row, reaction[row]) for row in rows]
    rates = [v[k] for k in parted.joints]
    wanted = [-(x + decay * dot(row, rates)) for x, row in zip(rate, coupling, strict=True)]
    return _nearest(coupling, wanted, wish, weights)


def reaction_rate(tree: Tree, q: Scalars, v: Scalars, base: str = "world", *, about_mass_center: bool = False) -> list[Scalar]:
    """Ṁ_fl θ̇ (6): the rate of the momentum at constant joint rates with the base at rest [N·m, N]."""
    root, place = _base(tree, base)
    p_B = place_pose(tree, link_poses(tree, q), place).translation
    p = Vector3.of(center_of_mass(tree, q)) if about_mass_center else p_B
    coasting: list[Scalar] = [0.0] * tree.nv
    moving = list(v)
    if root is not None:
        own = range(root.v_start, root.v_start + root.kind.nv)
        for k in own:
            moving[k] = 0.0
        J, at_rest = jacobian(tree, q, place), list(moving)
        for k, rate in zip(own, _root_rates(tree, q, root, p_B, [-dot(row, at_rest) for row in J]), strict=True):
            moving[k] = rate
        drift = [-dot(row, moving) for row in jacobian_rate(tree, q, moving, place)]
        for k, rate in zip(own, _root_rates(tree, q, root, p_B, drift), strict=True):
            coasting[k] = rate
    return list(Force.of(momentum_rate(tree, q, moving, coasting)).to_child(Transform(translation=p)))


def actuated_columns(tree: Tree, base: str = "world") -> list[int]:
    """The indices of the joint rates θ̇ in v: all but those of the joint by which the mechanism floats."""
    root, _ = _base(tree, base)
    own = range(0) if root is None else range(root.v_start, root.v_start + root.kind.nv)
    return [k for k in range(tree.nv) if k not in own]


def _base(tree: Tree, base: str) -> tuple[Link | None, Place]:
    """The joint by which the mechanism floats (None if the base is the world), and the base link."""
    if base not in tree.places:
        raise ModelError(f"the base {base!r} is not a body or frame; there are {', '.join(tree.places)}")
    roots, place = tree.children(-1), tree.places[base]
    floats = len(roots) == 1 and roots[0].kind.nv == 6
    if place.link < 0:
        if floats:
            raise ModelError(f"the mechanism floats by {roots[0].name!r}: name one of its bodies as the base, not {base!r}")
        return None, place
    if not floats:
        names = ", ".join(link.name for link in roots)
        raise ModelError(
            f"the base {base!r} cannot be free: the mechanism is held to the world by {names}. Take the base 'world', or a "
            "mechanism that floats by one joint of six degrees of freedom (`floating_base=True`, or `reroot`)"
        )
    return roots[0], place


def _root_rates(tree: Tree, q: Scalars, root: Link, p_B: Vector3, V_B: Scalars) -> list[Scalar]:
    """The rates of the floating joint that give the base's origin the velocity V_B, in the axes of the world."""
    X_WL = link_poses(tree, q)[root]
    twist = Motion.of(V_B).to_child(Transform(X_WL.rotation, X_WL.translation - p_B))
    return [twist.dot(force) for force in root.kind.active(root.coordinates(q))]  # T_aᵀ S = 1 (eq. 2.8)


def _scaled(tree: Tree, row: int, value: Scalar) -> Scalar:
    """A momentum per m ℓ² or m ℓ, so that angular and linear rows compare."""
    return value * (1.0 / (tree.mass * (tree.size**2 if row < 3 else tree.size)))


def _chosen(tree: Tree, M_fl: Sequence[Scalars], rows: Sequence[int]) -> list[list[Scalar]]:
    return [[_scaled(tree, row, x) for x in M_fl[row]] for row in rows]


def _nearest(rows: Sequence[Scalars], wanted: Scalars, wish: Scalars, weights: Sequence[float] | None) -> list[Scalar]:
    """The x nearest to a desired one with rows·x = wanted, as far as the rows can achieve it."""
    wish = list(wish)
    ease = [1.0] * len(wish) if weights is None else [1.0 / weight for weight in weights]
    eased = [[a * e for a, e in zip(row, ease, strict=True)] for row in rows]
    A = [[dot(a, b) for b in rows] for a in eased]
    E = [[DAMPING if i == j else 0.0 for j in range(len(rows))] for i in range(len(rows))]
    missing = [value - dot(row, wish) for value, row in zip(wanted, rows, strict=True)]
    strengths = nearest_solution(A, missing, E)
    return [x + dot((row[k] for row in eased), strengths) for k, x in enumerate(wish)]


def reactionless(
    robot: Any,
    wish: Controller,
    base: str = "world",
    *,
    rows: Sequence[int] = _ALL,
    about_mass_center: bool = False,
) -> Controller:
    """Drives the joints with desired accelerations (n) = f(t, q, v), projected so that no reaction acts on the base.

    Args:
        robot: fixed to the world (base "world"), or floating by its first joint, which is not driven.
        wish: desired joint accelerations, without those of the floating joint.
        base, rows, about_mass_center: as in `reactionless_acceleration`. To hold the attitude of a free body, take
            rows=(0, 1, 2) and about_mass_center=True; its center of mass is at rest by itself.
    """
    mechanism = mechanism_of(robot)
    tree, joints = mechanism.tree, actuated_columns(mechanism.tree, base)

    def law(q: Any, v: Any, b: Any) -> Any:
        found = reactionless_acceleration(tree, q, v, b, base, rows=rows, about_mass_center=about_mass_center)
        return joint_acceleration_torque(tree, q, v, found, joints, gravity=mechanism.gravity)

    sizes = {"q": mechanism.nq, "v": mechanism.nv, "b": len(joints)}
    page = CompiledPage(law, sizes, f"reactionless_{mechanism.name}_{base}")
    return lambda t, q, v: page(q, v, np.asarray(wish(t, q, v)))


def joint_acceleration_torque(
    tree: Tree, q: Scalars, v: Scalars, wanted: Scalars, joints: Sequence[int], *, gravity: Scalars
) -> list[Scalar]:
    """The forces (nv) that give the driven joints their accelerations; all other joints move freely.

    Args:
        wanted: accelerations (n) of the driven degrees of freedom; joints: their indices in v (n).
    """
    free = [k for k in range(tree.nv) if k not in set(joints)]
    vdot: list[Scalar] = [0.0] * tree.nv
    for k, value in zip(joints, wanted, strict=True):
        vdot[k] = value
    if free:
        missing = rnea(tree, q, v, vdot, gravity=gravity)
        M = crba(tree, q)
        yielded = solve_symmetric([[M[i][j] for j in free] for i in free], [-missing[k] for k in free])
        for k, value in zip(free, yielded, strict=True):
            vdot[k] = value
    tau = rnea(tree, q, v, vdot, gravity=gravity)
    for k in free:
        tau[k] = 0.0
    return tau
