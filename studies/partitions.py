"""The page docs/partitions.md: the best partition of some mechanisms, and what else was tried."""

from __future__ import annotations

import math
from collections.abc import Sequence

from kumitate.measure.timing import Effort
from kumitate.papers.best_partition import CANDIDATES, EVERY, BestPartition, PartitionTrial

__all__ = ["HEAD", "other_trials", "partitions_page", "rows_of_trials"]

#: The columns of a table of trials, and its rows if none was timed.
HEAD = ("sub-chains", "joints", "operations", "compiled in", "one at a time", "batch", "chosen")
ROWS = 12

_HEAD = """# The best partition

Printed by `scripts/study partitions {names}`.

Hybrid modelling derives the equations of sub-chains symbolically. Which sub-chains are best can be counted or measured:

```python
from kumitate.papers import best_partition

best = best_partition(robot, by="time")  # "operations", "time", "batch"
robot.forward_dynamics(q, v, tau, method="hybrid", partition=best.partition)
```

For mechanisms with up to {every} partitions (chains of seven links) the operations of all are counted. For others, and
always with `partition="auto"`, a search starts from the whole, the branches and sub-chains of similar size, and moves,
adds and removes cuts as long as that saves operations (`dynamics/subchains.py`).

The {candidates} with the fewest operations, and two halves as in the thesis, are compiled and timed, after their
accelerations were compared with those of articulated bodies. Times are of one state, the fastest of {rounds} samples
taken by turns; "compiled in" is the time of LLVM. Partitions with similar times may change places on a busy machine.

"""


def partitions_page(found: Sequence[BestPartition], effort: Effort, candidates: int = CANDIDATES) -> str:
    """The page that docs/partitions.md is."""
    names = " ".join(report.name for report in found)
    parts = [_HEAD.format(names=names, rounds=effort.rounds, candidates=candidates, every=EVERY)]
    told = next((report.machine for report in found if report.machine), {})
    parts += ["| machine | |\n| --- | --- |\n", *(f"| {key} | {value} |\n" for key, value in told.items())] if told else []
    for report in found:
        parts.append(f"\n## {report.name}\n\n{_table(report)}")
    return "".join(parts)


def rows_of_trials(found: BestPartition) -> list[tuple[str, ...]]:
    """A row under `HEAD` for each trial that was timed, otherwise for the first few."""
    return [
        (
            trial.lengths,
            ", ".join(part[0] if len(part) == 1 else f"{part[0]} … {part[-1]}" for part in trial.parts),
            _value(trial.operations, 1.0, "", 0), _value(trial.compilation, 1e3, " ms", 0),
            _value(trial.single, 1e9, " ns", 0), _value(trial.batch, 1e9, " ns", 1),
            f"by {found.by}" if trial is found.best else "",
        )
        for trial in _shown(found)
    ]  # fmt: skip


def other_trials(found: BestPartition) -> str:
    """A sentence about the trials that have no row; empty if all have."""
    left = [trial.operations for trial in found.trials if trial not in _shown(found)]
    counts = [count for count in left if math.isfinite(count)]
    told = [f"{len(counts)} more were counted: {min(counts):.0f} to {max(counts):.0f} operations"] if counts else []
    if len(left) > len(counts):
        told.append(f"{len(left) - len(counts)} have a sub-chain without inverse inertia")
    return "; ".join(told)


def _shown(found: BestPartition) -> tuple[PartitionTrial, ...]:
    return tuple(trial for trial in found.trials if math.isfinite(trial.single)) or found.trials[:ROWS]


def _table(found: BestPartition) -> str:
    lines = [HEAD, ["---"] * len(HEAD), *rows_of_trials(found)]
    table = "".join(f"| {' | '.join(cells)} |\n" for cells in lines)
    return f"{table}\n{other_trials(found)}.\n" if other_trials(found) else table


def _value(value: float, scale: float, unit: str, digits: int) -> str:
    return f"{value * scale:.{digits}f}{unit}" if math.isfinite(value) else "—"
