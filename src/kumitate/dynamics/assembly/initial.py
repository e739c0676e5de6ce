"""The initial state of assembly: the links, each a rigid body with one handle, the world, and the connections between them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ...errors import warn
from ...model import Chord, Closing, Link, PerLink, Tree
from ...model.tree.base_parameters import with_dh_frames
from ...model.tree.regular_inertias import with_regular_inertias
from ...scalar import Scalar, Scalars
from ...spatial import AxisTurn, Dense, Force, Inertia, InverseInertia, Motion, Symmetric3, Transform, Vector3, centripetal
from ..loops.constraints import velocity_terms
from ..motion import LinkMotion, falling
from ..passive import driving_force
from .connection import WORLD, Bodies, GearConnection, JointConnection, Route, carriers


@dataclass(frozen=True)
class Prepared:
    """An equivalent tree with simpler frames and invertible inertias: the same motion, but other frames and joint forces.

    Attributes:
        moved: the pose of every link's new frame in its original one, by the link's index.
        lent: inertia that was moved from a parent to the link, by the link's index.
        centers: the links' centers of mass, and the world's origin.
        carriers: the index of the link, or of the world, that carries each link.
        frail: the joints of light links between heavy ones to which no inertia could be moved.
    """

    tree: Tree
    moved: dict[int, Transform]
    lent: dict[int, Inertia]
    centers: dict[int, Vector3]
    carriers: dict[int, int]
    frail: tuple[str, ...] = ()

    def warn_of_lost_digits(self) -> None:
        """Warns if light links between heavy ones will cost digits, because inverse inertias are assembled.

        Warns:
            KumitateWarning: naming their joints.
        """
        if self.frail:
            warn(
                f"joints {', '.join(map(repr, self.frail))} carry links more than a million times lighter than links on both "
                "sides of them; the methods 'ada' and 'dca' add inverse inertias, and rounding loses as many digits as the "
                "ratio has. Use method='aba', or give these links more inertia"
            )

    def to_center(self, index: int) -> Transform:
        """The pose of a link's handle in the link's frame."""
        return Transform(translation=self.centers[index])

    def from_center(self, index: int, X_LF: Transform) -> Transform:
        """The pose of a frame F of a link, or of the world, in the frame of its handle."""
        return Transform(X_LF.rotation, X_LF.translation - self.centers[index])


def prepared(tree: Tree) -> Prepared:
    """The tree prepared for assembly: frames and inertias are moved in ways that do not change the motion.

    Raises:
        InputError: for a base-parameter tree, whose links may have no inverse inertias.
    """
    tree.check_physical("assembly by inverse inertias")
    framed = with_dh_frames(tree)
    regular = with_regular_inertias(framed)
    moved = {}
    for name, place in tree.places.items():
        if place.link != WORLD and place.link not in moved:
            X = place.pose @ framed.places[name].pose.inverse()
            R = X.rotation.matrix()
            turn = AxisTurn.by(2, _exact(math.atan2(R[1][0], R[0][0])))  # about and along its own z: see `with_dh_frames`
            moved[place.link] = Transform(turn, Vector3(0.0, 0.0, _exact(X.translation.z)))
    centers = {link.index: link.inertia.first_moment * (1.0 / link.inertia.mass) for link in regular.tree.links}
    return Prepared(regular.tree, moved, regular.lent, {WORLD: Vector3(), **centers}, carriers(tree), regular.frail)


def _exact(value: Scalar) -> float:
    """The value, or zero if it is only rounding error."""
    return 0.0 if abs(float(value)) < 1e-13 else float(value)


def joint_of(
    ready: Prepared, link: Link, q: Scalars, v: Scalars, tau: Scalars, bias: Motion, *, in_carrier: bool
) -> JointConnection:
    """The joint that carries a link, closed in the link's frame; with `in_carrier` in its carrier's, if T is equal there."""
    own, carrier = link.coordinates(q), ready.carriers[link.index]
    S, T_a, T = link.kind.subspace(own), link.kind.active(own), link.kind.constraint(own)
    strengths = driving_force(link, link.velocities(tau), own, link.velocities(v))
    drive = sum((T * strength for T, strength in zip(T_a, strengths, strict=True)), Force())
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
    ready: Prepared, motions: PerLink[LinkMotion], joints: Iterable[JointConnection], pushed: Sequence[Force], gravity: Scalars
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


def central_inertia(inertia: Inertia, c: Vector3) -> Symmetric3:
    """The rotational inertia about the center of mass; entries that are only rounding error become zero."""
    about_origin = inertia.rotational
    central = inertia.to_parent(Transform(translation=-c)).rotational
    size = 4e-16 * (about_origin.xx + about_origin.yy + about_origin.zz)
    return Symmetric3(*(0.0 if abs(x) <= size else x for x in central.entries))
