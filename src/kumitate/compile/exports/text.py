"""Programs as C: a walk over a program that writes one statement per node.

Operands are always names, numbers or subscripts, so that there is no precedence to think of.
"""

from __future__ import annotations

import math
import re
import textwrap
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files

from ...errors import InputError
from ...scalar import Hole, LoopBlock, Program, Symbol, origin
from ...scalar.blocks import divided, walk
from ...scalar.elementary import elementary
from ...scalar.operations import CONDITIONS, LIBRARY, TRACED
from ..llvm.straight_line import known_angles

_WORDS = """
    auto break case char const continue default do double else enum extern float for goto if inline int long main register
    restrict return short signed sizeof static struct switch typedef union unsigned void volatile while asm bool true false
    acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh erf erfc exp exp2 expm1 fabs fdim floor fma fmax fmin
    fmod frexp gamma hypot ilogb isfinite isinf isnan isnormal ldexp lgamma llrint llround log log10 log1p log2 logb lrint
    lround modf nan nearbyint nextafter nexttoward pow remainder remquo rint round scalbln scalbn signbit signgam significand
    drem sin sincos sinh sqrt tan tanh tgamma trunc abort abs calloc exit free jn malloc memcpy memset printf yn INFINITY NAN
"""
_C_RESERVED = frozenset(_WORDS.split())
_LINE = 120
_TEMPORARY = re.compile(r"[a-z]\d+")


def identifiers(names: Iterable[str], reserved: Collection[str]) -> list[str]:
    """Names as identifiers of a language: letters, digits and underscores, not reserved, all different."""
    taken, found = set(reserved), []
    for name in names:
        clean = re.sub(r"[^A-Za-z0-9_]", "_", name)
        if not clean[:1].isalpha():
            clean = f"x{clean}"
        while clean in taken or _TEMPORARY.fullmatch(clean):
            clean += "_"
        taken.add(clean)
        found.append(clean)
    return found


def described(program: Program) -> list[str]:
    """A description of a program in a few lines."""
    operations = program.operations
    kinds = ", ".join(f"{number} {op}" for op, number in operations.most_common())
    lines = [f"{program.name}: {operations.total()} operations{f' ({kinds})' if kinds else ''}", ""]
    for title, arrays in (("in", program.inputs), ("out", program.outputs)):
        for array in arrays:
            shape = " x ".join(str(size) for size in array.shape) or "1"
            lines.append(f"  {title:3}  {array.name}: {shape} {'number' if array.size == 1 else 'numbers'}")
    return [*lines, "", "Quantities of mechanisms are in SI units and radians, angular parts first, matrices row by row."]


# --- C99: one function that needs only <math.h>; constants are written exactly, without rounding --------------------------
def to_c(
    *programs: Program,
    fillings: Mapping[str, Program] | None = None,
    portable: bool = False,
    real: str = "double",
    private: bool = False,
    quick: bool = False,
) -> str:
    """The programs as a C99 translation unit that defines a function for each.

    `void NAME(const double *q, ..., double *result)` takes one pointer an array, inputs first, in row-major order; an input of
    the shape () is given by value. NAME is the program's, with underscores for what C does not allow. The function may be
    called from several threads, and outputs may lie on inputs. With `-ffp-contract=off` it rounds as the reference does,
    operation by operation. It is straight-line code: gcc -O2 takes some seconds for 10 000 operations.

    Args:
        fillings: programs for holes, by name.
        portable: whether functions of mathematics are plain operations: the bits of kernels with `portable=True`.
        real: the type of all numbers; private: whether the functions are static.
        quick: whether sines and cosines of inputs are computed side by side, within 3e-16 for angles up to a million, and gcc
            compiles the functions for PCs with and without fused products; without effect on float.

    Raises:
        InputError: for a hole that nothing fills.
    """
    tables: dict[tuple[float, ...], str] = {}
    names = c_names(programs, fillings or {}, portable=portable)
    functions, constants, stacked = [], list[str](), 0
    quick = quick and real == "double"  # in float the library's own are quick
    for one in reversed(names):
        writer = _CWriter(one, names, tables, fillings or {}, {} if portable else None, real, quick)
        functions += [*writer.function(static=private or one not in programs), ""]
        stacked += writer.stacked
    for values, name in tables.items():
        numbers = [_c_number(x, real) for x in values]
        constants += [*wrapped(f"static const {real} {name}[{len(values)}] = {{", numbers, "};"), ""]
    comment = [line for program in programs for line in (*described(program), "")][:-1]
    if stacked:
        comment.append(f"Local arrays take {(8 if real == 'double' else 4) * stacked} bytes of the stack.")
    library = "#include <math.h>"
    library += f"\n{(files(__package__) / 'turn.h').read_text(encoding='utf-8')}" if quick else ""
    head = ["/*", *(f" * {line}".rstrip().replace("*/", "* /") for line in comment), " */", library, ""]
    return "\n".join([*head, *constants, *functions])


