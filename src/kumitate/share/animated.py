"""Runs as animated scenes of other programs: glTF (.glb), which browsers, phones and Blender play, and USD (.usda)."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..errors import needed
from ..model import WORLD, Joint, Mesh
from ..model.meshes import Facets
from ..view.scene import quaternions
from ..view.stick_shapes import axes_about, drawn_shapes, with_struts
from ..view.surfaces import load_surfaces, surface_of
from . import RunWithRobot
from .mcap_log import samples_at

#: The color of what has none, red, green, blue and opacity.
_GREY = (0.62, 0.65, 0.70, 1.0)
#: Numbers of glTF: of a buffer's use, of types, of modes. (Khronos Group, glTF 2.0, 5.1 and 5.11.)
_FLOAT, _UINT, _VERTICES, _INDICES = 5126, 5125, 34962, 34963
#: About x, so that y is up.
_UPRIGHT = (-(0.5**0.5), 0.0, 0.0, 0.5**0.5)


class MovingShape(NamedTuple):
    """A surface in its body's frame: its `name`, its facets there [m], and its color (4)."""

    name: str
    facets: Facets
    color: tuple[float, ...]


class MovingScene(NamedTuple):
    """What is drawn of a run: bodies with their shapes, the world's last, and where they are."""

    names: list[str]
    shapes: list[list[MovingShape]]
    time: np.ndarray  # (n), from zero on [s]
    positions: np.ndarray  # (n, bodies, 3) [m]
    turns: np.ndarray  # unit quaternions x y z w (n, bodies, 4), continuous


def moving_scene(result: RunWithRobot, rate: float | None) -> MovingScene:
    """The scene of a run at so many samples per second."""
    samples = samples_at(result, rate)
    mechanism, poses = with_struts(result.mechanism, np.asarray(result.poses(samples), dtype=float))
    surfaces = load_surfaces(mechanism)
    drawn = drawn_shapes(mechanism, surfaces)
    names = [*(body.name for body in mechanism.bodies), WORLD]
    shapes = [[_shape(f"{name}_{k}", item, surfaces) for k, item in enumerate(drawn[name])] for name in names]
    still = np.broadcast_to(np.eye(4), (len(poses), 1, 4, 4))
    poses = np.concatenate([poses, still], axis=1)
    turns = quaternions(poses[..., :3, :3])
    for before, after in pairwise(turns):  # the shorter way round
        after[(before * after).sum(axis=-1) < 0.0] *= -1.0
    return MovingScene(names, shapes, result.time[samples] - result.time[samples[0]], poses[..., :3, 3], turns)


def _shape(name: str, item: Any, surfaces: dict[Mesh, Facets]) -> MovingShape:
    facets, color = surface_of(item.shape, surfaces), item.color
    if color is None:
        color = _GREY if facets.colors is None else (*(facets.colors.mean(axis=0) / 255.0).tolist(), 1.0)
    rows = np.asarray(item.pose.matrix(), dtype=float)
    return MovingShape(name, Facets(facets.vertices @ rows[:3, :3].T + rows[:3, 3], facets.faces), tuple(map(float, color)))


class _Buffer:
    """The numbers of a file under way, as accessors that its JSON names by their indices."""

    def __init__(self) -> None:
        self.bytes, self.views, self.accessors = bytearray(), list[dict[str, Any]](), list[dict[str, Any]]()

    def put(self, array: np.ndarray, kind: str, *, use: int = 0, bounded: bool = False) -> int:
        """Adds an array (n) or (n, k): the index of its accessor."""
        numbers = np.ascontiguousarray(array, dtype="<u4" if use == _INDICES else "<f4")
        view = {"buffer": 0, "byteOffset": len(self.bytes), "byteLength": numbers.nbytes} | ({"target": use} if use else {})
        self.bytes += numbers.tobytes()
        self.views.append(view)
        told: dict[str, Any] = {"bufferView": len(self.views) - 1, "count": len(numbers), "type": kind}
        told["componentType"] = _UINT if use == _INDICES else _FLOAT
        if bounded:
            told |= {"min": np.atleast_1d(numbers.min(axis=0)).tolist(), "max": np.atleast_1d(numbers.max(axis=0)).tolist()}
        self.accessors.append(told)
        return len(self.accessors) - 1


