"""Shapes of bodies as geoms of MJCF; meshes are assets, each once."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element, SubElement

from ..elements import Body
from ..read.notes import Notes
from ..shapes import Geometry, Mesh
from .geometry import mesh_path
from .numbers import numbers, quaternion, xyz

#: The kinds of shapes that MJCF has, and the sizes of each: half of lengths along axes.
KINDS_OF_GEOMS: dict[str, Any] = {
    "box": lambda shape: [0.5 * edge for edge in shape.size],
    "sphere": lambda shape: [shape.radius],
    "cylinder": lambda shape: [shape.radius, 0.5 * shape.length],
    "capsule": lambda shape: [shape.radius, 0.5 * shape.length],
    "mesh": None,
}
#: Formats of meshes that MuJoCo reads.
_MESHES = (".stl", ".obj", ".msh")


class ShapeWriter:
    """Adds shapes to bodies, and meshes to the assets."""

    def __init__(self, assets: Element, folder: Path, notes: Notes):
        self._assets, self._folder, self._notes = assets, folder, notes
        self._meshes: dict[Mesh, str] = {}

    def add(self, element: Element, body: Body) -> None:
        """The shapes of a body: visuals in group 2, which touch nothing, and collisions in group 3, which is not drawn."""
        for items, group, touching in ((body.visuals, "2", "0"), (body.collisions, "3", "1")):
            for item in items:
                sizes = self._sizes(item, body.name)
                if sizes is not None:
                    geom = SubElement(element, "geom", sizes, pos=xyz(item.pose), quat=numbers(quaternion(item.pose)))
                    geom.attrib.update(mass="0", group=group, contype=touching, conaffinity=touching)
                    if item.color is not None:
                        geom.set("rgba", numbers(item.color))
                    if item.friction is not None:
                        geom.set("friction", numbers([item.friction]))

    def _sizes(self, item: Geometry, body: str) -> dict[str, str] | None:
        shape = item.shape
        if isinstance(shape, Mesh):
            name = self._mesh(shape, body)
            return None if name is None else {"type": "mesh", "mesh": name}
        sizes = KINDS_OF_GEOMS.get(shape.kind)
        return None if sizes is None else {"type": shape.kind, "size": numbers(sizes(shape))}

    def _mesh(self, mesh: Mesh, body: str) -> str | None:
        """The name of the asset; None for files that MuJoCo does not read."""
        if mesh.resolved is None or Path(mesh.resolved).suffix.lower() not in _MESHES:
            self._notes.add(f"meshes that are not found, or none of {', '.join(_MESHES)}, left out", f"{body} ({mesh.path})")
            return None
        if mesh not in self._meshes:
            self._meshes[mesh] = name = f"{Path(mesh.resolved).stem}_{len(self._meshes)}"
            file = mesh_path(Mesh(mesh.resolved, resolved=mesh.resolved), self._folder)  # a path, where a robot file has a URI
            SubElement(self._assets, "mesh", name=name, file=file, scale=numbers(mesh.scale))
        return self._meshes[mesh]
