"""A plugin of pytest that notes which lines of a folder each test runs: -p tests.mutation.covered."""

from __future__ import annotations

import json
import os
import sys
import threading
from collections import Counter, defaultdict
from pathlib import Path
from types import CodeType
from typing import Any

import pytest

_FOLDER = os.environ.get("KUMITATE_COVERED", "")
#: Calls of a function whose lines are followed in a test, which takes long; one that is called more often counts as run whole.
_FOLLOWED = 20
_tests: dict[str, dict[str, str]] = {}
_lines: dict[str, set[int]] = defaultdict(set)
_calls: Counter[CodeType] = Counter()
_others: set[CodeType] = set()
_seconds: Counter[str] = Counter()
_failed: set[str] = set()


def _trace(frame: Any, event: str, _: Any) -> Any:
    """Follows a call into the folder, and no other."""
    code = frame.f_code
    if code in _others:
        return None
    calls = _calls[code]
    if calls > _FOLLOWED:
        return None
    path = code.co_filename
    if not path.startswith(_FOLDER):
        _others.add(code)
        return None
    _calls[code] = calls + 1
    seen = _lines[path]
    seen.add(frame.f_lineno)
    if calls == _FOLLOWED:
        seen.update(line for _, _, line in code.co_lines() if line)
        return None

    def line(frame: Any, event: str, _: Any) -> Any:
        seen.add(frame.f_lineno)
        return line

    return line


def pytest_runtest_logstart() -> None:
    """Begins a test; lines that ran before the first one, at import, are its own."""
    if _tests:
        _lines.clear()
    _calls.clear()


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Notes a test's seconds, and whether it passed."""
    _seconds[report.nodeid] += report.duration
    if not report.passed:
        _failed.add(report.nodeid)


def pytest_runtest_logfinish(nodeid: str) -> None:
    """Keeps a test's lines, as bits."""
    _tests[nodeid] = {path[len(_FOLDER) + 1 :]: hex(sum(1 << line for line in lines)) for path, lines in _lines.items()}


def pytest_sessionfinish() -> None:
    """Writes the lines of each test that passed, by file."""
    sys.settrace(None)
    found = [(test, _seconds[test], lines) for test, lines in _tests.items() if test not in _failed and lines]
    Path(os.environ["KUMITATE_COVERED_INTO"]).write_text(json.dumps({"passed": found, "failed": sorted(_failed)}))


if _FOLDER:
    threading.settrace(_trace)
    sys.settrace(_trace)
