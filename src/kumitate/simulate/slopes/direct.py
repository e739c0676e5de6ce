"""The derivatives of a step of a tree by the chain rule, from those of its accelerations by formulas of their own.

The accelerations of every evaluation have their derivatives by `dynamics.derivatives`; what the integrator adds is linear.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np

from ... import kinematics
from ...compile import Kernel, found_or_traced
from ...dynamics import Acting, Wrenches
from ...dynamics.derivatives import aba_derivatives
from ...kinematics import integrate, jacobian, normalized
from ...model import Bound, Link, Mechanism, Tree, least_gap
from ...model.joints import JointKind
from ...scalar import Program, Scalar, call, directional, inlined, inlined_slopes, select, trace
from ...spatial import Dense
from ..driving.forcing import Forcing
from ..integrators import Integrator, RungeKutta, SemiImplicitEuler
from ..stepping.compiled_step import StepCode
from ..stepping.system import BEYOND

#: More degrees of freedom than these make the products of the chain rule longer than a step along every direction.
FEW = 10


class Sloped(NamedTuple):
    """A step and its derivatives.

    Attributes:
        q, v: after it.
        A, B: their derivatives by q and v (2nv, 2nv), and by u (2nv, size of u).
        elsewhere: 1 where the step is not the one that was differentiated, else 0.
    """

    q: list[Scalar]
    v: list[Scalar]
    A: Sequence[Sequence[Scalar]]
    B: Sequence[Sequence[Scalar]]
    elsewhere: Scalar

    @classmethod
    def of(cls, q: list[Scalar], v: list[Scalar], by_all: Dense, elsewhere: Scalar) -> Sloped:
        """With the derivatives by q, v and u as one matrix (2nv, 2nv + size of u)."""
        n = len(by_all.rows)
        return cls(q, v, [row[:n] for row in by_all.rows], [row[n:] for row in by_all.rows], elsewhere)


#: Of a step: (h, q, v, u) → `Sloped`.
Page = Callable[..., Sloped]


def direct_for(integrator: Integrator, code: StepCode, forcing: Forcing) -> Page | None:
    """The page of a step's derivatives; None if there is none for this integrator and mechanism."""
    m = code.mechanism
    plain = not (m.tree.closed or m.driven) and code.alone and forcing.parameters is None
    if plain and isinstance(integrator, SemiImplicitEuler):
        return partial(_euler, m, forcing, code.bounds)
    straight = all(flat(link.kind) for link in m.tree.links) and m.nv <= FEW
    if plain and isinstance(integrator, RungeKutta) and straight:
        return partial(_runge_kutta, m, forcing, code.bounds, integrator)
    return None


class Direct:
    """All derivatives of a step in one program."""

    def __init__(self, code: StepCode, page: Page):
        m, name = code.mechanism, f"slopes_{code.program.name}"
        size = next(array.size for array in code.program.inputs if array.name == "u")

        def slopes(h: Any, q: Any, v: Any, u: Any) -> dict[str, Any]:
            found = page(h, q, v, u)
            return {"q": found.q, "v": found.v, "A": found.A, "B": found.B, "elsewhere": found.elsewhere}

        key = None if code.key is None else f"slopes {code.key}"
        inputs: dict[str, int | tuple[int, ...]] = {"h": (), "q": m.nq, "v": m.nv, "u": size}
        self._kernel = Kernel(found_or_traced(key, lambda: trace(slopes, inputs, name)))

    def __call__(self, t: Any, h: float, q: Any, v: Any, u: Any, columns: int) -> tuple[tuple[np.ndarray, ...], Any]:
        """As of `Along`; and 1 for those of the states (...) this is not the derivative at, else 0."""
        q_after, v_after, A, B, elsewhere = self._kernel(h, q, v, u)
        return (q_after, v_after, A, B if B.shape[-1] == columns else B[..., :columns]), elsewhere


