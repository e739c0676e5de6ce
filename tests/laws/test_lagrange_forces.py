"""The force at every joint by Lagrange's multipliers is that by articulated bodies, in trees and loops."""

from __future__ import annotations

import numpy as np
import pytest

import kumitate as km
from kumitate.dynamics import Acting, Wrenches, joint_forces
from kumitate.dynamics.loops.wrenches import loop_wrenches
from kumitate.lagrange.forward import joint_forces as by_multipliers
from kumitate.model.samples import four_bars, four_bars_start

from ..mechanisms import every_kind, random_case
from .test_closed_loops import every_case, made


def same(found, expected, tolerance: float = 1e-9) -> None:
    found, expected = (np.array([list(force) for force in forces]) for forces in (found, expected))
    assert np.abs(found - expected).max() <= tolerance * max(1.0, np.abs(expected).max())


@pytest.mark.row("T-2.3", "T-lag")
@pytest.mark.parametrize("seed", [*range(5), None], ids=[*map(str, range(5)), "every kind"])
def test_trees(seed):
    case = every_kind(3) if seed is None else random_case(seed, root="floating" if seed % 3 == 2 else None)
    tree, rng = case.mechanism.tree, np.random.default_rng(seed)
    pushed = Wrenches(tree, {case.mechanism.bodies[-1].name: rng.normal(size=6).tolist()})
    state = (tree, case.q, case.v, case.tau, Acting(case.mechanism.gravity, pushed))
    same(by_multipliers(*state).tree, joint_forces(*state))


@pytest.mark.row("T-2.3", "T-lag", "T-sing")
@every_case
def test_loops_gears_and_rods(make):
    """Redundant loops, loops that share bodies, rods, gears; drives, springs and dampers along their freedoms."""
    case, efforts = made(make)
    state = (case.mechanism.tree, case.q, case.v, case.tau, Acting(case.mechanism.gravity, loop_tau=efforts))
    found, expected = by_multipliers(*state), loop_wrenches(*state)
    same(found.tree, expected.tree, 1e-7)
    same(found.chords, expected.chords, 1e-7)


@pytest.mark.row("T-2.3")
def test_by_its_name():
    robot = km.Robot(four_bars())
    q, v = four_bars_start(1, 0.4, 1.0)
    by_name = robot.joint_wrenches(q, v, [0.1, 0.2, -0.3], method="lagrange")
    for name, wrench in robot.joint_wrenches(q, v, [0.1, 0.2, -0.3]).items():
        np.testing.assert_allclose(by_name[name], wrench, rtol=0.0, atol=1e-8)
