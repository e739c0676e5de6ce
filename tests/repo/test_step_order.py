"""Steps of one robot and of scenes keep the order that docs/architecture.md shows."""

import ast
import re

import pytest

from .sources import PACKAGE, ROOT, tree

#: Where a step of each kind is written: files and functions, in the order in which they run.
STEPS = {
    "one robot": [
        ("simulate/stepping/system.py", "_at"),
        ("simulate/stepping/jumps.py", "jump"),
        ("simulate/integrators.py", "TimeStepping.step"),
    ],
    "scenes": [("contact/scenes/step.py", "_step")],
}


def stages() -> dict[str, list[str]]:
    """The functions of each kind of step by stage, as the page has them."""
    page = (ROOT / "docs" / "architecture.md").read_text()
    table = page.split("### The order of a step")[1].split("\n## ")[0]
    rows = [[cell.strip() for cell in line.strip("| ").split("|")] for line in table.splitlines() if line.startswith("|")]
    heads, body = rows[0], rows[2:]
    return {kind: [name for row in body for name in re.findall(r"`(\w+)`", row[heads.index(kind)])] for kind in STEPS}


def uses(path: str, function: str) -> list[str]:
    """The names that a function calls or hands on, in the order of its text."""
    node: ast.AST = tree(PACKAGE / path)
    for name in function.split("."):
        node = next(part for part in ast.walk(node) if isinstance(part, ast.FunctionDef | ast.ClassDef) and part.name == name)
    names = [part for part in ast.walk(node) if isinstance(part, ast.Name | ast.Attribute)]
    names.sort(key=lambda part: (part.lineno, part.end_col_offset))
    return [part.id if isinstance(part, ast.Name) else part.attr for part in names]


@pytest.mark.parametrize("kind", STEPS)
def test_a_step_keeps_the_order_of_the_page(kind):
    names = [name for path, function in STEPS[kind] for name in uses(path, function)]
    first = {name: names.index(name) for name in stages()[kind]}
    assert sorted(first, key=first.get) == stages()[kind]
