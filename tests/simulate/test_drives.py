"""Drives of joints: closed forms of their motion, their limits, and equality with the same law written as a controller."""

from __future__ import annotations

import math
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

import kumitate as km
from kumitate.dynamics.settling import effort_of_state
from kumitate.errors import InputError, ModelError
from kumitate.model import Command, lock, merge, reroot, weld, without_friction
from kumitate.model.drives import StateLaw
from kumitate.model.mechanism import digest
from kumitate.model.read import from_json, to_json

from ..mechanisms import random_mechanism, random_state

#: The inertia of a light wrist about its axis [kg·m²].
LIGHT = 1e-4
G = 9.81


def wrist(drive=None, *, mass=0.0, arm=0.1, **joint):
    """A body that turns about a horizontal axis, its center of mass below it."""
    body = km.Body("hand", mass, (0.0, 0.0, -arm) if mass else (0.0, 0.0, 0.0), (LIGHT,) * 3)
    return km.Mechanism(
        "wrist", (body,), (km.Joint("wrist", "revolute", "world", "hand", axis=(0, 1, 0), drive=drive, **joint),)
    )


def hinges(seed):
    """A random tree of hinges, sliders and balls, in a random state, with drives in some joints."""
    rng = np.random.default_rng(seed)
    kinds_of_joints = ["revolute", *rng.choice(["revolute", "prismatic", "spherical"], 5).tolist()]
    case = random_state(random_mechanism(rng, kinds_of_joints, chain=seed % 2 == 1), rng)
    kinds = [km.PositionDrive(kp=30.0, kd=2.0), km.VelocityDrive(kd=3.0), km.EffortDrive(), None]
    chosen = [kinds[k] for k in rng.integers(0, 4, len(case.mechanism.joints))]
    drives = {joint.name: drive for joint, drive in zip(case.mechanism.joints, chosen, strict=True) if joint.kind.nv == 1}
    return case, case.mechanism.with_drives({**drives, next(iter(drives)): kinds[0]}), rng


# --- closed forms -----------------------------------------------------------------------------------------------------
def test_a_position_drive_makes_a_damped_oscillator():
    kp, kd, away = 0.04, 4e-4, 0.3
    drive = km.PositionDrive(kp=kp, kd=kd, armature=LIGHT)
    run = km.simulate(wrist(drive), [away], duration=0.5, integrator="rk4", inputs={"target": 0.1})
    inertia = 2.0 * LIGHT  # the armature counts
    decay = 0.5 * kd / inertia
    omega = math.sqrt(kp / inertia - decay**2)
    t, start = run.time, away - 0.1
    expected = 0.1 + start * np.exp(-decay * t) * (np.cos(omega * t) + decay / omega * np.sin(omega * t))
    np.testing.assert_allclose(run.q[:, 0], expected, rtol=0.0, atol=1e-9)
    np.testing.assert_allclose(run.tau[:, 0], kp * (0.1 - run.q[:, 0]) - kd * run.v[:, 0], rtol=1e-12, atol=1e-15)
    assert run.audit.energy_drift < 1e-9


def test_implicit_steps_converge_to_the_same_oscillator_at_order_one():
    drive = km.PositionDrive(kp=0.04, kd=4e-4)
    exact = km.simulate(wrist(drive), [0.3], duration=0.2, integrator="rk4", step=1e-4, inputs={"target": 0.0}).q[-1, 0]
    options = {"duration": 0.2, "integrator": "semi_implicit_euler", "inputs": {"target": 0.0}}
    errors = [
        abs(km.simulate(wrist(drive), [0.3], step=h, **options).q[-1, 0] - exact)
        for h in (2e-3, 1e-3, 5e-4)
    ]  # fmt: skip
    assert errors[0] / errors[1] == pytest.approx(2.0, abs=0.2)
    assert errors[1] / errors[2] == pytest.approx(2.0, abs=0.1)


@pytest.mark.parametrize("integrator", ["semi_implicit_euler", "rk4"])
def test_at_rest_a_drive_is_off_its_target_by_the_load_over_its_stiffness(integrator):
    kp, mass, arm, target = 2.0, 0.2, 0.1, 0.7
    mechanism = wrist(km.PositionDrive(kp=kp, kd=0.1), mass=mass, arm=arm)
    run = km.simulate(mechanism, [target], duration=3.0, integrator=integrator, inputs={"target": target})
    q = run.q[-1, 0]
    load = mass * G * arm * math.sin(q)
    assert abs(run.v[-1, 0]) < 1e-9
    assert target - q == pytest.approx(load / kp, rel=1e-9)
    assert run.tau[-1, 0] == pytest.approx(load, rel=1e-9)


