"""Poses and velocities of links, Jacobians and their rates, and the center of mass."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

from ..model import Chord, Closing, Link, PerLink, Place, Tree, inward, outward
from ..model.tree.tree import exact
from ..scalar import Scalar, Scalars, is_zero, loop, maximum, table
from ..spatial import Inertia, Motion, Transform, Vector3

T = TypeVar("T")


def link_poses(tree: Tree, q: Scalars) -> PerLink[Transform]:
    """X_WL of every link L."""
    return outward(tree, lambda link, X_WP: (X_WP @ link.pose(q)).dense(), Transform())


def link_twists(tree: Tree, q: Scalars, v: Scalars) -> PerLink[Motion]:
    """V_WL_L of every link: its spatial velocity in the world, in the link's axes and at its origin (thesis eq. 2.5)."""

    def stage(link: Link, V_WP: Motion) -> Motion:
        own = zip(link.kind.subspace(link.coordinates(q)), link.velocities(v), strict=True)
        return sum((S * rate for S, rate in own), V_WP.to_child(link.pose(q)))

    return outward(tree, stage, Motion())


def place_pose(tree: Tree, poses: PerLink[Transform], place: Place) -> Transform:
    """X_WB of a frame B fixed on a link."""
    return (_of(tree, poses, place, Transform()) @ place.pose).dense()


def place_twist(tree: Tree, twists: PerLink[Motion], place: Place) -> Motion:
    """V_WB_B of a frame B fixed on a link, in the axes of B and at its origin."""
    return _of(tree, twists, place, Motion()).to_child(place.pose)


def _of(tree: Tree, values: PerLink[T], place: Place, world: T) -> T:
    return world if place.link < 0 else values[tree.links[place.link]]


def world_velocity(tree: Tree, q: Scalars, v: Scalars, place: Place) -> list[Scalar]:
    """[ω; v] (6) of a frame B fixed on a link: angular velocity and velocity of B's origin, in the axes of the world."""
    R = place_pose(tree, link_poses(tree, q), place).rotation
    twist = place_twist(tree, link_twists(tree, q, v), place)
    return [*R.rotate(twist.angular), *R.rotate(twist.linear)]


def jacobian(tree: Tree, q: Scalars, place: Place, poses: PerLink[Transform] | None = None) -> list[list[Scalar]]:
    """J (6, nv) with [ω; v] = J v, for the frame B at `place`; `poses`: of links, where they are known.

    ω is the angular velocity of B in the world [rad/s] and v the velocity of B's origin [m/s], both in the axes of the world.
    """
    poses = link_poses(tree, q) if poses is None else poses
    p_E = place_pose(tree, poses, place).translation
    columns = [Motion() for _ in range(tree.nv)]
    for link in tree.ancestors(place.link):
        X_WL = poses[link]
        for k, S in enumerate(link.kind.subspace(link.coordinates(q))):
            z, slide = X_WL.rotation.rotate(S.angular), X_WL.rotation.rotate(S.linear)  # N (25)
            columns[link.v_start + k] = Motion(z, slide + z.cross(p_E - X_WL.translation))  # N (24), angular part first
    return _rows(columns)


def jacobian_rate(tree: Tree, q: Scalars, v: Scalars, place: Place) -> list[list[Scalar]]:
    """J̇ (6, nv), the rate of `jacobian` when the mechanism moves with v."""
    poses, twists = link_poses(tree, q), link_twists(tree, q, v)
    p_E = place_pose(tree, poses, place).translation
    v_E = _point_velocity(poses, twists, tree, place, p_E)
    columns = [Motion() for _ in range(tree.nv)]
    for link in tree.ancestors(place.link):
        X_WL, R = poses[link], poses[link].rotation
        omega, v_L = R.rotate(twists[link].angular), R.rotate(twists[link].linear)
        coordinates, velocities = link.coordinates(q), link.velocities(v)
        rates = link.kind.subspace_rate(coordinates, velocities)
        for k, (S, dS) in enumerate(zip(link.kind.subspace(coordinates), rates, strict=True)):
            z, slide = R.rotate(S.angular), R.rotate(S.linear)
            z_rate = omega.cross(z) + R.rotate(dS.angular)  # N (28)
            slide_rate = omega.cross(slide) + R.rotate(dS.linear)
            lever, lever_rate = p_E - X_WL.translation, v_E - v_L  # N (27), (29)
            columns[link.v_start + k] = Motion(z_rate, slide_rate + z_rate.cross(lever) + z.cross(lever_rate))  # N (30), (31)
    return _rows(columns)


