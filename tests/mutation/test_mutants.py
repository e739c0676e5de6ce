"""What is changed in a mutant, which tests are chosen for it, and whether a mutant is killed."""

from __future__ import annotations

import ast
from collections import Counter
from pathlib import Path

from . import on_demand
from .mutants import mutants
from .on_demand import PACKAGE, Reach, drawn, in_calls, tried

SOURCE = '''"""A page: 1 + 1."""
from x import y


def f(a: float = 2.0, *, b: bool = True) -> "str | int":
    """What a < b is."""
    if a < b and not b:
        raise ValueError(f"{a + 1}")
    return g(a, b) - (a if b else -a) * minimum(a, b)
'''


def test_the_changes_of_a_file(tmp_path):
    (tmp_path / "page.py").write_text(SOURCE)
    found = {(one.kind, one.before, one.after) for one in mutants(tmp_path / "page.py")}
    assert found == {
        ("constant", "2.0", "(3.0)"),
        ("constant", "2.0", "(0)"),
        ("constant", "True", "(False)"),
        ("condition", "a < b and not b", "(a < b or not b)"),
        ("comparison", "a < b", "(a <= b)"),
        ("condition", "not b", "(b)"),
        ("sign", "g(a, b) - (a if b else -a) * minimum(a, b)", "(g(a, b) + (a if b else -a) * minimum(a, b))"),
        ("term", "g(a, b) - (a if b else -a) * minimum(a, b)", "(g(a, b))"),
        ("term", "g(a, b) - (a if b else -a) * minimum(a, b)", "((a if b else -a) * minimum(a, b))"),
        ("arguments", "g(a, b)", "(g(b, a))"),
        ("sign", "(a if b else -a) * minimum(a, b)", "((a if b else -a) / minimum(a, b))"),
        ("term", "(a if b else -a) * minimum(a, b)", "(a if b else -a)"),
        ("term", "(a if b else -a) * minimum(a, b)", "(minimum(a, b))"),
        ("branch", "a if b else -a", "(a)"),
        ("branch", "a if b else -a", "(-a)"),
        ("sign", "-a", "(a)"),
    }


def test_mutants_of_rooms_are_python_of_all_kinds_and_the_same_for_a_seed():
    some = drawn(["kinematics"], 40, seed=3)
    assert [one.told(PACKAGE) for one in some] == [one.told(PACKAGE) for one in drawn(["kinematics"], 40, seed=3)]
    assert all(ast.dump(ast.parse(one.text())) != ast.dump(ast.parse(one.path.read_text())) for one in some)
    assert len(Counter(one.kind for one in some)) >= 6


def test_the_quickest_tests_that_reach_a_mutant_are_run_until_one_fails(monkeypatch, tmp_path):
    (mutant,) = drawn(["spatial"], 1, seed=0)
    name, lines = mutant.path.relative_to(PACKAGE).as_posix(), 1 << mutant.lines[1]
    target = tmp_path / "kumitate" / name
    target.parent.mkdir(parents=True)
    called: list[tuple[str, ...]] = []
    ends = {"a::quick": 1, "b": -1}

    def pytest_(arguments, source: Path, seconds: float):
        assert target.read_text() == mutant.text()
        called.append(tuple(arguments[1:]))
        return max((ends.get(one, 0) for one in arguments[1:]), key=abs), 1.0

    monkeypatch.setattr(on_demand, "_pytest", pytest_)
    a, b = Reach("a", {name: lines}, 9.0), Reach("b", {name: lines}, 10.0)
    slow, quick = Reach("a::slow", {name: lines}, 7.0), Reach("a::quick", {name: lines}, 1.0)
    beside = Reach("b::none", {name: 1 << mutant.lines[0] - 1 | 2 << mutant.lines[1]}, 1.0)
    assert tried(mutant, [a, slow, quick, beside], tmp_path, 60.0) == ("killed", "a::quick")
    assert called == [("a::quick",)]
    assert tried(mutant, [a, slow], tmp_path, 60.0) == ("survived", "2 of 2 tests and files of tests that reach it")
    assert called[1:] == [("a::slow",), ("a",)]
    assert tried(mutant, [a, b], tmp_path, 60.0) == ("out of time", "b")
    assert tried(mutant, [beside], tmp_path, 60.0) == ("not reached", "")
    assert target.read_text() == mutant.path.read_text()


def test_tests_are_run_some_at_a_time_and_the_quickest_of_each_file_first():
    reach = [Reach(f"{file}::{k}", {}, 0.5 * k) for k in (3, 2, 1) for file in "ab"]
    assert [[one.tests for one in call] for call in in_calls([Reach("a", {}, 4.0), *reach], 60.0)] == [
        ["a::1", "b::1", "a::2"], ["b::2", "a::3", "b::3"], ["a"],
    ]  # fmt: skip
    assert [[one.tests for one in call] for call in in_calls(reach, 2.0)] == [["a::1", "b::1"]]
