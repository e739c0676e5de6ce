"""The equations of motion of a driven mechanism, traced into a step or called from Python."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ... import kinematics
from ...compile import Kernel
from ...model import Mechanism
from ...scalar import Program, Scalar, call, trace, when
from ..integrators import Begun, Impact, Integrator, IntegratorState
from .actuation import Actuation
from .equations import power_program
from .forcing import Forcing

__all__ = ["CalledSystem", "Jumps", "TracedSystem", "step_program"]


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

    #: Whether a step begins by closing loops, and projects only where that is not enough.
    closes: bool

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

    def begin(self, t: Scalar, h: Scalar, q: Sequence[Scalar], v: Sequence[Scalar]) -> Begun:
        closing = self.closing(t, h, q, v)
        if closing is None:
            acceleration, power = self.dynamics(t, h, q, v)
            return Begun(q, v, [0.0] * len(v), acceleration, power, 1.0)

        def projected_first() -> Begun:
            near_q, near_v = self._closed(*self._closed(q, v))
            again = self.closing(t, h, near_q, near_v)
            assert again is not None
            return self._begun(near_q, near_v, again, 1.0)

        return when(closing["astray"] > 0.5, projected_first, self._begun(q, v, closing, 0.0))

    def _begun(self, q: Sequence[Scalar], v: Sequence[Scalar], closing: dict[str, Any], projected: Scalar) -> Begun:
        changed = [rate + more for rate, more in zip(v, closing["change"], strict=True)]
        return Begun(list(q), changed, list(closing["move"]), list(closing["acceleration"]), closing["power"], projected)

    @abstractmethod
    def dynamics(self, t: Scalar, h: Scalar, q: Sequence[Scalar], v: Sequence[Scalar]) -> tuple[list[Scalar], Scalar]:
        """See `integrators.MechanicalSystem`."""

    @abstractmethod
    def closing(self, t: Scalar, h: Scalar, q: Sequence[Scalar], v: Sequence[Scalar]) -> dict[str, Any] | None:
        """The outputs of `closing_program`; None if loops are closed in another way, or there are none."""

    @abstractmethod
    def project(self, q: Sequence[Scalar], v: Sequence[Scalar]) -> tuple[list[Scalar], list[Scalar]] | None:
        """q and v with the loops closed; None if there is nothing to close."""

    @abstractmethod
    def power(self, t: Scalar, q: Sequence[Scalar], v: Sequence[Scalar], moving: Sequence[Scalar]) -> Scalar:
        """See `integrators.MechanicalSystem`."""

    @abstractmethod
    def impact(self, h: Scalar, q: Sequence[Scalar], v: Sequence[Scalar], v_free: Sequence[Scalar]) -> Impact:
        """See `integrators.MechanicalSystem`."""

    def staged(self, q: Sequence[Scalar], v: Sequence[Scalar], begun: Begun) -> tuple[Sequence[Scalar], Sequence[Scalar]]:
        if not self.closes:
            return self.project(q, v) or (q, v)
        return when(begun.projected > 0.5, lambda: self._closed(q, v), (list(q), list(v)))

    def _closed(self, q: Sequence[Scalar], v: Sequence[Scalar]) -> tuple[list[Scalar], list[Scalar]]:
        """q and v with the loops closed, or unchanged if nothing closes them."""
        closed_q, closed_v = self.project(q, v) or (q, v)
        return list(closed_q), list(closed_v)

    def settled(self, q: Sequence[Scalar], v: Sequence[Scalar]) -> tuple[Sequence[Scalar], Sequence[Scalar]]:
        closed = None if self.closes else self.project(q, v)
        return closed or (kinematics.normalized(self.mechanism.tree, q), v)


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
        closing: Program | None = None,
        row: slice = slice(0, 0),
    ):
        """The system; `row`: where the parameters stand in what is `held`."""
        super().__init__(mechanism)
        self.program, self.projection, self.forcing, self.held = dynamics, projection, forcing, held
        self.jumps, self.closing_program, self.closes = jumps, closing, closing is not None
        self._start, self._row = row.start, [held[row]] if row.stop > row.start else []

    def closing(self, t: Scalar, h: Scalar, q: Sequence[Scalar], v: Sequence[Scalar]) -> dict[str, Any] | None:
        if self.closing_program is None:
            return None
        outputs: dict[str, Any] = call(self.closing_program, h, q, v, self._efforts(t, q, v))
        return outputs

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
        closing: Kernel | None = None,
    ):
        super().__init__(mechanism)
        self.closing_kernel, self.closes = closing, closing is not None
        self.impacts = None if jumps is None else Kernel(jumps.impacts)
        self.applied_power = None if jumps is None else Kernel(jumps.power)
        self.kernel, self.projection, self.actuation, self.held = dynamics, projection, actuation, held
        self._last: tuple[float, bytes, np.ndarray] | None = None

    def project(self, q: Sequence[Scalar], v: Sequence[Scalar]) -> tuple[list[Scalar], list[Scalar]] | None:
        if self.projection is None:
            return None
        closed_q, closed_v = self.projection(np.array(q, dtype=float), np.array(v, dtype=float), *self._row)
        return closed_q.tolist(), closed_v.tolist()

    def closing(self, t: Scalar, h: Scalar, q: Sequence[Scalar], v: Sequence[Scalar]) -> dict[str, Any] | None:
        if self.closing_kernel is None:
            return None
        coordinates, velocities = np.array(q, dtype=float), np.array(v, dtype=float)
        arrays = self.closing_kernel(h, coordinates, velocities, self.efforts(float(t), coordinates, velocities))
        return {spec.name: array.tolist() for spec, array in zip(self.closing_kernel.outputs, arrays, strict=True)}

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
    closing: Program | None = None,
    row: slice = slice(0, 0),
) -> Program:
    """(t, h, q, v, work, u) → q, v, work after one step, and its error estimate. `forcing` computes u at every stage."""

    def step(t: Scalar, h: Scalar, q: Any, v: Any, work: Scalar, u: Any) -> dict[str, Any]:
        system = TracedSystem(mechanism, dynamics, projection, forcing, u, jumps, closing, row)
        after, error = integrator.step(system, t, h, IntegratorState(list(q), list(v), work))
        return {"q": after.q, "v": after.v, "work": after.work, "error": error}

    u_size = next(array.size for array in dynamics.inputs if array.name == "u")
    inputs: dict[str, int | tuple[int, ...]] = {"t": (), "h": (), "q": mechanism.nq, "v": mechanism.nv, "work": (), "u": u_size}
    return trace(step, inputs, f"{integrator.name}_{mechanism.name}")
