"""Reading MJCF, the format of MuJoCo (mujoco.readthedocs.io, XML reference), and its sensors as outputs of a simulation."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ....errors import ModelError
from ....spatial import Transform
from ...bounds import joint_columns
from ...convert import mujoco as mujoco_order
from ...edits import pose_at
from ...elements import INITIAL, Coupling, Joint, Loop, NamedState
from ...joints import KINDS
from ...mechanism import Mechanism, first_circle, free_name
from ...sensors import Sensor
from ..parts import note_weightless
from ..xml import Notes
from .bodies import SHAPES, BodyTree, kept_apart, touches
from .compiled import CompiledModel, compiled_file, placed


class Constraints:
    """The equality constraints of one model, as loops and couplings.

    <connect> is a ball and <weld> a fixed joint that closes a loop. <joint> and <tendon> (fixed tendons) relate coordinates:
    Σ cᵢ qᵢ = d is a `Coupling` of two joints, or one joint that is held.

    Attributes:
        loops, couplings: of the mechanism.
    """

    def __init__(self, compiled: CompiledModel, tree: BodyTree, notes: Notes):
        self._compiled, self._tree, self._notes = compiled, tree, notes
        self._joints = {joint.name: joint for joint in tree.joints}
        self.loops: list[Loop] = []
        self.couplings: list[Coupling] = []
        model, bits = compiled.model, compiled.mujoco.mjtDisableBit
        off = int(model.opt.disableflags) & int(bits.mjDSBL_EQUALITY | bits.mjDSBL_CONSTRAINT)
        for equality in range(model.neq):
            if off or not model.eq_active0[equality]:
                self._leave("equality constraints that are not active, left out", equality)
                continue
            kind, data = compiled.enum("mjtEq", model.eq_type[equality]), model.eq_data[equality]
            if kind == "connect":
                self._close(equality, "spherical", ((data[:3],), (data[3:6],)))
            elif kind == "weld":  # the anchor in the second body; its place and the second body's orientation in the first
                self._close(equality, "fixed", ((data[3:6], data[6:10]), (data[:3],)))
            elif kind in ("joint", "tendon"):
                self._related(equality)
            else:
                self._leave(f"equality constraints of type {kind}: not simulated", equality)

    def _leave(self, remark: str, equality: int) -> None:
        self._notes.add(remark, self._compiled.names("equality")[equality], self._compiled.line("equality", equality))

    def _name(self, equality: int) -> str:
        return free_name(self._compiled.names("equality")[equality], {*self._joints, *(loop.name for loop in self.loops)})

    # --- loops ------------------------------------------------------------------------------------------------------------
    def _close(self, equality: int, kind: str, places: Sequence[tuple[Any, ...]]) -> None:
        """A loop between two bodies, at places given by position and quaternion, or between two sites, which have their own."""
        compiled, model = self._compiled, self._compiled.model
        ends = [int(model.eq_obj1id[equality]), int(model.eq_obj2id[equality])]
        if compiled.enum("mjtObj", model.eq_objtype[equality]) == "site":
            places = [(model.site_pos[end], model.site_quat[end]) for end in ends]
            ends = [int(model.site_bodyid[end]) for end in ends]
        if ends[0] == ends[1]:
            self._leave("equality constraints of a body with itself, left out", equality)
            return
        names = [self._tree.body_names[end] for end in ends]
        pose_a, pose_b = (placed(*place).dense() for place in places)
        self.loops.append(Loop(self._name(equality), KINDS[kind], names[0], names[1], pose_a, pose_b))

    # --- relations between coordinates ----------------------------------------------------------------------------------------
    def _related(self, equality: int) -> None:
        found = self._relation(equality)
        if found is None:
            self._leave(
                "equality constraints that relate coordinates by polynomials or spatial tendons: not simulated", equality
            )
            return
        factors, total = found
        factors = {name: factor for name, factor in factors.items() if factor != 0.0}
        if len(factors) == 1:
            ((name, factor),) = factors.items()
            self._hold(equality, self._joints[name], total / factor)
        elif len(factors) != 2 or not self._couple(equality, factors, total):
            remark = (
                "equality constraints that relate more than two joints, or joints that follow others already: not simulated"
            )
            self._leave(remark, equality)

    def _relation(self, equality: int) -> tuple[dict[str, float], float] | None:
        """Factors cᵢ of coordinates and the sum d of Σ cᵢ qᵢ = d; None if it is not of this form.

        MuJoCo: y₁ − y₁⁰ = a₀ + a₁ (y₂ − y₂⁰) + …, y a coordinate or the length of a tendon, ⁰ in the posture of the file.
        """
        model = self._compiled.model
        total, slope, *higher = model.eq_data[equality][:5].tolist()
        factors: dict[str, float] = {}
        sides = [(int(model.eq_obj1id[equality]), 1.0), (int(model.eq_obj2id[equality]), -slope)]
        for at, sign in sides if sides[1][0] >= 0 else sides[:1]:
            part = self._measured(equality, at)
            if part is None or (sides[1][0] >= 0 and any(higher)):
                return None
            for name, factor, start in part:
                factors[name] = factors.get(name, 0.0) + sign * factor
                total += sign * factor * start
        return factors, total

    def _measured(self, equality: int, at: int) -> list[tuple[str, float, float]] | None:
        """Joints, factors and initial coordinates of a joint's coordinate or a fixed tendon's length; None for others."""
        compiled, model = self._compiled, self._compiled.model
        if compiled.enum("mjtEq", model.eq_type[equality]) == "joint":
            return [self._coordinate(at, 1.0)]
        wraps = range(int(model.tendon_adr[at]), int(model.tendon_adr[at]) + int(model.tendon_num[at]))
        if any(compiled.enum("mjtWrap", model.wrap_type[wrap]) != "joint" for wrap in wraps):
            return None
        return [self._coordinate(int(model.wrap_objid[wrap]), float(model.wrap_prm[wrap])) for wrap in wraps]

    def _coordinate(self, joint: int, factor: float) -> tuple[str, float, float]:
        model = self._compiled.model
        return self._tree.joint_names[joint], factor, float(model.qpos0[model.jnt_qposadr[joint]])

    def _couple(self, equality: int, factors: Mapping[str, float], total: float) -> bool:
        """A coupling of two joints, in either direction; whether there is one that fits with the others."""
        follows = {item.joint: item.of for item in self.couplings}
        one, two = factors
        for joint, of in ((one, two), (two, one)):
            if joint not in follows and not first_circle(follows | {joint: of}):
                ratio, offset = -factors[of] / factors[joint], total / factors[joint]
                name = free_name(self._compiled.names("equality")[equality], {item.name for item in self.couplings})
                self.couplings.append(Coupling(name, joint, of, ratio, offset))
                return True
        return False

    def _hold(self, equality: int, joint: Joint, at: float) -> None:
        """One joint held at a coordinate: its child is fixed to its parent."""
        pose = pose_at(joint, [at])
        if not np.isfinite(np.array(pose.matrix(), dtype=float)).all():
            name, line = self._compiled.names("equality")[equality], self._compiled.line("equality", equality)
            where = f"{self._notes.source}{f':{line}' if line else ''}: equality {name!r}"
            self._notes.mistakes.append(ModelError(f"{where}: holds joint {joint.name!r} at {at:g}, which must be finite"))
            return
        self.loops.append(Loop(self._name(equality), KINDS["fixed"], joint.parent, joint.child, pose))


#: Numbers below this are rounding errors of the conversion from MuJoCo's coordinates of free joints.
_ROUNDING = 1e-15


def with_keyframes(compiled: CompiledModel, mechanism: Mechanism, notes: Notes) -> Mechanism:
    """The mechanism with the file's keyframes, and its posture where that is not the neutral one, as `starts`."""
    model = compiled.model
    if not model.nkey and not model.qpos0.any():
        return mechanism
    order = mujoco_order(mechanism, [joint.name for joint in mechanism.joints if joint.kind.nv])
    starts: list[NamedState] = []
    q, v = order.back(model.qpos0, np.zeros(model.nv))
    neutral = [x for joint in mechanism.joints for x in joint.kind.neutral()]
    if not np.allclose(q, neutral, rtol=0.0, atol=1e-12):
        starts.append(_start(mechanism, INITIAL, q, v))
    for key, name in enumerate(compiled.names("key")):
        q, v = order.back(model.key_qpos[key], model.key_qvel[key])
        starts.append(_start(mechanism, free_name(name, {start.name for start in starts}), q, v))
        if model.key_ctrl[key].any() or model.key_act[key].any() or model.key_time[key]:
            notes.add("ctrl, act and time of keyframes: not used", name, compiled.line("key", key))
    return replace(mechanism, starts=tuple(starts))


