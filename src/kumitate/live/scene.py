"""`LiveScene`: a robot's shapes, the forces of contact and the spring, in a viser scene."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from ..model import Geometry, Mesh
from ..model.meshes import Facets
from ..spatial import Transform
from ..view.scene import groups_of, quaternions
from ..view.stick_shapes import drawn_shapes, inertia_block
from ..view.style import PALETTE
from ..view.surfaces import load_surfaces, surface_of, unscaled
from .loop import LiveRobot

#: Shapes whose corners are rounded off by shading.
_ROUND = ("sphere", "capsule", "ellipsoid", "mesh", "height_field")
#: The length of a force of the robot's weight, as a part of its size.
_FORCE = 0.6
_RED, _ORANGE = (213, 94, 0), (230, 159, 0)
_OVER = {"collision shapes": (0, 114, 178), "inertias": (204, 121, 167)}
#: Cells and sections of the grid, in a light and in a dark page.
_GRID = {False: ((215, 218, 222), (165, 170, 178)), True: ((58, 63, 72), (95, 102, 114))}
#: How far the camera is from the middle, in radii of the robot: at 1.6 it fills the picture's height.
_AWAY = 2.1
_NOTHING, _NO_ROWS = np.zeros((1, 2, 3), dtype=np.float32), np.zeros((0, 3))


class LiveScene:
    """A robot in a viser scene: the nodes of its `bodies`, by name, and of the `shapes` of each.

    `OVERLAYS` are what `overlay` shows, and what that is.
    """

    OVERLAYS: ClassVar[Mapping[str, str]] = {
        "frames": "The axes of the bodies: x red, y green, z blue",
        "collision shapes": "What bodies touch with, as wires",
        "inertias": "Uniform boxes, rods and balls with the masses and inertias of the bodies",
    }

    def __init__(self, server: Any, robot: LiveRobot, q: np.ndarray, *, dark: bool = False):
        """Puts the shapes of a robot at q (nq) into the scene of a `viser.ViserServer`, whose page may be dark.

        Warns:
            KumitateWarning: of meshes that are not found.
        """
        mechanism = robot.mechanism
        self._server, self._robot = server, robot
        weight = robot.mass * float(np.linalg.norm(mechanism.gravity))
        poses = robot.poses(q)
        places = np.array([X[:3, 3] for X in poses.values()])
        self.size = float(max(np.ptp(places, axis=0).max(), mechanism.tree.size, 0.1))
        self._per_newton = _FORCE * self.size / (weight or 1.0)
        server.scene.set_up_direction("+z")
        surfaces, groups = load_surfaces(mechanism), groups_of(mechanism)
        corners = [places]
        self.bodies: dict[str, Any] = {}
        self.shapes: dict[str, list[Any]] = {}
        for k, (name, items) in enumerate(drawn_shapes(mechanism, surfaces).items()):
            node = f"/robot/{k}"  # names of bodies may have slashes
            axes = {"axes_length": 0.08 * self.size, "axes_radius": 0.004 * self.size}
            self.bodies[name] = server.scene.add_frame(node, show_axes=False, **axes)
            named = "#969696" if groups[name] < 0 else PALETTE[groups[name] % len(PALETTE)]
            color = tuple(bytes.fromhex(named.removeprefix("#")))
            drawn = [item for item in items if _drawable(item, surfaces)]
            self.shapes[name] = [_add(server, f"{node}/{i}", item, surfaces, color) for i, item in enumerate(drawn)]
            for item in (item for item in drawn if not item.shape.endless):
                X = poses[name] @ np.array(item.pose, dtype=float)
                corners.append(surface_of(item.shape, surfaces).vertices @ X[:3, :3].T + X[:3, 3])
        self._aim(np.concatenate(corners))
        self._lay_grid(float(np.concatenate(corners)[:, 2].min()), dark)
        thickness = 0.006 * self.size
        self._forces = server.scene.add_line_segments("/forces", _NOTHING, _RED, thickness=thickness)
        self._pull = server.scene.add_line_segments("/pull", _NOTHING, _ORANGE, thickness=thickness)
        self._overlays: dict[str, list[Any]] = {}
        self._followed = ""
        self.move(poses)

    def on_drag(self, names: tuple[str, ...], told: Callable[[str, Any], None]) -> None:
        """Has `told(body, event)` called while a body of these is dragged with the mouse, with Shift or without."""
        for name in names:
            for handle in self.shapes.get(name, ()):

                async def dragged(event: Any, name: str = name) -> None:  # in the order of events: not in a pool of threads
                    told(name, event)

                for modifier in (None, "shift"):
                    handle.on_drag("left", modifier=modifier)(dragged)

    def move(self, poses: dict[str, np.ndarray]) -> None:
        """Moves the bodies to poses X_WB (4, 4), by name."""
        turns = quaternions(np.array([X[:3, :3] for X in poses.values()]))
        for (name, X), turn in zip(poses.items(), turns, strict=True):
            self.bodies[name].position, self.bodies[name].wxyz = X[:3, 3], turn[[3, 0, 1, 2]]
        if self._followed:
            for camera in [client.camera for client in self._server.get_clients().values()]:
                # what a browser says of its camera is late: the middle is set, and only the direction is taken from it
                camera.position = camera.position + poses[self._followed][:3, 3] - camera.look_at

    def follow(self, body: str) -> None:
        """Has the cameras of all browsers look at a body and move along with it; "" for none."""
        self._followed = body

    def overlay(self, name: str, shown: bool) -> None:
        """Shows or hides one of `OVERLAYS` on all bodies."""
        if name == "frames":
            for node in self.bodies.values():
                node.show_axes = shown
            return
        for handle in self._overlays.setdefault(name, []) or self._drawn_over(name):
            handle.visible = shown

    def _drawn_over(self, name: str) -> list[Any]:
        """The nodes of an overlay, by wires."""
        mechanism, radius = self._robot.mechanism, 0.004 * self.size
        shapes = {body.name: body.collisions for body in mechanism.bodies}
        if name == "inertias":
            shapes = {body.name: (inertia_block(body, radius),) for body in mechanism.bodies if body.mass > 0.0}
        asked = replace(mechanism, bodies=tuple(replace(body, visuals=shapes.get(body.name, ())) for body in mechanism.bodies))
        surfaces, nodes = load_surfaces(asked), self._overlays[name]
        for body, items in shapes.items():
            for k, item in enumerate(item for item in items if _drawable(item, surfaces)):
                surface, node = surface_of(item.shape, surfaces), f"{self.bodies[body].name}/{name} {k}"
                options = {"color": _OVER[name], "wireframe": True, **_placed(item.pose)}
                nodes.append(self._server.scene.add_mesh_simple(node, surface.vertices, surface.faces, **options))
        return nodes

    def show_forces(self, positions: np.ndarray = _NO_ROWS, forces: np.ndarray = _NO_ROWS) -> None:
        """Draws forces (m, 3) [N] as lines from positions (m, 3) [m]; as long as 0.6 of the robot for its weight."""
        self._forces.points = _segments(positions, positions + self._per_newton * forces)

    def show_pull(self, begin: np.ndarray | None = None, end: np.ndarray | None = None) -> None:
        """Draws the spring from a point (3,) to another [m]; nothing without them."""
        self._pull.points = _NOTHING if begin is None or end is None else _segments(begin[None], end[None])

    def _lay_grid(self, lowest: float, dark: bool) -> None:
        """The ground at height 0; below a robot that hangs deeper, which its lines would cross."""
        section = 10.0 ** math.ceil(math.log10(self.size) - 0.5)  # 1 m for a robot of 0.3 to 3 m
        cells, sections = _GRID[dark]
        self._server.scene.add_grid(
            "/ground", infinite_grid=True, position=(0.0, 0.0, lowest if lowest < -0.1 * self.size else 0.0),
            cell_size=0.2 * section, section_size=section, fade_distance=8.0 * self.size,
            cell_color=cells, section_color=sections,
        )  # fmt: skip

    def _aim(self, corners: np.ndarray) -> None:
        """Looks at points (m, 3) from in front, from the right and from above, so that all are seen."""
        least, most = corners.min(axis=0), corners.max(axis=0)
        radius, middle = max(0.5 * float(np.linalg.norm(most - least)), 0.05), 0.5 * (least + most)
        camera = self._server.initial_camera
        camera.position, camera.look_at = middle + _AWAY * radius * np.array([0.51, -0.77, 0.38]), middle


def _drawable(item: Geometry, surfaces: dict[Mesh, Facets]) -> bool:
    return not isinstance(item.shape, Mesh) or unscaled(item.shape) in surfaces


def _add(server: Any, node: str, item: Geometry, surfaces: dict[Mesh, Facets], color: tuple[int, ...]) -> Any:
    """The node of a shape; a mesh with colours of its own has those of its faces."""
    shape = item.shape
    surface, where = surface_of(shape, surfaces), _placed(item.pose)
    if surface.colors is not None and (surface.colors != surface.colors[0]).any():
        import trimesh

        mesh = trimesh.Trimesh(surface.vertices, surface.faces, face_colors=surface.colors, process=False)
        return server.scene.add_mesh_trimesh(node, mesh, **where)
    if item.color is not None:
        color = tuple(round(255 * float(part)) for part in item.color[:3])
    elif surface.colors is not None:
        color = tuple(surface.colors[0].tolist())
    opacity = float(item.color[3]) if item.color is not None and len(item.color) > 3 and item.color[3] < 1.0 else None
    return server.scene.add_mesh_simple(
        node, surface.vertices, surface.faces, color=color, opacity=opacity, flat_shading=shape.kind not in _ROUND,
        side="double", receive_shadow=False, **where,
    )  # fmt: skip


def _placed(pose: Transform) -> dict[str, Any]:
    X = np.asarray(pose.matrix(), dtype=float)
    return {"position": X[:3, 3], "wxyz": quaternions(X[None, :3, :3])[0][[3, 0, 1, 2]]}


def _segments(begin: np.ndarray, end: np.ndarray) -> np.ndarray:
    """(m, 2, 3) float32 for viser; one without length in the place of none."""
    return np.stack([begin, end], axis=1).astype(np.float32) if len(begin) else _NOTHING
