"""Shapes against shapes: points lie on both surfaces, gaps are distances, and move as the bodies do; whoever is named first."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
import pytest

from kumitate.compile import Kernel
from kumitate.contact.pairs import FAR, PAIRS, Touch, capacity, touches
from kumitate.errors import ModelError
from kumitate.model import Box, Capsule, Cylinder, Ellipsoid, Hull, Mesh, Plane, Polygon, Sphere
from kumitate.scalar import trace
from kumitate.spatial import pose

from .distances import core, hull_distance, numeric_pose, random_rotations, signed_distance, support

pytest.importorskip("scipy")

_stone = np.random.default_rng(7).normal(size=(14, 3))
SHAPES = {
    Sphere: Sphere(0.1),
    Capsule: Capsule(0.1, 0.4),
    Box: Box((0.2, 0.3, 0.4)),
    Cylinder: Cylinder(0.1, 0.3),
    Ellipsoid: Ellipsoid((0.1, 0.3, 0.2)),
    Hull: Hull(tuple(map(tuple, (0.2 * _stone / np.linalg.norm(_stone, axis=1)[:, None]).tolist()))),
    Plane: Plane(),
    Polygon: Polygon(((-0.4, -0.3), (0.5, -0.3), (0.2, 0.4), (-0.5, 0.2)), depth=0.5),
}
OTHERS = {Box: Box((0.25, 0.15, 0.35)), Capsule: Capsule(0.07, 0.3), Sphere: Sphere(0.15)}
TRACED = [kinds for kinds, routines in PAIRS.items() if routines.traced]
pairs = pytest.mark.parametrize("kinds", TRACED, ids=lambda kinds: "-".join(kind.__name__ for kind in kinds))
#: Those where the distance is one of points, and changes smoothly: no face that ends.
smooth_pairs = pytest.mark.parametrize(
    "kinds",
    [kinds for kinds in TRACED if kinds[1] is not Polygon and kinds not in ((Cylinder, Box), (Hull, Box), (Box, Box))],
    ids=lambda kinds: "-".join(kind.__name__ for kind in kinds),
)
seeds = pytest.mark.parametrize("seed", [3, 11])
NUMBERS = 7  # of a touch: point, normal, gap


def two(kinds):
    """Shapes of the two kinds, not equal."""
    return SHAPES[kinds[0]], OTHERS.get(kinds[1], SHAPES[kinds[1]])


def numbers(found: list[Touch]) -> list[list]:
    return [[*touch.point, *touch.normal, touch.gap] for touch in found]


@lru_cache
def kernel(a, b) -> Kernel:
    return Kernel(
        trace(lambda x, y: numbers(touches(a, numeric_pose(x), b, numeric_pose(y))), {"X_WA": 12, "X_WB": 12})
    )  # fmt: skip


def random_poses(rng, n: int, spread: float = 0.2) -> np.ndarray:
    """(n, 12): the rotation by rows, and the position."""
    return np.hstack([random_rotations(rng, n).reshape(n, 9), spread * rng.normal(size=(n, 3))])


def flat(X) -> np.ndarray:
    """A pose as twelve numbers."""
    return np.concatenate([np.array([list(row) for row in X.rotation.matrix()]).ravel(), list(X.translation)])


def moved(X: np.ndarray, twist: np.ndarray, time: float) -> np.ndarray:
    """Poses (n, 12) after they have moved with twists (n, 6) [ω; v] about the world's origin for a while, to second order."""
    turn = np.zeros((len(X), 4, 4))
    for k, (i, j) in enumerate(((1, 2), (2, 0), (0, 1))):
        turn[:, j, i], turn[:, i, j] = twist[:, k], -twist[:, k]
    turn[:, :3, 3] = twist[:, 3:]
    step = np.eye(4) + time * turn + 0.5 * time**2 * turn @ turn
    R = step[:, :3, :3] @ X[:, :9].reshape(-1, 3, 3)
    p = np.einsum("nij,nj->ni", step[:, :3, :3], X[:, 9:]) + step[:, :3, 3]
    return np.hstack([R.reshape(-1, 9), p])


