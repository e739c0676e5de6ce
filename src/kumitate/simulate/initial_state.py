"""An initial state by names: coordinates and velocities of joints, poses of bodies, with the loops closed around them."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any

import numpy as np

from ..analysis import LoopEquations, assemble, closed_state
from ..errors import InputError, ModelError
from ..kinematics import link_poses, place_pose
from ..model import Mechanism, Place
from ..model.tree.tree import alignment
from ..model.values import checked_pose, shown
from ..spatial import Transform
from .checks import checked_state
from .results.columns import JointColumns, joint_columns

__all__ = ["named_start", "state_by_name"]

#: A pose that a joint reaches to within this [m, rad] is reached.
_REACHED = 1e-9


def named_start(
    mechanism: str, starts: Mapping[str, tuple[np.ndarray, np.ndarray]], name: str | None, usual: tuple[np.ndarray, np.ndarray]
) -> tuple[np.ndarray, np.ndarray]:
    """The start of this name, or the usual one at rest for None.

    Raises:
        InputError: if there is no such start.
    """
    if name is None:
        return usual[0], np.zeros_like(usual[1])
    if name not in starts:
        near = get_close_matches(name, starts, 1)
        remedy = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(starts) or 'none'}"
        raise InputError(f"{mechanism}: there is no start {name!r}; {remedy}")
    return starts[name]


def state_by_name(
    loops: LoopEquations,
    start: tuple[np.ndarray, np.ndarray],
    q: Mapping[str, Any],
    v: Mapping[str, Any],
    pose: Mapping[str, Any],
) -> tuple[np.ndarray, np.ndarray]:
    """The state (q, v) with what is given by name, and everything else as in `start`, but moved so that all loops are closed.

    Args:
        loops: the mechanism's equations.
        start: the state (q, v) of what is not given.
        q, v: numbers by the names of joints, of bodies (their joint's), or of single components, such as "base.x".
        pose: poses in the world by the names of bodies whose own joint can bring them there; a `Transform` or 4×4 numbers.

    Raises:
        InputError: for unknown names, wrong numbers, poses that are not reached, and loops that cannot be closed with them.
    """
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
        # a part of a quaternion moves all of its orientation
        same = owner.kind.nq == owner.kind.nv
        fixed = (
            slice(owner.v.start + where.start - owner.q.start, owner.v.start + where.stop - owner.q.start) if same else owner.v
        )
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
    near = get_close_matches(name, known, 1)
    return f"did you mean {near[0]!r}?" if near else f"there are {', '.join(dict.fromkeys(mechanism.q_names)) or 'none'}"
