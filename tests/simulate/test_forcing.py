"""Controllers and wrenches: compiled into the step, called, or held, always the same motion."""

from __future__ import annotations

import math

import numpy as np
import pytest

import kumitate as km
from kumitate.errors import InputError

START = [0.4, -0.3, 0.8]
INTEGRATORS = ["rkf45", "midpoint", "rk4", "rkf45_adaptive", "semi_implicit_euler"]
#: How often each integrator evaluates the efforts in a step.
STAGES = {"rk4": 4, "midpoint": 4, "rkf45": 6, "semi_implicit_euler": 1}


@pytest.fixture(scope="module")
def chain() -> km.Robot:
    return km.load("planar_3r")


def pd(t, q, v):
    """A PD controller towards a moving posture, in NumPy."""
    goal = np.array([0.3, -0.2, 0.5]) + 0.1 * t
    return 20.0 * (goal - q) - 3.0 * v + np.sin(q) * np.cos(3.0 * t)


def push(t, q, v):
    """A wrench that depends on all there is."""
    return [0.1 * v[0], 0.5 * t, -0.2 * q[1], 1.0 - q[0] * q[0], 0.3, math.pi]


def run(chain, **options) -> km.Run:
    return km.simulate(chain, START, [0.1, 0.0, -0.2], **{"duration": 0.3, "step": 1e-3, **options})


def assert_same(a: km.Run, b: km.Run, tolerance: float = 1e-11) -> None:
    for name in ("time", "q", "v", "a", "tau"):
        np.testing.assert_allclose(getattr(a, name), getattr(b, name), rtol=0.0, atol=tolerance * (1e3 if name == "a" else 1.0))
    assert a.audit.work == pytest.approx(b.audit.work, abs=1e-9)


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_compiled_and_called_controllers_give_the_same_motion(chain, integrator):
    options = {"controller": pd, "wrenches": {"link3": push}, "integrator": integrator}
    compiled, called = run(chain, **options), run(chain, traced=False, **options)
    assert compiled.settings["forcing"] == "compiled"
    assert called.settings["forcing"] == "called"
    assert_same(compiled, called)
    np.testing.assert_allclose(
        compiled.tau, [pd(t, q, v) for t, q, v in zip(compiled.time, compiled.q, compiled.v, strict=True)], atol=1e-12
    )


@pytest.mark.parametrize("traced", [True, False])
def test_sampled_controllers_hold_their_values(chain, traced):
    seen = []

    def watched(t, q, v):
        seen.append(t)
        return pd(t, q, v)

    sampled = run(chain, controller=watched, sample_time=5e-3, traced=traced)
    assert sampled.settings["forcing"] == "held"
    np.testing.assert_allclose(np.unique(seen), np.arange(0.0, 0.3, 5e-3), atol=1e-15)
    for start in range(0, 300, 5):
        expected = pd(sampled.time[start], sampled.q[start], sampled.v[start])
        np.testing.assert_allclose(sampled.tau[start : start + 5], np.tile(expected, (5, 1)), rtol=1e-14)


def test_a_sampled_run_is_a_sequence_of_runs_with_constant_torque(chain):
    whole = run(chain, controller=pd, sample_time=0.1, wrenches={"link2": push})
    q, v = np.array(START), np.array([0.1, 0.0, -0.2])
    for k in range(3):
        piece = km.simulate(chain, q, v, duration=0.1, controller=pd(0.1 * k, q, v), wrenches={"link2": push(0.1 * k, q, v)})
        q, v = piece.q[-1], piece.v[-1]
    np.testing.assert_allclose(whole.q[-1], q, rtol=0.0, atol=1e-12)


def test_constants_are_held(chain):
    constant = run(chain, controller=[1.0, -2.0, 0.5], wrenches={"link1": [0, 0.5, 0, 1, 0, 2]})
    called = run(chain, controller=lambda t, q, v: [1.0, -2.0, 0.5], wrenches={"link1": lambda t, q, v: [0, 0.5, 0, 1, 0, 2]})
    assert constant.settings["forcing"] == "held"
    assert_same(constant, called)
    np.testing.assert_array_equal(constant.tau, np.tile([1.0, -2.0, 0.5], (301, 1)))


