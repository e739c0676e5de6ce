"""What a simulation does with its arguments, how it reports, and how it stops."""

from __future__ import annotations

import math
import re
import time

import numpy as np
import pytest

import kumitate as km
from kumitate.errors import DivergenceError, InputError
from kumitate.model.samples import free_rod
from kumitate.records.record import Record


def damped_pendulum(damping: float, friction: float = 0.0) -> km.Mechanism:
    rod = km.Body("rod", 1.0, (0.0, 0.0, -0.5), (1 / 12, 1 / 12, 0.01))
    joint = km.Joint("hinge", "revolute", "world", "rod", axis=(0, 1, 0), damping=damping, friction=friction)
    return km.Mechanism("damped", (rod,), (joint,))


# --- arguments ----------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"step": 0.0}, "step is 0.0; it must be above zero"),
        ({"step": -1e-3}, "step is -0.001; it must be above zero"),
        ({"step": math.nan}, "step is nan"),
        ({"duration": -1.0}, "duration is -1.0; it must be zero or more"),
        ({"duration": math.inf}, "duration is inf"),
        ({"sample_time": 1.5e-3}, "sample_time 0.0015 s is not a multiple of the step"),
        ({"sample_time": 1e-4}, "sample_time 0.0001 s is not a multiple of the step"),
        (
            {"integrator": "euler"},
            "there is no integrator 'euler'; there are auto, rkf45, rkf45_adaptive, rk4, semi_implicit_euler",
        ),
        ({"integrator": "rkf45_adaptive", "tolerance": 0.0}, "tolerance is 0.0; it must be between 0 and 1"),
        ({"q": [0.1, 0.2]}, r"planar_3r: q has shape \(2,\); it must have 3 components: joint1, joint2, joint3"),
        ({"v": [[0.1, 0.2, 0.3]]}, r"v has shape \(1, 3\)"),
        ({"q": [0.0, math.nan, 0.0]}, "q is nan for 'joint2'; it must be finite"),
        ({"v": [0.0, 0.0, -math.inf]}, "v is -inf for 'joint3'; it must be finite"),
    ],
)
def test_bad_arguments_are_refused(options, words):
    with pytest.raises(InputError, match=words):
        km.simulate(km.load("planar_3r"), **{"duration": 0.01, **options})


def test_a_quaternion_off_unit_length_is_refused_with_a_hint():
    with pytest.raises(
        InputError, match=r"joint 'base' is 0\.1 off unit length.*\(qx, qy, qz, qw, x, y, z\); some programs put"
    ):
        km.simulate(km.load("free_rod"), [0, 0, 0, 1.1, 0, 0, 0], duration=0.1)
    with pytest.raises(InputError, match="off unit length"):  # position first, as others have it
        km.simulate(km.load("free_rod"), [0.3, 0, 1, 0, 0, 0, 1], duration=0.1)


def test_nothing_to_simulate_gives_the_initial_state():
    run = km.simulate(km.load("pendulum"), duration=0.0)
    assert len(run) == 1
    np.testing.assert_allclose(run.q, [[math.radians(60.0)]])
    np.testing.assert_allclose(run.a, [[-9.81 * math.sin(math.radians(60.0))]])


@pytest.mark.parametrize("integrator", ["rk4", "rkf45", "rkf45_adaptive", "semi_implicit_euler"])
def test_a_run_ends_at_its_duration_whether_or_not_the_step_divides_it(integrator):
    """A turn of a motor lasts 2π/ω. All steps are equal, and a little shorter; the pendulum is where another way says."""
    turn, arm = 2.0 * math.pi / 10.0, km.load("pendulum")
    run = km.simulate(arm, duration=turn, step=1e-3, integrator=integrator)
    assert run.time[-1] == pytest.approx(turn, rel=1e-15)
    assert len(run) == 630
    np.testing.assert_allclose(np.diff(run.time), turn / 629, rtol=1e-9)
    assert "the step is 0.000998917 s: the duration is not a multiple of 0.001 s" in run.audit.notes
    exact = km.simulate(arm, duration=turn, step=turn / 8, integrator="rkf45_adaptive", tolerance=1e-12)
    assert run.q[-1, 0] == pytest.approx(exact.q[-1, 0], abs=1e-2 if integrator == "semi_implicit_euler" else 1e-7)
    assert not km.simulate(arm, duration=0.1, integrator=integrator).audit.notes


