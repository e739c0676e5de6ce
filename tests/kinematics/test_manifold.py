"""The configuration manifold of whole mechanisms."""

import numpy as np
import pytest

from kumitate.kinematics import difference, integrate, neutral, normalized, random_coordinates, rate
from kumitate.kinematics.configuration import gathered, motion_of, spread

from ..mechanisms import agree, every_kind, near, places, random_case, seeds, slope


@pytest.mark.parametrize(**seeds(10))
def test_integrate_and_difference_are_inverse(seed):
    case = every_kind(seed)
    tree = case.mechanism.tree
    dv = np.random.default_rng(seed).uniform(-1.0, 1.0, tree.nv).tolist()
    q1 = integrate(tree, case.q, dv)
    assert len(q1) == tree.nq
    agree(difference(tree, case.q, q1), dv, case.n)
    other = random_coordinates(tree, np.random.default_rng(seed + 100))
    reached = integrate(tree, case.q, difference(tree, case.q, other))
    bodies = [body.name for body in case.mechanism.bodies]
    agree(places(case.mechanism, reached, bodies), places(case.mechanism, other, bodies), case.n, scale=10.0)


@pytest.mark.parametrize(**seeds(10))
def test_rate_is_how_integrate_begins(seed):
    case = every_kind(seed)
    tree = case.mechanism.tree
    near(slope(lambda t: integrate(tree, case.q, [v * t for v in case.v])), rate(tree, case.q, case.v))


@pytest.mark.parametrize(**seeds(5))
def test_two_small_moves_are_one(seed):
    """Moving on with the same velocity: by h, then h again, is by 2h where the motion is a turn or a shift alone."""
    case = every_kind(seed)
    tree = case.mechanism.tree
    dv = [0.0 if 3 <= k < 6 and link.kind.name == "floating" else 0.3 * v
          for link in tree.links for k, v in enumerate(link.velocities(case.v))]  # fmt: skip
    twice = integrate(tree, integrate(tree, case.q, dv), dv)
    agree(twice, integrate(tree, case.q, [2.0 * part for part in dv]), case.n)


def test_neutral_coordinates_are_on_the_manifold():
    case = every_kind(0)
    tree = case.mechanism.tree
    q = neutral(tree)
    assert all(link.kind.off_manifold(link.coordinates(q)) == 0.0 for link in tree.links)
    assert normalized(tree, q) == q
    stretched = [part * 1.5 if link.kind.nq != link.kind.nv and k < 4 else part
                 for link in tree.links for k, part in enumerate(link.coordinates(case.q))]  # fmt: skip
    agree(normalized(tree, stretched), case.q, 1, scale=4.0)


@pytest.mark.parametrize(**seeds(10))
def test_random_coordinates_are_on_the_manifold_and_repeatable(seed):
    tree = random_case(seed).mechanism.tree
    q = random_coordinates(tree, np.random.default_rng(seed))
    assert q == random_coordinates(tree, np.random.default_rng(seed))
    assert all(link.kind.off_manifold(link.coordinates(q)) < 1e-15 for link in tree.links)


@pytest.mark.parametrize(**seeds(4))
def test_gradients_along_degrees_of_freedom_and_by_coordinates_are_each_others(seed):
    """ξ back from its rate of q; ∂L/∂q·q̇ = ∂L/∂ξ·ξ; the least ∂L/∂q that has a ∂L/∂ξ has it, and no other part."""
    case, rng = every_kind(seed), np.random.default_rng(seed)
    tree, q = case.mechanism.tree, case.q
    move, by_motion = rng.normal(size=(2, tree.nv)).tolist()
    by_q = rng.normal(size=tree.nq).tolist()
    assert motion_of(tree, q, rate(tree, q, move)) == pytest.approx(move, rel=1e-12)
    assert np.dot(by_q, rate(tree, q, move)) == pytest.approx(np.dot(gathered(tree, q, by_q), move), rel=1e-12)
    least = spread(tree, q, by_motion)
    assert gathered(tree, q, least) == pytest.approx(by_motion, rel=1e-12)
    assert np.dot(least, by_q) == pytest.approx(np.dot(least, rate(tree, q, motion_of(tree, q, by_q))), rel=1e-12)