def test_feed_forward_takes_the_load_off():
    mass, arm, target = 0.2, 0.1, 0.7
    mechanism = wrist(km.PositionDrive(kp=2.0, kd=0.1), mass=mass, arm=arm)
    inputs = {"target": target, "feed_forward": {"wrist": mass * G * arm * math.sin(target)}}
    assert km.simulate(mechanism, [target], duration=1.0, inputs=inputs).q[-1, 0] == pytest.approx(target, abs=1e-10)


@pytest.mark.parametrize("integrator", ["semi_implicit_euler", "rk4"])
def test_a_velocity_drive_reaches_its_target(integrator):
    kd = 5e-4
    run = km.simulate(wrist(km.VelocityDrive(kd=kd)), duration=2.0, integrator=integrator, inputs={"target": 3.0})
    assert run.v[-1, 0] == pytest.approx(3.0, rel=1e-4)
    h = 1e-3  # by implicit Euler the difference falls by 1 + h kd/I in a step, in truth by exp(h kd/I)
    factor = 1.0 + h * kd / LIGHT if integrator == "semi_implicit_euler" else math.exp(h * kd / LIGHT)
    expected = 3.0 * (1.0 - factor ** -np.arange(len(run.time)))
    np.testing.assert_allclose(run.v[:, 0], expected, rtol=0.0, atol=1e-10)


@pytest.mark.parametrize("integrator", ["semi_implicit_euler", "rk4"])
def test_at_its_limit_a_drive_is_a_constant_effort(integrator):
    limit = 2e-3
    drive = km.PositionDrive(kp=50.0, kd=0.1, limit=limit)
    run = km.simulate(wrist(drive), duration=0.2, integrator=integrator, inputs={"target": 100.0})
    assert (run.tau[:, 0] == limit).all()
    np.testing.assert_allclose(run.v[:, 0], limit / LIGHT * run.time, rtol=1e-12)
    assert run.audit.work == pytest.approx(limit * run.q[-1, 0], rel=1e-2)
    assert run.audit.energy_drift < 1e-12


def test_the_joints_own_limit_of_effort_counts_where_the_drive_has_none():
    limits = (km.Limits(effort=2e-3),)
    own = wrist(km.PositionDrive(kp=50.0), limits=limits)
    assert own.driven[0].limit == 2e-3
    assert wrist(km.PositionDrive(kp=50.0, limit=math.inf), limits=limits).driven[0].limit == math.inf
    run = km.simulate(own, duration=0.05, integrator="semi_implicit_euler", inputs={"target": 100.0})
    assert run.tau.max() == 2e-3
    assert run.audit.limits_passed == ()


@pytest.mark.parametrize("limit", [None, 5.0])
def test_a_stiff_drive_of_a_light_wrist_is_stable(limit):
    """Its fastest rate is 10⁴ 1/s, ten times what an explicit step of 1 ms could follow; at the limit it must not chatter."""
    mechanism = wrist(km.PositionDrive(kp=1e4, kd=2.0, limit=limit), mass=0.05)
    options = {"integrator": "semi_implicit_euler", "step": 1e-3, "inputs": {"target": 0.5}}
    run = km.simulate(mechanism, duration=0.2, **options)
    assert np.abs(run.v[-100:]).max() < 1e-9
    assert run.q[-1, 0] == pytest.approx(0.5, abs=1e-4)
    by_hand = km.control.pd(mechanism, np.array([0.5]), kp=1e4, kd=2.0)
    with pytest.raises(km.DivergenceError):
        km.simulate(wrist(mass=0.05), duration=0.2, step=1e-3, integrator="semi_implicit_euler", controller=by_hand)


def test_auto_takes_an_integrator_that_is_implicit_in_stiff_drives():
    sim = km.Simulation(wrist(km.PositionDrive(kp=1e4, kd=2.0)))
    assert sim.integrator.name == "semi_implicit_euler"
    assert "drives at 'wrist' act at" in sim.notes[0]


