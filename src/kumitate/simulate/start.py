"""The default start of simulations."""

from __future__ import annotations

import numpy as np

from ..analysis import LoopEquations, assemble
from ..errors import ModelError
from ..kinematics import neutral
from .results.columns import joint_columns

__all__ = ["default_start"]

#: Loops with a gap below this [m, rad] count as closed here.
_CLOSED = 1e-9


def default_start(loops: LoopEquations) -> np.ndarray:
    """The default coordinates (nq): neutral, within the joint limits; with loops, closed if possible."""
    mechanism = loops.mechanism
    at_rest = np.array(neutral(mechanism.tree))
    if loops.names and max(gap.size(mechanism.tree.size) for gap in loops.gaps(at_rest, np.zeros(mechanism.nv))) < _CLOSED:
        return at_rest
    q = at_rest.copy()
    for columns in joint_columns(mechanism):
        if columns.kind.nq == columns.kind.nv:
            low = [-np.inf if limit.lower is None else limit.lower for limit in columns.joint.limits]
            high = [np.inf if limit.upper is None else limit.upper for limit in columns.joint.limits]
            q[columns.q] = np.clip(q[columns.q], low, high)
    if not loops.names:
        return q
    try:
        return assemble(loops, q)[0]
    except ModelError:  # raised again, with its reason, when a run starts from there
        return q
