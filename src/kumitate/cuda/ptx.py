"""Programs for a GPU: a thread for each state, from the same text as the processor's, as PTX, NVIDIA's assembly language."""

from __future__ import annotations

import math
import re
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence

from ..compile.engine import threads_assembly
from ..compile.llvm import Entry, write_module
from ..compile.llvm.body import ProgramBody, called_function, hole_name
from ..compile.llvm.entries import OnBlocks, RowInputs, run_into_rows, scratch_memory
from ..compile.llvm.plan import scratch_size
from ..compile.llvm.writer import Module, Writer, exact
from ..compile.stored import StoredProgram, traced
from ..compile.target import Precision, Target
from ..scalar import Program
from ..scalar.elementary import ARC, LN2, LN2_LOW, LOGARITHM

_EXP = tuple(1.0 / math.factorial(k) for k in range(13, 1, -1))  # on [−ln 2/2, ln 2/2] the next term is below 2⁻⁵⁷
_NEAR = 0.4375  # arc tangents of what is larger are those of (a − 1)/(a + 1), and π/4
_BIGGEST = 1000.0  # exponents beyond which e^x is 0 or infinite are those of this, twice


class _Doubles(Writer):
    """The writer of a function on doubles."""

    def binary(self, op: str, a: str, b: str) -> str:
        return self.line(f"{op} double {a}, {b}")

    def fma(self, a: str, b: str, c: str) -> str:
        return self.line(f"call double @llvm.fma.f64(double {a}, double {b}, double {c})")

    def of(self, name: str, *operands: str) -> str:
        """An intrinsic function."""
        return self.line(f"call double @llvm.{name}.f64({', '.join(f'double {operand}' for operand in operands)})")

    def chosen(self, a: str, compared: str, b: str, one: str, other: str) -> str:
        """One of two, as the comparison says."""
        condition = self.line(f"fcmp {compared} double {a}, {b}")
        return self.line(f"select i1 {condition}, double {one}, double {other}")

    def polynomial(self, x: str, coefficients: Sequence[float]) -> str:
        total = exact(coefficients[0])
        for coefficient in coefficients[1:]:
            total = self.fma(total, x, exact(coefficient))
        return total

    def power(self, exponent: str) -> str:
        """2 to an integer, from −1022 to 1023."""
        up = self.line(f"add i64 {exponent}, 1023")
        return self.line(f"bitcast i64 {self.line(f'shl i64 {up}, 52')} to double")

    def parted(self, x: str) -> tuple[str, str]:
        """The integer k and e^r − 1 of e^x = 2^k e^r."""
        k = self.of("rint", self.binary("fmul", x, exact(1.0 / math.log(2.0))))
        back = self.line(f"fneg double {k}")
        r = self.fma(back, exact(LN2_LOW), self.fma(back, exact(LN2), x))
        return self.line(f"fptosi double {k} to i64"), self.fma(self.binary("fmul", r, r), self.polynomial(r, _EXP), r)


def _exp(w: _Doubles) -> str:
    bound = w.of("maxnum", exact(-_BIGGEST), w.of("minnum", exact(_BIGGEST), "%x"))
    k, rest = w.parted(bound)
    half = w.line(f"ashr i64 {k}, 1")  # the power is taken in two parts, each of which a double has
    first, second = w.power(half), w.power(w.line(f"sub i64 {k}, {half}"))
    value = w.binary("fmul", w.binary("fmul", w.binary("fadd", exact(1.0), rest), first), second)
    return w.chosen("%x", "uno", "%x", "%x", value)


def _tanh(w: _Doubles) -> str:
    size = w.of("fabs", "%x")
    k, rest = w.parted(w.of("minnum", exact(44.0), w.binary("fadd", size, size)))  # beyond, it is 1
    power = w.power(k)
    less = w.fma(power, rest, w.binary("fsub", power, exact(1.0)))  # e^2x − 1
    value = w.of("copysign", w.binary("fdiv", less, w.binary("fadd", less, exact(2.0))), "%x")
    return w.chosen("%x", "uno", "%x", "%x", value)


