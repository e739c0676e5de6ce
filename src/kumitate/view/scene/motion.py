"""Poses over time as the page plays them: of each body relative to the one that carries it.

A pose between two frames is interpolated by the page; relative to its parent, a body turns about its joint there too, and what
a joint leaves in place is a constant, which takes no room.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...model import WORLD, Mechanism

#: More poses than this are thinned; the page interpolates between those it has.
MAX_FRAMES = 3000
#: Likewise of all bodies together, as long as there are at least `_FEWEST` frames.
MAX_POSES = 300_000
_FEWEST = 200


def frames_kept(count: int, bodies: int) -> np.ndarray:
    """The indices of the frames that are kept of `count`, evenly spread, the first and the last among them."""
    most = min(MAX_FRAMES, max(_FEWEST, MAX_POSES // max(bodies, 1)))
    return np.unique(np.linspace(0, count - 1, min(count, most)).round().astype(int))


def carriers(mechanism: Mechanism) -> list[int]:
    """The index of the body that carries each body by its joint; −1 for the world, and for one that comes later in the list."""
    index = {WORLD: -1, **{body.name: k for k, body in enumerate(mechanism.bodies)}}
    found = [index[joint.parent] for joint in mechanism.joints]
    return [parent if parent < k else -1 for k, parent in enumerate(found)]


def tracks(frames: np.ndarray, parents: Sequence[int]) -> np.ndarray:
    """Positions x y z [m] and quaternions x y z w of each body relative to its parent.

    Args:
        frames: poses in the world (n, bodies, 4, 4); parents: of `carriers`.

    Returns:
        Shape (7 bodies, n): a row for each number of each body.
    """
    world = np.broadcast_to(np.eye(4), (len(frames), 1, 4, 4))
    carrying = np.concatenate([frames, world], axis=1)[:, list(parents)]
    turned = carrying[..., :3, :3].swapaxes(-1, -2)
    shift = (turned @ (frames[..., :3, 3] - carrying[..., :3, 3])[..., None])[..., 0]
    q = quaternions(turned @ frames[..., :3, :3])
    flips = np.where(np.einsum("nbk,nbk->nb", q[1:], q[:-1]) < 0.0, -1.0, 1.0)
    q[1:] *= np.cumprod(flips, axis=0)[..., None]  # q and −q are the same rotation; rows must not jump between them
    return np.concatenate([shift, q], axis=2).transpose(1, 2, 0).reshape(-1, len(frames))


def quaternions(rotations: np.ndarray) -> np.ndarray:
    """Unit quaternions x y z w, shape (..., 4), of rotation matrices (..., 3, 3)."""
    r = np.asarray(rotations)
    xx, yy, zz = r[..., 0, 0], r[..., 1, 1], r[..., 2, 2]
    xy, xz, yz = r[..., 0, 1] + r[..., 1, 0], r[..., 0, 2] + r[..., 2, 0], r[..., 1, 2] + r[..., 2, 1]
    wx, wy, wz = r[..., 2, 1] - r[..., 1, 2], r[..., 0, 2] - r[..., 2, 0], r[..., 1, 0] - r[..., 0, 1]
    # 4 q qᵀ has these rows; that of the largest diagonal element is well away from zero
    rows = np.stack(
        [
            np.stack([1.0 + xx - yy - zz, xy, xz, wx], axis=-1),
            np.stack([xy, 1.0 - xx + yy - zz, yz, wy], axis=-1),
            np.stack([xz, yz, 1.0 - xx - yy + zz, wz], axis=-1),
            np.stack([wx, wy, wz, 1.0 + xx + yy + zz], axis=-1),
        ],
        axis=-2,
    )
    best = np.diagonal(rows, axis1=-2, axis2=-1).argmax(axis=-1)
    q = np.take_along_axis(rows, best[..., None, None], axis=-2)[..., 0, :]
    return q / np.linalg.norm(q, axis=-1, keepdims=True)
