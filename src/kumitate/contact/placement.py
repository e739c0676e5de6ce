"""The height of a mechanism above the ground, and its placement on the ground."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import numpy as np

from ..errors import InputError
from ..kinematics import link_poses
from ..model import Mechanism
from ..model.values import checked_array, checked_number
from ..spatial import Vector3
from .pairs import FAR, touches
from .scene import Contact, contact_pairs

#: The tolerance of the lowest point's height [m], and the maximum number of moves.
_NEAR, _MOVES = 1e-13, 60
#: Bodies are as low as the lowest one up to this fraction of the mechanism's size.
_ALIKE = 0.01


def ground_gap(mechanism: Mechanism, q: Sequence[float] | np.ndarray, contact: Contact | None = None) -> float:
    """The smallest gap [m] between moving bodies and the world, at q (nq); negative where they overlap.

    `contact.pairs.FAR` if nothing is above or near the ground.

    Raises:
        InputError: if nothing can touch anything.
    """
    return min(ground_gaps(mechanism, q, contact).values(), default=FAR)


def lowest_bodies(mechanism: Mechanism, q: Sequence[float] | np.ndarray, contact: Contact | None = None) -> list[str]:
    """The names of the bodies on which the mechanism would stand at q (nq): those that are nearest to the ground.

    All whose gap is the smallest but for 1 % of the mechanism's size, such as both feet of a humanoid.

    Raises:
        InputError: if nothing can touch anything.

    >>> from kumitate.model import Body, Geometry, Joint, Sphere
    >>> ball = Body("ball", 1.0, inertia=(0.1, 0.1, 0.1), collisions=(Geometry(Sphere(0.5)),))
    >>> lowest_bodies(Mechanism("a ball", (ball,), (Joint("free", "floating", "world", "ball"),)), [0, 0, 0, 1, 0, 0, 3.0])
    ['ball']
    """
    return lowest_of(mechanism, ground_touches(mechanism, q, contact))


def lowest_of(mechanism: Mechanism, touches: Mapping[str, np.ndarray]) -> list[str]:
    """The same from where its bodies are nearest to the ground, as of `ground_touches`."""
    gaps = {name: min(FAR, float(points[:, 3].min())) for name, points in touches.items()}
    end = min(gaps.values(), default=FAR) + _ALIKE * mechanism.tree.size
    return [name for name, gap in gaps.items() if gap <= end]


def ground_gaps(mechanism: Mechanism, q: Sequence[float] | np.ndarray, contact: Contact | None) -> dict[str, float]:
    """The gap [m] between each moving body that can touch the world and the world, by name."""
    return {name: min(FAR, float(points[:, 3].min())) for name, points in ground_touches(mechanism, q, contact).items()}


def ground_touches(
    mechanism: Mechanism, q: Sequence[float] | np.ndarray, contact: Contact | None, bodies: Collection[str] | None = None
) -> dict[str, np.ndarray]:
    """Where each moving body (or of `bodies`) that can touch the world is nearest to it: rows (n, 4) of points and gaps [m]."""
    tree = mechanism.base_parameter_tree
    poses = link_poses(tree, [float(part) for part in q])
    found: dict[str, list[list[float]]] = {}
    for pair in contact_pairs(mechanism, tree, contact or Contact()):
        if pair.links[1] < 0 and (bodies is None or pair.bodies[0] in bodies):
            X_WA, X_WB = pair.poses(tree, poses)
            for touch in touches(pair.geometries[0].shape, X_WA, pair.geometries[1].shape, X_WB):
                found.setdefault(pair.bodies[0], []).append([*map(float, touch.on_b.point), float(touch.gap)])
    return {name: np.array(rows) for name, rows in found.items()}


def on_ground(
    mechanism: Mechanism, q: Sequence[float] | np.ndarray, contact: Contact | None = None, *, height: float = 0.0
) -> np.ndarray:
    """Coordinates (nq) with the mechanism moved up or down until its lowest point is `height` [m] above the ground.

    All joints that let the whole mechanism translate freely move by the same amount.

    Args:
        mechanism: that, or a robot.
        q: the coordinates (nq), otherwise unchanged; contact: with the ground, the floor z = 0 by default.

    Raises:
        InputError: if nothing moves freely, nothing can touch the ground, or no part of it is above the ground.

    >>> from kumitate.model import Body, Geometry, Joint, Sphere
    >>> ball = Body("ball", 1.0, inertia=(0.1, 0.1, 0.1), collisions=(Geometry(Sphere(0.5)),))
    >>> free = Mechanism("a ball", (ball,), (Joint("free", "floating", "world", "ball"),))
    >>> float(on_ground(free, [0, 0, 0, 1, 0, 0, 3.0])[6])
    0.5
    """
    mechanism = getattr(mechanism, "mechanism", mechanism)  # a robot will do
    moved = checked_array(mechanism.name, "q", q, (mechanism.nq,))
    height = checked_number(mechanism.name, "the height [m]", height, error=InputError)
    columns = _translations(mechanism)
    if not columns:
        raise InputError(
            f"{mechanism.name}: no joint lets it move freely, so it cannot be placed on the ground. Load its file with "
            "floating_base=True (--floating-base), or give its coordinates"
        )
    for _ in range(_MOVES):
        gap = ground_gap(mechanism, moved, contact)
        if gap >= 0.5 * FAR:
            raise InputError(
                f"{mechanism.name}: no part of it is above the ground that it is to be placed on. Move it over the ground"
            )
        if abs(gap - height) < _NEAR:
            break
        for start, up in columns:
            moved[start : start + 3] += (height - gap) * up
    return moved


def _translations(mechanism: Mechanism) -> list[tuple[int, np.ndarray]]:
    """For every free joint, the index of its x, y, z in q, and their change (3,) when it moves up by 1 m."""
    found = []
    for link in mechanism.tree.children(-1):
        names = link.kind.coordinates
        if {"x", "y", "z"} <= set(names):
            up = link.placement.rotation.unrotate(Vector3(0.0, 0.0, 1.0))
            found.append((link.q_start + names.index("x"), np.array([float(part) for part in up])))
    return found
