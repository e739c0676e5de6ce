"""A scene as WebAssembly, run in Node: the bits of the same code for the processor at hand."""

from __future__ import annotations

import numpy as np
import pytest

import kumitate as km
from kumitate.contact.scenes.step import DONE, advance_scene
from kumitate.procedure.exported import Exported

from ...compile.in_node import Instance, run_in_node

STEPS, CALLS = 60, 5


@pytest.mark.slow
def test_boxes_and_balls_in_a_pile():
    world, rng = km.World(), np.random.default_rng(0)
    world.ground()
    for k in range(5):
        solid = km.box((0.2, 0.16, 0.12), density=300.0) if k % 2 else km.ball(0.1, density=300.0)
        world.add(solid, name=f"solid{k}", at=km.pose((*rng.uniform(-0.05, 0.05, 2), 0.2 + 0.25 * k)))
    arguments = world.simulation(step=2e-3)._stepper.arguments(STEPS)
    _, q, v, work, *_, log = arguments
    exported = Exported(advance_scene, arguments)
    instance = Instance(exported.module({"q": q, "v": v, "work": work, "marks": log.marks}))
    for _ in range(CALLS):
        instance.call("run", {"marks": np.zeros(3)}, ["q", "v", "work", "result"])
    (found,) = run_in_node([instance])
    lowest = q[:, 6].copy()
    for *arrays, result in found:
        log.marks[:] = 0
        assert exported.run() == result.view(int) == DONE
        for given, own in zip(arrays, (q, v, work), strict=True):
            np.testing.assert_array_equal(given, own)
    assert (q[:, 6] < lowest - 0.1).sum() >= 3  # they fell, and lie on each other
