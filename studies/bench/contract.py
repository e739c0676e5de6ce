"""The contract of benchmark cases."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from kumitate.errors import KumitateError
from kumitate.measure.timing import Effort

from .report import Row
from .subjects import Subject

__all__ = ["Case", "SubjectCase", "agreement"]


class Case(ABC):
    """One benchmark, as frozen data.

    Attributes:
        name: what the command line calls it; `title` says what it is.
        missing: what is not installed and keeps it from being measured at all; "" if nothing is.
        peer: the name of the peer it is compared with, as in `peers.PEERS`; "" if none does.
    """

    name: str
    title: str
    missing: str = ""
    peer: str = ""

    @abstractmethod
    def rows(self, effort: Effort) -> Iterator[Row]:
        """Measures, and gives the rows one by one. Without the peer, the rows hold our own times.

        Raises:
            KumitateError: if the results differ: nothing is then timed.
        """


@dataclass(frozen=True)
class SubjectCase(Case):
    """A benchmark of one robot or chain.

    Attributes:
        subject: which.
    """

    subject: Subject

    @property
    def missing(self) -> str:  # type: ignore[override]
        return self.subject.missing


def agreement(what: str, ours: np.ndarray, theirs: np.ndarray, tolerance: float) -> float:
    """The largest difference of two results, as part of the largest entry.

    Raises:
        KumitateError: if it is larger than the tolerance, or not a number.
    """
    error = float(np.abs(ours - theirs).max() / np.abs(theirs).max())
    if not error <= tolerance:
        raise KumitateError(
            f"{what}: the results differ by {error:.1e} of the largest entry, over {tolerance:.1e}; nothing is timed"
        )
    return error
