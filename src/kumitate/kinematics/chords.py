"""The kinematics of joints that close loops: the relative pose and motion of the two ends of each."""

from __future__ import annotations

from collections.abc import Sequence

from ..model import Chord, Closing, Link, Place, Tree
from ..model.tree.tree import exact
from ..scalar import Scalar, Scalars
from ..spatial import Motion, Transform


def chord_closing(tree: Tree, q: Scalars, v: Scalars, chord: Chord) -> Closing:
    """The `Closing` of a chord at a state; the motion that both ends share is left out."""
    return chord.closure.closing(*chord_motion(tree, q, v, chord))


def chord_branches(tree: Tree, chord: Chord) -> tuple[list[Link], list[Link]]:
    """The links that move only the chord's base F, and those that move only its follower M, both from the tip inwards."""
    base, follower = (tree.ancestors(place.link) for place in (chord.base, chord.follower))
    shared = {link.index for link in base} & {link.index for link in follower}
    return [link for link in base if link.index not in shared], [link for link in follower if link.index not in shared]


def chord_motion(tree: Tree, q: Scalars, v: Scalars, chord: Chord) -> tuple[Transform, Motion]:
    """The pose X_FM of a chord's follower in its base, and the velocity of M in F, in the axes of M."""
    base, follower = chord_branches(tree, chord)
    start_F, X_F, V_F = _carried(q, v, base[::-1], chord.base)
    start_M, X_M, V_M = _carried(q, v, follower[::-1], chord.follower)
    # two constant poses meet where the branches part: combining them keeps axes that are parallel in space exactly parallel
    between = exact(start_F.inverse() @ start_M)
    X_FM = (X_F.inverse() @ (between @ X_M)).dense()
    return X_FM, V_M - V_F.to_child(X_FM)


def _carried(q: Scalars, v: Scalars, branch: Sequence[Link], place: Place) -> tuple[Transform, Transform, Motion]:
    """The start of a branch of links, and the pose and velocity of a place on the last link relative to it."""
    if not branch:
        return place.pose, Transform(), Motion()
    X, V = Transform(), Motion()
    for link in branch:
        X_PL = link.motion(q) if link is branch[0] else link.pose(q)
        X, V = (X @ X_PL).dense(), V.to_child(X_PL)
        for S, rate in zip(link.kind.subspace(link.coordinates(q)), link.velocities(v), strict=True):
            V = V + S * rate
    return branch[0].placement, (X @ place.pose).dense(), V.to_child(place.pose)


def chord_errors(tree: Tree, q: Scalars, v: Scalars) -> list[tuple[Motion, Motion]]:
    """The error of every chord [rad, m] and its rate [rad/s, m/s], in the constrained directions only."""
    found = []
    for chord in tree.chords:
        closing = chord_closing(tree, q, v, chord)
        opening = closing.opening
        if opening is None:
            opening = sum((Motion(T.moment, T.force) * closing.twist.dot(T) for T in closing.constraint), Motion())
        found.append((closing.error, opening))
    return found


def gear_errors(tree: Tree, q: Scalars, v: Scalars) -> list[tuple[Scalar, Scalar]]:
    """The error of every gear's relation between coordinates, and its rate."""
    return [
        (
            sum((ratio * q[k] for k, ratio in gear.q_ratios), -gear.offset),
            sum((ratio * v[k] for k, ratio in gear.v_ratios), 0.0),
        )
        for gear in tree.gears
    ]
