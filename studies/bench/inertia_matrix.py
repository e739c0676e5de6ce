"""The methods for the inertia matrix compared: in dense-block form, and as they are traced for one mechanism."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kumitate.compile import Kernel, host
from kumitate.dynamics import crba
from kumitate.measure.timing import Contender, Effort, Timing, by_turns, random_states, raw
from kumitate.papers import jacobian_inertia, unit_vector
from kumitate.scalar import Program, trace

from .contract import SubjectCase, agreement
from .dense import constants, dense_program, unit_vector_at_run_time
from .report import Row
from .subjects import Subject

__all__ = ["InertiaMatrix"]

#: Programs of more operations than this are counted, not timed: straight lines of that length take LLVM too long.
TIMED_UP_TO = 60_000


@dataclass(frozen=True)
class InertiaMatrix(SubjectCase):
    """Composite rigid bodies against unit vectors and Jacobians (rows C-crb, C-uv, C-mj).

    Attributes:
        at_least: target for the ratio in dense-block form, where no method gains from zeros that a mechanism happens to have.
        states: in the batch.
    """

    at_least: float
    states: int = 64

    @property
    def name(self) -> str:  # type: ignore[override]
        return f"inertia_{self.subject.name}"

    @property
    def title(self) -> str:  # type: ignore[override]
        return f"three methods for the inertia matrix of {self.subject.title}"

    def rows(self, effort: Effort) -> Iterator[Row]:
        mechanism, tree = self.subject.mechanism, self.subject.mechanism.tree
        q, _, _ = random_states(mechanism, effort.share(self.states))
        numbers = np.array([constants(tree, list(state)) for state in q])
        dense = {page.__name__: dense_program(page, tree, f"dense_{page.__name__}") for page in _PAGES}
        dense["unit_vector, e_i at run time"] = unit_vector_at_run_time(tree)
        # several states, each with constants of its own, would spend their time on reading these
        yield from self._rows("dense blocks", dense, (q, numbers, np.zeros((len(q), tree.nv + 3))), effort, (1,), self.at_least)
        traced = {page.__name__: _traced(page, self.subject) for page in _PAGES}
        yield from self._rows("traced", traced, (q,), effort, (1, host().lanes), None)

    def _rows(
        self, form: str, programs: dict[str, Program], inputs: Sequence[np.ndarray], effort: Effort, widths: Sequence[int],
        at_least: float | None,
    ) -> Iterator[Row]:  # fmt: skip
        timings, errors = self._timed(programs, inputs, effort, widths)
        operations = {name: program.operations.total() for name, program in programs.items()}
        for other in list(programs)[1:]:
            both = (operations["crba"], operations[other])
            if other not in errors:
                counted = "counted: too long a straight line to be timed"
                yield Row(self.name, f"crba, {form}, operations", None, other, operations=both, remarks=counted)
                continue
            for lanes in widths:
                yield Row(
                    self.name, f"crba, {form}, {'one state' if lanes == 1 else f'{lanes} states'} at a time",
                    timings[f"crba {lanes}"], other, timings[f"{other} {lanes}"],
                    at_least=at_least, agreement=errors[other], operations=both,
                )  # fmt: skip

    def _timed(
        self, programs: dict[str, Program], inputs: Sequence[np.ndarray], effort: Effort, widths: Sequence[int]
    ) -> tuple[dict[str, Timing], dict[str, float]]:
        """The timings by method and width, and the disagreement with crba by method; nothing for programs that are too long."""
        count, nv = len(inputs[0]), self.subject.mechanism.nv
        contenders: dict[str, Contender] = {}
        found: dict[str, np.ndarray] = {}
        for name, program in programs.items():
            if _length(program) > TIMED_UP_TO:
                continue
            kernel, found[name] = Kernel(program), np.empty((count, nv, nv))
            for lanes in widths:
                run = raw(kernel, lanes, inputs, (found[name],))
                run()
                contenders[f"{name} {lanes}"] = Contender(run, count)
        if "crba" not in found:
            return {}, {}
        errors = {name: agreement(f"{self.name}, {name}", M, found["crba"], 1e-11) for name, M in found.items()}
        return by_turns(contenders, effort.rounds), errors


_PAGES: tuple[Callable[..., Any], ...] = (crba, unit_vector, jacobian_inertia)


def _length(program: Program) -> int:
    """How much code it is: a loop counts once."""
    return sum(1 + (len(node.payload.line) if node.op == "loop" else 0) for node in program.line)


def _traced(page: Callable[..., Any], subject: Subject) -> Program:
    tree = subject.mechanism.base_parameter_tree
    return trace(lambda q: page(tree, q), {"q": tree.nq}, f"{page.__name__}_{subject.name}")
