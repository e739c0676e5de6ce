"""The best partition of a mechanism into sub-chains for hybrid modelling: by operations, or by measurement (T 8.2 item 1)."""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from ..compile import Kernel
from ..dynamics import Acting, aba_with_loops
from ..dynamics.hybrid import hybrid, hybrid_operations
from ..dynamics.subchains import tried_partitions
from ..errors import InputError, KumitateError, ModelError
from ..measure.timing import Contender, Effort, by_turns, machine, random_states, raw
from ..model import HasMechanism, Mechanism, Tree, check_freedom, check_resistance
from ..model.tree.subchains import parts_by_cuts, parts_by_names
from ..model.tree.tree import WORLD_LINK
from ..scalar import Program, trace

#: Mechanisms with up to this many partitions (chains of up to seven links) have all of them counted.
EVERY = 64
#: Samples per partition in timing: partitions differ by little.
ROUNDS = 200
#: Number of partitions that are compiled and timed: those with the fewest operations.
CANDIDATES = 8
#: States that are timed in one call.
STATES = 1024
#: Accepted difference from the articulated-body accelerations, as a part of the largest: the spin of thin rods has little
#: inertia.
_AGREEMENT = 1e-6
#: What a partition is chosen by, and the field of a trial that says it.
_CHOICES = {"operations": "operations", "time": "single", "batch": "batch"}


@dataclass(frozen=True)
class PartitionTrial:
    """A partition that was tried.

    Attributes:
        parts: the joints of each sub-chain, by name; as `forward_dynamics(partition=)` takes them.
        operations: of one evaluation of forward dynamics; infinite where a sub-chain has no inverse inertia.
        compilation: seconds that LLVM takes, for one state at a time and for batches together; infinite if not measured.
        single, batch: seconds per state, one at a time and as many at a time as a vector register holds; infinite if not
            measured.
    """

    parts: tuple[tuple[str, ...], ...]
    operations: float
    compilation: float = math.inf
    single: float = math.inf
    batch: float = math.inf

    @property
    def lengths(self) -> str:
        """The number of joints of each sub-chain: "4 + 3"."""
        return " + ".join(str(len(part)) for part in self.parts)


@dataclass(frozen=True)
class BestPartition:
    """The partitions tried, in the order of their operations, and the chosen one.

    Attributes:
        name: of the mechanism.
        by: what the choice is by: "operations", "time" (one state at a time) or "batch".
        trials: all partitions.
        machine: on which times were measured; empty if none were.
    """

    name: str
    by: str
    trials: tuple[PartitionTrial, ...]
    machine: dict[str, str]

    @property
    def best(self) -> PartitionTrial:
        """The chosen one."""
        by = _CHOICES[self.by]
        return min(self.trials, key=lambda trial: (getattr(trial, by), trial.operations, len(trial.parts)))

    @property
    def partition(self) -> tuple[tuple[str, ...], ...]:
        """The chosen one, as `forward_dynamics(method="hybrid", partition=)` takes it."""
        return self.best.parts

    def as_dict(self) -> dict[str, Any]:
        """Plain data, times in seconds; what was not measured is infinite."""
        return {
            "name": self.name, "by": self.by, "partition": self.partition, "machine": self.machine,
            "trials": [asdict(trial) for trial in self.trials],
        }  # fmt: skip


