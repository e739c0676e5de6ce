"""The equations of a log, compressed: what least squares needs of thousands of samples is a small triangle per joint.

At each sample and degree of freedom, effort = K⁻¹ (Y β + what is known). The residual of any β and K over all samples is as
long as the triangle of a QR factorisation times (β/K, 1/K, −1) (Golub, Van Loan, Matrix computations, 4th ed., 5.3).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from ..robot import Robot
from .base_parameters import BaseParameters
from .differentiate import States
from .log import Log
from .regressor_rows import regressor_rows
from .unknowns import Unknowns

__all__ = ["LogEquations", "base_rows", "equations_of"]

#: Samples that are reduced at a time.
_BLOCK = 2000


@dataclass(frozen=True)
class LogEquations:
    """The equations of all samples, by degree of freedom.

    Attributes:
        triangles: R (nv, count + 2, count + 2): |R (β/K, 1/K, −1)| is the length of the residuals, in units of the efforts.
        samples: (nv), how many there are of each.
    """

    triangles: np.ndarray
    samples: np.ndarray

    @property
    def count(self) -> int:
        """The number of base parameters."""
        return self.triangles.shape[2] - 2

    def residual(self, i: int, beta: np.ndarray, reciprocal: float) -> np.ndarray:
        """Of degree of freedom i, for 1/K."""
        return np.asarray(self.triangles[i] @ np.concatenate([beta * reciprocal, [reciprocal, -1.0]]))

    def lengths(self, beta: np.ndarray, reciprocals: np.ndarray) -> np.ndarray:
        """The root mean square (nv) of the residuals of each degree of freedom."""
        sums = [np.sum(self.residual(i, beta, x) ** 2) for i, x in enumerate(reciprocals.tolist())]
        return np.sqrt(np.array(sums) / np.maximum(self.samples, 1))

    @property
    def efforts(self) -> np.ndarray:
        """The root mean square (nv) of the efforts."""
        return np.sqrt((self.triangles[:, :, -1] ** 2).sum(axis=1) / np.maximum(self.samples, 1))

    def sizes(self, beta: np.ndarray) -> np.ndarray:
        """The size (nv) of what is added in the equations: the largest root mean square of the efforts and of their terms."""
        columns = np.sqrt((self.triangles**2).sum(axis=1) / np.maximum(self.samples, 1)[:, None])
        return np.asarray((columns * np.concatenate([np.abs(beta), [1.0, 1.0]])).max(axis=1))


def base_rows(
    robot: Robot, unknowns: Unknowns, base: BaseParameters, log: Log, states: States
) -> tuple[np.ndarray, np.ndarray]:
    """(Y H (n, nv, count), known (n, nv)): the efforts are Y H β + known, with what the model knows, springs and wrenches."""
    Y = regressor_rows(robot.mechanism, *states)
    wanted = unknowns.columns @ np.column_stack([base.H, unknowns.values])
    rows = (Y.reshape(-1, Y.shape[-1]) @ wanted).reshape(*Y.shape[:2], -1)
    modelled = robot.inverse_dynamics(*states, wrenches=dict(log.wrenches) or None)
    return rows[..., :-1], modelled - rows[..., -1]


def equations_of(robot: Robot, unknowns: Unknowns, base: BaseParameters, parts: Iterable[tuple[Log, States]]) -> LogEquations:
    """The equations of logs with their states."""
    n, size = robot.nv, len(base) + 2
    triangles, samples = np.zeros((n, size, size)), np.zeros(n, dtype=int)
    for log, states in parts:
        for start in range(0, len(log), _BLOCK):
            block = slice(start, start + _BLOCK)
            Y, known = base_rows(robot, unknowns, base, log.rows(block), States(*(part[block] for part in states)))
            rows = np.concatenate([Y, known[..., None], log.tau[block][..., None]], axis=2)
            for i in range(n):
                own = rows[~np.isnan(log.tau[block][:, i]), i]
                samples[i] += len(own)
                triangles[i] = np.linalg.qr(np.vstack([triangles[i], own]), mode="r")
    return LogEquations(triangles, samples)
