"""The planar tree of five rods, falling from rest (thesis 3.1.2, second run)."""

from kumitate.examples.catalogue import Example
from kumitate.model.samples import sample
from kumitate.records.record import Record
from kumitate.simulate.run import simulate


def run() -> Record:
    """Three seconds from rest at 0, 0, 90, 90, 0 deg, without control."""
    start = sample("planar_tree_5")
    return simulate(start.build(), start.q, start.v, duration=start.duration, step=1e-3, integrator="rkf45")


EXAMPLE = Example(
    name="planar_tree_5",
    title="Planar tree of five rods, falling",
    rows=("T-3.2",),
    summary=(
        "The F of planar_tree with a fifth rod on the end of rod 4, in line with it, falls freely for 3 s. The total "
        "energy stays constant."
    ),
    run=run,
)
