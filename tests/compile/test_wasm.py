"""Programs as WebAssembly, run in Node: the bits of portable machine code, and of the reference with own functions."""

from __future__ import annotations

import struct

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kumitate as km
from kumitate import scalar
from kumitate.compile import Kernel
from kumitate.compile.stored import traced
from kumitate.compile.wasm import encoding, wasm_module
from kumitate.contact import Contact, Surface
from kumitate.errors import InputError
from kumitate.examples.gallery.cassie import standing
from kumitate.model.samples import HOAP1_STANDING, hoap1
from kumitate.programs import PROGRAMS as CATALOGUE
from kumitate.programs import make_program
from kumitate.scalar import Program, evaluate, trace
from kumitate.scalar.elementary import PORTABLE

from ..mechanisms import random_mechanism
from .in_node import Instance, run_in_node
from .test_exports import PROGRAMS, states
from .test_random_programs import INPUTS, SYMBOLS, run, steps


def called(program: Program, rows: list[list[np.ndarray]]) -> Instance:
    """An instance that computes a program for some states."""
    instance = Instance(Kernel(program).wasm())
    for arrays in rows:
        put = {spec.name: array for spec, array in zip(program.inputs, arrays, strict=True)}
        instance.call("kernel", put, [f"kernel.{spec.name}" for spec in program.outputs])
    return instance


def expected(program: Program, arrays: list[np.ndarray]) -> list[float]:
    return evaluate(program, [float(x) for array in arrays for x in array.ravel()], PORTABLE)


def flat(found: list[np.ndarray]) -> np.ndarray:
    return np.concatenate([array.ravel() for array in found])


def test_programs_have_the_bits_of_the_reference():
    programs = {name: make() for name, make in PROGRAMS.items()}
    for (name, program), calls in zip(
        programs.items(), run_in_node([called(program, states(program)) for program in programs.values()]), strict=True
    ):
        for arrays, found in zip(states(program), calls, strict=True):
            assert flat(found).tolist() == expected(program, arrays), name


def branched() -> km.Mechanism:
    kinds = ("revolute", "spherical", "universal", "prismatic")
    return random_mechanism(np.random.default_rng(5), kinds, root="floating")


@pytest.mark.parametrize("make", [branched, lambda: km.load("four_bar").mechanism], ids=["branched", "four-bar"])
def test_every_function_of_a_robot_has_the_bits_of_the_reference(make):
    mechanism = make()
    place = mechanism.bodies[-1].name
    programs = {}
    for name in CATALOGUE:
        options = {"place": place} if name in ("pose", "velocity", "jacobian", "jacobian_rate", "reach") else {}
        options |= {"points": [[0.1, 0.2, 0.3]]} if name == "reach" else {}
        programs[name] = make_program(mechanism, name, **options)
    instances = [called(program, states(program, 1)) for program in programs.values()]
    for (name, program), (found,) in zip(programs.items(), run_in_node(instances), strict=True):
        values = expected(program, states(program, 1)[0])
        np.testing.assert_array_equal(flat(found), values, err_msg=name)


def test_random_programs_have_the_bits_of_the_reference_and_of_portable_machine_code():
    drawn: list[tuple[Program, np.ndarray]] = []

    @given(recipe=steps(2), seed=st.integers(0, 2**32 - 1))
    @settings(max_examples=40, derandomize=True, database=None)
    def draw(recipe, seed):
        rows = np.random.default_rng(seed).uniform(-2.0, 2.0, (4, INPUTS))
        drawn.append((trace(lambda x: run(recipe, [x[k] for k in range(INPUTS)], x, SYMBOLS), {"x": INPUTS}, "random"), rows))

    draw()
    found = run_in_node([called(program, [[row] for row in rows]) for program, rows in drawn])
    for k, ((program, rows), calls) in enumerate(zip(drawn, found, strict=True)):
        values = np.array([flat(one) for one in calls])
        np.testing.assert_array_equal(values, [expected(program, [row]) for row in rows], err_msg=str(program))
        if k % 8 == 0:
            np.testing.assert_array_equal(values, Kernel(program, portable=True)(rows), err_msg=str(program))


def many(a, b):
    """More numbers than are handed over as parameters or copied one by one, of calls that overwrite each other's results."""
    size = len(a)
    inner = trace(lambda x, y: [x[k] * 0.5 - y[size - 1 - k] for k in range(size)], {"x": size, "y": size}, "inner")
    first, second = scalar.call(inner, a, b), scalar.call(inner, b, a)

    def body(i, row):
        return [u + v for u, v in zip(scalar.call(inner, row, first), second, strict=True)], scalar.call(inner, second, row)[0]

    last, kept = scalar.loop(3, body, first)
    return {"last": last, "kept": [kept[k] for k in range(3)], "first": first}


