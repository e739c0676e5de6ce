"""Small changes of a source file, one at a time: comparisons, signs, terms, constants, arguments, conditions."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

#: The opposites and neighbours of operators.
COMPARED = {ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
            ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is}  # fmt: skip
SIGNS = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Div, ast.Pow: ast.Mult}

#: Functions whose arguments may be exchanged.
COMMUTE = ("minimum", "maximum", "min", "max", "isinstance", "hypot", "dot")


@dataclass(frozen=True)
class Mutant:
    """One change of a file.

    Attributes:
        path: of the file.
        kind: of the change.
        lines: first and last of the statement that it is in.
        before, after: its text.
        start, end: offsets in the file's text [characters].
    """

    path: Path
    kind: str
    lines: tuple[int, int]
    before: str
    after: str
    start: int
    end: int

    def text(self) -> str:
        """The file's changed text."""
        source = self.path.read_text(encoding="utf-8")
        return source[: self.start] + self.after + source[self.end :]

    def told(self, root: Path) -> str:
        """The change in a line."""
        return f"{self.path.relative_to(root)}:{self.lines[0]}: {self.kind}: {self.before} → {self.after}"


def changes(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    """The kinds of changes of an expression or statement, and what it becomes."""
    if isinstance(node, ast.Compare) and type(node.ops[0]) in COMPARED:
        other = copy.deepcopy(node)
        other.ops[0] = COMPARED[type(node.ops[0])]()
        yield "comparison", other
    elif isinstance(node, ast.BinOp) and type(node.op) in SIGNS:
        other = copy.deepcopy(node)
        other.op = SIGNS[type(node.op)]()
        yield "sign", other
        yield "term", node.left
        if not isinstance(node.op, ast.Div | ast.FloorDiv | ast.Pow):
            yield "term", node.right
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.Not):
        yield "sign" if isinstance(node.op, ast.USub) else "condition", node.operand
    elif isinstance(node, ast.Constant) and type(node.value) in (int, float):
        yield "constant", ast.Constant(node.value + 1)
        if node.value not in (0, 1):
            yield "constant", ast.Constant(0)
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
        yield "constant", ast.Constant(not node.value)
    elif (
        isinstance(node, ast.Call)
        and _called(node) not in COMMUTE
        and len(node.args) >= 2
        and not any(isinstance(a, ast.Starred) for a in node.args[:2])
    ):
        if ast.dump(node.args[0]) != ast.dump(node.args[1]):
            other = copy.deepcopy(node)
            other.args[:2] = other.args[1::-1]
            yield "arguments", other
    elif isinstance(node, ast.BoolOp):
        other = copy.deepcopy(node)
        other.op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        yield "condition", other
    elif isinstance(node, ast.IfExp):
        yield "branch", node.body
        yield "branch", node.orelse


def _called(node: ast.Call) -> str:
    """The name of what is called."""
    return getattr(node.func, "id", getattr(node.func, "attr", ""))


def _skipped(node: ast.AST) -> bool:
    """Whether nothing below is changed: annotations, messages, and what only type checkers read."""
    if isinstance(node, ast.Raise | ast.JoinedStr | ast.Assert | ast.Import | ast.ImportFrom):
        return True
    if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
        return True
    return isinstance(node, ast.Call) and _called(node) in ("warn", "TypeVar", "cast", "lru_cache", "ModelError", "InputError")


def mutants(path: Path) -> list[Mutant]:
    """All changes of a file."""
    source = path.read_text(encoding="utf-8")
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    rows = source.splitlines()

    def offset(row: int, column: int) -> int:
        return starts[row - 1] + len(rows[row - 1].encode()[:column].decode())  # ast counts in bytes

    made: list[Mutant] = []

    def walk(node: ast.AST, statement: tuple[int, int]) -> None:
        if _skipped(node):
            return
        if isinstance(node, ast.stmt) and not hasattr(node, "body"):
            statement = (node.lineno, node.end_lineno or node.lineno)
        elif isinstance(node, ast.stmt):
            statement = (node.lineno, node.lineno)
        if isinstance(node, ast.expr):
            begin, end = offset(node.lineno, node.col_offset), offset(node.end_lineno or 0, node.end_col_offset or 0)
            for kind, other in changes(node):
                after = f"({ast.unparse(other)})"
                made.append(Mutant(path, kind, statement, source[begin:end], after, begin, end))
        for name, value in ast.iter_fields(node):
            if name in ("annotation", "returns", "decorator_list", "type_params", "slice") and not isinstance(
                node, ast.Subscript
            ):
                continue
            for part in value if isinstance(value, list) else [value]:
                if isinstance(part, ast.AST):
                    walk(part, statement)

    walk(ast.parse(source), (1, 1))
    return [one for one in made if "\n" not in one.after and one.after.strip("()") != one.before.strip("()")]
