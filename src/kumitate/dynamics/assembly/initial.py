"""The initial state of assembly: the links, each a rigid body with one handle, the world, and the connections between them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ...model import Chord, Closing, Link, PerLink, Tree
from ...scalar import Scalar
from ...spatial import Dense, Force, Inertia, InverseInertia, Motion, Symmetric3, Transform, Vector3, centripetal
from ..loops.constraints import velocity_terms
from ..motion import LinkMotion, falling
from ..passive import driving_force
from .bodies import Bodies, Route
from .central_tree import Prepared
from .connectivity import WORLD
from .gear_connection import GearConnection
from .joint_connection import JointConnection


def joint_of(
    ready: Prepared,
    link: Link,
    q: Sequence[Scalar],
    v: Sequence[Scalar],
    tau: Sequence[Scalar],
    bias: Motion,
    *,
    in_carrier: bool,
) -> JointConnection:
    """The joint that carries a link, closed in the link's frame; with `in_carrier` in its carrier's, if T is equal there."""
    own, carrier = link.coordinates(q), ready.carriers[link.index]
    S, T_a, T = link.kind.subspace(own), link.kind.active(own), link.kind.constraint(own)
    drive = _exerted(T_a, driving_force(link, link.velocities(tau), own, link.velocities(v)))
    if link.kind.turn is not None:
        own[link.kind.turn] = own[link.kind.turn] + link.offset
    X_FM = link.kind.transform(own)
    outer, inner = [ready.from_center(carrier, link.placement)], [ready.to_center(link.index)]
    if in_carrier and link.kind.screw_symmetric:
        inner.insert(0, X_FM)
        bias = bias.to_parent(X_FM)
    else:
        outer.append(X_FM)
    columns = Dense.columns([list(vector) for vector in S])
    routes = (Route(tuple(outer)), Route(tuple(inner)))
    return JointConnection(carrier, link.index, columns, T_a, T, link.armature, drive, bias, *routes)


def chord_of(ready: Prepared, motions: PerLink[LinkMotion], chord: Chord, closing: Closing, drive: Force) -> JointConnection:
    """A chord as a joint, closed in its frame M; `drive`: the force of its drive."""
    bias = velocity_terms(ready.tree, motions, chord, closing) * -1.0
    outer = Route((ready.from_center(chord.base.link, chord.base.pose), closing.pose))
    inner = Route((ready.from_center(chord.follower.link, chord.follower.pose),)).inverse()
    ends = (chord.base.link, chord.follower.link)
    return JointConnection(*ends, None, closing.active, closing.constraint, chord.armature, drive, bias, outer, inner)


def gears_of(tree: Tree, joints: Sequence[JointConnection]) -> list[GearConnection]:
    """The gears as connections; `joints` are indexed like the links they carry."""
    at = {link.v_start + k: (joints[link.index], k) for link in tree.links for k in range(link.kind.nv)}
    return [GearConnection.of([(*at[index], ratio) for index, ratio in gear.v_ratios]) for gear in tree.gears]


def rigid_bodies(
    ready: Prepared,
    motions: PerLink[LinkMotion],
    joints: Iterable[JointConnection],
    pushed: Sequence[Force],
    gravity: Sequence[Scalar],
) -> Bodies:
    """The single links, under the drives of joints and the external force on each at its center of mass; and the world.

    The world is immovable; its upward acceleration takes the place of gravity.
    """
    drives: dict[int, Force] = {link.index: force for link, force in zip(ready.tree.links, pushed, strict=True)}
    for joint in joints:
        for handle, force in joint.pull(list(joint.drive)).items():
            if handle != WORLD:
                drives[handle] = drives[handle] + force
    Phi, B = {WORLD: InverseInertia.immovable()}, {WORLD: falling(gravity)}
    for link in ready.tree.links:
        c, rotational = ready.centers[link.index], central_inertia(link.inertia, ready.centers[link.index])
        Phi[link.index] = InverseInertia.central(link.inertia.mass, rotational)
        B[link.index] = unheld_motion(Phi[link.index], rotational, c, motions[link].omega, drives[link.index])
    return Bodies(Phi, B, {})


def unheld_motion(Phi: InverseInertia, rotational: Symmetric3, center: Vector3, omega: Vector3, push: Force) -> Motion:
    """B (2.4) of a single link at its center of mass, under a force `push` there; `rotational`: its inertia about it."""
    push = push - Inertia(rotational=rotational).velocity_force(omega)
    return Phi.times(push) - Motion(linear=centripetal(omega, center))


def _exerted(T_a: Sequence[Force], strengths: Sequence[Scalar]) -> Force:
    total = Force()
    for T, strength in zip(T_a, strengths, strict=True):
        total = total + T * strength
    return total


def central_inertia(inertia: Inertia, c: Vector3) -> Symmetric3:
    """The rotational inertia about the center of mass; entries that are only rounding error become zero."""
    about_origin = inertia.rotational
    central = inertia.to_parent(Transform(translation=-c)).rotational
    size = 4e-16 * (about_origin.xx + about_origin.yy + about_origin.zz)
    return Symmetric3(*(0.0 if abs(x) <= size else x for x in (getattr(central, key) for key in Symmetric3.__slots__)))
