"""Straight-line code: one instruction per node; inputs are loaded where they are first used."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from ...scalar import Symbol
from .module import Module
from .sincos import PACKED, emit_sincos, packed_angles
from .sums import Term, fused_sums
from .writer import Writer

__all__ = ["CONDITIONS", "StraightLine"]

#: Operations whose values are true or false.
CONDITIONS = frozenset({"lt", "le", "eq", "and", "or", "not"})

#: The instruction of an operation: types in braces, one %s per operand. Operations of one instruction are rows here.
_PATTERNS = {
    "add": "fadd {real} %s, %s",
    "sub": "fsub {real} %s, %s",
    "mul": "fmul {real} %s, %s",
    "div": "fdiv {real} %s, %s",
    "neg": "fneg {real} %s",
    "lt": "fcmp olt {real} %s, %s",
    "le": "fcmp ole {real} %s, %s",
    "eq": "fcmp oeq {real} %s, %s",
    "and": "and {condition} %s, %s",
    "or": "or {condition} %s, %s",
    "not": "xor {condition} %s, {true}",
    "select": "select {condition} %s, {real} %s, {real} %s",
}
#: Operations that are intrinsic functions of LLVM.
_INTRINSIC = {"sqrt": "sqrt", "abs": "fabs", "min": "minimum", "max": "maximum"}
#: Functions of the C library, and how many arguments they take.
_LIBRARY = {"exp": 1, "log": 1, "tanh": 1, "atan2": 2, "sin": 1, "cos": 1}


class StraightLine(Writer):
    """Writes the lines of one function. Nodes that are not arithmetic are left to the methods `compute_…` of subclasses."""

    def __init__(self, module: Module):
        super().__init__(module)
        self.values: dict[Symbol, str] = {}
        self.deferred: set[Symbol] = set()  # computed where they are used, if at all
        self.trig: dict[Symbol, tuple[str, str]] = {}
        self.packed: dict[Symbol, int] = {}  # where the sines of angles are in memory; the cosines stand behind
        self.turn_size = 0
        self.sums: dict[Symbol, list[Term]] = {}
        self.patterns = {op: module.typed(pattern) for op, pattern in _PATTERNS.items()}

    def run_line(
        self, line: Sequence[Symbol], used: Mapping[Symbol, int], noted: Callable[[Symbol], None] | None = None
    ) -> None:
        """Computes the nodes of a line in their order.

        Args:
            line: the nodes.
            used: how often each is used, also outside of the line.
            noted: called with every node whose value has just been computed.
        """
        self.look_ahead(line, used)
        self.compute_line(line, noted)

    def look_ahead(self, line: Sequence[Symbol], used: Mapping[Symbol, int]) -> None:
        """Finds the sums of a line; for one state, computes angles that are known before it runs."""
        if not self.module.portable:
            if self.module.lanes == 1:
                self.pack_turns(line)
            sums, taken = fused_sums(line, used)
            self.sums |= sums
            self.deferred |= taken

    def compute_line(self, line: Sequence[Symbol], noted: Callable[[Symbol], None] | None = None) -> None:
        """Computes the nodes of a line that was looked ahead at."""
        for node in line:
            # what is only read, not computed, is loaded where it is first used
            if node not in self.deferred and node.op not in ("const", "input", "carried", "counter", "capture"):
                self.value(node)
                if noted is not None:
                    noted(node)

    def value(self, node: Symbol) -> str:
        """The name of a node's value, which is computed here if it is not known yet."""
        found = self.values.get(node)
        if found is None:
            found = self.values[node] = self.compute(node)
        return found

    def compute(self, node: Symbol) -> str:
        """Writes what computes a node."""
        op = node.op
        if node in self.sums:
            return self.sum(self.sums[node])
        pattern = self.patterns.get(op)
        if pattern is not None:
            return self.line(pattern % tuple([self.value(x) for x in node.args]))
        if op in _INTRINSIC:
            return self.intrinsic(node)
        if op in ("sin", "cos") and not self.module.portable:
            return self.turn(node)
        if op in _LIBRARY:
            return self.foreign(node)
        name: str = getattr(self, f"compute_{op}")(node)
        return name

    def compute_const(self, node: Symbol) -> str:
        return self.module.constant(node.payload)

    def sum(self, terms: Sequence[Term]) -> str:
        """A sum, term by term, with products fused into it; signs cost nothing, as they are turned in operands."""
        real = self.module.real
        negative, factors = terms[0]
        total = self.value(factors[0]) if len(factors) == 1 else self.line(f"fmul {real} {self.listed(factors)}")
        for term in terms[1:]:
            turned = term.negative != negative
            if len(term.factors) == 2:
                total = self.fused(term.factors, total, minus_product=turned and not negative, minus_total=turned and negative)
            else:
                value = self.value(term.factors[0])
                pair = f"{value}, {total}" if turned and negative else f"{total}, {value}"
                total = self.line(f"{'fsub' if turned else 'fadd'} {real} {pair}")
            negative = negative and not turned
        return total

    def fused(self, factors: Sequence[Symbol], total: str, *, minus_product: bool, minus_total: bool) -> str:
        """±a·b ± total, rounded once where the processor can, at every number of lanes."""
        module = self.module
        real, name = module.real, f"llvm.fmuladd.{module.suffix}"
        module.declare(real, name, [real] * 3)
        first, second = (self.value(factor) for factor in factors)
        if minus_product:  # a constant is the first factor: turned round, it would be stored a second time
            second = self.line(f"fneg {real} {second}")
        if minus_total:
            total = self.line(f"fneg {real} {total}")
        return self.line(f"call {real} @{name}({real} {first}, {real} {second}, {real} {total})")

    def listed(self, nodes: Sequence[Symbol]) -> str:
        """Values as the operands of an instruction."""
        return ", ".join([self.value(node) for node in nodes])

    def intrinsic(self, node: Symbol) -> str:
        """A function that LLVM knows."""
        module = self.module
        name = f"llvm.{_INTRINSIC[node.op]}.{module.suffix}"
        # which of two zeros is the smaller one costs two instructions more on x86
        flags = " nsz" if node.op in ("min", "max") and not module.portable else ""
        module.declare(module.real, name, [module.real] * len(node.args))
        arguments = ", ".join(f"{module.real} {self.value(x)}" for x in node.args)
        return self.line(f"call{flags} {module.real} @{name}({arguments})")

    def turn(self, node: Symbol) -> str:
        """Sine or cosine: both are computed at once."""
        (x,) = node.args
        if x in self.packed:
            return self.load_block("%turns", self.packed[x] + (PACKED if node.op == "cos" else 0))
        if x not in self.trig:
            self.trig[x] = self.sincos(self.value(x), self.module.lanes)
        return self.trig[x][node.op == "cos"]

    def pack_turns(self, line: Sequence[Symbol]) -> None:
        """Computes the sines and cosines of angles that are inputs, several at a time, and leaves them in `%turns`."""
        module = self.module
        vector = module.vector(module.element, PACKED)
        for group in packed_angles(line):
            filled = [*group, *[group[0]] * (PACKED - len(group))]
            x = "poison"
            for k, (_, read, _) in enumerate(filled):
                x = self.line(f"insertelement {vector} {x}, {module.real} {self.value(read)}, i32 {k}")
            offsets = ", ".join(f"{module.element} {module.number(offset)}" for _, _, offset in filled)
            x = self.line(f"fadd {vector} {x}, <{offsets}>")
            for k, found in enumerate(self.sincos(x, PACKED)):
                address = self.slot("%turns", self.turn_size + k * PACKED)
                self.effect(f"store {vector} {found}, ptr {address}, align {PACKED * module.precision.bytes}")
            self.packed |= {angle: self.turn_size + k for k, (angle, _, _) in enumerate(group)}
            self.turn_size += 2 * PACKED

    def sincos(self, x: str, lanes: int) -> tuple[str, str]:
        """Sine and cosine of so many numbers at once; of single precision by way of double."""
        module = self.module
        real, wide = module.vector(module.element, lanes), module.vector("double", lanes)
        if real != wide:
            x = self.line(f"fpext {real} {x} to {wide}")
        module.declare(wide, f"llvm.fma.{'' if lanes == 1 else f'v{lanes}'}f64", [wide] * 3)
        sine, cosine = emit_sincos(x, lanes, self.line)
        if real != wide:
            sine, cosine = (self.line(f"fptrunc {wide} {y} to {real}") for y in (sine, cosine))
        return sine, cosine

    def foreign(self, node: Symbol) -> str:
        """A function of the C library, lane by lane, in double precision."""
        module = self.module
        module.declare("double", node.op, ["double"] * _LIBRARY[node.op])
        arguments = [self.value(x) for x in node.args]
        if module.lanes == 1:
            return self.called(node.op, arguments)
        value = "poison"
        for lane in range(module.lanes):
            result = self.called(node.op, [self.line(f"extractelement {module.real} {a}, i32 {lane}") for a in arguments])
            value = self.line(f"insertelement {module.real} {value}, {module.element} {result}, i32 {lane}")
        return value

    def called(self, name: str, arguments: Sequence[str]) -> str:
        """One value of a function of the C library."""
        element = self.module.element
        if element != "double":
            arguments = [self.line(f"fpext {element} {a} to double") for a in arguments]
        result = self.line(f"call double @{name}({', '.join(f'double {a}' for a in arguments)})")
        return result if element == "double" else self.line(f"fptrunc double {result} to {element}")
