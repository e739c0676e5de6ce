"""Accelerations and joint forces by assembling articulated bodies and taking them apart again (thesis 2.2, 3.1).

The algorithm treats loops like trees: a chord is one more joint, a gear one more connection, closed in any order. A connection
whose links are already connected closes a loop, which may be redundant or in a singular posture. Its matrix is then inverted
on its range only (`RangeInverse`), and forces that do not affect the motion are left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from ...model import Tree
from ...scalar import Scalar, Scalars
from ...spatial import Dense, Force, Motion, Vector3
from ..acting import Acting
from ..loops.chord_forces import chord_drive
from ..loops.constraints import chord_closings
from ..motion import link_motions
from .connection import WORLD, Bodies, Connection, JointConnection, connected_links, loop_closers
from .initial import Prepared, chord_of, gears_of, joint_of, prepared, rigid_bodies
from .order import Order, assembly_order


class Grip(Protocol):
    """W of a closed connection: F = W (A's acceleration − B's) (2.21, 2.42), in addition to the force of drives."""

    def force(self, relative: Scalars) -> list[Scalar]:
        """W a."""

    def between(self, left: Dense, right: Dense) -> Dense:
        """G W Hᵀ; symmetric if both arguments are the same object, in which case only one triangle is read."""


#: How a connection is closed: from the connection, its Ψ, and the damping of its constraint matrix if it closes a loop.
ClosingLaw = Callable[[Connection, Dense, Sequence[float] | None], Grip]


@dataclass(frozen=True)
class Step:
    """The closing of connection j: `bodies` are those before it, γ is its force while all other handles are free."""

    j: int
    connection: Connection
    bodies: Bodies
    grip: Grip
    gamma: list[Scalar]


def assembled(
    law: ClosingLaw,
    connections: Sequence[Connection],
    bodies: Bodies,
    order: Sequence[int],
    damping: Mapping[int, Sequence[float]],
) -> list[Step]:
    """Closes the connections in this order, starting from `bodies`; `damping`: by the number of each that closes a loop."""
    still_open = Counter(handle for j in order for handle in connections[j].handles)
    steps = []
    for j in order:
        connection = connections[j]
        grip = law(connection, connection.mobility(bodies), damping.get(j))
        beta = [a + b for a, b in zip(connection.excess(bodies.B.__getitem__), connection.drift, strict=True)]
        step = Step(j, connection, bodies, grip, grip.force(beta))
        still_open.subtract(connection.handles)
        bodies = closed_bodies(step, {handle for handle in bodies.B if still_open[handle]})
        steps.append(step)
    return steps


def closed_bodies(step: Step, kept: set[int]) -> Bodies:
    """The bodies after a connection is closed, at the kept handles (2.21, 2.46)."""
    before, connection, grip = step.bodies, step.connection, step.grip
    Phi = {handle: before.Phi[handle] for handle in before.Phi if handle in kept}
    B = {handle: before.B[handle] for handle in before.B if handle in kept}
    between = {
        handle: {other: block for other, block in row.items() if other in kept}
        for handle, row in before.between.items()
        if handle in kept
    }
    near = dict.fromkeys(handle for end in connection.handles for handle in before.coupled(end) if handle in kept)
    felt = {handle: reach for handle in near if not (reach := connection.reach(before, handle)).empty}
    pulls = connection.pull(step.gamma)
    for i, reach in felt.items():
        B[i] = before.B[i] + before.response(i, pulls)
        Phi[i] = before.Phi[i].minus(grip.between(reach.block, reach.block))
        for k, other in felt.items():
            if k == i:
                break
            block = _less(before.block(i, k), grip.between(reach.block, other.block), reach.sign * other.sign)
            between.setdefault(i, {})[k], between.setdefault(k, {})[i] = block, block.T
    return Bodies(Phi, B, between)


def _less(block: Dense | None, through: Dense, sign: float) -> Dense:
    """Φ_ab minus the part that goes through the connection."""
    if block is None:
        return -through if sign > 0.0 else through
    return block - through if sign > 0.0 else block + through


def disassembled(steps: Sequence[Step]) -> tuple[dict[int, list[Scalar]], dict[int, Force]]:
    """The forces of all connections in their spaces, and their sum at the handle of every link; steps are undone in reverse."""
    forces: dict[int, list[Scalar]] = {}
    pulls: dict[int, Force] = {}  # from the connections opened so far
    for step in reversed(steps):
        bodies = step.bodies

        def response(handle: int, bodies: Bodies = bodies) -> Motion:
            return bodies.response(handle, pulls)

        more = step.grip.force(step.connection.excess(response))
        force = [a + b for a, b in zip(step.gamma, more, strict=True)]  # (2.15) with (2.18), (2.41)
        forces[step.j] = force
        for handle, pull in step.connection.pull(force).items():
            pulls[handle] = pulls[handle] + pull if handle in pulls else pull
    return forces, pulls


@dataclass(frozen=True)
class Accelerations:
    """v̇ (nv), and the force [n; f] of each joint on its link, in the link's frame and about its origin, by the link's index.

    `chords`: the force of each chord on its follower, in the axes of its frame M and about M's origin. Where redundant loops
    leave forces undetermined, one solution is given; the determined components are exact.
    """

    vdot: list[Scalar]
    forces: dict[int, list[Scalar]]
    chords: list[Force]


def assembled_accelerations(
    law: ClosingLaw, tree: Tree, q: Scalars, v: Scalars, tau: Scalars, acting: Acting, *, order: Order = None
) -> Accelerations:
    """Accelerations and joint forces of a tree with its chords and gears, by assembly and disassembly.

    Args:
        law: how a joint is closed; `ada` and `dca` each have their own.
        acting: everything that acts apart from the drives of the joints, at an instant.
        order: the order in which joints are assembled: a name in `order.ORDERS`, or the indices of the links followed by those
            of chords and gears; by default an order that costs little.

    Raises:
        ModelError: if a link's inertia has no inverse and moving inertia across its joints does not give it one, or if the
            order does not name every joint exactly once.
        InputError: for an unknown order.

    Warns:
        KumitateWarning: if light links between heavy ones cost digits; see `ada`.
    """
    acting.at_an_instant("assembly")
    ready, held = prepared(tree), connected_links(tree)
    ready.warn_of_lost_digits()
    turns = [j for j in assembly_order(tree, order) if held[j]]
    motions, closings = link_motions(ready.tree, q, v), chord_closings(ready.tree, q, v)
    first = {handle: j for j in reversed(turns) for handle in held[j]}
    joints: list[JointConnection] = []
    for link in ready.tree.links:
        # as long as the carrier is a single link, its Φ is constant in its own frame: stay there instead of rotating it
        carrier = ready.carriers[link.index]
        single = carrier != WORLD and first.get(carrier) == link.index
        joints.append(joint_of(ready, link, q, v, tau, motions[link].bias, in_carrier=single))
    for chord, closing in zip(ready.tree.chords, closings, strict=True):
        joints.append(chord_of(ready, motions, chord, closing, chord_drive(chord, closing, acting.loop_tau)))
    gears = gears_of(tree, joints)
    connections: list[Connection] = [*joints, *gears]
    pushed = []
    for link, before in zip(ready.tree.links, tree.links, strict=True):
        pushed.append(acting.on(before, q).to_child(ready.moved[link.index]).to_child(ready.to_center(link.index)))
    bodies = rigid_bodies(ready, motions, joints, pushed, acting.gravity)
    damping = {j: connections[j].holding.damping(tree) for j in loop_closers(tree, turns)}
    forces, pulls = disassembled(assembled(law, connections, bodies, turns, damping))
    V = {handle: bodies.B[handle] + bodies.response(handle, pulls) for handle in bodies.B}
    vdot = [rate for joint in joints[: len(tree.links)] for rate in joint.rates(V.__getitem__)]
    whole = [joint.drive + Force.of(forces[j]) if j in forces else joint.drive for j, joint in enumerate(joints)]
    for j, gear in enumerate(tree.gears, len(joints)):
        for index, ratio in gear.v_ratios:
            link = next(link for link in tree.links if link.v_start <= index < link.v_start + link.kind.nv)
            T_a = joints[link.index].T_a[index - link.v_start]
            whole[link.index] = whole[link.index] + T_a * (ratio * forces[j][0])
    true = {
        link.index: list(_true_force(ready, joints[link.index], whole[link.index], V[link.index], motions[link].omega))
        for link in ready.tree.links
    }
    return Accelerations(vdot, true, whole[len(tree.links) :])


def _true_force(ready: Prepared, joint: JointConnection, force: Force, V: Motion, omega: Vector3) -> Force:
    """The force of a joint on a link, in the link's original frame, without the part that accelerates lent inertia."""
    index, X_LC = joint.b, ready.to_center(joint.b)
    on_link = joint.inner.inward(force).to_parent(X_LC)
    if index in ready.lent:
        piece = ready.lent[index]
        on_link = on_link - piece.times(V.to_parent(X_LC)) - piece.velocity_force(omega)
    return on_link.to_parent(ready.moved[index])
