"""The inertia matrix by the composite-rigid-body method (article C; Walker and Orin 1982)."""

from __future__ import annotations

from ..kinematics.poses import composite_inertias
from ..model import Tree
from ..scalar import Scalar, Scalars


def crba(tree: Tree, q: Scalars) -> list[list[Scalar]]:
    """The joint-space inertia matrix M(q), for joints with any number of degrees of freedom.

    The composite masses do not depend on q: on a traced tree they are constants of the program.

    Args:
        tree: of the mechanism.
        q: coordinates (nq).

    Returns:
        M (nv, nv), symmetric; entry (i, j) in kg·m², kg·m or kg. The armature of drives is on its diagonal.
    """
    poses = {link.index: link.pose(q) for link in tree.links}
    # C's recursion about the link's origin; about the center of mass, as printed, its last sign must be −
    composites = composite_inertias(tree, q)
    M: list[list[Scalar]] = [[0.0] * tree.nv for _ in range(tree.nv)]
    subspaces = {link.index: link.kind.subspace(link.coordinates(q)) for link in tree.links}
    for link in tree.links:
        # the forces f_i, n_i for a unit acceleration of joint i, everything it carries being one rigid body
        forces = [composites[link][0].times(S) for S in subspaces[link.index]]
        for ancestor in tree.ancestors(link.index):
            for i, force in enumerate(forces):
                for j, S in enumerate(subspaces[ancestor.index]):
                    row, column = link.v_start + i, ancestor.v_start + j
                    M[row][column] = M[column][row] = S.dot(force)  # H_ji = S_jᵀ (f_i, n_i)
            forces = [force.to_parent(poses[ancestor.index]) for force in forces]
        for i, armature in enumerate(link.armature):
            M[link.v_start + i][link.v_start + i] += armature
    return M
