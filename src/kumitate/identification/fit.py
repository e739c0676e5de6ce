"""Base parameters and drive constants by least squares, each degree of freedom weighted by its own noise."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..errors import InputError
from ..robot import Robot
from .base_parameters import BaseParameters
from .equations import LogEquations, rows_of
from .log import MotionLog, States
from .unknowns import Unknowns

#: Directions whose singular value is below this part of the largest are not excited: nothing can be said of them.
_UNSEEN = 1e-9
#: Columns shorter than this part of the longest are rounding.
_NO_EFFECT = 1e-11
#: Efforts are trusted to this part of the largest term of their equations at best.
FINEST = 1e-10
#: Rounds, in each of which the noises are estimated and the drive constants are linearised.
_ROUNDS = 40
#: It ends when a round improves less than this, in units of the noise.
_SETTLED = 1e-3


@dataclass(frozen=True)
class Fit:
    """The result of least squares.

    Attributes:
        beta: the base parameters; where the motion excites none of a direction, the model's.
        reciprocals: 1/K of the drives (nv); 1 where they are known.
        noise: the standard deviation of the efforts (nv) about the fit [units of the log].
        covariance: of (β, 1/K of unknown drives); without the directions of `unseen`.
        unseen: orthonormal directions (…, count + drives), in units of the model's scales, that the motion does not excite.
        scales: of (β, 1/K of unknown drives), by which they were compared.
    """

    beta: np.ndarray
    reciprocals: np.ndarray
    noise: np.ndarray
    covariance: np.ndarray
    unseen: np.ndarray
    scales: np.ndarray


def fit(equations: LogEquations, start: np.ndarray, drives: tuple[int, ...]) -> Fit:
    """The least squares fit, from the model's base parameters.

    Raises:
        InputError: if there are fewer samples than parameters, or the drive constants are known only up to a common factor.
    """
    count = equations.count
    total = round(float(equations.samples.sum()))
    if total <= count + len(drives):
        raise InputError(f"identify: {total} efforts for {count + len(drives)} parameters; give a longer log")
    beta, reciprocals = start.copy(), np.ones(len(equations.samples))
    sizes = equations.sizes(start)
    floor = FINEST * max(float(sizes.max(initial=0.0)), 1e-100)
    noise = np.maximum(sizes, floor)
    for _ in range(_ROUNDS):
        A, b = _linearised(equations, beta, reciprocals, drives, noise)
        scales = _scales(A)
        U, s, Vt = np.linalg.svd(A * scales, full_matrices=False)
        seen = s > _UNSEEN * s[0]
        improved = U[:, seen].T @ b
        step = scales * (Vt[seen].T @ (improved / s[seen]))
        beta = beta + step[:count]
        reciprocals[list(drives)] = np.maximum(reciprocals[list(drives)] + step[count:], 0.2 * reciprocals[list(drives)])
        before, used = noise, (count + len(drives)) / total  # each degree of freedom pays for its part of the parameters
        noise = np.maximum(equations.lengths(beta, reciprocals) / np.sqrt(1.0 - used), floor)
        if np.all(np.abs(noise - before) <= 1e-6 * before) and np.linalg.norm(improved) <= _SETTLED:
            break
    _check_drives(Vt[~seen], drives, count)
    half = (Vt[seen].T / s[seen]) * scales[:, None]
    return Fit(beta, reciprocals, noise, half @ half.T, Vt[~seen], scales)


def _linearised(
    equations: LogEquations, beta: np.ndarray, reciprocals: np.ndarray, drives: tuple[int, ...], noise: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """A and b of the weighted residuals b − A δ for changes δ of (β, 1/K), those of known drives left out."""
    count = equations.count
    blocks, right = [], []
    for i, (R, sigma) in enumerate(zip(equations.triangles, noise.tolist(), strict=True)):
        block = np.zeros((len(R), count + len(drives)))
        block[:, :count] = R[:, :count] * reciprocals[i]
        if i in drives:
            block[:, count + drives.index(i)] = R[:, :count] @ beta + R[:, count]
        blocks.append(block / sigma)
        right.append(-equations.residual(i, beta, float(reciprocals[i])) / sigma)
    return np.vstack(blocks), np.concatenate(right)


def _scales(A: np.ndarray) -> np.ndarray:
    """The change of each parameter that changes the weighted efforts as much as any other's does; 0 without effect."""
    lengths = np.linalg.norm(A, axis=0)
    return np.divide(1.0, lengths, out=np.zeros_like(lengths), where=lengths > _NO_EFFECT * lengths.max(initial=0.0))


def _check_drives(unseen: np.ndarray, drives: tuple[int, ...], count: int) -> None:
    if drives and np.abs(unseen[:, count:]).max(initial=0.0) > 1e-3:
        raise InputError(
            "identify: the drive constants are known only up to a common factor: twice as large, and all "
            "parameters too, they would give the same log. Leave out of `find` the inertia of a body that is known, such as "
            "a payload"
        )


# --- Huber's loss ---------------------------------------------------------------------------------------------------------
# By modified residuals (Huber and Dutter, COMPSTAT 1974): least squares again and again of efforts whose residuals are cut
# off at a multiple of the noise, which is estimated by their median (Huber, Robust statistics, 1981, 7.8).

#: Residuals are cut off at this many standard deviations: of normal ones, 1 of 80 is longer.
BEYOND = 2.5
#: The standard deviation of normal numbers as a multiple of the median of their sizes.
_OF_MEDIAN = 1.4826
_ROUNDS_OF_WEIGHTS = 50
#: It ends when no parameter moves further than this part of its standard deviation.
_SETTLED_WEIGHTS = 1e-3

Parts = Sequence[tuple[MotionLog, States]]


def robust_fit(
    robot: Robot, unknowns: Unknowns, base: BaseParameters, parts: Parts, solved: Callable[[Parts], tuple[LogEquations, Fit]]
) -> tuple[LogEquations, Fit]:
    """The fit of least Huber loss, and the equations of the efforts that it takes for it."""
    equations, found = solved(parts)
    rows = [rows_of(robot, unknowns, base, *part) for part in parts]
    for _ in range(_ROUNDS_OF_WEIGHTS):
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
        if np.all(np.abs(found.beta - before) <= _SETTLED_WEIGHTS * np.sqrt(np.diag(found.covariance)[: len(before)])):
            break
    return equations, found


def _median(residuals: np.ndarray) -> Any:
    """The median (nv) of the sizes of residuals that are known; 0 where none is."""
    sizes = [np.abs(column[np.isfinite(column)]) for column in residuals.T]
    return np.array([np.median(own) if len(own) else 0.0 for own in sizes])
