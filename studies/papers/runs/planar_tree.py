"""The planar tree of four rods, falling from rest (thesis 3.1.2, figures 3.6 and 3.7)."""

from kumitate.examples.catalogue import Example
from kumitate.model.samples import sample
from kumitate.records.record import Record
from kumitate.simulate.run import simulate


def run() -> Record:
    """Three seconds from rest at 0, 0, 90, 90 deg, without control."""
    start = sample("planar_tree")
    return simulate(start.build(), start.q, start.v, duration=start.duration, step=1e-3, integrator="rkf45")


EXAMPLE = Example(
    name="planar_tree",
    title="Planar tree of four rods, falling",
    rows=("T-3.2",),
    summary=(
        "An F of four rods of 1 m and 1 kg falls freely for 3 s: rods 1 and 2 are the trunk, rod 3 hangs on the end "
        "of rod 2, rod 4 on the end of rod 1. The thesis names four links in its text and five in its captions; "
        "planar_tree_5 has five. The total energy stays constant."
    ),
    run=run,
)
