"""Programs as C99: one function, nothing but <math.h>. Constants are written exactly, so that nothing is rounded on the way."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from ...scalar import Array, Loop, Program, Symbol
from .text import TextWriter, described, identifiers

__all__ = ["to_c"]

_RESERVED = frozenset(
    "auto break case char const continue default do double else enum extern float for goto if inline int long main register "
    "restrict return short signed sizeof static struct switch typedef union unsigned void volatile while asm bool true false "
    "acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh erf erfc exp exp2 expm1 fabs fdim floor fma fmax fmin "
    "fmod frexp gamma hypot ilogb isfinite isinf isnan isnormal ldexp lgamma llrint llround log log10 log1p log2 logb lrint "
    "lround modf nan nearbyint nextafter nexttoward pow remainder remquo rint round scalbln scalbn signbit signgam significand "
    "drem sin sinh sqrt tan tanh tgamma trunc abort abs calloc exit free jn malloc memcpy memset printf yn INFINITY NAN".split()
)
_LINE = 120


def to_c(program: Program) -> str:
    """The program as a C99 translation unit that defines one function.

    `void NAME(const double *q, ..., double *result)` takes one pointer an array, inputs first, in row-major order; an input of the
    shape () is given by value. NAME is the program's, with underscores for what C does not allow. The function may be called from
    several threads, and outputs may lie on inputs. With `-ffp-contract=off` it rounds as the reference does, operation by operation.
    """
    module = _Module()
    body = module.function(program)
    comment = [*described(program), f"Local arrays take {8 * module.stacked} bytes of the stack."]
    head = ["/*", *(f" * {line}".rstrip().replace("*/", "* /") for line in comment), " */", "#include <math.h>", ""]
    return "\n".join([*head, *module.tables.text(), *module.functions, *body, ""])


class _Tables:
    """The tables of a module, each once."""

    def __init__(self) -> None:
        self.names: dict[tuple[float, ...], str] = {}

    def name(self, values: tuple[float, ...]) -> str:
        return self.names.setdefault(values, f"table{len(self.names)}_")

    def text(self) -> list[str]:
        return [
            line
            for values, name in self.names.items()
            for line in (*_wrapped(f"static const double {name}[{len(values)}] = {{", [_exact(x) for x in values], "};"), "")
        ]


class _Module:
    """The functions written so far, each program once."""

    def __init__(self) -> None:
        self.tables = _Tables()
        self.functions: list[str] = []
        self.names: dict[Program, str] = {}
        self.stacked = 0

    def function(self, program: Program, *, static: bool = False) -> list[str]:
        taken = {*_RESERVED, *self.names.values()}
        self.names[program] = name = identifiers([program.name], taken)[0]
        known = [array.name for array in program.inputs]
        every = identifiers([*known, *(array.name for array in program.outputs)], {*taken, name})
        inputs, outputs = dict(zip(known, every, strict=False)), every[len(known) :]
        writer = _Writer(program, inputs, self)
        writer.line(program.line)
        results = [writer.settled(node) for node in program.results]
        position = 0
        for array, output in zip(program.outputs, outputs, strict=True):
            for k in range(array.size):
                writer.write(f"{output}[{k}] = {results[position + k]};")
            position += array.size
        unused = [f"    (void){inputs[key]};" for key in known if key not in writer.used]
        unused += [f"    (void){output};" for array, output in zip(program.outputs, outputs, strict=True) if not array.size]
        parameters = [f"double {inputs[a.name]}" if a.shape == () else f"const double *{inputs[a.name]}" for a in program.inputs]
        parameters += [f"double *{output}" for output in outputs]
        self.stacked += writer.stacked
        head = f"{'static ' if static else ''}void {name}({', '.join(parameters) or 'void'})"
        return [head, "{", *unused, *writer.lines, "}"]

    def callee(self, program: Program) -> str:
        if program not in self.names:
            self.functions += [*self.function(program, static=True), ""]
        return self.names[program]


class _Writer(TextWriter):
    expressions = {
        "neg": "-{0}",
        "add": "{0} + {1}",
        "sub": "{0} - {1}",
        "mul": "{0}*{1}",
        "div": "{0}/{1}",
        "sqrt": "sqrt({0})",
        "sin": "sin({0})",
        "cos": "cos({0})",
        "exp": "exp({0})",
        "log": "log({0})",
        "tanh": "tanh({0})",
        "atan2": "atan2({0}, {1})",
        "abs": "fabs({0})",
        "min": "{1} < {0} ? {1} : {0}",
        "max": "{1} > {0} ? {1} : {0}",
        "lt": "{0} < {1}",
        "le": "{0} <= {1}",
        "eq": "{0} == {1}",
        "and": "{0} && {1}",
        "or": "{0} || {1}",
        "not": "!{0}",
        "select": "{0} ? {1} : {2}",
    }

    def __init__(self, program: Program, inputs: Mapping[str, str], module: _Module):
        super().__init__(program, inputs)
        self.module = module

    def number(self, value: float) -> str:
        text = _exact(value)
        return f"({text})" if text.startswith("-") else text

    def declare(self, name: str, expression: str, *, condition: bool = False) -> None:
        self.write(f"const {'int' if condition else 'double'} {name} = {expression};")

    def subscript(self, array: Array, position: str) -> str:
        name = self.inputs[array.name]
        return name if array.shape == () else f"{name}[{position}]"

    def settled(self, node: Symbol) -> str:
        """The name of a result; inputs are read before anything is written, which may lie on them."""
        if node.op == "input" and "[" in self.names[node]:
            name = self.fresh("t")
            self.declare(name, self.names[node])
            self.names[node] = name
        return self.names[node]

    def table(self, values: tuple[float, ...], position: str) -> str:
        return f"{self.module.tables.name(values)}[{position}]"

    def real(self, position: str) -> str:
        return f"(double)({position})"

    def kept(self, stack: str, position: str, column: int, width: int) -> str:
        return f"{stack}[{width}*({position}) + {column}]"

    def call(self, program: Program, arguments: list[str]) -> Mapping[int, str]:
        name, given, start = self.module.callee(program), [], 0
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
        self.write(f"{name}({', '.join(given)});")
        return dict(enumerate(names))

    def loop(self, block: Loop, first: list[str], carried: list[str], counter: str, stack: str) -> None:
        for name, start in zip(carried, first, strict=True):
            self.write(f"double {name} = {start};")
        width = len(block.keeps)
        if width:  # what the passes after an early stop would have kept is defined too
            self.write(f"double {stack}[{block.count * width}]{' = {0.0}' if block.condition is not None else ''};")
        self.write(f"for (int {counter} = 0; {counter} < {block.count}; {counter}++) {{")
        self.depth += 1
        following, kept, going = self.passes(block)
        if going is not None:
            self.write(f"if (!{going}) break;")
        for column, value in enumerate(kept):
            self.write(f"{stack}[{width}*{counter} + {column}] = {value};")
        changed = set(carried)
        for k, value in enumerate(following):  # all are read before one is written
            if value in changed:
                following[k] = self.fresh("n")
                self.declare(following[k], value)
        for name, value in zip(carried, following, strict=True):
            self.write(f"{name} = {value};")
        self.depth -= 1
        self.write("}")


def _exact(value: float) -> str:
    """A float64 as C reads it back bit by bit: in decimals where these are short and exact, else hexadecimal."""
    if not math.isfinite(value):
        return "NAN" if math.isnan(value) else "INFINITY" if value > 0 else "-INFINITY"
    return repr(value) if (1024.0 * value).is_integer() and abs(value) < 1e6 else value.hex()


def _wrapped(head: str, items: Sequence[str], tail: str) -> list[str]:
    """`head item, item, ... tail`, over as many lines as it takes."""
    lines, line = [], head
    for k, item in enumerate(items):
        text = item if k == len(items) - 1 else f"{item}, "
        if len(line) + len(text) > _LINE:
            lines.append(line.rstrip())
            line = "    "
        line += text
    return [*lines, line + tail]
