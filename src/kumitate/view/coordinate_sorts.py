"""The types of coordinates, each with its own words and units, and the columns of a joint by type."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from ..model import WORLD
from ..simulate.results.columns import JointColumns
from .panel import Panel


class Sort(NamedTuple):
    """Names and units of one type of coordinate: of q, v, a and tau."""

    words: tuple[str, str, str, str]
    units: tuple[str, str, str, str]


ANGLE = Sort(
    ("angle", "angular velocity", "angular acceleration", "torque"), ("rad", "rad/s", "rad/s²", "N·m")
)  # fmt: skip
LENGTH = Sort(("position", "velocity", "acceleration", "force"), ("m", "m/s", "m/s²", "N"))
QUATERNION = Sort(("quaternion", "", "", ""), ("", "", "", ""))
SORTS = {
    **dict.fromkeys(("position", "length", "x", "y", "z", "vx", "vy", "vz"), LENGTH),
    **dict.fromkeys(("qx", "qy", "qz", "qw"), QUATERNION),
}


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
        places, names = found.setdefault(SORTS.get(name, ANGLE), ([], []))
        places.append(start + k)
        names.append(name)
    return [(sort, places, names) for sort, (places, names) in found.items()]
