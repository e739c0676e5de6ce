"""Pages of the documents that are written by a command."""

from __future__ import annotations

import sys
from pathlib import Path

__all__ = ["keep_page"]


def keep_page(target: Path, text: str, *, script: str, check: bool) -> int:
    """Writes a page, or with `check` only compares it and says which script writes it. Returns an exit code."""
    if not check:
        target.write_text(text, encoding="utf-8")
        return 0
    if target.exists() and target.read_text(encoding="utf-8") == text:
        return 0
    sys.stderr.write(f"{target} is out of date; run {script}\n")
    return 1
