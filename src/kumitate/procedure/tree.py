"""The typed tree of a procedure: what a function says, with the kind of every expression."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from ..scalar import Program
from .kinds import NOTHING, ArrayKind, Kind, RecordKind
from .source import Site


# --- expressions --------------------------------------------------------------------------------------------------------
class Expression:
    """A value of a kind."""

    kind: Kind


@dataclass(frozen=True)
class Constant(Expression):
    """A number, or an array of constants as a nested tuple."""

    value: Any
    kind: Kind


@dataclass(frozen=True)
class Local(Expression):
    """The value of a name."""

    name: str
    kind: Kind


@dataclass(frozen=True)
class Old(Expression):
    """What stands in the element that is updated."""

    kind: Kind


@dataclass(frozen=True)
class Operation(Expression):
    """A row of the table of operations."""

    name: str
    arguments: tuple[Expression, ...]
    kind: Kind
    site: Site


@dataclass(frozen=True)
class Chosen(Expression):
    """`then if condition else other`, of which only one is computed."""

    condition: Expression
    then: Expression
    other: Expression
    kind: Kind


@dataclass(frozen=True)
class ArrayElement(Expression):
    """A number of an array."""

    array: Expression
    indices: tuple[Expression, ...]
    kind: Kind
    site: Site


@dataclass(frozen=True)
class ArrayRow(Expression):
    """A row of an array, or a part of a row."""

    array: Expression
    indices: tuple[Expression, ...]
    kind: Kind
    site: Site


@dataclass(frozen=True)
class ArraySlice(Expression):
    """`array[start:stop]`; no stop stands for the end. With a stop of None and a kind of any length, the whole array."""

    array: Expression
    start: Expression
    stop: Expression | None
    kind: ArrayKind
    site: Site


@dataclass(frozen=True)
class Length(Expression):
    """The number of rows of an array."""

    array: Expression
    kind: Kind


@dataclass(frozen=True)
class Member(Expression):
    """Part `position` of a record."""

    record: Expression
    position: int
    kind: Kind


@dataclass(frozen=True)
class Made(Expression):
    """A record of values."""

    parts: tuple[Expression, ...]
    kind: Kind


@dataclass(frozen=True)
class Fresh(Expression):
    """A new array of zeros that lasts until the procedure returns."""

    kind: ArrayKind


@dataclass(frozen=True)
class Invoke(Expression):
    """A call of another procedure."""

    procedure: TypedProcedure
    arguments: tuple[Expression, ...]
    kind: Kind
    site: Site


@dataclass(frozen=True)
class RunProgram(Expression):
    """Evaluations of a traced program: one on rows, or `count` of them on arrays of rows, each perhaps by a list."""

    program: Program
    count: Expression | None
    arrays: tuple[tuple[Expression, Expression | None], ...]
    site: Site
    kind: Kind = NOTHING


@dataclass(frozen=True)
class RunAt(Expression):
    """One evaluation of the program at an address, on arrays and numbers: its inputs, then its outputs."""

    address: Expression
    arrays: tuple[Expression, ...]
    site: Site
    kind: Kind = NOTHING


@dataclass(frozen=True)
class InvokeAt(Expression):
    """A call of the procedure at an address, to which the same is handed as to another one."""

    address: Expression
    invoke: Invoke
    kind: Kind
    site: Site


# --- statements ---------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class SetElement:
    """A place in an array that is given a value; if it is updated, the value reads the `Old` one."""

    array: Expression
    indices: tuple[Expression, ...]
    kind: Kind
    site: Site
    updated: bool = False


@dataclass(frozen=True)
class Set:
    """Names and places are given the parts of a value, or a single one the value; without targets, it is only computed."""

    targets: tuple[Local | SetElement, ...]
    value: Expression


@dataclass(frozen=True)
class When:
    """`if condition: then, else: other`."""

    condition: Expression
    then: tuple[Statement, ...]
    other: tuple[Statement, ...]


@dataclass(frozen=True)
class Repeat:
    """`while condition: body`."""

    condition: Expression
    body: tuple[Statement, ...]


@dataclass(frozen=True)
class Counting:
    """`for name in range(start, stop, step): body`."""

    name: str
    start: Expression
    stop: Expression
    step: int
    body: tuple[Statement, ...]

    @property
    def passes(self) -> int | None:
        """How many passes it makes, if that is known."""
        known = isinstance(self.start, Constant) and isinstance(self.stop, Constant)
        return len(range(self.start.value, self.stop.value, self.step)) if known else None  # type: ignore[attr-defined]


@dataclass(frozen=True)
class Jump:
    """`break`, which leaves a loop, or `continue`, which does not."""

    leaves: bool


@dataclass(frozen=True)
class Return:
    """`return value`."""

    value: Expression | None


Statement = Set | When | Repeat | Counting | Jump | Return


@dataclass(eq=False)
class TypedProcedure:
    """A procedure that has been checked.

    Attributes:
        name: of the function.
        parameters: their names and kinds, in order.
        result: the kind of what it returns.
        names: the kinds of all names, parameters included.
        assignments: how often the source gives each name a value; a parameter has its first one from the call.
        origins: the values that each name is given.
        writes: the parameters, or their fields as "name.field", whose arrays it writes to.
        calls: the procedures that it calls.
        waits: whether its machine code is made when others first call it.
    """

    name: str
    parameters: Sequence[tuple[str, Kind]]
    result: Kind = NOTHING
    body: tuple[Statement, ...] = ()
    names: dict[str, Kind] = field(default_factory=dict)
    assignments: Counter[str] = field(default_factory=Counter)
    origins: dict[str, list[Expression]] = field(default_factory=dict)
    writes: set[str] = field(default_factory=set)
    calls: list[TypedProcedure] = field(default_factory=list)
    waits: bool = False


# --- where arrays come from: which argument, field of one, or local array an expression is, or is a part of ---------------
#: Stands for the constants of the module.
CONSTANT = ""


def roots(typed: TypedProcedure, array: Expression, path: tuple[str, ...] = (), seen: frozenset[str] = frozenset()) -> set[str]:
    """The names of what an array is a part of: arguments, their fields as "name.field", and names that local arrays were given.

    `path` has the names of fields, if `array` is a record and it is about an array in it; `seen` names were looked at before.
    """
    if isinstance(array, Constant):
        return {CONSTANT}
    if isinstance(array, Local):
        origins = typed.origins.get(array.name, [])
        own = any(array.name == name for name, _ in typed.parameters) or any(isinstance(one, Fresh) for one in origins)
        found = {".".join((array.name, *path))} if own else set()
        if array.name not in seen:
            for origin in origins:
                found |= roots(typed, origin, path, seen | {array.name})
        return found
    if isinstance(array, Member):
        assert isinstance(array.record.kind, RecordKind)
        return roots(typed, array.record, (array.record.kind.fields[array.position], *path), seen)
    if isinstance(array, Made):
        assert isinstance(array.kind, RecordKind)
        return roots(typed, array.parts[array.kind.fields.index(path[0])], path[1:], seen)
    if isinstance(array, ArrayRow | ArraySlice):
        return roots(typed, array.array, path, seen)
    if isinstance(array, Chosen):
        return roots(typed, array.then, path, seen) | roots(typed, array.other, path, seen)
    return set()
