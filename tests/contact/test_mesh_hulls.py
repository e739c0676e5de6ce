"""Hulls of meshes for contact: few vertices, the right ones, from real robots; and shapes that are drawn, written and read."""

from __future__ import annotations

import numpy as np
import pytest

import kumitate as km
from kumitate.contact.pairs import touches
from kumitate.errors import InputError, ModelError
from kumitate.model import Body, Box, Geometry, Hull, Joint, Mechanism, Mesh, Plane, Polygon
from kumitate.model.meshes import hull, left_out, load_mesh, touching_hull
from kumitate.model.read.json import from_json, to_json
from kumitate.model.shapes.hulls import distances_from_hull, outermost
from kumitate.spatial import pose
from kumitate.view.outlines import Silhouettes, View
from kumitate.view.scene import build_scene

from ..robots import ROBOT_FILES

pytest.importorskip("trimesh")
pytest.importorskip("scipy")

FEET = {
    "g1": ("g1_description/urdf/g1_29dof_rev_1_0.urdf", "left_ankle_pitch_link"),
    "talos": ("talos_data/robots/talos_reduced.urdf", "leg_left_6_link"),
}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("KUMITATE_CACHE", str(tmp_path / "cache"))


def foot(robot: str) -> Mesh:
    """A mesh of a robot's foot."""
    path, name = FEET[robot]
    model = km.load(ROBOT_FILES / path).mechanism
    body = next(body for body in model.bodies if body.name == name)
    return next(item.shape for item in (*body.collisions, *body.visuals) if isinstance(item.shape, Mesh))


@pytest.mark.filterwarnings("ignore::kumitate.errors.KumitateWarning")
@pytest.mark.parametrize("robot", FEET)
def test_feet_of_robots(robot):
    mesh = foot(robot)
    few, whole = np.array(touching_hull(mesh).vertices), hull(mesh).vertices
    assert 4 <= len(few) <= 32
    assert all((whole == vertex).all(axis=1).any() for vertex in few)
    surface = load_mesh(mesh).vertices
    assert np.abs(few.min(axis=0) - surface.min(axis=0)).max() < 1e-9
    assert np.abs(few.max(axis=0) - surface.max(axis=0)).max() < 1e-9
    # of two convex bodies, one in the other, the distance is the largest difference of their support functions
    lost = left_out(mesh, touching_hull(mesh))
    directions = np.random.default_rng(0).normal(size=(20000, 3))
    directions /= np.linalg.norm(directions, axis=1)[:, None]
    difference = ((whole @ directions.T).max(axis=0) - (few @ directions.T).max(axis=0)).max()
    assert difference <= lost + 1e-9
    assert difference >= 0.8 * lost
    assert lost < 0.06 * np.ptp(whole, axis=0).max()
    assert left_out(mesh, touching_hull(mesh, 64)) <= lost <= left_out(mesh, touching_hull(mesh, 12))
    # set down on the floor, the foot touches with its lowest vertex
    gaps = [touch.gap for touch in touches(touching_hull(mesh), pose((0, 0, -float(surface[:, 2].min()))), Plane(), pose())]
    assert abs(min(gaps)) < 1e-9


def test_a_foot_keeps_the_corners_of_its_sole():
    """A sole that is a little lower than the rim around it: the points furthest from the hull of others are not on it."""
    turn = np.linspace(0.0, 2.0 * np.pi, 24, endpoint=False)
    rings = [(0.1, 0.035, 0.0, 0.0), (0.11, 0.065, 0.007, 0.0), (0.05, 0.06, 0.1, -0.02), (0.03, 0.03, 0.16, -0.02)]
    points = np.vstack([np.c_[x + a * np.cos(turn), b * np.sin(turn), 0.0 * turn + z] for a, b, z, x in rings])
    kept = points[outermost(points, 16)]
    low = kept[kept[:, 2] == 0.0, :2]
    assert len(kept) == 16
    assert (np.ptp(low, axis=0) > 0.65 * np.array([0.2, 0.07])).all()


def test_an_open_box_keeps_its_corners(tmp_path):
    corners = [(x, y, z) for x in (0, 1) for y in (0, 2) for z in (0, 3)]
    faces = [(0, 1, 3), (4, 6, 7), (0, 4, 5)]  # and two more to a point inside: nothing is closed
    lines = ["v {} {} {}".format(*corner) for corner in [*corners, (0.5, 1.0, 1.5)]]
    lines += ["f {} {} {}".format(*(index + 1 for index in face)) for face in [*faces, (2, 3, 8), (5, 7, 8)]]
    text = "\n".join(lines)
    (tmp_path / "box.obj").write_text(text)
    mesh = Mesh("box.obj", (0.1, 0.1, -0.1), str(tmp_path / "box.obj"))
    found = touching_hull(mesh, 16)
    assert sorted(found.vertices) == sorted((0.1 * x, 0.1 * y, -0.1 * z) for x, y, z in map(np.array, corners))
    assert left_out(mesh, found) == 0.0
    with pytest.raises(InputError, match="vertices=3 are too few"):
        touching_hull(mesh, 3)


