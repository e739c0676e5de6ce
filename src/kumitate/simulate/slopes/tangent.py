"""Small motions along the degrees of freedom, from changes of coordinates; and gradients by the one from those by the other."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

from ...model import Tree
from ...model.joints import JointKind
from ...scalar import Program, Scalar, call, directional, inlined_slopes, trace

__all__ = ["displaced", "displacement", "displacements", "flat", "gathered", "spread"]


def displacement(tree: Tree, q: Sequence[Scalar], dq: Sequence[Scalar]) -> list[Scalar]:
    """The small motion ξ (nv) by which q moves at the rate dq (nq): `kinematics.rate(tree, q, ξ)` is dq."""
    pairs = ((link, link.coordinates(q), link.coordinates(dq)) for link in tree.links)
    return [part for link, at, moved in pairs for part in displaced(link.kind, at, moved)]


def displaced(kind: JointKind, q: Sequence[Scalar], dq: Sequence[Scalar]) -> list[Scalar]:
    """The same for one joint."""
    if flat(kind):
        return list(dq)
    moved: list[Scalar] = call(_moved(kind), q, q, [0.0] * kind.nq, dq)["result_dot"]
    return moved


def displacements(kind: JointKind, q: Sequence[Scalar], changes: Sequence[Sequence[Scalar]]) -> list[list[Scalar]]:
    """The same for several dq at one q, written where this is called."""
    still = [0.0] * kind.nq
    return inlined_slopes(_away(kind), (q, q), [(still, change) for change in changes])


def gathered(tree: Tree, q: Sequence[Scalar], by_q: Sequence[Scalar]) -> list[Scalar]:
    """The gradient along the degrees of freedom (nv), of one by the coordinates (nq): Eᵀ ∂L/∂q with q̇ = E v."""
    found: list[Scalar] = []
    for link in tree.links:
        own = link.coordinates(by_q)
        found += [_dot(column, own) for column in _columns(link.kind, link.coordinates(q))]
    return found


def spread(tree: Tree, q: Sequence[Scalar], by_motion: Sequence[Scalar]) -> list[Scalar]:
    """The least gradient by the coordinates (nq) with this one along the degrees of freedom (nv): E (EᵀE)⁻¹ ∂L/∂ξ.

    The columns of E are at right angles to each other for all kinds of joints.
    """
    found: list[Scalar] = []
    for link in tree.links:
        total: list[Scalar] = [0.0] * link.kind.nq
        for column, value in zip(_columns(link.kind, link.coordinates(q)), link.velocities(by_motion), strict=True):
            share = value / _dot(column, column)
            total = [a + b * share for a, b in zip(total, column, strict=True)]
        found += total
    return found


def _columns(kind: JointKind, q: Sequence[Scalar]) -> list[list[Scalar]]:
    """E of a joint: q̇ for each velocity alone."""
    return [kind.rate(q, [1.0 if i == k else 0.0 for i in range(kind.nv)]) for k in range(kind.nv)]


def _dot(a: Sequence[Scalar], b: Sequence[Scalar]) -> Scalar:
    return sum((x * y for x, y in zip(a, b, strict=True)), 0.0)


def flat(kind: JointKind) -> bool:
    """Whether small motions of a joint are changes of its coordinates."""
    return type(kind).difference is JointKind.difference


@cache
def _moved(kind: JointKind) -> Program:
    return directional(_away(kind))


@cache
def _away(kind: JointKind) -> Program:
    def away(start: Any, end: Any) -> list[Scalar]:
        return kind.difference(start, end)

    return trace(away, {"start": kind.nq, "end": kind.nq}, f"away_{kind.name}")
