"""The derivatives of a simulation's step: which way they are computed, and what cannot be differentiated."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
from math import isfinite
from typing import TYPE_CHECKING, Any

import numpy as np

from ..compile import Kernel
from ..errors import InputError, did_you_mean
from ..model.values import checked_whole
from ..simulate.batch import Batch
from ..simulate.driving.actuation import How
from ..simulate.integrators import WithStops
from .active import Columns, StepSlopes, active_sets
from .direct import Along, direct_for, direct_kernel
from .driving import InputColumns, can_follow

if TYPE_CHECKING:
    from ..simulate.simulation import MechanismSimulation


class SlopedStep:
    """The compiled derivatives of a simulation's step.

    Attributes:
        places: where each effort, input and parameter stands among the columns of B; parameters: the names of these.
    """

    def __init__(self, simulation: MechanismSimulation):
        """The derivatives of a step; compiled on first use.

        Raises:
            InputError: for steps that cannot be differentiated: of adaptive integrators, with functions that must be called
                from Python, with points held on surfaces; and of scenes.
        """
        self._simulation, self._code = simulation, simulation.straight.code
        _check(simulation)
        groups = map(simulation.actuation.forcing.layout.group, ("tau", "wrenches", "loop_tau", "commands", "inputs"))
        self.places = {name or "tau": place for group in groups for name, place in group.items()}
        self._columns = max((place.stop for place in self.places.values()), default=0)
        varied, at = simulation.actuation.forcing.parameters, self._columns
        self.parameters = [one.name for one in varied.asked] if varied else []
        for one in varied.asked if varied else ():
            self.places[one.name] = slice(at, at := at + len(one.targets))
        self._driven = InputColumns(simulation.actuation.forcing, self._columns, simulation.actuation.program)

    @cached_property
    def _along(self) -> Along:
        return Along(self._code, self._simulation.actuation.program)

    @cached_property
    def _direct(self) -> Kernel | None:
        """The shorter way, if there is one."""
        actuation, integrator = self._simulation.actuation, self._simulation.integrator
        flight = integrator.inner if isinstance(integrator, WithStops) else integrator
        functions, forcing = actuation.program, actuation.forcing
        if not can_follow(self._code.mechanism.tree, functions):
            return None
        page = direct_for(flight, self._code, forcing, functions)
        if page is None and self._code.touches:
            from .touching import touching_page  # loads contact

            page = touching_page(integrator, self._code, forcing, self._simulation.interaction, self._driven.places)
        return None if page is None else direct_kernel(self._code, page, functions)

    def __call__(self, time: Any, q: np.ndarray, v: np.ndarray, u: np.ndarray) -> StepSlopes:
        """The derivatives at states (..., nq) and (..., nv), with all efforts and inputs u (..., size), at times (...) [s].

        Raises:
            InputError: for one state whose contact has no solution to differentiate at; in batches its row is NaN.
        """
        simulation, lead = self._simulation, q.shape[:-1]
        q_after, v_after, A, by = self.arrays(np.broadcast_to(time, lead) if lead else np.float64(time), q, v, u)
        if not lead and not isfinite(A.sum()):
            raise InputError(
                f"{simulation.mechanism.name}: the step cannot be differentiated at this state, as its contact has no "
                "solution that obeys all laws: it did not converge, or a rebound that would gain energy was reduced. Take "
                "another state, a smaller step, or less restitution"
            )
        look = partial(active_sets, simulation, time, q, v, u, q_after)
        return StepSlopes(q_after, v_after, A, self.places, by, look)

    def arrays(
        self, time: Any, q: np.ndarray, v: np.ndarray, u: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, Columns]:
        """q and v after the step from such a state, with a time for each, A, and B's columns."""
        h, n, one = self._simulation.step_size, 2 * v.shape[-1], not time.shape
        if self._direct is not None:
            q_after, v_after, A, B, elsewhere, *efforts = self._direct(time, h, q, v, u)
            by: Columns = partial(self._driven, B, *efforts) if efforts else partial(_stretch, B)
            if not (elsewhere.item() > 0.5 if one else (other := elsewhere > 0.5).any()):
                return q_after, v_after, A, by
        if one or self._direct is None:
            q_after, v_after, slopes = self._along(time, h, q, v, u, self._ways(u))
        else:
            slopes = np.concatenate([A, by(slice(0, self._columns))], axis=-1)
            again = self._along(time[other], h, q[other], v[other], u[other], self._ways(u))
            for part, right in zip((q_after, v_after, slopes), again, strict=True):
                part[other] = right
        return q_after, v_after, slopes[..., :n], partial(_stretch, slopes[..., n:])

    def _ways(self, u: np.ndarray) -> np.ndarray:
        """How u (..., size) changes along each column of B: (columns, size), with parameters (..., columns, size)."""
        forcing = self._simulation.actuation.forcing
        units = np.eye(self._columns, forcing.layout.size)
        if forcing.parameters is None:
            return units
        place = forcing.layout.at("parameters")
        rows, which = np.unique(u[..., place].reshape(-1, forcing.parameters.size), axis=0, return_inverse=True)
        slopes = forcing.parameters.slopes(rows)
        ways = np.zeros((len(rows), self._columns + slopes.shape[1], u.shape[-1]))
        ways[:, : self._columns] = units
        ways[:, self._columns :, place] = slopes
        return ways[which.ravel()].reshape(*u.shape[:-1], *ways.shape[1:])