def _start(mechanism: Mechanism, name: str, q: np.ndarray, v: np.ndarray) -> NamedState:
    q, v = (np.where(abs(x) < _ROUNDING, 0.0, x) for x in (q, v))
    moving = [item for item in joint_columns(mechanism) if item.kind.nv]
    at = {item.joint.name: tuple(q[item.q].tolist()) for item in moving}
    rates = {item.joint.name: tuple(v[item.v].tolist()) for item in moving if v.any()}
    return NamedState(name, tuple(at.items()), tuple(rates.items()))


_SOLVER = "settings of MuJoCo's own integration and solver, not used"
_TOUCH = "settings of MuJoCo's contact, not used but for bodies kept apart; km.Contact has surfaces, and the pairs that touch"
_FLUID = "forces of fluids are not simulated"

#: MuJoCo's own values.
_SOLREF, _SOLIMP = (0.02, 1.0), (0.9, 0.95, 0.001, 0.5, 2.0)

#: Kinds of elements of which nothing is read.
_KINDS = {
    **dict.fromkeys(("camera", "light", "texture", "skin"), "cameras, lights, textures and skins: not drawn"),
    "flex": "flexes (deformable bodies): not simulated",
    "plugin": "<plugin>: programs for MuJoCo, not used",
    **dict.fromkeys(("numeric", "text", "tuple"), "<custom>: data for other programs, not used"),
    "pair": "<pair>: its two shapes can touch, by the rules of km.Contact; its own settings are not used",
}

