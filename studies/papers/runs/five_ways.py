"""The same arm five ways: articulated bodies, assembly, hybrid modelling, Lagrange from energies, SymPy (docs/five-ways.md)."""

from collections.abc import Mapping
from dataclasses import replace
from functools import cache

import numpy as np

from kumitate.analysis import kinetic_energy, potential_energy
from kumitate.compile import Kernel
from kumitate.examples.catalogue import Example, Plate
from kumitate.measure.timing import seconds_text
from kumitate.model import Mechanism
from kumitate.model.samples import sample
from kumitate.records.record import Record
from kumitate.scalar import trace
from kumitate.simulate.run import simulate

from ..five_ways import apart, integrated, measured, ways

STEP, DURATION = 1e-3, 3.0


def mechanism() -> Mechanism:
    """The planar arm of three rods (T-3.1)."""
    return replace(sample("planar_3r").build(), name="five_ways")


@cache
def motions() -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """q and v by every way, from rest at 135, -45, 225 deg, all integrated by the same formula and steps."""
    start = sample("planar_3r").q
    return {way.name: integrated(way.acceleration, start, duration=DURATION, step=STEP) for way in ways()}


def run() -> Record:
    """The arm by the simulator; its audit gives the difference of each way from the first, and its cost."""
    arm = mechanism()
    result = simulate(arm, sample("planar_3r").q, None, duration=DURATION, step=STEP, integrator="rkf45")

    def total(q, v):
        return kinetic_energy(arm.tree, q, v) + potential_energy(arm.tree, q, arm.gravity)

    energy = Kernel(trace(total, {"q": 3, "v": 3}, "energy_of_five_ways"))
    notes = [
        f"{found.way.name} ({found.way.told}): {found.apart:.1e} rad from ABA, energy to {found.drift:.1e} J, "
        f"{'' if found.way.operations is None else f'{found.way.operations} operations, '}{seconds_text(found.seconds)} a state"
        for found in measured(motions(), energy)
    ]
    return result.noted(*notes)


def plates(result: Record) -> Mapping[str, Plate]:
    """The differences of the ways over the motion."""
    caption = "The motion by each way against that by articulated bodies, steps of 1 ms: rounding, which the motion magnifies."
    return {"differences": Plate((apart(motions()),), caption)}


EXAMPLE = Example(
    name="five_ways",
    title="The same arm five ways",
    rows=("T-lag", "T-aba", "T-ada"),
    summary=(
        "The planar arm of three rods falls for 3 s by articulated bodies, by assembly, by hybrid modelling, by Lagrange's "
        "equations from energies written by hand, and by the equations that SymPy writes out: the same motion to rounding, at "
        "costs from tens of nanoseconds to tens of microseconds a state."
    ),
    run=run,
    plates=plates,
)
