"""The ground's reaction to a motion, the zero-moment point (thesis 5.2, 6.2), the support polygon, and static equilibrium."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..dynamics import Wrenches, chord_closings, chord_drives, link_motions, rnea
from ..dynamics.acting import Applied
from ..dynamics.rnea import supports
from ..errors import InputError
from ..kinematics import center_of_mass, jacobian, link_poses
from ..model import Place, Tree
from ..scalar import Scalar, Scalars, is_zero
from ..spatial import Force, Transform, Vector3
from .loops import LoopEquations

_UP = (0.0, 0.0, 1.0)
_ORIGIN = (0.0, 0.0, 0.0)
#: Singular values below this fraction of the largest count as zero.
_ZERO = 1e-9


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


# --- static equilibrium ---------------------------------------------------------------------------------------------------
@dataclass(frozen=True, eq=False)
class Equilibrium:
    """The static equilibrium of a mechanism.

    Attributes:
        tau: forces of the drives (nv) [N·m, N]; zero where there is no drive.
        loops: forces (rows) of the equations of loops and couplings, as in `LoopEquations.rows`.
        holds: wrench [n; f] (6) on each held place by name: world's axes, about that place's origin.
        residual: (nv), the unbalanced force along the degrees of freedom without a drive [N·m, N].
        balanced: whether the residual is zero up to rounding.
        center_of_mass: (3) in the world [m].
        ground: [n; f] (6), the total wrench of the ground on the mechanism, about the world's origin.
        polygon: the support polygon, if contact points were given; `margin`: the distance of the center of pressure from its
            edge [m], negative outside, where the mechanism tips over.
    """

    tau: np.ndarray
    loops: np.ndarray
    holds: dict[str, np.ndarray]
    residual: np.ndarray
    balanced: bool
    center_of_mass: np.ndarray
    ground: np.ndarray
    polygon: SupportPolygon | None = None
    margin: float | None = None

    @property
    def stands(self) -> bool:
        """Whether it is balanced and does not tip over."""
        return self.balanced and (self.margin is None or self.margin >= 0.0)


def static_equilibrium(
    equations: LoopEquations,
    q: Any,
    *,
    passive: Sequence[str] = (),
    held: Sequence[str] = (),
    pressed: Mapping[str, Any] | None = None,
    wrenches: Mapping[str, Sequence[float]] | None = None,
    contacts: Any = None,
) -> Equilibrium:
    """The forces that hold a mechanism at rest; if they are not unique, those with the least squared drive forces.

    Loops, couplings, held places and springs of joints carry load as well. Contact points only determine whether the
    mechanism tips over: if nothing else carries a free body, name the bodies that stand on the ground in `held`.

    Args:
        equations: the loop equations of the mechanism (it need not have loops).
        q: coordinates (nq), closing the loops.
        passive: names of joints without a drive. A joint with six degrees of freedom to the world never has one.
        held: bodies or frames that the ground holds in all six directions.
        pressed: points (n, 3) in the world at which the ground carries bodies, without moments, by the bodies' names.
        wrenches: external [n; f] (6) by name of a body or frame: world's axes, about that place's origin.
        contacts: points (n, 3) in the world where it touches the ground; the ground is at their mean height.

    Raises:
        InputError: if a name is not that of a joint, body or frame.
    """
    mechanism = equations.mechanism
    tree, q, still = mechanism.tree, [float(x) for x in q], [0.0] * mechanism.nv
    for name in (*held, *(pressed or {}), *(wrenches or {})):
        tree.place(name, f"{mechanism.name}: a force acts on")
    applied = Wrenches(tree, wrenches) if wrenches else None
    pushed = chord_drives(tree, chord_closings(tree, q, still), {}, applied)
    load = np.array(rnea(tree, q, still, still, gravity=mechanism.gravity, wrenches=pushed))

    J_loops = equations.state(q, still).J
    J_held = [np.array(jacobian(tree, q, tree.places[name]), dtype=float) for name in held]
    J_points = [np.array(jacobian(tree, q, place), dtype=float)[3:] for place in body_points(tree, q, pressed or {})]
    J = np.vstack([J_loops.reshape(len(J_loops), tree.nv), *J_held, *J_points])
    idle = _idle(equations, passive)
    strengths = _least_drives(load, J, idle)
    left = load - J.T @ strengths
    residual = np.where(idle, left, 0.0)
    scale = np.abs(load).max(initial=0.0) + tree.mass * np.linalg.norm(mechanism.gravity) * tree.size
    ground = np.array(ground_wrench(tree, q, still, still, gravity=mechanism.gravity, wrenches=applied))
    polygon = margin = None
    if contacts is not None:
        polygon = support_polygon(contacts)
        height = float(np.mean(np.asarray(contacts, dtype=float)[:, 2])) if np.shape(contacts)[1] == 3 else 0.0
        margin = -np.inf  # where it is pulled down, or floats
        if ground[5] > 0.0:
            margin = float(polygon.margin(zero_moment_point(ground.tolist(), point=(0.0, 0.0, height))))
    rows = len(J_loops)
    wrench = strengths[rows : rows + 6 * len(held)].reshape(-1, 6)
    return Equilibrium(
        np.where(idle, 0.0, left), strengths[:rows], dict(zip(held, wrench, strict=True)), residual,
        bool(np.abs(residual).max(initial=0.0) <= 1e-9 * scale), np.array(center_of_mass(tree, q)), ground, polygon, margin,
    )  # fmt: skip


def body_points(tree: Tree, q: Sequence[float], points: Mapping[str, Any]) -> list[Place]:
    """The places on bodies that are at points (n, 3) in the world, by the bodies' names."""
    poses = link_poses(tree, q)
    links = [(tree.links[tree.places[name].link], row) for name, rows in points.items() for row in np.asarray(rows).tolist()]
    return [Place(link.index, Transform(translation=poses[link].inverse().point(Vector3(*row)))) for link, row in links]


def _idle(equations: LoopEquations, passive: Sequence[str]) -> np.ndarray:
    """Which degrees of freedom (nv) have no drive."""
    tree = equations.mechanism.tree
    links, idle = {link.name: link for link in tree.links}, np.zeros(tree.nv, dtype=bool)
    for name in passive:
        if name not in links:
            raise InputError(f"{equations.mechanism.name}: {name!r} is not a movable joint; there are {', '.join(links)}")
    floating = [link for link in tree.children(-1) if link.kind.nv == 6]
    for link in [*floating, *(links[name] for name in passive)]:
        idle[link.v_start : link.v_start + link.kind.nv] = True
    return idle


def _least_drives(load: np.ndarray, J: np.ndarray, idle: np.ndarray) -> np.ndarray:
    """The λ (rows) that carry the load where there is no drive, and minimize the forces of the drives."""
    if not J.size:
        return np.zeros(len(J))
    must, may = J[:, idle].T, J[:, ~idle].T
    small = _ZERO * float(np.linalg.norm(J, 2))
    inverse, free = _inverse(must, small)
    first = inverse @ load[idle]
    again, _ = _inverse(may @ free, small)
    return first + free @ (again @ (load[~idle] - may @ first))


def _inverse(A: np.ndarray, small: float) -> tuple[np.ndarray, np.ndarray]:
    """A⁺ and a basis of A's null space, singular values up to `small` counting as zero."""
    U, s, Vt = np.linalg.svd(A)
    rank = int((s > small).sum())
    return (Vt[:rank].T / s[:rank]) @ U[:, :rank].T, Vt[rank:].T
