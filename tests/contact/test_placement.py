"""Mechanisms put onto the ground, meshes that touch as hulls, and what was asked for as plain data."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from kumitate.contact.placement import ground_gap, on_ground
from kumitate.contact.scene import Contact, contact_pairs
from kumitate.contact.settings import as_plain, ground_of
from kumitate.contact.surface import Surface
from kumitate.errors import InputError, KumitateWarning
from kumitate.kinematics import link_poses, place_pose
from kumitate.model import Body, Box, Geometry, Hull, Joint, Mechanism, Mesh, Plane, Polygon, Sphere
from kumitate.spatial import pose


def biped(*shapes: Geometry, base: str = "floating", turned: float = 0.0) -> Mechanism:
    """A trunk with one leg; `shapes` are those of the leg's tip, 0.5 m below the hip."""
    bodies = (
        Body("trunk", 2.0, inertia=(0.02, 0.02, 0.02)),
        Body("leg", 0.5, (0.0, 0.0, -0.25), (0.01, 0.01, 0.001), collisions=shapes),
    )
    joints = (
        Joint("base", base, "world", "trunk", pose(rpy=(turned, 0.0, 0.0))),
        Joint("hip", "revolute", "trunk", "leg", axis=(0, 1, 0)),
    )
    return Mechanism("one leg", bodies, joints)


BALL = Geometry(Sphere(0.05), pose((0.0, 0.0, -0.5)))
BLOCK = Geometry(Box((0.2, 0.1, 0.04)), pose((0.03, 0.0, -0.5)))


def lowest_corner(mechanism: Mechanism, q: np.ndarray) -> float:
    """The height of the block's lowest corner, from the poses of the bodies."""
    tree = mechanism.tree
    X = np.array(place_pose(tree, link_poses(tree, list(q)), tree.places["leg"]).matrix(), dtype=float)
    x, y, z = (0.5 * edge for edge in BLOCK.shape.size)
    corners = [[0.03 + a * x, b * y, -0.5 + c * z, 1.0] for a in (-1, 1) for b in (-1, 1) for c in (-1, 1)]
    return float((X @ np.array(corners).T)[2].min())


@pytest.mark.parametrize("height", [0.0, 0.25])
@pytest.mark.parametrize("turned", [0.0, 0.7])
@pytest.mark.parametrize("seed", range(3))
def test_the_lowest_point_comes_to_its_height(seed, turned, height):
    rng = np.random.default_rng(seed)
    mechanism = biped(BLOCK, turned=turned)
    q = rng.normal(size=mechanism.nq)
    q[:4] /= np.linalg.norm(q[:4])
    put = on_ground(mechanism, q, height=height)
    assert ground_gap(mechanism, put) == pytest.approx(height, abs=1e-12)
    assert lowest_corner(mechanism, put) == pytest.approx(height, abs=1e-12)
    np.testing.assert_array_equal(np.delete(put, [4, 5, 6]), np.delete(q, [4, 5, 6]))
    moved = np.array(mechanism.tree.links[0].placement.matrix(), dtype=float)[:3, :3] @ (put - q)[4:7]
    np.testing.assert_allclose(moved[:2], 0.0, atol=1e-12)  # straight up or down in the world


def test_on_a_slope_the_ball_is_a_radius_away():
    slope = Contact(ground=[Geometry(Plane(), pose((0.0, 0.0, 1.0), (0.0, 0.3, 0.0)))])
    mechanism = biped(BALL)
    q = on_ground(mechanism, [0, 0, 0, 1, 0.4, 0, 9.0, 0], slope)
    center = np.array([0.4, 0.0, q[6] - 0.5])
    normal = np.array([np.sin(0.3), 0.0, np.cos(0.3)])
    assert (center - [0.0, 0.0, 1.0]) @ normal == pytest.approx(0.05, abs=1e-12)


def test_what_cannot_be_put_onto_the_ground_is_named():
    with pytest.raises(InputError, match=r"one leg: no joint lets it move freely.*floating_base"):
        on_ground(biped(BALL, base="revolute"), [0.0, 0.0])
    with pytest.raises(InputError, match="no moving body has a shape to touch with"):
        on_ground(biped(), [0, 0, 0, 1, 0, 0, 1.0, 0])
    far = Contact(ground=[Geometry(Polygon(((9, 9), (10, 9), (10, 10), (9, 10))))])
    with pytest.raises(InputError, match="no part of it is above the ground"):
        on_ground(biped(BALL), [0, 0, 0, 1, 0, 0, 1.0, 0], far)


