"""Robots and runs that are copied, or sent to other processes, do what the first ones do."""

from __future__ import annotations

import copy
import dataclasses
import os
import pickle
import subprocess
import sys

import numpy as np
import pytest

import kumitate as km
from kumitate.records.record import Record

COPIES = {"pickle": lambda thing: pickle.loads(pickle.dumps(thing)), "deepcopy": copy.deepcopy, "copy": copy.copy}


@pytest.mark.parametrize("copied", COPIES.values(), ids=COPIES)
@pytest.mark.parametrize("name", ["pa10", "four_bar"])
def test_a_copy_of_a_used_robot(copied, name):
    robot = km.load(name)
    q, v = robot.start
    acceleration = robot.forward_dynamics(q, v, np.zeros(robot.nv))
    other = copied(robot)
    assert other.mechanism == robot.mechanism
    for mine, its in zip(robot.start, other.start, strict=True):
        np.testing.assert_array_equal(mine, its)
    np.testing.assert_array_equal(other.forward_dynamics(q, v, np.zeros(robot.nv)), acceleration)


@pytest.mark.parametrize("copied", COPIES.values(), ids=COPIES)
@pytest.mark.parametrize("contact", [None, "rigid"])
def test_a_copy_of_a_run(copied, contact):
    ball = km.Body("ball", 1.0, inertia=(0.1, 0.1, 0.1), collisions=(km.Geometry(km.Sphere(0.1)),))
    mechanism = km.Mechanism("ball", (ball,), (km.Joint("free", "floating", "world", "ball"),))
    run = km.simulate(mechanism, [0, 0, 0, 1, 0, 0, 0.11], duration=0.1, contact=contact)
    poses = run.poses()  # so that it has its robot with it
    other = copied(run)
    assert type(other) is km.Run
    assert other.mechanism == run.mechanism
    assert other.settings == run.settings
    for name in ("time", "q", "v", "a", "tau", "center_of_mass", "momentum"):
        np.testing.assert_array_equal(getattr(other, name), getattr(run, name))
        assert not getattr(other, name).flags.writeable
    assert not other.energy.total.flags.writeable
    np.testing.assert_array_equal(other.poses(), poses)
    if contact:
        np.testing.assert_array_equal(other.contact.force, run.contact.force)
        assert run.contact.force.any()


def test_a_start_that_was_given_goes_along():
    robot = km.Robot(km.load("pendulum").mechanism, start=([0.4], [0.5]))
    other = copy.deepcopy(robot)
    assert [float(part[0]) for part in other.start] == [0.4, 0.5]
    other.start[0][0] = 7.0
    assert robot.start[0][0] == 0.4


def test_a_run_that_ran_away_can_be_sent():
    kept = km.simulate(km.load("pendulum"), [0.3], duration=0.01)
    error = pickle.loads(pickle.dumps(km.DivergenceError("it ran away", kept)))
    assert str(error) == "it ran away"
    assert isinstance(error.result, Record)
    np.testing.assert_array_equal(error.result.q, kept.q)


def test_a_hash_of_a_mechanism_is_that_of_this_process():
    """Hashes of text differ from process to process: a mechanism that was sent must compute its own."""
    mechanism = km.load("four_bar").mechanism
    program = (
        "import dataclasses, pickle, sys; mechanism = dataclasses.replace(pickle.load(sys.stdin.buffer)); hash(mechanism);"
        "sys.stdout.buffer.write(pickle.dumps(mechanism))"
    )
    hash(mechanism)
    told = subprocess.run(
        [sys.executable, "-c", program], input=pickle.dumps(mechanism), capture_output=True, check=True,
        env={**os.environ, "PYTHONHASHSEED": "17"},
    )  # fmt: skip
    back = pickle.loads(told.stdout)
    assert back == mechanism
    assert hash(back) == hash(mechanism)
    heavier = dataclasses.replace(mechanism, gravity=(0.0, 0.0, -1.0))
    assert hash(heavier) != hash(mechanism)


@pytest.mark.parametrize("copied", COPIES.values(), ids=COPIES)
def test_a_copy_of_many_runs(copied):
    robot = km.load("planar_3r")
    runs = km.simulate_batch(robot, np.zeros((3, robot.nq)), duration=0.01, controller=lambda t, q, v: -0.1 * v)
    other = copied(runs)
    assert other.mechanism == runs.mechanism
    np.testing.assert_array_equal(other.q, runs.q)
    with pytest.raises(km.KumitateError, match="simulate the run alone"):
        other.contact(0)


def pushed(t, q, v, push):
    return 3.0 * push


@pytest.mark.parametrize("copied", COPIES.values(), ids=COPIES)
def test_a_copy_of_a_simulation_and_of_its_batch(copied):
    sim = km.Simulation(
        km.load("planar_3r"), step=1e-3, integrator="rk4", controller=pushed, inputs={"push": 3}, outputs=["energy"],
        parameters=["mass:*"], start=([0.1, 0.2, 0.3], [0.0, 1.0, 0.0]),
    )  # fmt: skip
    batch = sim.batch(3, parameters={"mass:*": [[1.0, 2.0, 3.0]] * 3})
    batch.inputs["push"] = np.arange(9.0).reshape(3, 3)
    batch.step(7)
    other, rows = copied(sim), copied(batch)
    np.testing.assert_array_equal(other.step(other.start(), 5).q, sim.step(sim.start(), 5).q)
    for name, array in batch.arrays().items():
        np.testing.assert_array_equal(rows.arrays()[name], array, err_msg=name)
    rows.step(5)
    assert (rows.q != batch.q).all()  # memory of its own
    batch.step(5)
    np.testing.assert_array_equal(rows.q, batch.q)
    np.testing.assert_array_equal(rows.time, batch.time)
    np.testing.assert_array_equal(rows.outputs["energy.kinetic"], batch.outputs["energy.kinetic"])
