"""What the page shows, as plain data: bodies and their motion, contact, curves; and how it is packed into text."""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..errors import InputError
from ..kinematics import link_poses, place_pose
from ..model import WORLD, Body, Geometry, Joint, Mechanism, Mesh, Shape
from ..model.meshes import Facets
from ..scalar import trace
from ..scalar.evaluate import evaluate_rows
from ..spatial import DenseRotation, Matrix3, quaternion_of
from .arrows import Arrows
from .outlines import broadside
from .stick_shapes import body_tip, drawn_shapes, inertia_box, with_struts
from .surfaces import load_surfaces, pack_surface, surroundings, unscaled

# --- a scene as text: plain data as JSON, arrays as bytes behind it, all deflated, in base64 ------------------------------
# The page needs curves and poses to the width of a pixel. `Steps` are therefore rounded to 65535 steps of each row's range and
# stored as differences along the row, low bytes before high bytes, because smooth rows become bytes that repeat.
#
# Layout of the inflated bytes: the length of the JSON text in bytes as a little-endian u4; the text, in which an array is
# {"array": [kind, place, shape]}; then the arrays, each at a multiple of 8 bytes from the end of the text's padding.
# Kinds: u1, u2, u4, f4, f8 (little-endian, C order), and "steps": f8 low and f8 step of each row, then the bytes of the
# differences.

_KINDS = {"u1": "<u1", "u2": "<u2", "u4": "<u4", "f4": "<f4", "f8": "<f8"}
#: The code of NaN; those of numbers are below it.
_MISSING = 65535


@dataclass(frozen=True, eq=False)
class Steps:
    """Rows of numbers that are needed to 1/65534 of each row's range; NaN stays NaN."""

    values: np.ndarray  # (k, n)
    finest: float | np.ndarray = 0.0  # steps need not be finer, in a row or all (k): what differs by rounding is constant


def packed(scene: Mapping[str, Any], target: str = "page") -> str:
    """A scene as text in base64, of plain data and arrays of the kinds above; `target` names it in errors about others."""
    arrays: list[bytes] = []

    def stored(value: Any) -> dict[str, Any]:
        if isinstance(value, Steps):
            kind, shape, data = "steps", value.values.shape, _differences(value)
        elif isinstance(value, np.ndarray) and value.dtype.str.lstrip("<|") in _KINDS:
            kind, shape = value.dtype.str.lstrip("<|"), value.shape
            data = np.ascontiguousarray(value, dtype=_KINDS[kind]).tobytes()
        else:
            raise TypeError(f"a {type(value).__name__} is not plain data")
        place = sum(map(len, arrays))
        arrays.append(data + bytes(-len(data) % 8))
        return {"array": [kind, place, list(shape)]}

    try:
        text = json.dumps(scene, allow_nan=False, ensure_ascii=False, separators=(",", ":"), default=stored).encode()
    except (TypeError, ValueError) as error:
        raise InputError(f"{target}: the scene is not plain data ({error}); make it with build_scene") from error
    head = len(text).to_bytes(4, "little") + text
    return base64.b64encode(zlib.compress(head + bytes(-len(head) % 8) + b"".join(arrays))).decode("ascii")


def _differences(steps: Steps) -> bytes:
    rows = np.asarray(steps.values, dtype=float)
    known = np.isfinite(rows)
    low = np.where(known, rows, np.inf).min(axis=1, initial=np.inf)
    high = np.where(known, rows, -np.inf).max(axis=1, initial=-np.inf)
    low, span = np.where(low <= high, low, 0.0), np.where(low <= high, high - low, 0.0)
    step = np.maximum(span / (_MISSING - 1), steps.finest)
    codes = np.where(known, np.round((rows - low[:, None]) / np.where(step > 0.0, step, 1.0)[:, None]), _MISSING)
    changes = np.diff(codes.astype(np.int64), axis=1, prepend=0).astype(np.uint16)
    halves = np.concatenate([(changes & 0xFF).ravel(), (changes >> 8).ravel()]).astype(np.uint8)
    return np.concatenate([low, step]).astype("<f8").tobytes() + halves.tobytes()


# --- poses over time as the page plays them: of each body relative to the one that carries it -----------------------------
# A pose between two frames is interpolated by the page; relative to its parent, a body turns about its joint there too, and
# what a joint leaves in place is a constant, which takes no room.

