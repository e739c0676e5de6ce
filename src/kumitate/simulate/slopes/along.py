"""The derivative of a step along one direction, by differentiating its program: for every integrator, and closed loops."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...compile import Kernel, found_or_traced
from ...kinematics import rate
from ...scalar import Program, call, directional, trace
from ..stepping.compiled_step import StepCode
from .tangent import displacement

__all__ = ["Along", "along_program"]


def along_program(code: StepCode, efforts: Program | None) -> Program:
    """(t, h, q, v, u, and a direction along_q, along_v, along_u) → q and v after a step, and their change in that direction.

    `efforts`: what the functions that are compiled into the step compute.
    """
    tree, nv = code.mechanism.tree, code.mechanism.nv
    both = directional(code.program, {} if efforts is None else {"efforts": efforts}, code.slopes(), iterated=True)
    size = next(array.size for array in code.program.inputs if array.name == "u")

    def along(t: Any, h: Any, q: Any, v: Any, u: Any, xi: Any, dv: Any, du: Any) -> dict[str, Any]:
        found = call(both, t, h, q, v, 0.0, u, 0.0, 0.0, rate(tree, q, xi), dv, 0.0, du)
        moved = displacement(tree, found["q"], found["q_dot"])
        return {"q": found["q"], "v": found["v"], "along_q": moved, "along_v": found["v_dot"]}

    state: dict[str, int | tuple[int, ...]] = {"t": (), "h": (), "q": tree.nq, "v": nv, "u": size}
    return trace(along, {**state, "along_q": nv, "along_v": nv, "along_u": size}, f"along_{code.program.name}")


class Along:
    """All derivatives of a step, direction by direction, side by side in one batch."""

    def __init__(self, code: StepCode, efforts: Program | None):
        key = None if efforts is not None or code.key is None else f"along {code.key}"
        self._kernel = Kernel(found_or_traced(key, lambda: along_program(code, efforts)))
        self._nv = code.mechanism.nv

    def __call__(self, t: Any, h: float, q: Any, v: Any, u: Any, columns: int) -> tuple[np.ndarray, ...]:
        """q (..., nq), v (..., nv), A (..., 2nv, 2nv) and B (..., 2nv, columns) of the first so many entries of u."""
        n, size = self._nv, u.shape[-1]
        units = np.eye(2 * n + size)[: 2 * n + columns]
        directions = [np.ascontiguousarray(part) for part in (units[:, :n], units[:, n : 2 * n], units[:, 2 * n :])]
        state = [np.asarray(t)[..., None], h, *(part[..., None, :] for part in (q, v, u))]
        q_after, v_after, by_q, by_v = self._kernel(*state, *directions)
        slopes = np.swapaxes(np.concatenate([by_q, by_v], axis=-1), -1, -2)
        return q_after[..., 0, :], v_after[..., 0, :], slopes[..., : 2 * n], slopes[..., 2 * n :]