def into(X: np.ndarray, p: np.ndarray) -> np.ndarray:
    """A point of the world in the frame with the pose X (12)."""
    return X[:9].reshape(3, 3).T @ (p - X[9:])


def active(row: np.ndarray) -> np.ndarray:
    return row[row[:, 6] < FAR]


def true_distance(a, X, b, Y) -> float:
    """By other means; negative: the depth. NaN where the cores of rounded shapes overlap, which have no depth to compare."""
    R, S = X[:9].reshape(3, 3), Y[:9].reshape(3, 3)
    if isinstance(b, Plane | Polygon):
        return float((X[9:] - Y[9:]) @ S[:, 2]) - support(a, -R.T @ S[:, 2])
    if isinstance(a, Sphere):
        return signed_distance(b, into(Y, X[9:])) - a.radius
    (p, r), (o, s) = core(a), core(b)
    difference = (p @ R.T + X[9:])[:, None] - (o @ S.T + Y[9:])[None]
    distance = hull_distance(difference.reshape(-1, 3))
    return math.nan if distance < 1e-9 and r + s > 0.0 else distance - r - s


# --- laws of every pair -----------------------------------------------------------------------------------------------------
@pytest.mark.row("S-1")
@pairs
@seeds
def test_points_lie_on_both_surfaces(kinds, seed):
    a, b = two(kinds)
    rng = np.random.default_rng(seed)
    n = 15 if isinstance(a, Hull) else 150
    X, Y = random_poses(rng, n), random_poses(rng, n)
    found = kernel(a, b)(X, Y)
    assert found.shape[1] == capacity(a, b)
    assert np.isfinite(found).all()
    checked = 0
    for x, y, row in zip(X, Y, found, strict=True):
        deep = (
            isinstance(a, Capsule) and isinstance(b, Capsule | Box) and not true_distance(a, x, b, y) > -a.radius
        )  # its axis has reached the other
        for k, (*p, nx, ny, nz, gap) in enumerate(row):
            normal, half = np.array([nx, ny, nz]), 0.5 * gap * np.array([nx, ny, nz])
            if gap >= FAR or deep:
                continue
            assert abs(np.linalg.norm(normal) - 1.0) < 1e-9
            assert abs(signed_distance(b, into(y, p - half))) < 1e-8
            # of a capsule's two points one is the exact one; the other is on a ball inside it
            if not (isinstance(a, Capsule) and (k == 1 or isinstance(b, Plane | Polygon))):
                assert abs(signed_distance(a, into(x, p + half))) < 1e-8
            else:
                assert signed_distance(a, into(x, p + half)) < 1e-8
            checked += 1
    assert checked > 25


@smooth_pairs
@seeds
def test_the_smallest_gap_is_the_distance(kinds, seed):
    a, b = two(kinds)
    rng = np.random.default_rng(seed)
    X, Y = random_poses(rng, 150), random_poses(rng, 150)
    truth = np.array([true_distance(a, x, b, y) for x, y in zip(X, Y, strict=True)])
    gaps = kernel(a, b)(X, Y)[..., 6].min(axis=1)
    known = np.isfinite(truth)
    assert known.sum() > 50
    assert (truth[known] < 0.0).sum() > 5
    assert (truth[known] > 0.0).sum() > 5
    assert np.abs(gaps - truth)[known].max() < 1e-8


@pairs
@seeds
def test_who_is_named_first_does_not_matter(kinds, seed):
    a, b = two(kinds)
    rng = np.random.default_rng(seed)
    X, Y = random_poses(rng, 40), random_poses(rng, 40)
    one, other = kernel(a, b)(X, Y), kernel(b, a)(Y, X)
    other[..., 3:6] *= -1.0
    if kinds[0] is not kinds[1]:
        assert np.abs(one - other).max() < 1e-12
        return
    for mine, yours in zip(one, other, strict=True):  # the slots may be others, the points are the same
        mine, yours = active(mine), active(yours)
        assert len(mine) == len(yours)
        for touch in mine:
            assert np.abs(yours - touch).max(axis=1).min() < (2e-3 if kinds == (Capsule, Capsule) else 1e-9)


