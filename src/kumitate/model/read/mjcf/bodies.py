"""The bodies, joints and actuators of MJCF, and the pairs of bodies that never touch.

An actuator's force is g·ctrl + b₀ + b₁·l + b₂·l̇, where its length l is gear·q; at the joint it acts times its gear. That is the
effort of an `EffortDrive` (b₁ = b₂ = 0), a `VelocityDrive` (b₁ = 0) or a `PositionDrive` (b₁ < 0).

A body of MJCF has any number of joints, each at its own place; here a joint carries one body whose frame is at the joint. So
joints of one body are joined by massless bodies between them, and a body whose last joint is elsewhere is fixed to one.

Pairs that never touch are those of <exclude>, and those that contype and conaffinity keep apart.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from ....spatial import Transform
from ...convert import control_of
from ...drives import Drive, EffortDrive, PositionDrive, VelocityDrive
from ...elements import Body, Frame, Joint, Limits
from ...joints import KINDS
from ...mechanism import WORLD, free_name, take_name
from ...shapes import Box, Capsule, Cylinder, Ellipsoid, Geometry, HeightField, Hull, Mesh, Plane, Shape, Sphere
from ..parts import usable_inertia
from ..xml import Notes
from .compiled import CompiledModel, placed

# --- the shapes of MJCF: geoms as what is drawn and what touches ----------------------------------------------------------
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


# --- bodies ---------------------------------------------------------------------------------------------------------------
#: What has no drive here, by what it acts through.
_THROUGH = {
    "slidercrank": "cranks", "tendon": "tendons", "site": "sites", "body": "adhesion", "so3": "orientations",
}  # fmt: skip


def joint_drives(compiled: CompiledModel, notes: Notes) -> dict[int, Drive]:
    """The drives of joints, by MuJoCo's numbers; with a remark on every actuator that has none, and why."""
    model, found = compiled.model, dict[int, Drive]()
    for at, name in enumerate(compiled.names("actuator")):
        drive = _drive(compiled, at)
        if isinstance(drive, str):
            notes.add(f"actuators {drive}: not simulated", name, compiled.line("actuator", at))
        elif int(model.actuator_trnid[at][0]) in found:
            notes.add("actuators of joints that another one drives already: not simulated", name, compiled.line("actuator", at))
        else:
            found[int(model.actuator_trnid[at][0])] = drive
            if model.actuator_forcelimited[at] and abs(model.actuator_forcerange[at].sum()) > 1e-12:
                notes.add("forcerange that is not symmetric: its larger bound", name, compiled.line("actuator", at))
    return found


def reflected(compiled: CompiledModel, joint: int) -> tuple[float, float]:
    """The damping and armature that actuators add to a joint: theirs times the square of the gear."""
    model = compiled.model
    acting = [at for at in range(model.nu) if _of_joint(compiled, at) and int(model.actuator_trnid[at][0]) == joint]
    adding = (model.actuator_damping, model.actuator_armature)
    damping, armature = (sum(float(model.actuator_gear[at][0]) ** 2 * float(part[at]) for at in acting) for part in adding)
    return damping, armature


def _of_joint(compiled: CompiledModel, at: int) -> bool:
    """Whether an actuator acts on a joint of one degree of freedom."""
    model = compiled.model
    through = compiled.enum("mjtTrn", model.actuator_trntype[at])
    return through in ("joint", "jointinparent") and int(model.jnt_type[int(model.actuator_trnid[at][0])]) >= 2


