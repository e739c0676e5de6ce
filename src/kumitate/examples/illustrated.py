"""Examples with figures in addition to the usual graphs: curves that are not in a result, or of several runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..results.result import Result
from .catalogue import Example

__all__ = ["Curves", "Illustrated", "Plate"]


class Curves(NamedTuple):
    """Curves of one quantity, over the times of a result unless the plate says otherwise: one panel of a figure.

    Attributes:
        quantity: what it is, "Error of the tip"; `unit`: of the values, empty for pure numbers.
        names: of the curves; `values`: (n, curves).
        log: whether the axis of the values is logarithmic; they are then drawn by size.
    """

    quantity: str
    unit: str
    names: tuple[str, ...]
    values: np.ndarray
    log: bool = False


class Plate(NamedTuple):
    """A figure: panels side by side, with a caption below.

    Attributes:
        panels: of the figure; `caption`: a sentence below them.
        over: what the curves are drawn over (n), the times of the result if None; `across`: its name and unit.
    """

    panels: tuple[Curves, ...]
    caption: str = ""
    over: np.ndarray | None = None
    across: str = "Time [s]"


def _no_plates(result: Result) -> Mapping[str, Plate]:
    return {}


@dataclass(frozen=True)
class Illustrated(Example):
    """An example with its own figures.

    Attributes:
        plates: by the name of their files, made from what `run` gave.
    """

    plates: Callable[[Result], Mapping[str, Plate]] = _no_plates