def write_gltf(result: RunWithRobot, path: Path, *, rate: float | None = 60.0) -> None:
    """Writes a run as an animated glTF 2.0 scene in one binary file (.glb).

    Args:
        rate: poses per second [Hz]; None for every recorded time. Programs interpolate.

    Raises:
        InputError: if the rate is not a positive number.
    """
    scene, buffer = moving_scene(result, rate), _Buffer()
    time = buffer.put(scene.time, "SCALAR", bounded=True)
    nodes: list[dict[str, Any]] = [{"name": result.mechanism.name, "rotation": _UPRIGHT, "children": []}]
    meshes, materials = list[dict[str, Any]](), list[dict[str, Any]]()
    samplers, channels = list[dict[str, Any]](), list[dict[str, Any]]()
    for k, (name, shapes) in enumerate(zip(scene.names, scene.shapes, strict=True)):
        node = len(nodes)
        nodes[0]["children"].append(node)
        place, turn = scene.positions[0, k].tolist(), scene.turns[0, k].tolist()
        nodes.append({"name": name, "translation": place, "rotation": turn})
        if shapes:
            nodes[node]["mesh"] = len(meshes)
            meshes.append({"name": name, "primitives": [_primitive(buffer, materials, shape) for shape in shapes]})
        for key, values, kind in (("translation", scene.positions[:, k], "VEC3"), ("rotation", scene.turns[:, k], "VEC4")):
            if name != WORLD and len(scene.time) > 1:
                channels.append({"sampler": len(samplers), "target": {"node": node, "path": key}})
                samplers.append({"input": time, "output": buffer.put(values, kind), "interpolation": "LINEAR"})
    told: dict[str, Any] = {
        "asset": {"version": "2.0", "generator": "kumitate"}, "scene": 0, "scenes": [{"nodes": [0]}], "nodes": nodes,
        "meshes": meshes, "materials": materials, "accessors": buffer.accessors, "bufferViews": buffer.views,
        "buffers": [{"byteLength": len(buffer.bytes)}],
        "animations": [{"name": "run", "samplers": samplers, "channels": channels}],
    }  # fmt: skip
    plain = {key: value for key, value in told.items() if value != []}
    if not channels:
        del plain["animations"]
    text = json.dumps(plain, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 4)
    chunks = struct.pack("<I4s", len(text), b"JSON") + text + struct.pack("<I4s", len(buffer.bytes), b"BIN\0") + buffer.bytes
    path.write_bytes(struct.pack("<4sII", b"glTF", 2, 12 + len(chunks)) + chunks)


def _primitive(buffer: _Buffer, materials: list[dict[str, Any]], shape: MovingShape) -> dict[str, Any]:
    """A surface; without normals, programs shade its facets flat."""
    red_green_blue = [part**2.2 for part in shape.color[:3]]  # glTF has linear colors
    base = {"baseColorFactor": [*red_green_blue, shape.color[3]], "metallicFactor": 0.1, "roughnessFactor": 0.7}
    material = {"pbrMetallicRoughness": base} | ({"alphaMode": "BLEND"} if shape.color[3] < 1.0 else {})
    if material not in materials:
        materials.append(material)
    position = buffer.put(shape.facets.vertices, "VEC3", use=_VERTICES, bounded=True)
    indices = buffer.put(shape.facets.faces.ravel(), "SCALAR", use=_INDICES)
    return {"attributes": {"POSITION": position}, "indices": indices, "material": materials.index(material)}


