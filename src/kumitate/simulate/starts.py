"""The states that runs begin at: the default one, named ones, those by names of joints, and many with their loops closed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..analysis import CLOSED, NEARLY, LoopEquations, admitted_rows, assemble, closed_state
from ..analysis.closing.newton import closed_near, gauss_newton
from ..errors import InputError, ModelError
from ..kinematics import link_poses, neutral, place_pose
from ..model import Bound, JointColumns, Mechanism, Place, joint_columns
from ..model.mechanism import nearest
from ..model.tree.tree import alignment
from ..model.values import checked_pose, shown
from ..spatial import Transform
from .checks import check_limits, checked_count, checked_rows, checked_state

if TYPE_CHECKING:
    from .driving.motion import FollowedStarts

#: Numbers by the names of joints.
ByJoint = Iterable[tuple[str, Sequence[float]]]
#: (q, v) → q, v with the loops closed, or adjusted in another way.
Projection = Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]

#: Up to this many rows are closed one by one, without compiling.
_FEW = 8
#: A velocity that closing the loops changes by more than this part is checked closely.
_SAME = 1e-3
#: Loops with a gap below this [m, rad] count as closed here.
_GAP = 1e-9
#: How far within a limit that neutral passes a closed start is sought, in shares of the joint's range.
_WITHIN = (0.0, 0.01, 0.03, 0.1, 0.25)
#: A pose that a joint reaches to within this [m, rad] is reached.
_REACHED = 1e-9


# --- the default start -------------------------------------------------------------------------------------------------
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
    if loops.names and max(gap.size(mechanism.tree.size) for gap in loops.gaps(q, np.zeros(mechanism.nv))) < _GAP:
        return q
    if given is None:
        q = limits.within(q, limits.passed(q))
    with suppress(ModelError):  # raised again, with its reason, when a run starts from there
        return assemble(loops, q)[0]
    return q


def _closed_within(loops: LoopEquations, limits: _Limits, q: np.ndarray) -> np.ndarray | None:
    """Closed coordinates within the limits, near q; None if none are found.

    Joints that pass a limit are brought to it, or further within where the loops do not close there.
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
    """Position limits [rad or m] (n), infinite where there are none, of what stands at these indices in q and in v.

    Those of joints whose coordinates have velocities of their own.
    """

    q: np.ndarray
    v: np.ndarray
    lower: np.ndarray
    upper: np.ndarray

    @classmethod
    def of(cls, mechanism: Mechanism) -> _Limits:
        found = [
            (columns.q.start + k, columns.v.start + k, limit.lower, limit.upper)
            for columns in joint_columns(mechanism)
            if columns.kind.nq == columns.kind.nv
            for k, limit in enumerate(columns.joint.limits)
        ]
        q, v, lower, upper = np.array(found, dtype=float).reshape(-1, 4).T  # None is NaN
        lower, upper = np.where(np.isnan(lower), -np.inf, lower), np.where(np.isnan(upper), np.inf, upper)
        return cls(q.astype(int), v.astype(int), lower, upper)

    def passed(self, q: np.ndarray) -> np.ndarray:
        """(n) whether q (nq) is outside each by more than rounding."""
        at = q[self.q]
        return (at < self.lower - _GAP) | (at > self.upper + _GAP)

    def within(self, q: np.ndarray, which: np.ndarray, share: float = 0.0) -> np.ndarray:
        """Coordinates (nq) with `which` (n) of them within their limits by a share of their range, or of 1 rad or m."""
        inside = share * np.where(np.isfinite(self.upper - self.lower), self.upper - self.lower, 1.0)
        nearest = q.copy()
        nearest[self.q[which]] = np.clip(q[self.q], self.lower + inside, self.upper - inside)[which]
        return nearest


# --- starts by name ----------------------------------------------------------------------------------------------------
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


def state_by_name(
    loops: LoopEquations,
    start: tuple[np.ndarray, np.ndarray],
    q: Mapping[str, Any],
    v: Mapping[str, Any],
    pose: Mapping[str, Any],
) -> tuple[np.ndarray, np.ndarray]:
    """The state (q, v) with what is given by name, as of `Robot.state`, and all else as in `start` but with loops closed."""
    mechanism = loops.mechanism
    at, moving = (np.array(part, dtype=float) for part in start)
    given_q = [_set(mechanism, "q", at, name, value) for name, value in q.items()]
    given_q += [_place(mechanism, at, name, value) for name, value in pose.items()]
    at = checked_state(mechanism, "q", mechanism.nq, at)
    given_v = [_set(mechanism, "v", moving, name, value) for name, value in v.items()]
    if not loops.names:
        return at, checked_state(mechanism, "v", mechanism.nv, moving)
    try:
        at, _ = assemble(loops, at, free=_others(mechanism, given_q))
        # at rest unless something moves: velocities of the start need not fit the new posture
        _, moving = assemble(loops, at, moving, free=_others(mechanism, given_v))
    except ModelError as error:
        names = ", ".join(repr(name) for name in (*q, *pose)) or "none"
        raise InputError(f"{error} (held as given: {names})") from None
    return closed_state(loops, at, moving)


