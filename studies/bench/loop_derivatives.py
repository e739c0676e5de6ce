"""Derivatives of forward dynamics with closed loops, against Pinocchio's computeConstraintDynamicsDerivatives."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from kumitate.compile import Kernel, host
from kumitate.measure.timing import Contender, Effort, by_turns, raw, thread_seconds
from kumitate.programs import make_program

from .cassie import Cassie
from .contract import agreement
from .derivatives import DerivativesCase
from .four_bars import FourBars
from .pinocchio_peer import Pinocchio, without_calls
from .report import Row

__all__ = ["LoopDerivatives"]


@dataclass(frozen=True)
class LoopDerivatives(DerivativesCase):
    """Accelerations with their derivatives by q, v and tau of many states on closed loops, one thread.

    Pinocchio is called from Python at every state: constraintDynamics, then its derivatives. What the calls cost is taken off:
    all that they take for one leg without loops. Their derivatives by tau are compared. By q they are not: of points held on
    two moving bodies they are not those of their own accelerations (by differences along a motion of the linkage).

    Attributes:
        tolerance: of the comparison. Theirs keeps the proximal damping of rows that depend on each other.
    """

    subject: FourBars | Cassie
    tolerance: float = 1e-9

    def rows(self, effort: Effort) -> Iterator[Row]:
        mechanism, states, n = self.subject.mechanism, effort.share(self.states), self.subject.mechanism.nv
        program = make_program(mechanism, "forward_slopes")
        kernel, given = Kernel(program), self.subject.random_states(states)
        out = (np.empty((states, n)), *(np.empty((states, n, n)) for _ in range(3)))
        contenders = {
            "one": Contender(raw(kernel, 1, given, out), states),
            "batch": Contender(raw(kernel, host().lanes, given, out), states),
        }
        error = None
        if Pinocchio.installed():
            theirs = Pinocchio(self.subject)
            run, by_tau = theirs.constrained_slopes(self.subject.constraints(theirs.pin, theirs.model), *given)
            for ours in contenders.values():
                ours.run()
                error = agreement(f"{self.name}, ∂a/∂tau", out[3], theirs.ours_square(by_tau), self.tolerance)
            leg = FourBars("leg", "one leg", 0)
            alone = Pinocchio(leg)
            bare, _ = alone.constrained_slopes(leg.constraints(alone.pin, alone.model), *leg.random_states(states))
            contenders |= {"peer": Contender(run, states), "calls": Contender(bare, states)}
        timings = by_turns(contenders, effort.rounds, clock=thread_seconds)
        row = Row(
            self.name, "a, ∂a/∂q, ∂a/∂v, ∂a/∂tau, one state at a time", timings["one"],
            "Pinocchio's constraintDynamics with its derivatives, less the cost of calls", without_calls(timings), self.one,
            agreement=error, remarks=f"{program.operations.total()} operations of ours; ∂a/∂tau is compared",
        )  # fmt: skip
        yield row
        yield replace(row, what=f"the same, {host().lanes} states at a time", ours=timings["batch"], at_least=self.batch)
