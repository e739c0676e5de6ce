"""Object files in memory together: they call each other and the process, and are freed with the code."""

from __future__ import annotations

import ctypes
import gc
import math
import sys

import pytest

from kumitate.compile import engine
from kumitate.compile.target import host

#: A function of another file and of the C library, with constants of its own.
CALLER = """
declare double @other(double)
declare double @tanh(double)
define double @caller(double %x) {
  %a = call double @other(double %x)
  %b = call double @tanh(double %a)
  %c = fadd double %b, 0.1
  ret double %c
}
"""
OTHER = "define double @other(double %x) {\n  %y = fmul double %x, 3.7\n  ret double %y\n}\n"


def image(text):
    return engine.generate(text, host(), kept=False)


def function(address):
    return ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)(address)


@pytest.mark.parametrize("together", [True, False])
def test_files_call_each_other_and_the_process(together):
    caller, other = image(CALLER), image(OTHER)
    if together:
        found = engine.link([caller, other], ["caller"])
    else:
        found = engine.link([caller], ["caller"], [engine.link([other], ["other"])])
    for x in (0.0, -0.3, 1.7):
        assert function(found.addresses["caller"])(x) == math.tanh(3.7 * x) + 0.1


def test_names_that_nobody_has_are_refused():
    with pytest.raises(RuntimeError, match="caller"):
        engine.link([image(CALLER)], ["caller"])


def executable(address):
    """Whether the process may run what lies at an address."""
    with open("/proc/self/maps", encoding="utf-8") as file:
        for line in file:
            bounds, access = line.split()[:2]
            begin, end = (int(bound, 16) for bound in bounds.split("-"))
            if begin <= address < end:
                return "x" in access
    return False


@pytest.mark.usefixtures("little_to_collect")
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux lists the memory of a process in /proc")
def test_the_memory_is_given_back_with_the_code():
    kept = [engine.link([image(OTHER)], ["other"]) for _ in range(3)]
    places = [found.addresses["other"] for found in kept]
    assert all(executable(place) for place in places)
    del kept
    gc.collect()
    assert not any(executable(place) for place in places)
