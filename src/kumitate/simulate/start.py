"""The default start of simulations."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import NamedTuple

import numpy as np

from ..analysis import LoopEquations, assemble
from ..analysis.closing.newton import closed_near, gauss_newton
from ..errors import ModelError
from ..kinematics import neutral
from ..model import Mechanism
from .results.columns import joint_columns

#: Numbers by the names of joints.
ByJoint = Iterable[tuple[str, Sequence[float]]]

__all__ = ["default_start", "named_state"]

#: Loops with a gap below this [m, rad] count as closed here.
_CLOSED = 1e-9
#: How far within a limit that neutral passes a closed start is sought, in shares of the joint's range.
_WITHIN = (0.0, 0.01, 0.03, 0.1, 0.25)


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
    """The default coordinates (nq): the given ones, or neutral within the joint limits; with loops, closed if possible.

    Limits that no closed posture near neutral keeps are passed; whoever simulates from there is told.
    """
    mechanism = loops.mechanism
    q = np.array(neutral(mechanism.tree)) if given is None else given
    limits = _Limits.of(mechanism)
    if given is None and loops.names and limits.passed(q).any():
        found = _closed_within(loops, limits, q)
        if found is not None:
            return found
    if loops.names and max(gap.size(mechanism.tree.size) for gap in loops.gaps(q, np.zeros(mechanism.nv))) < _CLOSED:
        return q
    if given is None:
        q = limits.within(q, limits.passed(q))
    with suppress(ModelError):  # raised again, with its reason, when a run starts from there
        return assemble(loops, q)[0]
    return q


def _closed_within(loops: LoopEquations, limits: _Limits, q: np.ndarray) -> np.ndarray | None:
    """Closed coordinates within the limits, near q; None if none are found.

    Joints that pass a limit are brought to it, or further within where the loops do not close there, while the others close
    the loops.
    """
    passed, movable = limits.passed(q), _movable(loops.mechanism)
    for share in _WITHIN:
        free = movable.copy()
        free[limits.v[passed]] = 0.0
        with suppress(ModelError):
            found = closed_near(loops, gauss_newton(loops, limits.within(q, passed, share), free), movable)
            if not (further := limits.passed(found)).any():
                return found
            passed = passed | further
    return None


def _movable(mechanism: Mechanism) -> np.ndarray:
    """(nv) 1 for what may move to close loops, 0 for free bases that all loops stand on."""
    tree, found = mechanism.tree, np.ones(mechanism.nv)
    sides = [
        [{above.index for above in tree.ancestors(tree.places[name].link)} for name in (loop.body_a, loop.body_b)]
        for loop in mechanism.loops
    ]
    for base in tree.children(-1):
        if base.kind.nv == 6 and not any(base.index in one ^ other for one, other in sides):
            found[base.v_start : base.v_start + 6] = 0.0
    return found


class _Limits(NamedTuple):
    """The position limits of joints whose coordinates have velocities of their own.

    Attributes:
        q, v: (n) the indices in q and v of what they limit; lower, upper: (n) where [rad or m], infinite where nowhere.
    """

    q: np.ndarray
    v: np.ndarray
    lower: np.ndarray
    upper: np.ndarray

    @classmethod
    def of(cls, mechanism: Mechanism) -> _Limits:
        """All that a mechanism has."""
        found = [
            (columns.q.start + k, columns.v.start + k, _or(limit.lower, -np.inf), _or(limit.upper, np.inf))
            for columns in joint_columns(mechanism)
            if columns.kind.nq == columns.kind.nv
            for k, limit in enumerate(columns.joint.limits)
        ]
        q, v, lower, upper = np.array(found, dtype=float).reshape(-1, 4).T
        return cls(q.astype(int), v.astype(int), lower, upper)

    def passed(self, q: np.ndarray) -> np.ndarray:
        """(n) whether q (nq) is outside each by more than rounding."""
        at = q[self.q]
        return (at < self.lower - _CLOSED) | (at > self.upper + _CLOSED)

    def within(self, q: np.ndarray, which: np.ndarray, share: float = 0.0) -> np.ndarray:
        """Coordinates (nq) with `which` (n) of them within their limits by a share of their range, or of 1 rad or m."""
        inside = share * np.where(np.isfinite(self.upper - self.lower), self.upper - self.lower, 1.0)
        nearest = q.copy()
        nearest[self.q[which]] = np.clip(q[self.q], self.lower + inside, self.upper - inside)[which]
        return nearest


def _or(value: float | None, otherwise: float) -> float:
    return otherwise if value is None else value
