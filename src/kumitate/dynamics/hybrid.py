"""Forward dynamics by numeric-symbolic hybrid modelling (thesis 4.1-4.3).

The mechanism is split into sub-chains. The joint-space equations of each, prepared by tracing, make it one articulated body
(4.7, 4.8; on the ground 4.19, 4.20). Only the joints between sub-chains, chords and gears are assembled and disassembled, as in
ADA; then every sub-chain computes the accelerations of its own joints (4.9, 4.32, 4.33).
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from ..model import Tree
from ..model.tree.subchains import Partition
from ..scalar import Scalar, Scalars, trace
from ..scalar.reuse import call_grouped
from ..spatial import Force, Motion
from .acting import Acting
from .ada import constraint_law
from .assembly.accelerations import assembled, disassembled
from .assembly.connection import Connection
from .assembly.initial import chord_of, gears_of, joint_of
from .loops.chord_forces import chord_drive
from .loops.constraints import chord_closings
from .motion import link_motions
from .subchains import JointSpace, chosen_parts, parted_tree, rates, side_by_side, subchain_call


def hybrid(
    tree: Tree,
    q: Scalars,
    v: Scalars,
    tau: Scalars,
    acting: Acting,
    *,
    partition: Partition | str = "auto",
    share_from: int = 2,
) -> list[Scalar]:
    """The joint accelerations v̇ (nv) of a tree with its chords and gears; arguments as for `ada`, and:

    Args:
        partition: the sub-chains, by names or indices of their joints; "auto": `chosen_parts`.
        share_from: from this many sub-chains that differ only in numbers, they share one program; fewer are written out
            separately and simplified one by one.

    Raises:
        ModelError: for an invalid partition, or if a link of a free sub-chain has an inertia without an inverse and moving
            inertia across its joints does not give it one.
        InputError: for a word other than "auto".
    """
    acting.at_an_instant("hybrid")
    parted = parted_tree(tree, chosen_parts(tree, partition, hybrid_operations))
    ready, parts, links = parted.ready, parted.parts, parted.ready.tree.links
    motions = link_motions(ready.tree, q, v)
    joints = [joint_of(ready, link, q, v, tau, motions[link].bias, in_carrier=False) for link in links]
    for chord, closing in zip(ready.tree.chords, chord_closings(ready.tree, q, v), strict=True):
        joints.append(chord_of(ready, motions, chord, closing, chord_drive(chord, closing, acting.loop_tau)))
    connections: list[Connection] = [*joints, *gears_of(tree, joints)]
    pushed = [acting.on(link, q).to_child(ready.moved[link.index]) for link in tree.links]
    for joint in (*(joints[j] for j in parted.between), *joints[len(links) :]):  # drives act before assembly
        for handle, force in joint.pull(list(joint.drive)).items():
            if handle in ready.moved:
                pushed[handle] = pushed[handle] + force
    calls = [
        subchain_call(parted, part, (q, v, tau), motions[links[part.root]].omega, pushed, acting.gravity) for part in parts
    ]
    equations: list[JointSpace] = call_grouped(calls, name="subchain", at_least=share_from)
    bodies = side_by_side(parts, equations, acting.gravity)
    damping = {j: connections[j].holding.damping(tree) for j in parted.closers}
    _, pulls = disassembled(assembled(constraint_law, connections, bodies, parted.order, damping))
    found = []
    for part, own in zip(parts, equations, strict=True):
        forces = tuple(pulls.get(part.members[h], Force()) for h in part.subchain.handles)
        found.append((rates, (own.factors, own.driven, tuple(own.reaches.values()), forces)))
    V = {handle: bodies.B[handle] + bodies.response(handle, pulls) for handle in bodies.B}
    vdot: list[Scalar] = [0.0] * tree.nv
    for part, rate in zip(parts, call_grouped(found, name="subchain_rates", at_least=share_from), strict=True):
        if not part.subchain.grounded:
            V[part.root], rate = Motion.of(rate[:6]), rate[6:]
        inner = iter(rate)
        for link in (links[index] for index in part.carried):
            vdot[link.v_start : link.v_start + link.kind.nv] = [next(inner) for _ in link.armature]
    for j in parted.between:
        vdot[links[j].v_start : links[j].v_start + links[j].kind.nv] = joints[j].rates(V.__getitem__)  # (4.31)
    return vdot


@lru_cache(maxsize=1024)
def hybrid_operations(tree: Tree, parts: tuple[tuple[int, ...], ...]) -> int:
    """The number of operations of forward dynamics with these sub-chains, without external forces."""

    def page(q: Any, v: Any, tau: Any) -> list[Scalar]:
        return hybrid(tree, q, v, tau, Acting((0.0, 0.0, -9.81)), partition=parts)

    return trace(page, {"q": tree.nq, "v": tree.nv, "tau": tree.nv}).operations.total()