def _stretch(B: np.ndarray, place: slice) -> np.ndarray:
    return B[..., place]


def _check(simulation: MechanismSimulation) -> None:
    owner, actuation = simulation.mechanism.name, simulation.actuation
    if simulation.integrator.adaptive:
        raise InputError(
            f"{owner}: a step of {simulation.integrator.name} cannot be differentiated, as its length follows from the state. "
            "Take integrator='rk4', or 'semi_implicit_euler'"
        )
    if called := actuation.lines(but=How.COMPILED):
        raise InputError(
            f"{owner}: the step cannot be differentiated: {called[0]}. Write the function with plain operators and NumPy's "
            "functions and without memory, or leave it out and give its values as `tau`"
        )
    if actuation.forcing.motions:
        raise InputError(
            f"{owner}: a step with prescribed motions cannot be differentiated, as it depends on no coordinate or effort of "
            "their joints. Drive the joints, or leave the motions out"
        )
    if actuation.forcing.layout.own_states:
        raise InputError(
            f"{owner}: a step of drives with states of their own, such as pressures, cannot be differentiated. Take drives "
            "without, or linearize them by hand"
        )
    if simulation.integrator.kicks and simulation.interaction.touches:
        raise InputError(
            f"{owner}: a step of integrator={simulation.integrator.name!r} with contact cannot be differentiated. Take "
            "integrator='auto' or 'semi_implicit_euler'"
        )
    if simulation.interaction.held is not None:
        raise InputError(
            f"{owner}: a step with points held on surfaces cannot be differentiated. Close the mechanism by loop joints, or "
            "use contact"
        )


# --- Reverse mode through many steps: how a number computed of a motion changes with its start and with all efforts ---
# Only every k-th state is kept. Going back, the steps between two of these are made again, and their derivatives computed side
# by side (checkpoints; Griewank and Walther, Evaluating Derivatives, 2008, chapter 12).

#: As many derivatives of steps are computed at once, to have all lanes and cores busy and little memory in use.
AT_ONCE = 1024


@dataclass(frozen=True, eq=False)
class RolloutGradient:
    """The gradient of a number L that depends on the recorded states of a rollout.

    Attributes:
        by_q: ∂L/∂ξ at the start (N, nv), ξ being the displacement of q along the degrees of freedom; `by_v`: ∂L/∂v (N, nv).
        efforts: ∂L/∂u of every step by the names of efforts and inputs, (N, steps, size).
        parameters: ∂L/∂p by the names of parameters, (N, targets).
    """

    by_q: np.ndarray
    by_v: np.ndarray
    efforts: Mapping[str, np.ndarray]
    parameters: Mapping[str, np.ndarray] = field(default_factory=dict)


