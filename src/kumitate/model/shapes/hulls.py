"""Convex hulls of points, and of few of them: quickhull (Barber, Dobkin, Huhdanpaa 1996) on a grid, as a procedure.

On a grid of some 2^30 cells along the longest side it is known exactly, in integers of 64 bits, on which side of a plane points
are, so that flat sides, points on edges and points that coincide cannot break a hull.
"""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

import numpy as np

from ...errors import InputError
from ...procedure import Floats, Ints, Shaped, procedure
from .contract import Facets
from .surfaces import box_of

#: The power of two of cells that there may be along a side; and within so many points are in one plane or on one line.
_CELLS, _THIN = 30, 4.0
#: A component of a normal has 62 bits, and is multiplied as two numbers of 31.
_HALF, _LOW = 31, 2**31 - 1


class GrowingHull(NamedTuple):
    """The faces of a hull that grows, with the points beyond each in a list."""

    corners: Ints[3]  # counterclockwise seen from outside
    behind: Ints[3]  # the faces across the edges that begin at the corners
    normal: Ints[3]
    first: Ints  # the first of the points beyond a face, −1 if there is none; −2 if the face is not in use
    furthest: Ints  # of these,
    height: Floats  # and its distance times the normal's length
    seen: Ints  # the last point that the face was seen from
    faces: Ints  # to be looked at, or not in use
    rim: Ints[3]  # the edges between what a point sees and the rest: two points, and the face behind
    after: Ints  # of each point the next beyond the same face
    leaving: Ints  # of each point the new face whose edge of the rim begins there


@procedure
def _above(hull: GrowingHull, face: int, points: Ints[3], point: int) -> float:
    """How far a point is above a face, times the normal's length: rounded, with its exact sign."""
    high, low, corner = 0, 0, hull.corners[face, 0]
    for axis in range(3):
        d = points[point, axis] - points[corner, axis]
        high += d * (hull.normal[face, axis] >> _HALF)
        low += d * (hull.normal[face, axis] & _LOW)
    return float(high + (low >> _HALF)) * float(_LOW + 1) + float(low & _LOW)


@procedure
def _set(points: Ints[3], hull: GrowingHull, face: int, a: int, b: int, c: int) -> None:
    """Makes a face of three points, with nothing beyond it."""
    hull.corners[face, 0] = a
    hull.corners[face, 1] = b
    hull.corners[face, 2] = c
    for axis in range(3):
        k, m = (axis + 1) % 3, (axis + 2) % 3
        one = (points[b, k] - points[a, k]) * (points[c, m] - points[a, m])
        hull.normal[face, axis] = one - (points[b, m] - points[a, m]) * (points[c, k] - points[a, k])
    hull.first[face] = -1
    hull.seen[face] = -1
    hull.height[face] = 0.0


@procedure
def _put(points: Ints[3], hull: GrowingHull, face: int, point: int) -> bool:
    """Lists a point beyond a face if it is above it."""
    height = _above(hull, face, points, point)
    if not height > 0.0:
        return False
    hull.after[point] = hull.first[face]
    hull.first[face] = point
    if height > hull.height[face]:
        hull.height[face] = height
        hull.furthest[face] = point
    return True


