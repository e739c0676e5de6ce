"""The equations of motion of a driven mechanism, traced into a step or called from Python."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ... import kinematics
from ...analysis import joint_coordinates, near_limits
from ...compile import Kernel
from ...model import Bound, Mechanism, in_loops, least_gap
from ...scalar import Program, Scalar, call, either, select, trace, when
from ..integrators import Begun, Impact, Integrator, IntegratorState
from .actuation import Actuation
from .forcing import Forcing

#: A joint is beyond a stop if it is so far outside [rad or m]: rounding alone must not count.
BEYOND = 1e-10


class _Coordinates(ABC):
    """The kinematics of the coordinates, shared by both systems.

    Velocities here are v (nv), followed by the states that drives have of their own: integrators treat both alike.
    """

    #: Whether a step begins by closing loops, and projects only where that is not enough.
    closes: bool

    def __init__(self, mechanism: Mechanism, bounds: Sequence[Bound], forcing: Forcing | None = None):
        self.mechanism, self.bounds, self._all, self.nv = mechanism, bounds, forcing, mechanism.nv

    def followed(self, t: Scalar, q: Sequence[Scalar], v: Sequence[Scalar]) -> tuple[list[Scalar], list[Scalar]]:
        q, v = list(q), list(v)
        if self._all is None or not self._all.following:
            return q, v
        for joint, (position, velocity, _) in zip(self._all.following, self.motions(t, q, v), strict=True):
            q[joint.q] = position if joint.positional else q[joint.q]
            v[joint.v] = velocity
        closed_q, closed_v = q, v
        if not self.closes:  # the next step closes the loops otherwise
            closed_q, closed_v = self._closed(q, v)
        return closed_q, closed_v

    @abstractmethod
    def motions(self, t: Scalar, q: Sequence[Scalar], v: Sequence[Scalar]) -> Sequence[list[Scalar]]:
        """Position, velocity and acceleration that are prescribed at a time."""

    def beyond(self, q: Sequence[Scalar]) -> Scalar:
        if not self.bounds:
            return 0.0
        m, bounds = self.mechanism, self.bounds

        def judged(place: Sequence[Scalar]) -> Scalar:
            return select(least_gap(bounds, place) < -BEYOND, 1.0, 0.0)

        if not in_loops(m, bounds):
            return judged(q)
        return when(near_limits(m, bounds, q), lambda: judged(joint_coordinates(m, q)), 0.0)  # type: ignore[no-any-return]

    def rate(self, q: Sequence[Scalar], v: Sequence[Scalar]) -> list[Scalar]:
        return kinematics.rate(self.mechanism.tree, q, v[: self.nv])

    def turning(self, v: Sequence[Scalar]) -> list[Scalar]:
        return [*kinematics.turning(self.mechanism.tree, v[: self.nv]), *([0.0] * (len(v) - self.nv))]

    def carried(self, v: Sequence[Scalar], dv: Sequence[Scalar]) -> list[Scalar]:
        return [*kinematics.carried(self.mechanism.tree, v[: self.nv], dv[: self.nv]), *v[self.nv :]]

    def integrate(self, q: Sequence[Scalar], dv: Sequence[Scalar]) -> list[Scalar]:
        return kinematics.integrate(self.mechanism.tree, q, dv[: self.nv])

    def begin(self, t: Scalar, h: Scalar, q: Sequence[Scalar], v: Sequence[Scalar], ahead: Scalar) -> Begun:
        closing = self.closing(t, h, q, v)
        if closing is None:
            acceleration, power = self.dynamics(t, h, q, v)
            return Begun(q, v, [0.0] * len(v), acceleration, power, 1.0)

        def projected_first() -> Begun:
            near_q, near_v = self._closed(*self._closed(q, v))
            again = self.closing(t, h, near_q, near_v)
            assert again is not None
            return self._begun(near_q, near_v, again, 1.0)

        astray = either(closing["astray"] > 0.5, closing["reach"] < ahead * ahead)
        return when(astray, projected_first, self._begun(q, v, closing, 0.0))

    def _begun(self, q: Sequence[Scalar], v: Sequence[Scalar], closing: dict[str, Any], projected: Scalar) -> Begun:
        still = [0.0] * (len(v) - self.nv)
        changed = [rate + more for rate, more in zip(v, [*closing["change"], *still], strict=True)]
        return Begun(list(q), changed, [*closing["move"], *still], _rates(closing), closing["power"], projected)

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
    def jump(self, t: Scalar, h: Scalar, q: Sequence[Scalar], v: Sequence[Scalar]) -> Impact:
        """See `integrators.MechanicalSystem`."""

    @abstractmethod
    def kick(
        self, t: Scalar, h: Scalar, q: Sequence[Scalar], v: Sequence[Scalar], v_free: Sequence[Scalar], implicit: Scalar,
        closed: Scalar,
    ) -> Impact:  # fmt: skip
        """See `integrators.MechanicalSystem`."""

    def closed(self, q: Sequence[Scalar], v: Sequence[Scalar]) -> tuple[Sequence[Scalar], Sequence[Scalar]]:
        return self._closed(q, v) if self.closes else (q, v)

    def staged(self, q: Sequence[Scalar], v: Sequence[Scalar], begun: Begun) -> tuple[Sequence[Scalar], Sequence[Scalar]]:
        if not self.closes:
            return self._closed(q, v)
        return when(begun.projected > 0.5, lambda: self._closed(q, v), (list(q), list(v)))

    def _closed(self, q: Sequence[Scalar], v: Sequence[Scalar]) -> tuple[list[Scalar], list[Scalar]]:
        """q and v with the loops closed, or unchanged if nothing closes them."""
        closed_q, closed_v = self.project(q, v[: self.nv]) or (q, v[: self.nv])
        return list(closed_q), [*closed_v, *v[self.nv :]]

    def settled(self, q: Sequence[Scalar], v: Sequence[Scalar]) -> tuple[Sequence[Scalar], Sequence[Scalar]]:
        closed = None if self.closes else self.project(q, v[: self.nv])
        after_q, after_v = closed or (kinematics.normalized(self.mechanism.tree, q), v[: self.nv])
        return after_q, [*after_v, *v[self.nv :]]


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
        closing: Program | None = None,
        row: slice = slice(0, 0),
        bounds: Sequence[Bound] = (),
        all_forcing: Forcing | None = None,
        kicks: Program | None = None,
    ):
        """The system.

        Args:
            row: where the parameters stand in what is `held`; bounds: where joints stop; all_forcing: what u consists of.
        """
        super().__init__(mechanism, bounds, all_forcing)
        self.program, self.projection, self.forcing, self.held = dynamics, projection, forcing, held
        self.jumps, self.closing_program, self.closes, self.kicks = jumps, closing, closing is not None, kicks
        self._start, self._row = row.start, [held[row]] if row.stop > row.start else []

    def closing(self, t: Scalar, h: Scalar, q: Sequence[Scalar], v: Sequence[Scalar]) -> dict[str, Any] | None:
        if self.closing_program is None:
            return None
        outputs: dict[str, Any] = call(self.closing_program, h, q, v[: self.nv], self._efforts(t, q, v))
        return outputs

    def project(self, q: Sequence[Scalar], v: Sequence[Scalar]) -> tuple[list[Scalar], list[Scalar]] | None:
        if self.projection is None:
            return None
        outputs = call(self.projection, q, v, *self._row)
        return outputs["q"], outputs["v"]

    def dynamics(self, t: Scalar, h: Scalar, q: Sequence[Scalar], v: Sequence[Scalar]) -> tuple[list[Scalar], Scalar]:
        outputs = call(self.program, h, q, v[: self.nv], self._efforts(t, q, v))
        return _rates(outputs), outputs["power"]

    def jump(self, t: Scalar, h: Scalar, q: Sequence[Scalar], v: Sequence[Scalar]) -> Impact:
        assert self.jumps is not None
        outputs = call(self.jumps, h, q, v[: self.nv], self._efforts(t, q, v))
        return _impact(outputs, h, v[self.nv :])

    def kick(
        self, t: Scalar, h: Scalar, q: Sequence[Scalar], v: Sequence[Scalar], v_free: Sequence[Scalar], implicit: Scalar,
        closed: Scalar,
    ) -> Impact:  # fmt: skip
        if self.kicks is None:
            return _untouched(v_free)
        nv, u = self.nv, self._efforts(t, q, v)
        return _kicked(call(self.kicks, h, q, v[:nv], v_free[:nv], u, implicit, closed), v_free[nv:])

    def motions(self, t: Scalar, q: Sequence[Scalar], v: Sequence[Scalar]) -> Sequence[list[Scalar]]:
        assert self._all is not None
        return self._all.layout.unpack(self._efforts(t, q, v)).motions

    def _efforts(self, t: Scalar, q: Sequence[Scalar], v: Sequence[Scalar]) -> Any:
        held = with_states(self._all, self.held, v[self.nv :])
        if self.forcing is None:
            return held
        found = call(self.forcing, t, q, v[: self.nv], held)
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
        jumps: Kernel | None = None,
        closing: Kernel | None = None,
        bounds: Sequence[Bound] = (),
        kicks: Kernel | None = None,
    ):
        super().__init__(mechanism, bounds, actuation.forcing)
        self.closing_kernel, self.closes, self.jumps, self.kicks = closing, closing is not None, jumps, kicks
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
        arrays = self.closing_kernel(h, *self._state(t, q, v))
        return {spec.name: array.tolist() for spec, array in zip(self.closing_kernel.outputs, arrays, strict=True)}

    def motions(self, t: Scalar, q: Sequence[Scalar], v: Sequence[Scalar]) -> list[list[Scalar]]:
        given = self.actuation.forcing.motions.values()
        return [list(motion.at(float(t))) for motion in given]

    @property
    def _row(self) -> list[np.ndarray]:
        forcing = self.actuation.forcing
        return forcing.layout.row(self.held)

    def efforts(self, t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """u at a state; functions are not called twice in a row for the same state, as they may count their calls."""
        held = with_states(self._all, self.held, v[self.nv :])
        state = q.tobytes() + v.tobytes() + held.tobytes()
        if self._last is None or self._last[:2] != (t, state):
            self._last = (t, state, self.actuation.staged(t, q, v[: self.nv], held))
        return self._last[2]

    def _state(self, t: Scalar, q: Sequence[Scalar], v: Sequence[Scalar]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """q, v and u as arrays."""
        coordinates, velocities = np.array(q, dtype=float), np.array(v, dtype=float)
        return coordinates, velocities[: self.nv], self.efforts(float(t), coordinates, velocities)

    def dynamics(self, t: Scalar, h: Scalar, q: Sequence[Scalar], v: Sequence[Scalar]) -> tuple[list[Scalar], Scalar]:
        arrays = self.kernel(h, *self._state(t, q, v))
        found = {spec.name: array.tolist() for spec, array in zip(self.kernel.outputs, arrays, strict=True)}
        return _rates(found), float(found["power"])

    def jump(self, t: Scalar, h: Scalar, q: Sequence[Scalar], v: Sequence[Scalar]) -> Impact:
        assert self.jumps is not None
        arrays = self.jumps(h, *self._state(t, q, v))
        found = {spec.name: array.tolist() for spec, array in zip(self.jumps.outputs, arrays, strict=True)}
        return _impact(found, h, v[self.nv :])

    def kick(
        self, t: Scalar, h: Scalar, q: Sequence[Scalar], v: Sequence[Scalar], v_free: Sequence[Scalar], implicit: Scalar,
        closed: Scalar,
    ) -> Impact:  # fmt: skip
        if self.kicks is None:
            return _untouched(v_free)
        q_now, v_now, u = self._state(t, q, v)
        arrays = self.kicks(h, q_now, v_now, np.array(v_free[: self.nv], dtype=float), u, implicit, closed)
        found = {spec.name: array.tolist() for spec, array in zip(self.kicks.outputs, arrays, strict=True)}
        return _kicked(found, v_free[self.nv :])


def step_program(
    mechanism: Mechanism,
    integrator: Integrator,
    dynamics: Program,
    projection: Program | None,
    forcing: Program | None,
    jumps: Program | None = None,
    closing: Program | None = None,
    row: slice = slice(0, 0),
    bounds: Sequence[Bound] = (),
    all_forcing: Forcing | None = None,
    kicks: Program | None = None,
) -> Program:
    """(t, h, q, v, work, u) → q, v, work after one step, and its error estimate. `forcing` computes u at every stage.

    Where drives have states of their own, "states" follow the work as inputs, and are the last output.
    """
    own, nv = states_of(all_forcing), mechanism.nv

    def step(t: Scalar, h: Scalar, q: Any, v: Any, work: Scalar, *rest: Any) -> dict[str, Any]:
        *states, u = rest
        system = TracedSystem(mechanism, dynamics, projection, forcing, u, jumps, closing, row, bounds, all_forcing, kicks)
        after, error = integrator.step(
            system, t, h, IntegratorState(list(q), [*v, *(x for part in states for x in part)], work)
        )
        found = {"q": after.q, "v": after.v[:nv], "work": after.work, "error": error}
        return found | ({"states": after.v[nv:]} if own else {})

    u_size = next(array.size for array in dynamics.inputs if array.name == "u")
    inputs: dict[str, int | tuple[int, ...]] = {"t": (), "h": (), "q": mechanism.nq, "v": nv, "work": (), **own, "u": u_size}
    return trace(step, inputs, f"{integrator.name}_{mechanism.name}")


def states_of(forcing: Forcing | None) -> dict[str, int | tuple[int, ...]]:
    """The size of the drives' own states as the input "states" of programs; nothing where there are none."""
    size = 0 if forcing is None else forcing.layout.states
    return {"states": size} if size else {}


