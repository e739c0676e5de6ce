"""The derivatives of a step with rigid contact, drives and stops, at its solution: one linear system for all directions.

With v' the velocities after the step and a = (v' − v)/h the accelerations that they stand for, inverse dynamics gives back all
efforts, those of contact included. The implicit function theorem on that equation, with the laws of contact linearised at the
solution (`contact.impulse.linearised`), gives

    (M + JᵀKJ) dv' = r + what is carried over from the last round,

where r comes from the derivatives of inverse dynamics. Two rounds with the same factors leave 1/STRENGTH² of the error.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from functools import cache, reduce
from typing import Any, NamedTuple

import numpy as np

from ..contact.impulse.jacobians import Pattern, along, link_jacobians
from ..contact.impulse.linearised import LinearisedContact, Pressing, linearised
from ..contact.scene import Pair
from ..dynamics import Wrenches
from ..dynamics.derivatives import rnea_derivatives
from ..dynamics.derivatives.inverse import InverseSlopes, Matrix, zeros
from ..dynamics.free_turning import lone_bodies
from ..dynamics.passive import passive_curve, resisting_inertia
from ..dynamics.settling import RECOVERY, STIFF, drive_forces, limited, stiffnesses, stops_at
from ..kinematics import carried, integrate, jacobian, turning
from ..model import Bound, Command, Drive, Mechanism
from ..model.joints import JointKind
from ..scalar import (
    Program,
    Scalar,
    Scalars,
    absolute,
    call,
    equal,
    flatten,
    inlined_slopes,
    is_zero,
    loop,
    maximum,
    select,
    table,
    trace,
)  # fmt: skip
from ..scalar import jacobian as derivatives
from ..simulate.driving.forcing import Forcing
from ..simulate.integrators import Integrator, TimeStepping
from ..simulate.interactions import Interaction
from ..simulate.stepping.step_code import StepCode
from ..spatial import Dense, SparseFactors, dot
from .active import RESTING, SLOW
from .direct import Page, Sloped, turned
from .driving import DrivingSlopes, SparseColumn

#: The stiffness of points and stops relative to the inertia of the mechanism.
STRENGTH = 1e6
#: A step whose velocities miss the laws of contact by more than this part of the points' speeds has no derivatives.
SETTLED = 1e-5
#: A stop holds if its joint's velocity is within this of the one that closes the gap [rad/s or m/s].
AT_STOP = 1e-6


def touching_page(
    integrator: Integrator, code: StepCode, forcing: Forcing, interaction: Interaction, places: Sequence[tuple[int, int]]
) -> Page | None:
    """The page of such a step; None for loops, single free bodies, bodies of the mechanism that may touch each other, surfaces
    that rebound, and parameters. `places`: as `effort_places` gives them.
    """
    interaction.slopes(None)  # which refuses models that have no derivatives
    m, pairs = code.mechanism, getattr(interaction, "pairs", ())
    if not isinstance(integrator, TimeStepping) or m.tree.closed or forcing.parameters is not None:
        return None
    if lone_bodies(m.tree) or any(pair.links[1] >= 0 or not _only_rubs(pair.surface) for pair in pairs):
        return None
    jumps, flies = code.jumps, integrator.flight is not None
    assert jumps is not None

    def stepped(h: Scalar, q: Any, v: Any, driven: DrivingSlopes) -> Sloped:
        """v' by the impulses of contact and q' = q ⊕ h v', with v' then in the axes at q'."""
        found = call(jumps, h, q, v, driven.u)
        after = found["v"]
        move = [h * rate for rate in after]
        free = balance(m, forcing, after, h, q, v, driven)
        system = _system(free, _touched(m, pairs, found, h, q), _held(m, code.bounds, after, q, v, h))
        first = system.H[0]
        first[0] = first[0] * select(found["missed"] <= SETTLED, 1.0, float("nan"))
        A, B = step_columns(system, _end(m, after, h, q), h)
        elsewhere = select(found["touching"] < 0.5, 1.0, 0.0) if flies else 0.0
        efforts = [free.efforts[column].get(row, 0.0) for row, column in places]
        return Sloped(integrate(m.tree, q, move), carried(m.tree, after, move), A, B, elsewhere, efforts)

    return stepped


