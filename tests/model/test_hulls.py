"""Convex hulls beside those of Qhull: of clouds, and where points coincide or lie on edges, within sides and in thin plates."""

from __future__ import annotations

import numpy as np
import pytest

from kumitate.errors import InputError
from kumitate.model.shapes import Facets
from kumitate.model.shapes.hulls import convex_hull, on_one_line

spatial = pytest.importorskip("scipy.spatial")

TURN = np.linalg.qr(np.random.default_rng(0).normal(size=(3, 3)))[0]


def hull_of(points: np.ndarray) -> Facets:
    return convex_hull(Facets(points, np.zeros((0, 3))), "points")


def check_closed(hull: Facets) -> None:
    """Every edge is that of two faces, and Euler's formula holds."""
    edges = np.concatenate([hull.faces[:, [k, (k + 1) % 3]] for k in range(3)]).tolist()
    assert len({tuple(edge) for edge in edges}) == len(edges)
    assert {(a, b) for a, b in edges} == {(b, a) for a, b in edges}
    assert len(hull.faces) == 2 * len(hull.vertices) - 4


def volume_of(hull: Facets) -> float:
    """By the divergence theorem; positive if normals point outward."""
    a, b, c = (hull.vertices[hull.faces[:, k]] - hull.vertices[0] for k in range(3))
    return float(np.einsum("ij,ij->i", a, np.cross(b, c)).sum()) / 6.0


def lattice(*sizes: int) -> np.ndarray:
    return np.stack(np.meshgrid(*map(np.arange, sizes)), axis=-1).reshape(-1, 3).astype(float)


def clouds():
    rng = np.random.default_rng(1)
    for count in (4, 5, 20, 300, 5000):
        yield f"{count} of a bell", rng.normal(size=(count, 3))
    sphere = rng.normal(size=(800, 3))
    yield "sphere", sphere / np.linalg.norm(sphere, axis=1)[:, None]
    yield "box, far away", rng.uniform(size=(2000, 3)) * (1.0, 1e-2, 3.0) + (100.0, -50.0, 7.0)
    around = np.linspace(0.0, 2.0 * np.pi, 60, endpoint=False)
    rings = np.vstack([np.column_stack([np.cos(around), np.sin(around), 0 * around + z]) for z in (0.0, 0.3, 0.5, 2.0)])
    yield "rings", rings
    yield "turned rings, twice", np.vstack([rings, rings]) @ TURN
    yield "lattice", lattice(7, 5, 6)
    yield "turned lattice", lattice(7, 5, 6) @ TURN
    yield "plate", lattice(9, 9, 2) * (1.0, 1.0, 1e-6)
    yield "needle", lattice(9, 2, 3) * (1.0, 1e-5, 1e-5)
    for seed in range(40):
        numbers = np.random.default_rng(seed)
        found = numbers.integers(0, numbers.integers(2, 6), size=(numbers.integers(8, 60), 3)).astype(float)
        if np.linalg.matrix_rank(found - found[0]) == 3:
            yield f"whole numbers {seed}", found


@pytest.mark.parametrize("points", [pytest.param(points, id=name) for name, points in clouds()])
def test_corners_and_volume_are_those_of_qhull(points):
    hull, expected = hull_of(points), spatial.ConvexHull(points)
    check_closed(hull)
    assert abs(volume_of(hull) / expected.volume - 1.0) < 1e-9
    size = np.ptp(points, axis=0).max()
    ours, theirs = hull.vertices, points[expected.vertices]
    far = np.linalg.norm(ours[:, None] - theirs, axis=2).min(axis=1)  # of equal points Qhull may take another
    assert far.max() < 1e-8 * size
    assert len({tuple(point) for point in theirs}) == len(ours)


def test_a_finely_rounded_rim_keeps_its_corners():
    """Each of its corners stands out from its neighbours by less than what points within an edge may by rounding."""
    around = np.linspace(0.0, 2.0 * np.pi, 60_000, endpoint=False)
    hull = hull_of(np.vstack([np.column_stack([np.cos(around), np.sin(around), 0.0 * around + z]) for z in (0.0, 1.0)]))
    assert abs(volume_of(hull) / np.pi - 1.0) < 1e-8


@pytest.mark.parametrize("turn", [np.eye(3), TURN], ids=["level", "turned"])
def test_flat_hulls_have_both_sides(turn):
    rng = np.random.default_rng(2)
    for flat in (rng.integers(0, 5, size=(80, 2)), rng.normal(size=(300, 2)), lattice(6, 6, 1)[:, :2]):
        points = np.column_stack([flat, np.zeros(len(flat))]) @ turn
        hull, expected = hull_of(points), spatial.ConvexHull(flat)
        assert len(hull.vertices) == len({tuple(flat[k]) for k in expected.vertices})
        assert len(hull.faces) == 2 * (len(hull.vertices) - 2)
        a, b, c = (hull.vertices[hull.faces[:, k]] for k in range(3))
        area = 0.25 * np.linalg.norm(np.cross(b - a, c - a), axis=1).sum()
        assert abs(area / expected.volume - 1.0) < 1e-12


def test_plates_on_the_verge_of_being_flat_have_hulls():
    """A few cells thick: of the points that stand out of the first one, all may be in one plane."""
    for seed in (2219, *range(1, 40, 2)):
        rng = np.random.default_rng(seed)
        count = rng.integers(5, 30)
        plate = rng.integers(0, 4, size=(count, 3)) * [1.0, 1.0, 0.0]
        plate += rng.uniform(-1, 1, size=(count, 3)) * [0.0, 0.0, 1.0] * 10 ** rng.uniform(-9.5, -8.0)
        points = plate @ np.linalg.qr(rng.normal(size=(3, 3)))[0]
        hull = hull_of(points)
        assert np.abs(np.ptp(hull.vertices, axis=0) - np.ptp(points, axis=0)).max() < 1e-7


def test_points_on_a_line_have_no_hull():
    for points in ([[1.0, 2.0, 3.0]], [[1.0, 2.0, 3.0]] * 4, np.outer([0.0, 1.0, 0.3, 2.0], [1.0, -2.0, 3.0]), np.eye(3)[:2]):
        assert on_one_line(np.array(points))
        with pytest.raises(InputError, match="on one line"):
            hull_of(np.array(points))
    assert not on_one_line(np.eye(3))
