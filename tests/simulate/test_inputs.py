"""Inputs: arrays that functions read by the names of their parameters, and that may change from step to step."""

from __future__ import annotations

import numpy as np
import pytest

import kumitate as km
from kumitate.errors import InputError

TARGET = np.array([0.3, -0.1, 0.4])
START = np.array([0.3, -0.4, 0.5]), np.array([0.1, 0.2, -0.3])


def drive(t, q, v, target):
    return 20.0 * (target - q) - 0.5 * v


def towards(t, q, v):
    return 20.0 * (TARGET - q) - 0.5 * v


def arm(controller=drive, **options):
    given = {"inputs": {"target": 3}} if controller is drive else {}
    return km.Simulation(km.load("planar_3r"), start=START, controller=controller, **{**given, **options})


@pytest.mark.parametrize("options", [{}, {"traced": False}, {"sample_time": 0.004}], ids=["compiled", "called", "sampled"])
def test_an_input_acts_as_a_constant_of_the_function_does(options):
    expected = arm(towards, integrator="rk4", **options).run(duration=0.04)
    sim = arm(integrator="rk4", **options)
    assert sim.step(sim.start(), 40, inputs={"target": TARGET}).q == pytest.approx(expected.q[-1], rel=1e-13, abs=1e-13)
    given = arm(integrator="rk4", inputs={"target": TARGET}, **options)
    np.testing.assert_allclose(given.run(duration=0.04).q, expected.q, rtol=1e-13, atol=1e-13)


def test_wrenches_read_inputs_too():
    hand, push = km.load("planar_3r").mechanism.bodies[-1].name, np.array([0.0, 0.0, 0.2, 1.0, 0.0, 0.5])
    expected = arm(wrenches={hand: push}).run(duration=0.05)
    sim = arm(wrenches={hand: lambda t, q, v, push: push}, inputs={"push": 6, "target": 3})
    np.testing.assert_allclose(sim.step(sim.start(), 50, inputs={"push": push}).q, expected.q[-1], rtol=0.0, atol=1e-13)


def test_an_input_counts_for_its_steps_only():
    sim = arm()
    state = sim.step(sim.start(), 3, inputs={"target": TARGET})
    np.testing.assert_array_equal(sim.step(state, 5).q, sim.step(state, 5, inputs={"target": np.zeros(3)}).q)


def test_every_row_of_a_batch_has_its_own_inputs():
    sim, rng = arm(), np.random.default_rng(8)
    batch, targets = sim.batch(11), rng.normal(size=(11, 3))
    batch.inputs["target"][:] = targets
    batch.step(30)
    for k in (0, 7, 10):
        alone = sim.step(sim.start(), 30, inputs={"target": targets[k]})
        np.testing.assert_allclose(batch.q[k], alone.q, rtol=0.0, atol=1e-13)


def test_outputs_read_signals_inputs_and_outputs_before_them():
    def cost(t, q, v, hand, tau, target, a, scale=2.0):
        return scale * np.sum((q - target) ** 2) + tau[1] * hand[0, 3] + 1e-3 * a[2]

    place = list(km.load("planar_3r").mechanism.tree.places)[-1]
    outputs = {"hand": f"pose:{place}", "cost": cost, "twice": lambda t, q, v, cost: 2.0 * cost, "a": "a", "tau": "tau"}
    sim = arm(outputs=outputs)
    batch = sim.batch(9)
    batch.inputs["target"][:] = TARGET
    batch.step(25)
    seen = batch.outputs
    for k in range(9):
        read = {name: seen[name][k] for name in ("hand", "tau", "a")}
        expected = cost(0.0, batch.q[k], batch.v[k], target=TARGET, **read)
        assert seen["cost"][k] == pytest.approx(expected, rel=1e-12)
    np.testing.assert_allclose(seen["twice"], 2.0 * seen["cost"], rtol=1e-15)
    np.testing.assert_allclose(seen["tau"], 20.0 * (TARGET - batch.q) - 0.5 * batch.v, rtol=1e-12)


def test_looking_again_sees_what_was_changed():
    sim = arm(outputs={"gap": lambda t, q, v, target: target - q})
    batch = sim.batch(20)
    np.testing.assert_array_equal(batch.outputs["gap"], -batch.q)
    before = batch.q.copy()
    batch.inputs["target"][13] = TARGET
    batch.look([13])
    np.testing.assert_array_equal(batch.outputs["gap"][13], TARGET - batch.q[13])
    np.testing.assert_array_equal(batch.q, before)  # nothing moved
    batch.q[2] = 0.0
    batch.look()
    np.testing.assert_array_equal(batch.outputs["gap"][2], np.zeros(3))


def test_simulations_of_other_inputs_share_no_code():
    two = {"target": 3, "other": 2}
    assert arm().compiled is arm(inputs={"target": TARGET}).compiled
    assert arm().compiled is not arm(inputs=two).compiled


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: arm(inputs={"targets": 3}), "parameter 'target', which is not an input, did you mean 'targets'"),
        (lambda: arm(inputs={"tau": 3}), "an input is called 'tau'"),
        (lambda: arm(inputs={"the target": 3}), "an input is called 'the target'"),
        (
            lambda: arm(inputs={"target": np.zeros((2, 2))}),
            "the input 'target' is of shape .*; give the number of its components",
        ),
        (lambda: arm(inputs={"target": [0.0, np.nan, 0.0]}), "the input 'target'; it must be finite|nan is given"),
        (lambda: arm().step(arm().start(), inputs={"targt": TARGET}), "no input 'targt', did you mean 'target'"),
        (lambda: arm().step(arm().start(), inputs={"target": [1.0, 2.0]}), r"shape \(2,\) is given for the input 'target'"),
        (lambda: arm(outputs={"x": lambda t, q, v, twice: twice}), "'x' has the parameter 'twice', which is not an input"),
        (
            lambda: arm(outputs={"energy": "energy", "x": lambda t, q, v, energy: energy}),
            "'x' reads 'energy', which has several",
        ),
        (lambda: arm(outputs={"target": "a"}), "an output is called 'target', the name of an input"),
        (lambda: arm(outputs={"error": "a"}), "an output is called 'error', the name of what every state records"),
    ],
)
def test_mistakes_are_named(call, words):
    with pytest.raises(InputError, match=words):
        call()


COMBINED = {
    "a sum": lambda robot, law: km.control.total(law, km.control.gravity_compensation(robot)),
    "without a drive at one joint": lambda robot, law: km.control.undriven(robot, [robot.mechanism.joints[1].name], law),
    "sampled": lambda robot, law: km.control.Sampled(law, 0.002),
    "delayed": lambda robot, law: km.control.Delayed(law, sensing=0.001),
    "noisy": lambda robot, law: km.control.Noisy(law, q=1e-3, period=0.002, seed=3),
}


@pytest.mark.parametrize("combined", COMBINED.values(), ids=COMBINED)
def test_combined_controllers_pass_inputs_on(combined):
    """The motion is that of the same combination of a function that has the target in itself."""
    robot = km.load("planar_3r")
    expected = km.Simulation(robot, start=START, controller=combined(robot, towards)).run(duration=0.02).q[-1]
    sim = km.Simulation(robot, start=START, controller=combined(robot, drive), inputs={"target": 3})
    np.testing.assert_allclose(sim.step(sim.start(), 20, inputs={"target": TARGET}).q, expected, rtol=0.0, atol=1e-13)
    with pytest.raises(InputError, match="target"):
        km.Simulation(robot, controller=combined(robot, drive))
