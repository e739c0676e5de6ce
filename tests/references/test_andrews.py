"""Andrews' squeezer (A03): its energy, its start and its geometry; where it arrives is a problem of `kumitate validate`."""

import numpy as np
import pytest

from kumitate.examples.catalogue import example
from kumitate.model.samples import ANDREWS_TORQUE, sample


@pytest.fixture(scope="module")
def run():
    return example("andrews").run()


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
