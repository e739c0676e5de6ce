"""The rows of the user's arrays: an array holds one contiguous row per state, and a block of lanes reads and writes several.

Neighbouring elements are moved as vectors, as many as there are lanes, and transposed in registers.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence

from .writer import Writer

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
