"""Procedures as C99: a function that needs only <math.h> and <string.h>; traced programs that it calls are other files."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from ..compile.exports import to_c
from ..scalar import Program
from ..scalar.operations import C_LIBRARY, OPERATIONS
from .kinds import FLOAT, INT, LETTERS, ArrayKind, NumberKind
from .tree import Constant, TypedProcedure
from .walk import ProcedureWriter, procedure_family

_TYPES = {"float": "double", "int": "long long", "bool": "int", "pointer": "void *restrict"}


class CText:
    """The C form of a procedure.

    The function is named like the procedure. It takes the leaves of its arguments: numbers by value, arrays by address and,
    unless that is fixed, number of rows; then addresses for the results. With gcc's `-ffp-contract=off -fwrapv` it gives the
    same numbers as the function as written.

    Attributes:
        text: of the procedure and all that it calls.
        programs: the texts of the traced programs that it calls, by the names of their functions: other files.
    """

    def __init__(self, typed: TypedProcedure):
        family = procedure_family(typed)
        self.names = {one: f"p{k}_{one.name}" for k, one in enumerate(family[:-1])} | {typed: typed.name}
        self.needs: dict[TypedProcedure, list[int]] = {}
        self.tables: dict[tuple[str, str], str] = {}
        self.programs: dict[str, str] = {}
        self.declared: dict[Program, str] = {}
        functions = [_CWriter(one, self).text(exported=one is typed) for one in family]
        tables = [f"static const {kind} {name}[] = {{{numbers}}};" for (kind, numbers), name in self.tables.items()]
        declared = [f"void {name}({', '.join(self.parameters(program))});" for program, name in self.declared.items()]
        head = ["#include <math.h>", "#include <string.h>", C_LIBRARY]
        self.text = "\n".join([*head, *tables, *declared, *functions, ""])

    def program(self, program: Program) -> str:
        """The name of the function of a traced program."""
        if program not in self.declared:
            text = to_c(program)
            (name,) = re.findall(r"^void (\w+)\(", text, flags=re.MULTILINE)
            self.declared[program] = name
            self.programs[name] = text
        return self.declared[program]

    @staticmethod
    def parameters(program: Program) -> list[str]:
        """The types of the parameters of a traced program's function."""
        inputs = ["double" if array.shape == () else "const double *" for array in program.inputs]
        return [*inputs, *["double *"] * len(program.outputs)]