#: By kind: a remark, and whether it is about the element of a number; m is the `mujoco.MjModel`.
_PARTS: dict[str, tuple[tuple[str, Callable[[Any, int], Any]], ...]] = {
    "body": (
        ("gravcomp: weight is not compensated; a controller may add robot.gravity_forces", lambda m, i: m.body_gravcomp[i]),
        ("mocap bodies: fixed where the file has them", lambda m, i: m.body_mocapid[i] >= 0),
    ),
    "joint": (
        ("springs of ball and free joints: not simulated", lambda m, i: m.jnt_type[i] < 2 and m.jnt_stiffness[i]),
        ("stiffness and damping by polynomials: only the linear part is simulated", lambda m, i: (
            m.jnt_stiffnesspoly[i].any() or m.dof_dampingpoly[m.jnt_dofadr[i]].any())),
        ("armature of free joints along the world's axes, here along the body's", lambda m, i: (
            m.jnt_type[i] == 0 and m.dof_armature[m.jnt_dofadr[i] : m.jnt_dofadr[i] + 3].any())),
        ("springs that yield: simulated as springs that do not", lambda m, i: m.jnt_springyield[i]),
        ("limits of ball joints: not used", lambda m, i: m.jnt_type[i] == 1 and m.jnt_limited[i]),
        ("actuatorgravcomp: not used", lambda m, i: m.jnt_actgravcomp[i]),
        (f"solreflimit, solimplimit, margin of joints: {_SOLVER}", lambda m, i: m.jnt_limited[i] and (
            _odd(m.jnt_solref[i], _SOLREF) or _odd(m.jnt_solimp[i], _SOLIMP) or m.jnt_margin[i])),
        (f"solreffriction, solimpfriction of joints: {_SOLVER}", lambda m, i: m.dof_frictionloss[m.jnt_dofadr[i]] and (
            _odd(m.dof_solref[m.jnt_dofadr[i]], _SOLREF) or _odd(m.dof_solimp[m.jnt_dofadr[i]], _SOLIMP))),
    ),
    "geom": (
        (f"condim, priority, contype, conaffinity, solref and the like of geoms: {_TOUCH}", lambda m, i: (
            m.geom_contype[i] or m.geom_conaffinity[i]) and (
            m.geom_contype[i] != 1 or m.geom_conaffinity[i] != 1 or m.geom_condim[i] != 3 or m.geom_priority[i]
            or _odd(m.geom_solref[i], _SOLREF) or _odd(m.geom_solimp[i], _SOLIMP) or m.geom_solmix[i] != 1.0
            or m.geom_margin[i] or m.geom_gap[i])),
        (f"fluidshape of geoms: {_FLUID}", lambda m, i: m.geom_fluid[i].any()),
        ("adhesion and moving surfaces of geoms: not simulated", lambda m, i: m.geom_adhesion[i] or m.geom_surfacevel[i].any()),
    ),
    "equality": (
        (f"solref, solimp of equality constraints: {_SOLVER}; loops are closed exactly", lambda m, i: (
            _odd(m.eq_solref[i], _SOLREF) or _odd(m.eq_solimp[i], _SOLIMP))),
    ),
    "tendon": (
        ("spatial tendons: not simulated", lambda m, i: any(m.wrap_type[_wraps(m, i)] != 1)),
        ("springs, dampers, friction, armature or limits of fixed tendons: not simulated", lambda m, i: (
            all(m.wrap_type[_wraps(m, i)] == 1) and (
                m.tendon_stiffness[i] or m.tendon_damping[i] or m.tendon_frictionloss[i] or m.tendon_armature[i]
                or m.tendon_limited[i] or m.tendon_stiffnesspoly[i].any() or m.tendon_dampingpoly[i].any()))),
    ),
}  # fmt: skip

#: Of <option>: the values that are MuJoCo's own, and the remark on others.
_OPTIONS = {
    "timestep": (0.002, _SOLVER), "integrator": (0, _SOLVER),
    "density": (0.0, _FLUID),
    "viscosity": (0.0, _FLUID),
    "wind": (0.0, _FLUID),
    "impratio": (1.0, _SOLVER), "cone": (0, _SOLVER), "jacobian": (2, _SOLVER), "solver": (2, _SOLVER),
    "iterations": (100, _SOLVER), "tolerance": (1e-8, _SOLVER), "ls_iterations": (50, _SOLVER), "ls_tolerance": (0.01, _SOLVER),
    "noslip_iterations": (0, _SOLVER), "noslip_tolerance": (1e-6, _SOLVER),
}  # fmt: skip


