"""The verdict on a function f(t, q, v): compiled into the step, or called, and why."""

from __future__ import annotations

import contextlib
import dis
import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from types import CodeType, FrameType, TracebackType
from typing import Any, NamedTuple

import numpy as np

from ..arrays import SymbolArray
from ..blocks import Program
from ..evaluate import evaluate
from ..graph import Symbol, TraceError
from ..tracing import trace
from .known import impure_call, is_trusted, named
from .reach import Opaque, Reachable

#: t [s], q, v, and what else the function takes: something that it can be tried at.
State = tuple[Any, ...]
#: What a function takes unless told otherwise.
TAKEN = ("t", "q", "v")


class Verdict(NamedTuple):
    """Whether a function may be compiled.

    Attributes:
        program: from what the function takes to its values; None if it has to be called.
        remembers: whether it keeps state from call to call, or may do so.
        reason: why it is called; empty if it is compiled.
    """

    program: Program | None
    remembers: bool
    reason: str
    reach: Reachable | None = None

    def changed_since(self) -> str | None:
        """The path of something in the function's reach that has changed since the verdict; None if nothing has."""
        return None if self.reach is None else self.reach.changed()


def judged(function: Callable[..., Any], states: Sequence[State], size: int, taken: Sequence[str] = TAKEN) -> Verdict:
    """The verdict on a function that gives `size` values of a time and arrays, (t, q, v) unless `taken` names others.

    Everything that the function can reach by the names in its code is inspected, and must be known. Then it is tried on copies
    of the `states`, and traced; any changes are undone. It is compiled if nothing was changed, nothing was called that may
    depend on more than its arguments, and the program gives what the function gives.
    """
    try:
        reach = Reachable(function)
    except Opaque as reason:
        return Verdict(None, True, str(reason))
    try:
        return _tried(function, states, size, taken, reach)
    finally:
        for entry in reach.journal.values():
            entry.restore()


def _tried(function: Callable[..., Any], states: Sequence[State], size: int, taken: Sequence[str], reach: Reachable) -> Verdict:
    values: list[np.ndarray] = []
    written, failure = "", ""
    try:
        with watched(reach.codes):
            for t, *given in (*states, states[0]):
                arrays = [array.copy() for array in given]
                values.append(np.asarray(function(t, *arrays)))
                changed = (
                    name for name, now, was in zip(taken[1:], arrays, given, strict=True) if not np.array_equal(now, was)
                )
                written = written or next(changed, "")
    except Impure as reason:
        return Verdict(None, True, str(reason), reach)
    except Exception as error:
        failure = f"it cannot be tried beforehand: {_told(error, reach)}"
    if (path := reach.changed()) is not None:
        return Verdict(None, True, f"`{path}` changes{reach.where(path)}", reach)
    if failure:
        return Verdict(None, False, failure, reach)
    if not np.array_equal(values[0], values[-1], equal_nan=values[0].dtype.kind == "f"):
        return Verdict(None, True, "it gives different values for the same arguments", reach)
    wrong = next((value for value in values if value.shape != (size,) or value.dtype.kind not in "fiu"), None)
    if wrong is not None:
        return Verdict(None, False, f"it gives {wrong.dtype} of shape {wrong.shape}, not {size} real numbers", reach)
    if not np.isfinite(values[0]).all():
        return Verdict(None, False, f"it gives {values[0].tolist()} at the start", reach)
    if written:
        return Verdict(None, False, f"it writes into its argument `{written}`{reach.where(written)}; write to a copy", reach)
    return _traced(function, states, values, taken, reach)


def _traced(
    function: Callable[..., Any], states: Sequence[State], values: Sequence[np.ndarray], taken: Sequence[str], reach: Reachable
) -> Verdict:
    def page(t: Any, *arrays: Any) -> Any:
        with watched(reach.codes):
            return list(np.asarray(function(t, *map(SymbolArray, arrays))))

    sizes: dict[str, int | tuple[int, ...]] = {taken[0]: ()}
    sizes |= {name: len(array) for name, array in zip(taken[1:], states[0][1:], strict=True)}
    try:
        program = trace(page, sizes, "actuation")
    except Impure as reason:
        return Verdict(None, True, str(reason), reach)
    except Exception as error:
        return Verdict(None, False, f"it cannot be traced: {_told(error, reach)}", reach)
    if (path := reach.changed()) is not None:
        return Verdict(None, True, f"`{path}` changes{reach.where(path)}", reach)
    for (t, *arrays), expected in zip(states, values, strict=False):
        found = np.array(evaluate(program, [t, *chain.from_iterable(arrays)]), dtype=float)
        scale = float(np.nan_to_num(np.abs(expected), posinf=0.0).max(initial=0.0))  # a zero beside others rounds as they do
        if not np.allclose(found, expected, rtol=1e-9, atol=1e-12 * max(scale, 1.0), equal_nan=True):
            return Verdict(
                None, False, "its trace gives other values than a call: it looks at the type of its arguments", reach
            )
    return Verdict(program, False, "", reach)


def _told(error: Exception, reach: Reachable) -> str:
    """An error in one line, with the line of the user's code, and the remedy where there is one."""
    frames = [(frame, line) for frame, line in traceback.walk_tb(error.__traceback__) if frame.f_code in reach.codes]
    text = f"{error}" if isinstance(error, TraceError) else f"{type(error).__name__}: {error}"
    if not frames:
        return text
    frame, line = frames[-1]
    if isinstance(error, TraceError) and _stores(error.__traceback__, frame):
        text = "a traced value is written into an array of numbers; make the array by np.zeros_like(v) or km.zeros(n)"
    return f"{text} (line {line} of {Path(frame.f_code.co_filename).name}, in {frame.f_code.co_name})"


def _stores(at: TracebackType | None, frame: FrameType) -> bool:
    """Whether a traceback leaves a frame where it writes to an element of an array."""
    while at is not None and at.tb_frame is not frame:
        at = at.tb_next
    if at is None or (at.tb_next is not None and at.tb_next.tb_frame.f_code is not Symbol.__float__.__code__):
        return False  # the error comes from a called function
    return any(step.offset == at.tb_lasti and step.opname == "STORE_SUBSCR" for step in dis.get_instructions(frame.f_code))


# --- a profiler hook that stops a function before it calls anything not known to be pure ----------------------------------
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
