"""Costs of a trajectory: half the squares of residuals, with their slopes on the manifold."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..compile import Kernel
from ..kinematics import rate
from ..model import Mechanism
from ..scalar import call, directional, trace


class Residuals:
    """Residuals r(q, v, u) as a kernel of many states, with the slopes by (ξ, δv, δu): ξ moves q as `Robot.integrate` does."""

    def __init__(self, mechanism: Mechanism, function: Callable[..., Any], size: int):
        """The residuals of a function of q, v and u (arrays of scalars), which gives an array; `size`: of u."""
        shapes: dict[str, int | tuple[int, ...]] = {"q": mechanism.nq, "v": mechanism.nv, "u": size}

        def residuals(q: Any, v: Any, u: Any) -> dict[str, Any]:
            given = (np.array(list(part), dtype=object) for part in (q, v, u))
            return {"r": list(np.ravel(function(*given)))}

        moving = directional(trace(residuals, shapes, f"residuals_{mechanism.name}"))

        def along(q: Any, v: Any, u: Any, turn: Any, push: Any, pull: Any) -> dict[str, Any]:
            found = call(moving, q, v, u, rate(mechanism.tree, q, turn), push, pull)
            return {"r": list(found["r"]), "slope": list(found["r_dot"])}

        directions: dict[str, int | tuple[int, ...]] = {"turn": mechanism.nv, "push": mechanism.nv, "pull": size}
        self._kernel, self._nv = (
            Kernel(trace(along, {**shapes, **directions}, f"sloped_residuals_{mechanism.name}")),
            mechanism.nv,
        )
        self._directions = np.eye(2 * mechanism.nv + size)

    def costs(self, q: np.ndarray, v: np.ndarray, u: np.ndarray) -> np.ndarray:
        """½ |r|² of states (..., nq), (..., nv) under actions (..., size)."""
        still = (np.zeros_like(v), np.zeros_like(v), np.zeros_like(u))
        with np.errstate(over="ignore", invalid="ignore"):  # of motions that diverge
            return np.asarray(0.5 * np.sum(self._kernel(q, v, u, *still)[0] ** 2, axis=-1))

    def __call__(self, q: np.ndarray, v: np.ndarray, u: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """r (n, k) and its slopes (n, k, 2nv + size) at n states."""
        n, m, nv = len(q), len(self._directions), self._nv
        given = (np.repeat(part, m, axis=0) for part in (q, v, u))
        toward = np.tile(self._directions, (n, 1))
        r, slope = self._kernel(*given, toward[:, :nv], toward[:, nv : 2 * nv], toward[:, 2 * nv :])
        return r.reshape(n, m, -1)[:, 0], np.swapaxes(slope.reshape(n, m, -1), 1, 2)
