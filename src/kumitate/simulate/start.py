"""The default start of simulations."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from ..analysis import LoopEquations, assemble
from ..errors import ModelError
from ..kinematics import neutral
from ..model import Mechanism
from .results.columns import joint_columns

#: Numbers by the names of joints.
ByJoint = Iterable[tuple[str, Sequence[float]]]

__all__ = ["default_start", "named_state"]

#: Loops with a gap below this [m, rad] count as closed here.
_CLOSED = 1e-9


def named_state(mechanism: Mechanism, q: ByJoint, v: ByJoint) -> tuple[np.ndarray, np.ndarray]:
    """The state (q, v) with these numbers for joints by name; the others are neutral and at rest."""
    at, moving = np.array(neutral(mechanism.tree)), np.zeros(mechanism.nv)
    columns = {item.joint.name: item for item in joint_columns(mechanism)}
    for name, numbers in q:
        if columns[name].kind.nq:
            at[columns[name].q] = numbers
    for name, numbers in v:
        if columns[name].kind.nv:
            moving[columns[name].v] = numbers
    return at, moving


def default_start(loops: LoopEquations, given: np.ndarray | None = None) -> np.ndarray:
    """The default coordinates (nq): the given ones, or neutral within the joint limits; with loops, closed if possible."""
    mechanism = loops.mechanism
    at_rest = np.array(neutral(mechanism.tree)) if given is None else given
    if loops.names and max(gap.size(mechanism.tree.size) for gap in loops.gaps(at_rest, np.zeros(mechanism.nv))) < _CLOSED:
        return at_rest
    q = at_rest.copy()
    for columns in joint_columns(mechanism):
        if given is None and columns.kind.nq == columns.kind.nv:
            low = [-np.inf if limit.lower is None else limit.lower for limit in columns.joint.limits]
            high = [np.inf if limit.upper is None else limit.upper for limit in columns.joint.limits]
            q[columns.q] = np.clip(q[columns.q], low, high)
    if not loops.names:
        return q
    try:
        return assemble(loops, q)[0]
    except ModelError:  # raised again, with its reason, when a run starts from there
        return q