def _point_velocity(poses: Any, twists: Any, tree: Tree, place: Place, p_W: Vector3) -> Vector3:
    """Velocity in the world of the point of a link that is now at p_W."""
    if place.link < 0:
        return Vector3()
    link = tree.links[place.link]
    R, twist = poses[link].rotation, twists[link]
    return R.rotate(twist.linear) + R.rotate(twist.angular).cross(p_W - poses[link].translation)


def _rows(columns: Sequence[Motion]) -> list[list[Scalar]]:
    return [[column[i] for column in columns] for i in range(6)]


def total_mass(tree: Tree) -> Any:
    """The mass of all moving links [kg], without bodies fixed to the world; an `InputError` for a base-parameter tree."""
    tree.check_physical("total_mass")
    return sum((link.inertia.mass for link in tree.links), 0.0)


def composite_inertias(tree: Tree, q: Scalars) -> PerLink[tuple[Inertia, Inertia]]:
    """The inertia of every link with all that it carries, as one rigid body: in the link's frame, and in the parent's."""

    def compose(link: Link, children: list[tuple[Inertia, Inertia]]) -> tuple[Inertia, Inertia]:
        composite = sum((child for _, child in children), link.inertia)
        return composite, composite.to_parent(link.pose(q))

    return inward(tree, compose)


def whole_inertia(tree: Tree, q: Scalars) -> Inertia:
    """The inertia of all moving links as one rigid body, about the world's origin."""
    composites = composite_inertias(tree, q)
    return sum((composites[link][1] for link in tree.children(-1)), Inertia())


def center_of_mass(tree: Tree, q: Scalars) -> list[Scalar]:
    """The center of mass of all moving links, in the world [m] (3); the origin if the total mass is zero.

    An `InputError` for a base-parameter tree.
    """
    tree.check_physical("center_of_mass")
    mass = total_mass(tree)  # the rotational part of the whole is not used, and removed as dead code
    return [0.0 if is_zero(mass) else part / mass for part in whole_inertia(tree, q).first_moment]


# --- the support function of a body, given by points fixed on it ----------------------------------------------------------
def support_function(tree: Tree, q: Scalars, place: Place, points: Sequence[Sequence[float]], direction: Scalars) -> Scalar:
    """max d·p over the points p fixed on a frame B, for a direction d in the world [m times the length of d].

    With d = (0, 0, −1) it is minus the height of the lowest point. The points in B [m], one or more (hull vertices, markers),
    are constants of the program: a table that is processed in a loop, for any number of points.
    """
    X_WB = place_pose(tree, link_poses(tree, q), place)
    d_W = Vector3.of(direction)
    d_B = X_WB.rotation.unrotate(d_W)  # rotating one direction is cheaper than rotating all points
    columns = [table([point[axis] for point in points]) for axis in range(3)]

    def farther(i: Any, farthest: Scalar) -> tuple[Scalar, None]:
        return maximum(farthest, d_B.dot(Vector3(*(column[i] for column in columns)))), None

    first = d_B.dot(Vector3(*(column[0] for column in columns)))
    farthest, _ = loop(len(points) - 1, lambda i, best: farther(i + 1, best), first)
    return farthest + d_W.dot(X_WB.translation)


# --- joints that close loops ----------------------------------------------------------------------------------------------
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

    def total(ratios: Sequence[tuple[int, float]], x: Scalars, start: float) -> Scalar:
        return sum((ratio * x[k] for k, ratio in ratios), start)

    return [(total(gear.q_ratios, q, -gear.offset), total(gear.v_ratios, v, 0.0)) for gear in tree.gears]
