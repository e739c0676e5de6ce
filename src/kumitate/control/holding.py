"""Drives that hold a robot where it is, with gains from the inertia that its joints feel."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields
from typing import Any

import numpy as np

from ..analysis import loop_equations
from ..dynamics import crba
from ..errors import InputError
from ..kinematics import jacobian, neutral
from ..model import Drive, EffortDrive, Link, Mechanism, Place, PositionDrive
from ..model.values import POSITIVE, checked_array, checked_number, shown
from ..spatial import Transform
from .controllers import mechanism_of


def holding_drives(
    robot: Any, q: Any = None, *, rate: float = 100.0, standing: Iterable[str] | None = None
) -> dict[str, PositionDrive]:
    """Position drives for the joints of one degree of freedom, by name, for `Robot.with_drives`.

    They are the joints without a drive, and those whose drive gives the effort that it is commanded: without a controller,
    nothing. In a mechanism with loops of which some joints have drives, only those: loops move the others.

    A joint that feels the inertia I gets kp = I ω² and kd = 2 I ω: alone it comes back critically damped, and a load τ moves it
    by τ/kp. I is that of everything beyond the joint, or if it is larger: on a free base, for a joint between the base and a
    body on which the robot stands, that of all else, which turns about the joint; in loops, that of all that moves with it
    while nothing acts on the other joints. Limits of effort, gears and rotors are those of the joints and of their drives.

    Args:
        robot: a robot or mechanism.
        q: coordinates (nq) at which the inertias are taken, neutral by default.
        rate: ω [1/s]; steps should be well below 1/ω, or implicit.
        standing: the names of the bodies on which a robot with a free base stands, such as its feet (`contact.lowest_bodies`);
            by default it may stand on any, and gets joints that are stiff enough for that.

    Raises:
        InputError: for coordinates of another shape, a rate that is not positive, or a name that is not that of a body.

    >>> import kumitate as km
    >>> arm = km.load("pa10")
    >>> run = km.simulate(arm.with_drives(holding_drives(arm)), duration=0.5)
    >>> bool(np.abs(run.q[-1] - run.q[0]).max() < 0.005)
    True
    """
    mechanism = mechanism_of(robot)
    tree = mechanism.tree
    at = neutral(tree) if q is None else checked_array(mechanism.name, "q", q, (mechanism.nq,)).tolist()
    omega = checked_number(mechanism.name, "the rate [1/s]", rate, POSITIVE, error=InputError)
    held = _held(mechanism)
    felt = np.maximum(
        _felt(mechanism, at, _above(mechanism, standing)), _felt_in_loops(mechanism, at, [link.v_start for link in held])
    )
    drives = {joint.name: joint.drive for joint in mechanism.joints}
    found = {}
    for link in held:
        own, inertia = drives[link.name], float(felt[link.v_start])
        kept = {} if own is None else {field.name: getattr(own, field.name) for field in fields(Drive)}
        found[link.name] = PositionDrive(kp=inertia * omega**2, kd=2.0 * inertia * omega, **kept)
    return found


def _held(mechanism: Mechanism) -> list[Link]:
    """The joints that are to be held."""
    drives = {joint.name: joint.drive for joint in mechanism.joints}
    motors_only = bool(mechanism.loops) and any(drive is not None for drive in drives.values())
    return [
        link
        for link in mechanism.tree.links
        if link.kind.nv == link.kind.nq == 1
        and (isinstance(drives[link.name], EffortDrive) or (drives[link.name] is None and not motors_only))
    ]


def _felt_in_loops(mechanism: Mechanism, q: list[float], held: list[int]) -> np.ndarray:
    """The inertia (nv) that each held degree of freedom feels with closed loops while the base stands still.

    That of the motion with the least kinetic energy of all that the loops admit: nothing acts on the other joints. So n drives
    move nothing faster than ω √n. With the others at rest, a motor beside a posture where motors at rest do not fix what they
    move would feel thousands of times as much, and its drive would be that much too stiff for other motions. Zero for all
    degrees of freedom that are not held, and for those that the loops do not let move.
    """
    tree, felt = mechanism.tree, np.zeros(mechanism.nv)
    if not mechanism.loops:
        return felt
    M, own = np.array(crba(tree, q), dtype=float), np.eye(tree.nv)
    roots = [link for link in tree.links if tree.ancestors(link.index)[-1].index == link.index]
    base = [link.v_start + i for link in roots if link.kind.nv == 6 for i in range(6)]
    closed = np.vstack([loop_equations(mechanism).state(q, np.zeros(tree.nv)).J, own[base]])
    for k in held:
        rows = np.vstack([closed, own[k]])
        _, s, Vt = np.linalg.svd(rows)
        motion, free = np.linalg.pinv(rows, rcond=1e-9)[:, -1], Vt[int((s > 1e-9 * s.max(initial=0.0)).sum()) :].T
        if np.allclose(rows @ motion, np.eye(len(rows))[-1], atol=1e-6):
            motion = motion - free @ np.linalg.lstsq(free.T @ M @ free, free.T @ (M @ motion), rcond=None)[0]
            felt[k] = motion @ M @ motion
    return felt


def _above(mechanism: Mechanism, standing: Iterable[str] | None) -> set[int]:
    """The links between the base and the bodies on which a robot stands, with those of the bodies; all for None."""
    tree = mechanism.tree
    if standing is None:
        return {link.index for link in tree.links}
    bodies, names = {body.name for body in mechanism.bodies}, tuple(standing)
    for name in names:
        if name not in bodies:
            raise InputError(
                f"{mechanism.name}: standing has {shown(name)}, which is not a body; there are {', '.join(sorted(bodies))}"
            )
    links = [tree.places[name].link for name in names if name in tree.places]
    return {above.index for link in links if link >= 0 for above in tree.ancestors(link)}


def _felt(mechanism: Mechanism, q: list[float], standing: set[int]) -> np.ndarray:
    """The inertia (nv) that every degree of freedom feels; links whose joints may carry all else are in `standing`."""
    tree = mechanism.tree
    M = np.array(crba(tree, q), dtype=float)
    felt = np.diag(M).copy()
    for link in tree.links:
        base = tree.ancestors(link.index)[-1]
        if base.kind.nv != 6 or base.index == link.index or link.index not in standing:
            continue
        J = np.array(jacobian(tree, q, Place(link.index, Transform())), dtype=float)
        own = slice(base.v_start, base.v_start + 6)
        for k in range(link.v_start, link.v_start + link.kind.nv):  # all else turns about the joint, what it carries stays
            motion = np.zeros(tree.nv)
            motion[k], motion[own] = 1.0, -np.linalg.solve(J[:, own], J[:, k])
            felt[k] = max(felt[k], motion @ M @ motion)
    return felt
