"""The inertia matrix from the Jacobians of the links' centers of mass (article C, its first formula for H)."""

from __future__ import annotations

from ..dynamics import rnea, spring_force
from ..model import Tree
from ..scalar import Scalar, Scalars, table
from ..spatial import Motion


def jacobian_inertia(tree: Tree, q: Scalars) -> list[list[Scalar]]:
    """The joint-space inertia matrix M(q) (nv, nv): Σ J_iᵀ I_i J_i, with I_i the spatial inertia of link i.

    C writes it with the centers of mass, Σ (m J_Gᵀ J_G + J_Aᵀ I J_A); about the links' origins it is the same sum, and it also
    holds for links without mass.

    Args:
        tree: of the mechanism.
        q: coordinates (nq).
    """
    M: list[list[Scalar]] = [[0.0] * tree.nv for _ in range(tree.nv)]
    for link in tree.links:
        columns: list[tuple[int, Motion]] = []  # the Jacobian of this link, in its own frame, from the tip down
        for carrier in reversed(tree.ancestors(link.index)):
            X_PL, subspace = carrier.pose(q), carrier.kind.subspace(carrier.coordinates(q))
            columns = [(j, motion.to_child(X_PL)) for j, motion in columns]
            columns += [(carrier.v_start + k, S) for k, S in enumerate(subspace)]
        for position, (i, J_i) in enumerate(columns):
            momentum = link.inertia.times(J_i)
            for j, J_j in columns[: position + 1]:
                M[i][j] = M[i][j] + J_j.dot(momentum)
                M[j][i] = M[i][j]
        for k, armature in enumerate(link.armature):
            M[link.v_start + k][link.v_start + k] += armature
    return M


# --- the inertia matrix by the unit-vector method -------------------------------------------------------------------------
def unit_vector(tree: Tree, q: Scalars) -> list[list[Scalar]]:
    """The joint-space inertia matrix M(q) (nv, nv): M e_i = INV(q, 0, e_i) without gravity (after N eq. 33)."""
    still, weightless = table([0.0] * tree.nv), (0.0, 0.0, 0.0)
    columns = []
    springs = [force for link in tree.links for force in spring_force(link, link.coordinates(q))]
    for i in range(tree.nv):
        unit = table([1.0 if k == i else 0.0 for k in range(tree.nv)])
        columns.append([f - k for f, k in zip(rnea(tree, q, still, unit, gravity=weightless), springs, strict=True)])
    # symmetric only up to rounding: one triangle is used for both
    return [[columns[min(i, j)][max(i, j)] for j in range(tree.nv)] for i in range(tree.nv)]
