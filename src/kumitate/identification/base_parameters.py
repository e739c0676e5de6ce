"""Base parameters: the combinations of unknown parameters that the motion of a mechanism depends on, and no others."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ..model import Mechanism
from .observable import felt_by_structure
from .unknowns import NUMBERS, Unknowns, unknowns_of

#: A column that adds less than this part of its length to those before it depends on them.
_DEPENDENT = 1e-7
#: Factors below this part of the largest in their row are rounding.
_NOTHING = 1e-11
#: Parameters in the order in which they represent combinations: first moments and inertias before masses.
_RANKS = tuple(NUMBERS.index(name) for name in ("hx", "hy", "hz", "Ixx", "Izz", "Ixy", "Ixz", "Iyz", "Iyy", "mass"))


@dataclass(frozen=True)
class BaseParameters:
    """Base parameters β = G π of unknown parameters π; tau = Y π = (Y H) β.

    Attributes:
        names: of the parameter that represents each; the others that it is combined with are in `combination`.
        of: the names of the parameters π.
        G: (count, parameters), 1 for the parameter that names the combination, 0 for those that name others.
        H: (parameters, count), with G H = 1.
    """

    names: tuple[str, ...]
    of: tuple[str, ...]
    G: np.ndarray
    H: np.ndarray

    def __len__(self) -> int:
        return len(self.names)

    def combination(self, k: int) -> str:
        """The k-th of them in words, such as "link2.Izz + 0.25·link3.mass"."""
        row = self.G[k]
        parts = [(row[i], self.of[i]) for i in np.flatnonzero(row) if self.of[i] != self.names[k]]
        return self.names[k] + "".join(f" {'-' if x < 0.0 else '+'} {abs(x):.4g}·{name}" for x, name in parts)


def base_parameters(mechanism: Mechanism | Unknowns, find: tuple[str, ...] | None = None) -> BaseParameters:
    """The base parameters of a mechanism, or of some unknown parameters of it; from its structure, without a motion.

    Without `find` these are the inertias of all bodies; with names as those of `identify`, any others.

    >>> import kumitate as km
    >>> from kumitate.identification import base_parameters
    >>> len(base_parameters(km.load("double_pendulum").mechanism))
    6
    """
    return _of(mechanism if isinstance(mechanism, Unknowns) else unknowns_of(mechanism, find or ("inertia:*",)))


@lru_cache(maxsize=16)
def _of(unknowns: Unknowns) -> BaseParameters:
    tree = unknowns.mechanism.tree
    felt = felt_by_structure(tree, unknowns.mechanism.gravity)
    frictions = np.eye(2 * tree.nv)  # v and v/√(v² + ε²) are independent of all others, and of each other
    rows = np.block([[felt, np.zeros((len(felt), 2 * tree.nv))], [np.zeros((2 * tree.nv, felt.shape[1])), frictions]])
    return regrouped(rows @ unknowns.columns, unknowns)


def regrouped(rows: np.ndarray, unknowns: Unknowns) -> BaseParameters:
    """The combinations of unknown parameters that span these rows (…, parameters), each named by one of them."""
    chosen = _independent(rows, _order(unknowns))
    G = np.linalg.lstsq(rows[:, chosen], rows, rcond=None)[0] if chosen else np.zeros((0, len(unknowns.names)))
    G = np.where(np.abs(G) <= _NOTHING * np.abs(G).max(axis=1, keepdims=True, initial=1e-300), 0.0, G)
    G[:, chosen] = np.eye(len(chosen))
    H = np.zeros((len(unknowns.names), len(chosen)))
    H[chosen, range(len(chosen))] = 1.0
    return BaseParameters(tuple(unknowns.names[i] for i in chosen), unknowns.names, G, H)


def _order(unknowns: Unknowns) -> list[int]:
    """The parameters in the order in which they are taken: bodies outward, as parameters are regrouped inward."""
    names = unknowns.names
    by_body = [[10 * k + rank for rank in _RANKS] for k in range(len(unknowns.bodies))]
    return [i for own in by_body for i in own] + list(range(unknowns.inertial, len(names)))


def _independent(rows: np.ndarray, order: list[int]) -> list[int]:
    """The first columns, in this order, that do not depend on those taken before."""
    basis = np.zeros((len(rows), 0))
    chosen = []
    for i in order:
        column = rows[:, i]
        left = column - basis @ (basis.T @ column)
        left = left - basis @ (basis.T @ left)
        if np.linalg.norm(left) > _DEPENDENT * max(float(np.linalg.norm(column)), _DEPENDENT):
            basis = np.column_stack([basis, left / np.linalg.norm(left)])
            chosen.append(i)
    return sorted(chosen)
