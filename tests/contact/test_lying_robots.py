"""Robots that lie on the floor: friction couples the points of their limbs, whose modes are hard to find for all at once."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

import numpy as np
import pytest

from kumitate.contact import tuned
from kumitate.contact.impulse.branch_factors import BranchFactors
from kumitate.contact.impulse.contact_points import contact_patches
from kumitate.contact.impulse.few_points import FewPoints, _Place, among_few
from kumitate.contact.impulse.frames import ContactFrame
from kumitate.contact.impulse.jacobians import link_jacobians
from kumitate.contact.impulse.point_by_point import point_by_point
from kumitate.contact.impulse.problem import Impulses, Problem, Solved, inertia
from kumitate.contact.models.rigid import iterated, rigid
from kumitate.contact.scene import Contact, contact_pairs
from kumitate.contact.surface import Surface
from kumitate.model import Body, Box, Geometry, Joint, Mechanism
from kumitate.spatial import Vector3, pose

H = 1e-3
AXES = ((0.0, 1.0, 0.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))


def block(name: str, size: tuple[float, float, float], at: tuple[float, float, float], mass: float) -> Body:
    x, y, z = (side * side * mass / 12.0 for side in size)
    return Body(name, mass, at, (y + z, x + z, x + y), collisions=(Geometry(Box(size), pose(at)),))


def two_limbs(count: int) -> Mechanism:
    """A trunk with two limbs of 0.2 m long blocks, each of a quarter of the mass of the one before."""
    bodies = [block("trunk", (0.3, 0.2, 0.15), (0.0, 0.0, 0.0), 8.0)]
    joints = [Joint("base", "floating", "world", "trunk")]
    for side in (0.15, -0.15):
        before, at = "trunk", (side, 0.0, 0.0)
        for k in range(count):
            name = f"{'left' if side > 0.0 else 'right'}{k}"
            bodies.append(block(name, (0.05, 0.05, 0.2), (0.0, 0.0, -0.1), 0.25**k))
            joints.append(Joint(f"to_{name}", "revolute", before, name, pose(at), axis=AXES[k % 4]))
            before, at = name, (0.0, 0.0, -0.2)
    return Mechanism("two_limbs", tuple(bodies), tuple(joints))


@lru_cache
def random_states(count: int, seed: int) -> tuple[Mechanism, list[list[float]], list[list[float]]]:
    """A robot in 4000 postures and motions."""
    mechanism, rng, q, v = two_limbs(count), np.random.default_rng(seed), [], []
    for _ in range(4000):
        quaternion = rng.normal(size=4)
        angles = rng.uniform(-2.0, 2.0, mechanism.nq - 7)
        q.append([*(quaternion / np.linalg.norm(quaternion)).tolist(), 0.0, 0.0, 0.0, *angles.tolist()])
        v.append((rng.normal(size=mechanism.nv) * rng.choice([0.5, 2.0, 5.0])).tolist())
    return mechanism, q, v


def on_floor(mechanism: Mechanism, q: list[float], v: list[float]) -> tuple[Problem, list[list[float]]]:
    """The contact problem of a robot whose lowest point is put on a floor with a friction of 1; and what it aims at."""
    tree, contact = mechanism.base_parameter_tree, Contact(surface=Surface(1.0))
    pairs = contact_pairs(mechanism, tree, contact)
    for _ in range(2):
        at = link_jacobians(tree, q)
        met = contact_patches(at, pairs, v, v, H, mechanism)
        q = [*q[:6], q[6] - min(point.touch.gap for patch in met for point in patch.points), *q[7:]]
    branch_factors = BranchFactors.of(at, inertia(tree, q, v, H))
    met = [patch.sized(branch_factors) for patch in met]
    return Problem.of(branch_factors, met, [], v), [[point.target for point in patch.points] for patch in met]


def missed(given: Problem, found: Impulses) -> float:
    """By how much the impulses and the velocities after them miss the laws of contact, written out one by one [m/s]."""
    twists, worst = given.jacobians.twists(found.v), 0.0
    for patch, impulses in zip(given.patches, found.points, strict=True):
        twist = patch.twist(given.jacobians, twists)
        for point, (normal, *pulled) in zip(patch.points, impulses, strict=True):
            u, slip = point.frame.along(twist), np.array(point.frame.along(twist)[1:])
            pull, speed, most = np.array(pulled), float(np.linalg.norm(slip)), point.frame.friction * normal
            assert normal >= 0.0
            assert np.linalg.norm(pull) <= most * (1.0 + 1e-9)
            apart = u[0] - point.target
            held = float(np.linalg.norm(pull * speed + most * slip)) / max(most, 1e-300) if normal > 0.0 else 0.0
            worst = max(worst, -apart, abs(apart) if normal > 0.0 else 0.0, held)
    return worst


HARD = [(3, 1, 1286), (3, 1, 2660), (3, 1, 3717), (4, 2, 846), (4, 2, 2141), (4, 2, 3104)]


@pytest.mark.parametrize(("count", "seed", "number"), HARD)
def test_impacts_on_steep_friction_obey_all_laws(count, seed, number):
    """Of 4000 random states, some of those in which Newton steps alone, or with operator splitting, left 0.02 to 8 m/s."""
    mechanism, q, v = random_states(count, seed)
    given, _ = on_floor(mechanism, q[number], v[number])
    solved = rigid(given)
    assert missed(given, solved.impulses) < 1e-6 * (1.0 + given.fastest)
    assert given.gained(solved.impulses) < 0.0


def test_what_is_returned_is_the_best_of_all_guesses():
    """A state that is still not solved: the impulses found are no worse than none."""
    mechanism, q, v = random_states(4, 2)
    given, targets = on_floor(mechanism, q[1187], v[1187])
    solved = rigid(given)
    assert solved.left == given.residual(solved.impulses, targets)
    assert solved.left < given.residual(given.nothing(), targets)


def test_one_sweep_solves_a_point_that_sticks():
    mechanism, q, v = random_states(3, 1)
    given, targets = on_floor(mechanism, q[3717], v[3717])
    found = point_by_point(given, given.nothing(), targets, 1)
    assert given.residual(found, targets) < 1e-6
    assert sum(impulse[0] > 0.0 for of_points in found.points for impulse in of_points) == 1


@pytest.mark.parametrize("eager", [True, False])
def test_the_few_points_that_push_alone_are_pushed_as_among_all(eager, monkeypatch):
    """Two routes: by those points' impulses alone, and by the velocities of all joints with all points that are near."""
    if not eager:  # most points that push wait at first, and are added
        monkeypatch.setattr(tuned, "WAITS", -0.5)
        monkeypatch.setattr(tuned, "WAITS_ABOVE", 0.0)
    mechanism, q, v = random_states(4, 2)
    solved, added = 0, 0
    for number in range(24):
        given, targets = on_floor(mechanism, q[number], v[number])
        points = [point for patch in given.patches for point in patch.points]
        closing = max(point.target - point.free[0] for point in points)
        enough, parts = 1e-10 * (1.0 + given.fastest), []

        def counted(part: Problem, aims: list[list[float]], parts: list[Problem] = parts) -> Solved:
            parts.append(part)
            return iterated(part, aims)

        few = among_few(given, targets, closing, enough, counted)
        if closing <= 0.0 or few.left > enough:  # nothing touches, or more than four points, or their modes were not found
            continue
        assert 1 <= sum(patch.near for patch in parts[-1].patches) <= 4
        assert missed(given, few.impulses) < 10.0 * enough
        np.testing.assert_allclose(few.impulses.v, iterated(given, targets).impulses.v, atol=1e-7 * (1.0 + given.fastest))
        solved, added = solved + 1, added + len(parts) - 1
    assert solved > 8
    assert eager or added > 0


