"""Samples that move from their starts, most of them freely (thesis; IFToMM's reference problems A01 to A05)."""

from functools import partial
from typing import Any

from ...model.samples import ANDREWS_TORQUE, sample
from ...records.record import Record
from ...simulate.run import simulate
from ..catalogue import Example, texts

#: By the name of the sample, what its run has other than 1 ms and "rkf45"; the torque of Andrews' squeezer is at its crank.
RUNS: dict[str, dict[str, Any]] = {
    "pendulum": {}, "double_pendulum": {}, "planar_3r": {}, "planar_4r": {}, "planar_4r_singular": {}, "distance_pendulum": {},
    "four_bars_2": {}, "four_bars_40": {}, "bricard": {}, "pa10": {},
    "andrews": {"step": 1e-5, "controller": [ANDREWS_TORQUE, *[0.0] * 6]},
    "governor": {"step": 5e-3, "integrator": "extrapolated_euler", "tolerance": 1e-9},
}  # fmt: skip


def run(name: str) -> Record:
    """The run of a sample: from its start, for its duration."""
    start = sample(name)
    options = {"step": 1e-3, "integrator": "rkf45", **RUNS[name]}
    return simulate(start.build(), start.q, start.v, duration=start.duration, **options)


EXAMPLES = tuple(Example(**texts(name), run=partial(run, name)) for name in RUNS)
