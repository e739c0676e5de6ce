"""The force of a nonlinear spring or damper: a function of a line's length and of the rate of its length, as a program."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from ...errors import ModelError
from ...scalar import Program, Scalar, call, jacobian

#: Lengths [m] and rates [m/s] at which a function is tried before it is compiled.
_TRIALS = ((0.5, 0.25), (1.0, -0.5), (2.0, 1.0))


@dataclass(frozen=True)
class LineForce:
    """The pull of a line, as a program of (length, rate).

    Two are equal if their programs are the same, operation by operation: mechanisms with them may be compared, hashed, and
    found again in the stores of compiled programs.

    Attributes:
        listing: the program as text.
        program: from the length [m] and its rate [m/s] to the pull [N].
    """

    listing: str
    program: Program = field(repr=False, compare=False)

    @classmethod
    def of(cls, function: Callable[[Any, Any], Any]) -> LineForce:
        """The force that a function f(length, rate) gives.

        Raises:
            ModelError: if it cannot be compiled: it depends on more than these two, or does not give one finite number.
        """
        from ...scalar.purity import judged  # inspects code: loaded where there is a function to inspect

        states = [(length, np.array([rate])) for length, rate in _TRIALS]
        if not callable(function):
            raise ModelError(
                f"a line's force is {function!r}; give a function f(length, rate) of metres and m/s that returns the pull in "
                "N, positive where it draws the ends together"
            )
        verdict = judged(lambda length, rate: np.array([function(length, rate[0])]), states, 1, ("length", "rate"))
        if verdict.program is None:
            raise ModelError(
                f"a line's force cannot be compiled: {verdict.reason}. Give a function f(length, rate) [m, m/s] that returns "
                "one number [N], from its arguments alone, by NumPy's or kumitate's functions"
            )
        return cls(str(verdict.program), verdict.program)

    def __call__(self, length: Scalar, rate: Scalar) -> Scalar:
        """The pull [N], for floats and symbols alike."""
        return call(self.program, length, rate)[0]  # type: ignore[no-any-return]

    def slopes(self, length: Scalar, rate: Scalar) -> tuple[Scalar, Scalar]:
        """Its derivatives by the length [N/m] and by the rate [N·s/m]."""
        by_length, by_rate = (call(slope, length, rate) for slope in self._slopes)
        return by_length["result_by_length"][0][0], by_rate["result_by_rate"][0][0]

    @cached_property
    def _slopes(self) -> tuple[Program, Program]:
        return jacobian(self.program, "length"), jacobian(self.program, "rate")
