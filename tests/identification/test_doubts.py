"""What is wrong with a log is said, and a few wrong efforts do little with Huber's loss."""

from __future__ import annotations

import warnings
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

import kumitate as km
from kumitate.errors import InputError
from kumitate.identification import exciting_trajectory
from kumitate.identification.equations import BEYOND

from .robots import all_of, parallel_arm, true_values


def arm() -> km.Robot:
    """Three joints with limits."""
    bare = parallel_arm(3).mechanism
    limits = (km.Limits(lower=-2.0, upper=2.0, velocity=4.0),)
    return km.Robot(replace(bare, joints=tuple(replace(joint, limits=limits) for joint in bare.joints)))


@cache
def recorded():
    """The model, the real robot, and a log of 4 s with 2 % of noise."""
    model, rng = arm(), np.random.default_rng(1)
    unknowns = all_of(model)
    real = km.Robot(unknowns.mechanism_with(true_values(unknowns, np.random.default_rng(3))))
    t = np.arange(0.0, 4.0, 0.01)
    q, v, a = exciting_trajectory(model, period=4.0, trials=10)(t)
    tau = real.inverse_dynamics(q, v, a)
    tau = tau + 0.02 * np.sqrt(np.mean(tau**2, axis=0)) * rng.normal(size=tau.shape)
    return model, real, {"t": t, "q": q, "v": v, "a": a, "tau": tau}


def identified(**options):
    """The result, its warnings, and how wrong the efforts are that it needs for other motions (root mean square)."""
    model, real, log = recorded()
    changed = {key: options.pop(key) for key in ("q", "tau") if key in options}
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        found = km.identify(log | changed, model, **options)
    states = exciting_trajectory(model, period=4.0, trials=1, seed=9)(log["t"])
    missed = found.robot.inverse_dynamics(*states) - real.inverse_dynamics(*states)
    assert [str(one.message) for one in told] == [f"identify: {doubt}" for doubt in found.doubts]
    assert all(f"doubtful: {doubt}" in str(found) for doubt in found.doubts)
    return found, "\n".join(found.doubts), float(np.sqrt(np.mean(missed**2)))


def test_a_clean_log_raises_no_doubts():
    assert identified()[1] == ""
    _, real, log = recorded()
    exact = real.inverse_dynamics(log["q"], log["v"], log["a"])
    for loss in ("squares", "huber"):
        _, doubts, missed = identified(tau=exact, loss=loss)
        assert doubts == ""
        assert missed < 1e-6


def test_spikes_are_named_and_do_little_with_hubers_loss():
    _, _, log = recorded()
    spiked = log["tau"].copy()
    spiked[123] = 1e4
    _, _, clean = identified()
    _, doubts, missed = identified(tau=spiked)
    assert missed > 50.0 * clean
    assert "residuals of 'joint2' hold" in doubts
    assert "at t = 1.23 s. Take out such efforts (NaN), or take loss='huber'" in doubts
    assert "half of the efforts of 'joint3' are explained worse than by the model before" in doubts
    found, doubts, missed = identified(tau=spiked, loss="huber")
    assert missed < 1.5 * clean
    assert doubts == ""
    np.testing.assert_allclose(found.noise, identified()[0].noise, rtol=0.15)


def test_hubers_loss_is_least():
    """With one in 25 of a joint's efforts off by 60 N·m; the derivative of the sum of Huber's losses is zero."""
    _, _, log = recorded()
    wrong = log["tau"].copy()
    wrong[::25, 1] += 60.0
    found, _, missed = identified(tau=wrong, loss="huber")
    assert missed < 0.6 * identified(tau=wrong)[2]
    rows, residuals = found.rows().rows, found.measured() - found.predicted()
    sigma = 1.4826 * np.median(np.abs(residuals), axis=0)
    pull = np.clip(residuals, -BEYOND * sigma, BEYOND * sigma) / found.noise**2
    slope, size = np.einsum("nik,ni->k", rows, pull), np.einsum("nik,ni->k", np.abs(rows), np.abs(pull))
    assert np.abs(slope / size).max() < 1e-3


def test_degrees_are_doubtful():
    _, _, log = recorded()
    _, doubts, _ = identified(q=np.degrees(log["q"]))
    assert "joint 'joint1' is far beyond its limits, -2 to 2" in doubts
    assert "Are these degrees for radians?" in doubts


@pytest.mark.parametrize(("joint", "part"), [(0, 1.0), (1, 1e-6), (2, 1.0)])
def test_efforts_of_the_wrong_sign_are_doubtful(joint, part):
    """However small they are."""
    _, _, log = recorded()
    sign = np.where(np.arange(3) == joint, -1.0, 1.0)
    _, doubts, _ = identified(tau=part * log["tau"] * sign)
    assert f"efforts of 'joint{joint + 1}' are opposite to what the model needs" in doubts


@pytest.mark.parametrize("k", [5, 2, -3])
def test_efforts_that_are_late_or_early_are_doubtful(k):
    _, _, log = recorded()
    _, doubts, _ = identified(tau=np.roll(log["tau"], k, axis=0))  # the motion is periodic
    word = "late" if k > 0 else "early"
    assert f"efforts are {word} by {abs(k)} samples ({abs(k) * 0.01:.4g} s)" in doubts


def test_unknown_losses_and_loops_are_refused():
    model, _, log = recorded()
    with pytest.raises(InputError, match="the loss is 'l1'; it must be 'squares' or 'huber'"):
        km.identify(log, model, loss="l1")
    loop = km.load("four_bar")
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # forces of the loop are among the efforts, and no doubt
        km.identify(km.simulate(loop, duration=0.5, controller=lambda t, q, v: np.sin(3.0 * t + q)), loop)
    with pytest.raises(InputError, match=r"closed loops, which mix efforts that are wrong with others"):
        km.identify(km.simulate(loop, duration=0.1), loop, loss="huber")
