"""Energies and momenta of the states of a scene, by lists of its links: no robot needs code of its own."""

from __future__ import annotations

from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np

from ...analysis.momentum import chord_energies, strain
from ...compile import Kernel, found_or_traced
from ...contact.scenes.robots.carrying import NUMBERS, link_numbers, link_of
from ...model import JointKind, Mechanism
from ...model.mechanism import digest
from ...procedure import Floats, Ints, LocatedProgram, apply_at, local, procedure
from ...scalar import Program, Scalar, trace
from ...spatial import DenseRotation, Matrix3, Motion, Transform, Vector3


class LinkRows(NamedTuple):
    """The links of a mechanism, each behind the one that it is joined to."""

    above: Ints  # the link that each is joined to, or −1
    first_q: Ints  # where its coordinates and velocities begin in a state
    first_v: Ints
    pages: Ints  # the address of its `_quantities_program`
    numbers: Floats[53]  # as of `carrying.link_numbers`
    pose: Floats[4, 3]  # space for its rotation to the world, and its origin [m]
    twist: Floats[6]  # and for its twist in its own axes


class Quantities:
    """(q, v) → kinetic and potential energy (n), center of mass (n, 3), momentum [l; p] (n, 6) of a scene."""

    def __init__(self, mechanism: Mechanism):
        links = mechanism.tree.links
        self._mechanism, self._pages = mechanism, [_page(link.kind) for link in links]
        numbers = np.zeros((len(links), 53))
        for row, own in zip(numbers, map(link_numbers, links), strict=True):
            row[: len(own)] = own
        rows = [(link.parent, link.q_start, link.v_start, page.address) for link, page in zip(links, self._pages, strict=True)]
        above, first_q, first_v, pages = np.array(rows, dtype=np.int64).T.copy()
        room = np.zeros((len(links), 4, 3)), np.zeros((len(links), 6))
        self._links = LinkRows(above, first_q, first_v, pages, numbers, *room)
        self._chords: Kernel | None = None
        if any(any(chord.armature) or any(chord.stiffness) for chord in mechanism.tree.chords):
            known, sizes = digest(mechanism), {"q": mechanism.nq, "v": mechanism.nv}
            program = found_or_traced(
                known and f"chord energies {known}",
                lambda: trace(partial(chord_energies, mechanism.tree), sizes, f"chords_{mechanism.name}"),
            )
            self._chords = Kernel(program, quick=True)

    def __call__(self, q: np.ndarray, v: np.ndarray) -> list[np.ndarray]:
        total = np.zeros((len(q), 11))
        observe(self._links, np.ascontiguousarray(q).reshape(-1), np.ascontiguousarray(v).reshape(-1), total)
        kinetic, potential, moment = total[:, 0], total[:, 1] - total[:, 2:5] @ self._mechanism.gravity, total[:, 2:5]
        if self._chords is not None:
            more = self._chords(q, v)
            kinetic, potential = kinetic + more[:, 0], potential + more[:, 1]
        mass = float(self._links.numbers[:, 13].sum())
        return [kinetic, potential, moment / mass if mass else moment, total[:, 5:]]


@cache
def _page(kind: JointKind) -> LocatedProgram:
    return LocatedProgram(found_or_traced(f"quantities {kind!r}", lambda: _quantities_program(kind)))


def _quantities_program(kind: JointKind) -> Program:
    """(q, v, numbers, frame, moving) → of a link from that above: pose, twist in its own axes; and what it adds to the kinetic
    energy and that of springs [J], to the first moment of mass [kg·m], and to the momentum [l; p] about the world's origin."""

    def quantities(q: Any, v: Any, numbers: Any, frame: Any, moving: Any) -> dict[str, Any]:
        link, above = link_of(kind, numbers), Transform(DenseRotation(Matrix3.of(frame[0:3])), Vector3.of(frame[3]))
        X, inertia = link.pose(q), link.inertia
        pose: Transform = (above @ X).dense()
        own = zip(kind.subspace(link.coordinates(q)), v, strict=True)
        twist = sum((S * rate for S, rate in own), Motion.of(moving).to_child(X))
        momentum = inertia.times(twist)
        doubled = twist.dot(momentum) + sum((a * x * x for a, x in zip(link.armature, v, strict=True)), 0.0)
        moment = pose.rotation.rotate(inertia.first_moment) + pose.translation * inertia.mass
        stored: Scalar = strain(link, list(q)) if kind.nq == kind.nv else 0.0
        return {
            "pose": [*map(list, pose.rotation.matrix()), list(pose.translation)],
            "twist": list(twist),
            "adds": [0.5 * doubled, stored, *moment, *momentum.to_parent(pose)],
        }

    numbers = NUMBERS + 5 * kind.nv
    return trace(
        quantities, {"q": kind.nq, "v": kind.nv, "numbers": numbers, "frame": (4, 3), "moving": 6}, f"quantities_{kind.name}"
    )


@procedure
def observe(links: LinkRows, q: Floats, v: Floats, total: Floats[11]) -> None:
    """Adds what all links have of the quantities of `_quantities_program` to the row of every state, one behind the other."""
    frame, moving, adds = local(4, 3), local(6), local(11)
    for state in range(len(total)):
        row_q, row_v = q[state * len(q) // len(total) : len(q)], v[state * len(v) // len(total) : len(v)]
        for link in range(len(links.above)):
            above = links.above[link]
            if above >= 0:
                frame[:] = links.pose[above]
                moving[:] = links.twist[above]
            else:
                frame[:] = 0.0
                moving[:] = 0.0
                for k in range(3):
                    frame[k, k] = 1.0
            apply_at(
                links.pages[link],
                (row_q[links.first_q[link] :], row_v[links.first_v[link] :], links.numbers[link], frame, moving),
                (links.pose[link], links.twist[link], adds),
            )  # fmt: skip
            total[state] += adds
