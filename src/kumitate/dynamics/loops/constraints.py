"""The constraint equations of chords and gears: one row per constrained direction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from ...kinematics import chord_closing, gear_errors
from ...model import Chord, Closing, PerLink, Place, Tree
from ...scalar import Scalar, absolute, is_zero, maximum
from ...spatial import Force, Motion, Vector3, centripetal
from ..motion import LinkMotion
from .line_pulls import chord_inertia


@dataclass(frozen=True)
class Row:
    """Σ on·A + Σ along·v̇ + bias = −softness·λ: the equation that determines the force λ of this row.

    Attributes:
        on: the row's unit force on links, by index (−1: the world), in their frames and about their origins.
        along: the unit force on joints, by index in v.
        bias: the part of the row's acceleration that velocities cause; `rate`, `error`: its velocity and position.
        softness: the compliance of the row to its own force; zero if rigid.
        angular: whether the row's force is a moment; `holonomic`: whether it restricts positions, not velocities alone.
        owner: name of the chord or gear; `unit`: the row's unit force on a chord's follower, in the axes of its frame M.
    """

    on: Mapping[int, Force]
    along: Mapping[int, Scalar]
    bias: Scalar
    rate: Scalar
    error: Scalar
    softness: Scalar = 0.0
    angular: bool = False
    owner: str = ""
    unit: Force = field(default_factory=Force)
    holonomic: bool = True


def chord_closings(tree: Tree, q: Sequence[Scalar], v: Sequence[Scalar]) -> list[Closing]:
    """The `Closing` of every chord: its motion and force subspaces, error and velocity at this state."""
    return [chord_closing(tree, q, v, chord) for chord in tree.chords]


def constraint_rows(
    tree: Tree, closings: Sequence[Closing], q: Sequence[Scalar], v: Sequence[Scalar], motions: PerLink[LinkMotion], *,
    implicit_step: Scalar = 0.0, resisting: Mapping[str, Sequence[Scalar]] | None = None,
) -> list[Row]:  # fmt: skip
    """The rows of all chords and gears. Armature and implicit damping along a chord's degrees of freedom give soft rows.

    `resisting`: inertia that drives add along them in such a step, by the chord's name.
    """
    rows: list[Row] = []
    for chord, closing in zip(tree.chords, closings, strict=True):
        rigid, free = chord_rows(tree, motions, chord, closing)
        rows += rigid
        drives = (resisting or {}).get(chord.name, ())
        for row, inertia in zip(free, chord_inertia(tree, chord, closing, implicit_step, drives), strict=True):
            if not is_zero(inertia):
                rows.append(replace(row, softness=1.0 / inertia))
    for gear, (error, rate) in zip(tree.gears, gear_errors(tree, q, v), strict=True):
        rows.append(Row({}, dict(gear.v_ratios), 0.0, rate, error, 0.0, True, gear.name))
    return rows


def largest_gap(tree: Tree, rows: Sequence[Row]) -> tuple[Scalar, Scalar]:
    """The largest error of any row [m] and the largest rate [m/s]; angles count times the mechanism's size."""
    error: Scalar = 0.0
    rate: Scalar = 0.0
    for row in rows:
        length = tree.size if row.angular else 1.0
        error, rate = maximum(error, absolute(row.error) * length), maximum(rate, absolute(row.rate) * length)
    return error, rate


def chord_rows(tree: Tree, motions: PerLink[LinkMotion], chord: Chord, closing: Closing) -> tuple[list[Row], list[Row]]:
    """The constraint rows of a chord, and the rows along its degrees of freedom, which are free and have no error."""
    bias = velocity_terms(tree, motions, chord, closing)

    def row(T: Force, rate: Scalar, error: Scalar, holonomic: bool = True) -> Row:
        return Row(ends(chord, closing, T), {}, bias.dot(T), rate, error, 0.0, _is_moment(T), chord.name, T, holonomic)

    rigid = [row(T, closing.twist.dot(T), closing.error.dot(T)) for T in closing.constraint[: chord.closure.holonomic_rows]]
    rigid += [row(T, closing.twist.dot(T), 0.0, False) for T in closing.constraint[chord.closure.holonomic_rows :]]
    return rigid, [row(T, 0.0, 0.0) for T in closing.active]


def ends(chord: Chord, closing: Closing, T: Force) -> dict[int, Force]:
    """The force T on M's link, and its opposite on F's."""
    if chord.base.link == chord.follower.link:
        return {}  # both ends are on one link
    back = T.to_parent(closing.pose).to_parent(chord.base.pose)
    return {chord.base.link: back * -1.0, chord.follower.link: T.to_parent(chord.follower.pose)}


def velocity_terms(tree: Tree, motions: PerLink[LinkMotion], chord: Chord, closing: Closing) -> Motion:
    """The velocity-dependent part of M's acceleration in F, without the closure's own bias; A contains that of the links."""
    at_base = chord.base.pose @ closing.pose
    omega_F, swing_F = _turning(tree, motions, Place(chord.base.link, at_base))
    omega_M, swing_M = _turning(tree, motions, chord.follower)
    omega, v = closing.velocity.angular, closing.velocity.linear
    angular = omega_F.cross(omega) * -1.0  # the relative velocity's components turn with M
    linear = swing_M - swing_F - (omega_F + omega_M).cross(v)
    return Motion(angular, linear) - closing.bias


def _turning(tree: Tree, motions: PerLink[LinkMotion], place: Place) -> tuple[Vector3, Vector3]:
    """ω of a place's link, and the acceleration ω × (ω × r) of the place relative to its link's origin, in the place's axes."""
    if place.link < 0:
        return Vector3(), Vector3()
    omega, X = motions[tree.links[place.link]].omega, place.pose
    return X.rotation.unrotate(omega), X.rotation.unrotate(centripetal(omega, X.translation))


def _is_moment(T: Force) -> bool:
    return all(is_zero(part) for part in T.force)
