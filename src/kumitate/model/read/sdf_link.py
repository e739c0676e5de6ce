"""The links of an SDF file: inertia, shapes and colours."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path

import numpy as np

from ...scalar import floats
from ...spatial import Transform
from ..elements import Body
from ..shapes import Geometry, Mesh, Plane, Shape
from ..tree.tree import alignment
from .inertia import usable_inertia
from .meshes import MeshFinder
from .notes import Notes
from .sdf_frames import Frames
from .sdf_masks import Mask, read_mask
from .sdf_values import read_number, read_numbers, read_pose, read_text, read_word, relative_to
from .shapes import read_shape
from .xml import TEXT, Element

#: The masks of a collision that nothing may touch.
NOTHING = Mask(0, 0)
Color = tuple[float, float, float, float]


class SdfLinkReader:
    """Reads the links of one file."""

    def __init__(self, frames: Frames, notes: Notes, *, static: Collection[str] = (), fix_inertia: bool = False):
        self.frames = frames
        #: the scopes of models that do not move
        self.static = static
        #: finds the meshes of a file, by the file: included ones have theirs beside them
        self.meshes: dict[str, MeshFinder] = {}
        self.notes = notes
        self.fix_inertia = fix_inertia
        self.missing: list[tuple[str, int]] = []
        #: the masks of the collisions of each body that has any
        self.masks: dict[str, list[Mask]] = {}

    def body(self, link: Element, key: str, scope: str) -> Body:
        """The body of the link with this key in the models of `scope`; its frame is the link's."""
        mass, place, rows = self._inertial(link, key, scope)
        shapes = [tuple(self._shapes(link, role, key, scope)) for role in ("visual", "collision")]
        with (link.child("inertial") or link).located():
            return Body(key, mass, tuple(floats(place.translation)), rows.tolist(), *shapes)

    def _pose(self, owner: Element, key: str, scope: str) -> Transform:
        """The pose of a part of a link, in the link."""
        part = owner.child("pose")
        named = relative_to(part)
        if part is None or named is None:
            return read_pose(part).dense()
        return (self.frames.relative(self.frames.key(scope, named), key, part) @ read_pose(part)).dense()

    # --- inertia --------------------------------------------------------------------------------------------------------
    def _inertial(self, link: Element, key: str, scope: str) -> tuple[float, Transform, np.ndarray]:
        """Mass, the pose of the inertial frame in the link, and inertia about its origin in the link's axes."""
        inertial = link.child("inertial")
        if inertial is None and any(scope.startswith(held) for held in self.static):
            return 0.0, Transform(), np.zeros((3, 3))
        if inertial is None:
            remark = "links without <inertial>, which by SDF's rule have 1 kg and 1 kg·m² about every axis"
            self.notes.add(remark, key, link.line)
            return 1.0, Transform(), np.eye(3)
        if read_word(inertial, "auto"):
            raise inertial.error(
                f"link {key!r}: inertias are not computed from shapes (auto={inertial.get('auto')!r}); write the numbers"
            )
        mass, place = read_number(inertial, "mass", 1.0), self._pose(inertial, key, scope)
        if mass < 0.0:
            said = f"link {key!r}: <mass> {mass:g} is negative; a mass is zero or more, in kilograms"
            raise inertial.need_child("mass").error(said)
        tensor = inertial.child("inertia")
        if tensor is None:
            return mass, place, np.eye(3)
        xx, yy, zz = (read_number(tensor, tag, 1.0) for tag in ("ixx", "iyy", "izz"))
        xy, xz, yz = (read_number(tensor, tag, 0.0) for tag in ("ixy", "ixz", "iyz"))
        rows = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        rows = usable_inertia(rows, mass, key, self.notes, line=tensor.line, fix=self.fix_inertia)
        rotation = np.array([list(row) for row in place.rotation.matrix()])
        if not np.array_equal(rotation, np.eye(3)):
            rows = rotation @ rows @ rotation.T
            rows = (rows + rows.T) / 2.0
        return mass, place, rows

    # --- shapes ---------------------------------------------------------------------------------------------------------
    def _shapes(self, link: Element, role: str, key: str, scope: str) -> Iterator[Geometry]:
        for item in link.all(role):
            name = item.get("name") or ""
            geometry = item.child("geometry")
            shape, turn = (None, Transform()) if geometry is None else self._shape(geometry)
            if shape is None:
                kinds = ", ".join(f"<{part.tag}>" for part in geometry.children) if geometry is not None else ""
                remark = f"<{role}> of no shape that is known here{f' ({kinds})' * bool(kinds)}, left out"
                self.notes.leave(item, remark, name or key)
            elif role == "collision" and (mask := read_mask(item)) == NOTHING:
                self.notes.leave(item, "<collision> with a bitmask of 0, which nothing may touch, left out", name or key)
            else:
                if role == "collision":
                    self.masks.setdefault(key, []).append(mask)
                with item.located():
                    found = Geometry(shape, (self._pose(item, key, scope) @ turn).dense(), self._color(item), name)
                yield found

    def _shape(self, geometry: Element) -> tuple[Shape | None, Transform]:
        """A shape, and its pose where the format gives it there: the normal of a plane, which has no end."""
        part = geometry.child("plane")
        if part is None:
            return read_shape(geometry, self._mesh, self._lengths), Transform()
        normal, size = part.child("normal"), part.child("size")
        direction = np.array((0.0, 0.0, 1.0) if normal is None else read_numbers(normal, 3))
        if size is not None:
            read_numbers(size, 2)
        if not direction.any():
            raise part.error("<normal> 0 0 0 has no direction; write 0 0 1 for a level plane")
        return Plane(), Transform(alignment((direction / np.linalg.norm(direction)).tolist(), None))

    def _lengths(self, part: Element, tag: str, count: int = 1) -> tuple[float, ...]:
        values = read_numbers(part.need_child(tag), count)
        if min(values) < 0.0:
            size = part.need_child(tag)
            raise size.error(
                f"<{tag}> {size.text.strip()!r} of the {part.tag} is negative; lengths are zero or more, in metres"
            )
        return values

    def _mesh(self, part: Element) -> Mesh | None:
        uri = read_text(part, "uri")
        if uri is None:
            return None
        scale = part.child("scale")
        x, y, z = (1.0, 1.0, 1.0) if scale is None else read_numbers(scale, 3)
        path = None if part.source == TEXT else Path(part.source).expanduser()
        resolved = self.meshes.setdefault(part.source, MeshFinder(path)).find(uri)
        if resolved is None:
            self.missing.append((uri, part.line))
        return Mesh(uri, (x, y, z), resolved)

    def _color(self, item: Element) -> Color | None:
        """The colour: the diffuse one, or else the ambient one."""
        material = item.child("material")
        part = None if material is None else material.child("diffuse") or material.child("ambient")
        if part is None:
            return None
        values = read_numbers(part, 3, 4)
        if min(values) < 0.0 or max(values) > 1.0:
            self.notes.add("colours outside 0…1, clipped", line=part.line)
        red, green, blue, *opacity = (min(max(value, 0.0), 1.0) for value in values)
        return red, green, blue, *(opacity or (1.0,))  # type: ignore[return-value]
