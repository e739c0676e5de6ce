"""The contract of a reference problem: its source, and a function that runs it and compares what it found with the source's."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

__all__ = ["Checked", "Measured", "Problem"]


@dataclass(frozen=True)
class Measured:
    """A quantity of a run beside its published value.

    Attributes:
        what: it is, in some words.
        found: a number, or an array of them.
        tolerance: the bar: by how much the worst number may be off; `unit`: of all of them.
        reference: as published, or by the closed form that the problem names; zero where `found` is an error by itself.
    """

    what: str
    found: float | np.ndarray
    tolerance: float
    unit: str
    reference: float | np.ndarray = 0.0

    @property
    def error(self) -> float:
        """The largest difference between a number found and its reference."""
        return float(np.abs(np.asarray(self.found, float) - self.reference).max())

    @property
    def holds(self) -> bool:
        """Whether the error is within the tolerance; NaN is not."""
        return self.error <= self.tolerance

    def as_dict(self) -> dict[str, Any]:
        """The quantity as plain data."""
        numbers = {"found": np.asarray(self.found, float).tolist(), "reference": np.asarray(self.reference, float).tolist()}
        return {
            "what": self.what,
            "unit": self.unit,
            "error": self.error,
            "bar": self.tolerance,
            "holds": self.holds,
            **numbers,
        }


@dataclass(frozen=True)
class Problem:
    """A problem whose answer somebody else has published.

    Attributes:
        name: unique, short; `kind`: the class of problems that it belongs to.
        what: it is, with its closed form where it has one.
        source: the publication that the numbers come from.
        measure: runs it, and gives two quantities or more that do not follow from each other.
    """

    name: str
    kind: str
    what: str
    source: str
    measure: Callable[..., list[Measured]]

    def check(self) -> Checked:
        """Runs it."""
        began = time.process_time()
        return Checked(self, self.measure(), time.process_time() - began)


@dataclass(frozen=True)
class Checked:
    """A problem, what was measured of it, and the processor time that it took, compiling included [s]."""

    problem: Problem
    measured: list[Measured]
    seconds: float

    @property
    def holds(self) -> bool:
        """Whether all quantities are within their bars."""
        return all(item.holds for item in self.measured)

    @property
    def worst(self) -> Measured:
        """The quantity with the largest part of its bar; those that miss it come first."""
        return max(self.measured, key=lambda item: (not item.holds, item.error / item.tolerance if item.tolerance else 0.0))
