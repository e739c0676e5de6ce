"""A simulation as one object: stepped, run, restored and side by side, it makes one motion, bit by bit."""

from __future__ import annotations

import numpy as np
import pytest

import kumitate as km
from kumitate.errors import DivergenceError, InputError

STEPS = 60


def swinging(t, q, v):
    return -2.0 * q - 0.3 * v + 0.1 * np.sin(5.0 * t)


class Integrating:
    """A controller that keeps state: an integral of its own."""

    def __init__(self):
        self.sum = 0.0

    def __call__(self, t, q, v):
        self.sum = self.sum + 0.01 * q
        return -self.sum - v


def arm(**options):
    robot = km.load("planar_3r")
    return km.Simulation(robot, start=(np.array([0.3, -0.4, 0.5]), np.array([0.1, 0.2, -0.3])), **options)


def dropped_ball(height=0.11, **options):
    ball = km.Body("ball", 1.0, inertia=(0.004, 0.004, 0.004), collisions=(km.Geometry(km.Sphere(0.1)),))
    mechanism = km.Mechanism("ball", (ball,), (km.Joint("free", "floating", "world", "ball"),))
    start = np.array([0.0, 0.0, 0.0, 1.0, 0.0, 0.0, height]), np.array([1.0, 2.0, 0.0, 0.5, 0.0, 0.0])
    return km.Simulation(mechanism, contact="rigid", start=start, **options)


def closed_loop(**options):
    return km.Simulation(km.load("four_bars_2"), **options)


SIMULATIONS = {
    "rk4": lambda: arm(integrator="rk4"),
    "compiled controller": lambda: arm(controller=swinging),
    "sampled controller": lambda: arm(controller=swinging, sample_time=0.007),
    "controller that keeps state": lambda: arm(controller=Integrating()),
    "called at every stage": lambda: arm(controller=swinging, traced=False, integrator="rk4"),
    "adaptive": lambda: arm(integrator="rkf45_adaptive", step=0.01),
    "rigid contact": dropped_ball,
    "a rolling ball": lambda: dropped_ball(0.1 - 1e-4),
    "loops": closed_loop,
}


