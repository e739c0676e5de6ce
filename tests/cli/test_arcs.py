"""The graph of `kumitate info`: each loop is an arc from one of its bodies to the other, and no two share a place."""

from __future__ import annotations

import numpy as np
import pytest

import kumitate as km
from kumitate.cli.info import drawn, with_arcs

from ..mechanisms import seeds


@pytest.mark.parametrize(**seeds(20))
def test_every_arc_runs_from_one_line_to_the_other(seed):
    rng = np.random.default_rng(seed)
    lines = [f"line {k}" for k in range(rng.integers(2, 9))]
    ends = [rng.choice(len(lines), 2, replace=False) for _ in range(rng.integers(1, 7))]
    shown = with_arcs(lines, [(int(a), int(b), f"arc {k}") for k, (a, b) in enumerate(ends)])
    width = max(map(len, shown))
    grid = np.array([list(row.ljust(width)) for row in shown])
    assert [row.startswith(line) for row, line in zip(shown, lines, strict=True)] == [True] * len(lines)
    drawn_arcs = []
    for column in grid.T:
        for bottom in np.flatnonzero(column == "╯"):
            top = bottom - 1
            while column[top] == "│":
                top -= 1
            assert column[top] in "╮┬"
            drawn_arcs.append((top, bottom))
    assert sorted(drawn_arcs) == sorted((min(a, b), max(a, b)) for a, b in ends)
    assert np.isin(grid, ["╮", "┬"]).sum() == len(ends)
    for k, (a, b) in enumerate(ends):
        assert f"arc {k}" in shown[max(a, b)]


def test_the_loops_of_a_mechanism_are_drawn():
    shown = drawn(km.load("governor").mechanism)
    assert next(line for line in shown if "spring1, line" in line).startswith("├─ arm1")
    assert drawn(km.load("pa10").mechanism)[0] == "world"
