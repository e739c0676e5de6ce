"""Reverse mode through many steps: how a number computed of a motion changes with its start and with all efforts.

Only every k-th state is kept. Going back, the steps between two of these are made again, and their derivatives computed side
by side (checkpoints; Griewank and Walther, Evaluating Derivatives, 2008, chapter 12).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import InputError
from ...model.values import checked_whole
from ..batch import Batch
from .step import SlopedStep

if TYPE_CHECKING:
    from ..simulation import MechanismSimulation

__all__ = ["RolloutGradient", "RolloutTape"]

#: As many derivatives of steps are computed at once, to have all lanes and cores busy and little memory in use.
AT_ONCE = 1024


@dataclass(frozen=True, eq=False)
class RolloutGradient:
    """The gradient of a number L that depends on the recorded states of a rollout.

    Attributes:
        by_q: ∂L/∂ξ at the start (N, nv), ξ being the displacement of q along the degrees of freedom; `by_v`: ∂L/∂v (N, nv).
        efforts: ∂L/∂u of every step by the names of efforts and inputs, (N, steps, size).
    """

    by_q: np.ndarray
    by_v: np.ndarray
    efforts: Mapping[str, np.ndarray]


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
        efforts = {name: found[..., place] for name, place in self._sloped.places.items()}
        return RolloutGradient(w[:, :nv], w[:, nv:], efforts)

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
        if name not in sloped.places:
            close = get_close_matches(str(name), sloped.places, 1)
            raise InputError(
                f"{owner}: there is no effort or input {name!r}{f', did you mean {close[0]!r}?' if close else ''}; there are "
                f"{', '.join(sloped.places)}"
            )
        place = sloped.places[name]
        given, wanted = np.asarray(values, dtype=float), (steps, place.stop - place.start)
        if given.shape not in (wanted, (len(start), *wanted)):
            raise InputError(f"{owner}: {name!r} has shape {given.shape}; it must be {wanted} or {(len(start), *wanted)}")
        u[..., place] = given
    return u
