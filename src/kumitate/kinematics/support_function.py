"""The support function of a body, given by points fixed on it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..model import Place, Tree
from ..scalar import Scalar, loop, maximum, table
from ..spatial import Vector3
from .poses import link_poses, place_pose


def support_function(
    tree: Tree, q: Sequence[Scalar], place: Place, points: Sequence[Sequence[float]], direction: Sequence[Scalar]
) -> Scalar:
    """max d·p over the points p fixed on a frame B, for a direction d in the world [m times the length of d].

    With d = (0, 0, −1) it is minus the height of the lowest point. The points are
    constants of the program: a table that is processed in a loop, for any number of points.

    Args:
        place: the frame B.
        points: in B [m], one or more (hull vertices, markers).
        direction: d (3), in the axes of the world.
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
