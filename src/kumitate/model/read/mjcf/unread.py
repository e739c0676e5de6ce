"""What an MJCF file has that is not simulated here, reported by kind, name and line. Tables: a new remark is a row."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..notes import Notes
from .compiled import CompiledModel

_SOLVER = "settings of MuJoCo's own integration and solver, not used"
_TOUCH = "settings of MuJoCo's contact, not used but for bodies kept apart; km.Contact has surfaces, and the pairs that touch"
_FLUID = "forces of fluids are not simulated"

#: MuJoCo's own values.
_SOLREF, _SOLIMP = (0.02, 1.0), (0.9, 0.95, 0.001, 0.5, 2.0)

#: Kinds of elements of which nothing is read.
_KINDS = {
    "camera": "cameras, lights, textures and skins: not drawn",
    "light": "cameras, lights, textures and skins: not drawn",
    "texture": "cameras, lights, textures and skins: not drawn",
    "skin": "cameras, lights, textures and skins: not drawn",
    "flex": "flexes (deformable bodies): not simulated",
    "plugin": "<plugin>: programs for MuJoCo, not used",
    "numeric": "<custom>: data for other programs, not used",
    "text": "<custom>: data for other programs, not used",
    "tuple": "<custom>: data for other programs, not used",
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
        (f"condim, priority, contype, conaffinity, solref and the like of geoms: {_TOUCH}", lambda m, i: _touches(m, i) and (
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


def _touches(model: Any, geom: int) -> bool:
    return bool(model.geom_contype[geom] or model.geom_conaffinity[geom])


def _wraps(model: Any, tendon: int) -> slice:
    return slice(int(model.tendon_adr[tendon]), int(model.tendon_adr[tendon]) + int(model.tendon_num[tendon]))
