"""Forward dynamics with all its derivatives, against Pinocchio's computeABADerivatives."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from kumitate.compile import Kernel, host
from kumitate.measure.timing import Contender, Effort, by_turns, random_states, raw, thread_seconds
from kumitate.programs import make_program

from .contract import SubjectCase, agreement
from .pinocchio_peer import Pinocchio, without_calls
from .report import Row
from .subjects import RandomChain, Subject

__all__ = ["DerivativesCase", "DynamicsDerivatives"]


@dataclass(frozen=True)
class DerivativesCase(SubjectCase):
    """Derivatives of forward dynamics of many states, one thread, beside Pinocchio.

    Attributes:
        one, batch: targets for the ratio, one state at a time and all lanes of the processor at once.
        states: in the batch.
    """

    one: float
    batch: float
    states: int = 64
    peer = "Pinocchio"

    @property
    def name(self) -> str:  # type: ignore[override]
        return f"derivatives_{self.subject.name}"

    @property
    def title(self) -> str:  # type: ignore[override]
        return f"derivatives of the forward dynamics of {self.subject.title}"


@dataclass(frozen=True)
class DynamicsDerivatives(DerivativesCase):
    """Accelerations with their derivatives by q, v and tau of many states, one thread.

    Pinocchio has no loop over states in C++ for this function. It is called from Python at every state, and what such a call
    costs is taken off: all that it takes for a pendulum, its few operations included.
    """

    def rows(self, effort: Effort) -> Iterator[Row]:
        mechanism, states, n = self.subject.mechanism, effort.share(self.states), self.subject.mechanism.nv
        kernel = Kernel(make_program(mechanism, "forward_slopes"))
        given = random_states(mechanism, states)
        out = (np.empty((states, n)), *(np.empty((states, n, n)) for _ in range(3)))
        contenders = {
            "one": Contender(raw(kernel, 1, given, out), states),
            "batch": Contender(raw(kernel, host().lanes, given, out), states),
        }
        error = None
        if Pinocchio.installed():
            run, result = _theirs(self.subject, *given)
            for ours in contenders.values():
                ours.run()
                error = agreement(f"{self.name}, ∂a/∂q", out[1], result, 1e-7)
            pendulum = RandomChain("pendulum", "a pendulum", 1)
            bare, _ = _theirs(pendulum, *random_states(pendulum.mechanism, states))
            contenders |= {"peer": Contender(run, states), "calls": Contender(bare, states)}
        timings = by_turns(contenders, effort.rounds, clock=thread_seconds)
        row = Row(
            self.name, "a, ∂a/∂q, ∂a/∂v, ∂a/∂tau, one state at a time", timings["one"],
            "Pinocchio's computeABADerivatives, less the cost of calls", without_calls(timings), self.one, agreement=error,
        )  # fmt: skip
        yield row
        yield replace(row, what=f"the same, {host().lanes} states at a time", ours=timings["batch"], at_least=self.batch)


def _theirs(subject: Subject, q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> tuple[Callable[[], None], np.ndarray]:
    """A call of theirs at each state, and ∂a/∂q of them in our order."""
    peer = Pinocchio(subject)
    pin, model, data = peer.pin, peer.model, peer.model.createData()
    states = list(zip(peer.positions(q), peer.velocities(v), peer.velocities(tau), strict=True))

    def run() -> None:
        for state in states:
            pin.computeABADerivatives(model, data, *state)

    found = []
    for state in states:
        pin.computeABADerivatives(model, data, *state)
        found.append(peer.ours(peer.ours(np.array(data.ddq_dq)).T).T)
    return run, np.array(found)
