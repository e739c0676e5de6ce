"""LLVM's scheduler by the size of the code: on where it fits into the instruction cache, else what is shorter."""

from __future__ import annotations

import ctypes
from dataclasses import replace

import numpy as np
import pytest

import kumitate as km
from kumitate.compile import engine, host
from kumitate.compile.report import report


@pytest.fixture(scope="module")
def text():
    return km.load("pa10").compile("forward_dynamics").source("llvm", 1)


@pytest.fixture
def switched(monkeypatch):
    """Whether the scheduler was on, for each object file that was made."""
    seen, emitted = [], engine._emitted

    def noted(text, target, *, scheduled):
        seen.append(scheduled)
        return emitted(text, target, scheduled=scheduled)

    monkeypatch.setattr(engine, "_emitted", noted)
    return seen


def test_short_code_is_scheduled(text, switched):
    ample = replace(host(), code_cache=1 << 20)
    assert engine.object_code(text, ample) == engine._emitted(text, ample, scheduled=True)
    assert switched == [True, True]


def test_code_that_is_surely_too_long_is_made_once_in_the_traced_order(text, switched):
    tiny = replace(host(), code_cache=100)
    assert engine.object_code(text, tiny) == engine._emitted(text, tiny, scheduled=False)
    assert switched == [False, False]


def test_of_code_that_turns_out_too_long_the_shorter_is_kept(text, switched, monkeypatch):
    monkeypatch.setattr(engine, "_BYTES_PER_LINE", 0)
    monkeypatch.setattr(engine, "_LONGER_BY", 1.0)
    made = engine.object_code(text, replace(host(), code_cache=100))
    assert switched == [True, False]
    sizes = {scheduled: engine._code_size(engine._emitted(text, host(), scheduled=scheduled)) for scheduled in (True, False)}
    assert engine._code_size(made) == min(sizes.values())


def test_the_size_of_code_is_that_of_its_instructions(text):
    image = engine.object_code(text, host())
    assert (
        4 * report(km.load("pa10").compile("forward_dynamics")).widths[0].instructions < engine._code_size(image) < len(image)
    )


def test_both_orders_give_the_same_bits(text):
    rng = np.random.default_rng(2)
    q, v, tau = (rng.normal(size=(16, 7)) for _ in range(3))
    found = []
    for scheduled in (True, False):
        image = engine.CacheEntry(engine._emitted(text, host(), scheduled=scheduled), False, False, 0.0)
        code, out = engine.link([image], ["kernel"]), np.empty((16, 7))
        function = ctypes.CFUNCTYPE(None, ctypes.c_int64, *[ctypes.c_void_p] * 4)(code.addresses["kernel"])
        function(16, *(array.ctypes.data for array in (q, v, tau, out)))
        found.append(out)
    np.testing.assert_array_equal(*found)
