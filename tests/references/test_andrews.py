"""Andrews' squeezer (A03) against the solution that the Test Set for IVP Solvers publishes, and against its energy."""

import numpy as np
import pytest

from kumitate.examples.catalogue import example
from kumitate.model.samples import ANDREWS_TORQUE, sample

#: At 0.03 s, as published; the test set's angles are the sample's joint coordinates, by name.
PUBLISHED = {
    "beta": 15.81077119629904, "Theta": -15.75637105984298, "gamma": 0.04082224013073101, "Phi": -0.5347301163226948,
    "delta": 0.5244099658805304, "Omega": 0.5347301163226948, "epsilon": 1.048080741042263,
}  # fmt: skip


@pytest.fixture(scope="module")
def run():
    return example("andrews").run()


def test_it_arrives_where_the_test_set_says(run):
    assert run.time[-1] == pytest.approx(0.03, abs=1e-12)
    found = dict(zip(run.mechanism.q_names, run.q[-1], strict=True))
    assert set(found) == set(PUBLISHED)
    for name, angle in PUBLISHED.items():
        assert found[name] == pytest.approx(angle, rel=0.0, abs=1e-8), name


def test_energy_grows_by_what_the_motor_gives(run):
    given = ANDREWS_TORQUE * (run.q[:, 0] - run.q[0, 0])
    np.testing.assert_allclose(run.energy.total - run.energy.total[0], given, rtol=0.0, atol=1e-10)
    assert run.audit.work == pytest.approx(given[-1], rel=1e-9)


def test_its_start_is_consistent_and_its_loops_stay_closed(run):
    np.testing.assert_allclose(run.q[0], sample("andrews").q, rtol=0.0, atol=1e-15)
    assert max(gap.distance for gap in run.audit.loop_gaps) < 1e-14


def test_its_geometry_is_that_of_the_loop_equations():
    # the six equations of the test set, typed here once more: where the rod's end is, by three ways
    b, T, g, d, P, e, O = sample("andrews").q
    end = np.array([0.007 * np.cos(b) - 0.028 * np.cos(b + T), 0.007 * np.sin(b) - 0.028 * np.sin(b + T)])
    by_triangle = [0.035 * np.sin(g) - 0.03635, -0.035 * np.cos(g) + 0.03273]
    by_body4 = [0.04 * np.cos(d) + 0.02 * np.sin(P + d) - 0.06934, 0.04 * np.sin(d) - 0.02 * np.cos(P + d) - 0.00227]
    by_body6 = [0.02 * np.cos(O + e) + 0.04 * np.sin(e) - 0.06934, 0.02 * np.sin(O + e) - 0.04 * np.cos(e) - 0.00227]
    for way in (by_triangle, by_body4, by_body6):
        np.testing.assert_allclose(way, end, rtol=0.0, atol=1e-15)
