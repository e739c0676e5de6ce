"""Second derivatives of inverse dynamics, contracted with a vector, which no peer has: times against fixed targets."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from kumitate.compile import Kernel, host
from kumitate.measure.timing import Contender, Effort, by_turns, random_states, raw, thread_seconds
from kumitate.programs import make_program

from .contract import SubjectCase
from .report import Row

__all__ = ["SecondDerivatives"]


@dataclass(frozen=True)
class SecondDerivatives(SubjectCase):
    """Σ wᵢ ∂²τᵢ by q, v and a of many states, one thread.

    Attributes:
        one, batch: the most seconds a state, one state at a time and all lanes of the processor at once.
        states: in the batch.
    """

    one: float
    batch: float
    states: int = 64

    @property
    def name(self) -> str:  # type: ignore[override]
        return f"second_derivatives_{self.subject.name}"

    @property
    def title(self) -> str:  # type: ignore[override]
        return f"second derivatives of the inverse dynamics of {self.subject.title}, contracted with a vector"

    def rows(self, effort: Effort) -> Iterator[Row]:
        mechanism, states, n = self.subject.mechanism, effort.share(self.states), self.subject.mechanism.nv
        program = make_program(mechanism, "inverse_second_slopes")
        kernel, weights = Kernel(program), np.random.default_rng(2).normal(size=(states, n))
        given, out = (*random_states(mechanism, states), weights), [np.empty((states, n, n)) for _ in range(4)]
        lanes = {"one": 1, "batch": host().lanes}
        timings = by_turns(
            {name: Contender(raw(kernel, count, given, out), states) for name, count in lanes.items()},
            effort.rounds,
            clock=thread_seconds,
        )
        row = Row(
            self.name, "Σ w ∂²tau, one state at a time", timings["one"], at_most=self.one,
            remarks=f"{program.operations.total()} operations",
        )  # fmt: skip
        yield row
        yield replace(row, what=f"the same, {host().lanes} states at a time", ours=timings["batch"], at_most=self.batch)
