"""Many states are closed at once as each is by itself: the nearest closed ones, redundant loops and far starts included."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import kumitate as km
from kumitate.errors import InputError, ModelError
from kumitate.kinematics import difference
from kumitate.model.samples import four_bars, four_bars_start

from .test_assembly_from_afar import chain


def closed_chain(kind: str) -> tuple[km.Robot, np.ndarray]:
    mechanism, q, tip = chain(3)
    return km.Robot(replace(mechanism, loops=(km.Loop("closing", kind, "world", "link6", tip),))), q


def four_bar() -> tuple[km.Robot, np.ndarray]:
    """Planar, in space: three of the six rows of its loop are redundant."""
    robot = km.Robot(four_bars(1))
    return robot, robot.assemble(four_bars_start(1, 1.0, 0.0)[0])


@pytest.mark.parametrize("make", [lambda: closed_chain("fixed"), lambda: closed_chain("spherical"), four_bar])
def test_rows_are_closed_as_each_is_alone(make):
    robot, closed = make()
    rng = np.random.default_rng(5)
    q, v = closed + rng.uniform(-0.1, 0.1, (12, robot.nv)), rng.normal(size=(12, robot.nv))
    q[3] = robot.neutral()  # far away
    found_q, found_v = robot.assemble(q, v)
    assert max(gap.size(1.0) for gap in robot.constraint_residual(found_q, found_v)) < 1e-11
    assert max(gap.rate(1.0) for gap in robot.constraint_residual(found_q, found_v)) < 1e-10
    for k in range(len(q)):
        alone_q, alone_v = robot.assemble(q[k], v[k])
        np.testing.assert_allclose(found_q[k], alone_q, rtol=0.0, atol=1e-7)
        np.testing.assert_allclose(found_v[k], alone_v, rtol=0.0, atol=1e-6)
    np.testing.assert_array_equal(robot.assemble(q), found_q)


def test_closed_rows_are_the_nearest_ones():
    """What leads from a start to its closed posture is normal to the closed postures: J⁺J of it is all of it."""
    robot, closed = closed_chain("spherical")
    starts = closed + np.random.default_rng(6).uniform(-0.1, 0.1, (20, robot.nv))
    for start, q in zip(starts, robot.assemble(starts), strict=True):
        away = np.array(difference(robot.mechanism.tree, start.tolist(), q.tolist()))
        h = 1e-6
        shift = [robot.pose(q + h * side * row, "link6")[:3, 3] for row in np.eye(robot.nv) for side in (1, -1)]
        J = (np.array(shift[::2]) - np.array(shift[1::2])).T / (2 * h)
        assert np.linalg.norm(away - np.linalg.pinv(J) @ (J @ away)) < 1e-7


def test_rows_that_cannot_be_closed_or_read_are_refused():
    """Two links of 1 m do not reach 2.5 m."""
    bodies = tuple(km.Body(name, 1.0, inertia=(1, 1, 1)) for name in ("upper", "lower"))
    shoulder = km.Joint("shoulder", "revolute", "world", "upper", axis=(0, 1, 0))
    elbow = km.Joint("elbow", "revolute", "upper", "lower", km.pose((0, 0, 1)), axis=(0, 1, 0))
    loop = km.Loop("hold", "spherical", "world", "lower", km.pose((2.5, 0, 0)), km.pose((0, 0, 1)))
    robot = km.Robot(km.Mechanism("arm", bodies, (shoulder, elbow), (loop,)))
    with pytest.raises(ModelError, match="loop 'hold' cannot be closed from there"):
        robot.assemble([[0.1, 0.2], [0.3, 0.4]])
    with pytest.raises(InputError, match="q has shape"):
        robot.assemble(np.zeros((3, robot.nq + 1)))
