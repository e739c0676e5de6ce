"""Any convex solid against any other: the gap is the largest separation along any direction, by whichever routine."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from kumitate.contact.pairs.rows import Solid, Solids, points_for, solids_of, touching
from kumitate.contact.pairs.rows.convex import convex_convex
from kumitate.contact.pairs.rows.solids import CONVEX
from kumitate.contact.pairs.rows.touch import touch
from kumitate.errors import KumitateWarning, ModelError
from kumitate.model import Box, Capsule, Cylinder, Ellipsoid, Hull, Mesh, Plane, Sphere

from ..distances import support
from .laws import Pair, distance_of, random_pose, turn_about

pytest.importorskip("scipy")

_stone = np.random.default_rng(7).normal(size=(14, 3))
STONE = Hull(tuple(map(tuple, (0.2 * _stone / np.linalg.norm(_stone, axis=1)[:, None]).tolist())))
SHAPES = [Sphere(0.1), Capsule(0.07, 0.3), Box((0.2, 0.3, 0.4)), Cylinder(0.1, 0.3), Ellipsoid((0.1, 0.2, 0.15)), STONE]
SOLIDS = solids_of(SHAPES)
FLAT = 0, 1, 2, 5  # hulls of corners and balls
MARGIN = 0.03
two = pytest.mark.parametrize(
    ("i", "j"), list(itertools.combinations_with_replacement(range(6), 2)), ids=lambda k: SHAPES[k].kind
)


def extent(shape, directions: np.ndarray) -> np.ndarray:
    """The largest d·p over the points p of a shape, of directions (n, 3)."""
    if isinstance(shape, Ellipsoid):
        return np.linalg.norm(directions * np.array(shape.half_axes), axis=1)
    return np.array([support(shape, d) for d in directions])


def separation(i: int, X: np.ndarray, j: int, Y: np.ndarray, normals: np.ndarray) -> np.ndarray:
    """How far apart two shapes are along each normal (n, 3) from the first to the second; negative: they overlap so far."""
    R, S = X[:3], Y[:3]
    return normals @ (Y[3] - X[3]) - extent(SHAPES[i], normals @ R) - extent(SHAPES[j], -normals @ S)


def general(i: int, X: np.ndarray, j: int, Y: np.ndarray, margin: float):
    """The deepest point of the general routine: (position, normal, gap), or None."""
    out = points_for(1)
    count = convex_convex(Solid(SOLIDS, i, X), Solid(SOLIDS, j, Y), margin, -1, out, 0)
    if not count:
        return None
    k = int(out.gaps[:count].argmin())
    return out.positions[k], out.normals[k], float(out.gaps[k])


# --- gaps -------------------------------------------------------------------------------------------------------------------
@two
def test_the_gap_is_the_largest_separation(i, j):
    seed, met = 11, 0
    rng = np.random.default_rng(seed)
    tries = rng.normal(size=(120, 3))
    for trial in range(40):
        X, Y = random_pose(rng, 0.12), random_pose(rng, 0.12)
        found = general(i, X, j, Y, MARGIN)
        normal = found[1] if found else np.zeros(3)
        steps = np.concatenate([normal + size * tries[:20] for size in (1e-2, 1e-4, 1e-6)])
        directions = np.concatenate([tries, steps]) if found else tries
        directions /= np.linalg.norm(directions, axis=1)[:, None]
        best = float(separation(i, X, j, Y, directions).max())
        if found is None:
            # the largest separation is the distance: scipy looks for a direction with more than the margin
            assert largest_separation(i, X, j, Y, directions) > MARGIN, (seed, trial)
        else:
            met += 1
            own = float(separation(i, X, j, Y, normal[None])[0])
            assert found[2] == pytest.approx(own, abs=2e-12), (seed, trial)
            assert best <= own + 1e-12, (seed, trial)
    assert met > 5


def largest_separation(i, X, j, Y, directions) -> float:
    from scipy.optimize import minimize

    start = directions[int(separation(i, X, j, Y, directions).argmax())]
    found = minimize(lambda n: -float(separation(i, X, j, Y, (n / np.linalg.norm(n))[None])[0]), start, method="Nelder-Mead")
    return -float(found.fun)


@pytest.mark.parametrize(("i", "j"), list(itertools.combinations_with_replacement(FLAT, 2)), ids=lambda k: SHAPES[k].kind)
def test_gaps_are_those_of_the_hull_of_all_differences(i, j):
    seed = 12
    rng = np.random.default_rng(seed)
    for trial in range(25):
        X, Y = random_pose(rng, 0.15), random_pose(rng, 0.15)
        true, found = distance_of(SHAPES[i], X, SHAPES[j], Y), general(i, X, j, Y, MARGIN)
        if found is None:
            assert true > MARGIN, (seed, trial)
        elif i in (2, 5) or j in (2, 5) or true > -SOLIDS.sizes[[i, j], 6].sum() + 1e-9:  # lines that cross have no depth
            assert found[2] == pytest.approx(true, abs=1e-9), (seed, trial)


@pytest.mark.parametrize(("i", "j"), [(0, 0), (0, 1), (0, 2), (1, 1), (2, 2)], ids=lambda k: SHAPES[k].kind)
def test_closed_forms_and_the_general_routine_agree(i, j):
    seed, met, same, out = 13, 0, 0, points_for(1)
    rng = np.random.default_rng(seed)
    for trial in range(1500):
        X, Y = random_pose(rng, 0.12), random_pose(rng, 0.12)
        count = touching(Solid(SOLIDS, i, X), Solid(SOLIDS, j, Y), MARGIN, -1, out, 0)
        found = general(i, X, j, Y, MARGIN)
        assert bool(count) == bool(found), (seed, trial)
        if found is None:
            continue
        k = int(out.gaps[:count].argmin())
        if i < 2 and j < 2 and found[2] < -SOLIDS.sizes[[i, j], 6].sum() + 1e-6:
            continue  # the axes cross: the direction is not unique
        met += 1
        # boxes keep a direction that is less than 1e-6 m worse, and take faces before edges that are 2e-5 m better
        assert out.gaps[k] == pytest.approx(found[2], abs=2.2e-5 if (i, j) == (2, 2) else 1e-9), (seed, trial)
        if abs(out.gaps[k] - found[2]) < 1e-9:
            same += 1
            np.testing.assert_allclose(out.normals[k], found[1], atol=1e-9, err_msg=f"{seed}, {trial}")
    assert met > 200
    assert same > 0.9 * met


# --- points -----------------------------------------------------------------------------------------------------------------
@two
def test_points_are_midway_and_the_order_of_names_does_not_matter(i, j):
    pair, seed = Pair(SHAPES[i], SHAPES[j]), 14
    rng = np.random.default_rng(seed)
    for trial in range(25):
        X, Y = random_pose(rng, 0.15), random_pose(rng, 0.15)
        one, other = pair(X, Y, MARGIN), pair(X, Y, MARGIN, order=(1, 0))
        assert bool(one) == bool(other)
        if not one:
            continue
        (p, n, gap, _), (_, m, same, _) = min(one, key=lambda q: q[2]), min(other, key=lambda q: q[2])
        assert gap == pytest.approx(same, abs=1e-11), (seed, trial)
        if gap > -0.03:
            np.testing.assert_allclose(n, -m, atol=1e-6, err_msg=f"{seed}, {trial}")
        R, S = X[:3], Y[:3]
        # the ends of the gap are the furthest points along the normal, up to the tangent planes there
        assert n @ (p - 0.5 * gap * n - X[3]) == pytest.approx(float(extent(SHAPES[i], (n @ R)[None])[0]), abs=2e-7)
        assert -n @ (p + 0.5 * gap * n - Y[3]) == pytest.approx(float(extent(SHAPES[j], (-n @ S)[None])[0]), abs=2e-7)


CUBE = Hull(tuple(itertools.product((-0.1, 0.1), repeat=3)))
TABLES = [Box((1.0, 1.0, 0.2)), Hull(tuple(itertools.product((-0.5, 0.5), (-0.5, 0.5), (-0.1, 0.1)))), Plane()]
LYING = turn_about(1, math.pi / 2)
RESTING = [
    (CUBE, np.eye(3), 4),
    (Cylinder(0.1, 0.2), np.eye(3), 6),
    (Cylinder(0.1, 0.2), LYING, 2),
    (Capsule(0.1, 0.2), LYING, 2),
]


@pytest.mark.parametrize("table", TABLES, ids=lambda shape: shape.kind)
@pytest.mark.parametrize(("shape", "turn", "points"), RESTING, ids=["cube", "standing", "lying", "capsule"])
@pytest.mark.parametrize("gap", [-1e-3, -1e-9, 0.0, 1e-12, 1e-8, 1e-6])
def test_resting_on_a_table(table, shape, turn, points, gap):
    pair = Pair(table, shape)
    floor = 0.0 if isinstance(table, Plane) else 0.1
    seen = set()
    rng = np.random.default_rng(15)
    before = -1
    for _ in range(12):
        w = 1e-9 * rng.normal(size=3)
        tremor = np.eye(3) + np.array([[0, -w[2], w[1]], [w[2], 0, -w[0]], [-w[1], w[0], 0]])
        Y = np.array([*(tremor @ turn), [0.2 + 1e-9 * rng.normal(), -0.1, floor + 0.1 + gap]])
        found = pair(np.array([*np.eye(3), [0, 0, 0]]), Y, 1e-4, before)
        before = found[0][3]
        assert len(found) == points
        for p, n, g, _ in found:
            np.testing.assert_allclose(n, [0, 0, 1], atol=1e-7)
            assert g == pytest.approx(gap, abs=1e-8)
            assert p[2] == pytest.approx(floor + 0.5 * gap, abs=1e-8)
        seen.add(frozenset(feature for *_, feature in found))
    assert len(seen) == 1  # the list does not flicker


def test_two_cylinders_side_by_side_touch_along_a_line():
    pair = Pair(Cylinder(0.1, 0.2), Cylinder(0.1, 0.3))
    found = pair(np.array([*np.eye(3), [0, 0, 0]]), np.array([*np.eye(3), [0.2, 0, 0.15]]), 1e-4)
    assert sorted(round(float(p[2]), 9) for p, *_ in found) == [0.0, 0.1]
    assert all(np.allclose(p[:2], [0.1, 0.0], atol=1e-9) for p, *_ in found)


def test_a_ball_around_any_solid_makes_every_gap_smaller_by_its_radius():
    # a rounded shape is a row with a radius, and not code
    rows = solids_of([Box((0.2, 0.3, 0.4)), STONE])
    sizes = rows.sizes.copy()
    sizes[:, 6] = 0.01, 0.02
    rounded = Solids(np.full(2, CONVEX), sizes, *rows[2:])
    rng, out, other, met = np.random.default_rng(16), points_for(1), points_for(1), 0
    for _ in range(60):
        X, Y = random_pose(rng, 0.15), random_pose(rng, 0.15)
        count = touching(Solid(rows, 0, X), Solid(rows, 1, Y), 0.05, -1, out, 0)
        if count:
            met += 1
            found = touching(Solid(rounded, 0, X), Solid(rounded, 1, Y), 0.05, -1, other, 0)
            assert other.gaps[:found].min() == pytest.approx(out.gaps[:count].min() - 0.03, abs=1e-12)
    assert met > 20


# --- input ------------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("shape", [Sphere(0.0), Box((0.1, 0.0, 0.1)), Cylinder(0.1, 0.0), Ellipsoid((0.0, 0.1, 0.1))])
def test_shapes_without_size_are_refused_by_name(shape):
    with pytest.raises(ModelError, match=f"the 'lid': a {shape.kind} .* has no size"):
        solids_of([Sphere(0.1), shape], ["a ball", "the 'lid'"])


def test_other_shapes_are_refused_by_name():
    with pytest.raises(ModelError, match=r"shape 0: a mesh is not a convex solid; .* Use one of them, or several hulls"):
        solids_of([Mesh("foot.stl")])


def test_flat_hulls_are_named_and_touch_from_both_sides():
    with pytest.warns(KumitateWarning, match="a hull of 4 vertices is flat"):
        pair = Pair(Sphere(0.1), Hull(((0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0))))
    for side in (-1.0, 1.0):
        ((_, normal, gap, _),) = pair(
            np.array([*np.eye(3), [0.5, 0.5, 0.09 * side]]), np.array([*np.eye(3), [0, 0, 0]])
        )  # fmt: skip
        np.testing.assert_allclose(normal, [0, 0, -side], atol=1e-12)
        assert gap == pytest.approx(-0.01)


def test_hulls_of_one_point_and_of_a_line():
    point, line = Hull(((0.0, 0.0, 0.0),)), Hull(((-1.0, 0.0, 0.0), (0.0, 0.0, 0.0), (1.0, 0.0, 0.0)))
    here = np.array([*np.eye(3), [0.3, 0.0, 0.05]])
    for shape in (point, line):
        (found,) = Pair(Box((0.2, 0.2, 0.1)), shape)(np.array([*np.eye(3), [0.3, 0, 0]]), here, 1e-6)
        assert found[2] == pytest.approx(0.0, abs=1e-12)


# --- machine code -----------------------------------------------------------------------------------------------------------
@two
def test_machine_code_gives_what_the_page_says(i, j):
    seed, out, plain = 17, points_for(1), points_for(1)
    rng = np.random.default_rng(seed)
    for trial in range(4):
        X, Y = random_pose(rng, 0.08), random_pose(rng, 0.08)
        one, other = Solid(SOLIDS, i, X), Solid(SOLIDS, j, Y)
        count = touching(one, other, MARGIN, -1, out, 0)
        assert touch.plain(one, other, MARGIN, -1, plain, 0) == count
        for one, other in zip(out, plain, strict=True):
            np.testing.assert_allclose(one[:count], other[:count], atol=1e-8, err_msg=f"{seed}, {trial}")
