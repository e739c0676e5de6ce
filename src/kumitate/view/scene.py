"""A motion as plain data for the page: shapes, poses over time, and curves."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..errors import InputError
from ..model import WORLD, Geometry, Mechanism, Mesh, Shape
from ..model.meshes import Facets
from .arrows import Arrows
from .outlines import broadside
from .rods_and_springs import with_struts
from .stick_shapes import body_tip, drawn_shapes
from .surfaces import load_surfaces, pack_surface, unscaled
from .surroundings import surroundings

__all__ = ["MAX_FRAMES", "MAX_POINTS", "build_scene", "thinned"]

#: The shapes that the page draws from their parameters; it draws others from their facets.
PRIMITIVES = ("box", "sphere", "cylinder", "capsule")
#: More poses than this are thinned; the page interpolates between those it has.
MAX_FRAMES = 3000
#: Directions along which a mesh's furthest vertices are found, (3, k): edges, corners and faces of a cube.
_DIRECTIONS = np.array([d for d in np.ndindex(3, 3, 3) if d != (1, 1, 1)], dtype=float).T - 1.0
#: Curves with more points than this are thinned, keeping the extremes.
MAX_POINTS = 2000


def build_scene(
    mechanism: Mechanism,
    time: ArrayLike,
    poses: ArrayLike,
    channels: Sequence[Mapping[str, Any]] = (),
    *,
    title: str = "",
    notes: Sequence[str] = (),
    ground: Sequence[Geometry] = (),
    arrows: Arrows | None = None,
) -> dict[str, Any]:
    """The data of the page, for `json.dumps`.

    Args:
        time: of the poses [s], increasing, shape (n,).
        poses: X_WB of each of `mechanism.bodies` in that order, as 4×4 matrices, shape (n, bodies, 4, 4).
        channels: the plots, each {"title", "unit", "x": times (m,) [s], "series": [{"name", "values": (m,)}]}, and, where the
            axis has other limits than the curves, "reach": (low, high). A series with the name of a joint takes the colour
            of the body that the joint carries.
        title: of the page; the mechanism's name if empty.
        notes: sentences shown on request, such as the lines of an audit.
        ground: shapes fixed in the world, by their poses there.
        arrows: contact forces at these times.

    Raises:
        InputError: if shapes do not fit together, times do not increase, or poses are not finite.
    """
    name = mechanism.name
    times, frames = _checked(name, len(mechanism.bodies), np.asarray(time, dtype=float), np.asarray(poses, dtype=float))
    moving = len(mechanism.bodies)
    last = mechanism.bodies[-1]
    mechanism, frames = with_struts(mechanism, frames)  # rods and springs come after the bodies
    loaded = load_surfaces(mechanism)
    shapes = drawn_shapes(mechanism, loaded)
    origins = frames[:, :, :3, 3].reshape(-1, 3)
    about = surroundings(ground, origins.min(axis=0), origins.max(axis=0))
    drawn = [item for items in (*shapes.values(), about.shapes) for item in items]
    surfaces: dict[Shape, Facets] = dict(loaded.items())
    for shape in dict.fromkeys(item.shape for item in drawn):
        if shape.kind not in PRIMITIVES and not isinstance(shape, Mesh):
            surfaces[shape] = shape.facets()
    kinds = dict.fromkeys(_once(item.shape) for item in drawn)
    used = [shape for shape in kinds if shape in surfaces]
    groups = _groups(mechanism)
    keep = np.unique(np.linspace(0, len(times) - 1, min(len(times), MAX_FRAMES)).round().astype(int))
    times, frames = times[keep], frames[keep]
    bounds = _bounds(frames, _outlines(mechanism, shapes, surfaces), about.floor)
    return {
        "version": 2,
        "title": title or name,
        "notes": [str(note) for note in notes],
        "time": _packed(times, "<f8"),
        "positions": _packed(frames[:, :, :3, 3]),
        "quaternions": _packed(_quaternions(frames[:, :, :3, :3])),
        "meshes": [pack_surface(surfaces[shape]) for shape in used],
        "bodies": [
            {
                "name": body.name,
                "group": groups[body.name],
                "shapes": [_shape(item, used, surfaces) for item in shapes[body.name]],
            }
            for body in mechanism.bodies
        ],
        "world": [_shape(item, used, surfaces) for item in (*shapes[WORLD], *about.shapes)],
        "landscape": bool(about.shapes),
        "contact": None if arrows is None else _contact(arrows.at(keep), bounds["size"]),
        "trail": {"body": moving - 1, "point": body_tip(last).tolist()},
        "channels": [_channel(mechanism, channel, groups) for channel in channels],
        **bounds,
    }


def _checked(name: str, bodies: int, times: np.ndarray, frames: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    if times.ndim != 1 or len(times) == 0 or frames.shape != (len(times), bodies, 4, 4) or bodies == 0:
        raise InputError(
            f"{name}: a scene of {bodies} bodies got times of shape {times.shape} and poses of shape {frames.shape}; "
            f"give times (n,) with n ≥ 1 and poses (n, {bodies}, 4, 4), one matrix per body in the order of mechanism.bodies"
        )
    if not (np.isfinite(times).all() and (np.diff(times) > 0.0).all()):
        raise InputError(f"{name}: the times of a scene must be finite and increase from frame to frame")
    if not np.isfinite(frames).all():
        frame, body = (int(i) for i in np.argwhere(~np.isfinite(frames))[0][:2])
        raise InputError(f"{name}: the pose of body {body} in frame {frame} is not finite; leave out the frames from there on")
    return times, frames


def _groups(mechanism: Mechanism) -> dict[str, int]:
    """Bodies fixed to one another share a number (and so a colour); those fixed to the world have −1."""
    groups = {WORLD: -1}
    for joint in mechanism.joints:
        moves = joint.kind.nv > 0
        groups[joint.child] = max(groups.values()) + 1 if moves else groups[joint.parent]
    return groups


def _once(shape: Shape) -> Shape:
    """The shape as the page stores it, once for all its uses and scales."""
    return unscaled(shape) if isinstance(shape, Mesh) else shape


def _shape(item: Geometry, meshes: Sequence[Shape], surfaces: Mapping[Shape, Facets]) -> dict[str, Any]:
    rows = np.asarray(item.pose.matrix(), dtype=float)
    data: dict[str, Any] = {
        "position": rows[:3, 3].tolist(), "quaternion": _quaternions(rows[None, :3, :3])[0].tolist(),
    }  # fmt: skip
    if item.color is not None:
        data["color"] = [float(part) for part in item.color]
    shape, scale = item.shape, (1.0, 1.0, 1.0)
    if shape.kind in PRIMITIVES:
        return {"type": shape.kind, **_numbers(shape), **data}
    if isinstance(shape, Mesh):
        shape, scale = unscaled(shape), shape.scale
        colors = surfaces[shape].colors
        if colors is not None and (colors != colors[0]).any():
            data.pop("color", None)  # the colours of parts in the file take precedence over one colour for the whole
    return {"type": "mesh", "mesh": meshes.index(shape), "scale": [float(part) for part in scale], **data}


def _numbers(shape: Any) -> dict[str, Any]:
    """The fields of a primitive: lengths, or lists of them."""
    return {field.name: np.asarray(getattr(shape, field.name), dtype=float).tolist() for field in fields(shape)}


def _contact(arrows: Arrows, size: float) -> dict[str, Any]:
    return {
        "points": _packed(arrows.points), "forces": _packed(arrows.forces), "count": arrows.points.shape[1],
        "scale": arrows.scale(size), "longest": arrows.longest(size),
    }  # fmt: skip


def _outlines(
    mechanism: Mechanism, shapes: Mapping[str, Sequence[Geometry]], surfaces: Mapping[Shape, Facets]
) -> list[list[tuple[np.ndarray, float]]]:
    """`_outline` of each shape of the bodies in their order, and of the world last."""
    names = [*(body.name for body in mechanism.bodies), WORLD]
    return [[_outline(item, surfaces) for item in shapes[name]] for name in names]


def _outline(item: Geometry, surfaces: Mapping[Shape, Facets]) -> tuple[np.ndarray, float]:
    """Points (k, 3) in the body's frame and a radius about them that together hold the shape, or nearly."""
    shape = item.shape
    if isinstance(shape, Mesh):
        vertices = surfaces[unscaled(shape)].vertices * np.asarray(shape.scale)
        corners, radius = vertices[np.unique((vertices @ _DIRECTIONS).argmax(axis=0))], 0.0
    elif shape.endless:  # an unbounded shape does not limit the camera
        corners, radius = np.zeros((1, 3)), 0.0
    elif shape in surfaces:
        corners, radius = surfaces[shape].vertices, 0.0
    else:
        corners, radius = shape.support()
    rows = np.asarray(item.pose.matrix(), dtype=float)
    return corners @ rows[:3, :3].T + rows[:3, 3], float(radius)


