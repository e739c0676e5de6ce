"""Drives that hold a robot where it is, with gains from the inertia that its joints feel."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import fields
from typing import Any

import numpy as np

from ..analysis import loop_equations, momentum_matrix, static_equilibrium
from ..analysis.balance import body_points
from ..contact.placement import ground_touches
from ..dynamics import crba, rnea
from ..errors import InputError, warn
from ..kinematics import integrate, jacobian, link_poses, neutral
from ..model import Drive, EffortDrive, Link, Mechanism, Place, PositionDrive
from ..model.values import NOT_NEGATIVE, POSITIVE, checked_array, checked_number, shown
from ..spatial import Transform
from .controllers import mechanism_of

#: Points of a foot are on the floor together [m].
_TOGETHER = 1e-3
#: The least share of the vertical momentum that a mode has in which a robot bounces, and the least squared rate, of that asked
#: for, before its legs share the load; the same of modes that anything holds at all.
_CARRIES, _LOOSE = 0.1, 1e-6
#: By how much coordinates are moved for slopes.
_SMALL = 1e-5


def holding_drives(
    robot: Any, q: Any = None, *, rate: float = 100.0, damping: float = 1.0, standing: Iterable[str] | None = None
) -> dict[str, PositionDrive]:
    """Position drives for the joints of one degree of freedom, by name, for `Robot.with_drives`.

    They are the joints without a drive, and those whose drive gives the effort that it is commanded: without a controller,
    nothing. In a mechanism with loops of which some joints have drives, only those: loops move the others.

    A joint that feels the inertia I gets kp = I ω² and kd = 2 ζ I ω: alone it oscillates at ω with the damping ratio ζ, and a
    load τ moves it by τ/kp. I is that of everything beyond the joint, or if it is larger: on a free base, for a joint between
    the base and a body on which the robot stands, that of all else, which turns about the joint; in loops, that of all that
    moves with it while nothing acts on the other joints. Limits of effort, gears and rotors are those of the joints and of
    their drives.

    Legs share what they carry: where a robot stands on bent legs, one factor makes their gains such that it bounces up and down
    on them at ω. It sways more slowly. `holding_efforts` carry its weight.

    Args:
        robot: a robot or mechanism.
        q: coordinates (nq) at which the inertias are taken, neutral by default.
        rate: ω [1/s]; steps should be well below 1/ω, or implicit. Actuators of robots are at 2π 5 to 2π 10.
        damping: ζ; with 1 a joint comes back without passing its target.
        standing: the names of the bodies on which a robot with a free base stands, such as its feet (`contact.lowest_bodies`);
            by default it may stand on any, and gets joints that are stiff enough for that.

    Raises:
        InputError: for coordinates of another shape, a rate that is not positive, or a name that is not that of a body.

    Warns:
        KumitateWarning: if legs so soft do not carry the weight.

    >>> import kumitate as km
    >>> arm = km.load("pa10")
    >>> run = km.simulate(arm.with_drives(holding_drives(arm)), duration=0.5)
    >>> bool(np.abs(run.q[-1] - run.q[0]).max() < 0.005)
    True
    """
    mechanism = mechanism_of(robot)
    at = neutral(mechanism.tree) if q is None else checked_array(mechanism.name, "q", q, (mechanism.nq,)).tolist()
    omega = checked_number(mechanism.name, "the rate [1/s]", rate, POSITIVE, error=InputError)
    ratio = checked_number(mechanism.name, "the damping", damping, NOT_NEGATIVE, error=InputError)
    held, standing = _held(mechanism), None if standing is None else tuple(standing)
    above = _above(mechanism, standing)
    felt = np.maximum(_felt(mechanism, at, above), _felt_in_loops(mechanism, at, [link.v_start for link in held]))
    if standing and [link.kind.nv for link in mechanism.tree.children(-1)] == [6]:
        felt = _shared(mechanism, at, omega, standing, felt)
    drives = {joint.name: joint.drive for joint in mechanism.joints}
    found = {}
    for link in held:
        own, inertia = drives[link.name], float(felt[link.v_start])
        kept = {} if own is None else {field.name: getattr(own, field.name) for field in fields(Drive)}
        found[link.name] = PositionDrive(kp=inertia * omega**2, kd=2.0 * ratio * inertia * omega, **kept)
    return found


def holding_efforts(robot: Any, q: Any = None, *, standing: Iterable[str] = ()) -> dict[str, float]:
    """The efforts [N·m, N] that carry a robot at rest, by joint: the input "feed_forward" of its `holding_drives`.

    Zero on a free base that nothing carries. The forces of the floor and of loops are those with the least efforts.

    Args:
        robot: a robot or mechanism; q: coordinates (nq), neutral by default.
        standing: the names of the bodies on which it stands.

    Raises:
        InputError: for coordinates of another shape, or a name that is not that of a body with a shape.

    >>> from kumitate import load
    >>> arm = load("planar_3r")
    >>> efforts = holding_efforts(arm, [0.5, 0.4, 0.3])
    >>> [round(effort, 6) for effort in efforts.values()] == arm.gravity_forces([0.5, 0.4, 0.3]).round(6).tolist()
    True
    """
    mechanism = mechanism_of(robot)
    tree = mechanism.tree
    at = neutral(tree) if q is None else checked_array(mechanism.name, "q", q, (mechanism.nq,)).tolist()
    held, drives = {link.name for link in _held(mechanism)}, {joint.name: joint.drive for joint in mechanism.joints}
    bases = [link for link in tree.children(-1) if link.kind.nv == 6]
    passive = [link.name for link in tree.links if link.name not in held and drives[link.name] is None and link not in bases]
    pressed = _floor(mechanism, at, standing) if bases else {}
    rest = static_equilibrium(loop_equations(mechanism), at, passive=passive, pressed=pressed)
    weight = tree.mass * float(np.linalg.norm(mechanism.gravity))
    falls = any(np.abs(rest.residual[link.v_start : link.v_start + 6]).max() > 1e-6 * weight for link in bases)
    return {link.name: 0.0 if falls else float(rest.tau[link.v_start]) for link in tree.links if link.name in held}


def _floor(mechanism: Mechanism, q: list[float], standing: Iterable[str]) -> dict[str, np.ndarray]:
    """The lowest points (n, 3) in the world of the bodies on which a robot stands."""
    standing = tuple(standing)
    touches = ground_touches(mechanism, q, None, standing) if standing else {}
    for name in standing:
        if name not in touches:
            raise InputError(f"{mechanism.name}: standing has {shown(name)}, which has no shape to stand on; leave it out")
    return {name: touches[name][touches[name][:, 3] < touches[name][:, 3].min() + _TOGETHER, :3] for name in standing}


def _shared(mechanism: Mechanism, q: list[float], omega: float, standing: Sequence[str], felt: np.ndarray) -> np.ndarray:
    """The inertias `felt`, with those of legs made such that the robot bounces on its feet at the rate omega.

    That is the mode with the most vertical momentum while feet stay at their points, and all but the legs is rigid.
    """
    tree = mechanism.tree
    places = body_points(tree, q, _floor(mechanism, q, standing))
    feet = [np.array(jacobian(tree, q, place), dtype=float)[3:] for place in places]
    above, held = _above(mechanism, standing), _held(mechanism)
    legs = [link.v_start for link in held if link.index in above]
    rigid = np.eye(tree.nv)[[link.v_start for link in held if link.index not in above]]
    loops = loop_equations(mechanism).state(q, np.zeros(tree.nv)).J.reshape(-1, tree.nv)
    _, s, Vt = np.linalg.svd(np.vstack([*feet, loops, rigid]))
    N = Vt[int((s > 1e-9 * s[0]).sum()) :].T
    stiffness = np.zeros(tree.nv)
    stiffness[legs] = felt[legs] * omega**2
    L = np.linalg.cholesky(N.T @ np.array(crba(tree, q), dtype=float) @ N)
    motions = N @ np.linalg.inv(L).T  # with mass one each
    squares, modes = np.linalg.eigh(motions.T @ (stiffness[:, None] * motions))
    motions = motions @ modes
    up = (np.array(momentum_matrix(tree, q), dtype=float)[5] @ motions) ** 2 / tree.mass
    bouncing = int(up.argmax()) if len(up) else -1
    if bouncing < 0 or up[bouncing] < _CARRIES or squares[bouncing] < _CARRIES * omega**2:
        return felt  # it stands on straight legs, or on parts that no joint moves
    factor = omega**2 / squares[bouncing]
    found = felt.copy()
    found[legs] *= factor
    squares *= factor
    if not mechanism.loops and squares.min() > _LOOSE * omega**2:  # else it leans on what nothing holds
        falling = -_gradient_of_load(mechanism, q, places, motions) / np.sqrt(np.outer(squares, squares))
        if (most := float(np.linalg.eigvalsh(falling).max())) > 1.0:
            hertz = omega / (2.0 * np.pi)
            warn(
                f"{mechanism.name}: held at {hertz:.3g} Hz it sinks to the floor, as legs carry its weight from "
                f"{hertz * most**0.5:.2g} Hz on. Hold it more stiffly"
            )
    return found


def _gradient_of_load(mechanism: Mechanism, q: list[float], places: Sequence[Place], motions: np.ndarray) -> np.ndarray:
    """The stiffness (k, k) along motions (nv, k) that the weight gives a robot on its feet: below zero where it falls.

    The forces of the floor at its places stay those of the robot at rest, and so do the efforts of joints.
    """
    tree, still = mechanism.tree, [0.0] * mechanism.nv
    base = next(slice(link.v_start, link.v_start + 6) for link in tree.children(-1) if link.kind.nv == 6)

    def parts(at: Sequence[Any]) -> tuple[np.ndarray, np.ndarray]:
        poses = link_poses(tree, at)
        feet = np.vstack([np.array(jacobian(tree, at, place, poses), dtype=float)[3:] for place in places])
        return np.array(rnea(tree, at, still, still, gravity=mechanism.gravity), dtype=float), feet

    load, feet = parts(q)
    floor = np.linalg.lstsq(feet[:, base].T, load[base], rcond=None)[0]
    slopes = []
    for motion in motions.T:
        there, feet_there = parts(integrate(tree, q, (_SMALL * motion).tolist()))
        slopes.append((there - load - (feet_there - feet).T @ floor) / _SMALL)
    found = np.array(slopes) @ motions
    return 0.5 * (found + found.T)


def _held(mechanism: Mechanism) -> list[Link]:
    """The joints that are to be held."""
    drives = {joint.name: joint.drive for joint in mechanism.joints}
    motors_only = bool(mechanism.loops) and any(drives.values())
    kinds = (EffortDrive,) if motors_only else (EffortDrive, type(None))
    single = (link for link in mechanism.tree.links if link.kind.nv == link.kind.nq == 1)
    return [link for link in single if isinstance(drives[link.name], kinds)]


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
    base = [link.v_start + i for link in tree.children(-1) if link.kind.nv == 6 for i in range(6)]
    closed = np.vstack([loop_equations(mechanism).state(q, np.zeros(tree.nv)).J, np.eye(tree.nv)[base]])
    _, s, Vt = np.linalg.svd(closed)
    free = Vt[int((s > 1e-9 * s.max(initial=0.0)).sum()) :].T
    admitted = [k for k in held if np.linalg.norm(free[k]) > 1e-6]
    squares, modes = np.linalg.eigh(free.T @ np.array(crba(tree, q), dtype=float) @ free)
    rates = (free @ modes)[admitted] / np.sqrt(np.maximum(squares, 1e-15 * squares.max(initial=0.0)))
    felt[admitted] = 1.0 / (rates**2).sum(axis=1)  # by the modes of the kinetic energy, each with as much as another
    return felt


def _above(mechanism: Mechanism, standing: Iterable[str] | None) -> set[int]:
    """The links between the base and the bodies on which a robot stands, with those of the bodies; all for None."""
    tree = mechanism.tree
    if standing is None:
        return {link.index for link in tree.links}
    bodies, names = sorted(body.name for body in mechanism.bodies), tuple(standing)
    if other := [name for name in names if name not in bodies]:
        raise InputError(
            f"{mechanism.name}: standing has {shown(other[0])}, which is not a body; there are {', '.join(bodies)}"
        )
    links = [tree.places[name].link for name in names]
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
