"""Programs as WebAssembly, run in Node: the bits of portable machine code, and those of the reference with own functions."""

from __future__ import annotations

import numpy as np
import pytest

import kumitate as km
from kumitate.compile import Kernel
from kumitate.compile.stored import traced
from kumitate.compile.wasm import wasm_module
from kumitate.scalar import evaluate
from kumitate.scalar.elementary import PORTABLE

from .in_node import Instance, run_in_node
from .test_exports import PROGRAMS, states


def test_programs_have_the_bits_of_the_reference():
    programs = {name: make() for name, make in PROGRAMS.items()}
    instances = []
    for program in programs.values():
        instances.append(Instance(wasm_module({"f": program})))
        for arrays in states(program):
            put = {spec.name: array for spec, array in zip(program.inputs, arrays, strict=True)}
            instances[-1].call("f", put, [f"f.{spec.name}" for spec in program.outputs])
    for (name, program), calls in zip(programs.items(), run_in_node(instances), strict=True):
        for arrays, found in zip(states(program), calls, strict=True):
            expected = evaluate(program, [float(x) for array in arrays for x in array.ravel()], PORTABLE)
            assert np.concatenate([part.ravel() for part in found]).tolist() == expected, name


@pytest.mark.parametrize(("name", "integrator"), [("pa10", "rk4"), ("four_bar", "rk4"), ("four_bar", "semi_implicit_euler")])
def test_steps_have_the_bits_of_portable_machine_code(name, integrator):
    sim = km.Simulation(km.load(name), step=1e-3, integrator=integrator)
    recurrence, stepper = sim.straight.recurrence, sim._stepper
    state = {key: np.array(array[0], dtype=float) for key, array in stepper.state.items()} | {"h": np.array(sim.step_size)}
    step, look = (Kernel(traced(program), portable=True) for program in (recurrence.step, recurrence.look))
    instance = Instance(recurrence.wasm())
    instance.call("run", {array.name: state[array.name] for array in step.inputs}, [a.name for a in step.outputs], times=200)
    instance.call("look", {}, [f"look.{array.name}" for array in look.outputs])
    for _ in range(200):
        state |= dict(zip((a.name for a in step.outputs), step(*(state[a.name] for a in step.inputs)), strict=True))
    ((after, seen),) = run_in_node([instance])
    assert abs(state["q"]).max() > 1e-3
    for array, found in zip(step.outputs, after, strict=True):
        np.testing.assert_array_equal(found, state[array.name])
    for expected, found in zip(look(*(state[a.name] for a in look.inputs)), seen, strict=True):
        np.testing.assert_array_equal(found, expected)
