"""Solids as rows of numbers, and the points at which they touch.

Poses are a rotation R_WA row by row, then the position of A in W: W v = R v + p is `pose[0:3] @ v + pose[3]`.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from ....procedure import Floats, Ints, Shaped, procedure

#: Kinds, in the order in which pairs name them. Every kind after the first two is a sum of the same parts, so that a routine
#: for CONVEX is one for all of them.
PLANE, FIELD, SPHERE, CAPSULE, BOX, CONVEX = 0, 1, 2, 3, 4, 5
#: The number of kinds: a pair of them is the number COUNT · first + second.
COUNT = 6
#: A routine that is not compiled is reported as LACKS less the number of its pair of kinds.
LACKS = -2
#: The largest number of points of one pair.
MOST = 8


class Solids(NamedTuple):
    """Solids, one per row, each in its own frame [m].

    A convex solid is the sum (Minkowski's, of all pairs of points) of a box, an ellipsoid, the hull of some vertices and a
    ball. A capsule is a box with one edge and a ball; a cylinder is a box with one edge and an ellipsoid with two semi-axes;
    parts that a solid does not have are zeros.
    """

    kinds: Ints  # PLANE (the half space z ≤ 0), FIELD (a height field), SPHERE, CAPSULE, BOX, or CONVEX for any other
    # half edges x, y, z of the box; semi-axes x, y, z of the ellipsoid; radius of the ball; half the diagonal of the hull. Of a
    # field: lengths of a cell along x and y, ...; the first row of its triangles
    sizes: Floats[8]
    # the first of the solid's `vertices` and their number; the first of its `faces` and their number (of a field: the points
    # along x and along y)
    spans: Ints[4]
    vertices: Floats[3]  # (x, y, z), those of one hull after those of the other
    normals: Floats[4]  # of every face of a hull, its outward normal and its distance from the origin along it
    loops: Ints[2]  # of every face, the first of its `corners` and their number
    corners: Ints  # indices of vertices, within their hull, counter-clockwise as seen from outside
    routines: Ints  # of every pair of kinds the address of its routine, 0 until one is compiled


class Solid(NamedTuple):
    """One of them, where it is."""

    solids: Solids
    row: int
    pose: Shaped[4, 3]  # of its frame in the world


class Points(NamedTuple):
    """Points at which a solid A touches a solid B, one per row."""

    positions: Floats[3]  # midway between the two surfaces, in the frame in which the poses are given [m]
    normals: Floats[3]  # of unit length, from A to B
    gaps: Floats  # distance of the surfaces along the normal [m]; negative where they overlap
    features: Ints  # which corners, edges and faces meet: within one pair, a point keeps its number from step to step


@procedure
def put(out: Points, k: int, place: Shaped[3], normal: Shaped[3], gap: float, feature: int) -> None:
    """Writes a point in row k."""
    out.positions[k] = place
    out.normals[k] = normal
    out.gaps[k] = gap
    out.features[k] = feature


@procedure
def relative(pose_a: Shaped[4, 3], pose_b: Shaped[4, 3], B: Shaped[4, 3]) -> None:
    """The pose of B in the frame A."""
    B[0:3] = pose_a[0:3].T @ pose_b[0:3]
    B[3] = (pose_b[3] - pose_a[3]) @ pose_a[0:3]


@procedure
def across(v: Shaped[3], unit: Shaped[3]) -> None:
    """A unit vector across another one."""
    unit[:] = 0.0
    if abs(v[0]) < 0.6:
        unit[1], unit[2] = -v[2], v[1]
    else:
        unit[0], unit[1] = -v[1], v[0]
    unit *= 1.0 / math.sqrt(unit @ unit)
