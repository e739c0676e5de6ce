"""The car axis: its start and its road; where it arrives is a problem of `kumitate validate`."""

import numpy as np
import pytest

from kumitate.examples.catalogue import example
from kumitate.examples.gallery.car_axis import HEIGHT, LENGTH, axle_angle, car_axis
from kumitate_problems.closed_loops import car_axis_ends


@pytest.fixture(scope="module")
def run():
    return example("car_axis").run()


def test_it_starts_as_the_test_set_says(run):
    places, rates = car_axis_ends(run.q[0], run.v[0])
    assert places == pytest.approx([0.0, 0.5, 1.0, 0.5], abs=1e-15)
    assert rates == pytest.approx([-0.5, 0.0, -0.5, 0.0], abs=1e-15)


def test_the_axle_follows_the_road(run):
    assert np.abs(LENGTH * np.sin(run.q[:, 0]) - HEIGHT * np.sin(10.0 * run.time)).max() < 1e-12
    assert run.audit.energy_drift < 1e-6 * np.ptp(run.energy.total)
    assert float(axle_angle(0.0)) == 0.0
    assert car_axis().nv == 3
