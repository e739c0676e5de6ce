"""Columns of B that are sums of those of efforts along the joints, in loops over neighbours that are alike."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import kumitate as km
from kumitate.compile import Kernel
from kumitate.model.samples.stored import HOAP1_STANDING, hoap1
from kumitate.scalar import loop, trace
from kumitate.simulate.slopes.columns import Stretch, effort_columns, entries_of, related, stretches_of

N, HEIGHT = 20, 3

#: The rows of the entries of every column.
PLACES = {
    "none": [],
    "commands of all joints": [[k] for k in range(6, 20)] * 2,
    "some joints, in any order": [[3], [4], [5], [9], [8], [7], [12]],
    "a wrench, and columns without entries": [[0, 1, 2, 5, 11]] * 3 + [[0, 1, 2, 5]] * 3 + [[], []],
    "two joints at a time": [[k, k + 3] for k in range(12)] + [[2, 7]],
}


@pytest.mark.parametrize("borders", [(0, N), (0, 10, N), (0, 3, 9, N)], ids=["one loop", "two loops", "three loops"])
@pytest.mark.parametrize("places", PLACES.values(), ids=PLACES)
def test_columns_are_the_product_with_those_along_the_joints(places, borders):
    rng = np.random.default_rng(len(places))
    columns = [{row: float(rng.normal()) for row in rows} for rows in places]
    given, weights = rng.normal(size=(9, HEIGHT, N)), np.array(entries_of(columns) or [0.0])

    def page(along, entries):
        """The columns one after the other, behind the first of those along the joints."""
        kept = []
        for start, stop in pairwise(borders):
            _, stack = loop(stop - start, lambda k, _, start=start: (None, [0.0, [row[k + start] for row in along]]), None)
            kept.append((Stretch(start, stop, frozenset()), stack))
        return [x for column in (kept[0][1][0][1], *effort_columns(columns, kept, 1, entries)) for x in column]

    kernel = Kernel(trace(page, {"along": (HEIGHT, N), "entries": len(weights)}, "effort_columns"))
    dense = np.vstack([np.eye(N)[:1], *([column.get(k, 0.0) for k in range(N)] for column in columns)])
    expected = (dense @ np.swapaxes(given, -1, -2)).reshape(len(given), -1)
    np.testing.assert_allclose(kernel(given, np.tile(weights, (len(given), 1))), expected, rtol=0, atol=1e-13)
    np.testing.assert_allclose(kernel(given[0], weights), expected[0], rtol=0, atol=1e-13)


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