def test_batches_and_contact_end_there_too():
    turn, arm = 2.0 * math.pi / 10.0, km.load("pendulum")
    runs = km.simulate_batch(arm, [[0.1], [0.2]], duration=turn, step=1e-3, every=10, integrator="rk4")
    assert (len(runs.time), runs.time[-1]) == (64, pytest.approx(turn, rel=1e-15))
    again = km.simulate(arm, [0.2], duration=turn, step=turn / 630, integrator="rk4")
    np.testing.assert_allclose(runs.q[1], again.q[::10], rtol=0.0, atol=1e-13)
    ball = km.Body("ball", 1.0, inertia=(0.004, 0.004, 0.004), collisions=(km.Geometry(km.Sphere(0.1)),))
    thrown = km.Mechanism("thrown", (ball,), (km.Joint("free", "floating", "world", "ball", km.pose((0.0, 0.0, 0.15))),))
    fall = km.simulate(thrown, duration=turn, step=1e-2, contact="rigid")
    assert fall.time[-1] == pytest.approx(turn, rel=1e-15)
    assert fall.contact.normal_force[-2, 0] == pytest.approx(9.81, rel=1e-6)


def test_single_simulations_and_sampled_controllers_do_as_well():
    """The controller is called as many steps apart as it was to be."""
    turn, times = 2.0 * math.pi / 100.0, []

    def law(t, q, v):
        times.append(t)
        return [0.0]

    arm, options = km.load("pendulum"), {"controller": law, "sample_time": 5e-3, "integrator": "rk4"}
    run = km.Simulation(arm, **options).run(duration=turn)
    assert (len(run), run.time[-1]) == (64, pytest.approx(turn, rel=1e-15))
    np.testing.assert_allclose(times, run.time[::5], rtol=1e-12)
    assert run.settings["step"] == turn / 63
    assert run.settings["sample_time"] == pytest.approx(5.0 * turn / 63)
    said = f"the step is {turn / 63:.6g} s, and efforts are sampled every {5 * turn / 63:.6g} s: the duration is not a multiple"
    assert said in run.audit.notes[-1]
    again = km.simulate(arm, duration=turn, **options)
    np.testing.assert_array_equal(again.q, run.q)
    assert again.audit.notes == run.audit.notes
    runs = km.simulate_batch(
        arm, [[math.radians(60.0)]], duration=turn, controller=lambda t, q, v: 0.0 * v, sample_time=5e-3, integrator="rk4"
    )
    np.testing.assert_allclose(runs.q[0], run.q, rtol=0.0, atol=1e-14)
    assert said in runs.notes[-1]
    some = km.Simulation(arm, integrator="rk4").run(duration=turn, every=10)
    assert (len(some), some.time[-1]) == (8, pytest.approx(turn, rel=1e-15))


# --- what is recorded ---------------------------------------------------------------------------------------------------------
def test_outputs_along_the_motion_are_those_of_the_states():
    robot = km.load("pa10")
    run = km.simulate(robot, duration=0.05, controller=lambda t, q, v: -3.0 * v + t)
    np.testing.assert_allclose(run.time, np.arange(51) * 1e-3, atol=1e-15)
    np.testing.assert_allclose(run.a, robot.forward_dynamics(run.q, run.v, run.tau), rtol=0.0, atol=1e-11)
    np.testing.assert_allclose(run.energy.total, robot.energy(run.q, run.v).total, rtol=1e-13)
    np.testing.assert_allclose(run.center_of_mass, robot.center_of_mass(run.q), rtol=0.0, atol=1e-13)
    np.testing.assert_allclose(run.momentum, robot.momentum(run.q, run.v), rtol=0.0, atol=1e-12)
    assert run.settings["step"] == 1e-3
    assert run.settings["integrator"] == "rkf45"
    assert run.audit.steps == 50


