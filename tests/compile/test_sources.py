"""Sources are known by their content: whatever their times say, other sources never get the code of former ones."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from importlib.util import cache_from_source
from pathlib import Path

import pytest

import kumitate as km
from kumitate.compile import stored
from kumitate.compile.stored import Sources

DATE = 1.6e9


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    """Some sources of one date. Digests are kept in an empty cache."""
    monkeypatch.setenv("KUMITATE_CACHE", str(tmp_path / "cache"))
    folder = tmp_path / "package"
    (folder / "room").mkdir(parents=True)
    write(folder / "__init__.py", '__version__ = "0.2.0"')
    write(folder / "room" / "motion.py", "g = 9.8")
    return folder


def write(path: Path, text: str, date: float = DATE) -> None:
    path.write_text(text)
    os.utime(path, (date, date))


def digest(folder: Path) -> bytes:
    return Sources(str(folder)).digest


@pytest.mark.parametrize("kept", [False, True])
@pytest.mark.parametrize(
    ("path", "text", "date"),
    [
        ("room/motion.py", "g = 1.6", DATE),
        ("room/motion.py", "g = 1.6", DATE - 1000.0),
        ("room/motion.py", "g = 9.80665", DATE),
        ("room/moving.py", "g = 9.8", DATE),
        ("__init__.py", '__version__ = "0.3.0"', DATE),
    ],
)
def test_another_content_is_seen_whatever_the_times_say(folder, monkeypatch, kept, path, text, date):
    if kept:  # as if the files had been lying there for long
        monkeypatch.setattr(stored, "_TICK", 0)
    before = digest(folder)
    time.sleep(0.02)  # longer than the system's clock of changes takes to go on
    write(folder / path, text, date)
    assert digest(folder) != before
    assert len(list(folder.parent.glob("cache/*.digest"))) == 2 * kept


def test_times_and_place_alone_change_nothing(folder):
    before = digest(folder)
    write(folder / "room" / "motion.py", "g = 9.8", DATE + 1000.0)
    moved = shutil.copytree(folder, folder.parent / "elsewhere")
    assert digest(folder) == digest(moved) == before


def test_what_makes_no_programs_is_left_out(folder):
    before = digest(folder)
    (folder / "view").mkdir()
    write(folder / "view" / "page.py", "pass")
    assert digest(folder) == before


def test_files_are_read_once_where_the_system_keeps_their_times(folder, monkeypatch):
    monkeypatch.setattr(stored, "_TICK", 0)
    before = digest(folder)
    with monkeypatch.context() as patch:
        patch.setattr(Sources, "_read", None)
        assert digest(folder) == before
    for name, other in (
        ("_TICK", 10**12),
        ("_keeps_times", lambda folder: False),
    ):  # changed just now; an image for reading only
        with monkeypatch.context() as patch:
            patch.setattr(stored, name, other)
            patch.setattr(Sources, "_read", lambda self: b"read")
            assert digest(folder) == b"read"


def test_files_that_change_after_the_look_are_of_nobody_else(folder):
    before = Sources(str(folder))
    write(folder / "room" / "motion.py", "g = 1.6")
    after = Sources(str(folder))
    os.remove(folder / "room" / "motion.py")
    assert len({before.digest, after.digest, digest(folder)}) == 3


FALLING = """
import numpy as np
import kumitate as km
print(km.load("pendulum").forward_dynamics([0.3], [0.0], [0.0])[0])
"""


def test_a_new_version_with_the_times_of_the_old_one_gives_its_own_numbers(tmp_path):
    """Images of containers, archives and copies may give all versions of a file one date, and a cache may outlive them."""
    package = shutil.copytree(Path(km.__file__).parent, tmp_path / "kumitate")
    environment = {**os.environ, "PYTHONPATH": str(tmp_path), "KUMITATE_CACHE": str(tmp_path / "cache"), "KUMITATE_VERIFY": "0"}

    def acceleration() -> float:
        done = subprocess.run([sys.executable, "-c", FALLING], env=environment, check=True, capture_output=True, text=True)
        return float(done.stdout)

    first = acceleration()
    page = package / "dynamics" / "motion.py"
    text, before = page.read_text(encoding="utf-8"), page.stat()
    double = text.replace("-Vector3.of(gravity)", "Vector3.of(gravity) * -2.0").replace("upward acceleration", " acceleration")
    page.write_text(double, encoding="utf-8")
    os.utime(page, ns=(before.st_atime_ns, before.st_mtime_ns))
    Path(cache_from_source(page)).unlink(missing_ok=True)  # Python itself goes by size and time
    assert page.stat().st_size == before.st_size
    assert acceleration() == 2.0 * first
