"""A dense quadratic program, solved by ProxQP from the last solution."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...errors import InputError


class QuadraticProgram:
    """min ½ xᵀ H x + gᵀ x with A x = b and low ≤ C x ≤ high, of fixed sizes; each solution begins from the one before."""

    def __init__(self, size: int, equalities: int, inequalities: int, accuracy: float = 1e-6):
        """The program of these sizes; `accuracy`: largest residual of a solution.

        Raises:
            InputError: if ProxQP is not installed.
        """
        try:
            from proxsuite import proxqp
        except ImportError:
            raise InputError("whole-body control needs ProxQP; install it by pip install 'kumitate[qp]'") from None
        self._solver, self._begun = proxqp.dense.QP(size, equalities, inequalities), False
        self._solver.settings.eps_abs = accuracy
        self._solver.settings.initial_guess = proxqp.InitialGuess.WARM_START_WITH_PREVIOUS_RESULT
        self._solved = proxqp.QPSolverOutput.PROXQP_SOLVED

    def solve(self, H: Any, g: Any, A: Any, b: Any, C: Any, low: Any, high: Any) -> np.ndarray | None:
        """x, or None if there is no solution."""
        (self._solver.update if self._begun else self._solver.init)(H, g, A, b, C, low, high)
        self._begun = True
        self._solver.solve()
        return self._solver.results.x.copy() if self._solver.results.info.status == self._solved else None
