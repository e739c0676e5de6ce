"""The meshes of a mechanism for the page: loading, thinning and packing."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import InputError, warn
from ..model import Body, Geometry, Mechanism, Mesh
from ..model.meshes import Facets, decimated
from ..model.read.shapes import MeshFinder

_SHOWN = 3
#: Faces per mesh on a page, by the largest number of meshes: about 150 000 in all.
_FACES = ((12, 12000), (25, 6000), (50, 3000))
_FEWEST = 2000


def unscaled(mesh: Mesh) -> Mesh:
    """The mesh as in its file. Pages store it once for all scales and reflections."""
    return replace(mesh, scale=(1.0, 1.0, 1.0))


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
    low, high = surface.vertices.min(axis=0), surface.vertices.max(axis=0)
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
        palette, paint = np.unique(surface.colors & mask, axis=0, return_inverse=True)
        if len(palette) <= 256:
            break
    return {**data, "palette": palette.tolist(), "paint": paint.ravel().astype("u1")}