@procedure
def _grow(points: Ints[3], hull: GrowingHull) -> int:
    """Grows the hull of points from four faces, a tetrahedron; returns how many were made. Those in use have `first` −1."""
    face = 0
    while face < 4:
        _set(points, hull, face, hull.corners[face, 0], hull.corners[face, 1], hull.corners[face, 2])
        face += 1
    for p in range(len(points)):
        face = 0
        while face < 4 and not _put(points, hull, face, p):
            face += 1
    made, unused, at, idle = 4, 0, 0, 0
    while idle < made:
        at = at + 1 if at + 1 < made else 0
        idle += 1
        if hull.first[at] < 0:
            continue
        idle = 0
        p = hull.furthest[at]
        pending, rims, found, looked = -1, 0, 1, 0
        hull.faces[unused] = at
        hull.seen[at] = p
        while looked < found:  # what a point sees is connected
            face = hull.faces[unused + looked]
            looked += 1
            q = hull.first[face]
            while q >= 0:
                following = hull.after[q]
                hull.after[q] = pending
                pending = q
                q = following
            hull.first[face] = -2
            k = -1
            while k < 2:
                k += 1
                other = hull.behind[face, k]
                if hull.seen[other] == p:
                    continue
                if _above(hull, other, points, p) > 0.0:
                    hull.seen[other] = p
                    hull.faces[unused + found] = other
                    found += 1
                else:
                    hull.rim[rims, 0] = hull.corners[face, k]
                    hull.rim[rims, 1] = hull.corners[face, (k + 1) % 3]
                    hull.rim[rims, 2] = other
                    rims += 1
        unused += found
        for r in range(rims):
            if unused == 0:
                hull.faces[0] = made
                unused = 1
                made += 1
            unused -= 1
            face = hull.faces[unused]
            a, b, other = hull.rim[r, 0], hull.rim[r, 1], hull.rim[r, 2]
            _set(points, hull, face, a, b, p)
            hull.behind[face, 0] = other
            for m in range(3):
                if hull.corners[other, m] == b and hull.corners[other, (m + 1) % 3] == a:
                    hull.behind[other, m] = face
            hull.leaving[a] = face
            hull.rim[r, 2] = face
        for r in range(rims):
            face, following = hull.rim[r, 2], hull.leaving[hull.rim[r, 1]]
            hull.behind[face, 1] = following
            hull.behind[following, 2] = face
        while pending >= 0:
            q = pending
            pending = hull.after[q]
            r = 0
            while r < rims and not _put(points, hull, hull.rim[r, 2], q):
                r += 1
    return made


@procedure
def _distance_squared(point: Shaped[3], triangle: Shaped[3, 3]) -> float:
    """The square of the distance from a triangle, which may be a line."""
    normal = np.cross(triangle[1] - triangle[0], triangle[2] - triangle[0])
    size, rims, inside = normal @ normal, -1.0, True
    for k in range(3):
        edge, offset = triangle[(k + 1) % 3] - triangle[k], point - triangle[k]
        inside = inside and np.cross(normal, edge) @ offset >= 0.0
        length = edge @ edge
        along = min(max(offset @ edge / length, 0.0), 1.0) if length > 0.0 else 0.0
        rest = offset - along * edge
        near = rest @ rest
        rims = near if rims < 0.0 else min(rims, near)
    height = (point - triangle[0]) @ normal
    return height * height / size if inside and size > 0.0 else rims


@procedure
def _distance(point: Shaped[3], triangles: Floats[3, 3], solid: bool) -> float:
    """The distance of a point from a hull with these faces; zero inside, if it is solid."""
    outside = not solid
    for f in range(len(triangles)):
        a = triangles[f]
        if (point - a[0]) @ np.cross(a[1] - a[0], a[2] - a[0]) > 0.0:
            outside = True
            break
    if not outside:
        return 0.0
    least = _distance_squared(point, triangles[0])
    for f in range(1, len(triangles)):
        least = min(least, _distance_squared(point, triangles[f]))
    return sqrt(least)


@procedure
def _measure(points: Floats[3], triangles: Floats[3, 3], solid: bool, few: bool, distances: Floats) -> int:
    """The first of the points that are furthest from a hull, and the distances of all; or, given upper bounds, of few more."""
    best = 0
    for p in range(len(points)):
        if distances[p] > distances[best]:
            best = p
    distances[best] = _distance(points[best], triangles, solid)
    for p in range(len(points)):
        if p != best and not (few and distances[p] < distances[best]):
            distances[p] = _distance(points[p], triangles, solid)
            if distances[p] > distances[best] or (distances[p] == distances[best] and p < best):
                best = p
    return best


# --- hulls of arrays ------------------------------------------------------------------------------------------------------
def on_one_line(points: np.ndarray) -> bool:
    """Whether points (n, 3) lie on one line, up to rounding; two points and a single one do."""
    return len(_far_apart(_on_grid(points))) < 3


def convex_hull(surface: Facets, name: str) -> Facets:
    """The convex hull; its vertices are a subset of the surface's. A flat surface has a flat hull with faces on both sides.

    An `InputError` if all vertices lie on one line; `name` is the mesh's in the message.
    """
    points = surface.vertices
    grid = _on_grid(points)
    far = _far_apart(grid)
    if len(far) < 3:
        remedy = "use a sphere, a capsule or a box instead"
        raise InputError(f"{name}: its vertices lie on one line, so that it has no hull; {remedy}")
    if len(far) == 3:
        rim = _rim(points, points[far])
        fan = np.array([[0, k, k + 1] for k in range(1, len(rim) - 1)])
        return Facets(points[rim], np.concatenate([fan, fan[:, ::-1]]))
    used, faces = _hull(grid, far)
    return Facets(points[used], faces)


