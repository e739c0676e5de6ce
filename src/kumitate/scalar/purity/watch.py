"""Runs a function under a profiler hook that stops it before it calls anything not known to be pure."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

from .known import impure_call, is_trusted, named

__all__ = ["Impure", "watched"]


class Impure(BaseException):
    """A watched function was about to call what is not known to be pure. No `except Exception` of the user's may catch it."""


@contextlib.contextmanager
def watched(codes: set[CodeType]) -> Iterator[None]:
    """Raises `Impure` in this context before a call that may keep state.

    Args:
        codes: the functions that may run in addition to those of trusted packages.
    """
    own = {id(code) for code in codes}  # code is slow to hash

    def look(frame: FrameType, event: str, function: Any) -> None:
        if event == "c_call":
            if id(frame.f_code) in own and impure_call(function):
                raise Impure(f"it calls {named(function)}, which may depend on more than its arguments ({_line(frame)})")
        elif event == "call":
            caller = frame.f_back  # calls made by trusted packages are not checked
            unknown = caller is not None and id(caller.f_code) in own and id(frame.f_code) not in own
            if unknown and not is_trusted(frame.f_globals.get("__name__")):
                raise Impure(f"it runs {frame.f_code.co_qualname}, which was not found beforehand ({_line(frame)})")

    before: Any = sys.getprofile()
    sys.setprofile(look)
    try:
        yield
    finally:
        before.enable() if hasattr(before, "enable") else sys.setprofile(before)  # cProfile's is not a function


def _line(frame: FrameType) -> str:
    return f"line {frame.f_lineno} of {Path(frame.f_code.co_filename).name}, in {frame.f_code.co_name}"
