"""The shapes of bodies in formats that have few kinds of shapes."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from ..mechanism import Mechanism
from ..read.notes import Notes
from ..shapes import Geometry, Mesh


def mesh_path(mesh: Mesh, folder: Path) -> str:
    """The path of a mesh for a file in a folder: relative to it, or the path in the model file where the mesh was not found."""
    if "://" in mesh.path or mesh.resolved is None:
        return mesh.path
    try:
        return Path(os.path.relpath(mesh.resolved, folder)).as_posix()
    except ValueError:  # on another drive of Windows
        return Path(mesh.resolved).as_posix()


def leave_shapes(mechanism: Mechanism, known: Mapping[str, object], notes: Notes) -> None:
    """Notes the shapes whose kinds are not among those known, and are left out."""
    for body in mechanism.bodies:
        for item in (*body.visuals, *body.collisions):
            if item.shape.kind not in known:
                notes.add(f"shapes of the kind {item.shape.kind}, left out", _called(body.name, item))


def _called(body: str, item: Geometry) -> str:
    return f"{body}/{item.name}" if item.name else body