@pairs
@seeds
def test_the_world_may_be_moved(kinds, seed):
    a, b = two(kinds)
    rng = np.random.default_rng(seed)
    X, Y, (shift,) = random_poses(rng, 60), random_poses(rng, 60), random_poses(rng, 1, 1.0)
    Q = shift[:9].reshape(3, 3)

    def carried(X):
        turned = (Q @ X[:, :9].reshape(-1, 3, 3)).reshape(-1, 9)
        return np.hstack([turned, X[:, 9:] @ Q.T + shift[9:]])

    here, there = kernel(a, b)(X, Y), kernel(a, b)(carried(X), carried(Y))
    assert np.abs(here[..., 6] - there[..., 6]).max() < 1e-9
    near = here[..., 6] < FAR
    assert np.abs(here[..., 3:6] @ Q.T - there[..., 3:6])[near].max() < 1e-9
    assert np.abs(here[..., :3] @ Q.T + shift[9:] - there[..., :3])[near].max() < 1e-9


@pytest.mark.row("S-1")
@pairs
@seeds
def test_gaps_grow_with_the_normal_velocity(kinds, seed):
    """d gap/dt = n·(v_A − v_B) at the point, which is what a velocity-level contact model takes for granted."""
    a, b = two(kinds)
    rng = np.random.default_rng(seed)
    X, Y, twist = random_poses(rng, 400), random_poses(rng, 400), rng.normal(size=(400, 6))
    if kinds == (Box, Box):  # corners of two faces move with neither box unless the faces are parallel
        X, Y = _laid(X, Y, 0.34, tilt=0.0)
    h = 1e-6
    now, later, before = (kernel(a, b)(moved(X, twist, time), Y) for time in (0.0, h, -h))
    point, normal, gap = now[..., :3], now[..., 3:6], now[..., 6]
    rate = (later - before)[..., 6] / (2.0 * h)
    law = np.einsum("nsi,nsi->ns", normal, twist[:, None, 3:] + np.cross(twist[:, None, :3], point))
    smooth = np.abs(later - 2.0 * now + before)[..., 6] < 1e-3 * h
    near = np.maximum(np.maximum(later[..., 6], before[..., 6]), gap) < FAR
    if kinds[0] is Cylinder:  # the two points beside the lowest one go round the rim with it
        near[:, 2:] = False
    elif kinds[0] is Capsule and kinds[1] in (Capsule, Box):  # the second goes along the axis
        near[:, 1] = False
        near[np.array([not true_distance(a, x, b, y) > -a.radius for x, y in zip(X, Y, strict=True)])] = False
    assert near.any(axis=1).sum() > 50
    assert (near & ~smooth).sum() <= 0.05 * near.sum()
    assert np.abs(rate - law)[near & smooth].max() < 2e-6


@smooth_pairs
@seeds
def test_gaps_do_not_jump(kinds, seed):
    a, b = two(kinds)
    rng = np.random.default_rng(seed)
    X, Y, twist = random_poses(rng, 40), random_poses(rng, 40), rng.normal(size=(40, 6))
    h = 2e-4
    slots = slice(None) if b == Plane() else slice(0, 1)
    gaps = np.stack([kernel(a, b)(moved(X, twist, k * h), Y)[:, slots, 6] for k in range(400)])
    reach = np.linalg.norm(X[:, 9:], axis=1) + 0.6
    fastest = np.linalg.norm(twist[:, 3:], axis=1) + np.linalg.norm(twist[:, :3], axis=1) * (reach + 0.5)
    if kinds == (Capsule, Box):  # deeper than its radius the capsule's gap means little
        gaps = np.where((gaps < -0.999 * a.radius)[:, :, :1], np.nan, gaps)
    elif kinds == (Box, Plane):  # leaning by 45 degrees the box goes over to another face, with which it shares its lowest edge
        gaps = gaps.min(axis=2, keepdims=True)
    assert (np.abs(np.diff(gaps, axis=0)) > 1.5 * h * fastest[None, :, None]).sum() == 0
    assert np.isfinite(gaps).sum() > 0.3 * gaps.size


