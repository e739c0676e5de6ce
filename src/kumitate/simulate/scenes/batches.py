"""Rows of states of one scene, advanced one after the other by the same code, and at the same time in several threads."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import numpy as np

from ...compile.threads import pool, thread_count
from ...scalar import Array
from .stepper import SceneStepper

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["SceneRows"]

#: What is carried from step to step of a row, and recorded.
_CARRIED, _SEEN = ("number", "q", "v", "work", "error"), ("q", "v", "work", "error")


class SceneRows:
    """What a batch of a scene needs in place of a compiled recurrence (`compile.Recurrence`).

    Each row has a stepper of its own, so that its bits are those of a run by itself. A row whose state was changed from outside
    starts without the impulses of its last step, as a run does.

    Attributes:
        seen: the arrays that are recorded.
    """

    def __init__(self, make: Callable[[np.ndarray, np.ndarray], SceneStepper], nq: int, nv: int):
        """`make`: a stepper from a state."""
        self._make = make
        self._steppers: list[SceneStepper] = []
        self.seen = tuple(Array(name, shape) for name, shape in zip(_SEEN, ((nq,), (nv,), (), ()), strict=True))

    def over(
        self, state: Mapping[str, np.ndarray], given: Mapping[str, np.ndarray], seen: Mapping[str, np.ndarray], *, batch: bool
    ) -> SceneRollout:
        """The rows in memory; arguments as of `compile.Recurrence.over`."""
        if not self._steppers:
            self._steppers = [self._make(q, v) for q, v in zip(state["q"], state["v"], strict=True)]
        return SceneRollout(self._steppers, state, given["u"], seen)


class SceneRollout:
    """Rows bound to arrays: `run` advances them in place."""

    def __init__(
        self, steppers: Sequence[SceneStepper], state: Mapping[str, np.ndarray], u: np.ndarray, seen: Mapping[str, np.ndarray]
    ):
        self._steppers, self._state, self._u, self._seen = steppers, state, u, seen

    def run(self, records: int, every: int) -> None:
        """Advances every row by records · every steps, and records after each `every` of them; without records, by `every`."""
        threads = min(thread_count(), len(self._steppers))
        rows = range(len(self._steppers))
        if threads == 1:
            for row in rows:
                self._run_row(row, records, every)
            return
        for done in [pool(threads, "scenes").submit(self._run_row, row, records, every) for row in rows]:
            done.result()

    def look(self, rows: np.ndarray) -> None:
        """Nothing: scenes have no outputs."""

    def _run_row(self, row: int, records: int, every: int) -> None:
        stepper = self._steppers[row]
        own, seen = stepper.state, {name: array[row] for name, array in self._seen.items()}
        if any(not np.array_equal(own[name][0], self._state[name][row]) for name in ("number", "q", "v")):
            stepper.begin(self._state["q"][row], self._state["v"][row])
        for name in _CARRIED:
            own[name][0] = self._state[name][row]
        stepper.efforts = self._u[row, 0]
        if every == 0:
            for name, array in seen.items():
                array[:] = own[name][0]
            return
        stepper.run(seen if records else {}, max(records, 1), every)
        stepper.logged.clear()
        for name in _CARRIED:
            self._state[name][row] = own[name][0]