def _accelerated(m: Mechanism, forcing: Forcing, q: Any, v: Any, u: Any, h: Scalar) -> tuple[list[Scalar], Dense, Dense, Dense]:
    """v̇, and its derivatives by q, v and u."""
    tree, at = m.base_parameter_tree, m.nv
    given = {}
    for name in forcing.places:
        given[name], at = u[at : at + 6], at + 6
    wrenches = Wrenches(tree, given) if given else None
    found = aba_derivatives(tree, q, v, u[: m.nv], Acting(m.gravity, wrenches, implicit_step=h))
    inverse = Dense.of(found.by_tau)
    by_wrenches = [inverse @ Dense.of(jacobian(tree, q, tree.places[name])).T for name in given]
    unread = Dense.zero(m.nv, len(u) - at)
    return found.a, Dense.of(found.by_q), Dense.of(found.by_v), beside(inverse, *by_wrenches, unread)


def _euler(m: Mechanism, forcing: Forcing, bounds: Sequence[Bound], h: Scalar, q: Any, v: Any, u: Any) -> Sloped:
    """v' = v + h v̇ and q' = q ⊕ h v', implicit in joint damping."""
    n = m.nv
    a, by_q, by_v, by_u = _accelerated(m, forcing, q, v, u, h)
    after = [rate + h * more for rate, more in zip(v, a, strict=True)]
    still = Dense.zero(n, len(u))
    v_slopes = beside(Dense.zero(n, n), _unit(n), still) + times(h, beside(by_q, by_v, by_u))
    rows: list[Any] = []
    for link in m.tree.links:
        own = slice(link.v_start, link.v_start + link.kind.nv)
        along_q, along_v = turned(link, link.coordinates(q), [h * rate for rate in after[own]])
        moved = along_v @ times(h, Dense(v_slopes.rows[own]))
        before = Dense.zero(link.kind.nv, 2 * n + len(u)).rows
        for row, more, own_motion in zip(before, moved.rows, along_q.rows, strict=True):
            whole = list(row)
            whole[own] = own_motion
            rows.append([x + y for x, y in zip(whole, more, strict=True)])
    end = integrate(m.tree, q, [h * rate for rate in after])
    return Sloped.of(end, after, Dense((*Dense.of(rows).rows, *v_slopes.rows)), _stopped(bounds, end))


def _stopped(bounds: Sequence[Bound], q: Sequence[Scalar]) -> Scalar:
    """1 beyond a stop, else 0."""
    return select(least_gap(bounds, q) < -BEYOND, 1.0, 0.0) if bounds else 0.0


def _runge_kutta(
    m: Mechanism, forcing: Forcing, bounds: Sequence[Bound], method: RungeKutta, h: Scalar, q: Any, v: Any, u: Any
) -> Sloped:
    """x' = x + h Σ b ẋ over the stages, for coordinates whose rates are the velocities."""
    n, table = m.nv, method.tableau
    width = 2 * n + len(u)
    start, seeds = [*q, *v], Dense(tuple(_unit(width).rows[: 2 * n]))
    evaluated, chained = _accelerated_program(m, forcing), _chain_program(n, width)
    rates: list[list[Scalar]] = []
    slopes: list[Dense] = []
    for row in (*table.a, table.b):
        x, dx = start, seeds
        for weight, rate, slope in zip(row, rates, slopes, strict=False):
            if weight:
                x = [a + h * weight * b for a, b in zip(x, rate, strict=True)]
                dx = dx + times(h * weight, slope)
        if len(rates) == len(table.b):
            break
        found = call(evaluated, x[:n], x[n:], u)
        by_x, by_u = Dense.of(found["by_x"]), beside(Dense.zero(n, 2 * n), Dense.of(found["by_u"]))
        rates.append([*x[n:], *found["a"]])
        through = by_x @ dx if dx is seeds else Dense.of(call(chained, by_x.rows, dx.rows))
        slopes.append(Dense((*dx.rows[n:], *(through + by_u).rows)))
    end = normalized(m.tree, x[:n])
    return Sloped.of(end, x[n:], dx, _stopped(bounds, end))


