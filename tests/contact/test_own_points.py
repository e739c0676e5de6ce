"""Hulls and cylinders touch boxes by their own points: a box that fits between those points does not fall through.

Models that trace every pair of shapes refuse it; rigid contact then takes the routines of scenes for any two solids.
"""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pytest

from kumitate.contact.pairs import touches
from kumitate.contact.pairs.own_points import warn_of_thin_boxes
from kumitate.contact.placement import on_ground
from kumitate.contact.scene import Contact, contact_pairs
from kumitate.errors import KumitateWarning, ModelError
from kumitate.model import Body, Box, Capsule, Cylinder, Ellipsoid, Geometry, HeightField, Hull, Joint, Mechanism, Plane, Sphere
from kumitate.simulate.run import simulate
from kumitate.spatial import pose

from .distances import numeric_pose, random_rotations

SLAB = Hull(tuple((x, y, z) for x in (-1.0, 1.0) for y in (-1.0, 1.0) for z in (-0.2, 0.0)))
FOOT = Hull(tuple((x, y, z) for x in (-0.1, 0.1) for y in (-0.05, 0.05) for z in (-0.02, 0.02)))  # 0.227 m across


def free(shape) -> Mechanism:
    body = Body("stone", 1.0, inertia=(0.01, 0.01, 0.01), collisions=(Geometry(shape, name="lower"),))
    return Mechanism("thrown", (body,), (Joint("free", "floating", "world", "stone"),))


def pairs_on(shape, *ground: Geometry):
    mechanism = free(shape)
    return contact_pairs(mechanism, mechanism.base_parameter_tree, Contact(ground=ground))


@pytest.mark.parametrize("table", [SLAB, Cylinder(0.5, 0.05)], ids=["hull", "cylinder"])
@pytest.mark.parametrize("contact", [Contact("multipoint"), Contact("penalty", options={"pull": 1})], ids=lambda c: c.model)
def test_a_box_on_a_larger_hull_or_cylinder_is_refused(contact, table):
    """Where it is traced; scenes know all shapes, and have all but these models and options."""
    contact = replace(contact, ground=[Geometry(table)])
    with pytest.raises(
        ModelError, match=r"of 'ground' \(.* m across\) touches the box 'lower' of 'stone' \(0.2 × 0.16 × 0.12 m"
    ):
        simulate(free(Box((0.2, 0.16, 0.12))), [0, 0, 0, 1, 0, 0, 0.3], duration=0.01, contact=contact)
    with pytest.raises(ModelError, match=r"Put a box, plane or polygons in the place"):
        on_ground(free(Box((0.2, 0.16, 0.12))), [0, 0, 0, 1, 0, 0, 0.3], contact)


#: Kinds of shapes, standing upright, and how high their middle is above what they stand on.
UPRIGHT = {
    "sphere": (Sphere(0.05), 0.05), "capsule": (Capsule(0.04, 0.1), 0.09), "cylinder": (Cylinder(0.05, 0.1), 0.05),
    "box": (Box((0.1, 0.12, 0.1)), 0.05), "ellipsoid": (Ellipsoid((0.05, 0.06, 0.04)), 0.04), "hull": (FOOT, 0.02),
}  # fmt: skip
TABLES = {
    "hull": SLAB, "cylinder": Cylinder(0.5, 0.2), "ellipsoid": Ellipsoid((2.0, 2.0, 0.1)), "capsule": Capsule(0.1, 0.0),
    "field": HeightField(((0.0, 0.0), (0.0, 0.0)), (2.0, 2.0)),
}  # fmt: skip
TOPS = {"hull": 0.0, "cylinder": 0.1, "ellipsoid": 0.1, "capsule": 0.1, "field": 0.0}


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("kind", UPRIGHT)
def test_one_body_of_any_shape_stands_on_any_other(kind, table):
    """Smaller or larger than what it stands on, by itself in the world, exactly as high as both are."""
    shape, middle = UPRIGHT[kind]
    start = [0, 0, 0, 1, 0, 0, TOPS[table] + middle + 0.01]
    run = simulate(free(shape), start, duration=0.1, contact=Contact(ground=[Geometry(TABLES[table])]))
    assert run.q[-1, 6] == pytest.approx(TOPS[table] + middle, abs=1e-9)
    assert run.audit.contact.residual < 1e-8


def test_a_thrown_box_moves_alike_on_a_hull_and_on_a_plane():
    """The general routine, and a pair that is traced into code of its own."""
    rng = np.random.default_rng(6)
    turn = rng.normal(size=4)
    start, v = [*(turn / np.linalg.norm(turn)), 0.0, 0.0, 0.2], 0.5 * rng.normal(size=6)
    ends = []
    for table in (Geometry(SLAB), Geometry(Plane())):
        run = simulate(free(Box((0.2, 0.16, 0.12))), start, v, duration=0.25, contact=Contact(ground=[table]))
        assert run.contact.force.max() > 10.0
        ends.append(run.q[-1])
    assert np.abs(ends[0] - ends[1]).max() < 1e-6


def test_a_hull_that_would_cover_the_box_it_falls_on_is_refused():
    with pytest.raises(ModelError, match=r"the hull 'lower' of 'stone' \(0.2272 m across\) touches the box of 'ground'"):
        pairs_on(FOOT, Geometry(Box((1.0, 0.2, 0.2))))
    assert len(pairs_on(FOOT, Geometry(Box((1.0, 0.25, 0.1))))) == 1
    # single points are never straddled
    assert len(pairs_on(Hull(((0.1, 0.0, 0.0),)), Geometry(Box((0.01, 0.01, 0.01))))) == 1


def test_thin_boxes_draw_one_warning():
    slabs = [Geometry(Box((10.0, 10.0, thick)), pose((0.0, 0.0, z))) for thick, z in ((0.1, 0.0), (0.2, 1.0), (0.5, 2.0))]
    with pytest.warns(KumitateWarning, match=r"the box of 'ground' \(10 × 10 × 0.1 m\) \(and 1 more such pairs\)") as told:
        warn_of_thin_boxes("thrown", pairs_on(FOOT, *slabs))
    assert len(told) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_of_thin_boxes("thrown", pairs_on(FOOT, slabs[2]))


@pytest.mark.parametrize("seed", [1, 2])
def test_in_the_middle_of_a_face_as_large_as_the_hull_its_lowest_point_is_found(seed):
    """The reason for the rule: in any attitude all vertices stand over the face, the lowest one among them."""
    rng = np.random.default_rng(seed)
    for R in random_rotations(rng, 60):
        cloud = rng.normal(size=(6, 3)) * rng.uniform(0.05, 0.3, 3)
        across = max(float(np.linalg.norm(cloud - point, axis=1).max()) for point in cloud)
        turned, deep = cloud @ R.T, 1e-3
        low, high = turned.min(axis=0), turned.max(axis=0)
        above = [*(-0.5 * (low + high)[:2]), 0.5 * across - low[2] - deep]
        hull, box = Hull(tuple(map(tuple, cloud.tolist()))), Box((across, across, across))
        found = touches(hull, numeric_pose([*R.ravel().tolist(), *above]), box, pose())
        assert min(touch.gap for touch in found) == pytest.approx(-deep, abs=1e-12)