def _set(mechanism: Mechanism, key: str, numbers: np.ndarray, name: str, value: Any) -> slice:
    """Writes given numbers into q or v; returns the columns of v that they fix."""
    names = mechanism.q_names if key == "q" else mechanism.v_names
    columns = _columns(mechanism)
    given = np.asarray(value, dtype=float).ravel() if not isinstance(value, str) else np.array([np.nan])
    if name in columns and (name not in names or getattr(columns[name], key).stop - getattr(columns[name], key).start == 1):
        where: slice = getattr(columns[name], key)
        fixed = columns[name].v
    elif name in names:
        where = slice(names.index(name), names.index(name) + 1)
        owner = columns[name.rpartition(".")[0]]
        at = owner.v.start + where.start - owner.q.start
        fixed = slice(at, at + 1) if owner.kind.nq == owner.kind.nv else owner.v  # a part of a quaternion moves all of it
    else:
        raise InputError(
            f"{mechanism.name}: {key} names {name!r}, which is not a joint, body or component; {_hint(name, mechanism)}"
        )
    size = where.stop - where.start
    if given.shape != (size,) or not np.isfinite(given).all():
        parts = ", ".join(names[where]) or "none"
        raise InputError(f"{mechanism.name}: {key} of {name!r} is {shown(value)}; it must be {size} finite numbers ({parts})")
    numbers[where] = given
    return fixed


def _columns(mechanism: Mechanism) -> dict[str, JointColumns]:
    """The columns of joints, by the joints' names and by those of the bodies that they carry."""
    own = list(joint_columns(mechanism))
    carried = {item.joint.child: item for item in own}
    for item in own:  # a body fixed to another is carried by that one's joint
        if item.kind.nv == 0 and item.joint.parent in carried:
            carried[item.joint.child] = carried[item.joint.parent]
    return carried | {item.joint.name: item for item in own}


def _place(mechanism: Mechanism, q: np.ndarray, name: str, value: Any) -> slice:
    """Writes the coordinates at which a body's joint brings it to a pose; returns the joint's columns of v."""
    columns = _columns(mechanism).get(name)
    if columns is None or name in {joint.name for joint in mechanism.joints} - {body.name for body in mechanism.bodies}:
        raise InputError(f"{mechanism.name}: pose names {name!r}, which is not a body; {_hint(name, mechanism)}")
    try:
        wanted = checked_pose(mechanism.name, f"the pose of {name!r}", value)
    except ModelError as error:
        raise InputError(str(error)) from None
    tree, joint = mechanism.tree, columns.joint
    poses = link_poses(tree, q.tolist())

    def standing(body: str) -> Transform:
        place = tree.places.get(body, Place(-1, Transform()))
        return place_pose(tree, poses, place)

    turn = Transform(alignment(joint.axis, joint.second_axis))
    to_body = standing(joint.child).inverse() @ standing(name)  # identity, unless the body is fixed to the joint's child
    X_FM = (standing(joint.parent) @ joint.pose @ turn).inverse() @ wanted @ to_body.inverse() @ turn
    q[columns.q] = joint.kind.locate(X_FM.dense())
    reached = joint.kind.transform(q[columns.q].tolist())
    if not reached.almost_equal(X_FM, _REACHED):
        raise InputError(
            f"{mechanism.name}: body {name!r} cannot be brought to its pose by its joint {joint.name!r} ({joint.kind.name}) "
            "alone; give coordinates, or the pose of a free body"
        )
    return columns.v


def _others(mechanism: Mechanism, held: list[slice]) -> np.ndarray:
    """(nv) which velocities are not held."""
    free = np.ones(mechanism.nv, dtype=bool)
    for columns in held:
        free[columns] = False
    return free


def _hint(name: str, mechanism: Mechanism) -> str:
    known = [*(joint.name for joint in mechanism.joints), *(body.name for body in mechanism.bodies), *mechanism.q_names]
    return nearest(name, known)


