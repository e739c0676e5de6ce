"""One joint of a mechanism, in our coordinates and in those of another program."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...spatial import quaternion_product
from ..tree.tree import Link
from .layouts import Layout, quaternion_matrix


@dataclass(frozen=True)
class JointOrder:
    """One joint, ours and theirs. All arrays have leading axes of a batch.

    Attributes:
        link: the joint's link, with our indices in q and v.
        name: of the joint in the other program.
        layout: of their coordinates.
        q, v: their indices in q and v.
        base: if they give the child's pose in the world: F's orientation in it (4), x y z w, and position (3).
    """

    link: Link
    name: str
    layout: Layout
    q: slice
    v: slice
    base: tuple[np.ndarray, np.ndarray] | None = None

    @property
    def our_q(self) -> slice:
        """Our indices in q."""
        return slice(self.link.q_start, self.link.q_start + self.link.kind.nq)

    @property
    def our_v(self) -> slice:
        """Our indices in v, a and tau."""
        return slice(self.link.v_start, self.link.v_start + self.link.kind.nv)

    # --- coordinates ------------------------------------------------------------------------------------------------------
    def coordinates(self, q: np.ndarray) -> np.ndarray:
        """Their coordinates (..., k) for our q (..., nq)."""
        own = q[..., self.our_q]
        if self.base is not None:
            own = _placed(*self.base, own)
        return self.layout.coordinates(own, self.link.kind.coordinates)

    def our_coordinates(self, q: np.ndarray) -> np.ndarray:
        """Our coordinates (..., k) for their q (..., nq)."""
        own = self.layout.our_coordinates(q[..., self.q], self.link.kind.coordinates)
        if self.base is not None:
            turn, shift = self.base
            back = turn * [-1.0, -1.0, -1.0, 1.0]
            own = _placed(back, -quaternion_matrix(back) @ shift, own)
        return own

    # --- velocities, accelerations, forces --------------------------------------------------------------------------------
    def velocities(self, q: np.ndarray, x: np.ndarray, v: np.ndarray | None = None) -> np.ndarray:
        """Their velocities or forces (..., k) for ours, x (..., nv), at our q; accelerations, if our velocities v are given."""
        own = x[..., self.our_v].copy()
        for columns in self._turned():
            part = own[..., columns]
            if v is not None:
                part = part + _times(self._spin(v), v[..., self.our_v][..., columns])
            own[..., columns] = _times(self._turn(q), part)
        return own[..., _places(self.layout.v, self.link.kind.velocities)]

    def our_velocities(self, q: np.ndarray, x: np.ndarray, v: np.ndarray | None = None) -> np.ndarray:
        """Our velocities or forces (..., k) for theirs, x (..., nv), at our q; accelerations, if our velocities v are given."""
        own = x[..., self.v][..., _places(self.link.kind.velocities, self.layout.v)]
        for columns in self._turned():
            part = _times(np.swapaxes(self._turn(q), -1, -2), own[..., columns])
            if v is not None:
                part = part - _times(self._spin(v), v[..., self.our_v][..., columns])
            own[..., columns] = part
        return own

    def _turned(self) -> list[list[int]]:
        return [_places(names, self.link.kind.velocities) for names in self.layout.turned]

    def _turn(self, q: np.ndarray) -> np.ndarray:
        """T (..., n, n), with x' = T x for the vectors that they give along other axes."""
        assert self.layout.orientation is not None
        places = _places(self.layout.orientation.coordinates, self.link.kind.coordinates)
        R = self.layout.orientation.matrix(q[..., self.our_q][..., places])
        if self.base is not None:
            R = quaternion_matrix(self.base[0]) @ R
        return R if self.layout.to_parent else np.swapaxes(R, -1, -2)

    def _spin(self, v: np.ndarray) -> np.ndarray:
        """Ω (..., n, n), with d/dt (T x) = T (ẋ + Ω x): ω×, or −ω× for turns from the parent to the child."""
        assert self.layout.orientation is not None
        places = _places(self.layout.orientation.rates, self.link.kind.velocities)
        spin = self.layout.orientation.generator(v[..., self.our_v][..., places])
        return spin if self.layout.to_parent else -spin


def _places(names: Sequence[str], among: Sequence[str]) -> list[int]:
    return [among.index(name) for name in names]


def _times(matrix: np.ndarray, x: np.ndarray) -> np.ndarray:
    return np.einsum("...ij,...j->...i", matrix, x)


def _placed(turn: np.ndarray, shift: np.ndarray, pose: np.ndarray) -> np.ndarray:
    """Poses (..., 7), quaternion before position, transformed from a frame to its parent."""
    product: Any = quaternion_product(list(turn), list(np.moveaxis(pose[..., :4], -1, 0)))
    position = _times(quaternion_matrix(turn), pose[..., 4:]) + shift
    return np.concatenate([np.stack(product, axis=-1), position], axis=-1)