@pairs
def test_floats_and_machine_code_agree(kinds):
    a, b = two(kinds)
    rng = np.random.default_rng(5)
    X, Y = random_poses(rng, 12), random_poses(rng, 12)
    # faces along faces, edges along edges, centres in one place: where something divided by could be zero
    special = [
        flat(pose(xyz, rpy)) for xyz in ((0, 0, 0), (0, 0, 0.35), (0.2, 0, 0)) for rpy in ((0, 0, 0), (math.pi / 2, 0, 0))
    ]
    X, Y = np.vstack([X, special]), np.vstack([Y, np.tile(flat(pose()), (len(special), 1))])
    found = kernel(a, b)(X, Y)
    assert np.isfinite(found).all()
    for x, y, row in zip(X[:12], Y[:12], found[:12], strict=True):
        plain = np.array(numbers(touches(a, numeric_pose(x.tolist()), b, numeric_pose(y.tolist()))))
        assert np.abs(plain - row).max() < 1e-11
    for x, y in zip(X[12:], Y[12:], strict=True):
        plain = np.array(numbers(touches(a, numeric_pose(x.tolist()), b, numeric_pose(y.tolist()))), dtype=float)
        assert np.isfinite(plain).all()


def test_an_unknown_pair_says_which_are_known():
    with pytest.raises(ModelError, match=r"how a Plane touches a Plane is not known; the pairs are Sphere-Plane, .*Box-Box"):
        touches(Plane(), pose(), Plane(), pose())
    with pytest.raises(ModelError, match="touching_hull"):
        capacity(Mesh("foot.stl"), Plane())


# --- planes and polygons ----------------------------------------------------------------------------------------------------
def test_a_box_on_the_floor_needs_heights_only():
    """What is zero or one in the floor's pose is gone: nothing of its frame is left to compute."""
    program = trace(lambda x: [touch.gap for touch in touches(Box((1, 3, 5)), numeric_pose(x), Plane(), pose())], {"X_WA": 12})
    assert sum(program.operations.values()) == 31  # three half axes; which is steepest, and its sign; the others; 3 + 4 sums


@pytest.mark.row("S-1")
@seeds
def test_a_box_stands_on_its_lowest_corners(seed):
    """The slots on a plane are the corners of one face: the lowest of all among them, and all of a face or edge it lies on."""
    box, rng = Box((0.3, 0.2, 0.05)), np.random.default_rng(seed)
    corners = 0.5 * np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) * box.size
    X = random_poses(rng, 200)
    quarters = np.array([flat(pose((0, 0, 0.4), 0.5 * math.pi * rng.integers(0, 4, 3))) for _ in range(100)])
    edges = np.array([flat(pose((0, 0, 0.4), (rng.uniform(0, 6), 0, 0))) for _ in range(100)])
    for poses, carrying in ((X, 1), (quarters, 4), (edges, 2)):
        heights = np.sort((poses[:, :9].reshape(-1, 3, 3) @ corners.T)[:, 2] + poses[:, 11:], axis=1)
        gaps = np.sort(kernel(box, Plane())(poses, np.tile(flat(pose()), (len(poses), 1)))[..., 6], axis=1)
        assert gaps.shape[1] == 4
        assert np.allclose(gaps[:, :carrying], heights[:, :carrying], atol=1e-14)


@pytest.mark.row("S-1")
def test_a_cylinder_stands_on_three_points_and_lies_on_two():
    cylinder = Cylinder(0.1, 0.3)
    for turned in (0.0, math.pi):
        rows = np.array(numbers(touches(cylinder, pose((0, 0, 0.15), (turned, 0, 0)), Plane(), pose())))
        on_floor = rows[np.abs(rows[:, 6]) < 1e-12]
        assert len(on_floor) == 3
        assert np.allclose(np.linalg.norm(on_floor[:, :2], axis=1), 0.1)
        assert np.allclose(on_floor[:, :2].sum(axis=0), 0.0)
    rows = np.array(numbers(touches(cylinder, pose((0, 0, 0.1), (math.pi / 2, 0, 0)), Plane(), pose())))
    assert np.allclose(np.sort(rows[np.abs(rows[:, 6]) < 1e-12][:, 1]), [-0.15, 0.15])
    assert (rows[:, 6] > 0.05).sum() == 2


