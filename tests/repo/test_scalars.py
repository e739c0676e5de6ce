"""Physics has one number type, and does not look inside it."""

import ast
import re

from .sources import dotted, modules, room, text, title, tree

OUTSIDE = [path for path in modules() if room(dotted(path)) != "scalar"]


def test_the_type_of_numbers_is_declared_once():
    declared = [title(path) for path in modules() if re.search(r"^Scalar\b.*=", text(path), re.MULTILINE)]
    assert declared == ["scalar/graph.py"], f"{declared} declare Scalar; import it from scalar"


def test_nothing_outside_scalar_asks_for_the_class_of_a_number():
    faults = [
        f"{title(path)}:{node.lineno}: .__class__; ask scalar.is_zero whether a number is known to be zero"
        for path in OUTSIDE
        if ".__class__" in text(path)
        for node in ast.walk(tree(path))
        if isinstance(node, ast.Attribute) and node.attr == "__class__"
    ]
    assert not faults, "\n".join(faults)
