"""Which loops are one operation on a few neighbouring numbers: their passes are computed side by side.

LLVM finds such loops too, but groups numbers of different rows where a row has not as many as a register: the product of two
6 × 6 blocks then takes two to three times as long. Where a page also writes single elements of the same array, LLVM's way is
kept: reading a row that was just written one by one takes long.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from .kinds import FLOAT
from .tree import (
    ArrayElement,
    ArrayRow,
    ArraySlice,
    Chosen,
    Constant,
    Counting,
    Expression,
    Fresh,
    Length,
    Local,
    Member,
    Old,
    Operation,
    Repeat,
    Set,
    SetElement,
    Statement,
    TypedProcedure,
    When,
    roots,
)

__all__ = ["SIDE_BY_SIDE", "depends", "loops_side_by_side", "statements_in"]

#: Operations of several numbers at a time.
SIDE_BY_SIDE = frozenset({"add", "sub", "mul", "div", "neg"})
_FEWEST, _MOST = 4, 16


def loops_side_by_side(typed: TypedProcedure) -> dict[int, int]:
    """The loops whose passes are computed at once, by `id`, with how many passes they have."""
    found: dict[int, tuple[Counting, int]] = {}
    single: set[str] = set()
    for statement in statements_in(typed.body):
        count = _passes(typed, statement) if isinstance(statement, Counting) else None
        if isinstance(statement, Counting) and count is not None:
            found[id(statement)] = statement, count
    inside = {id(statement) for loop, _ in found.values() for statement in loop.body}
    for statement in statements_in(typed.body):
        if isinstance(statement, Set) and id(statement) not in inside:
            for target in statement.targets:
                single |= roots(typed, target.array) if isinstance(target, SetElement) else set()
    return {key: count for key, (loop, count) in found.items() if not _touched(typed, loop) & single}


def _touched(typed: TypedProcedure, loop: Counting) -> set[str]:
    """The arrays that a loop writes to."""
    targets = [target for statement in loop.body if isinstance(statement, Set) for target in statement.targets]
    return {root for target in targets if isinstance(target, SetElement) for root in roots(typed, target.array)}


def statements_in(body: Sequence[Statement]) -> Iterator[Statement]:
    """All statements, those inside of others too."""
    for statement in body:
        yield statement
        if isinstance(statement, When):
            yield from statements_in(statement.then + statement.other)
        elif isinstance(statement, Counting | Repeat):
            yield from statements_in(statement.body)


def _passes(typed: TypedProcedure, loop: Counting) -> int | None:
    """How many passes of a loop can be computed at once; None if they cannot.

    They can if there is a small constant number of them, every statement gives elements `x[..., k]` a value, k being the
    counter, and no pass reads what another one writes: what is read of arrays that are written to is read at k too.
    """
    if not isinstance(loop.start, Constant) or not isinstance(loop.stop, Constant) or loop.step != 1:
        return None
    count = loop.stop.value - loop.start.value
    if not _FEWEST <= count <= _MOST:
        return None
    written: set[str] = set()
    arrays: list[Expression] = []
    for statement in loop.body:
        if not isinstance(statement, Set) or len(statement.targets) != 1:
            return None
        (target,) = statement.targets
        if not isinstance(target, SetElement) or target.kind != FLOAT or not _at_counter(target, loop.name):
            return None
        written |= roots(typed, target.array)
        arrays.append(target.array)
    values = [statement.value for statement in loop.body if isinstance(statement, Set)]
    fine = all(_is_fine(typed, value, loop.name, written) for value in values)
    return count if fine and not any(_is_sliced(typed, array) for array in arrays) else None


def depends(node: Expression, name: str) -> bool:
    """Whether an expression reads a name."""
    return any(isinstance(part, Local) and part.name == name for part in _parts(node))


def _is_fine(typed: TypedProcedure, node: Expression, name: str, written: set[str]) -> bool:
    """Whether a value can be computed for several passes at once."""
    if node.kind != FLOAT:
        return False
    if isinstance(node, ArrayElement) and _at_counter(node, name):
        return not (_is_sliced(typed, node.array) and roots(typed, node.array) & written)
    if isinstance(node, Operation) and node.name in SIDE_BY_SIDE:
        return all(_is_fine(typed, argument, name, written) for argument in node.arguments)
    if isinstance(node, Old):
        return True
    parts = list(_parts(node))
    if any(not isinstance(part, _READ) or (isinstance(part, Local) and part.name == name) for part in parts):
        return False
    return not any(isinstance(part, ArrayElement) and roots(typed, part.array) & written for part in parts)


#: Expressions that are computed once for all passes.
_READ = (ArrayElement, ArrayRow, Constant, Length, Local, Member, Operation)


def _at_counter(node: ArrayElement | SetElement, name: str) -> bool:
    """Whether this is `x[..., k]`, and k is nowhere else in it."""
    *others, last = node.indices
    only = not any(depends(part, name) for part in (node.array, *others))
    return only and isinstance(last, Local) and last.name == name and _is_plain(node.array)


def _is_plain(node: Expression) -> bool:
    """Whether an array is a name, a field or a row of one."""
    if isinstance(node, ArrayRow | ArraySlice):
        return _is_plain(node.array)
    return isinstance(node, Local | Member | Constant)


def _is_sliced(typed: TypedProcedure, node: Expression, seen: frozenset[str] = frozenset()) -> bool:
    """Whether an array may begin in the middle of a row: as a slice, or as a name for one."""
    if isinstance(node, ArrayRow):
        return _is_sliced(typed, node.array, seen)
    if isinstance(node, Local):
        origins = typed.origins.get(node.name, [])
        return node.name not in seen and any(_is_sliced(typed, origin, seen | {node.name}) for origin in origins)
    return not isinstance(node, Member | Constant | Fresh)


def _parts(node: Expression) -> Iterator[Expression]:
    """An expression and all in it."""
    yield node
    if isinstance(node, Operation):
        inner: tuple[Expression, ...] = node.arguments
    elif isinstance(node, Chosen):
        inner = (node.condition, node.then, node.other)
    elif isinstance(node, ArrayElement | ArrayRow):
        inner = (node.array, *node.indices)
    elif isinstance(node, ArraySlice):
        inner = (node.array, node.start, *(() if node.stop is None else (node.stop,)))
    elif isinstance(node, Length):
        inner = (node.array,)
    elif isinstance(node, Member):
        inner = (node.record,)
    else:
        inner = ()
    for part in inner:
        yield from _parts(part)
