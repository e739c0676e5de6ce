"""Shapes keep their contract: bounds hold the surface, which is closed and of the right size; a new shape needs no branch."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

from kumitate.contact.pairs import PAIRS, Routines, Touch
from kumitate.contact.placement import ground_gap, on_ground
from kumitate.errors import ModelError
from kumitate.model import (
    Body,
    Box,
    Capsule,
    Cylinder,
    Ellipsoid,
    Geometry,
    HeightField,
    Hull,
    Joint,
    Mechanism,
    Mesh,
    Plane,
    Polygon,
    Sphere,
)
from kumitate.model.read.json import from_json, to_json
from kumitate.model.shapes import SHAPES, Facets, Shape
from kumitate.spatial import Transform, Vector3, pose
from kumitate.view.outlines import Silhouettes, View
from kumitate.view.scene import build_scene

TETRAHEDRON = ((0.0, 0.0, 0.0), (0.3, 0.0, 0.0), (0.0, 0.4, 0.0), (0.0, 0.0, 0.5))
#: A shape of every kind that has a volume, and the volume [m³]; whether its facets are the shape itself, not near to it.
SOLIDS = [
    (Box((0.1, 0.2, 0.3)), 0.006, True),
    (Sphere(0.2), 4.0 / 3.0 * math.pi * 0.2**3, False),
    (Cylinder(0.2, 0.5), math.pi * 0.2**2 * 0.5, False),
    (Capsule(0.2, 0.5), math.pi * 0.2**2 * 0.5 + 4.0 / 3.0 * math.pi * 0.2**3, False),
    (Ellipsoid((0.1, 0.3, 0.2)), 4.0 / 3.0 * math.pi * 0.1 * 0.3 * 0.2, False),
    (Hull(TETRAHEDRON), 0.3 * 0.4 * 0.5 / 6.0, True),
]
OTHERS = [
    Polygon(((0.0, 0.0), (1.0, 0.0), (0.0, 1.0))),
    Plane(),
    Mesh("tetrahedron.stl"),
    HeightField([[0.0, 0.1], [0.2, 0.0]], (1.0, 2.0)),
]
KINDS = [shape.kind for shape, *_ in SOLIDS]


def volume(facets: Facets) -> float:
    a, b, c = (facets.vertices[facets.faces[:, k]] for k in range(3))
    return float(np.einsum("ij,ij->", a, np.cross(b, c))) / 6.0


def test_every_kind_is_tested():
    assert {shape.kind for shape in (*(shape for shape, *_ in SOLIDS), *OTHERS)} == set(SHAPES)


@pytest.mark.parametrize(("shape", "size", "exact"), SOLIDS, ids=KINDS)
def test_facets_are_closed_look_outwards_and_hold_the_volume(shape, size, exact):
    facets = shape.facets()
    edges = [tuple(face[[k, (k + 1) % 3]].tolist()) for face in facets.faces for k in range(3)]
    assert len(set(edges)) == len(edges)
    assert {(b, a) for a, b in edges} == set(edges)  # each edge once in both directions
    # 32 sides of a circle hold sin(2π/32)/(2π/32) = 0.9936 of it, 16 pieces of a meridian a little less again
    assert volume(facets) == pytest.approx(size, rel=1e-12) if exact else 0.98 * size < volume(facets) < size


@pytest.mark.parametrize(("shape", "size", "exact"), SOLIDS, ids=KINDS)
def test_bounds_hold_the_surface_and_touch_it(shape, size, exact):
    vertices = shape.facets().vertices
    assert np.linalg.norm(vertices, axis=1).max() == pytest.approx(shape.bounding_radius, rel=1e-12)
    points, radius = shape.support()
    for direction in np.random.default_rng(0).normal(size=(50, 3)):
        reach = (points @ direction).max() + radius * np.linalg.norm(direction)
        assert (vertices @ direction).max() <= reach * (1.0 + 1e-12)


def test_only_planes_have_no_end():
    endless = [shape for shape in (*(shape for shape, *_ in SOLIDS), *OTHERS) if shape.endless]
    assert endless == [Plane()]
    assert Plane().bounding_radius == math.inf


# --- a shape that the package does not know ---------------------------------------------------------------------------------
@dataclass(frozen=True)
class Egg(Shape):
    """With its half axes along x, y, z [m]."""

    kind: ClassVar[str] = "egg"
    axes: tuple[float, float, float]

    @property
    def bounding_radius(self) -> float:
        return max(self.axes)

    def facets(self) -> Facets:
        return Sphere(1.0).facets().scaled(self.axes)


AXES = (0.3, 0.2, 0.1)


def egg() -> Mechanism:
    shapes = (Geometry(Egg(AXES)),)
    body = Body("egg", 1.0, inertia=(0.1, 0.1, 0.1), visuals=shapes, collisions=shapes)
    return Mechanism("egg", (body,), (Joint("free", "floating", "world", "egg"),))


def test_a_new_shape_is_saved_and_loaded(monkeypatch):
    with pytest.raises(ModelError, match=r"kind 'egg' cannot be written: .*Add it to kumitate\.model\.shapes"):
        to_json(egg())
    monkeypatch.setitem(SHAPES, "egg", Egg)
    text = to_json(egg())
    assert '"shape": {"kind": "egg", "axes": [0.3, 0.2, 0.1]}' in text
    assert from_json(text) == egg()


def test_a_new_shape_is_drawn_by_its_facets():
    turned = np.array(pose((1.0, 2.0, 3.0), rpy=(0.0, 0.0, math.pi / 2.0)).matrix(), dtype=float)
    scene = build_scene(egg(), [0.0], turned[None, None])
    (shape,) = scene["bodies"][0]["shapes"]
    assert (shape["type"], shape["mesh"], len(scene["meshes"])) == ("mesh", 0, 1)
    np.testing.assert_allclose(scene["extent"], [[0.8, 1.7, 2.9], [1.2, 2.3, 3.1]], atol=1e-12)

    (outline,) = Silhouettes(egg(), View.along(1)).outlines(turned[None])
    np.testing.assert_allclose(outline.points.min(axis=0), [0.8, 2.9], atol=1e-12)
    np.testing.assert_allclose(outline.points.max(axis=0), [1.2, 3.1], atol=1e-12)


def test_a_new_shape_touches_by_one_entry_in_the_table(monkeypatch):
    q = [0.0, 0.0, math.sin(0.3), math.cos(0.3), 0.0, 0.0, 1.0]  # turned about z: the lowest point stays below the middle
    with pytest.raises(ModelError, match=r"egg: 'egg' against 'ground': how an Egg touches a Plane is not known.*PAIRS$"):
        ground_gap(egg(), q)

    def egg_on_plane(a: Egg, X_WA: Transform, b: Plane, X_WB: Transform) -> list[Touch]:
        normal = X_WB.rotation.rotate(Vector3(0.0, 0.0, 1.0))
        along = X_WA.rotation.unrotate(normal)
        reach = math.sqrt(sum((half * part) ** 2 for half, part in zip(a.axes, along, strict=True)))
        gap = normal.dot(X_WA.translation - X_WB.translation) - reach
        return [Touch(X_WA.translation - normal * (reach + 0.5 * gap), normal, gap)]

    monkeypatch.setitem(PAIRS, (Egg, Plane), Routines(egg_on_plane))
    assert ground_gap(egg(), q) == pytest.approx(0.9, abs=1e-15)
    assert on_ground(egg(), q)[6] == pytest.approx(0.1, abs=1e-12)
