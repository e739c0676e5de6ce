"""Andrews' squeezer: IFToMM's reference problem A03, of the Test Set for IVP Solvers."""

from ...model.samples import ANDREWS_TORQUE, sample
from ...results.result import Result
from ...simulate.run import simulate
from ..catalogue import Example


def run() -> Result:
    """0.03 s from rest, driven by a constant torque at the crank."""
    start = sample("andrews")
    torque = [ANDREWS_TORQUE, *(0.0 for _ in start.v[1:])]
    return simulate(
        start.build(), start.q, start.v, duration=start.duration, step=start.step, integrator="rkf45", controller=torque
    )


EXAMPLE = Example(
    name="andrews",
    title="Andrews' squeezer, seven bodies",
    rows=(),
    summary=(
        "Seven bodies in a plane, with ten revolute joints and one degree of freedom, a motor of 0.033 N·m, a spring, without "
        "gravity. After 0.03 s the crank has turned by 15.81077119629904 rad (reference problem A03 of IFToMM's library, "
        "Test Set for IVP Solvers); kinetic and strain energy grow by what the motor gives."
    ),
    run=run,
)