def _accelerated_program(m: Mechanism, forcing: Forcing) -> Program:
    """(q, v, u) → v̇ and its derivatives, one program for all stages."""

    def accelerated(q: Any, v: Any, u: Any) -> dict[str, Any]:
        a, by_q, by_v, by_u = _accelerated(m, forcing, q, v, u, 0.0)
        return {"a": a, "by_x": beside(by_q, by_v).rows, "by_u": by_u.rows}

    return trace(accelerated, {"q": m.nq, "v": m.nv, "u": forcing.layout.size}, f"accelerated_{m.name}")


def _chain_program(n: int, width: int) -> Program:
    """The product of the derivatives of a stage with those of its state."""

    def chained(by_x: Any, dx: Any) -> Any:
        return (Dense.of(by_x) @ Dense.of(dx)).rows

    return trace(chained, {"by_x": (n, 2 * n), "dx": (2 * n, width)}, f"chain_{n}")


def turned(link: Link, q: Sequence[Scalar], move: Sequence[Scalar]) -> tuple[Dense, Dense]:
    """How the end of a motion by `move` moves with its start q, and with the motion itself, along the degrees of freedom."""
    n = link.kind.nv
    if flat(link.kind):
        return _unit(n), _unit(n)
    program, units, still = _integrated(link.kind), _unit(n).rows, [0.0] * n
    ways = [(link.kind.rate(q, unit), still) for unit in units] + [([0.0] * link.kind.nq, unit) for unit in units]
    changes = inlined_slopes(program, (q, move), ways)
    columns = displacements(link.kind, inlined(program, (q, move)), changes)
    return Dense.columns(columns[:n]), Dense.columns(columns[n:])


@cache
def _integrated(kind: JointKind) -> Program:
    return trace(kind.integrate, {"q": kind.nq, "dv": kind.nv}, f"integrate_{kind.name}")


def _unit(n: int) -> Dense:
    return Dense.diagonal([1.0] * n)


def times(factor: Scalar, matrix: Dense) -> Dense:
    return Dense.of([factor * entry for entry in row] for row in matrix.rows)


def beside(*blocks: Dense) -> Dense:
    """Matrices of the same height, one beside the other."""
    return Dense.of([entry for row in rows for entry in row] for rows in zip(*(block.rows for block in blocks), strict=True))


# --- Small motions along the degrees of freedom, from changes of coordinates; and gradients by the one from those by the othe


def displacement(tree: Tree, q: Sequence[Scalar], dq: Sequence[Scalar]) -> list[Scalar]:
    """The small motion ξ (nv) by which q moves at the rate dq (nq): `kinematics.rate(tree, q, ξ)` is dq."""
    pairs = ((link, link.coordinates(q), link.coordinates(dq)) for link in tree.links)
    return [part for link, at, moved in pairs for part in displaced(link.kind, at, moved)]


def displaced(kind: JointKind, q: Sequence[Scalar], dq: Sequence[Scalar]) -> list[Scalar]:
    """The same for one joint."""
    if flat(kind):
        return list(dq)
    moved: list[Scalar] = call(_moved(kind), q, q, [0.0] * kind.nq, dq)["result_dot"]
    return moved


def displacements(kind: JointKind, q: Sequence[Scalar], changes: Sequence[Sequence[Scalar]]) -> list[list[Scalar]]:
    """The same for several dq at one q, written where this is called."""
    still = [0.0] * kind.nq
    return inlined_slopes(_away(kind), (q, q), [(still, change) for change in changes])


def gathered(tree: Tree, q: Sequence[Scalar], by_q: Sequence[Scalar]) -> list[Scalar]:
    """The gradient along the degrees of freedom (nv), of one by the coordinates (nq): Eᵀ ∂L/∂q with q̇ = E v."""
    found: list[Scalar] = []
    for link in tree.links:
        own = link.coordinates(by_q)
        found += [_dot(column, own) for column in _columns(link.kind, link.coordinates(q))]
    return found


