"""Distances between bodies, and rays: by points of both surfaces, by velocities, by formulas of each shape."""

from __future__ import annotations

import math

import numpy as np
import pytest

import kumitate as km
from kumitate.errors import InputError
from kumitate.model import Body, Box, Capsule, Cylinder, Geometry, HeightField, Hull, Joint, Mechanism, Plane, Sphere
from kumitate.spatial import pose

from .distances import signed_distance

ROUND = Geometry(Sphere(0.1), pose((0.0, 0.05, 0.3), (0.3, 0.2, 0.1)), name="head")
BLOCK = Geometry(Box((0.2, 0.3, 0.1)), pose((0.1, 0.0, 0.0), (0.0, 0.5, 0.0)), name="block")
ROD = Geometry(Cylinder(0.05, 0.4), pose((0.0, 0.1, 0.0), (1.0, 0.0, 0.0)))
FLOOR = Geometry(Plane(), pose((0.0, 0.0, -2.0)), name="floor")


def made(*bodies: tuple[str, tuple[Geometry, ...]], kind: str = "floating") -> km.Robot:
    parts = tuple(Body(name, 1.0, inertia=(1.0, 1.0, 1.0), collisions=shapes) for name, shapes in bodies)
    return km.Robot(Mechanism("toys", parts, tuple(Joint(f"of {b.name}", kind, "world", b.name) for b in parts)))


TOYS = made(("doll", (ROUND, BLOCK)), ("stick", (ROD,)), ("ghost", ()), ("earth", (FLOOR,)))


def states(seed: int, count: int) -> np.ndarray:
    """Dolls and sticks about half a metre apart; the earth stays level."""
    rng = np.random.default_rng(seed)
    q = np.array([TOYS.random_state(rng)[0] for _ in range(count)])
    for start in (0, 7):
        q[:, start + 4 : start + 7] = 0.25 * rng.normal(size=(count, 3))
    q[:, 21:] = TOYS.neutral()[21:]
    return q


def inside(item: Geometry, X: np.ndarray, p: np.ndarray) -> float:
    """The distance of a point of the world from a shape on a body with the pose X; negative inside."""
    Y = X @ np.array(item.pose.matrix(), dtype=float)
    return signed_distance(item.shape, Y[:3, :3].T @ (p - Y[:3, 3]))


def test_the_closest_points_are_on_both_bodies_and_the_distance_is_between_them():
    seed = 3
    q = states(seed, 40)
    found, X = TOYS.distance(q, "doll", "stick"), TOYS.poses(q)
    assert found.distance.shape == (40,)
    assert found.points.shape == (40, 2, 3)
    apart = np.einsum("ij,ij->i", found.points[:, 1] - found.points[:, 0], found.normal)
    np.testing.assert_allclose(apart, found.distance, atol=1e-12)
    assert 4 < (found.distance < 0.0).sum() < 35
    for k in range(40):
        if found.distance[k] > 0.0:
            a, b = found.points[k]
            assert min(inside(item, X["doll"][k], a) for item in (ROUND, BLOCK)) == pytest.approx(0.0, abs=1e-9), (seed, k)
            assert inside(ROD, X["stick"][k], b) == pytest.approx(0.0, abs=1e-9), (seed, k)
            # no shape is closer: each lies behind the plane across the normal at its closest point
            for item in (ROUND, BLOCK):
                one = TOYS.distance(q[k], item.name, "stick")
                assert one.distance >= found.distance[k] - 1e-12


def test_a_state_of_a_batch_and_the_names_the_other_way_round():
    q = states(4, 5)
    all_of_them = TOYS.distance(q, "doll", "stick")
    for k in range(5):
        one, back = TOYS.distance(q[k], "doll", "stick"), TOYS.distance(q[k], "stick", "doll")
        assert one.distance == all_of_them.distance[k]
        np.testing.assert_array_equal(one.points, all_of_them.points[k])
        assert back.distance == pytest.approx(one.distance, abs=1e-11)


