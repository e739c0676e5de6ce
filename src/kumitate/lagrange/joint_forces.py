"""The force at every joint by Lagrange's equations with multipliers (thesis table 2.3).

Every joint is released: its link moves in its parent with six redundant coordinates, and the joint is a constraint on them. In

    M' v̇' + c' + g' = F + Jᵀ λ,

which follows from the energies of the released tree, F + Jᵀ λ along a link's six coordinates is the force that its joint
transmits: all that acts there, the multipliers of the constraint and the efforts along its degrees of freedom. Loops are
further constraints, whose multipliers the accelerations need anyway.
"""

from __future__ import annotations

from dataclasses import replace

from ..dynamics import Acting, chord_closings, link_motions, solve_symmetric
from ..dynamics.acting import LinkForces
from ..dynamics.loops.chord_forces import with_chord_drives
from ..dynamics.loops.schur import with_rows
from ..dynamics.loops.wrenches import LoopLoads, LoopWrenches, least_wrenches
from ..model import KINDS, Link, Tree
from ..scalar import Scalars
from ..spatial import Force, dot
from .derivatives import energy_derivatives
from .forward import check_size, generalised_push, joint_equations


def joint_forces(tree: Tree, q: Scalars, v: Scalars, tau: Scalars, acting: Acting) -> LoopWrenches:
    """The force [n; f] of every joint on its link, and of every chord on its follower; arguments as for `lagrange`.

    Components that redundant loops leave undetermined are least in the norm of `dynamics.loops.wrenches`.

    Raises:
        InputError: as `lagrange`; for a base-parameter tree, in which joints transmit other forces.
    """
    tree.check_physical("joint_forces")
    check_size(tree)
    closings, motions = chord_closings(tree, q, v), link_motions(tree, q, v)
    pushed = with_chord_drives(tree, closings, acting.at_an_instant("joint_forces"))
    M, push = joint_equations(energy_derivatives(tree), tree, q, v, tau, pushed)
    if not tree.closed:
        needed = _released_forces(tree, q, v, solve_symmetric(M, push), pushed)
        return LoopWrenches(needed, [], [])
    system = with_rows(tree, q, v, closings, M, push)
    wanted = [-(a + b) for a, b in zip(system.drift, system.pull, strict=True)]
    needed = _released_forces(tree, q, v, system.solved(tree), pushed)
    return least_wrenches(tree, q, motions, closings, acting, LoopLoads(system.rows, system.Lambda, wanted, needed))


def _released_forces(tree: Tree, q: Scalars, v: Scalars, vdot: Scalars, acting: Acting) -> list[Force]:
    """The forces along the six coordinates of every link in its parent that make it move with v̇."""
    released, place, speed, rise = _released(tree), [], [], []
    for link in tree.links:
        own, rates = link.coordinates(q), link.velocities(v)
        S, turning = link.kind.subspace(own), link.kind.subspace_rate(own, rates)
        place += KINDS["floating"].locate(link.motion(q))
        for k in range(6):
            along = [column[k] for column in S]
            speed.append(dot(along, rates))
            rise.append(dot(along, link.velocities(vdot)) + dot([column[k] for column in turning], rates))
    by_link = {link.index: acting.on(link, q) for link in tree.links}
    derivatives, still = energy_derivatives(released), [0.0] * released.nv
    push = generalised_push(derivatives, released, place, speed, still, Acting(acting.gravity, LinkForces(by_link)))
    inertial = derivatives.momentum(place, rise)  # M' v̇', T being quadratic
    forces = [a - b for a, b in zip(inertial, push, strict=True)]
    return [Force.of(forces[6 * k : 6 * k + 6]) for k in range(len(tree.links))]


def _released(tree: Tree) -> Tree:
    """The tree with a free joint in place of each, and no loops."""
    free, none = KINDS["floating"], (0.0,) * 6

    def link(k: int, before: Link) -> Link:
        return replace(
            before, kind=free, q_start=free.nq * k, v_start=free.nv * k, armature=none, damping=none, friction=none,
            offset=0.0, stiffness=none, rest=none,
        )  # fmt: skip

    links = tuple(link(k, before) for k, before in enumerate(tree.links))
    return replace(tree, links=links, chords=(), gears=(), limbs=(), nq=free.nq * len(links), nv=free.nv * len(links))
