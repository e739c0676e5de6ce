"""Integrators, under one contract: a step of a mechanical system, written once for floats and for symbols."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple, Protocol

from ..contact.laws.residual import FAILED
from ..model import Bound
from ..scalar import Scalar, maximum, select, when
from ..scalar import absolute as magnitude


class Impact(NamedTuple):
    """The effect of impulsive contact in a step.

    Attributes:
        v: the velocities (nv) after the step; along: those of its motion, which differ by the turning of free bodies.
        work: of its impulses [J]; touching: 1 if anything touches, else 0.
        missed: the residual of the contact laws, as a part of the speeds of the points; unsolved: its part by a solver that did
            not converge.
        power: of all applied efforts at the mean of the velocities before and after [W]: velocities jump, and efforts do work
            in between along the mean velocity, as the kinetic energy requires.
    """

    v: Sequence[Scalar]
    work: Scalar
    touching: Scalar
    missed: Scalar
    unsolved: Scalar
    power: Scalar
    along: Sequence[Scalar]


@dataclass(frozen=True)
class Begun:
    """How a step begins.

    Attributes:
        q, v: the state (nq) and (nv); `move`: the displacement (nv) that closes its loops, still to be made.
        acceleration: v̇ (nv); `power`: of all applied efforts [W].
        projected: 1 if loops were closed by projection, so that inner stages need it too; else 0.
    """

    q: Sequence[Scalar]
    v: Sequence[Scalar]
    move: Sequence[Scalar]
    acceleration: Sequence[Scalar]
    power: Scalar
    projected: Scalar


class MechanicalSystem(Protocol):
    """The equations of motion, as an integrator sees them."""

    def begin(self, t: Scalar, h: Scalar, q: Sequence[Scalar], v: Sequence[Scalar], ahead: Scalar) -> Begun:
        """`dynamics` where a step begins, with what closes the loops that the last step left open, if it left them so.

        `ahead`: the length of the step [s], which says whether it comes near a singular posture.
        """

    def dynamics(self, t: Scalar, h: Scalar, q: Sequence[Scalar], v: Sequence[Scalar]) -> tuple[list[Scalar], Scalar]:
        """v̇ (nv) and the power of all applied efforts [W]. `h` > 0 makes the joints' damping implicit over a step h."""

    def jump(self, t: Scalar, h: Scalar, q: Sequence[Scalar], v: Sequence[Scalar]) -> Impact:
        """The effect of a step h from velocities v on the velocities, with contact and stops that act by impulses."""

    def kick(
        self, t: Scalar, h: Scalar, q: Sequence[Scalar], v: Sequence[Scalar], v_free: Sequence[Scalar], implicit: Scalar,
        closed: Scalar,
    ) -> Impact:  # fmt: skip
        """The impulses of contact alone, which change velocities `v_free` that all else leads to from v; none of stops.

        Points may close their gaps in a motion of duration h. If `closed` is 1, only those take part that have none, and they
        stay closed. `implicit`: the time for which `v_free` is implicit in damping, springs and drives.
        """

    def turning(self, v: Sequence[Scalar]) -> list[Scalar]:
        """The part of v̇ that is due to the turning of the axes in which v (nv) is given."""

    def beyond(self, q: Sequence[Scalar]) -> Scalar:
        """1 if a joint is beyond one of its stops at q (nq), else 0."""

    def carried(self, v: Sequence[Scalar], dv: Sequence[Scalar]) -> list[Scalar]:
        """v (nv), given in the axes before a motion by `dv`, expressed in the axes after it."""

    def rate(self, q: Sequence[Scalar], v: Sequence[Scalar]) -> list[Scalar]:
        """q̇ (nq)."""

    def integrate(self, q: Sequence[Scalar], dv: Sequence[Scalar]) -> list[Scalar]:
        """q (nq) after the motion dv."""

    def staged(self, q: Sequence[Scalar], v: Sequence[Scalar], begun: Begun) -> tuple[Sequence[Scalar], Sequence[Scalar]]:
        """q and v of an inner stage as the dynamics needs them: with closed loops, unless these are far from singular.

        Inner stages are less accurate than the step. Off the closed loops the equations of motion are smooth only while the
        loops are far from singular; at a singular posture the step would lose its order.
        """

    def settled(self, q: Sequence[Scalar], v: Sequence[Scalar]) -> tuple[Sequence[Scalar], Sequence[Scalar]]:
        """q (nq) and v (nv) at the end of a step: quaternions of unit length, loops closed or left to the next step."""

    def followed(self, t: Scalar, q: Sequence[Scalar], v: Sequence[Scalar]) -> tuple[Sequence[Scalar], Sequence[Scalar]]:
        """q and v with joints that follow prescribed motions where these are at time t."""

    def closed(self, q: Sequence[Scalar], v: Sequence[Scalar]) -> tuple[Sequence[Scalar], Sequence[Scalar]]:
        """What `settled` gave, with loops closed that it left to the next step."""