#: More poses than this are thinned; the page interpolates between those it has.
MAX_FRAMES = 3000
#: Likewise of all bodies together, as long as there are at least `_FEWEST` frames.
MAX_POSES = 300_000
_FEWEST = 200


def checked_motion(mechanism: Mechanism, times: Any, poses: Any) -> tuple[np.ndarray, np.ndarray]:
    """Times (n,) [s] and poses (n, bodies, 4, 4) as arrays of finite numbers, one time at least."""
    t, X = np.asarray(times, dtype=float), np.asarray(poses, dtype=float)
    name, bodies = mechanism.name, len(mechanism.bodies)
    if t.ndim != 1 or len(t) == 0 or X.shape != (len(t), bodies, 4, 4):
        raise InputError(
            f"{name}: {bodies} bodies are to be drawn, at times of shape {t.shape} with poses of shape {X.shape}; give times "
            f"(n,) with n ≥ 1 and poses (n, {bodies}, 4, 4), one matrix per body in the order of mechanism.bodies"
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
    kept = np.zeros(len(x), dtype=bool)
    kept[[0, -1]] = kept[index[rows, low]] = kept[index[rows, high]] = True
    return x[kept], y[kept]


# --- bodies as the page draws them and what it says of them: shapes, mass, inertia, the joint that carries each -----------
#: The shapes that the page draws from their parameters; it draws others from their facets.
PRIMITIVES = ("box", "sphere", "cylinder", "capsule")


def groups_of(mechanism: Mechanism) -> dict[str, int]:
    """Bodies fixed to one another share a number (and so a colour); those fixed to the world have −1."""
    groups = {WORLD: -1}
    for joint in mechanism.joints:
        moves = joint.kind.nv > 0
        groups[joint.child] = max(groups.values()) + 1 if moves else groups[joint.parent]
    return groups


def body_data(body: Body, joint: Joint) -> dict[str, Any]:
    """The numbers of a body: mass [kg], center of mass [m], the uniform box of its inertia, its joint."""
    data: dict[str, Any] = {"name": body.name, "joint": {"name": joint.name, "kind": joint.kind.name}}
    if body.mass > 0.0:
        size, axes = inertia_box(body)
        data |= {"mass": body.mass, "center": _short(body.center_of_mass)}
        data["box"] = {"size": _short(size), "quaternion": _short(quaternions(axes[None])[0])}
    return data


def loop_data(mechanism: Mechanism) -> list[dict[str, Any]]:
    """The joints that close loops: name, kind, and the place on each of both bodies (index, −1 for the world; position [m])."""
    index = {WORLD: -1, **{body.name: k for k, body in enumerate(mechanism.bodies)}}
    return [
        {
            "name": loop.name, "kind": loop.kind.name,
            "ends": [
                {"body": index[body], "position": _short(place.translation)}
                for body, place in ((loop.body_a, loop.pose_a), (loop.body_b, loop.pose_b))
            ],
        }
        for loop in mechanism.loops
    ]  # fmt: skip


def shape_data(item: Geometry, meshes: Sequence[Shape], surfaces: Mapping[Shape, Facets]) -> dict[str, Any]:
    """A shape with its pose in the body; a mesh by its index in `meshes`."""
    rows = np.asarray(item.pose.matrix(), dtype=float)
    data: dict[str, Any] = {
        "position": rows[:3, 3].tolist(), "quaternion": quaternions(rows[None, :3, :3])[0].tolist(),
    }  # fmt: skip
    if item.color is not None:
        data["color"] = [float(part) for part in item.color]
    shape, scale = item.shape, (1.0, 1.0, 1.0)
    if shape.kind in PRIMITIVES:
        sizes = (field.name for field in fields(shape))  # type: ignore[arg-type]
        return {"type": shape.kind, **{name: np.asarray(getattr(shape, name), dtype=float).tolist() for name in sizes}, **data}
    if isinstance(shape, Mesh):
        shape, scale = unscaled(shape), shape.scale
        colors = surfaces[shape].colors
        if colors is not None and (colors != colors[0]).any():
            data.pop("color", None)  # the colours of parts in the file take precedence over one colour for the whole
    return {"type": "mesh", "mesh": meshes.index(shape), "scale": [float(part) for part in scale], **data}


def _short(numbers: Any) -> list[float]:
    """Rounded to seven digits: what a drawing needs."""
    return [float(f"{float(number):.7g}") for number in numbers]


# --- where a motion is: the box that it stays in, what the camera must keep in view, and from where it is seen best -------
#: Directions along which a mesh's furthest vertices are found, (3, k): edges, corners and faces of a cube.
_DIRECTIONS = np.array([d for d in np.ndindex(3, 3, 3) if d != (1, 1, 1)], dtype=float).T - 1.0


def _outline(item: Geometry, surfaces: Mapping[Shape, Facets]) -> tuple[np.ndarray, float]:
    """Points (k, 3) in the body's frame and a radius about them that together hold the shape, or nearly."""
    shape = item.shape
    if isinstance(shape, Mesh):
        vertices = surfaces[unscaled(shape)].vertices * np.asarray(shape.scale)
        corners, radius = vertices[sorted(set((vertices @ _DIRECTIONS).argmax(axis=0).tolist()))], 0.0
    elif shape.endless:  # an unbounded shape does not limit the camera
        corners, radius = np.zeros((1, 3)), 0.0
    elif shape in surfaces:
        corners, radius = surfaces[shape].vertices, 0.0
    else:
        corners, radius = shape.support()
    rows = np.asarray(item.pose.matrix(), dtype=float)
    return corners @ rows[:3, :3].T + rows[:3, 3], float(radius)


def bounds(
    frames: np.ndarray, outlines: Sequence[Sequence[tuple[np.ndarray, float]]], floor: float | None = None
) -> dict[str, Any]:
    """The bounding box of the motion, the mechanism's size, the ground's height, and the direction of view.

    `outlines` are `_outline` of the shapes of the bodies and, last, of the world; `floor`: the ground's height, if it is known.
    """
    origins = frames[:, :, :3, 3]
    low, high, reached, centers = [origins.min(axis=1)], [origins.max(axis=1)], [origins], [origins.reshape(-1, 3)]
    still = np.broadcast_to(np.eye(4), (len(frames), 4, 4))
    for poses, items in zip([*frames.swapaxes(0, 1), still], outlines, strict=True):
        for points, radius in items:
            places = points @ poses[:, :3, :3].swapaxes(1, 2) + poses[:, None, :3, 3]
            low.append(places.min(axis=1) - radius)
            high.append(places.max(axis=1) + radius)
            reached.append(places)
            centers.append(places.mean(axis=1))
    lower, upper = np.min(low, axis=0), np.max(high, axis=0)
    extent_low, extent_high = lower.min(axis=0), upper.max(axis=0)
    size = float(np.sort(np.linalg.norm(upper - lower, axis=1))[len(frames) // 2]) or 1.0
    if floor is None:  # at zero unless the mechanism hangs below it
        floor = 0.0 if extent_low[2] > -0.05 * size else float(extent_low[2]) - 0.05 * size
    view = _view_from(np.concatenate(centers), size)
    steps = 0.0 + np.round(frames[:, :, :3] / [*[_SEEN] * 3, _SEEN * size]).reshape(len(frames), -1)  # without -0.0
    apart = list({steps[k].tobytes(): k for k in reversed(range(len(steps)))}.values())  # a robot that stands is at one place
    rim = _outermost(np.concatenate([places[apart].reshape(-1, 3) for places in reached]))
    return {"extent": [extent_low.tolist(), extent_high.tolist()], "rim": rim, "size": size, "ground": floor, "view": view}


#: So many points are compared in all directions at a time, in two megabytes.
_AT_ONCE = 4096
#: Turns [rad] and moves, in parts of the mechanism's size, of which the camera takes no notice.
_SEEN = 1e-3


def _outermost(points: np.ndarray) -> list[list[float]]:
    """The points (of (n, 3)) that are furthest in one of many directions, which the camera must keep in view."""
    k = np.arange(64) + 0.5  # directions spread evenly over the sphere, on a spiral
    height, turn = 1.0 - k / 32.0, np.pi * (1.0 + 5.0**0.5) * k
    across = np.sqrt(1.0 - height**2)
    directions = np.column_stack([across * np.cos(turn), across * np.sin(turn), height])
    found = [part[(directions @ part.T).argmax(axis=1)] for part in np.array_split(points, 1 + len(points) // _AT_ONCE)]
    best = np.einsum("nkx,kx->nk", found, directions).argmax(axis=0)
    return [list(point) for point in sorted(set(map(tuple, np.array(found)[best, range(len(directions))].tolist())))]


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


#: The finest steps of positions, relative to the mechanism's size, and of quaternions.
_FINEST = 1e-6


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
    """The data of the page, for `write_page`.

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
    times, frames = checked_motion(mechanism, time, poses)
    if not (np.diff(times) > 0.0).all() or not mechanism.bodies:
        raise InputError(f"{name}: a scene is of one body or more, and its times must increase from frame to frame")
    trail = {"body": len(mechanism.bodies) - 1, "point": body_tip(mechanism.bodies[-1]).tolist()}
    keep = frames_kept(len(times), len(mechanism.bodies))
    arrows = None if arrows is None else arrows.at(keep)
    mechanism, frames = with_struts(mechanism, frames)  # rods and springs come after the bodies
    loaded = load_surfaces(mechanism)
    shapes = drawn_shapes(mechanism, loaded)
    touching = _touching(mechanism, shapes, loaded)
    origins = frames[:, :, :3, 3].reshape(-1, 3)
    around, floor = surroundings(ground, origins.min(axis=0), origins.max(axis=0))
    drawn = [item for items in (*shapes.values(), around, *touching.values()) for item in items]
    # the facets of the shapes that the page cannot draw from their parameters
    others = (shape for shape in dict.fromkeys(item.shape for item in drawn) if shape.kind not in PRIMITIVES)
    surfaces = {shape: shape.facets() for shape in others if not isinstance(shape, Mesh)} | dict(loaded)
    once = dict.fromkeys(unscaled(item.shape) if isinstance(item.shape, Mesh) else item.shape for item in drawn)
    used = [shape for shape in once if shape in surfaces]  # once for all uses and scales
    groups, parents = groups_of(mechanism), carriers(mechanism)
    times, frames = times[keep], frames[keep]
    ordered = [shapes[name] for name in (*(body.name for body in mechanism.bodies), WORLD)]
    extent = bounds(frames, [[_outline(item, surfaces) for item in items] for items in ordered], floor)

    def stored(items: Iterable[Geometry]) -> list[dict[str, Any]]:
        return [shape_data(item, used, surfaces) for item in items]

    return {
        "version": 3,
        "title": title or name,
        "notes": [str(note) for note in notes],
        "time": times,
        "motion": Steps(tracks(frames, parents), np.tile(_FINEST * np.repeat([extent["size"], 1.0], [3, 4]), len(parents))),
        "meshes": [pack_surface(surfaces[shape]) for shape in used],
        "bodies": [
            {
                **body_data(body, joint), "parent": parent, "group": groups[body.name], "shapes": stored(shapes[body.name]),
                "collisions": stored(touching[body.name]),
            }
            for body, joint, parent in zip(mechanism.bodies, mechanism.joints, parents, strict=True)
        ],
        "world": stored((*shapes[WORLD], *around)),
        "loops": loop_data(mechanism),
        "landscape": bool(around),
        "contact": None if arrows is None else _contact(arrows, extent["size"]),
        "trail": trail,
        "channels": plots(mechanism, channels, groups),
        **extent,
    }  # fmt: skip


def _touching(
    mechanism: Mechanism, shapes: Mapping[str, Sequence[Geometry]], loaded: Mapping[Mesh, Facets]
) -> dict[str, tuple[Geometry, ...]]:
    """The collision shapes of each body where they differ from those that it is drawn with; nothing where all are the same.

    Without meshes that were not loaded, and without points and lines.
    """

    def seen(shape: Shape) -> bool:
        return unscaled(shape) in loaded if isinstance(shape, Mesh) else shape.has_surface

    def places(items: Iterable[Geometry]) -> set[Any]:
        return {(item.shape, tuple(np.asarray(item.pose.matrix(), dtype=float).ravel())) for item in items}

    found = {body.name: tuple(item for item in body.collisions if seen(item.shape)) for body in mechanism.bodies}
    differ = any(places(items) != places(shapes[name]) for name, items in found.items() if items)
    return found if differ else dict.fromkeys(found, ())


def _contact(arrows: Arrows, size: float) -> dict[str, Any]:
    """Points and forces as rows over time, those of point k from row 3k on; NaN where nothing touches."""
    touches = arrows.forces.any(axis=2, keepdims=True)
    points, forces = (
        Steps(np.where(touches, part, np.nan).transpose(1, 2, 0).reshape(-1, len(part)))
        for part in (arrows.points, arrows.forces)
    )
    return {
        "points": points, "forces": forces, "count": arrows.points.shape[1],
        "ground": [k for k, ground in enumerate(arrows.grounded) if ground],
        "scale": arrows.scale(size), "longest": arrows.longest(size),
    }  # fmt: skip
