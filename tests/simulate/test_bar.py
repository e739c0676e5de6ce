"""A run that takes long draws a bar where people look, and only there."""

import io
import sys

import pytest

import kumitate as km
from kumitate.simulate import bar as module

SHORT = {"duration": 0.2}


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture(params=["terminal", "notebook"])
def listen(request, monkeypatch):
    kinds = {"terminal": Terminal, "notebook": type("OutStream", (io.StringIO,), {"__module__": "ipykernel.iostream"})}

    def listen():
        monkeypatch.setattr(sys, "stderr", kinds[request.param]())
        return sys.stderr

    return listen


def called(t, q, v):
    return [float(str(-v[0]))]  # a function that is called, as no program can be made of it


RUNS = {
    "simulate": lambda arm, **options: km.simulate(arm, controller=called, **SHORT, **options),
    "Simulation.run": lambda arm, **options: km.Simulation(arm, controller=called).run(**SHORT, **options),
    "simulate_batch": lambda arm, **options: km.simulate_batch(arm, [[0.1]] * 3, **SHORT, **options),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("run", RUNS)
def test_a_long_run_draws_a_bar_and_wipes_it(run, listen, monkeypatch):
    monkeypatch.setattr(module, "LONG", 0.0)
    stream = listen()
    RUNS[run](km.load("pendulum"))
    drawn = stream.getvalue().split("\r")
    assert drawn[1].startswith("simulating pendulum")
    assert " %" in drawn[1]
    assert (drawn[0], drawn[-2].strip(), drawn[-1]) == ("", "", "")
    assert len(drawn[-2]) == max(map(len, drawn))


@pytest.mark.parametrize("run", RUNS)
def test_a_short_run_draws_none(run, listen):
    stream = listen()
    RUNS[run](km.load("pendulum"))
    assert "\r" not in stream.getvalue()


@pytest.mark.parametrize("run", RUNS)
def test_nothing_is_drawn_for_who_counts_alone_or_writes_to_a_file(run, listen, monkeypatch):
    monkeypatch.setattr(module, "LONG", 0.0)
    stream, told = listen(), []
    RUNS[run](km.load("pendulum"), progress=told.append)
    assert told[-1] == 1.0
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    RUNS[run](km.load("pendulum"))
    assert "\r" not in stream.getvalue() + sys.stderr.getvalue()


def test_the_time_to_go_is_in_proportion(listen, monkeypatch):
    stream = listen()
    clock = iter([0.0, 1.0, 3.0, 3.01, 6.0])
    monkeypatch.setattr(module.time, "perf_counter", lambda: next(clock))
    with module.bar("falling", None) as told:
        for done in (0.1, 0.25, 0.3, 0.5):
            told(done)
    first, second = (line.strip() for line in stream.getvalue().split("\r")[1:3])
    assert first.startswith("falling ███")
    assert first.endswith("· 25 %, 9 s to go")
    assert second.endswith("· 50 %, 6 s to go")
