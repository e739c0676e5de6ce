"""Straight-line code: one instruction a node, and what is only read loaded where it is first used."""

from __future__ import annotations

from collections.abc import Sequence

from ...scalar import Symbol
from .module import Module
from .sincos import emit_sincos

__all__ = ["LineWriter"]

_ARITHMETIC = {"add": "fadd", "sub": "fsub", "mul": "fmul", "div": "fdiv"}
_COMPARE = {"lt": "fcmp olt", "le": "fcmp ole", "eq": "fcmp oeq"}
_LOGIC = {"and": "and", "or": "or"}
_INTRINSIC = {"sqrt": "sqrt", "abs": "fabs", "min": "minnum", "max": "maxnum"}
_LIBRARY = {"exp": 1, "log": 1, "tanh": 1, "atan2": 2, "sin": 1, "cos": 1}


class LineWriter:
    """Writes the lines of one function. What is not arithmetic is left to the methods `compute_…` of its heirs."""

    def __init__(self, module: Module):
        self.module = module
        self.lines: list[str] = []
        self.values: dict[Symbol, str] = {}
        self.deferred: set[Symbol] = set()  # computed where they are used, if at all
        self.trig: dict[Symbol, tuple[str, str]] = {}
        self.block = "entry"
        self.count = 0

    # --- writing ------------------------------------------------------------------------------------------------------
    def line(self, text: str) -> str:
        name = f"%v{self.count}"
        self.count += 1
        self.lines.append(f"  {name} = {text}")
        return name

    def effect(self, text: str) -> None:
        self.lines.append(f"  {text}")

    def start(self, label: str) -> None:
        self.lines.append(f"{label}:")
        self.block = label

    # --- lines --------------------------------------------------------------------------------------------------------
    def run_line(self, line: Sequence[Symbol]) -> None:
        for node in line:
            # what is only read, not computed, is loaded where it is first used
            if node not in self.deferred and node.op not in ("const", "input", "carried", "counter", "capture"):
                self.value(node)

    def value(self, node: Symbol) -> str:
        found = self.values.get(node)
        if found is None:
            found = self.values[node] = self.compute(node)
        return found

    def compute(self, node: Symbol) -> str:
        op, module = node.op, self.module
        if op == "const":
            return module.constant(node.payload)
        if op in _ARITHMETIC:
            a, b = (self.value(x) for x in node.args)
            flags = "" if module.portable or op == "div" else " contract"
            return self.line(f"{_ARITHMETIC[op]}{flags} {module.real} {a}, {b}")
        if op in ("sin", "cos") and not module.portable:
            (x,) = node.args
            if x not in self.trig:
                self.trig[x] = self.sincos(self.value(x))
            return self.trig[x][op == "cos"]
        if op == "neg":
            return self.line(f"fneg {module.real} {self.value(node.args[0])}")
        if op in _INTRINSIC:
            name = f"llvm.{_INTRINSIC[op]}.{module.suffix}"
            module.declare(module.real, name, [module.real] * len(node.args))
            arguments = ", ".join(f"{module.real} {self.value(x)}" for x in node.args)
            return self.line(f"call {module.real} @{name}({arguments})")
        if op in _COMPARE:
            a, b = (self.value(x) for x in node.args)
            return self.line(f"{_COMPARE[op]} {module.real} {a}, {b}")
        if op in _LOGIC:
            a, b = (self.value(x) for x in node.args)
            return self.line(f"{_LOGIC[op]} {module.condition} {a}, {b}")
        if op == "not":
            true = "true" if module.lanes == 1 else "splat (i1 true)"
            return self.line(f"xor {module.condition} {self.value(node.args[0])}, {true}")
        if op == "select":
            c, a, b = (self.value(x) for x in node.args)
            return self.line(f"select {module.condition} {c}, {module.real} {a}, {module.real} {b}")
        if op in _LIBRARY:
            return self.foreign(node)
        return getattr(self, f"compute_{op}")(node)

    def sincos(self, x: str) -> tuple[str, str]:
        """Sine and cosine; of single precision by way of double."""
        module = self.module
        wide = module.vector("double")
        if module.real != wide:
            x = self.line(f"fpext {module.real} {x} to {wide}")
        suffix = module.suffix.replace("f32", "f64")
        module.declare(wide, f"llvm.fma.{suffix}", [wide] * 3)
        found = emit_sincos(x, module.lanes, self.line)
        if module.real != wide:
            found = tuple(self.line(f"fptrunc {wide} {y} to {module.real}") for y in found)  # type: ignore[assignment]
        return found

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
