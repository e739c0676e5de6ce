"""Programs that are found again on disk: nothing is traced twice, whatever they depend on makes others of them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

import kumitate as km
from kumitate.compile import Kernel, Recurrence, StoredProgram, found_or_traced, stored
from kumitate.model.mechanism import digest
from kumitate.scalar import call, loop, sin, trace

from ..repo.sources import ROOMS, dotted, imports, modules, room


@pytest.fixture(autouse=True)
def own_cache(monkeypatch, tmp_path):
    monkeypatch.setenv("KUMITATE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("KUMITATE_VERIFY", "0")


class Maker:
    """Traces a program, and counts how often."""

    def __init__(self, factor: float):
        self.factor, self.calls = factor, 0

    def __call__(self):
        self.calls += 1

        def page(x, t):
            total, _ = loop(3, lambda i, c: (c + self.factor * sin(x[i] * t), None), 0.0)
            return {"a": [total, x[0]], "b": t * total}

        return trace(page, {"x": 3, "t": ()}, "page")


def test_a_program_is_traced_once_and_gives_the_same_bits():
    x, t = np.random.default_rng(1).normal(size=(20, 3)), np.linspace(0.0, 1.0, 20)
    first, second = Maker(1.5), Maker(1.5)
    expected = Kernel(first())(x, t)
    for maker in (first, second):
        kernel = Kernel(StoredProgram("factor 1.5", maker))
        for found, value in zip(kernel(x, t), expected, strict=True):
            np.testing.assert_array_equal(found, value)
        np.testing.assert_array_equal(kernel(x[0], t[0])[0], expected[0][0])
    assert (first.calls, second.calls) == (2, 0)
    assert [array.name for array in kernel.outputs] == ["a", "b"]
    assert kernel.operations == Kernel(first()).operations
    assert str(kernel.program) == str(first())  # what needs the program itself gets it
    assert second.calls == 1


def test_each_way_to_compile_a_program_has_code_of_its_own():
    x, t = np.random.default_rng(2).normal(size=(20, 3)), np.linspace(0.0, 1.0, 20)
    ways = [{}, {"dtype": np.float32}, {"portable": True}]
    expected = [Kernel(Maker(1.5)(), **way)(x, t) for way in ways]
    assert not np.array_equal(expected[0][0], expected[2][0])
    for calls in (1, 0):  # made, and found on disk
        makers = [Maker(1.5) for _ in ways]
        for way, maker, values in zip(ways, makers, expected, strict=True):
            kernel = Kernel(StoredProgram("ways", maker), **way)
            for found, alone, value in zip(kernel(x, t), kernel(x[7], t[7]), values, strict=True):
                assert found.dtype == value.dtype
                np.testing.assert_array_equal(found, value)
                np.testing.assert_array_equal(alone, value[7])
        assert max(maker.calls for maker in makers) == calls


def test_another_key_or_other_sources_make_another_program(monkeypatch):
    makers = [Maker(1.0) for _ in range(3)]
    StoredProgram("one", makers[0])
    StoredProgram("two", makers[1])
    monkeypatch.setattr("kumitate.compile.stored.source_stamp", lambda: "other sources")
    StoredProgram("one", makers[2])
    assert [maker.calls for maker in makers] == [1, 1, 1]


CHANGED_AFTER_IMPORT = """
import os
from kumitate.compile import stored
from kumitate.scalar import trace

def make():
    print("traced")
    return trace(lambda x: [x], {"x": ()}, "page")