# --- the same law, by hand --------------------------------------------------------------------------------------------
@pytest.mark.parametrize("seed", range(4))
def test_drives_are_the_controller_with_the_same_law(seed):
    case, driven, rng = hinges(seed)
    k = len(driven.driven)
    target, speed, push = rng.normal(size=(3, k))
    columns = np.array([joint.v for joint in driven.driven])
    at_q = np.array([joint.q for joint in driven.driven])
    kp, kd = (np.array([getattr(joint.drive, gain, 0.0) for joint in driven.driven]) for gain in ("kp", "kd"))
    kind = np.array([joint.drive.kind for joint in driven.driven])
    goal = np.select([kind == "position", kind == "velocity"], [speed, target], 0.0)
    more = np.where(kind == "effort", target, 0.0) + push

    def law(t, q, v):
        tau = kp * (target - q[at_q]) + kd * (goal - v[columns]) + more
        found = dict(zip(columns.tolist(), tau, strict=True))
        return np.stack([found.get(i, 0.0 * v[0]) for i in range(driven.nv)])

    options = {"duration": 0.05, "integrator": "rk4"}
    inputs = {"target": target, "target_velocity": speed, "feed_forward": push}
    by_drives = km.simulate(driven, case.q, case.v, inputs=inputs, **options)
    by_hand = km.simulate(case.mechanism, case.q, case.v, controller=law, **options)
    size = 1.0 + np.abs(by_hand.v).max()
    np.testing.assert_allclose(by_drives.q, by_hand.q, rtol=0.0, atol=1e-11 * size)
    np.testing.assert_allclose(by_drives.v, by_hand.v, rtol=0.0, atol=1e-10 * size)
    np.testing.assert_allclose(by_drives.tau, by_hand.tau, rtol=0.0, atol=1e-9 * size * (1.0 + np.abs(by_hand.tau).max()))
    assert by_drives.audit.work == pytest.approx(by_hand.audit.work, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_in_an_implicit_step_every_drive_has_the_effort_of_the_state_after_it_within_its_limit(seed):
    """The efforts that the motion of a step needs, by inverse dynamics, are those of the law at the end of the step."""
    case, driven, rng = hinges(seed + 10)
    limits = rng.uniform(0.5, 5.0, len(driven.driven))
    driven = driven.with_drives({
        joint.name: replace(joint.drive, limit=limit) for joint, limit in zip(driven.driven, limits, strict=True)
    })  # fmt: skip
    bare = without_friction(driven)
    h, target = 0.01, rng.normal(size=len(limits))
    sim = km.Simulation(bare, step=h, integrator="semi_implicit_euler", inputs={"target": target})
    state = sim.step(sim.start(case.q, case.v))
    a = (state.v - case.v) / h
    needed = km.Robot(bare).inverse_dynamics(case.q, case.v, a)
    at_limits = 0
    for joint, goal, limit in zip(bare.driven, target, limits, strict=True):
        law = joint.drive.law(state.q[joint.q], state.v[joint.v], Command(goal)).effort
        assert needed[joint.v] == pytest.approx(np.clip(law, -limit, limit), rel=1e-8, abs=1e-8)
        at_limits += abs(law) > limit
    print(f"{at_limits} of {len(limits)} drives at their limits")


def test_drives_move_closed_loops():
    robot = km.load("four_bar")
    name = next(joint.name for joint in robot.mechanism.joints if joint.kind.nv)
    driven = robot.with_drives({name: km.PositionDrive(kp=40.0, kd=3.0)})
    q, _ = robot.start
    column = driven.mechanism.driven[0].v

    def law(t, q, v):
        found = 40.0 * (q[column] * 0.0 + q0 + 0.2 - q[column]) - 3.0 * v[column]
        return np.stack([found if k == column else 0.0 * v[0] for k in range(robot.nv)])

    q0 = float(q[column])
    options = {"duration": 0.3, "integrator": "rk4"}
    by_drive = km.simulate(driven, inputs={"target": q0 + 0.2}, **options)
    by_hand = km.simulate(robot, controller=law, **options)
    np.testing.assert_allclose(by_drive.q, by_hand.q, rtol=0.0, atol=1e-9)
    stiff = robot.with_drives({name: km.PositionDrive(kp=1e5, kd=1e3)})
    run = km.simulate(stiff, duration=0.3, integrator="semi_implicit_euler", inputs={"target": q0 + 0.2})
    assert run.q[-1, column] == pytest.approx(q0 + 0.2, abs=1e-3)
    assert run.audit.loop_gaps[0].distance < 1e-9


# --- contact ----------------------------------------------------------------------------------------------------------
def presser(drive):
    """A block that a drive pushes down onto the floor."""
    shape = km.Geometry(km.Sphere(0.1))
    block = km.Body("block", 2.0, inertia=(0.01,) * 3, collisions=(shape,))
    return km.Mechanism("presser", (block,), (km.Joint("lift", "prismatic", "world", "block", drive=drive),))


@pytest.mark.parametrize("limit", [None, 30.0])
def test_a_drive_presses_on_the_floor_with_its_effort_and_never_with_more_than_its_limit(limit):
    """Without contact the block would move, and the drive be far below its limit; on the floor it is at it."""
    kp = 1e5
    mechanism = presser(km.PositionDrive(kp=kp, kd=100.0, limit=limit))
    for own_code in (False, True):
        options = {"inputs": {"target": 0.09}, "side_by_side": own_code}
        run = km.simulate(mechanism, [0.1], duration=0.02, contact="rigid", **options)
        pressed = kp * (run.q[-1, 0] - 0.09) if limit is None else limit
        np.testing.assert_allclose(run.contact.force[1:, 0, 2], 2.0 * G + pressed, rtol=1e-6)
        assert run.audit.contact.gained < 1e-13
    assert run.audit.contact.gains == 0


# --- energy -----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("limit", [None, 0.05])
def test_the_account_of_energy_closes_however_stiff_a_drive_is(limit):
    """The work of a step is the effort that acts at the mean velocity: the kinetic energy that it adds, to rounding."""
    drive = km.PositionDrive(kp=1e4, kd=2.0, limit=limit)
    run = km.simulate(wrist(drive), duration=0.05, integrator="semi_implicit_euler", inputs={"target": 0.5})
    assert run.energy.kinetic.max() > 1e-3
    assert run.audit.energy_drift < 1e-12 * run.energy.kinetic.max()


# --- inputs -----------------------------------------------------------------------------------------------------------
def arm(**options):
    mechanism = km.load("planar_3r").mechanism
    drives = {"joint1": km.PositionDrive(kp=200.0, kd=20.0), "joint3": km.VelocityDrive(kd=5.0)}
    return km.Simulation(
        mechanism.with_drives(drives), start=([0.1, 0.2, 0.3], np.zeros(3)), integrator="semi_implicit_euler", **options
    )


def test_targets_are_inputs_by_the_names_of_joints():
    sim = arm()
    named = sim.step(sim.start(), 20, inputs={"target": {"joint3": 0.7}})
    np.testing.assert_array_equal(named.q, sim.step(sim.start(), 20, inputs={"target": [0.1, 0.7]}).q)  # joint1 holds its start
    assert np.abs(named.q - sim.step(sim.start(), 20).q).max() > 1e-4


def test_every_row_of_a_batch_has_its_own_targets_and_a_row_is_a_single_run():
    sim, rng = arm(outputs=["tau"]), np.random.default_rng(3)
    batch, targets = sim.batch(9), rng.normal(size=(9, 2))
    batch.inputs["target"][:] = targets
    batch.step(25)
    for k in (0, 4, 8):
        alone = sim.step(sim.start(), 25, inputs={"target": targets[k]})
        np.testing.assert_allclose(batch.q[k], alone.q, rtol=0.0, atol=1e-13)
        np.testing.assert_allclose(batch.outputs["tau"][k], alone.outputs["tau"], rtol=0.0, atol=1e-10)


def test_a_saved_state_goes_on_as_the_motion_did(tmp_path):
    sim = arm()
    state = sim.step(sim.start(), 7, inputs={"target": [0.5, 1.0]})
    restored = sim.restore(sim.save(state, tmp_path / "state.npz"))
    np.testing.assert_array_equal(sim.step(restored, 9).q, sim.step(state, 9).q)


@pytest.mark.parametrize("options", [{}, {"traced": False}, {"sample_time": 1e-3}], ids=["compiled", "called", "sampled"])
def test_a_function_gives_targets_and_reads_inputs(options):
    sim = arm(inputs={"target": lambda t, q, v, goal: np.stack([goal[0], 2.0 * goal[0]]), "goal": 1}, **options)
    moved = sim.step(sim.start(), 20, inputs={"goal": [0.4]})
    plain = arm()
    np.testing.assert_allclose(moved.q, plain.step(plain.start(), 20, inputs={"target": [0.4, 0.8]}).q, rtol=0.0, atol=1e-13)


def test_controllers_and_outputs_read_targets():
    seen = arm(outputs={"away": lambda t, q, v, target: target[0] - q[0]}, inputs={"target": {"joint1": 0.6}})
    assert seen.start().outputs["away"] == pytest.approx(0.5)
    given = arm(
        outputs={"away": lambda t, q, v, target: target[0] - q[0]}, inputs={"target": lambda t, q, v: np.stack([t + 0.6, 0.0])}
    )
    state = given.step(given.start(), 100)
    assert state.outputs["away"] == pytest.approx(0.7 - state.q[0])


# --- the model --------------------------------------------------------------------------------------------------------
def test_drives_are_part_of_the_model_and_of_its_files():
    drives = [
        km.PositionDrive(kp=3.0, kd=0.1, limit=math.inf, armature=0.01),
        km.VelocityDrive(kd=2.0),
        km.EffortDrive(limit=4.0),
    ]
    found = set()
    for drive in drives:
        mechanism = wrist(drive)
        assert from_json(to_json(mechanism)) == mechanism
        found.add(digest(mechanism))
    assert len(found | {digest(wrist())}) == 4
    assert wrist(drives[0]).with_drives({"wrist": None}) == wrist()


def test_edits_keep_drives_or_refuse_to_lose_them():
    mechanism = km.load("planar_3r").mechanism
    driven = mechanism.with_drives({"joint2": km.PositionDrive(kp=1.0)})
    assert [joint.name for joint in lock(driven, ["joint1"]).driven] == ["joint2"]
    assert [joint.name for joint in merge(driven, driven, prefix="b_").driven] == ["joint2", "b_joint2"]
    with pytest.raises(ModelError, match=r"'joint2' is locked, but it has a position drive.*with_drives\(\{'joint2': None\}\)"):
        lock(driven, ["joint2"])
    a, b = driven.joint("joint2").parent, driven.joint("joint2").child
    with pytest.raises(ModelError, match="'joint2' becomes a fixed one, but it has a position drive"):
        weld(driven, a, b)


def test_a_drive_acts_the_same_after_another_body_has_become_the_root():
    bodies = tuple(km.Body(name, 1.0 + k, (0.1, 0.02 * k, 0.0), (0.02, 0.03, 0.04)) for k, name in enumerate("ab"))
    hinge = km.Joint("hinge", "revolute", "a", "b", km.pose((0.2, 0, 0)), (0, 1, 0), drive=km.PositionDrive(kp=5.0, kd=0.1))
    free = km.Mechanism("free", bodies, (km.Joint("base", "floating", "world", "a"), hinge))
    turned = reroot(free, "b")
    runs = [km.simulate(m, duration=0.2, integrator="rk4", inputs={"target": 0.5}) for m in (free, turned)]
    one, other = (run.joint("hinge").q[:, 0] for run in runs)
    np.testing.assert_allclose(one, other, rtol=0.0, atol=1e-9)


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (lambda: wrist().with_drives({"wirst": km.EffortDrive()}), ModelError, "loop 'wirst'; did you mean 'wrist'"),
        (lambda: km.PositionDrive(kp=-1.0), ModelError, r"a position drive: its kp is -1.0; it must be zero or more"),
        (lambda: km.PositionDrive(kp=1.0, kd=-2.0), ModelError, r"its kd is -2.0"),
        (lambda: km.VelocityDrive(kd=1.0, limit=-2.0), ModelError, r"a velocity drive: its limit is -2.0"),
        (lambda: km.EffortDrive(armature=-1e-3), ModelError, r"its armature is -0.001"),
        (lambda: km.Joint("j", "spherical", "a", "b", drive=km.EffortDrive()), ModelError, "spherical joint has 3 degrees"),
        (lambda: km.Joint("j", "revolute", "a", "b", drive=5.0), ModelError, "the drive is 5.0; give a PositionDrive"),
        (lambda: arm(inputs={"target": {"joint2": 1.0}}), InputError, "names 'joint2', which is not a joint with a drive"),
        (lambda: arm(inputs={"target": [1.0, 2.0, 3.0]}), InputError, r"shape \(3,\).*'target'.*joint1, joint3"),
        (lambda: arm(inputs={"target": [1.0, math.nan]}), InputError, "nan is given for the input 'target'"),
        (lambda: (sim := arm()).step(sim.start(), inputs={"tarjet": 1.0}), InputError, "did you mean 'target'"),
        (lambda: from_json(to_json(wrist(km.EffortDrive())).replace('"effort"', '"efort"')), ModelError, "is not a drive"),
    ],
)  # fmt: skip
def test_mistakes_are_named(make, error, words):
    with pytest.raises(error, match=words):
        make()


def test_states_of_a_drive_that_act_on_each_other_change_by_the_dense_equations():
    rng, h = np.random.default_rng(0), 0.02
    J, (by_state, rates, by_velocity) = rng.normal(scale=30.0, size=(3, 3)) - 90.0 * np.eye(3), rng.normal(size=(3, 3))
    law = StateLaw(0.7, by_state.tolist(), rates.tolist(), J.tolist(), by_velocity.tolist())
    effort, resisting = effort_of_state(SimpleNamespace(state_law=lambda *_: law), 0.0, 0.0, None, [], h)
    assert effort == pytest.approx(0.7 + h * by_state @ np.linalg.solve(np.eye(3) - h * J, rates), rel=1e-12)
    assert resisting == pytest.approx(-h * h * by_state @ np.linalg.solve(np.eye(3) - h * J, by_velocity), rel=1e-12)