# --- starts of a simulation ----------------------------------------------------------------------------------------------
class Starts:
    """The states that the runs of a simulation begin at; the default one has its loops closed after `close`."""

    def __init__(self, mechanism: Mechanism, q: Any = None, v: Any = None):
        """Those of a mechanism, by default neutral and at rest."""
        self._mechanism = mechanism
        self.default = self._checked(q, v)

    def close(
        self, loops: LoopEquations, adjust: Projection, drives: Mapping[str, int], follow: FollowedStarts | None = None
    ) -> None:
        """Closes the default start's loops, from now on those of all; `adjust`: to the surroundings, `follow`: motions."""
        self._loops, self._adjust, self._drives, self._follow = loops, adjust, drives, follow
        self.default = self._closed(*self.default)

    def given(self, q: Any, v: Any, bounds: Sequence[Bound] = ()) -> tuple[np.ndarray, np.ndarray]:
        """One start: the default one if neither is given, at rest if only q is; with loops, within these limits."""
        if q is None and v is None:
            found = self.default
        else:
            found = self._closed(*self._checked(self.default[0] if q is None else q, v))
        check_limits(self._mechanism, bounds, found[0])
        return found

    def many(self, q: Any, v: Any, count: int, projection: Projection) -> tuple[np.ndarray, np.ndarray]:
        """`count` initial states with their loops closed by a projection of many: from (nq) and (nv), or rows of these."""
        count = checked_count(count, "the number of states")
        if q is None and v is None:
            return np.tile(self.default[0], (count, 1)), np.tile(self.default[1], (count, 1))
        m = self._mechanism
        parts = ("q", self.default[0] if q is None else q, m.nq), ("v", np.zeros(m.nv) if v is None else v, m.nv)
        rows = [
            checked_rows(m, name, np.broadcast_to(x, (count, size)) if np.ndim(x) == 1 else x, size, count)
            for name, x, size in parts
        ]
        if self._follow is not None:
            rows = list(self._follow.rows(*rows))
        if self._loops.names:
            self._loops.lines.check_directions(*rows)
        return closed_starts(self._loops, rows[0], rows[1], projection)

    def _checked(self, q: Any, v: Any) -> tuple[np.ndarray, np.ndarray]:
        m = self._mechanism
        return (
            checked_state(m, "q", m.nq, neutral(m.tree) if q is None else q),
            checked_state(m, "v", m.nv, np.zeros(m.nv) if v is None else v),
        )

    def _closed(self, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """A start with its gaps closed to rounding."""
        if self._follow is not None:
            q, v = self._follow.of(q, v)
        q, v = self._adjust(*closed_state(self._loops, q, v))
        self._loops.lines.check_directions(q, v, self._drives)
        return q, v


def closed_starts(loops: LoopEquations, q: np.ndarray, v: np.ndarray, projection: Projection) -> tuple[np.ndarray, np.ndarray]:
    """States (N, nq) and (N, nv) with nearly closed loops closed; states closed to rounding are unchanged.

    Most rows are projected in one batch by the compiled `projection`, (q, v) → q, v. Those that are open, or where loops have
    lost rank, are treated one by one by `closed_state`, which refuses what it cannot close.
    """
    if not loops.names:
        return q, v
    given_q, given_v, q, v = q, v, q.copy(), v.copy()
    open_by = _open_by(loops, q, v)
    alone = np.flatnonzero(~(open_by <= CLOSED) | v.any(axis=1))
    if len(alone) > _FEW:
        alone = _side_by_side(loops, q, v, alone, open_by[alone] <= NEARLY, projection)
    for k in alone:
        q[k], v[k] = closed_state(loops, q[k], v[k])
    shut = open_by <= CLOSED
    q[shut], v[shut] = given_q[shut], given_v[shut]
    return q, v


def _side_by_side(
    loops: LoopEquations, q: np.ndarray, v: np.ndarray, rows: np.ndarray, near: np.ndarray, projection: Projection
) -> np.ndarray:
    """Closes rows in place where that is safe, if they are near; returns the remaining rows."""
    there_q, there_v = projection(*projection(q[rows], v[rows]))
    near = near & (_largest(there_v - v[rows]) <= _SAME * _largest(v[rows]) + NEARLY)
    near &= _open_by(loops, there_q, there_v) <= CLOSED
    moving = np.flatnonzero(v[rows].any(axis=1))
    if len(moving):
        near[moving] &= admitted_rows(loops, there_q[moving], there_v[moving])
    q[rows[near]], v[rows[near]] = there_q[near], there_v[near]
    return rows[~near]


def _open_by(loops: LoopEquations, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """(N) how far the loops are open in position and velocity, at most, as a part of the mechanism's size."""
    size = loops.mechanism.tree.size
    distance, angle, speed, turning = loops.gaps_of_rows(q, v).T
    gap, rate = np.hypot(distance, angle * size).max(axis=0), np.hypot(speed, turning * size).max(axis=0)
    return np.asarray(np.maximum(gap, rate / (1.0 + _largest(v))) / size)


def _largest(rows: np.ndarray) -> np.ndarray:
    """(N) the largest number of each row, without its sign; NumPy is slow along short rows."""
    return np.asarray(np.ascontiguousarray(np.abs(rows).T).max(axis=0, initial=0.0))
