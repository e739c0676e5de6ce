"""Ground reaction from the motion: its wrench, the rate of momentum, and the zero-moment point (thesis 5.2, 6.2)."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ..dynamics import link_motions
from ..dynamics.rnea import supports
from ..dynamics.wrenches import Applied
from ..model import Tree
from ..scalar import Scalar, is_zero
from ..spatial import Force, Vector3

_UP = (0.0, 0.0, 1.0)
_ORIGIN = (0.0, 0.0, 0.0)


def ground_wrench(
    tree: Tree,
    q: Sequence[Scalar],
    v: Sequence[Scalar],
    vdot: Sequence[Scalar],
    *,
    gravity: Sequence[Scalar],
    wrenches: Applied | None = None,
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


def momentum_rate(tree: Tree, q: Sequence[Scalar], v: Sequence[Scalar], vdot: Sequence[Scalar]) -> list[Scalar]:
    """d/dt [l; p] (6) of `momentum`: about the world's origin, in the world's axes [N·m, N]; the sum of external wrenches."""
    return ground_wrench(tree, q, v, vdot, gravity=_ORIGIN)


def zero_moment_point(
    wrench: Sequence[Scalar], *, point: Sequence[float] = _ORIGIN, normal: Sequence[float] = _UP
) -> list[Scalar]:
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


def center_of_pressure(
    points: Sequence[Sequence[Scalar]], forces: Sequence[Sequence[Scalar]], *, normal: Sequence[float] = _UP
) -> list[Scalar]:
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
