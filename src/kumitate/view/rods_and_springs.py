"""Rods of fixed length and springs between two points as additional bodies of a drawing."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..model import KINDS, WORLD, Body, Capsule, Cylinder, Distance, Geometry, Joint, Line, Loop, Mechanism, Sphere
from ..spatial import pose

_ROD, _TUBE, _CORE = (0.45, 0.47, 0.50, 1.0), (0.72, 0.25, 0.32, 1.0), (0.80, 0.81, 0.83, 1.0)
_THIN = 0.01


def with_struts(mechanism: Mechanism, poses: np.ndarray) -> tuple[Mechanism, np.ndarray]:
    """The mechanism with one more body for each rod and two for each spring, a tube and a core; and the poses of all.

    For drawing only: the added bodies have no mass.

    Args:
        poses: X_WB (m, bodies, 4, 4).
    """
    places = {WORLD: np.broadcast_to(np.eye(4), (len(poses), 4, 4))}
    places |= {body.name: poses[:, k] for k, body in enumerate(mechanism.bodies)}
    bodies, added = [], []
    for loop in mechanism.loops:
        if isinstance(loop.kind, Distance | Line):
            start, end = (_point(places, loop, half) for half in ("a", "b"))
            length = np.linalg.norm(end - start, axis=1)
            if not (length > 0.0).any():
                continue
            X = _along(start, end, length)
            if isinstance(loop.kind, Distance):
                bodies.append(_rod(f"{loop.name} (rod)", float(length[0])))
                added.append(X)
                continue
            half, thick = 0.62 * float(length.max()), 0.02 * float(length.max())
            bodies.append(_piece(f"{loop.name} (tube)", Cylinder(thick, half), 0.5 * half, _TUBE))
            bodies.append(_piece(f"{loop.name} (core)", Cylinder(0.6 * thick, half), -0.5 * half, _CORE))
            far = X.copy()
            far[:, :3, 3] = end
            added += [X, far]
    if not bodies:
        return mechanism, poses
    joints = tuple(Joint(body.name, KINDS["floating"], WORLD, body.name) for body in bodies)
    drawn = replace(mechanism, bodies=(*mechanism.bodies, *bodies), joints=(*mechanism.joints, *joints))
    return drawn, np.concatenate([poses, np.stack(added, axis=1)], axis=1)


def _rod(name: str, length: float) -> Body:
    ends = (Geometry(Sphere(0.03 * length), pose((0.0, 0.0, height)), _ROD) for height in (0.0, length))
    bar = Geometry(Capsule(_THIN * length, length), pose((0.0, 0.0, 0.5 * length)), _ROD)
    return Body(name, visuals=(bar, *ends))


def _piece(name: str, shape: Cylinder, height: float, color: tuple[float, float, float, float]) -> Body:
    return Body(name, visuals=(Geometry(shape, pose((0.0, 0.0, height)), color),))


def _point(places: dict[str, np.ndarray], loop: Loop, half: str) -> np.ndarray:
    """The position of one end of the loop in the world, (m, 3)."""
    body, place = (loop.body_a, loop.pose_a) if half == "a" else (loop.body_b, loop.pose_b)
    return places[body][:, :3, :3] @ np.array(list(place.translation), dtype=float) + places[body][:, :3, 3]


def _along(start: np.ndarray, end: np.ndarray, length: np.ndarray) -> np.ndarray:
    """Poses (m, 4, 4) at `start` with z towards `end`, with the least rotation from one to the next.

    Where the length is zero, z keeps its last direction, or at the beginning takes the first that follows.
    """
    X = np.zeros((len(start), 4, 4))
    there = np.flatnonzero(length > 0.0)
    last = there[np.maximum(np.searchsorted(there, np.arange(len(start)), side="right") - 1, 0)]
    z = ((end - start)[last]) / length[last, None]
    x = np.eye(3)[int(np.argmin(np.abs(z[0])))]
    for k, axis in enumerate(z):
        across = x - (x @ axis) * axis
        x = across / np.linalg.norm(across)
        X[k, :3, :3] = np.column_stack([x, np.cross(axis, x), axis])
    X[:, :3, 3] = start
    X[:, 3, 3] = 1.0
    return X
