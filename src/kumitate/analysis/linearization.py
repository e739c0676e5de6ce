"""Exact linearization of the equations of motion about a state: ẋ = A x + B u, with poles and modes.

A deviation from the state (q, v) is x = (ξ, δv): the displacement ξ of the coordinates from q (`kinematics.integrate`), so that
quaternions have three degrees of freedom and not four, and the change of v. Along the motion, ξ̇ = δv + C ξ, where C is due to
the noncommutativity of rotations (ξ̇ = δω − ω × ξ for a quaternion) and zero at rest; δv̇ is the derivative of forward dynamics.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..compile import Kernel
from ..dynamics import Acting, Wrenches, aba_with_loops, chord_closings, constraint_rows, link_motions
from ..errors import InputError, ModelError
from ..kinematics import rate
from ..model import Mechanism, check_freedom, check_resistance
from ..model.values import checked_numbers
from ..scalar import Program, call, directional, is_zero, trace
from ..scalar.arrays import SymbolArray
from .closing.assemble import closed_state
from .constraint_report import constraint_report
from .loop_motion import loop_coordinates
from .loops import LoopEquations
from .modes import Mode, modes_of

__all__ = ["Linearization", "linearize"]

#: Singular values below this fraction of the largest count as zero.
_ZERO = 1e-9
#: A function of (t, q, v) that returns efforts or a wrench, or constant values of these.
Source = Callable[[Any, Any, Any], Any] | Sequence[float]


@dataclass(frozen=True, eq=False)
class Linearization:
    """ẋ = A x + B u + (the nominal motion), near one state of a mechanism.

    x = (y, w): small motions and their rates. For a tree y = ξ and w = δv, with one entry per degree of freedom. Loops leave m
    degrees of freedom: ξ = Z y, with y = Zᵀ ξ and w = Zᵀ δv. Where bodies roll without slip, w = Wᵀ δv has k < m entries:
    rolling reaches places although it has no rate in their direction.

    Attributes:
        mechanism: the linearized mechanism.
        q, v, a: the state and the accelerations there (nq), (nv), (nv). It is an equilibrium where v and a are zero.
        A: (m + k, m + k) [1/s and mixed units], including controllers; k = m unless bodies roll.
        B: (m + k, nv), for forces `u` at all degrees of freedom, in addition to those that already act [N·m, N].
        motions: Z (nv, m), orthonormal columns that keep the loops closed; the identity for a tree.
        rates: W (nv, k), orthonormal columns that keep them closed without slip; Z itself unless bodies roll.
    """

    mechanism: Mechanism
    q: np.ndarray
    v: np.ndarray
    a: np.ndarray
    A: np.ndarray
    B: np.ndarray
    motions: np.ndarray = field(repr=False)
    rates: np.ndarray = field(repr=False)

    @property
    def poles(self) -> np.ndarray:
        """The eigenvalues of A (m + k) [1/s], slowest first."""
        poles = np.linalg.eigvals(self.A)
        return poles[np.lexsort((poles.imag, poles.real, np.abs(poles)))]

    @property
    def modes(self) -> list[Mode]:
        """The natural modes, slowest first; one per conjugate pair."""
        return modes_of(self.A, self.motions, self.mechanism.v_names)

    @property
    def stable(self) -> bool:
        """Whether every mode decays."""
        return bool((np.linalg.eigvals(self.A).real < 0.0).all())

    def lines(self) -> list[str]:
        """The modes as readable text, one per line."""
        still = max(np.abs(self.v).max(initial=0.0), np.abs(self.a).max(initial=0.0))
        where = (
            "at an equilibrium" if still < 1e-9 else f"away from equilibrium: velocities and accelerations up to {still:.3g}"
        )
        count = self.motions.shape[1]
        return [f"{self.mechanism.name}, {count} free motion{'s' * (count != 1)}, {where}", *map(str, self.modes)]


def linearize(
    equations: LoopEquations,
    q: Any,
    v: Any = None,
    tau: Any = None,
    *,
    controller: Source | None = None,
    wrenches: Mapping[str, Source] | None = None,
    time: float = 0.0,
) -> Linearization:
    """Linearizes the equations of motion about a state, by exact derivatives of the forward dynamics.

    Nothing touches the mechanism in them: a robot that stands on a floor is linearized as if there were no floor. Rigid contact
    acts by impulses in steps; `kumitate.Simulation.slopes` gives the derivatives of a step with contact.

    Args:
        equations: the loop equations of the mechanism (it need not have loops); the state must satisfy them.
        q, v: coordinates (nq) and velocities (nv), zero by default.
        tau: constant forces of the drives (nv) [N·m, N], zero by default; those of a controller are added.
        controller: tau = f(t, q, v) as for `simulate`, of plain arithmetic, which may also read `loop_q` and `loop_v`; its
            derivatives are part of A.
        wrenches: [n; f] by name of a body or frame, constant or functions: axes of the world, about its origin.
        time: at which the controller and the wrenches are evaluated [s].

    Raises:
        InputError: for a state that violates the loops, a place that does not exist, or a controller that cannot be traced.
        ModelError: in a singular posture, where the free motions of the loops are not a vector space.
    """
    mechanism = equations.mechanism
    check_resistance(mechanism)
    check_freedom(mechanism, "linearize")
    still = np.zeros(mechanism.nv)
    q = _numbers(mechanism, "q", q, mechanism.nq)
    v, tau = (
        still if part is None else _numbers(mechanism, what, part, mechanism.nv) for what, part in (("v", v), ("tau", tau))
    )
    q, v = closed_state(equations, q, v)
    equations.lines.check_directions(q, v, smooth=True)
    program = _motion(mechanism, controller, dict(wrenches or {}), time, q, v)
    E, C = _tangent(mechanism, q, v)
    a, a_q, a_v, a_tau = _slopes(program, [q, v, tau], [E, np.eye(mechanism.nv), np.eye(mechanism.nv)])
    Z, W, P = _free_motions(equations, q, v, E)
    A = np.block([[Z.T @ (C @ Z + P), Z.T @ W], [W.T @ (a_q @ Z + a_v @ P), W.T @ a_v @ W]])
    B = np.vstack([np.zeros((Z.shape[1], mechanism.nv)), W.T @ a_tau])
    return Linearization(mechanism, q, v, a, A, B, Z, W)


def _numbers(mechanism: Mechanism, what: str, values: Any, size: int) -> np.ndarray:
    return np.array(checked_numbers(mechanism.name, what, values, size, error=InputError))


def _motion(
    mechanism: Mechanism, controller: Source | None, wrenches: dict[str, Source], t: float, q: np.ndarray, v: np.ndarray
) -> Program:
    """(q, v, tau) → v̇, with the controller and the wrenches."""
    tree = mechanism.base_parameter_tree
    for name in wrenches:
        if name not in tree.places:
            raise InputError(f"{mechanism.name}: {name!r} is not a body or frame; there are {', '.join(tree.places)}")
    sources = {"the controller": (controller, mechanism.nv), **{f"the wrench on {k!r}": (f, 6) for k, f in wrenches.items()}}
    laws = {
        label: _law(mechanism, label, source, size, t, q, v) for label, (source, size) in sources.items() if source is not None
    }

    def motion(q: Any, v: Any, tau: Any) -> list[Any]:
        given = [law(q, v) for law in laws.values()]
        driven = given.pop(0) if controller is not None else [0.0] * mechanism.nv
        acting = Wrenches(tree, dict(zip(wrenches, given, strict=True))) if wrenches else None
        efforts = [a + b for a, b in zip(tau, driven, strict=True)]
        return aba_with_loops(tree, q, v, efforts, Acting(mechanism.gravity, wrenches=acting))

    sizes: dict[str, int | tuple[int, ...]] = {"q": mechanism.nq, "v": mechanism.nv, "tau": mechanism.nv}
    return trace(motion, sizes, f"motion_{mechanism.name}")


def _law(
    mechanism: Mechanism, label: str, source: Source, size: int, t: float, q: np.ndarray, v: np.ndarray
) -> Callable[[Any, Any], list[Any]]:
    """A source as a function of scalars.

    Raises:
        InputError: if it cannot be differentiated, or returns the wrong number of values.
    """
    if not callable(source):
        shape = np.shape(source)
        if shape != (size,):
            raise InputError(f"{mechanism.name}: {label} has shape {shape}; it must have {size} values")
        return lambda q, v: list(source)
    from ..scalar.purity import TAKEN, judged  # for controllers only

    reads = _loops_read(source) if mechanism.loop_v_names else ()

    def loops(q: Any, v: Any) -> list[Any]:
        found = call(loop_coordinates(mechanism), list(q), list(v)) if reads else {}
        return [found[name] for name in reads]

    def by_position(t: Any, q: Any, v: Any, *values: Any) -> Any:
        return source(t, q, v, **dict(zip(reads, values, strict=True)))

    tried = (t, q, v, *map(np.array, loops(q.tolist(), v.tolist())))
    verdict = judged(by_position if reads else source, [tried], size, (*TAKEN, *reads))
    if verdict.program is None:
        raise InputError(
            f"{mechanism.name}: {label} cannot be differentiated, because {verdict.reason}. Write it with plain operators, "
            "NumPy's functions and those of `kumitate.control`, without memory, and with km.where in place of if"
        )
    return lambda q, v: list(by_position(t, *map(SymbolArray, (q, v, *loops(q, v)))))


def _loops_read(source: Callable[..., Any]) -> tuple[str, ...]:
    """What a function reads of loop joints, by parameters of these names."""
    try:
        parameters = inspect.signature(source).parameters
    except (TypeError, ValueError):  # some compiled functions tell nothing of their parameters
        return ()
    return tuple(name for name in ("loop_q", "loop_v") if name in parameters)


def _tangent(mechanism: Mechanism, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """E (nq, nv) and C (nv, nv): q̇ = E(q) v and ξ̇ = δv + C ξ.

    d/dt δq = δ q̇ with δq = E ξ is E ξ̇ + Ė ξ = E δv + (δE) v: the difference of two derivatives of q̇.
    """
    tree, n = mechanism.tree, mechanism.nv
    moved = Kernel(directional(trace(lambda q, v: rate(tree, q, v), {"q": tree.nq, "v": n}, f"rate_{mechanism.name}")))
    units, still, fixed = np.eye(n), np.zeros((n, n)), np.zeros((n, tree.nq))
    E = moved(q, units, fixed, still)[0].T
    by_q = moved(q, v, E.T, still)[1]  # of E v, along every ξ
    by_time = moved(q, units, E @ v, still)[1]  # of E ξ, along v
    return E, np.linalg.pinv(E) @ (by_q - by_time).T


def _slopes(program: Program, at: Sequence[np.ndarray], along: Sequence[np.ndarray]) -> tuple[np.ndarray, ...]:
    """The program's output (k) at a point, and per input its derivatives (k, m) along the columns (size, m) of `along`."""
    counts = [columns.shape[1] for columns in along]
    rows = sum(counts)
    starts = np.cumsum([0, *counts])
    dots = [np.zeros((rows, len(columns))) for columns in along]
    for dot, columns, start, count in zip(dots, along, starts, counts, strict=False):
        dot[start : start + count] = columns.T
    values, slopes = Kernel(directional(program))(*at, *dots)
    return values[0], *(slopes[start : start + count].T for start, count in zip(starts, counts, strict=False))