class RolloutTape:
    """N states over a number of steps, with efforts of their own in each step.

    Attributes:
        q, v: the recorded states (N, R, nq) and (N, R, nv), the start first, `every` steps apart.
        every: steps.
    """

    def __init__(
        self,
        simulation: MechanismSimulation,
        sloped: SlopedStep,
        start: Batch,
        efforts: Mapping[str, Any],
        steps: int,
        every: int,
    ):
        """The motion from the states of a batch, which is not changed.

        Args:
            sloped: the derivatives of a step of the simulation.
            efforts: by the names in `StepSlopes.places`, (N, steps, size) or (steps, size); of others, those of the batch.
            every: steps from one recorded state to the next.

        Raises:
            InputError: for an unknown name, a wrong shape, or if `every` does not divide the number of steps.
        """
        owner = simulation.mechanism.name
        self.every = checked_whole(owner, "every", every, 1, remedy="Give a number of steps", error=InputError)
        steps = checked_whole(owner, "steps", steps, 1, remedy="Give a number of steps", error=InputError)
        if steps % every:
            raise InputError(f"{owner}: every is {every}; it must divide the number of steps, {steps}. Take another")
        self._sloped = sloped
        self._batch = simulation.batch(len(start))
        self._u = _all_efforts(owner, sloped, start, efforts, steps)
        self._number = start.state["number"].copy()
        q, v = start.q.copy(), start.v.copy()
        kept = [(q, v)]
        for k in range(0, steps, every):
            for after in self._stepped(kept[-1], k):
                q, v = after
            kept.append((q, v))
        self.q, self.v = (np.stack(part, axis=1) for part in zip(*kept, strict=True))

    def _stepped(self, state: tuple[np.ndarray, np.ndarray], first: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """The states after each of the `every` steps from the one of number `first`."""
        batch = self._batch
        batch.q[:], batch.v[:] = state
        batch.state["number"][:] = self._number + first
        for k in range(first, first + self.every):
            batch.efforts[:] = self._u[:, k]
            batch.step()
            yield batch.q.copy(), batch.v.copy()

    def back(self, by_q: Any = None, by_v: Any = None) -> RolloutGradient:
        """The gradient of a number L by the start and by all efforts.

        Args:
            by_q, by_v: ∂L/∂ξ and ∂L/∂v at the recorded states (N, R, nv), zero by default; ξ: the displacement of q along the
                degrees of freedom.
        """
        rows, records, nv = self.v.shape
        seen = [np.zeros(self.v.shape) if part is None else np.asarray(part, dtype=float) for part in (by_q, by_v)]
        for name, part in zip(("by_q", "by_v"), seen, strict=True):
            if part.shape != self.v.shape:
                raise InputError(f"{name} has shape {part.shape}; it must be {self.v.shape}: rows, recorded states, velocities")
        found = np.zeros((rows, self._u.shape[1], max((place.stop for place in self._sloped.places.values()), default=0)))
        w = np.zeros((rows, 2 * nv))
        for k in reversed(range(records)):
            w = w + np.concatenate([seen[0][:, k], seen[1][:, k]], axis=1)
            if k:
                w = self._segment((k - 1) * self.every, (self.q[:, k - 1], self.v[:, k - 1]), w, found)
        columns = {name: found[..., place] for name, place in self._sloped.places.items()}
        parameters = {name: columns.pop(name).sum(axis=1) for name in self._sloped.parameters}
        return RolloutGradient(w[:, :nv], w[:, nv:], columns, parameters)

    def _segment(self, first: int, state: tuple[np.ndarray, np.ndarray], w: np.ndarray, found: np.ndarray) -> np.ndarray:
        """ "w" before the steps from number `first` on, from the one after them; ∂L/∂u is put into `found`."""
        states = [state, *self._stepped(state, first)][:-1]
        together = max(1, AT_ONCE // len(w))
        for stop in range(self.every, 0, -together):
            chosen = slice(max(0, stop - together), stop)
            q, v = (np.stack(part, axis=1) for part in zip(*states[chosen], strict=True))
            numbers = first + np.arange(chosen.start, chosen.stop)
            u = self._u[:, numbers]
            slopes = self._sloped((self._number[:, None] + numbers) * self._batch.simulation.step_size, q, v, u)
            for i in reversed(range(len(numbers))):
                found[:, numbers[i]] = (w[:, None] @ slopes.B[:, i])[:, 0]
                w = (w[:, None] @ slopes.A[:, i])[:, 0]
        return w


def _all_efforts(owner: str, sloped: SlopedStep, start: Batch, efforts: Mapping[str, Any], steps: int) -> np.ndarray:
    """u of every row and step (N, steps, size)."""
    u = np.repeat(start.efforts[:, None], steps, axis=1)
    for name, values in efforts.items():
        if name not in sloped.places or name in sloped.parameters:
            held = [known for known in sloped.places if known not in sloped.parameters]
            near, known = did_you_mean(name, held, lead=", "), ", ".join(held)
            if name in sloped.parameters:
                near = ", and parameters stay over all steps: give them to the batch"
            raise InputError(f"{owner}: there is no effort or input {name!r}{near}; there are {known}")
        place = sloped.places[name]
        given, wanted = np.asarray(values, dtype=float), (steps, place.stop - place.start)
        if given.shape not in (wanted, (len(start), *wanted)):
            raise InputError(f"{owner}: {name!r} has shape {given.shape}; it must be {wanted} or {(len(start), *wanted)}")
        u[..., place] = given
    return u
