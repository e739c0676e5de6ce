"""The derivatives of a step with rigid contact, drives and stops, at its solution: one linear system for all directions.

With v' the velocities after the step and a = (v' − v)/h the accelerations that they stand for, inverse dynamics gives back all
efforts, those of contact included. The implicit function theorem on that equation, with the laws of contact linearised at the
solution (`contact.impulse.linearised`), gives

    (M + JᵀKJ) dv' = r + what is carried over from the last round,

where r comes from the derivatives of inverse dynamics. Two rounds with the same factors leave 1/STRENGTH² of the error.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cache, partial, reduce
from math import inf
from typing import Any

from ...contact.impulse.jacobians import Pattern, along, link_jacobians
from ...contact.impulse.linearised import LinearisedContact, Pressing, linearised
from ...contact.scene import Pair
from ...dynamics import Wrenches
from ...dynamics.derivatives import rnea_derivatives
from ...dynamics.derivatives.slopes import Matrix
from ...dynamics.passive import passive_curve, resisting_inertia
from ...dynamics.settling.drives import drive_forces, limited
from ...dynamics.settling.free_turning import lone_bodies
from ...dynamics.settling.stops import RECOVERY, STIFF, stops_at
from ...kinematics import carried, integrate, jacobian, turning
from ...model import Bound, Command, Drive, Mechanism
from ...model.joints import JointKind
from ...scalar import Program, Scalar, absolute, call, equal, is_zero, loop, maximum, select, trace
from ...scalar import jacobian as derivatives
from ...spatial import Dense, SparseFactors, dot
from ..integrators import Integrator, TimeStepping
from ..interactions import Interaction
from ..stepping.compiled_step import StepCode
from ..stepping.equations import parts_of
from ..stepping.forcing import Forcing
from .active import RESTING, SLOW
from .direct import Page, Sloped, beside, times, turned

__all__ = ["touching_page"]

#: The stiffness of points and stops relative to the inertia of the mechanism.
STRENGTH = 1e6
#: A step whose velocities miss the laws of contact by more than this part of the points' speeds has no derivatives.
SETTLED = 1e-5
#: A stop holds if its joint's velocity is within this of the one that closes the gap [rad/s or m/s].
AT_STOP = 1e-6


def touching_page(integrator: Integrator, code: StepCode, forcing: Forcing, interaction: Interaction) -> Page | None:
    """The page of such a step; None for loops, single free bodies, bodies of the mechanism that may touch each other, surfaces
    that rebound, and parameters.
    """
    interaction.slopes(None)  # which refuses models that have no derivatives
    m, pairs = code.mechanism, getattr(interaction, "pairs", ())
    if not isinstance(integrator, TimeStepping) or m.tree.closed or forcing.parameters is not None:
        return None
    if lone_bodies(m.tree) or any(pair.links[1] >= 0 or not _only_rubs(pair.surface) for pair in pairs):
        return None
    return partial(_stepped, code, forcing, pairs, integrator.flight is not None)


def _only_rubs(surface: Any) -> bool:
    """Whether a surface has no other property than friction: restitution, and whatever else there may be, has its default."""
    known = {"friction", "kinetic_friction", "threshold", "belt"}
    return all(getattr(surface, part.name) == part.default for part in fields(surface) if part.name not in known)


def _stepped(code: StepCode, forcing: Forcing, pairs: Sequence[Pair], flies: bool, h: Scalar, q: Any, v: Any, u: Any) -> Sloped:
    """v' by the impulses of contact and q' = q ⊕ h v', with v' then in the axes at q'."""
    m = code.mechanism
    assert code.jumps is not None
    found = call(code.jumps, h, q, v, u)
    after = found["v"]
    system = _Balance.at(m, forcing, found, h, q, v, u, code.bounds)
    touched = _touched(m, pairs, found, h, q)
    by_all = system.solved(touched, select(found["missed"] <= SETTLED, 1.0, float("nan")))
    rows: list[Any] = []
    ends: list[Any] = []
    for link in m.tree.links:
        own = slice(link.v_start, link.v_start + link.kind.nv)
        changes = Dense(by_all.rows[own])
        along_q, along_v = turned(link, link.coordinates(q), [h * rate for rate in after[own]])
        for more, own_motion in zip((along_v @ times(h, changes)).rows, along_q.rows, strict=True):
            whole = list(more)
            whole[own] = [a + b for a, b in zip(whole[own], own_motion, strict=True)]
            rows.append(whole)
        ends += _carried(link.kind, after[own], h, changes).rows
    move = [h * rate for rate in after]
    elsewhere = select(found["touching"] < 0.5, 1.0, 0.0) if flies else 0.0
    return Sloped(integrate(m.tree, q, move), carried(m.tree, after, move), Dense.of([*rows, *ends]), elsewhere)


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


