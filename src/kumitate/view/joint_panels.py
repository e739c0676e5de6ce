"""The panels of joints: q, v, a and tau, one panel for each unit."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from ..errors import InputError
from ..model import WORLD, JointColumns, Mechanism, joint_columns
from ..model.joints.contract import sort_of
from ..records.record import Record
from .panel import Panel


# --- the types of coordinates, each with its own words and units, and the columns of a joint by type ----------------------
class Sort(NamedTuple):
    """Names and units of one type of coordinate: of q, v, a and tau."""

    words: tuple[str, str, str, str]
    units: tuple[str, str, str, str]


ANGLE = Sort(("angle", "angular velocity", "angular acceleration", "torque"), ("rad", "rad/s", "rad/s²", "N·m"))
LENGTH = Sort(("position", "velocity", "acceleration", "force"), ("m", "m/s", "m/s²", "N"))
QUATERNION = Sort(("quaternion", "", "", ""), ("", "", "", ""))
SORTS = {"angle": ANGLE, "length": LENGTH, "plain": QUATERNION}


def unit_of(name: str, order: int) -> str:
    """The unit of a coordinate (order 0), of its rate (1), acceleration (2) or effort (3), "" if it has none."""
    return SORTS[sort_of(name)].units[order]


def joint_panel(
    prefix: str, order: int, sort: Sort, names: Sequence[str], values: np.ndarray, *, degrees: bool, by_joint: bool = False
) -> Panel:  # fmt: skip
    """The panel of coordinates of one type (order 0), of their rates (1), accelerations (2) or efforts (3)."""
    unit = sort.units[order]
    if degrees and unit.startswith("rad"):
        unit, values = unit.replace("rad", "deg"), np.rad2deg(values)
    quantity = prefix + sort.words[order]
    return Panel(quantity[0].upper() + quantity[1:], unit, tuple(names), values, by_joint)


def is_base(item: JointColumns) -> bool:
    """Whether the joint is a floating base: it has more than one type of coordinate."""
    return item.joint.parent == WORLD and item.kind.nv >= 3


def names_of(item: JointColumns, order: int) -> tuple[str, ...]:
    """The names of the joint's coordinates (order 0), or of its velocities, accelerations and efforts (1 to 3)."""
    return item.kind.coordinates if order == 0 else item.kind.velocities


def sorted_columns(item: JointColumns, order: int) -> Iterable[tuple[Sort, list[int], list[str]]]:
    """The joint's columns by type: their indices and their names."""
    start = (item.q if order == 0 else item.v).start
    found: dict[Sort, tuple[list[int], list[str]]] = {}
    for k, name in enumerate(names_of(item, order)):
        places, names = found.setdefault(SORTS[sort_of(name)], ([], []))
        places.append(start + k)
        names.append(name)
    return [(sort, places, names) for sort, (places, names) in found.items()]


# --- panels of scenes: where many bodies move freely, a panel has one curve for each of them ------------------------------
#: Up to this number of free bodies, each has panels of its own; up to that number, curves have names.
_APART, _NAMED = 4, 12
#: What is drawn of rates and efforts: the sizes of vectors.
_SIZES = {LENGTH: ("", "speed", "size of acceleration", "size of force"),
          ANGLE: ("", "angular speed", "size of angular acceleration", "size of torque")}  # fmt: skip


def base_groups(
    bases: Sequence[JointColumns], mechanism: Mechanism
) -> tuple[list[JointColumns], Mapping[str, list[JointColumns]]]:  # fmt: skip
    """Floating bases: those that get panels of their own, and larger groups that share panels, by the word for them.

    The group of bodies on which no joints are mounted is apart from that of robots: a robot among a hundred bricks keeps its
    panels.
    """
    carriers = {joint.parent for joint in mechanism.joints if joint.kind.nv}
    groups: dict[str, list[JointColumns]] = {"bases": [], "bodies": []}
    for item in bases:
        groups["bases" if item.joint.child in carriers else "bodies"].append(item)
    few = {item.joint.name for group in groups.values() if len(group) <= _APART for item in group}
    apart = [item for item in bases if item.joint.name in few]
    return apart, {word: group for word, group in groups.items() if len(group) > _APART}


