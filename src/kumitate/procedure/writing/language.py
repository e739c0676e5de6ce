"""What a language gives to the walk over a procedure's tree: how numbers, memory, loops and calls are written."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

from ...scalar import Program
from ..kinds import ArrayKind, NumberKind
from ..tree import Constant, Site, TypedProcedure

__all__ = ["Language", "Value"]

#: The names of the leaves of a value.
Value = list[str]


class Language(ABC):
    """Writes instructions, one after the other. Operands are names or constants."""

    @abstractmethod
    def number(self, value: float, kind: NumberKind) -> str:
        """A constant as an operand."""

    @abstractmethod
    def table(self, constant: Constant) -> str:
        """The address of an array of constants."""

    @abstractmethod
    def operation(self, name: str, operands: Sequence[str]) -> str:
        """A row of the table of operations."""

    @abstractmethod
    def variable(self, leaf: str, name: str) -> str:
        """A new variable of the function, which is 0 until it is given a value."""

    @abstractmethod
    def get(self, variable: str, leaf: str) -> str:
        """Its value now."""

    @abstractmethod
    def put(self, variable: str, leaf: str, value: str) -> None:
        """Gives it a value."""

    @abstractmethod
    def address(self, pointer: str, kind: ArrayKind, indices: Sequence[str]) -> str:
        """The address of an element or a row."""

    @abstractmethod
    def apart(self, pointer: str, size: str, other: str, other_size: str) -> str:
        """Whether two arrays of so many elements do not overlap."""

    @abstractmethod
    def load(self, pointer: str, kind: NumberKind) -> str:
        """The number at an address."""

    @abstractmethod
    def store(self, pointer: str, kind: NumberKind, value: str) -> None:
        """Puts a number at an address."""

    @abstractmethod
    def fresh(self, kind: ArrayKind) -> str:
        """The address of a local array, filled with zeros."""

    @abstractmethod
    def invoke(self, called: TypedProcedure, arguments: Sequence[str]) -> Value:
        """A call of another procedure with the leaves that it needs."""

    @abstractmethod
    def run_program(self, program: Program, count: str | None, arrays: Sequence[tuple[str, str | None]]) -> None:
        """Evaluations of a traced program: one, or as many as `count`; the addresses of its arrays, and of lists of rows."""

    @abstractmethod
    def run_at(self, address: str, arrays: Sequence[str]) -> None:
        """One evaluation of the program at an address; the addresses of its arrays."""

    @abstractmethod
    def when(self, condition: str) -> None:
        """Begins what is run if a condition holds."""

    @abstractmethod
    def otherwise(self) -> None:
        """Begins what is run if it does not."""

    @abstractmethod
    def end_when(self) -> None:
        """Ends both."""

    @abstractmethod
    def begin_loop(self) -> None:
        """Begins a loop without end."""

    @abstractmethod
    def leave_unless(self, condition: str) -> None:
        """Leaves the loop."""

    @abstractmethod
    def end_loop(self) -> None:
        """Ends the loop."""

    @abstractmethod
    def begin_count(self, start: str, stop: str, step: int) -> str:
        """Begins a loop that counts; the name of its counter."""

    @abstractmethod
    def end_count(self, passes: int | None) -> None:
        """Ends it; `passes` says how many there are if that is known."""

    @abstractmethod
    def leave(self) -> None:
        """Leaves the loop."""

    @abstractmethod
    def again(self) -> None:
        """Begins the next pass of the loop."""

    @abstractmethod
    def give(self, values: Sequence[str]) -> None:
        """Returns from the function."""

    @abstractmethod
    def check(self, condition: str, site: Site, what: str, values: Sequence[str]) -> None:
        """Ends the procedure with a message if a condition does not hold; `what` has places for two integers."""
