"""Panels of scenes: where many bodies move freely, a panel has one curve for each of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from ..model import Mechanism
from ..simulate.results.columns import JointColumns
from .coordinate_sorts import ANGLE, LENGTH, QUATERNION, Sort, joint_panel, sorted_columns
from .panel import Panel

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
    robots = [item for item in bases if item.joint.child in carriers]
    bodies = [item for item in bases if item.joint.child not in carriers]
    groups = {"bases": robots, "bodies": bodies}
    few = {item.joint.name for group in groups.values() if len(group) <= _APART for item in group}
    apart = [item for item in bases if item.joint.name in few]
    return apart, {word: group for word, group in groups.items() if len(group) > _APART}


def many_bases(group: Sequence[JointColumns], word: str, order: int, values: np.ndarray, *, degrees: bool) -> Iterator[Panel]:
    """The panels of q (order 0), v (1), a (2) or tau (3) of many floating bases, each with a curve for every base.

    Of bodies that are free in space these are the positions in the world and the angles turned since the start; of joints in
    a plane, their coordinates; of rates and efforts, the sizes of the vectors. The note of the panels says so.

    Args:
        word: what they are: "bodies" or "bases"; `values`: of the whole mechanism, (n, nq) or (n, nv).
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
