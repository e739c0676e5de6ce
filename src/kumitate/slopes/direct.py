"""Programs of the derivatives of a step of the flight, and of any step along one direction.

Of a tree they follow by the chain rule from the derivatives of its accelerations, which have formulas of their own
(`dynamics.derivatives`); what the integrator adds is linear. Of every other step they are those of its program.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np

from ..compile import Kernel, found_or_traced
from ..dynamics import Acting, Wrenches
from ..dynamics.derivatives import aba_derivatives
from ..kinematics import integrate, jacobian, motion_of, normalized, rate
from ..kinematics.configuration import joint_motion_of
from ..model import Bound, Link, Mechanism, least_gap
from ..model.joints import JointKind
from ..scalar import Program, Scalar, Scalars, call, directional, inlined, inlined_slopes, select, trace
from ..simulate.driving.forcing import Forcing
from ..simulate.integrators import Integrator, RungeKutta, SemiImplicitEuler
from ..simulate.stepping.step_code import StepCode
from ..simulate.stepping.system import BEYOND
from ..spatial import Dense
from .driving import DrivingSlopes, driving

#: More degrees of freedom than these make the products of the chain rule longer than a step along every direction.
FEW = 10


class Sloped(NamedTuple):
    """A step and its derivatives.

    Attributes:
        q, v: after it.
        A, B: the derivatives of (q, v) by (q, v), (2nv, 2nv), and by u, (2nv, size of u), or by efforts along the joints,
            (2nv, nv), where `efforts` says which of them the entries of u stand for.
        elsewhere: 1 where the step is not the one that was differentiated, else 0.
        efforts: the numbers at `effort_places`.
    """

    q: list[Scalar]
    v: list[Scalar]
    A: Sequence[Scalars]
    B: Sequence[Scalars]
    elsewhere: Scalar
    efforts: Scalars | None = None


#: Of a step: (h, q, v, `DrivingSlopes`) → `Sloped`.
Page = Callable[..., Sloped]


def direct_for(integrator: Integrator, code: StepCode, forcing: Forcing, functions: Program | None) -> Page | None:
    """The page of a step's derivatives; None if there is none for this integrator and mechanism.

    Args:
        functions: what the functions that are compiled into the step compute.
    """
    m = code.mechanism
    plain = not (m.tree.closed or m.driven) and code.alone and forcing.parameters is None
    if plain and isinstance(integrator, SemiImplicitEuler):
        return partial(_euler, m, forcing, code.bounds)
    straight = all(flat(link.kind) for link in m.tree.links) and m.nv <= FEW
    if plain and isinstance(integrator, RungeKutta) and straight and functions is None:  # which act at every stage
        return partial(_runge_kutta, m, forcing, code.bounds, integrator)
    return None


def direct_kernel(code: StepCode, page: Page, functions: Program | None) -> Kernel:
    """(t, h, q, v, u) → all derivatives of a step in one program, as `Sloped` of such a page."""
    size = next(array.size for array in code.program.inputs if array.name == "u")
    inputs: dict[str, int | tuple[int, ...]] = {"t": (), "h": (), "q": code.mechanism.nq, "v": code.mechanism.nv, "u": size}

    def slopes(t: Any, h: Any, q: Any, v: Any, u: Any) -> dict[str, Any]:
        found = page(h, q, v, driving(code.mechanism.tree, functions, t, q, v, u))._asdict()
        return {name: part for name, part in found.items() if part is not None}

    key = None if functions is not None or code.key is None else f"slopes {code.key}"
    return Kernel(found_or_traced(key, lambda: trace(slopes, inputs, f"slopes_{code.program.name}")))


def _accelerated(
    m: Mechanism, forcing: Forcing, q: Any, v: Any, driven: DrivingSlopes, h: Scalar
) -> tuple[list[Scalar], Dense, Dense, Dense]:
    """v̇, and its derivatives by q, v and u."""
    u, tree, given = driven.u, m.base_parameter_tree, forcing.layout.unpack(driven.u)
    wrenches = Wrenches(tree, given.wrenches) if given.wrenches else None
    found = aba_derivatives(tree, q, v, given.tau, Acting(m.gravity, wrenches, implicit_step=h))
    inverse = Dense.of(found.by_tau)
    by_wrenches = [inverse @ Dense.of(jacobian(tree, q, tree.places[name])).T for name in given.wrenches]
    unread = Dense.zero(m.nv, len(u) - m.nv - 6 * len(by_wrenches))
    by_u = Dense.beside(inverse, *by_wrenches, unread)
    columns = driven.chained([dict(enumerate(column)) for column in by_u.T.rows], m.nv)
    of_q, of_v, of_u = (Dense.columns([[column.get(i, 0.0) for i in range(m.nv)] for column in part])
                        for part in (columns[: m.nv], columns[m.nv : 2 * m.nv], columns[2 * m.nv :]))  # fmt: skip
    return found.a, Dense.of(found.by_q) + of_q, Dense.of(found.by_v) + of_v, of_u


def _euler(m: Mechanism, forcing: Forcing, bounds: Sequence[Bound], h: Scalar, q: Any, v: Any, driven: DrivingSlopes) -> Sloped:
    """v' = v + h v̇ and q' = q ⊕ h v', implicit in joint damping."""
    n, u = m.nv, driven.u
    a, by_q, by_v, by_u = _accelerated(m, forcing, q, v, driven, h)
    after = [speed + h * more for speed, more in zip(v, a, strict=True)]
    move = [h * speed for speed in after]
    unmoved, undriven = Dense.zero(n, n), Dense.zero(n, len(u))
    v_slopes = Dense.beside(unmoved, Dense.unit(n), undriven) + Dense.beside(by_q, by_v, by_u).times(h)
    ends = [turned(link, link.coordinates(q), link.velocities(move)) for link in m.tree.links]
    along_q, along_v = (Dense.blocks(parts) for parts in zip(*ends, strict=True))
    q_slopes = Dense.beside(along_q, unmoved, undriven) + along_v @ v_slopes.times(h)
    end = integrate(m.tree, q, move)
    return Sloped(end, after, *_parted((*q_slopes.rows, *v_slopes.rows)), _stopped(bounds, end))


