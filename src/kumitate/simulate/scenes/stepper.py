"""A state of a scene of many free bodies, advanced by the procedures of `contact.scenes`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ...contact.scenes.building import log_of, roomier
from ...contact.scenes.scene import Scene, SceneLog
from ...contact.scenes.sleep import wake_all
from ...contact.scenes.step import DONE, FULL, ROOM, UNSOLVED
from ..integrators import FAILED
from ..results.state_file import LIST
from ..stepping.actuation import Actuation
from ..stepping.outputs import STATE
from ..stepping.stepper import Stepper
from .outputs import Following, SceneStates
from .pages import ScenePage
from .record import UNIT, Logged, acceleration_of, record_of

if TYPE_CHECKING:
    from ..results.contact_record import Touched
    from .many_bodies import ManyBodies

#: What is carried from step to step of a row, and recorded.
CARRIED, SEEN = ("number", "q", "v", "work", "error"), ("q", "v", "work", "error")


class SceneStepper(Stepper):
    """One state of a scene, advanced in place by steps of one length.

    Attributes:
        state: as of every stepper; the impulses of the last step, from which the next one is solved, are in the scene.
        logged: the contact of all records since the start, or since a state was loaded.
        model: the numbers of the scene; robots: in it.
    """

    operations = 5_000_000  # as many as a scene of some dozen bodies may take

    compiled: ManyBodies

    def __init__(self, compiled: ManyBodies, actuation: Actuation, step: float, q: np.ndarray, v: np.ndarray):
        """A stepper from a state."""
        super().__init__(compiled, actuation, step, q, v)
        self.logged: list[Logged] = []
        self.model = compiled.model

    @cached_property
    def _steps(self) -> SceneSteps:
        """The scene with the numbers that the parameters say, made when it is first needed."""
        q, v = self.state["q"][0], self.state["v"][0]
        self.model = self.compiled.model_of(self.efforts)
        scene, self.robots = self.compiled.scene(self.model, self.step, q, v)
        rows = self.model.rows.of(q, v) if self.robots else (self.state["q"].reshape(-1, 7), self.state["v"].reshape(-1, 6))
        self._q, self._v = (
            np.concatenate([getattr(robot.part, name) for robot in self.robots] or [np.zeros(0, dtype=np.int64)])
            for name in ("q", "v")
        )
        return SceneSteps(self.model.page(), scene, *rows, self.state["work"])

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
        seen = {name: self.state[name][0].copy() for name in STATE}
        if self.compiled.outputs is None:
            return seen
        outputs = self._outputs(np.array([self.time]), self.state["q"], self.state["v"], ())
        return seen | {name: values[0] for name, values in outputs.items()}

    def run(self, seen: Mapping[str, np.ndarray], records: int, every: int) -> None:
        number = float(self.state["number"][0])
        logged, q, v = self._advanced(records, every)
        log = logged.log
        error = np.maximum.accumulate(log.sums[:, 1] / FAILED)
        known = {"q": q, "v": v, "work": log.work, "error": error}
        known["error"] = np.maximum(known["error"], self.state["error"][0])
        self.state["error"][0] = known["error"][-1]
        if set(seen) - set(SEEN):
            time = (number + every * np.arange(1, records + 1)) * self.step
            known |= self._outputs(time, q, v, (logged,))
        for name, array in seen.items():
            array[:] = known[name]
        self.steps += records * every

    def touched(self, q: np.ndarray, v: np.ndarray, u: np.ndarray) -> Touched:
        logged = [*self.logged, self._ahead()]  # the step that begins at the last record was not made until now
        return record_of(self.model, self._steps.page, logged, self.step, v)

    def gained(self, time: float, count: int, q: np.ndarray, v: np.ndarray, u: np.ndarray) -> float:
        """As logged, for any number of steps."""
        first = round(time / self.step)
        those = ((part.begins >= first) & (part.begins < first + count) for part in self.logged)
        gains = (part.log.sums[some, 3].sum() for part, some in zip(self.logged, those, strict=True))
        return float(sum(gains)) if self._steps.page.gains else 0.0

    def _ahead(self) -> Logged:
        """What the step that begins at the state does, which stays as it is."""
        carried, logged = self.carried(), list(self.logged)
        ahead, _, _ = self._advanced(1, 1)
        self.load(carried)
        self.logged = logged
        return ahead

    def _outputs(self, time: np.ndarray, q: np.ndarray, v: np.ndarray, logged: tuple[Logged, ...]) -> dict[str, np.ndarray]:
        """The outputs of states (n) that the stepper has come through, the last being the state now; NaN where it ran away.

        `logged`: of the steps that led from each to the next one, after those that led to the first.
        """
        outputs, held = self.compiled.outputs, self.efforts.copy()
        assert outputs is not None
        finite = int(np.isfinite(v).all(axis=1).sum())
        if finite < len(v):
            return {array.name: np.full((len(v), *array.shape), np.nan) for array in outputs.arrays}
        following = self._following(v, (*logged, self._ahead())) if outputs.follow else None
        u = self.compiled.efforts_along(time, q, v, held)
        return outputs.of(SceneStates(time, q, v, u), following)

    def _following(self, v: np.ndarray, logged: tuple[Logged, ...]) -> Following:
        """The steps that begin at states: of the last records that were logged, as many as states."""
        records = sum(len(part.begins) for part in logged)
        first = np.arange(records - len(v), records)
        starts = np.cumsum([0, *(len(part.begins) for part in logged)])
        touches = np.concatenate([part.log.touches + start * UNIT for part, start in zip(logged, starts, strict=False)])
        touches[:, 0] -= first[0]
        return Following(acceleration_of(self.model, logged, first, self.step, v), touches[touches[:, 0] >= 0.0])

    def _advanced(self, records: int, every: int) -> tuple[Logged, np.ndarray, np.ndarray]:
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
        return self.logged[-1], q, v

    def _take(self) -> None:
        """The state, as the scene takes it."""
        if self.robots:
            q, v, steps, own = self.state["q"][0], self.state["v"][0], self._steps, self.scene.bodies.robots.motions
            self.model.rows.take(q, v, steps.q, steps.v)
            own.q[:], own.v[:] = q[self._q], v[self._v]

    def _give(self) -> None:
        """The state that the scene has reached."""
        if self.robots:
            q, v, steps, own = self.state["q"][0], self.state["v"][0], self._steps, self.scene.bodies.robots.motions
            self.model.rows.give(steps.q, steps.v, q, v)
            q[self._q], v[self._v] = own.q, own.v

    def _states_of(self, log: SceneLog, records: int) -> tuple[np.ndarray, np.ndarray, list[np.ndarray]]:
        """The recorded states (records, nq), (records, nv), and what each robot has reached."""
        if not self.robots:
            return log.q.reshape(records, -1), log.v.reshape(records, -1), []
        q, v = np.zeros((records, self.state["q"].shape[1])), np.zeros((records, self.state["v"].shape[1]))
        rows, bodies = self.model.rows, len(self.scene.bodies.mass)
        q[:, rows.q] = log.q.reshape(records, bodies, 7)[:, rows.links]
        v[:, rows.v] = log.v.reshape(records, bodies, 6)[:, rows.links]
        q[:, self._q], v[:, self._v] = log.robot_q.reshape(records, -1), log.robot_v.reshape(records, -1)
        ends = np.cumsum([len(robot.part.v) for robot in self.robots])[:-1]
        return q, v, np.split(log.robot_reached.reshape(records, -1), ends, axis=1)

    def _put_efforts(self) -> None:
        """The held efforts, as the scene takes them; where parameters are others than before, the scene is made again."""
        efforts, u = self.scene.efforts, self.efforts
        efforts.number[:] = self.state["number"]
        if np.array_equal(u, efforts.held):
            return
        if self.compiled.model_of(u) is not self.model:
            carried, logged = self.carried(), self.logged
            del self._steps  # made again with these parameters
            self.load(carried)
            self.logged, efforts = logged, self.scene.efforts
            efforts.number[:] = self.state["number"]
        efforts.held[:] = u
        values, bodies = np.append(u, 0.0), self.scene.bodies  # the last number, of index −1, is zero
        for array, places in (
            (bodies.effort, efforts.bodies), (self.scene.pulls.value, efforts.pulls), (bodies.robots.effort, efforts.robots),
            (bodies.robots.motions.u, efforts.own), (bodies.robots.motions.commands, efforts.commands),
        ):  # fmt: skip
            array.reshape(-1)[:] = values[places]


#: The rows of a log for touches: at least this many, and this many per record and body.
_TOUCHES, _PER_BODY = 4096, 8


class SceneSteps:
    """A scene with the rows of its moving bodies, advanced in place.

    Attributes:
        page: what its steps call; scene: as it is now, which is replaced where it lacks room.
        q, v: rows (bodies, 7) and (bodies, 6); `work`: done since the start [J].
    """

    def __init__(self, page: ScenePage, scene: Scene, q: np.ndarray, v: np.ndarray, work: np.ndarray):
        self.page, self.scene, self.q, self.v, self.work = page, scene, q, v, work
        self._asked = (0, 0)
        self._log = log_of(0, 0, 0)
        self._run: Callable[[], int] | None = None

    def make_room(self) -> None:
        """Gives the scene the room that its `counts` say it lacks."""
        self.scene, self._run = roomier(self.scene), None

    def load(self, rows: np.ndarray, *, begins: bool) -> None:
        """Continues from what the page carries."""
        self.page.load(rows, begins=begins)
        if len(rows):
            self._run = None  # the page may have made more room

    def begin(self, records: int, every: int) -> None:
        """Prepares for so many records of so many steps."""
        if (records, every) != self._asked:
            bodies = len(self.scene.bodies.mass)
            own = self.scene.bodies.robots.motions
            touches = _TOUCHES + _PER_BODY * bodies * records
            self._log, self._run = log_of(bodies, records, touches, (len(own.q), len(own.v))), None
            self._asked = records, every
        self._log.marks[:] = 0

    def go(self) -> bool:
        """Makes the steps of a call; returns whether all of them have a usable solution.

        Raises:
            InputError: if the page refuses steps of this length.
        """
        while (ended := self._ended()) not in (DONE, UNSOLVED):
            if ended == ROOM:
                self.make_room()
                continue
            if ended != FULL:
                raise self.page.refusal(self.scene)
            log = self._log
            more = np.zeros((2 * len(log.touches) + int(self.scene.counts[1] + self.scene.counts[4]), log.touches.shape[1]))
            more[: len(log.touches)] = log.touches
            self._log, self._run = log._replace(touches=more), None
        return ended == DONE

    def taken(self) -> SceneLog:
        """A copy of the log, with the touches that there are."""
        kept = self._log._replace(touches=self._log.touches[: int(self._log.marks[2])])
        return SceneLog(*(part.copy() for part in kept))

    def _ended(self) -> int:
        if self._run is None:
            self._run = self.page.bound(self.scene, self.q, self.v, self.work, *self._asked, self._log)
        return self._run()
