"""Programs for a GPU: a thread for each state, from the same text as the processor's, as PTX, NVIDIA's assembly language."""

from __future__ import annotations

from collections.abc import Mapping

from ..compile.engine import threads_assembly
from ..compile.llvm import Entry, write_module
from ..compile.llvm.body import ProgramBody, called_function, hole_name
from ..compile.llvm.entries import OnBlocks, RowInputs, run_into_rows, scratch_memory
from ..compile.llvm.plan import scratch_size
from ..compile.llvm.writer import Module, Writer
from ..compile.stored import StoredProgram, traced
from ..compile.target import Precision, Target
from ..scalar import Program
from .mathematics import called_functions

#: The name of the function that is launched.
KERNEL = "kernel"
#: The number of a thread among all, `%row`, and the end of those beyond the last row.
_THREAD = (
    "  %block32 = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()",
    "  %size32 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()",
    "  %thread32 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()",
    "  %block = zext i32 %block32 to i64",
    "  %size = zext i32 %size32 to i64",
    "  %thread = zext i32 %thread32 to i64",
    "  %before = mul i64 %block, %size",
    "  %row = add i64 %before, %thread",
    "  %inside = icmp slt i64 %row, %n",
    "  br i1 %inside, label %state, label %none",
    "none:",
    "  ret void",
)


def ptx(entry: Entry, precision: Precision, target: Target) -> str:
    """The PTX of an entry."""
    return threads_assembly(write_module(entry, 1, precision, threads=True), target)


class StatePerThread:
    """`kernel(i64 n, ptr in, i64 apart, …, ptr out, i64 apart, …)`: n states; `apart`: numbers between two rows.

    Attributes:
        programs: the one that is computed, and those that fill its holes.
        fillings: these, by the holes' names.
    """

    name = KERNEL

    def __init__(self, program: Program | StoredProgram, fillings: Mapping[str, Program] | None = None):
        self.fillings = fillings or {}
        self.programs = (program, *self.fillings.values())

    def function(self, module: Module) -> str:
        """The function of one thread: its state's rows, around the program's body."""
        _fill(module, self.fillings)
        program = traced(self.programs[0])
        inputs = RowInputs({array.name: array.size for array in program.inputs}, {})
        body = ProgramBody(module, program, inputs)
        body.start("state")
        count, arrays = len(program.inputs), (*program.inputs, *program.outputs)
        rows = [_row(body, k) for k in range(len(arrays))]
        inputs.rows.update(zip((array.name for array in program.inputs), rows, strict=False))
        run_into_rows(body, rows[count:])
        memory, _ = scratch_memory(module, scratch_size(program))
        text = body.function(_head(len(arrays)), begin=[*memory, *_THREAD])
        return "\n".join([*called_functions(module, [*module.functions, text]), text])


def _fill(module: Module, fillings: Mapping[str, Program]) -> None:
    """Writes the functions that fill holes."""
    for name, program in fillings.items():
        text = OnBlocks(hole_name(name), program, own_memory=True).function(module)
        module.functions.append(text.replace("define void", "define internal void", 1))


def _head(arrays: int, further: str = "") -> str:
    """The first line of a function over rows of so many arrays."""
    listed = "".join(f", ptr %array{k}, i64 %apart{k}" for k in range(arrays))
    return f"define ptx_kernel void @{KERNEL}(i64 %n{further}{listed}) #0"


def _row(to: Writer, k: int) -> str:
    """The address of a thread's row of array k."""
    return to.line(f"getelementptr {to.module.element}, ptr %array{k}, i64 {to.line(f'mul i64 %row, %apart{k}')}")


class StepsPerThread:
    """`kernel(i64 n, i64 count, ptr array, i64 apart, …)`: `count` steps of n rows, which keep their states in between.

    The arrays are those of a step, carried… and given…; the carried ones are written when all steps are done.

    Attributes:
        programs: (carried…, given…) → carried…, and those that fill its holes.
        fillings: these, by the holes' names.
    """

    name = KERNEL

    def __init__(self, step: Program | StoredProgram, fillings: Mapping[str, Program]):
        self.programs, self.fillings = (step, *fillings.values()), fillings

    def function(self, module: Module) -> str:
        """The function of one thread: its rows into its own memory, and step after step from one place to another and back."""
        _fill(module, self.fillings)
        step = traced(self.programs[0])
        function = called_function(module, step)
        to = Writer(module)
        to.start("state")
        carried = sum(array.size for array in step.outputs)
        start = 0
        rows = []
        for k, array in enumerate(step.inputs):
            rows.append((_row(to, k), start, array.size))
            for j in range(array.size):
                value = to.line(f"load {module.element}, ptr {_at(to, rows[-1][0], j)}, {module.apart}")
                for place in ("%here", "%there") if start >= carried else ("%here",):
                    to.store_block(value, place, start + j)
            start += array.size
        with to.repeated("steps", "0", "%count"):
            to.effect(f"call void {function}(ptr %here, ptr %there, ptr %scratch)")
            to.copy("%there", "%here", carried)
        for row, first, size in rows[: len(step.outputs)]:
            for j in range(size):
                value = to.load_block("%here", first + j)
                to.effect(f"store {module.element} {value}, ptr {_at(to, row, j)}, {module.apart}")
        to.effect("ret void")
        buffers = {"here": start, "there": start, "scratch": max(scratch_size(step), 1)}
        memory = [f"  %{name} = alloca [{size} x {module.real}], align 16" for name, size in buffers.items()]
        text = to.framed(_head(len(step.inputs), ", i64 %count"), [*memory, *_THREAD])
        return "\n".join([*called_functions(module, [*module.functions, text]), text])


def _at(to: Writer, row: str, element: int) -> str:
    return to.line(f"getelementptr {to.module.element}, ptr {row}, i64 {element}")
