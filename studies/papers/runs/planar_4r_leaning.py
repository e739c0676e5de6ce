"""Joint forces of an overconstrained loop (row T-sing)."""

from kumitate.examples.catalogue import Example
from kumitate.model.samples import sample
from kumitate.records.record import Record
from kumitate.simulate.run import simulate


def run() -> Record:
    """Three seconds from rest at 60, 30, 150 deg, the plane leaning by 30 deg."""
    start = sample("planar_4r_leaning")
    return simulate(start.build(), start.q, start.v, duration=start.duration, step=1e-3, integrator="rkf45")


EXAMPLE = Example(
    name="planar_4r_leaning",
    title="Joint forces of the planar 4R closed loop in a leaning plane",
    rows=("T-sing",),
    summary=(
        "The loop of planar_4r in a plane that leans by 30 deg. In space its joints hold three directions "
        "twice: the forces in the plane are determined by the motion, those across it and the moments about "
        "axes in it are not. Of these, the least in one norm over all joints are shown; they do not depend on "
        "which joint is taken for the loop's, on the numbering or on the axes of the world."
    ),
    run=run,
    panels=("q", "determinant", "joint_forces", "energy"),
)
