"""Ground reaction from the motion: its wrench, the rate of momentum, and the zero-moment point (thesis 5.2, 6.2).

The support polygon of a mechanism, and the distance of points from its edge.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..dynamics import link_motions
from ..dynamics.acting import Applied
from ..dynamics.rnea import supports
from ..errors import InputError
from ..model import Tree
from ..scalar import Scalar, Scalars, is_zero
from ..spatial import Force, Vector3

_UP = (0.0, 0.0, 1.0)
_ORIGIN = (0.0, 0.0, 0.0)


def ground_wrench(
    tree: Tree, q: Scalars, v: Scalars, vdot: Scalars, *, gravity: Scalars, wrenches: Applied | None = None
) -> list[Scalar]:
    """[n; f] (6), the total reaction on the mechanism: about the world's origin, in the world's axes [N·m, N].

    It is the rate of the momentum minus the weight and the external `wrenches`: the sum of contacts, and of joints and loops to
    the world. It is zero in free flight.

    Args:
        tree: of the mechanism (`Mechanism.tree`).
        q, v, vdot: coordinates (nq), velocities (nv) and accelerations (nv).
        gravity: acceleration of free fall in the world [m/s²].
        wrenches: known external forces.

    Raises:
        InputError: for a base-parameter tree, from which inertia was moved to the world.
    """
    tree.check_physical("ground_wrench")
    held = supports(tree, link_motions(tree, q, v), q, vdot, gravity=gravity, wrenches=wrenches)
    return list(sum((held[link][1] for link in tree.children(-1)), Force()))


def momentum_rate(tree: Tree, q: Scalars, v: Scalars, vdot: Scalars) -> list[Scalar]:
    """d/dt [l; p] (6) of `momentum`: about the world's origin, in the world's axes [N·m, N]; the sum of external wrenches."""
    return ground_wrench(tree, q, v, vdot, gravity=_ORIGIN)


def zero_moment_point(wrench: Scalars, *, point: Sequence[float] = _ORIGIN, normal: Sequence[float] = _UP) -> list[Scalar]:
    """The point of a plane where the moment of a wrench is along the plane's normal: p = p₀ + n × m(p₀) / n·f.

    Without a force along the normal (free flight) there is no such point, and the result is not finite.

    Args:
        wrench: [n; f] (6) about the world's origin: numbers, symbols, or arrays of one shape.
        point: p₀, any point of the plane [m]; `normal`: n, of unit length.

    >>> [round(x, 3) for x in zero_moment_point([0.0, -2.0, 0.0, 0.0, 0.0, 10.0])]  # 10 N up, applied at x = 0.2 m
    [0.2, 0.0, 0.0]
    """
    moment, force = Vector3.of(list(wrench)[:3]), Vector3.of(list(wrench)[3:6])
    origin, up = Vector3.of(point), Vector3.of(normal)
    at_plane = moment - origin.cross(force)
    pressing = up.dot(force)
    if is_zero(pressing):
        return [math.nan] * 3
    return list(origin + up.cross(at_plane) * (1.0 / pressing))


def center_of_pressure(points: Sequence[Scalars], forces: Sequence[Scalars], *, normal: Sequence[float] = _UP) -> list[Scalar]:
    """Σ p (n·f) / Σ n·f (3) of contact forces: on flat ground it coincides with the zero-moment point [m].

    Args:
        points: where the forces act (k of 3) [m]; `forces`: on the mechanism (k of 3) [N].
        normal: of the ground, n.

    >>> center_of_pressure([(0.0, 0.0, 0.0), (1.0, 0.0, 0.0)], [(0.0, 0.0, 3.0), (2.0, 0.0, 1.0)])
    [0.25, 0.0, 0.0]
    """
    up = Vector3.of(normal)
    loads = [up.dot(Vector3.of(force)) for force in forces]
    moments = sum((Vector3.of(point) * load for point, load in zip(points, loads, strict=True)), Vector3())
    return list(moments * (1.0 / sum(loads, 0.0)))


def push_force(mass: Scalar, gravity: Scalar, height: Scalar, center_x: Scalar, pressure_x: Scalar) -> Scalar:
    """The horizontal force that a standing body exerts, f_x = (m g / l)(r_cx − r_px) [N] (thesis eq. 6.5).

    Args:
        mass: m [kg]; gravity: g > 0 [m/s²]; height: l, of the push over the floor [m].
        center_x: of the center of mass, r_cx; pressure_x: of the center of pressure, r_px [m].

    >>> round(push_force(60.0, 9.81, 1.4, 0.035, 0.0), 3)
    14.715
    """
    return mass * gravity / height * (center_x - pressure_x)


@dataclass(frozen=True, eq=False)
class SupportPolygon:
    """The convex hull of contact points on horizontal ground.

    Attributes:
        vertices: (k, 2) [m], counter-clockwise as seen from above: two for points in a line, one for points that coincide.
    """

    vertices: np.ndarray

    @property
    def area(self) -> float:
        """[m²]."""
        x, y = self.vertices.T
        return 0.5 * float(np.sum(x * np.roll(y, -1) - y * np.roll(x, -1)))

    @property
    def center(self) -> np.ndarray:
        """The mean of the vertices (2) [m]: a point inside."""
        return self.vertices.mean(axis=0)

    def margin(self, points: Any) -> np.ndarray:
        """The distance (...) of points (..., 2 or 3) to the polygon's edge [m]: positive inside, negative outside.

        A third component is ignored. A line or a point has no interior.
        """
        p = np.asarray(points, dtype=float)
        if p.ndim == 0 or p.shape[-1] not in (2, 3):
            raise InputError(f"points have shape {p.shape}; they need 2 or 3 components in the last axis")
        start, end = self.vertices, np.roll(self.vertices, -1, axis=0)
        edge = end - start
        lengths = np.maximum((edge * edge).sum(axis=-1), np.finfo(float).tiny)
        reach = p[..., None, :2] - start
        along = np.clip((reach * edge).sum(axis=-1) / lengths, 0.0, 1.0)
        away = reach - along[..., None] * edge
        distance = np.sqrt((away * away).sum(axis=-1)).min(axis=-1)
        left = edge[:, 0] * reach[..., 1] - edge[:, 1] * reach[..., 0]
        inside = (left >= 0.0).all(axis=-1) & (len(self.vertices) > 2)
        return np.where(inside, distance, -distance)

    def contains(self, points: Any) -> np.ndarray:
        """Whether points (..., 2 or 3) are inside or on the edge."""
        return self.margin(points) >= 0.0


def support_polygon(points: Any) -> SupportPolygon:
    """The convex hull of contact points (n, 2 or 3) in the world [m]; heights are ignored.

    Raises:
        InputError: if there is no point, or one is not finite.

    >>> square = support_polygon([(0, 0), (1, 0), (1, 1), (0, 1), (0.5, 0.5)])
    >>> square.area, float(square.margin((0.5, 0.4))), float(square.margin((2.0, 0.5)))
    (1.0, 0.4, -1.0)
    """
    from ..model.shapes.hulls import planar_hull  # with the code of hulls of meshes

    array = np.asarray(points, dtype=float)
    if array.ndim != 2 or array.shape[0] == 0 or array.shape[1] not in (2, 3):
        raise InputError(f"contact points have shape {array.shape}; give at least one, as (n, 2) or (n, 3)")
    if not np.isfinite(array).all():
        raise InputError("a contact point is not finite; leave out those that are not in contact")
    rows = np.array(sorted(set(map(tuple, array[:, :2].tolist()))))
    if len(rows) < 3:
        return SupportPolygon(rows)
    return SupportPolygon(rows[planar_hull(rows)])
