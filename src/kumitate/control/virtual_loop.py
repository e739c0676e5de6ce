"""Control of an open mechanism so that it moves as if loops closed it (thesis 7.1, fig. 7.1).

Accelerations of a closed mechanism, accurate up to its singular postures: for virtual loops (T-7.4, T-f5).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..dynamics import Wrenches, chord_closings, chord_drives, crba, link_motions, loop_jacobian, projected, rnea
from ..dynamics.acting import Applied
from ..dynamics.factored import solve_symmetric
from ..dynamics.loops.constraints import solved_rows
from ..dynamics.loops.schur import with_rows
from ..errors import InputError
from ..kinematics import difference
from ..model import Loop, Mechanism, Tree
from ..scalar import Scalar, Scalars, table
from ..spatial import dot
from .controllers import CompiledPage, Controller, columns_of, mechanism_of
from .reaction_null_space import joint_acceleration_torque

#: Damping of Λ = J M⁻¹ Jᵀ, relative to the inverse of the mass: for applied forces, and for velocity terms. A force along a
#: direction that the loops nearly leave free would make the acceleration jump where the damping releases it: that damping is
#: small. Velocity terms there are small numbers divided by small numbers: that damping is large.
PUSHED, CARRIED = 1e-13, 1e-8


def loop_accelerations(
    tree: Tree,
    q: Scalars,
    v: Scalars,
    tau: Scalars,
    *,
    gravity: Scalars,
    wrenches: Applied | None = None,
    undriven: Sequence[int] = (),
) -> list[Scalar]:
    """v̇ (nv) of a mechanism with loops, for a state with closed loops; arguments as in `aba_with_loops`.

    As `factored_with_loops`, with the loops' forces by two damped solves.

    Args:
        undriven: indices in v without a drive. Drives then replace the loops' forces and the wrenches, so that no effort
            acts at undriven joints: each force is replaced by the efforts of the drives that accelerate the driven joints as
            it would.
    """
    still = table([0.0] * tree.nv)
    M = crba(tree, q)
    closings = chord_closings(tree, q, v)
    bias = rnea(tree, q, v, still, gravity=gravity)
    pushed = rnea(tree, q, v, still, gravity=gravity, wrenches=chord_drives(tree, closings, {}, wrenches))
    by_drives = _by_drives(M, undriven)
    virtual = by_drives([t + h - p for t, h, p in zip(tau, bias, pushed, strict=True)])
    system = with_rows(tree, q, v, closings, M, [a - h for a, h in zip(virtual, bias, strict=True)])
    if undriven:  # the rows are enforced by other forces than those along their own gradients
        J = loop_jacobian(tree, link_motions(tree, q, v), system.rows)
        responses = [solve_symmetric(M, by_drives(gradient)) for gradient in J]
        system = replace(system, responses=responses, Lambda=[[dot(row, response) for response in responses] for row in J])

    def forces(accelerations: Scalars, damping: float) -> list[Scalar]:
        return solved_rows(tree, system.rows, system.Lambda, [-a for a in accelerations], damping=damping)

    both = zip(forces(system.pull, PUSHED), forces(system.drift, CARRIED), strict=True)
    return system.accelerations([pulled + carried for pulled, carried in both])


def _by_drives(M: Sequence[Scalars], undriven: Sequence[int]) -> Callable[[Scalars], list[Scalar]]:
    """The equivalent forces of the drives alone, (0, g_d − M_du M_uu⁻¹ g_u), for generalised forces g = (g_u, g_d).

    M⁻¹ times them is M⁻¹ g less M_uu⁻¹ g_u in the undriven rows: the driven joints accelerate alike. For a row of J this is the
    generalised Jacobian of a floating robot (Umetani, Yoshida 1989), which accounts for the motion of the base.
    """
    M_uu = [[M[i][j] for j in undriven] for i in undriven]

    def by_drives(g: Scalars) -> list[Scalar]:
        if not undriven:
            return list(g)
        yielded = solve_symmetric(M_uu, [g[i] for i in undriven])
        return [0.0 if k in undriven else value - dot((M[k][i] for i in undriven), yielded) for k, value in enumerate(g)]

    return by_drives


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
        opened.tree.place(name, f"{opened.name}: a wrench acts on")
    if (stiffness or damping) and not on_loop:
        raise InputError("stiffness and damping pull towards the projected state; they need on_loop=True")
    nq, nv, falling = opened.nq, opened.nv, _virtual_gravity(opened, gravity, undriven)
    free = [k for columns in columns_of(opened, undriven).values() for k in columns]
    driven = [k for k in range(nv) if k not in free]

    def forward(q: Any, v: Any, tau: Any, *values: Any) -> Any:
        applied = Wrenches(closed.base_parameter_tree, dict(zip(names, values, strict=True))) if names else None
        return loop_accelerations(closed.base_parameter_tree, q, v, tau, gravity=falling, wrenches=applied, undriven=free)

    def inverse(q: Any, v: Any, a: Any) -> Any:
        wanted = [a[k] for k in driven]
        return joint_acceleration_torque(opened.base_parameter_tree, q, v, wanted, driven, gravity=opened.gravity)

    def nearest(q: Any, v: Any) -> Any:
        closed_q, closed_v = projected(closed.base_parameter_tree, q, v)
        return [*closed_q, *closed_v]

    state, pushes = {"q": nq, "v": nv}, {f"wrench_{name}": 6 for name in names}
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
