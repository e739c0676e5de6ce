"""A joint between the two ends of a chord, seen from one of them, and what each of its degrees of freedom does.

The formulas are derived in `chord_path`, where P, C, M, σ, d, V and A are explained.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...model import Link
from ...scalar import Scalar
from ...spatial import Motion, Transform
from .own_motion import own_motion, units


@dataclass(frozen=True, slots=True)
class ChordColumn:
    """What one degree of freedom on a chord's path does to M relative to F.

    Attributes:
        index: in v; `link`: of its joint.
        move: σ S, the motion of M; it is also the change of V with the velocity and of A with the acceleration.
        V_by_q, A_by_q, A_by_v: the changes of the twist and of the acceleration with the coordinate and with the velocity.
        slopes: σ ∂S/∂q of all degrees of freedom of the same joint, by index: how each `move` changes in the joint's axes.
    """

    index: int
    link: int
    move: Motion
    V_by_q: Motion
    A_by_q: Motion
    A_by_v: Motion
    slopes: dict[int, Motion]


@dataclass(frozen=True)
class ChordJoint:
    """A joint's own motion, seen from M; `sign`: σ; `by_q`, `by_v`: (∂w, ∂ẇ) of each degree of freedom."""

    link: Link
    sign: int
    S: list[Motion]
    twist: Motion
    rate: Motion
    by_q: list[tuple[Motion, Motion]]
    by_v: list[tuple[Motion, Motion]]
    subspace_slopes: list[list[Motion]]

    @classmethod
    def of(
        cls, link: Link, q: Sequence[Scalar], v: Sequence[Scalar], vdot: Sequence[Scalar], X_LM: Transform, sign: int
    ) -> ChordJoint:
        at = link.coordinates(q)
        own, by_q, by_v = own_motion(link.kind, at, link.velocities(v), link.velocities(vdot))
        S = [column.to_child(X_LM) for column in link.kind.subspace(at)]
        return cls(
            link, sign, S, own.velocity.to_child(X_LM), own.acceleration.to_child(X_LM),
            [(change.velocity.to_child(X_LM), change.acceleration.to_child(X_LM)) for change in by_q],
            [(column, change.acceleration.to_child(X_LM)) for column, change in zip(S, by_v, strict=True)],
            [[dS.to_child(X_LM) for dS in link.kind.subspace_rate(at, unit)] for unit in units(link.kind)],
        )  # fmt: skip

    def columns(self, V_P: Motion, V_C: Motion, A_P: Motion, beyond: Motion) -> list[ChordColumn]:
        """`beyond`: V_M − V_P."""
        found, start = [], self.link.v_start
        for k, (S, (w_q, rate_q), (w_v, rate_v)) in enumerate(zip(self.S, self.by_q, self.by_v, strict=True)):
            d = V_P.cross(S) + w_q
            A_by_q = A_P.cross(S) + d.cross(beyond) + rate_q + V_C.cross(w_q)
            A_by_v = rate_v + V_C.cross(w_v) + w_v.cross(beyond)
            slopes = {start + j: dS * float(self.sign) for j, dS in enumerate(self.subspace_slopes[k])}
            sign = float(self.sign)
            found.append(ChordColumn(start + k, self.link.index, S * sign, d * sign, A_by_q * sign, A_by_v * sign, slopes))
        return found