def distance_from_hull(point, points):
    """The same by non-negative least squares (Lawson and Hanson 1974).

    Over λ ≥ 0 and with the point as origin, the least of |Σ λ p|² + (Σ λ − 1)² is d²/(1 + d²), with the distance d of the hull.
    """
    nnls = pytest.importorskip("scipy.optimize").nnls
    offsets = points - point
    size = float(np.abs(offsets).max()) or 1.0
    rows = np.vstack([offsets.T / size, np.ones(len(offsets))])
    _, residual = nnls(rows, np.array([0.0, 0.0, 0.0, 1.0]), maxiter=100 * len(points))
    return size * residual / float(np.sqrt(max(1.0 - residual * residual, 1e-30))) if residual > 1e-12 else 0.0


@pytest.mark.parametrize("seed", range(3))
def test_distance_from_a_box(seed):
    rng = np.random.default_rng(seed)
    half = rng.uniform(0.1, 1.0, 3)
    corners = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) * half
    points = rng.normal(size=(50, 3))
    expected = np.linalg.norm(np.maximum(np.abs(points) - half, 0.0), axis=1)
    np.testing.assert_allclose(distances_from_hull(points, corners), expected, rtol=0, atol=1e-12)
    np.testing.assert_allclose([distance_from_hull(point, corners) for point in points], expected, rtol=0, atol=1e-9)


@pytest.mark.parametrize("flat", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_distances_from_a_hull_by_its_faces_and_by_least_squares(seed, flat):
    """Those of points from a solid hull, a flat one and a line."""
    rng = np.random.default_rng(seed)
    points, corners = rng.normal(size=(60, 3)), rng.normal(size=(5 + 3 * seed, 3))
    corners[:, 2] *= 0.0 if flat else 1.0
    expected = [distance_from_hull(point, corners) for point in points]
    np.testing.assert_allclose(distances_from_hull(points, corners), expected, rtol=0, atol=1e-12)
    on_a_line = np.outer([0.0, 1.0, 2.0], [1.0, 2.0, 3.0])
    np.testing.assert_allclose(
        distances_from_hull(points, on_a_line), [distance_from_hull(point, on_a_line) for point in points], rtol=0, atol=1e-12
    )


def shapes() -> Mechanism:
    """A stone that floats, and a step with a slope fixed to the world."""
    stone = Hull(((0.0, 0.0, 0.2), (0.2, 0.0, 0.0), (-0.1, 0.2, 0.0), (-0.1, -0.2, 0.0)))
    step = Polygon(((-0.5, -0.3), (0.5, -0.3), (0.5, 0.3), (-0.5, 0.3)), depth=0.05)
    slope = Geometry(Plane(), pose((0.0, 0.0, 0.0), (0.0, 0.3, 0.0)))
    block = Geometry(Box((0.1, 0.1, 0.1)), pose((1.0, 0.0, 0.0)))
    inertia = (0.01, 0.01, 0.01)
    bodies = (
        Body("stone", 1.0, inertia=inertia, visuals=(Geometry(stone),)),
        Body("step", 1.0, inertia=inertia, visuals=(Geometry(step, pose((1.0, 0.0, 0.2))), slope, block)),
    )
    return Mechanism("shapes", bodies, (Joint("free", "floating", "world", "stone"), Joint("held", "fixed", "world", "step")))


def test_they_are_written_and_read():
    mechanism = shapes()
    again = from_json(to_json(mechanism))
    for mine, yours in zip(mechanism.bodies, again.bodies, strict=True):
        assert [item.shape for item in mine.visuals] == [item.shape for item in yours.visuals]


def test_the_page_draws_them():
    scene = build_scene(shapes(), [0.0, 1.0], np.tile(np.eye(4), (2, 2, 1, 1)))
    kinds = [[shape["type"] for shape in body["shapes"]] for body in scene["bodies"]]
    assert kinds == [["mesh"], ["mesh", "mesh", "box"]]
    assert [shape["mesh"] for body in scene["bodies"] for shape in body["shapes"] if shape["type"] == "mesh"] == [0, 1, 2]
    assert len(scene["meshes"]) == 3
    low, high = np.array(scene["extent"])
    assert high[0] == pytest.approx(1.5)
    assert low[0] == pytest.approx(-0.1)


def test_drawings_outline_them():
    outlines = Silhouettes(shapes(), View.along(2)).outlines(np.tile(np.eye(4), (2, 1, 1)))
    stone = [outline for outline in outlines if outline.body == 0]
    assert len(stone) == 1
    assert len(stone[0].points) == 3


def test_a_hull_of_nothing():
    with pytest.raises(ModelError, match="no vertices"):
        Hull(())
