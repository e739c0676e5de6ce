"""The shapes that a mechanism is drawn with: its own where they can be drawn, otherwise a textbook skeleton.

A skeleton link is a slim capsule from the body's frame to each joint that it carries, or, at the end of a branch, to the point
where a uniform rod of the body's inertia would end. Revolute joints are short cylinders along their axes, sliders blocks,
others balls.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from statistics import median

import numpy as np

from ..model import WORLD, Body, Box, Capsule, Cylinder, Geometry, Joint, Mechanism, Mesh, Sphere
from ..model.joints import KINDS, Distance, Line, RollingDisc, RollingSphere
from ..model.tree.tree import alignment
from ..scalar import floats
from ..spatial import Transform, pose


def drawn_shapes(mechanism: Mechanism, meshes: Collection[Mesh] = ()) -> dict[str, tuple[Geometry, ...]]:
    """The shapes of each body by its name, in its frame, and the fixed ones under "world".

    `meshes` are those that can be drawn, at any scale; others are left out. If there are any, and all bodies with mass have
    shapes, frames without mass and shape are not drawn.
    """
    drawable = {(mesh.path, mesh.resolved) for mesh in meshes}
    own = {body.name: _own_shapes(body, drawable) for body in mechanism.bodies}
    shown = [own[body.name] is not None for body in mechanism.bodies if body.mass > 0.0]
    if drawable or (shown and all(shown)):
        own = {body.name: () if own[body.name] is None and body.mass == 0.0 else own[body.name] for body in mechanism.bodies}
    points = _attachments(mechanism)
    parents, dressed = {joint.parent for joint in mechanism.joints}, any(items for items in own.values())
    radius = _link_radius(mechanism, points)
    rolling = {loop.body_b for loop in mechanism.loops if isinstance(loop.kind, RollingDisc | RollingSphere)}
    shapes: dict[str, list[Geometry]] = {WORLD: []}
    for joint, body in zip(mechanism.joints, mechanism.bodies, strict=True):
        if (given := own[body.name]) is not None:
            shapes[body.name] = list(given)
            continue
        # a body fixed to another is part of it, often only a frame with an invented inertia: it has no block, and neither has
        # a link between others that have shapes
        part = (joint.kind.nv == 0 or dressed) and joint.parent != WORLD  # type: ignore[union-attr]
        no_block = part or body.name in parents | rolling
        shapes[body.name] = _link(body, points[body.name], no_block, radius) + _marker(joint, radius)
        if joint.parent == WORLD and joint.kind.name == "revolute":
            pin = Geometry(Cylinder(1.1 * radius, 6.0 * radius), joint.pose @ _along(np.asarray(joint.axis), np.zeros(3)))
            shapes[WORLD].append(pin)
    for loop in mechanism.loops:
        if isinstance(loop.kind, RollingDisc | RollingSphere):
            if loop.body_b != WORLD and own[loop.body_b] is None:  # what rolls has no shape of its own
                R, r = alignment(loop.axis, loop.second_axis), loop.kind.radius
                wheel = Sphere(r) if isinstance(loop.kind, RollingSphere) else Cylinder(r, 0.06 * r)
                shapes[loop.body_b].append(Geometry(wheel, loop.pose_b @ Transform(R)))
            continue
        ends = {loop.body_a: loop.pose_a, loop.body_b: loop.pose_b}
        bare = {name for name in ends if name != WORLD and own[name] is None}
        for name, place in ends.items():
            if name in bare or (name == WORLD and bare):  # bodies with shapes show their joints themselves
                shapes[name].append(Geometry(Sphere(1.7 * radius), place))
    return {name: tuple(items) for name, items in shapes.items()}


def body_tip(body: Body) -> np.ndarray:
    """The end of a body that carries no other, in its frame, (3,) [m]: the far end of a uniform rod of its inertia.

    A rod of mass m from its end to its middle c has the transverse inertia m|c|²/3; a more compact body is shorter, a point
    mass ends at c.
    """
    center = np.asarray(body.center_of_mass)
    distance = float(np.linalg.norm(center))
    if body.mass <= 0.0 or distance < 1e-9:
        return center
    direction = center / distance
    rows = np.asarray(body.inertia)
    across = 0.5 * float(np.trace(rows) - direction @ rows @ direction)
    return center + direction * min(np.sqrt(max(3.0 * across / body.mass, 0.0)), distance)


def _own_shapes(body: Body, drawable: set[tuple[str, str | None]]) -> tuple[Geometry, ...] | None:
    """The drawable shapes of a body in the model; None if a skeleton must replace them.

    For visuals with meshes the drawable ones are enough; collision shapes replace visuals only if all of them can be drawn.
    Shapes without a surface do not count.
    """
    visuals, collisions = ([item for item in items if item.shape.has_surface] for items in (body.visuals, body.collisions))
    for source in (visuals, collisions):
        found = [(item.shape.path, item.shape.resolved) for item in source if isinstance(item.shape, Mesh)]
        usable = tuple(
            item for item in source if not isinstance(item.shape, Mesh) or (item.shape.path, item.shape.resolved) in drawable
        )
        if usable and (len(usable) == len(source) or (source is visuals and not drawable.isdisjoint(found))):
            return usable
    return None


def _attachments(mechanism: Mechanism) -> dict[str, list[np.ndarray]]:
    """The points of each body where joints are attached, in its frame; for the end of a branch its tip."""
    points: dict[str, list[np.ndarray]] = {name: [] for name in (WORLD, *(body.name for body in mechanism.bodies))}
    places = [(joint.parent, joint.pose) for joint in mechanism.joints]
    places += [end for loop in mechanism.loops for end in ((loop.body_a, loop.pose_a), (loop.body_b, loop.pose_b))]
    for name, place in places:
        points[name].append(np.array(list(place.translation), dtype=float))
    for body in mechanism.bodies:
        if not points[body.name] and body.mass > 0.0:
            points[body.name].append(body_tip(body))
    return points


def _link_radius(mechanism: Mechanism, points: dict[str, list[np.ndarray]]) -> float:
    """The radius of the links [m]: slim relative to the whole mechanism, and to its typical link."""
    lengths = [float(np.linalg.norm(p)) for body in mechanism.bodies for p in points[body.name]]
    lengths = [length for length in lengths if length > 1e-6]
    if not lengths:
        return 0.04 * max([0.5, *(float(inertia_box(body)[0].max()) for body in mechanism.bodies)])
    reach: dict[str, float] = {WORLD: 0.0}
    for joint in mechanism.joints:
        offset = 0.0 if joint.parent == WORLD else float(np.linalg.norm(floats(joint.pose.translation)))
        reach[joint.child] = reach[joint.parent] + offset
    farthest = {name: max([0.0, *(float(np.linalg.norm(point)) for point in items)]) for name, items in points.items()}
    whole = max(reach[body.name] + farthest[body.name] for body in mechanism.bodies)
    return min(0.02 * whole, 0.12 * median(lengths))


def _link(body: Body, points: Sequence[np.ndarray], carries: bool, radius: float) -> list[Geometry]:
    """A capsule to each point; an inertia block if a branch ends with its center of mass in its joint."""
    lengths = ((point, float(np.linalg.norm(point))) for point in points)
    shapes = [Geometry(Capsule(radius, long), _along(point, 0.5 * point)) for point, long in lengths if long > 2.0 * radius]
    if carries or body.mass <= 0.0:
        return shapes
    if not shapes:
        return [inertia_block(body, radius)]
    if 100.0 * float(np.trace(body.inertia)) < body.mass * float(np.dot(body.center_of_mass, body.center_of_mass)):
        shapes.append(Geometry(Sphere(3.0 * radius), pose(xyz=body.center_of_mass)))  # nearly a point mass: a bob
    return shapes


def _marker(joint: Joint, radius: float) -> list[Geometry]:
    along = _along(np.asarray(joint.axis), np.zeros(3))
    marks = {
        "": [],
        "hinge": [Geometry(Cylinder(1.7 * radius, 3.6 * radius), along)],
        "slider": [Geometry(Box((4.4 * radius, 4.4 * radius, 8.0 * radius)), along)],
        "ball": [Geometry(Sphere(1.9 * radius))],
    }
    return marks[joint.kind.drawn_as]


def inertia_box(body: Body) -> tuple[np.ndarray, np.ndarray]:
    """The uniform box with a body's mass and inertia: its edges (3,) [m], ascending, and their directions as columns (3, 3)."""
    if body.mass <= 0.0:
        return np.zeros(3), np.eye(3)
    principal, axes = np.linalg.eigh(np.asarray(body.inertia))
    edges = np.sqrt(np.clip(6.0 * (principal.sum() - 2.0 * principal) / body.mass, 0.0, None))
    axes = axes[:, ::-1]
    return edges[::-1], axes if np.linalg.det(axes) > 0.0 else axes * [1.0, 1.0, -1.0]


