"""Height fields: level ones are planes, ridges and hollows are found by distances to every triangle."""

from __future__ import annotations

import math

import numpy as np
import pytest

from kumitate.errors import ModelError
from kumitate.model import Box, Capsule, Cylinder, Ellipsoid, HeightField, Hull, Plane, Sphere

from .laws import Pair, random_pose, turn_about

HERE = np.array([*np.eye(3), [0, 0, 0]])
LEVEL = HeightField(np.zeros((9, 7)).tolist(), (3.0, 4.0))
ROUND = [Sphere(0.1), Capsule(0.07, 0.3), Ellipsoid((0.1, 0.2, 0.15))]
FLAT = [Box((0.2, 0.3, 0.4)), Cylinder(0.1, 0.3), Hull(((0, 0, 0), (0.3, 0, 0), (0, 0.3, 0), (0, 0, 0.3)))]
BY_KIND = {"argvalues": [*ROUND, *FLAT], "ids": [shape.kind for shape in (*ROUND, *FLAT)]}


@pytest.mark.parametrize("shape", **BY_KIND)
def test_level_ground_is_a_plane_without_edges(shape):
    field, plane, seed, met = Pair(LEVEL, shape), Pair(Plane(), shape), 3, 0
    rng = np.random.default_rng(seed)
    X = random_pose(rng, 1.0)  # the ground may lie in any way
    R = X[:3]
    for trial in range(60):
        Y = random_pose(rng, 0.3)
        Y[3, 2] = rng.uniform(0.0, 0.25)
        Z = np.vstack([R @ Y[:3], X[3] + R @ Y[3]])
        found, true = field(X, Z, 0.02), plane(X, Z, 0.02)
        assert bool(found) == bool(true), (seed, trial)
        if true and min(true, key=lambda p: p[2])[2] > -0.09:
            met += 1
            assert min(g for *_, g, _ in found) == pytest.approx(min(g for *_, g, _ in true), abs=1e-9), (seed, trial)
            for p, n, g, _ in found:
                np.testing.assert_allclose(n, R[:, 2], atol=1e-7)
                assert R[:, 2] @ (p - 0.5 * g * n - X[3]) == pytest.approx(0.0, abs=1e-9)
    assert met > 5


HILLS = HeightField((0.2 * np.random.default_rng(5).normal(size=(8, 10))).tolist(), (2.0, 1.6))


def distance_to_triangle(p: np.ndarray, corners: np.ndarray) -> float:
    """By the foot on the plane, or the nearest of the three sides."""
    a, b, c = corners
    n = np.cross(b - a, c - a)
    n /= np.linalg.norm(n)
    foot = p - (p - a) @ n * n
    sides = ((a, b), (b, c), (c, a))
    if all(np.cross(v - u, foot - u) @ n >= 0.0 for u, v in sides):
        return abs(float((p - a) @ n))
    feet = [u + np.clip((p - u) @ (v - u) / ((v - u) @ (v - u)), 0.0, 1.0) * (v - u) for u, v in sides]
    return min(float(np.linalg.norm(p - foot)) for foot in feet)


def is_above(corners: np.ndarray, p: np.ndarray) -> bool:
    """Whether a point is above the one triangle that it is over."""
    for a, b, c in corners:
        u, v = np.linalg.solve(np.stack([b - a, c - a], axis=1)[:2], (p - a)[:2])
        if u >= 0.0 and v >= 0.0 and u + v <= 1.0:
            return bool(p[2] > (a + u * (b - a) + v * (c - a))[2])
    raise AssertionError(p)


def test_a_ball_on_hills_is_as_far_as_from_the_nearest_triangle():
    surface, pair, seed, met = HILLS.facets(), Pair(HILLS, Sphere(0.15)), 6, 0
    corners = surface.vertices[surface.faces]
    rng = np.random.default_rng(seed)
    for trial in range(150):
        p = rng.uniform([-0.8, -0.6, -0.1], [0.8, 0.6, 0.6])
        true = min(distance_to_triangle(p, three) for three in corners) - 0.15
        found = pair(HERE, np.array([*np.eye(3), [*p]]), 0.02)
        # with its center below the surface a ball is pushed out along the normals of triangles
        if found and is_above(corners, p):
            met += 1
            q, n, gap, _ = min(found, key=lambda point: point[2])
            assert gap == pytest.approx(true, abs=1e-9), (seed, trial)
            np.testing.assert_allclose(q + (0.15 + 0.5 * gap) * n, p, atol=1e-9)
        elif not found and p[2] > HILLS.points()[:, 2].max():
            assert true > 0.02, (seed, trial)
    assert met > 30


def test_a_box_on_a_ridge_and_a_ball_in_a_valley():
    ridge = HeightField([[0.0, 0.5, 0.0], [0.0, 0.5, 0.0]], (2.0, 1.0))
    found = Pair(ridge, Box((0.4, 0.4, 0.2)))(HERE, np.array([*np.eye(3), [0.0, 0.0, 0.59]]), 0.0)
    assert {round(abs(float(p[1])), 6) for p, *_ in found} >= {0.2}  # along the ridge, as far as the box
    assert max(p[2] for p, *_ in found) == pytest.approx(0.5, abs=0.01)
    assert all(n[2] > 0.8 for _, n, *_ in found)
    valley = HeightField([[0.5, 0.0, 0.5], [0.5, 0.0, 0.5]], (2.0, 1.0))
    slope = math.atan(0.5)
    height = 0.2 / math.cos(slope)
    found = Pair(valley, Sphere(0.2))(HERE, np.array([*np.eye(3), [0.0, 0.1, height - 1e-3]]), 0.0)
    sides = {round(float(n[0]), 9) for _, n, *_ in found}
    assert sides == {round(math.sin(slope), 9), round(-math.sin(slope), 9)}
    assert all(g == pytest.approx(-1e-3 * math.cos(slope), abs=1e-12) for *_, g, _ in found)


def test_points_keep_their_numbers_while_a_box_trembles():
    pair, rng, seen = Pair(LEVEL, Box((0.2, 0.2, 0.2))), np.random.default_rng(8), set()
    for _ in range(20):
        Y = np.array([*turn_about(2, 0.4 + 1e-9 * rng.normal()), [0.6, 0.7, 0.1 + 1e-9 * rng.normal()]])
        seen.add(frozenset(feature for *_, feature in pair(HERE, Y, 1e-4)))
    assert len(seen) == 1


def test_beside_the_field_there_is_nothing():
    assert not Pair(LEVEL, Sphere(0.1))(HERE, np.array([*np.eye(3), [1.7, 0.0, 0.0]]), 0.01)


@pytest.mark.parametrize("heights", [[[0.0, 0.0]], [[0.0], [0.0]], [[0.0, 0.0], [0.0]], [], 3.0, [[0.0, math.nan], [0.0, 0.0]]])
def test_heights_that_are_not_a_grid_are_refused(heights):
    with pytest.raises(ModelError, match="height field"):
        HeightField(heights, (1.0, 1.0))
