"""Identification: how long the parameters of an arm take to be found in a log, and how right they are."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from kumitate import Robot, identify
from kumitate.identification import exciting_trajectory
from kumitate.measure.timing import Effort, once, thread_seconds
from kumitate.model.samples import sample

from .contract import Case
from .report import Row

__all__ = ["ParametersFound"]


@dataclass(frozen=True)
class ParametersFound(Case):
    """Inertias of PA10 from 20 s at 200 Hz of coordinates and efforts, these with noise; its masses are not those of the model.

    Attributes:
        at_most: seconds.
        noise: of the efforts, as part of the standard deviation of each; `wrong`: the masses in the model, as part of the real.
    """

    at_most: float
    noise: float = 0.02
    wrong: float = 0.9
    name = "identification"
    title = "inertias of an arm of seven joints from its log"

    def rows(self, effort: Effort) -> Iterator[Row]:
        mechanism, rng = sample("pa10")(), np.random.default_rng(1)
        real = Robot(mechanism)
        bodies = tuple(replace(body, mass=body.mass * self.wrong) for body in mechanism.bodies)
        model = Robot(replace(mechanism, bodies=bodies))
        t = np.arange(0.0, 20.0, 0.005)[: max(400, round(4000 * effort.scale))]
        q, v, a = exciting_trajectory(model, trials=60)(t)
        tau = real.inverse_dynamics(q, v, a)
        noisy = tau + self.noise * tau.std(axis=0) * rng.normal(size=tau.shape)
        start = thread_seconds()
        found = identify({"t": t, "q": q, "tau": noisy}, model, find=["inertia:*"])
        seconds = thread_seconds() - start
        again = Robot(found.mechanism).inverse_dynamics(q, v, a)
        error = float(np.abs(again - tau).max() / np.abs(tau).max())
        remarks = f"efforts of the motion by what was found: wrong by {error:.1%} of the largest, noise {self.noise:.0%}"
        yield Row(self.name, "differentiation, base parameters, bodies", once(seconds), at_most=self.at_most, remarks=remarks)