def _log(w: _Doubles) -> str:
    small = w.line(f"fcmp olt double %x, {exact(2.0**-1022)}")
    scaled = w.line(f"select i1 {small}, double {w.binary('fmul', '%x', exact(2.0**54))}, double %x")
    bits = w.line(f"bitcast double {scaled} to i64")
    # the exponent k of x = 2^k m, with m from √½ to √2
    above = w.line(f"sub i64 {bits}, {0x3FE6A09E667F3BCD}")
    k = w.line(f"ashr i64 {above}, 52")
    m = w.line(f"bitcast i64 {w.line(f'sub i64 {bits}, ' + w.line(f'shl i64 {k}, 52'))} to double")
    lift = w.line(f"select i1 {small}, i64 54, i64 0")
    exponent = w.line(f"sitofp i64 {w.line(f'sub i64 {k}, {lift}')} to double")
    f = w.binary("fsub", m, exact(1.0))
    s = w.binary("fdiv", f, w.binary("fadd", f, exact(2.0)))
    z, half = w.binary("fmul", s, s), w.binary("fmul", exact(0.5), w.binary("fmul", f, f))
    R = w.binary("fmul", z, w.polynomial(z, LOGARITHM))
    small_part = w.fma(s, w.binary("fadd", half, R), w.binary("fmul", exponent, exact(LN2_LOW)))
    value = w.fma(exponent, exact(LN2), w.binary("fsub", f, w.binary("fsub", half, small_part)))
    value = w.chosen("%x", "oeq", exact(0.0), exact(-math.inf), value)
    value = w.chosen("%x", "olt", exact(0.0), exact(math.nan), value)
    return w.chosen("%x", "olt", exact(math.inf), value, "%x")


def _atan2(w: _Doubles) -> str:
    above, beside = w.of("fabs", "%y"), w.of("fabs", "%x")
    less, more = w.of("minnum", above, beside), w.of("maxnum", above, beside)
    a = w.chosen(less, "oeq", more, exact(1.0), w.binary("fdiv", less, more))  # both may be infinite
    a = w.chosen(more, "oeq", exact(0.0), exact(0.0), a)
    turned = w.binary("fdiv", w.binary("fsub", a, exact(1.0)), w.binary("fadd", a, exact(1.0)))
    b = w.chosen(a, "ogt", exact(_NEAR), turned, a)
    z = w.binary("fmul", b, b)
    bent = w.binary("fmul", w.binary("fmul", b, z), w.polynomial(z, ARC))
    angle = w.binary("fsub", b, bent)
    past = w.binary("fadd", exact(math.pi / 4), w.binary("fadd", angle, exact(3.061616997868383e-17)))
    angle = w.chosen(a, "ogt", exact(_NEAR), past, angle)
    rest = w.binary("fadd", w.binary("fsub", exact(math.pi / 2), angle), exact(6.123233995736766e-17))
    angle = w.chosen(above, "ogt", beside, rest, angle)
    back = w.binary("fadd", w.binary("fsub", exact(math.pi), angle), exact(1.2246467991473532e-16))
    angle = w.chosen(w.of("copysign", exact(1.0), "%x"), "olt", exact(0.0), back, angle)
    angle = w.of("copysign", angle, "%y")
    both = w.binary("fadd", "%x", "%y")
    none = w.line("fcmp uno double %x, %y")
    return w.line(f"select i1 {none}, double {both}, double {angle}")


#: The writers of the functions that there are, with their parameters.
FUNCTIONS: dict[str, tuple[Callable[[_Doubles], str], tuple[str, ...]]] = {
    "exp": (_exp, ("%x",)), "log": (_log, ("%x",)), "tanh": (_tanh, ("%x",)), "atan2": (_atan2, ("%y", "%x")),
}  # fmt: skip


def called_functions(module: Module, texts: Sequence[str], prefix: str = "") -> list[str]:
    """The texts of the functions that these texts call."""
    called = {name for text in texts for name in re.findall(r"call double @(\w+)\(", text)}
    return [function_text(module, name, prefix) for name in FUNCTIONS if name in called]


def function_text(module: Module, name: str, prefix: str = "") -> str:
    """The text of a function."""
    write, parameters = FUNCTIONS[name]
    writer = _Doubles(module)
    writer.effect(f"ret double {write(writer)}")
    listed = ", ".join(f"double {parameter}" for parameter in parameters)
    return writer.framed(f"define internal double @{prefix}{name}({listed}) #0")


