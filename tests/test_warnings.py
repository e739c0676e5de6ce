"""Warnings point at the line of the user, however deep in the package they begin."""

import ast
import warnings

import pytest

import kumitate
from kumitate.errors import KumitateWarning

from .repo.sources import sources, text, title, tree

URDF = """<robot name="lamp"><link name="base"/><link name="head"/><magic/>
<joint name="neck" type="fixed"><parent link="base"/><child link="head"/></joint></robot>"""
#: Lines that warn: of the file's reader, a batch, a former name.
LINES = {
    "km.load(path)": "not known here",
    "km.simulate_batch(km.load('pendulum'), [[0.1]], duration=0.1, controller=lambda t, q, v: 1e6 * v)": "runs diverge",
    "from kumitate.contact import HeldPoint": "kumitate.held.HeldPoint",
}


@pytest.mark.parametrize("line", LINES)
def test_a_warning_points_at_the_line_that_called_the_package(line, tmp_path):
    path = tmp_path / "lamp.urdf"
    path.write_text(URDF)
    program = compile(f"\n\n{line}\n", "/home/lamp.py", "exec")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        exec(program, {"__name__": "lamp", "km": kumitate, "path": path})
    places = [(w.filename, w.lineno) for w in caught if LINES[line] in str(w.message)]
    assert places, [str(w.message) for w in caught]
    assert set(places) == {("/home/lamp.py", 3)}


def test_a_warning_is_an_error_where_the_caller_asks():
    with warnings.catch_warnings():
        warnings.simplefilter("error", KumitateWarning)
        with pytest.raises(KumitateWarning, match="knocks"):
            kumitate.errors.warn("it knocks")


def test_all_warnings_take_that_way():
    faults = [
        f"{title(path)}:{node.lineno}: use kumitate.errors.warn"
        for path in sources()
        if path.name != "errors.py" and "warnings" in text(path)
        for node in ast.walk(tree(path))
        if isinstance(node, ast.Attribute) and node.attr in ("warn", "warn_explicit")
        if getattr(node.value, "id", "") == "warnings"
    ]
    assert not faults, "\n".join(faults)
