"""The time until a scene makes its first step: with an empty cache, and with its code on the disk."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from kumitate.measure.timing import Effort, Timing

from .contract import Case
from .report import Row
from .start import empty_cache

__all__ = ["SceneCompilation"]

#: Prints the seconds of processor time that the first step of so many bricks takes, apart from all that is imported for it.
_FIRST = """
import sys, time
from kumitate.simulate.setup import Setup
from kumitate.simulate.simulation import MechanismSimulation
from studies.bench.scenes import STEP, thrown
import kumitate.contact.scenes.step, kumitate.procedure.machine, kumitate.simulate.scenes.many_bodies
mechanism, contact, q, v = thrown(int(sys.argv[1]))
simulation = MechanismSimulation(Setup(mechanism, contact=contact, step=STEP))
begin = time.process_time()
simulation.step(simulation.start(q.ravel(), v.ravel()))
print(time.process_time() - begin)
"""


@dataclass(frozen=True)
class SceneCompilation(Case):
    """The first step of bricks in a bin, each in a new process.

    Attributes:
        cold, cached: targets with an empty cache and with the code on the disk [s].
        counts: of bricks.
    """

    cold: float = 3.0
    cached: float = 0.1
    counts: tuple[int, ...] = (10, 1000)
    name: str = "compile_scene"
    title: str = "the first step of a scene of many bodies"

    def rows(self, effort: Effort) -> Iterator[Row]:
        for count in self.counts:
            with empty_cache():
                first, again = (_first_step(count) for _ in range(2))
            told = "processor time in a new process, after all modules were imported and the mechanism was made"
            yield Row(self.name, f"{count} bricks, empty cache", first, at_most=self.cold, remarks=told)
            yield Row(self.name, f"{count} bricks, from the cache", again, at_most=self.cached, remarks=told)


def _first_step(count: int) -> Timing:
    sources = str(Path(__file__).absolute().parents[2])
    paths = os.pathsep.join(filter(None, (sources, os.environ.get("PYTHONPATH", ""))))
    call = [sys.executable, "-c", _FIRST, str(count)]
    environment = os.environ | {"PYTHONPATH": paths}
    return Timing.of([float(subprocess.run(call, capture_output=True, text=True, check=True, env=environment).stdout)])
