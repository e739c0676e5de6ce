"""The equations of motion of a driven mechanism, traced into a step or called from Python."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ... import kinematics
from ...analysis import kinetic_energy, momentum, potential_energy
from ...compile import Kernel
from ...dynamics import Acting, Wrenches, aba_with_loops, projected
from ...dynamics.wrenches import Applied, LinkForces
from ...kinematics import center_of_mass
from ...model import Bound, Mechanism, check_resistance, least_gap
from ...scalar import Program, Scalar, call, select, trace
from ..integrators import Impact, Integrator, IntegratorState
from .actuation import Actuation
from .forcing import Forcing
from .parts import applied_power, parts_of

if TYPE_CHECKING:
    from ...contact.forces import ContactForces
    from ...contact.held.motion import HeldDynamics

__all__ = [
    "NO_STEP",
    "CalledSystem",
    "TracedSystem",
    "dynamics_program",
    "motion_program",
    "observables_program",
    "projection_program",
    "step_program",
]

#: A step [s] in which nothing moves; not zero, as implicit forces along the degrees of freedom of loops are divided by it.
NO_STEP = 1e-30
#: A joint is beyond a stop if it is so far outside [rad or m]: rounding alone must not count.
BEYOND = 1e-10


def dynamics_program(
    mechanism: Mechanism,
    forcing: Forcing,
    *,
    implicit_damping: bool,
    baumgarte: float = 0.0,
    held: HeldDynamics | None = None,
    pressing: ContactForces | None = None,
) -> Program:
    """(h, q, v, u) → v̇ and the power of all applied efforts, u being the efforts of the `forcing`; without drives of joints.

    `baumgarte`: the rate [1/s] at which the loops' errors decay; `held`: points held on surfaces; `pressing`: if
    no points are held, contact forces.
    """
    moved = _motion(mechanism, forcing, implicit_damping, baumgarte, held, pressing)

    def dynamics(h: Scalar, q: Any, v: Any, u: Any) -> dict[str, Any]:
        return moved(h, q, v, u, u[: mechanism.nv], ())

    inputs: dict[str, int | tuple[int, ...]] = {"h": (), "q": mechanism.nq, "v": mechanism.nv, "u": forcing.size}
    return trace(dynamics, inputs, f"dynamics_{mechanism.name}")


def motion_program(
    mechanism: Mechanism,
    forcing: Forcing,
    *,
    implicit_damping: bool,
    baumgarte: float = 0.0,
    held: HeldDynamics | None = None,
    pressing: ContactForces | None = None,
) -> Program:
    """(h, q, v, u, tau, resisting) → as `dynamics_program`, by other efforts at the joints, resisted by drives (nv)."""
    nv = mechanism.nv
    inputs: dict[str, int | tuple[int, ...]] = {"h": (), "q": mechanism.nq, "v": nv, "u": forcing.size, "tau": nv}
    moved = _motion(mechanism, forcing, implicit_damping, baumgarte, held, pressing)
    return trace(moved, {**inputs, "resisting": nv}, f"motion_{mechanism.name}")


def _motion(
    mechanism: Mechanism,
    forcing: Forcing,
    implicit_damping: bool,
    baumgarte: float,
    held: HeldDynamics | None,
    pressing: ContactForces | None,
) -> Callable[..., dict[str, Any]]:
    check_resistance(mechanism)
    tree = mechanism.base_parameter_tree

    def moved(h: Scalar, q: Any, v: Any, u: Any, tau: Any, resisting: Any) -> dict[str, Any]:
        parts = parts_of(forcing, u)
        wrenches: Applied | None = Wrenches(tree, parts.applied) if parts.applied else None
        power = applied_power(mechanism, q, v, parts)
        if pressing is not None:
            pressed = pressing.at(q, v)
            wrenches = LinkForces(pressed.by_link, wrenches)
            power = power + pressed.power
        implicit = h if implicit_damping else 0.0
        acting = Acting(mechanism.gravity, wrenches, parts.loop_tau, implicit, baumgarte, resisting)
        if held is None:
            return {"acceleration": aba_with_loops(tree, q, v, tau, acting), "power": power}
        acceleration, lost = held.accelerations(tree, q, v, tau, acting)
        return {"acceleration": acceleration, "power": power + lost}

    return moved


def projection_program(mechanism: Mechanism, held: HeldDynamics | None = None) -> Program:
    """(q, v) → q and v with the loops closed and held points on their surfaces."""
    tree = mechanism.base_parameter_tree

    def projection(q: Any, v: Any) -> dict[str, Any]:
        closed_q, closed_v = projected(tree, q, v) if held is None else held.projected(tree, q, v)
        return {"q": kinematics.normalized(tree, closed_q), "v": closed_v}

    return trace(projection, {"q": mechanism.nq, "v": mechanism.nv}, f"projection_{mechanism.name}")


class _Coordinates(ABC):
    """The kinematics of the coordinates, shared by both systems."""

    def __init__(self, mechanism: Mechanism, bounds: Sequence[Bound]):
        self.mechanism, self.bounds = mechanism, bounds

    def beyond(self, q: Sequence[Scalar]) -> Scalar:
        return select(least_gap(self.bounds, q) < -BEYOND, 1.0, 0.0) if self.bounds else 0.0

    def rate(self, q: Sequence[Scalar], v: Sequence[Scalar]) -> list[Scalar]:
        return kinematics.rate(self.mechanism.tree, q, v)

    def carried(self, v: Sequence[Scalar], dv: Sequence[Scalar]) -> list[Scalar]:
        return kinematics.carried(self.mechanism.tree, v, dv)

    def integrate(self, q: Sequence[Scalar], dv: Sequence[Scalar]) -> list[Scalar]:
        return kinematics.integrate(self.mechanism.tree, q, dv)

    @abstractmethod
    def project(self, q: Sequence[Scalar], v: Sequence[Scalar]) -> tuple[list[Scalar], list[Scalar]] | None:
        """q and v with the loops closed; None if there is nothing to close."""

    @abstractmethod
    def jump(self, t: Scalar, h: Scalar, q: Sequence[Scalar], v: Sequence[Scalar]) -> Impact:
        """See `integrators.MechanicalSystem`."""

    def staged(self, q: Sequence[Scalar], v: Sequence[Scalar]) -> tuple[Sequence[Scalar], Sequence[Scalar]]:
        return self.project(q, v) or (q, v)

    def settled(self, q: Sequence[Scalar], v: Sequence[Scalar]) -> tuple[Sequence[Scalar], Sequence[Scalar]]:
        return self.project(q, v) or (kinematics.normalized(self.mechanism.tree, q), v)


class TracedSystem(_Coordinates):
    """The system while a step is traced: every evaluation calls one dynamics program."""

    def __init__(
        self,
        mechanism: Mechanism,
        dynamics: Program,
        projection: Program | None,
        forcing: Program | None,
        held: Sequence[Scalar],
        jumps: Program | None = None,
        bounds: Sequence[Bound] = (),
    ):
        super().__init__(mechanism, bounds)
        self.program, self.projection, self.forcing, self.held = dynamics, projection, forcing, held
        self.jumps = jumps

    def project(self, q: Sequence[Scalar], v: Sequence[Scalar]) -> tuple[list[Scalar], list[Scalar]] | None:
        if self.projection is None:
            return None
        outputs = call(self.projection, q, v)
        return outputs["q"], outputs["v"]

    def dynamics(self, t: Scalar, h: Scalar, q: Sequence[Scalar], v: Sequence[Scalar]) -> tuple[list[Scalar], Scalar]:
        outputs = call(self.program, h, q, v, self._efforts(t, q, v))
        return outputs["acceleration"], outputs["power"]

    def jump(self, t: Scalar, h: Scalar, q: Sequence[Scalar], v: Sequence[Scalar]) -> Impact:
        assert self.jumps is not None
        outputs = call(self.jumps, h, q, v, self._efforts(t, q, v))
        return Impact(*(outputs[name] for name in Impact._fields))

    def _efforts(self, t: Scalar, q: Sequence[Scalar], v: Sequence[Scalar]) -> Any:
        return self.held if self.forcing is None else call(self.forcing, t, q, v, self.held)


class CalledSystem(_Coordinates):
    """The system on floats, with efforts from Python functions."""

    def __init__(
        self,
        mechanism: Mechanism,
        dynamics: Kernel,
        projection: Kernel | None,
        actuation: Actuation,
        held: np.ndarray,
        jumps: Kernel | None = None,
        bounds: Sequence[Bound] = (),
    ):
        super().__init__(mechanism, bounds)
        self.jumps = jumps
        self.kernel, self.projection, self.actuation, self.held = dynamics, projection, actuation, held
        self._last: tuple[float, bytes, np.ndarray] | None = None

    def project(self, q: Sequence[Scalar], v: Sequence[Scalar]) -> tuple[list[Scalar], list[Scalar]] | None:
        if self.projection is None:
            return None
        closed_q, closed_v = self.projection(np.array(q, dtype=float), np.array(v, dtype=float))
        return closed_q.tolist(), closed_v.tolist()

    def efforts(self, t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """u at a state; functions are not called twice in a row for the same state, as they may count their calls."""
        state = q.tobytes() + v.tobytes() + self.held.tobytes()
        if self._last is None or self._last[:2] != (t, state):
            self._last = (t, state, self.actuation.staged(t, q, v, self.held))
        return self._last[2]

    def dynamics(self, t: Scalar, h: Scalar, q: Sequence[Scalar], v: Sequence[Scalar]) -> tuple[list[Scalar], Scalar]:
        coordinates, velocities = np.array(q, dtype=float), np.array(v, dtype=float)
        acceleration, power, *_ = self.kernel(h, coordinates, velocities, self.efforts(float(t), coordinates, velocities))
        return acceleration.tolist(), float(power)

    def jump(self, t: Scalar, h: Scalar, q: Sequence[Scalar], v: Sequence[Scalar]) -> Impact:
        assert self.jumps is not None
        coordinates, velocities = np.array(q, dtype=float), np.array(v, dtype=float)
        arrays = self.jumps(h, coordinates, velocities, self.efforts(float(t), coordinates, velocities))
        found = dict(zip((spec.name for spec in self.jumps.outputs), arrays, strict=True))
        return Impact(*(found[name].tolist() for name in Impact._fields))


def step_program(
    mechanism: Mechanism,
    integrator: Integrator,
    dynamics: Program,
    projection: Program | None,
    forcing: Program | None,
    jumps: Program | None = None,
    bounds: Sequence[Bound] = (),
) -> Program:
    """(t, h, q, v, work, u) → q, v, work after one step, and its error estimate. `forcing` computes u at every stage."""

    def step(t: Scalar, h: Scalar, q: Any, v: Any, work: Scalar, u: Any) -> dict[str, Any]:
        system = TracedSystem(mechanism, dynamics, projection, forcing, u, jumps, bounds)
        after, error = integrator.step(system, t, h, IntegratorState(list(q), list(v), work))
        return {"q": after.q, "v": after.v, "work": after.work, "error": error}

    u_size = next(array.size for array in dynamics.inputs if array.name == "u")
    inputs: dict[str, int | tuple[int, ...]] = {"t": (), "h": (), "q": mechanism.nq, "v": mechanism.nv, "work": (), "u": u_size}
    return trace(step, inputs, f"{integrator.name}_{mechanism.name}")


def observables_program(mechanism: Mechanism) -> Program:
    """(q, v) → the reported quantities: energies, center of mass, momentum."""
    tree = mechanism.tree

    def observables(q: Any, v: Any) -> dict[str, Any]:
        return {
            "kinetic": kinetic_energy(tree, q, v),
            "potential": potential_energy(tree, q, mechanism.gravity),
            "center_of_mass": center_of_mass(tree, q),
            "momentum": momentum(tree, q, v),
        }

    return trace(observables, {"q": mechanism.nq, "v": mechanism.nv}, f"observables_{mechanism.name}")