@dataclass(frozen=True)
class IntegratorState:
    """Coordinates q (nq), velocities v (nv), and the work done on the mechanism since the start [J]."""

    q: Sequence[Scalar]
    v: Sequence[Scalar]
    work: Scalar


def worst_error(
    start: Sequence[Scalar], end: Sequence[Scalar], differences: Sequence[Scalar], *, relative: float, absolute: float
) -> Scalar:
    """The largest of the differences of two results of a step, in units of the tolerance; `start`, `end`: of the step."""
    worst: Scalar = 0.0
    for x0, x1, difference in zip(start, end, differences, strict=True):
        size = maximum(magnitude(x0), magnitude(x1))
        worst = maximum(worst, magnitude(difference) / (absolute + relative * size))
    return worst


class Integrator(ABC):
    """A method that advances a state by one step.

    Attributes:
        name: as given by users.
        order: of its global error in the step size.
        implicit_damping: whether it passes a step to `MechanicalSystem.dynamics`.
        adaptive: whether `step` estimates its error, so that the step can be chosen.
        kicks: whether contact acts in its steps by `MechanicalSystem.kick`.
        opens: a step h opens closed loops by this times h² J̇v, and by less than h² otherwise.
    """

    name: ClassVar[str]
    order: ClassVar[int]
    implicit_damping: ClassVar[bool] = False
    adaptive: ClassVar[bool] = False
    kicks: ClassVar[bool] = False
    opens: ClassVar[float] = 0.0

    @property
    def settings(self) -> Hashable:
        """Its kind and its parameters."""
        own = ((k, value.settings if isinstance(value, Integrator) else value) for k, value in sorted(vars(self).items()))
        return (type(self), *own)

    @abstractmethod
    def step(self, system: MechanicalSystem, t: Scalar, h: Scalar, state: IntegratorState) -> tuple[IntegratorState, Scalar]:
        """The state after a step h from time t, and the estimated error in units of the tolerance (0 if none is made)."""


class ExtendedIntegrator(Integrator):
    """An integrator that adds something to the steps of another, `inner`, whose name, order and kind of steps it has."""

    def __init__(self, inner: Integrator):
        self.inner = inner
        self.name, self.order = inner.name, inner.order  # type: ignore[misc]
        self.implicit_damping, self.adaptive = inner.implicit_damping, inner.adaptive  # type: ignore[misc]
        self.kicks, self.opens = inner.kicks, inner.opens  # type: ignore[misc]


# --- steps of smooth motions ----------------------------------------------------------------------------------------------
# Quaternions are integrated as four numbers (thesis eq. 3.34) and brought back to unit length after the step; as the exact
# motion stays on the manifold, this does not lower the order.
class ButcherTableau(NamedTuple):
    """Nodes c, stage weights a (lower triangle), result weights b, and those of the embedded result of other order, if any."""

    c: tuple[float, ...]
    a: tuple[tuple[float, ...], ...]
    b: tuple[float, ...]
    embedded: tuple[float, ...] | None = None


