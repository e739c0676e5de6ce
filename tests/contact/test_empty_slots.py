"""Slots that hold no point: their numbers stay near the shapes, and nothing that is out of reach changes a motion."""

from __future__ import annotations

import math

import numpy as np
import pytest

from kumitate.contact.pairs import FAR
from kumitate.contact.scene import Contact
from kumitate.model import Body, Box, Geometry, Joint, Mechanism, Plane, Polygon
from kumitate.simulate.run import simulate
from kumitate.spatial import pose

from .test_shapes import TRACED, kernel, random_poses, two

#: A wall beside which a small box has an attitude in which the sides of their faces run almost along each other.
WALL = Box((0.2, 1.5, 4.0))


@pytest.mark.parametrize("kinds", [*TRACED, "wall"], ids=str)
@pytest.mark.parametrize("spread", [0.2, 2.0])
def test_empty_slots_are_near_the_shapes(kinds, spread):
    a, b = (Box((0.2, 0.16, 0.12)), WALL) if kinds == "wall" else two(kinds)
    rng = np.random.default_rng(5)
    X, Y = random_poses(rng, 200, spread), random_poses(rng, 200, spread)
    # turned about one axis of both only, sides of faces are parallel to rounding
    about = np.array([[*turn(yaw).ravel(), *x[9:]] for yaw, x in zip(rng.uniform(0.0, 3.0, 200), X, strict=True)])
    for A, B in ((X, Y), (about, np.hstack([np.tile(np.eye(3).ravel(), (200, 1)), Y[:, 9:]]))):
        found = kernel(a, b)(A, B)
        assert np.isfinite(found).all()
        empty = found[..., 6] >= FAR
        apart = np.linalg.norm(A[:, 9:] - B[:, 9:], axis=1)
        away = np.linalg.norm(found[..., :3] - A[:, None, 9:], axis=2)
        assert (away[empty] <= (3.0 * apart + 4.0 * (reach(a) + reach(b)))[:, None].repeat(found.shape[1], 1)[empty]).all()
        np.testing.assert_allclose(np.linalg.norm(found[..., 3:6], axis=2)[empty], 1.0, atol=1e-9)


def turn(yaw: float) -> np.ndarray:
    c, s = math.cos(yaw), math.sin(yaw)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


def reach(shape) -> float:
    """How far a shape goes from its origin, about [m]."""
    if isinstance(shape, Plane):
        return 0.0
    if isinstance(shape, Polygon):
        return float(np.linalg.norm(shape.vertices, axis=1).max())
    return 0.5 * float(np.linalg.norm(shape.size)) if isinstance(shape, Box) else 0.5


@pytest.mark.parametrize("model", ["rigid", "multipoint", "penalty"])
def test_a_wall_out_of_reach_changes_nothing(model):
    """A turning box slides on the floor half a metre from a wall, once with the wall and once without it."""
    box = Body("box", 1.0, inertia=(0.0033, 0.0045, 0.0055), collisions=(Geometry(Box((0.2, 0.16, 0.12))),))
    free = Mechanism("a box", (box,), (Joint("free", "floating", "world", "box"),))
    floor, wall = Geometry(Plane()), Geometry(WALL, pose((-0.65, 0.0, 2.0)))
    yaw = 1.91
    start = [0.0, 0.0, math.sin(0.5 * yaw), math.cos(0.5 * yaw), 0.0, 0.0, 0.06], [0.0, 0.0, -0.46, -0.46, -0.48, 0.0]
    alone, beside = (
        simulate(free, *start, duration=0.02, contact=Contact(model, ground=ground)) for ground in ([floor], [floor, wall])
    )
    assert np.abs(alone.v[-1] - alone.v[0]).max() > 0.03  # friction has braked it
    np.testing.assert_allclose(beside.q, alone.q, rtol=0.0, atol=1e-9)
    np.testing.assert_allclose(beside.contact.residual, alone.contact.residual, rtol=0.0, atol=1e-9)