def _only_rubs(surface: Any) -> bool:
    """Whether a surface has no other property than friction: restitution, and whatever else there may be, has its default."""
    known = {"friction", "kinetic_friction", "threshold", "belt"}
    return all(getattr(surface, part.name) == part.default for part in fields(surface) if part.name not in known)


def _system(free: StepBalance, touched: LinearisedContact, held: dict[int, tuple[Scalar, Scalar]]) -> TwoRounds:
    """(M + JᵀKJ) dv' = r, with what is carried over from the first round to the second."""
    H = {i: {j: x for j, x in enumerate(row) if not is_zero(x)} for i, row in enumerate(free.M)}
    by_q, by_q_over = ([list(row) for row in rows] for rows in (free.by_q, zeros(len(H))))
    for matrix, more in ((by_q, touched.by_q), (by_q_over, touched.by_q_over)):
        for i, row in more.items():
            for j, x in row.items():
                matrix[i][j] = matrix[i][j] + x
    for i, row in touched.stiffness.items():
        for j, x in row.items():
            H[i][j] = H[i].get(j, 0.0) + x
            H[j].setdefault(i, 0.0)
    over = touched.carried_over
    for k, (R, back) in held.items():
        H[k][k], over[k][k] = H[k][k] + R, over[k].get(k, 0.0) + R
        by_q[k][k], by_q_over[k][k] = by_q[k][k] - back, by_q_over[k][k] - back
    return TwoRounds(H, over, by_q, free.by_v, by_q_over)


def _end(m: Mechanism, after: Scalars, h: Scalar, q: Any) -> StepEnd:
    """How a step with the velocities `after` ends, where coordinates or velocities are those of axes that turn."""
    ends: list[tuple[Dense, Dense, Dense]] = []
    for link in m.tree.links:
        kind, rates = link.kind, link.velocities(after)
        carrying = Dense.unit(kind.nv)
        if type(kind).carried is not JointKind.carried:
            carrying = Dense.of(zip(*call(_carrying_slopes(kind), rates, h)["result_by_v"], strict=True))
        ends.append((*turned(link, link.coordinates(q), [h * rate for rate in rates]), carrying))
    return StepEnd(*(Dense.blocks(parts) for parts in zip(*ends, strict=True)))


def _touched(m: Mechanism, pairs: Sequence[Pair], found: dict[str, Any], h: Scalar, q: Any) -> LinearisedContact:
    """The contact of a step at its solution, as the program of jumps gives it."""
    tree = m.base_parameter_tree
    seen = [absolute(part) for gap, u in zip(found["gaps"], found["velocities"], strict=True) for part in
            (select(gap < 1.0, component, 0.0) for component in u)]  # fmt: skip
    slow = SLOW * (RESTING + reduce(maximum, seen, 0.0))
    impulses, frictions = iter(found["impulses"]), iter(found["frictions"])
    pressing = [
        Pressing([next(impulses) for _ in range(pair.capacity)], [next(frictions) for _ in range(pair.capacity)])
        for pair in pairs
    ]
    return linearised(link_jacobians(tree, q), pairs, pressing, q, found["v"], h, STRENGTH * tree.mass, slow)


def _held(m: Mechanism, bounds: Sequence[Bound], after: Any, q: Any, v: Any, h: Scalar) -> dict[int, tuple[Scalar, Scalar]]:
    """By degree of freedom, the stiffness R of its stop if that holds, else 0, and R/h while the step closes its gap."""
    found: dict[int, tuple[Scalar, Scalar]] = {}
    for stop in stops_at(bounds, stiffnesses(m, bounds), q, v, h):
        k = stop.bound.v
        R = select(stop.bound.sign * after[k] < stop.target + AT_STOP, stop.stiff * (STRENGTH / STIFF), 0.0)
        back = select(stop.bound.gap(q) > -RECOVERY * h, R / h, 0.0)
        total = found.get(k, (0.0, 0.0))
        found[k] = total[0] + R, total[1] + back
    return found


@cache
def _carrying_slopes(kind: JointKind) -> Program:
    sizes: dict[str, int | tuple[int, ...]] = {"v": kind.nv, "h": ()}
    return derivatives(trace(lambda v, h: kind.carried(v, [h * rate for rate in v]), sizes, f"carried_{kind.name}"), "v")


# --- The balance of momenta of a step without contact and stops ---------------------------------------------------------
# Its derivatives by the state and by what drives it, with those of the joints' own forces and of their drives: M dv' = r.


