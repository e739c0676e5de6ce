"""The page docs/partitions.md: the best partition of some mechanisms, and what else was tried."""

from __future__ import annotations

from collections.abc import Sequence

from kumitate.measure.best_partition import CANDIDATES, EVERY, BestPartition
from kumitate.measure.timing import Effort

__all__ = ["partitions_page"]

_HEAD = """# The best partition

Printed by `scripts/study partitions {names}`.

Hybrid modelling prepares the equations of sub-chains; the program finds which. Of mechanisms that have up to {every}
partitions, chains of seven links, it counts the operations of all. Of others it counts those of the whole, of branches and of
sub-chains of like size, then of what comes of moving, adding and leaving out a cut as long as that saves some; so does
`partition="auto"` always (`dynamics/subchains/partitions.py`). The {candidates} with the fewest operations, and two halves (the
thesis cuts the planar arm into 4 + 3, the floating one into 3 + 3), are compiled and timed, one state at a time and in batches,
after their accelerations were compared with articulated bodies'. "Compiled in" is LLVM's time for both. Times are of a state:
the fastest of {rounds} samples taken by turns. On a busy machine near ones change places.

```python
found = km.best_partition(robot, by="time")  # "operations", "time", "batch"
robot.forward_dynamics(q, v, tau, method="hybrid", partition=found.partition)
```

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