def test_the_distance_grows_with_the_velocity_along_the_normal():
    seed, step = 5, 1e-6
    rng = np.random.default_rng(seed)
    for q in states(seed, 10):
        v = rng.normal(size=TOYS.nv)
        v[18:] = 0.0
        found = TOYS.distance(q, "doll", "stick")
        velocities = []
        for name, p in zip(("doll", "stick"), found.points, strict=True):
            twist, origin = TOYS.velocity(q, v, name), TOYS.pose(q, name)[:3, 3]
            velocities.append(twist[3:] + np.cross(twist[:3], p - origin))
        rate = float(found.normal @ (velocities[1] - velocities[0]))
        ahead, behind = (TOYS.distance(TOYS.integrate(q, s * v), "doll", "stick").distance for s in (step, -step))
        assert (ahead - behind) / (2.0 * step) == pytest.approx(rate, abs=1e-4), seed


def test_the_distance_from_a_plane_is_the_height_of_the_lowest_point():
    for q in states(6, 5):
        X = TOYS.poses(q)["stick"] @ np.array(ROD.pose.matrix(), dtype=float)
        axis = X[2, 2]
        lowest = X[2, 3] - 0.2 * abs(axis) - 0.05 * math.sqrt(1.0 - axis * axis)
        found = TOYS.distance(q, "stick", "floor")
        assert found.distance == pytest.approx(lowest + 2.0, abs=1e-12)
        np.testing.assert_allclose(found.normal, [0, 0, -1], atol=1e-12)
        assert found.points[0, 2] == pytest.approx(lowest, abs=1e-12)
        assert found.points[1, 2] == pytest.approx(-2.0, abs=1e-12)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (
            lambda q: TOYS.distance(q, "dol", "stick"),
            r"toys: 'dol' is not the name of a body or of a shape; did you mean 'doll'\?",
        ),
        (lambda q: TOYS.distance(q, "doll", "xyz"), "'xyz' is not .* those with shapes are doll, earth, stick"),
        (lambda q: TOYS.distance(q, "ghost", "stick"), "'ghost' has no collision shapes.* bodies with shapes are doll, earth"),
        (lambda q: TOYS.distance(q, "head", "doll"), "the distance from 'head' to 'doll' is from a shape to itself"),
        (lambda q: TOYS.ray(q, (0, 0, 0), (0, 0, 0)), r"the direction of a ray is \[0.0, 0.0, 0.0\]; it must not be zero"),
        (lambda q: TOYS.ray(q, (0, 0), (0, 0, 1)), "the origin of a ray is .* three finite numbers"),
        (lambda q: TOYS.ray(q[None], (0, 0, 0), (0, 0, 1)), "a ray meets one state"),
        (lambda q: made(("ghost", ())).ray(q[:7], (0, 0, 0), (0, 0, 1)), "no body has a collision shape"),
    ],
)
def test_what_is_refused(call, words):
    with pytest.raises(InputError, match=words):
        call(TOYS.neutral())


def test_a_name_of_several_shapes_is_refused_and_said_with_its_body():
    robot = made(("a", (ROUND,)), ("b", (ROUND,)))
    q = robot.neutral()
    with pytest.raises(InputError, match="'head' is the name of several shapes; write one of a/head, b/head"):
        robot.distance(q, "head", "b")
    assert robot.distance(q, "a/head", "b/head").distance == pytest.approx(-0.2)


# --- rays -------------------------------------------------------------------------------------------------------------------
def test_a_ray_ends_on_the_first_surface():
    seed, met = 7, 0
    rng = np.random.default_rng(seed)
    for q in states(seed, 60):
        X = TOYS.poses(q)
        solids = [(name, item) for name, items in (("doll", (ROUND, BLOCK)), ("stick", (ROD,))) for item in items]
        origin = 1.5 * (d := rng.normal(size=3)) / np.linalg.norm(d)
        direction = X[("doll", "stick")[int(rng.integers(2))]][:3, 3] - origin + 0.05 * rng.normal(size=3)
        found = TOYS.ray(q, origin, direction)
        along = direction / np.linalg.norm(direction)
        reach = 4.0 if found is None or found.body == "earth" else found.distance
        for t in np.linspace(0.0, reach - 1e-6, 200):
            assert all(inside(item, X[name], origin + t * along) > 0.0 for name, item in solids), (seed, t)
        if found and found.body != "earth":
            met += 1
            np.testing.assert_allclose(found.point, origin + found.distance * along, atol=1e-12)
            here = [item for name, item in solids if name == found.body and item.name == found.shape]
            assert inside(here[0], X[found.body], found.point) == pytest.approx(0.0, abs=1e-10)
            assert inside(here[0], X[found.body], found.point + 1e-6 * found.normal) == pytest.approx(1e-6, rel=1e-3)
            assert found.normal @ along < 0.0
    assert met > 30


