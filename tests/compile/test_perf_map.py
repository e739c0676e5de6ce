"""The map of compiled functions for Linux's perf."""

import os
import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from kumitate.compile.engine import load
from kumitate.compile.perf_map import name_functions
from kumitate.compile.target import host
from kumitate.procedure import Floats, procedure

TEXT = (
    """
define internal double @inner(double %x) noinline { %y = fmul double %x, 3.0 ret double %y }
define double @outer(double %x) noinline { %y = call double @inner(double %x) ret double %y }
define double @twice(double %x) noinline { %y = fadd double %x, %x ret double %y }
""".replace("{", "{\n")
    .replace("}", "\n}")
    .replace(" ret ", "\nret ")
)


@pytest.fixture
def map_of(monkeypatch):
    """What the lines of the map are after a call, as (address, size) by name; the file is taken away."""
    monkeypatch.setenv("KUMITATE_PERF", "1")
    path = Path(f"/tmp/perf-{os.getpid()}.map")

    def read():
        return {
            name: (int(at, 16), int(size, 16)) for at, size, name in (line.split() for line in path.read_text().splitlines())
        }

    yield read
    path.unlink(missing_ok=True)


if sys.platform == "linux":

    def test_the_map_has_all_functions_of_an_object_at_the_addresses_that_run(map_of):
        code = load(TEXT, host(), ["outer", "twice"])
        found = map_of()
        assert {name: found[name][0] for name in ("outer", "twice")} == code.addresses
        spans = sorted(found[name] for name in ("inner", "outer", "twice"))
        assert all(size > 0 and at + size <= later for (at, size), (later, _) in pairwise(spans)), spans

    def test_procedures_that_others_call_are_in_the_map(map_of):
        @procedure
        def doubled_in_place(x: Floats) -> None:
            for k in range(len(x)):
                x[k] *= 2.0

        x = np.arange(3.0)
        doubled_in_place(x)
        assert x.tolist() == [0.0, 2.0, 4.0]
        assert any("doubled_in_place" in name or "procedure_entry" in name for name in map_of())

    def test_files_that_are_not_elf_have_no_names(monkeypatch):
        monkeypatch.setenv("KUMITATE_PERF", "1")
        name_functions([b"MZ" + bytes(100)], {"outer": 1})
        path = Path(f"/tmp/perf-{os.getpid()}.map")
        assert path.read_text() == ""
        path.unlink()


def test_no_map_is_written_unless_it_is_asked_for(monkeypatch):
    for value in ("", "0"):
        monkeypatch.setenv("KUMITATE_PERF", value)
        load(TEXT, host(), ["outer"])
        assert not Path(f"/tmp/perf-{os.getpid()}.map").exists()