def many_bases(group: Sequence[JointColumns], word: str, order: int, values: np.ndarray, *, degrees: bool) -> Iterator[Panel]:
    """The panels of q (order 0), v (1), a (2) or tau (3) of many floating bases, each with a curve for every base.

    Of bodies that are free in space these are the positions in the world and the angles turned since the start; of joints in
    a plane, their coordinates; of rates and efforts, the sizes of the vectors. The note of the panels says so. `values` are of
    the whole mechanism, (n, nq) or (n, nv).
    """
    found: dict[tuple[str, Sort], dict[str, np.ndarray]] = {}
    for item in group:
        for sort, indices, names in sorted_columns(item, order):
            for what, kind, curve in _curves(item, sort, order, names, values[:, indices]):
                found.setdefault((what, kind), {})[item.joint.name] = curve
    for (what, kind), curves in found.items():
        panel = joint_panel("", order, kind, list(curves), np.column_stack(list(curves.values())), degrees=degrees)
        quantity = f"{what[0].upper()}{what[1:]} of {len(curves)} {word}"
        named = len(curves) <= _NAMED
        yield panel._replace(quantity=quantity, by_joint=named, named=named, note=_note(group, word))


def _curves(
    item: JointColumns, sort: Sort, order: int, names: Sequence[str], part: np.ndarray
) -> Iterator[tuple[str, Sort, np.ndarray]]:  # fmt: skip
    """What is drawn of the columns of one type of one base: the quantity, its type, and its values (n,)."""
    if sort is QUATERNION:
        yield "angle turned since the start", ANGLE, turned(part)
    elif order > 0:
        yield _SIZES[sort][order], sort, np.linalg.norm(part, axis=1)
    elif tuple(names) == ("x", "y", "z"):  # in the world, as the frames in which bodies start are turned differently
        X = np.array(item.joint.pose.matrix(), dtype=float)
        for k, place in enumerate((X[:3, 3] + part @ X[:3, :3].T).T):
            yield f"position {names[k]}", sort, place
    else:  # of motions in a plane or about a point
        for k, name in enumerate(names):
            yield name if sort is ANGLE else f"joint position {name}", sort, part[:, k]


def turned(quaternions: np.ndarray) -> np.ndarray:
    """The angles from the first of unit quaternions (n, 4) to each of them, 0 to π rad, (n,).

    Half of the angle between the 4-vectors p and ±q is found from their distance, which is exact for small angles too:
    |p ∓ q| = 2 sin(φ/4).
    """
    first = quaternions[:1]
    near = np.where((quaternions * first).sum(axis=1, keepdims=True) < 0.0, -1.0, 1.0) * quaternions
    return 4.0 * np.arcsin(np.minimum(0.5 * np.linalg.norm(near - first, axis=1), 1.0))


def _note(group: Sequence[JointColumns], word: str) -> str:
    first = group[0].joint
    curves = "a curve each" if len(group) <= _NAMED else "a curve each, without its name"
    parts = ", ".join(f'"{kind}:{first.name}"' for kind in ("q", "v", "a", "tau"))
    return (
        f"The {len(group)} free {word} share panels, with {curves}: their positions, of quaternions the angles turned "
        f"since the start, 0 to 180 deg, and of velocities, accelerations and efforts the sizes of the vectors. All components "
        f"of one, here {first.child}, are drawn by its joint's name: run.plot(path, panels=({parts}))."
    )


JOINT_PANELS = ("q", "v", "a", "tau")
_RATES = ("wx", "wy", "wz", "vx", "vy", "vz")


