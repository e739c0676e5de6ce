"""What leaves the subset is refused by a message that names the file, the line, the expression, the rule and the remedy."""

from __future__ import annotations

import importlib.util
import sys
import textwrap
from pathlib import Path
from types import ModuleType

import pytest

from kumitate.errors import ProcedureError

HEAD = """
from __future__ import annotations
import math
from typing import NamedTuple
import numpy as np
from kumitate.procedure import Floats, Ints, Shaped, ShapedInts, apply, apply_at, at, local, local_ints, over, procedure
from kumitate.scalar import trace

TABLE = (1.0, 2.0, 3.0)
LIST = [1.0]
BIG = 2**63
PROGRAM = trace(lambda x: [x[0] + x[1], x[0]], {"x": 2}, "sums")

class Rows(NamedTuple):
    x: Floats[2]
    result: Floats[2]

@procedure
def length(x: Shaped[3]) -> float:
    return x[0]


class Pair(NamedTuple):
    a: Floats
    n: int

@procedure
def fill(x: Floats, value: float) -> None:
    for k in range(len(x)):
        x[k] = value

@procedure
def two(n: int) -> tuple[int, float]:
    return n, 0.5

"""

#: A signature, the body's lines, the expression that the message shows, and words of it.
FAULTS = [
    ("(x) -> None", "pass", "x", "has no annotation; write x: Floats"),
    ("(x: Floats)", "pass", "def f(x: Floats):", "write -> None"),
    ("(x: list) -> None", "pass", "x: list", "is not a kind of procedures"),
    ("(x: Shaped) -> None", "pass", "x: Shaped", "is not a kind of procedures"),
    ("(x: Floaty) -> None", "pass", "def f(x: Floaty) -> None:", "name 'Floaty' is not defined"),
    ("(n: int = 3) -> None", "pass", "def f(n: int=3) -> None:", "without defaults"),
    ("(*n: int) -> None", "pass", "def f(*n: int) -> None:", "plain names"),
    ("(x: Floats) -> Floats", "return x", "def f(x: Floats) -> Floats:", "results are numbers, so write to an array"),
    ("(n: int) -> int", "if n:\n    return 1", "def f(n: int) -> int:", "can end without a result"),
    ("(n: int) -> int", "return", "return", "returns nothing; the annotation says int"),
    ("(n: int) -> None", "return n", "return n", "returns int; the annotation says None"),
    ("(n: int) -> int", "return n / 2", "return n / 2", "is float, where int is needed; write int(...)"),
    ("(n: int) -> int", "return m", "m", "m is not a name of this function or of its module"),
    ("(number: int) -> int", "return numbr", "numbr", "did you mean number?"),
    ("(n: int) -> float", "return math.sqr(n)", "math.sqr", "there is no sqr; did you mean sqrt?"),
    ("(n: int) -> int", "if n:\n    k = 1\nreturn k", "k", "may have no value here; give it one before, on every path"),
    ("(n: int) -> int", "for k in range(n):\n    pass\nreturn k", "k", "may have no value here"),
    ("(n: int) -> int", "while n > 3:\n    k = 1\n    n -= 1\nreturn k", "k", "may have no value here"),
    ("(n: int) -> None", "k = 0\nk = k + 0.5", "k = k + 0.5", "is float, where int is needed"),
    ("(n: int) -> None", "k = 0\nk += 0.5", "k += 0.5", "is float, where int is needed"),
    ("(x: Ints) -> None", "x[0] = 0.5", "x[0] = 0.5", "is float, where int is needed"),
    ("(x: Ints) -> None", "x[0] += 0.5", "x[0] += 0.5", "is float, where int is needed"),
    ("(x: Floats) -> None", "y = x\ny = local(3, 3)", "y = local(3, 3)", "is Shaped[3, 3], where Floats is needed"),
    ("(x: Floats[3]) -> None", "x[0], y = x[1], 1.0", "x[0]", "is Shaped[3]; of several values each is a number"),
    ("(x: Floats[3]) -> None", "x[0] = x", "x[0] = x", "gives n × 3 numbers to an array of 3"),
    ("(x: Floats[3]) -> None", "x[0] = x[1] + x[1, 0:2]", "x[1] + x[1, 0:2]", "joins arrays of the sizes (3,) and (2,)"),
    ("(x: Floats[3]) -> None", "x[0] = math.cross(x[0], x[1])", "math.cross", "there is no cross"),
    ("(x: Floats[3, 3]) -> None", "y = x[0] @ x[1, 0, 0:2]", "x[0] @ x[1, 0, 0:2]", "multiplies arrays of the sizes"),
    ("(x: Floats[3]) -> None", "y = 2.0 * x[0]\ny = y - x[1]", "y - x[1]", "a new array by its old values"),
    ("(x: Floats[3]) -> None", "while length(-x[0]) > 0.0:\n    pass", "length(-x[0]) > 0.0", "on some paths only"),
    ("(x: Floats[3]) -> None", "y = length(2.0 * x[0]) if 1 else 0.0", "length(2.0 * x[0])", "on some paths only"),
    ("(x: Floats[3]) -> None", "y = 2.0 * x", "2.0 * x", "has any number of rows; give them to an array that is there"),
    ("(x: Floats) -> None", "x[0, 1] = 1.0", "x[0, 1]", "has 1 axes, and there are 2 indices"),
    ("(x: Floats[3]) -> None", "x[0, 3] = 1.0", "3", "index 3 of an axis of 3 elements"),
    ("(x: Floats[3]) -> None", "x[0, -4] = 1.0", "-4", "index -4 of an axis of 3 elements"),
    ("(x: Floats) -> float", "return x[0.0]", "0.0", "indices are integers: write int(...)"),
    ("(x: Floats) -> float", "return x[x]", "x", "is Floats, not a number"),
    ("(n: int) -> int", "return n[0]", "n[0]", "int has no elements"),
    ("(x: Floats) -> int", "return x.shape", "x.shape", "Floats has no shape; only NamedTuples have fields; len(x)"),
    ("(p: Pair) -> int", "return p.m", "p.m", "Pair has no m; its fields are a, n"),
    ("(p: Pair) -> None", "p.n = 3", "p.n", "cannot be given a value"),
    ("(x: Floats) -> float", "return x + 1.0", "x + 1.0", "computes with Floats"),
    ("(x: Floats) -> float", "return x[0] // 2.0", "x[0] // 2.0", "is of integers only; for floats, write math.floor"),
    ("(x: Floats) -> float", "return x[0] ** 3", "x[0] ** 3", "powers of float are constants from 1 to 2"),
    ("(n: int) -> int", "return n ** n", "n ** n", "powers of int are constants from 1 to 4"),
    ("(x: Floats) -> float", "return x @ x", "x @ x", "multiplies arrays of the sizes (None,) and (None,)"),
    ("(n: int) -> bool", "return n in n", "n in n", "is not a comparison of procedures"),
    ("(n: int) -> bool", "return 0 < int(n) < 3", "int(n)", "is computed once; name it before"),
    ("(x: Floats) -> None", "if x[0]:\n    pass", "x[0]", "compare it, as in x != 0.0"),
    ("(x: Floats) -> None", "while x:\n    pass", "x", "is Floats, not a number"),
    ("(x: Floats) -> None", "for v in x:\n    pass", "x", "loops count: write for i in range(...)"),
    ("(n: int) -> None", "for k in range(0, 9, n):\n    pass", "range(0, 9, n)", "the step of a range is a constant"),
    ("(n: int) -> None", "for k in range(0, 9, 0):\n    pass", "range(0, 9, 0)", "a constant that is not 0"),
    ("(n: int) -> None", "for k in range(n):\n    pass\nelse:\n    pass", "for k in range(n):", "loops have no else"),
    ("(n: int) -> None", "k = range(n)", "range(n)", "stands outside of a loop"),
    ("(n: int) -> None", "a = b = n", "a = b = n", "write one assignment each"),
    ("(n: int) -> None", "a, b, c = two(n)", "a, b, c = two(n)", "gives (int, float) to 3 targets"),
    ("(n: int) -> None", "a = 0.5\nb = 0.5\na, b = two(n)", "a, b = two(n)", "to names of other kinds; use other names"),
    ("(x: Floats) -> None", "y = fill(x, 1.0)", "y", "is given None"),
    ("(x: Floats) -> None", "fill(x)", "fill(x)", "takes 2 arguments (x, value)"),
    ("(x: Floats[3]) -> None", "fill(x, 1.0)", "x", "is Floats[3], where Floats is needed"),
    ("(n: int) -> None", "fill(TABLE, 1.0)", "fill(TABLE, 1.0)", "writes to a constant of the module"),
    ("(n: int) -> None", "row = TABLE\nrow[n] = 1.0", "row[n]", "writes to a constant of the module"),
    ("(n: int) -> float", "return LIST[n]", "LIST", "stands for list, which is not a value of procedures"),
    ("(n: int) -> int", "return BIG", "BIG", "has more than 64 bits"),
    ("(n: int) -> None", "x = local(n)", "local(n)", "sizes of local arrays are constants"),
    ("(n: int) -> None", "print(n)", "print(n)", "print cannot be called in a procedure"),
    ("(n: int) -> None", "k = math.atan2(1.0)", "math.atan2(1.0)", "takes 2 numbers, got 1"),
    ("(n: int) -> None", "k = max(n)", "max(n)", "takes 2 numbers or more, got 1"),
    ("(n: int) -> None", "k = [n]", "[n]", "List is not an expression of procedures"),
    ("(n: int) -> None", "with n:\n    pass", "with n:", "With is not a statement of procedures"),
    ("(x: Floats) -> None", "y = x[::2]", "x[::2]", "slices have no step"),
    ("(x: Floats) -> None", "y = x[3:1]", "x[3:1]", "the slice ends before it begins"),
    ("(x: Shaped[4]) -> None", "y = x[1:6]", "x[1:6]", "6 is not an end of an array of 4 rows"),
    ("(x: Shaped[4]) -> None", "y = x[-2:]", "x[-2:]", "-2 is not an end"),
    ("(x: Floats[2]) -> None", "over(x, 3, x, x)", "x", "is not a traced program; name one of the module"),
    ("(x: Floats[2]) -> None", "over(PROGRAM, 3, x)", "over(PROGRAM, 3, x)", "2 inputs and outputs (x, result), got 1"),
    ("(x: Floats[3]) -> None", "over(PROGRAM, 3, x, x)", "x", "is Floats[3]; x of the program needs Floats[2]"),
    ("(x: Floats[2], k: Floats) -> None", "over(PROGRAM, 3, at(x, k), x)", "k", "is Floats, where Ints is needed"),
    ("(x: Floats[2]) -> None", "apply(PROGRAM, x, x[0])", "x", "is Floats[2]; x of the program needs Shaped[2]"),
    ("(x: Floats, n: int) -> None", "apply_at(n, (x,))", "apply_at(n, (x,))", "is called as apply_at(address, (inputs…), "),
    ("(x: Ints, n: int) -> None", "apply_at(n, (n,), (x,))", "x", "is Ints; programs read and write arrays of floats"),
    ("(p: Rows) -> None", "apply(PROGRAM, at(p, 0), at(p, 0))", "at(p, 0)", "two records have a field x; hand over the arrays"),
    ("(p: Rows) -> None", "over(PROGRAM, 3, p, p.x)", "over(PROGRAM, 3, p, p.x)", "0 inputs and outputs (), got 1"),
    ("(x: Floats[3]) -> None", "apply(PROGRAM, at(x, 0), x[0])", "at(x, 0)", "has rows of Shaped[3]; x of the program needs"),
    ("(n: int) -> None", "f(n)", "f(n)", "calls itself"),
]  # fmt: skip


