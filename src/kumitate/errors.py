"""Everything that kumitate raises on purpose. Each message names the thing, what was got, the rule, and the way out."""

from __future__ import annotations

__all__ = ["DivergenceError", "InputError", "KumitateError", "KumitateWarning", "ModelError"]


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


class KumitateWarning(UserWarning):
    """Something in a model was read differently than it says, or could not be used."""
