"""How the joints that close loops stand and move: the two ends of each as seen from where their branches part."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..model import Chord, Closing, Place, Tree
from ..spatial import Motion, Transform

__all__ = ["chord_closing", "chord_errors", "gear_errors"]

Scalar = Any


def chord_closing(tree: Tree, q: Sequence[Scalar], v: Sequence[Scalar], chord: Chord) -> Closing:
    """What a chord allows and exerts at a state; the motion that both ends share does not enter."""
    base, follower = (tree.ancestors(place.link) for place in (chord.base, chord.follower))
    shared = {link.index for link in base} & {link.index for link in follower}
    X_CF, V_CF = _carried(q, v, [link for link in base if link.index not in shared], chord.base)
    X_CM, V_CM = _carried(q, v, [link for link in follower if link.index not in shared], chord.follower)
    X_FM = (X_CF.inverse() @ X_CM).dense()
    return chord.closure.closing(X_FM, V_CM - V_CF.to_child(X_FM))


def _carried(q: Sequence[Scalar], v: Sequence[Scalar], inwards: Sequence[Any], place: Place) -> tuple[Transform, Motion]:
    """Pose and velocity of a place, seen from where the links to it start."""
    X, V = Transform(), Motion()
    for link in reversed(inwards):
        X_PL = link.pose(q)
        X, V = (X @ X_PL).dense(), V.to_child(X_PL)
        for S, rate in zip(link.kind.subspace(link.coordinates(q)), link.velocities(v), strict=True):
            V = V + S * rate
    return (X @ place.pose).dense(), V.to_child(place.pose)


def chord_errors(tree: Tree, q: Sequence[Scalar], v: Sequence[Scalar]) -> list[tuple[Motion, Motion]]:
    """How far every chord is from closed [rad, m], and how fast it opens [rad/s, m/s]; along what it holds only."""
    found = []
    for chord in tree.chords:
        closing = chord_closing(tree, q, v, chord)
        opening = Motion()
        for T in closing.constraint:
            opening = opening + Motion(T.moment, T.force) * closing.twist.dot(T)
        found.append((closing.error, opening))
    return found


def gear_errors(tree: Tree, q: Sequence[Scalar], v: Sequence[Scalar]) -> list[tuple[Scalar, Scalar]]:
    """How far every gear's coordinates are from its relation, and how fast they leave it."""
    return [
        (
            sum((ratio * q[k] for k, ratio in gear.q_ratios), -gear.offset),
            sum((ratio * v[k] for k, ratio in gear.v_ratios), 0.0),
        )
        for gear in tree.gears
    ]
