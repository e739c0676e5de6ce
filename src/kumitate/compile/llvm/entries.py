"""How compiled code is called: the contract of the function that a module shows to the outside, and those that there are.

The body of a program (`body`) does not know who calls it. An entry writes the function around it: what its arguments are,
where the inputs are read and the results written, which memory there is for what the body keeps, and what is repeated.
Another way of calling, or another machine, is another entry. Programs that an entry names are traced when it is written: code
that is on disk already needs none.

* `HostBatch`, `void kernel(i64 n, ptr in…, ptr out…)`: n states, one contiguous row per state. Lanes are gathered from and
  scattered to the user's rows; what a program calls works on blocks of lanes throughout. The last block of a batch slides
  back over states that are done already, so that no tail needs code of its own: n must be at least the number of lanes.
* `Gathered`, `void NAME(i64 n, ptr array, ptr list, …)`: n evaluations, each with its own rows of the arrays. Every array,
  inputs first, has a pointer and, where a list chooses its rows, one to the numbers of the rows. Lanes beyond the end of the
  list repeat its last evaluation, and write the same results once more.
* `OnBlocks`, `void NAME(ptr in, ptr out, ptr scratch)`: a program on blocks of lanes, called by other modules.
* `inlined`, `void NAME(ptr array, …)`: a short program that is evaluated once is a function of the caller's own module, which
  LLVM inlines: a call would store the inputs and reload all that the caller keeps in registers, which costs more than such a
  program.
"""

from __future__ import annotations

import contextlib
import itertools
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from ...scalar import Program, Symbol
from ...scalar.elementary import elementary
from ...scalar.operations import LIBRARY, TRACED
from ..stored import StoredProgram, traced
from ..target import DOUBLE, Precision
from .body import ProgramBody, blocks_function, called_function
from .plan import scratch_size, zero_runs
from .straight_line import elementary_function
from .writer import Module, Writer

# --- the rows of the user's arrays ----------------------------------------------------------------------------------------
# Neighbouring elements are moved as vectors, as many as there are lanes, and transposed in registers.

#: The address of the first lane's row, which the others follow; or those of all lanes' rows.
Row = str | tuple[str, ...]


