"""The loops of a robot in a scene: the velocities that keep them closed are a subspace, in which its step is solved.

Velocities with G v = 0 are those that the orthogonal projector P = 1 − G⁺G leaves as they are. With the inertia
P M P + s (1 − P) and the Jacobians J P in place of M and J, all that impulses change stays in that subspace. It is what
Gauss's principle of least constraint gives: ½ (v − v_free)ᵀ M (v − v_free) is least among all v with G v = 0. So no solver of
contact needs to know of loops, and redundant ones, whose G has dependent rows, are as good as others (Udwadia, Kalaba 1992).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from ...compile import Kernel
from ...model import Mechanism
from ...scalar import Program
from ..stepping.equations import projection_program, seen_program
from .robot_programs import loop_program

__all__ = ["RobotLoops"]

#: Singular values of G below this part of the largest are those of dependent rows.
DEPENDENT = 1e-9


class RobotLoops:
    """What keeps the loops and couplings of one robot closed.

    Attributes:
        stay: P (size, size); resisting (size, size): the inertia of dampers and springs along loops in a step.
        driven: the rates along the degrees of freedom of loops (degrees of freedom, size).
    """

    def __init__(self, mechanism: Mechanism, size: int, kernel: Callable[[str, Callable[[], Program]], Kernel]):
        """Those of a mechanism in velocities filled up to a size; `kernel`: compiles a program, by its role."""
        self._size, self._nv = size, mechanism.nv
        self._names = [(chord.name, chord.closure.nv) for chord in mechanism.tree.chords]
        self._matrices = kernel("loops", lambda: loop_program(mechanism))
        self._closed = kernel("closed", lambda: seen_program(mechanism, projection_program(mechanism)))

    def put(self, h: float, q: np.ndarray, v: np.ndarray) -> None:
        """Computes the attributes at a state, for a step h."""
        closed, soft, resisting, self.driven = self._matrices(h, q, v)
        _, values, rows = np.linalg.svd(closed)
        fixed = rows[: np.count_nonzero(values > DEPENDENT * values[0])]
        self.stay = self._filled(np.eye(self._nv) - fixed.T @ fixed)
        self.resisting = self._filled((soft.T * resisting) @ soft)
        np.fill_diagonal(self.stay[self._nv :, self._nv :], 1.0)  # what fills up is in no loop

    def efforts(self, drives: Mapping[str, np.ndarray]) -> np.ndarray:
        """The efforts (nv) at the joints that are equal to those of drives in loops, by the loops' names."""
        if not drives:
            return np.zeros(self._nv)
        given = [drives.get(name, np.zeros(size)) for name, size in self._names]
        return np.asarray(np.concatenate(given) @ self.driven)

    def close(self, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The state with the loops closed to rounding."""
        closed_q, closed_v = self._closed(q, v)
        return closed_q, closed_v

    def _filled(self, matrix: np.ndarray) -> np.ndarray:
        filled = np.zeros((self._size, self._size))
        filled[: self._nv, : self._nv] = matrix
        return filled
