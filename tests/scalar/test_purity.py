"""Functions are compiled only if nothing that they can reach or call makes their values depend on more than their arguments."""

from __future__ import annotations

import collections
import dataclasses
import functools
import gc
import itertools
import logging
import math
import re
import time
import weakref
from pathlib import Path

import numpy as np
import pytest

from kumitate.scalar import evaluate
from kumitate.scalar.purity import judged

RNG = np.random.default_rng(3)
STATES = [
    (0.0, np.array([0.4, -0.3]), np.array([0.1, 0.2])),
    *((t, RNG.normal(size=2), RNG.normal(size=2)) for t in (1.0, 2.0)),
]


def verdict(function):
    return judged(function, STATES, 2)


# --- what is pure -------------------------------------------------------------------------------------------------------------
GAINS = {"kp": np.array([3.0, 4.0]), "goal": [0.1, 0.2]}


class Settings:
    kd = 0.5

    def __init__(self):
        self.limit, self.count = 2.0, 0

    @functools.cached_property
    def stiffness(self):
        return np.diag([1.0, 2.0])

    @property
    def doubled(self):
        return 2.0 * self.limit

    def law(self, t, q, v):
        return np.clip(-self.stiffness @ q - self.kd * v, -self.limit, self.doubled)


class Slotted:
    __slots__ = ("gain",)

    def __init__(self, gain):
        self.gain = gain

    def __call__(self, t, q, v):
        return -self.gain * q


@functools.lru_cache
def table_of_gains(k):
    return 1.0 + k


Point = collections.namedtuple("Point", "x y")


def through_globals(t, q, v):
    return GAINS["kp"] * (np.array(GAINS["goal"]) - q) - Settings.kd * v


def through_a_cache(t, q, v):
    return -table_of_gains(2) * q


def through_a_loop(t, q, v):
    tau = np.zeros_like(v)
    for k in range(len(q)):
        tau[k] = -Point(2.0, 3.0).y * q[k] + math.pi * np.sin(t)
    return tau


def through_closures():
    gain = 2.0

    def inner(x):
        return gain * x

    return lambda t, q, v: [-inner(x) for x in q]


@dataclasses.dataclass(frozen=True)
class Gains:
    kp: float = 3.0

    def law(self, t, q, v):
        return -self.kp * q


PURE = {
    "a method of a frozen dataclass": Gains().law,
    "globals": through_globals,
    "a method": Settings().law,
    "slots": Slotted(3.0),
    "a cache": through_a_cache,
    "a loop": through_a_loop,
    "a closure": through_closures(),
    "partial": functools.partial(lambda gain, t, q, v: -gain * q, 2.0),
    "keywords": lambda t, q, v, *, gain=2.0: -gain * v,
}


@pytest.mark.parametrize("function", PURE.values(), ids=PURE)
def test_what_is_pure_is_compiled(function):
    found = verdict(function)
    assert found.reason == ""
    for t, q, v in STATES:
        np.testing.assert_allclose(evaluate(found.program, [t, *q, *v]), function(t, q, v), rtol=1e-12)


# --- what is not --------------------------------------------------------------------------------------------------------------
class Counting(Settings):
    def __call__(self, t, q, v):
        self.count += 1
        return -50.0 * v if self.count < 2000 else 0.0 * v


class CountingInItsClass:
    calls = 0

    def __call__(self, t, q, v):
        type(self).calls += 1
        return -v


class CountingSlot(Slotted):
    def __call__(self, t, q, v):
        self.gain += 1.0
        return -v


CALLS, LOG, SEEN, NUMBERS = 0, [], {}, itertools.count()
LOGGER, LAST = logging.getLogger("kumitate-test"), np.zeros(2)
QUEUE, FILE = collections.deque(maxlen=3), Path(__file__)


def counts_in_a_global(t, q, v):
    global CALLS
    CALLS += 1
    return -v


def counts_in_a_cell():
    calls = 0

    def law(t, q, v):
        nonlocal calls
        calls += 1
        return -v

    return law


def appends(t, q, v):
    LOG.append(t)
    return -v


def keeps_by_key(t, q, v):
    SEEN["last"] = t
    return -v


def keeps_in_an_array(t, q, v):
    LAST[:] = np.asarray(q) - LAST
    return -v


def keeps_in_a_queue(t, q, v):
    QUEUE.append(1.0)
    return -len(QUEUE) * v


def keeps_in_itself(t, q, v):
    keeps_in_itself.last = t
    return -v


def reads_a_clock(t, q, v):
    return -v if time.time() > 0.0 else v


def reads_an_imported_clock(t, q, v):
    from time import perf_counter

    return -v if perf_counter() > 0.0 else v


def draws(t, q, v):
    return 0.0 * q + np.random.normal(size=2)


def draws_from(rng):
    return lambda t, q, v: rng.normal(size=2)


def counts_on(t, q, v):
    return -v * next(NUMBERS)


def prints(t, q, v):
    print(t)
    return -v


def logs(t, q, v):
    LOGGER.warning("called at %s", t)
    return -v


def reads_a_file(t, q, v):
    return -v * len(FILE.read_text())


def looks_up(t, q, v):
    return -v * getattr(Settings, "kd")  # noqa: B009


