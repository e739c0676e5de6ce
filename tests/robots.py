"""The robot files of example-robot-data, which the extra `test` installs: without them, tests of real files fail, not skip."""

from __future__ import annotations

from pathlib import Path

from kumitate.examples.legged import robots_folder

__all__ = ["PARALLEL_ROBOTS", "ROBOT_FILES"]


def _folder() -> Path:
    folder = robots_folder()
    assert folder is not None, "example-robot-data is not installed; run pip install 'kumitate[test]'"
    return folder


#: The folder of its robots.
ROBOT_FILES = _folder()

#: The folder of robots with closed loops: URDF, and YAML with the loops; they lie here, so that any clone can test them.
PARALLEL_ROBOTS = Path(__file__).parent / "data" / "parallel-robots"