@pytest.mark.parametrize("integrator", ["rkf45", "rkf45_adaptive", "semi_implicit_euler"])
@pytest.mark.parametrize("traced", [True, False])
def test_the_same_run_twice_is_bitwise_the_same(integrator, traced):
    def once() -> km.Run:
        rod = free_rod(axial_inertia=0.1)
        return km.simulate(
            rod,
            v=[0.72, 0.48, 0.24, -0.24, 0.36, 0.0],
            duration=0.1,
            integrator=integrator,
            controller=lambda t, q, v: -0.1 * v,
            traced=traced,
        )

    first, second = once(), once()
    for name in ("q", "v", "a", "tau", "momentum"):
        assert np.array_equal(getattr(first, name), getattr(second, name))
    assert first.audit.energy_drift == second.audit.energy_drift


def test_adaptive_and_fixed_steps_agree():
    robot = km.load("double_pendulum")
    fixed = km.simulate(robot, duration=2.0, step=1e-3, integrator="rkf45")
    adaptive = km.simulate(robot, duration=2.0, step=0.05, integrator="rkf45_adaptive", tolerance=1e-11)
    np.testing.assert_allclose(adaptive.q, fixed.q[::50], rtol=0.0, atol=1e-7)
    loose = km.simulate(robot, duration=2.0, step=0.05, integrator="rkf45_adaptive", tolerance=1e-4)
    assert loose.audit.steps < adaptive.audit.steps
    assert adaptive.audit.steps >= 40


def test_progress_rises_from_zero_to_one():
    def slow(t, q, v):
        time.sleep(1e-3)
        return -v

    for controller, duration in ((None, 0.06), (slow, 0.3)):
        told: list[float] = []
        km.simulate(km.load("pendulum"), duration=duration, controller=controller, progress=told.append)
        assert told == sorted(told)
        assert told[0] == 0.0
        assert told[-1] == 1.0
    assert len(told) > 5


# --- stiff and diverging motions --------------------------------------------------------------------------------------
def test_stiff_damping_is_met_by_the_implicit_method_and_noted():
    # at the joint: I = 1/3 kg·m², so that d = 3000 N·m·s acts at 9000 1/s
    run = km.simulate(damped_pendulum(3000.0), [1.0], duration=1.0)
    assert run.settings["integrator"] == "extrapolated_euler"
    (note,) = run.audit.notes
    assert "damping, springs or drives at 'hinge' act at 9e+03 1/s" in note
    assert "extrapolated_euler was taken" in note
    # overdamped: θ̇ = −(m g l/2 / d) sin θ
    rate = 9.81 * 0.5 / 3000.0
    exact = 2.0 * np.arctan(np.tan(0.5) * np.exp(-rate * run.time))
    np.testing.assert_allclose(run.q[:, 0], exact, rtol=0.0, atol=1e-5)


def test_slow_damping_keeps_the_explicit_method():
    run = km.simulate(damped_pendulum(0.5), [1.0], duration=0.1)
    assert run.settings["integrator"] == "rkf45"
    assert run.audit.notes == ()


def test_friction_is_stiff_too():
    run = km.simulate(damped_pendulum(0.0, friction=50.0), [0.3], duration=0.1)
    assert run.settings["integrator"] == "extrapolated_euler"
    assert np.abs(run.q[-1] - 0.3) < 0.01  # it sticks, but for the creep of smooth friction


def test_a_diverging_run_says_when_where_and_why_and_keeps_what_it_had():
    with pytest.raises(DivergenceError) as caught:
        km.simulate(damped_pendulum(3000.0), [1.0], [0.1], duration=1.0, integrator="rkf45")
    words = str(caught.value)
    assert "damped: the simulation diverges at t = 0.0" in words
    assert "the velocity of 'hinge'" in words
    assert "integrator='semi_implicit_euler'" in words
    kept = caught.value.result
    assert isinstance(kept, km.Run)
    assert isinstance(kept, Record)
    assert 1 <= len(kept) < 100
    assert np.isfinite(kept.q).all()