def test_a_wrench_acts_as_its_torques_do(chain):
    # JᵀF at every state, as torques: the same motion
    force = [0.0, 2.0, 0.0, 3.0, 0.0, -1.0]

    def as_torques(t, q, v):
        return chain.jacobian(q, "link3").T @ force

    pushed = run(chain, duration=0.1, wrenches={"link3": force})
    driven = run(chain, duration=0.1, controller=as_torques)
    assert driven.settings["forcing"] == "compiled"
    np.testing.assert_allclose(pushed.q, driven.q, rtol=0.0, atol=1e-12)
    assert pushed.audit.work == pytest.approx(driven.audit.work, abs=1e-12)


def test_functions_of_a_robot_are_compiled_into_a_controller():
    """Computed torque of a floating robot, with one output and with several, traced and called."""
    robot = km.load("floating_arm")
    q, v = robot.random_state(np.random.default_rng(5))
    base = robot.mechanism.bodies[0].name

    def law(t, q, v):
        X, energy = robot.pose(q, base), robot.energy(q, v)
        return robot.inverse_dynamics(q, v, -2.0 * v) + X[:3, :3].sum() * energy.kinetic * 1e-3 * robot.difference(q, q + 0.0)

    compiled, called = (km.simulate(robot, q, v, duration=0.05, controller=law, traced=traced) for traced in (True, False))
    assert compiled.audit.efforts == ("the controller: compiled",)
    np.testing.assert_allclose(compiled.q, called.q, rtol=0.0, atol=1e-12)


# --- what must be called ------------------------------------------------------------------------------------------------------
class Integrating:
    """A controller with a memory."""

    def __init__(self):
        self.total = np.zeros(3)

    def __call__(self, t, q, v):
        self.total = self.total + 1e-3 * (np.asarray(q) - 0.3)
        return -5.0 * q - self.total


def drawing(rng):
    return lambda t, q, v: -5.0 * q + 0.01 * rng.normal(size=3)


def branching(t, q, v):
    return -5.0 * q if q[0] > 0.3 else 5.0 * q


def through_math(t, q, v):
    return [math.sin(q[0]), float(v[1]), 0.0]


def remembering():
    total = np.zeros(3)

    def controller(t, q, v):
        nonlocal total
        total = total + 1e-3 * (q - 0.3)
        return -5.0 * q - total

    return controller


STATEFUL = {"object": Integrating, "closure": remembering, "random": lambda: drawing(np.random.default_rng(1))}


@pytest.mark.parametrize("make", STATEFUL.values(), ids=STATEFUL)
def test_controllers_with_a_memory_are_found_out_and_called_once_per_step(chain, make):
    tried, called = (run(chain, duration=0.02, controller=make(), traced=traced) for traced in (True, False))
    assert tried.settings["forcing"] == "sampled"
    assert "the controller: called once per step, because `" in tried.audit.efforts[0]
    assert np.array_equal(tried.q, called.q)  # to have tried it leaves nothing in its memory
    assert np.array_equal(tried.tau, called.tau)


@pytest.mark.parametrize("controller", [branching, through_math], ids=["if", "math"])
def test_functions_beyond_plain_arithmetic_are_called(chain, controller):
    assert run(chain, duration=0.02, controller=controller).settings["forcing"] == "called"


@pytest.mark.parametrize("integrator", list(STAGES))
def test_controllers_with_a_memory_go_by_steps_unless_stages_are_asked_for(chain, integrator):
    times = []

    def counting(t, q, v):
        times.append(t)
        return -5.0 * q

    run(chain, duration=0.05, controller=counting, integrator=integrator)
    np.testing.assert_allclose(times, np.arange(50) * 1e-3, atol=1e-15)
    times.clear()
    run(chain, duration=0.05, controller=counting, integrator=integrator, sample_time=0)
    # once at each stage; the first stage of a step shares its state with what is recorded, as does the end of the run
    assert len(times) - 50 * STAGES[integrator] in (0, 1, 2)


def test_an_integrating_controller_integrates_once_per_step(chain):
    """The sum that a PID keeps is that of the recorded errors times the step."""
    law = Integrating()
    result = run(chain, duration=0.05, controller=law, integrator="rkf45")
    sums = np.cumsum(1e-3 * (result.q[:-1] - 0.3), axis=0)
    np.testing.assert_allclose(law.total, sums[-1], atol=1e-15)
    np.testing.assert_allclose(result.tau[:-1], -5.0 * result.q[:-1] - sums, atol=1e-14)


