"""Derivatives of forward dynamics with a closed loop, by us and by Pinocchio.

Bodies are welded together there (CONTACT_6D): of points held on two moving bodies (CONTACT_3D), Pinocchio 4.1 gives
derivatives by q that are not those of its own accelerations, as differences show.
"""

from __future__ import annotations

import numpy as np
import pytest

from kumitate.analysis import LoopEquations, closed_directions
from kumitate.dynamics import Acting
from kumitate.dynamics.derivatives import loop_derivatives
from kumitate.model import Mechanism
from kumitate.spatial import Transform

from ..mechanisms import Case, closed_cases, random_ring

pin = pytest.importorskip("pinocchio")


def placed(X: Transform) -> pin.SE3:
    return pin.SE3(np.array(X.matrix(), dtype=float))


def theirs(mechanism: Mechanism) -> tuple[pin.Model, list]:
    """Their model of our tree, whose joints turn about z, and its welds."""
    model, tree = pin.Model(), mechanism.tree
    model.gravity = pin.Motion(np.array([*mechanism.gravity, 0.0, 0.0, 0.0]))
    numbers = {-1: 0}
    for link in tree.links:
        joint = numbers[link.index] = model.addJoint(
            numbers[link.parent], pin.JointModelRZ(), placed(link.placement), link.name
        )
        mass, first = float(link.inertia.mass), np.array(list(link.inertia.first_moment), dtype=float)
        center = first / mass
        about_origin = np.array([list(row) for row in link.inertia.rotational], dtype=float)
        moment = about_origin - mass * (center @ center * np.eye(3) - np.outer(center, center))
        model.appendBodyToJoint(joint, pin.Inertia(mass, center, moment), pin.SE3.Identity())
    welds = [
        pin.RigidConstraintModel(
            pin.ContactType.CONTACT_6D, model, numbers[chord.base.link], placed(chord.base.pose),
            numbers[chord.follower.link], placed(chord.follower.pose), pin.ReferenceFrame.LOCAL,
        )
        for chord in tree.chords
    ]  # fmt: skip
    return model, welds


def differentiated(case: Case) -> tuple[np.ndarray, ...]:
    """Their a, ∂a/∂q, ∂a/∂v, ∂a/∂τ."""
    model, welds = theirs(case.mechanism)
    data, all_welds, of_each = model.createData(), pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData()
    for weld in welds:
        all_welds.append(weld)
        of_each.append(weld.createData())
    pin.initConstraintDynamics(model, data, all_welds, of_each)
    settings = pin.ProximalSettings(1e-14, 1e-14, 1e-12, 10)
    offsets = np.array([float(link.offset) for link in case.mechanism.tree.links])
    state = np.array(case.q) + offsets, np.array(case.v), np.array(case.tau)
    a = np.array(pin.constraintDynamics(model, data, *state, all_welds, of_each, settings))
    pin.computeConstraintDynamicsDerivatives(model, data, all_welds, of_each, settings)
    return a, *(np.array(part) for part in (data.ddq_dq, data.ddq_dv, data.ddq_dtau))


@pytest.mark.parametrize("seed", range(3))
def test_a_ring_of_eight_hinges_welded_together(seed):
    (case, _), *_ = closed_cases(seed, random_ring(seed, ["revolute"] * 8 + ["fixed"], passive=False), ["h8"])
    m = case.mechanism
    ours = loop_derivatives(m.base_parameter_tree, case.q, case.v, case.tau, Acting(m.gravity))
    ours, other = [np.array(part, dtype=float) for part in ours], differentiated(case)
    Z, W, P = closed_directions(LoopEquations(m), np.array(case.q), np.array(case.v))
    assert Z.shape[1] == 2
    for found, expected in (
        (ours[0], other[0]),
        (ours[1] @ Z + ours[2] @ P, other[1] @ Z + other[2] @ P),
        (ours[2] @ W, other[2] @ W),
        (ours[3], other[3]),
    ):
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9 * np.abs(expected).max())
