"""Steps of scenes from recorded states, where two versions of the code do the same work, which their motions are not."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from kumitate.contact.scene import Contact
from kumitate.measure.timing import Effort, Timing, thread_seconds
from kumitate.model import Mechanism
from kumitate.simulate.scenes.many_bodies import ManyBodies
from kumitate.simulate.setup import Setup
from kumitate.simulate.simulation import MechanismSimulation

from .contract import Case
from .report import Row
from .scenes import STEP, thrown, wall

__all__ = ["RecordedStates"]

#: Steps that are timed from every state, without the impulses of the step before it.
STEPS = 5
#: A folder with the states of an earlier version, which are recorded there if it has none.
FOLDER = "KUMITATE_STATES"


@dataclass(frozen=True)
class Thrown:
    """A motion of which states are recorded every 25 ms, from a time on up to another [s]."""

    title: str
    make: Callable[[], tuple[Mechanism, Contact, np.ndarray, np.ndarray]]
    begin: float
    end: float


MOTIONS = {
    "bricks10": Thrown("10 bricks, thrown", lambda: thrown(10), 0.0, 1.5),
    "wall100": Thrown("a wall of 100 bricks", lambda: wall(10, 10), 0.0, 0.2),
    "bricks100": Thrown("100 bricks, thrown", lambda: thrown(100), 0.0, 0.5),
    "pile100": Thrown("100 bricks, piling", lambda: thrown(100), 0.5, 1.25),
}


@dataclass(frozen=True)
class RecordedStates(Case):
    """Steps of 1 ms from states of a motion: the sum, over all states, of the least time of each.

    Contact amplifies rounding, so that another order of operations leads a thrown pile elsewhere within a second; from the same
    states its effect on a few steps is that of the code alone. With the folder `FOLDER` in the environment, states are those
    that the first version to be timed recorded there.
    """

    name: str = "recorded_states"
    title: str = "steps of scenes from recorded states"

    def rows(self, effort: Effort) -> Iterator[Row]:
        for name, motion in MOTIONS.items():
            mechanism, contact, q, v = motion.make()
            simulation = MechanismSimulation(Setup(mechanism, contact=contact, step=STEP))
            states = _states(name, motion, simulation, q.ravel(), v.ravel())
            states = states[:: max(1, round(1.0 / effort.scale))]
            assert isinstance(simulation.compiled, ManyBodies)
            stepper = simulation.compiled.stepper(simulation.actuation, STEP, q.ravel(), v.ravel())
            least = np.full(len(states), np.inf)
            for _ in range(min(effort.rounds, 12)):
                for k, state in enumerate(states):
                    stepper.begin(state[: mechanism.nq], state[mechanism.nq :])
                    begin = thread_seconds()
                    stepper.run({}, 1, STEPS)
                    least[k] = min(least[k], thread_seconds() - begin)
            mean = float(least.sum()) / (STEPS * len(states))
            remarks = f"{len(states)} states; the slowest {1e6 * least.max() / STEPS:.1f} µs"
            yield Row(motion.title, "a step", Timing(mean, float(np.median(least)) / STEPS, effort.rounds), remarks=remarks)


def _states(name: str, motion: Thrown, simulation: MechanismSimulation, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """The recorded states (n, nq + nv) of a motion."""
    folder = os.environ.get(FOLDER, "")
    path = Path(folder) / f"{name}.npy"
    if folder and path.exists():
        return np.asarray(np.load(path))
    run = simulation.run(q, v, duration=motion.end, every=25)
    states = np.hstack([run.q, run.v])[run.time >= motion.begin - 1e-9]
    if folder:
        path.parent.mkdir(parents=True, exist_ok=True)
        np.save(path, states)
    return states
