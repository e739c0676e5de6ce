"""Newton steps that are repeated with the factors of the last one: what they give, and when they are taken."""

from __future__ import annotations

import math
from dataclasses import replace
from importlib import import_module

import numpy as np
import pytest

from kumitate.contact import tuned
from kumitate.contact.impulse.contact_points import contact_patches
from kumitate.contact.impulse.jacobians import link_jacobians
from kumitate.contact.impulse.newton import Approach, again, newton
from kumitate.contact.impulse.problem import Problem
from kumitate.contact.laws import STIFF
from kumitate.contact.scene import Contact, contact_pairs
from kumitate.contact.surface import Surface
from kumitate.model import Box, Loop, Mechanism
from kumitate.spatial import Transform, Vector3
from kumitate_problems.contact import solid, unconnected

model = import_module("kumitate.contact.models.rigid")  # `models` has a function of that name
G, H, SIZE = 9.81, 1e-3, Box((0.4, 0.3, 0.2))
#: Of two boxes [m].
APART = 0.5
NEAR = Approach(0.0, STIFF, 1.0)


def pinned() -> Mechanism:
    """Two boxes side by side, joined by a vertical hinge that closes a loop through the world."""
    free = unconnected(solid("left", SIZE, 2.0), solid("right", SIZE, 0.7))
    hinge = [Transform(translation=Vector3(side, 0.0, 0.0)) for side in (APART / 2, -APART / 2)]
    return replace(free, loops=(Loop("hinge", "revolute", "left", "right", pose_a=hinge[0], pose_b=hinge[1]),))


def problem(mechanism: Mechanism, push: list[float]) -> tuple[Problem, list[list[float]]]:
    """The contact of boxes that stand at rest on the floor and are pushed: velocities (nv) that they would have without it."""
    q = [part for k in range(mechanism.nv // 6) for part in (0.0, 0.0, 0.0, 1.0, APART * k, 0.0, 0.1)]
    tree, v = mechanism.base_parameter_tree, [0.0] * mechanism.nv
    free = [rate - G * H * (k % 6 == 5) for k, rate in enumerate(push)]
    jacobians = link_jacobians(tree, q)
    met = contact_patches(
        jacobians, contact_pairs(mechanism, tree, Contact(surface=Surface(0.4))), v, free, H, mechanism, mechanism.gravity
    )
    given = Problem.at(mechanism, jacobians, met, H, q, v, free, [0.0] * mechanism.nv)
    return given, [[point.target for point in patch.points] for patch in met]


def pushes(mechanism: Mechanism, size: float, count: int = 4) -> list[list[float]]:
    """Random velocities of all boxes as one body, which leave the loop closed."""
    found = []
    for turn, shift in size * np.random.default_rng(163).normal(size=(count, 2, 3)):
        places = [np.array([APART * k, 0.0, 0.0]) for k in range(mechanism.nv // 6)]
        found.append(np.concatenate([part for place in places for part in (turn, shift + np.cross(turn, place))]).tolist())
    return found


MECHANISMS = {"free": unconnected(solid("box", SIZE, 2.0)), "in a loop": pinned()}


@pytest.mark.parametrize("name", MECHANISMS)
def test_where_modes_stay_they_are_steps_with_factors_of_their_own(name):
    mechanism = MECHANISMS[name]
    for push in pushes(mechanism, 3e-4):
        given, targets = problem(mechanism, push)
        found, factors = newton(given, given.nothing(), targets, replace(NEAR, first=1.0))
        kept, fresh = again(given, found, targets, NEAR, factors), newton(given, found, targets, NEAR)[0]
        scale = 2.0 * G * H
        np.testing.assert_allclose(np.array(kept.points), np.array(fresh.points), rtol=0.0, atol=1e-12 * scale)
        np.testing.assert_allclose(kept.v, fresh.v, rtol=0.0, atol=1e-14)
        assert given.residual(kept, targets) < 1e-2 * given.residual(found, targets)


class Counted:
    """The steps that a solution takes: 1 for one with factors of its own, 0 for a repetition."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch):
        self.steps: list[int] = []
        for name, own, function in (("newton", 1, newton), ("again", 0, again)):
            monkeypatch.setattr(model, name, lambda *given, own=own, function=function: self._taken(own, function, given))

    def _taken(self, own, function, given):
        self.steps.append(own)
        return function(*given)

    def of(self, given: Problem):
        self.steps.clear()
        return model.rigid(given), list(self.steps)


@pytest.mark.parametrize("name", MECHANISMS)
def test_a_push_that_friction_holds_takes_one_factorisation(monkeypatch, name):
    """The same impulses, to the tolerance, as steps that are all factored; of these there is one and not several."""
    mechanism, counted = MECHANISMS[name], Counted(monkeypatch)
    for push in pushes(mechanism, 3e-4):
        given, targets = problem(mechanism, push)
        quick, steps = counted.of(given)
        with monkeypatch.context() as without:
            without.setattr(tuned, "REPEATS", 0)
            plain, factored = counted.of(given)
        assert steps[0] == sum(steps) == 1 < sum(factored) == len(factored)
        for solved in (quick, plain):
            assert given.residual(solved.impulses, targets) <= 1e-11 * (1.0 + given.fastest)
        np.testing.assert_allclose(quick.impulses.v, plain.impulses.v, rtol=0.0, atol=2e-11)


@pytest.mark.parametrize("share", [0.01, 0.05, 0.09, 0.3])
def test_repetitions_go_on_while_each_leaves_less_than_a_tenth(monkeypatch, share):
    """With repetitions that each leave a `share` of the error, as where loops are stiff, there are as many as that needs."""
    counted = Counted(monkeypatch)
    given, targets = problem(MECHANISMS["in a loop"], pushes(MECHANISMS["in a loop"], 3e-4, 1)[0])
    first = newton(given, given.nothing(), targets, replace(NEAR, first=1.0))[0]
    left, enough = given.residual(first, targets), tuned.ABSOLUTE + tuned.RELATIVE * given.fastest
    exact = model.rigid(given).impulses

    def nearer(given, guess, *_):
        counted.steps.append(0)
        return model._blend(guess, exact, 1.0 - share)

    monkeypatch.setattr(model, "again", nearer)
    solved, steps = counted.of(given)
    needed = math.ceil(math.log(enough / left) / math.log(share))
    assert needed > 1
    repeated = min(needed, tuned.REPEATS) if share < tuned.FALLING else 1
    assert steps[: repeated + 1] == [1, *[0] * repeated]
    assert steps[repeated + 1 : repeated + 2] == ([] if repeated == needed else [1])
    assert given.residual(solved.impulses, targets) <= enough


@pytest.mark.parametrize("name", MECHANISMS)
def test_steps_on_the_way_to_other_modes_are_not_repeated(monkeypatch, name):
    """Pushed so that corners slide or lift off, the first step is far off, and another with its factors would stay there."""
    mechanism, counted = MECHANISMS[name], Counted(monkeypatch)
    for push in pushes(mechanism, 1.0):
        given, targets = problem(mechanism, [rate - 2.0 * (k % 6 == 5) for k, rate in enumerate(push)])
        solved, steps = counted.of(given)
        assert steps[:2] == [1, 1]
        assert given.residual(solved.impulses, targets) <= 1e-11 * (1.0 + given.fastest)