def note_unread(compiled: CompiledModel, notes: Notes) -> None:
    """Adds a remark for each kind of thing that is not simulated."""
    for kind, remark in _KINDS.items():
        for at, name in enumerate(compiled.names(kind)):
            notes.add(remark, name, compiled.line(kind, at))
    for kind, rows in _PARTS.items():
        for remark, holds in rows:
            for at, name in enumerate(compiled.names(kind)):
                if holds(compiled.model, at):
                    notes.add(remark, name, compiled.line(kind, at))
    for remark in (*_options(compiled), *(f"MuJoCo says: {said}" for said in compiled.remarks)):
        notes.add(remark)


def _options(compiled: CompiledModel) -> Iterator[str]:
    option = compiled.model.opt
    odd: dict[str, list[str]] = {}
    for name, (usual, remark) in _OPTIONS.items():
        if np.any(np.asarray(getattr(option, name)) != usual):
            odd.setdefault(remark, []).append(name)
    for remark, names in odd.items():
        yield f"{', '.join(names)} of <option>: {remark}"
    known = {"GRAVITY", "SPRING", "DAMPER", "EQUALITY", "FRICTIONLOSS"}  # these are read
    bits = compiled.mujoco.mjtDisableBit.__members__.items()
    flags = [name.removeprefix("mjDSBL_") for name, bit in bits if name != "mjNDISABLE" and int(option.disableflags) & int(bit)]
    flags = [name.lower() for name in flags if name not in known]
    if flags or int(option.enableflags):
        yield f"<flag> {', '.join(flags) or 'of <option>'}: settings of another simulator, not used"


def _odd(values: Any, usual: tuple[float, ...]) -> bool:
    return not np.allclose(values, usual, rtol=0.0, atol=1e-12)


def _wraps(model: Any, tendon: int) -> slice:
    return slice(int(model.tendon_adr[tendon]), int(model.tendon_adr[tendon]) + int(model.tendon_num[tendon]))


def read_mjcf(path_or_text: str | os.PathLike[str], *, floating_base: bool = False, fix_inertia: bool = False) -> Mechanism:
    """The mechanism of an MJCF file, as MuJoCo's compiler resolves it (package `mujoco`, extra `mjcf`).

    Bodies, joints and sites have the file's names; elements without one have their kind and number, as "geom_3". A body without
    joints is fixed to its parent. Coordinates are MuJoCo's, in our order (`kumitate.convert`), except for free joints: theirs
    are zero where the body is in the file. <connect>, <weld>, <joint> and <tendon> of <equality> are loops and couplings.

    Args:
        path_or_text: a path, or the XML itself (a string that starts with `<`).
        floating_base: must be False; the file itself says which bodies are free.
        fix_inertia: whether physically impossible inertias are replaced by the nearest possible ones.

    Raises:
        ModelError: with MuJoCo's own reason and line, if it refuses the file.
        InputError: if MuJoCo is not installed.

    Warns:
        KumitateWarning: once for each kind of thing that is not simulated, with names and lines of the elements.
    """
    compiled = compiled_file(path_or_text)
    if floating_base:
        raise ModelError(
            f"{compiled.source}: floating_base was asked for, but MJCF says itself which bodies are free; write <freejoint/> "
            "into the body, or read the file without"
        )
    notes = Notes(compiled.source)
    tree = BodyTree(compiled, notes, fix_inertia=fix_inertia)
    constraints = Constraints(compiled, tree, notes)
    note_unread(compiled, notes)
    note_sensors(compiled, tree, notes)
    notes.check()
    note_weightless(tree.bodies, tree.joints, tree.lines, notes)
    option, no_gravity = compiled.model.opt, int(compiled.mujoco.mjtDisableBit.mjDSBL_GRAVITY)
    gravity = (0.0, 0.0, 0.0) if int(option.disableflags) & no_gravity else tuple(option.gravity.tolist())
    mechanism = Mechanism(
        compiled.spec.modelname or "model", tuple(tree.bodies), tuple(tree.joints), tuple(constraints.loops), tree.frames,
        gravity, None if compiled.path is None else str(compiled.path), tuple(constraints.couplings),
        tuple(notes.faults), no_contact=tuple(kept_apart(compiled, tree, notes)),
    )  # fmt: skip
    mechanism = with_keyframes(compiled, mechanism, notes)
    notes.warn()
    return mechanism


# --- sensors --------------------------------------------------------------------------------------------------------------
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
