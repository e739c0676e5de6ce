"""Everything that kumitate raises on purpose. Each message names the thing, what was got, the rule, and the way out."""

from __future__ import annotations

from typing import Any

__all__ = [
    "DivergenceError", "InputError", "KumitateError", "KumitateWarning", "ModelError", "ProgramError", "keep_result",
    "kept_up_to",
]  # fmt: skip


class KumitateError(Exception):
    """The root of all of kumitate's errors."""


class ModelError(KumitateError, ValueError):
    """A mechanism or its file breaks a rule."""


class InputError(KumitateError, ValueError):
    """An argument has a wrong shape, type or value."""


class DivergenceError(KumitateError, ArithmeticError):
    """A simulation ran away. `result` holds the run up to there."""

    def __init__(self, message: str, result: object = None):
        super().__init__(message)
        self.result = result


class ProgramError(KumitateError, AssertionError):
    """A pass of the compiler left a program that breaks a rule of programs: a fault of kumitate, not of a model."""


class KumitateWarning(UserWarning):
    """Something in a model was read differently than it says, or could not be used."""


def keep_result(error: BaseException, result: Any) -> None:
    """Gives an exception that ended a run early the run up to there, as its attribute `result`, and a note that says so."""
    error.result = result  # type: ignore[attr-defined]
    error.add_note(kept_up_to(result.time[-1]))


def kept_up_to(time: float) -> str:
    """The sentence that says where the beginning of a run is kept."""
    return f"The result up to t = {time:.6g} s is kept in the error's `result`."