def filled(program: Program, fillings: Mapping[str, Program]) -> Program:
    """A called program; for a hole, what fills it, or an `InputError` if nothing does."""
    if not isinstance(program, Hole):
        return program
    if program.name not in fillings:
        raise InputError(f"the hole {program.name!r} is empty; name a program for it in the fillings")
    return fillings[program.name]


def c_names(programs: Sequence[Program], fillings: Mapping[str, Program], *, portable: bool) -> dict[Program, str]:
    """The names of the functions of `to_c`: of the programs and all that they call, each behind those that call it."""
    found: dict[Program, None] = {}

    def visit(program: Program) -> None:
        if program in found:
            return
        for node in walk(program.line):
            if node.op == "call":
                visit(filled(node.payload, fillings))
            elif portable and node.op in LIBRARY:
                visit(elementary(node.op)[0])
        found[program] = None

    for program in programs:
        visit(program)
    every = list(reversed(found))
    return dict(zip(every, identifiers([program.name for program in every], _C_RESERVED), strict=True))


#: The text of each operation by the type of numbers; <tgmath.h> would choose functions too, but not by newlib's headers.
_C_FORMS = {
    real: {name: re.sub(r"([a-z]\w*)\(", rf"\1{suffix}(", row.c) for name, row in TRACED.items()}
    for real, suffix in (("double", ""), ("float", "f"))
}


