"""The free bodies of a scene as rows, among the coordinates and velocities of a whole mechanism."""

from __future__ import annotations

import numpy as np

from ...contact.scenes.parts import free_links
from ...model import Mechanism


class FreeRows:
    """Where the coordinates and velocities of free bodies stand; rows of links of robots are not used.

    Attributes:
        links: the numbers of the free bodies; q (links, 7), v (links, 6): where theirs stand in those of the mechanism.
    """

    def __init__(self, mechanism: Mechanism):
        links, q, v = mechanism.tree.links, range(mechanism.nq), range(mechanism.nv)
        self.links, self._count = free_links(mechanism), len(links)
        self.q = np.array([links[k].coordinates(q) for k in self.links], dtype=np.int64).reshape(-1, 7)
        self.v = np.array([links[k].velocities(v) for k in self.links], dtype=np.int64).reshape(-1, 6)

    def of(self, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Rows (links of the mechanism, 7) and (…, 6) of a state (nq), (nv)."""
        rows = np.zeros((self._count, 7)), np.zeros((self._count, 6))
        self.take(q, v, *rows)
        return rows

    def take(self, q: np.ndarray, v: np.ndarray, rows_q: np.ndarray, rows_v: np.ndarray) -> None:
        """Writes a state into rows."""
        rows_q[self.links], rows_v[self.links] = q[self.q], v[self.v]

    def give(self, rows_q: np.ndarray, rows_v: np.ndarray, q: np.ndarray, v: np.ndarray) -> None:
        """Writes rows into a state."""
        q[self.q], v[self.v] = rows_q[self.links], rows_v[self.links]

    def put_efforts(self, tau: np.ndarray, efforts: np.ndarray) -> None:
        """Writes the efforts (nv) of a mechanism on its free bodies to rows."""
        efforts[self.links] = tau[self.v]
