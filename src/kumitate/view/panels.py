"""The curves of a result, sorted into panels that each have one unit."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..analysis import closure_determinant
from ..compile import Kernel
from ..errors import InputError
from ..kinematics import link_poses, place_pose, total_mass, world_velocity
from ..model import WORLD, JointKind
from ..scalar import trace
from ..simulate.results.columns import JointColumns, joint_columns
from ..simulate.results.result import Result
from .contact_panels import CONTACT_PANELS, USUAL_CONTACT_PANELS, contact_panels
from .forces import force_curves
from .loop_panels import loop_panels
from .panel import Panel, without_impacts

__all__ = ["DEFAULT_PANELS", "FLOATING_PANELS", "PANELS", "Panel", "has_one_loop", "panels_of"]


class _Sort(NamedTuple):
    """Names and units of one type of coordinate: of q, v, a and tau."""

    words: tuple[str, str, str, str]
    units: tuple[str, str, str, str]


_ANGLE = _Sort(
    ("angle", "angular velocity", "angular acceleration", "torque"), ("rad", "rad/s", "rad/s²", "N·m")
)  # fmt: skip
_LENGTH = _Sort(("position", "velocity", "acceleration", "force"), ("m", "m/s", "m/s²", "N"))
_QUATERNION = _Sort(("quaternion", "", "", ""), ("", "", "", ""))
_SORTS = {
    **dict.fromkeys(("position", "length", "x", "y", "z", "vx", "vy", "vz"), _LENGTH),
    **dict.fromkeys(("qx", "qy", "qz", "qw"), _QUATERNION),
}
_JOINT_PANELS = ("q", "v", "a", "tau")
_XYZ = ("x", "y", "z")
_RATES = ("wx", "wy", "wz", "vx", "vy", "vz")

#: The available panels: of the joints, then of the whole mechanism.
PANELS = (
    *_JOINT_PANELS, "energy", "determinant", "joint_forces", "loop_forces", "center_of_mass", "center_of_mass_velocity",
    "momentum", *CONTACT_PANELS,
)  # fmt: skip
#: The panels of a body or frame, as in "position:hand", with their units.
_PLACE_PANELS = {"position": "m", "velocity": "m/s"}
#: Those of the thesis: (a) angle, (b) velocity, (c) acceleration, (d) torque, (e) energy.
DEFAULT_PANELS = (*_JOINT_PANELS, "energy")
#: Those of the thesis for a floating base (figures 3.21, 3.22): the center of mass shows what internal forces cannot change.
FLOATING_PANELS = (*_JOINT_PANELS, "center_of_mass", "center_of_mass_velocity", "energy")


def panels_of(result: Result, panels: Sequence[str] | None = None, *, degrees: bool = True) -> list[Panel]:
    """The panels of a result, in the given order.

    Args:
        panels: any of "q", "v", "a", "tau" (one panel per unit: angles, lengths, quaternions; floating bases get
            panels of their own; joints that close loops come last), "energy", "determinant" (det(J Jᵀ) of the loops),
            "joint_forces" (up to four panels: those that the motion determines, and the others), "loop_forces" (the sizes of
            the forces and moments of loop joints, and the efforts of couplings), "center_of_mass",
            "center_of_mass_velocity", "momentum" (two panels), "contact_forces" (two panels: normal, tangential),
            "center_of_pressure", "contact_gaps", "penetration", "contact_residual", "position:hand" and "velocity:hand" for a
            body or frame of that name. Default: the first five, with a single loop the determinant, with a floating base
            those of the center of mass, with contact its panels except the gaps.
        degrees: whether angles and their rates are given in degrees.

    Raises:
        InputError: for a panel that does not exist.
    """
    usual = FLOATING_PANELS if any(map(_is_base, joint_columns(result.mechanism))) else DEFAULT_PANELS
    usual = (*usual, "determinant") if has_one_loop(result) else usual
    usual = usual if result.contact is None else (*usual, *USUAL_CONTACT_PANELS)
    wanted = usual if panels is None else (panels,) if isinstance(panels, str) else tuple(panels)
    for name in wanted:
        if name not in PANELS and name.partition(":")[0] not in _PLACE_PANELS:
            known = (*PANELS, *(f"{kind}:NAME" for kind in _PLACE_PANELS))
            raise InputError(f"{result.mechanism.name}: there is no panel {name!r}; there are {', '.join(known)}")
    return [panel for name in wanted for panel in _panels(result, name, degrees=degrees)]


def has_one_loop(result: Result) -> bool:
    """Whether the mechanism has one loop, closed by a joint: its determinant measures the distance to a singular posture."""
    chords = result.mechanism.tree.chords
    return len(chords) == 1 and isinstance(chords[0].closure, JointKind)


def _panels(result: Result, name: str, *, degrees: bool) -> Iterator[Panel]:
    if name in _JOINT_PANELS:
        found = _joint_panels(result, _JOINT_PANELS.index(name), degrees=degrees)
        yield from found if name != "a" or result.contact is None else map(without_impacts, found)
    elif name == "energy":
        yield Panel("Energy", "J", result.energy._fields, np.column_stack(result.energy))
    elif name == "determinant":
        if result.mechanism.loops:  # open mechanisms have no determinant
            values = closure_determinant(result.mechanism, result.q)
            yield Panel("Determinant of the loops' J Jᵀ", "", ("det(J Jᵀ)",), values[:, None])
    elif name == "joint_forces":
        for curves in force_curves(result):
            what = "moment" if curves.moments else "force"
            how = "determined" if curves.determined else "least in norm"
            yield Panel(f"Joint {what}, {how}", "N·m" if curves.moments else "N", curves.names, curves.values)
    elif name == "loop_forces":
        yield from loop_panels(result)
    elif name in CONTACT_PANELS:
        yield from contact_panels(result, name)
    elif ":" in name:
        kind, _, place = name.partition(":")
        yield _place_panel(result, kind, place)
    elif name == "center_of_mass":
        yield Panel("Center of mass", "m", _XYZ, result.center_of_mass)
    elif name == "center_of_mass_velocity":
        mass = total_mass(result.mechanism.tree) or np.nan  # without moving mass the velocity is undefined
        yield Panel("Velocity of center of mass", "m/s", _XYZ, result.momentum[:, 3:] / mass)
    else:
        yield Panel("Angular momentum about origin", "kg·m²/s", _XYZ, result.momentum[:, :3])
        yield Panel("Linear momentum", "kg·m/s", _XYZ, result.momentum[:, 3:])


def _place_panel(result: Result, kind: str, name: str) -> Panel:
    """The position or velocity of a body or frame in the world; components that are zero throughout are left out."""
    tree = result.mechanism.tree
    if name not in tree.places:
        raise InputError(f"{result.mechanism.name}: {name!r} is not a body or frame; there are {', '.join(tree.places)}")
    place = tree.places[name]

    def motion(q: Any, v: Any) -> list[Any]:
        if kind == "velocity":
            return world_velocity(tree, q, v, place)[3:]
        return list(place_pose(tree, link_poses(tree, q), place).translation)

    program = trace(motion, {"q": tree.nq, "v": tree.nv}, f"{kind}_{name}_{result.mechanism.name}")
    values = Kernel(program)(result.q, result.v)
    seen = [k for k in range(3) if np.any(values[:, k])] or list(range(3))
    names = tuple(_XYZ[k] for k in seen)
    return Panel(f"{kind.capitalize()} of {name}", _PLACE_PANELS[kind], names, values[:, seen])


def _joint_panels(result: Result, order: int, *, degrees: bool) -> Iterator[Panel]:
    """The panels of q (order 0), v (1), a (2) or tau (3)."""
    values = getattr(result, _JOINT_PANELS[order])
    columns = list(joint_columns(result.mechanism))
    bases = [item for item in columns if _is_base(item)]
    for base in bases:
        prefix = "base " if len(bases) == 1 else f"{base.joint.name}: "
        for sort, indices, names in _sorted(base, order):
            part = values[:, indices]
            bare = len(bases) == len(columns) and result.contact is None
            if order < 3 or np.any(part) or bare:  # an undriven floating base has no efforts to show
                yield _panel(
                    prefix, order, sort, [name[1:] if name in _RATES else name for name in names], part, degrees=degrees
                )
    pooled: dict[_Sort, tuple[list[int], list[str]]] = {}
    for item in columns:
        if not _is_base(item):
            for sort, indices, names in _sorted(item, order):
                whole = [item.joint.name if len(_names(item, order)) == 1 else f"{item.joint.name}.{name}" for name in names]
                pooled.setdefault(sort, ([], []))[0].extend(indices)
                pooled[sort][1].extend(whole)
    loops = _loop_columns(result, order)
    for sort in dict.fromkeys((*pooled, *loops)):
        indices, labels = pooled.get(sort, ([], []))
        parts = [values[:, indices], *loops.get(sort, {}).values()]
        word = "joint " if sort is not _LENGTH else "joint " if _ANGLE not in pooled else "slider "
        yield _panel(word, order, sort, [*labels, *loops.get(sort, {})], np.column_stack(parts), degrees=degrees, by_joint=True)


def _loop_columns(result: Result, order: int) -> dict[_Sort, dict[str, np.ndarray]]:
    """The columns of loop joints and lines, by type and name; only of joints without quaternions."""
    found: dict[_Sort, dict[str, np.ndarray]] = {}
    for record in result.loops.values():
        if record.kind.nq != record.kind.nv:
            continue
        values = (record.q, record.v, record.a, record.tau)[order]
        for k, name in enumerate(getattr(record.kind, "coordinates", ())):
            whole = record.name if record.kind.nv == 1 else f"{record.name}.{name}"
            found.setdefault(_SORTS.get(name, _ANGLE), {})[whole] = values[:, k]
    return found


def _panel(
    prefix: str, order: int, sort: _Sort, names: Sequence[str], values: np.ndarray, *, degrees: bool, by_joint: bool = False
) -> Panel:  # fmt: skip
    unit = sort.units[order]
    if degrees and unit.startswith("rad"):
        unit, values = unit.replace("rad", "deg"), np.rad2deg(values)
    quantity = prefix + sort.words[order]
    return Panel(quantity[0].upper() + quantity[1:], unit, tuple(names), values, by_joint)


def _is_base(item: JointColumns) -> bool:
    """Whether the joint is a floating base: it has more than one type of coordinate."""
    return item.joint.parent == WORLD and item.kind.nv >= 3


def _names(item: JointColumns, order: int) -> tuple[str, ...]:
    return item.kind.coordinates if order == 0 else item.kind.velocities


def _sorted(item: JointColumns, order: int) -> Iterable[tuple[_Sort, list[int], list[str]]]:
    """The joint's columns by type: their indices and their names."""
    start = (item.q if order == 0 else item.v).start
    found: dict[_Sort, tuple[list[int], list[str]]] = {}
    for k, name in enumerate(_names(item, order)):
        places, names = found.setdefault(_SORTS.get(name, _ANGLE), ([], []))
        places.append(start + k)
        names.append(name)
    return [(sort, places, names) for sort, (places, names) in found.items()]
