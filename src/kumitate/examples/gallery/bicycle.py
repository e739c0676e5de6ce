"""The benchmark bicycle (Meijaard, Papadopoulos, Ruina, Schwab 2007): what it does by itself at each speed."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ...analysis import Linearization, LoopEquations, linearize
from ...model.samples import BICYCLE_START, bicycle, bicycle_velocity, sample
from ...records.record import Record
from ...simulate.run import simulate
from ..catalogue import Curves, Example, Plate, texts

#: Speeds at which the eigenvalues are drawn [m/s].
SPEEDS = np.linspace(0.0, 10.0, 101)


def linearized(speed: float, equations: LoopEquations | None = None) -> Linearization:
    """The linear equations upright at a forward speed [m/s]."""
    return linearize(equations or LoopEquations(bicycle()), BICYCLE_START, bicycle_velocity(speed))


def lean_and_steer(speed: float, equations: LoopEquations | None = None) -> np.ndarray:
    """A (4, 4) of x = (lean, steer, their rates): positive to the right, and to the left.

    Where the bicycle is on the plane, where it heads, how far its wheels have turned and how fast it goes change nothing for
    these four. With x = S (y, w), S A = A₄ S.
    """
    found = linearized(speed, equations)
    names = found.mechanism.v_names
    seen = [names.index("base.wx"), names.index("steer")]  # upright, a small turn about x is lean
    angles = np.hstack([found.motions[seen], np.zeros((2, found.rates.shape[1]))])
    S = np.vstack([angles, angles @ found.A])
    return np.asarray(S @ found.A @ np.linalg.pinv(S))


def eigenvalues(speed: float, equations: LoopEquations | None = None) -> np.ndarray:
    """Those of lean and steer (4) [1/s]: castering, capsize, and the two of weave, which oscillates from 0.7 m/s on."""
    found = np.sort_complex(np.linalg.eigvals(lean_and_steer(speed, equations)))
    return found[np.argsort(found.imag != 0.0, kind="stable")]


def run() -> Record:
    """Five seconds at 4.6 m/s after a push that makes it lean at 0.5 rad/s (the publication's figure 4)."""
    start = sample("bicycle")
    return simulate(start.build(), start.q, start.v, duration=start.duration, step=1e-3, integrator="rkf45")


def plates(result: Record) -> Mapping[str, Plate]:
    """The eigenvalues over speed (the publication's figure 3)."""
    equations = LoopEquations(result.mechanism)
    found = np.array([eigenvalues(speed, equations) for speed in SPEEDS])
    names = ("castering", "capsize", "weave", "weave (pair)")
    caption = (
        "Eigenvalues of the benchmark bicycle over its forward speed. It stays upright by itself where all real parts are "
        "negative: from 4.29 m/s, where weave settles, to 6.02 m/s, where capsize begins to grow."
    )
    parts = (
        Curves("Real parts", "1/s", names, found.real),
        Curves("Imaginary parts", "1/s", names, found.imag),
        Curves("Real parts of capsize and weave", "1/s", names[1:3], found.real[:, 1:3]),
    )
    return {"eigenvalues": Plate(parts, caption, SPEEDS, "Forward speed [m/s]")}


EXAMPLE = Example(**texts("bicycle"), run=run, plates=plates)
