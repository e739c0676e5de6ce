"""Compiled code on disk: found again, and never able to spoil a result."""

from __future__ import annotations

import hashlib
import math
import os
import stat
import subprocess
import sys
import textwrap
import time
import warnings
from pathlib import Path

import numpy as np
import pytest

from kumitate.compile import Kernel, StoredProgram, cache_folder, disk
from kumitate.errors import InputError, KumitateWarning
from kumitate.scalar import sin, tanh, trace


def make(factor: float = 1.5) -> Kernel:
    return Kernel(trace(lambda x: [factor * sin(x[0])], {"x": 1}, "cached"))


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("KUMITATE_CACHE", str(tmp_path / "cache"))
    fresh_process(monkeypatch)
    return tmp_path / "cache"


def fresh_process(monkeypatch) -> None:
    """As if nothing had been warned of or written yet."""
    monkeypatch.setattr(disk._State, "warned", False)
    monkeypatch.setattr(disk._State, "written", float("inf"))


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
def test_a_damaged_entry_is_made_again(folder, damage):
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
    fresh_process(monkeypatch)
    works_without_the_cache("cannot be written to")


def test_no_pieces_are_left_when_writing_fails(folder, monkeypatch):
    def full(*paths):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    works_without_the_cache("No space left on device")
    assert list(folder.iterdir()) == []


def test_the_folder_is_chosen_by_the_environment(monkeypatch, tmp_path):
    monkeypatch.setenv("KUMITATE_CACHE", str(tmp_path))
    assert cache_folder() == tmp_path
    monkeypatch.delenv("KUMITATE_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert cache_folder() == tmp_path / "xdg" / "kumitate"


# --- who may write to it ----------------------------------------------------------------------------------------------
def works_without_the_cache(words: str) -> None:
    """Kernels compute, none comes from the cache or goes to it, and one warning says so however many there are."""
    with pytest.warns(KumitateWarning, match=words) as said:
        check(make())
    assert "Set KUMITATE_CACHE" in str(said[0].message)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        again = make()
        check(again)
    assert (again.code(1).from_cache, again.code(1).on_disk) == (False, False)


@pytest.mark.parametrize(
    ("owner", "mode", "fault"),
    [
        ("me", 0o40755, None),
        ("me", 0o100600, None),
        ("root", 0o100644, None),
        ("me", 0o120777, None),  # a link: its mode means nothing
        ("me", 0o100620, "others"),
        ("me", 0o40777, "others"),
        ("root", 0o40775, "others"),
        ("other", 0o40700, "belongs to user 54321"),
        ("other", 0o120777, "belongs to user 54321"),
    ],
)
def test_who_may_own_and_write(owner, mode, fault):
    uid = {"me": os.geteuid(), "root": 0, "other": 54321}[owner]
    said = disk.owner_fault(os.stat_result((mode, 0, 0, 1, uid, 0, 0, 0, 0, 0)))
    assert said is None if fault is None else fault in said


def test_the_folder_is_made_for_its_user_alone(folder):
    before = os.umask(0)
    try:
        check(make())
    finally:
        os.umask(before)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert [stat.S_IMODE(file.stat().st_mode) for file in folder.iterdir()] == [0o600]
    assert make().code(1).from_cache


@pytest.mark.parametrize("mode", [0o770, 0o777, 0o1777])
def test_a_folder_that_others_can_write_to_is_not_used(folder, mode):
    check(make())
    folder.chmod(mode)
    works_without_the_cache(f"can be written to by others than user .*mode {mode:04o}")
    folder.chmod(0o755)
    assert make().code(1).from_cache


def test_a_folder_of_another_user_is_not_used(folder, monkeypatch):
    check(make())
    me = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: me + 1)  # now all that was written is somebody else's
    monkeypatch.setattr(disk, "_ROOT", me + 2)
    works_without_the_cache(f"belongs to user {me}, not to user {me + 1}")


def test_a_folder_that_anybody_can_exchange_is_not_used(folder):
    check(make())
    folder.parent.chmod(0o777)
    works_without_the_cache("can be written to by everybody")
    folder.parent.chmod(0o1777)  # sticky, as /tmp
    assert make().code(1).from_cache


def test_a_link_leads_to_the_folder(folder, tmp_path, monkeypatch):
    (tmp_path / "link").symlink_to(folder)
    folder.mkdir(mode=0o700)
    monkeypatch.setenv("KUMITATE_CACHE", str(tmp_path / "link"))
    check(make())
    assert make().code(1).from_cache
    folder.chmod(0o777)
    works_without_the_cache("can be written to by others")


def test_a_link_of_another_user_is_not_followed(tmp_path, monkeypatch):
    (tmp_path / "cache").mkdir(mode=0o700)
    (tmp_path / "link").symlink_to(tmp_path / "cache")
    monkeypatch.setattr(disk, "owner_fault", lambda status: "belongs to user 54321" if stat.S_ISLNK(status.st_mode) else None)
    assert disk.folder_fault(tmp_path / "cache") is None
    assert disk.folder_fault(tmp_path / "link") == f"{tmp_path / 'link'} belongs to user 54321"