def _free_motions(
    equations: LoopEquations, q: np.ndarray, v: np.ndarray, E: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Z (nv, m), W (nv, k) and P (nv, m): closed loops stay closed if ξ = Z y and δv = W w + P y.

    J δv + (δJ) v = 0, and J ξ = 0 in the rows that restrict positions: all, unless bodies roll.
    """
    mechanism, n = equations.mechanism, equations.mechanism.nv
    if not equations.names:
        return np.eye(n), np.eye(n), np.zeros((n, n))
    report = constraint_report(equations, q)
    if report.singular:
        raise ModelError(
            f"{mechanism.name}: the posture is singular: {report.mobility} motions are free here and {report.usual_mobility} "
            "nearby, so that no linear equations hold on all sides of it. Choose another posture"
        )
    J = equations.state(q, v).J
    U, s, Vt = np.linalg.svd(J)
    rank, W = report.rank, Vt[report.rank :].T
    Z = W if equations.holonomic.all() else _null_space(J[equations.holonomic])
    tree = mechanism.tree

    def opening(q: Any, v: Any) -> list[Any]:
        rows = constraint_rows(tree, chord_closings(tree, q, v), q, v, link_motions(tree, q, v))
        return [row.rate for row in rows if is_zero(row.softness)]

    _, opened, _ = _slopes(trace(opening, {"q": tree.nq, "v": n}, f"opening_{mechanism.name}"), [q, v], [E @ Z, np.eye(n)])
    return Z, W, -(Vt[:rank].T / s[:rank]) @ U[:, :rank].T @ opened


def _null_space(J: np.ndarray) -> np.ndarray:
    """Orthonormal columns Z with J Z = 0."""
    _, s, Vt = np.linalg.svd(J)
    return np.asarray(Vt[int((s > _ZERO * s[0]).sum()) :].T)
