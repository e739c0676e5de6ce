"""The equations of a log, compressed: what least squares needs of thousands of samples is a small triangle per joint.

At each sample and degree of freedom, effort = K⁻¹ (Y β + what is known). The residual of any β and K over all samples is as
long as the triangle of a QR factorisation times (β/K, 1/K, −1) (Golub, Van Loan, Matrix computations, 4th ed., 5.3).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..robot import Robot
from .base_parameters import BaseParameters
from .differentiate import States
from .log import MotionLog
from .loop_base import allowed_motions, near_singular
from .regressor_rows import regressor_rows
from .unknowns import Unknowns

#: Samples that are reduced at a time.
_BLOCK = 2000


@dataclass(frozen=True)
class LogEquations:
    """The equations of all samples, by degree of freedom.

    Attributes:
        triangles: R (nv, count + 2, count + 2): |R (β/K, 1/K, −1)| is the length of the residuals, in units of the efforts.
        samples: (nv), how many there are of each.
        alike: whether all degrees of freedom have the same noise, because loops mix their equations.
    """

    triangles: np.ndarray
    samples: np.ndarray
    alike: bool = False

    @property
    def count(self) -> int:
        """The number of base parameters."""
        return self.triangles.shape[2] - 2

    def residual(self, i: int, beta: np.ndarray, reciprocal: float) -> np.ndarray:
        """Of degree of freedom i, for 1/K."""
        return np.asarray(self.triangles[i] @ np.concatenate([beta * reciprocal, [reciprocal, -1.0]]))

    def lengths(self, beta: np.ndarray, reciprocals: np.ndarray) -> np.ndarray:
        """The root mean square (nv) of the residuals of each degree of freedom."""
        sums = np.array([np.sum(self.residual(i, beta, x) ** 2) for i, x in enumerate(reciprocals.tolist())])
        if self.alike:
            sums = np.full_like(sums, sums.mean())
        return np.sqrt(sums / np.maximum(self.samples, 1))

    @property
    def efforts(self) -> np.ndarray:
        """The root mean square (nv) of the efforts."""
        return np.sqrt((self.triangles[:, :, -1] ** 2).sum(axis=1) / np.maximum(self.samples, 1))

    def sizes(self, beta: np.ndarray) -> np.ndarray:
        """The size (nv) of what is added in the equations: the largest root mean square of the efforts and of their terms."""
        columns = np.sqrt((self.triangles**2).sum(axis=1) / np.maximum(self.samples, 1)[:, None])
        return np.asarray((columns * np.concatenate([np.abs(beta), [1.0, 1.0]])).max(axis=1))


class LogRows(NamedTuple):
    """The equations of n samples: efforts = K⁻¹ (rows β + known).

    Attributes:
        rows: (n, nv, count); `known`: (n, nv), what the model knows, with springs and wrenches.
        efforts: (n, nv) [N·m, N], NaN where there is no equation.
        free: how many equations are independent.
    """

    rows: np.ndarray
    known: np.ndarray
    efforts: np.ndarray
    free: float


def rows_of(robot: Robot, unknowns: Unknowns, base: BaseParameters, log: MotionLog, states: States) -> LogRows:
    """The equations of a log; with closed loops, those along the motions that the loops allow.

    The forces λ in loops are not in the log. They do no work in such motions: the residuals Y π − tau − Jᵀ λ are projected onto
    them by P = 1 − J⁺ J, with the Jacobian J of the loops. Efforts that are unknown are left out in the same way.
    """
    Y = regressor_rows(robot.mechanism, *states)
    wanted = unknowns.columns @ np.column_stack([base.H, unknowns.values])
    rows = (Y.reshape(-1, Y.shape[-1]) @ wanted).reshape(*Y.shape[:2], -1)
    known = robot.inverse_dynamics(*states, wrenches=dict(log.wrenches) or None) - rows[..., -1]
    rows = rows[..., :-1]
    if not robot.mechanism.tree.closed:
        return LogRows(rows, known, log.tau, float(np.isfinite(log.tau).sum()))
    missing = np.isnan(log.tau)
    P = allowed_motions(robot, states.q, states.v, missing)
    efforts = np.where(missing, 0.0, log.tau)
    known, efforts = (np.einsum("nij,nj->ni", P, x) for x in (known, efforts))
    left_out = near_singular(robot, states.q, states.v)
    efforts[left_out] = np.nan
    return LogRows(P @ rows, known, efforts, float(np.trace(P[~left_out], axis1=1, axis2=2).sum()))


def equations_of(
    robot: Robot, unknowns: Unknowns, base: BaseParameters, parts: Iterable[tuple[MotionLog, States]]
) -> LogEquations:
    """The equations of logs with their states."""
    n, size, free = robot.nv, len(base) + 2, 0.0
    triangles, samples = np.zeros((n, size, size)), np.zeros(n)
    for log, states in parts:
        for start in range(0, len(log), _BLOCK):
            block = slice(start, start + _BLOCK)
            found = rows_of(robot, unknowns, base, log.rows(block), States(*(part[block] for part in states)))
            together = np.concatenate([found.rows, found.known[..., None], found.efforts[..., None]], axis=2)
            free += found.free
            for i in range(n):
                own = together[np.isfinite(found.efforts[:, i]), i]
                samples[i] += len(own)
                triangles[i] = np.linalg.qr(np.vstack([triangles[i], own]), mode="r")
    closed = robot.mechanism.tree.closed
    return LogEquations(triangles, np.full(n, free / max(n, 1)) if closed else samples, closed)
