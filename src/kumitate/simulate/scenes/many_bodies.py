"""The steps of scenes: many free bodies, and robots among them, by procedures whose code is the same for any number."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ...analysis import fastest_rate
from ...compile import Kernel
from ...compile.threads import pool, thread_count
from ...contact.laws.residual import FAILED
from ...contact.pairs.rows.touch import compile_routines
from ...contact.scene import Contact
from ...contact.scenes.arrays import Efforts, Scene, SceneLog
from ...contact.scenes.building import log_of, roomier, scene_of
from ...contact.scenes.parts import RobotPart
from ...contact.scenes.step import DONE, FULL, ROOM, UNSOLVED
from ...model import Mechanism
from ...procedure import LocatedProgram
from ...records.contact_record import LIST
from ...scalar import Array
from ..driving.actuation import Actuation
from ..driving.forcing import InputLayout
from ..kept import Kept
from ..stepping.advance import Advance, Stepper, start_of
from ..stepping.equations import efforts_program
from ..stepping.interaction import EXPLICIT
from ..stepping.outputs import STATE
from .model import PAGES, SceneModel
from .record import UNIT, Logged, SceneOutputs, acceleration_of, joined, record_of
from .robots import RobotSteps, robots_of, with_robots

if TYPE_CHECKING:
    from ...records.contact_record import Touched
    from ..stepping.interaction import StepDesign

#: With the option "sleeping", bodies sleep after this many steps in which they have hardly moved.
PATIENCE = 20


class ManyBodies(Advance):
    """The steps of a scene."""

    refusal = (
        "steps of a scene of many bodies cannot be differentiated, as the solvers of scenes have no derivatives; up to four "
        "free bodies are traced, and their steps differentiated, with Simulation(side_by_side=True)"
    )
    keeps_closed = False

    def __init__(self, mechanism: Mechanism, contact: Contact, design: StepDesign):
        """The steps by a design; nothing is compiled before it is needed."""
        self.mechanism, self.integrator = mechanism, design.integrator
        self.follows = bool(self.mechanism.driven)
        #: whether bodies that nothing touches take Runge-Kutta steps
        self.flies = getattr(self.integrator, "flight", None) is not None
        self.forcing, self.bounds, self._asked = design.actuation.forcing, design.bounds, design.outputs
        self.model = SceneModel(mechanism, contact)
        self._program = design.actuation.program
        self._models, self._scenes = Kept[SceneModel](64), Kept[tuple[Scene, list[RobotSteps]]](64)

    @cached_property
    def outputs(self) -> SceneOutputs | None:
        """The outputs of the simulation, if there are any."""
        return SceneOutputs(self._asked, self.forcing, self.model.names, self.joint_efforts) if self._asked else None

    def model_of(self, u: np.ndarray) -> SceneModel:
        """The numbers of the scene with the parameters in u (size)."""
        row, parameters = self.forcing.layout.row(u), self.forcing.parameters
        if not row or parameters is None or np.array_equal(row[0], parameters.blank, equal_nan=True):
            return self.model

        def made() -> SceneModel:
            plant = parameters.plant_of(row[0])
            return SceneModel(plant.mechanism, plant.contact or self.model.contact)

        return self._models.get(row[0].tobytes(), made)

    def stepper(self, actuation: Actuation, step: float, q: np.ndarray, v: np.ndarray) -> SceneStepper:
        return SceneStepper(self, actuation, step, start_of(actuation, step, q[None], v[None]))

    @cached_property
    def seen(self) -> Sequence[Array]:
        m = self.mechanism
        carried = [Array(name, shape) for name, shape in zip(STATE, ((m.nq,), (m.nv,), (), ()), strict=True)]
        return [*carried, *(self.outputs.arrays if self.outputs else ())]

    def rows(
        self, actuation: Actuation, step: float, state: Mapping[str, np.ndarray]
    ) -> Callable[[Mapping[str, np.ndarray]], SceneRows]:
        own = ({name: array[row : row + 1] for name, array in state.items()} for row in range(len(state["u"])))
        return partial(SceneRows, state, [SceneStepper(self, actuation, step, views) for views in own])

    def scene(self, model: SceneModel, step: float, q: np.ndarray, v: np.ndarray) -> tuple[Scene, list[RobotSteps]]:
        """A scene to step from a state, and its robots."""
        fly = self.flying(model, step, q, v)
        scene, robots = self._scenes.get((model, step, fly), lambda: self._made(model, step, fly))
        return _copied(scene), robots

    def flying(self, model: SceneModel, step: float, q: np.ndarray, v: np.ndarray) -> tuple[bool, ...]:
        """Of each robot, whether it takes Runge-Kutta steps while nothing pushes it: those that are not too stiff for them.

        Their rates are those at a state (nq), (nv); with drives or stops it takes none.
        """

        def slow(part: RobotPart) -> bool:
            return fastest_rate(part.mechanism, q[part.q], v[part.v])[0] * step < EXPLICIT

        return tuple(free and slow(robot.part) for free, robot in zip(self._free_to_fly, model.robots, strict=True))

    @cached_property
    def _free_to_fly(self) -> list[bool]:
        return [robot.flies for robot in robots_of(self.mechanism, bounds=self.bounds, flies=self.flies)]

    def _made(self, model: SceneModel, step: float, fly: Sequence[bool]) -> tuple[Scene, list[RobotSteps]]:
        layout, places = self.forcing.layout, tuple(self.forcing.wrenches)
        robots = robots_of(model.mechanism, places, layout.group("loop_tau"), self.bounds, flies=self.flies)
        for robot, flies in zip(robots, fly, strict=True):
            robot.flies = flies
        patience = PATIENCE if model.contact.options.get("sleeping") else 0
        made = scene_of(model.mechanism, model.contact, places, step=step, patience=patience, flies=self.flies)
        address = 0 if self._located is None else self._located.address
        return with_robots(made, robots)._replace(efforts=_efforts_of(model, robots, layout, address)), robots

    @cached_property
    def _located(self) -> LocatedProgram | None:
        """The compiled functions (t, q, v, u) → u, called before every step."""
        return None if self._program is None else LocatedProgram(self._program)

    def observed(self, q: np.ndarray, v: np.ndarray, u: np.ndarray) -> list[np.ndarray]:
        return self.model_of(u[0]).quantities(q, v)

    def closed(self, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        q, v = q.copy(), v.copy()
        for robot in self.model.robots:
            if robot.part.mechanism.tree.closed:
                q[:, robot.part.q], v[:, robot.part.v] = robot.projection(q[:, robot.part.q], v[:, robot.part.v])
        return q, v

    @cached_property
    def acting(self) -> Kernel | None:
        return None if self._program is None else Kernel(self._program)

    def joint_efforts(self, h: float, q: np.ndarray, v: np.ndarray, u: np.ndarray) -> np.ndarray:
        return np.asarray(self._efforts(h, q, v, u))

    @cached_property
    def _efforts(self) -> Kernel:
        return Kernel(efforts_program(self.forcing, None), quick=True)

    def accelerations(self, h: float, q: np.ndarray, v: np.ndarray, u: np.ndarray) -> np.ndarray:
        raise AssertionError("scenes compute contact at every state")


def _copied(record: Any) -> Any:
    """A record of arrays, with arrays of its own."""
    if isinstance(record, tuple):
        return type(record)(*map(_copied, record))
    return record.copy() if isinstance(record, np.ndarray) else record


def _efforts_of(model: SceneModel, robots: Sequence[RobotSteps], layout: InputLayout, program: int) -> Efforts:
    """The efforts of a scene: from which places of u to which of its arrays, and from which rows the program reads q and v."""
    m, places = model.mechanism, model.places
    on_bodies = np.full((len(m.tree.links), 6), -1)
    on_bodies[places.links] = places.free_v
    efforts = [robot.efforts(layout) for robot in robots]
    pulls: list[int] = []
    for name, place in layout.group("wrenches").items():
        pulls += range(place.start, place.stop) if m.tree.places[name].link >= 0 else [-1] * 6
    whole = [on_bodies, pulls, *([k for of_one in efforts for k in of_one[part]] for part in range(3))]
    return Efforts(
        np.array([program], dtype=np.int64), np.zeros(1), places.q, places.v, np.zeros(m.nq), np.zeros(m.nv),
        np.full(layout.size, np.nan), np.zeros(layout.size),
        *(np.array(numbers, dtype=np.int64).reshape(-1) for numbers in whole),
    )  # fmt: skip


class SceneStepper(Stepper):
    """One state of a scene; the impulses of the last step, from which the next one is solved, are in the scene.

    `logged`: the contact of all records since the start, or since a state was loaded.
    """

    compiled: ManyBodies

    def __init__(self, compiled: ManyBodies, actuation: Actuation, step: float, state: dict[str, np.ndarray]):
        super().__init__(compiled, actuation, step, state)
        self.logged: list[Logged] = []
        self.operations = 50_000 * len(compiled.mechanism.tree.links)  # as many as a step of so many that touch takes, about
        self.stay()

    @cached_property
    def _steps(self) -> SceneSteps:
        """The scene with the numbers that the parameters say, made when it is first needed."""
        return SceneSteps(self.compiled, self.compiled.model_of(self.efforts), self.step, self.state)

    @property
    def scene(self) -> Scene:
        """The scene, with the impulses of the last step."""
        return self._steps.scene

    def begin(self, q: np.ndarray, v: np.ndarray) -> None:
        super().begin(q, v)
        if not self._steps.fits(self.step, q, v):
            del self._steps
        self.rest()
        self._forget()

    def rest(self) -> None:
        self.logged = []

    def stay(self) -> None:
        """Keeps the state that was reached, so that `resume` knows it."""
        self._stayed = self._bits()

    def resume(self) -> None:
        """Lets the next step begin without the impulses of the last one if the state was changed from outside."""
        if self._stayed != self._bits():
            self._forget()

    def _bits(self) -> list[bytes]:
        return [self.state[name].tobytes() for name in ("number", "q", "v")]

    def _forget(self) -> None:
        self.scene.counts[0] = 0
        self.scene.bodies.quiet[:] = 0
        self.scene.bodies.robots.motions.settled[:] = 0.0
        self._steps.page.begin()
        self._steps.wake_all()

    def load(self, carried: Mapping[str, np.ndarray]) -> None:
        super().load({name: carried[name] for name in self.state})
        rows = carried[LIST]
        self._steps.load(rows[rows[:, 2] == -1.0], begins=not carried["number"])
        settled, pieces = self.scene.bodies.robots.motions.settled, rows[rows[:, 2] == _PIECE]
        pieces = pieces[np.isin(pieces[:, 0], [*self._steps.drives, *self._steps.holds])]  # a state may be of other stops
        settled[:] = 0.0
        settled[pieces[:, 0].astype(int)] = pieces[:, 3]
        rows = rows[rows[:, 2] >= 0.0]
        while len(rows) > len(self.scene.memory.feature):
            self.scene.counts[1:4] = (0, len(rows), 0)
            self._steps.make_room()
        memory, known = self.scene.memory, len(rows)
        memory.solid[:known], memory.feature[:known], memory.impulse[:known] = rows[:, :2], rows[:, 2], rows[:, 3:]
        self.scene.counts[0] = known
        self.scene.bodies.quiet[:] = carried["quiet"]
        self._steps.wake_all()
        self.logged = []  # else single steps, of which each loads a state, would keep all of them

    def _further(self) -> dict[str, np.ndarray]:
        memory, known, settled = self.scene.memory, int(self.scene.counts[0]), self.scene.bodies.robots.motions.settled
        drives, holds = self._steps.drives, self._steps.holds
        places = np.concatenate([drives[settled[drives + 1] == 0.0], holds])
        places = places[settled[places] != 0.0]
        pieces = np.zeros((len(places), 6))
        pieces[:, 0], pieces[:, 2], pieces[:, 3] = places, _PIECE, settled[places]
        points = np.column_stack([memory.solid[:known], memory.feature[:known], memory.impulse[:known]])
        rows = np.concatenate([points, self._steps.page.carried(), pieces])
        return {LIST: rows, "quiet": self.scene.bodies.quiet.astype(float)}

    def look(self) -> dict[str, np.ndarray]:
        seen = {name: self.state[name][0].copy() for name in STATE}
        if self.compiled.outputs is None:
            return seen
        outputs = self._outputs(np.array([self.time]), self.state["q"], self.state["v"])
        return seen | {name: values[0] for name, values in outputs.items()}

    def run(self, seen: Mapping[str, np.ndarray], records: int, every: int) -> None:
        number, error = float(self.state["number"][0]), self.state["error"].copy()
        logged, known = self._advanced(records, every, recorded=bool(seen))
        missed = logged.sums[:, 1] / FAILED
        self.state["error"][:] = np.maximum(error, missed.max())
        if seen:
            known["error"] = np.maximum(np.maximum.accumulate(missed), error)
        if set(seen) - set(STATE):
            time = (number + every * np.arange(1, records + 1)) * self.step
            known |= self._outputs(time, known["q"], known["v"], logged)
        for name, array in seen.items():
            array[:] = known[name]
        self.steps += records * every

    def touched(self, q: np.ndarray, v: np.ndarray, u: np.ndarray) -> Touched:
        logged = joined([*self.logged, self._ahead()])  # the step that begins at the last record was not made until now
        return record_of(self._steps.model, self._steps.page, logged, self.step, v)

    def gained(self, time: float, count: int, q: np.ndarray, v: np.ndarray, u: np.ndarray) -> float:
        """As logged, for any number of steps."""
        first = round(time / self.step)
        gains = (part.sums[(part.begins >= first) & (part.begins < first + count), 3].sum() for part in self.logged)
        return float(sum(gains)) if self._steps.page.gains else 0.0

    def arguments(self, every: int = 1) -> tuple[Any, ...]:
        """Those of `advance_scene`, for one record of so many steps from the state, with all routines compiled."""
        self._put_efforts()
        steps = self._steps
        scene, (q, v) = steps.page.whole(self.scene), steps.rows
        compile_routines(scene.solids)
        own = scene.bodies.robots.motions
        if steps.robots:
            steps.model.places.take(self.state["q"][0], self.state["v"][0], q, v, own)
        log = log_of(len(q), 1, _TOUCHES + _EACH * len(q), (len(own.q), len(own.v)))
        return scene, q, v, self.state["work"], 1, every, log

    def make_room(self) -> None:
        """Twice as much room for what touches as the scene has now, for motions that nobody knows yet."""
        scene = self.scene
        scene.counts[1:4] = 2 * len(scene.pairs), 2 * len(scene.points.gap), 2 * len(scene.factors.later)
        self._steps.make_room()

    def _ahead(self) -> Logged:
        """What the step that begins at the state does, which stays as it is."""
        carried, logged = self.carried(), list(self.logged)
        ahead, _ = self._advanced(1, 1, recorded=False)
        self.load(carried)
        self.logged = logged
        return ahead

    def _outputs(self, time: np.ndarray, q: np.ndarray, v: np.ndarray, *logged: Logged) -> dict[str, np.ndarray]:
        """The outputs of states (n) that the stepper has come through, the last being the state now; NaN where it ran away.

        `logged`: of the steps that led from each to the next one, after those that led to the first.
        """
        outputs, held = self.compiled.outputs, self.efforts.copy()
        assert outputs is not None
        if not np.isfinite(v).all():
            return {array.name: np.full((len(v), *array.shape), np.nan) for array in outputs.arrays}
        acceleration = touches = None
        if outputs.follow:
            ahead = joined([*logged, self._ahead()])
            first = len(ahead.begins) - len(v)
            acceleration = acceleration_of(self._steps.model, ahead.reached[first:], self.step, v)
            touches = ahead.touches - first * UNIT
            touches = touches[touches[:, 0] >= 0.0]
        return outputs.of(time, q, v, self.compiled.efforts_along(time, q, v, held), acceleration, touches)

    def _advanced(self, records: int, every: int, *, recorded: bool) -> tuple[Logged, dict[str, np.ndarray]]:
        """The log of so many records, and their states by name (records, …) if asked for; the state is advanced by them."""
        state, known = self.state, dict[str, np.ndarray]()
        begins = int(state["number"][0]) + every * np.arange(records)
        self._put_efforts()
        solved, log = self._steps.advanced(records, every)
        places = self._steps.model.places
        if recorded:
            q, v = places.q_of(log.q, log.robot_q, records), places.v_of(log.v, log.robot_v, records)
            known = {"q": q.copy(), "v": v.copy(), "work": log.work.copy()}
        if not solved:  # the run ends at the state before that step
            state["v"][:] = np.inf
            if recorded:
                known["q"][log.marks[0] :], known["v"][log.marks[0] :] = state["q"], np.inf
        state["number"][0] += records * every
        reached, touches = places.v_of(log.reached, log.robot_reached, records), log.touches[: int(log.marks[2])]
        self.logged.append(Logged(begins, log.sums.copy(), reached.copy(), touches.copy()))
        return self.logged[-1], known

    def _put_efforts(self) -> None:
        """The held efforts, as the scene takes them; where parameters are others than before, the scene is made again."""
        efforts, u = self.scene.efforts, self.efforts
        efforts.number[:] = self.state["number"]
        if u.tobytes() == efforts.held.tobytes():
            return
        if self.compiled.model_of(u) is not self._steps.model:
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


#: The third number of rows of a state that are pieces of drives and stops: their places in `RobotMotions.settled`, and values.
_PIECE = -2.0
#: The rows of a log for touches: so many, and for each record so many or twice those before; exported, for each body.
_TOUCHES, _EACH = 4096, 8
#: Logs of up to so many rows are kept for calls with the same numbers of records and steps; so many beside the last one.
_MOST_KEPT, _LOGS = 16_384, 3


class SceneSteps:
    """A scene with the numbers of a `model`, which advances a state in place by a `page`; made again where it lacks room.

    `drives`, `holds`: places in `RobotMotions.settled`, as of `RobotSteps.going_on`.
    """

    def __init__(self, many: ManyBodies, model: SceneModel, step: float, state: Mapping[str, np.ndarray]):
        self.model, self._state, self._many = model, state, many
        self.page = PAGES[model.contact.model](model.mechanism, model.contact)
        self._start = state["q"][0].copy(), state["v"][0].copy()
        self.scene, self.robots = many.scene(model, step, *self._start)
        bodies = len(self.scene.bodies.mass)
        self.rows = np.zeros((bodies, 7)), np.zeros((bodies, 6))
        if not self.robots:  # all bodies are free
            self.rows = state["q"].reshape(-1, 7), state["v"].reshape(-1, 6)
        going_on = [robot.going_on(self.scene.bodies.robots) for robot in self.robots]
        self.drives, self.holds = (np.array([at for own in going_on for at in own[k]], dtype=np.int64) for k in (0, 1))
        self._bound: dict[tuple[int, int], tuple[SceneLog, Callable[[], int]]] = {}
        self._touching = _EACH

    def fits(self, step: float, q: np.ndarray, v: np.ndarray) -> bool:
        """Whether a scene for a motion that begins at another state has robots of the same kinds of steps."""
        if np.array_equal(q, self._start[0]) and np.array_equal(v, self._start[1]):
            return True
        return self._many.flying(self.model, step, q, v) == tuple(robot.flies for robot in self.robots)

    def make_room(self) -> None:
        """Gives the scene the room that its `counts` say it lacks."""
        self.scene = roomier(self.scene)
        self._bound.clear()

    def wake_all(self) -> None:
        """Lets the next step compute the contact of all bodies, as before a new state; who sleeps, goes on sleeping."""
        bodies = self.scene.bodies
        bodies.still[:], bodies.bed[:], self.scene.counts[4] = 0, 0, 0

    def load(self, rows: np.ndarray, *, begins: bool) -> None:
        """Continues from what the page carries."""
        self.page.load(rows, begins=begins)
        if len(rows):  # the page may have made more room
            self._bound.clear()

    def advanced(self, records: int, every: int) -> tuple[bool, SceneLog]:
        """Whether so many records of so many steps all have a usable solution, and their log, whose room is used again."""
        q, v = self._state["q"], self._state["v"]
        if self.robots:
            self.model.places.take(q[0], v[0], *self.rows, self.scene.bodies.robots.motions)
        ended, log = self.go(records, every)
        if self.robots:
            own = self.scene.bodies.robots.motions
            q[:], v[:] = self.model.places.q_of(self.rows[0], own.q), self.model.places.v_of(self.rows[1], own.v)
        return ended == DONE, log

    def go(self, records: int, every: int) -> tuple[int, SceneLog]:
        """How the steps of a call end, `DONE` or `UNSOLVED`, and their log, which the next such call writes to."""
        asked = records, every
        log, run = known = self._bound.get(asked, (None, None))
        if log is None:
            bodies, own = len(self.scene.bodies.mass), self.scene.bodies.robots.motions
            log = log_of(bodies, records, _TOUCHES + self._touching * records, (len(own.q), len(own.v)))
        log.marks[:] = 0
        while True:
            run = run or self.page.bound(self.scene, *self.rows, self._state["work"], records, every, log)
            ended = run()
            if ended in (DONE, UNSOLVED):
                break
            if ended == ROOM:
                self.make_room()
            elif ended == FULL:
                more = int(self.scene.counts[1] + self.scene.counts[4]) + len(log.touches)
                log = log._replace(touches=np.concatenate([log.touches, np.zeros((more, log.touches.shape[1]))]))
            else:
                raise self.page.refusal(self.scene)
            run = None
        self._touching = max(_EACH, 2 * int(log.marks[2]) // records)
        if run is not known[1] and len(log.touches) <= _MOST_KEPT:
            self._bound = dict([item for item in self._bound.items() if item[0] != asked][-_LOGS:]) | {asked: (log, run)}
        return ended, log


class SceneRows:
    """Rows of states of one scene, advanced one after the other by the same code, and at the same time in several threads.

    Each row has a stepper of its own, so that its bits are those of a run by itself. A row whose state was changed from outside
    starts without the impulses of its last step, as a run does. Outputs of states alone are computed of all rows together.
    """

    def __init__(self, state: Mapping[str, np.ndarray], steppers: Sequence[SceneStepper], seen: Mapping[str, np.ndarray]):
        """The rows of a state (N, …) with these steppers, and room for their records (N, records, …) by name."""
        self._state, self._steppers, self._seen = state, steppers, seen
        self._outputs = steppers[0].compiled.outputs
        self._together = self._outputs is not None and not self._outputs.follow
        self._own = {name: array for name, array in seen.items() if name in STATE} if self._together else seen

    def run(self, records: int, every: int) -> None:
        """Advances every row by records · every steps, and records after each `every` of them; without records, by `every`."""
        if not every:
            self.look(np.arange(len(self._steppers)))
            return

        def run_row(row: int) -> None:
            stepper, seen = self._steppers[row], {name: array[row] for name, array in self._own.items()}
            stepper.resume()
            stepper.run(seen if records else {}, max(records, 1), every)
            stepper.logged.clear()
            stepper.stay()

        self._each(run_row, range(len(self._steppers)))
        if self._together and records:
            number = self._state["number"][:, None] + every * np.arange(1 - records, 1)
            self._see(slice(None), number, self._seen["q"], self._seen["v"])

    def look(self, rows: np.ndarray) -> None:
        """Computes the outputs of some rows."""
        if not self._together:
            self._each(self._look, rows.tolist())
            return
        for name, array in self._own.items():
            array[rows] = self._state[name][rows, None]
        number, q, v = (self._state[name][rows, None] for name in ("number", "q", "v"))
        self._see(rows, number, q, v)

    def _look(self, row: int) -> None:
        self._steppers[row].resume()
        for name, value in self._steppers[row].look().items():
            self._seen[name][row] = value

    def _see(self, rows: Any, number: np.ndarray, q: np.ndarray, v: np.ndarray) -> None:
        """Puts the outputs of states (k, records, …) of some rows, after so many steps, in place; NaN of rows that ran away."""
        first, (count, records) = self._steppers[0], number.shape
        q, v = q.reshape(count * records, -1), v.reshape(count * records, -1)
        time, held = number.ravel() * first.step, np.repeat(self._state["u"][rows], records, axis=0)
        found = self._outputs.of(time, q, v, first.compiled.efforts_along(time, q, v, held))  # type: ignore[union-attr]
        away = ~np.isfinite(v.reshape(count, -1)).all(axis=1)
        for name, values in found.items():
            shaped = values.reshape(count, records, *values.shape[1:])
            shaped[away] = np.nan
            self._seen[name][rows] = shaped

    def _each(self, work: Callable[[int], None], rows: Sequence[int]) -> None:
        if (threads := min(thread_count(), len(rows))) <= 1:
            for row in rows:
                work(row)
            return
        for done in [pool(threads, "scenes").submit(work, row) for row in rows]:
            done.result()