def inertia_block(body: Body, radius: float) -> Geometry:
    """`inertia_box` as a shape; a capsule where it is a rod, a ball where it is a point."""
    size, axes = inertia_box(body)
    place = pose(xyz=body.center_of_mass, matrix=axes.tolist())
    if size[2] < 2.0 * radius:
        return Geometry(Sphere(2.0 * radius), place)
    if size[1] < 0.1 * size[2]:
        return Geometry(Capsule(max(0.02 * size[2], 0.5 * size[1]), float(size[2])), place)
    x, y, z = (max(float(edge), 0.04 * float(size[2])) for edge in size)
    return Geometry(Box((x, y, z)), place)


def axes_about(direction: np.ndarray) -> np.ndarray:
    """A rotation (3, 3) whose last column is along a direction."""
    z = direction / np.linalg.norm(direction)
    x = np.cross(np.eye(3)[int(np.argmin(np.abs(z)))], z)
    x /= np.linalg.norm(x)
    return np.column_stack([x, np.cross(z, x), z])


def _along(direction: np.ndarray, center: np.ndarray) -> Transform:
    """The pose at `center` with z along `direction`."""
    return pose(xyz=center.tolist(), matrix=axes_about(direction).tolist())


# --- rods and springs -----------------------------------------------------------------------------------------------------
_ROD, _TUBE, _CORE = (0.45, 0.47, 0.50, 1.0), (0.72, 0.25, 0.32, 1.0), (0.80, 0.81, 0.83, 1.0)
_THIN = 0.01


