"""The functions that GPUs lack, and sine and cosine in single precision: compiled for the processor, against other ones."""

from __future__ import annotations

import ctypes
import math
from functools import cache

import numpy as np
import pytest

from kumitate.compile.engine import Code, load
from kumitate.compile.llvm.straight_line import emit_sincos
from kumitate.compile.llvm.writer import Module, Writer
from kumitate.compile.target import SINGLE, host
from kumitate.cuda.ptx import FUNCTIONS, function_text


@cache
def code() -> Code:
    """All of them, under names of their own."""
    module = Module(1)
    for name in FUNCTIONS:
        text = function_text(module, name).replace(f"@{name}(", f"@gpu_{name}(")
        module.functions.append(text.replace("define internal", "define"))
    writer = Writer(Module(1, SINGLE))
    for k, value in enumerate(emit_sincos("%x", 1, writer.line, SINGLE)):
        writer.effect(f"store float {value}, ptr {writer.slot('%out', k)}")
    writer.effect("ret void")
    module.functions.append(writer.framed("define void @sincos(float %x, ptr %out)"))
    return load(module.text(), host(), [*(f"gpu_{name}" for name in FUNCTIONS), "sincos"])


def of(name: str):
    count = 2 if name == "atan2" else 1
    return ctypes.CFUNCTYPE(ctypes.c_double, *[ctypes.c_double] * count)(code().addresses[f"gpu_{name}"])


def numbers(name: str) -> list[tuple[float, ...]]:
    rng = np.random.default_rng(7)
    if name == "atan2":
        pairs = [rng.normal(size=(2000, 2)) * scale for scale in ([1, 1], [1e-6, 1], [1, 1e-6], [1e300, 1e-5])]
        return [tuple(pair) for pair in np.concatenate(pairs).tolist()]
    near = [rng.normal(size=2000) * scale for scale in (1e-6, 0.3, 3.0, 200.0)]
    values = np.concatenate(near)
    if name == "log":
        values = np.concatenate([np.abs(values), 10.0 ** rng.uniform(-320, 308, 2000), 1.0 + 1e-6 * near[1]])
    return [(value,) for value in values.tolist()]


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_functions_are_within_three_units_in_the_last_place(name):
    """Python's own are within one."""
    function, worst = of(name), 0.0
    for given in numbers(name):
        try:
            expected = getattr(math, name)(*given)
        except OverflowError:
            expected = math.inf
        found = function(*given)
        if found != expected:
            worst = max(worst, abs(found - expected) / math.ulp(expected))
    assert worst <= 3.0


SPECIAL = (0.0, -0.0, 1.0, -1.0, math.inf, -math.inf, math.nan)


@pytest.mark.parametrize("y", SPECIAL)
@pytest.mark.parametrize("x", SPECIAL)
def test_the_arc_tangent_knows_signs_and_infinities(y, x):
    found, expected = of("atan2")(y, x), math.atan2(y, x)
    assert math.isnan(found) == math.isnan(expected)
    if not math.isnan(expected):
        assert math.copysign(1.0, found) == math.copysign(1.0, expected)
        assert found == pytest.approx(expected, rel=4e-16)


@pytest.mark.parametrize("name", ["exp", "log", "tanh"])
def test_functions_know_infinities_and_what_is_no_number(name):
    function = of(name)
    assert math.isnan(function(math.nan))
    expected = {"exp": (math.inf, 0.0), "log": (math.inf, math.nan), "tanh": (1.0, -1.0)}[name]
    for x, value in zip((math.inf, -math.inf), expected, strict=True):
        assert function(x) == value or (math.isnan(value) and math.isnan(function(x)))
    assert of("log")(0.0) == -math.inf
    assert of("exp")(800.0) == math.inf


@pytest.mark.parametrize("scale", [1.0, 10.0, 1e3, 1e5])
def test_sine_and_cosine_in_single_precision(scale):
    """Also next to multiples of π/2, where reduction loses most."""
    function = ctypes.CFUNCTYPE(None, ctypes.c_float, ctypes.c_void_p)(code().addresses["sincos"])
    rng, out = np.random.default_rng(11), np.zeros(2, np.float32)
    turns = np.arange(1, 400) * (math.pi / 2)
    for x in np.concatenate([scale * rng.uniform(-1, 1, 4000), turns[turns <= scale]]).astype(np.float32):
        function(float(x), out.ctypes.data)
        expected = np.array([math.sin(float(x)), math.cos(float(x))])
        assert np.all(np.abs(out - expected) <= 2.0 * np.spacing(np.abs(expected).astype(np.float32)))
