"""Stretches of neighbouring columns of a step's derivatives that reach the same rows."""

from __future__ import annotations

import numpy as np

import kumitate as km
from kumitate.model.samples import HOAP1_STANDING, hoap1
from kumitate.slopes.touching import Stretch, related, stretches_of


def test_stretches_hold_all_columns_once():
    """Of a base of six and limbs of 6, 4, 6 and 4, whose columns reach the base and their own limb."""
    base, limbs = range(6), [range(6, 12), range(12, 16), range(16, 22), range(22, 26)]
    found = stretches_of([frozenset(range(26))] * 6 + [frozenset([*base, *limb]) for limb in limbs for _ in limb])
    assert [(each.start, each.stop) for each in found] == [(0, 16), (16, 26)]
    assert found[0].rows == frozenset(range(26))
    assert found[1].rows == frozenset([*base, *range(16, 26)])
    alone = [frozenset([k]) for k in range(3)]
    assert stretches_of(alone) == [Stretch(0, 3, frozenset(range(3)))]


def test_a_joint_reaches_those_that_carry_it_and_those_that_it_carries():
    """Where it has entries in the inertia matrix, of a mechanism whose limbs branch."""
    tree = hoap1().tree
    bent = [*HOAP1_STANDING[:7], *(0.1 + value for value in HOAP1_STANDING[7:])]
    inertia = km.Robot(hoap1()).mass_matrix(np.array(bent))
    entries = np.zeros((tree.nv, tree.nv), dtype=bool)
    for k, rows in enumerate(related(tree)):
        entries[sorted(rows), k] = True
    assert (np.abs(inertia[~entries]) == 0.0).all()
    assert entries.sum() == 380
