"""Columns of B that are sums of those of efforts along the joints, in loops over neighbours that are alike."""

from __future__ import annotations

import numpy as np
import pytest

from kumitate.compile import Kernel
from kumitate.scalar import loop, trace
from kumitate.simulate.slopes.effort_columns import effort_columns, entries_of

N, HEIGHT = 20, 3

#: The rows of the entries of every column.
PLACES = {
    "none": [],
    "commands of all joints": [[k] for k in range(6, 20)] * 2,
    "some joints, in any order": [[3], [4], [5], [9], [8], [7], [12]],
    "a wrench, and columns without entries": [[0, 1, 2, 5, 11]] * 3 + [[0, 1, 2, 5]] * 3 + [[], []],
    "two joints at a time": [[k, k + 3] for k in range(12)] + [[2, 7]],
}


@pytest.mark.parametrize("places", PLACES.values(), ids=PLACES)
def test_columns_are_the_product_with_those_along_the_joints(places):
    rng = np.random.default_rng(len(places))
    columns = [{row: float(rng.normal()) for row in rows} for rows in places]
    given, weights = rng.normal(size=(9, HEIGHT, N)), np.array(entries_of(columns) or [0.0])

    def page(along, entries):
        """The columns one after the other, behind the first of those along the joints."""
        _, kept = loop(N, lambda k, _: (None, [0.0, [row[k] for row in along]]), None)
        return [x for column in (kept[0][1], *effort_columns(columns, kept, 1, entries)) for x in column]

    kernel = Kernel(trace(page, {"along": (HEIGHT, N), "entries": len(weights)}, "effort_columns"))
    dense = np.vstack([np.eye(N)[:1], *([column.get(k, 0.0) for k in range(N)] for column in columns)])
    expected = (dense @ np.swapaxes(given, -1, -2)).reshape(len(given), -1)
    np.testing.assert_allclose(kernel(given, np.tile(weights, (len(given), 1))), expected, rtol=0, atol=1e-13)
    np.testing.assert_allclose(kernel(given[0], weights), expected[0], rtol=0, atol=1e-13)