def joint_panels(result: Record, order: int, *, degrees: bool) -> Iterator[Panel]:
    """The panels of q (order 0), v (1), a (2) or tau (3)."""
    values = getattr(result, JOINT_PANELS[order])
    columns = list(joint_columns(result.mechanism))
    bases = [item for item in columns if is_base(item)]
    bare = len(bases) == len(columns) and result.contact is None
    apart, together = base_groups(bases, result.mechanism)
    prefixes = {base.joint.name: "base " if len(bases) == 1 else f"{base.joint.name}: " for base in apart}
    shown = [
        *(_panels_of_one(base, prefixes[base.joint.name], order, values, degrees=degrees) for base in apart),
        *(many_bases(group, word, order, values, degrees=degrees) for word, group in together.items()),
    ]
    for panel in (panel for panels in shown for panel in panels):
        if order < 3 or np.any(panel.values) or bare:  # an undriven floating base has no efforts to show
            yield panel
    yield from _panels_of_rest(result, [item for item in columns if not is_base(item)], order, values, degrees=degrees)


def panels_of_joint(result: Record, name: str, order: int, *, degrees: bool) -> Iterator[Panel]:
    """The panels of q (order 0), v (1), a (2) or tau (3) of one joint of the tree, by its name.

    Raises:
        InputError: if there is no such joint, or it is fixed.
    """
    moving = {item.joint.name: item for item in joint_columns(result.mechanism) if item.kind.nv}
    if name not in moving:
        raise InputError(
            f"{result.mechanism.name}: panel '{JOINT_PANELS[order]}:{name}': {name!r} is not a joint that moves; "
            f"there are {', '.join(moving) or 'none'}"
        )
    yield from _panels_of_one(moving[name], f"{name}: ", order, getattr(result, JOINT_PANELS[order]), degrees=degrees)


def _panels_of_one(item: JointColumns, prefix: str, order: int, values: np.ndarray, *, degrees: bool) -> Iterator[Panel]:
    for sort, indices, names in sorted_columns(item, order):
        short = [name[1:] if name in _RATES else name for name in names]
        yield joint_panel(prefix, order, sort, short, values[:, indices], degrees=degrees)


def _panels_of_rest(
    result: Record, items: list[JointColumns], order: int, values: np.ndarray, *, degrees: bool
) -> Iterator[Panel]:  # fmt: skip
    """The panels of all joints that are not floating bases, each with the curves of one type, and those of loop joints."""
    pooled: dict[Sort, tuple[list[int], list[str]]] = {}
    for item in items:
        for sort, indices, names in sorted_columns(item, order):
            whole = [item.joint.name if len(names_of(item, order)) == 1 else f"{item.joint.name}.{name}" for name in names]
            pooled.setdefault(sort, ([], []))[0].extend(indices)
            pooled[sort][1].extend(whole)
    loops = _loop_columns(result, order)
    for sort in dict.fromkeys((*pooled, *loops)):
        (indices, labels), closing = pooled.get(sort, ([], [])), loops.get(sort, {})
        word = "slider " if sort is LENGTH and ANGLE in pooled else "joint "
        curves = np.column_stack([values[:, indices], *closing.values()])
        yield joint_panel(word, order, sort, [*labels, *closing], curves, degrees=degrees, by_joint=True)


def _loop_columns(result: Record, order: int) -> dict[Sort, dict[str, np.ndarray]]:
    """The columns of loop joints and lines, by type and name; only of joints without quaternions."""
    found: dict[Sort, dict[str, np.ndarray]] = {}
    for record in result.loops.values():  # those that follow motions are among the joints already
        if record.kind.nq != record.kind.nv or record.name in result.mechanism.q_names:
            continue
        values = (record.q, record.v, record.a, record.tau)[order]
        for k, name in enumerate(getattr(record.kind, "coordinates", ())):
            whole = record.name if record.kind.nv == 1 else f"{record.name}.{name}"
            found.setdefault(SORTS[sort_of(name)], {})[whole] = values[:, k]
    return found
