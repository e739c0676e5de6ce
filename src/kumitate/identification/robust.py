"""Huber's loss: residuals beyond a few deviations count by their length and not by its square.

By modified residuals (Huber and Dutter, COMPSTAT 1974): least squares again and again of efforts whose residuals are cut off at
a multiple of the noise, which is estimated by their median (Huber, Robust statistics, 1981, 7.8).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..robot import Robot
from .base_parameters import BaseParameters
from .differentiate import States
from .equations import LogEquations, rows_of
from .fit import FINEST, Fit
from .log import MotionLog
from .unknowns import Unknowns

#: Residuals are cut off at this many standard deviations: of normal ones, 1 of 80 is longer.
BEYOND = 2.5
#: The standard deviation of normal numbers as a multiple of the median of their sizes.
_OF_MEDIAN = 1.4826
_ROUNDS = 50
#: It ends when no parameter moves further than this part of its standard deviation.
_SETTLED = 1e-3

Parts = Sequence[tuple[MotionLog, States]]


def robust_fit(
    robot: Robot, unknowns: Unknowns, base: BaseParameters, parts: Parts, solved: Callable[[Parts], tuple[LogEquations, Fit]]
) -> tuple[LogEquations, Fit]:
    """The fit of least Huber loss, and the equations of the efforts that it takes for it."""
    equations, found = solved(parts)
    rows = [rows_of(robot, unknowns, base, *part) for part in parts]
    for _ in range(_ROUNDS):
        predicted = [(own.rows @ found.beta + own.known) * found.reciprocals for own in rows]
        residuals = [log.tau - efforts for (log, _), efforts in zip(parts, predicted, strict=True)]
        least = FINEST * np.maximum(equations.efforts, 1e-100)
        most = BEYOND * np.maximum(_OF_MEDIAN * _median(np.concatenate(residuals)), least)
        cut = [
            (replace(log, tau=efforts + np.clip(residual, -most, most)), states)
            for (log, states), efforts, residual in zip(parts, predicted, residuals, strict=True)
        ]
        before = found.beta
        equations, found = solved(cut)
        if np.all(np.abs(found.beta - before) <= _SETTLED * np.sqrt(np.diag(found.covariance)[: len(before)])):
            break
    return equations, found


def _median(residuals: np.ndarray) -> Any:
    """The median (nv) of the sizes of residuals that are known; 0 where none is."""
    sizes = [np.abs(column[np.isfinite(column)]) for column in residuals.T]
    return np.array([np.median(own) if len(own) else 0.0 for own in sizes])
