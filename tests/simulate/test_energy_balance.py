"""E(t) − E(0) is the work of all that is applied, whatever is applied: drives, damping, friction, wrenches."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import kumitate as km


def arm(**joint_options) -> km.Mechanism:
    pa10 = km.load("pa10").mechanism
    joints = tuple(replace(joint, **joint_options) if joint.kind.nv else joint for joint in pa10.joints)
    return replace(pa10, joints=joints)


def floating_pair() -> km.Mechanism:
    bodies = (
        km.Body("base", 2.0, (0.1, 0.0, -0.1), ((0.3, 0.01, 0.0), (0.01, 0.2, 0.02), (0.0, 0.02, 0.4))),
        km.Body("arm", 1.0, (0.0, 0.1, 0.3), (0.1, 0.1, 0.02)),
    )
    joints = (
        km.Joint("free", "floating", "world", "base", damping=0.2),
        km.Joint("ball", "spherical", "base", "arm", km.pose((0.1, 0.2, 0.3), (0.4, 0.1, 0.2)), damping=0.1),
    )
    return km.Mechanism("pair", bodies, joints, frames=(km.Frame("tip", "arm", km.pose((0.0, 0.0, 0.5))),))


def drive(t, q, v):
    return 2.0 * np.sin(3.0 * t) - 0.5 * v


def wrench(t, q, v):
    return [0.3, -0.2 * t, 0.1, 2.0, -1.0 + t, 0.5 * v[0]]


CASES = {
    "drives": (arm(), {"controller": drive}),
    "damping": (arm(damping=2.0), {}),
    "friction": (arm(friction=0.05), {}),
    "armature": (arm(armature=0.3), {"controller": drive}),
    "wrenches": (arm(), {"wrenches": {"link7": wrench, "link3": [0.0, 0.1, 0.0, 0.0, 1.0, 0.0]}}),
    "all": (arm(damping=1.0, friction=0.05, armature=0.1), {"controller": drive, "wrenches": {"link5": wrench}}),
    "floating": (floating_pair(), {"controller": drive, "wrenches": {"tip": wrench}}),
}


@pytest.mark.parametrize("traced", [True, False])
@pytest.mark.parametrize("name", CASES)
def test_energy_balance(name, traced):
    mechanism, options = CASES[name]
    rng = np.random.default_rng(13)
    q, v = km.Robot(mechanism).random_state(rng)
    run = km.simulate(mechanism, q, 0.5 * v, duration=0.4, step=1e-3, integrator="rkf45", traced=traced, **options)
    assert run.audit.energy_drift < 1e-8 * max(1.0, np.abs(run.energy.total).max())
    assert run.audit.work == pytest.approx(run.energy.total[-1] - run.energy.total[0], abs=1e-6)
    assert abs(run.audit.work) > 1e-3


def test_damping_only_takes():
    run = km.simulate(arm(damping=2.0, friction=0.1), duration=0.5, integrator="rkf45")
    assert (np.diff(run.energy.total) <= 1e-12).all()


def test_momentum_of_a_floating_mechanism_is_kept_by_inner_forces():
    mechanism = replace(floating_pair(), gravity=(0.0, 0.0, 0.0))
    free = replace(mechanism, joints=tuple(replace(joint, damping=0.0) for joint in mechanism.joints))
    q, v = km.Robot(free).random_state(np.random.default_rng(14))
    run = km.simulate(free, q, v, duration=0.5, controller=lambda t, q, v: [0.0] * 6 + [0.3, -0.5 * v[7], 0.2 * t])
    np.testing.assert_allclose(run.momentum, np.tile(run.momentum[0], (len(run), 1)), rtol=0.0, atol=1e-10)


def test_impulse_of_a_wrench_is_the_momentum_gained():
    mechanism = replace(floating_pair(), gravity=(0.0, 0.0, 0.0))
    free = replace(mechanism, joints=tuple(replace(joint, damping=0.0) for joint in mechanism.joints))
    q, v = km.Robot(free).random_state(np.random.default_rng(15))
    moment, force = np.array([0.3, -0.2, 0.1, 0.0, 0.0, 0.0]), np.array([0.0, 0.0, 0.0, 2.0, -1.0, 0.5])
    run = km.simulate(free, q, v, duration=0.5, wrenches={"tip": moment, "base": 2.0 * moment})
    np.testing.assert_allclose(run.momentum - run.momentum[0], run.time[:, None] * 3.0 * moment, rtol=0.0, atol=1e-10)
    run = km.simulate(free, q, v, duration=0.5, wrenches={"tip": force})
    np.testing.assert_allclose((run.momentum - run.momentum[0])[:, 3:], run.time[:, None] * force[3:], rtol=0.0, atol=1e-10)
    # the force turns the mechanism about the origin of the world by its arm, the position of the frame
    tip = km.Robot(free).pose(run.q, "tip")[:, :3, 3]
    rates = np.gradient(run.momentum[:, :3], run.time, axis=0, edge_order=2)
    np.testing.assert_allclose(rates[1:-1], np.cross(tip, force[3:])[1:-1], rtol=0.0, atol=1e-4)


WORDS = {
    "free": ({}, {"step": 1e-3}, None),
    "stopped": ({"limits": km.Limits(lower=-0.5)}, {"step": 1e-2}, "at stops"),
    "coarse": ({}, {"step": 0.25, "integrator": "rk4"}, "long for this motion"),
}


@pytest.mark.parametrize("case", WORDS)
def test_the_audit_says_how_much_of_the_energy_is_lost_and_where(case):
    """In percent of the largest kinetic energy, or range of potential energy; its reason only where it is worth a word."""
    limits, options, word = WORDS[case]
    pendulum = km.load("pendulum").mechanism
    swing = replace(pendulum, joints=tuple(replace(joint, **limits) for joint in pendulum.joints))
    run = km.simulate(swing, [1.2], duration=2.0, **options)
    exchanged = max(run.energy.kinetic.max(), np.ptp(run.energy.potential))
    line = run.audit.lines()[0]
    assert float(line.split("J, ")[1].split(" %")[0]) == pytest.approx(100.0 * run.audit.energy_drift / exchanged, rel=0.05)
    assert line.endswith("exchanged") == (word is None or any(note.startswith("energy: ") for note in run.audit.notes))
    assert word is None or "\n".join(run.audit.lines()).count(word) == 1
    assert run.audit.energy_drift < 1e-3 * exchanged if word is None else run.audit.energy_drift > 1e-3 * exchanged
    assert (run.audit.drift_at_stops > 0.5) == (case == "stopped")
