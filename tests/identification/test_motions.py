"""Differentiation of logs, and exciting trajectories."""

from dataclasses import replace

import numpy as np
import pytest

import kumitate as km
from kumitate.errors import InputError
from kumitate.identification import MotionLog, exciting_trajectory
from kumitate.identification.log import DEGREE, states_of

from ..mechanisms import random_mechanism
from .robots import parallel_arm


# --- differentiation --------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("given", ["q", "q and v"])
def test_polynomials_are_differentiated_exactly(given):
    """Of their own degree, at times with any spacing, near the ends too."""
    arm, rng = parallel_arm(), np.random.default_rng(0)
    t = np.cumsum(rng.uniform(0.005, 0.02, 40))
    factors = rng.normal(size=(DEGREE + 1, 2))
    q = np.polynomial.polynomial.polyval(t, factors).T
    v = np.polynomial.polynomial.polyval(t, np.polynomial.polynomial.polyder(factors)).T
    a = np.polynomial.polynomial.polyval(t, np.polynomial.polynomial.polyder(factors, 2)).T
    found = states_of(arm, MotionLog(t, q, 0.0 * q, v if given == "q and v" else None), 9)
    for one, exact, bound in zip(found, (q, v, a), (1e-12, 1e-9, 1e-7), strict=True):
        assert np.abs(one - exact).max() < bound


@pytest.mark.parametrize("root", ["floating", "spherical"])
def test_angular_velocities_on_the_manifold(root):
    """A free motion: what is found from coordinates alone comes nearer to the truth as steps become smaller."""
    m = random_mechanism(np.random.default_rng(3), ["revolute"], root=root, passive=False)
    robot, rng = km.Robot(m), np.random.default_rng(0)
    q, v = robot.random_state(rng)
    errors = []
    run = km.simulate(robot, q, v, duration=0.6, step=1e-3, integrator="rk4")
    for every in (20, 10):
        kept = slice(None, None, every)
        found = states_of(robot, MotionLog(run.time[kept], run.q[kept], run.tau[kept]), 7)
        inside = slice(7, -7)
        errors.append([np.abs(found.v - run.v[kept])[inside].max(), np.abs(found.a - run.a[kept])[inside].max()])
    coarse, fine = np.array(errors)
    scale = np.array([np.abs(run.v).max(), np.abs(run.a).max()])
    assert (fine < 1e-3 * scale).all()
    assert (fine < 0.3 * coarse).all()


# --- exciting trajectories ----------------------------------------------------------------------------------------------
def limited_arm() -> km.Robot:
    m = parallel_arm(3).mechanism
    limits = [km.Limits(-1.0, 2.0, velocity=1.5), km.Limits(0.1, 0.6, velocity=2.0), km.Limits(-2.5, 2.5, velocity=0.5)]
    joints = (replace(joint, limits=(own,)) for joint, own in zip(m.joints, limits, strict=True))
    return km.Robot(replace(m, joints=tuple(joints)))


def test_it_keeps_limits_and_begins_at_rest():
    arm = limited_arm()
    motion = exciting_trajectory(arm, trials=60, period=6.0)
    t = np.linspace(0.0, 6.0, 3001)
    q, v, a = motion(t)
    for i, joint in enumerate(arm.mechanism.joints):
        limit = joint.limits[0]
        assert limit.lower < q[:, i].min() < q[:, i].max() < limit.upper
        fullest = max(np.ptp(q[:, i]) / (limit.upper - limit.lower), np.abs(v[:, i]).max() / limit.velocity)
        assert 0.9 < fullest < 1.0
    assert np.abs([v[0], v[-1], a[0], a[-1]]).max() < 1e-12
    assert np.allclose(motion(1.0)[0], motion(7.0)[0], atol=1e-12)
    assert np.abs(np.gradient(q, t, axis=0) - v)[1:-1].max() < 1e-4
    assert np.abs(np.gradient(v, t, axis=0) - a)[1:-1].max() < 1e-3


def test_it_shows_more_than_most_motions():
    arm = limited_arm()
    chance = [exciting_trajectory(arm, trials=0, seed=seed).condition for seed in range(5)]
    best = exciting_trajectory(arm, trials=200).condition
    assert best < min(chance)
    assert exciting_trajectory(arm, trials=60, seed=3).condition == exciting_trajectory(arm, trials=60, seed=3).condition


def test_what_cannot_follow_is_refused():
    with pytest.raises(InputError, match=r"loops or couplings \(.*lock"):
        exciting_trajectory(km.load("four_bar"))
    free = km.Robot(random_mechanism(np.random.default_rng(0), ["revolute"], root="floating"))
    with pytest.raises(InputError, match=r"joint 'base' is floating.*lock"):
        exciting_trajectory(free)
    with pytest.raises(InputError, match=r"2 harmonics"):
        exciting_trajectory(parallel_arm(), harmonics=2)
