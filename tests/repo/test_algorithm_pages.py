"""An algorithm is a page; the tree is walked in one place; nothing in dynamics asks what kind of joint it meets."""

import ast
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

from kumitate.model import KINDS, JointKind

from .sources import PACKAGE, modules, text, title, tree

LONGEST = 120
DYNAMICS = sorted((PACKAGE / "dynamics").rglob("*.py"))
JOINT_CLASSES = {JointKind.__name__, *(type(kind).__name__ for kind in KINDS.values())}
PAGES = DYNAMICS + sorted((PACKAGE / "kinematics").rglob("*.py"))
WALKERS = PAGES + [
    path
    for room in ("analysis", "contact", "control")
    for path in sorted((PACKAGE / room).rglob("*.py"))
    if PACKAGE / "contact" / "scenes" not in path.parents  # rows of free bodies, which are not a tree
]


def test_a_page_is_a_page():
    """A public function or class with what stands below it and begins with an underscore; before the first, all above it."""
    faults, kinds = [], (ast.FunctionDef, ast.ClassDef)
    for path in PAGES:
        offered = [node for node in tree(path).body if isinstance(node, kinds) and not node.name.startswith("_")]
        starts = [1, *(node.lineno for node in offered[1:]), len(text(path).splitlines()) + 1]
        for node, (start, end) in zip(offered, pairwise(starts), strict=False):
            if end - start > LONGEST:
                faults.append(f"{title(path)}: {node.name} has {end - start} lines, over {LONGEST}: a concept is missing")
    assert not faults, "\n".join(faults)


def test_the_traversal_is_written_once():
    faults = []
    for path, node in ((page, node) for page in WALKERS for node in ast.walk(tree(page))):
        if isinstance(node, ast.Attribute) and node.attr in {"parent", "parents"}:
            faults.append(f"{title(path)}:{node.lineno}: .{node.attr}; walk with outward() and inward()")
        # by the number of links, or counting down: an index loop over the tree
        if isinstance(node, ast.For) and _is_range(node.iter) and _mentions(node.iter, {"links", "bodies", "joints"}):
            faults.append(f"{title(path)}:{node.lineno}: a loop over the indices of the tree; walk with outward() and inward()")
        if isinstance(node, ast.For) and _is_range(node.iter) and len(node.iter.args) == 3 and _is_negative(node.iter.args[2]):
            faults.append(f"{title(path)}:{node.lineno}: a loop that counts down; walk with inward()")
    assert not faults, "\n".join(faults)


def test_no_case_by_kind_of_joint():
    found = ((title(path), line, what) for path in DYNAMICS for line, what in _cases(path))
    faults = [f"{name}:{line}: {what}; put the difference under the joint's contract" for name, line, what in found]
    assert not faults, "\n".join(faults)


def _cases(path: Path) -> Iterator[tuple[int, str]]:
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Compare):
            sides = (node.left, *node.comparators)
            if any(isinstance(side, ast.Attribute) and side.attr in {"kind", "name"} for side in sides):
                yield node.lineno, "compares kinds or names"
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "isinstance":
            if _mentions(node, {"kind", *JOINT_CLASSES}):
                yield node.lineno, "asks for the class of a joint"
        elif isinstance(node, ast.Match) and _mentions(node.subject, {"kind"}):
            yield node.lineno, "matches kinds"


def _is_range(node: ast.expr) -> bool:
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "reversed":
        return any(_is_range(arg) for arg in node.args)
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "range"


def _is_negative(node: ast.expr) -> bool:
    return isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub)


def _mentions(node: ast.AST, names: set[str]) -> bool:
    found = {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
    return bool(names & (found | {part.attr for part in ast.walk(node) if isinstance(part, ast.Attribute)}))


def test_what_flows_along_the_tree_has_a_type():
    """`PerLink[Force]`, not `PerLink`, wherever an annotation says so."""
    faults = []
    for path in (path for path in modules() if "PerLink" in text(path)):
        nodes = list(ast.walk(tree(path)))
        typed = {id(node.value) for node in nodes if isinstance(node, ast.Subscript)}
        faults += [
            f"{title(path)}:{node.lineno}: PerLink of what? Write PerLink[...]"
            for node in nodes
            if isinstance(node, ast.Name) and node.id == "PerLink" and id(node) not in typed
        ]
    assert not faults, "\n".join(faults)