def _on_grid(points: np.ndarray) -> np.ndarray:
    """The cells (n, 3) of points (n, 3), of a power of two in size: whole numbers and single precision stay as they are."""
    offsets = points - box_of(points)[0]
    return np.ascontiguousarray(np.round(np.ldexp(offsets, _CELLS - int(np.frexp(offsets.max())[1]))), dtype=np.int64)


def _far_apart(grid: np.ndarray) -> list[int]:
    """Four points far apart; three if all are in one plane, the ends of the line if they are on one, one if all are in a cell.

    The first three are counterclockwise seen from where the fourth is not.
    """
    start = int((grid * [[1, 2, 4]]).sum(axis=1).argmin())
    second = int(((grid - grid[start]).astype(float) ** 2).sum(axis=1).argmax())
    first = int(((grid - grid[second]).astype(float) ** 2).sum(axis=1).argmax())
    offsets = grid - grid[first]
    length = float(np.linalg.norm(offsets[second]))
    if length == 0.0:
        return [first]
    across = np.cross(offsets[second], offsets)
    sizes = np.linalg.norm(across.astype(float), axis=1)
    third = int(sizes.argmax())
    if sizes[third] <= _THIN * length:
        return [first, second]
    heights = offsets @ (across[third] / sizes[third])
    fourth = int(np.abs(heights).argmax())
    if abs(heights[fourth]) <= _THIN:
        return [first, second, third]
    return [first, second, third, fourth] if heights[fourth] < 0.0 else [second, first, third, fourth]


def _faces(grid: np.ndarray, far: list[int]) -> np.ndarray:
    """The faces (m, 3) of the hull of points in these cells; some corners may be within sides or edges."""
    a, b, c, d = far
    corners, behind, normal, rim = np.empty((4, 2 * len(grid) + 4, 3), np.int64)
    first, furthest, seen, faces, after, leaving = np.empty((6, len(corners)), np.int64)
    height = np.empty(len(corners))
    hull = GrowingHull(corners, behind, normal, first, furthest, height, seen, faces, rim, after, leaving)
    corners[:4], behind[:4] = [[a, b, c], [a, d, b], [b, d, c], [c, d, a]], [[1, 2, 3], [3, 2, 0], [1, 3, 0], [2, 1, 0]]
    made = _grow(grid, hull)
    return corners[:made][first[:made] == -1]


def _hull(grid: np.ndarray, far: list[int]) -> tuple[np.ndarray, np.ndarray]:
    """The points (k,) that are corners of the hull, ascending, and its faces (m, 3) by their places among these."""
    corners, faces = np.arange(len(grid)), _faces(grid, far)
    standing_out = _standing_out(grid, faces)
    left = np.flatnonzero(~standing_out & (np.bincount(faces.ravel(), minlength=len(grid)) > 0))
    if len(left) and standing_out.sum() > 3:  # of a finely rounded rim each stands out by little, all of them by more
        places = grid.astype(float)
        standing_out[left] = distances_from_hull(places[left], places[standing_out]) > _THIN
        kept = np.flatnonzero(standing_out)
        if len(far := _far_apart(grid[kept])) == 4:  # what is left of a plate a few cells thick may be flat
            corners, faces = kept, _faces(grid[kept], far)
    used = np.flatnonzero(np.bincount(faces.ravel()))
    return corners[used], np.searchsorted(used, faces)


def _standing_out(grid: np.ndarray, faces: np.ndarray) -> np.ndarray:
    """Which points (n,) stand out from their neighbours along the mean of their faces' normals, and not just by rounding."""
    edges = np.stack([grid[faces[:, (k + 1) % 3]] - grid[faces[:, k]] for k in range(3)], axis=1).astype(float)
    normals = np.cross(edges[:, 0], edges[:, 1])
    normals /= np.linalg.norm(normals, axis=1)[:, None]
    means = np.stack([np.bincount(faces.ravel(), np.repeat(n, 3), len(grid)) for n in normals.T], axis=1)
    out = -np.einsum("mkj,mkj->mk", edges, means[faces]) / np.linalg.norm(means[faces], axis=2)
    least = np.full(len(grid), np.inf)
    np.minimum.at(least, faces.ravel(), out.ravel())
    return np.isfinite(least) & (least > _THIN)


