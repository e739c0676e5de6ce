"""The page docs/partitions.md: the best partition of some mechanisms, and what else was tried."""

from __future__ import annotations

from collections.abc import Sequence

from kumitate.measure.timing import Effort
from kumitate.papers.best_partition import CANDIDATES, EVERY, BestPartition

__all__ = ["partitions_page"]

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
        parts.append(f"\n## {report.name}\n\n{report.markdown()}")
    return "".join(parts)
