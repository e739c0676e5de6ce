"""Compiled code on disk: found again, and never able to spoil a result."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

from kumitate.compile import Kernel, cache_folder
from kumitate.scalar import sin, trace


def make(factor: float = 1.5) -> Kernel:
    return Kernel(trace(lambda x: [factor * sin(x[0])], {"x": 1}, "cached"))


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("KUMITATE_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def check(kernel: Kernel) -> None:
    np.testing.assert_allclose(kernel([0.3]), [1.5 * np.sin(0.3)], rtol=1e-15)


def test_the_second_kernel_is_loaded(folder):
    first = make()
    check(first)
    assert not first.code(1).from_cache
    assert [file.suffix for file in folder.iterdir()] == [".o"]
    second = make()
    check(second)
    assert second.code(1).from_cache
    assert second.code(1).seconds < 0.05


def test_another_program_or_number_of_lanes_is_another_entry(folder):
    make().code(1)
    make().code(2)
    assert not make(1.25).code(1).from_cache
    assert len(list(folder.iterdir())) == 3


@pytest.mark.parametrize("damage", ["truncated", "empty", "flipped", "foreign"])
def test_a_damaged_entry_is_made_anew(folder, damage):
    make().code(1)
    (entry,) = folder.iterdir()
    raw = entry.read_bytes()
    flipped = bytes([raw[0] ^ 1]) + raw[1:]
    entry.write_bytes({"truncated": raw[: len(raw) // 2], "empty": b"", "flipped": flipped, "foreign": b"x" * 5000}[damage])
    again = make()
    check(again)
    assert not again.code(1).from_cache
    assert entry.read_bytes()[-32:] == raw[-32:] or len(entry.read_bytes()) == len(raw)  # and it is whole again
    assert make().code(1).from_cache


def test_a_folder_that_cannot_be_written_costs_only_time(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("KUMITATE_CACHE", str(tmp_path / "file" / "cache"))  # below a file no folder can be made
    check(make())
    assert not make().code(1).from_cache


def test_no_pieces_are_left_when_writing_fails(folder, monkeypatch):
    def full(*paths):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    check(make())
    assert list(folder.iterdir()) == []


def test_the_folder_is_chosen_by_the_environment(monkeypatch, tmp_path):
    monkeypatch.setenv("KUMITATE_CACHE", str(tmp_path))
    assert cache_folder() == tmp_path
    monkeypatch.delenv("KUMITATE_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert cache_folder() == tmp_path / "xdg" / "kumitate"


def test_processes_at_once_do_not_disturb_each_other(folder):
    script = textwrap.dedent(
        """
        import numpy as np
        from kumitate.compile import Kernel
        from kumitate.scalar import sin, trace
        for k in range(8):
            kernel = Kernel(trace(lambda x: [(k + 1.5) * sin(x[0])], {"x": 1}, "cached"))
            assert abs(kernel([0.3])[0] - (k + 1.5) * np.sin(0.3)) < 1e-14
        """
    )
    processes = [subprocess.Popen([sys.executable, "-c", script], stderr=subprocess.PIPE, text=True) for _ in range(2)]
    for process in processes:
        _, errors = process.communicate(timeout=120)
        assert process.returncode == 0, errors
    assert len(list(folder.iterdir())) == 8
    assert {file.suffix for file in folder.iterdir()} == {".o"}
    assert make().code(1).from_cache
