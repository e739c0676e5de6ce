"""The fastest rate of a mechanism's stiff forces: damping, friction and springs of joints and loops, and drives."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..dynamics import Row, chord_closings, chord_rows, crba, free_springs, link_motions, loop_jacobian, passive_slope
from ..model import Command, DriveLaw, Mechanism
from ..scalar import floats
from .constraint_report import null_space
from .loop_motion import joint_motion


def fastest_rate(mechanism: Mechanism, q: np.ndarray, v: np.ndarray) -> tuple[float, str]:
    """The fastest rate of the passive forces and drives [1/s], and the degree of freedom in which it is largest.

    The largest eigenvalue of M a + D v + K x = 0, linearised at the state, within the motions that closed loops allow. Dry
    friction counts as at rest, where it is steepest: joints that slide come there.
    """
    tree, state = mechanism.tree, (q.tolist(), v.tolist())
    damping = np.diag(floats(slope for link in tree.links for slope in passive_slope(link, [0.0] * link.kind.nv)))
    stiffness = np.diag(floats(k for link in tree.links for k in link.stiffness))
    place, speeds = (floats(part) for part in joint_motion(mechanism, *state))
    driven = {joint.name: joint.drive.law(place[joint.q], speeds[joint.v], Command(0.0)) for joint in mechanism.driven}
    for joint in mechanism.driven:
        if joint.v < mechanism.nv:
            damping[joint.v, joint.v] += float(driven[joint.name].damping)
            stiffness[joint.v, joint.v] += float(driven[joint.name].stiffness)
    motions = link_motions(tree, *state)
    held: list[Row] = []
    for chord, closing in zip(tree.chords, chord_closings(tree, *state), strict=True):
        rigid, free = chord_rows(tree, motions, chord, closing)
        held += rigid
        J = np.array(loop_jacobian(tree, motions, free), dtype=float).reshape(len(free), tree.nv)
        own = np.array(chord.closure.pull_slopes(closing.coordinates, closing.rates), dtype=float).reshape(-1, 2)
        law = driven.get(chord.name, DriveLaw(0.0))
        lost = floats(passive_slope(chord, [0.0] * len(closing.rates)))
        damping = damping + J.T @ np.diag(lost + own[:, 1] + float(law.damping)) @ J
        stiffness = stiffness + J.T @ np.diag(own[:, 0] + float(law.stiffness)) @ J
        springs = free_springs(chord, closing)
        if springs:  # springs act in all directions
            along = chord_rows(tree, motions, chord, replace(closing, active=tuple(T for T, _, _ in springs)))[1]
            J = np.array(loop_jacobian(tree, motions, along), dtype=float).reshape(len(along), tree.nv)
        stiffness = stiffness + J.T @ np.diag(floats(k for _, k, _ in springs) or chord.stiffness) @ J
    if not damping.any() and not stiffness.any():
        return 0.0, ""
    allowed = null_space(np.array(loop_jacobian(tree, motions, held), dtype=float).reshape(len(held), tree.nv))
    M, D, K = (allowed.T @ matrix @ allowed for matrix in (np.array(crba(tree, state[0]), dtype=float), damping, stiffness))
    n = len(M)
    rates, modes = np.linalg.eig(np.block([[-np.linalg.solve(M, D), -np.linalg.solve(M, K)], [np.eye(n), np.zeros((n, n))]]))
    fastest = int(np.argmax(np.abs(rates)))
    shape = np.abs(allowed @ modes[:n, fastest])
    return float(abs(rates[fastest])), mechanism.v_names[int(np.argmax(shape))]
