"""The kinds of values in procedures: numbers, arrays, and records of both; and how pages write those of arrays."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, pairwise
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

#: In machine code: the name of the entry, that of the table of procedures that wait for their first call; and how many words of
#: the entry's block say which check failed, its number from 1 on and two integers.
ENTRY, TABLE, FAULT_WORDS = "procedure_entry", "made_later", 3


@dataclass(frozen=True)
class NumberKind:
    """`float`, `int` or `bool`."""

    name: str

    def __str__(self) -> str:
        return self.name

    @property
    def leaves(self) -> tuple[str, ...]:
        """What a value consists of in machine code: names of numbers, and "pointer"."""
        return (self.name,)


FLOAT, INT, BOOL = NumberKind("float"), NumberKind("int"), NumberKind("bool")
#: By their letters in the table of operations.
LETTERS: dict[str, NumberKind] = {"f": FLOAT, "i": INT, "b": BOOL}


@dataclass(frozen=True)
class ArrayKind:
    """An array of floats or integers: `shape` begins with None if it has any number of rows. Constant ones are only read."""

    element: NumberKind
    shape: tuple[int | None, ...]
    constant: bool = False

    @property
    def is_fixed(self) -> bool:
        """Whether the number of rows is known."""
        return self.shape[0] is not None

    @property
    def row(self) -> tuple[int, ...]:
        """The shape of a row."""
        return tuple(size for size in self.shape[1:] if size is not None)

    @property
    def row_size(self) -> int:
        """The number of elements of a row."""
        return prod(self.row)

    @property
    def leaves(self) -> tuple[str, ...]:
        """The address, and the number of rows unless it is known."""
        return ("pointer",) if self.is_fixed else ("pointer", "int")

    def after(self, indices: int) -> ArrayKind | NumberKind:
        """The kind of what so many indices choose."""
        return self.element if indices == len(self.shape) else ArrayKind(self.element, self.shape[indices:], self.constant)

    def __str__(self) -> str:
        if self.is_fixed:
            sizes = ", ".join(map(str, self.shape))
            return f"{'Shaped' if self.element == FLOAT else 'ShapedInts'}[{sizes}]"
        name = "Floats" if self.element == FLOAT else "Ints"
        return f"{name}[{', '.join(map(str, self.row))}]" if self.row else name


@dataclass(frozen=True)
class RecordKind:
    """Several values: a NamedTuple, whose fields have names, or a tuple."""

    parts: tuple[Kind, ...]
    names: tuple[str, ...] = ()
    title: str = "tuple"

    @cached_property
    def leaves(self) -> tuple[str, ...]:
        """Those of all parts."""
        return tuple(leaf for part in self.parts for leaf in part.leaves)

    @cached_property
    def spans(self) -> list[range]:
        """The leaves of each part among all."""
        return [range(*ends) for ends in pairwise([0, *accumulate(len(part.leaves) for part in self.parts)])]

    @property
    def fields(self) -> tuple[str, ...]:
        """The names of the parts, or their numbers."""
        return self.names or tuple(map(str, range(len(self.parts))))

    def __str__(self) -> str:
        return self.title if self.names else f"({', '.join(map(str, self.parts))})" if self.parts else "None"


Kind = NumberKind | ArrayKind | RecordKind
NOTHING = RecordKind(())


# --- what pages write -----------------------------------------------------------------------------------------------------
class _Form:
    """An annotation: alone an array of numbers, with sizes an array of rows, or of that shape if `fixed`."""

    def __init__(self, name: str, element: NumberKind, *, fixed: bool):
        self.name, self.element, self.fixed = name, element, fixed

    def __getitem__(self, sizes: int | tuple[int, ...]) -> ArrayKind:
        shape = sizes if isinstance(sizes, tuple) else (sizes,)
        if not shape or not all(isinstance(size, int) and size > 0 for size in shape):
            raise TypeError(f"{self.name}{list(shape)}: sizes are whole numbers above 0, as in {self.name}[6]")
        return ArrayKind(self.element, shape if self.fixed else (None, *shape))

    def __call__(self, *arguments: object) -> Any:
        raise TypeError(f"{self.name} is an annotation; make arrays with NumPy, or with local() inside a procedure")

    def __repr__(self) -> str:
        return self.name


if TYPE_CHECKING:  # type checkers take them for anything: the procedure's own check knows the shapes
    #: An array of floats of any length; `Floats[6]` has rows of six.
    Floats: Any
    #: The same of integers.
    Ints: Any
    #: `Shaped[6, 6]` is an array of floats of that shape.
    Shaped: Any
    #: The same of integers.
    ShapedInts: Any
else:
    Floats, Ints = _Form("Floats", FLOAT, fixed=False), _Form("Ints", INT, fixed=False)
    Shaped, ShapedInts = _Form("Shaped", FLOAT, fixed=True), _Form("ShapedInts", INT, fixed=True)


def local(*shape: int) -> np.ndarray:
    """A new array of zeros."""
    return np.zeros(shape)


def local_ints(*shape: int) -> np.ndarray:
    """A new array of zeros of integers."""
    return np.zeros(shape, dtype=np.int64)