def test_divergence_by_a_controller_names_the_joint():
    with pytest.raises(DivergenceError, match=r"the velocity of 'joint3'|the velocity of 'joint2'") as caught:
        km.simulate(km.load("planar_3r"), duration=2.0, controller=lambda t, q, v: [0.0, 0.0, 1e3 * v[2]])
    assert caught.value.result.time[-1] > 0.0


def test_a_spring_and_damper_that_are_stiff_keep_their_order_by_themselves():
    """A mass on a spring of 1e6 N/m and a damper of 2e4 N·s/m: the slow root of m s² + d s + k is what is left after 1 ms."""
    mass = km.Body("mass", 1.0, inertia=(0.1, 0.1, 0.1))
    slide = km.Joint("slide", "prismatic", "world", "mass", axis=(1, 0, 0), stiffness=(1e6,), damping=(2e4,))
    run = km.simulate(km.Mechanism("strut", (mass,), (slide,), gravity=(0.0, 0.0, 0.0)), [0.01], duration=0.02)
    fast, slow = np.roots([1.0, 2e4, 1e6])
    exact = 0.01 * (fast * np.exp(slow * run.time) - slow * np.exp(fast * run.time)) / (fast - slow)
    np.testing.assert_allclose(run.q[:, 0], exact, rtol=0.0, atol=1e-10)


def test_runs_side_by_side_keep_steps_of_equal_length_where_it_is_stiff():
    runs = km.simulate_batch(damped_pendulum(3000.0), [[1.0], [0.5]], duration=0.1)
    alone = km.simulate(damped_pendulum(3000.0), [0.5], duration=0.1, integrator="semi_implicit_euler")
    np.testing.assert_allclose(runs.q[1], alone.q, rtol=0.0, atol=1e-13)
    assert runs.settings["integrator"] == "semi_implicit_euler"


def test_single_runs_and_batches_name_the_integrator_of_the_other_where_they_differ():
    """An extrapolated step has no constant length, which batches need; where neither is needed, both take the same."""
    alone = km.simulate(damped_pendulum(3000.0), [1.0], duration=0.01)
    runs = km.simulate_batch(damped_pendulum(3000.0), [[1.0]], duration=0.01)
    (note,), (other,) = alone.audit.notes, runs.notes
    single, many = alone.settings["integrator"], runs.settings["integrator"]
    assert re.search(f"{single} was taken.* {many} takes less .* batches and `km.Simulation` take it", note)
    assert re.search(f"{many} was taken.* `km.simulate` takes {single}", other)
    alone = km.simulate(damped_pendulum(0.5), [1.0], duration=0.01)
    runs = km.simulate_batch(damped_pendulum(0.5), [[1.0]], duration=0.01)
    assert alone.settings["integrator"] == runs.settings["integrator"]
    assert alone.audit.notes == runs.notes == ()


@pytest.mark.parametrize("suffix", [".h5", ".npz"])
def test_results_say_which_kumitate_made_them_and_with_which_settings(tmp_path, suffix):
    run = km.simulate(km.load("pendulum"), duration=0.01, step=2e-3, integrator="rkf45_adaptive", tolerance=1e-6)
    settings = km.open(run.save(tmp_path / f"run{suffix}")).settings
    said = {"kumitate": km.__version__, "step": 2e-3, "integrator": "rkf45_adaptive", "tolerance": 1e-6, "duration": 0.01}
    assert {name: settings[name] for name in said} == said
    runs = km.simulate_batch(
        km.load("pendulum"), [[0.1]], duration=0.02, every=5, controller=lambda t, q, v: -v, sample_time=0.01
    )
    said = {
        "kumitate": km.__version__,
        "duration": 0.02,
        "every": 5,
        "integrator": "rkf45",
        "sample_time": 0.01,
        "contact": None,
    }
    assert {name: runs.settings[name] for name in said} == said