def _rim(points: np.ndarray, three: np.ndarray) -> list[int]:
    """The corners of a flat hull in order; `three` of its points (3, 3) are not on a line."""
    along = three[1] - three[0]
    across = np.cross(np.cross(along, three[2] - three[0]), along)
    return planar_hull((points - three[0]) @ np.array([along / np.linalg.norm(along), across / np.linalg.norm(across)]).T)


def planar_hull(points: np.ndarray) -> list[int]:
    """The corners of the hull of points (n, 2), counterclockwise (Andrew's monotone chain), without points on its edges."""
    numbered = [(x, y, k) for k, (x, y) in enumerate(points.tolist())]
    halves = [_half_hull(sorted(numbered, reverse=back), 1e-14 * float(np.ptp(points))) for back in (False, True)]
    return [k for half in halves for _, _, k in half[:-1]]


def _half_hull(ordered: list[tuple[float, float, int]], rounding: float) -> list[tuple[float, float, int]]:
    chain: list[tuple[float, float, int]] = []
    for x, y, k in ordered:
        while len(chain) > 1:
            (ax, ay, _), (bx, by, _) = chain[-2:]
            if (bx - ax) * (y - ay) - (by - ay) * (x - ax) > rounding * (abs(x - ax) + abs(y - ay)):
                break
            chain.pop()
        chain.append((x, y, k))
    return chain


#: Of the size of a shape: a side is flat if its points are this close to a plane, and it counts if it is this wide.
FLAT, WIDE = 1e-3, 0.1


def outermost(points: np.ndarray, most: int) -> np.ndarray:
    """The indices (k,), in ascending order, of at most `most` of the points (n, 3) whose hull approximates that of all.

    First the furthest along each axis, then the corners of flat sides across the axes, the largest side first, so that a
    foot stands on its sole: a quarter of the points; then repeatedly the point that is furthest from the hull of those taken.
    """
    ends = [int(pick(points[:, axis])) for axis in range(3) for pick in (np.argmin, np.argmax)]
    taken = list(dict.fromkeys([*ends, *_flat_corners(points)[: most // 4]]))[:most]
    points, size = np.ascontiguousarray(points), float(np.ptp(points, axis=0).max())
    bounds = np.full(len(points), np.inf)
    while len(taken) < min(most, len(points)):
        bounds[taken] = 0.0
        furthest = _measure(points, *_sides(points[taken]), True, bounds)
        if bounds[furthest] <= 1e-9 * size:
            break
        taken.append(furthest)
    return np.array(sorted(taken))


def distances_from_hull(points: np.ndarray, corners: np.ndarray) -> np.ndarray:
    """How far points (n, 3) are from the convex hull of corners (k, 3), 0 inside (n) [m]."""
    distances = np.zeros(len(points))
    _measure(np.ascontiguousarray(points), *_sides(corners), False, distances)
    return distances


def _sides(corners: np.ndarray) -> tuple[np.ndarray, bool]:
    """Triangles (m, 3, 3) that a hull consists of, and whether it is solid; a flat one and one on a line are not."""
    grid = _on_grid(corners)
    far = _far_apart(grid)
    if len(far) < 3:
        return corners[[[far[0], far[-1], far[-1]]]], False
    if len(far) == 3:
        rim = _rim(corners, corners[far])
        return corners[[[rim[0], rim[k], rim[k + 1]] for k in range(1, len(rim) - 1)]], False
    return corners[_faces(grid, far)], True


def _flat_corners(points: np.ndarray) -> list[int]:
    """The indices of up to four corners of each flat side across an axis: the furthest along its diagonals."""
    size = np.ptp(points, axis=0).max()
    found: list[tuple[float, list[int]]] = []
    for axis in range(3):
        for sign in (-1.0, 1.0):
            out = sign * points[:, axis]
            flat = np.flatnonzero(out > out.max() - FLAT * size)
            across = np.delete(points[flat], axis, axis=1)
            sides = np.ptp(across, axis=0)
            if sides.min() > WIDE * size:
                square = across / sides
                corners = [int(flat[(square @ diagonal).argmax()]) for diagonal in ((1, 1), (1, -1), (-1, 1), (-1, -1))]
                found.append((float(np.prod(sides)), corners))
    return [index for _, corners in sorted(found, key=lambda side: -side[0]) for index in corners]
