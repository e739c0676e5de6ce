"""A motion as data for the page: shapes, poses over time, and curves."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ...errors import InputError
from ...model import WORLD, Geometry, Mechanism, Mesh, Shape
from ...model.meshes import Facets
from ..arrows import Arrows
from ..rods_and_springs import with_struts
from ..stick_shapes import body_tip, drawn_shapes
from ..surfaces import load_surfaces, pack_surface
from ..surroundings import surroundings
from .bodies import PRIMITIVES, body_data, groups_of, loop_data, shape_data, stored_once
from .bounds import bounds, outlines
from .curves import plots
from .motion import carriers, frames_kept, tracks
from .packing import Steps

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
    times, frames = _checked(name, len(mechanism.bodies), np.asarray(time, dtype=float), np.asarray(poses, dtype=float))
    trail = {"body": len(mechanism.bodies) - 1, "point": body_tip(mechanism.bodies[-1]).tolist()}
    keep = frames_kept(len(times), len(mechanism.bodies))
    arrows = None if arrows is None else arrows.at(keep)
    mechanism, frames = with_struts(mechanism, frames)  # rods and springs come after the bodies
    loaded = load_surfaces(mechanism)
    shapes = drawn_shapes(mechanism, loaded)
    touching = _touching(mechanism, shapes, loaded)
    origins = frames[:, :, :3, 3].reshape(-1, 3)
    about = surroundings(ground, origins.min(axis=0), origins.max(axis=0))
    drawn = [item for items in (*shapes.values(), about.shapes, *touching.values()) for item in items]
    surfaces = _faceted(drawn)
    surfaces.update(loaded.items())
    used = [shape for shape in dict.fromkeys(stored_once(item.shape) for item in drawn) if shape in surfaces]
    groups, parents = groups_of(mechanism), carriers(mechanism)
    times, frames = times[keep], frames[keep]
    extent = bounds(frames, outlines(mechanism, shapes, surfaces), about.floor)

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
        "world": stored((*shapes[WORLD], *about.shapes)),
        "loops": loop_data(mechanism),
        "landscape": bool(about.shapes),
        "contact": None if arrows is None else _contact(arrows, extent["size"]),
        "trail": trail,
        "channels": plots(mechanism, channels, groups),
        **extent,
    }  # fmt: skip


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


def _touching(
    mechanism: Mechanism, shapes: Mapping[str, Sequence[Geometry]], loaded: Mapping[Mesh, Facets]
) -> dict[str, tuple[Geometry, ...]]:
    """The collision shapes of each body where they differ from those that it is drawn with; nothing where all are the same.

    Without meshes that were not loaded, and without points and lines.
    """
    found = {
        body.name: tuple(
            item
            for item in body.collisions
            if (stored_once(item.shape) in loaded if isinstance(item.shape, Mesh) else item.shape.has_surface)
        )
        for body in mechanism.bodies
    }
    differ = any(
        {_place(item) for item in found[name]} != {_place(item) for item in shapes[name]} for name in found if found[name]
    )
    return found if differ else dict.fromkeys(found, ())


def _place(item: Geometry) -> tuple[Any, ...]:
    return item.shape, tuple(np.asarray(item.pose.matrix(), dtype=float).ravel())


def _faceted(items: Iterable[Geometry]) -> dict[Shape, Facets]:
    """The facets of the shapes that the page cannot draw from their parameters."""
    kinds = dict.fromkeys(item.shape for item in items)
    return {shape: shape.facets() for shape in kinds if shape.kind not in PRIMITIVES and not isinstance(shape, Mesh)}


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
