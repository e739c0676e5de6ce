"""The source of a procedure: its syntax tree, what its names stand for, and messages that point at a line."""

from __future__ import annotations

import ast
import builtins
import inspect
import linecache
import typing
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from types import CellType
from typing import Any

from ..errors import ProcedureError
from .kinds import BOOL, FLOAT, INT, NOTHING, ArrayKind, Floats, Ints, Kind, RecordKind, Shaped, ShapedInts

#: Stands for names that no object outside the function has.
UNKNOWN = object()
_parsed: dict[str, tuple[str, dict[int, ast.FunctionDef]]] = {}
_KINDS: dict[Any, Kind] = {float: FLOAT, int: INT, bool: BOOL, None: NOTHING, type(None): NOTHING}


@dataclass(frozen=True)
class Site:
    """A place in the source: the file, the line and the expression, for messages."""

    file: str
    line: int
    node: ast.AST

    def __str__(self) -> str:
        text = next(line for line in ast.unparse(self.node).splitlines() if not line.startswith("@"))
        return f"{self.file}:{self.line}: `{text}`"


class Source:
    """A function's source.

    Attributes:
        file, tree: where it stands, and its syntax tree.
        outside: what names of its module and of the functions around it stand for.
        inside: the names that it gives values to.
    """

    def __init__(self, function: Callable[..., Any]):
        self.function = function
        self.file = inspect.getsourcefile(function) or "<unknown>"
        found = _functions(self.file, function).get(function.__code__.co_firstlineno)
        if found is None:
            raise ProcedureError(
                f"{function.__qualname__}: its source is not in a file; write procedures in a module or a script"
            )
        self.tree = found
        cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
        # a variable of a function around this one may have no value yet
        closed = {name: cell.cell_contents for name, cell in cells if cell != CellType()}
        self.outside: dict[str, Any] = {**vars(builtins), **function.__globals__, **closed}
        self.inside = {*function.__code__.co_varnames, *function.__code__.co_cellvars}

    def site(self, node: ast.AST) -> Site:
        """The place of a part of the tree."""
        return Site(self.file, getattr(node, "lineno", self.tree.lineno), node)

    def fault(self, node: ast.AST, rule: str) -> ProcedureError:
        """The error about a part of the tree: which rule it breaks, and the remedy."""
        return ProcedureError(f"{self.site(node)}: {rule}")

    def static(self, node: ast.expr) -> Any:
        """What an expression stands for if it is a name from outside, or an attribute of one; else `UNKNOWN`."""
        if isinstance(node, ast.Name) and node.id not in self.inside:
            if node.id not in self.outside:
                close = get_close_matches(node.id, [*self.inside, *self.outside], 1)
                hint = f"; did you mean {close[0]}?" if close else "; give it a value first"
                raise self.fault(node, f"{node.id} is not a name of this function or of its module{hint}")
            return self.outside[node.id]
        if isinstance(node, ast.Attribute):
            owner = self.static(node.value)
            if owner is not UNKNOWN:
                if not hasattr(owner, node.attr):
                    close = get_close_matches(node.attr, dir(owner), 1)
                    raise self.fault(node, f"there is no {node.attr}{f'; did you mean {close[0]}?' if close else ''}")
                return getattr(owner, node.attr)
        return UNKNOWN

    def signature(self) -> tuple[list[tuple[str, Kind]], Kind]:
        """The parameters with their kinds, and the kind of the result."""
        arguments = self.tree.args
        if arguments.vararg or arguments.kwarg or arguments.kwonlyargs or arguments.posonlyargs or arguments.defaults:
            raise self.fault(self.tree, "parameters are plain names without defaults; write f(x: Floats, n: int)")
        try:
            hints = typing.get_type_hints(self.function)
        except (NameError, TypeError) as error:
            raise self.fault(self.tree, f"{error}; annotations use names of the module") from None
        found = []
        for argument in arguments.args:
            if argument.arg not in hints:
                raise self.fault(argument, f"{argument.arg} has no annotation; write {argument.arg}: Floats, or another kind")
            found.append((argument.arg, self._kind(argument, hints[argument.arg])))
        if "return" not in hints:
            raise self.fault(self.tree, "there is no annotation of the result; write -> None, or the kind that it returns")
        result = self._kind(self.tree, hints["return"])
        if any(leaf == "pointer" for leaf in result.leaves):
            raise self.fault(self.tree, f"returns {result}; results are numbers, so write to an array that is an argument")
        return found, result

    def _kind(self, node: ast.AST, hint: Any) -> Kind:
        found = kind_of(hint)
        if found is None:
            raise self.fault(
                node, f"{hint!r} is not a kind of procedures; they take float, int, bool, Floats, Ints, Shaped[...], and "
                "NamedTuples and tuples of these"
            )  # fmt: skip
        return found


def _functions(file: str, function: Callable[..., Any]) -> dict[int, ast.FunctionDef]:
    """The functions of a file by their first line, that of a decorator; a file is parsed once as long as it does not change."""
    text = "".join(linecache.getlines(file, function.__globals__))
    if file not in _parsed or _parsed[file][0] != text:
        functions = list(_defined(ast.parse(text)))
        _parsed[file] = text, {min([f.lineno, *(d.lineno for d in f.decorator_list)]): f for f in functions}
    return _parsed[file][1]


def _defined(node: ast.AST) -> Iterator[ast.FunctionDef]:
    """The functions in a module or a function, also in the branches of its statements."""
    for part in (*getattr(node, "body", ()), *getattr(node, "orelse", ())):
        if isinstance(part, ast.FunctionDef):
            yield part
        yield from _defined(part)


def kind_of(hint: Any) -> Kind | None:
    """The kind that an annotation stands for; None if there is none."""
    if hint is Floats or hint is Ints:
        return ArrayKind(hint.element, (None,))
    if hint is Shaped or hint is ShapedInts:
        return None
    if isinstance(hint, ArrayKind):
        return hint
    if isinstance(hint, type) and issubclass(hint, tuple) and hasattr(hint, "_fields"):
        return _record(hint)
    if typing.get_origin(hint) is tuple:
        parts = [kind_of(part) for part in typing.get_args(hint)]
        known = tuple(part for part in parts if part is not None)
        return RecordKind(known) if len(known) == len(parts) else None
    return _KINDS.get(hint) if hint is None or isinstance(hint, type) else None


@cache
def _record(hint: Any) -> RecordKind | None:
    """The kind of a class of NamedTuples."""
    try:
        hints = typing.get_type_hints(hint)
    except NameError:
        return None
    parts = [kind_of(hints[name]) if name in hints else None for name in hint._fields]
    known = tuple(part for part in parts if part is not None)
    return RecordKind(known, hint._fields, hint.__name__) if len(known) == len(parts) else None
