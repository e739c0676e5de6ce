"""A state of a scene of many free bodies, advanced by the procedures of `contact.scenes`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...contact.scenes.building import log_of, roomier
from ...contact.scenes.scene import Log, Scene
from ...contact.scenes.step import DONE, FULL, ROOM, advance_scene
from ...errors import InputError
from ..integrators import FAILED
from .actuation import Actuation
from .outputs import STATE
from .state import LIST
from .stepper import Stepper

if TYPE_CHECKING:
    from ..interactions.scene import SceneCode

__all__ = ["Logged", "SceneStepper"]

#: The rows of a log for touches: at least this many, and this many per record and body.
_TOUCHES, _PER_BODY = 4096, 8


class Logged(NamedTuple):
    """What was recorded of some records: the number of the step that each begins with, and the log."""

    begins: np.ndarray
    log: Log


class SceneStepper(Stepper):
    """One state of a scene, advanced in place by steps of one length.

    Attributes:
        state: as of every stepper; the impulses of the last step, from which the next one is solved, are in the scene.
        logged: the contact of all records since the start.
    """

    def __init__(self, code: SceneCode, actuation: Actuation, step: float, q: np.ndarray, v: np.ndarray):
        self.compiled, self.actuation, self.step, self.whole = code, actuation, step, True  # type: ignore[assignment]
        self.state = {
            "number": np.zeros(1), "q": q[None].copy(), "v": v[None].copy(), "work": np.zeros(1), "error": np.zeros(1),
            "size": np.full(1, step), "u": actuation.constants[None].copy(),
        }  # fmt: skip
        self.steps = self.rejected = 0
        self.logged: list[Logged] = []
        self.scene: Scene = code.scene(step, actuation.forcing.places)
        self._system = None

    def begin(self, q: np.ndarray, v: np.ndarray) -> None:
        super().begin(q, v)
        self.scene.counts[0] = 0
        self.scene.bodies.quiet[:] = 0

    def load(self, carried: Mapping[str, np.ndarray]) -> None:
        super().load({name: carried[name] for name in self.state})
        rows = carried[LIST]
        while len(rows) > len(self.scene.memory.feature):
            self.scene.counts[1:] = (0, len(rows), 0)
            self.scene = roomier(self.scene)
        memory, known = self.scene.memory, len(rows)
        memory.solid[:known], memory.feature[:known], memory.impulse[:known] = rows[:, :2], rows[:, 2], rows[:, 3:]
        self.scene.counts[0] = known
        self.scene.bodies.quiet[:] = carried["quiet"]

    def carried(self) -> dict[str, np.ndarray]:
        memory, known = self.scene.memory, int(self.scene.counts[0])
        rows = np.column_stack([memory.solid[:known], memory.feature[:known], memory.impulse[:known]])
        return {**super().carried(), LIST: rows, "quiet": self.scene.bodies.quiet.astype(float)}

    def look(self) -> dict[str, np.ndarray]:
        return {name: self.state[name][0].copy() for name in STATE}

    def run(self, seen: Mapping[str, np.ndarray], records: int, every: int) -> None:
        log = self._advanced(records, every)
        known = {
            "q": log.q.reshape(records, -1), "v": log.v.reshape(records, -1), "work": log.work,
            "error": np.maximum.accumulate(log.sums[:, 1] / FAILED),
        }  # fmt: skip
        known["error"] = np.maximum(known["error"], self.state["error"][0])
        self.state["error"][0] = known["error"][-1]
        for name, array in seen.items():
            array[:] = known[name]
        self.steps += records * every

    def touched(self, interaction: Any, h: float, q: np.ndarray, v: np.ndarray, u: np.ndarray) -> Any:
        """The contact of the steps that begin at recorded states, the last of which was not made until now."""
        carried, logged = self.carried(), list(self.logged)
        self._advanced(1, 1)
        found, self.logged = self.logged, logged
        self.load(carried)
        return interaction.record_of(found, h, q, v)

    def _advanced(self, records: int, every: int) -> Log:
        """The log of so many records; the state is advanced by them."""
        scene, state, bodies = self.scene, self.state, len(self.scene.bodies.mass)
        begins = int(state["number"][0]) + every * np.arange(records)
        self._put_efforts()
        q, v, work = state["q"].reshape(-1, 7), state["v"].reshape(-1, 6), state["work"]
        log = log_of(bodies, records, _TOUCHES + _PER_BODY * bodies * records)
        while (ended := advance_scene(scene, q, v, work, records, every, log)) != DONE:
            if ended == ROOM:
                self.scene = scene = roomier(scene)
            elif ended == FULL:
                more = np.zeros((2 * len(log.touches) + int(scene.counts[1]), log.touches.shape[1]))
                more[: len(log.touches)] = log.touches
                log = log._replace(touches=more)
            else:  # no usable solution: the run ends at the state before it
                v[:] = np.inf
                log.v[log.marks[0] * bodies :] = np.inf
                log.q[log.marks[0] * bodies :] = np.tile(q, (records - int(log.marks[0]), 1))
                break
        state["number"][0] += records * every
        used = log.touches[: int(log.marks[2])].copy()
        self.logged.append(Logged(begins, log._replace(touches=used)))
        return log

    def _put_efforts(self) -> None:
        """The held efforts, as the scene takes them."""
        forcing, u = self.actuation.forcing, self.efforts
        tau, wrenches, drives = forcing.split(u[None])
        if drives:
            raise InputError(f"{forcing.mechanism.name}: a scene of free bodies has no loops to drive; leave out `loop_tau`")
        self.scene.bodies.effort[:] = tau.reshape(-1, 6)
        for k, name in enumerate(forcing.places):
            self.scene.pulls.value[k] = wrenches[name][0]
