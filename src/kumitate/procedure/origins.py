"""Where arrays come from: which argument, field of one, or local array an expression is, or is a part of."""

from __future__ import annotations

from .kinds import RecordKind
from .tree import ArrayRow, ArraySlice, Chosen, Constant, Expression, Fresh, Local, Made, Member, TypedProcedure

__all__ = ["CONSTANT", "roots"]

#: Stands for the constants of the module.
CONSTANT = ""


def roots(typed: TypedProcedure, array: Expression, path: tuple[str, ...] = ()) -> set[str]:
    """The names of what an array is a part of: arguments, their fields as "name.field", and names that local arrays were given.

    Args:
        typed: the procedure.
        array: the expression; or a record.
        path: names of fields, if it is about an array in a record.
    """
    return _roots(typed, array, path, frozenset())


def _roots(typed: TypedProcedure, array: Expression, path: tuple[str, ...], seen: frozenset[str]) -> set[str]:
    if isinstance(array, Constant):
        return {CONSTANT}
    if isinstance(array, Local):
        origins = typed.origins.get(array.name, [])
        own = any(array.name == name for name, _ in typed.parameters) or any(isinstance(one, Fresh) for one in origins)
        found = {".".join((array.name, *path))} if own else set()
        if array.name not in seen:
            for origin in origins:
                found |= _roots(typed, origin, path, seen | {array.name})
        return found
    if isinstance(array, Member):
        assert isinstance(array.record.kind, RecordKind)
        names = array.record.kind.names
        return _roots(typed, array.record, (names[array.position] if names else str(array.position), *path), seen)
    if isinstance(array, Made):
        assert isinstance(array.kind, RecordKind)
        names = array.kind.names or tuple(map(str, range(len(array.parts))))
        return _roots(typed, array.parts[names.index(path[0])], path[1:], seen)
    if isinstance(array, ArrayRow | ArraySlice):
        return _roots(typed, array.array, path, seen)
    if isinstance(array, Chosen):
        return _roots(typed, array.then, path, seen) | _roots(typed, array.other, path, seen)
    return set()
