"""Cassie stands: closed loops, springs, drives and contact of its feet at once."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import kumitate as km
from kumitate.contact import Contact, Surface, ground_gap
from kumitate.examples.gallery.cassie import standing
from kumitate.gym import named_task


@pytest.mark.slow
def test_cassie_stands_still_for_ten_seconds_with_its_loops_closed():
    robot, q = standing()
    sim = named_task("cassie_standing").simulation  # in steps of 2 ms, without action
    batch = sim.batch(8)
    np.testing.assert_array_equal(batch.q[0], q)
    seen = batch.record(50, 100)
    assert not batch.lost.any()
    gaps = sim._loops.gaps_of_rows(seen["q"].reshape(-1, robot.nq), seen["v"].reshape(-1, robot.nv))
    assert gaps[:, :, 0].max() < 1e-12
    late_q, late_v = seen["q"][:, 25:], seen["v"][:, 25:]  # at rest after 5 s, and no longer sinking or creeping
    assert np.abs(late_v).max() < 1e-3
    assert np.abs(late_q - late_q[:, -1:]).max() < 1e-3
    assert abs(ground_gap(robot, batch.q[0])) < 1e-4
    tilt = 2.0 * np.hypot(batch.q[:, 0], batch.q[:, 1])  # of the pelvis [rad], for small ones
    assert tilt.max() < 0.06
    assert (q[6] - batch.q[:, 6]).max() < 0.02  # its springs give way under its weight


@pytest.mark.slow
def test_cassie_dropped_among_boxes_keeps_its_loops_closed():
    """A scene: its feet land 20 cm lower on boxes that lie about, while drives hold its legs and stops their joints."""
    robot, q = standing()
    box = km.Geometry(km.Box((0.3, 0.3, 0.1)))
    boxes = tuple(km.Body(f"box{k}", 3.0, inertia=(0.03, 0.03, 0.05), collisions=(box,)) for k in range(4))
    free = tuple(km.Joint(f"free{k}", "floating", "world", f"box{k}") for k in range(4))
    mechanism = replace(robot, bodies=robot.bodies + boxes, joints=robot.joints + free)
    places = [(0.1, 0.2, 0.05), (0.1, -0.2, 0.05), (0.15, 0.17, 0.151), (-0.4, 0.0, 0.05)]
    start = [*q[:6], q[6] + 0.4, *q[7:], *(x for place in places for x in (0.0, 0.0, 0.0, 1.0, *place))]
    contact = Contact(surface=Surface(friction=0.8))
    run = km.Simulation(mechanism, contact=contact, start=(start, np.zeros(mechanism.nv))).run(duration=0.6)
    assert {"left-foot", "right-foot", "box0", "box1", "box2"} <= {name for pair in run.contact.bodies for name in pair}
    assert max(gap.distance for gap in run.audit.loop_gaps) < 1e-12
    assert not run.audit.limits_passed
    assert np.mean(run.contact.residual > 1e-8) < 0.01
    assert run.contact.residual.max() < 1e-5
    assert run.contact.cone_violation.max() < 1e-9 * np.abs(run.contact.force).max()
