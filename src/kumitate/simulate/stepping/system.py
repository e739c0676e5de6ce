"""The equations of motion of a driven mechanism, as integrators see them: traced into a step, or called from Python."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ... import kinematics
from ...analysis import joint_coordinates, near_limits
from ...model import Bound, in_loops, least_gap
from ...scalar import Hole, Program, Scalar, call, either, select, trace, when
from ..driving.actuation import Actuation
from ..driving.forcing import Forcing
from ..integrators import Begun, Impact, Integrator, IntegratorState
from .jumps import pushes_of

#: A joint is beyond a stop if it is so far outside [rad or m]: rounding alone must not count.
BEYOND = 1e-10


class StepParts(NamedTuple):
    """What the steps of an integrator evaluate: programs, or kernels of these, of (h, q, v, u) unless it says otherwise.

    Attributes:
        dynamics: v̇ and the power of all efforts, h being 0 where nothing is implicit.
        projection: (q, v, row of parameters if there are any) → q, v with the loops closed; None if nothing closes them so.
        jumps: the velocities after a step with impulses of contact and stops, and that contact; None without.
        closing: v̇, power, and what closes the loops where a step begins; None where it ends by projection, or without loops.
        kicks: the impulses of contact alone, for an integrator that takes them so; None without.
    """

    dynamics: Any
    projection: Any = None
    jumps: Any = None
    closing: Any = None
    kicks: Any = None


class DrivenSystem(ABC):
    """A `MechanicalSystem` of some parts.

    Velocities here are v (nv), followed by the states that drives have of their own: integrators treat both alike.
    """

    jumped: Mapping[str, Any]  # what the last of `jumps` gave

    def __init__(self, forcing: Forcing, parts: StepParts, bounds: Sequence[Bound], held: Any):
        """The system with what is `held` over a step, in the places of u that functions leave."""
        self.forcing, self.parts, self.bounds, self.held = forcing, parts, bounds, held
        self.mechanism, self.nv = forcing.mechanism, forcing.mechanism.nv
        #: whether a step begins by closing loops, and projects only where that is not enough
        self.closes = parts.closing is not None

    @abstractmethod
    def called(self, part: Any, *given: Any) -> dict[str, Any]:
        """The outputs of a part by name."""

    @abstractmethod
    def efforts(self, t: Scalar, q: Sequence[Scalar], v: Sequence[Scalar]) -> Any:
        """u with the values of all functions."""

    def _at(self, part: Any, t: Scalar, h: Scalar, q: Sequence[Scalar], v: Sequence[Scalar]) -> dict[str, Any]:
        return self.called(part, h, q, v[: self.nv], self.efforts(t, q, v))

    # --- efforts and contact ----------------------------------------------------------------------------------------------
    def dynamics(self, t: Scalar, h: Scalar, q: Sequence[Scalar], v: Sequence[Scalar]) -> tuple[list[Scalar], Scalar]:
        found = self._at(self.parts.dynamics, t, h, q, v)
        return _rates(found), found["power"]

    def jump(self, t: Scalar, h: Scalar, q: Sequence[Scalar], v: Sequence[Scalar]) -> Impact:
        self.jumped = found = self._at(self.parts.jumps, t, h, q, v)
        states = [state + h * rate for state, rate in zip(v[self.nv :], found.get("states", ()), strict=True)]
        judged = {name: found[name] for name in Impact._fields if name not in ("v", "along")}
        return Impact(v=[*found["v"], *states], along=[*found.get("along", found["v"]), *states], **judged)

    def kick(
        self, t: Scalar, h: Scalar, q: Sequence[Scalar], v: Sequence[Scalar], v_free: Sequence[Scalar], implicit: Scalar,
        closed: Scalar,
    ) -> Impact:  # fmt: skip
        if self.parts.kicks is None:
            return Impact(v_free, 0.0, 0.0, 0.0, 0.0, 0.0, v_free)
        nv = self.nv
        found = self.called(self.parts.kicks, h, q, v[:nv], v_free[:nv], self.efforts(t, q, v), implicit, closed)
        after = [*found["v"], *v_free[nv:]]
        return Impact(after, found["work"], found["touching"], found["missed"], found["unsolved"], 0.0, after)

    # --- where a step begins, and its loops -------------------------------------------------------------------------------
    def begin(self, t: Scalar, h: Scalar, q: Sequence[Scalar], v: Sequence[Scalar], ahead: Scalar) -> Begun:
        if not self.closes:
            acceleration, power = self.dynamics(t, h, q, v)
            return Begun(q, v, [0.0] * len(v), acceleration, power, 1.0)
        closing = self._at(self.parts.closing, t, h, q, v)

        def projected_first() -> Begun:
            near_q, near_v = self._closed(*self._closed(q, v))
            return self._begun(near_q, near_v, self._at(self.parts.closing, t, h, near_q, near_v), 1.0)

        astray = either(closing["astray"] > 0.5, closing["reach"] < ahead * ahead)
        return when(astray, projected_first, self._begun(q, v, closing, 0.0))

    def _begun(self, q: Sequence[Scalar], v: Sequence[Scalar], closing: dict[str, Any], projected: Scalar) -> Begun:
        still = [0.0] * (len(v) - self.nv)
        changed = [rate + more for rate, more in zip(v, [*closing["change"], *still], strict=True)]
        return Begun(list(q), changed, [*closing["move"], *still], _rates(closing), closing["power"], projected)

    def _closed(self, q: Sequence[Scalar], v: Sequence[Scalar]) -> tuple[list[Scalar], list[Scalar]]:
        """q and v with the loops closed, or unchanged if nothing closes them."""
        if self.parts.projection is None:
            return list(q), list(v)
        found = self.called(self.parts.projection, q, v[: self.nv], *self.forcing.layout.row(self.held))
        return list(found["q"]), [*found["v"], *v[self.nv :]]

    def closed(self, q: Sequence[Scalar], v: Sequence[Scalar]) -> tuple[Sequence[Scalar], Sequence[Scalar]]:
        return self._closed(q, v) if self.closes else (q, v)

    def staged(self, q: Sequence[Scalar], v: Sequence[Scalar], begun: Begun) -> tuple[Sequence[Scalar], Sequence[Scalar]]:
        if not self.closes:
            return self._closed(q, v)
        return when(begun.projected > 0.5, lambda: self._closed(q, v), (list(q), list(v)))

    def settled(self, q: Sequence[Scalar], v: Sequence[Scalar]) -> tuple[Sequence[Scalar], Sequence[Scalar]]:
        plain = self.closes or self.parts.projection is None
        return (kinematics.normalized(self.mechanism.tree, q), list(v)) if plain else self._closed(q, v)

    # --- coordinates, stops, and joints that follow motions ---------------------------------------------------------------
    def motions(self, t: Scalar, q: Sequence[Scalar], v: Sequence[Scalar]) -> Sequence[list[Scalar]]:
        """Position, velocity and acceleration that are prescribed at a time."""
        return self.forcing.layout.unpack(self.efforts(t, q, v)).motions

    def followed(self, t: Scalar, q: Sequence[Scalar], v: Sequence[Scalar]) -> tuple[list[Scalar], list[Scalar]]:
        q, v = list(q), list(v)
        if not self.forcing.following:
            return q, v
        for joint, (position, velocity, _) in zip(self.forcing.following, self.motions(t, q, v), strict=True):
            q[joint.q] = position if joint.positional else q[joint.q]
            v[joint.v] = velocity
        return (q, v) if self.closes else self._closed(q, v)  # the next step closes the loops, if steps begin so

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


class TracedSystem(DrivenSystem):
    """The system while a step is traced: every evaluation calls a program; `functions`: (t, q, v, u) → u with their values."""

    functions: Program | Hole | None = None

    def called(self, part: Any, *given: Any) -> dict[str, Any]:
        return call(part, *given)  # type: ignore[no-any-return]

    def efforts(self, t: Scalar, q: Sequence[Scalar], v: Sequence[Scalar]) -> Any:
        layout = self.forcing.layout
        held = layout.with_states(self.held, v[self.nv :])
        if self.functions is None:
            return held
        found = call(self.functions, t, q, v[: self.nv], held)
        # parameters do not pass through the functions, so that the compiler sees that they stay
        row = layout.row(self.held)
        return [*found[: layout.at("parameters").start], *row[0]] if row else found


class CalledSystem(DrivenSystem):
    """The system on floats, with efforts from Python functions; its parts are kernels."""

    def __init__(self, actuation: Actuation, parts: StepParts, bounds: Sequence[Bound], held: np.ndarray):
        super().__init__(actuation.forcing, parts, bounds, held)
        self._actuation = actuation
        self._last: tuple[float, bytes, np.ndarray] | None = None

    def forget(self) -> None:
        """Lets another motion begin, whose functions are called at its first state too."""
        self._last = None

    def called(self, part: Any, *given: Any) -> dict[str, Any]:
        arrays = part(*(np.array(x, dtype=float) if isinstance(x, Sequence) else x for x in given))
        return {spec.name: array.tolist() for spec, array in zip(part.outputs, arrays, strict=True)}

    def efforts(self, t: Scalar, q: Sequence[Scalar], v: Sequence[Scalar]) -> Any:
        """u at a state; functions are not called twice in a row for the same state, as they may count their calls."""
        place, speeds = np.array(q, dtype=float), np.array(v, dtype=float)
        held = self.forcing.layout.with_states(self.held, speeds[self.nv :])
        state = place.tobytes() + speeds.tobytes() + held.tobytes()
        if self._last is None or self._last[:2] != (t, state):
            self._last = (float(t), state, self._actuation.staged(float(t), place, speeds[: self.nv], held))
        return self._last[2]

    def motions(self, t: Scalar, q: Sequence[Scalar], v: Sequence[Scalar]) -> Sequence[list[Scalar]]:
        return [list(motion.at(float(t))) for motion in self.forcing.motions.values()]


def step_program(
    forcing: Forcing,
    integrator: Integrator,
    parts: StepParts,
    functions: Program | Hole | None = None,
    bounds: Sequence[Bound] = (),
    kept: Collection[str] = (),
) -> Program:
    """(t, h, q, v, work, u) → q, v, work after one step, and its error estimate. `functions` compute u at every stage.

    Where drives have states of their own, "states" follow the work as inputs, and are the last output but for `kept` pushes.
    """
    m, own = forcing.mechanism, forcing.layout.own_states

    def step(t: Scalar, h: Scalar, q: Any, v: Any, work: Scalar, *rest: Any) -> dict[str, Any]:
        *states, u = rest
        system = TracedSystem(forcing, parts, bounds, u)
        system.functions = functions
        start = IntegratorState(list(q), [*v, *(x for part in states for x in part)], work)
        after, error = integrator.step(system, t, h, start)
        found = {"q": after.q, "v": after.v[: m.nv], "work": after.work, "error": error}
        found |= {"states": after.v[m.nv :]} if own else {}
        return found | {name: pushes_of(system.jumped, h) for name in kept}

    sizes: dict[str, int | tuple[int, ...]] = {"t": (), "h": (), "q": m.nq, "v": m.nv, "work": (), **own}
    return trace(step, {**sizes, "u": forcing.layout.size}, f"{integrator.name}_{m.name}")


def _rates(found: Mapping[str, Any]) -> list[Scalar]:
    """v̇, followed by the rates of the drives' own states."""
    return [*found["acceleration"], *found.get("states", ())]