class RungeKutta(Integrator):
    """A step of the method that `tableau` defines; `relative`, `absolute`: tolerances of the error estimate."""

    tableau: ClassVar[ButcherTableau]

    def __init__(self, *, relative: float = 1e-8, absolute: float = 1e-10):
        self.relative = relative
        self.absolute = absolute

    def step(self, system: MechanicalSystem, t: Scalar, h: Scalar, state: IntegratorState) -> tuple[IntegratorState, Scalar]:
        table = self.tableau
        begun = system.begin(t, 0.0, state.q, state.v, h)
        start = [*(a + b for a, b in zip(begun.q, system.rate(begun.q, begun.move), strict=True)), *begun.v, state.work]
        rates = [[*system.rate(begun.q, begun.v), *begun.acceleration, begun.power]]
        nq, nv = len(begun.q), len(begun.v)
        for c, row in zip(table.c[1:], table.a[1:], strict=True):
            x = _combined(start, h, row, rates)
            q, v = system.staged(x[:nq], x[nq : nq + nv], begun)
            acceleration, power = system.dynamics(t + c * h, 0.0, q, v)
            rates.append([*system.rate(q, v), *acceleration, power])
        end = _combined(start, h, table.b, rates)
        after = IntegratorState(*system.settled(end[:nq], end[nq : nq + nv]), end[-1])
        return after, self._error(h, rates, start[:-1], end[:-1]) if self.adaptive else 0.0

    def _error(self, h: Scalar, rates: list[list[Scalar]], start: list[Scalar], end: list[Scalar]) -> Scalar:
        """The error of the embedded result, which is the step's with other weights."""
        assert self.tableau.embedded is not None
        weights = [b - e for b, e in zip(self.tableau.b, self.tableau.embedded, strict=True)]
        differences = _combined([0.0] * len(start), h, weights, rates)
        return worst_error(start, end, differences, relative=self.relative, absolute=self.absolute)


def _combined(x: Sequence[Scalar], h: Scalar, weights: Sequence[float], rates: Sequence[Sequence[Scalar]]) -> list[Scalar]:
    used = [(w, rate) for w, rate in zip(weights, rates, strict=False) if w]
    if not used:
        return list(x)
    return [value + h * sum((w * rate[k] for w, rate in used), 0.0) for k, value in enumerate(x)]


class RK4(RungeKutta):
    """The classical method: four stages, order four, at the fixed step."""

    name = "rk4"
    order = 4
    tableau = ButcherTableau(
        c=(0.0, 1 / 2, 1 / 2, 1.0),
        a=((), (1 / 2,), (0.0, 1 / 2), (0.0, 0.0, 1.0)),
        b=(1 / 6, 1 / 3, 1 / 3, 1 / 6),
    )


class RKF45(RungeKutta):
    """Runge-Kutta-Fehlberg 4(5), the thesis's integrator (thesis 5.1): six stages, order five, at the fixed step.

    E. Fehlberg, Low-order classical Runge-Kutta formulas with stepsize control, NASA TR R-315, 1969, table III. The fifth-order
    result is the one that is propagated.
    """

    name = "rkf45"
    order = 5
    tableau = ButcherTableau(
        c=(0.0, 1 / 4, 3 / 8, 12 / 13, 1.0, 1 / 2),
        a=(
            (),
            (1 / 4,),
            (3 / 32, 9 / 32),
            (1932 / 2197, -7200 / 2197, 7296 / 2197),
            (439 / 216, -8.0, 3680 / 513, -845 / 4104),
            (-8 / 27, 2.0, -3544 / 2565, 1859 / 4104, -11 / 40),
        ),
        b=(16 / 135, 0.0, 6656 / 12825, 28561 / 56430, -9 / 50, 2 / 55),
        embedded=(25 / 216, 0.0, 1408 / 2565, 2197 / 4104, -1 / 5, 0.0),
    )


