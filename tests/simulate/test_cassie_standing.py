"""Cassie stands: closed loops, springs, drives and contact of its feet at once."""

from __future__ import annotations

import numpy as np
import pytest

import kumitate as km
from kumitate.contact import Contact, Surface
from kumitate.examples.gallery.cassie import lowest_point, standing


@pytest.mark.slow
def test_cassie_stands_still_for_ten_seconds_with_its_loops_closed():
    robot, q = standing()
    contact = Contact(surface=Surface(friction=0.8))
    start = q, np.zeros(robot.nv)
    sim = km.Simulation(robot, step=2e-3, integrator="semi_implicit_euler", contact=contact, start=start)
    batch = sim.batch(8)
    seen = batch.record(50, 100)
    assert not batch.lost.any()
    gaps = sim._loops.gaps_of_rows(seen["q"].reshape(-1, robot.nq), seen["v"].reshape(-1, robot.nv))
    assert gaps[:, :, 0].max() < 1e-12
    late_q, late_v = seen["q"][:, 25:], seen["v"][:, 25:]  # at rest after 5 s, and no longer sinking or creeping
    assert np.abs(late_v).max() < 1e-3
    assert np.abs(late_q - late_q[:, -1:]).max() < 1e-3
    assert abs(lowest_point(robot, batch.q[0].tolist())) < 1e-4
    tilt = 2.0 * np.hypot(batch.q[:, 0], batch.q[:, 1])  # of the pelvis [rad], for small ones
    assert tilt.max() < 0.06
    assert (q[6] - batch.q[:, 6]).max() < 0.02  # its springs give way under its weight
