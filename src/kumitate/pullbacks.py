"""Vector-Jacobian products of dynamics and of steps: the gradient of a number goes back from results to what they depend on.

Every function returns its results as arrays, with a function that takes ∂L/∂result of each, of the same shapes, and returns
∂L/∂x of each argument, of their shapes. Gradients by q are those by its coordinates (nq); of a quaternion, they have no part
that would change its length. Derivatives are computed only when they are asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from .compile import Kernel
from .kinematics import gathered, spread
from .model import Mechanism
from .robot import Robot
from .scalar import trace
from .simulation import Simulation


class Pulled(NamedTuple):
    """The results of a function, and how gradients go back through it."""

    results: tuple[np.ndarray, ...]
    back: Callable[..., tuple[np.ndarray, ...]]


def forward_dynamics(robot: Robot, q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> Pulled:
    """The accelerations (..., nv) of states (..., nq) and (..., nv) with efforts at the joints (..., nv), trees and loops.

    >>> import numpy as np, kumitate as km
    >>> arm = km.load("planar_3r")
    >>> (a,), back = forward_dynamics(arm, np.zeros((5, 3)), np.zeros((5, 3)), np.ones((5, 3)))
    >>> [gradient.shape for gradient in back(np.ones((5, 3)))]
    [(5, 3), (5, 3), (5, 3)]
    """

    def back(by_a: np.ndarray) -> tuple[np.ndarray, ...]:
        found = robot.derivatives(q, v, tau)
        by_motion, by_v, by_tau = (_pulled(matrix, by_a) for matrix in (found.by_q, found.by_v, found.by_tau))
        return _Coordinates(robot.mechanism).spread(q, by_motion), by_v, by_tau

    return Pulled((robot.forward_dynamics(q, v, tau),), back)


def inverse_dynamics(robot: Robot, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> Pulled:
    """The efforts at the joints (..., nv) that give accelerations (..., nv) at states (..., nq) and (..., nv)."""

    def back(by_tau: np.ndarray) -> tuple[np.ndarray, ...]:
        found = robot.inverse_derivatives(q, v, a)
        by_motion, by_v, by_a = (_pulled(matrix, by_tau) for matrix in (found.by_q, found.by_v, found.by_a))
        return _Coordinates(robot.mechanism).spread(q, by_motion), by_v, by_a

    return Pulled((robot.inverse_dynamics(q, v, a),), back)


def rollout(
    simulation: Simulation, q: np.ndarray, v: np.ndarray, efforts: Mapping[str, np.ndarray], *, steps: int, every: int = 1
) -> Pulled:
    """The recorded states (N, R, nq) and (N, R, nv) of rows of steps from states (N, nq) and (N, nv), the start first.

    Arguments as for `Simulation.rollout`. The gradients that go back are those by q, by v, and by every one of the efforts.
    """
    motion = simulation.rollout(simulation.batch(q, v), efforts, steps=steps, every=every)
    coordinates = _Coordinates(simulation.mechanism)

    def back(by_q: np.ndarray, by_v: np.ndarray) -> tuple[np.ndarray, ...]:
        found = motion.back(coordinates.gathered(motion.q, by_q), by_v)
        shared = (found.efforts[name] for name in efforts)
        pairs = zip(shared, efforts.values(), strict=True)
        pulled = [part if part.ndim == np.ndim(given) else part.sum(axis=0) for part, given in pairs]
        return coordinates.spread(motion.q[:, 0], found.by_q), found.by_v, *pulled

    return Pulled((motion.q, motion.v), back)


def _pulled(matrix: np.ndarray, by_result: np.ndarray) -> np.ndarray:
    """Jᵀ w of every state."""
    return np.einsum("...ij,...i->...j", matrix, by_result)


class _Coordinates:
    """Gradients by the coordinates of a mechanism, and along its degrees of freedom."""

    def __init__(self, mechanism: Mechanism):
        self._mechanism, self._flat = mechanism, mechanism.nq == mechanism.nv

    def gathered(self, q: np.ndarray, by_q: np.ndarray) -> np.ndarray:
        """Along the degrees of freedom (..., nv), from those by coordinates (..., nq)."""
        return by_q if self._flat else _kernel(gathered, self._mechanism)(q, by_q)  # type: ignore[no-any-return]

    def spread(self, q: np.ndarray, by_motion: np.ndarray) -> np.ndarray:
        """By coordinates (..., nq), from those along the degrees of freedom (..., nv)."""
        return by_motion if self._flat else _kernel(spread, self._mechanism)(q, by_motion)  # type: ignore[no-any-return]


@lru_cache(maxsize=64)
def _kernel(page: Callable[..., Any], m: Mechanism) -> Kernel:
    size = m.nq if page is gathered else m.nv
    return Kernel(trace(lambda q, given: page(m.tree, q, given), {"q": m.nq, "given": size}, f"{page.__name__}_{m.name}"))