@pytest.mark.row("S-1")
@seeds
def test_a_polygon_counts_only_what_stands_over_it(seed):
    polygon = SHAPES[Polygon]
    corners = np.array(polygon.vertices)
    rng = np.random.default_rng(seed)
    centers = rng.uniform(-0.7, 0.7, size=(300, 3))
    X = np.hstack([np.tile(np.eye(3).ravel(), (300, 1)), centers])
    gaps = kernel(Sphere(0.1), polygon)(X, np.tile(flat(pose()), (300, 1)))[:, 0, 6]
    # inside a convex polygon: to the left of every side; by angles, which sum up to a whole turn
    arms = corners[None] - centers[:, None, :2]
    following = np.roll(arms, -1, axis=1)
    cross = arms[..., 0] * following[..., 1] - arms[..., 1] * following[..., 0]
    angle = np.arctan2(cross, (arms * following).sum(axis=-1)).sum(axis=1)
    inside = (angle > math.pi) & (centers[:, 2] - 0.1 >= -polygon.depth)
    assert 20 < inside.sum() < 280
    assert np.array_equal(gaps < FAR, inside)
    assert np.abs(gaps - (centers[:, 2] - 0.1))[inside].max() < 1e-15


@pytest.mark.parametrize(
    ("vertices", "depth", "said"),
    [
        (((0, 0), (1, 0)), 0.1, "three or more"),
        (((0, 0), (0, 1), (1, 1)), 0.1, "counter-clockwise"),
        (((0, 0), (1, 0), (0.2, 0.2), (0, 1)), 0.1, "convex"),
        (((0, 0), (1, 0), (1, 0), (0, 1)), 0.1, "each once"),
        (((0, 0), (1, 0), (0, 1)) * 2, 0.1, "times round"),
        (((0, 0), (1, 0), (0, math.nan)), 0.1, "finite"),
        (((0, 0), (1, 0), (0, 1)), 0.0, "depth"),
    ],
)
def test_polygons_that_are_none(vertices, depth, said):
    with pytest.raises(ModelError, match=said):
        Polygon(vertices, depth)


# --- capsules ---------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("lean", [0.0, 1e-12, 1e-9, 1e-5, 0.01])
def test_parallel_capsules_touch_in_the_two_ends_of_their_overlap(lean):
    a, b = Capsule(0.1, 0.4), Capsule(0.07, 0.3)
    X = flat(pose((0.17 - 1e-3, 0.0, 0.2), (lean, 0.0, 0.0)))  # beside one another along z, overlapping from 0 to 0.15
    row = active(kernel(a, b)(X, flat(pose())))
    assert np.allclose(np.sort(row[:, 2]), [0.0, 0.15], atol=3 * lean + 1e-9) or lean == 0.01
    assert len(row) == 2
    assert np.abs(row[:, 6] + 1e-3).max() < 1e-3


def test_crossed_capsules_touch_once():
    row = active(kernel(Capsule(0.1, 0.4), Capsule(0.07, 0.3))(flat(pose((0.16, 0, 0), (math.pi / 2, 0, 0))), flat(pose())))
    assert len(row) == 1
    assert abs(row[0, 6] + 0.01) < 1e-12
    assert np.abs(row[0, 3:6] - [1, 0, 0]).max() < 1e-12


