"""The car axis beside the reference solution that the Test Set for IVP Solvers publishes for t = 3 s."""

import numpy as np
import pytest

from kumitate.examples.catalogue import example
from kumitate.examples.gallery.car_axis import EPSILON, HEIGHT, LENGTH, axle_angle, car_axis
from kumitate.run import as_run

#: Left end (x, y), right end, and the velocities of both [m, m/s].
PLACES = (0.493455784275402809122e-1, 0.496989460230171153861, 0.104174252488542151681e1, 0.373911027265361256927)
RATES = (-0.770583684040972357970e-1, 0.744686658723778553466e-2, 0.175568157537232222276e-1, 0.770341043779251976443)
#: The multiplier of the constraint that holds the left end on the normal of the axle; ε⁻² L λ₁ is its force [N].
FIRST_MULTIPLIER = -0.473688659084893324729e-2


@pytest.fixture(scope="module")
def run():
    return example("car_axis").run()


def ends(q, v):
    """Both ends of the chassis and their velocities, from the coordinates: axle, left spring, chassis on the left end."""
    (turn, reach, tilt), (turning, reaching, tilting) = q, v
    normal, along = np.array([-np.sin(turn), np.cos(turn)]), np.array([np.cos(turn), np.sin(turn)])
    bar = np.array([np.cos(turn + tilt), np.sin(turn + tilt)])
    left, left_rate = reach * normal, reaching * normal - reach * turning * along
    swing = (turning + tilting) * LENGTH * np.array([-bar[1], bar[0]])
    return [*left, *(left + LENGTH * bar)], [*left_rate, *(left_rate + swing)]


def test_it_starts_as_the_test_set_says(run):
    places, rates = ends(run.q[0], run.v[0])
    assert places == pytest.approx([0.0, 0.5, 1.0, 0.5], abs=1e-15)
    assert rates == pytest.approx([-0.5, 0.0, -0.5, 0.0], abs=1e-15)


def test_it_arrives_where_the_test_set_says(run):
    assert run.time[-1] == pytest.approx(3.0, abs=1e-12)
    places, rates = ends(run.q[-1], run.v[-1])
    assert places == pytest.approx(PLACES, abs=1e-9)
    assert rates == pytest.approx(RATES, abs=2e-8)


def test_the_axle_follows_the_road_and_its_force_is_the_multiplier(run):
    assert np.abs(LENGTH * np.sin(run.q[:, 0]) - HEIGHT * np.sin(10.0 * run.time)).max() < 1e-12
    force = as_run(run).joint_wrenches()["left"][-1, 3]
    assert force == pytest.approx(LENGTH * FIRST_MULTIPLIER / EPSILON**2, rel=1e-7)
    assert run.audit.energy_drift < 1e-6 * np.ptp(run.energy.total)
    assert float(axle_angle(0.0)) == 0.0
    assert car_axis().nv == 3
