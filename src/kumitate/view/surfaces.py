"""The meshes of a mechanism for the page: loading, thinning and packing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import InputError, warn
from ..model import Body, Box, Geometry, Mechanism, Mesh
from ..model.meshes import Facets, decimated
from ..model.read.parts import MeshFinder
from ..model.shapes.surfaces import box_of
from ..spatial import pose

_SHOWN = 3
#: Faces per mesh on a page, by the largest number of meshes: about 150 000 in all.
_FACES = ((12, 12000), (25, 6000), (50, 3000))
_FEWEST = 2000


def unscaled(mesh: Mesh) -> Mesh:
    """The mesh as in its file. Pages store it once for all scales and reflections."""
    return replace(mesh, scale=(1.0, 1.0, 1.0))


def surface_of(shape: Any, surfaces: Mapping[Mesh, Facets]) -> Facets:
    """The facets of a shape; of a mesh those of `load_surfaces`, at its scale."""
    return surfaces[unscaled(shape)].scaled(shape.scale) if isinstance(shape, Mesh) else shape.facets()


def load_surfaces(mechanism: Mechanism) -> dict[Mesh, Facets]:
    """The meshes that bodies are drawn with, unscaled, thinned: visuals, or collision shapes if a body has no visuals.

    Warns:
        KumitateWarning: of meshes that are not found or cannot be read, with the bodies, the files and the places tried.
    """
    loaded: dict[Mesh, Facets | str] = {}  # the surface, or why it could not be loaded
    without: dict[str, list[str]] = {}
    named = {unscaled(item.shape) for body in mechanism.bodies for item in body.visuals if isinstance(item.shape, Mesh)}
    faces = next((faces for most, faces in _FACES if len(named) <= most), _FEWEST)
    finder = MeshFinder(None if mechanism.source is None else Path(mechanism.source))

    def load(body: Body, items: tuple[Geometry, ...]) -> bool:
        """Whether any of these shapes can be drawn."""
        drawable = [not isinstance(item.shape, Mesh) for item in items]
        for mesh in [unscaled(item.shape) for item in items if isinstance(item.shape, Mesh)]:
            if mesh not in loaded:
                try:
                    loaded[mesh] = decimated(mesh, faces)
                except InputError as error:
                    loaded[mesh] = _reason(mesh, error, finder)
            found = loaded[mesh]
            drawable.append(isinstance(found, Facets))
            if isinstance(found, str):
                without.setdefault(found, []).append(body.name)
        return any(drawable)

    for body in mechanism.bodies:
        if not load(body, body.visuals):
            load(body, body.collisions)
    _warn(mechanism.name, without)
    return {mesh: found for mesh, found in loaded.items() if isinstance(found, Facets)}


def _reason(mesh: Mesh, error: InputError, finder: MeshFinder) -> str:
    if mesh.resolved is not None:
        return f"mesh {mesh.path!r}: {error}"
    finder.find(mesh.path)
    places = ", ".join(finder.tried) or "no folder, as no folders are known"
    return f"mesh {mesh.path!r} was not found (sought in {places}); set ROS_PACKAGE_PATH to the folder that holds its package"


def _warn(name: str, without: dict[str, list[str]]) -> None:
    for reason, bodies in list(without.items())[:_SHOWN]:
        names = ", ".join(map(repr, dict.fromkeys(bodies)))
        warn(f"{name}: {names} drawn without a mesh: {reason}")
    if rest := list(without.values())[_SHOWN:]:
        names = ", ".join(repr(body) for body in dict.fromkeys(body for bodies in rest for body in bodies))
        text = f"{name}: {names} drawn without a mesh: {len(rest)} more meshes that are not found or not readable likewise"
        warn(text)


def pack_surface(surface: Facets) -> dict[str, Any]:
    """A surface for the page: positions in 65536 steps along each axis of its box, and a palette of at most 256 colours."""
    low, high = box_of(surface.vertices)
    step = (high - low) / 65535.0
    places = np.round((surface.vertices - low) / np.where(step > 0.0, step, 1.0))
    wide = len(surface.vertices) > 65536
    data = {
        "low": low.tolist(), "step": step.tolist(), "vertices": places.astype("<u2"),
        "faces": surface.faces.astype("<u4" if wide else "<u2"),
    }  # fmt: skip
    if surface.colors is None:
        return data
    for mask in (0xFF, 0xF8, 0xE0, 0xC0):  # textures have many; these differ less and less
        found, paint = np.unique((surface.colors & mask) @ np.array([1 << 16, 1 << 8, 1]), return_inverse=True)
        if len(found) <= 256:
            break
    return {**data, "palette": [[c >> 16, c >> 8 & 0xFF, c & 0xFF] for c in found.tolist()], "paint": paint.astype("u1")}


# --- the fixed surroundings of a mechanism as they are drawn: unbounded floors are bounded --------------------------------
#: The colour of ground shapes without their own.
GROUND_COLOR = (0.87, 0.88, 0.90, 1.0)
#: The slab drawn for a sloping plane: half its side and its thickness, relative to the extent of the motion.
_SIDE, _THICK = 0.75, 0.03
#: Planes whose normals are this close to the vertical are floors.
_LEVEL = 1e-9


def surroundings(
    ground: Sequence[Geometry], low: np.ndarray, high: np.ndarray
) -> tuple[tuple[Geometry, ...], float | None]:  # fmt: skip
    """The ground of a run as it is drawn: shapes fixed in the world, and the height of the highest level plane [m], or None.

    `ground` has shapes by their poses in the world. Sloping planes are drawn around the motion, from `low` to `high` (3,) [m].
    """
    shapes, floors = [], []
    for item in ground:
        if not item.shape.has_surface:
            continue
        if not item.shape.endless:
            shapes.append(replace(item, color=item.color or GROUND_COLOR))
            continue
        X = np.array(item.pose.matrix(), dtype=float)
        if abs(X[2, 2] - 1.0) < _LEVEL:
            floors.append(float(X[2, 3]))
        else:
            shapes.append(replace(_slab(X, low, high), color=item.color or GROUND_COLOR))
    return tuple(shapes), max(floors, default=None)


def _slab(X: np.ndarray, low: np.ndarray, high: np.ndarray) -> Geometry:
    """A piece of the half space z ≤ 0 of the frame X (4, 4), under the middle of the motion."""
    reach = float(np.linalg.norm(high - low)) or 1.0
    normal, middle = X[:3, 2], 0.5 * (low + high)
    thick = _THICK * reach
    at = middle - ((middle - X[:3, 3]) @ normal + 0.5 * thick) * normal
    return Geometry(Box((2.0 * _SIDE * reach, 2.0 * _SIDE * reach, thick)), pose(at.tolist(), matrix=X[:3, :3].tolist()))