@pytest.mark.parametrize(
    ("integrator", "v"),
    [("rkf45", [0.0, -1.0, 0.0]), ("rkf45_adaptive", [0.0, -1.0, 0.0]), ("rkf45", [1.0, -1.0, 0.3])],
)
def test_angles_at_their_singularity_are_named_as_the_cause(integrator, v):
    body = km.Body("body", 1.0, inertia=(1.0, 2.0, 3.0))
    mechanism = km.Mechanism("euler", (body,), (km.Joint("ball", "spherical_euler", "world", "body"),), gravity=(0.0, 0.0, 0.0))
    with pytest.raises(DivergenceError, match=r"the angles of joint 'ball' come within .* joint with a quaternion") as caught:
        km.simulate(mechanism, [0.0, 0.1, 0.0], v, duration=0.3, step=1e-2, integrator=integrator)
    assert "smaller step" not in str(caught.value)


def test_what_rigid_contact_refuses_is_not_advised():
    ball = km.Body("ball", 1.0, inertia=(0.1, 0.1, 0.1), collisions=(km.Geometry(km.Sphere(0.1)),))
    free = km.Mechanism("thrown", (ball,), (km.Joint("free", "floating", "world", "ball"),))
    with pytest.raises(DivergenceError, match="Take a smaller step, and look at the efforts") as caught:
        km.simulate(
            free, [0, 0, 0, 1, 0, 0, 1.0], [0, 0, 1.0, 0, 0, 0], duration=0.1, contact="rigid",
            controller=lambda t, q, v: [0.0, 0.0, 1e4 * v[2], 0.0, 0.0, 0.0],
        )  # fmt: skip
    assert "rkf45_adaptive" not in str(caught.value)


def test_adaptive_steps_that_vanish_are_told():
    robot = km.load("pendulum")
    with pytest.raises(DivergenceError, match="would need steps below"):
        km.simulate(
            robot, [0.1], [1.0], duration=3.0, integrator="rkf45_adaptive", controller=lambda t, q, v: v * v * v * v * v
        )


def test_angles_near_their_singularity_are_noted():
    body = km.Body("body", 1.0, inertia=(1.0, 2.0, 3.0))
    mechanism = km.Mechanism("euler", (body,), (km.Joint("ball", "spherical_euler", "world", "body"),), gravity=(0.0, 0.0, 0.0))
    run = km.simulate(mechanism, [0.0, 0.3, 0.0], [0.0, -1.0, 0.0], duration=0.29, step=1e-2)
    assert any("'ball' come within" in note for note in run.audit.notes)


def test_passed_limits_are_reported_where_they_do_not_stop_the_motion():
    rod = km.Body("rod", 1.0, (0.0, 0.0, -0.5), (1 / 12, 1 / 12, 0.0))
    limits = km.Limits(lower=-0.5, upper=0.5, velocity=1.0)
    hinge = km.Joint("hinge", "revolute", "world", "rod", axis=(0, 1, 0), limits=(limits,))
    run = km.simulate(km.Mechanism("limited", (rod,), (hinge,)), [0.4], [2.0], duration=1.0, limits=False)
    passed = {item.quantity: item for item in run.audit.limits_passed}
    assert passed["position"].excess == pytest.approx(np.abs(run.q).max() - 0.5)
    assert passed["velocity"].time == 0.0
    assert np.abs(run.q).max() > 0.5