@dataclass(frozen=True)
class _Balance:
    """M dv' = r, the balance of momenta of a step, without contact and stops.

    Attributes:
        M: the inertia matrix of the implicit step.
        by_q, by_v: r by rows; `efforts`: by columns, of every effort and input.
        h: the step; `held`: the stiffness of stops that hold, by degree of freedom; `returning`: whether they close their gaps.
    """

    M: Matrix
    by_q: Matrix
    by_v: Matrix
    efforts: list[dict[int, Scalar]]
    h: Scalar
    held: dict[int, tuple[Scalar, Scalar]]

    @classmethod
    def at(
        cls, m: Mechanism, forcing: Forcing, found: dict[str, Any], h: Scalar, q: Any, v: Any, u: Any, bounds: Sequence[Bound]
    ) -> _Balance:
        """The balance at the velocities found["v"] after the step."""
        tree, parts, n = m.base_parameter_tree, parts_of(forcing, u), m.nv
        rates = [(b - a) / h for a, b in zip(v, found["v"], strict=True)]
        a = [rate + turn for rate, turn in zip(rates, turning(m.tree, v), strict=True)]
        wrenches = Wrenches(tree, parts.applied) if parts.applied else None
        slopes = rnea_derivatives(tree, q, v, a, gravity=m.gravity, wrenches=wrenches)
        M, by_q, by_v = slopes.by_a, slopes.by_q, slopes.by_v
        for link in tree.links:
            speeds = link.velocities(v)
            resisting, curves = resisting_inertia(link, speeds, h), passive_curve(link, speeds)
            for k, i in enumerate(range(link.v_start, link.v_start + link.kind.nv)):
                M[i][i] = M[i][i] + (resisting[k] - link.armature[k])
                by_v[i][i] = by_v[i][i] + h * (link.stiffness[k] + curves[k] * a[i])
        efforts: list[dict[int, Scalar]] = [{k: h} for k in range(n)]
        for name in parts.applied:
            efforts += [{k: h * x for k, x in enumerate(row) if not is_zero(x)} for row in jacobian(tree, q, tree.places[name])]
        wished = drive_forces(m.driven, q, v, parts.commands, parts.states, h)
        commanded: list[dict[int, Scalar]] = [{} for _ in forcing.commands for _ in m.driven]
        for d, (joint, wish, command) in enumerate(zip(m.driven, wished, parts.commands, strict=True)):
            k, law = joint.v, joint.drive.law(q[joint.q], v[joint.v], command)
            force = limited(joint, wish, rates[k])
            acts = select(equal(force.resisting, wish.resisting), 1.0, 0.0) if joint.limit < inf else 1.0
            M[k][k] = M[k][k] + force.resisting
            by_q[k][k] = by_q[k][k] + acts * law.stiffness
            by_v[k][k] = by_v[k][k] + acts * (law.damping + h * law.stiffness)
            for c, slope in enumerate(_by_command(joint.drive, q[joint.q], v[k], command)[: len(forcing.commands)]):
                commanded[c * len(m.driven) + d] = {k: h * acts * slope}
        efforts += commanded
        efforts += [{} for _ in range(len(u) - len(efforts))]
        turns = [[-h * x for x in row] for row in by_q], _velocity_rows(m, M, by_v, v, h)
        return cls(M, *turns, efforts, h, _held(m, bounds, found["v"], q, v, h))

    def solved(self, touched: LinearisedContact, valid: Scalar) -> Dense:
        """dv' by q, v and all efforts; NaN unless `valid` is 1."""
        n, H = len(self.M), {i: {j: x for j, x in enumerate(row) if not is_zero(x)} for i, row in enumerate(self.M)}
        H[0][0] = H[0][0] * valid
        over, opening, opening_over = touched.carried_over, touched.opening, touched.opening_over
        for i, row in touched.stiffness.items():
            for j, x in row.items():
                H[i][j] = H[i].get(j, 0.0) + x
                H[j].setdefault(i, 0.0)
        for k, (R, back) in self.held.items():
            H[k][k] = H[k][k] + R
            for matrix, more in ((over, R), (opening, back), (opening_over, back)):
                matrix[k][k] = matrix[k].get(k, 0.0) + more
        first = [list(row) for row in self.by_q]
        for sign, matrix in ((1.0, touched.turning), (-1.0, opening)):
            for i, row in matrix.items():
                for j, x in row.items():
                    first[i][j] = first[i][j] + sign * x
        second = [[opening_over[i].get(j, 0.0) for j in range(n)] for i in range(n)]
        others = beside(Dense.of(self.by_v), Dense.diagonal([1.0] * n)).rows
        by_q, by_others = _solved(H, over, first, second, others)
        by_v, inverse = ([row[part] for row in by_others] for part in (slice(n), slice(n, 2 * n)))
        return beside(Dense.of(by_q), Dense.of(by_v), _product(inverse, self.efforts))


