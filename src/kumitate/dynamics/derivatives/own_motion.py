"""A joint's own velocity and acceleration, and how they change with its coordinates and velocities."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from ...model.joints import JointKind
from ...scalar import Program, Scalar, call, directional, trace
from ...spatial import Motion


@dataclass(frozen=True, slots=True)
class OwnMotion:
    """A joint's own velocity [ω; v] and acceleration [α; a] relative to its parent, in the link's axes; or their change."""

    velocity: Motion
    acceleration: Motion


def own_motion(
    kind: JointKind, q: Sequence[Scalar], v: Sequence[Scalar], vdot: Sequence[Scalar]
) -> tuple[OwnMotion, list[OwnMotion], list[OwnMotion]]:
    """The joint's own motion S v, S v̇ + Ṡ v, and its changes with each coordinate and with each velocity."""
    S = kind.subspace(q)
    if type(kind).subspace_rate is JointKind.subspace_rate:  # S is constant
        own = OwnMotion(_combined(S, v), _combined(S, vdot))
        return own, [OwnMotion(Motion(), Motion())] * kind.nv, [OwnMotion(column, Motion()) for column in S]
    along_each, program, zeros = units(kind), _relative(kind), [0.0] * kind.nv
    slopes = _relative_slopes(kind)

    def along(dq: Sequence[Scalar], dv: Sequence[Scalar]) -> OwnMotion:
        found = call(slopes, q, v, vdot, dq, dv, zeros)
        return OwnMotion(Motion.of(found["velocity_dot"]), Motion.of(found["acceleration_dot"]))

    found = call(program, q, v, vdot)
    own = OwnMotion(Motion.of(found["velocity"]), Motion.of(found["acceleration"]))
    still = [0.0] * kind.nq
    return own, [along(kind.rate(q, unit), zeros) for unit in along_each], [along(still, unit) for unit in along_each]


@cache
def _relative(kind: JointKind) -> Program:
    """(q, v, v̇) → the joint's own velocity and acceleration, for kinds whose S depends on q."""

    def relative(q: Any, v: Any, vdot: Any) -> dict[str, Any]:
        S = kind.subspace(q)
        drift = _combined(kind.subspace_rate(q, v), v)
        return {"velocity": list(_combined(S, v)), "acceleration": list(_combined(S, vdot) + drift)}

    return trace(relative, {"q": kind.nq, "v": kind.nv, "vdot": kind.nv}, f"joint_{kind.name}")


@cache
def _relative_slopes(kind: JointKind) -> Program:
    return directional(_relative(kind))


def units(kind: JointKind) -> list[list[float]]:
    return [[1.0 if i == k else 0.0 for i in range(kind.nv)] for k in range(kind.nv)]


def _combined(S: Sequence[Motion], v: Sequence[Scalar]) -> Motion:
    """S v."""
    total = Motion()
    for column, rate in zip(S, v, strict=True):
        total = total + column * rate
    return total
