"""Programs as C99: one function that needs only <math.h>. Constants are written exactly, without rounding."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import ClassVar

from ...scalar import Array, LoopBlock, Program, Symbol
from .text import EXPRESSIONS, TextWriter, described, family, named

__all__ = ["to_c"]

_WORDS = """
    auto break case char const continue default do double else enum extern float for goto if inline int long main register
    restrict return short signed sizeof static struct switch typedef union unsigned void volatile while asm bool true false
    acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh erf erfc exp exp2 expm1 fabs fdim floor fma fmax fmin
    fmod frexp gamma hypot ilogb isfinite isinf isnan isnormal ldexp lgamma llrint llround log log10 log1p log2 logb lrint
    lround modf nan nearbyint nextafter nexttoward pow remainder remquo rint round scalbln scalbn signbit signgam significand
    drem sin sinh sqrt tan tanh tgamma trunc abort abs calloc exit free jn malloc memcpy memset printf yn INFINITY NAN
"""
_RESERVED = frozenset(_WORDS.split())
_LINE = 120


def to_c(program: Program) -> str:
    """The program as a C99 translation unit that defines one function.

    `void NAME(const double *q, ..., double *result)` takes one pointer an array, inputs first, in row-major order; an input of
    the shape () is given by value. NAME is the program's, with underscores for what C does not allow. The function may be
    called from several threads, and outputs may lie on inputs. With `-ffp-contract=off` it rounds as the reference does,
    operation by operation. It is straight-line code: gcc -O2 takes some seconds for 10 000 operations.
    """
    tables: dict[tuple[float, ...], str] = {}
    programs = family(program)
    names = named(programs, _RESERVED)
    functions, stacked = [], 0
    for one in programs:
        writer = _Writer(one, names, _RESERVED, tables)
        functions += [*writer.function(static=one is not program), ""]
        stacked += writer.stacked
    constants = [
        line
        for values, name in tables.items()
        for line in (*_wrapped(f"static const double {name}[{len(values)}] = {{", [_exact(x) for x in values], "};"), "")
    ]
    comment = described(program)
    if stacked:
        comment.append(f"Local arrays take {8 * stacked} bytes of the stack.")
    head = ["/*", *(f" * {line}".rstrip().replace("*/", "* /") for line in comment), " */", "#include <math.h>", ""]
    return "\n".join([*head, *constants, *functions])


class _Writer(TextWriter):
    expressions: ClassVar = EXPRESSIONS | {
        "abs": "fabs({0})",
        "min": "{1} < {0} || {1} != {1} ? {1} : {0}",
        "max": "{1} > {0} || {1} != {1} ? {1} : {0}",
        "and": "{0} && {1}",
        "or": "{0} || {1}",
        "not": "!{0}",
        "select": "{0} ? {1} : {2}",
    }

    def function(self, *, static: bool) -> list[str]:
        """The lines of the whole function."""
        program = self.program
        outputs = self.parameters[len(program.inputs) :]
        self.line(program.line)
        results = iter([self.settled(node) for node in program.results])
        for array, output in zip(program.outputs, outputs, strict=True):
            for k in range(array.size):
                self.write(f"{output}[{k}] = {next(results)};")
        unused = [name for key, name in self.inputs.items() if key not in self.used]
        unused += [output for array, output in zip(program.outputs, outputs, strict=True) if not array.size]
        typed = [f"{'double ' if a.shape == () else 'const double *'}{self.inputs[a.name]}" for a in program.inputs]
        typed += [f"double *{output}" for output in outputs]
        head = f"{'static ' if static else ''}void {self.functions[program]}({', '.join(typed) or 'void'})"
        return [head, "{", *(f"    (void){name};" for name in unused), *self.lines, "}"]

    def number(self, value: float) -> str:
        text = _exact(value)
        return f"({text})" if text.startswith("-") else text

    def declare(self, name: str, expression: str, *, condition: bool = False) -> None:
        self.write(f"const {'int' if condition else 'double'} {name} = {expression};")

    def subscript(self, array: Array, position: str) -> str:
        name = self.inputs[array.name]
        return name if array.shape == () else f"{name}[{position}]"

    def settled(self, node: Symbol) -> str:
        """The name of a result; all inputs are read before results are written, as they may share memory."""
        if node.op == "input" and "[" in self.names[node]:
            name = self.fresh("t")
            self.declare(name, self.names[node])
            self.names[node] = name
        return self.names[node]

    def real(self, position: str) -> str:
        return f"(double)({position})"

    def kept(self, stack: str, position: str, column: int, width: int) -> str:
        return f"{stack}[{width}*({position}) + {column}]"

    def call(self, program: Program, arguments: list[str]) -> Mapping[int, str]:
        given: list[str] = []
        start = 0
        for array in program.inputs:
            part = arguments[start : start + array.size]
            start += array.size
            if array.shape == ():
                given.append(part[0])
            else:
                given.append(self.fresh("a"))
                head = f"const double {given[-1]}[{max(array.size, 1)}] = {{"
                for line in _wrapped(head, part or ["0.0"], "};"):
                    self.write(line)
                self.stacked += array.size
        names: list[str] = []
        for array in program.outputs:
            given.append(self.fresh("r"))
            self.write(f"double {given[-1]}[{max(array.size, 1)}];")
            names += [f"{given[-1]}[{k}]" for k in range(array.size)]
            self.stacked += array.size
        self.write(f"{self.functions[program]}({', '.join(given)});")
        return dict(enumerate(names))

    def loop(self, block: LoopBlock, first: list[str], carried: list[str], counter: str, stack: str) -> None:
        for name, start in zip(carried, first, strict=True):
            self.write(f"double {name} = {start};")
        width = len(block.keeps)
        if width:  # the values of passes after an early stop are defined too
            self.write(f"double {stack}[{block.count * width}]{' = {0.0}' if block.condition is not None else ''};")
        self.write(f"for (int {counter} = 0; {counter} < {block.count}; {counter}++) {{")
        self.depth += 1
        following, kept, going = self.passes(block)
        if going is not None:
            self.write(f"if (!{going}) break;")
        for column, value in enumerate(kept):
            self.write(f"{stack}[{width}*{counter} + {column}] = {value};")
        changed = set(carried)
        for k, value in enumerate(following):  # all are read before any is written
            if value in changed:
                following[k] = self.fresh("n")
                self.declare(following[k], value)
        for name, value in zip(carried, following, strict=True):
            self.write(f"{name} = {value};")
        self.depth -= 1
        self.write("}")


def _exact(value: float) -> str:
    """A float64 that C reads back exactly: decimal if that is short and exact, else hexadecimal."""
    if not math.isfinite(value):
        return "NAN" if math.isnan(value) else "INFINITY" if value > 0 else "-INFINITY"
    return repr(value) if (1024.0 * value).is_integer() and abs(value) < 1e6 else value.hex()


def _wrapped(head: str, items: Sequence[str], tail: str) -> list[str]:
    """`head item, item, ... tail`, over as many lines as needed."""
    lines, line = [], head
    for k, item in enumerate(items):
        text = item if k == len(items) - 1 else f"{item}, "
        if len(line) + len(text) > _LINE:
            lines.append(line.rstrip())
            line = "    "
        line += text
    return [*lines, line + tail]