@pytest.mark.parametrize("lean", [0.0, 1e-13, 1e-9, 1e-4, -1e-4, 0.05])
@pytest.mark.parametrize("shift", [0.0, 0.2])
def test_a_capsule_lies_on_a_box_with_two_points(lean, shift):
    """On its whole length, or as far as the box reaches under it; x is along the capsule."""
    capsule, box = Capsule(0.05, 0.4), Box((0.6, 0.3, 0.2))
    X = flat(pose((shift, 0.0, 0.15), (0.0, math.pi / 2 + lean, 0.0)))
    row = active(kernel(capsule, box)(X, flat(pose())))
    ends = [shift - 0.2, min(shift + 0.2, 0.3)]
    assert len(row) == 2
    assert np.allclose(np.sort(row[:, 0]), ends, atol=0.06 * abs(lean) + 1e-3 * bool(lean))
    assert np.abs(row[:, 5] - 1.0).max() < 0.5 * lean**2 + 1e-9
    heights = 0.05 - math.tan(lean) * (row[:, 0] - shift)  # of the axis over the box
    assert np.abs(row[:, 6] - (heights - 0.05)).max() < 1e-2 * abs(lean) + 1e-9


def test_a_capsule_across_the_edge_of_a_box_touches_it_in_the_middle():
    X = flat(pose((0.3, 0.0, 0.1), (0.0, -math.pi / 4, 0.0)))  # over the edge at x = 0.3, z = 0.1, 45° down outwards
    shifted = X + np.concatenate([np.zeros(9), [0.02, 0.0, 0.02]])
    row = active(kernel(Capsule(0.05, 0.4), Box((0.6, 0.3, 0.2)))(shifted, flat(pose())))
    assert len(row) == 1
    assert abs(row[0, 6] - (0.02 * math.sqrt(2) - 0.05)) < 1e-12
    assert np.abs(row[0, 3:6] - [math.sqrt(0.5), 0.0, math.sqrt(0.5)]).max() < 1e-12


# --- boxes ------------------------------------------------------------------------------------------------------------------
def _laid(X: np.ndarray, Y: np.ndarray, height: float, tilt: float) -> tuple[np.ndarray, np.ndarray]:
    """Poses of A that lay it on top of B, turned about B's z axis and shifted, near enough that they overlap in part."""
    rng = np.random.default_rng(len(X))
    turn, shift = rng.uniform(-math.pi, math.pi, len(X)), rng.uniform(-0.1, 0.1, size=(len(X), 2))
    laid = []
    for y, angle, (dx, dy) in zip(Y, turn, shift, strict=True):
        R = y[:9].reshape(3, 3)
        top = np.array([list(row) for row in pose((0, 0, 0), (tilt, tilt, angle)).rotation.matrix()])
        laid.append(np.concatenate([(R @ top).ravel(), y[9:] + R @ [dx, dy, height]]))
    return np.array(laid), Y


@seeds
@pytest.mark.parametrize("spread", [0.08, 0.14])
def test_overlapping_boxes_show_how_deep(seed, spread):
    """The depth is the distance of the origin from the surface of the difference of the two, by its convex hull."""
    a, b = two((Box, Box))
    rng = np.random.default_rng(seed)
    X, Y = random_poses(rng, 300, spread), random_poses(rng, 300, spread)
    truth = np.array([true_distance(a, x, b, y) for x, y in zip(X, Y, strict=True)])
    gaps = kernel(a, b)(X, Y)[..., 6].min(axis=1)
    inside = truth < 0.0
    assert inside.sum() > 100
    assert (gaps <= truth + 1e-9)[inside].all()
    assert (gaps >= truth - 0.02 * 0.075 - 1e-9)[inside].all()  # faces are taken before edges that are a little further apart
    assert (np.abs(gaps - truth)[inside] < 1e-9).mean() > 0.8


@seeds
def test_boxes_that_are_apart_do_not_overlap(seed):
    a, b = two((Box, Box))
    rng = np.random.default_rng(seed)
    X, Y = random_poses(rng, 300, 0.25), random_poses(rng, 300, 0.25)
    truth = np.array([true_distance(a, x, b, y) for x, y in zip(X, Y, strict=True)])
    gaps = kernel(a, b)(X, Y)[..., 6].min(axis=1)
    assert (truth > 0.0).sum() > 100
    assert (gaps[truth > 0.0] > 0.0).all()