def _drive(compiled: CompiledModel, at: int) -> Drive | str:
    """The drive that an actuator is, or what it is instead."""
    model = compiled.model
    if not _of_joint(compiled, at):
        through = compiled.enum("mjtTrn", model.actuator_trntype[at])
        return f"by {_THROUGH[through]}" if through in _THROUGH else "of ball and free joints"
    kinds = [
        compiled.enum(kind, getattr(model, f"actuator_{name}")[at])
        for kind, name in (("mjtGain", "gaintype"), ("mjtBias", "biastype"), ("mjtDyn", "dyntype"))
    ]
    if "muscle" in kinds:
        return "that are muscles"
    if kinds[2] != "none":
        return "with a state of their own"
    if kinds[0] != "fixed" or kinds[1] not in ("none", "affine"):
        return f"with gain {kinds[0]} and bias {kinds[1]}"
    gear, gain = float(model.actuator_gear[at][0]), float(model.actuator_gainprm[at][0])
    bias = model.actuator_biasprm[at][:3].tolist() if kinds[1] == "affine" else [0.0, 0.0, 0.0]
    if gear == 0.0 or gain == 0.0:
        return "whose gear or gain is zero"
    kp, kd = -bias[1] * gear**2, -bias[2] * gear**2
    if kp < 0.0 or kd < 0.0:
        return "whose bias drives the joint"
    most = [float(abs(model.actuator_forcerange[at]).max())] if model.actuator_forcelimited[at] else [math.inf]
    if not any(bias) and model.actuator_ctrllimited[at]:  # where ctrl alone makes the force
        most.append(abs(gain) * float(abs(model.actuator_ctrlrange[at]).max()))
    limit = abs(gear) * min(most)
    options: dict[str, Any] = {"limit": None if math.isinf(limit) else limit, "control": control_of(model, at)[1]}
    if kp > 0.0:
        return PositionDrive(kp=kp, kd=kd, **options)
    return VelocityDrive(kd=kd, **options) if kd > 0.0 else EffortDrive(**options)


#: Our kinds by MuJoCo's types of joints.
_KINDS = {"free": "floating", "ball": "spherical", "slide": "prismatic", "hinge": "revolute"}
#: Below this distance a joint counts as at its body's origin, or its axis as through it [m].
_TOUCHING = 1e-12
_ORIGIN = (0.0, 0.0, 0.0)


