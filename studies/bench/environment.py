"""Steps of an environment for learning: those of many at once, and how much of them is Python."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from kumitate.measure.timing import Effort, Timing

from ..environments import measure
from .contract import Case
from .report import Row
from .subjects import robots_folder

__all__ = ["EnvironmentSteps"]

#: Steps of all environments that are timed at once, after as many that are not.
STEPS = 200


@dataclass(frozen=True)
class EnvironmentSteps(Case):
    """Many environments of one kind under random actions, observations and rewards included, on one thread.

    Attributes:
        robot: the environment's name, its robot from example-robot-data.
        at_most: the target for the seconds of one step of one environment.
        count: of environments; `samples`: how often they are timed.
    """

    robot: str
    at_most: float
    count: int = 1024
    samples: int = 5

    @property
    def name(self) -> str:  # type: ignore[override]
        return f"environment_{self.robot}"

    @property
    def title(self) -> str:  # type: ignore[override]
        return f"{self.count} environments of {self.robot}, stepped at once"

    @property
    def missing(self) -> str:  # type: ignore[override]
        return "" if robots_folder() else "example-robot-data"

    def rows(self, effort: Effort) -> Iterator[Row]:
        count, steps = effort.share(self.count), effort.share(STEPS)
        found = [measure(self.robot, "at random", count=count, steps=steps, seed=k) for k in range(self.samples)]
        best = min(found, key=lambda item: item.seconds)
        told = f"{best.substeps} × {1e3 * best.step:g} ms each, {best.rate:,.0f} steps/s, Python {100.0 * best.python:.0f} %"
        yield Row(
            self.name, f"step of one of {count}, random actions", Timing.of([item.seconds for item in found], count),
            at_most=self.at_most, remarks=told,
        )  # fmt: skip
