"""The audit names energy that nothing accounts for: how much, where or why, and what to do; and says nothing of exact runs."""

from __future__ import annotations

from dataclasses import replace
from math import pi

import numpy as np
import pytest

import kumitate as km
from kumitate.model.samples import four_bars, four_bars_start, planar_4r
from kumitate.spatial import pose

from ..references.test_singular_passages import RIGHT, posture
from .test_closing_steps import swinging


def coin() -> tuple[km.Robot, np.ndarray, np.ndarray]:
    wheel = km.Body("wheel", 2.0, inertia=(0.045, 0.045, 0.09))
    free = km.Joint("free", "floating", "world", "wheel")
    robot = km.Robot(km.Mechanism("coin", (wheel,), (free,), (km.Loop("ground", km.RollingDisc(0.3), "world", "wheel"),)))
    upright = robot.state(pose={"wheel": km.pose((0, 0, 0.3), (pi / 2, 0, 0))})[0]
    return robot, *robot.assemble(upright, [0, 0.5, -4, 0, 0, 0])


def test_the_drift_of_first_order_is_named():
    """A rolling coin, which spins with its axes: in 5 s, a tenth of its energy."""
    robot, q, v = coin()
    run = km.simulate(robot, q, v, duration=5.0, step=1e-3, integrator="semi_implicit_euler")
    (note,) = run.audit.notes
    assert "over the run, a little in each step" in note
    assert "order 1" in note
    assert "\n".join(run.audit.lines()).count("order 1") == 1
    joules, percent = float(note.split(" J,")[0].removeprefix("energy: ")), float(note.split(" %")[0].split()[-1])
    assert joules == pytest.approx(run.audit.energy_drift, rel=1e-2)
    exchanged = max(run.energy.kinetic.max(), np.ptp(run.energy.potential))
    assert percent == pytest.approx(100.0 * joules / exchanged, rel=0.1)
    assert km.simulate(robot, q, v, duration=5.0, step=1e-3).audit.notes == ()


def test_a_jump_at_a_singular_posture_is_named():
    """A bar a little longer than the others turns over within two steps, where the parallelogram has its singular posture."""
    longer = replace(planar_4r().loops[0], pose_b=pose((0.0, 0.0, 1.0001)))
    robot = km.Robot(replace(planar_4r(), loops=(longer,)))
    run = km.simulate(robot, robot.assemble(posture(pi / 3.0)), duration=3.0, step=1e-3, integrator="rkf45")
    (note,) = run.audit.notes
    assert "singular posture" in note
    assert "rkf45_adaptive" in note
    at = float(note.split("t = ")[1].split(" s")[0])
    k = int(np.argmin(np.abs(run.time - at)))
    assert np.abs(np.cos(run.q[k : k + 2, 0])).min() < 0.02
    balance = run.energy.total
    assert float(note.split(" J,")[0].removeprefix("energy: ")) == pytest.approx(abs(balance[k + 1] - balance[k]), rel=1e-2)


def test_exact_runs_past_singular_postures_have_no_note():
    run = km.simulate(planar_4r(), posture(pi / 3.0), duration=3.0, step=1e-3)
    assert np.abs(np.cos(run.q[:, 0])).min() < 1e-2
    assert run.audit.notes == ()
    row = km.simulate(four_bars(2), *four_bars_start(2, RIGHT - 1.0, 1.0), duration=3.0, step=5e-3, integrator="rkf45")
    assert row.audit.notes == ()


def test_a_loop_that_stays_open_is_named():
    """Strict steps end by one projection, which is not enough for steps that are too long."""

    def notes(step: float) -> tuple[str, ...]:
        return swinging(integrator="rkf45", step=step, stabilisation="strict").run(duration=1.0).audit.notes

    assert notes(5e-3) == ()
    (note,) = notes(1e-2)
    assert "loop 'joint4' is open by up to" in note
    assert "rkf45_adaptive" in note
