"""The regressor of inverse dynamics: tau = Y(q, v, v̇) π, linear in inertias, armatures, damping and dry friction.

Atkeson, An, Hollerbach, Estimation of inertial parameters of manipulator loads and links, Int. J. Robotics Research 5(3), 1986.
"""

from __future__ import annotations

from dataclasses import replace

from ..model import Link, Tree, outward
from ..model.tree.base_parameters import SIZE, inertia_of
from ..scalar import Scalar, Scalars
from ..spatial import Motion
from .motion import acceleration, falling, link_motions
from .passive import passive_force


def regressor(tree: Tree, q: Scalars, v: Scalars, vdot: Scalars, *, gravity: Scalars) -> list[list[Scalar]]:
    """The matrix Y (nv, 10·links + 3·nv): `rnea` is Y π, where there are neither springs nor external forces.

    The parameters π are ten numbers per link, in the link's frame: mass, first moment (x, y, z), rotational inertia about the
    origin (xx, yy, zz, xy, xz, yz); then, each per degree of freedom, armature, damping and dry friction.

    Args:
        tree: of the mechanism.
        q, v, vdot: coordinates (nq), velocities (nv), accelerations (nv).
        gravity: acceleration of free fall in the world [m/s²].
    """
    motions = link_motions(tree, q, v)

    def accelerate(link: Link, parent: Motion) -> Motion:
        return acceleration(motions[link], parent, link.velocities(vdot))

    accelerations = outward(tree, accelerate, falling(gravity))
    n, bodies = tree.nv, SIZE * len(tree.links)
    units = [inertia_of([1.0 if i == j else 0.0 for i in range(SIZE)]) for j in range(SIZE)]
    Y: list[list[Scalar]] = [[0.0] * (bodies + 3 * n) for _ in range(n)]
    for link in tree.links:
        A, omega = accelerations[link], motions[link].omega  # forces: for one of its ten numbers being 1 and the others 0
        forces = [unit.times(A) + unit.velocity_force(omega) for unit in units]
        for carrier in tree.ancestors(link.index):
            motion = motions[carrier]
            for k, S in enumerate(motion.S):
                for j, force in enumerate(forces):
                    Y[carrier.v_start + k][SIZE * link.index + j] = S.dot(force)  # what carries a link bears its forces
            forces = [force.to_parent(motion.X_PL) for force in forces]
        rough = replace(link, damping=(0.0,) * link.kind.nv, friction=(1.0,) * link.kind.nv)  # a dry friction of 1
        for k, resisted in enumerate(passive_force(rough, link.velocities(v))):
            i = link.v_start + k
            Y[i][bodies + i], Y[i][bodies + n + i], Y[i][bodies + 2 * n + i] = vdot[i], v[i], resisted
    return Y