class RKF45Adaptive(RKF45):
    """The same formulas with the step chosen by the difference of their two results."""

    name = "rkf45_adaptive"
    adaptive = True


class SemiImplicitEuler(Integrator):
    """v₁ = v + h v̇(q, v), q₁ = q ⊕ h v₁: order one, and stable under any joint damping, in which it is implicit.

    Where the inertia matrix is constant it is symplectic, and its energy does not drift. Where it varies with the posture, as
    in most mechanisms, the energy drifts in proportion to the step.
    """

    name = "semi_implicit_euler"
    order = 1
    implicit_damping = True
    opens = 0.5  # the rows' rates at the end, −h J̇v at the old posture, move them by −h² J̇v; half of that is right

    def step(self, system: MechanicalSystem, t: Scalar, h: Scalar, state: IntegratorState) -> tuple[IntegratorState, Scalar]:
        begun = system.begin(t, h, state.q, state.v, h)
        v = [rate + h * a for rate, a in zip(begun.v, begun.acceleration, strict=True)]
        q = system.integrate(begun.q, [more + h * rate for more, rate in zip(begun.move, v, strict=True)])
        return IntegratorState(*system.settled(q, v), state.work + h * begun.power), 0.0


class ExtrapolatedEuler(Integrator):
    """The semi-implicit Euler method, extrapolated to order 8 with 36 evaluations per step: for stiff and accurate motions.

    A step is made with 1, 2, … n substeps; the results, whose errors are series in the substep, are extrapolated to substep
    zero by Aitken and Neville's scheme (P. Deuflhard, Recent progress in extrapolation methods for ordinary differential
    equations, SIAM Review 27, 1985). Springs and damping stay implicit in every substep, so that fast ones die out instead of
    limiting the step, whose size is controlled by the difference of the last two extrapolations. Quaternions are extrapolated
    as four numbers and brought back to unit length.
    """

    name = "extrapolated_euler"
    order = 8
    implicit_damping = True
    adaptive = True

    def __init__(self, *, relative: float = 1e-8, absolute: float = 1e-10):
        self.relative = relative
        self.absolute = absolute

    def step(self, system: MechanicalSystem, t: Scalar, h: Scalar, state: IntegratorState) -> tuple[IntegratorState, Scalar]:
        rows: list[list[list[Scalar]]] = []
        for n in range(1, self.order + 1):
            row = [_substeps(system, t, h, state, n)]
            for k in range(1, n):  # T_nk = T_n,k−1 + (T_n,k−1 − T_n−1,k−1) / (n/(n − k) − 1)
                weight = (n - k) / k
                pairs = zip(row[k - 1], rows[-1][k - 1], strict=True)
                row.append([finer + (finer - coarser) * weight for finer, coarser in pairs])
            rows.append(row)
        end, nq, nv = rows[-1][-1], len(state.q), len(state.v)
        start = [*state.q, *state.v]
        differences = [finer - coarser for finer, coarser in zip(end[:-1], rows[-1][-2][:-1], strict=True)]
        error = worst_error(start, end[:-1], differences, relative=self.relative, absolute=self.absolute)
        return IntegratorState(*system.settled(end[:nq], end[nq : nq + nv]), end[-1]), error


def _substeps(system: MechanicalSystem, t: Scalar, h: Scalar, state: IntegratorState, n: int) -> list[Scalar]:
    """q, v and work after n equal steps of the semi-implicit Euler method."""
    euler, part = SemiImplicitEuler(), h * (1.0 / n)
    for k in range(n):
        state, _ = euler.step(system, t + k * part, part, state)
    return [*state.q, *state.v, state.work]


# --- time stepping with rigid contact, at stops and with prescribed motions: velocities may jump (Moreau 1988) ------------
#: Velocities that miss the contact laws by more than this many times the points' previous speeds are not a usable solution:
#: `kumitate.papers.multipoint`, which obeys only some of the laws, misses the others by up to 2.3 times.
STOPPED = 10.0


