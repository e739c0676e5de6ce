"""Small motions along the degrees of freedom, from changes of coordinates."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

from ...model import Tree
from ...model.joints import JointKind
from ...scalar import Program, Scalar, call, directional, trace

__all__ = ["displaced", "displacement", "flat"]


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


def flat(kind: JointKind) -> bool:
    """Whether small motions of a joint are changes of its coordinates."""
    return type(kind).difference is JointKind.difference


@cache
def _moved(kind: JointKind) -> Program:
    def away(start: Any, end: Any) -> list[Scalar]:
        return kind.difference(start, end)

    return directional(trace(away, {"start": kind.nq, "end": kind.nq}, f"away_{kind.name}"))