def with_states(forcing: Forcing | None, u: Any, states: Any) -> Any:
    """The efforts u with these states of drives in their places."""
    if forcing is None or not len(states):
        return u
    own = forcing.layout.at("states")
    if isinstance(u, np.ndarray):
        found = u.copy()
        found[own] = states
        return found
    return [*u[: own.start], *states, *u[own.stop :]]


def _rates(found: Mapping[str, Any]) -> list[Scalar]:
    """v̇, followed by the rates of the drives' own states."""
    return [*found["acceleration"], *found.get("states", ())]


def _untouched(v: Sequence[Scalar]) -> Impact:
    """Nothing that touches."""
    return Impact(v, 0.0, 0.0, 0.0, 0.0, 0.0, v)


def _kicked(found: Mapping[str, Any], states: Sequence[Scalar]) -> Impact:
    """The effect of contact alone, with the drives' own states behind the velocities."""
    v = [*found["v"], *states]
    return Impact(v, found["work"], found["touching"], found["missed"], found["unsolved"], 0.0, v)


def _impact(found: Mapping[str, Any], h: Scalar, states: Sequence[Scalar]) -> Impact:
    """The effect of contact, with the drives' own states after the step behind the velocities."""
    after = [state + h * rate for state, rate in zip(states, found.get("states", ()), strict=True)]
    along = [*found.get("along", found["v"]), *after]
    judged = {name: found[name] for name in Impact._fields if name not in ("v", "along")}
    return Impact(v=[*found["v"], *after], along=along, **judged)
