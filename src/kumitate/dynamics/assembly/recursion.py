"""Recursive assembly and disassembly: the equations that ADA and DCA share (thesis eq. 2.15, 2.18, 2.21, 2.41, 2.46).

A joint between two bodies and one that closes a loop within a body are treated alike: the coupling between A and B is zero in
the first case; in the second, Ψ and the reach of every handle include it (thesis eq. 3.14-3.17, for one joint at a time).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from ...scalar import Scalar
from ...spatial import Dense, Force, Motion
from .bodies import Bodies
from .connection import Connection


class Grip(Protocol):
    """W of a closed connection: F = W (A's acceleration − B's) (2.21, 2.42), in addition to the force of drives."""

    def force(self, relative: Sequence[Scalar]) -> list[Scalar]:
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
