"""How the forces in loops and the accelerations of their rows change at fixed accelerations of joints and forces of rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ...model import Tree
from ...scalar import Scalar
from ...spatial import Motion
from .chord_joint import ChordColumn
from .chord_law import ChordLaw
from .chord_path import ChordPath
from .slopes import Matrix, zeros


class LoopSlopes(NamedTuple):
    """The derivatives, at fixed v̇ and λ, of the forces in loops (nv, nv) and of the accelerations of their rows (rows, nv)."""

    force_by_q: Matrix
    force_by_v: Matrix
    rows_by_q: Matrix
    rows_by_v: Matrix

    @classmethod
    def of(
        cls, tree: Tree, laws: Sequence[ChordLaw], paths: Sequence[ChordPath], strengths: Sequence[Scalar], count: int
    ) -> LoopSlopes:
        n = tree.nv
        found = cls(zeros(n), zeros(n), zeros(count, n), zeros(count, n))
        first = 0
        for law, path in zip(laws, paths, strict=True):
            found._add(law, path, strengths[first : first + len(law.units)], first)
            first += len(law.units)
        return found

    def _add(self, law: ChordLaw, path: ChordPath, own: Sequence[Scalar], first: int) -> None:
        force = law.force(own)
        for i in path.columns:
            by_q = law.slope(path.acceleration, own, i.move, i.V_by_q, i.A_by_q)
            by_v = law.slope(path.acceleration, own, Motion(), i.move, i.A_by_v)
            for j in path.columns:
                turned = _turned(path, i, j).dot(force) + j.move.dot(by_q[0])
                self.force_by_q[j.index][i.index] = self.force_by_q[j.index][i.index] + turned
                self.force_by_v[j.index][i.index] = self.force_by_v[j.index][i.index] + j.move.dot(by_v[0])
            for k, (of_q, of_v) in enumerate(zip(by_q[1], by_v[1], strict=True), start=first):
                self.rows_by_q[k][i.index], self.rows_by_v[k][i.index] = of_q, of_v


def _turned(path: ChordPath, i: ChordColumn, j: ChordColumn) -> Motion:
    """The change of the direction of j with the coordinate of i, seen from M."""
    own = i.slopes.get(j.index, Motion())
    turns = path.turns(i, j)
    # both moves contain their σ, and the change is that of j alone
    return own + i.move.cross(j.move) * float(turns * (1 if i.link in path.follower else -1)) if turns else own
