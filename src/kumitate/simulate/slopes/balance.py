"""The balance of momenta of a step without contact and stops, and how it changes with the state and with what drives it.

With v' the velocities after the step and a = (v' − v)/h the accelerations that they stand for, inverse dynamics gives back all
efforts. Its derivatives, with those of the joints' own forces and of their drives, are those of

    M dv' = r.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from math import inf
from typing import Any, NamedTuple

import numpy as np

from ...dynamics import Wrenches
from ...dynamics.derivatives import rnea_derivatives
from ...dynamics.derivatives.slopes import InverseSlopes, Matrix
from ...dynamics.passive import passive_curve, resisting_inertia
from ...dynamics.settling.drives import drive_forces, limited
from ...kinematics import jacobian, turning
from ...model import Command, Drive, Mechanism
from ...model.joints import JointKind
from ...scalar import Program, Scalar, call, equal, inlined_slopes, is_zero, select, trace
from ...scalar import jacobian as derivatives
from ...spatial import dot
from ..driving.forcing import Forcing
from .columns import SparseColumn


class StepBalance(NamedTuple):
    """M dv' = r of a step h.

    Attributes:
        M: the inertia matrix of the implicit step (nv, nv).
        by_q, by_v: r by coordinates and velocities (nv, nv); by an effort along a joint it is h.
        efforts: the efforts along joints that a change of what follows them in u stands for, each by degree of freedom.
    """

    M: Matrix
    by_q: Matrix
    by_v: Matrix
    efforts: list[SparseColumn]


def balance(m: Mechanism, forcing: Forcing, after: Any, h: Scalar, q: Any, v: Any, u: Any) -> StepBalance:
    """The balance at the velocities `after` the step."""
    tree, parts = m.base_parameter_tree, forcing.layout.unpack(u)
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
    efforts: list[SparseColumn] = []
    for name in parts.wrenches:
        efforts += [{k: x for k, x in enumerate(row) if not is_zero(x)} for row in jacobian(tree, q, tree.places[name])]
    efforts += _add_drives(m, parts.commands, len(forcing.commands), slopes, rates, q, v, h)
    efforts += [{} for _ in range(len(u) - m.nv - len(efforts))]
    return StepBalance(M, [[-h * x for x in row] for row in by_q], _velocity_rows(m, M, by_v, v, h), efforts)


def _add_drives(
    m: Mechanism,
    commands: Sequence[Command],
    kinds: int,
    slopes: InverseSlopes,
    rates: Sequence[Scalar],
    q: Any,
    v: Any,
    h: Scalar,
) -> list[SparseColumn]:
    """Adds drives to the derivatives of inverse dynamics. Returns the efforts by commands, of which there are so many kinds."""
    M, by_q, by_v = slopes.by_a, slopes.by_q, slopes.by_v
    wished = drive_forces(m.driven, q, v, commands, (), h)
    commanded: list[SparseColumn] = [{} for _ in range(kinds) for _ in m.driven]
    for d, (joint, wish, command) in enumerate(zip(m.driven, wished, commands, strict=True)):
        k, law = joint.v, joint.drive.law(q[joint.q], v[joint.v], command)
        force = limited(joint, wish, rates[k])
        acts = select(equal(force.resisting, wish.resisting), 1.0, 0.0) if joint.limit < inf else 1.0
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