def spread(tree: Tree, q: Sequence[Scalar], by_motion: Sequence[Scalar]) -> list[Scalar]:
    """The least gradient by the coordinates (nq) with this one along the degrees of freedom (nv): E (EᵀE)⁻¹ ∂L/∂ξ.

    The columns of E are at right angles to each other for all kinds of joints.
    """
    found: list[Scalar] = []
    for link in tree.links:
        total: list[Scalar] = [0.0] * link.kind.nq
        for column, value in zip(_columns(link.kind, link.coordinates(q)), link.velocities(by_motion), strict=True):
            share = value / _dot(column, column)
            total = [a + b * share for a, b in zip(total, column, strict=True)]
        found += total
    return found


def _columns(kind: JointKind, q: Sequence[Scalar]) -> list[list[Scalar]]:
    """E of a joint: q̇ for each velocity alone."""
    return [kind.rate(q, [1.0 if i == k else 0.0 for i in range(kind.nv)]) for k in range(kind.nv)]


def _dot(a: Sequence[Scalar], b: Sequence[Scalar]) -> Scalar:
    return sum((x * y for x, y in zip(a, b, strict=True)), 0.0)


def flat(kind: JointKind) -> bool:
    """Whether small motions of a joint are changes of its coordinates."""
    return type(kind).difference is JointKind.difference


@cache
def _moved(kind: JointKind) -> Program:
    return directional(_away(kind))


@cache
def _away(kind: JointKind) -> Program:
    def away(start: Any, end: Any) -> list[Scalar]:
        return kind.difference(start, end)

    return trace(away, {"start": kind.nq, "end": kind.nq}, f"away_{kind.name}")


# --- The derivative of a step along one direction, by differentiating its program: for every integrator, and closed loops ---


def along_program(code: StepCode, efforts: Program | None) -> Program:
    """(t, h, q, v, u, and a direction along_q, along_v, along_u) → q and v after a step, and their change in that direction.

    `efforts`: what the functions that are compiled into the step compute.
    """
    tree, nv = code.mechanism.tree, code.mechanism.nv
    both = directional(code.program, {} if efforts is None else {"efforts": efforts}, code.slopes(), iterated=True)
    size = next(array.size for array in code.program.inputs if array.name == "u")

    def along(t: Any, h: Any, q: Any, v: Any, u: Any, xi: Any, dv: Any, du: Any) -> dict[str, Any]:
        found = call(both, t, h, q, v, 0.0, u, 0.0, 0.0, kinematics.rate(tree, q, xi), dv, 0.0, du)
        moved = displacement(tree, found["q"], found["q_dot"])
        return {"q": found["q"], "v": found["v"], "along_q": moved, "along_v": found["v_dot"]}

    state: dict[str, int | tuple[int, ...]] = {"t": (), "h": (), "q": tree.nq, "v": nv, "u": size}
    return trace(along, {**state, "along_q": nv, "along_v": nv, "along_u": size}, f"along_{code.program.name}")


class Along:
    """All derivatives of a step, direction by direction, side by side in one batch."""

    def __init__(self, code: StepCode, efforts: Program | None):
        key = None if efforts is not None or code.key is None else f"along {code.key}"
        self._kernel = Kernel(found_or_traced(key, lambda: along_program(code, efforts)))
        self._nv = code.mechanism.nv

    def __call__(self, t: Any, h: float, q: Any, v: Any, u: Any, columns: int) -> tuple[np.ndarray, ...]:
        """q (..., nq), v (..., nv), A (..., 2nv, 2nv) and B (..., 2nv, columns) of the first so many entries of u."""
        n, size = self._nv, u.shape[-1]
        units = np.eye(2 * n + size)[: 2 * n + columns]
        directions = [np.ascontiguousarray(part) for part in (units[:, :n], units[:, n : 2 * n], units[:, 2 * n :])]
        state = [np.asarray(t)[..., None], h, *(part[..., None, :] for part in (q, v, u))]
        q_after, v_after, by_q, by_v = self._kernel(*state, *directions)
        slopes = np.swapaxes(np.concatenate([by_q, by_v], axis=-1), -1, -2)
        return q_after[..., 0, :], v_after[..., 0, :], slopes[..., : 2 * n], slopes[..., 2 * n :]
