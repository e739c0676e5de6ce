"""Another way of calling compiled code is one more class under the contract of `Entry`; the compiler itself stays as it is."""

from __future__ import annotations

import ctypes
from types import SimpleNamespace

import numpy as np
import pytest

import kumitate as km
from kumitate.compile import fastcall, host
from kumitate.compile.engine import load
from kumitate.compile.llvm import Module, write_module
from kumitate.compile.llvm.body import ProgramBody
from kumitate.compile.llvm.plan import scratch_size
from kumitate.compile.llvm.writer import Writer
from kumitate.programs import make_program
from kumitate.scalar import Program


class ColumnInputs:
    """Inputs that stand in columns: element k of state s at k·n + s."""

    pointers = ("%in",)

    def __init__(self, program: Program):
        sizes = [array.size for array in program.inputs]
        starts = np.cumsum([0, *sizes]).tolist()
        self.starts = {array.name: start for array, start in zip(program.inputs, starts, strict=False)}

    def handed(self) -> ColumnInputs:
        return self

    def read(self, to: Writer, name: str, element: int | str) -> str:
        at = to.line(f"mul i64 {to.line(f'add i64 {element}, {self.starts[name]}')}, %n")
        address = to.line(f"getelementptr double, ptr %in, i64 {at}")
        return to.line(f"load {to.module.real}, ptr {address}, align 8")


class Columns:
    """`void columns(i64 n, ptr in, ptr out)`: one block of n states, as many as there are lanes, all numbers in columns."""

    name = "columns"

    def __init__(self, program: Program):
        self.program, self.programs = program, (program,)

    def function(self, module: Module) -> str:
        body = ProgramBody(module, self.program, ColumnInputs(self.program))
        body.run_program()
        for k, result in enumerate(self.program.results):
            value, address = body.value(result), body.slot("%out", k)
            body.effect(f"store {module.real} {value}, ptr {address}, align 8")
        scratch = f"  %scratch = alloca [{max(1, scratch_size(self.program))} x {module.real}], align 64"
        return body.function("define void @columns(i64 %n, ptr %in, ptr %out) #0", begin=[scratch])


@pytest.mark.parametrize("lanes", [1, 4])
@pytest.mark.parametrize("sample", ["pa10", "four_bar"])
def test_states_in_columns_need_only_a_new_entry(sample, lanes):
    robot = km.load(sample)
    program = make_program(robot.mechanism, "forward_dynamics")
    code = load(write_module(Columns(program), lanes), host(), ["columns"])
    function = ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p)(code.addresses["columns"])

    rng = np.random.default_rng(3)
    q = np.tile(robot.start[0], (lanes, 1))
    v, tau = np.zeros((lanes, robot.nv)), rng.normal(size=(lanes, robot.nv))
    given = np.ascontiguousarray(np.hstack([q, v, tau]).T)
    found = np.full((robot.nv, lanes), np.nan)
    function(lanes, given.ctypes.data, found.ctypes.data)

    assert np.allclose(found.T, robot.forward_dynamics(q, v, tau), rtol=1e-13, atol=1e-11)


def test_the_wrapper_that_python_calls_is_for_cpython_with_addresses_of_eight_bytes(monkeypatch):
    assert fastcall.can_wrap()
    for module, other in (("ctypes", SimpleNamespace(sizeof=lambda _: 4, c_void_p=None)),
                          ("sys", SimpleNamespace(implementation=SimpleNamespace(name="pypy")))):  # fmt: skip
        with monkeypatch.context() as patched:
            patched.setattr(fastcall, module, other)
            assert not fastcall.can_wrap()
