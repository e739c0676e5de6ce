"""Control of an open mechanism so that it moves as if loops closed it (thesis 7.1, fig. 7.1)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..dynamics import Wrenches, projected
from ..errors import InputError
from ..kinematics import difference
from ..model import Loop, Mechanism
from .compiled_page import CompiledPage, mechanism_of
from .controllers import Controller, columns_of
from .loop_accelerations import loop_accelerations
from .reactionless import joint_acceleration_torque


def closed_by(robot: Any, loops: Sequence[Loop]) -> Mechanism:
    """The mechanism with these loops added: the same joints, coordinates and order."""
    mechanism = mechanism_of(robot)
    return replace(mechanism, loops=(*mechanism.loops, *loops))


def virtual_loop(
    robot: Any,
    loops: Sequence[Loop],
    *,
    efforts: Controller | None = None,
    wrenches: Mapping[str, Callable[[Any, Any, Any], Any]] | None = None,
    gravity: Sequence[float] | None = None,
    undriven: Sequence[str] = (),
    on_loop: bool = True,
    stiffness: float = 0.0,
    damping: float = 0.0,
) -> Controller:
    """tau = ID_open(q, v, FD_closed(q, v, 0, F^ex)): the open robot moves as the closed one would (thesis eq. 7.4, 7.5).

    Args:
        robot: the open mechanism.
        loops: joints that close it virtually.
        efforts: virtual forces along the joints (nv) = f(t, q, v), S τ^ex of eq. 7.8.
        wrenches: virtual wrenches [n; f] (6) = f(t, q, v) by name of a body or frame: axes of the world, about its origin
            (eq. 7.13).
        gravity: of the virtual mechanism. By default zero: the open robot's inverse dynamics carries the weight,
            and the virtual mechanism moves by F^ex alone. With undriven joints, which no drive holds against gravity, it is the
            robot's own.
        undriven: joints of the open robot without a drive, such as a floating base's. The drives realise as much as they can of
            the loops' forces and of F^ex (`loop_accelerations`): no effort appears at these joints. Loops among the robot's own
            links are closed exactly as in the closed mechanism, as their forces are internal; those to the world by
            swinging the rest of the robot.
        on_loop: whether FD_closed gets the state projected onto the loops, the nearest in the metric of the inertia matrix. The
            loop errors of the open robot's state, which the closed mechanism cannot follow, are then removed; this matters near
            singular postures.
        stiffness, damping: of a spring [1/s²] and a damper [1/s] that pull the state to the projected one; with
            `on_loop` only. Without them errors of the loops neither grow nor decay.

    Raises:
        InputError: if the place of a wrench is not a body or frame, an undriven joint does not exist, stiffness and damping are
            given without `on_loop`, or another gravity than the robot's with undriven joints.
    """
    opened = mechanism_of(robot)
    closed = closed_by(opened, loops)
    names = tuple(wrenches or ())
    for name in names:
        if name not in opened.tree.places:
            raise InputError(f"{opened.name}: {name!r} is not a body or frame; there are {', '.join(opened.tree.places)}")
    if (stiffness or damping) and not on_loop:
        raise InputError("stiffness and damping pull towards the projected state; they need on_loop=True")
    nq, nv = opened.nq, opened.nv
    free = [k for columns in columns_of(opened, undriven).values() for k in columns]
    driven = [k for k in range(nv) if k not in free]
    falling = _virtual_gravity(opened, gravity, undriven)

    def forward(q: Any, v: Any, tau: Any, *values: Any) -> Any:
        applied = Wrenches(closed.base_parameter_tree, dict(zip(names, values, strict=True))) if names else None
        return loop_accelerations(closed.base_parameter_tree, q, v, tau, gravity=falling, wrenches=applied, undriven=free)

    def inverse(q: Any, v: Any, a: Any) -> Any:
        wanted = [a[k] for k in driven]
        return joint_acceleration_torque(opened.base_parameter_tree, q, v, wanted, driven, gravity=opened.gravity)

    def nearest(q: Any, v: Any) -> Any:
        closed_q, closed_v = projected(closed.base_parameter_tree, q, v)
        return [*closed_q, *closed_v]

    state: dict[str, int | tuple[int, ...]] = {"q": nq, "v": nv}
    pushes: dict[str, int | tuple[int, ...]] = {f"wrench_{name}": 6 for name in names}
    fd = CompiledPage(forward, {**state, "tau": nv, **pushes}, f"closed_{opened.name}")
    id_ = CompiledPage(inverse, {**state, "a": nv}, f"opened_{opened.name}")
    project = CompiledPage(nearest, state, f"on_loop_{opened.name}")
    away = CompiledPage(lambda q, goal: difference(opened.tree, q, goal), {"q": nq, "goal": nq}, f"away_{opened.name}")

    def law(t: Any, q: Any, v: Any) -> Any:
        there, rate = q, v
        if on_loop:
            both = project(q, v)
            there, rate = both[:nq], both[nq:]
        tau = np.zeros(nv) if efforts is None else np.asarray(efforts(t, there, rate))
        values = [np.asarray(push(t, there, rate)) for push in (wrenches or {}).values()]
        a = fd(there, rate, tau, *values)
        if stiffness or damping:
            a = a + stiffness * away(q, there) + damping * (rate - np.asarray(v))
        return id_(q, v, a)

    return law


def _virtual_gravity(opened: Mechanism, given: Sequence[float] | None, undriven: Sequence[str]) -> tuple[float, ...]:
    """The gravity of the virtual mechanism [m/s²]."""
    if given is None:
        return opened.gravity if undriven else (0.0, 0.0, 0.0)
    if undriven and tuple(given) != opened.gravity:
        raise InputError(
            f"{opened.name}: gravity is {tuple(given)} for the virtual mechanism and {opened.gravity} for the robot, whose "
            f"joints {', '.join(undriven)} have no drive that could make up for it; leave gravity out"
        )
    return tuple(given)
