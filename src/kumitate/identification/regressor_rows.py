"""The regressor of a mechanism over many states, compiled: only entries that are not always zero are computed."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from ..compile import Kernel
from ..dynamics import FRICTION_VELOCITY, regressor
from ..model import Mechanism, Tree
from ..model.tree.base_parameters import SIZE
from ..scalar import trace


def regressor_rows(mechanism: Mechanism, q: Any, v: Any, a: Any) -> np.ndarray:
    """The matrices Y (..., nv, 10·links + 3·nv) of `dynamics.regressor` for states (..., nq), (..., nv) and accelerations."""
    tree, n = mechanism.tree, mechanism.nv
    v, a = np.asarray(v, dtype=float), np.asarray(a, dtype=float)
    links, dofs = SIZE * len(tree.links), np.arange(n)
    Y = np.zeros((*v.shape, links + 3 * n))
    rows, columns = _places(tree)
    if rows.size:
        Y[..., rows, columns] = _kernel(mechanism)(q, v, a)
    Y[..., dofs, links + dofs] = a
    Y[..., dofs, links + n + dofs] = v
    Y[..., dofs, links + 2 * n + dofs] = v / np.sqrt(v * v + FRICTION_VELOCITY**2)
    return Y


def _places(tree: Tree) -> tuple[np.ndarray, np.ndarray]:
    """The rows and columns of the entries: the force of a link is felt by the joints that carry it."""
    places = [
        (carrier.v_start + k, SIZE * link.index + j)
        for link in tree.links
        for carrier in tree.ancestors(link.index)
        for k in range(carrier.kind.nv)
        for j in range(SIZE)
    ]
    rows, columns = np.array(places, dtype=int).reshape(-1, 2).T
    return rows, columns


@lru_cache(maxsize=8)
def _kernel(mechanism: Mechanism) -> Kernel:
    """(q, v, a) → the entries at `_places`."""
    tree = mechanism.tree
    rows, columns = _places(tree)

    def page(q: Any, v: Any, a: Any) -> list[Any]:
        Y = regressor(tree, q, v, a, gravity=mechanism.gravity)
        return [Y[i][j] for i, j in zip(rows.tolist(), columns.tolist(), strict=True)]

    sizes: dict[str, int | tuple[int, ...]] = {"q": mechanism.nq, "v": mechanism.nv, "a": mechanism.nv}
    return Kernel(trace(page, sizes, f"regressor_{mechanism.name}"))
