"""Vector-Jacobian products of dynamics and of steps: the gradient of a number goes back from results to what they depend on.

Every function returns its results as arrays, with a function that takes ∂L/∂result of each, of the same shapes, and returns
∂L/∂x of each argument, of their shapes. Gradients by q are those by its coordinates (nq); of a quaternion, they have no part
that would change its length. Derivatives are computed only when they are asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, lru_cache
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
    slopes = cache(lambda: robot.derivatives(q, v, tau)[1:])
    return Pulled((robot.forward_dynamics(q, v, tau),), lambda by_a: _pulled(robot, (q, v, tau), slopes(), by_a))


def inverse_dynamics(robot: Robot, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> Pulled:
    """The efforts at the joints (..., nv) that give accelerations (..., nv) at states (..., nq) and (..., nv)."""
    slopes = cache(lambda: robot.inverse_derivatives(q, v, a)[1:])
    return Pulled((robot.inverse_dynamics(q, v, a),), lambda by_tau: _pulled(robot, (q, v, a), slopes(), by_tau))


def rollout(
    simulation: Simulation, q: np.ndarray, v: np.ndarray, efforts: Mapping[str, np.ndarray],
    parameters: Mapping[str, np.ndarray] | None = None, *, steps: int, every: int = 1,
) -> Pulled:  # fmt: skip
    """The recorded states (..., R, nq) and (..., R, nv) of steps from states (..., nq) and (..., nv), the start first.

    Leading axes are broadcast against each other. The gradients that go back are those by q, by v, by every one of the efforts,
    and by every one of the parameters.

    Args:
        efforts: by name, (..., steps, size); parameters: of the simulation, by name, (...), or (..., targets) for a name with
            several targets.
        every: as of `Simulation.rollout`.
    """
    own = dict(parameters or {})
    cores = axes_of(simulation, efforts, own)
    given = [np.asarray(part) for part in (q, v, *efforts.values(), *own.values())]
    fronts = [part.shape[: part.ndim - core] for part, core in zip(given, cores, strict=True)]
    lead = np.broadcast_shapes(*fronts)
    flat = [
        np.broadcast_to(part, (*lead, *part.shape[len(front) :])).reshape(-1, *part.shape[len(front) :])
        for part, front in zip(given, fronts, strict=True)
    ]
    held, varied = dict(zip(efforts, flat[2:], strict=False)), dict(zip(own, flat[2 + len(efforts) :], strict=True))
    motion = simulation.rollout(simulation.batch(flat[0], flat[1], parameters=varied), held, steps=steps, every=every)
    m = simulation.mechanism

    def back(by_q: np.ndarray, by_v: np.ndarray) -> tuple[np.ndarray, ...]:
        by_q, by_v = by_q.reshape(motion.q.shape), by_v.reshape(motion.v.shape)
        found = motion.back(_turned(gathered, m, motion.q, by_q), by_v)
        by_start = _turned(spread, m, motion.q[:, 0], found.by_q)
        pulled = [by_start, found.by_v, *(found.efforts[name] for name in held), *(found.parameters[name] for name in varied)]
        return tuple(
            _summed(x.reshape(*lead, *part.shape[len(front) :]), part.shape)
            for x, part, front in zip(pulled, given, fronts, strict=True)
        )

    return Pulled((motion.q.reshape(*lead, *motion.q.shape[1:]), motion.v.reshape(*lead, *motion.v.shape[1:])), back)


def axes_of(simulation: Simulation, efforts: Iterable[str], parameters: Iterable[str]) -> list[int]:
    """How many axes of q, v, efforts and parameters of a `rollout` are not leading ones: a name of several targets has one."""
    varied = simulation.actuation.forcing.parameters
    several = {one.name for one in varied.asked if len(one.targets) > 1} if varied else set()
    return [1, 1, *(2 for _ in efforts), *(int(name in several) for name in parameters)]


def _pulled(
    robot: Robot, given: Sequence[np.ndarray], slopes: Sequence[np.ndarray], by_result: np.ndarray
) -> tuple[np.ndarray, ...]:
    """Jᵀ w of every state by (q, v, …), of the shapes that were given."""
    found = [np.einsum("...ij,...i->...j", matrix, by_result) for matrix in slopes]
    found[0] = _turned(spread, robot.mechanism, np.asarray(given[0]), found[0])
    return tuple(_summed(x, np.shape(part)) for x, part in zip(found, given, strict=True))


def _summed(gradient: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """A gradient by what was broadcast from this shape."""
    gradient = gradient.sum(axis=tuple(range(gradient.ndim - len(shape))))
    axes = tuple(k for k, size in enumerate(shape) if size == 1 != gradient.shape[k])
    return np.asarray(gradient.sum(axis=axes, keepdims=True))


def _turned(page: Callable[..., Any], m: Mechanism, q: np.ndarray, gradient: np.ndarray) -> np.ndarray:
    """Gradients along the degrees of freedom (..., nv), `gathered` from those by coordinates (..., nq); or `spread` to them."""
    return gradient if m.nq == m.nv else _kernel(page, m)(q, gradient)  # type: ignore[no-any-return]


@lru_cache(maxsize=64)
def _kernel(page: Callable[..., Any], m: Mechanism) -> Kernel:
    size = m.nq if page is gathered else m.nv
    return Kernel(trace(lambda q, given: page(m.tree, q, given), {"q": m.nq, "given": size}, f"{page.__name__}_{m.name}"))
