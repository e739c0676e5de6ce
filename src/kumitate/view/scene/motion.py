"""Poses over time as the page plays them: of each body relative to the one that carries it.

A pose between two frames is interpolated by the page; relative to its parent, a body turns about its joint there too, and what
a joint leaves in place is a constant, which takes no room.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np

from ...errors import InputError
from ...kinematics import link_poses, place_pose
from ...model import WORLD, Mechanism
from ...scalar import trace
from ...scalar.evaluate import evaluate_rows
from ...spatial import DenseRotation, Matrix3, quaternion_of
from .packing import Steps

#: More poses than this are thinned; the page interpolates between those it has.
MAX_FRAMES = 3000
#: Likewise of all bodies together, as long as there are at least `_FEWEST` frames.
MAX_POSES = 300_000
_FEWEST = 200


def checked_motion(mechanism: Mechanism, times: Any, poses: Any) -> tuple[np.ndarray, np.ndarray]:
    """Times (m,) [s] and poses (m, bodies, 4, 4) as arrays of finite numbers, one time at least."""
    t, X = np.asarray(times, dtype=float), np.asarray(poses, dtype=float)
    name, bodies = mechanism.name, len(mechanism.bodies)
    if t.ndim != 1 or len(t) == 0 or X.shape != (len(t), bodies, 4, 4):
        raise InputError(
            f"{name}: {bodies} bodies are to be drawn, at times of shape {t.shape} with poses of shape {X.shape}; give times "
            f"(m,) with m ≥ 1 and poses (m, {bodies}, 4, 4), one matrix per body in the order of mechanism.bodies"
        )
    if not np.isfinite(X).all():
        frame, body = (int(i) for i in np.argwhere(~np.isfinite(X))[0][:2])
        raise InputError(f"{name}: the pose of body {body} in frame {frame} is not finite; leave out the frames from there on")
    if not np.isfinite(t).all():
        raise InputError(f"{name}: a time to draw is not finite; leave out such frames")
    return t, X


def frames_kept(count: int, bodies: int) -> np.ndarray:
    """The indices of the frames that are kept of `count`, evenly spread, the first and the last among them."""
    most = min(MAX_FRAMES, max(_FEWEST, MAX_POSES // max(bodies, 1)))
    return np.array(sorted(set(np.linspace(0, count - 1, min(count, most)).round().astype(int).tolist())), dtype=int)


def body_poses(mechanism: Mechanism, q: np.ndarray) -> np.ndarray:
    """X_WB (bodies, 4, 4) at coordinates q (nq), in numbers, so that nothing is compiled for them."""
    tree, links = mechanism.tree, link_poses(mechanism.tree, np.asarray(q, dtype=float).tolist())
    return np.array([place_pose(tree, links, tree.places[body.name]) for body in mechanism.bodies], dtype=float)


def carriers(mechanism: Mechanism) -> list[int]:
    """The index of the body that carries each body by its joint; −1 for the world, and for one that comes later in the list."""
    index = {WORLD: -1, **{body.name: k for k, body in enumerate(mechanism.bodies)}}
    found = [index[joint.parent] for joint in mechanism.joints]
    return [parent if parent < k else -1 for k, parent in enumerate(found)]


def tracks(frames: np.ndarray, parents: Sequence[int]) -> np.ndarray:
    """Positions x y z [m] and quaternions x y z w of each body relative to its parent of `carriers`, (7 bodies, n).

    `frames` are poses in the world (n, bodies, 4, 4).
    """
    world = np.broadcast_to(np.eye(4), (len(frames), 1, 4, 4))
    carrying = np.concatenate([frames, world], axis=1)[:, list(parents)]
    turned = carrying[..., :3, :3].swapaxes(-1, -2)
    shift = (turned @ (frames[..., :3, 3] - carrying[..., :3, 3])[..., None])[..., 0]
    q = quaternions(turned @ frames[..., :3, :3])
    flips = np.where(np.einsum("nbk,nbk->nb", q[1:], q[:-1]) < 0.0, -1.0, 1.0)
    q[1:] *= np.cumprod(flips, axis=0)[..., None]  # q and −q are the same rotation; rows must not jump between them
    return np.concatenate([shift, q], axis=2).transpose(1, 2, 0).reshape(-1, len(frames))


_quaternion = cache(lambda: trace(lambda R: quaternion_of(DenseRotation(Matrix3.of(R))), {"R": (3, 3)}, "quaternion"))


def quaternions(rotations: np.ndarray) -> np.ndarray:
    """Unit quaternions x y z w, shape (..., 4), of rotation matrices (..., 3, 3)."""
    return evaluate_rows(_quaternion(), rotations.reshape(-1, 9)).reshape(*rotations.shape[:-2], 4)


# --- curves as the page plots them: thinned without losing a peak, the curves of one plot together ------------------------
#: Curves with more points than this are thinned, keeping the extremes.
MAX_POINTS = 2000
#: Likewise all curves of a page together, as long as each has at least `_FEWEST_POINTS` points.
_MAX_ALL, _FEWEST_POINTS = 400_000, 120


def plots(
    mechanism: Mechanism, channels: Sequence[Mapping[str, Any]], groups: Mapping[str, int]
) -> list[dict[str, Any]]:  # fmt: skip
    """The plots of `build_scene`; `groups`: the number of the colour of each body, by name."""
    curves = sum(len(channel["series"]) for channel in channels)
    most = min(MAX_POINTS, max(_FEWEST_POINTS, _MAX_ALL // max(curves, 1)))
    carried = {joint.name: groups[joint.child] for joint in mechanism.joints}
    return [_plot(mechanism.name, channel, carried, most) for channel in channels]


def _plot(name: str, channel: Mapping[str, Any], carried: Mapping[str, int], most: int) -> dict[str, Any]:
    x = np.asarray(channel["x"], dtype=float)
    series, points = [], []
    for curve in channel["series"]:
        y = np.asarray(curve["values"], dtype=float)
        if x.ndim != 1 or y.shape != x.shape or len(x) == 0:
            raise InputError(
                f"{name}: plot {channel['title']!r}, series {curve['name']!r}: {y.shape} values for times of shape {x.shape}; "
                "give one value per time"
            )
        label = str(curve["name"])
        series.append({"name": label, **({"group": carried[label]} if label in carried else {})})
        points.append(thinned(x, y, most))
    length = max((len(px) for px, _ in points), default=0)
    across, up = (
        np.array([np.pad(part[k], (0, length - len(part[k])), mode="edge") for part in points]).reshape(-1, length)
        for k in (0, 1)
    )
    reach = channel.get("reach")
    limits = {} if reach is None else {"reach": [float(end) for end in reach]}
    data = {"title": str(channel["title"]), "unit": str(channel.get("unit", "")), "series": series}
    return {**data, "x": Steps(across), "y": Steps(up), **limits}


def thinned(x: np.ndarray, y: np.ndarray, limit: int = MAX_POINTS) -> tuple[np.ndarray, np.ndarray]:
    """At most `limit` (≥ 4) points of a curve: its ends, and the lowest and highest of equal intervals; no peak is lost."""
    if len(x) <= limit:
        return x, y
    stretches = (limit - 2) // 2
    width = -(-len(x) // stretches)
    index = np.minimum(np.arange(stretches * width), len(x) - 1).reshape(stretches, width)
    low = np.where(np.isnan(y), np.inf, y)[index].argmin(axis=1)
    high = np.where(np.isnan(y), -np.inf, y)[index].argmax(axis=1)
    rows = np.arange(stretches)
    keep = np.unique(np.concatenate([[0, len(x) - 1], index[rows, low], index[rows, high]]))
    return x[keep], y[keep]