# --- meshes -----------------------------------------------------------------------------------------------------------
def ball_file(folder, radius: float = 0.1) -> Mesh:
    trimesh = pytest.importorskip("trimesh")
    trimesh.creation.icosphere(subdivisions=3, radius=radius).export(folder / "ball.stl")
    return Mesh("ball.stl", resolved=str(folder / "ball.stl"))


def test_a_mesh_touches_as_its_hull(tmp_path, monkeypatch):
    monkeypatch.setenv("KUMITATE_CACHE", str(tmp_path / "cache"))
    mechanism = biped(Geometry(ball_file(tmp_path), pose((0.0, 0.0, -0.5))), BALL)
    for contact, vertices in ((Contact(), 16), (Contact(hull_vertices=40), 40)):
        hull, ball = (pair.geometries[0] for pair in contact_pairs(mechanism, mechanism.base_parameter_tree, contact))
        assert isinstance(hull.shape, Hull)
        assert len(hull.shape.vertices) == vertices
        np.testing.assert_allclose(np.linalg.norm(hull.shape.vertices, axis=1), 0.1, rtol=1e-6)
        assert ball is BALL
    assert ground_gap(mechanism, [0, 0, 0, 1, 0, 0, 1.0, 0]) == pytest.approx(0.4, abs=1e-6)  # its lowest vertex is kept
    with pytest.raises(InputError, match="hull_vertices is 3; it must be a whole number, 4 or more"):
        contact_pairs(mechanism, mechanism.base_parameter_tree, Contact(hull_vertices=3))


def test_meshes_that_are_missing_are_named_and_touch_nothing():
    lost = Geometry(Mesh("package://robot/foot.stl"))
    with pytest.warns(
        KumitateWarning, match=r"one leg: 'leg' touches nothing with its mesh 'package://robot/foot\.stl'.*ROS_PACK"
    ):
        (pair,) = contact_pairs(biped(lost, BALL), biped(lost, BALL).base_parameter_tree, Contact())
    assert pair.geometries[0] is BALL
    with pytest.warns(KumitateWarning), pytest.raises(InputError, match="no moving body has a shape"):
        contact_pairs(biped(lost), biped(lost).base_parameter_tree, Contact())


# --- as plain data ----------------------------------------------------------------------------------------------------
def test_what_was_asked_for_comes_back_from_json():
    ground = (
        Geometry(Plane(), pose((0.0, 0.0, -0.25), (0.25, 0.0, 0.0))),
        Geometry(Box((1.0, 2.0, 0.5)), color=(1.0, 0.0, 0.0, 1.0)),
        Geometry(Polygon(((0, 0), (1, 0), (0, 1)))),
    )
    asked = Contact(
        ground=ground, surface=Surface(0.75), surfaces={"leg": Surface(0.5, restitution=0.25)}, between=[("a", "b")]
    )
    plain = json.loads(json.dumps(as_plain(asked)))
    back = ground_of({"contact": plain})
    assert [item.shape for item in back] == [item.shape for item in ground]
    for one, other in zip(back, ground, strict=True):
        np.testing.assert_allclose(one.pose.matrix(), other.pose.matrix(), atol=1e-15)
    assert back[1].color == (1.0, 0.0, 0.0, 1.0)
    still = {"threshold": 0.0, "belt": [0.0, 0.0, 0.0], "torsional": 0.0, "rolling": 0.0, "stiffness": None, "damping": 0.0}
    assert plain["surface"] == {"friction": 0.75, "kinetic_friction": None, "restitution": 0.0, **still}
    assert plain["surfaces"]["leg"]["restitution"] == 0.25
    assert (plain["model"], plain["between"], plain["hull_vertices"]) == ("rigid", [["a", "b"]], 16)
    assert as_plain("rigid") == as_plain(Contact())
    assert ground_of({}) == ground_of({"contact": None}) == ()
    assert ground_of({"contact": as_plain(replace(asked, ground=()))}) == ()