def _parted(rows: Sequence[Scalars]) -> tuple[list[Any], list[Any]]:
    """A and B of the derivatives by the state and by u."""
    return [row[: len(rows)] for row in rows], [row[len(rows) :] for row in rows]


def _stopped(bounds: Sequence[Bound], q: Scalars) -> Scalar:
    """1 beyond a stop, else 0."""
    return select(least_gap(bounds, q) < -BEYOND, 1.0, 0.0) if bounds else 0.0


def _runge_kutta(
    m: Mechanism,
    forcing: Forcing,
    bounds: Sequence[Bound],
    method: RungeKutta,
    h: Scalar,
    q: Any,
    v: Any,
    driven: DrivingSlopes,
) -> Sloped:
    """x' = x + h Σ b ẋ over the stages, for coordinates whose rates are the velocities."""
    n, table = m.nv, method.tableau
    u, width = driven.u, 2 * n + len(driven.u)
    start, seeds = [*q, *v], Dense(Dense.unit(width).rows[: 2 * n])

    def accelerated(q: Any, v: Any, u: Any) -> dict[str, Any]:
        a, by_q, by_v, by_u = _accelerated(m, forcing, q, v, DrivingSlopes(list(u), {}), 0.0)
        return {"a": a, "by_x": Dense.beside(by_q, by_v).rows, "by_u": by_u.rows}

    def product(by_x: Any, dx: Any) -> Any:
        return (Dense.of(by_x) @ Dense.of(dx)).rows

    # one program for all stages, and one for how the derivatives of a stage follow from those of its state
    evaluated = trace(accelerated, {"q": m.nq, "v": m.nv, "u": forcing.layout.size}, f"accelerated_{m.name}")
    chained = trace(product, {"by_x": (n, 2 * n), "dx": (2 * n, width)}, f"chain_{n}")
    rates: list[list[Scalar]] = []
    slopes: list[Dense] = []
    for row in (*table.a, table.b):
        x, dx = start, seeds
        for weight, of_x, slope in zip(row, rates, slopes, strict=False):
            if weight:
                x = [a + h * weight * b for a, b in zip(x, of_x, strict=True)]
                dx = dx + slope.times(h * weight)
        if len(rates) == len(table.b):
            break
        found = call(evaluated, x[:n], x[n:], u)
        by_x, by_u = Dense.of(found["by_x"]), Dense.beside(Dense.zero(n, 2 * n), Dense.of(found["by_u"]))
        rates.append([*x[n:], *found["a"]])
        through = by_x @ dx if dx is seeds else Dense.of(call(chained, by_x.rows, dx.rows))
        slopes.append(Dense((*dx.rows[n:], *(through + by_u).rows)))
    end = normalized(m.tree, x[:n])
    return Sloped(end, x[n:], *_parted(dx.rows), _stopped(bounds, end))


