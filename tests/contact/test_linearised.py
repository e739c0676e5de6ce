"""The linearised law of a point: its program, which computes the law of sliding only where points slide, and its solutions."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest

from kumitate.contact.laws import LINEARISED, STIFF, TIE, TURNING, disc_law, normal_law
from kumitate.procedure import apply

MASS, FRICTION = 2.0, 0.5


class Law(NamedTuple):
    """K and base of λ' = base − K du, and the normal impulse that decides whether the point sticks."""

    K: np.ndarray
    base: np.ndarray
    held_by: np.ndarray


def law_at(impulse: Any, speed: Any, softness: float = 0.0, stiff: float = STIFF * MASS) -> Law:
    """The law of a point with a target of 0."""
    found = Law(np.zeros((3, 3)), np.zeros(3), np.zeros(1))
    apply(LINEARISED, np.array(impulse), np.array(speed), np.zeros(3), 0.0, FRICTION, MASS, softness, stiff, 0.0, *found)
    return found


@pytest.mark.parametrize(
    ("impulse", "speed"),
    [
        ((0.0, 0.0, 0.0), (0.3, 0.1, 0.0)),  # apart
        ((2.0, 0.3, -0.2), (0.0, 0.0, 0.0)),  # sticks
        ((2.0, -0.6, 0.8), (0.0, 0.3, -0.4)),  # slides
    ],
)
def test_a_solution_is_one_of_the_linearised_law(impulse, speed):
    """base − K·0 is the impulse where the laws hold; so K dω of a repeated step does not move it."""
    assert np.abs(law_at(impulse, speed).base - impulse).max() < 1e-12


@pytest.mark.parametrize("softness", [0.0, 0.3])
def test_the_program_is_the_law_that_straight_line_code_selects(softness):
    """Random points, of which some are apart, stick and slide."""
    rng, modes = np.random.default_rng(4), set()
    for _ in range(60):
        impulse, speed = rng.normal([1.0, 0.0, 0.0], [1.0, 0.4, 0.4]), rng.normal(size=3) * 0.2
        found = law_at(impulse, speed, softness)
        masses = np.array([MASS / (1.0 + softness * MASS), MASS, MASS])
        above = speed + np.array([softness * impulse[0], 0.0, 0.0])
        aims = impulse - masses * above
        push = normal_law(impulse[0], aims[0], above[0], softness, MASS, STIFF * MASS)
        sticks = push.holds(FRICTION, aims[1:])
        rows, base = disc_law(push, FRICTION, impulse[1:], above[1:], aims[1:], sticks)
        assert np.array_equal(found.K, [[push.R, 0.0, 0.0], *rows])
        assert np.array_equal(found.base, [push.base, *base()])
        assert found.held_by[0] == aims[0]
        modes.add((bool(push.closed), bool(sticks)))
    assert {(True, True), (True, False)} <= modes
    assert any(not closed for closed, _ in modes)


@pytest.mark.parametrize("beyond", [1e-12, 1e-3])
def test_moments_at_their_limits_to_rounding_hold_what_does_not_turn(beyond):
    """They are as stiff in all directions as ones within their limits; those beyond it turn with what turns."""
    moments = 2.0 * np.array([0.1, 0.03, 0.04]) * (1.0 + beyond)  # limits 0.1 and 0.05 of a normal impulse of 2 N s
    K, base, push = np.zeros((3, 3)), np.zeros(3), np.zeros(3)
    limit, still = np.array([0.1, 0.05]), np.zeros(3)
    apply(TURNING, moments, still, still, limit, 1.0, 1e4, 0.0, 2.0, 2.0, 0.0, 1.0, K, base, push)
    holds = beyond < TIE
    assert np.array_equal(K, 1e4 * np.eye(3)) == holds
    assert np.array_equal(base, moments) == holds
    assert push.any() != holds
