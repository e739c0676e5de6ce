"""Planes, spheres, capsules and boxes: closed forms against distances by other means."""

from __future__ import annotations

import numpy as np
import pytest

from kumitate.model import Box, Capsule, Plane, Sphere

from ..distances import support
from .laws import Pair, distance_of, outside, random_pose, turn_about

pytest.importorskip("scipy")

ROUND = Sphere(0.1), Capsule(0.07, 0.3), Box((0.2, 0.3, 0.4))
PAIRS = [
    (ROUND[0], Sphere(0.15)), (ROUND[0], ROUND[1]), (ROUND[0], ROUND[2]), (ROUND[1], Capsule(0.1, 0.4)),
    (ROUND[2], Box((0.25, 0.15, 0.35))),
]  # fmt: skip
pairs = pytest.mark.parametrize(("a", "b"), PAIRS, ids=lambda shape: shape.kind)
MARGIN = 0.02


@pairs
def test_the_smallest_gap_is_the_distance(a, b):
    pair, seed, met = Pair(a, b), 5, 0
    rng = np.random.default_rng(seed)
    for trial in range(150):
        X, Y = random_pose(rng, 0.15), random_pose(rng, 0.15)
        true, found = distance_of(a, X, b, Y), pair(X, Y, MARGIN)
        if not found:
            assert true > MARGIN, (seed, trial)
        elif true > -(pair.solids.sizes[:, 6].sum() or 1.0) + 1e-9:  # the depth of two lines that cross is not defined
            assert min(gap for *_, gap, _ in found) == pytest.approx(true, abs=1e-9 if not isinstance(a, Box) else 2e-6), (
                seed,
                trial,
            )
            met += 1
    assert met > 30


@pairs
def test_points_are_midway_between_the_surfaces(a, b):
    pair, seed = Pair(a, b), 6
    rng = np.random.default_rng(seed)
    for trial in range(100):
        X, Y = random_pose(rng, 0.15), random_pose(rng, 0.15)
        for position, normal, gap, _ in pair(X, Y, MARGIN):
            assert np.linalg.norm(normal) == pytest.approx(1.0, abs=1e-12)
            if gap > -0.06:  # the lines inside capsules do not touch
                assert abs(outside(a, X, position - 0.5 * gap * normal)) < 2e-7, (seed, trial)
                assert abs(outside(b, Y, position + 0.5 * gap * normal)) < 2e-7, (seed, trial)


@pairs
def test_whoever_is_named_first(a, b):
    pair, seed = Pair(a, b), 7
    rng = np.random.default_rng(seed)
    for trial in range(50):
        X, Y = random_pose(rng, 0.15), random_pose(rng, 0.15)
        one, two = pair(X, Y, MARGIN), pair(X, Y, MARGIN, order=(1, 0))
        assert len(one) == len(two)
        key = lambda point: tuple(np.round(point[0], 9))  # noqa: E731
        for (p, n, gap, _), (o, m, other, _) in zip(sorted(one, key=key), sorted(two, key=key), strict=True):
            np.testing.assert_allclose([*p, *n, gap], [*o, *-m, other], atol=1e-9, err_msg=f"{seed}, {trial}")


@pytest.mark.parametrize("shape", ROUND, ids=lambda shape: shape.kind)
def test_a_plane_is_touched_where_the_shape_is_lowest(shape):
    pair, seed = Pair(Plane(), shape), 8
    rng = np.random.default_rng(seed)
    for trial in range(100):
        X, Y = random_pose(rng, 0.1), random_pose(rng, 0.1)
        up = X[:3][:, 2]
        true = float(up @ (Y[3] - X[3])) - support(shape, -Y[:3].T @ up)
        found = pair(X, Y, MARGIN)
        assert bool(found) == (true <= MARGIN)
        if found:
            assert min(gap for *_, gap, _ in found) == pytest.approx(true, abs=1e-12), (seed, trial)
        for position, normal, gap, _ in found:
            np.testing.assert_allclose(normal, up, atol=1e-15)
            assert float(up @ (position - 0.5 * gap * normal - X[3])) == pytest.approx(0.0, abs=1e-12)
            assert outside(shape, Y, position + 0.5 * gap * normal) < 1e-12  # the ball at the higher end lies inside


STRAIGHT = np.eye(3)