def turned(link: Link, q: Scalars, move: Scalars) -> tuple[Dense, Dense]:
    """How the end of a motion by `move` moves with its start q, and with the motion itself, along the degrees of freedom."""
    kind, unit = link.kind, Dense.unit(link.kind.nv)
    if flat(kind):
        return unit, unit
    program, still = _integrated(kind), [0.0] * kind.nq
    ways = [(kind.rate(q, row), [0.0] * kind.nv) for row in unit.rows] + [(still, row) for row in unit.rows]
    changes = inlined_slopes(program, (q, move), ways)
    end = inlined(program, (q, move))
    columns = [joint_motion_of(kind, end, change) for change in changes]
    return Dense.columns(columns[: kind.nv]), Dense.columns(columns[kind.nv :])


@cache
def _integrated(kind: JointKind) -> Program:
    return trace(kind.integrate, {"q": kind.nq, "dv": kind.nv}, f"integrate_{kind.name}")


def flat(kind: JointKind) -> bool:
    """Whether small motions of a joint are changes of its coordinates."""
    return type(kind).difference is JointKind.difference


# --- The derivative of a step along one direction, by differentiating its program: for every integrator, and closed loops ---


def along_program(code: StepCode, efforts: Program | None) -> Program:
    """(t, h, q, v, u, and a direction along_q, along_v, along_u) → q and v after a step, and their change in that direction.

    `efforts`: what the functions that are compiled into the step compute.
    """
    tree, nv = code.mechanism.tree, code.mechanism.nv
    both = directional(code.program, {} if efforts is None else {"efforts": efforts}, code.slopes(), iterated=True)
    size = next(array.size for array in code.program.inputs if array.name == "u")

    def along(t: Any, h: Any, q: Any, v: Any, u: Any, xi: Any, dv: Any, du: Any) -> dict[str, Any]:
        found = call(both, t, h, q, v, 0.0, u, 0.0, 0.0, rate(tree, q, xi), dv, 0.0, du)
        moved = motion_of(tree, found["q"], found["q_dot"])
        return {"q": found["q"], "v": found["v"], "along_q": moved, "along_v": found["v_dot"]}

    state: dict[str, int | tuple[int, ...]] = {"t": (), "h": (), "q": tree.nq, "v": nv, "u": size}
    return trace(along, {**state, "along_q": nv, "along_v": nv, "along_u": size}, f"along_{code.program.name}")


class Along:
    """All derivatives of a step, direction by direction, side by side in one batch."""

    def __init__(self, code: StepCode, efforts: Program | None):
        key = None if efforts is not None or code.key is None else f"along {code.key}"
        self._kernel = Kernel(found_or_traced(key, lambda: along_program(code, efforts)))
        self._nv = code.mechanism.nv

    def __call__(self, t: Any, h: float, q: Any, v: Any, u: Any, ways: np.ndarray) -> tuple[np.ndarray, ...]:
        """q (..., nq), v (..., nv), and their derivatives by q, v and along some ways of u (..., 2nv, 2nv + columns).

        Args:
            ways: changes of u (columns, size), or those of each state (..., columns, size).
        """
        n = self._nv
        units = np.eye(2 * n, 2 * n + ways.shape[-2])
        along_u = np.concatenate([np.zeros((*ways.shape[:-2], 2 * n, u.shape[-1])), ways], axis=-2)
        directions = [np.ascontiguousarray(units[part].T) for part in (slice(0, n), slice(n, 2 * n))]
        state = [np.asarray(t)[..., None], h, *(part[..., None, :] for part in (q, v, u))]
        q_after, v_after, by_q, by_v = self._kernel(*state, *directions, along_u)
        return q_after[..., 0, :], v_after[..., 0, :], np.swapaxes(np.concatenate([by_q, by_v], axis=-1), -1, -2)
