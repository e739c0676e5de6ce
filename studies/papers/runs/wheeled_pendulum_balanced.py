"""The wheeled inverted pendulum, balanced by a torque between wheel and body (lecture Y, 9.4 and exercise 3.2)."""

from dataclasses import replace

import numpy as np

from kumitate.analysis import Linearization, LoopEquations, linearize
from kumitate.examples.catalogue import Example
from kumitate.lagrange import System, coordinates
from kumitate.records.record import Record
from kumitate.simulate.run import simulate

from ..lagrange_notes import agreement
from . import wheeled_pendulum

#: T = K₁α + K₂α̇ + K₃β + K₄β̇ (9.6) [N·m/rad, N·m·s/rad].
GAINS = (1.0, 0.5, 40.0, 4.0)


def system() -> System:
    """Lagrange's equations with the torque along α − β (9.5)."""
    alpha, beta = coordinates("alpha beta")
    K = GAINS
    torque = K[0] * alpha + K[1] * alpha.diff() + K[2] * beta + K[3] * beta.diff()
    return wheeled_pendulum.system(torque=torque, name="wheeled_pendulum_balanced")


def torque(t, q, v):
    """The same as the efforts at x, β and α of the mechanism: the wheel is turned, and turns the body back."""
    T = GAINS[0] * q[2] + GAINS[1] * v[2] + GAINS[2] * q[1] + GAINS[3] * v[1]
    return np.array([0.0 * T, -T, T])


def linearized() -> Linearization:
    """The controlled mechanism near its upright posture: what it does is the sum of two modes."""
    return linearize(LoopEquations(wheeled_pendulum.mechanism()), (0.0, 0.0, 0.0), controller=torque)


def run(*, duration: float = 10.0) -> Record:
    """From rest, leaning by 0.2 rad, for a `duration` [s]."""
    mechanism = replace(wheeled_pendulum.mechanism(), name="wheeled_pendulum_balanced")
    start = (0.0, wheeled_pendulum.LEAN, 0.0)
    result = simulate(mechanism, start, (0.0,) * 3, duration=duration, step=2e-3, integrator="rkf45", controller=torque)
    motion = system().simulate([0.0, wheeled_pendulum.LEAN], [0.0, 0.0], duration=duration, step=1e-2)
    notes = agreement(result, motion, None, system(), columns=(2, 1))
    modes = (f"upright, {mode}" for mode in linearized().modes)
    return result.noted(*notes, *modes)


EXAMPLE = Example(
    name="wheeled_pendulum_balanced",
    title="Wheeled inverted pendulum, balanced",
    rows=("Y-wip",),
    summary=(
        "The wheel and the body that leans by 0.2 rad, now with the torque T = α + 0.5 α̇ + 40 β + 4 β̇ between them. The wheel "
        "drives under the body and back to where it came from: after 10 s |α| < 0.05 and |β| < 0.003 rad, after 40 s both are "
        "below 1e-6. The slow poles of the linear equations, −0.376 ± 1.26i 1/s, are the swing that is seen."
    ),
    run=run,
    panels=("q", "v", "tau", "energy"),
)