@pytest.mark.parametrize("noise", [0.0, 1e-15, 1e-12, 1e-9, 1e-6])
@pytest.mark.parametrize("seed", [1, 2])
def test_equal_boxes_in_a_stack_touch_along_their_rims(noise, seed):
    """Aligned to rounding or not quite: always the four corners, whatever else, and never none."""
    rng = np.random.default_rng(seed)
    box = Box((0.2, 0.2, 0.2))
    X = flat(pose((*(noise * rng.normal(size=2)), 0.2 - 1e-3), noise * rng.normal(size=3)))
    row = active(kernel(box, box)(X, flat(pose())))
    assert 4 <= len(row) <= 8
    assert np.abs(row[:, 6] + 1e-3).max() < 1e-6
    assert np.abs(row[:, 3:6] - [0, 0, 1]).max() < 1e-5
    for corner in ((0.1, 0.1), (0.1, -0.1), (-0.1, 0.1), (-0.1, -0.1)):
        assert np.linalg.norm(row[:, :2] - corner, axis=1).min() < 1e-5
    if noise <= 1e-12:
        assert len(row) == 4


def test_faces_are_cut_to_one_another():
    """The corners of the common part of two rectangles: by their overlap for a cross, by trigonometry for an octagon."""
    long, wide = Box((0.6, 0.1, 0.1)), Box((0.1, 0.6, 0.1))
    row = active(kernel(long, wide)(flat(pose((0, 0, 0.1))), flat(pose())))
    assert sorted(map(tuple, np.round(row[:, :2], 9).tolist())) == [(-0.05, -0.05), (-0.05, 0.05), (0.05, -0.05), (0.05, 0.05)]
    cube = Box((0.2, 0.2, 0.2))
    row = active(kernel(cube, cube)(flat(pose((0, 0, 0.2), (0, 0, math.pi / 4))), flat(pose())))
    assert len(row) == 8
    assert np.allclose(np.linalg.norm(row[:, :2], axis=1), 0.1 / math.cos(math.pi / 8))
    assert len(np.unique(np.round(row[:, :2], 6), axis=0)) == 8
    small = Box((0.1, 0.1, 0.1))
    for mine, yours, height in ((small, cube, 0.15), (cube, small, 0.15)):
        row = active(kernel(mine, yours)(flat(pose((0.02, 0.01, height))), flat(pose())))
        assert len(row) == 4
        corner = np.array([0.02, 0.01]) if mine is small else np.zeros(2)
        assert np.allclose(np.abs(row[:, :2] - corner), 0.05)


@seeds
def test_common_parts_of_faces_are_intersections_of_half_planes(seed):
    """The common part of two rectangles as an intersection of half planes, by SciPy."""
    from scipy.spatial import ConvexHull, HalfspaceIntersection

    a, b = two((Box, Box))
    rng = np.random.default_rng(seed)
    X, Y = _laid(random_poses(rng, 60), random_poses(rng, 60), 0.37, tilt=0.0)
    for x, y, row in zip(X, Y, kernel(a, b)(X, Y), strict=True):
        points = np.array([into(y, touch[:3])[:2] for touch in active(row)])
        R, d = y[:9].reshape(3, 3).T @ x[:9].reshape(3, 3), into(y, x[9:])
        planes = [(s * e[0], s * e[1], -h) for e, h in ((np.eye(2)[k], b.size[k] / 2) for k in (0, 1)) for s in (1, -1)]
        for k in (0, 1):
            n = R[:2, k]
            planes += [(s * n[0], s * n[1], -s * n @ d[:2] - a.size[k] / 2) for s in (1, -1)]
        middle = points.mean(axis=0)
        expected = HalfspaceIntersection(np.array(planes), middle).intersections
        expected = expected[ConvexHull(expected).vertices]
        assert len(points) == len(expected)
        for corner in expected:
            assert np.linalg.norm(points - corner, axis=1).min() < 1e-8