class BodyTree:
    """The bodies, joints and frames of one model.

    Attributes:
        bodies, joints, frames: of the mechanism; `lines`: of joints, by name.
        body_names, joint_names: in the mechanism, by MuJoCo's numbers.
        with_shapes: the names of the bodies that have the shapes, likewise; the world's are those of a body of their own.
    """

    def __init__(self, compiled: CompiledModel, notes: Notes, *, fix_inertia: bool = False):
        self._compiled, self._notes, self._fix = compiled, notes, fix_inertia
        self._meshes = {mesh.id: mesh for mesh in compiled.spec.meshes if mesh.id >= 0}
        self._drives = joint_drives(compiled, notes)
        self.bodies: list[Body] = []
        self.joints: list[Joint] = []
        self.lines: dict[str, int] = {}
        names = compiled.names("body")
        self.body_names = [WORLD, *(free_name(name, {WORLD}) for name in names[1:])]
        self.with_shapes = [*self.body_names]
        self.joint_names: list[str] = []
        self._taken = {*self.body_names, *compiled.names("site")}
        self._joint_names_taken: set[str] = set(compiled.names("joint"))
        shapes = self._shapes(0)
        if any(shapes):  # of the world: those of a body that is fixed to it
            self.with_shapes[0] = name = take_name(f"{WORLD}_link", self._taken)
            self.bodies.append(Body(name, 0.0, visuals=shapes[0], collisions=shapes[1]))
            self._fix_to(name, WORLD, Transform())
        for body in range(1, compiled.model.nbody):
            self._add(body)
        taken, model = {body.name for body in self.bodies} | {WORLD}, compiled.model
        self.frames = tuple(  # sites, by their names; one that a body has too gets underscores
            Frame(take_name(name, taken), self.body_names[body], placed(model.site_pos[at], model.site_quat[at]).dense())
            for at, (name, body) in enumerate(zip(compiled.names("site"), model.site_bodyid.tolist(), strict=True))
        )

    # --- bodies -----------------------------------------------------------------------------------------------------------
    def _add(self, body: int) -> None:
        model, name = self._compiled.model, self.body_names[body]
        visuals, collisions = self._shapes(body)
        turn = placed(_ORIGIN, model.body_iquat[body])
        R = np.array([list(row) for row in turn.rotation.matrix()], dtype=float)
        inertia = R @ np.diag(model.body_inertia[body]) @ R.T
        mass, line = float(model.body_mass[body]), self._compiled.line("body", body)
        inertia = usable_inertia((inertia + inertia.T) / 2.0, mass, name, self._notes, line=line, fix=self._fix)
        center = model.body_ipos[body].tolist()
        self.bodies.append(Body(name, mass, center, inertia.tolist(), visuals, collisions))
        parent = self.body_names[int(model.body_parentid[body])]
        where = placed(model.body_pos[body], model.body_quat[body])
        first = int(model.body_jntadr[body])
        self._join(name, parent, where, range(first, first + int(model.body_jntnum[body])))

    def _join(self, name: str, parent: str, where: Transform, joints: range) -> None:
        """The joints of a body, one after the other, each at its place in the body at zero displacement."""
        at = np.zeros(3)
        for joint in joints:
            there = self._place(joint)
            where = where @ placed(there - at)
            at = there
            last = joint == joints[-1] and not at.any()
            made = self._compiled.names("joint")[joint]
            child = name if last else take_name(made, self._taken)
            if child != name:
                self.bodies.append(Body(child))
            self.joints.append(self._joint(joint, made, parent, child, where))
            self.joint_names.append(made)
            if line := self._compiled.line("joint", joint):
                self.lines[made] = line
            parent, where = child, Transform()
        if not joints:
            self._fix_to(name, parent, where)
        elif parent != name:
            self._fix_to(name, parent, placed(-at), f"{parent}_to_{name}")

    def _place(self, joint: int) -> np.ndarray:
        """The joint's place in its body [m]; zero where the body's origin does as well."""
        model = self._compiled.model
        kind, at = self._compiled.enum("mjtJoint", model.jnt_type[joint]), model.jnt_pos[joint].copy()
        if kind in ("free", "slide"):
            return np.zeros(3)
        if kind == "hinge":
            axis = model.jnt_axis[joint]
            away = at - axis * (axis @ at)
            at = at if np.linalg.norm(away) > _TOUCHING else np.zeros(3)
        return at if np.linalg.norm(at) > _TOUCHING else np.zeros(3)

    def _fix_to(self, body: str, parent: str, where: Transform, name: str | None = None) -> None:
        name = take_name(name or f"fixed_{body}", self._joint_names_taken)
        self.joints.append(Joint(name, KINDS["fixed"], parent, body, where.dense()))

    # --- shapes -----------------------------------------------------------------------------------------------------------
    def _shapes(self, body: int) -> tuple[tuple[Geometry, ...], tuple[Geometry, ...]]:
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
            remark = f"geoms of type {kind}, of which there is no shape here, left out"
            self._notes.add(remark, compiled.names("geom")[geom], compiled.line("geom", geom))
            return None
        own, material = model.geom_rgba[geom], int(model.geom_matid[geom])
        rgba = model.mat_rgba[material] if material >= 0 and np.array_equal(own, _NO_COLOR) else own
        return Geometry(shape, where, np.clip(rgba, 0.0, 1.0).tolist(), compiled.names("geom")[geom])

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
            remark = "meshes that are not in a file that can be read (.stl, .obj, .dae, .ply), drawn as their convex hulls"
            self._notes.add(remark, self._compiled.names("mesh")[mesh], self._compiled.line("mesh", mesh))
            return Hull(tuple(map(tuple, corners.tolist()))), where
        shift = placed((-scale * np.asarray(given.refpos)).tolist())
        moved = placed(model.mesh_pos[mesh], model.mesh_quat[mesh])
        shape = Mesh(given.file, tuple(scale.tolist()), str(found))
        if not turn.almost_equal(Transform(), 0.0):  # uniform scale, which commutes with the turn
            shift = turn.inverse() @ shift
        return shape, (where @ moved.inverse() @ shift).dense()

    def _file(self, mesh: Any) -> Path | None:
        """The file of a mesh, if it is of a kind that is read here."""
        if not mesh.file or Path(mesh.file).suffix.lower() not in (".stl", ".obj", ".dae", ".ply"):
            return None
        folder = Path(self._compiled.spec.modelfiledir or ".")
        places = (folder / (self._compiled.spec.meshdir or "") / mesh.file, folder / mesh.file)
        return next((place for place in places if place.is_file()), None)

    # --- joints -----------------------------------------------------------------------------------------------------------
    def _joint(self, joint: int, name: str, parent: str, child: str, where: Transform) -> Joint:
        """One joint; its coordinates are MuJoCo's: q = ref where the body is as in the file."""
        model = self._compiled.model
        kind = KINDS[_KINDS[self._compiled.enum("mjtJoint", model.jnt_type[joint])]]
        axis, passive = (0.0, 0.0, 1.0), self._passive(joint, kind.nv)
        limits: tuple[Limits, ...] = ()
        if kind.nv == 1:
            axis = tuple(model.jnt_axis[joint].tolist())
            ref = float(model.qpos0[model.jnt_qposadr[joint]])
            where = where @ _backward(kind.name, np.array(axis), ref)
            lower, upper = model.jnt_range[joint].tolist() if model.jnt_limited[joint] else (None, None)
            effort = abs(model.jnt_actfrcrange[joint]).max() if model.jnt_actfrclimited[joint] else None
            limits = (Limits(lower, upper, None, effort),)
        return Joint(name, kind, parent, child, where.dense(), axis, None, limits, drive=self._drives.get(joint), **passive)

    def _passive(self, joint: int, nv: int) -> dict[str, Any]:
        """Damping, friction, armature and springs, one per degree of freedom in our order: angular before linear."""
        model, bits = self._compiled.model, self._compiled.mujoco.mjtDisableBit
        off = int(model.opt.disableflags)
        first = int(model.jnt_dofadr[joint])
        order = [3, 4, 5, 0, 1, 2] if nv == 6 else list(range(nv))
        dofs = [first + k for k in order]
        damping, armature = reflected(self._compiled, joint)
        found: dict[str, Any] = {"armature": tuple((model.dof_armature[dofs] + armature).tolist())}
        if not off & bits.mjDSBL_DAMPER:
            found["damping"] = tuple((model.dof_damping[dofs] + damping).tolist())
        if not off & (bits.mjDSBL_FRICTIONLOSS | bits.mjDSBL_CONSTRAINT):
            found["friction"] = tuple(model.dof_frictionloss[dofs].tolist())
        if nv == 1 and not off & bits.mjDSBL_SPRING:
            found["stiffness"] = float(model.jnt_stiffness[joint])
            found["rest"] = float(model.qpos_spring[model.jnt_qposadr[joint]])
        return found


