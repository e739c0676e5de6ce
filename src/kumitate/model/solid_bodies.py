"""Solid objects of even density as bodies: a box, a ball, a cylinder, a capsule, or any other shape."""

from __future__ import annotations

from collections.abc import Sequence
from math import pi
from typing import Any, NamedTuple

import numpy as np

from ..errors import InputError, needed
from .elements import Body
from .shapes import Box, Capsule, Cylinder, Ellipsoid, Geometry, Hull, Mesh, Shape, Sphere
from .values import POSITIVE, checked_number, shown


class _Solid(NamedTuple):
    """A volume [m³], its center [m], and the moments of its inertia about that per mass [m²]: a diagonal, or a matrix."""

    volume: float
    center: Sequence[float]
    moments: Any


def box(size: Sequence[float], **options: Any) -> Body:
    """A box with the edge lengths (x, y, z) [m]; options as of `solid`.

    >>> round(box((0.1, 0.2, 0.06), mass=1.2).inertia[2][2], 9)
    0.005
    """
    return solid(Box(tuple(size)), **{"name": "box", **options})  # type: ignore[arg-type]


def ball(radius: float, **options: Any) -> Body:
    """A ball of this radius [m]; options as of `solid`.

    >>> round(ball(0.1, mass=2.0).inertia[0][0], 9)
    0.008
    """
    return solid(Sphere(radius), **{"name": "ball", **options})


def cylinder(radius: float, length: float, **options: Any) -> Body:
    """A cylinder along z about its center [m]; options as of `solid`.

    >>> round(cylinder(0.2, 0.5, mass=3.0).inertia[2][2], 9)
    0.06
    """
    return solid(Cylinder(radius, length), **{"name": "cylinder", **options})


def capsule(radius: float, length: float, **options: Any) -> Body:
    """A cylinder along z with half balls at its ends, of this length without them [m]; options as of `solid`.

    >>> capsule(0.2, 0.5, mass=3.0).mass
    3.0
    """
    return solid(Capsule(radius, length), **{"name": "capsule", **options})


def solid(
    shape: Shape, *, mass: float | None = None, density: float | None = None, name: str = "", friction: float | None = None,
    color: tuple[float, float, float, float] | None = None,
) -> Body:  # fmt: skip
    """A body of even density with one shape, which is drawn and touches.

    Args:
        shape: about the body's origin; a mesh must be closed, or it is taken as solid as its convex hull.
        mass: [kg]; or density: [kg/m³].
        name: of the body; that of the kind of shape by default.
        friction: the coefficient of its own surface [1]; color: red, green, blue, opacity in 0…1.

    Raises:
        InputError: unless one of mass and density is given, for a shape without volume, or a mesh file that cannot be read.

    >>> round(solid(Sphere(0.1), density=1000.0).mass, 6)
    4.18879
    """
    owner = name or shape.kind
    if (mass is None) == (density is None):
        raise InputError(f"{owner}: give mass=… [kg] or density=… [kg/m³], one of the two")
    found = _solid(owner, shape)
    given, what = (mass, "the mass [kg]") if density is None else (density, "the density [kg/m³]")
    mass = checked_number(owner, what, given, POSITIVE, error=InputError) * (1.0 if density is None else found.volume)
    geometry = Geometry(shape, color=color, friction=friction)
    moments = mass * np.asarray(found.moments, dtype=float)
    return Body(owner, mass, found.center, moments.tolist(), (geometry,), (geometry,))


def _solid(owner: str, shape: Shape) -> _Solid:
    """The volume of a shape and how it is distributed."""
    origin = (0.0, 0.0, 0.0)
    match shape:
        case Box(size=(x, y, z)):
            return _Solid(x * y * z, origin, ((y * y + z * z) / 12, (x * x + z * z) / 12, (x * x + y * y) / 12))
        case Sphere(radius=r):
            return _Solid(4 / 3 * pi * r**3, origin, (0.4 * r * r,) * 3)
        case Ellipsoid(half_axes=(x, y, z)):
            return _Solid(4 / 3 * pi * x * y * z, origin, ((y * y + z * z) / 5, (x * x + z * z) / 5, (x * x + y * y) / 5))
        case Cylinder(radius=r, length=length):
            across = r * r / 4 + length * length / 12
            return _Solid(pi * r * r * length, origin, (across, across, r * r / 2))
        case Capsule(radius=r, length=length):
            tube, caps = pi * r * r * length, 4 / 3 * pi * r**3
            # half a ball: its center is 3/8 r from its flat side (Steiner's rule, at both ends)
            cap = 0.4 * r * r + length * length / 4 + 3 / 8 * length * r
            across = (tube * (r * r / 4 + length * length / 12) + caps * cap) / (tube + caps)
            return _Solid(tube + caps, origin, (across, across, (tube * r * r / 2 + caps * 0.4 * r * r) / (tube + caps)))
        case Mesh() | Hull():
            return _of_facets(owner, shape)
    raise InputError(
        f"{owner}: the shape is {shown(shape)}, which has no volume that is known; it must be a box, sphere, ellipsoid, "
        "cylinder, capsule, mesh or hull. Make a kumitate.Body with its mass and inertia"
    )


def _of_facets(owner: str, shape: Shape) -> _Solid:
    """That of a closed surface, or of its convex hull."""
    from .shapes.hulls import convex_hull  # with the readers of meshes

    trimesh = needed("trimesh", f"{owner}: the volume of a {shape.kind} needs the package trimesh", "mesh")
    facets = shape.facets()
    surface = trimesh.Trimesh(facets.vertices, facets.faces)
    if not surface.is_volume:
        whole = convex_hull(facets, owner)
        surface = trimesh.Trimesh(whole.vertices, whole.faces)
    found = surface.mass_properties
    if not found["volume"] > 0.0:
        raise InputError(f"{owner}: the {shape.kind} has no volume; make a kumitate.Body with its mass and inertia")
    return _Solid(float(found["volume"]), found["center_mass"].tolist(), found["inertia"] / found["mass"])