def test_an_entry_that_others_can_write_to_is_made_again(folder):
    check(make())
    (entry,) = folder.iterdir()
    entry.chmod(0o666)
    with pytest.warns(KumitateWarning, match=f"{entry.name} can be written to by others"):
        assert not make().code(1).from_cache
    assert stat.S_IMODE(entry.stat().st_mode) == 0o600
    assert make().code(1).from_cache


def test_an_entry_that_is_a_link_is_made_again(folder, tmp_path):
    check(make())
    (entry,) = folder.iterdir()
    entry.rename(tmp_path / "elsewhere")
    entry.symlink_to(tmp_path / "elsewhere")
    assert not make().code(1).from_cache
    assert not entry.is_symlink()
    assert make().code(1).from_cache


def test_without_a_home_there_is_no_cache(monkeypatch):
    import pwd

    def unknown(uid):
        raise KeyError(f"getpwuid(): uid not found: {uid}")

    for name in ("HOME", "XDG_CACHE_HOME", "KUMITATE_CACHE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(pwd, "getpwuid", unknown)
    fresh_process(monkeypatch)
    assert cache_folder() is None
    works_without_the_cache("no home folder")


# --- what is let go ---------------------------------------------------------------------------------------------------
def entry(folder: Path, letter: str, size: int, age: float, suffix: str = ".o") -> Path:
    """A file of the cache, last used `age` seconds ago."""
    path = folder / f"{letter * 64}{suffix}"
    path.write_bytes(bytes(size))
    os.utime(path, (time.time() - age,) * 2)
    return path


def test_what_was_used_least_recently_goes(folder, monkeypatch):
    monkeypatch.setenv("KUMITATE_CACHE_SIZE", "1")  # MB
    check(make())
    (own,) = folder.iterdir()
    os.utime(own, (0, 0))
    assert make().code(1).from_cache  # which is a use
    old, mesh, new = (
        entry(folder, "a", 400_000, 3e6),
        entry(folder, "b", 400_000, 2e6, ".npz"),
        entry(folder, "c", 400_000, 1e6),
    )
    letter = folder / "letter.o"
    letter.write_bytes(bytes(10**6))
    fresh_process(monkeypatch)
    make(2.5)([0.3])  # is written, so that the cache is tidied
    assert (old.exists(), mesh.exists()) == (False, False)  # down to three quarters
    assert all(path.exists() for path in (own, new, letter))
    assert len(list(folder.iterdir())) == 4


def test_it_is_not_tidied_at_every_write(folder, monkeypatch):
    monkeypatch.setenv("KUMITATE_CACHE_SIZE", "1")
    make()([0.3])
    old = [entry(folder, letter, 400_000, 3e6) for letter in "abc"]
    make(2.5)([0.3])
    assert all(path.exists() for path in old)
    monkeypatch.setattr(disk._State, "written", 1e6 / 16)
    make(3.5)([0.3])
    assert not all(path.exists() for path in old)


def test_what_was_abandoned_is_swept(folder, monkeypatch):
    folder.mkdir()
    abandoned, under_way = entry(folder, "a", 10, 7200, "x1y2.part"), entry(folder, "b", 10, 60, "x1y2.part")
    foreign = folder / "letter.part"
    foreign.write_text("mine")
    os.utime(foreign, (0, 0))
    check(make())
    assert not abandoned.exists()
    assert under_way.exists()
    assert foreign.exists()


@pytest.mark.parametrize("size", ["many", "-1", "nan"])
def test_a_wrong_size_is_answered(folder, monkeypatch, size):
    monkeypatch.setenv("KUMITATE_CACHE_SIZE", size)
    with pytest.raises(InputError, match=f"KUMITATE_CACHE_SIZE is '{size}'"):
        make()([0.3])


def test_nothing_is_kept_in_a_cache_of_no_size(folder, monkeypatch):
    monkeypatch.setenv("KUMITATE_CACHE_SIZE", "0")
    for factor in (1.5, 2.5):
        make(factor)([0.3])
        StoredProgram(str(factor), lambda: make().program)
    assert list(folder.iterdir()) == []


def test_processes_at_once_do_not_disturb_each_other(folder):
    script = textwrap.dedent(
        """
        import numpy as np
        from kumitate.compile import Kernel
        from kumitate.scalar import sin, tanh, trace
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


@pytest.mark.parametrize("damage", ["cut", "rubbish", "name", "section"])
def test_a_damaged_entry_with_the_checksum_of_its_content_is_compiled_again(tmp_path, monkeypatch, damage):
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


def test_the_content_of_another_entry_is_not_taken(folder):
    make().code(1)
    (first,) = folder.iterdir()
    make(1.25).code(1)
    (second,) = set(folder.iterdir()) - {first}
    second.write_bytes(first.read_bytes())
    np.testing.assert_allclose(make(1.25)([0.3]), [1.25 * math.sin(0.3)], rtol=1e-15)
