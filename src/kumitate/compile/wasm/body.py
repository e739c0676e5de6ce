"""The body of one program: its line and its loops as instructions on a stack.

A value that is used once is computed where it is used, on the stack; others are held in local variables. What loops keep and
programs hand over stands at fixed addresses in the one memory of a module, as programs never call themselves.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from heapq import heappop, heappush
from itertools import accumulate
from typing import Any, NamedTuple

from ...errors import InputError
from ...scalar import LoopBlock, Program, Symbol, Table, live, origin
from ...scalar.blocks import walk
from ...scalar.elementary import elementary
from ...scalar.operations import CONDITIONS, LIBRARY, TRACED
from ..exports.text import filled
from ..llvm.plan import inputs_read
from ..llvm.straight_line import uses, uses_of_pass
from .encoding import Function, Instruction

#: Programs with so few numbers take them as parameters, and return them.
_BY_VALUE = 16
#: Expressions are nested no deeper than this.
_DEEPEST = 40
#: So many numbers are copied one by one; browsers call a function of their own to copy more.
_FEW = 32
#: What is read where it is needed, and takes no instruction in its place.
_READ = frozenset({"const", "input", "capture", "carried", "counter"})


def _stack_form(text: str, operands: int) -> tuple[tuple[int, ...], list[Instruction]]:
    """The order in which a row of the table wants its operands, and the instructions behind them."""
    words = text.split()
    order = tuple(int(word[1:-1]) for word in words if word[0] == "{") or tuple(range(operands))
    return order, [(word,) for word in words if word[0] != "{"]


_FORMS = {
    name: _stack_form(row.wasm or f"f64.{name}", len(row.kinds) - 1) for name, row in TRACED.items() if name not in LIBRARY
}


# --- what the functions of a module share -----------------------------------------------------------------------------------
class Called(NamedTuple):
    """The function of a program: its number, whether it takes and returns numbers, and else where it has them in memory."""

    number: int
    by_value: bool
    inputs: int
    outputs: int


class Shared:
    """A module under way.

    Attributes:
        places: the addresses and shapes of the arrays of the module's programs.
        sites: how many calls of a program there are.
        functions, constants: so far; called: the functions of called programs.
        count: the numbers that have a place in memory so far.
    """

    def __init__(self, programs: Mapping[str, Program], fillings: Mapping[str, Program]):
        self.fillings = fillings
        self.places: dict[str, tuple[int, tuple[int, ...]]] = {}
        self.functions: list[Function] = []
        self.constants: list[tuple[int, Sequence[float]]] = []
        self.called: dict[Program, Called] = {}
        self.count = 0
        self._tables: dict[Table, int] = {}
        self.sites: Counter[Program] = Counter()
        waiting = list(programs.values())
        while waiting:
            found = Counter(filled(node.payload, fillings) for node in walk(waiting.pop().line) if node.op == "call")
            waiting += found.keys() - self.sites.keys()
            self.sites += found
        for array in (array for program in programs.values() for array in program.inputs):
            if array.name not in self.places:
                self.places[array.name] = self.take(array.size), array.shape
            if (placed := self.places[array.name][1]) != array.shape:
                raise InputError(
                    f"programs of one module have the input {array.name!r} with the shapes {placed} and {array.shape}; rename "
                    "one of them"
                )
        for key, program in programs.items():
            for array in program.outputs:
                self.places[f"{key}.{array.name}"] = self.take(array.size), array.shape

    def take(self, count: int) -> int:
        """A place for so many numbers: its address."""
        self.count += count
        return 8 * (self.count - count)

    def table(self, table: Table) -> int:
        """The address of a table of constants."""
        if table not in self._tables:
            self._tables[table] = self.take(len(table.values))
            self.constants.append((self._tables[table], table.values))
        return self._tables[table]


# --- functions ----------------------------------------------------------------------------------------------------------------
def copied(source: int, target: int, count: int) -> list[Instruction]:
    """Instructions that copy so many numbers from one address to another."""
    if count > _FEW:
        return [("i32.const", target), ("i32.const", source), ("i32.const", 8 * count), ("memory.copy",)]
    code: list[Instruction] = []
    for k in range(count):
        code += [("i32.const", 0), ("i32.const", 0), ("f64.load", source + 8 * k), ("f64.store", target + 8 * k)]
    return code


def write_function(shared: Shared, program: Program, inputs: dict[str, int], outputs: int | None, export: str = "") -> int:
    """Writes the function of a program; its number. `inputs`, `outputs`: as of `FunctionBody`."""
    body = FunctionBody(shared, program, inputs, outputs)
    body.run()
    parameters = sum(array.size for array in program.inputs) if body.by_value else 0
    code, variables = shared_variables(body.code, body.kinds, parameters)
    results = ["f64"] * (len(program.results) if body.by_value else 0)
    shared.functions.append(Function(program.name, ["f64"] * parameters, results, variables, code, export))
    return len(shared.functions) - 1


def called_function(shared: Shared, program: Program) -> Called:
    """The function of a called program, written if it is not yet."""
    if program not in shared.called:
        sizes = [sum(array.size for array in arrays) for arrays in (program.inputs, program.outputs)]
        by_value = max(sizes) <= _BY_VALUE and not any(node.op == "load" for node in walk(program.line))
        first, outputs = (0, 0) if by_value else map(shared.take, sizes)
        starts = accumulate((array.size * (1 if by_value else 8) for array in program.inputs), initial=first)
        inputs = {array.name: at for array, at in zip(program.inputs, starts, strict=False)}
        number = write_function(shared, program, inputs, None if by_value else outputs)
        shared.called[program] = Called(number, by_value, first, outputs)
    return shared.called[program]


class FunctionBody:
    """The writer of a program's function.

    Attributes:
        inputs: where each input begins: the address of its first number, or the number of its parameter.
        outputs: the address of the results; None if they are returned, and inputs are parameters.
        code, kinds: the instructions so far, and the types of the variables that they name.
        held: the variables that hold values; waiting: how deep the values are that are computed where they are used.
        done: the nodes that have been seen; used: how often each node of the line under way is used.
        stacks, areas: where loops keep values, with the place of each, and calls their results.
        returned: the results of calls and loops that are used; together: functions of mathematics of the same numbers.
    """

    def __init__(self, shared: Shared, program: Program, inputs: dict[str, int], outputs: int | None):
        self.shared, self.program, self.inputs, self.outputs = shared, program, inputs, outputs
        self.by_value = outputs is None
        self.code: list[Instruction] = []
        self.kinds = ["f64"] * (sum(array.size for array in program.inputs) if self.by_value else 0)
        self.held: dict[Symbol, int] = {}
        self.waiting: dict[Symbol, int] = {}
        self.done: set[Symbol] = set()
        self.used: Counter[Symbol] = Counter()
        self.stacks: dict[Symbol, tuple[int, dict[int, int]]] = {}
        self.areas: dict[Symbol, int] = {}
        self.returned: dict[Symbol, dict[int, Symbol]] = {}
        self.together: dict[tuple[Program, tuple[Symbol, ...]], dict[int, Symbol]] = {}

    def run(self) -> None:
        """Writes the whole program; its results go to an address, or stay on the stack."""
        self.look_ahead(self.program.line, uses(self.program.line, self.program.results))
        self.line(self.program.line)
        for k, node in enumerate(self.program.results):
            if self.outputs is None:
                self.push(node)
            else:
                self.store(self.outputs + 8 * k, node)

    # --- instructions -------------------------------------------------------------------------------------------------
    def write(self, *instruction: Any) -> None:
        self.code.append(instruction)

    def variable(self, kind: str = "f64") -> int:
        """A new variable."""
        self.kinds.append(kind)
        return len(self.kinds) - 1

    def keep(self, node: Symbol, instruction: str = "local.set") -> None:
        """Has the value on the stack held by a variable."""
        self.held[node] = self.variable("i32" if node.op in CONDITIONS else "f64")
        self.write(instruction, self.held[node])

    def store(self, address: int, node: Symbol) -> None:
        """Puts a value at an address."""
        self.write("i32.const", 0)
        self.push(node)
        self.write("f64.store", address)

    def push(self, node: Symbol) -> None:
        """Puts a value on the stack."""
        source = origin(node)
        variable = self.held.get(node, self.held.get(source))
        if variable is not None:
            self.write("local.get", variable)
        elif source.op == "const":
            self.write("f64.const", source.payload)
        elif source.op == "input":
            self.read(*source.payload)
            if self.used[node] > 1 and not self.by_value:
                self.keep(node, "local.tee")
        else:
            del self.waiting[source]
            self.compute(source)

    def read(self, name: str, element: int) -> None:
        """Puts an element of an input on the stack."""
        if self.by_value:
            self.write("local.get", self.inputs[name] + element)
        else:
            self.write("i32.const", 0)
            self.write("f64.load", self.inputs[name] + 8 * element)

    # --- lines --------------------------------------------------------------------------------------------------------
    def look_ahead(self, nodes: Sequence[Symbol], used: Counter[Symbol]) -> None:
        """Begins a line."""
        self.used = used
        for node in nodes:
            if node.op == "result" and used[node]:
                self.returned.setdefault(node.args[0], {})[node.payload] = node
            elif node.op in LIBRARY:
                program, k = elementary(node.op)
                self.together.setdefault((program, node.args), {})[k] = node

    def line(self, nodes: Sequence[Symbol]) -> None:
        """Some nodes of a line in their order."""
        for node in nodes:
            if node in self.done or node.op in _READ:
                continue
            self.done.add(node)
            if node.op in ("loop", "call"):
                getattr(self, node.op)(node)
            elif node.op in LIBRARY:
                self.elementary(node)
            elif node not in self.held and self.used[node]:
                depth = 1 + max((self.waiting.get(a, 0) for a in node.args), default=0)
                if self.used[node] == 1 and depth < _DEEPEST:
                    self.waiting[node] = depth
                else:
                    self.compute(node)
                    self.keep(node)

    def settle(self, node: Symbol) -> None:
        """Has a value held now, as a loop reads it."""
        source = origin(node)
        if source in self.waiting:
            self.push(source)
            self.keep(source)

    def compute(self, node: Symbol) -> None:
        """Computes a node, on the stack."""
        form = _FORMS.get(node.op)
        if form is None:
            getattr(self, f"_{node.op}")(node)
            return
        for k in form[0]:
            self.push(node.args[k])
        self.code += form[1]

    def address(self, node: Symbol, base: int, apart: int = 8) -> int:
        """Puts an address, of what a node reads by index, on the stack; what is still to be added to it."""
        _, stride, offset = node.payload
        start = base + apart * offset
        if not stride:
            self.write("i32.const", 0)
            return start
        self.scaled(node, apart * stride)
        if stride > 0 and start >= 0:
            return start
        self.code += [("i32.const", start), ("i32.add",)]  # an address must not be negative before that
        return 0

    def scaled(self, node: Symbol, factor: int) -> None:
        """Puts a multiple of the counter that a node reads by on the stack."""
        self.write("local.get", self.held[origin(node.args[-1])])
        self.code += [("i32.const", factor), ("i32.mul",)]

    def _load(self, node: Symbol) -> None:
        self.write("f64.load", self.address(node, self.inputs[node.payload[0]]))

    def _lookup(self, node: Symbol) -> None:
        self.write("f64.load", self.address(node, self.shared.table(node.payload[0])))

    def _ordinal(self, node: Symbol) -> None:
        _, stride, offset = node.payload
        self.scaled(node, stride) if stride else self.write("i32.const", 0)
        self.code += [("i32.const", offset), ("i32.add",), ("f64.convert_i32_s",)]

    def _element(self, node: Symbol) -> None:
        base, columns = self.stacks[origin(node.args[0])]
        self.write("f64.load", self.address(node, base + columns[node.payload[0]], 8 * len(columns)))

    def _result(self, node: Symbol) -> None:
        self.write("i32.const", 0)
        self.write("f64.load", self.areas[node.args[0]] + 8 * node.payload)

    # --- calls --------------------------------------------------------------------------------------------------------
    def elementary(self, node: Symbol) -> None:
        """A function of mathematics; sine and cosine of a number are computed at once."""
        if node in self.held:
            return
        program, _ = elementary(node.op)
        for argument in node.args:
            self.push(argument)
        self.write("call", called_function(self.shared, program).number)
        self.keep_results(program, self.together[program, node.args])

    def keep_results(self, program: Program, wanted: dict[int, Symbol]) -> None:
        """Has the results on the stack held that are wanted."""
        for k in reversed(range(len(program.results))):
            self.keep(wanted[k]) if k in wanted else self.write("drop")

    def call(self, node: Symbol) -> None:
        """A call of a program."""
        program = filled(node.payload, self.shared.fillings)
        function, wanted = called_function(self.shared, program), self.returned.get(node, {})
        if function.by_value:
            for argument in node.args:
                self.push(argument)
            self.write("call", function.number)
            self.keep_results(program, wanted)
            return
        for k in sorted(inputs_read(program)):
            self.store(function.inputs + 8 * k, node.args[k])
        self.write("call", function.number)
        self.areas[node] = function.outputs
        if self.shared.sites[program] > 1 and wanted:  # the next call overwrites them
            self.areas[node] = self.shared.take(len(program.results))
            self.code += copied(function.outputs, self.areas[node], len(program.results))

    # --- loops --------------------------------------------------------------------------------------------------------
    def loop(self, node: Symbol) -> None:
        """A loop; one of a single pass is left out as a whole if its condition fails."""
        block: LoopBlock = node.payload
        carries, keeps, around = block.carries, block.keeps, self.used
        for outer in node.args[len(carries) :]:
            self.settle(outer)
        variables = {k: self.variable() for k in carries}
        for (k, (now, _)), first in zip(carries.items(), node.args, strict=False):
            self.push(first)
            self.write("local.set", variables[k])
            self.held[now] = variables[k]
        base, columns = self.shared.take(block.count * len(keeps)), {k: 8 * place for place, k in enumerate(keeps)}
        self.stacks[node] = base, columns
        counter, repeated = self.variable("i32"), block.count > 1
        self.held |= dict.fromkeys([part for part in block.line if part.op == "counter"], counter)
        self.code += [("i32.const", 0), ("local.set", counter), ("block",), *([("loop",)] if repeated else [])]
        self.look_ahead(block.line, uses_of_pass(block))
        if block.condition is not None:
            self.line(live(block.line, [block.condition]))
            self.push(block.condition)
            self.code += [("i32.eqz",), ("br_if", int(repeated))]
        self.line(block.line)
        for k, symbol in keeps.items():
            self.code += [("local.get", counter), ("i32.const", 8 * len(keeps)), ("i32.mul",)]
            self.push(symbol)
            self.write("f64.store", base + columns[k])
        changed = {k: then for k, (now, then) in carries.items() if now is not then}
        for then in changed.values():  # all are read before any is set
            self.push(then)
        self.code += [("local.set", variables[k]) for k in reversed(changed)]
        if repeated:
            self.code += [("local.get", counter), ("i32.const", 1), ("i32.add",), ("local.tee", counter)]
            self.code += [("i32.const", block.count), ("i32.lt_u",), ("br_if", 0), ("end",)]
        self.write("end")
        self.used = around
        self.held |= {result: variables[k] for k, result in self.returned.get(node, {}).items()}


# --- local variables: those whose values are never needed at the same time share one --------------------------------------
def shared_variables(code: Sequence[Instruction], kinds: Sequence[str], parameters: int) -> tuple[list[Instruction], list[str]]:
    """The code with its variables renumbered, and the types of those that are left; the first ones are the parameters.

    A variable that is set before a loop and used in it is needed until the loop ends.
    """
    first: dict[int, int] = {}
    last: dict[int, int] = {}
    open_blocks: list[tuple[int, set[int]]] = []  # where each begins, and the variables in it that are older
    for place, instruction in enumerate(code):
        name = instruction[0]
        if name.startswith("local."):
            variable = instruction[1]
            begun = first.setdefault(variable, place)
            last[variable] = place
            for start, older in open_blocks:
                if begun < start:
                    older.add(variable)
        elif name in ("loop", "block"):
            open_blocks.append((place, set()))
        elif name == "end":
            _, older = open_blocks.pop()
            last.update(dict.fromkeys(older, place))
    places = dict(zip(range(parameters), range(parameters), strict=True))
    free: dict[str, list[int]] = {"f64": [], "i32": []}
    count = dict.fromkeys(free, 0)
    ending: list[tuple[int, int]] = []
    for variable, begun in first.items():
        if variable < parameters:
            continue
        while ending and ending[0][0] < begun:
            over = heappop(ending)[1]
            heappush(free[kinds[over]], places[over])
        kind = kinds[variable]
        if free[kind]:
            places[variable] = heappop(free[kind])
        else:
            places[variable], count[kind] = count[kind], count[kind] + 1
        heappush(ending, (last[variable], variable))
    behind = {"f64": parameters, "i32": parameters + count["f64"]}
    for variable in first:
        if variable >= parameters:
            places[variable] += behind[kinds[variable]]
    renumbered = [(one[0], places[one[1]]) if one[0].startswith("local.") else one for one in code]
    return renumbered, ["f64"] * count["f64"] + ["i32"] * count["i32"]
