"""Samples that move freely from their starts: pendulums, chains, loops, an arm (thesis; IFToMM's problems A01, A02, A04)."""

from functools import partial

from ...model.samples import sample
from ...records.record import Record
from ...simulate.run import simulate
from ..catalogue import Example, texts

NAMES = (
    "pendulum", "double_pendulum", "planar_3r", "planar_4r", "planar_4r_singular", "distance_pendulum", "four_bars_2",
    "four_bars_40", "bricard", "pa10",
)  # fmt: skip


def run(name: str) -> Record:
    """The run of a sample: from its start, for its duration, without control."""
    start = sample(name)
    return simulate(start.build(), start.q, start.v, duration=start.duration, step=1e-3, integrator="rkf45")


EXAMPLES = tuple(Example(**texts(name), run=partial(run, name)) for name in NAMES)
