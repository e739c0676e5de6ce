"""`Described`: the experiment of a file, with what only files say: laws by name, and a start that is rough."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..model.samples import SAMPLES
from ..robot import Robot
from ..run import Run
from ..simulate.parameters import Plant
from ..simulate.setup import Experiment
from ..simulation import Simulation
from .laws import ControlLaw, controller_of

if TYPE_CHECKING:
    from ..contact.scene import Contact


@dataclass(frozen=True, eq=False)
class Described(Experiment):
    """One simulation that a file describes, with every name looked up and every number in its place.

    Attributes:
        tau: constant efforts at the joints (nv) [N·m, N]; without a controller.
        laws: the controllers, whose sum drives it; they are made for its robot.
        assemble: whether loops are closed from a rough start, by the nearest configuration.
        height: of the lowest point above the floor at the start [m]; None leaves the start as it is.
        step: time step [s], made a little shorter if the duration is not a multiple of it; that of a sample, or 1e-3, unless
            given.
        duration: simulated time [s]; that of a sample, or 10, unless given.
        every: steps from one recorded state to the next; unless given, every step, and about a hundred records of each run of
            a sweep.
    """

    contact: Contact | None = field(default=None, kw_only=True)
    duration: float = field(default=10.0, kw_only=True)
    tau: np.ndarray = field(kw_only=True)
    laws: tuple[ControlLaw, ...] = field(default=(), kw_only=True)
    assemble: bool = field(default=False, kw_only=True)
    height: float | None = field(default=None, kw_only=True)

    @property
    def plant(self) -> Plant:
        """What parameters of the model and of its laws belong to; laws whose gains differ have none in common."""
        gains: dict[str, list[Any]] = {}
        for law in self.laws:
            for name, value in law.gains.items():
                gains.setdefault(name, []).append(value)
        alike = {name: many[0] for name, many in gains.items() if all(np.array_equal(many[0], value) for value in many)}
        return Plant(self.mechanism, self.contact, alike)

    @property
    def start(self) -> tuple[np.ndarray, np.ndarray]:
        """(q, v), put onto the floor and with loops closed where that is asked for.

        Raises:
            ModelError: if loops cannot be closed from there.
        """
        return self.started(self.q, self.v)

    def started(self, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Another start, treated likewise."""
        if self.height is not None and self.contact is not None:
            from ..contact import on_ground

            q = np.asarray(on_ground(self.mechanism, q, self.contact, height=self.height))
        if self.assemble and self.mechanism.loops:
            q, v = Robot(self.mechanism).assemble(q, v)
        return q, v

    def simulation(self, *, equal_steps: bool = False, parameters: Sequence[str] = ()) -> Simulation:
        """What computes it.

        Args:
            parameters: of the model that may differ from run to run.
            equal_steps: whether "auto" has to take an integrator of constant step, as batches need.

        Raises:
            KumitateError: if anything of the setup is refused.
        """
        q, v = self.start
        driven: Any = self.tau if np.any(self.tau) else None
        if self.laws:
            driven = controller_of(self.laws, Robot(self.mechanism, start=(q, v)))
        asked = replace(self, q=q, v=v, controller=driven, equal_steps=equal_steps, parameters=parameters)
        return Simulation.of(asked)

    def run(self, origin: Mapping[str, Any], progress: Any = None) -> Run:
        """The motion; its settings hold `origin`, as of `Scenario.settings`.

        Raises:
            DivergenceError: if it runs away; with the run up to there.
        """
        simulation = self.simulation()
        simulation.settings |= origin
        return simulation.run(duration=self.duration, every=self.every, progress=progress)


def times_of(name: Any) -> dict[str, float]:
    """The step and the duration of a sample; nothing of other robots."""
    return {"step": SAMPLES[name].step, "duration": SAMPLES[name].duration} if name in SAMPLES else {}
