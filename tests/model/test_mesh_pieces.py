"""Meshes as sets of hulls: these fill the mesh, and leave its hollow free."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from kumitate.errors import InputError
from kumitate.model import Mesh
from kumitate.model.meshes import touching_pieces

pytest.importorskip("scipy")
trimesh = pytest.importorskip("trimesh")

CORNERS = np.array([[0, 0], [3, 0], [3, 1], [1, 1], [1, 3], [0, 3]], dtype=float)


@pytest.fixture(scope="module")
def angle(tmp_path_factory) -> Mesh:
    """An L of five cubes, 1 m thick."""
    n = len(CORNERS)
    vertices = np.vstack([np.c_[CORNERS, np.zeros(n)], np.c_[CORNERS, np.ones(n)]])
    faces = [side for k in range(1, n - 1) for side in ([k + 1, k, 0], [n, n + k, n + k + 1])]
    for k in range(n):
        j = (k + 1) % n
        faces += [[k, j, j + n], [k, j + n, k + n]]
    path = tmp_path_factory.mktemp("meshes") / "angle.stl"
    trimesh.Trimesh(vertices, faces, process=False).export(path)
    return Mesh("angle.stl", resolved=str(path))


def contains(pieces, points: np.ndarray) -> np.ndarray:
    from scipy.spatial import ConvexHull

    planes = [ConvexHull(np.array(piece.vertices)).equations for piece in pieces]
    return np.any([(points @ plane[:, :3].T + plane[:, 3] <= 0.0).all(axis=1) for plane in planes], axis=0)


def test_pieces_fill_the_mesh_and_leave_its_hollow_free(angle):
    pieces = touching_pieces(angle)
    assert 2 <= len(pieces) <= 4
    points = np.random.default_rng(4).uniform([0, 0, 0], [3, 3, 1], size=(4000, 3))
    inside = (points[:, 0] < 1.0) | (points[:, 1] < 1.0)
    wrong = contains(pieces, points) != inside
    assert wrong.mean() < 0.01  # at the cut
    assert not contains(pieces, np.array([[1.5, 1.5, 0.5], [2.5, 1.2, 0.5], [1.2, 2.5, 0.5]])).any()


def test_pieces_are_kept_and_scaled(angle):
    assert touching_pieces(angle) == touching_pieces(angle)
    twice = touching_pieces(Mesh(angle.path, (2.0, 1.0, 1.0), angle.resolved))
    for one, other in zip(touching_pieces(angle), twice, strict=True):
        np.testing.assert_allclose(np.array(other.vertices), np.array(one.vertices) * [2, 1, 1])


def test_one_piece_is_the_hull(angle):
    (piece,) = touching_pieces(angle, concavity=1.0, pieces=1)
    assert contains([piece], np.array([[1.4, 1.4, 0.5]])).all()


@pytest.mark.parametrize("options", [{"vertices": 3}, {"concavity": 0.0}, {"pieces": 0}])
def test_numbers_out_of_bounds_are_refused(angle, options):
    with pytest.raises(InputError, match=r"angle.stl: .* Correct them"):
        touching_pieces(angle, **options)


def test_the_package_that_is_missing_is_named(angle, monkeypatch):
    monkeypatch.setitem(sys.modules, "coacd", None)
    with pytest.raises(InputError, match=r"needs the package coacd.* pip install 'kumitate\[pieces\]'"):
        touching_pieces(angle, concavity=0.77)
