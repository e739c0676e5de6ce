"""The sensors of MJCF as outputs of a simulation."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from ....spatial import Transform
from ...sensors import Sensor
from ..xml import Notes
from .bodies import SHAPES, BodyTree, touches
from .compiled import CompiledModel, compiled_file, placed

_OFFERED = "sensors: outputs of a simulation once you take them, outputs=kumitate.read_sensors(file)"

#: Our kinds by MuJoCo's; of bodies `framepos` and the like are of the center of mass and the principal axes.
_AT_PLACES = {
    "accelerometer": "accelerometer", "velocimeter": "velocimeter", "gyro": "gyro", "force": "force", "torque": "torque",
    "framepos": "position", "framequat": "orientation", "framexaxis": "x_axis", "frameyaxis": "y_axis",
    "framezaxis": "z_axis", "framelinvel": "linear_velocity", "frameangvel": "angular_velocity",
    "framelinacc": "proper_acceleration", "frameangacc": "angular_acceleration",
}  # fmt: skip
_OF_SUBTREES = {
    "subtreecom": "subtree_center", "subtreelinvel": "subtree_velocity", "subtreeangmom": "subtree_angular_momentum",
}  # fmt: skip
_OF_JOINTS = {
    "jointpos": "joint_position", "jointvel": "joint_velocity", "jointactfrc": "joint_effort",
    "ballquat": "joint_position", "ballangvel": "joint_velocity",
}  # fmt: skip
_OF_ACTUATORS = {"actuatorpos": "joint_position", "actuatorvel": "joint_velocity", "actuatorfrc": "joint_effort"}


def read_sensors(path_or_text: str | os.PathLike[str]) -> dict[str, Sensor]:
    """The sensors of an MJCF file by name, for `Simulation(robot, outputs=...)`.

    Quaternions are (x, y, z, w) here, and those of `framequat` have w ≥ 0. A force or torque is what the parent exerts on the
    body, which is MuJoCo's where nothing touches. Cutoffs are not applied.

    Args:
        path_or_text: a path, such as `robot.mechanism.source`, or the XML itself (a string that starts with `<`).

    Raises:
        ModelError: with MuJoCo's own reason and line, if it refuses the file.
        InputError: if MuJoCo is not installed.

    Warns:
        KumitateWarning: once for each kind of sensor that no output takes the place of.

    >>> read_sensors('''<mujoco><worldbody><body><joint name="hinge"/><geom size="0.1"/></body></worldbody>
    ...   <sensor><jointvel name="rate" joint="hinge"/></sensor></mujoco>''')
    {'rate': Sensor(kind='joint_velocity', of='hinge', ...)}
    """
    compiled = compiled_file(path_or_text)
    tree, notes = BodyTree(compiled, Notes(compiled.source)), Notes(compiled.source)
    found: dict[str, Sensor] = {}
    kinds = [compiled.enum("mjtGeom", kind) for kind in compiled.model.geom_type]
    planes = [k for k, kind in enumerate(kinds) if kind == "plane"]  # MuJoCo's rays pass beside those with ends
    for at, name in enumerate(compiled.names("sensor")):
        sensor = _sensor(compiled, tree, at)
        if isinstance(sensor, str):
            notes.add(f"sensors {sensor}: not simulated", name, compiled.line("sensor", at))
        else:
            found[name] = sensor
            if sensor.kind == "rangefinder" and (compiled.model.geom_size[planes][:, :2] > 0.0).any():
                notes.add("planes with ends: endless for rangefinders", name, compiled.line("sensor", at))
            if compiled.model.sensor_cutoff[at]:
                notes.add("cutoff of sensors: not applied", name, compiled.line("sensor", at))
    notes.warn()
    return found


def note_sensors(compiled: CompiledModel, tree: BodyTree, notes: Notes) -> None:
    """Adds a remark on every sensor: those that `read_sensors` gives, and the others, and why."""
    for at, name in enumerate(compiled.names("sensor")):
        sensor = _sensor(compiled, tree, at)
        said = f"sensors {sensor}: not simulated" if isinstance(sensor, str) else _OFFERED
        notes.add(said, name, compiled.line("sensor", at))


def _sensor(compiled: CompiledModel, tree: BodyTree, at: int) -> Sensor | str:
    """The output that a sensor is, or what it is instead."""
    model = compiled.model
    kind, of = compiled.enum("mjtSensor", model.sensor_type[at]), int(model.sensor_objid[at])
    if kind in _OF_JOINTS:
        return Sensor(_OF_JOINTS[kind], tree.joint_names[of])
    if kind in _OF_ACTUATORS:
        return _of_actuator(compiled, tree, kind, of)
    if kind in _OF_SUBTREES:
        return Sensor(_OF_SUBTREES[kind], tree.body_names[of])
    if kind == "touch":
        body, pose = _place(compiled, tree, model.sensor_objtype[at], of)
        volume = SHAPES[compiled.enum("mjtGeom", model.site_type[of])](model.site_size[of].tolist())
        return Sensor("touch", tree.with_shapes[int(model.site_bodyid[of])], pose, volume=volume)
    if kind == "rangefinder":
        return _rangefinder(compiled, tree, at)
    if kind not in _AT_PLACES:
        return f"of the kind {kind}"
    body, pose = _place(compiled, tree, model.sensor_objtype[at], of)
    if int(model.sensor_refid[at]) < 0:
        return Sensor(_AT_PLACES[kind], body, pose)
    return Sensor(_AT_PLACES[kind], body, pose, *_place(compiled, tree, model.sensor_reftype[at], int(model.sensor_refid[at])))


def _of_actuator(compiled: CompiledModel, tree: BodyTree, kind: str, actuator: int) -> Sensor | str:
    """Length, rate or force of an actuator of a joint: gear times the joint's, and the joint's effort over the gear."""
    model = compiled.model
    through, joint = compiled.enum("mjtTrn", model.actuator_trntype[actuator]), int(model.actuator_trnid[actuator][0])
    if through not in ("joint", "jointinparent") or int(model.jnt_type[joint]) < 2:
        return f"of actuators by {through}, or of ball and free joints"
    gear = float(model.actuator_gear[actuator][0])
    alone = sum(int(model.actuator_trnid[k][0]) == joint for k in range(model.nu)) == 1
    if kind == "actuatorfrc" and (not alone or gear == 0.0):
        return "of forces of actuators that share a joint"
    return Sensor(_OF_ACTUATORS[kind], tree.joint_names[joint], scale=1.0 / gear if kind == "actuatorfrc" else gear)


def _rangefinder(compiled: CompiledModel, tree: BodyTree, at: int) -> Sensor | str:
    """The distance that a ray from a site goes, if all geoms that MuJoCo's rays meet are plain shapes that touch."""
    model, of = compiled.model, int(compiled.model.sensor_objid[at])
    if compiled.enum("mjtObj", model.sensor_objtype[at]) != "site" or int(model.sensor_dim[at]) != 1:
        return "of the kind rangefinder, of cameras or with more data than distances"
    own = int(model.site_bodyid[of])
    for geom in np.flatnonzero(model.geom_bodyid != own).tolist():
        material = int(model.geom_matid[geom])
        opacity = float((model.geom_rgba[geom] if material < 0 else model.mat_rgba[material])[3])
        if opacity and not (touches(model, geom) and compiled.enum("mjtGeom", model.geom_type[geom]) in SHAPES):
            return "of the kind rangefinder, among meshes, height fields or geoms that are only drawn"
    return Sensor("rangefinder", tree.with_shapes[own], _place(compiled, tree, model.sensor_objtype[at], of)[1])


def _place(compiled: CompiledModel, tree: BodyTree, objtype: Any, at: int) -> tuple[str, Transform]:
    """The body of an object, and its pose there."""
    model, kind = compiled.model, compiled.enum("mjtObj", objtype)
    if kind == "body":
        return tree.body_names[at], placed(model.body_ipos[at], model.body_iquat[at]).dense()
    if kind == "xbody":
        return tree.body_names[at], Transform()
    short = {"site": "site", "geom": "geom", "camera": "cam"}[kind]
    body, pos, quat = (getattr(model, f"{short}_{part}")[at] for part in ("bodyid", "pos", "quat"))
    return tree.body_names[int(body)], placed(pos, quat).dense()
