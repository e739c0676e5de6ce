"""A scene as WebAssembly, run in Node: the bits of checked machine code, which rounds every operation."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import kumitate as km
import kumitate.procedure.exported as exporting
from kumitate.contact.scenes.step import DONE, advance_scene
from kumitate.procedure.programs import PROCEDURES
from kumitate.procedure.walk import ENTRY

from ...compile.in_node import Instance, run_in_node

STEPS, CALLS = 60, 5


@pytest.mark.slow
def test_boxes_and_balls_in_a_pile(monkeypatch):
    world, rng = km.World(), np.random.default_rng(0)
    world.ground()
    for k in range(5):
        solid = km.box((0.2, 0.16, 0.12), density=300.0) if k % 2 else km.ball(0.1, density=300.0)
        world.add(solid, name=f"solid{k}", at=km.pose((*rng.uniform(-0.05, 0.05, 2), 0.2 + 0.25 * k)))
    given: list[Any] = []
    export = exporting.exported

    def noted(procedure: Any, arguments: Any, names: Any) -> Any:
        given.append((arguments, names))
        return export(procedure, arguments, names)

    monkeypatch.setattr(exporting, "exported", noted)
    instance = Instance(world.simulation(step=2e-3)._stepper.wasm())
    ((arguments, names),) = given
    every = np.array(STEPS).view(float)
    for _ in range(CALLS):
        instance.call("run", {"every": every, "marks": np.zeros(3)}, ["q", "v", "work", "result"])
    (found,) = run_in_node([instance])
    machine, routines = advance_scene.machine(checked=True), arguments[0].solids.routines
    for address in {*routines.tolist()} - {0}:
        routines[routines == address] = PROCEDURES[address].machine(checked=True).code.addresses[ENTRY]
    lowest = names["q"][:, 6].copy()
    for q, v, work, result in found:
        names["marks"][:] = 0
        assert machine.call((*arguments[:5], STEPS, *arguments[6:])) == result.view(int) == DONE
        for name, array in (("q", q), ("v", v), ("work", work)):
            np.testing.assert_array_equal(array, names[name], err_msg=name)
    assert (names["q"][:, 6] < lowest - 0.1).sum() >= 3  # they fell, and lie on each other
