"""What takes long is announced while it is under way, and its end is told."""

from __future__ import annotations

import gc
import io
import re
import sys
import time
import weakref

import pytest

from kumitate.compile import Kernel, engine
from kumitate.scalar import sin, trace
from kumitate.scalar import under_way as _function  # the module has the name of its function
from kumitate.scalar.under_way import expect, under_way

MODULE = sys.modules[_function.__module__]


@pytest.fixture
def listen(monkeypatch, tmp_path):
    """Gives standard error; work that takes more than a hundredth of a second is long."""
    monkeypatch.setenv("KUMITATE_CACHE", str(tmp_path / "cache"))

    def stream() -> io.StringIO:
        monkeypatch.setattr(MODULE, "LONG", 0.01)
        monkeypatch.setattr(sys, "stderr", io.StringIO())
        return sys.stderr

    return stream


def wait_for(said: io.StringIO, words: str) -> None:
    """Work that lasts until something is said of it; ten seconds at most."""
    end = time.monotonic() + 10.0
    while words not in said.getvalue() and time.monotonic() < end:
        time.sleep(0.001)


def test_a_long_compilation_is_announced_while_it_lasts(listen, monkeypatch):
    program = trace(lambda x: [1.5 * sin(x[0])], {"x": 1}, "slow")
    said, compiled = listen(), engine.object_code

    def slow(text, target):
        wait_for(said, "compiling")
        assert said.getvalue() == "kumitate: compiling slow …\n"
        return compiled(text, target)

    monkeypatch.setattr(engine, "object_code", slow)
    Kernel(program)([0.3])
    first, second = said.getvalue().splitlines()
    assert first == "kumitate: compiling slow …"
    assert re.fullmatch(r"kumitate: compiling slow took \d+\.\d s; the next time it is read from disk", second)


def test_a_long_trace_is_announced_once(listen):
    said = listen()

    def inner(x):
        wait_for(said, "tracing outer")
        return [x[0]]

    def outer(x):
        trace(inner, {"x": 1}, "inner")
        return [x[0]]

    trace(outer, {"x": 1}, "outer")
    first, second = said.getvalue().splitlines()
    assert first == "kumitate: tracing outer …"
    assert re.fullmatch(r"kumitate: tracing outer took \d+\.\d s", second)


def test_the_time_to_go_is_told_where_it_is_known(listen):
    """With the announcement, and once more if it becomes known later and is long."""
    said = listen()
    with under_way(lambda: "long work"):
        expect(12.0)
        wait_for(said, "to go")
        with under_way(lambda: "part of it"):
            expect(60.0)
            wait_for(said, "60 s to go")
    first, second, last = said.getvalue().splitlines()
    assert first == "kumitate: long work, about 12 s to go …"
    assert second == "kumitate: long work, about 60 s to go …"
    assert last.startswith("kumitate: long work took")
    expect(3.0)  # of nothing that is under way: no error


def test_llvms_time_is_foretold_by_the_length_of_its_text(listen, monkeypatch):
    """Ten times too long or too short would be worse than no word."""
    told = []
    monkeypatch.setattr(engine, "expect", told.append)
    listen()
    program = trace(lambda x: [sum((sin(x[k % 9] * (1.0 + k)) for k in range(300)), 0.0)], {"x": 9}, "many_sines")
    begin = time.process_time()
    Kernel(program)([0.1 * k for k in range(9)])
    assert 0.1 < sum(told) / (time.process_time() - begin) < 10.0


def test_nothing_is_said_of_short_work(listen, monkeypatch):
    said = listen()
    monkeypatch.setattr(MODULE, "LONG", 1e3)
    Kernel(trace(lambda x: [x[0] + 2.0], {"x": 1}, "short"))([0.3])
    assert said.getvalue() == ""


def test_failed_work_has_no_final_message(listen):
    said = listen()

    def page(x):
        wait_for(said, "tracing")
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        trace(page, {"x": 1}, "failing")
    assert said.getvalue() == "kumitate: tracing failing …\n"
    with under_way(lambda: "the next"):  # is spoken of as if nothing had happened
        wait_for(said, "the next")
    assert "the next took" in said.getvalue()


def test_a_closed_standard_error_is_not_an_error(monkeypatch):
    monkeypatch.setattr(sys, "stderr", None)
    monkeypatch.setattr(MODULE, "LONG", 0.0)
    with under_way(lambda: "something") as work:
        end = time.monotonic() + 10.0
        while work.told is None and time.monotonic() < end:
            time.sleep(0.001)
    assert work.told == "something"


@pytest.mark.usefixtures("little_to_collect")
def test_the_thread_that_looks_keeps_no_work_alive(listen):
    """Once announced, the work and what it is about are freed, though the thread goes on to look."""

    class Subject:
        """What the work is about."""

    subject, said = Subject(), listen()

    def what(subject=subject) -> str:
        return "freeing" if subject else ""

    gone = weakref.ref(subject)
    with under_way(what):
        wait_for(said, "freeing")
    del subject, what
    gc.collect()
    assert gone() is None
