"""A state of a scene of many free bodies, advanced by the procedures of `contact.scenes`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...contact.scenes.scene import Scene, SceneLog
from ...contact.scenes.sleep import wake_all
from ...model import Bound
from ..integrators import FAILED
from ..results.state_file import LIST
from ..stepping.actuation import Actuation
from ..stepping.equations import parts_of
from ..stepping.outputs import STATE
from ..stepping.stepper import Stepper
from ..stepping.system import states_of
from .advance import Advance
from .free_rows import FreeRows
from .robots import with_robots

if TYPE_CHECKING:
    from ..interactions.scene import SceneCode

__all__ = ["Logged", "SceneStepper"]


class Logged(NamedTuple):
    """What was recorded of some records: the number of the step that each begins with, the log, and of robots the velocities.

    Attributes:
        reached: of each robot, its velocities after the first step of each record, in the axes before it.
    """

    begins: np.ndarray
    log: SceneLog
    reached: list[np.ndarray]


class SceneStepper(Stepper):
    """One state of a scene, advanced in place by steps of one length.

    Attributes:
        state: as of every stepper; the impulses of the last step, from which the next one is solved, are in the scene.
        logged: the contact of all records since the start, or since a state was loaded.
    """

    def __init__(
        self, code: SceneCode, actuation: Actuation, step: float, q: np.ndarray, v: np.ndarray, bounds: Sequence[Bound] = ()
    ):
        """A stepper from a state; `bounds`: the limits at which joints stop."""
        self.compiled, self.actuation, self.step, self.whole = code, actuation, step, True  # type: ignore[assignment]
        self.state = {
            "number": np.zeros(1), "q": q[None].copy(), "v": v[None].copy(), "work": np.zeros(1), "error": np.zeros(1),
            "size": np.full(1, step), "u": actuation.constants[None].copy(),
        }  # fmt: skip
        self._own = states_of(actuation.forcing)  # none: such drives are refused
        self.steps = self.rejected = 0
        self.logged: list[Logged] = []
        places = actuation.forcing.places
        self.robots = code.robots(step, places, q, v, bounds)
        self._rows = FreeRows(code.mechanism)
        rows = self._rows.of(q, v) if self.robots else (self.state["q"].reshape(-1, 7), self.state["v"].reshape(-1, 6))
        self._steps = Advance(code.page(), with_robots(code.scene(step, places), self.robots), *rows, self.state["work"])
        self._q, self._v = (
            np.concatenate([getattr(robot.part, name) for robot in self.robots] or [np.zeros(0, dtype=np.int64)])
            for name in ("q", "v")
        )
        self._system = None

    @property
    def operations(self) -> int:
        """Unknown: as many as a scene of some dozen bodies may take."""
        return 5_000_000

    @property
    def scene(self) -> Scene:
        """The scene, with the impulses of the last step."""
        return self._steps.scene

    def begin(self, q: np.ndarray, v: np.ndarray) -> None:
        super().begin(q, v)
        self.scene.counts[0] = 0
        self.scene.bodies.quiet[:] = 0
        self._steps.page.begin()
        wake_all(self.scene)

    def load(self, carried: Mapping[str, np.ndarray]) -> None:
        super().load({name: carried[name] for name in self.state})
        rows = carried[LIST]
        self._steps.load(rows[rows[:, 2] < 0.0], begins=not carried["number"])
        rows = rows[rows[:, 2] >= 0.0]
        while len(rows) > len(self.scene.memory.feature):
            self.scene.counts[1:4] = (0, len(rows), 0)
            self._steps.make_room()
        memory, known = self.scene.memory, len(rows)
        memory.solid[:known], memory.feature[:known], memory.impulse[:known] = rows[:, :2], rows[:, 2], rows[:, 3:]
        self.scene.counts[0] = known
        self.scene.bodies.quiet[:] = carried["quiet"]
        wake_all(self.scene)
        self.logged = []  # else single steps, of which each loads a state, would keep all of them

    def carried(self) -> dict[str, np.ndarray]:
        memory, known = self.scene.memory, int(self.scene.counts[0])
        rows = np.column_stack([memory.solid[:known], memory.feature[:known], memory.impulse[:known]])
        rows = np.concatenate([rows, self._steps.page.carried()])
        return {**super().carried(), LIST: rows, "quiet": self.scene.bodies.quiet.astype(float)}

    def look(self) -> dict[str, np.ndarray]:
        return {name: self.state[name][0].copy() for name in STATE}

    def run(self, seen: Mapping[str, np.ndarray], records: int, every: int) -> None:
        log, q, v = self._advanced(records, every)
        error = np.maximum.accumulate(log.sums[:, 1] / FAILED)
        known = {"q": q, "v": v, "work": log.work, "error": error}
        known["error"] = np.maximum(known["error"], self.state["error"][0])
        self.state["error"][0] = known["error"][-1]
        for name, array in seen.items():
            array[:] = known[name]
        self.steps += records * every

    def touched(self, interaction: Any, h: float, q: np.ndarray, v: np.ndarray, u: np.ndarray) -> Any:
        """The contact of the steps that begin at recorded states, the last of which was not made until now."""
        carried, logged = self.carried(), self.logged
        self.logged = list(logged)
        self._advanced(1, 1)
        found = self.logged
        self.load(carried)
        self.logged = logged
        return interaction.record_of(found, self._steps.page, h, q, v)

    def gained(self, interaction: Any, time: float, count: int, q: np.ndarray, v: np.ndarray, u: np.ndarray) -> float:
        """As logged, for any number of steps."""
        first = round(time / self.step)
        those = ((part.begins >= first) & (part.begins < first + count) for part in self.logged)
        found = (part.log.sums[some, 3].sum() for part, some in zip(self.logged, those, strict=True))
        return float(sum(found)) if self._steps.page.gains else 0.0

    def _advanced(self, records: int, every: int) -> tuple[SceneLog, np.ndarray, np.ndarray]:
        """The log of so many records, and their states (records, nq), (records, nv); the state is advanced by them."""
        state = self.state
        begins = int(state["number"][0]) + every * np.arange(records)
        self._put_efforts()
        self._steps.begin(records, every)
        self._take()
        solved, log = self._steps.go(), self._steps.taken()
        self._give()
        q, v, reached = self._states_of(log, records)
        if not solved:  # the run ends at the state before that step
            q[log.marks[0] :], v[log.marks[0] :], state["v"][:] = state["q"], np.inf, np.inf
        state["number"][0] += records * every
        self.logged.append(Logged(begins, log, reached))
        return log, q, v

    def _take(self) -> None:
        """The state, as the scene takes it."""
        if self.robots:
            q, v, steps, own = self.state["q"][0], self.state["v"][0], self._steps, self.scene.bodies.robots.motions
            self._rows.take(q, v, steps.q, steps.v)
            own.q[:], own.v[:] = q[self._q], v[self._v]

    def _give(self) -> None:
        """The state that the scene has reached."""
        if self.robots:
            q, v, steps, own = self.state["q"][0], self.state["v"][0], self._steps, self.scene.bodies.robots.motions
            self._rows.give(steps.q, steps.v, q, v)
            q[self._q], v[self._v] = own.q, own.v

    def _states_of(self, log: SceneLog, records: int) -> tuple[np.ndarray, np.ndarray, list[np.ndarray]]:
        """The recorded states (records, nq), (records, nv), and what each robot has reached."""
        if not self.robots:
            return log.q.reshape(records, -1), log.v.reshape(records, -1), []
        q, v = np.zeros((records, self.state["q"].shape[1])), np.zeros((records, self.state["v"].shape[1]))
        rows, bodies = self._rows, len(self.scene.bodies.mass)
        q[:, rows.q] = log.q.reshape(records, bodies, 7)[:, rows.links]
        v[:, rows.v] = log.v.reshape(records, bodies, 6)[:, rows.links]
        q[:, self._q], v[:, self._v] = log.robot_q.reshape(records, -1), log.robot_v.reshape(records, -1)
        ends = np.cumsum([len(robot.part.v) for robot in self.robots])[:-1]
        return q, v, np.split(log.robot_reached.reshape(records, -1), ends, axis=1)

    def _put_efforts(self) -> None:
        """The held efforts, as the scene takes them."""
        forcing, u = self.actuation.forcing, self.efforts
        tau, wrenches, drives = forcing.split(u[None])
        loop_tau = {name: efforts[0] for name, efforts in drives.items()}
        commands = np.array(parts_of(forcing, u.tolist()).commands, dtype=float).reshape(-1, 3)
        self._rows.put_efforts(tau[0], self.scene.bodies.effort)
        robots = self.scene.bodies.robots
        for k, name in enumerate(forcing.places):
            moving = forcing.mechanism.tree.places[name].link >= 0
            self.scene.pulls.value[k] = wrenches[name][0] if moving else 0.0
        for robot in self.robots:
            robot.put_efforts(robots, tau[0], self.scene.pulls.value, commands, loop_tau)
