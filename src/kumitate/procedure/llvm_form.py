"""The instructions of a procedure in LLVM's language, which of its loops are operations on vectors, and what a module has."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterator, Sequence

from ..compile.llvm.entries import inlined
from ..compile.llvm.writer import Module, Writer, exact
from ..scalar import Program
from ..scalar.operations import OPERATIONS
from . import tree
from .kinds import FLOAT, INT, ArrayKind, Kind, NumberKind

# --- which loops are one operation on a few neighbouring numbers: their passes are computed side by side ------------------
# LLVM finds such loops too, but groups numbers of different rows where a row has not as many as a register: the product of two
# 6 × 6 blocks then takes two to three times as long. Where a page also writes single elements of the same array, LLVM's way is
# kept: reading a row that was just written one by one takes long.

#: Operations of several numbers at a time.
SIDE_BY_SIDE = frozenset({"add", "sub", "mul", "div", "neg"})
_FEWEST, _MOST = 4, 16


def loops_side_by_side(typed: tree.TypedProcedure) -> dict[int, int]:
    """The loops whose passes are computed at once, by `id`, with how many passes they have."""
    found: dict[int, tuple[tree.Counting, int]] = {}
    single: set[str] = set()
    for statement in statements_in(typed.body):
        count = _passes(typed, statement) if isinstance(statement, tree.Counting) else None
        if isinstance(statement, tree.Counting) and count is not None:
            found[id(statement)] = statement, count
    inside = {id(statement) for loop, _ in found.values() for statement in loop.body}
    for statement in statements_in(typed.body):
        if isinstance(statement, tree.Set) and id(statement) not in inside:
            for target in statement.targets:
                single |= tree.roots(typed, target.array) if isinstance(target, tree.SetElement) else set()
    return {key: count for key, (loop, count) in found.items() if not _touched(typed, loop) & single}


def _touched(typed: tree.TypedProcedure, loop: tree.Counting) -> set[str]:
    """The arrays that a loop writes to."""
    targets = [target for statement in loop.body if isinstance(statement, tree.Set) for target in statement.targets]
    return {root for target in targets if isinstance(target, tree.SetElement) for root in tree.roots(typed, target.array)}


def statements_in(body: Sequence[tree.Statement]) -> Iterator[tree.Statement]:
    """All statements, those inside of others too."""
    for statement in body:
        yield statement
        if isinstance(statement, tree.When):
            yield from statements_in(statement.then + statement.other)
        elif isinstance(statement, tree.Counting | tree.Repeat):
            yield from statements_in(statement.body)


def _passes(typed: tree.TypedProcedure, loop: tree.Counting) -> int | None:
    """How many passes of a loop can be computed at once; None if they cannot.

    They can if there is a small constant number of them, every statement gives elements `x[..., k]` a value, k being the
    counter, and no pass reads what another one writes: what is read of arrays that are written to is read at k too.
    """
    if not isinstance(loop.start, tree.Constant) or not isinstance(loop.stop, tree.Constant) or loop.step != 1:
        return None
    count = loop.stop.value - loop.start.value
    if not _FEWEST <= count <= _MOST:
        return None
    written: set[str] = set()
    arrays: list[tree.Expression] = []
    for statement in loop.body:
        if not isinstance(statement, tree.Set) or len(statement.targets) != 1:
            return None
        (target,) = statement.targets
        if not isinstance(target, tree.SetElement) or target.kind != FLOAT or not _at_counter(target, loop.name):
            return None
        written |= tree.roots(typed, target.array)
        arrays.append(target.array)
    values = [statement.value for statement in loop.body if isinstance(statement, tree.Set)]
    fine = all(_is_fine(typed, value, loop.name, written) for value in values)
    return count if fine and not any(_is_sliced(typed, array) for array in arrays) else None


def depends(node: tree.Expression, name: str) -> bool:
    """Whether an expression reads a name."""
    return any(isinstance(part, tree.Local) and part.name == name for part in _parts(node))


def _is_fine(typed: tree.TypedProcedure, node: tree.Expression, name: str, written: set[str]) -> bool:
    """Whether a value can be computed for several passes at once."""
    if node.kind != FLOAT:
        return False
    if isinstance(node, tree.ArrayElement) and _at_counter(node, name):
        return not (_is_sliced(typed, node.array) and tree.roots(typed, node.array) & written)
    if isinstance(node, tree.Operation) and node.name in SIDE_BY_SIDE:
        return all(_is_fine(typed, argument, name, written) for argument in node.arguments)
    if isinstance(node, tree.Old):
        return True
    parts = list(_parts(node))
    if any(not isinstance(part, _READ) or (isinstance(part, tree.Local) and part.name == name) for part in parts):
        return False
    return not any(isinstance(part, tree.ArrayElement) and tree.roots(typed, part.array) & written for part in parts)


#: Expressions that are computed once for all passes.
_READ = (tree.ArrayElement, tree.ArrayRow, tree.Constant, tree.Length, tree.Local, tree.Member, tree.Operation)


def _at_counter(node: tree.ArrayElement | tree.SetElement, name: str) -> bool:
    """Whether this is `x[..., k]`, and k is nowhere else in it."""
    *others, last = node.indices
    only = not any(depends(part, name) for part in (node.array, *others))
    return only and isinstance(last, tree.Local) and last.name == name and _is_plain(node.array)


def _is_plain(node: tree.Expression) -> bool:
    """Whether an array is a name, a field or a row of one."""
    if isinstance(node, tree.ArrayRow | tree.ArraySlice):
        return _is_plain(node.array)
    return isinstance(node, tree.Local | tree.Member | tree.Constant)


def _is_sliced(typed: tree.TypedProcedure, node: tree.Expression, seen: frozenset[str] = frozenset()) -> bool:
    """Whether an array may begin in the middle of a row: as a slice, or as a name for one."""
    if isinstance(node, tree.ArrayRow):
        return _is_sliced(typed, node.array, seen)
    if isinstance(node, tree.Local):
        origins = typed.origins.get(node.name, [])
        return node.name not in seen and any(_is_sliced(typed, origin, seen | {node.name}) for origin in origins)
    return not isinstance(node, tree.Member | tree.Constant | tree.Fresh)


def _parts(node: tree.Expression) -> Iterator[tree.Expression]:
    """An expression and all in it."""
    yield node
    for value in vars(node).values():
        for part in value if isinstance(value, tuple) else (value,):
            if isinstance(part, tree.Expression):
                yield from _parts(part)


# --- LLVM text ------------------------------------------------------------------------------------------------------------
#: The name of the entry, and how many words of its block say which check failed: its number from 1 on, and two integers.
ENTRY, FAULT_WORDS = "procedure_entry", 3
#: Loops of at most so many passes are written out, if all passes together have at most so many lines.
_UNROLLED, _WRITTEN_OUT = 16, 10000
#: The types of the leaves of values.
LLVM_TYPES = {"float": "double", "int": "i64", "bool": "i1", "pointer": "ptr"}


class ProcedureModule:
    """The module of a procedure and of all that it calls.

    Attributes:
        checked: whether indices and the like are checked.
        names: of the functions; needs: of every procedure written so far, the leaves of its arguments that it reads, by number.
        sites: of the checks, by number, with what they say.
        programs: the names of the functions of traced programs that are compiled alone, by what lists choose, and whether there
            is a list at all.
        inlined: the names of those that are written here, or None for programs that are too long for it.
    """

    def __init__(self, family: Sequence[tree.TypedProcedure], *, checked: bool):
        """A module without functions; `family`: the procedures that it will have."""
        self.checked = checked
        self.sites: list[tuple[tree.Site, str]] = []
        self.module = Module(1)
        self.programs: dict[tuple[Program, tuple[bool, ...], bool], str] = {}
        self.inlined: dict[Program, str | None] = {}
        self.loops = 0
        self.names = {one: f"p{k}_{re.sub('[^A-Za-z0-9_]', '_', one.name)}" for k, one in enumerate(family)}
        self.needs: dict[tree.TypedProcedure, list[int]] = {}

    def result_type(self, kind: Kind) -> str:
        """What a function returns: nothing, a number, or several."""
        types = [LLVM_TYPES[leaf] for leaf in kind.leaves]
        return "void" if not types else types[0] if len(types) == 1 else f"{{ {', '.join(types)} }}"

    def program(self, program: Program, listed: tuple[bool, ...], *, several: bool) -> str:
        """The name of the function that evaluates a program, once or over a list."""
        key = program, listed, several
        if key not in self.programs:
            clean = re.sub("[^A-Za-z0-9_]", "_", program.name)
            name = f"{'over' if several else 'once'}_{clean}_{''.join('01'[one] for one in listed)}"
            same = sum(1 for one in self.programs.values() if one.split(".")[0] == name)
            self.programs[key] = f"{name}.{same}" if same else name
        return self.programs[key]

    def short(self, program: Program) -> str | None:
        """The name of the function of a short program, which is written into this module and inlined; None for a long one."""
        if program not in self.inlined:
            name = f"short_{re.sub('[^A-Za-z0-9_]', '_', program.name)}.{len(self.inlined)}"
            text = inlined(name, program, portable=self.checked)
            self.inlined[program] = None if text is None else name
            self.module.functions += [] if text is None else [text]
        return self.inlined[program]

    def fault(self) -> list[str]:
        """The first argument of all functions, if they are checked: where they say what failed."""
        return ["ptr %words"] if self.checked else []


class LlvmFunction(Writer):
    """Instructions of one function. `labels` are of the loops around: where a pass ends, and where the loop does."""

    def __init__(self, typed: tree.TypedProcedure, whole: ProcedureModule):
        super().__init__(whole.module)
        self.typed, self.whole, self.checked = typed, whole, whole.checked
        self.long = False  # whether it has a loop of unknown length
        self.head: list[str] = []
        self.labels: list[tuple[str, str]] = []
        self.more = 0  # lines of inner loops that are written out, apart from those that stand here
        self.calls = 0  # of other functions, and loops that are not written out

    @staticmethod
    def nothing(result: str) -> str:
        """A result that nobody reads."""
        return "zeroinitializer" if result.startswith("{") else {"double": "0.0", "i64": "0", "i1": "false"}[result]

    # --- values -------------------------------------------------------------------------------------------------------
    def number(self, value: float, kind: NumberKind) -> str:
        """A constant as an operand."""
        if kind == FLOAT:
            return exact(value)
        return str(int(value)) if kind == INT else str(bool(value)).lower()

    def table(self, constant: tree.Constant) -> str:
        """The address of an array of constants."""
        kind = constant.kind
        assert isinstance(kind, ArrayKind)
        return self.module.array(self._nested(constant.value, kind.shape, kind.element))

    def _nested(self, value: object, shape: Sequence[int | None], element: NumberKind) -> str:
        if not shape:
            return f"{LLVM_TYPES[element.name]} {self.number(value, element)}"  # type: ignore[arg-type]
        parts = ", ".join(self._nested(part, shape[1:], element) for part in value)  # type: ignore[attr-defined]
        return f"{_rows(shape, element)} [{parts}]"

    def operation(self, name: str, operands: Sequence[str]) -> str:
        """A row of the table of operations."""
        return self.operate(self.module.typed(OPERATIONS[name], "" if self.checked else " contract"), operands)

    def variable(self, leaf: str, name: str) -> str:
        """A new variable of the function, which is 0 until it is given a value."""
        self.count += 1
        made, kind = f"%{name}.{self.count}", LLVM_TYPES[leaf]
        zero = {"ptr": "null"}.get(kind) or self.nothing(kind)
        self.head += [f"  {made} = alloca {kind}", f"  store {kind} {zero}, ptr {made}"]
        return made

    def get(self, variable: str, leaf: str) -> str:
        """Its value now."""
        return self.line(f"load {LLVM_TYPES[leaf]}, ptr {variable}")

    def put(self, variable: str, leaf: str, value: str) -> None:
        """Gives it a value."""
        self.effect(f"store {LLVM_TYPES[leaf]} {value}, ptr {variable}")

    def address(self, pointer: str, kind: ArrayKind, indices: Sequence[str]) -> str:
        """The address of an element or a row."""
        places = "".join(f", i64 {index}" for index in indices)
        return self.line(f"getelementptr inbounds {_rows(kind.row, kind.element)}, ptr {pointer}{places}")

    def apart(self, pointer: str, size: str, other: str, other_size: str) -> str:
        """Whether two arrays of so many elements do not overlap; in checked code only."""
        ends = []
        for start, count in ((pointer, size), (other, other_size)):
            ends.append((start, self.line(f"getelementptr i64, ptr {start}, i64 {count}")))
        (first, first_end), (second, second_end) = ends
        before = self.line(f"icmp ule ptr {first_end}, {second}")
        after = self.line(f"icmp ule ptr {second_end}, {first}")
        return self.line(f"or i1 {before}, {after}")

    def load(self, pointer: str, kind: NumberKind) -> str:
        """The number at an address."""
        return self.line(f"load {LLVM_TYPES[kind.name]}, ptr {pointer}, align 8")

    def store(self, pointer: str, kind: NumberKind, value: str) -> None:
        """Puts a number at an address."""
        self.effect(f"store {LLVM_TYPES[kind.name]} {value}, ptr {pointer}, align 8")

    def fresh(self, kind: ArrayKind) -> str:
        """The address of a local array, filled with zeros."""
        self.count += 1
        made = f"%local{self.count}"
        self.head.append(f"  {made} = alloca {_rows(kind.shape, kind.element)}, align 64")
        size = 8 * kind.row_size * (kind.shape[0] or 0)
        self.effect(f"call void @llvm.memset.p0.i64(ptr align 64 {made}, i8 0, i64 {size}, i1 false)")
        return made

    # --- paths --------------------------------------------------------------------------------------------------------
    def jump(self, label: str) -> None:
        """Ends the block here; what follows is not reached from here."""
        self.effect(f"br label %{label}")
        self.start(self.label())

    def choose(self, condition: str, then: Callable[[], None], other: Callable[[], None]) -> None:
        """Writes what is run if a condition holds, and what if it does not."""
        yes, no, end = self.label(), self.label(), self.label()
        self.effect(f"br i1 {condition}, label %{yes}, label %{no}")
        for label, write in ((yes, then), (no, other)):
            self.start(label)
            write()
            self.effect(f"br label %{end}")
        self.start(end)

    @contextlib.contextmanager
    def counting(self, start: str, stop: str, step: int, passes: int | None) -> Iterator[str]:
        """Repeats what is written inside, with the name of the counter; `passes` says how many there are if that is known."""
        again, following, end, body = (self.label() for _ in range(4))
        before, counter = self.block, f"%k{again}"
        self.effect(f"br label %{again}")
        self.start(again)
        self.effect(f"{counter} = phi i64 [ {start}, %{before} ], [ {counter}.next, %{following} ]")
        going = self.line(f"icmp {'slt' if step > 0 else 'sgt'} i64 {counter}, {stop}")
        self.effect(f"br i1 {going}, label %{body}, label %{end}")
        self.start(body)
        self.labels.append((following, end))
        begin, calls, around, self.more = len(self.lines), self.calls, self.more, 0
        yield counter
        self.labels.pop()
        self.effect(f"br label %{following}")
        self.start(following)
        self.effect(f"{counter}.next = add nsw i64 {counter}, {step}")
        written = len(self.lines) - begin
        mark, lines = "", written + self.more
        self.long |= passes is None
        if passes is None or passes > _UNROLLED or passes * lines > _WRITTEN_OUT or self.calls > calls:
            self.calls += 1
        else:
            mark = f", !llvm.loop !{self.whole.loops}"
            self.whole.loops += 1
            lines *= passes
        self.more = around + lines - written
        self.effect(f"br label %{again}{mark}")
        self.start(end)

    def check(self, condition: str, site: tree.Site, what: str, values: Sequence[str]) -> None:
        """Ends checked code with a message if a condition does not hold; `what` has places for two integers."""
        self.whole.sites.append((site, what))
        failed, going = self.label(), self.label()
        self.effect(f"br i1 {condition}, label %{going}, label %{failed}")
        self.start(failed)
        for k, word in enumerate((str(len(self.whole.sites)), *values)):
            place = self.line(f"getelementptr i64, ptr %words, i64 {k}")
            self.effect(f"store i64 {word}, ptr {place}")
        self.return_nothing()
        self.start(going)

    def return_nothing(self) -> None:
        """Returns a result that nobody reads."""
        result = self.whole.result_type(self.typed.result)
        self.effect("ret void" if result == "void" else f"ret {result} {self.nothing(result)}")


def _rows(shape: Sequence[int | None], element: NumberKind) -> str:
    """The type of nested arrays of a shape."""
    kind = LLVM_TYPES[element.name]
    for size in reversed(shape):
        kind = f"[{size} x {kind}]"
    return kind