@pytest.mark.parametrize("size", [4, 20, 40])
def test_results_of_calls_are_kept_before_the_next_call(size):
    program = trace(many, {"a": size, "b": size}, "many")
    rows = [list(np.random.default_rng(k).normal(size=(2, size))) for k in range(2)]
    (found,) = run_in_node([called(program, rows)])
    assert [flat(one).tolist() for one in found] == [expected(program, row) for row in rows]


def test_loops_read_backwards_and_by_strides():
    values = scalar.table([0.5, -1.5, 2.5, 3.5, -4.5, 6.5])

    def page(x):
        _, kept = scalar.loop(3, lambda i, _: (None, [x[i * 2 + 1] * values[5 - i], i.value]), None)
        back, _ = scalar.loop(
            3, lambda i, s: (s * 0.5 + kept[2 - i][0] * x[5 - i] + kept[i][1] * (i * -3 + 1).value, None), x[0]
        )
        return [back, values[2], kept[1][0]]

    program = trace(page, {"x": 6}, "strides")
    rows = [[np.arange(6.0) - 2.25]]
    (found,) = run_in_node([called(program, rows)])
    assert flat(found[0]).tolist() == expected(program, rows[0])


def test_functions_of_mathematics_have_the_bits_of_the_reference():
    x = np.random.default_rng(3).normal(size=(400, 2)) * 10.0 ** np.random.default_rng(4).integers(-3, 4, (400, 1))
    x = np.vstack([x, [[a, b] for a in (-np.inf, 0.0, 2.0, np.inf, np.nan) for b in (-3.0, 0.0, np.inf, np.nan)]])

    def page(x):
        one, two = x[0], x[1]
        turns = [scalar.sin(one), scalar.cos(one), scalar.sin(two), scalar.arctan2(one, two)]
        growth = [scalar.exp(two), scalar.log(one), scalar.tanh(two), scalar.sqrt(scalar.absolute(two))]
        return [*turns, *growth, scalar.minimum(one, two), scalar.maximum(one, two)]

    program = trace(page, {"x": 2}, "mathematics")
    (found,) = run_in_node([called(program, [[row] for row in x])])
    np.testing.assert_array_equal([flat(one) for one in found], [expected(program, [row]) for row in x])


# --- steps ----------------------------------------------------------------------------------------------------------------
def stepping(sim: km.Simulation, counts: list[int]) -> tuple[Program, Program, list[dict[str, np.ndarray]], list[np.ndarray]]:
    """The step and what is recorded of it; the states after so many steps each, the start first; the record of the last one."""
    recurrence, stepper = sim.straight.recurrence, sim._stepper
    step, look = traced(recurrence.step), traced(recurrence.look)
    start = {key: np.array(array[0], dtype=float) for key, array in stepper.state.items()} | {"h": np.array(sim.step_size)}
    instance = Instance(recurrence.wasm())
    instance.call("run", {array.name: start[array.name] for array in step.inputs}, [], times=0)
    for count in counts:
        instance.call("run", {}, [array.name for array in step.outputs], times=count)
    instance.call("look", {}, [f"look.{array.name}" for array in look.outputs])
    (calls,) = run_in_node([instance])
    names = [array.name for array in step.outputs]
    return step, look, [start, *(start | dict(zip(names, found, strict=True)) for found in calls[1:-1])], calls[-1]


@pytest.mark.parametrize(("name", "integrator"), [("pa10", "rk4"), ("four_bar", "rk4"), ("four_bar", "semi_implicit_euler")])
def test_steps_have_the_bits_of_portable_machine_code(name, integrator):
    step, look, (state, after), seen = stepping(km.Simulation(km.load(name), step=1e-3, integrator=integrator), [1000])
    kernel = Kernel(step, portable=True)
    for _ in range(1000):
        state |= dict(zip((a.name for a in step.outputs), kernel(*(state[a.name] for a in step.inputs)), strict=True))
    assert abs(state["v"]).max() > 0.1
    for name in after:
        np.testing.assert_array_equal(after[name], state[name], err_msg=name)
    for array, found in zip(Kernel(look, portable=True)(*(state[a.name] for a in look.inputs)), seen, strict=True):
        np.testing.assert_array_equal(found, array)


def check_steps(sim: km.Simulation, counts: list[int]) -> None:
    """Every second of the counts is one step, from the state before it, and is compared with the reference."""
    step, look, states, seen = stepping(sim, counts)
    for before, after in zip(states[:-1][1::2], states[1:][1::2], strict=True):
        found = evaluate(step, [float(x) for array in step.inputs for x in np.ravel(before[array.name])], PORTABLE)
        assert found == [float(x) for array in step.outputs for x in np.ravel(after[array.name])]
    last = evaluate(look, [float(x) for array in look.inputs for x in np.ravel(states[-1][array.name])], PORTABLE)
    assert last == flat(seen).tolist()


def touching(robot, start, **options) -> km.Simulation:
    contact = Contact(surface=Surface(friction=0.8))
    return km.Simulation(robot, step=1e-3, contact=contact, side_by_side=True, start=(start, np.zeros(robot.nv)), **options)