class StepBalance(NamedTuple):
    """M dv' = r of a step h.

    Attributes:
        M: the inertia matrix of the implicit step (nv, nv).
        by_q, by_v: r by coordinates and velocities (nv, nv); by an effort along a joint it is h.
        efforts: the efforts along joints that a change of each entry of u stands for, by degree of freedom.
    """

    M: Matrix
    by_q: Matrix
    by_v: Matrix
    efforts: list[SparseColumn]


def balance(m: Mechanism, forcing: Forcing, after: Any, h: Scalar, q: Any, v: Any, driven: DrivingSlopes) -> StepBalance:
    """The balance at the velocities `after` the step."""
    u, tree, parts = driven.u, m.base_parameter_tree, forcing.layout.unpack(driven.u)
    rates = [(b - a) / h for a, b in zip(v, after, strict=True)]
    a = [rate + turn for rate, turn in zip(rates, turning(m.tree, v), strict=True)]
    wrenches = Wrenches(tree, parts.wrenches) if parts.wrenches else None
    slopes = rnea_derivatives(tree, q, v, a, gravity=m.gravity, wrenches=wrenches)
    M, by_q, by_v = slopes.by_a, slopes.by_q, slopes.by_v
    for link in tree.links:
        speeds = link.velocities(v)
        resisting, curves = resisting_inertia(link, speeds, h), passive_curve(link, speeds)
        for k, i in enumerate(range(link.v_start, link.v_start + link.kind.nv)):
            M[i][i] = M[i][i] + (resisting[k] - link.armature[k])
            by_v[i][i] = by_v[i][i] + h * (link.stiffness[k] + curves[k] * a[i])
    efforts: list[SparseColumn] = [{k: 1.0} for k in range(m.nv)]
    for name in parts.wrenches:
        efforts += [{k: x for k, x in enumerate(row) if not is_zero(x)} for row in jacobian(tree, q, tree.places[name])]
    efforts += _add_drives(m, parts.commands, len(forcing.commands), slopes, rates, q, v, h)
    efforts += [{} for _ in range(len(u) - len(efforts))]
    columns, rows = driven.chained(efforts, m.nv), ([[-h * x for x in row] for row in by_q], _velocity_rows(m, M, by_v, v, h))
    for part, of_state in zip(rows, (columns[: m.nv], columns[m.nv : 2 * m.nv]), strict=True):
        for k, column in enumerate(of_state):
            for i, x in column.items():
                part[i][k] = part[i][k] + h * x
    return StepBalance(M, *rows, columns[2 * m.nv :])


def _add_drives(
    m: Mechanism, commands: Sequence[Command], kinds: int, slopes: InverseSlopes, rates: Scalars, q: Any, v: Any, h: Scalar
) -> list[SparseColumn]:
    """Adds drives to the derivatives of inverse dynamics. Returns the efforts by commands, of which there are so many kinds."""
    M, by_q, by_v = slopes.by_a, slopes.by_q, slopes.by_v
    wished = drive_forces(m.driven, q, v, commands, (), h)
    commanded: list[SparseColumn] = [{} for _ in range(kinds) for _ in m.driven]
    for d, (joint, wish, command) in enumerate(zip(m.driven, wished, commands, strict=True)):
        k, law = joint.v, joint.drive.law(q[joint.q], v[joint.v], command)
        force = limited(joint, wish, rates[k])
        acts = select(equal(force.resisting, wish.resisting), 1.0, 0.0) if joint.limited else 1.0
        M[k][k] = M[k][k] + force.resisting
        by_q[k][k] = by_q[k][k] + acts * law.stiffness
        by_v[k][k] = by_v[k][k] + acts * (law.damping + h * law.stiffness)
        for c, slope in enumerate(_by_command(joint.drive, q[joint.q], v[k], command)[:kinds]):
            commanded[c * len(m.driven) + d] = {k: acts * slope}
    return commanded


def _velocity_rows(m: Mechanism, M: Matrix, by_v: Matrix, v: Any, h: Scalar) -> Matrix:
    """M (1 − h ∂turning/∂v) − h ∂τ/∂v."""
    rows = [[a - h * b for a, b in zip(*pair, strict=True)] for pair in zip(M, by_v, strict=True)]
    for link in m.tree.links:
        if type(link.kind).turning is not JointKind.turning:
            own = slice(link.v_start, link.v_start + link.kind.nv)
            changes = inlined_slopes(_turning(link.kind), [v[own]], [[unit] for unit in np.eye(link.kind.nv).tolist()])
            for row, of_row in zip(rows, M, strict=True):
                row[own] = [x - h * dot(change, of_row[own]) for x, change in zip(row[own], changes, strict=True)]
    return rows