def test_a_point_sticks_where_sliding_on_would_push_it_further_in():
    """With u = u_free + G x and the friction of sliding, the normal velocity falls by the normal impulse (Painlevé 1895)."""
    G = [[0.0666, 0.0, 0.0715], [0.0, 0.5, 0.0], [0.0715, 0.0, 0.4503]]
    friction, target, free = 1.9, -0.0748, (-0.3871, 0.0, 1.7066)
    assert G[0][0] < friction * G[0][2]
    frame = ContactFrame(
        Vector3(), (Vector3(1.0, 0.0, 0.0), Vector3(0.0, 1.0, 0.0), Vector3(0.0, 0.0, 1.0)), friction, 0.5, 2.0
    )
    given, _ = on_floor(*(rows[0] if k else rows for k, rows in enumerate(random_states(4, 2))))
    point = replace(given.patches[0].points[0], frame=frame, target=target, free=free, initial_mode=(0.0, 0.0, free[2]))
    places = [_Place((0, -1), None, (point,), True, 1.0)]
    few = FewPoints(given.branch_factors, places, [], {}, given.factors, [0.0] * 3, G=([G],), speed=free[2])
    solved = iterated(few, [[target]])
    sticks = np.linalg.solve([[G[0][0], G[0][2]], [G[2][0], G[2][2]]], [target - free[0], -free[2]])
    assert abs(sticks[1]) < friction * sticks[0]
    np.testing.assert_allclose(solved.impulses.points[0][0], [sticks[0], 0.0, sticks[1]], rtol=1e-8, atol=1e-12)
    assert solved.left < 1e-10