def _backward(kind: str, axis: np.ndarray, ref: float) -> Transform:
    """The motion of a joint by −ref, so that the coordinate ref, and not zero, is the posture of the file."""
    if ref == 0.0:
        return Transform()
    if kind == "prismatic":
        return placed(-ref * axis)
    half = -0.5 * ref
    return placed(_ORIGIN, (np.cos(half), *(np.sin(half) * axis)))


def kept_apart(compiled: CompiledModel, tree: BodyTree, notes: Notes) -> Iterator[tuple[str, str]]:
    """The pairs of bodies that never touch; those of masks only where no joints connect them, as others touch on request."""
    names = tree.body_names
    for at, signature in enumerate(compiled.model.exclude_signature.tolist()):  # the numbers of both, of 16 bits each
        one, two = signature >> 16, signature & 0xFFFF
        if 0 in (one, two):
            notes.add("<exclude> of the world: not used", compiled.names("exclude")[at], compiled.line("exclude", at))
        else:
            yield names[one], names[two]
    for one, two in _masked(compiled):
        yield names[one], names[two]


def _masked(compiled: CompiledModel) -> Iterator[tuple[int, int]]:
    """The pairs of bodies, none of whose geoms may touch: where contype and conaffinity have no bit in common, either way.

    Geoms that nothing may touch are only drawn, and pairs of <pair> touch whatever their masks.
    """
    model = compiled.model
    kinds, masks, owner = model.geom_contype, model.geom_conaffinity, model.geom_bodyid
    touching = np.flatnonzero((kinds != 0) | (masks != 0))
    near = (kinds[touching, None] & masks[None, touching]) != 0
    near |= near.T
    if near.all():
        return
    bodies = sorted(set(owner[touching].tolist()))
    of = {body: np.flatnonzero(owner[touching] == body) for body in bodies if model.body_weldid[body] != 0}
    paired = {frozenset((int(owner[a]), int(owner[b]))) for a, b in zip(model.pair_geom1, model.pair_geom2, strict=True)}
    for one, two in combinations(of, 2):
        joined = model.body_rootid[one] == model.body_rootid[two]
        if not joined and not near[np.ix_(of[one], of[two])].any() and frozenset((one, two)) not in paired:
            yield one, two
