"""All errors and warnings of kumitate. Each message names the thing, the value received, the rule, and the remedy."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Collection, Iterable
from importlib import import_module
from itertools import islice
from typing import Any


class KumitateError(Exception):
    """The base class of all errors of kumitate."""


class ModelError(KumitateError, ValueError):
    """A mechanism or its file breaks a rule. `others`: the messages of further elements of the same file that do."""

    others: tuple[str, ...] = ()


class UnknownNameError(ModelError, KeyError):
    """A mechanism has nothing of this name; the message says what is close to it."""

    __str__ = Exception.__str__  # that of KeyError puts quotation marks around the message


class InputError(KumitateError, ValueError):
    """An argument has a wrong shape, type or value."""


class DivergenceError(KumitateError, ArithmeticError):
    """A simulation diverged. `result` holds the run up to that point."""

    def __init__(self, message: str, result: object = None):
        super().__init__(message)
        self.result = result


class ProcedureError(KumitateError, TypeError):
    """A procedure is written in a way that cannot be compiled; the message names the file, the line and the expression."""


class ProgramError(KumitateError, AssertionError):
    """A compiler pass produced an invalid program: a fault of kumitate, not of a model."""


class KumitateWarning(UserWarning):
    """Something in a model was read in a different way than written, or could not be used."""


#: Between a call of a user and a warning: this package, and modules of Python's own that call it for the user.
_BETWEEN = {__name__.partition(".")[0], "contextlib", "dataclasses", "functools", "importlib"}


def warn(message: str, kind: type[Warning] = KumitateWarning) -> None:
    """Warns at the user's line: the innermost one that called this package."""
    frame = sys._getframe(1)
    while frame.f_back is not None and str(frame.f_globals.get("__name__")).partition(".")[0] in _BETWEEN:
        frame = frame.f_back
    seen = frame.f_globals.setdefault("__warningregistry__", {})
    module = frame.f_globals.get("__name__", "__main__")
    warnings.warn_explicit(message, kind, frame.f_code.co_filename, frame.f_lineno, module, seen)


def did_you_mean(name: Any, known: Iterable[str], otherwise: str = "", *, lead: str = "") -> str:
    """Suggests the known name that is closest to one that is not known, after a lead; `otherwise` where none is close.

    >>> did_you_mean("hinje", ["hinge", "slide"], lead=", "), did_you_mean("x", ["hinge"], f"there are {first_of(['hinge'])}")
    (", did you mean 'hinge'?", 'there are hinge')
    """
    from difflib import get_close_matches  # loaded only for a mistake

    near = get_close_matches(str(name), list(known), 1)
    return f"{lead}did you mean {near[0]!r}?" if near else otherwise


def first_of(names: Collection[str]) -> str:
    """The first names of a list that may be long, or "none"."""
    return ", ".join([*islice(names, 8), *(["…"] if len(names) > 8 else [])]) or "none"


def needed(module: str, why: str, extra: str, otherwise: str = "") -> Any:
    """A module of a package that an extra of kumitate brings; an `InputError` if it is not installed.

    Args:
        module: its name; why: what needs the package, for the message, as in "films need imageio-ffmpeg".
        extra: that brings it; otherwise: what else can be done, as in ", or save as .npz".
    """
    try:
        return import_module(module)
    except ImportError as error:
        raise InputError(f"{why}, which is not installed; pip install 'kumitate[{extra}]' installs it{otherwise}") from error


def keep_result(error: BaseException, result: Any) -> None:
    """Stores the run so far in an exception that ended it early, as its attribute `result`, and adds a note that says so."""
    error.result = result  # type: ignore[attr-defined]
    error.add_note(kept_up_to(result.time[-1]))


def kept_up_to(time: float) -> str:
    """The sentence that says where the first part of a run is kept."""
    return f"The result up to t = {time:.6g} s is kept in the error's `result`."
