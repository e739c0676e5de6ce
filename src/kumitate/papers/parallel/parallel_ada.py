"""Forward dynamics of one large mechanism by ADA in rounds: O(log n) programs in sequence, each a batch over links or pairs."""

from __future__ import annotations

from copy import copy
from threading import Lock
from typing import Any

import numpy as np

from ...compile.threads import pool
from ...errors import InputError, ModelError
from ...model import HasMechanism, Mechanism, check_resistance
from .plan import LevelPlan, Round, run_rounds


class ParallelADA:
    """v̇ of one mechanism without loops, by ADA in rounds (thesis 2.2.1; its 8.2 item 2).

    Memory is allocated on construction, kernels are compiled at the first call. It is meant for one state of one large
    mechanism; for many states of a small one use `forward_dynamics`, which takes them all at once.

    Attributes:
        mechanism: the one whose v̇ is computed.
        threads: how many threads share the batches of a round.
    """

    def __init__(self, mechanism: Mechanism, *, threads: int = 1):
        """Plans the rounds and allocates their arrays.

        Raises:
            ModelError: if the mechanism has loops or couplings, or as for method "ada" of `forward_dynamics`.
            InputError: if `threads` is not a positive whole number.
        """
        if mechanism.tree.closed:
            raise ModelError(
                f"{mechanism.source or mechanism.name}: it has loops or couplings, which parallel rounds do not close; use "
                "forward_dynamics(method='ada')"
            )
        check_resistance(mechanism)
        self.mechanism, self._plan, self._busy = mechanism, LevelPlan(mechanism), Lock()
        self._share(threads)

    def __call__(self, q: Any, v: Any, tau: Any) -> np.ndarray:
        """v̇ (nv) [rad/s², m/s²] of one state q (nq), v (nv) under the forces tau (nv) of the drives [N·m, N].

        Damping and friction of the joints, springs, armatures and gravity are included.

        Raises:
            InputError: for wrong shapes.
        """
        m, parts = self.mechanism, []
        for name, value, size in (("q", q, m.nq), ("v", v, m.nv), ("tau", tau, m.nv)):
            part = np.asarray(value, dtype=float)
            if part.shape != (size,):
                raise InputError(f"{m.name}: {name} has shape {part.shape}; parallel ADA takes one state, ({size},)")
            parts.append(part)
        with self._busy:
            np.concatenate(parts, out=self._plan.state)
            others = pool(self.threads - 1, "rounds") if self.threads > 1 else None
            run_rounds(self._plan.rounds, others, self.threads)
            return self._plan.rates.copy()

    def on(self, threads: int) -> ParallelADA:
        """The same computation in the same memory, on the given number of threads."""
        other = copy(self)
        other._share(threads)
        return other

    @property
    def levels(self) -> int:
        """The number of rounds in which the joints are closed: ⌈log₂(n + 1)⌉ for a chain of n links."""
        return self._plan.levels

    @property
    def rounds(self) -> list[Round]:
        """The rounds of a call: batches, each of which depends only on those of earlier rounds."""
        return self._plan.rounds

    def _share(self, threads: int) -> None:
        if not isinstance(threads, int) or threads < 1:
            raise InputError(f"threads is {threads!r}; it must be a positive whole number")
        self.threads = threads

    @property
    def operations(self) -> int:
        """The number of operations of one call."""
        return sum(batch.operations for batches in self._plan.rounds for batch in batches)

    @property
    def bytes(self) -> int:
        """The size of the arrays kept between programs and calls, without the mechanism's constants [bytes]."""
        return sum(array.nbytes for array in self._plan.arrays.values())


def parallel_ada(robot: HasMechanism | Mechanism, *, threads: int = 1) -> ParallelADA:
    """v̇ of one large robot without loops as a function of q, v and tau, by ADA in O(log n) rounds.

    Every round is a batch over pairs of bodies, shared by `threads` threads. Errors are those of `ParallelADA`.

    >>> import kumitate as km
    >>> arm = km.load("pa10")
    >>> accelerate = parallel_ada(arm)
    >>> accelerate.levels
    3
    >>> q, v, tau = [0.1] * 7, [0.2] * 7, [0.3] * 7
    >>> bool(abs(accelerate(q, v, tau) - arm.forward_dynamics(q, v, tau)).max() < 1e-9)
    True
    """
    return ParallelADA(robot if isinstance(robot, Mechanism) else robot.mechanism, threads=threads)
