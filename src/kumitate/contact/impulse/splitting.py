"""A step with springs at points in two parts (Lie and Trotter): all else changes velocities, then springs and weight do.

While weight and springs act, everything moves with the mean of its velocities before and after: so a body in flight keeps to
its parabola, and springs keep their energy (`compliance`), whether it touches or not. All else pushes at the start of the step,
which is symplectic. The springs of corners push where these are in the middle of the step, so that their work is of order two,
though impulses act in the posture before it.
"""

from __future__ import annotations

from ...dynamics.free_turning import lone_bodies, turned_freely
from ...model import Box, Hull, Link, PerLink, Polygon, Shape, Tree
from ...scalar import Scalar, Scalars
from ...spatial import Transform, Vector3


def before_springs(
    tree: Tree, poses: PerLink[Transform], v: Scalars, v_free: Scalars, h: Scalar, gravity: Scalars
) -> list[Scalar]:
    """The velocities (nv) from which springs at points and weight act, in the axes before the step.

    Of lone bodies, on which efforts are constant, those before the step as their own spin turns them. Of others those after it
    without contact, less what the fall of a free base adds; on a base that is held, weight bends joints and is not parted.

    Args:
        poses: X_WL of the links; v, v_free: before a step h and after it without contact; gravity: [m/s²].
    """
    found, lone = list(v_free), {link.index for link in lone_bodies(tree)}
    turned = turned_freely(tree, v, h)
    for link in tree.children(-1):
        first, end = link.v_start, link.v_start + link.kind.nv
        if link.index in lone:
            found[first:end] = [rate + more for rate, more in zip(v[first:end], turned[first:end], strict=True)]
        elif rides_free(link):
            fall = poses[link].rotation.unrotate(Vector3.of(gravity) * h)
            found[end - 3 : end] = [rate - part for rate, part in zip(found[end - 3 : end], fall, strict=True)]
    return found


def rides_free(root: Link) -> bool:
    """Whether a link that moves in the world is a free base."""
    return (root.kind.nq, root.kind.nv) == (7, 6)


def has_corners(shape: Shape) -> bool:
    """Whether a shape touches with points that are fixed to it, while others roll."""
    return isinstance(shape, (Box, Hull, Polygon))
