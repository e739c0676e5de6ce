"""Dry friction of joints in implicit steps: closed forms, rest, energy, and with contact near by."""

from __future__ import annotations

import math

import numpy as np
import pytest

import kumitate as km
from kumitate.dynamics import FRICTION_VELOCITY, Acting, aba, rnea
from kumitate.model import without_friction

from ..mechanisms import random_case, seeds

#: With a floor, on which the foot of the mechanism stands, steps are those of contact.
WAYS = [{"integrator": "semi_implicit_euler"}, {"integrator": "auto"}, {"contact": "rigid"}]
NAMES = ["alone", "auto", "on the floor"]


def slider(mass, friction, pull=0.0, **joint):
    """A ball on a rail along x, and a foot below it; `mass` [kg] of the ball, dry `friction` and `pull` [N] along the rail."""
    shape = (km.Geometry(km.Sphere(0.05)),)
    ball, foot = (km.Body(name, m, inertia=(1e-3,) * 3, collisions=shape) for name, m in (("ball", mass), ("foot", 1.0)))
    rail = km.Joint("rail", "prismatic", "world", "ball", km.pose((0, 0, 1)), axis=(1, 0, 0), friction=friction, **joint)
    lift = km.Joint("lift", "prismatic", "world", "foot", km.pose((0, 0, 0.05)))
    return km.Mechanism("slider", (ball, foot), (rail, lift), gravity=(pull / mass, 0.0, -9.81))


def slid(m, v, way, *, step=1e-3, **options):
    """A run from x = 0 at a speed v: x and its rate."""
    run = km.simulate(m, [0.0, 0.0], [v, 0.0], step=step, **options, **way)
    return run.q[:, 0], run.v[:, 0]


@pytest.mark.parametrize("way", WAYS, ids=NAMES)
@pytest.mark.parametrize("v", [0.167, -1.0])
def test_friction_brings_a_light_joint_to_rest_and_keeps_it_there(way, v):
    """One step of the full friction changes v by 0.2 m/s: where v is less, it would pass rest."""
    speeds = slid(slider(5e-3, 1.0), v, way, duration=0.1)[1] * math.copysign(1.0, v)
    assert (speeds > -1e-9).all()
    assert (np.diff(speeds) < 1e-9).all()
    assert speeds[-1] < 1e-6


@pytest.mark.parametrize("way", WAYS, ids=NAMES)
def test_a_drive_that_holds_against_friction_does_not_shake_its_joint(way):
    """Below the break-away effort a joint creeps to its target, and loses energy at every step."""
    kp, target, mass = 20.0, 0.02, 5e-3
    m = slider(mass, 1.0, drive=km.PositionDrive(kp=kp, kd=0.5))
    x, v = slid(m, 0.3, way, duration=0.2, inputs={"target": [target]})
    energy = 0.5 * mass * v**2 + 0.5 * kp * (x - target) ** 2
    assert (np.diff(energy) < 1e-12).all()
    assert (np.abs(v[30:]) < FRICTION_VELOCITY).all()
    assert (np.sign(v[30:]) == np.sign(target - x[30:])).all()


@pytest.mark.parametrize("way", [WAYS[0], WAYS[2]], ids=[NAMES[0], NAMES[2]])
def test_a_slider_stops_where_constant_friction_stops_it(way):
    """v²/2a with a = f/m, and a little further as the friction is rounded off at rest; steps are of order one."""
    mass, f, v, e = 2.0, 3.0, 1.2, FRICTION_VELOCITY
    stopped = (v * math.hypot(v, e) + e * e * math.asinh(v / e)) * mass / (2.0 * f)  # the integral of v dv / a(v)
    assert stopped == pytest.approx(v * v * mass / (2.0 * f), rel=1e-3)
    missed = []
    for step in (4e-3, 1e-3):
        x, rates = slid(slider(mass, f), v, way, step=step, duration=1.2)
        missed.append(abs(x[-1] - stopped))
        assert rates[round(0.4 / step)] == pytest.approx(v - f / mass * 0.4, rel=5.0 * step)
    assert missed[1] < 1e-3
    assert missed[1] < 0.3 * missed[0]


@pytest.mark.parametrize("way", WAYS, ids=NAMES)
def test_below_the_friction_an_effort_makes_a_joint_creep_only(way):
    """ε τ/√(f² − τ²) is the velocity at which the rounded friction balances the effort τ < f."""
    part = 0.9
    _, v = slid(slider(5e-3, 1.0, part), 0.0, way, duration=0.2)
    creep = FRICTION_VELOCITY * part / math.sqrt(1.0 - part * part)
    assert (v < creep * (1.0 + 1e-6)).all()
    assert v[-1] == pytest.approx(creep, rel=1e-6)


@pytest.mark.parametrize("way", WAYS, ids=NAMES)
def test_above_the_friction_the_rest_of_the_effort_accelerates_a_joint(way):
    _, v = slid(slider(2.0, 3.0, 7.0), 0.0, way, duration=1.0)
    assert np.diff(v[-500:]) / 1e-3 == pytest.approx(2.0, rel=5e-3)


@pytest.mark.parametrize(**seeds(6))
def test_friction_is_against_the_velocity_after_the_step_at_every_joint(seed):
    """And never drives it, for trees of any kind and steps of any length: what is missing from M v̇ is against v + h v̇."""
    case = random_case(seed)
    m, h = case.mechanism, 10.0 ** np.random.default_rng(seed).uniform(-4.0, 1.0)
    a = np.array(aba(m.tree, case.q, case.v, case.tau, Acting(m.gravity, implicit_step=h)))
    after = np.array(case.v) + h * a
    springs = h * np.array([k for link in m.tree.links for k in link.stiffness])
    without = np.array(rnea(without_friction(m).tree, case.q, case.v, a.tolist(), gravity=m.gravity))
    power = (np.array(case.tau) - without - springs * after) * after
    assert (power >= -1e-9 * np.abs(case.tau).max() * np.abs(after).max()).all()


def test_steps_with_friction_are_those_of_a_run_bit_by_bit():
    sim = km.Simulation(slider(5e-3, 1.0), step=1e-3, contact="rigid")
    run = sim.run([0.0, 0.0], [0.167, 0.0], duration=0.01)
    state = sim.start([0.0, 0.0], [0.167, 0.0])
    for q, v in zip(run.q[1:], run.v[1:], strict=True):
        state = sim.step(state)
        assert np.array_equal([*state.q, *state.v], [*q, *v])
