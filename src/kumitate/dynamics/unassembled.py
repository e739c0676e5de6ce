"""What assembling starts from: the links, each a rigid body with one handle, the world, and the joints between them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..model import Link
from ..spatial import Dense, Force, Inertia, InverseInertia, Motion, Symmetric3, Transform, Vector3, centripetal
from .handles import Body, Route
from .order import WORLD
from .passive import driving_force
from .prepared import Prepared

__all__ = ["Joint", "joint_of", "rigid_body", "world_body"]

Scalar = Any


@dataclass(frozen=True)
class Joint:
    """What closing a joint takes, in the frame J where it is closed.

    Attributes:
        S, T_a, T: the subspaces.
        armature: along each freedom.
        drive: what the drive exerts on the child, T_a τ; it acts on both links before they are assembled.
        bias: what velocities add to the relative acceleration.
        outer, inner: the routes from the handle of the link that carries the joint to J, and from J to the child's handle.
    """

    S: Dense
    T_a: Dense
    T: Dense
    armature: tuple[Scalar, ...]
    drive: Force
    bias: Motion
    outer: Route
    inner: Route


def joint_of(
    ready: Prepared,
    link: Link,
    q: Sequence[Scalar],
    v: Sequence[Scalar],
    tau: Sequence[Scalar],
    bias: Motion,
    *,
    in_carrier: bool,
) -> Joint:
    """The joint that carries a link, closed in the link's frame; `in_carrier` in the other's, if it looks the same there."""
    own = link.coordinates(q)
    T_a = link.kind.active(own)
    S, held = _columns(link.kind.subspace(own)), _columns(link.kind.constraint(own))
    exerted = Force()
    for column, drive in zip(T_a, driving_force(link, link.velocities(tau), own, link.velocities(v)), strict=True):
        exerted = exerted + column * drive
    if link.kind.turn is not None:
        own[link.kind.turn] = own[link.kind.turn] + link.offset
    X_FM = link.kind.transform(own)
    X_CF = Transform(link.placement.rotation, link.placement.translation - ready.centers[ready.carriers[link.index]])
    outer, inner = [X_CF], [ready.to_center(link.index)]
    if in_carrier and link.kind.screw_symmetric:
        inner.insert(0, X_FM)
        bias = bias.to_parent(X_FM)
    else:
        outer.append(X_FM)
    return Joint(S, _columns(T_a), held, link.armature, exerted, bias, Route(tuple(outer)), Route(tuple(inner)))


def _columns(vectors: Sequence[Motion] | Sequence[Force]) -> Dense:
    return Dense.columns([list(vector) for vector in vectors])


def rigid_body(ready: Prepared, link: Link, omega: Vector3, joints: dict[int, Joint], pushed: Force) -> Body:
    """A single link, under its joints' drives and what pushes it at its mass centre."""
    inertia, c = link.inertia, ready.centers[link.index]
    rotational = _central(inertia, c)
    Phi = InverseInertia.central(inertia.mass, rotational)
    turning = Inertia(rotational=rotational).velocity_force(omega)
    push = pushed - turning + joints[link.index].inner.inward(joints[link.index].drive)
    for child in ready.tree.children(link.index):
        push = push - joints[child.index].outer.outward(joints[child.index].drive)
    bias = Phi.times(push) - Motion(linear=centripetal(omega, c))
    return Body({link.index: Phi}, {link.index: bias}, {})


def _central(inertia: Inertia, c: Vector3) -> Symmetric3:
    """The rotational inertia about the mass centre; entries that rounding alone left count as zero."""
    about_origin = inertia.rotational
    central = inertia.to_parent(Transform(translation=-c)).rotational
    size = 4e-16 * (about_origin.xx + about_origin.yy + about_origin.zz)
    return Symmetric3(*(0.0 if abs(x) <= size else x for x in (getattr(central, key) for key in Symmetric3.__slots__)))


def world_body(gravity: Sequence[Scalar]) -> Body:
    """The world: no force moves it; it is accelerated upwards in place of gravity."""
    falling = Motion(Vector3(), -Vector3.of(gravity))
    return Body({WORLD: InverseInertia.immovable()}, {WORLD: falling}, {})
