"""Andrews' squeezer: IFToMM's reference problem A03, of the Test Set for IVP Solvers."""

from ...model.samples import ANDREWS_TORQUE, sample
from ...records.record import Record
from ...simulate.run import simulate
from ..catalogue import Example, texts


def run() -> Record:
    """0.03 s from rest, driven by a constant torque at the crank."""
    start = sample("andrews")
    torque = [ANDREWS_TORQUE, *(0.0 for _ in start.v[1:])]
    return simulate(
        start.build(), start.q, start.v, duration=start.duration, step=start.step, integrator="rkf45", controller=torque
    )


EXAMPLE = Example(**texts("andrews"), run=run)
