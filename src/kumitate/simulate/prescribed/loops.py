"""Loop joints that follow prescribed motions: they stand in the tree, and rigid loops tie them to where they were."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ...model import JointKind, Mechanism
from ...model.edits.recut import with_loops_in_tree
from ..stepping.reading import loops_at


def with_followed_loops(
    mechanism: Mechanism, motions: Mapping[str, Any] | None, start: tuple[Any, Any]
) -> tuple[Mechanism, tuple[Any, Any]]:
    """The mechanism and its start (q, v) with a coordinate for each loop joint of one degree of freedom among the motions.

    These coordinates have the names of the loop joints; `q_names` tells where they are, after those of body A. Where no loop
    joint follows a motion, mechanism and start are as they were.
    """
    names = [loop.name for loop in mechanism.loops if loop.name in (motions or ()) and _follows(loop.kind)]
    if not names:
        return mechanism, start
    changed = with_loops_in_tree(mechanism, names)
    q, v = (None if part is None else np.asarray(part, dtype=float) for part in start)
    if q is not None and q.shape == (mechanism.nq,):
        there = dict(zip(mechanism.loop_q_names, loops_at(mechanism, q, np.zeros(mechanism.nv))["loop_q"], strict=True))
        there |= dict(zip(mechanism.q_names, q, strict=True))
        q = np.array([there[name] for name in changed.q_names])
    if v is not None and v.shape == (mechanism.nv,):
        known = dict(zip(mechanism.v_names, v, strict=True))
        v = np.array([known.get(name, 0.0) for name in changed.v_names])
    return changed, (q, v)


def _follows(kind: Any) -> bool:
    return isinstance(kind, JointKind) and kind.nq == kind.nv == 1