class RowInputs:
    """Inputs that are read from rows, by the input's name."""

    def __init__(self, sizes: Mapping[str, int], rows: dict[str, Row]):
        self.sizes, self.rows = sizes, rows
        self.gathered: dict[tuple[Row, int], str] = {}  # (row, element) → the value, if already read

    @property
    def pointers(self) -> list[str]:
        """The addresses that a function needs to read them."""
        return [pointer for row in self.rows.values() for pointer in ([row] if isinstance(row, str) else row)]

    def handed(self) -> RowInputs:
        """The same inputs inside a function that receives these addresses."""
        names = (f"%row{k}" for k in range(len(self.pointers)))
        rows = {
            name: next(names) if isinstance(row, str) else tuple(itertools.islice(names, len(row)))
            for name, row in self.rows.items()
        }
        return RowInputs(self.sizes, rows)

    def read(self, to: Writer, name: str, element: int | str) -> str:
        """Element `element` of the rows of all lanes.

        A known element is read with its neighbours: as many elements of every lane's row as there are lanes, transposed.
        """
        row, size, module = self.rows[name], self.sizes[name], to.module
        lanes = module.lanes
        if isinstance(element, int) and 1 < lanes <= size:
            if (row, element) not in self.gathered:
                start = min(element // lanes * lanes, size - lanes)  # the last group overlaps the one before
                rows = [to.line(f"load {module.real}, ptr {p}, {module.apart}") for p in _addresses(to, row, size, start)]
                self.gathered.update({(row, start + k): value for k, value in enumerate(transposed(to, rows))})
            return self.gathered[row, element]
        pointers = _addresses(to, row, size, element)
        return to.gathered([to.line(f"load {module.element}, ptr {pointer}, {module.apart}") for pointer in pointers])

    def address(self, to: Writer, name: str, element: int | str) -> str:
        """Where an element is, of one state."""
        row = self.rows[name]
        (pointer,) = [row] if isinstance(row, str) else row
        return to.line(f"getelementptr {to.module.element}, ptr {pointer}, i64 {element}")


def scatter_buffer(to: Writer, buffer: str, first: int, size: int, row: Row) -> None:
    """The elements of an output, which stand in a buffer of blocks from `first` on, to the rows of all lanes, by a loop."""
    lanes = to.module.lanes
    if lanes == 1:
        to.copy(to.slot(buffer, first), _addresses(to, row, size, 0)[0], size)
        return
    if size < lanes:
        for k in range(size):
            scatter(to, to.load_block(buffer, first + k), row, size, k)
        return
    with to.counted(-(-size // lanes)) as counter:
        begun = to.line(f"mul i64 {counter}, {lanes}")
        past = to.line(f"icmp ugt i64 {begun}, {size - lanes}")
        start_at = to.line(f"select i1 {past}, i64 {size - lanes}, i64 {begun}")  # the last group slides back
        slots = [to.slot(buffer, to.line(f"add i64 {start_at}, {first + k}")) for k in range(lanes)]
        blocks = [to.line(f"load {to.module.real}, ptr {slot}, align {to.module.align}") for slot in slots]
        scatter_stretch(to, blocks, row, size, start_at)


def scatter_stretch(to: Writer, values: Sequence[str], row: Row, size: int, start: int | str) -> None:
    """As many neighbouring elements as there are lanes, to the rows of all lanes; `size` is a row's."""
    for value, pointer in zip(transposed(to, values), _addresses(to, row, size, start), strict=True):
        to.effect(f"store {to.module.real} {value}, ptr {pointer}, {to.module.apart}")


def scatter(to: Writer, value: str, row: Row, size: int, element: int) -> None:
    """One element to the rows of all lanes; `size` is a row's."""
    module = to.module
    for lane, pointer in enumerate(_addresses(to, row, size, element)):
        single = value
        if module.lanes > 1:
            single = to.line(f"extractelement {module.real} {value}, i32 {lane}")
        to.effect(f"store {module.element} {single}, ptr {pointer}, {module.apart}")


def transposed(to: Writer, vectors: Sequence[str]) -> list[str]:
    """Element k of vector i becomes element i of vector k, for as many vectors as lanes: log₂ rounds of shuffles."""
    lanes, real = to.module.lanes, to.module.real
    current = list(vectors)
    distance = 1
    while distance < lanes:
        moved = list(current)
        low = [k if not k & distance else lanes + k - distance for k in range(lanes)]
        high = [k + distance if not k & distance else lanes + k for k in range(lanes)]
        for i in range(lanes):
            if not i & distance:
                pair = f"{real} {current[i]}, {real} {current[i + distance]}"
                for at, order in ((i, low), (i + distance, high)):
                    mask = ", ".join(f"i32 {k}" for k in order)
                    moved[at] = to.line(f"shufflevector {pair}, <{lanes} x i32> <{mask}>")
        current = moved
        distance *= 2
    return current


def _addresses(to: Writer, row: Row, size: int, element: int | str) -> list[str]:
    """The address of an element in the row of each lane."""
    if not isinstance(row, str):
        return [to.line(f"getelementptr {to.module.element}, ptr {pointer}, i64 {element}") for pointer in row]
    found = []
    for lane in range(to.module.lanes):
        at = element + lane * size if isinstance(element, int) else to.line(f"add i64 {element}, {lane * size}")
        found.append(to.line(f"getelementptr {to.module.element}, ptr {row}, i64 {at}"))
    return found


# --- entries --------------------------------------------------------------------------------------------------------------
#: The name of the function of a `HostBatch`.
ENTRY = "kernel"
_SCATTER_ONE_BY_ONE = 64  # outputs with more elements are scattered by a loop, if there are several lanes
_SPARSE = 2048  # with one lane, those with more and with stretches of zeros among them
_STACK_BYTES = 1 << 17  # more scratch memory than this comes from the heap
#: The longest program, in nodes, that is inlined where it is called.
_SHORT = 400


class Entry:
    """The function of a module that is called from outside: its name, and the programs that it runs."""

    name: str
    programs: Sequence[Program | StoredProgram]

    @abstractmethod
    def function(self, module: Module) -> str:
        """Its text, written once for a module; what it calls is added to the module."""


def write_module(
    entry: Entry,
    lanes: int,
    precision: Precision = DOUBLE,
    *,
    portable: bool = False,
    shared: Mapping[Program, str] | None = None,
    threads: bool = False,
) -> str:
    """The LLVM module of an entry for `lanes` states at a time.

    `portable` code fuses no products with sums and has functions of mathematics of its own (`scalar.elementary`): every
    processor gives the same bits. An arm then takes 1.2 times as long for one state, and 1.6 times in a batch. `shared`,
    `threads`: as of `Module`.
    """
    module = Module(lanes, precision, portable=portable, shared=shared, threads=threads)
    module.functions.append(entry.function(module))
    return module.text()


# --- functions over rows --------------------------------------------------------------------------------------------------
class _OverRows:
    """The writer of a function over rows: its loop over blocks of lanes, and the program's body in it."""

    def __init__(self, module: Module, program: Program):
        self.program = program
        self.inputs = RowInputs({array.name: array.size for array in program.inputs}, {})
        self.body = ProgramBody(module, program, self.inputs)
        self.body.start("states")
        self.last = self.body.line(f"sub i64 %n, {module.lanes}")

    @contextlib.contextmanager
    def blocks(self) -> Iterator[str]:
        """Repeats what is written inside for every block of lanes; the number of its first state."""
        body = self.body
        body.go("next")
        body.effect("%first = phi i64 [ 0, %states ], [ %following, %done ]")
        yield "%first"
        body.go("done")
        body.effect(f"%following = add i64 %first, {body.module.lanes}")
        more = body.line("icmp slt i64 %following, %n")
        body.effect(f"br i1 {more}, label %next, label %end")
        body.start("end")

    def at_most(self, place: str, last: str) -> str:
        """A place, or the last one if it is beyond that."""
        past = self.body.line(f"icmp sgt i64 {place}, {last}")
        return self.body.line(f"select i1 {past}, i64 {last}, i64 {place}")

    def row(self, pointer: str, state: str, size: int) -> str:
        """The address of a state's row in an array."""
        offset = self.body.line(f"mul i64 {state}, {size}")
        return self.body.line(f"getelementptr {self.body.module.element}, ptr {pointer}, i64 {offset}")

    def run(self, rows: Sequence[Row]) -> None:
        """Computes the program from rows of its inputs into those of its outputs, which follow them."""
        count = len(self.program.inputs)
        self.inputs.rows.update(zip((array.name for array in self.program.inputs), rows[:count], strict=True))
        run_into_rows(self.body, rows[count:])

    def function(self, name: str, parameters: Sequence[str]) -> str:
        """The text of the whole function."""
        taken, given_back = scratch_memory(self.body.module, scratch_size(self.program))
        begin = [*taken, "  %some = icmp sgt i64 %n, 0", "  br i1 %some, label %states, label %end"]
        return self.body.function(f"define void @{name}({', '.join(['i64 %n', *parameters])}) #0", begin=begin, end=given_back)


class HostBatch(Entry):
    """A program over rows of arrays, block of lanes after block of lanes."""

    name = ENTRY

    def __init__(self, program: Program | StoredProgram):
        self.programs = (program,)

    def function(self, module: Module) -> str:
        """The loop over blocks around the program's body."""
        program = traced(self.programs[0])
        over = _OverRows(module, program)
        pointers = [f"%in{k}" for k in range(len(program.inputs))] + [f"%out{k}" for k in range(len(program.outputs))]
        with over.blocks() as first:
            state = over.at_most(first, over.last)
            arrays = (*program.inputs, *program.outputs)
            over.run([over.row(pointer, state, array.size) for pointer, array in zip(pointers, arrays, strict=True)])
        return over.function(ENTRY, [f"ptr {pointer}" for pointer in pointers])


class Gathered(Entry):
    """A program over lists of rows; `listed`: for each array of it, inputs first, whether a list chooses its rows."""

    def __init__(self, name: str, program: Program | StoredProgram, listed: Sequence[bool]):
        self.name, self.programs, self.listed = name, (program,), tuple(listed)

    def function(self, module: Module) -> str:
        """The loop over blocks of lanes around the program's body."""
        over = _OverRows(module, traced(self.programs[0]))
        last = over.body.line("sub i64 %n, 1")
        with over.blocks() as first:
            lanes = [over.body.line(f"add i64 {first}, {lane}") for lane in range(1, module.lanes)]
            places = [first, *(over.at_most(place, last) for place in lanes)]
            arrays = (*over.program.inputs, *over.program.outputs)
            rows: list[Row] = []
            for k, (array, listed) in enumerate(zip(arrays, self.listed, strict=True)):
                at = places
                if listed:
                    addresses = [over.body.line(f"getelementptr i64, ptr %list{k}, i64 {place}") for place in places]
                    at = [over.body.line(f"load i64, ptr {address}") for address in addresses]
                own = tuple(over.row(f"%array{k}", place, array.size) for place in at)
                rows.append(own if len(own) > 1 else own[0])
            over.run(rows)
        parameters = [f"ptr %array{k}{f', ptr %list{k}' if listed else ''}" for k, listed in enumerate(self.listed)]
        return over.function(self.name, parameters)


def inlined(name: str, program: Program, *, portable: bool) -> str | None:
    """The text of a short program as a function to inline; None for one that needs memory or tables."""
    if len(program.line) > _SHORT or program.callees or scratch_size(program):
        return None
    module = Module(1, DOUBLE, portable=portable)
    arrays = (*program.inputs, *program.outputs)
    rows: list[Row] = [f"%array{k}" for k in range(len(arrays))]
    names = [array.name for array in program.inputs]
    inputs = RowInputs({array.name: array.size for array in program.inputs}, dict(zip(names, rows, strict=False)))
    body = ProgramBody(module, program, inputs)
    run_into_rows(body, rows[len(program.inputs) :])
    parameters = ", ".join(f"ptr {row}" for row in rows)
    text = body.function(f"define internal void @{name}({parameters}) alwaysinline #0")
    return None if module.functions or module.tables else text


def library_text() -> str:
    """A module with the functions of `scalar.elementary` by the names that C's library has for them."""
    module = Module(1, DOUBLE, portable=True)
    for name in sorted(TRACED.keys() & LIBRARY):
        program, k = elementary(name)
        found = f"{{ {', '.join(['double'] * len(program.results))} }}"
        listed = ", ".join(f"double %x{n}" for n in range(len(program.inputs)))
        to = Writer(module)
        all_of_it = to.line(f"call {found} {elementary_function(module, program, 'double', found)}({listed})")
        to.effect(f"ret double {to.line(f'extractvalue {found} {all_of_it}, {k}')}")
        module.functions.append(to.framed(f"define double @{name}({listed})"))
    return module.text()


# --- functions on blocks of lanes -----------------------------------------------------------------------------------------
class OnBlocks(Entry):
    """A program that other modules call, on blocks of lanes: in a hole, or shared by several.

    `own_memory`: whether it has scratch memory of its own, as callers do not know what fills a hole; else it is the caller's.
    """

    def __init__(self, name: str, program: Program | StoredProgram, *, own_memory: bool):
        self.name, self.programs, self.own_memory = name, (program,), own_memory

    def function(self, module: Module) -> str:
        """The function of the program; one around it if that needs memory which the caller does not give."""
        program = traced(self.programs[0])
        taken, given_back = scratch_memory(module, scratch_size(program) if self.own_memory else 0)
        if not taken:
            return blocks_function(module, program, f"void @{self.name}")
        call = f"  call void {called_function(module, program)}(ptr %in, ptr %out, ptr %scratch)"
        head = f"define void @{self.name}(ptr %in, ptr %out, ptr %unused) noinline #0"
        return "\n".join([f"{head} {{", "entry:", *taken, call, *given_back, "  ret void", "}"])


def scratch_memory(module: Module, slots: int) -> tuple[list[str], list[str]]:
    """Instructions that take memory for so many blocks of lanes, at whole lines of the cache, and that give it back."""
    size = module.align * slots
    if not slots:
        return [], []
    if size <= _STACK_BYTES or module.threads:
        return [f"  %scratch = alloca [{slots} x {module.real}], align 64"], []
    taken = [
        f"  %heap = call ptr @malloc(i64 {size + 64})",
        "  %heapbits = ptrtoint ptr %heap to i64",
        "  %heapup = add i64 %heapbits, 63",
        "  %heapaligned = and i64 %heapup, -64",
        "  %scratch = inttoptr i64 %heapaligned to ptr",
    ]
    return taken, ["  call void @free(ptr %heap)"]


# --- results --------------------------------------------------------------------------------------------------------------
def run_into_rows(body: ProgramBody, rows: Sequence[Row]) -> None:
    """Computes a program, its results going to the rows of its outputs, which may be rows of its inputs."""
    outputs = _Outputs(body, rows)
    body.noted = None if body.in_parts else outputs.computed
    body.run_program()
    outputs.finish()


class _Stretch(NamedTuple):
    """Neighbouring elements of an output that are stored together: its row, its size, the first of them, and their values."""

    row: Row
    size: int
    start: int
    nodes: Sequence[Symbol]


class _Outputs:
    """Results on their way to rows: stored where they are computed, as soon as no input is read any more.

    A result that waits for the end of the program takes a register, or is spilled. But outputs may be inputs, so that nothing
    is stored while an input is still to be read. Several lanes are stored as stretches, transposed.
    """

    def __init__(self, body: ProgramBody, rows: Sequence[Row]):
        self.body, self.rows = body, rows
        self.stretches: list[_Stretch] = []
        self.whole: list[tuple[Row, Sequence[Symbol]]] = []  # outputs that are stored at the end, by a loop
        position = 0
        for row, array in zip(rows, body.program.outputs, strict=True):
            self._divide(row, body.program.results[position : position + array.size])
            position += array.size
        self.waiting: dict[Symbol, set[int]] = {}  # the stretches that a value not known yet belongs to
        for k, stretch in enumerate(self.stretches):
            for node in stretch.nodes:
                self.waiting.setdefault(node, set()).add(k)
        self.missing = {k: len(set(stretch.nodes)) for k, stretch in enumerate(self.stretches)}
        self.unread = [node for node in body.program.line if node.op in ("input", "loop")]
        self.ready: list[int] = []

    def _divide(self, row: Row, nodes: Sequence[Symbol]) -> None:
        lanes, size = self.body.module.lanes, len(nodes)
        by_a_loop = size > _SCATTER_ONE_BY_ONE if lanes > 1 else size > _SPARSE and zero_runs(nodes)
        if by_a_loop or any(node in self.body.deferred for node in nodes):
            self.whole.append((row, nodes))
            return
        even = size // lanes * lanes
        self.stretches += [_Stretch(row, size, k, nodes[k : k + lanes]) for k in range(0, even, lanes)]
        self.stretches += [_Stretch(row, size, k, nodes[k : k + 1]) for k in range(even, size)]

    def computed(self, node: Symbol) -> None:
        """Takes note of a value that is known now, and stores what may be stored."""
        for k in self.waiting.pop(node, ()):
            self.missing[k] -= 1
            if not self.missing[k]:
                self.ready.append(k)
        if self.ready:
            self.unread = [source for source in self.unread if source not in self.body.values]
            if not self.unread:
                self._store(self.ready)
                self.ready = []

    def _store(self, which: Sequence[int]) -> None:
        body = self.body
        for k in which:
            row, size, start, nodes = self.stretches[k]
            values = [body.value(node) for node in nodes]
            if len(values) > 1:
                scatter_stretch(body, values, row, size, start)
            else:
                scatter(body, values[0], row, size, start)
            del self.missing[k]

    def finish(self) -> None:
        """Stores what is left. All of it is read before anything is written."""
        body, program = self.body, self.body.program
        if body.in_parts:
            body.result_size = max(body.result_size, len(program.results))
            body.store_results("%returned")
            position = 0
            for row, array in zip(self.rows, program.outputs, strict=True):
                scatter_buffer(body, "%returned", position, array.size, row)
                position += array.size
            return
        for node in program.results:
            if node not in body.deferred:
                body.value(node)
        self._store(list(self.missing))
        for row, nodes in self.whole:
            stand_at = body.stand_at(nodes)
            if stand_at is not None:
                scatter_buffer(body, *stand_at, len(nodes), row)
                continue
            body.result_size = max(body.result_size, len(nodes))
            body.store_all(nodes, "%returned")
            scatter_buffer(body, "%returned", 0, len(nodes), row)
