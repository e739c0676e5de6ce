"""What a sweep keeps of each run is what NumPy finds in all its records, however they come in."""

import numpy as np
import pytest

from kumitate.sweeps.blocks import Outcome, Summary

OUTCOMES = [Outcome(f"{of}:x[{k}]", "", "x", (k,), of) for of in ("end", "least", "largest") for k in (0, 1)]
RUNS, TIMES = 4, 12


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("cuts", [(), (1, 6), (5,), range(1, TIMES)])
def test_least_and_largest_of_runs_are_those_of_all_records_in_which_they_are_in_order(cuts, seed):
    """Extremes may lie inside a stretch, and of a run that diverges nothing from there on counts."""
    rng = np.random.default_rng(seed)
    time, x, v = np.arange(TIMES) * 0.1, rng.normal(size=(RUNS, TIMES, 2)), rng.normal(size=(RUNS, TIMES, 1))
    ends = [TIMES, 8, 1, TIMES]  # run 1 diverges at the ninth record, run 2 after the first
    for run, end in enumerate(ends):
        v[run, end : end + 1] = np.inf
        x[run, end:] = 1e6 * rng.normal(size=(TIMES - end, 2))
    summary = Summary(OUTCOMES, RUNS)
    for part in np.split(np.arange(TIMES), list(cuts)):
        summary.add(time[part], {"x": x[:, part], "v": v[:, part]}, contact=False)
    columns = summary.columns()
    np.testing.assert_array_equal(summary.lost, [False, True, True, False])
    np.testing.assert_array_equal(summary.reached, [time[end - 1] for end in ends])
    for k in (0, 1):
        np.testing.assert_array_equal(columns[f"least:x[{k}]"], [x[run, :end, k].min() for run, end in enumerate(ends)])
        np.testing.assert_array_equal(columns[f"largest:x[{k}]"], [x[run, :end, k].max() for run, end in enumerate(ends)])
        np.testing.assert_array_equal(columns[f"end:x[{k}]"], np.where(summary.lost, np.nan, x[:, -1, k]))