def _bounds(
    frames: np.ndarray, outlines: Sequence[Sequence[tuple[np.ndarray, float]]], floor: float | None = None
) -> dict[str, Any]:
    """The bounding box of the motion, the mechanism's size, the ground's height, and the direction of view.

    `outlines` are of the bodies and, last, of the world; `floor`: the ground's height, if it is known.
    """
    origins = frames[:, :, :3, 3]
    low, high = [origins.min(axis=1)], [origins.max(axis=1)]
    reached = [origins.reshape(-1, 3)]
    centers = [origins.reshape(-1, 3)]
    still = np.broadcast_to(np.eye(4), (len(frames), 4, 4))
    for poses, items in zip([*frames.swapaxes(0, 1), still], outlines, strict=True):
        for points, radius in items:
            places = points @ poses[:, :3, :3].swapaxes(1, 2) + poses[:, None, :3, 3]
            low.append(places.min(axis=1) - radius)
            high.append(places.max(axis=1) + radius)
            reached.append(places.reshape(-1, 3))
            centers.append(places.mean(axis=1))
    lower, upper = np.min(low, axis=0), np.max(high, axis=0)
    extent_low, extent_high = lower.min(axis=0), upper.max(axis=0)
    size = float(np.median(np.linalg.norm(upper - lower, axis=1))) or 1.0
    if floor is None:  # at zero unless the mechanism hangs below it
        floor = 0.0 if extent_low[2] > -0.05 * size else float(extent_low[2]) - 0.05 * size
    view = _view_from(np.concatenate(centers), size)
    rim = _outermost(np.concatenate(reached))
    return {"extent": [extent_low.tolist(), extent_high.tolist()], "rim": rim, "size": size, "ground": floor, "view": view}


