"""The shapes of MJCF: geoms as what is drawn and what touches."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ....spatial import Transform
from ...shapes import Box, Capsule, Cylinder, Ellipsoid, Geometry, HeightField, Hull, Mesh, Plane, Shape, Sphere
from ..xml import Notes
from .compiled import CompiledModel, placed

#: By MuJoCo's type of geom: the shape of its size, which has half lengths.
SHAPES: dict[str, Callable[[Any], Shape]] = {
    "plane": lambda size: Plane(),
    "sphere": lambda size: Sphere(size[0]),
    "capsule": lambda size: Capsule(size[0], 2.0 * size[1]),
    "cylinder": lambda size: Cylinder(size[0], 2.0 * size[1]),
    "ellipsoid": lambda size: Ellipsoid((size[0], size[1], size[2])),
    "box": lambda size: Box((2.0 * size[0], 2.0 * size[1], 2.0 * size[2])),
}

#: Groups of geoms that MuJoCo's viewers draw at first; the others are for contact.
_DRAWN = (0, 1, 2)
#: The colour of geoms without one.
_NO_COLOR = np.array([0.5, 0.5, 0.5, 1.0], dtype=np.float32)


def touches(model: Any, geom: int) -> bool:
    """Whether masks or a pair let a geom touch others; otherwise it is only drawn."""
    return bool(
        model.geom_contype[geom] or model.geom_conaffinity[geom] or geom in model.pair_geom1 or geom in model.pair_geom2
    )


class Shapes:
    """Reads the geoms of one model."""

    def __init__(self, compiled: CompiledModel, notes: Notes):
        self._compiled, self._notes = compiled, notes
        self._meshes = {mesh.id: mesh for mesh in compiled.spec.meshes if mesh.id >= 0}

    def of(self, body: int) -> tuple[tuple[Geometry, ...], tuple[Geometry, ...]]:
        """What is drawn of a body, and what touches: geoms that no mask and no pair lets touch are drawn only."""
        model = self._compiled.model
        visuals, collisions = [], []
        first = int(model.body_geomadr[body])
        for geom in range(first, first + int(model.body_geomnum[body])):
            made = self._geometry(geom)
            if made is None:
                continue
            may_touch = touches(model, geom)
            if may_touch:
                collisions.append(replace(made, friction=float(model.geom_friction[geom][0])))
            if not may_touch or int(model.geom_group[geom]) in _DRAWN:
                visuals.append(made)
        return tuple(visuals), tuple(collisions)

    def _geometry(self, geom: int) -> Geometry | None:
        model, compiled = self._compiled.model, self._compiled
        kind, where = compiled.enum("mjtGeom", model.geom_type[geom]), placed(model.geom_pos[geom], model.geom_quat[geom])
        shape: Shape
        if kind in ("mesh", "sdf"):
            shape, where = self._mesh(int(model.geom_dataid[geom]), where)
        elif kind == "hfield":
            shape = self._height_field(int(model.geom_dataid[geom]))
        elif kind in SHAPES:
            shape = SHAPES[kind](model.geom_size[geom].tolist())
        else:
            self._notes.add(
                f"geoms of type {kind}, of which there is no shape here, left out",
                compiled.names("geom")[geom], compiled.line("geom", geom),
            )  # fmt: skip
            return None
        return Geometry(shape, where, self._color(geom), compiled.names("geom")[geom])

    def _color(self, geom: int) -> tuple[float, float, float, float]:
        model = self._compiled.model
        own, material = model.geom_rgba[geom], int(model.geom_matid[geom])
        rgba = model.mat_rgba[material] if material >= 0 and np.array_equal(own, _NO_COLOR) else own
        red, green, blue, opacity = np.clip(rgba, 0.0, 1.0).tolist()
        return red, green, blue, opacity

    def _height_field(self, field: int) -> HeightField:
        """Its surface; MuJoCo has heights as parts of the largest, and half lengths, and a box of some depth below."""
        model, first = self._compiled.model, int(self._compiled.model.hfield_adr[field])
        rows, columns = int(model.hfield_nrow[field]), int(model.hfield_ncol[field])
        half_x, half_y, highest, _ = model.hfield_size[field].tolist()
        parts = model.hfield_data[first : first + rows * columns].astype(float).reshape(rows, columns)
        return HeightField(tuple(map(tuple, (parts * highest).tolist())), (2.0 * half_x, 2.0 * half_y))

    def _mesh(self, mesh: int, where: Transform) -> tuple[Shape, Transform]:
        """The mesh's file, or the hull of its corners if it has none that says the same; and the pose of either.

        MuJoCo moves meshes to their centers and principal axes, and its geoms with them: file → R(refquat)ᵀ (p − refpos),
        scaled, → its own corners by the inverse of (mesh_pos, mesh_quat).
        """
        model, given = self._compiled.model, self._meshes.get(mesh)
        found = None if given is None else self._file(given)
        turn = Transform() if given is None else placed((0.0, 0.0, 0.0), given.refquat)
        scale = model.mesh_scale[mesh]
        uniform = bool(np.all(scale == scale[0])) or turn.almost_equal(Transform(), 0.0)
        if given is None or found is None or not uniform:
            first = int(model.mesh_vertadr[mesh])
            corners = model.mesh_vert[first : first + int(model.mesh_vertnum[mesh])].astype(float)
            self._notes.add(
                "meshes that are not in a file that can be read (.stl, .obj, .dae, .ply), drawn as their convex hulls",
                self._compiled.names("mesh")[mesh], self._compiled.line("mesh", mesh),
            )  # fmt: skip
            return Hull(tuple(map(tuple, corners.tolist()))), where
        shift = placed((-scale * np.asarray(given.refpos)).tolist(), (1.0, 0.0, 0.0, 0.0))
        moved = placed(model.mesh_pos[mesh], model.mesh_quat[mesh])
        shape = Mesh(given.file, tuple(scale.tolist()), str(found))
        if not turn.almost_equal(Transform(), 0.0):  # uniform scale, which commutes with the turn
            shift = turn.inverse() @ shift
        return shape, (where @ moved.inverse() @ shift).dense()

    def _file(self, mesh: Any) -> Path | None:
        """The file of a mesh, if it is of a kind that is read here."""
        if not mesh.file or Path(mesh.file).suffix.lower() not in (".stl", ".obj", ".dae", ".ply"):
            return None
        spec = self._compiled.spec
        folder = Path(spec.modelfiledir or ".")
        for place in (folder / (spec.meshdir or "") / mesh.file, folder / mesh.file):
            if place.is_file():
                return place
        return None