os.utime(stored.__file__, (2e9, 2e9))
stored.StoredProgram("one", make)
"""


def test_what_is_kept_is_of_the_sources_that_were_imported(tmp_path):
    """A file that is changed while a process runs the former one: the next process, which runs the new one, traces again."""
    shutil.copytree(Path(km.__file__).parent, tmp_path / "kumitate", ignore=shutil.ignore_patterns("__pycache__"))
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    calls = [
        subprocess.run(
            [sys.executable, "-c", CHANGED_AFTER_IMPORT], env=environment, check=True, capture_output=True, text=True
        )
        for _ in range(2)
    ]
    assert [call.stdout.strip() for call in calls] == ["traced", "traced"]


def test_steps_are_found_again(tmp_path):
    def programs(calls):
        def step():
            calls.append("step")
            return trace(lambda x, h: {"x": [a + h * sin(a) for a in x]}, {"x": 4, "h": ()}, "step")

        def look():
            calls.append("look")
            return trace(lambda x, h: {"seen": list(x)}, {"x": 4, "h": ()}, "look")

        return step, look

    ends = []
    for expected in (["step", "look"], []):
        calls: list[str] = []
        step, look = programs(calls)
        recurrence = Recurrence(found_or_traced("step", step), found_or_traced("look", look))
        x, seen = np.ones((3, 4)), {"seen": np.empty((3, 2, 4))}
        recurrence.over({"x": x}, {"h": np.full((1, 1), 0.1)}, seen, batch=True).run(2, 5)
        ends.append(x)
        assert calls == expected
    np.testing.assert_array_equal(*ends)


def test_where_programs_are_checked_none_is_found_that_was_not(monkeypatch):
    """Nor the code of one: under each setting a program is made once."""
    makers = []
    for setting in "01010":
        monkeypatch.setenv("KUMITATE_VERIFY", setting)
        makers.append(Maker(2.0))
        Kernel(found_or_traced("checked", makers[-1]))(np.ones(3), 1.0)
    assert [maker.calls for maker in makers] == [1, 1, 0, 0, 0]


def test_a_mechanism_is_known_by_all_that_it_consists_of():
    def rod(mass, damping=0.0):
        body = km.Body("rod", mass, (0.0, 0.0, -0.5), (0.1, 0.1, 0.01))
        joint = km.Joint("hinge", "revolute", "world", "rod", axis=(0, 1, 0), damping=damping)
        return km.Mechanism("rod", (body,), (joint,))

    assert digest(rod(1.0)) == digest(rod(1.0))
    assert len({digest(rod(1.0)), digest(rod(np.nextafter(1.0, 2.0))), digest(rod(1.0, 0.1))}) == 3


def test_a_second_process_traces_nothing_but_the_controller(tmp_path):
    script = textwrap.dedent("""
        import sys
        import numpy as np
        import kumitate as km
        from kumitate.scalar import tracing

        robot = km.load("four_bars_2")
        if sys.argv[1] == "second":
            from importlib import import_module

            def fail(*arguments):
                raise AssertionError("traced again")

            traced = ("stepping.equations", "stepping.system", "stepping.step_code")
            for name in (*(f"simulate.{part}" for part in traced), "analysis.loops", "programs"):
                import_module(f"kumitate.{name}").trace = fail
        run = km.simulate(robot, duration=0.02, controller=lambda t, q, v: -0.3 * v)
        a = robot.forward_dynamics(*robot.start, np.zeros(robot.nv))
        print(run.q[-1].tobytes().hex(), run.a[-1].tobytes().hex(), a.tobytes().hex())
    """)
    said = []
    for which in ("first", "second"):
        done = subprocess.run(
            [sys.executable, "-c", script, which], capture_output=True, text=True, env=os.environ, check=False, timeout=120
        )
        assert done.returncode == 0, done.stderr
        said.append(done.stdout)
    assert said[0] == said[1] != ""


@pytest.mark.parametrize("lanes", [1, 8])
def test_a_shared_program_is_compiled_once_for_all_that_call_it(lanes):
    maker = Maker(0.5)
    sizes = {"x": 3, "t": ()}

    def calling(inner, factor):
        def page(x, t):
            found = call(inner, x, t)
            return {"x": [factor * value for value in [*found["a"], found["b"]]]}

        return trace(page, sizes, "outer")

    x, t = np.random.default_rng(4).normal(size=(lanes, 3)), np.linspace(0.1, 1.0, lanes)
    expected = [Kernel(calling(Maker(0.5)(), factor))(x, t) for factor in (2.0, 3.0)]
    for traced in (1, 1):  # once, and not again from what the disk holds
        inner = StoredProgram("inner", maker)
        outers = [
            StoredProgram(f"outer {factor}", lambda inner=inner, factor=factor: calling(inner.program, factor))
            for factor in (2.0, 3.0)
        ]
        kernels = [Kernel(outer, shared=[inner]) for outer in outers]
        for kernel, value in zip(kernels, expected, strict=True):
            np.testing.assert_array_equal(kernel(x, t), value)
        assert maker.calls == traced
        codes = [kernel.code(lanes) for kernel in kernels]
        assert codes[0]._keep[1] is codes[1]._keep[1]  # the same code in memory


def test_what_makes_stored_programs_imports_no_room_that_their_stamp_leaves_out():
    left_out = stored._WITHOUT_PROGRAMS - {"__pycache__"}
    assert left_out < set(ROOMS)
    known = {dotted(path): path for path in modules()}
    waiting = [name for name, path in known.items() if "found_or_traced(" in path.read_text(encoding="utf-8")]
    seen: set[str] = set()
    while waiting:
        name = waiting.pop()
        if name in seen:
            continue
        seen.add(name)
        assert room(name) not in left_out, name
        for _, imported in imports(known[name]):
            parts = imported.split(".")
            waiting += [".".join(parts[:k]) for k in range(2, len(parts) + 1) if ".".join(parts[:k]) in known]
    assert len(seen) > 300
