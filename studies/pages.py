"""Pages of docs that a study writes."""

from __future__ import annotations

from pathlib import Path

from kumitate.errors import KumitateError

__all__ = ["ROOT", "keep_page"]

#: The checkout.
ROOT = Path(__file__).resolve().parents[1]


def keep_page(name: str, text: str, *, study: str, check: bool) -> Path:
    """Writes docs/`name`, or with `check` only compares it. Returns its path.

    Raises:
        KumitateError: if `check` finds another text; the message names the study that writes it.
    """
    target = ROOT / "docs" / name
    if not check:
        target.write_text(text, encoding="utf-8")
    elif not target.exists() or target.read_text(encoding="utf-8") != text:
        raise KumitateError(f"docs/{name}: is out of date; run scripts/study {study}")
    return target