# --- programs -------------------------------------------------------------------------------------------------------------
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


def _head(arrays: int, further: str = "") -> str:
    """The first line of a function over rows of so many arrays."""
    listed = "".join(f", ptr %array{k}, i64 %apart{k}" for k in range(arrays))
    return f"define ptx_kernel void @{KERNEL}(i64 %n{further}{listed}) #0"


def _row(to: Writer, k: int) -> str:
    """The address of a thread's row of array k."""
    return to.line(f"getelementptr {to.module.element}, ptr %array{k}, i64 {to.line(f'mul i64 %row, %apart{k}')}")


class _PerThread(Entry):
    """A function that each thread runs: of a program, and of those that fill its holes, by the holes' names."""

    name = KERNEL

    def __init__(self, program: Program | StoredProgram, fillings: Mapping[str, Program] | None = None):
        self.fillings = fillings or {}
        self.programs = (program, *self.fillings.values())

    def function(self, module: Module) -> str:
        """The function of one thread, and those that fill holes."""
        for name, program in self.fillings.items():
            text = OnBlocks(hole_name(name), program, own_memory=True).function(module)
            module.functions.append(text.replace("define void", "define internal void", 1))
        text = self.text(module, traced(self.programs[0]))
        return "\n".join([*called_functions(module, [*module.functions, text]), text])

    @abstractmethod
    def text(self, module: Module, program: Program) -> str:
        """The function of one thread."""


class StatePerThread(_PerThread):
    """`kernel(i64 n, ptr in, i64 apart, …, ptr out, i64 apart, …)`: n states; `apart`: numbers between two rows."""

    def text(self, module: Module, program: Program) -> str:
        """Its state's rows, around the program's body."""
        inputs = RowInputs({array.name: array.size for array in program.inputs}, {})
        body = ProgramBody(module, program, inputs)
        body.start("state")
        rows = [_row(body, k) for k in range(len((*program.inputs, *program.outputs)))]
        inputs.rows.update(zip((array.name for array in program.inputs), rows, strict=False))
        run_into_rows(body, rows[len(program.inputs) :])
        memory, _ = scratch_memory(module, scratch_size(program))
        return body.function(_head(len(rows)), begin=[*memory, *_THREAD])


class StepsPerThread(_PerThread):
    """`kernel(i64 n, i64 count, ptr array, i64 apart, …)`: `count` steps of n rows, which keep their states in between.

    The arrays are those of a step, (carried…, given…) → carried…; the carried ones are written when all steps are done.
    """

    def text(self, module: Module, program: Program) -> str:
        """Its rows into its own memory, and step after step from one place to another and back."""
        function, to = called_function(module, program), Writer(module)
        to.start("state")
        carried, start = sum(array.size for array in program.outputs), 0
        rows = []
        for k, array in enumerate(program.inputs):
            rows.append((_row(to, k), start, array.size))
            for j in range(array.size):
                value = to.line(f"load {module.element}, ptr {_at(to, rows[-1][0], j)}, {module.apart}")
                for place in ("%here", "%there") if start >= carried else ("%here",):
                    to.store_block(value, place, start + j)
            start += array.size
        with to.repeated("steps", "0", "%count"):
            to.effect(f"call void {function}(ptr %here, ptr %there, ptr %scratch)")
            to.copy("%there", "%here", carried)
        for row, first, size in rows[: len(program.outputs)]:
            for j in range(size):
                value = to.load_block("%here", first + j)
                to.effect(f"store {module.element} {value}, ptr {_at(to, row, j)}, {module.apart}")
        to.effect("ret void")
        buffers = {"here": start, "there": start, "scratch": max(scratch_size(program), 1)}
        memory = [f"  %{name} = alloca [{size} x {module.real}], align 16" for name, size in buffers.items()]
        return to.framed(_head(len(program.inputs), ", i64 %count"), [*memory, *_THREAD])


def _at(to: Writer, row: str, element: int) -> str:
    return to.line(f"getelementptr {to.module.element}, ptr {row}, i64 {element}")