class TimeStepping(Integrator):
    """v₁ from v + h v̇ by the contact impulses, q₁ = q ⊕ h v₁; where nothing touches, a step of the integrator `flight`.

    The turning of single free bodies is of order two between impacts (`dynamics.free_turning`): they move with v₁ as it is
    half a step later. All else is of order one where something touches. Impact times are not located: an impact takes
    effect in the step in which it happens. The error of a step is the remaining error of its impulses, in units of
    `FAILED`; the velocities become infinite where they diverge.
    """

    name = "time_stepping"
    order = 1
    implicit_damping = True

    def __init__(self, flight: Integrator | None = None):
        self.flight = flight

    def step(self, system: MechanicalSystem, t: Scalar, h: Scalar, state: IntegratorState) -> tuple[IntegratorState, Scalar]:
        contact = system.jump(t, h, state.q, state.v)
        v, move = contact.v, [h * rate for rate in contact.along]
        q_after, v_after = system.settled(system.integrate(state.q, move), system.carried(v, move))
        after = IntegratorState(list(q_after), list(v_after), state.work + h * contact.power + contact.work)
        if self.flight is None:
            return _stopped(contact, after), contact.unsolved * (1.0 / FAILED)
        flight = self.flight

        def flown() -> IntegratorState:
            flown, _ = flight.step(system, t, h, state)
            return IntegratorState(list(flown.q), list(flown.v), flown.work)

        moved = when(contact.touching < 0.5, flown, after)
        kept = system.beyond(moved.q) < 0.5  # a flight may reach a stop that its first velocity does not lead to
        moved = IntegratorState(
            [select(kept, a, b) for a, b in zip(moved.q, after.q, strict=True)],
            [select(kept, a, b) for a, b in zip(moved.v, after.v, strict=True)],
            select(kept, moved.work, after.work),
        )
        return _stopped(contact, moved), contact.unsolved * (1.0 / FAILED)


def _stopped(contact: Impact, state: IntegratorState) -> IntegratorState:
    """The state, with infinite velocities if those after contact are unusable or not finite."""
    return IntegratorState(state.q, [select(contact.missed <= STOPPED, rate, math.inf) for rate in state.v], state.work)


#: How often the velocity in the middle of a step is corrected before contact acts. With two passes, neither turning nor
#: oscillation gains energy (with none, turning by z in a step gains the part z⁴/4).
PASSES = 2


class Midpoint(Integrator):
    """vₘ = v + h/2 v̇(qₘ, vₘ) and contact, q₁ = q ⊕ h vₘ, v₁ = vₘ + h/2 v̇(qₘ, vₘ) and contact again, qₘ = q ⊕ h/2 vₘ.

    Contact acts at both ends of a step, with the impulses of half of it each: the first ones close the gaps in the motion of
    the whole step, where bodies also rebound, and the second ones stop those points from closing that have no gap left. This
    is the scheme of Andersen (RATTLE, Journal of Computational Physics 52, 1983) with inequalities in place of equations.

    v̇(qₘ, vₘ) is found by iteration, from a first guess with contact that is implicit in damping, springs and drives.

    Of order two while feet stand, stick or slide; of order one at impacts, at stops, and where a body turns about its points of
    contact.
    """

    name = "midpoint"
    order = 2
    implicit_damping = True
    kicks = True

    def step(self, system: MechanicalSystem, t: Scalar, h: Scalar, state: IntegratorState) -> tuple[IntegratorState, Scalar]:
        half = 0.5 * h
        begun = system.begin(t, half, state.q, state.v, h)
        start = zip(begun.acceleration, system.turning(begun.v), strict=True)
        v_middle = _advanced(begun.v, half, [rate - turn for rate, turn in start])
        for _ in range(PASSES):
            rates, _ = _in_the_middle(system, t + half, half, begun, v_middle)
            v_middle = _advanced(begun.v, half, rates)
        guess = system.kick(t, h, begun.q, begun.v, v_middle, half, 0.0)
        rates, power = _in_the_middle(system, t + half, half, begun, guess.v)
        first = system.kick(t, h, begun.q, begun.v, _advanced(begun.v, half, rates), 0.0, 0.0)
        move = _advanced(begun.move, h, first.v)
        q, v_free = system.integrate(begun.q, move), _advanced(first.v, half, rates)
        second = system.kick(t + h, h, q, system.carried(first.v, move), system.carried(v_free, move), 0.0, 1.0)
        q_after, v_after = system.settled(q, second.v)
        usable = maximum(first.missed, second.missed) <= STOPPED
        v_after = [select(usable, rate, math.inf) for rate in v_after]
        after = IntegratorState(list(q_after), v_after, state.work + h * power + first.work + second.work)
        return after, maximum(first.unsolved, second.unsolved) * (1.0 / FAILED)