@cache
def _turning(kind: JointKind) -> Program:
    return trace(kind.turning, {"v": kind.nv}, f"turning_{kind.name}")


def _by_command(drive: Drive, q: Scalar, v: Scalar, command: Command) -> list[Scalar]:
    """The derivatives of a drive's effort by the parts of its command."""

    def effort(command: Any, q: Any, v: Any) -> list[Scalar]:
        return [drive.law(q, v, Command(*command)).effort]

    program = derivatives(trace(effort, {"command": len(command), "q": (), "v": ()}, f"commanded_{drive.kind}"), "command")
    found = call(program, list(command), q, v)["result_by_command"]
    return [slope for (slope,) in found]


# --- The columns that one linear system gives: solved for, and carried to the end of the step ---------------------------
# The code is a loop over the columns, so that it is short, however many there are. A pass takes three of them: by a coordinate,
# by its velocity and by an effort along it. So every entry of the factors is read once for three products.


class StepEnd(NamedTuple):
    """How a step ends (nv, nv).

    Attributes:
        own: the motion at the end by the coordinates, while the velocities stay.
        moved: the motion at the end by that in the step.
        carried: the velocities in the axes after the step by those before.
    """

    own: Dense
    moved: Dense
    carried: Dense


class TwoRounds(NamedTuple):
    """H x₁ = r and H x = r + s − E x₁, for the changes x (nv) of the velocities after a step.

    Attributes:
        H, over: the matrix H of the system, and E, what is carried over to the second round.
        by_q, by_v: r by the coordinates and by the velocities (nv, nv); by an effort it is the length of the step.
        by_q_over: s by the coordinates (nv, nv).
    """

    H: Pattern
    over: Pattern
    by_q: Matrix
    by_v: Matrix
    by_q_over: Matrix


def step_columns(system: TwoRounds, end: StepEnd, h: Scalar) -> tuple[Matrix, Matrix]:
    """The derivatives of a step h by the state (2nv, 2nv), and by efforts along the joints (2nv, nv)."""
    n, (H, over, *right) = len(system.H), system
    leaves, build = flatten((H, over, end.moved, end.carried, h))

    def columns(numbers: Any, own: Any, by_q: Any, by_v: Any, by_q_over: Any) -> dict[str, Any]:
        given = iter(range(len(numbers)))
        H, over, moved, carried, step = build([x if isinstance(x, float) else numbers[next(given)] for x in leaves])
        factors, unit = SparseFactors.of(H), [table(row) for row in np.eye(n).tolist()]

        def three(k: Any, _: None) -> tuple[None, list[list[Scalar]]]:
            """The columns by a coordinate, by its velocity and by an effort along it."""
            r: Any = [np.array([by_q[i][k], by_v[i][k], step * unit[i][k]], dtype=object) for i in range(n)]
            first: Any = factors.solve(r)
            second = [r[i] + np.array([by_q_over[i][k], 0.0, 0.0], dtype=object) - along(over[i], first) for i in range(n)]
            changes = list(zip(*factors.solve(second), strict=True))  # type: ignore[arg-type]
            moves = [[dot(row, [step * part for part in x]) for row in moved.rows] for x in changes]
            moves[0] = [part + row[k] for part, row in zip(moves[0], own, strict=True)]
            return None, [[*move, *(dot(row, x) for row in carried.rows)] for move, x in zip(moves, changes, strict=True)]

        stack = loop(n, three, None)[1]
        by_q, by_v, by_effort = (zip(*part, strict=True) for part in zip(*(stack[k] for k in range(n)), strict=True))
        return {"by_state": [[*row, *more] for row, more in zip(by_q, by_v, strict=True)], "by_effort": list(by_effort)}

    symbols = [x for x in leaves if not isinstance(x, float)]
    square = dict.fromkeys(("own", "by_q", "by_v", "by_q_over"), (n, n))
    found = call(trace(columns, {"numbers": len(symbols), **square}, f"columns_{n}"), symbols, end.own.rows, *right)
    return found["by_state"], found["by_effort"]
