"""Drives in loop joints and lines: the same motion as where the loop is cut elsewhere, stiff steps, limits, and mistakes."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

import kumitate as km
from kumitate.analysis import joint_accelerations
from kumitate.errors import InputError, ModelError
from kumitate.model import recut
from kumitate.model.mechanism import digest
from kumitate.model.read import from_json, to_json
from kumitate.records.readings import powers_of

from ..mechanisms import closed_cases, random_ring

RINGS = {
    "planar": (["revolute", "revolute", "prismatic", "revolute"], {"planar": True}),
    "spatial": (["revolute", "universal", "spherical", "revolute", "revolute", "prismatic"], {}),
}
DRIVES = {
    "position": km.PositionDrive(kp=30.0, kd=2.0),
    "stiff": km.PositionDrive(kp=1e4, kd=50.0),
    "velocity": km.VelocityDrive(kd=5.0),
    "effort": km.EffortDrive(),
    "motor": km.DCMotor(torque_constant=0.3, resistance=0.7, gear_ratio=5.0, rotor_inertia=0.01),
    "limited": km.PositionDrive(kp=1e4, kd=50.0, limit=3.0, armature=0.1),
}
COMMAND = {"target": 0.7, "feed_forward": 0.4}


def two_cuts(seed, ring, joint, drive):
    """A random ring in a random state with a drive in one of its hinges, cut at another and at this one."""
    cases = (case for case, _ in closed_cases(seed, random_ring(seed, RINGS[ring][0], **RINGS[ring][1]), ["h3"], [joint]))
    return [replace(case, mechanism=case.mechanism.with_drives({joint: drive})) for case in cases]


def simulation(case, **options):
    return km.Simulation(case.mechanism, start=(case.q, case.v), limits=False, inputs=COMMAND, **options)


# --- two cuts of one mechanism --------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("ring", "joint", "drive"),
    [*(("planar", f"h{2 * (k % 2)}", name) for k, name in enumerate(DRIVES)), ("spatial", "h5", "limited")],
)
def test_a_step_accelerates_a_driven_loop_joint_as_where_it_is_of_the_tree(ring, joint, drive):
    """Implicit steps, h = 20 ms: the effort at the end of the step depends on the acceleration of the joint itself."""
    h, found = 0.02, []
    for case in two_cuts(4, ring, joint, DRIVES[drive]):
        sim = simulation(case, step=h, integrator="semi_implicit_euler")
        a = sim.compiled.code.kernel("closing")(h, np.array(case.q), np.array(case.v), sim.actuation.constants)[0]
        (driven,) = case.mechanism.driven
        found.append(float(joint_accelerations(case.mechanism, case.q, case.v, a.tolist())[driven.v]))
    assert found[1] == pytest.approx(found[0], rel=1e-9)


@pytest.mark.parametrize("drive", ["stiff", "motor", "limited"])
def test_a_driven_loop_joint_moves_as_where_it_is_of_the_tree(drive):
    tree, loop = two_cuts(1, "planar", "h0", DRIVES[drive])
    one, other = (simulation(case, step=1e-4, integrator="rk4").run(duration=0.04) for case in (tree, loop))
    k = tree.mechanism.driven[0].v
    assert np.abs(one.q[:, k] - one.q[0, k]).max() > 1e-3
    np.testing.assert_allclose(other.loops["h0"].q[:, 0], one.q[:, k], rtol=0.0, atol=1e-9)
    np.testing.assert_allclose(other.loop_tau["h0"][:, 0], one.tau[:, k], rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(other.audit.work, one.audit.work, rtol=1e-7)


def test_recutting_takes_the_drive_along():
    tree, _ = two_cuts(1, "planar", "h0", DRIVES["limited"])
    again = recut(tree.mechanism, "h3", "h0")
    (driven,) = again.driven
    assert (driven.name, driven.drive, driven.v) == ("h0", DRIVES["limited"], again.nv)
    assert recut(again, "h0", "h3").joint("h0").drive == DRIVES["limited"]


# --- closed forms ---------------------------------------------------------------------------------------------------------
MASS, G = 3.0, 9.81


def hung(drive, **line):
    """A mass that slides up and down on a rail, and a line to a point above its path, at the start 2 m long."""
    slider = km.Joint("rail", "prismatic", "world", "mass", axis=(0, 0, 1))
    rope = km.Loop("rope", km.Line(), "world", "mass", km.pose((0, 0, 2)), drive=drive, **line)
    return km.Mechanism("hung", (km.Body("mass", MASS, inertia=(0.01,) * 3),), (slider,), (rope,))


def test_a_linear_drive_between_two_points_makes_a_damped_oscillator():
    kp, kd, away = 120.0, 4.0, 0.2
    rest = MASS * G / kp  # by how much the load stretches the line
    drive = km.PositionDrive(kp=kp, kd=kd, armature=1.0)
    run = km.simulate(hung(drive), [-away], duration=1.0, integrator="rk4", inputs={"target": 2.0})
    decay = 0.5 * kd / (MASS + 1.0)
    omega = math.sqrt(kp / (MASS + 1.0) - decay**2)
    start = away - rest
    expected = rest + start * np.exp(-decay * run.time) * (np.cos(omega * run.time) + decay / omega * np.sin(omega * run.time))
    np.testing.assert_allclose(run.loops["rope"].q[:, 0] - 2.0, expected, rtol=0.0, atol=1e-8)
    effort = -kp * (run.loops["rope"].q[:, 0] - 2.0) - kd * run.loops["rope"].v[:, 0]
    np.testing.assert_allclose(run.loop_tau["rope"][:, 0], effort, rtol=1e-9, atol=1e-9)
    np.testing.assert_array_equal(run.loops["rope"].tau, run.loop_tau["rope"])
    assert not run.tau.any()
    assert run.audit.energy_drift < 1e-8
    np.testing.assert_allclose(powers_of(run).drives[:, 1], effort * run.loops["rope"].v[:, 0], rtol=1e-9, atol=1e-9)


def light():
    """A mass of 50 g on a stiff drive; a sphere, where it touches the ground."""
    heavy = hung(km.PositionDrive(kp=1e4, kd=10.0))
    return replace(heavy, bodies=(replace(heavy.bodies[0], mass=0.05, collisions=(km.Geometry(km.Sphere(0.05)),)),))


def test_stiff_drives_of_loops_are_stable_and_hold_what_hangs_on_them():
    """kp = 1e4 and a light body at a step of 5 ms: an explicit step would multiply the error by hundreds."""
    run = km.simulate(light(), duration=1.0, step=5e-3, integrator="semi_implicit_euler")
    stretch = run.loops["rope"].q[:, 0] - 2.0
    assert np.abs(stretch).max() < 1e-4
    assert stretch[-1] == pytest.approx(0.05 * G / 1e4, rel=1e-6)
    assert run.loop_tau["rope"][-1, 0] == pytest.approx(-0.05 * G, rel=1e-6)


def test_the_ground_carries_what_a_stiff_drive_of_a_loop_presses_on_it():
    run = km.simulate(light(), [0.05], duration=0.5, step=5e-3, contact="rigid", inputs={"target": 2.05})
    assert run.q[-1, 0] == pytest.approx(0.05, abs=1e-8)
    assert run.loop_tau["rope"][-1, 0] == pytest.approx(1e4 * 0.1, rel=1e-6)
    assert run.contact.force[-1].sum(axis=0)[2] == pytest.approx(1e4 * 0.1 + 0.05 * G, rel=1e-5)


@pytest.mark.parametrize("integrator", ["rk4", "semi_implicit_euler"])
def test_at_its_limit_a_drive_of_a_loop_is_a_constant_effort(integrator):
    drive = km.PositionDrive(kp=1e4, kd=10.0, limit=50.0)
    run = km.simulate(hung(drive), duration=0.2, integrator=integrator, inputs={"target": 1.0})
    assert (run.loop_tau["rope"][:, 0] == -50.0).all()
    np.testing.assert_allclose(run.v[:, 0], (50.0 / MASS - G) * run.time, rtol=1e-9)
    limited = hung(replace(drive, limit=None), limits=(km.Limits(effort=50.0),))
    np.testing.assert_allclose(km.simulate(limited, duration=0.2, integrator=integrator, inputs={"target": 1.0}).v, run.v)


def test_batches_and_single_steps_agree_with_runs():
    sim = km.Simulation(hung(km.PositionDrive(kp=200.0, kd=3.0)), integrator="semi_implicit_euler", outputs=["tau"])
    run, batch, state = sim.run(duration=0.05), sim.batch(3), sim.start()
    batch.inputs["target"][1] = 1.5
    batch.step(50)
    state = sim.step(state, 50)
    np.testing.assert_allclose(batch.q[[0, 2]], np.tile(run.q[-1], (2, 1)), rtol=0.0, atol=1e-14)
    np.testing.assert_allclose(state.q, run.q[-1], rtol=0.0, atol=1e-14)
    assert batch.q[1, 0] > run.q[-1, 0] + 0.04
    assert state.outputs["tau"].shape == (1,)


# --- the model and its mistakes -------------------------------------------------------------------------------------------
def test_drives_of_loops_are_part_of_the_model_and_of_its_files():
    driven = hung(DRIVES["motor"])
    read = from_json(to_json(driven))
    assert read.driven == driven.driven
    assert to_json(read) == to_json(driven)
    assert digest(driven) != digest(hung(None))
    assert driven.with_drives({"rope": None}) == hung(None)
    assert hung(None).with_drives({"rope": DRIVES["motor"]}) == driven
    both = driven.with_drives({"rail": km.EffortDrive()})
    assert [(item.name, item.q, item.v) for item in both.driven] == [("rail", 0, 0), ("rope", 1, 1)]


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: hung(None).with_drives({"rop": km.EffortDrive()}), "there is no joint or loop 'rop'; did you mean 'rope'"),
        (
            lambda: km.Loop("ball", "spherical", "a", "b", drive=km.EffortDrive()),
            "loop 'ball': a spherical joint has 3 degrees of freedom, and a drive is of one",
        ),
        (lambda: km.Loop("rod", km.Distance(1.0), "a", "b", drive=km.EffortDrive()), "loop 'rod': a distance joint has 0"),
        (lambda: km.Loop("rope", km.Line(), "a", "b", drive=3.0), "loop 'rope': the drive is 3.0; give a PositionDrive"),
        (lambda: km.simulate(hung(None), duration=0.1, inputs={"target": {"rope": 1.0}}), "target"),
        (
            lambda: km.simulate(hung(km.EffortDrive()), duration=0.1, inputs={"target": {"rail": 1.0}}),
            "names 'rail', which is not a joint with a drive. Drives are in rope",
        ),
    ],
)
def test_mistakes_are_named(make, words):
    with pytest.raises((ModelError, InputError), match=words):
        make()
