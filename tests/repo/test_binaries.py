"""Pictures and other binary files stay small: a checkout keeps every version of them for ever."""

import subprocess
from pathlib import Path

from .sources import ROOT

#: Bytes that one file may have.
LARGEST = 300_000
#: Bytes of all binary files of version 0.2.0; set again at each release.
AT_LAST_RELEASE = 4_900_000
#: Bytes that a release may add.
ADDED = 1_000_000

FOLDERS = ("docs", "examples", "scripts", "src", "studies", "tests", "viewer")
#: Endings of binary files, as the history has names and no contents at hand.
BINARY = {".gif", ".h5", ".ico", ".jpg", ".npz", ".parquet", ".png", ".stl", ".webp", ".woff2"}
#: What tools leave behind.
LEFT = {"__pycache__", "node_modules"}


def binaries() -> list[Path]:
    """The files of the checkout that are not text: those with a zero byte."""
    found = (path for folder in FOLDERS for path in (ROOT / folder).rglob("*") if path.is_file())
    return [path for path in found if not LEFT & set(path.parts) and b"\0" in path.read_bytes()]


def test_no_file_is_large():
    large = {path.relative_to(ROOT).as_posix(): size for path in binaries() if (size := path.stat().st_size) > LARGEST}
    assert not large, f"{large} bytes, over {LARGEST}; write fewer colours, fewer pictures of an animation, or a smaller size"


def test_a_release_adds_little():
    total = sum(path.stat().st_size for path in binaries())
    assert 0 < total <= AT_LAST_RELEASE + ADDED, f"binary files have {total} bytes: {total - AT_LAST_RELEASE} since 0.2.0"


def written_since_release() -> dict[str, int]:
    """The bytes of binary files in the history since the line above was last set, by path; every clone has them all."""
    last = git("log", "-G^AT_LAST_RELEASE = ", "--format=%H", "--", "tests/repo/test_binaries.py").split()
    objects = git("rev-list", "--objects", f"{last[0]}..HEAD" if last else "HEAD").splitlines()
    found: dict[str, int] = {}
    for name, _, path in (entry.partition(" ") for entry in objects):
        if path.startswith(FOLDERS) and Path(path).suffix in BINARY:
            found[path] = found.get(path, 0) + int(git("cat-file", "-s", name))
    return found


def git(*arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=ROOT, check=True, capture_output=True, text=True).stdout


def test_a_release_adds_little_to_the_history():
    written = written_since_release() if (ROOT / ".git").exists() else {path.name: 0 for path in binaries()}
    assert sum(written.values()) <= ADDED, f"the history has {written} bytes more since the last release"