def best_partition(
    robot: Mechanism | HasMechanism,
    *,
    by: str = "operations",
    also: Iterable[Sequence[Sequence[str]]] = (),
    candidates: int = CANDIDATES,
    effort: Effort | None = None,
    progress: Callable[[float], None] | None = None,
) -> BestPartition:
    """The best partition of a mechanism for `forward_dynamics(method="hybrid")`, with all that were tried.

    Args:
        robot: a robot or mechanism.
        by: "operations": the fewest. Up to `EVERY` partitions are all counted; of more, those that partition="auto" considers
            (a few, so as not to keep its caller waiting). "time": the fastest, compiled and timed one state at a
            time on this machine; "batch": the same with as many states at a time as it holds. Timed are those `candidates`
            with the fewest operations, and two halves, after their accelerations were compared with articulated bodies'.
        also: more partitions to try, by names of joints; they are timed in any case.
        candidates: see `by`.
        effort: how much is spent on timing, `ROUNDS` samples of each by default.
        progress: called with the fraction done, 0 to 1.

    Raises:
        InputError: for another `by`; ModelError: for an invalid partition, or one without dynamics; KumitateError: if
            accelerations differ.

    >>> from kumitate.model.samples import planar_3r
    >>> best_partition(planar_3r()).best.lengths
    '3'
    """
    mechanism = robot if isinstance(robot, Mechanism) else robot.mechanism
    if by not in _CHOICES:
        raise InputError(f"partitions are chosen by {', '.join(_CHOICES)}, not by {by!r}")
    check_resistance(mechanism)
    check_freedom(mechanism, "divide into sub-chains")
    tree = mechanism.tree
    halves = _names(tree, parts_by_cuts(tree, {(len(tree.links) + 1) // 2}))  # as the thesis's 4 + 3 and 3 + 3
    wanted = [tuple(map(tuple, parts)) for parts in (*also, halves)]
    trials = _counted(mechanism, wanted)
    if by == "operations":
        return BestPartition(mechanism.name, by, trials, {})
    finite = (pair for pair in enumerate(trials) if math.isfinite(pair[1].operations))
    timed = [trial for k, trial in finite if k < candidates or trial.parts in wanted]
    measured = {trial.parts: trial for trial in _timed(mechanism, timed, effort or Effort(rounds=ROUNDS), progress)}
    return BestPartition(mechanism.name, by, tuple(measured.get(trial.parts, trial) for trial in trials), machine())


def _counted(mechanism: Mechanism, also: Iterable[Sequence[Sequence[str]]]) -> tuple[PartitionTrial, ...]:
    tree = mechanism.tree
    inner = [link.index for link in tree.links if link.parent != WORLD_LINK]
    counts: dict[tuple[tuple[int, ...], ...], float] = {}
    if 2 ** len(inner) <= EVERY:
        for cuts in itertools.chain.from_iterable(itertools.combinations(inner, size) for size in range(len(inner) + 1)):
            parts = parts_by_cuts(tree, cuts)
            counts[parts] = math.inf
            with suppress(ModelError):  # a sub-chain without inverse inertia
                counts[parts] = hybrid_operations(tree, parts)
    else:
        counts = {trial.parts: trial.operations for trial in tried_partitions(tree, hybrid_operations)}
    for parts in (parts_by_names(tree, names) for names in also):
        if parts not in counts:
            counts[parts] = hybrid_operations(tree, parts)
    trials = (PartitionTrial(_names(tree, parts), operations) for parts, operations in counts.items())
    return tuple(sorted(trials, key=lambda trial: (trial.operations, len(trial.parts))))


def _names(tree: Tree, parts: Iterable[Iterable[int]]) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(tree.links[index].name for index in part) for part in parts)


def _timed(
    mechanism: Mechanism, trials: Sequence[PartitionTrial], effort: Effort, progress: Callable[[float], None] | None
) -> list[PartitionTrial]:
    count = effort.share(STATES)
    states = random_states(mechanism, count)
    expected = Kernel(_program(mechanism, mechanism.base_parameter_tree, aba_with_loops, "aba"))(*states)
    tell = progress or (lambda fraction: None)
    contenders: dict[str, Contender] = {}
    compiled: list[tuple[PartitionTrial, tuple[str, str]]] = []
    for k, trial in enumerate(trials):
        tell(0.5 * k / len(trials))

        def page(*state: Any, parts: Any = trial.parts, **options: Any) -> Any:
            return hybrid(*state, partition=parts, **options)

        kernel = Kernel(_program(mechanism, mechanism.tree, page, f"hybrid_{k}"))
        keys = (f"{k} single", f"{k} batch")
        seconds = 0.0
        for key, lanes in zip(keys, (1, kernel.lanes), strict=True):
            seconds += _compilation(kernel, lanes)
            out = np.empty((count, mechanism.nv))
            contenders[key] = Contender(raw(kernel, lanes, states, (out,)), count)
            contenders[key].run()
            error = float(np.abs(out - expected).max() / np.abs(expected).max())
            if not error <= _AGREEMENT:
                raise KumitateError(
                    f"{mechanism.name}: with the sub-chains {' + '.join(map(repr, trial.parts))} the accelerations differ from "
                    f"articulated bodies' by {error:.1e} of the largest; nothing was timed"
                )
        compiled.append((replace(trial, compilation=seconds), keys))
    tell(0.5)
    timings = by_turns(contenders, effort.rounds)
    tell(1.0)
    return [replace(trial, single=timings[one].minimum, batch=timings[many].minimum) for trial, (one, many) in compiled]


def _program(mechanism: Mechanism, tree: Tree, page: Callable[..., Any], name: str) -> Program:
    inputs: dict[str, int | tuple[int, ...]] = {"q": mechanism.nq, "v": mechanism.nv, "tau": mechanism.nv}
    return trace(lambda q, v, tau: page(tree, q, v, tau, Acting(mechanism.gravity)), inputs, name)


def _compilation(kernel: Kernel, lanes: int) -> float:
    """Seconds that LLVM takes, even if the code is already on disk."""
    code = kernel.code(lanes)
    if not code.from_cache:
        return code.seconds
    begin = time.perf_counter()
    kernel.object_code(lanes=lanes)
    return time.perf_counter() - begin
