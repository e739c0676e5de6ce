"""Exact linearization of the equations of motion about a state: ẋ = A x + B u, with poles and modes.

A deviation from the state (q, v) is x = (ξ, δv): the displacement ξ of the coordinates from q (`kinematics.integrate`), so that
quaternions have three degrees of freedom and not four, and the change of v. Along the motion, ξ̇ = δv + C ξ, where C is due to
the noncommutativity of rotations (ξ̇ = δω − ω × ξ for a quaternion) and zero at rest; δv̇ is the derivative of forward dynamics.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..dynamics import (
    Acting,
    Row,
    Wrenches,
    chord_closings,
    chord_rows,
    crba,
    free_springs,
    link_motions,
    loop_jacobian,
    passive_slope,
)
from ..errors import InputError
from ..kinematics import jacobian
from ..model import Command, DriveLaw, Mechanism, check_freedom, check_resistance
from ..model.values import checked_numbers
from ..scalar import call, floats, trace
from ..scalar.arrays import SymbolArray
from .closing.assemble import closed_state
from .constraint_report import closed_directions, null_space, slopes_along, tangent
from .loop_motion import LOOPS, joint_motion, loop_coordinates
from .loops import LoopEquations

#: Parts of poles below this fraction of the largest entry of A are rounding errors and become zero.
_ROUNDING = 1e-14
#: Components of a shape below this fraction of its largest are not printed.
_SMALL = 1e-3


@dataclass(frozen=True, eq=False)
class Mode:
    """One natural mode: x(t) = Re(shape · e^{pole·t}).

    A multiple pole with one shape, such as the double zero of a free rigid-body motion, is only accurate to about the square
    root of the rounding error.

    Attributes:
        pole: λ [1/s]; for a conjugate pair, the one with the positive imaginary part.
        shape: by degree of freedom (`Mechanism.v_names`), its amplitude and phase; the largest component is 1.
    """

    pole: complex
    shape: dict[str, complex]

    @property
    def oscillates(self) -> bool:
        """Whether it oscillates."""
        return self.pole.imag > 0.0

    @property
    def frequency(self) -> float:
        """The natural frequency |λ| [rad/s], undamped."""
        return abs(self.pole)

    @property
    def damping(self) -> float:
        """The damping ratio ζ = −Re λ / |λ|: 0 undamped, 1 if it does not oscillate, negative if it grows; 0 for λ = 0."""
        return -self.pole.real / abs(self.pole) if self.pole.real else 0.0

    @property
    def period(self) -> float:
        """The period 2π / Im λ [s]; infinite if it does not oscillate."""
        return 2.0 * math.pi / self.pole.imag if self.oscillates else math.inf

    @property
    def time_constant(self) -> float:
        """The time −1 / Re λ [s] in which it decays to 1/e; negative if it grows, infinite if it does neither."""
        return -1.0 / self.pole.real if self.pole.real else math.inf

    def __str__(self) -> str:
        if self.oscillates:
            how = f"{self.pole.imag / (2.0 * math.pi):.4g} Hz, ζ = {self.damping:.4g}"
        elif self.pole == 0.0:
            how = "held by nothing"
        else:
            what = "grows to e times" if self.pole.real > 0.0 else "falls to 1/e"
            how = f"{what} in {abs(self.time_constant):.4g} s"
        parts = sorted(self.shape.items(), key=lambda item: -abs(item[1]))
        shown = ", ".join(f"{name} {_polar(part)}" for name, part in parts if abs(part) > _SMALL)
        imaginary = f" ± {self.pole.imag:.4g}i" if self.pole.imag else ""
        return f"{self.pole.real:.4g}{imaginary} 1/s: {how}; {shown}"


def modes_of(A: np.ndarray, motions: np.ndarray, names: Sequence[str]) -> list[Mode]:
    """The modes of ẋ = A x with x = (y, w), slowest first; one per conjugate pair.

    Args:
        A: (m + k, m + k), for m motions y and k rates w.
        motions: (nv, m), the displacement of each degree of freedom per unit of each y.
        names: of the degrees of freedom (nv).
    """
    m = motions.shape[1]
    poles, vectors = np.linalg.eig(A) if len(A) else (np.zeros(0), np.zeros((0, 0)))
    least = _ROUNDING * np.abs(A).max(initial=0.0)
    real, imaginary = (np.where(np.abs(part) > least, part, 0.0) for part in (poles.real, poles.imag))
    found = []
    for k in np.lexsort((real, np.hypot(real, imaginary))):
        if imaginary[k] >= 0.0:
            moved = motions @ vectors[:m, k]
            moved = moved / moved[int(np.argmax(np.abs(moved)))]
            found.append(Mode(complex(real[k], imaginary[k]), dict(zip(names, moved.astype(complex).tolist(), strict=True))))
    return found


def _polar(part: complex) -> str:
    """A real number with its sign, a complex one by magnitude and phase."""
    if abs(part.imag) < _SMALL * abs(part):
        return f"{part.real:.3g}"
    return f"{abs(part):.3g} at {math.degrees(math.atan2(part.imag, part.real)):.0f}°"


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
        away = f"away from equilibrium: velocities and accelerations up to {still:.3g}"
        where = "at an equilibrium" if still < 1e-9 else away
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
    q, v, tau = (
        still if part is None else np.array(checked_numbers(mechanism.name, what, part, size, error=InputError))
        for what, part, size in (("q", q, mechanism.nq), ("v", v, mechanism.nv), ("tau", tau, mechanism.nv))
    )
    q, v = closed_state(equations, q, v)
    equations.lines.check_directions(q, v, smooth=True)
    laws = _laws(mechanism, controller, dict(wrenches or {}), time, q, v)
    E, C = tangent(mechanism, q, v)
    a, a_q, a_v, a_tau = _accelerations(mechanism, laws, controller is not None, tuple(wrenches or ()), (q, v, tau), E)
    Z, W, P = closed_directions(equations, q, v)
    A = np.block([[Z.T @ (C @ Z + P), Z.T @ W], [W.T @ (a_q @ Z + a_v @ P), W.T @ a_v @ W]])
    B = np.vstack([np.zeros((Z.shape[1], mechanism.nv)), W.T @ a_tau])
    return Linearization(mechanism, q, v, a, A, B, Z, W)


def _accelerations(
    mechanism: Mechanism,
    laws: Sequence[Callable[[Any, Any], list[Any]]],
    driven: bool,
    wrenches: Sequence[str],
    at: tuple[np.ndarray, np.ndarray, np.ndarray],
    E: np.ndarray,
) -> tuple[np.ndarray, ...]:
    """v̇ with its derivatives by q, v and tau: of forward dynamics, and by the chain rule of what the laws give."""
    (q, v, tau), n, tree = at, mechanism.nv, mechanism.base_parameter_tree
    given, given_q, given_v = np.zeros(0), np.zeros((0, n)), np.zeros((0, n))
    if laws:
        inputs = {"q": mechanism.nq, "v": n}
        program = trace(lambda q, v: [x for law in laws for x in law(q, v)], inputs, f"laws_{mechanism.name}")
        given, given_q, given_v = slopes_along(program, [q, v], [E, np.eye(n)])
    efforts = given[:n] if driven else np.zeros(n)
    acting = given[n if driven else 0 :].reshape(-1, 6).tolist()
    pushed = Wrenches(tree, dict(zip(wrenches, acting, strict=True))) if wrenches else None
    from ..dynamics.derivatives import loop_derivatives  # loaded only to linearize

    found = loop_derivatives(tree, q.tolist(), v.tolist(), (tau + efforts).tolist(), Acting(mechanism.gravity, pushed))
    a, a_q, a_v, a_tau = (np.array(part, dtype=float) for part in found)
    forces = [np.eye(n)] * driven + [np.array(jacobian(tree, q.tolist(), tree.places[name])).T for name in wrenches]
    reached = a_tau @ np.hstack([np.zeros((n, 0)), *forces])  # v̇ per unit of each value of the laws
    return a, a_q + reached @ given_q, a_v + reached @ given_v, a_tau


def _laws(
    mechanism: Mechanism, controller: Source | None, wrenches: dict[str, Source], t: float, q: np.ndarray, v: np.ndarray
) -> list[Callable[[Any, Any], list[Any]]]:
    """The controller, if there is one, and the wrenches as functions of scalars (q, v)."""
    for name in wrenches:
        mechanism.base_parameter_tree.place(name, f"{mechanism.name}: a wrench acts on")
    laws = [] if controller is None else [_law(mechanism, "the controller", controller, mechanism.nv, t, q, v)]
    return laws + [_law(mechanism, f"the wrench on {name!r}", source, 6, t, q, v) for name, source in wrenches.items()]


def _law(
    mechanism: Mechanism, label: str, source: Source, size: int, t: float, q: np.ndarray, v: np.ndarray
) -> Callable[[Any, Any], list[Any]]:
    """A source as a function of scalars."""
    if not callable(source):
        shape = np.shape(source)
        if shape != (size,):
            raise InputError(f"{mechanism.name}: {label} has shape {shape}; it must have {size} values")
        return lambda q, v: list(source)
    from ..scalar.purity import TAKEN, judged  # for controllers only

    known: Collection[str] = ()
    with suppress(TypeError, ValueError):  # some compiled functions tell nothing of their parameters
        known = inspect.signature(source).parameters
    reads = [name for name in LOOPS if name in known and mechanism.loop_v_names]

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


# --- the fastest rate -----------------------------------------------------------------------------------------------------
def fastest_rate(mechanism: Mechanism, q: np.ndarray, v: np.ndarray) -> tuple[float, str]:
    """The fastest rate of the passive forces and drives [1/s], and the degree of freedom in which it is largest.

    The largest eigenvalue of M a + D v + K x = 0, linearised at the state, within the motions that closed loops allow. Dry
    friction counts as at rest, where it is steepest: joints that slide come there.
    """
    tree, state = mechanism.tree, (q.tolist(), v.tolist())
    damping = np.diag(floats(slope for link in tree.links for slope in passive_slope(link, [0.0] * link.kind.nv)))
    stiffness = np.diag(floats(k for link in tree.links for k in link.stiffness))
    place, speeds = (floats(part) for part in joint_motion(mechanism, *state))
    driven = {joint.name: joint.drive.law(place[joint.q], speeds[joint.v], Command(0.0)) for joint in mechanism.driven}
    for joint in mechanism.driven:
        if joint.v < mechanism.nv:
            damping[joint.v, joint.v] += float(driven[joint.name].damping)
            stiffness[joint.v, joint.v] += float(driven[joint.name].stiffness)
    motions = link_motions(tree, *state)

    def jacobian_of(rows: Sequence[Row]) -> np.ndarray:
        return np.array(loop_jacobian(tree, motions, rows), dtype=float).reshape(len(rows), tree.nv)

    held: list[Row] = []
    for chord, closing in zip(tree.chords, chord_closings(tree, *state), strict=True):
        rigid, free = chord_rows(tree, motions, chord, closing)
        held += rigid
        J = jacobian_of(free)
        own = np.array(chord.closure.pull_slopes(closing.coordinates, closing.rates), dtype=float).reshape(-1, 2)
        law = driven.get(chord.name, DriveLaw(0.0))
        lost = floats(passive_slope(chord, [0.0] * len(closing.rates)))
        damping = damping + J.T @ np.diag(lost + own[:, 1] + float(law.damping)) @ J
        stiffness = stiffness + J.T @ np.diag(own[:, 0] + float(law.stiffness)) @ J
        if springs := free_springs(chord, closing):  # which act in all directions
            along = chord_rows(tree, motions, chord, replace(closing, active=tuple(T for T, _, _ in springs)))[1]
            J = jacobian_of(along)
        stiffness = stiffness + J.T @ np.diag(floats(k for _, k, _ in springs) or chord.stiffness) @ J
    if not damping.any() and not stiffness.any():
        return 0.0, ""
    allowed = null_space(jacobian_of(held))
    M, D, K = (allowed.T @ matrix @ allowed for matrix in (np.array(crba(tree, state[0]), dtype=float), damping, stiffness))
    n = len(M)
    rates, modes = np.linalg.eig(np.block([[-np.linalg.solve(M, D), -np.linalg.solve(M, K)], [np.eye(n), np.zeros((n, n))]]))
    fastest = int(np.argmax(np.abs(rates)))
    return float(abs(rates[fastest])), mechanism.v_names[int(np.argmax(np.abs(allowed @ modes[:n, fastest])))]
