"""Rays: the closed form of each shape, and the way to any solid, meet it at the same place."""

from __future__ import annotations

import numpy as np
import pytest

import kumitate as km
from kumitate.contact.pairs.rays import FAR, MET, met
from kumitate.spatial import Vector3

from ..test_shapes import SHAPES


@pytest.mark.parametrize("kind", MET, ids=lambda kind: kind.__name__)
def test_rays_from_outside_end_where_the_way_to_the_solid_ends(kind):
    shape, seed, hits = SHAPES[kind], 31, 0
    body = km.Body("thing", 1.0, inertia=(1.0, 1.0, 1.0), collisions=(km.Geometry(shape),))
    robot = km.Robot(km.Mechanism("toy", (body,), (km.Joint("free", "floating", "world", "thing"),)))
    rng = np.random.default_rng(seed)
    for trial in range(200):
        away, aim = rng.normal(size=3), 0.15 * rng.normal(size=3)
        origin = away / np.linalg.norm(away)
        if shape.endless:
            origin[2] = abs(origin[2])
        direction = (aim - origin) / np.linalg.norm(aim - origin)
        found = robot.ray(robot.neutral(), origin, direction)
        distance = float(met(shape, Vector3(*origin), Vector3(*direction)))
        if found is None:
            assert distance == FAR, (seed, trial)
        else:
            hits += 1
            assert distance == pytest.approx(found.distance, abs=1e-10), (seed, trial)
    assert hits > 40