def loaded(folder: Path, monkeypatch: pytest.MonkeyPatch, text: str, name: str = "page") -> ModuleType:
    """A module of this text."""
    path = folder / f"{name}.py"
    path.write_text(text)
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, name, module)  # where annotations of NamedTuples are looked up
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("signature", "body", "shown", "words"), FAULTS, ids=[f"{k}: {case[3]}" for k, case in enumerate(FAULTS)]
)
def test_a_fault_is_named(signature, body, shown, words, tmp_path, monkeypatch):
    text = f"{HEAD}\n@procedure\ndef f{signature}:\n{textwrap.indent(body, '    ')}\n"
    page = loaded(tmp_path, monkeypatch, text)
    with pytest.raises(ProcedureError) as caught:
        page.f.typed  # noqa: B018 - reading it checks the function
    message = str(caught.value)
    assert words in message
    if words == "calls itself":
        return
    place, rest = message.split(": `", 1)
    assert rest.startswith(f"{shown}`: "), message
    file, line = place.rsplit(":", 1)
    assert file == str(tmp_path / "page.py")
    assert shown.split("\n")[0].rstrip(":") in text.splitlines()[int(line) - 1].replace("n: int = 3", "n: int=3")


def test_the_functions_that_the_others_call_follow_the_rules(tmp_path, monkeypatch):
    page = loaded(tmp_path, monkeypatch, HEAD)
    assert str(page.fill.typed.parameters[0][1]) == "Floats"
    assert str(page.two.typed.result) == "(int, float)"
