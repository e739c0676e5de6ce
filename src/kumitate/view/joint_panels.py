"""The panels of joints: q, v, a and tau, one panel for each unit."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..errors import InputError
from ..simulate.results.columns import JointColumns, joint_columns
from ..simulate.results.result import Result
from .coordinate_sorts import ANGLE, LENGTH, SORTS, Sort, is_base, joint_panel, names_of, sorted_columns
from .many_bases import base_groups, many_bases
from .panel import Panel

JOINT_PANELS = ("q", "v", "a", "tau")
_RATES = ("wx", "wy", "wz", "vx", "vy", "vz")


def joint_panels(result: Result, order: int, *, degrees: bool) -> Iterator[Panel]:
    """The panels of q (order 0), v (1), a (2) or tau (3)."""
    values = getattr(result, JOINT_PANELS[order])
    columns = list(joint_columns(result.mechanism))
    bases = [item for item in columns if is_base(item)]
    bare = len(bases) == len(columns) and result.contact is None
    apart, together = base_groups(bases, result.mechanism)
    for base in apart:
        prefix = "base " if len(bases) == 1 else f"{base.joint.name}: "
        for panel in _panels_of_one(base, prefix, order, values, degrees=degrees):
            if order < 3 or np.any(panel.values) or bare:  # an undriven floating base has no efforts to show
                yield panel
    for word, group in together.items():
        for panel in many_bases(group, word, order, values, degrees=degrees):
            if order < 3 or np.any(panel.values) or bare:
                yield panel
    yield from _panels_of_rest(result, [item for item in columns if not is_base(item)], order, values, degrees=degrees)


def panels_of_joint(result: Result, name: str, order: int, *, degrees: bool) -> Iterator[Panel]:
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
    result: Result, items: list[JointColumns], order: int, values: np.ndarray, *, degrees: bool
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
        indices, labels = pooled.get(sort, ([], []))
        labels = [*labels, *loops.get(sort, {})]
        parts = [values[:, indices], *loops.get(sort, {}).values()]
        word = "joint " if sort is not LENGTH else "joint " if ANGLE not in pooled else "slider "
        yield joint_panel(word, order, sort, labels, np.column_stack(parts), degrees=degrees, by_joint=True)


def _loop_columns(result: Result, order: int) -> dict[Sort, dict[str, np.ndarray]]:
    """The columns of loop joints and lines, by type and name; only of joints without quaternions."""
    found: dict[Sort, dict[str, np.ndarray]] = {}
    for record in result.loops.values():  # those that follow motions are among the joints already
        if record.kind.nq != record.kind.nv or record.name in result.mechanism.q_names:
            continue
        values = (record.q, record.v, record.a, record.tau)[order]
        for k, name in enumerate(getattr(record.kind, "coordinates", ())):
            whole = record.name if record.kind.nv == 1 else f"{record.name}.{name}"
            found.setdefault(SORTS.get(name, ANGLE), {})[whole] = values[:, k]
    return found