def with_struts(mechanism: Mechanism, poses: np.ndarray) -> tuple[Mechanism, np.ndarray]:
    """The mechanism with one more body for each rod and two for each spring, a tube and a core; and the poses of all.

    For drawing only: the added bodies have no mass. Poses are X_WB (m, bodies, 4, 4).
    """
    places = {WORLD: np.broadcast_to(np.eye(4), (len(poses), 4, 4))}
    places |= {body.name: poses[:, k] for k, body in enumerate(mechanism.bodies)}
    bodies, added = [], []
    for loop in mechanism.loops:
        if isinstance(loop.kind, Distance | Line):
            start, end = (
                places[body][:, :3, :3] @ np.array(list(place.translation), dtype=float) + places[body][:, :3, 3]
                for body, place in ((loop.body_a, loop.pose_a), (loop.body_b, loop.pose_b))
            )
            length = np.linalg.norm(end - start, axis=1)
            if not (length > 0.0).any():
                continue
            X = _from_to(start, end, length)
            if isinstance(loop.kind, Distance):
                bodies.append(_rod(f"{loop.name} (rod)", float(length[0])))
                added.append(X)
                continue
            half, thick = 0.62 * float(length.max()), 0.02 * float(length.max())
            bodies.append(_piece(f"{loop.name} (tube)", Cylinder(thick, half), 0.5 * half, _TUBE))
            bodies.append(_piece(f"{loop.name} (core)", Cylinder(0.6 * thick, half), -0.5 * half, _CORE))
            far = X.copy()
            far[:, :3, 3] = end
            added += [X, far]
    if not bodies:
        return mechanism, poses
    joints = tuple(Joint(body.name, KINDS["floating"], WORLD, body.name) for body in bodies)
    drawn = replace(mechanism, bodies=(*mechanism.bodies, *bodies), joints=(*mechanism.joints, *joints))
    return drawn, np.concatenate([poses, np.stack(added, axis=1)], axis=1)


def _rod(name: str, length: float) -> Body:
    ends = (Geometry(Sphere(0.03 * length), pose((0.0, 0.0, height)), _ROD) for height in (0.0, length))
    bar = Geometry(Capsule(_THIN * length, length), pose((0.0, 0.0, 0.5 * length)), _ROD)
    return Body(name, visuals=(bar, *ends))


def _piece(name: str, shape: Cylinder, height: float, color: tuple[float, float, float, float]) -> Body:
    return Body(name, visuals=(Geometry(shape, pose((0.0, 0.0, height)), color),))


def _from_to(start: np.ndarray, end: np.ndarray, length: np.ndarray) -> np.ndarray:
    """Poses (m, 4, 4) at `start` with z towards `end`, with the least rotation from one to the next.

    Where the length is zero, z keeps its last direction, or at the beginning takes the first that follows.
    """
    X = np.zeros((len(start), 4, 4))
    there = np.flatnonzero(length > 0.0)
    last = there[np.maximum(np.searchsorted(there, np.arange(len(start)), side="right") - 1, 0)]
    z = ((end - start)[last]) / length[last, None]
    x = np.eye(3)[int(np.argmin(np.abs(z[0])))]
    for k, axis in enumerate(z):
        across = x - (x @ axis) * axis
        x = across / np.linalg.norm(across)
        X[k, :3, :3] = np.column_stack([x, np.cross(axis, x), axis])
    X[:, :3, 3] = start
    X[:, 3, 3] = 1.0
    return X