@seeds
def test_corners_of_tilted_faces_slide_no_faster_than_the_tilt(seed):
    """d gap/dt = n·v up to the tilt between the faces times the speed: what the corners slide along."""
    a, b = two((Box, Box))
    rng = np.random.default_rng(seed)
    twist, h, tilt = rng.normal(size=(200, 6)), 1e-7, 0.01
    X, Y = _laid(random_poses(rng, 200), random_poses(rng, 200), 0.37, tilt)
    now, later = (kernel(a, b)(moved(X, twist, time), Y) for time in (0.0, h))
    law = np.einsum("nsi,nsi->ns", now[..., 3:6], twist[:, None, 3:] + np.cross(twist[:, None, :3], now[..., :3]))
    near = np.maximum(now[..., 6], later[..., 6]) < FAR
    speed = np.linalg.norm(twist[:, 3:], axis=1) + np.linalg.norm(twist[:, :3], axis=1)
    wrong = np.abs((later - now)[..., 6] / h - law) / speed[:, None]
    assert near.sum() > 500
    assert np.quantile(wrong[near], 0.99) < 6.0 * tilt
    assert (wrong[near] < 1e-5).mean() > 0.2


def test_crossed_edges_touch_in_one_point():
    """Two bars on edge, one across the other."""
    bar = Box((0.1, 0.1, 0.6))
    lower = flat(pose(matrix=(np.array([[0, 0, 1], [1, 1, 0], [-1, 1, 0]]) / [[1], [math.sqrt(2)], [math.sqrt(2)]]).tolist()))
    upper = flat(pose(matrix=(np.array([[-1, -1, 0], [0, 0, 1], [-1, 1, 0]]) / [[math.sqrt(2)], [1], [math.sqrt(2)]]).tolist()))
    upper[9:] = [0.05, 0.1, 0.1 * math.sqrt(2) - 2e-3]
    row = active(kernel(bar, bar)(upper, lower))
    assert len(row) == 1
    assert np.abs(row[0] - [0.05, 0.0, 0.05 * math.sqrt(2) - 1e-3, 0, 0, 1, -2e-3]).max() < 1e-12


# --- hulls ------------------------------------------------------------------------------------------------------------------
@seeds
def test_vertices_of_a_hull_on_a_box(seed):
    """Every vertex in the box is found with the box's face that the whole hull has come through."""
    a, b = two((Hull, Box))
    rng = np.random.default_rng(seed)
    X, Y = random_poses(rng, 300, 0.25), random_poses(rng, 300, 0.05)
    touched = 0
    for x, y, row in zip(X, Y, kernel(a, b)(X, Y), strict=True):
        vertices = np.array([into(y, x[:9].reshape(3, 3) @ p + x[9:]) for p in np.array(a.vertices)])
        half = np.array(b.size) / 2
        sides = np.concatenate([vertices.min(axis=0) - half, -vertices.max(axis=0) - half])
        axis, sign = int(sides.argmax()) % 3, 1.0 if sides.argmax() < 3 else -1.0
        across = [k for k in range(3) if k != axis]
        over = (np.abs(vertices[:, across]) <= half[across]).all(axis=1)
        assert np.array_equal(row[:, 6] < FAR, over)
        assert np.abs(row[:, 6] - (sign * vertices[:, axis] - half[axis]))[over].max(initial=0.0) < 1e-12
        inside = (np.abs(vertices) < half).all(axis=1)
        assert (row[inside, 6] < 0.0).all()
        touched += inside.any()
    assert touched > 50


@seeds
def test_a_cylinder_on_a_box_is_one_on_a_plane_as_far_as_the_face_reaches(seed):
    a, b, rng = Cylinder(0.1, 0.3), Box((0.6, 0.5, 0.4)), np.random.default_rng(seed)
    X, Y = random_poses(rng, 200, 0.1), np.tile(flat(pose()), (200, 1))
    X[:, 11] += 0.36  # on top
    on_box, on_plane = kernel(a, b)(X, Y), kernel(a, Plane())(X, Y + np.eye(12)[11] * 0.2)
    over = (np.abs(on_plane[..., 0]) <= 0.3) & (np.abs(on_plane[..., 1]) <= 0.25)
    on_top = (on_box[..., 5] == 1.0).all(axis=1)
    assert on_top.sum() > 100
    assert np.array_equal(on_box[on_top][..., 6] < FAR, over[on_top])
    assert 50 < over[on_top].sum() < over[on_top].size
    assert np.abs(on_box - on_plane)[on_top][over[on_top]].max() < 1e-12
