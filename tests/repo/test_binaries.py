"""Pictures and other binary files stay small: a checkout keeps every version of them for ever."""

from pathlib import Path

from .sources import ROOT

#: Bytes that one file may have.
LARGEST = 300_000
#: Bytes of all binary files of version 0.1.0; set again at each release.
AT_LAST_RELEASE = 6_700_000
#: Bytes that a release may add.
ADDED = 1_000_000

FOLDERS = ("docs", "examples", "scripts", "src", "studies", "tests", "viewer")
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
    assert 0 < total <= AT_LAST_RELEASE + ADDED, f"binary files have {total} bytes: {total - AT_LAST_RELEASE} since 0.1.0"
