"""Which loops of a procedure are one operation on a few neighbouring numbers: their passes are computed side by side.

LLVM finds such loops too, but groups numbers of different rows where a row has not as many as a register: the product of two
6 × 6 blocks then takes two to three times as long. Where a page also writes single elements of the same array, LLVM's way is
kept: reading a row that was just written one by one takes long.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from . import tree
from .kinds import FLOAT

#: Operations of several numbers at a time.
SIDE_BY_SIDE = frozenset({"add", "sub", "mul", "div", "neg"})
_FEWEST, _MOST = 4, 16


def loops_side_by_side(typed: tree.TypedProcedure) -> dict[int, int]:
    """The loops whose passes are computed at once, by `id`, with how many passes they have."""
    every = list(statements_in(typed.body))
    loops = [(loop, _passes(typed, loop)) for loop in every if isinstance(loop, tree.Counting)]
    found = {id(loop): (loop, count) for loop, count in loops if count is not None}
    inside = {id(statement) for loop, _ in found.values() for statement in loop.body}
    single = _written(typed, [statement for statement in every if id(statement) not in inside])
    return {key: count for key, (loop, count) in found.items() if not _written(typed, loop.body) & single}


def _written(typed: tree.TypedProcedure, statements: Sequence[tree.Statement]) -> set[str]:
    """The arrays that statements give single elements a value of."""
    targets = [target for statement in statements if isinstance(statement, tree.Set) for target in statement.targets]
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
    count = loop.passes
    if count is None or not _FEWEST <= count <= _MOST or loop.step != 1:
        return None
    written = _written(typed, loop.body)
    for statement in loop.body:
        if not isinstance(statement, tree.Set) or len(statement.targets) != 1:
            return None
        (target,) = statement.targets
        if not isinstance(target, tree.SetElement) or target.kind != FLOAT or not _at_counter(target, loop.name):
            return None
        if _is_sliced(typed, target.array) or not _is_fine(typed, statement.value, loop.name, written):
            return None
    return count


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