@pytest.mark.parametrize("made", SIMULATIONS.values(), ids=SIMULATIONS.keys())
def test_steps_runs_and_restored_states_give_the_same_bits(made, tmp_path):
    sim = made()
    run = sim.run(duration=STEPS * sim.step_size)
    sim = made()  # functions that keep state begin again
    state = sim.start()
    for k in range(STEPS // 2):
        np.testing.assert_array_equal(state.q, run.q[k])
        np.testing.assert_array_equal(state.v, run.v[k])
        assert state.time == run.time[k]
        state = sim.step(state)
    saved = sim.save(state, tmp_path / "state.npz")
    if sim.actuation.samples and sim.actuation.mode == "sampled" and not sim._hold:
        restored = state  # what such a function has integrated is not ours to save
    else:
        restored = made().restore(saved)
        np.testing.assert_array_equal(restored.q, state.q)
    for k in range(STEPS // 2, STEPS, 10):
        np.testing.assert_array_equal(restored.q, run.q[k])
        restored = sim.step(restored, 10)
    np.testing.assert_array_equal(restored.q, run.q[-1])
    np.testing.assert_array_equal(restored.v, run.v[-1])
    assert restored.work == pytest.approx(run.audit.work, rel=0.0, abs=0.0)


@pytest.mark.parametrize("made", SIMULATIONS.values(), ids=SIMULATIONS.keys())
def test_how_often_states_are_recorded_does_not_change_the_motion(made):
    often, seldom = made().run(duration=0.4), made().run(duration=0.4, every=4)
    np.testing.assert_array_equal(seldom.time, often.time[::4])
    np.testing.assert_array_equal(seldom.q, often.q[::4])
    np.testing.assert_array_equal(seldom.v, often.v[::4])


@pytest.mark.parametrize("name", ["rk4", "compiled controller", "rigid contact", "loops"])
def test_a_row_of_a_batch_is_the_same_at_any_place_and_number_of_threads(name, monkeypatch):
    sim = SIMULATIONS[name]()
    rng = np.random.default_rng(3)
    starts = [part + (0.0 if name == "loops" else 0.1) * rng.normal(size=(40, len(part))) for part in sim._starts.default]
    if name == "rigid contact":
        starts[0][:, :4] = [0.0, 0.0, 0.0, 1.0]
    ends = []
    for threads, order in (("1", np.arange(40)), ("3", np.arange(40)), ("2", rng.permutation(40)[:13])):
        monkeypatch.setenv("KUMITATE_THREADS", threads)
        batch = sim.batch(starts[0][order], starts[1][order])
        seen = batch.record(10, 5)
        ends.append((order, batch.q, batch.v))
        np.testing.assert_array_equal(seen["q"][:, -1], batch.q)
        np.testing.assert_allclose(batch.time, 50 * sim.step_size, rtol=1e-15)
    _, q, v = ends[0]
    for order, other_q, other_v in ends[1:]:
        np.testing.assert_array_equal(other_q, q[order])
        np.testing.assert_array_equal(other_v, v[order])
    alone = sim.run(starts[0][3], starts[1][3], duration=50 * sim.step_size)
    np.testing.assert_allclose(q[3], alone.q[-1], rtol=0.0, atol=1e-12)


def test_inputs_act_as_constants_do():
    tau, push = np.array([0.3, -0.2, 0.1]), np.array([0.0, 0.0, 0.2, 1.0, 0.0, 0.5])
    hand = km.load("planar_3r").mechanism.bodies[-1].name
    expected = arm(controller=tau, wrenches={hand: push}).run(duration=0.05)
    sim = arm(wrenches={hand: None})
    state = sim.step(sim.start(), 50, tau=tau, wrenches={hand: push})
    np.testing.assert_array_equal(state.q, expected.q[-1])
    batch = sim.batch(9)
    batch.tau[:], batch.wrenches[hand][:] = tau, push
    batch.step(50)
    np.testing.assert_allclose(batch.q, np.tile(state.q, (9, 1)), rtol=0.0, atol=1e-13)
    # without inputs, nothing acts
    still = arm().run(duration=0.05)
    np.testing.assert_array_equal(sim.step(sim.start(), 50).q, still.q[-1])


def test_a_step_leaves_the_state_it_begins_from():
    sim = arm()
    start = sim.start()
    before = start.q.copy()
    first, second = sim.step(start, 7, tau=[1.0, 0.0, 0.0]), sim.step(start, 7, tau=[1.0, 0.0, 0.0])
    np.testing.assert_array_equal(start.q, before)
    np.testing.assert_array_equal(first.q, second.q)


@pytest.mark.parametrize("made", SIMULATIONS.values(), ids=SIMULATIONS.keys())
def test_a_step_from_where_the_last_one_ended_is_that_from_its_state_loaded(made):
    sim, other = made(), made()
    state = sim.step(sim.start(), STEPS)
    onward = sim.step(state)  # nothing is loaded: the simulation stands there
    other.step(other.step(other.start()), 3)  # stands elsewhere
    for loaded in (sim.step(state), other.step(state)) if made is not SIMULATIONS["controller that keeps state"] else ():
        assert (loaded.time, loaded.work, *loaded.carried) == (onward.time, onward.work, *onward.carried)
        for name, array in onward.carried.items():
            np.testing.assert_array_equal(loaded.carried[name], array)
    onward.q[:] = np.nan  # nobody steps from what users do with a copy
    assert np.isfinite(sim.step(onward).q).all()
    with pytest.raises(ValueError, match="read-only"):
        onward.carried["q"][0] = 1.0


def test_a_run_ends_where_it_is_told_to():
    sim = dropped_ball()
    run = sim.run(duration=1.0, until=lambda t, q, v: q[6] < 0.105)
    whole = sim.run(duration=1.0)
    k = int(np.argmax(whole.q[:, 6] < 0.105))
    assert 0 < k < 1000
    assert len(run) == k + 1
    np.testing.assert_array_equal(run.q, whole.q[: k + 1])


def test_outputs_are_what_the_robots_functions_give():
    robot = km.load("pa10")
    hand = list(robot.mechanism.tree.places)[-1]

    def height(t, q, v):
        return np.array([[t, q[0] + v[1]], [np.sin(q[2]), 1.0]])

    outputs = {
        f"pose:{hand}": f"pose:{hand}",
        "energy": "energy",
        "a": "a",
        "tau": "tau",
        "wrench": "joint_wrenches",
        "own": height,
    }
    sim = km.Simulation(robot, outputs=outputs, controller=lambda t, q, v: -5.0 * v + 2.0)
    run = sim.run(duration=0.05, every=10)
    expected = {
        f"pose:{hand}": robot.pose(run.q, hand),
        "energy.kinetic": run.energy.kinetic,
        "energy.potential": run.energy.potential,
        "a": run.a,
        "tau": run.tau,
        "wrench": np.stack(list(robot.joint_wrenches(run.q, run.v, run.tau).values()), axis=1),
        "own": np.array([height(*row) for row in zip(run.time, run.q, run.v, strict=True)]),
    }
    assert set(run.outputs) == set(expected)
    batch, state = sim.batch(9), sim.start()
    seen = batch.record(5, 10)
    for name, values in expected.items():
        np.testing.assert_allclose(run.outputs[name], values, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(seen[name][4], values[1:], rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(state.outputs[name], values[0], rtol=1e-9, atol=1e-9)


def test_outputs_are_saved_with_a_run(tmp_path):
    run = arm(outputs=["center_of_mass", "energy"]).run(duration=0.01)
    for suffix in (".npz", ".h5"):
        again = km.open(run.save(tmp_path / f"run{suffix}"))
        assert list(again.outputs) == list(run.outputs)
        for name, values in run.outputs.items():
            np.testing.assert_array_equal(again.outputs[name], values)


def test_rows_that_run_away_are_marked_and_reset_only_when_asked():
    sim = arm(integrator="rk4", step=0.01)
    batch = sim.batch(20)
    batch.v[4] = 1e8
    with np.errstate(all="ignore"):
        batch.step(30)
    assert list(np.flatnonzero(batch.lost)) == [4]
    others = sim.run(duration=0.3)
    np.testing.assert_allclose(batch.q[7], others.q[-1], rtol=0.0, atol=1e-12)
    batch.reset([4], v=[0.0, 0.0, 0.0])
    assert not batch.lost.any()
    batch.step(5)
    assert batch.time[4] == pytest.approx(0.05)
    assert batch.time[0] == pytest.approx(0.35)
    np.testing.assert_allclose(batch.q[4], sim.run(sim._starts.default[0], duration=0.05).q[-1], rtol=0.0, atol=1e-12)


def test_what_is_compiled_is_shared_by_simulations_of_the_same_content():
    first, second = arm(controller=swinging), arm(controller=lambda t, q, v: -2.0 * q - 0.3 * v + 0.1 * np.sin(5.0 * t))
    assert first.compiled is second.compiled
    assert arm(controller=lambda t, q, v: -2.5 * q).compiled is not first.compiled
    assert dropped_ball().interaction is dropped_ball().interaction


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda sim: sim.step(sim.start(), tau=[1.0, 2.0]), "input has shape .*it must have 3 components: "),
        (lambda sim: sim.step(sim.start(), wrenches={"nowhere": [0.0] * 6}), "has no input for 'nowhere'.*make the simulation"),
        (lambda sim: sim.run(duration=0.01, every=3), "every is 3; it must divide the number of steps, 10"),
        (lambda sim: arm(controller=swinging).step(sim.start(), tau=np.zeros(3)), "the controller is a function"),
        (lambda sim: arm(outputs=["enrgy"]), "there is no output 'enrgy', did you mean 'energy'"),
        (lambda sim: arm(outputs=["pose"]), "'pose' needs the name of a body or frame"),
        (lambda sim: arm(outputs=["pose:lnk1"]), "which is not a body or frame"),
        (lambda sim: arm(outputs={"x": lambda t, q, v: [1.0] if q[0] > 0 else [0.0]}), "'x' cannot be compiled: "),
        (lambda sim: arm(integrator="rkf45_adaptive").batch(3), "need a constant step"),
        (lambda sim: sim.batch(np.zeros((4, 2))), r"q has shape \(4, 2\); it must be \(N, 3\)"),
    ],
)
def test_mistakes_are_named(call, words):
    with pytest.raises(InputError, match=words):
        call(arm())


def test_a_saved_state_belongs_to_its_simulation(tmp_path):
    sim = arm()
    path = sim.save(sim.start(), tmp_path / "state.npz")
    with pytest.raises(InputError, match=r"is a state of Simulation.*give one that was saved by"):
        arm(step=0.01).restore(path)
    path.write_bytes(path.read_bytes()[:200])
    with pytest.raises(InputError, match="is damaged"):
        sim.restore(path)
    with pytest.raises(InputError, match=r"states are saved as \.npz"):
        sim.save(sim.start(), tmp_path / "state.h5")


def test_a_step_that_runs_away_says_so():
    sim = arm(integrator="rk4", step=0.01)
    with pytest.raises(DivergenceError, match="diverges"), np.errstate(all="ignore"):
        sim.step(sim.start(v=[1e8, 0.0, 0.0]), 50)
