"""A sub-chain as an articulated body, by its joint-space equations (thesis eq. 4.2-4.9; on the ground 4.14-4.20).

V̇ of the first link of a free sub-chain is one of its unknowns; M and c of (4.2) are computed by the algorithms for whole trees.
M is eliminated from the tips inward, M = Lᵀ D⁻¹ L in the order of the tree; Φ = (L⁻ᵀJᵀ)ᵀ D (L⁻ᵀJᵀ) is then (4.7) or (4.19), and
the same factors give the accelerations once the forces at handles are known (4.9, 4.32, 4.33).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ...model import PerLink, Tree, outward
from ...model.tree.subchains import Subchain
from ...scalar import Scalar, table
from ...spatial import Dense, Factors, Force, InverseInertia, Motion, dot
from ..crba import crba
from ..motion import LinkMotion, acceleration, falling, link_motions
from ..rnea import rnea
from ..wrenches import LinkForces


@dataclass(frozen=True)
class JointSpace:
    """The factored equations of a sub-chain at a state, by its own link indices. Rows run from the tips to the first link.

    Attributes:
        factors: of M.
        driven: L⁻¹ (τ − c − g).
        reaches: L⁻¹ Jᵀ of every handle, one row per velocity.
        Phi, B, between: of the body (4.7, 4.8), as in `Bodies`.
    """

    factors: Factors
    driven: tuple[Scalar, ...]
    reaches: dict[int, Dense]
    Phi: dict[int, InverseInertia]
    B: dict[int, Motion]
    between: dict[int, dict[int, Dense]]


def joint_space(
    subchain: Subchain,
    q: Sequence[Scalar],
    v: Sequence[Scalar],
    tau: Sequence[Scalar],
    pushed: Sequence[Force],
    gravity: Sequence[Scalar],
) -> JointSpace:
    """The equations of a sub-chain.

    Args:
        q, v, tau: its own; in a free sub-chain, v begins with [ω; 0] of its first link, and tau with six zeros.
        pushed: the force on every link apart from the sub-chain's own drives, in its frame and about its origin.
        gravity: for a sub-chain on the ground; zero for a free one, whose V̇ is relative to free fall.
    """
    tree = subchain.tree
    motions, still = link_motions(tree, q, v), table([0.0] * tree.nv)
    bias = rnea(tree, q, v, still, gravity=gravity, wrenches=LinkForces(dict(enumerate(pushed))))  # c + g of (4.2)
    backward = [row[::-1] for row in crba(tree, q)][::-1]
    factors = Factors.of(Dense.of(backward))
    driven = _eliminated(factors, [t - h for t, h in zip(tau, bias, strict=True)][::-1])

    def carry(link: Any, carrier: Motion) -> Motion:
        return acceleration(motions[link], carrier, link.velocities(still))

    swept = outward(tree, carry, falling(gravity))  # J̇ q̇ and free fall
    reaches = {}
    for handle in subchain.handles:
        columns = _jacobian(tree, motions, handle)  # of (4.3), (4.15)
        rows = [[column[axis] for column in reversed(columns)] for axis in range(6)]
        reaches[handle] = Dense.of(_eliminated(factors, row) for row in rows).T
    Phi, B = {}, {}
    between: dict[int, dict[int, Dense]] = {i: {} for i in reaches}
    for i, reach in reaches.items():
        scaled = Dense.of([x * d for x in row] for row, d in zip(reach.rows, factors.D, strict=True)).T
        Phi[i] = InverseInertia.of((scaled @ reach).rows)
        B[i] = swept[tree.links[i]] + Motion.of([dot(row, driven) for row in scaled.rows])
        for k in (k for k in reaches if k > i):
            between[i][k] = scaled @ reaches[k]
            between[k][i] = between[i][k].T
    return JointSpace(factors, tuple(driven), reaches, Phi, B, between)


def rates(factors: Factors, driven: Sequence[Scalar], reaches: Sequence[Dense], forces: Sequence[Force]) -> list[Scalar]:
    """[V̇; q̈] of a free sub-chain, or q̈ of a grounded one, from the forces at its handles (4.9, 4.32, 4.33)."""
    left = list(driven)
    for reach, force in zip(reaches, forces, strict=True):
        left = [a + b for a, b in zip(left, (reach @ Dense.column(force)).entries(), strict=True)]
    x: list[Scalar] = []  # from the last row up, which is the order of v
    for i in reversed(range(len(left))):
        below = sum((factors.L[j][i] * other for j, other in zip(reversed(range(i + 1, len(left))), x, strict=True)), 0.0)
        x.append(left[i] * factors.D[i] - below)
    return x


def _jacobian(tree: Tree, motions: PerLink[LinkMotion], handle: int) -> list[Motion]:
    """The columns of the Jacobian of a link, in its own axes and at its origin."""
    columns = [Motion()] * tree.nv
    moved: list[int] = []
    for link in reversed(tree.ancestors(handle)):
        X_PL, S = motions[link].X_PL, motions[link].S
        for i in moved:
            columns[i] = columns[i].to_child(X_PL)
        columns[link.v_start : link.v_start + len(S)] = S
        moved += range(link.v_start, link.v_start + len(S))
    return columns


def _eliminated(factors: Factors, b: Sequence[Scalar]) -> list[Scalar]:
    """L⁻¹ b."""
    x: list[Scalar] = []
    for value, row in zip(b, factors.L, strict=True):
        x.append(value - sum((factor * other for factor, other in zip(row, x, strict=True)), 0.0))
    return x
