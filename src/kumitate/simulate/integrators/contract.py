"""The contract of integrators: one step of a mechanical system, written once for floats and for symbols."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple, Protocol

from ...scalar import Scalar, maximum
from ...scalar import absolute as magnitude


class Impact(NamedTuple):
    """The effect of impulsive contact in a step.

    Attributes:
        v: the velocities (nv) after the step.
        work: of its impulses [J].
        touching: 1 if anything touches, else 0.
        missed: the residual of the contact laws, as a part of the speeds of the points.
        unsolved: how much of that is due to a solver that did not converge.
        power: of all applied efforts at the mean of the velocities before and after [W]: velocities jump, and efforts do work
            in between along the mean velocity, as the kinetic energy requires.
        along: the velocities with which everything moves in the step; those after it, but for the turning of free bodies.
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
    """An integrator that adds something to the steps of another.

    Attributes:
        inner: whose name, order and kind of steps it has.
    """

    def __init__(self, inner: Integrator):
        self.inner = inner
        self.name, self.order = inner.name, inner.order  # type: ignore[misc]
        self.implicit_damping, self.adaptive = inner.implicit_damping, inner.adaptive  # type: ignore[misc]
        self.kicks, self.opens = inner.kicks, inner.opens  # type: ignore[misc]
