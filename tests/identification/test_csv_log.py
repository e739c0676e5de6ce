"""CSV logs: writing one and reading it back, in other units and with other columns; errors that name the line."""

from __future__ import annotations

import numpy as np
import pytest

import kumitate as km
from kumitate.errors import InputError


def test_a_run_that_was_exported_is_read_back_in_every_bit(tmp_path):
    run = km.simulate(km.load("double_pendulum"), [1.0, 0.5], duration=0.2, controller=lambda t, q, v: -0.5 * v)
    log = km.read_log(run.export(tmp_path / "log.csv"))
    for name, expected in {"t": run.time, "q": run.q, "v": run.v, "a": run.a, "tau": run.tau}.items():
        np.testing.assert_array_equal(log[name], expected)


def test_a_log_of_a_test_bench_identifies_what_moved(tmp_path):
    """Semicolons, comments, milliseconds, degrees, columns in any order, and others between them."""
    arm = km.load("double_pendulum")
    run = km.simulate(arm, [1.0, 0.5], duration=2.0, controller=lambda t, q, v: -0.5 * v)
    rows = np.column_stack([run.tau[:, 0], 1e3 * run.time, np.zeros(len(run)), np.degrees(run.q[:, ::-1]), run.tau[:, 1]])
    lines = [";".join(map(repr, row)) for row in rows.tolist()]
    text = "# bench 4\n\nmotor 1;stamp;temperature;pos_elbow;pos_shoulder;motor 2\n" + "\n".join(lines) + "\n"
    (tmp_path / "bench.csv").write_text(text, encoding="utf-8-sig")
    log = km.read_log(
        tmp_path / "bench.csv", columns={"t": "stamp", "q": ["pos_shoulder", "pos_elbow"], "tau": "motor *"},
        units={"t": "ms", "q": "deg"},
    )  # fmt: skip
    np.testing.assert_allclose(log["t"], run.time, rtol=0, atol=1e-15)
    np.testing.assert_allclose(log["q"], run.q, rtol=0, atol=1e-15)
    np.testing.assert_array_equal(log["tau"], run.tau)
    found = km.identify(log, arm, find=["inertia:lower"])
    assert found["lower.Iyy"] == pytest.approx(arm.mechanism.body("lower").spatial_inertia().rotational.yy, rel=1e-3)


def test_empty_cells_are_unknown(tmp_path):
    (tmp_path / "log.csv").write_text("time,q.a,tau.a\n0,1,\n1,2,3\n")
    assert np.isnan(km.read_log(tmp_path / "log.csv")["tau"][0, 0])


@pytest.mark.parametrize(
    ("text", "options", "words"),
    [
        ("", {}, "has no rows of numbers below a line of names"),
        ("time,q.a\n", {}, "has no rows of numbers below a line of names"),
        ("stamp,q.a\n0,1\n", {}, r"there is no column 'time\*' for 't'; there are stamp, q.a; give columns="),
        ("time,q.a\n# x\n0,one\n", {}, "line 3: the column 'q.a' has 'one'; it must be a number, or empty"),
        ("time,q.a\n0,1,2\n", {}, "line 2 has 3 cells, and there are 2 names"),
        ("time,q.a\n0,1\n", {"columns": {"t": "time", "q": "q.b"}}, "there is no column 'q.b' for 'q', did you mean 'q.a'"),
        ("time,q.a\n0,1\n", {"units": {"t": "min"}}, "the unit of 't' is 'min'; there are deg"),
        ("time,q.a\n0,1\n", {"units": {"qq": "deg"}}, "units names 'qq', which is not read"),
    ],
)
def test_what_is_wrong_is_told(text, options, words, tmp_path):
    (tmp_path / "log.csv").write_text(text)
    with pytest.raises(InputError, match=words):
        km.read_log(tmp_path / "log.csv", **options)
    with pytest.raises(InputError, match="cannot be read"):
        km.read_log(tmp_path / "other.csv")
