"""The state of one joint in other programs: tables in terms of the names of our components.

Sources: Pinocchio's joint models and its URDF reader; MuJoCo's documentation of joint types and of `qvel`; Drake's of
`QuaternionFloatingJoint`, `PlanarJoint` and `UniversalJoint`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...spatial import quaternion_rotation

#: Coordinates that together are of unit length.
UNIT_VECTORS = (("qx", "qy", "qz", "qw"), ("cos", "sin"))


def quaternion_matrix(q: np.ndarray) -> np.ndarray:
    """R_AB (..., 3, 3) of unit quaternions (..., 4), x y z w, of B in A."""
    rows: Any = quaternion_rotation(list(np.moveaxis(q, -1, 0))).matrix()  # its entries are arrays
    return np.stack([np.stack(list(row), axis=-1) for row in rows], axis=-2)


def _cross_matrix(omega: np.ndarray) -> np.ndarray:
    """ω× (..., 3, 3)."""
    x, y, z = np.moveaxis(omega, -1, 0)
    o = np.zeros_like(x)
    return np.stack([np.stack(row, axis=-1) for row in ([o, -z, y], [z, o, -x], [-y, x, o])], axis=-2)


def _plane_matrix(angle: np.ndarray) -> np.ndarray:
    """The rotation matrix (..., 2, 2) of an angle (..., 1)."""
    c, s = np.cos(angle[..., 0]), np.sin(angle[..., 0])
    return np.stack([np.stack([c, -s], axis=-1), np.stack([s, c], axis=-1)], axis=-2)


def _plane_generator(omega: np.ndarray) -> np.ndarray:
    """ω× (..., 2, 2) of an angular velocity about the normal (..., 1)."""
    w = omega[..., 0]
    o = np.zeros_like(w)
    return np.stack([np.stack([o, -w], axis=-1), np.stack([w, o], axis=-1)], axis=-2)


@dataclass(frozen=True)
class Orientation:
    """The orientation of the child's frame M in the parent's F, by our components.

    Attributes:
        coordinates, rates: names of the components of the orientation of M, and of its angular velocity.
        matrix: R_FM (..., n, n) of the coordinates.
        generator: ω× (..., n, n) of the rates.
    """

    coordinates: tuple[str, ...]
    rates: tuple[str, ...]
    matrix: Callable[[np.ndarray], np.ndarray]
    generator: Callable[[np.ndarray], np.ndarray]


_SPACE = Orientation(("qx", "qy", "qz", "qw"), ("wx", "wy", "wz"), quaternion_matrix, _cross_matrix)
_PLANE = Orientation(("angle",), ("angle",), _plane_matrix, _plane_generator)


@dataclass(frozen=True)
class Layout:
    """The state of one joint in another program.

    Attributes:
        q, v: our names of the components, in their order; "cos" and "sin" stand for an angle.
        turned: velocities, vector by vector, that they give in the axes of the other frame: F's where ours are in M's
            (`to_parent`), else M's where ours are in F's.
        to_parent: see `turned`.
        orientation: of M in F, for kinds whose components depend on the axes of both; None for the others.
        in_world: whether the coordinates place the child in the world instead of in F.
    """

    q: tuple[str, ...]
    v: tuple[str, ...]
    turned: tuple[tuple[str, ...], ...] = ()
    to_parent: bool = True
    orientation: Orientation | None = None
    in_world: bool = False

    def coordinates(self, q: np.ndarray, names: Sequence[str]) -> np.ndarray:
        """Their coordinates (..., k) for ours, which have these names."""
        named = {name: q[..., i] for i, name in enumerate(names)}
        if "cos" in self.q:
            named |= {"cos": np.cos(named["angle"]), "sin": np.sin(named["angle"])}
        return np.stack([named[name] for name in self.q], axis=-1)

    def our_coordinates(self, q: np.ndarray, names: Sequence[str]) -> np.ndarray:
        """Our coordinates, with these names, for theirs (..., k); an angle from cosine and sine lies within −π…π."""
        named = {name: q[..., i] for i, name in enumerate(self.q)}
        if "cos" in self.q:
            named["angle"] = np.arctan2(named["sin"], named["cos"])
        return np.stack([named[name] for name in names], axis=-1)


#: By the name of our kind, then by their type of joint; the first type is assumed if only names are known.
Table = dict[str, dict[str, Layout]]

_ANGLE = Layout(("angle",), ("angle",))
_POSITION = Layout(("position",), ("position",))
_TWO_ANGLES = Layout(("first_angle", "second_angle"), ("first_angle", "second_angle"))
_LINEAR, _ANGULAR = ("vx", "vy", "vz"), ("wx", "wy", "wz")

PINOCCHIO: Table = {
    "revolute": {"revolute": _ANGLE, "continuous": Layout(("cos", "sin"), ("angle",))},
    "prismatic": {"prismatic": _POSITION},
    "universal": {"universal": _TWO_ANGLES},
    "spherical": {"spherical": Layout(("qx", "qy", "qz", "qw"), _ANGULAR, orientation=_SPACE)},
    # their velocity is along the axes of the child
    "planar": {
        "planar": Layout(("x", "y", "cos", "sin"), ("x", "y", "angle"), (("x", "y"),), to_parent=False, orientation=_PLANE)
    },
    "floating": {
        "floating": Layout(("x", "y", "z", "qx", "qy", "qz", "qw"), (*_LINEAR, *_ANGULAR), orientation=_SPACE),
    },
}

MUJOCO: Table = {
    "revolute": {"hinge": _ANGLE},
    "prismatic": {"slide": _POSITION},
    "spherical": {"ball": Layout(("qw", "qx", "qy", "qz"), _ANGULAR, orientation=_SPACE)},
    # the position moves along the world's axes, the orientation about the body's own
    "floating": {
        "free": Layout(
            ("x", "y", "z", "qw", "qx", "qy", "qz"), (*_LINEAR, *_ANGULAR), (_LINEAR,), orientation=_SPACE, in_world=True
        )
    },
}

DRAKE: Table = {
    "revolute": {"revolute": _ANGLE},
    "prismatic": {"prismatic": _POSITION},
    "universal": {"universal": _TWO_ANGLES},
    "planar": {"planar": Layout(("x", "y", "angle"), ("x", "y", "angle"), orientation=_PLANE)},
    # both velocities are along the axes of the parent's frame
    "floating": {
        "quaternion_floating": Layout(
            ("qw", "qx", "qy", "qz", "x", "y", "z"), (*_ANGULAR, *_LINEAR), (_LINEAR, _ANGULAR), orientation=_SPACE
        )
    },
}
