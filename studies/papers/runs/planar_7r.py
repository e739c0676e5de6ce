"""The planar arm of seven rods, falling from level (thesis 4.4.1, figures 4.6 and 4.7)."""

from kumitate.examples.catalogue import Example
from kumitate.model.samples import sample
from kumitate.records.record import Record
from kumitate.simulate.run import simulate

from ..hybrid_notes import hybrid_note

#: The thesis's sub-chains: four links at the root, three at the tip.
PARTITION = (("joint1", "joint2", "joint3", "joint4"), ("joint5", "joint6", "joint7"))


def run() -> Record:
    """Three seconds from rest at 90, 0, …, 0 deg."""
    start = sample("planar_7r")
    result = simulate(start.build(), start.q, start.v, duration=start.duration, step=1e-3, integrator="rkf45")
    note = hybrid_note(result, PARTITION)
    return result.noted(note)


EXAMPLE = Example(
    name="planar_7r",
    title="Planar 7R arm, falling",
    rows=("T-4.1",),
    summary=(
        "Seven rods of 1 m and 1 kg fall from level for 3 s. Nothing drives the joints: the energy stays constant to 1e-8 J "
        "of the 240 J that move. Hybrid modelling with sub-chains of 4 + 3 links gives the accelerations of the whole."
    ),
    run=run,
)