class _CWriter(ProcedureWriter):
    """Writes one function; all names are declared at its head, so that blocks need none of their own."""

    def __init__(self, typed: TypedProcedure, module: CText):
        super().__init__(typed, module.names, module.needs, checked=False)
        self.module = module
        self.head: list[str] = []
        self.lines: list[str] = []
        self.depth = 1
        self.count = 0

    def text(self, *, exported: bool) -> str:
        """The whole function; an exported one takes all leaves, whether it reads them or not."""
        leaves = [leaf for _, kind in self.typed.parameters for leaf in kind.leaves]
        self.write_body([f"a{k}" for k in range(len(leaves))])
        if exported:
            self.needs[self.typed] = list(range(len(leaves)))
        parameters = [f"{_TYPES[leaves[k]]} a{k}" for k in self.needs[self.typed]]
        parameters += [f"{_TYPES[leaf]} *r{k}" for k, leaf in enumerate(self.typed.result.leaves)]
        unused = [f"    (void)a{k};" for k in self.needs[self.typed] if k not in self.read]
        head = f"{'' if exported else 'static '}void {self.functions[self.typed]}({', '.join(parameters) or 'void'})"
        return "\n".join([head, "{", *self.head, *unused, *self.lines, "}"])

    def write(self, text: str) -> None:
        """One line."""
        self.lines.append(f"{'    ' * self.depth}{text}")

    def fresh_name(self, leaf: str, start: str = "") -> str:
        """A new name, declared at the head."""
        self.count += 1
        kind = "void *" if leaf == "pointer" else f"{_TYPES[leaf]} "
        self.head.append(f"    {kind}v{self.count}{start};")
        return f"v{self.count}"

    def line(self, leaf: str, value: str) -> str:
        """A value; its name."""
        name = self.fresh_name(leaf)
        self.write(f"{name} = {value};")
        return name

    def number(self, value: float, kind: NumberKind) -> str:
        if kind == FLOAT:
            if not math.isfinite(value):
                return "NAN" if math.isnan(value) else "INFINITY" if value > 0 else "(-INFINITY)"
            return f"({float(value).hex()})"
        if kind == INT:
            return "(-9223372036854775807LL - 1)" if value == -(2**63) else f"({int(value)}LL)"
        return str(int(value))

    def table(self, constant: Constant) -> str:
        kind = constant.kind
        assert isinstance(kind, ArrayKind)
        numbers = ", ".join(self.number(x, kind.element) for x in _flat(constant.value))
        key = _TYPES[kind.element.name], numbers
        return f"(void *){self.module.tables.setdefault(key, f'table{len(self.module.tables)}')}"

    def operation(self, name: str, operands: Sequence[str]) -> str:
        row = OPERATIONS[name]
        return self.line(LETTERS[row.kinds[-1]].name, row.c.format(*operands))

    def variable(self, leaf: str, name: str) -> str:
        return self.fresh_name(leaf, " = 0")

    def get(self, variable: str, leaf: str) -> str:
        return self.line(leaf, variable)

    def put(self, variable: str, leaf: str, value: str) -> None:
        self.write(f"{variable} = {value};")

    def address(self, pointer: str, kind: ArrayKind, indices: Sequence[str]) -> str:
        place = indices[0]
        for size, index in zip(kind.row, indices[1:], strict=False):
            place = f"({place})*{size} + {index}"
        rest = math.prod(kind.row[len(indices) - 1 :])
        return self.line("pointer", f"({_TYPES[kind.element.name]} *){pointer} + ({place})*{rest}")

    def load(self, pointer: str, kind: NumberKind) -> str:
        return self.line(kind.name, f"*({_TYPES[kind.name]} *){pointer}")

    def store(self, pointer: str, kind: NumberKind, value: str) -> None:
        self.write(f"*({_TYPES[kind.name]} *){pointer} = {value};")

    def fresh(self, kind: ArrayKind) -> str:
        self.count += 1
        name, element = f"l{self.count}", _TYPES[kind.element.name]
        self.head.append(f"    {element} {name}[{kind.row_size * (kind.shape[0] or 0)}];")
        self.write(f"memset({name}, 0, sizeof {name});")
        return name

    def invoke(self, called: TypedProcedure, arguments: Sequence[str]) -> list[str]:
        results = [self.fresh_name(leaf) for leaf in called.result.leaves]
        given = [*arguments, *(f"&{name}" for name in results)]
        self.write(f"{self.functions[called]}({', '.join(given)});")
        return results

    def run_program(self, program: Program, count: str | None, arrays: Sequence[tuple[str, str | None]]) -> None:
        name = self.module.program(program)
        counter = self.begin_count("0", count or "1", 1)
        given = []
        for k, (array, (rows, index)) in enumerate(zip((*program.inputs, *program.outputs), arrays, strict=True)):
            place = counter if index is None else f"((long long *){index})[{counter}]"
            row = f"(double *){rows} + ({place})*{array.size}"
            given.append(f"*({row})" if array.shape == () and k < len(program.inputs) else row)
        self.write(f"{name}({', '.join(given)});")
        self.end_count(None)

    def run_at(self, address: str, arrays: Sequence[str]) -> None:
        types = ", ".join(["long long", *["void *"] * len(arrays)])
        self.write(f"((void (*)({types})){address})({', '.join(['1', *arrays])});")

    def when(self, condition: str) -> None:
        self.write(f"if ({condition}) {{")
        self.depth += 1

    def otherwise(self) -> None:
        self.depth -= 1
        self.write("} else {")
        self.depth += 1

    def end_when(self) -> None:
        self.depth -= 1
        self.write("}")

    def begin_loop(self) -> None:
        self.write("for (;;) {")
        self.depth += 1

    def leave_unless(self, condition: str) -> None:
        self.write(f"if (!{condition}) break;")

    def end_loop(self) -> None:
        self.end_when()

    def begin_count(self, start: str, stop: str, step: int) -> str:
        counter = self.fresh_name("int")
        self.write(f"for ({counter} = {start}; {counter} {'<' if step > 0 else '>'} {stop}; {counter} += {step}) {{")
        self.depth += 1
        return counter

    def end_count(self, passes: int | None) -> None:
        self.end_when()

    def leave(self) -> None:
        self.write("break;")

    def again(self) -> None:
        self.write("continue;")

    def give(self, values: Sequence[str]) -> None:
        for k, value in enumerate(values):
            self.write(f"*r{k} = {value};")
        self.write("return;")


def _flat(value: object) -> list[float]:
    return [x for part in value for x in _flat(part)] if isinstance(value, list) else [value]  # type: ignore[list-item]
