"""The equations of motion of a driven mechanism, traced into a step or called from Python."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import kinematics
from ..analysis import kinetic_energy, momentum, potential_energy
from ..compile import Kernel
from ..dynamics import Wrenches, aba, passive_force
from ..kinematics import center_of_mass, link_twists
from ..model import Mechanism
from ..scalar import Program, call, trace
from .forcing import Forcing
from .integrators import Integrator, State

__all__ = ["CalledSystem", "TracedSystem", "dynamics_program", "observables_program", "step_program"]

Scalar = Any


def dynamics_program(mechanism: Mechanism, places: Sequence[str], *, implicit_damping: bool) -> Program:
    """(h, q, v, u) → v̇ and the power of all that is applied, u being the efforts of a `Forcing`."""
    tree = mechanism.lean_tree

    def dynamics(h: Scalar, q: Any, v: Any, u: Any) -> dict[str, Any]:
        tau = u[: mechanism.nv]
        applied = {name: list(u[mechanism.nv + 6 * k : mechanism.nv + 6 * k + 6]) for k, name in enumerate(places)}
        acceleration = aba(
            tree,
            q,
            v,
            tau,
            gravity=mechanism.gravity,
            wrenches=Wrenches(tree, applied) if places else None,
            implicit_step=h if implicit_damping else 0.0,
        )
        return {"acceleration": acceleration, "power": _power(mechanism, q, v, tau, applied)}

    u_size = mechanism.nv + 6 * len(places)
    inputs: dict[str, int | tuple[int, ...]] = {"h": (), "q": mechanism.nq, "v": mechanism.nv, "u": u_size}
    return trace(dynamics, inputs, f"dynamics_{mechanism.name}")


def _power(mechanism: Mechanism, q: Any, v: Any, tau: Any, applied: dict[str, list[Scalar]]) -> Scalar:
    """What drives, joint damping and wrenches put in, per time [W]; gravity is in the potential energy instead."""
    tree = mechanism.tree
    total: Scalar = 0.0
    for link in tree.links:
        rates = link.velocities(v)
        for force, lost, rate in zip(link.velocities(tau), passive_force(link, rates), rates, strict=True):
            total = total + (force - lost) * rate
    if applied:
        poses, twists = kinematics.link_poses(tree, q), link_twists(tree, q, v)
        for name, wrench in applied.items():
            R = kinematics.place_pose(tree, poses, tree.places[name]).rotation
            twist = kinematics.place_twist(tree, twists, tree.places[name])
            in_world = [*R.rotate(twist.angular), *R.rotate(twist.linear)]
            total = total + sum((a * b for a, b in zip(in_world, wrench, strict=True)), 0.0)
    return total


class _Coordinates:
    """How coordinates move: the same in both systems."""

    def __init__(self, mechanism: Mechanism):
        self.mechanism = mechanism

    def rate(self, q: Sequence[Scalar], v: Sequence[Scalar]) -> list[Scalar]:
        return kinematics.rate(self.mechanism.tree, q, v)

    def integrate(self, q: Sequence[Scalar], dv: Sequence[Scalar]) -> list[Scalar]:
        return kinematics.integrate(self.mechanism.tree, q, dv)

    def normalized(self, q: Sequence[Scalar]) -> list[Scalar]:
        return kinematics.normalized(self.mechanism.tree, q)


class TracedSystem(_Coordinates):
    """The system while a step is traced: every evaluation is a call of one dynamics program."""

    def __init__(self, mechanism: Mechanism, dynamics: Program, forcing: Program | None, held: Sequence[Scalar]):
        super().__init__(mechanism)
        self.program, self.forcing, self.held = dynamics, forcing, held

    def dynamics(self, t: Scalar, h: Scalar, q: Sequence[Scalar], v: Sequence[Scalar]) -> tuple[list[Scalar], Scalar]:
        u = self.held if self.forcing is None else call(self.forcing, t, q, v)
        outputs = call(self.program, h, q, v, u)
        return outputs["acceleration"], outputs["power"]


class CalledSystem(_Coordinates):
    """The system on floats, with efforts from Python functions."""

    def __init__(self, mechanism: Mechanism, dynamics: Program, forcing: Forcing):
        super().__init__(mechanism)
        self.kernel, self.forcing = Kernel(dynamics), forcing
        self._last: tuple[float, bytes, np.ndarray] | None = None

    def efforts(self, t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """u at a state; the functions are not called twice for one state in a row, as they may count their calls."""
        state = q.tobytes() + v.tobytes()
        if self._last is None or self._last[:2] != (t, state):
            self._last = (t, state, self.forcing(t, q, v))
        return self._last[2]

    def dynamics(self, t: Scalar, h: Scalar, q: Sequence[Scalar], v: Sequence[Scalar]) -> tuple[list[Scalar], Scalar]:
        coordinates, velocities = np.array(q, dtype=float), np.array(v, dtype=float)
        acceleration, power = self.kernel(h, coordinates, velocities, self.efforts(t, coordinates, velocities))
        return acceleration.tolist(), float(power)


def step_program(mechanism: Mechanism, integrator: Integrator, dynamics: Program, forcing: Program | None) -> Program:
    """(t, h, q, v, work, u) → q, v, work after one step, and its error estimate. `u` is held if no `forcing` is compiled in."""

    def step(t: Scalar, h: Scalar, q: Any, v: Any, work: Scalar, u: Any) -> dict[str, Any]:
        system = TracedSystem(mechanism, dynamics, forcing, u)
        after, error = integrator.step(system, t, h, State(list(q), list(v), work))
        return {"q": after.q, "v": after.v, "work": after.work, "error": error}

    u_size = next(array.size for array in dynamics.inputs if array.name == "u")
    inputs: dict[str, int | tuple[int, ...]] = {"t": (), "h": (), "q": mechanism.nq, "v": mechanism.nv, "work": (), "u": u_size}
    return trace(step, inputs, f"{integrator.name}_{mechanism.name}")


def observables_program(mechanism: Mechanism) -> Program:
    """(q, v) → what is reported besides the motion: energies, mass centre, momentum."""
    tree = mechanism.tree

    def observables(q: Any, v: Any) -> dict[str, Any]:
        return {
            "kinetic": kinetic_energy(tree, q, v),
            "potential": potential_energy(tree, q, mechanism.gravity),
            "center_of_mass": center_of_mass(tree, q),
            "momentum": momentum(tree, q, v),
        }

    return trace(observables, {"q": mechanism.nq, "v": mechanism.nv}, f"observables_{mechanism.name}")