def _in_the_middle(
    system: MechanicalSystem, t: Scalar, half: Scalar, begun: Begun, v: Sequence[Scalar]
) -> tuple[list[Scalar], Scalar]:
    """v̇ in the middle of a step that is made with velocity v, in the axes of its start, and the power of all efforts."""
    move = [half * rate for rate in v]
    back = [-part for part in move]
    q, v = system.staged(system.integrate(begun.q, move), system.carried(v, move), begun)
    rates, power = system.dynamics(t, 0.0, q, v)
    return system.carried([rate - turn for rate, turn in zip(rates, system.turning(v), strict=True)], back), power


def _advanced(x: Sequence[Scalar], h: Scalar, rates: Sequence[Scalar]) -> list[Scalar]:
    return [value + h * rate for value, rate in zip(x, rates, strict=True)]


# --- integrators of mechanisms in which joints follow prescribed motions, or have stops: steps of another, and what they add --
class FollowingSteps(ExtendedIntegrator):
    """Steps of another integrator, after which joints with prescribed motions have exactly the position and velocity given.

    Within a step they accelerate as prescribed, so that what is corrected is the integrator's own error.
    """

    def step(self, system: MechanicalSystem, t: Scalar, h: Scalar, state: IntegratorState) -> tuple[IntegratorState, Scalar]:
        after, error = self.inner.step(system, t, h, state)
        q, v = system.followed(t + h, after.q, after.v)
        return IntegratorState(q, v, after.work), error


class WithStops(ExtendedIntegrator):
    """Steps of the integrator `inner`; those that end beyond a stop are made again by `TimeStepping`, which ends at the stop.

    Steps in which no stop is reached are those of `inner`, bit by bit. Those at stops are of order one.
    """

    def step(self, system: MechanicalSystem, t: Scalar, h: Scalar, state: IntegratorState) -> tuple[IntegratorState, Scalar]:
        flown, error = self.inner.step(system, t, h, state)
        flown = IntegratorState(list(flown.q), list(flown.v), flown.work)

        def stopped() -> tuple[IntegratorState, Scalar]:
            after, unsolved = TimeStepping().step(system, t, h, state)
            q, v = system.closed(after.q, after.v)
            # the error of an adaptive step remains, so that steps up to a stop are as fine as others
            return IntegratorState(list(q), list(v), after.work), error if self.adaptive else unsolved

        return when(system.beyond(flown.q) > 0.5, stopped, (flown, error))  # type: ignore[no-any-return]


def stopping(integrator: Integrator, bounds: Sequence[Bound]) -> Integrator:
    """The integrator for joints with these limits; time stepping stops joints itself."""
    return WithStops(integrator) if bounds and not isinstance(integrator, TimeStepping) else integrator


#: Every integrator by its name.
INTEGRATORS: dict[str, type[Integrator]] = {
    kind.name: kind for kind in (RKF45, RKF45Adaptive, RK4, SemiImplicitEuler, ExtrapolatedEuler, Midpoint)
}