SHAPES = [
    (Sphere(0.5), (0.3, 0.0, 2.0), (0, 0, -1), 2.0 - 0.4, (0.6, 0, 0.8)),
    (Box((1.0, 1.0, 1.0)), (2.0, 0.2, -0.3), (-2, 0, 0), 1.5, (1, 0, 0)),
    (Capsule(0.5, 1.0), (0.3, 0.0, 3.0), (0, 0, -1), 3.0 - 0.9, (0.6, 0, 0.8)),
    (Cylinder(0.5, 1.0), (0.3, 2.0, 0.1), (0, -1, 0), 1.6, (0.6, 0.8, 0)),
    (Cylinder(0.5, 1.0), (0.3, 0.1, 2.0), (0, 0, -3), 1.5, (0, 0, 1)),
    (km.model.Ellipsoid((0.5, 1.0, 2.0)), (3.0, 0.0, 0.0), (-1, 0, 0), 2.5, (1, 0, 0)),
    (Hull(((0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1))), (0.25, 0.25, 2.0), (0, 0, -1), 1.5, np.ones(3) / math.sqrt(3.0)),
    (Plane(), (0.3, 0.1, 1.0), (0.6, 0.0, -0.8), 1.25, (0, 0, 1)),
    (Box((1.0, 1.0, 1.0)), (0.1, 0.2, 0.45), (1, 0, 0), 0.0, (0, 0, 1)),  # from inside
]


@pytest.mark.parametrize(("shape", "origin", "direction", "distance", "normal"), SHAPES, ids=lambda x: getattr(x, "kind", ""))
def test_rays_by_formulas(shape, origin, direction, distance, normal):
    robot = made(("thing", (Geometry(shape),)))
    found = robot.ray(robot.neutral(), origin, direction)
    assert found.distance == pytest.approx(distance, abs=1e-12)
    np.testing.assert_allclose(found.normal, normal, atol=1e-9)
    away = np.array(origin) + 10.0 * np.array([3.0, 4.0, 5.0])
    assert robot.ray(robot.neutral(), away, (1, 1, 1)) is None


@pytest.mark.parametrize("miss", [1e-3, 1e-6, 1e-9])
def test_a_ray_that_just_passes(miss):
    robot = made(("thing", (Geometry(Sphere(0.5)),)))
    assert robot.ray(robot.neutral(), (-2.0, 0.5 + miss, 0.0), (1, 0, 0)) is None
    found = robot.ray(robot.neutral(), (-2.0, 0.5 - miss, 0.0), (1, 0, 0))
    assert found.distance == pytest.approx(2.0 - math.sqrt(0.25 - (0.5 - miss) ** 2), abs=1e-6)


# --- height fields ----------------------------------------------------------------------------------------------------------
VALLEY = Geometry(HeightField([[1.0, 0.0, 1.0], [1.0, 0.0, 1.0]], size=(4.0, 2.0)), name="valley")


@pytest.mark.parametrize(("x", "height"), [(0.0, 0.0), (1.0, 0.5), (-1.5, 0.75)])
def test_a_ray_from_above_ends_on_the_ground_of_a_valley(x, height):
    robot = made(("earth", (VALLEY,)))
    found = robot.ray(robot.neutral(), (x, 0.1, 3.0), (0, 0, -1))
    assert (found.body, found.shape) == ("earth", "valley")
    assert found.distance == pytest.approx(3.0 - height, abs=1e-12)


def test_the_distance_of_a_ball_in_a_valley_is_that_of_its_slopes():
    robot = made(("earth", (VALLEY,)), ("ball", (Geometry(Sphere(0.1)),)))
    q = robot.neutral()
    q[11:14] = 0.0, 0.1, 0.8  # over the bottom of two slopes of 1 in 2
    found = robot.distance(q, "ball", "valley")
    assert found.distance == pytest.approx(0.8 * 2.0 / math.sqrt(5.0) - 0.1, abs=1e-12)