def _outermost(points: np.ndarray) -> list[list[float]]:
    """The points (of (n, 3)) that are furthest in one of many directions, which the camera must keep in view."""
    k = np.arange(64) + 0.5  # directions spread evenly over the sphere, on a spiral
    height, turn = 1.0 - k / 32.0, np.pi * (1.0 + 5.0**0.5) * k
    across = np.sqrt(1.0 - height**2)
    directions = np.column_stack([across * np.cos(turn), across * np.sin(turn), height])
    furthest = np.unique([int((points @ direction).argmax()) for direction in directions])
    return points[furthest].tolist()


def _view_from(centers: np.ndarray, size: float) -> list[float]:
    """The direction from the motion to the eye: nearly perpendicular to a planar motion, otherwise from a corner."""
    spread = np.ptp(centers, axis=0)
    thin = 0.02 * min(float(spread.max()), size)
    if spread[1] <= thin < spread[0]:
        return [0.32, -1.0, 0.22]
    if spread[0] <= thin < spread[1]:
        return [1.0, 0.32, 0.22]
    if spread[2] <= thin < max(spread[0], spread[1]):
        return [0.0, -0.55, 1.0]
    azimuth = broadside(centers)
    return [float(np.cos(azimuth)), float(np.sin(azimuth)), 0.4]


def _channel(mechanism: Mechanism, channel: Mapping[str, Any], groups: Mapping[str, int]) -> dict[str, Any]:
    x = np.asarray(channel["x"], dtype=float)
    carried = {joint.name: groups[joint.child] for joint in mechanism.joints}
    series = []
    for curve in channel["series"]:
        y = np.asarray(curve["values"], dtype=float)
        if x.ndim != 1 or y.shape != x.shape or len(x) == 0:
            raise InputError(
                f"{mechanism.name}: plot {channel['title']!r}, series {curve['name']!r}: {y.shape} values for times of shape "
                f"{x.shape}; give one value per time"
            )
        data: dict[str, Any] = {"name": str(curve["name"]), **dict(zip("xy", map(_packed, thinned(x, y)), strict=True))}
        if curve["name"] in carried:
            data["group"] = carried[curve["name"]]
        series.append(data)
    reach = channel.get("reach")
    limits = {} if reach is None else {"reach": [float(end) for end in reach]}
    return {"title": str(channel["title"]), "unit": str(channel.get("unit", "")), "series": series, **limits}


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
    keep = np.unique(np.concatenate([[0], index[rows, low], index[rows, high], [len(x) - 1]]))
    return x[keep], y[keep]


def _quaternions(rotations: np.ndarray) -> np.ndarray:
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


def _packed(values: np.ndarray, kind: str = "<f4") -> str:
    """The numbers in C order as little-endian floats, in base64."""
    with np.errstate(over="ignore"):
        return base64.b64encode(np.ascontiguousarray(values, dtype=kind).tobytes()).decode("ascii")
