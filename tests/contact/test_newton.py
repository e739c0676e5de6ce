"""Newton steps on the laws of contact: their errors square, and what rested or slid is guessed from the state alone."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from kumitate.compile import Kernel
from kumitate.contact.impulse.branch_factors import BranchFactors
from kumitate.contact.impulse.contact_points import contact_patches
from kumitate.contact.impulse.jacobians import link_jacobians
from kumitate.contact.impulse.newton import Approach, again, newton
from kumitate.contact.impulse.problem import Impulses, Problem, inertia
from kumitate.contact.laws import STIFF
from kumitate.contact.scene import Contact, contact_pairs
from kumitate.contact.surface import Surface
from kumitate.model import Box
from kumitate.scalar import trace
from kumitate_problems.contact import solid, unconnected

G, H = 9.81, 1e-3


def box_on_floor(v: list[float], tilt: float = 0.0) -> tuple[Problem, list[list[float]]]:
    """The contact problem of a box that stands on the floor, or on one of its edges, moving with v; and what it aims at."""
    mechanism, contact = unconnected(solid("box", Box((0.4, 0.3, 0.2)), 2.0)), Contact(surface=Surface(0.4))
    height = 0.15 * math.sin(tilt) + 0.1 * math.cos(tilt)
    q = [math.sin(tilt / 2), 0.0, 0.0, math.cos(tilt / 2), 0.0, 0.0, height]
    tree, v_free = mechanism.base_parameter_tree, [*v[:5], v[5] - G * H]
    branch_factors = BranchFactors.of(link_jacobians(tree, q), inertia(tree, q, v, H))
    met = contact_patches(branch_factors.jacobians, contact_pairs(mechanism, tree, contact), v, v_free, H, mechanism)
    met = [patch.sized(branch_factors) for patch in met]
    return Problem.of(branch_factors, met, [], v_free), [[point.target for point in patch.points] for patch in met]


@pytest.mark.parametrize("spin", [0.2, 1.0, 3.0])
def test_errors_square_where_every_corner_slides_its_own_way(spin):
    """The direction of friction turns with the velocity; a step that leaves that out gains a digit at a time."""
    given, targets = box_on_floor([0.0, 0.0, spin, 0.3, 0.1, 0.0])
    found, left = given.nothing(), []
    for k in range(3):
        found, _ = newton(given, found, targets, Approach(float(k == 0), STIFF, 0.0))
        left.append(given.residual(found, targets))
    assert 1e-6 < left[0] < 1e-3
    assert left[1] < max(1e4 * left[0] ** 2, 1e-11)
    assert left[1] < 1e-3 * left[0]
    assert left[2] < 1e-15


def test_what_rests_is_held_in_one_step_and_closed_in_a_second_of_the_same_factors():
    """One side would lift off in the step if nothing held it: the first guess goes by what is closed, not by that."""
    given, targets = box_on_floor([0.0] * 6)
    given.v_free[:] = [0.005, 0.002, 0.01, 0.0, 0.0, -G * H]
    approach = Approach(1.0, STIFF, 1.0)
    found, factors = newton(given, given.nothing(), targets, approach)
    assert 0.0 < given.residual(found, targets) < 1e-6
    closed = again(given, found, targets, Approach(0.0, STIFF, 1.0), factors)
    assert given.residual(closed, targets) < 1e-13
    assert np.abs(closed.v).max() < 1e-13
    assert all(impulse[0] > 0.0 for impulse in closed.points[0])


def test_weaker_steps_go_less_far():
    given, targets = box_on_floor([0.0] * 6)
    stiff, weak = (newton(given, given.nothing(), targets, Approach(1.0, strength, 1.0))[0] for strength in (STIFF, 1.0))
    full, part = (sum(impulse[0] for impulse in found.points[0]) for found in (stiff, weak))
    assert full == pytest.approx(2.0 * G * H, rel=1e-6)
    assert 0.2 * full < part < 0.95 * full


def test_a_guess_of_nans_has_an_infinite_residual():
    """In numbers and in machine code, whose maximum leaves NaN out: else an iteration would end at such a guess."""
    given, targets = box_on_floor([0.0] * 6)

    def left(part: Any) -> tuple[Any, Any]:
        guess = given.nothing()
        guess.points[0][2][1] = part
        guess = Impulses(guess.points, [], [*given.v_free[:3], part, *given.v_free[4:]])
        return given.residual(guess, targets), given.unbalanced(guess)

    compiled = Kernel(trace(lambda part: dict(zip(("laws", "balance"), left(part), strict=True)), {"part": ()}, "left"))
    assert left(math.nan) == (math.inf, math.inf)
    assert [float(value) for value in compiled(math.nan)] == [math.inf, math.inf]
    assert [float(value) for value in compiled(0.3)] == pytest.approx(left(0.3), rel=1e-12)
