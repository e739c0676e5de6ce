"""The closed posture nearest to a start: no closed one beside it is nearer, where closed postures are strongly curved too."""

from __future__ import annotations

import numpy as np
import pytest

import kumitate as km
from kumitate.analysis.closing.newton import closed_near, nearest
from kumitate.analysis.loops import loop_equations
from studies.parallel_robots import closed_by_points

from ..robots import PARALLEL_ROBOTS


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["wl16_like", "kangaroo_like"])
def test_no_closed_posture_beside_the_found_one_is_nearer(name):
    """Of Kangaroo, steps that take closed postures for flat had ended at 4.5187 after 200 rounds, beside a saddle."""
    mechanism = km.load(PARALLEL_ROBOTS / name / "robot.yaml").mechanism
    robot = km.Robot(closed_by_points(mechanism) if name == "kangaroo_like" else mechanism)
    loops, start = loop_equations(robot.mechanism), np.array(robot.neutral())
    found = robot.assemble(start)
    away = loops.difference(start, found)
    J = loops.positions(found)[1]
    along = np.linalg.svd(J)[2][np.linalg.matrix_rank(J, rtol=1e-9) :]
    assert np.abs(along @ away).max() < 1e-9
    rng = np.random.default_rng(4)
    for move in rng.normal(size=(20, len(along))):
        step = 0.02 * move @ along / np.linalg.norm(move)
        beside = closed_near(loops, loops.stepped(found, step))
        assert np.linalg.norm(loops.difference(start, beside)) > np.linalg.norm(away)


def test_the_nearest_point_of_a_sphere_is_found_from_its_other_side():
    """A point on three slides at a rod's length from the origin: from beside a far pole, where the distance is a maximum."""
    bodies = tuple(km.Body(name, 1.0, inertia=(1, 1, 1)) for name in "xyz")
    slides = [
        km.Joint(f"along {child}", "prismatic", parent, child, axis=np.eye(3)[k].tolist())
        for k, (parent, child) in enumerate(zip(("world", "x", "y"), "xyz", strict=True))
    ]
    rod = km.Loop("rod", km.Distance(2.0), "world", "z")
    robot = km.Robot(km.Mechanism("point", bodies, tuple(slides), (rod,)))
    start, loops = np.array([0.3, -0.4, 0.5]), loop_equations(robot.mechanism)
    pole = closed_near(loops, -start + [0.01, 0.0, 0.0])
    q = nearest(loops, start, pole, np.ones(3))
    np.testing.assert_allclose(q, 2.0 * start / np.linalg.norm(start), atol=1e-12)
