"""A plugin of pytest that notes which lines of some rooms run: -p tests.mutation.covered."""

from __future__ import annotations

import json
import os
import sys
import threading
from collections import defaultdict
from pathlib import Path
from typing import Any

_FOLDERS = tuple(os.environ.get("KUMITATE_COVERED", "").split(os.pathsep))
_lines: dict[str, set[int]] = defaultdict(set)


def _trace(frame: Any, event: str, _: Any) -> Any:
    """Follows a call into the rooms, and no other."""
    path = frame.f_code.co_filename
    if not path.startswith(_FOLDERS):
        return None
    seen = _lines[path]
    seen.add(frame.f_lineno)

    def line(frame: Any, event: str, _: Any) -> Any:
        seen.add(frame.f_lineno)
        return line

    return line


def pytest_sessionfinish() -> None:
    """Writes the lines of each file."""
    sys.settrace(None)
    into = Path(os.environ["KUMITATE_COVERED_INTO"])
    into.write_text(json.dumps({path: sorted(lines) for path, lines in _lines.items()}))


if _FOLDERS != ("",):
    threading.settrace(_trace)
    sys.settrace(_trace)