def test_a_box_that_lands_has_the_bits_of_the_reference():
    box = km.box((0.2, 0.3, 0.1), density=500.0)
    free = km.Mechanism("box", (box,), (km.Joint("free", "floating", "world", "box"),))
    check_steps(touching(free, [0.1, 0.2, 0.0, 0.95**0.5, 0.0, 0.0, 0.16]), [1, 1, 100, 1, 200, 1])


@pytest.mark.slow
def test_cassie_standing_has_the_bits_of_the_reference():
    check_steps(touching(*standing(), integrator="semi_implicit_euler"), [200, 1])


@pytest.mark.slow
def test_a_humanoid_that_falls_has_the_bits_of_the_reference():
    start = [*HOAP1_STANDING[:6], 0.25, *HOAP1_STANDING[7:]]
    check_steps(touching(hoap1(), start), [100, 1, 300, 1])


# --- modules --------------------------------------------------------------------------------------------------------------
def adding(shape: int = 2) -> Program:
    return trace(lambda x, u: {"x": [a + b for a, b in zip(x, u, strict=True)]}, {"x": shape, "u": shape}, "adding")


def test_the_text_of_a_module():
    assert (
        Kernel(trace(lambda x: [x[0] * (x[1] + 0.5)], {"x": 2}, "scaled")).source("wat")
        == """\
(module
  (memory (export "memory") 1 1)
  (func $scaled (export "kernel")
    i32.const 0
    i32.const 0
    f64.load
    i32.const 0
    f64.load offset=8
    f64.const 0x1.0000000000000p-1
    f64.add
    f64.mul
    f64.store offset=16
  )
)
"""
    )


def test_a_module_imports_nothing_and_its_memory_stays_as_it_is():
    module = wasm_module({"step": adding(), "look": adding()}, repeated="step")
    assert (module.places, module.pages) == (
        {"x": (0, (2,)), "u": (16, (2,)), "step.x": (32, (2,)), "look.x": (48, (2,))}, 1,
    )  # fmt: skip
    sections = {}
    at = 8
    while at < len(module.code):
        size, length, shift = 0, 0, 1
        while True:
            byte = module.code[at + 1 + length]
            size, length, shift = size + (byte & 127) * shift, length + 1, shift * 128
            if byte < 128:
                break
        sections[module.code[at]] = module.code[at + 1 + length : at + 1 + length + size]
        at += 1 + length + size
    assert sorted(sections) == [1, 3, 5, 7, 10]  # 2 would be imports
    assert sections[5] == struct.pack("4B", 1, 1, 1, 1)  # one memory, of at least and at most one page
    instance = Instance(module)
    instance.call("run", {"x": [1.0, 2.0], "u": [0.5, 0.25]}, ["x", "u"], times=4)
    instance.call("step", {}, ["x", "step.x"])
    instance.call("look", {"u": [1.0, 1.0]}, ["look.x"])
    ((after, once, seen),) = run_in_node([instance])
    assert (after[0].tolist(), after[1].tolist()) == ([3.0, 3.0], [0.5, 0.25])
    assert (once[0].tolist(), once[1].tolist(), seen[0].tolist()) == ([3.0, 3.0], [3.5, 3.25], [4.0, 4.0])


def test_holes_are_filled_and_what_cannot_be_written_is_refused(monkeypatch):
    hole = scalar.Hole.of("law", (scalar.Array("x", (2,)),), (scalar.Array("f", (2,)),))
    outer = trace(lambda x: {"f": [2.0 * a for a in scalar.call(hole, x)]}, {"x": 2}, "outer")
    law = trace(lambda x: {"f": [x[1], x[0] + 1.0]}, {"x": 2}, "law")
    instance = Instance(wasm_module({"outer": outer}, {"law": law}))
    instance.call("outer", {"x": [3.0, 5.0]}, ["outer.f"])
    assert run_in_node([instance])[0][0][0].tolist() == [10.0, 8.0]
    with pytest.raises(InputError, match="the hole 'law' is empty"):
        wasm_module({"outer": outer})
    with pytest.raises(InputError, match="the input 'x' with the shapes"):
        wasm_module({"a": adding(2), "b": adding(3)})
    with pytest.raises(InputError, match="its outputs are not the first of its inputs"):
        wasm_module({"outer": law}, repeated="outer")
    with pytest.raises(InputError, match="a program is called 'run'"):
        wasm_module({"run": adding()}, repeated="run")
    monkeypatch.setattr(encoding, "LONGEST", 20)
    with pytest.raises(InputError, match=r"adding has \d+ bytes"):
        wasm_module({"step": adding()})
    huge = trace(lambda x: [x[0]], {"x": 2**30}, "huge")
    with pytest.raises(InputError, match="131073 pages of 64 KiB, over the 65536 of"):
        wasm_module({"huge": huge})