def test_a_counting_controller_moves_the_robot_as_it_would_without_tracing():
    """Drives that let go after twenty calls: frozen at their first answer, they never would."""
    arm = km.load("pa10")

    class Letting:
        def __init__(self):
            self.n = 0

        def __call__(self, t, q, v):
            self.n += 1
            return -50.0 * v if self.n <= 20 else 0.0 * v

    tried, called = (km.simulate(arm, duration=0.1, controller=Letting(), traced=traced) for traced in (True, False))
    np.testing.assert_array_equal(tried.q, called.q)
    assert not tried.tau[25:].any()
    assert tried.tau[15].any()
    assert tried.audit.efforts[0].startswith("the controller: called once per step, because `self.n` changes (line ")


def test_a_controller_that_writes_into_its_arguments_changes_nothing_else():
    """The pendulum's angle stays its own: the motion is that of the same law written without side effects."""
    arm = km.load("pendulum")

    def in_place(t, q, v):
        q -= 1.0
        return -10.0 * q - v

    def wrench(t, q, v):  # gets its own copies
        return [0.0, 0.0, 0.0, q[0], 0.0, 0.0]

    start, options = np.zeros(1), {"duration": 1.0, "wrenches": {arm.mechanism.bodies[-1].name: wrench}}
    bad = km.simulate(arm, start, controller=in_place, **options)
    good = km.simulate(arm, np.zeros(1), controller=lambda t, q, v: -10.0 * (q - 1.0) - v, **options)
    np.testing.assert_allclose(bad.q, good.q, rtol=0.0, atol=1e-12)
    assert start[0] == 0.0
    assert "writes into its argument `q`" in bad.audit.efforts[0]
    assert good.audit.efforts == ("the controller: compiled", f"the wrench on {arm.mechanism.bodies[-1].name!r}: compiled")


def test_what_is_compiled_and_what_is_called_go_together(chain):
    """A wrench is compiled even if the controller keeps state."""
    law = Integrating()
    mixed = run(chain, duration=0.05, controller=law, wrenches={"link3": push})
    alone = run(chain, duration=0.05, controller=Integrating(), wrenches={"link3": push}, traced=False)
    assert mixed.settings["forcing"] == "sampled"
    assert mixed.audit.efforts[1] == "the wrench on 'link3': compiled"
    assert alone.settings["forcing"] == "called"
    np.testing.assert_allclose(mixed.q, alone.q, rtol=0.0, atol=1e-13)


def test_a_change_of_what_was_compiled_in_is_reported(chain):
    gains = {"kp": 5.0}

    def law(t, q, v):
        return -gains["kp"] * q

    def change(done):
        gains["kp"] = 6.0

    result = run(chain, duration=0.1, controller=law, progress=change)
    assert result.settings["forcing"] == "compiled"
    assert any("compiled with `gains['kp']` as it was at the start, and it changed" in note for note in result.audit.notes)


@pytest.mark.parametrize("traced", [True, False])
def test_efforts_of_the_wrong_shape_or_value_are_refused(chain, traced):
    with pytest.raises(
        InputError, match=r"the controller gave an array of shape \(2,\); it must give 3 values: joint1, joint2, joint3"
    ):
        run(chain, controller=lambda t, q, v: [0.0, q[0]], traced=traced)
    with pytest.raises(InputError, match="the controller gave complex numbers at t = 0 s; it must give real ones"):
        run(chain, controller=lambda t, q, v: 1j * q, traced=traced)
    with pytest.raises(InputError, match=r"the controller gave .* at t = 0 s; it must give real numbers"):
        run(chain, controller=lambda t, q, v: ["a", "b", None], traced=traced)
    with pytest.raises(InputError, match="the controller gave nan for 'joint2' at t = 0 s; it must be finite"):
        run(chain, controller=lambda t, q, v: [0.0, math.nan, 0.0], traced=traced)
    with pytest.raises(InputError, match=r"the controller gave inf for 'joint1' at t = 0\.01"):
        run(chain, controller=lambda t, q, v: [math.inf if t > 0.01 else 0.0, 0.0, 0.0], traced=False)
    with pytest.raises(InputError, match=r"the wrench on 'link1' gave an array of shape \(3,\); it must give 6 values: nx, ny"):
        run(chain, wrenches={"link1": [0.0, 0.0, 1.0]}, traced=traced)
    with pytest.raises(
        InputError, match="a wrench acts on 'hand', which is not a body or frame; there are world, link1, link2, link3"
    ):
        run(chain, wrenches={"hand": [0.0] * 6})
