"""The equations of motion of a driven mechanism, traced into a step or called from Python."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ... import kinematics
from ...analysis import kinetic_energy, momentum, potential_energy
from ...compile import Kernel
from ...dynamics import Acting, Wrenches, aba_with_loops, chord_closings, passive_force, projected
from ...dynamics.wrenches import Applied, LinkForces
from ...kinematics import center_of_mass, link_twists
from ...model import Mechanism, check_resistance
from ...scalar import Program, Scalar, call, trace
from ..integrators import Impact, Integrator, IntegratorState
from ..parameters import Variation, VariedPlant
from .actuation import Actuation
from .forcing import Forcing

if TYPE_CHECKING:
    from ...contact.forces import ContactForces
    from ...contact.held.motion import HeldDynamics

__all__ = [
    "NO_STEP",
    "CalledSystem",
    "Jumps",
    "TracedSystem",
    "dynamics_program",
    "observables_program",
    "projection_program",
    "row_of",
    "step_program",
]

#: A step [s] in which nothing moves; not zero, as implicit forces along the degrees of freedom of loops are divided by it.
NO_STEP = 1e-30


def dynamics_program(
    mechanism: Mechanism,
    forcing: Forcing,
    *,
    implicit_damping: bool,
    baumgarte: float = 0.0,
    held: HeldDynamics | None = None,
    pressing: ContactForces | None = None,
) -> Program:
    """(h, q, v, u) → v̇ and the power of all applied efforts, u being the efforts of the `forcing`.

    `baumgarte`: the rate [1/s] at which the loops' errors decay; `held`: points held on surfaces; `pressing`: if
    no points are held, contact forces.
    """
    check_resistance(mechanism)

    def dynamics(h: Scalar, q: Any, v: Any, u: Any) -> dict[str, Any]:
        seen, touching = _seen(mechanism, forcing, u)
        tree = seen.base_parameter_tree
        tau, applied, loop_tau = _parts(mechanism, forcing, u)
        wrenches: Applied | None = Wrenches(tree, applied) if applied else None
        power = _power(seen, q, v, tau, applied, loop_tau)
        if pressing is not None:
            pressed = pressing.at(q, v, touching)
            wrenches = LinkForces(pressed.by_link, wrenches)
            power = power + pressed.power
        acting = Acting(seen.gravity, wrenches, loop_tau, h if implicit_damping else 0.0, baumgarte)
        if held is None:
            return {"acceleration": aba_with_loops(tree, q, v, tau, acting), "power": power}
        acceleration, lost = held.accelerations(tree, q, v, tau, acting)
        return {"acceleration": acceleration, "power": power + lost}

    inputs: dict[str, int | tuple[int, ...]] = {"h": (), "q": mechanism.nq, "v": mechanism.nv, "u": forcing.size}
    return trace(dynamics, inputs, f"dynamics_{mechanism.name}")


def power_program(mechanism: Mechanism, forcing: Forcing) -> Program:
    """(q, v, u) → the power of all applied efforts, u being the efforts of the `forcing`."""

    def power(q: Any, v: Any, u: Any) -> dict[str, Any]:
        return {"power": _power(_seen(mechanism, forcing, u)[0], q, v, *_parts(mechanism, forcing, u))}

    inputs: dict[str, int | tuple[int, ...]] = {"q": mechanism.nq, "v": mechanism.nv, "u": forcing.size}
    return trace(power, inputs, f"power_{mechanism.name}")


def projection_program(mechanism: Mechanism, held: HeldDynamics | None = None, parameters: Variation | None = None) -> Program:
    """(q, v, row of parameters if there are any) → q and v with the loops closed and held points on their surfaces."""

    def projection(q: Any, v: Any, *row: Any) -> dict[str, Any]:
        tree = (parameters.at(row[0]).mechanism if parameters else mechanism).base_parameter_tree
        closed_q, closed_v = projected(tree, q, v) if held is None else held.projected(tree, q, v)
        return {"q": kinematics.normalized(tree, closed_q), "v": closed_v}

    return trace(projection, {**_state(mechanism), **row_of(parameters)}, f"projection_{mechanism.name}")


def row_of(parameters: Variation | None) -> dict[str, int | tuple[int, ...]]:
    """The size of a row of parameters, as an input of a program; nothing without any."""
    return {"parameters": parameters.size} if parameters else {}


def _state(mechanism: Mechanism) -> dict[str, int | tuple[int, ...]]:
    return {"q": mechanism.nq, "v": mechanism.nv}


def _seen(mechanism: Mechanism, forcing: Forcing, u: Any) -> tuple[Mechanism, VariedPlant | None]:
    """The mechanism with the parameters in u, and what else they change."""
    if forcing.parameters is None:
        return mechanism, None
    varied = forcing.parameters.at(u[forcing.row])
    return varied.mechanism, varied


def _parts(mechanism: Mechanism, forcing: Forcing, u: Any) -> tuple[Any, dict[str, list[Scalar]], dict[str, list[Scalar]]]:
    """The parts of the efforts u: tau (nv), the wrenches by place, and the forces of drives in loop joints by name."""
    tau, efforts = (
        u[: mechanism.nv],
        iter(u[mechanism.nv : forcing.row.start]),
    )  # long chains index tau inside loops of the program
    applied = {name: list(islice(efforts, 6)) for name in forcing.places}
    return tau, applied, {name: list(islice(efforts, nv)) for name, nv in forcing.drives.items()}


def _power(
    mechanism: Mechanism,
    q: Any,
    v: Any,
    tau: Any,
    applied: dict[str, list[Scalar]],
    loop_tau: dict[str, list[Scalar]],
) -> Scalar:
    """The power of drives, joint damping and wrenches [W]; gravity and springs are in the potential energy instead."""
    tree = mechanism.tree
    total: Scalar = 0.0
    for link in tree.links:
        rates = link.velocities(v)
        for force, lost, rate in zip(link.velocities(tau), passive_force(link, rates), rates, strict=True):
            total = total + (force - lost) * rate
    for chord, closing in zip(tree.chords, chord_closings(tree, q, v), strict=True):
        efforts = loop_tau.get(chord.name, (0.0,) * len(closing.rates))
        for force, lost, rate in zip(efforts, passive_force(chord, closing.rates), closing.rates, strict=True):
            total = total + (force - lost) * rate
    if applied:
        poses, twists = kinematics.link_poses(tree, q), link_twists(tree, q, v)
        for name, wrench in applied.items():
            R = kinematics.place_pose(tree, poses, tree.places[name]).rotation
            twist = kinematics.place_twist(tree, twists, tree.places[name])
            in_world = [*R.rotate(twist.angular), *R.rotate(twist.linear)]
            total = total + sum((a * b for a, b in zip(in_world, wrench, strict=True)), 0.0)
    return total


class Jumps(NamedTuple):
    """What steps with velocity jumps need: the `impacts` of contact, and the power of the applied efforts."""

    impacts: Program
    power: Program

    @classmethod
    def of(cls, impacts: Program, mechanism: Mechanism, forcing: Forcing) -> Jumps:
        """The jumps with the power of a `forcing`."""
        return cls(impacts, power_program(mechanism, forcing))


class _Coordinates(ABC):
    """The kinematics of the coordinates, shared by both systems."""

    def __init__(self, mechanism: Mechanism):
        self.mechanism = mechanism

    def rate(self, q: Sequence[Scalar], v: Sequence[Scalar]) -> list[Scalar]:
        return kinematics.rate(self.mechanism.tree, q, v)

    def turning(self, v: Sequence[Scalar]) -> list[Scalar]:
        return kinematics.turning(self.mechanism.tree, v)

    def carried(self, v: Sequence[Scalar], dv: Sequence[Scalar]) -> list[Scalar]:
        return kinematics.carried(self.mechanism.tree, v, dv)

    def integrate(self, q: Sequence[Scalar], dv: Sequence[Scalar]) -> list[Scalar]:
        return kinematics.integrate(self.mechanism.tree, q, dv)

    @abstractmethod
    def project(self, q: Sequence[Scalar], v: Sequence[Scalar]) -> tuple[list[Scalar], list[Scalar]] | None:
        """q and v with the loops closed; None if there is nothing to close."""

    @abstractmethod
    def power(self, t: Scalar, q: Sequence[Scalar], v: Sequence[Scalar], moving: Sequence[Scalar]) -> Scalar:
        """See `integrators.MechanicalSystem`."""

    @abstractmethod
    def impact(self, h: Scalar, q: Sequence[Scalar], v: Sequence[Scalar], v_free: Sequence[Scalar]) -> Impact:
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
        jumps: Jumps | None = None,
        row: slice = slice(0, 0),
    ):
        """The system; `row`: where the parameters stand in what is `held`."""
        super().__init__(mechanism)
        self.program, self.projection, self.forcing, self.held = dynamics, projection, forcing, held
        self.jumps, self._start = jumps, row.start
        self._row = [held[row]] if row.stop > row.start else []

    def project(self, q: Sequence[Scalar], v: Sequence[Scalar]) -> tuple[list[Scalar], list[Scalar]] | None:
        if self.projection is None:
            return None
        outputs = call(self.projection, q, v, *self._row)
        return outputs["q"], outputs["v"]

    def dynamics(self, t: Scalar, h: Scalar, q: Sequence[Scalar], v: Sequence[Scalar]) -> tuple[list[Scalar], Scalar]:
        outputs = call(self.program, h, q, v, self._efforts(t, q, v))
        return outputs["acceleration"], outputs["power"]

    def impact(self, h: Scalar, q: Sequence[Scalar], v: Sequence[Scalar], v_free: Sequence[Scalar]) -> Impact:
        assert self.jumps is not None
        outputs = call(self.jumps.impacts, h, q, v, v_free, *self._row)
        return Impact(*(outputs[name] for name in Impact._fields))

    def power(self, t: Scalar, q: Sequence[Scalar], v: Sequence[Scalar], moving: Sequence[Scalar]) -> Scalar:
        assert self.jumps is not None
        return call(self.jumps.power, q, moving, self._efforts(t, q, v))

    def _efforts(self, t: Scalar, q: Sequence[Scalar], v: Sequence[Scalar]) -> Any:
        if self.forcing is None:
            return self.held
        found = call(self.forcing, t, q, v, self.held)
        # parameters do not pass through the functions, so that the compiler sees that they stay
        return [*found[: self._start], *self._row[0]] if self._row else found


class CalledSystem(_Coordinates):
    """The system on floats, with efforts from Python functions."""

    def __init__(
        self,
        mechanism: Mechanism,
        dynamics: Kernel,
        projection: Kernel | None,
        actuation: Actuation,
        held: np.ndarray,
        jumps: Jumps | None = None,
    ):
        super().__init__(mechanism)
        self.impacts = None if jumps is None else Kernel(jumps.impacts)
        self.applied_power = None if jumps is None else Kernel(jumps.power)
        self.kernel, self.projection, self.actuation, self.held = dynamics, projection, actuation, held
        self._last: tuple[float, bytes, np.ndarray] | None = None

    def project(self, q: Sequence[Scalar], v: Sequence[Scalar]) -> tuple[list[Scalar], list[Scalar]] | None:
        if self.projection is None:
            return None
        closed_q, closed_v = self.projection(np.array(q, dtype=float), np.array(v, dtype=float), *self._row)
        return closed_q.tolist(), closed_v.tolist()

    @property
    def _row(self) -> list[np.ndarray]:
        forcing = self.actuation.forcing
        return [self.held[forcing.row]] if forcing.parameters else []

    def efforts(self, t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """u at a state; functions are not called twice in a row for the same state, as they may count their calls."""
        state = q.tobytes() + v.tobytes() + self.held.tobytes()
        if self._last is None or self._last[:2] != (t, state):
            self._last = (t, state, self.actuation.staged(t, q, v, self.held))
        return self._last[2]

    def dynamics(self, t: Scalar, h: Scalar, q: Sequence[Scalar], v: Sequence[Scalar]) -> tuple[list[Scalar], Scalar]:
        coordinates, velocities = np.array(q, dtype=float), np.array(v, dtype=float)
        acceleration, power = self.kernel(h, coordinates, velocities, self.efforts(float(t), coordinates, velocities))
        return acceleration.tolist(), float(power)

    def impact(self, h: Scalar, q: Sequence[Scalar], v: Sequence[Scalar], v_free: Sequence[Scalar]) -> Impact:
        assert self.impacts is not None
        arrays = self.impacts(h, *(np.array(part, dtype=float) for part in (q, v, v_free)), *self._row)
        found = dict(zip((spec.name for spec in self.impacts.outputs), arrays, strict=True))
        return Impact(*(found[name].tolist() for name in Impact._fields))

    def power(self, t: Scalar, q: Sequence[Scalar], v: Sequence[Scalar], moving: Sequence[Scalar]) -> Scalar:
        assert self.applied_power is not None
        coordinates, velocities, along = (np.array(part, dtype=float) for part in (q, v, moving))
        return float(self.applied_power(coordinates, along, self.efforts(float(t), coordinates, velocities)))


def step_program(
    mechanism: Mechanism,
    integrator: Integrator,
    dynamics: Program,
    projection: Program | None,
    forcing: Program | None,
    jumps: Jumps | None = None,
    row: slice = slice(0, 0),
) -> Program:
    """(t, h, q, v, work, u) → q, v, work after one step, and its error estimate. `forcing` computes u at every stage."""

    def step(t: Scalar, h: Scalar, q: Any, v: Any, work: Scalar, u: Any) -> dict[str, Any]:
        system = TracedSystem(mechanism, dynamics, projection, forcing, u, jumps, row)
        after, error = integrator.step(system, t, h, IntegratorState(list(q), list(v), work))
        return {"q": after.q, "v": after.v, "work": after.work, "error": error}

    u_size = next(array.size for array in dynamics.inputs if array.name == "u")
    inputs: dict[str, int | tuple[int, ...]] = {"t": (), "h": (), "q": mechanism.nq, "v": mechanism.nv, "work": (), "u": u_size}
    return trace(step, inputs, f"{integrator.name}_{mechanism.name}")


def observables_program(mechanism: Mechanism, parameters: Variation | None = None) -> Program:
    """(q, v, row of parameters if there are any) → the reported quantities: energies, center of mass, momentum."""

    def observables(q: Any, v: Any, *row: Any) -> dict[str, Any]:
        seen = parameters.at(row[0]).mechanism if parameters else mechanism
        tree = seen.tree
        return {
            "kinetic": kinetic_energy(tree, q, v),
            "potential": potential_energy(tree, q, seen.gravity),
            "center_of_mass": center_of_mass(tree, q),
            "momentum": momentum(tree, q, v),
        }

    return trace(observables, {**_state(mechanism), **row_of(parameters)}, f"observables_{mechanism.name}")
