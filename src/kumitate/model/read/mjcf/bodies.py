"""The bodies and joints of MJCF.

A body of MJCF has any number of joints, each at its own place; here a joint carries one body whose frame is at the joint. So
joints of one body are joined by massless bodies between them, and a body whose last joint is elsewhere is fixed to one.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ....spatial import Transform
from ...elements import Body, Frame, Joint, Limits
from ...joints import KINDS
from ...mechanism import WORLD
from ..inertia import usable_inertia
from ..notes import Notes
from ..shapes import free_name
from .actuators import joint_drives, reflected
from .compiled import CompiledModel, placed
from .shapes import Shapes

#: Our kinds by MuJoCo's types of joints.
_KINDS = {"free": "floating", "ball": "spherical", "slide": "prismatic", "hinge": "revolute"}
#: Below this distance a joint counts as at its body's origin, or its axis as through it [m].
_TOUCHING = 1e-12
_ORIGIN = (0.0, 0.0, 0.0)
_UPRIGHT = (1.0, 0.0, 0.0, 0.0)


class BodyTree:
    """The bodies, joints and frames of one model.

    Attributes:
        bodies, joints, frames: of the mechanism; `lines`: of joints, by name.
        body_names, joint_names: in the mechanism, by MuJoCo's numbers.
        with_shapes: the names of the bodies that have the shapes, likewise; the world's are those of a body of their own.
    """

    def __init__(self, compiled: CompiledModel, notes: Notes, *, fix_inertia: bool = False):
        self._compiled, self._notes, self._fix = compiled, notes, fix_inertia
        self._shapes = Shapes(compiled, notes)
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
        self._add_world()
        for body in range(1, compiled.model.nbody):
            self._add(body)
        self.frames = tuple(self._frames())

    # --- bodies -----------------------------------------------------------------------------------------------------------
    def _add_world(self) -> None:
        """The shapes of the world are those of a body that is fixed to it."""
        visuals, collisions = self._shapes.of(0)
        if visuals or collisions:
            name = self._new_body(f"{WORLD}_link")
            self.bodies.append(Body(name, visuals=visuals, collisions=collisions))
            self.with_shapes[0] = name
            self._fix_to(name, WORLD, Transform())

    def _add(self, body: int) -> None:
        model, name = self._compiled.model, self.body_names[body]
        visuals, collisions = self._shapes.of(body)
        turn = placed(_ORIGIN, model.body_iquat[body])
        R = np.array([list(row) for row in turn.rotation.matrix()], dtype=float)
        inertia = R @ np.diag(model.body_inertia[body]) @ R.T
        mass, line = float(model.body_mass[body]), self._compiled.line("body", body)
        inertia = usable_inertia((inertia + inertia.T) / 2.0, mass, name, self._notes, line=line, fix=self._fix)
        center = model.body_ipos[body].tolist()
        self.bodies.append(Body(name, mass, center, inertia.tolist(), visuals, collisions))
        parent = self.body_names[int(model.body_parentid[body])]
        where = placed(model.body_pos[body], model.body_quat[body])
        first, count = int(model.body_jntadr[body]), int(model.body_jntnum[body])
        if not count:
            self._fix_to(name, parent, where)
        else:
            self._join(name, parent, where, range(first, first + count))

    def _join(self, name: str, parent: str, where: Transform, joints: range) -> None:
        """The joints of a body, one after the other, each at its place in the body at zero displacement."""
        at = np.zeros(3)
        for joint in joints:
            there = self._place(joint)
            where = where @ placed(there - at, _UPRIGHT)
            at = there
            last = joint == joints[-1] and not at.any()
            made = self._compiled.names("joint")[joint]
            child = name if last else self._new_body(made)
            if child != name:
                self.bodies.append(Body(child))
            self.joints.append(self._joint(joint, made, parent, child, where))
            self.joint_names.append(made)
            if line := self._compiled.line("joint", joint):
                self.lines[made] = line
            parent, where = child, Transform()
        if parent != name:
            self._fix_to(name, parent, placed(-at, _UPRIGHT), f"{parent}_to_{name}")

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
        name = free_name(name or f"fixed_{body}", self._joint_names_taken)
        self._joint_names_taken.add(name)
        self.joints.append(Joint(name, KINDS["fixed"], parent, body, where.dense()))

    def _new_body(self, name: str) -> str:
        name = free_name(name, self._taken)
        self._taken.add(name)
        return name

    # --- joints -----------------------------------------------------------------------------------------------------------
    def _joint(self, joint: int, name: str, parent: str, child: str, where: Transform) -> Joint:
        """One joint; its coordinates are MuJoCo's: q = ref where the body is as in the file."""
        model = self._compiled.model
        kind = KINDS[_KINDS[self._compiled.enum("mjtJoint", model.jnt_type[joint])]]
        axis, passive = (0.0, 0.0, 1.0), self._passive(joint, kind.nv)
        if kind.nv == 1:
            axis = tuple(model.jnt_axis[joint].tolist())
            ref = float(model.qpos0[model.jnt_qposadr[joint]])
            where = where @ _backward(kind.name, np.array(axis), ref)
        passive["drive"] = self._drives.get(joint)
        return Joint(name, kind, parent, child, where.dense(), axis, None, self._limits(joint, kind.nv), **passive)

    def _limits(self, joint: int, nv: int) -> tuple[Limits, ...]:
        model = self._compiled.model
        if nv != 1:
            return ()
        lower, upper = model.jnt_range[joint].tolist() if model.jnt_limited[joint] else (None, None)
        low, high = model.jnt_actfrcrange[joint].tolist() if model.jnt_actfrclimited[joint] else (None, None)
        effort = None if low is None or high is None else max(abs(low), abs(high))
        return (Limits(lower, upper, None, effort),)

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

    # --- frames -----------------------------------------------------------------------------------------------------------
    def _frames(self) -> Iterator[Frame]:
        """Sites, by their names; one that a body has too gets underscores."""
        model, taken = self._compiled.model, {body.name for body in self.bodies} | {WORLD}
        for site, name in enumerate(self._compiled.names("site")):
            body = self.body_names[int(model.site_bodyid[site])]
            name = free_name(name, taken)
            taken.add(name)
            yield Frame(name, body, placed(model.site_pos[site], model.site_quat[site]).dense())


def _backward(kind: str, axis: np.ndarray, ref: float) -> Transform:
    """The motion of a joint by −ref, so that the coordinate ref, and not zero, is the posture of the file."""
    if ref == 0.0:
        return Transform()
    if kind == "prismatic":
        return placed(-ref * axis, _UPRIGHT)
    half = -0.5 * ref
    return placed(_ORIGIN, (np.cos(half), *(np.sin(half) * axis)))