def write_usd(result: RunWithRobot, path: Path, *, rate: float | None = 60.0) -> None:
    """Writes a run as a USD stage: bodies with their surfaces and masses, joints, an articulation, and poses over time.

    Bodies are kinematic, so that programs play the motion; take that out and they simulate the mechanism themselves.

    Args:
        rate: poses per second [Hz]; None for every recorded time.

    Raises:
        InputError: if usd-core (extra `usd`) is not installed, or the rate is not a positive number.
    """
    usd = needed("pxr.Usd", ".usda files need usd-core", "usd")
    from pxr import Gf, Tf, UsdGeom, UsdPhysics

    scene, m = moving_scene(result, rate), result.mechanism
    stage = usd.Stage.CreateNew(str(path))
    UsdGeom.SetStageUpAxis(stage, UsdGeom.Tokens.z)
    UsdGeom.SetStageMetersPerUnit(stage, 1.0)
    UsdPhysics.SetStageKilogramsPerUnit(stage, 1.0)
    stage.SetTimeCodesPerSecond(1000.0)
    stage.SetStartTimeCode(0.0)
    stage.SetEndTimeCode(1000.0 * float(scene.time[-1]))
    root = UsdGeom.Xform.Define(stage, f"/{Tf.MakeValidIdentifier(m.name)}")
    stage.SetDefaultPrim(root.GetPrim())
    UsdPhysics.ArticulationRootAPI.Apply(root.GetPrim())
    paths = dict(zip(scene.names, _paths(root.GetPath().pathString, scene.names, Tf.MakeValidIdentifier), strict=True))
    by_name = {body.name: body for body in m.bodies}
    codes = (1000.0 * scene.time).tolist()
    for k, (name, shapes) in enumerate(zip(scene.names, scene.shapes, strict=True)):
        body = UsdGeom.Xform.Define(stage, paths[name])
        move, turn = body.AddTranslateOp(), body.AddOrientOp(UsdGeom.XformOp.PrecisionDouble)
        for code, at, q in zip(codes, scene.positions[:, k].tolist(), scene.turns[:, k].tolist(), strict=True):
            move.Set(Gf.Vec3d(*at), code)
            turn.Set(Gf.Quatd(q[3], Gf.Vec3d(*q[:3])), code)
        for shape in shapes:
            mesh = UsdGeom.Mesh.Define(stage, f"{paths[name]}/{Tf.MakeValidIdentifier(shape.name)}")
            mesh.CreatePointsAttr(shape.facets.vertices.astype(np.float32))
            mesh.CreateFaceVertexCountsAttr([3] * len(shape.facets.faces))
            mesh.CreateFaceVertexIndicesAttr(shape.facets.faces.ravel())
            mesh.CreateSubdivisionSchemeAttr(UsdGeom.Tokens.none)
            mesh.CreateDisplayColorAttr([shape.color[:3]])
        if name in by_name:
            UsdPhysics.RigidBodyAPI.Apply(body.GetPrim()).CreateKinematicEnabledAttr(True)
            _mass(UsdPhysics.MassAPI.Apply(body.GetPrim()), by_name[name], Gf)
    places = _paths(f"{root.GetPath()}/joints", [joint.name for joint in m.joints], Tf.MakeValidIdentifier)
    for joint, where in zip(m.joints, places, strict=True):
        _joint(stage, where, joint, paths, (Gf, UsdPhysics))
    stage.GetRootLayer().Save()


def _paths(parent: str, names: list[str], valid: Any) -> Iterator[str]:
    """Paths that USD allows, all different."""
    taken: set[str] = set()
    for name in names:
        own = valid(name)
        while own in taken:
            own += "_"
        taken.add(own)
        yield f"{parent}/{own}"


def _mass(api: Any, body: Any, gf: Any) -> None:
    api.CreateMassAttr(float(body.mass))
    api.CreateCenterOfMassAttr(gf.Vec3f(*map(float, body.center_of_mass)))
    moments, axes = np.linalg.eigh(np.array(body.inertia, dtype=float))
    axes[:, 2] *= np.sign(np.linalg.det(axes))
    x, y, z, w = quaternions(axes).tolist()
    api.CreateDiagonalInertiaAttr(gf.Vec3f(*moments.tolist()))
    api.CreatePrincipalAxesAttr(gf.Quatf(w, gf.Vec3f(x, y, z)))


def _joint(stage: Any, where: str, joint: Joint, paths: dict[str, str], usd: tuple[Any, Any]) -> None:
    """A joint whose x is its axis; kinds that USD lacks are joints that hold nothing."""
    gf, physics = usd
    kinds = {"revolute": physics.RevoluteJoint, "prismatic": physics.PrismaticJoint, "fixed": physics.FixedJoint,
             "spherical": physics.SphericalJoint}  # fmt: skip
    if joint.kind.name == "floating":
        return
    made = kinds.get(joint.kind.name, physics.Joint).Define(stage, where)
    if joint.parent != WORLD:
        made.CreateBody0Rel().SetTargets([paths[joint.parent]])
    made.CreateBody1Rel().SetTargets([paths[joint.child]])
    place = np.asarray(joint.pose.matrix(), dtype=float)
    along_x = np.roll(axes_about(np.asarray(joint.axis, dtype=float)), 1, axis=1)
    turned = along_x if joint.kind.name in ("revolute", "prismatic") else np.eye(3)
    for rotation, position, number in ((place[:3, :3] @ turned, place[:3, 3], 0), (turned, np.zeros(3), 1)):
        x, y, z, w = quaternions(rotation).tolist()
        getattr(made, f"CreateLocalPos{number}Attr")(gf.Vec3f(*position.tolist()))
        getattr(made, f"CreateLocalRot{number}Attr")(gf.Quatf(w, gf.Vec3f(x, y, z)))
    if joint.kind.name in ("revolute", "prismatic"):
        made.CreateAxisAttr("X")
        factor = 180.0 / np.pi if joint.kind.name == "revolute" else 1.0
        limit = joint.limits[0] if joint.limits else None
        if limit is not None and limit.lower is not None and limit.upper is not None:
            made.CreateLowerLimitAttr(factor * limit.lower)
            made.CreateUpperLimitAttr(factor * limit.upper)