def test_a_second_run_of_the_same_setup_is_the_first_again_and_others_are_their_own():
    """Simulations of equal content are kept; whatever differs, a function most of all, is looked at again."""
    arm, gains = km.load("double_pendulum"), {"k": 1.0}
    first, again = (km.simulate(arm, [0.3, 0.2], duration=0.05, controller=[1.0, 0.0]) for _ in range(2))
    np.testing.assert_array_equal(first.q, again.q)
    for other in ({"controller": [2.0, 0.0]}, {"step": 5e-4}, {"integrator": "rk4"}, {"wrenches": {"lower": np.ones(6)}}):
        options = {"controller": [1.0, 0.0], **other}
        assert not np.array_equal(km.simulate(arm, [0.3, 0.2], duration=0.05, **options).q, first.q), other
    pulled = []
    for gains["k"] in (1.0, 2.0):
        pulled.append(km.simulate(arm, [0.3, 0.2], duration=0.05, controller=lambda t, q, v: -gains["k"] * q).q)
    assert not np.array_equal(*pulled)
    with pytest.raises(InputError, match="contact is 3"):
        km.simulate(arm, [0.3, 0.2], duration=0.05, contact=3)


def _things(count: int) -> km.Mechanism:
    cubes = [
        km.Body(f"cube{k}", 0.5, inertia=(8e-4, 8e-4, 8e-4), collisions=(km.Geometry(km.Box((0.1, 0.1, 0.1))),))
        for k in range(count)
    ]
    return km.Mechanism(
        "cubes", tuple(cubes), tuple(km.Joint(f"free{k}", "floating", "world", f"cube{k}") for k in range(count))
    )


def _hopper() -> km.Mechanism:
    """A body that hops on a leg, whose joints nothing stops: it flies by Runge-Kutta steps, unless damping is too fast."""
    leg = km.Body("leg", 1.0, inertia=(0.01, 0.01, 0.01), collisions=(km.Geometry(km.Sphere(0.1)),))
    joints = (
        km.Joint("lift", "prismatic", "world", "base"), km.Joint("knee", "prismatic", "base", "leg"),
    )  # fmt: skip
    return km.Mechanism("hopper", (km.Body("base", 2.0, inertia=(0.02, 0.02, 0.02)), leg), joints)


@pytest.mark.parametrize(
    ("mechanism", "options"),
    [
        (_things(2), {"contact": "rigid"}),
        (_things(5), {"contact": "penalty", "step": 2e-4}),
        (_things(2), {"contact": km.Contact(options={"sleeping": 1.0})}),
        (_hopper(), {"contact": "rigid"}),
        (_hopper(), {"contact": "rigid", "parameters": ["mass:leg"], "side_by_side": False}),
        (damped_pendulum(0.1), {"integrator": "rkf45_adaptive", "equal_steps": False}),
    ],
    ids=["rigid", "springs", "sleeping", "hopper", "parameters", "adaptive"],
)
def test_a_run_knows_nothing_of_the_run_before(mechanism, options):
    """The same bits as of a simulation that was just made, whichever other motion was computed meanwhile."""

    def start(height: float) -> np.ndarray:
        q = km.Robot(mechanism).neutral()
        for k, link in enumerate(mechanism.tree.links):
            free = link.kind.nq == 7
            q[link.q_start + (link.kind.coordinates.index("z") if free else 0)] = height + (0.11 * k if free else 0.0)
        return q

    def made() -> km.Simulation:
        return km.Simulation(mechanism, **options)

    simulation = made()
    low, high = start(0.06), start(0.3)
    first = simulation.run(low, duration=0.2)
    other = simulation.run(high, duration=0.2)
    again = simulation.run(low, duration=0.2)
    assert not np.array_equal(first.q, other.q)
    for one, two in ((first, again), (other, made().run(high, duration=0.2))):
        for name in ("q", "v", "a", "tau"):
            np.testing.assert_array_equal(getattr(one, name), getattr(two, name), err_msg=name)
        assert one.audit.steps == two.audit.steps
        if one.contact is not None:
            np.testing.assert_array_equal(one.contact.force, two.contact.force)


def test_every_run_calls_its_functions_as_often():
    calls = []

    def pushed(t, q, v):
        calls.append(t)
        return [0.1]

    simulation = km.Simulation(damped_pendulum(0.1), controller=pushed, traced=False)
    counts = []
    for _ in range(3):
        calls.clear()
        simulation.run([0.3], duration=0.01)
        counts.append(len(calls))
    assert counts[0] == counts[1] == counts[2] > 0