@dataclass
class _CWriter:
    """Writes one program's function.

    Attributes:
        functions: the names of all programs' functions.
        tables: the names of all functions' tables of constants, by what is in them.
        fillings: programs for holes, by name.
        together: the results of functions of mathematics that are programs; None if these are the library's.
        real: the type of all numbers; quick: as of `to_c`.
        parameters: the names of the arrays, inputs first; inputs: those of the inputs, by the program's own names.
        lines: the text so far.
        stacked: how many numbers the body's local arrays hold.
    """

    program: Program
    functions: Mapping[Program, str]
    tables: dict[tuple[float, ...], str]
    fillings: Mapping[str, Program]
    together: dict[tuple[Program, tuple[Symbol, ...]], Mapping[int, str]] | None
    real: str
    quick: bool

    def __post_init__(self) -> None:
        arrays = (*self.program.inputs, *self.program.outputs)
        self.parameters = identifiers([array.name for array in arrays], {*_C_RESERVED, *self.functions.values()})
        self.inputs = dict(zip((array.name for array in self.program.inputs), self.parameters, strict=False))
        self.lines: list[str] = []
        self.names: dict[Symbol, str] = {}
        self.results: dict[Symbol, Mapping[int, str]] = {}
        self.stacks: dict[Symbol, str] = {}
        self.used: set[str] = set()
        self.depth, self.stacked = 1, 0
        self._counts: Counter[str] = Counter()

    # --- the walk -----------------------------------------------------------------------------------------------------
    def fresh(self, letter: str) -> str:
        """A name that is not in use."""
        self._counts[letter] += 1
        return f"{letter}{self._counts[letter] - 1}"

    def write(self, text: str) -> None:
        """One line."""
        self.lines.append(f"{'    ' * self.depth}{text}")

    def declare(self, name: str, expression: str, *, condition: bool = False) -> None:
        """A new constant name and its value."""
        self.write(f"const {'int' if condition else self.real} {name} = {expression};")

    def line(self, nodes: Sequence[Symbol]) -> None:
        """The statements of the nodes of a line."""
        for node in nodes:
            if node in self.names:  # by their loop, or computed before the line
                continue
            template = _C_FORMS[self.real].get(node.op)
            if self.together is not None and node.op in LIBRARY:
                self._elementary(node)
            elif template is not None:
                self._name(node, template.format(*(self.names[a] for a in node.args)))
            else:
                getattr(self, f"_{node.op}")(node)

    def _name(self, node: Symbol, expression: str) -> None:
        name = self.names[node] = self.fresh("t")
        self.declare(name, expression, condition=node.op in CONDITIONS)

    def _const(self, node: Symbol) -> None:
        text = _c_number(node.payload, self.real)
        self.names[node] = f"({text})" if text.startswith("-") else text

    def _capture(self, node: Symbol) -> None:
        if node.payload in self.names:  # else a loop or a call, which has no name
            self.names[node] = self.names[node.payload]

    def _input(self, node: Symbol) -> None:
        name, k = node.payload
        self.names[node] = self._read(name, str(k))

    def _load(self, node: Symbol) -> None:
        self._name(node, self._read(node.payload[0], self._position(node)))

    def _read(self, name: str, position: str) -> str:
        self.used.add(name)
        array = next(array for array in self.program.inputs if array.name == name)
        return self.inputs[name] if array.shape == () else f"{self.inputs[name]}[{position}]"

    def _lookup(self, node: Symbol) -> None:
        values = node.payload[0].values
        table = self.tables.setdefault(values, f"k{len(self.tables)}")
        self._name(node, f"{table}[{self._position(node)}]")

    def _ordinal(self, node: Symbol) -> None:
        self._name(node, f"({self.real})({self._position(node)})")

    def _position(self, node: Symbol) -> str:
        """stride·counter + offset, where a node reads by index."""
        _, stride, offset = node.payload
        if stride == 0:
            return str(offset)
        counter = self.names[node.args[-1]]
        scaled = {1: counter, -1: f"-{counter}"}.get(stride, f"{stride}*{counter}")
        return scaled if offset == 0 else f"{scaled} {'+' if offset > 0 else '-'} {abs(offset)}"

    def _element(self, node: Symbol) -> None:
        source = origin(node.args[0])
        keeps = list(source.payload.keeps)
        column = keeps.index(node.payload[0])
        self._name(node, f"{self.stacks[source]}[{len(keeps)}*({self._position(node)}) + {column}]")

    def _result(self, node: Symbol) -> None:
        self.names[node] = self.results[origin(node.args[0])][node.payload]

    def _call(self, node: Symbol) -> None:
        self.results[node] = self.call(filled(node.payload, self.fillings), [self.names[a] for a in node.args])

    def _elementary(self, node: Symbol) -> None:
        """A function of mathematics; sine and cosine of a number are computed at once."""
        assert self.together is not None
        program, place = elementary(node.op)
        if (program, node.args) not in self.together:
            self.together[program, node.args] = self.call(program, [self.names[a] for a in node.args])
        self.names[node] = self.together[program, node.args][place]

    def _loop(self, node: Symbol) -> None:
        block: LoopBlock = node.payload
        carries = block.carries
        carried = [self.fresh("c") for _ in carries]
        counter, stack = self.fresh("i"), self.fresh("s")
        first = [self.names[a] for a in node.args[: len(carries)]]
        for (now, _), name in zip(carries.values(), carried, strict=True):
            self.names[now] = name
        for part in block.line:
            if part.op == "counter":
                self.names[part] = counter
        self.results[node], self.stacks[node] = dict(zip(carries, carried, strict=True)), stack
        for name, start in zip(carried, first, strict=True):
            self.write(f"{self.real} {name} = {start};")
        width = len(block.keeps)
        self.stacked += block.count * width
        if width:  # the values of passes after an early stop are defined too
            self.write(f"{self.real} {stack}[{block.count * width}]{' = {0.0}' if block.condition is not None else ''};")
        self.write(f"for (int {counter} = 0; {counter} < {block.count}; {counter}++) {{")
        self.depth += 1
        before = self.together
        self.together = None if before is None else dict(before)
        self.line(block.line)
        self.together = before  # names of a pass end with it
        if block.condition is not None:
            self.write(f"if (!{self.names[block.condition]}) break;")
        for column, symbol in enumerate(block.keeps.values()):
            self.write(f"{stack}[{width}*{counter} + {column}] = {self.names[symbol]};")
        following = [self.names[then] for _, then in carries.values()]
        for k, value in enumerate(following):  # all are read before any is written
            if value in carried:
                following[k] = self.fresh("n")
                self.declare(following[k], value)
        for name, value in zip(carried, following, strict=True):
            self.write(f"{name} = {value};")
        self.depth -= 1
        self.write("}")

    # --- the function and its calls -------------------------------------------------------------------------------
    def function(self, *, static: bool) -> list[str]:
        """The lines of the whole function."""
        program, real = self.program, self.real
        outputs = self.parameters[len(program.inputs) :]
        if self.quick:
            self.turns()
        self.line(program.line)
        results = iter([self.settled(node) for node in program.results])
        for array, output in zip(program.outputs, outputs, strict=True):
            for k in range(array.size):
                self.write(f"{output}[{k}] = {next(results)};")
        unused = [name for key, name in self.inputs.items() if key not in self.used]
        unused += [output for array, output in zip(program.outputs, outputs, strict=True) if not array.size]
        typed = [f"{real + ' ' if a.shape == () else f'const {real} *'}{self.inputs[a.name]}" for a in program.inputs]
        typed += [f"{real} *{output}" for output in outputs]
        head = f"{'static ' if static else ''}void {self.functions[program]}({', '.join(typed) or 'void'})"
        return [*["KM_TWICE"][: self.quick], head, "{", *(f"    (void){name};" for name in unused), *self.lines, "}"]

    def turns(self) -> None:
        """Sines and cosines of all angles that are inputs, in a loop of an even number of passes, for vectors of two."""
        known = known_angles(self.program.line)
        if not known:
            return
        for _, read, _ in known:
            self._input(read)
        texts = [self.names[read] + (f" + {_c_number(offset, self.real)}" if offset else "") for _, read, offset in known]
        texts += texts[: len(texts) % 2]
        x, sines, cosines = (self.fresh(letter) for letter in "xyz")
        for line in wrapped(f"const double {x}[{len(texts)}] = {{", texts, "};"):
            self.write(line)
        self.write(f"double {sines}[{len(texts)}], {cosines}[{len(texts)}];")
        self.write(f"for (int i = 0; i < {len(texts)}; i++) kumitate_turn({x}[i], {sines} + i, {cosines} + i);")
        places = {angle: k for k, (angle, _, _) in enumerate(known)}
        self.names |= {angle: f"{x}[{k}]" for angle, k in places.items() if angle.op != "input"}
        for node in self.program.line:
            if node.op in ("sin", "cos") and node.args[0] in places:
                self.names[node] = f"{sines if node.op == 'sin' else cosines}[{places[node.args[0]]}]"
        self.stacked += 3 * len(texts)

    def settled(self, node: Symbol) -> str:
        """The name of a result; all inputs are read before results are written, as they may share memory."""
        if node.op == "input" and "[" in self.names[node]:
            name = self.fresh("t")
            self.declare(name, self.names[node])
            self.names[node] = name
        return self.names[node]

    def call(self, program: Program, arguments: list[str]) -> Mapping[int, str]:
        given: list[str] = []
        for array, part in zip(program.inputs, divided(program.inputs, arguments).values(), strict=True):
            given.append(part[0] if array.shape == () else self.fresh("a"))
            if array.shape != ():
                head = f"const {self.real} {given[-1]}[{max(array.size, 1)}] = {{"
                for line in wrapped(head, part or [_c_number(0.0, self.real)], "};"):
                    self.write(line)
                self.stacked += array.size
        names: list[str] = []
        for array in program.outputs:
            given.append(self.fresh("r"))
            self.write(f"{self.real} {given[-1]}[{max(array.size, 1)}];")
            names += [f"{given[-1]}[{k}]" for k in range(array.size)]
            self.stacked += array.size
        self.write(f"{self.functions[program]}({', '.join(given)});")
        return dict(enumerate(names))


def exact(value: float) -> str:
    """A float64 that C reads back exactly: decimal if that is short and exact, else hexadecimal."""
    if not math.isfinite(value):
        return "NAN" if math.isnan(value) else "INFINITY" if value > 0 else "-INFINITY"
    return repr(value) if (1024.0 * value).is_integer() and abs(value) < 1e6 else value.hex()


def _c_number(value: float, real: str) -> str:
    text = exact(value)
    return f"{text}f" if real == "float" and math.isfinite(value) else text


def wrapped(head: str, items: Sequence[str], tail: str) -> list[str]:
    """`head item, item, ... tail`, over as many lines as needed."""
    text = f"{head}{', '.join(items)}{tail}"
    return textwrap.wrap(text, _LINE, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False)