def _solved(H: Pattern, over: Pattern, first: Matrix, second: Matrix, others: Sequence[Sequence[Scalar]]) -> tuple[Any, Any]:
    """The columns x after two rounds, H x₁ = r and H x = r − s − (JᵀDKJ) x₁: r of `first` with s of `second`, and others.

    One program with a loop over the columns: their code is short, however many there are.
    """
    n, wide = len(H), len(others[0])
    places = {"H": [(i, j) for i in H for j in H[i]], "over": [(i, j) for i in over for j in over[i]]}

    def solved(H: Any, over: Any, first: Any, second: Any, others: Any) -> dict[str, Any]:
        whole: Pattern = {i: {} for i in range(n)}
        more: Pattern = {i: {} for i in range(n)}
        for matrix, name, entries in ((whole, "H", H), (more, "over", over)):
            for (i, j), x in zip(places[name], [entries[k] for k in range(len(places[name]))], strict=True):
                matrix[i][j] = x
        factors = SparseFactors.of(whole)

        def column(right: list[Scalar], less: Sequence[Scalar]) -> list[Scalar]:
            once = factors.solve(right)
            return factors.solve([r - s - along(more[i], once) for i, (r, s) in enumerate(zip(right, less, strict=True))])

        _, by_first = loop(n, lambda k, _: ([], column([row[k] for row in first], [row[k] for row in second])), [])
        _, by_others = loop(wide, lambda k, _: ([], column([row[k] for row in others], [0.0] * n)), [])
        return {
            "by_first": [[by_first[k][i] for k in range(n)] for i in range(n)],
            "by_others": [[by_others[k][i] for k in range(wide)] for i in range(n)],
        }

    sizes: dict[str, int | tuple[int, ...]] = {name: len(entries) for name, entries in places.items()}
    program = trace(solved, {**sizes, "first": (n, n), "second": (n, n), "others": (n, wide)}, f"columns_{n}")
    given = ([matrix[i][j] for i, j in places[name]] for name, matrix in (("H", H), ("over", over)))
    found = call(program, *given, first, second, others)
    return found["by_first"], found["by_others"]


def _velocity_rows(m: Mechanism, M: Matrix, by_v: Matrix, v: Any, h: Scalar) -> Matrix:
    """M (1 − h ∂turning/∂v) − h ∂τ/∂v."""
    rows = [[a - h * b for a, b in zip(*pair, strict=True)] for pair in zip(M, by_v, strict=True)]
    for link in m.tree.links:
        if type(link.kind).turning is not JointKind.turning:
            own = slice(link.v_start, link.v_start + link.kind.nv)
            changes = call(_turning_slopes(link.kind), v[own])["result_by_v"]
            for row, of_row in zip(rows, M, strict=True):
                row[own] = [x - h * dot(change, of_row[own]) for x, change in zip(row[own], changes, strict=True)]
    return rows


def _held(m: Mechanism, bounds: Sequence[Bound], after: Any, q: Any, v: Any, h: Scalar) -> dict[int, tuple[Scalar, Scalar]]:
    """By degree of freedom, the stiffness R of its stop if that holds, else 0, and R/h while the step closes its gap."""
    found: dict[int, tuple[Scalar, Scalar]] = {}
    for stop in stops_at(m, bounds, q, v, h):
        k = stop.bound.v
        R = select(stop.bound.sign * after[k] < stop.target + AT_STOP, stop.stiff * (STRENGTH / STIFF), 0.0)
        back = select(stop.bound.gap(q) > -RECOVERY * h, R / h, 0.0)
        total = found.get(k, (0.0, 0.0))
        found[k] = total[0] + R, total[1] + back
    return found


def _carried(kind: JointKind, after: Sequence[Scalar], h: Scalar, changes: Dense) -> Dense:
    """The changes of velocities that are carried to the axes after the step."""
    if type(kind).carried is JointKind.carried:
        return changes
    slopes = call(_carrying_slopes(kind), after, h)["result_by_v"]
    return Dense.of(slopes).T @ changes


@cache
def _carrying_slopes(kind: JointKind) -> Program:
    def end(v: Any, h: Any) -> Any:
        return kind.carried(v, [h * rate for rate in v])

    return derivatives(trace(end, {"v": kind.nv, "h": ()}, f"carried_{kind.name}"), "v")


@cache
def _turning_slopes(kind: JointKind) -> Program:
    return derivatives(trace(kind.turning, {"v": kind.nv}, f"turning_{kind.name}"), "v")


def _by_command(drive: Drive, q: Scalar, v: Scalar, command: Command) -> list[Scalar]:
    """The derivatives of a drive's effort by the parts of its command."""

    def effort(command: Any, q: Any, v: Any) -> list[Scalar]:
        return [drive.law(q, v, Command(*command)).effort]

    program = derivatives(trace(effort, {"command": len(command), "q": (), "v": ()}, f"commanded_{drive.kind}"), "command")
    found = call(program, list(command), q, v)["result_by_command"]
    return [slope for (slope,) in found]


def _product(matrix: Matrix, columns: Sequence[dict[int, Scalar]]) -> Dense:
    """A matrix times sparse columns."""
    return Dense.of([sum((row[i] * x for i, x in column.items()), 0.0) for column in columns] for row in matrix)