REMEMBERING = {
    "an attribute": (Counting(), r"`self\.count` changes \(line \d+ of test_purity\.py, in __call__\)"),
    "an attribute of the class": (CountingInItsClass(), r"`CountingInItsClass\.calls` changes"),
    "a slot": (CountingSlot(1.0), r"`self\.gain` changes"),
    "a global": (counts_in_a_global, r"`CALLS` changes \(line \d+ of test_purity\.py, in counts_in_a_global\)"),
    "a cell": (counts_in_a_cell(), r"`calls` changes"),
    "a list": (appends, r"`LOG` changes"),
    "a dictionary": (keeps_by_key, r"`SEEN\['last'\]` changes"),
    "an array": (keeps_in_an_array, r"`LAST` changes"),
    "a queue": (keeps_in_a_queue, r"`QUEUE` changes"),
    "a function's attribute": (keeps_in_itself, r"`keeps_in_itself\.last` changes"),
    "a clock": (reads_a_clock, r"calls time\.time, which may depend on more than its arguments \(line \d+"),
    "an imported clock": (reads_an_imported_clock, r"calls time\.perf_counter"),
    "random numbers": (draws, r"calls numpy\.random, which keeps state"),
    "a generator of random numbers": (draws_from(np.random.default_rng(1)), r"`rng` is a numpy\.random.*Generator"),
    "an iterator": (counts_on, r"`NUMBERS` is a itertools\.count"),
    "printing": (prints, "calls print"),
    "logging": (logs, r"it calls logging\.Logger\.warning, which may depend"),
    "a file": (reads_a_file, r"it calls pathlib\.Path\.read_text"),
    "attributes by name": (looks_up, "calls getattr"),
}  # fmt: skip


@pytest.mark.parametrize(("function", "words"), REMEMBERING.values(), ids=REMEMBERING)
def test_what_keeps_state_or_reads_it_is_found_out(function, words, monkeypatch, capsys):
    written = []
    monkeypatch.setattr(LOGGER, "handlers", [logging.Handler()])
    monkeypatch.setattr(LOGGER.handlers[0], "emit", written.append)
    found = verdict(function)
    assert found.program is None
    assert found.remembers
    assert re.search(words, found.reason), found.reason
    # to have tried it leaves no trace
    assert (CALLS, LOG, SEEN, len(QUEUE), CountingInItsClass.calls, written) == (0, [], {}, 0, 0, [])
    assert not LAST.any()
    assert not hasattr(keeps_in_itself, "last")
    assert capsys.readouterr().out == ""
    assert getattr(function, "count", 0) == 0


def writes_into_q(t, q, v):
    q -= 1.0
    return -10.0 * q - v


def branches(t, q, v):
    if q[0] > 0.3:
        return -q
    return q


def compares(t, q, v):
    return -v if t == 0.0 else v


def uses_math(t, q, v):
    return [math.sin(q[0]), 0.0]


def writes_into_zeros(t, q, v):
    tau = np.zeros(2)
    tau[0] = -q[0]
    return tau


def looks_at_types(t, q, v):
    return -v if isinstance(t, float) else v


def fails_on_symbols(t, q, v):
    return np.linalg.solve(np.eye(2) + np.outer(q, q), v)


UNTRACEABLE = {
    writes_into_q: r"writes into its argument `q` \(line \d+ of test_purity\.py, in writes_into_q\); write to a copy",
    branches: r"no truth value.*km\.where.*\(line \d+ of test_purity\.py, in branches\)",
    compares: "equal to another is not known yet",
    uses_math: r"use NumPy's functions instead of math's \(line \d+ .* in uses_math\)",
    writes_into_zeros: r"written into an array of numbers; make the array by np\.zeros_like\(v\) or km\.zeros\(n\) \(line \d+",
    looks_at_types: "other values than a call",
    fails_on_symbols: r"cannot be traced: .*\(line \d+ .* in fails_on_symbols\)",
}


@pytest.mark.parametrize("function", UNTRACEABLE, ids=lambda f: f.__name__)
def test_what_cannot_be_traced_is_called_and_says_why(function):
    states = [(t, q.copy(), v.copy()) for t, q, v in STATES]
    found = judged(function, states, 2)
    assert found.program is None
    assert not found.remembers
    assert re.search(UNTRACEABLE[function], found.reason), found.reason
    assert all(
        np.array_equal(a, b) for given, kept in zip(states, STATES, strict=True) for a, b in zip(given, kept, strict=True)
    )


def test_a_change_from_elsewhere_is_seen_afterwards():
    settings = Settings()
    found = verdict(settings.law)
    assert found.changed_since() is None
    settings.limit = 3.0
    assert found.changed_since() == "self.limit"


@pytest.mark.usefixtures("little_to_collect")
def test_garbage_that_is_collected_meanwhile_is_not_taken_for_a_call(monkeypatch):
    """Python's collector would run it inside of the function: an error there is printed, and what it cleans is left."""
    told = []
    monkeypatch.setattr("sys.unraisablehook", told.append)
    before, kept = gc.get_threshold(), weakref.WeakKeyDictionary()
    gc.collect()
    gc.disable()
    link = Settings()
    link.itself = link
    kept[link] = True
    del link
    gc.set_threshold(4000)  # reached where the function makes its lists
    gc.enable()
    try:
        assert verdict(lambda t, q, v: [[x] for x in range(5000)] and [-v[0], -v[1]]).program is not None
    finally:
        gc.set_threshold(*before)
    gc.collect()
    assert not told
    assert not kept
