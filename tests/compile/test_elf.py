"""Object files placed in memory without LLVM: the same code as by LLVM's linker, and what is left to that."""

from __future__ import annotations

import ctypes
import hashlib
import math
import sys

import numpy as np
import pytest

from kumitate.compile import Kernel, engine
from kumitate.compile.linking import DamagedError, elf, placed
from kumitate.compile.target import host
from kumitate.scalar import arctan2, loop, sin, sqrt, tanh, trace

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or not host().triple.startswith("x86_64"),
    reason="such object files are made on Linux and 64-bit x86 alone; elsewhere LLVM links",
)

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
COUNTER = """
@count = global i64 41
define i64 @counted() {
  %old = load i64, ptr @count
  %new = add i64 %old, 1
  store i64 %new, ptr @count
  ret i64 %new
}
"""


def image(text):
    return engine.generate(text, host(), kept=False)


def function(address):
    return ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)(address)


@pytest.mark.parametrize("together", [True, False])
def test_files_call_each_other_and_the_process(together):
    caller, other = image(CALLER), image(OTHER)
    if together:
        found = placed([caller.content, other.content], ["caller"], {})
    else:
        apart = placed([other.content], ["other"], {})
        found = placed([caller.content], ["caller"], apart.addresses)
    assert found is not None
    for x in (0.0, -0.3, 1.7):
        assert function(found.addresses["caller"])(x) == math.tanh(3.7 * x) + 0.1


@pytest.mark.parametrize("lanes", [1, host().lanes])
def test_a_program_gives_the_bits_that_it_gives_by_llvm(monkeypatch, lanes):
    def page(x, y):
        total, _ = loop(5, lambda i, c: (c + sqrt(1.0 + x[0] * x[0]) * sin(0.3 * c) + 0.77, None), y)
        return {"a": [arctan2(total, x[1]), tanh(x[2]) + 1e-3, x[0] * 12345.6789], "b": total}

    program = trace(page, {"x": 3, "y": ()}, "page")
    rng = np.random.default_rng(20)
    x, y = rng.normal(size=(3 * lanes, 3)), rng.normal(size=3 * lanes)
    asked = []
    monkeypatch.setattr(engine, "placed", lambda *arguments: asked.append(placed(*arguments)) or asked[-1])
    ours = Kernel(program)(x, y)
    assert len(asked) == 1
    assert asked[0] is not None
    monkeypatch.setattr(engine, "placed", lambda *_: None)
    for mine, theirs in zip(ours, Kernel(program)(x, y), strict=True):
        np.testing.assert_array_equal(mine, theirs)


def test_what_can_be_written_to_is_left_to_llvm():
    counter = image(COUNTER)
    assert placed([counter.content], ["counted"], {}) is None
    code = engine.link([counter], ["counted"])
    counted = ctypes.CFUNCTYPE(ctypes.c_int64)(code.addresses["counted"])
    assert [counted(), counted()] == [42, 43]


def test_names_that_nobody_has_are_left_to_llvm():
    assert placed([image(CALLER).content], ["caller"], {}) is None
    with pytest.raises(RuntimeError, match="caller"):
        engine.link([image(CALLER)], ["caller"])


def test_files_of_other_processors_are_left_to_llvm():
    content = bytearray(image(OTHER).content)
    content[18:20] = (183).to_bytes(2, "little")  # ARM64
    assert placed([bytes(content)], ["other"], {}) is None


def executable(address):
    """Whether the process may run what lies at an address."""
    with open("/proc/self/maps", encoding="utf-8") as file:
        for line in file:
            bounds, access = line.split()[:2]
            begin, end = (int(bound, 16) for bound in bounds.split("-"))
            if begin <= address < end:
                return "x" in access
    return False


def test_the_memory_is_given_back_with_the_code():
    # Linux lists neighboring regions of the same kind as one: the address lies in a region, and need not begin it
    kept = [placed([image(OTHER).content], ["other"], {}) for _ in range(3)]
    places = [found.addresses["other"] for found in kept]
    assert all(executable(place) for place in places)
    del kept
    assert not any(executable(place) for place in places)


# --- damaged files ------------------------------------------------------------------------------------------------------


def structure(content: bytes) -> list[int]:
    """The places of all bytes of an object file that are neither code nor constants nor names."""
    whole = elf._Image(content, 0)
    tables = np.flatnonzero(np.isin(whole.sections["kind"], [2, 4])).tolist()
    spans = [(0, 64), (int(np.frombuffer(content, elf._HEADER, 1)[0]["sections"]), 64 * len(whole.sections))]
    spans += [(int(whole.sections[k]["start"]), int(whole.sections[k]["size"])) for k in tables]
    return [place for begin, size in spans for place in range(begin, begin + size)]


def test_a_damaged_file_is_refused_or_linked_but_nothing_else_happens():
    """A byte of its structure changed, or cut off anywhere: nothing is read or written outside of what there is."""
    content, rng = image(CALLER).content, np.random.default_rng(20261123)
    places = structure(content)
    damaged = [content[:size] for size in rng.integers(0, len(content), 100)]
    for place in rng.choice(places, 1500):
        changed = bytearray(content)
        changed[place] ^= int(rng.integers(1, 256))
        damaged.append(bytes(changed))
    refused = 0
    for one in damaged:
        try:
            placed([one], ["caller"], {"other": 16})
        except DamagedError:
            refused += 1
    assert refused > 300


@pytest.mark.parametrize("damage", ["cut", "rubbish", "name", "section"])
def test_a_damaged_entry_with_a_right_checksum_is_compiled_again(tmp_path, monkeypatch, damage):
    monkeypatch.setenv("KUMITATE_CACHE", str(tmp_path))

    def kernel():
        return Kernel(trace(lambda x: [1.5 * tanh(x[0])], {"x": 1}, "damaged"))

    kernel()([0.3])
    (entry,) = tmp_path.iterdir()
    whole = entry.read_bytes()[:-32]
    wrong = {
        "cut": whole[: len(whole) // 2],
        "rubbish": bytes(500),
        "name": whole.replace(b"tanh\0", b"tanx\0"),
        "section": whole[:40] + b"\xff" * 8 + whole[48:],
    }[damage]
    entry.write_bytes(wrong + hashlib.sha256(wrong).digest())
    np.testing.assert_allclose(kernel()([0.3]), [1.5 * math.tanh(0.3)], rtol=1e-15)
    assert entry.read_bytes()[:-32] == whole  # and kept
