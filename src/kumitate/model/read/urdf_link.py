"""The links of a URDF: inertia, shapes and colours."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ...scalar import floats
from ...spatial import Transform, pose
from ..elements import Body
from ..shapes import Geometry, Mesh
from .inertia import usable_inertia
from .meshes import MeshFinder
from .notes import Notes
from .shapes import read_shape
from .xml import Element

Color = tuple[float, float, float, float]

_ZERO = (0.0, 0.0, 0.0)


def read_origin(element: Element) -> Transform:
    """The pose that an element's <origin> gives: xyz [m], rpy [rad]."""
    origin = element.child("origin")
    if origin is None:
        return Transform()
    return pose(origin.numbers("xyz", 3, _ZERO), origin.numbers("rpy", 3, _ZERO))


class LinkReader:
    """Reads the links of one file."""

    def __init__(self, robot: Element, meshes: MeshFinder, notes: Notes, *, fix_inertia: bool = False):
        self.meshes = meshes
        self.notes = notes
        self.fix_inertia = fix_inertia
        self.missing: list[tuple[str, int]] = []
        self.colors: dict[str, Color] = {}
        #: materials outside of links that are not used so far, by name
        self.unused: dict[str, list[Element]] = {}
        # a colour may be given at one link and used by name in others
        outside = robot.all("material")
        visuals = [visual for link in robot.all("link") for visual in link.all("visual")]
        inside = [part for part in (visual.child("material") for visual in visuals) if part is not None]
        for index, material in enumerate([*outside, *inside]):
            name, color = material.get("name") or "", self._own_color(material)
            if color is not None and self.colors.setdefault(name, color) != color and name:
                notes.add("materials of one name with different colours; each shape keeps its own colour", name, material.line)
            if index < len(outside):
                self.unused.setdefault(name, []).append(material)

    def body(self, link: Element, name: str) -> Body:
        """The body of a link, with the name `name`."""
        mass, center, inertia = self._inertial(link)
        visuals = tuple(self._shapes(link, "visual"))
        collisions = tuple(self._shapes(link, "collision"))
        with (link.child("inertial") or link).located():
            return Body(name, mass, center, inertia, visuals, collisions)

    def leave_unused(self) -> None:
        """Adds a remark on unused materials; to be called when all links are read."""
        for name, materials in self.unused.items():
            for material in materials:
                self.notes.leave(material, "<material> that no shape has, not used", name)

    # --- inertia --------------------------------------------------------------------------------------------------------
    def _inertial(self, link: Element) -> tuple[float, tuple[float, ...], list[list[float]]]:
        """Mass, center of mass in the link's frame, inertia about it in the link's axes."""
        inertial = link.child("inertial")
        if inertial is None:
            return 0.0, _ZERO, np.zeros((3, 3)).tolist()
        mass, tensor = inertial.need_child("mass"), inertial.need_child("inertia")
        weight = mass.number("value")
        owner = link.get("name") or ""
        if weight < 0.0:
            raise mass.error(
                f'link {owner!r}: <mass> value="{mass.get("value")}" is negative; a mass is zero or more, in kilograms'
            )
        xx, yy, zz = (tensor.number(key) for key in ("ixx", "iyy", "izz"))
        xy, xz, yz = (tensor.number(key, 0.0) for key in ("ixy", "ixz", "iyz"))
        rows = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        rows = usable_inertia(rows, weight, owner, self.notes, line=tensor.line, fix=self.fix_inertia)
        place = read_origin(inertial)
        rotation = np.array([list(row) for row in place.rotation.matrix()])
        if not np.array_equal(rotation, np.eye(3)):
            rows = rotation @ rows @ rotation.T
            rows = (rows + rows.T) / 2.0
        return weight, tuple(floats(place.translation)), rows.tolist()

    # --- shapes ---------------------------------------------------------------------------------------------------------
    def _shapes(self, link: Element, role: str) -> Iterator[Geometry]:
        for item in link.all(role):
            geometry = item.child("geometry")
            shape = None if geometry is None else read_shape(geometry, self._mesh, self._lengths)
            if shape is None:
                self.notes.leave(item, f"<{role}> without a shape, left out", link.get("name") or "")
            else:
                yield Geometry(shape, read_origin(item), self._color(item, link), item.get("name") or "")

    def _lengths(self, part: Element, key: str, count: int = 1) -> tuple[float, ...]:
        values = part.numbers(key, count)
        if min(values) < 0.0:
            raise part.error(f'<{part.tag}> {key}="{part.get(key)}" is negative; lengths are zero or more, in metres')
        return values

    def _mesh(self, part: Element) -> Mesh | None:
        uri = part.get("filename")
        if not uri:
            return None
        uniform = len((part.get("scale") or "").split()) == 1
        x, y, z = part.numbers("scale", 1) * 3 if uniform else part.numbers("scale", 3, (1.0, 1.0, 1.0))
        resolved = self.meshes.find(uri)
        if resolved is None:
            self.missing.append((uri, part.line))
        return Mesh(uri, (x, y, z), resolved)

    # --- colours --------------------------------------------------------------------------------------------------------
    def _color(self, item: Element, link: Element) -> Color | None:
        material = item.child("material")
        if material is None:
            return None
        name, own = material.get("name") or "", self._own_color(material)
        if own is not None:
            return own
        self.unused.pop(name, None)
        if name not in self.colors and not any(part.tag == "texture" for part in material.children):
            self.notes.add(
                f"material {name!r} is not defined; the viewer chooses the colour", link.get("name") or "", item.line
            )
        return self.colors.get(name)

    def _own_color(self, material: Element) -> Color | None:
        part = material.child("color")
        if part is None:
            return None
        rgba = part.numbers("rgba", 4)
        if min(rgba) < 0.0 or max(rgba) > 1.0:
            self.notes.add("colours outside 0…1, clipped", material.get("name") or "", part.line)
        red, green, blue, opacity = (min(max(value, 0.0), 1.0) for value in rgba)
        return red, green, blue, opacity
