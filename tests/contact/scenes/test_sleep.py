"""Sleeping bodies: their contact is not computed again, and nothing else changes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from kumitate.contact.scene import Contact
from kumitate.contact.scenes.sleep import QUIET
from kumitate.contact.surface import Surface
from kumitate.model import Limits, Sphere
from kumitate_problems.contact import solid, unconnected

from .places import BRICK, G, bin_of, simulation, upright
from .test_robots import arm, beside

H = 1e-3
WALL = [(0.2 * (column + 0.25 * (row % 2)), 0.0, 0.06 + 0.12 * row) for row in range(3) for column in range(3)]
SLEEPY, AWAKE = Contact(options={"sleeping": 1.0}), Contact()


def wall_and(*others) -> list:
    return unconnected(*(solid(f"brick{k}", BRICK) for k in range(len(WALL))), *others)


def test_an_asleep_wall_does_not_move_a_bit_and_still_carries_its_weight():
    run = simulation(wall_and(), SLEEPY).run(upright(*WALL), duration=0.3)
    assert not run.v[60:].any()
    assert (run.q[60:] == run.q[60]).all()
    on_ground = [k for k, pair in enumerate(run.contact.bodies) if "ground" in pair]
    carried = run.contact.force[60:, on_ground, 2].sum(axis=1)
    assert carried == pytest.approx(np.full(len(carried), len(WALL) * G), rel=1e-8)
    assert (run.contact.force[100:] == run.contact.force[100]).all()


@pytest.mark.parametrize(("aside", "steps", "near"), [(0.0, 80, 1e-10), (0.01, 20, 1e-7)])
def test_a_stack_that_is_hit_moves_as_if_it_had_never_slept(aside, steps, near):
    """Bodies stop from 1e-9 m/s, so that the two motions differ by that and by what impacts make of it.

    Which of the contact points of two faces carry an impact is not unique, hence the less exact match of the hit off center,
    and the end before a brick tips over two corners.
    """
    mechanism = unconnected(*(solid(f"brick{k}", BRICK) for k in range(3)), solid("ball", Sphere(0.05), 0.5))
    q, v = upright(*((0.0, 0.0, 0.06 + 0.12 * k) for k in range(3)), (0.4, aside, 0.3)), np.zeros(24)
    v[21:] = -4.0, 0.0, 0.3
    runs = [simulation(mechanism, contact).run(q, v, duration=0.15) for contact in (SLEEPY, AWAKE)]
    speeds = [np.abs(run.v[:, :18]).max(axis=1) for run in runs]
    hits = [int(np.argmax(found > 1e-2)) for found in speeds]
    assert hits[0] == hits[1] > 50
    assert speeds[0][40 : hits[0] - 6].max() == 0.0  # the ball is near for some steps before it hits
    assert speeds[0][hits[0] :].max() > 0.2
    until = hits[0] + steps
    assert np.abs(runs[0].q[:until] - runs[1].q[:until]).max() < near
    for account in ("work", "gained"):
        assert np.abs(getattr(runs[0].contact, account) - getattr(runs[1].contact, account))[:until].max() < near
    assert runs[0].contact.residual.max() < 1e-9


def test_a_wall_wakes_at_the_step_in_which_a_ball_hits_it():
    mechanism = wall_and(solid("ball", Sphere(0.05), 2.0))
    q, v = upright(*WALL, (0.1, 0.4, 0.2)), np.zeros(60)
    v[57:] = 0.0, -4.0, 0.9
    runs = [simulation(mechanism, contact).run(q, v, duration=0.2) for contact in (SLEEPY, AWAKE)]
    hits = [int(np.argmax(np.abs(run.v[:, :54]).max(axis=1) > 1e-2)) for run in runs]
    assert hits[0] == hits[1] > 50
    assert not runs[0].v[40 : hits[0] - 6, :54].any()


def test_one_stack_wakes_and_the_other_sleeps_on():
    places = [(x, 0.0, 0.06 + 0.12 * k) for x in (0.0, 1.0) for k in range(2)]
    mechanism = unconnected(*(solid(f"brick{k}", BRICK) for k in range(4)))
    sim = simulation(mechanism, SLEEPY, wrenches={"brick0": lambda t, q, v: [0, 0, 0, 30.0 if 0.05 <= t < 0.06 else 0, 0, 0]})
    run = sim.run(upright(*places), duration=0.5)
    moved = np.abs(run.v).reshape(len(run.v), 4, 6).max(axis=2) > 1e-6
    assert moved[51:60, :2].any(axis=1).all()  # the push wakes what it acts on and what stands on it
    assert not moved[:, 2:].any()
    assert not run.v[-1].any()  # and all sleep again
    assert run.audit.contact.gains == 0


def test_a_saved_state_goes_on_from_its_sleep_with_the_same_motion_to_the_bit(tmp_path):
    mechanism = wall_and(solid("ball", Sphere(0.05), 2.0))
    q, v = upright(*WALL, (0.2, 0.01, 0.8)), np.zeros(60)
    sim = simulation(mechanism, SLEEPY)
    state = sim.step(sim.start(q, v), 100)
    again = simulation(mechanism, SLEEPY).restore(sim.save(state, tmp_path / "state.npz"))
    ahead = sim.step(state, 300)
    assert np.array_equal(ahead.q, sim.step(again, 300).q)
    assert np.array_equal(ahead.q, sim.run(q, v, duration=0.4, every=20).q[-1])


def test_steps_in_which_a_brick_is_quiet_are_counted_from_its_last_move():
    sim = simulation(unconnected(*(solid(f"brick{k}", BRICK) for k in range(2))), SLEEPY)
    stepper = sim.compiled.stepper(sim.actuation, H, upright((0.0, 0.0, 0.06), (1.0, 0.0, 0.06)), np.eye(12)[9] * 3e-2)
    moving = 0
    for step in range(1, 21):
        stepper.run({}, 1, 1)
        moving = step if np.abs(stepper.state["v"][0, 6:]).max() >= QUIET else moving
        assert stepper.scene.bodies.quiet.tolist() == [step, step - moving]
    assert 0 < moving < 10


def test_a_step_that_is_made_again_finds_the_same_sleepers():
    """A robot far away swings against a stop, so that steps take more passes: bodies move and sleep as they do without it."""
    bodies = *(solid(f"brick{k}", BRICK) for k in range(2)), solid("ball", Sphere(0.05))
    far = replace(arm(), bodies=tuple(replace(body, collisions=()) for body in arm().bodies))
    stopped = tuple(replace(joint, limits=Limits(-0.3, 0.12)) if joint.name == "bend" else joint for joint in far.joints)
    q = upright((0.0, 0.0, 0.06), (0.0, 0.0, 0.18), (0.3, 0.0, 0.3))
    v = np.array([*np.zeros(15), -1.2, 0.0, 0.2])
    alone = simulation(unconnected(*bodies), SLEEPY)
    beside_it = simulation(beside(replace(far, joints=stopped), *bodies), SLEEPY)
    steppers = []
    for sim, state in ((alone, (q, v)), (beside_it, (np.r_[0.3, 0.2, 0.1, q], np.r_[0.5, 0.0, 1.0, v]))):
        steppers.append(sim.compiled.stepper(sim.actuation, H, *state))
    without, with_it = steppers
    slept = passes = 0
    for _ in range(250):
        for stepper in steppers:
            stepper.run({}, 1, 1)
        assert np.array_equal(without.state["q"][0], with_it.state["q"][0, 3:])
        assert np.array_equal(without.scene.bodies.quiet, with_it.scene.bodies.quiet[3:])
        assert without.scene.counts[4] == with_it.scene.counts[4]
        slept += int(without.scene.counts[4] > 0)
        passes = max(passes, int(with_it.scene.bodies.robots.motions.pieces[-1]))
    assert passes > 1
    assert 20 < slept < 240


def test_a_brick_sleeps_on_a_belt_that_slips_under_it():
    """A wall holds it; what is recorded of its contact is the same as if it were awake."""
    ground = bin_of(0.3).ground[:2]  # the floor, and a wall at the end of the belt
    belt = {"ground": Surface(0.3, belt=(0.5, 0.0, 0.0))}
    mechanism = unconnected(solid("brick", BRICK), solid("far", BRICK), solid("far too", BRICK))
    q = upright((0.18, 0.0, 0.06), (-5.0, 0.0, 0.06), (-9.0, 0.0, 0.06))
    runs = []
    for options in ({"sleeping": 1.0}, {}):
        sim = simulation(mechanism, Contact(ground=ground, surface=Surface(0.3), surfaces=belt, options=options))
        runs.append(sim.run(q, duration=0.4))
    assert not runs[0].v[-1, :6].any()
    forces = [run.contact.force[-1, [pair[0] == "brick" for pair in run.contact.bodies]].sum(axis=0) for run in runs]
    assert forces[0] == pytest.approx(forces[1], abs=1e-6)
    slips = [run.contact.velocity[-1, run.contact.bodies.index(("brick", "ground")), 0] for run in runs]
    assert slips[0] == pytest.approx(slips[1], abs=1e-6)
    assert abs(slips[0]) > 0.1
