"""Matching of joints with those of other programs, and the layout of each."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ...errors import InputError
from ...spatial import Transform, quaternion_of
from ..elements import Joint
from ..mechanism import HasMechanism, Mechanism
from ..tree.tree import WORLD_LINK, Link, alignment
from .order import DRAKE, MUJOCO, PINOCCHIO, JointOrder, Layout, Order, Table, actuators_of

#: A joint of theirs: its name, and its type as the tables call it (None: not known).
Theirs = tuple[str, str | None]


def pinocchio(robot: Mechanism | HasMechanism, model: Any, *, continuous: Collection[str] = ()) -> Order:
    """Conversion to and from Pinocchio's states.

    There, positions stand before quaternions (x, y, z, w) and linear before angular velocities, both of a free joint in the
    body's axes; a "continuous" joint is written by its cosine and sine; joints come depth first, children by their names.

    Args:
        robot: a robot or mechanism.
        model: a `pinocchio.Model`; or the names of its moving joints in order, if Pinocchio is not installed.
        continuous: with names: the joints that are written by cosine and sine. A model contains this.

    Raises:
        InputError: if a joint is missing on either side (fixed ones do not count), or is of another kind.
    """
    if isinstance(model, Sequence):
        joints = [(name, "continuous" if name in continuous else None) for name in model]
        return _order(robot, "Pinocchio", PINOCCHIO, joints)
    pairs = list(zip(model.names, model.joints, strict=True))[1:]  # the first is the universe
    joints = [(name, _pinocchio_type(joint.shortname())) for name, joint in pairs]
    return _order(robot, "Pinocchio", PINOCCHIO, joints, (model.nq, model.nv))


def mujoco(robot: Mechanism | HasMechanism, model: Any) -> Order:
    """Conversion to and from MuJoCo's states (qpos, qvel, qacc, qfrc), and from its ctrl (`Order.control`).

    There, positions stand before quaternions (w, x, y, z) and linear before angular velocities; a free joint's coordinates are
    those of the body in the world, its linear velocity along the world's axes, its angular velocity along the body's.

    Args:
        robot: a robot or mechanism.
        model: a `mujoco.MjModel`; or the names of its joints in order, if only states are converted.

    Raises:
        InputError: if a joint is missing on either side (fixed ones do not count), or is of another kind.
    """
    if isinstance(model, Sequence):
        return _order(robot, "MuJoCo", MUJOCO, [(name, None) for name in model])
    types = ("free", "ball", "slide", "hinge")  # mjtJoint
    joints = [(model.joint(i).name, types[int(model.jnt_type[i])]) for i in range(model.njnt)]
    order = _order(robot, "MuJoCo", MUJOCO, joints, (model.nq, model.nv))
    mechanism = robot if isinstance(robot, Mechanism) else robot.mechanism
    driven = tuple(joint.name for joint in mechanism.driven)
    return replace(order, actuators=actuators_of(mechanism, model), driven=driven)


def drake(robot: Mechanism | HasMechanism, names: Sequence[str]) -> Order:
    """Conversion to and from Drake's states.

    There, quaternions (w, x, y, z) stand before positions and angular before linear velocities, both of a floating joint along
    the axes of the parent's frame. Floating joints by Euler angles and ball joints are not converted.

    Args:
        robot: a robot or mechanism.
        names: of the plant's moving joints, in the order of its positions.

    Raises:
        InputError: if a joint is missing on either side (fixed ones do not count), or is of another kind.
    """
    return _order(robot, "Drake", DRAKE, [(name, None) for name in names])


def _pinocchio_type(shortname: str) -> str:
    """The type behind names like "JointModelRUBX"; the name itself if it is unknown."""
    kinds = {
        "R([XYZ]|evoluteUnaligned)": "revolute",
        "R(UB[XYZ]|evoluteUnboundedUnaligned)": "continuous",
        "P([XYZ]|rismaticUnaligned)": "prismatic",
        "FreeFlyer": "floating",
        "Spherical": "spherical",
        "Planar": "planar",
        "Universal": "universal",
    }
    return next((kind for form, kind in kinds.items() if re.fullmatch(f"JointModel{form}", shortname)), shortname)


# --- matching ---------------------------------------------------------------------------------------------------------------
def _order(
    robot: Mechanism | HasMechanism,
    peer: str,
    table: Table,
    theirs: Sequence[Theirs],
    sizes: tuple[int, int] | None = None,
) -> Order:
    mechanism = robot if isinstance(robot, Mechanism) else robot.mechanism
    tree = mechanism.tree
    links = {link.name: link for link in tree.links}
    joints, q, v = [], 0, 0
    for (name, kind), ours in zip(theirs, _matched(mechanism.name, peer, [name for name, _ in theirs], links), strict=True):
        link = links[ours]
        layout = _layout(mechanism.name, peer, table, link, name, kind)
        if layout.oriented:
            _check_axes(mechanism, peer, mechanism.joint(ours))
        base = _base(mechanism.name, peer, link) if layout.in_world else None
        joints.append(JointOrder(link, name, layout, slice(q, q + len(layout.q)), slice(v, v + len(layout.v)), base))
        q, v = q + len(layout.q), v + len(layout.v)
    if sizes is not None and (q, v) != tuple(sizes):
        raise InputError(
            f"{mechanism.name}: the joints have nq={q} and nv={v} in {peer}'s order, but its model has nq={sizes[0]} and "
            f"nv={sizes[1]}; is the model changed by hand?"
        )
    return Order(mechanism.name, peer, tuple(joints), tree.nq, tree.nv, q, v)


def _matched(mechanism: str, peer: str, theirs: Sequence[str], links: dict[str, Link]) -> Iterator[str]:
    """Our name of each of their joints. If one free joint is left on each side, they match: programs name it differently."""
    repeated = sorted({name for name in theirs if list(theirs).count(name) > 1})
    if repeated:
        raise InputError(f"{mechanism}: {peer}'s joints have names that repeat, {repeated}; joints are matched by name")
    extra = [name for name in theirs if name not in links]
    missing = [name for name in links if name not in theirs]
    same = {}
    if len(extra) == len(missing) == 1 and links[missing[0]].kind.nv == 6 and links[missing[0]].parent == WORLD_LINK:
        same = {extra[0]: missing[0]}
        extra, missing = [], []
    if extra or missing:
        faults = [f"{peer} has {_some(extra)}, which move nothing here"] * bool(extra)
        faults += [f"{peer} lacks {_some(missing)}"] * bool(missing)
        raise InputError(
            f"{mechanism}: the joints are not the same: {'; '.join(faults)}. Read the same file in both programs, with the "
            "base held alike, and lock the same joints; fixed joints do not count"
        )
    return (same.get(name, name) for name in theirs)


def _some(names: Sequence[str]) -> str:
    return ", ".join(repr(name) for name in names[:6]) + (f", … ({len(names)} in all)" if len(names) > 6 else "")


def _layout(mechanism: str, peer: str, table: Table, link: Link, name: str, kind: str | None) -> Layout:
    layouts = table.get(link.kind.name, {})
    if kind is None and layouts:
        return next(iter(layouts.values()))
    if kind not in layouts:
        there = f"{kind!r} in {peer}" if kind is not None else f"and {peer} has no such joint"
        known = ", ".join(f"{ours} to {' or '.join(types)}" for ours, types in table.items())
        raise InputError(
            f"{mechanism}: joint {link.name!r} is {link.kind.name!r} here {there}; states are converted from {known}"
        )
    return layouts[kind]


def _check_axes(mechanism: Mechanism, peer: str, joint: Joint) -> None:
    """Refuses orientations and planes about other axes than the frame's own, which no other program has."""
    turn = np.array([list(row) for row in alignment(joint.axis, joint.second_axis).matrix()], dtype=float)
    if np.abs(turn - np.eye(3)).max() > 1e-12:
        raise InputError(
            f"{mechanism.name}: the coordinates of joint {joint.name!r} are along axes that axis={tuple(joint.axis)} turns "
            f"away from its frame's, which {peer} cannot say; turn the joint's pose instead and leave the axis at z"
        )


def _base(mechanism: str, peer: str, link: Link) -> tuple[np.ndarray, np.ndarray] | None:
    """The pose of a joint's fixed frame in the world: orientation x, y, z, w and position; None for the world itself."""
    if link.parent != WORLD_LINK:
        raise InputError(
            f"{mechanism}: joint {link.name!r} hangs on a moving body; {peer}'s free joints hang on the world, so that "
            "the same coordinates do not exist there"
        )
    if link.placement.almost_equal(Transform(), 0.0):
        return None
    return np.array(quaternion_of(link.placement.rotation)), np.array(list(link.placement.translation))