# --- boxes on boxes ---------------------------------------------------------------------------------------------------------
def resting(x=0.0, y=0.0, turn=STRAIGHT, gap=0.0) -> tuple[np.ndarray, np.ndarray]:
    """Poses of a table 1 × 1 × 0.2 m and a box of 0.2 m on it."""
    return np.array([*np.eye(3), [0, 0, 0]]), np.array([*turn, [x, y, 0.2 + gap]])


TABLE = Pair(Box((1.0, 1.0, 0.2)), Box((0.2, 0.2, 0.2)))


def test_a_box_on_a_box_has_the_corners_of_the_common_face():
    found = TABLE(*resting(x=0.45), 1e-3)  # half of it lies beyond the edge
    corners = sorted(tuple(np.round(position, 12)) for position, *_ in found)
    assert corners == [(0.35, -0.1, 0.1), (0.35, 0.1, 0.1), (0.5, -0.1, 0.1), (0.5, 0.1, 0.1)]
    assert all(np.allclose(normal, [0, 0, 1]) for _, normal, *_ in found)
    assert [gap for *_, gap, _ in found] == pytest.approx([0.0] * 4, abs=1e-15)


def test_eight_points_where_a_turned_box_lies_on_an_equal_one():
    pair, c = Pair(Box((0.2, 0.2, 0.2)), Box((0.2, 0.2, 0.2))), np.sqrt(0.5)
    X, Y = resting(turn=np.array([[c, -c, 0], [c, c, 0], [0, 0, 1]]))
    found = pair(X, Y, 1e-3)
    assert len({feature for *_, feature in found}) == len(found) == 8
    assert all(max(abs(p[0]), abs(p[1])) == pytest.approx(0.1) for p, *_ in found)


@pytest.mark.parametrize("x", [0.0, 0.4, 0.45])
def test_points_keep_their_numbers_while_a_box_trembles(x):
    rng = np.random.default_rng(3)
    seen, before = set(), -1
    for _ in range(60):
        tremor = 1e-9 * rng.normal(size=6)
        turn = np.eye(3) + np.array([[0, -tremor[2], tremor[1]], [tremor[2], 0, -tremor[0]], [-tremor[1], tremor[0], 0]])
        X, Y = resting(x + tremor[3], tremor[4], turn, tremor[5])
        found = TABLE(X, Y, 1e-4, before)
        before = found[0][3]
        seen.add(frozenset(feature for *_, feature in found))
    assert len(seen) == 1
    assert len(seen.pop()) == 4


def test_the_direction_of_the_last_step_is_kept_where_two_are_equal():
    pair = Pair(Box((0.2, 0.2, 0.2)), Box((0.2, 0.2, 0.2)))
    seen = set()
    before = -1
    for step in range(20):  # as deep along x as along z, but for a few nanometres
        shift = 0.19 + 5e-9 * (-1) ** step
        Y = np.array([*np.eye(3), [shift, 0.0, 0.19]])
        found = pair(np.array([*np.eye(3), [0, 0, 0]]), Y, 0.0, before)
        before = found[0][3]
        seen.add(tuple(np.round(found[0][1], 6)))
    assert len(seen) == 1


@pytest.mark.parametrize("tilt", [-1e-4, -1e-5, 0.0, 1e-5, 1e-4])
def test_a_face_on_a_longer_edge_touches_both_sides_of_it_while_it_rocks(tilt):
    """A plate lies on an edge that crosses two of its own: one point at each, whichever of them is deeper."""
    roof, plate = Box((0.6, 0.2, 0.2)), Box((0.2, 0.2, 0.02))
    edge = 0.1 * np.sqrt(2.0)
    X = np.array([*rocked(0.3, tilt), [0.0, 0.0, edge + 0.01]])
    Y = np.array([*turn_about(0, np.pi / 4), [0.0, 0.0, 0.0]])
    found = Pair(plate, roof)(X, Y, 1e-3)
    assert len(found) == 2
    half = 0.1 / np.cos(0.3)
    for position, normal, gap, _ in found:
        assert abs(position[0]) == pytest.approx(half, abs=1e-5)
        assert gap == pytest.approx(-tilt * position[0], abs=1e-8)
        np.testing.assert_allclose(normal, [0.0, 0.0, -1.0], atol=2e-4)
    assert found[0][0][0] * found[1][0][0] < 0.0


def rocked(yaw: float, tilt: float) -> np.ndarray:
    """Turned about z, then about the world's y."""
    return turn_about(1, tilt) @ turn_about(2, yaw)
