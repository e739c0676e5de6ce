"""The methods for the inertia matrix beside each other: in dense-block form, and as they are traced for one mechanism."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...compile import Kernel, host
from ...dynamics import crba, jacobian_inertia, unit_vector
from ...scalar import Program, trace
from .contract import Case, agreement
from .dense import constants, dense_program, unit_vector_by_calls
from .ours import random_states, raw
from .report import Row
from .subjects import Subject
from .timing import Contender, Effort, by_turns

__all__ = ["InertiaMatrix"]

#: Programs of more operations than this are counted, not timed: straight lines of that length take LLVM minutes.
TIMED_UP_TO = 20_000


@dataclass(frozen=True)
class InertiaMatrix(Case):
    """Composite rigid bodies beside unit vectors and Jacobians (rows C-crb, C-uv, C-mj).

    Attributes:
        at_least: target for the ratio in dense-block form, where no method gains from zeros that a mechanism happens to have.
        states: in the batch.
    """

    subject: Subject
    at_least: float
    states: int = 64

    @property
    def name(self) -> str:  # type: ignore[override]
        return f"inertia_{self.subject.name}"

    @property
    def title(self) -> str:  # type: ignore[override]
        return f"three methods for the inertia matrix of {self.subject.title}"

    @property
    def missing(self) -> str:  # type: ignore[override]
        return self.subject.missing

    def rows(self, effort: Effort) -> Iterator[Row]:
        mechanism, tree = self.subject.mechanism, self.subject.mechanism.tree
        q, _, _ = random_states(mechanism, effort.share(self.states))
        numbers = np.array([constants(tree, list(state)) for state in q])
        dense = {page.__name__: dense_program(page, tree, f"dense_{page.__name__}") for page in _PAGES}
        dense["unit_vector, e_i at run time"] = unit_vector_by_calls(tree)
        yield from self._rows("dense blocks", dense, (q, numbers), effort, self.at_least)
        traced = {page.__name__: _traced(page, self.subject) for page in _PAGES}
        yield from self._rows("traced", traced, (q,), effort, None)

    def _rows(
        self, form: str, programs: dict[str, Program], inputs: Sequence[np.ndarray], effort: Effort, at_least: float | None
    ) -> Iterator[Row]:
        count, nv = len(inputs[0]), self.subject.mechanism.nv
        operations = {name: program.operations.total() for name, program in programs.items()}
        timed = {name for name, program in programs.items() if program.operations.total() <= TIMED_UP_TO or _is_called(name)}
        results, contenders = {}, {}
        for name in sorted(timed):
            kernel, results[name] = Kernel(programs[name]), np.empty((count, nv, nv))
            for lanes in (1, host().lanes):
                run = raw(kernel, lanes, inputs, (results[name],))
                run()
                contenders[f"{name} {lanes}"] = Contender(run, count)
        reference = results.get("crba")
        errors = {}
        if reference is not None:
            errors = {name: agreement(f"{self.name}, {name}", found, reference, 1e-11) for name, found in results.items()}
        timings = by_turns(contenders, effort.rounds) if reference is not None else {}
        for other in list(programs)[1:]:
            for lanes in (1, host().lanes):
                both = f"crba {lanes}" in timings and f"{other} {lanes}" in timings
                states = "one state" if lanes == 1 else f"{lanes} states"
                yield Row(
                    self.name, f"crba, {form}, {states if both else 'operations'}", timings[f"crba {lanes}"] if both else None,
                    other, timings[f"{other} {lanes}"] if both else None, at_least=at_least, agreement=errors.get(other),
                    operations=(operations["crba"], operations[other]),
                    remarks="" if both else "too long a straight line to be timed: operations",
                )  # fmt: skip
                if not both:
                    break


_PAGES: tuple[Callable[..., Any], ...] = (crba, unit_vector, jacobian_inertia)


def _is_called(name: str) -> bool:
    return name.endswith("at run time")


def _traced(page: Callable[..., Any], subject: Subject) -> Program:
    tree = subject.mechanism.lean_tree
    return trace(lambda q: page(tree, q), {"q": tree.nq}, f"{page.__name__}_{subject.name}")
