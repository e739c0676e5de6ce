"""The curves of a result, sorted into panels that each have one unit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ..analysis import closure_determinant
from ..compile import Kernel
from ..errors import InputError
from ..kinematics import link_poses, place_pose, total_mass, world_velocity
from ..model import JointKind, joint_columns
from ..records.record import Record
from ..scalar import trace
from .contact_panels import CONTACT_PANELS, USUAL_CONTACT_PANELS, contact_panels, force_panels, loop_panels
from .joint_panels import JOINT_PANELS, is_base, joint_panels, panels_of_joint
from .panel import Panel, without_impacts

_XYZ = ("x", "y", "z")

#: The available panels: of the joints, then of the whole mechanism.
PANELS = (
    *JOINT_PANELS, "energy", "determinant", "joint_forces", "loop_forces", "center_of_mass", "center_of_mass_velocity",
    "momentum", *CONTACT_PANELS,
)  # fmt: skip
#: The panels of a body or frame, as in "position:hand", with their units.
_PLACE_PANELS = {"position": "m", "velocity": "m/s"}
#: All panels of one part, a body, frame or joint.
_NAMED_PANELS = (*_PLACE_PANELS, *JOINT_PANELS)
#: Those of the thesis: (a) angle, (b) velocity, (c) acceleration, (d) torque, (e) energy.
DEFAULT_PANELS = (*JOINT_PANELS, "energy")
#: Those of the thesis for a floating base (figures 3.21, 3.22): the center of mass shows what internal forces cannot change.
FLOATING_PANELS = (*JOINT_PANELS, "center_of_mass", "center_of_mass_velocity", "energy")


def panels_of(result: Record, panels: Sequence[str] | None = None, *, degrees: bool = True) -> list[Panel]:
    """The panels of a result, in the given order.

    Args:
        panels: any of "q", "v", "a", "tau" (one panel per unit: angles, lengths, quaternions; floating bases get
            panels of their own, but more than four share panels; joints that close loops come last), "q:elbow", "v:elbow",
            "a:elbow" and "tau:elbow" for all components of a joint of that name, "energy", "determinant" (det(J Jᵀ) of the
            loops), "joint_forces" (up to four panels: those that the motion determines, and the others), "loop_forces" (the
            sizes of the forces and moments of loop joints, and the efforts of couplings), "center_of_mass",
            "center_of_mass_velocity", "momentum" (two panels), "contact_forces" (two panels: normal, tangential),
            "center_of_pressure", "contact_gaps", "penetration", "contact_residual", "position:hand" and "velocity:hand" for a
            body or frame of that name. Default: q, v, a, tau and energy, with a single loop the determinant, with a floating
            base those of the center of mass, with contact its panels except the gaps.
        degrees: whether angles and their rates are given in degrees.

    Raises:
        InputError: for a panel that does not exist.
    """
    usual = FLOATING_PANELS if any(map(is_base, joint_columns(result.mechanism))) else DEFAULT_PANELS
    usual = (*usual, "determinant") if has_one_loop(result) else usual
    usual = usual if result.contact is None else (*usual, *USUAL_CONTACT_PANELS)
    wanted = usual if panels is None else (panels,) if isinstance(panels, str) else tuple(panels)
    if other := [name for name in wanted if name not in PANELS and name.partition(":")[0] not in _NAMED_PANELS]:
        known = (*PANELS, *(f"{kind}:NAME" for kind in _NAMED_PANELS))
        raise InputError(f"{result.mechanism.name}: there is no panel {other[0]!r}; there are {', '.join(known)}")
    return [panel for name in wanted for panel in _panels(result, name, degrees=degrees)]


def has_one_loop(result: Record) -> bool:
    """Whether the mechanism has one loop, closed by a joint: its determinant measures the distance to a singular posture."""
    chords = result.mechanism.tree.chords
    return len(chords) == 1 and isinstance(chords[0].closure, JointKind)


def _panels(result: Record, name: str, *, degrees: bool) -> Iterator[Panel]:
    kind, _, part = name.partition(":")
    if kind in JOINT_PANELS:
        order = JOINT_PANELS.index(kind)
        one = panels_of_joint(result, part, order, degrees=degrees) if part else None
        found = one or joint_panels(result, order, degrees=degrees)
        yield from found if kind != "a" or result.contact is None else map(without_impacts, found)
    elif name == "energy":
        yield Panel("Energy", "J", result.energy._fields, np.column_stack(result.energy))
    elif name == "determinant":
        if result.mechanism.loops:  # open mechanisms have no determinant
            values = closure_determinant(result.mechanism, result.q)
            yield Panel("Determinant of the loops' J Jᵀ", "", ("det(J Jᵀ)",), values[:, None])
    elif name in ("joint_forces", "loop_forces"):
        yield from (force_panels if name == "joint_forces" else loop_panels)(result)
    elif name in CONTACT_PANELS:
        yield from contact_panels(result, name)
    elif kind in _PLACE_PANELS:
        yield _place_panel(result, kind, part)
    elif name == "center_of_mass":
        yield Panel("Center of mass", "m", _XYZ, result.center_of_mass)
    elif name == "center_of_mass_velocity":
        mass = total_mass(result.mechanism.tree) or np.nan  # without moving mass the velocity is undefined
        yield Panel("Velocity of center of mass", "m/s", _XYZ, result.momentum[:, 3:] / mass)
    else:
        yield Panel("Angular momentum about origin", "kg·m²/s", _XYZ, result.momentum[:, :3])
        yield Panel("Linear momentum", "kg·m/s", _XYZ, result.momentum[:, 3:])


def _place_panel(result: Record, kind: str, name: str) -> Panel:
    """The position or velocity of a body or frame in the world; components that are zero throughout are left out."""
    tree = result.mechanism.tree
    place = tree.place(name, f"{result.mechanism.name}: the panel {kind} is of")

    def motion(q: Any, v: Any) -> list[Any]:
        if kind == "velocity":
            return world_velocity(tree, q, v, place)[3:]
        return list(place_pose(tree, link_poses(tree, q), place).translation)

    program = trace(motion, {"q": tree.nq, "v": tree.nv}, f"{kind}_{name}_{result.mechanism.name}")
    values = Kernel(program)(result.q, result.v)
    seen = [k for k in range(3) if np.any(values[:, k])] or list(range(3))
    names = tuple(_XYZ[k] for k in seen)
    return Panel(f"{kind.capitalize()} of {name}", _PLACE_PANELS[kind], names, values[:, seen])
