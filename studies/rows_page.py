"""The page docs/rows.md: every row's example, the tests that hold it against a reference, its figures' command."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from kumitate.model.samples import SAMPLES

from .papers import all_examples, command_of
from .rows import PAPERS, ROWS, Row

__all__ = ["commands", "marks", "page"]

_HEAD = """\
# Rows

What the five papers describe, row by row: the example or sample that runs it, the tests that hold it against an independent
reference, the command that draws its figures. An empty cell is work still to do. Printed by
`scripts/study rows` from the catalogues of examples, the samples, and the tests' `row` marks.
"""


def page(root: Path) -> str:
    """The text of docs/rows.md for the checkout at `root`."""
    tests = marks(root / "tests")
    parts = [_HEAD]
    for letter, title in PAPERS.items():
        parts.append(f"\n## {letter}: {title}\n")
        parts.append("| row | what | source | example | reference test | figures |\n|---|---|---|---|---|---|")
        for row in (row for row in ROWS if row.paper == letter):
            drawn = commands(row)
            cells = (
                row.id,
                f"{row.what}. {row.claims}" if row.claims else row.what,
                row.section,
                ", ".join(f"`{name}`" for name in drawn),
                "<br>".join(f"`{test}`" for test in tests.get(row.id, ())),
                "<br>".join(f"`{command}`" for command in drawn.values()),
            )
            parts.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(parts) + "\n"


def commands(row: Row) -> dict[str, str]:
    """The commands that show a row, by the name of the sample or example."""
    drawn = {name: f"kumitate simulate {name}" for name, sample in SAMPLES.items() if row.id in sample.rows}
    return drawn | {name: command_of(name) for name, example in all_examples().items() if row.id in example.rows}


def marks(folder: Path) -> dict[str, tuple[str, ...]]:
    """The tests that carry `@pytest.mark.row(id, ...)`, by id, as "path::name". The files are read, not run.

    A mark on a class counts for the class, and `pytestmark = pytest.mark.row(...)` for the file.
    """
    found: dict[str, list[str]] = {}
    for path in sorted(folder.rglob("test_*.py")):
        name = path.relative_to(folder.parent).as_posix()
        for identity, test in _marks_of(ast.parse(path.read_text(encoding="utf-8"), filename=str(path)), name):
            found.setdefault(identity, []).append(test)
    return {identity: tuple(dict.fromkeys(tests)) for identity, tests in found.items()}


def _marks_of(tree: ast.AST, name: str) -> Iterator[tuple[str, str]]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            inner = f"{name}::{node.name}"
            for decorator in node.decorator_list:
                yield from ((identity, inner) for identity in _ids(decorator))
            if isinstance(node, ast.ClassDef):
                yield from _marks_of(node, inner)
        if isinstance(node, ast.Assign) and any(isinstance(to, ast.Name) and to.id == "pytestmark" for to in node.targets):
            yield from ((identity, name) for part in ast.walk(node.value) for identity in _ids(part))


def _ids(node: ast.AST) -> list[str]:
    """The ids in `pytest.mark.row("T-3.1", "T-3.3")`; none for anything else."""
    if not (isinstance(node, ast.Call) and ast.unparse(node.func) == "pytest.mark.row"):
        return []
    return [arg.value for arg in node.args if isinstance(arg, ast.Constant) and isinstance(arg.value, str)]
