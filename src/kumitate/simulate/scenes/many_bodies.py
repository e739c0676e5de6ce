"""The steps of scenes: many free bodies, and robots among them, by procedures whose code is the same for any number."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ...analysis import fastest_rate
from ...analysis.loop_motion import loop_coordinates
from ...compile import Kernel
from ...compile.threads import pool, thread_count
from ...contact.scene import Contact
from ...contact.scenes.arrays import Efforts
from ...contact.scenes.building import scene_of, solid_names
from ...contact.scenes.parts import robot_parts
from ...contact.scenes.scene import Scene
from ...model import Bound, Command, Mechanism, freedoms
from ...procedure import LocatedProgram
from ...scalar import Array
from ..stepping.actuation import Actuation
from ..stepping.advance import Advance
from ..stepping.choice import EXPLICIT
from ..stepping.kept import Kept
from ..stepping.layout import InputLayout
from .free_rows import FreeRows
from .outputs import SceneOutputs
from .pages import PAGES, ScenePage
from .record import Quantities
from .robots import RobotSteps, with_robots
from .stepper import CARRIED, SEEN, SceneStepper

if TYPE_CHECKING:
    from ..interactions.contract import StepDesign
    from ..interactions.scene import SceneContact
    from ..results.contact_record import Touched

__all__ = ["ManyBodies", "SceneModel", "robots_of"]

#: With the option "sleeping", bodies sleep after this many steps in which they have hardly moved.
PATIENCE = 20


class SceneModel:
    """The numbers of a scene: a mechanism and its contact, as some values of the parameters make them.

    Attributes:
        rows: where free bodies stand in q and v; names: of the solids' bodies; robots: without wrenches, drives and stops.
    """

    def __init__(self, mechanism: Mechanism, contact: Contact):
        self.mechanism, self.contact = mechanism, contact
        self.rows, self.names = FreeRows(mechanism), solid_names(mechanism, contact)

    @cached_property
    def robots(self) -> list[RobotSteps]:
        return robots_of(self.mechanism)

    @cached_property
    def quantities(self) -> Quantities:
        """Energies and momenta; only results want them."""
        return Quantities(self.mechanism, self.robots)

    def page(self) -> ScenePage:
        """The procedures of its steps, by the model of contact."""
        return PAGES[self.contact.model](self.mechanism, self.contact)


class ManyBodies(Advance):
    """The steps of a scene."""

    refusal = (
        "steps of a scene of many bodies have no derivatives, as the solvers of scenes have none; up to four free bodies are "
        "traced, and their steps differentiated, with Simulation(side_by_side=True)"
    )
    keeps_closed = False

    def __init__(self, interaction: SceneContact, design: StepDesign):
        """The steps by a design; nothing is compiled before it is needed."""
        self.mechanism, self.integrator = interaction.mechanism, design.integrator
        self.forcing, self.bounds, self._asked = design.actuation.forcing, design.bounds, design.outputs
        self.model = SceneModel(interaction.mechanism, interaction.contact)
        self._program = design.actuation.program
        self._models, self._scenes = Kept[SceneModel](64), Kept[tuple[Scene, list[RobotSteps]]](64)

    @property
    def follows(self) -> bool:
        return bool(self.mechanism.driven)

    @property
    def flies(self) -> bool:
        """Whether bodies that nothing touches take Runge-Kutta steps."""
        return getattr(self.integrator, "flight", None) is not None

    @cached_property
    def outputs(self) -> SceneOutputs | None:
        """The outputs of the simulation, if there are any."""

        def efforts(q: np.ndarray, v: np.ndarray, u: np.ndarray) -> np.ndarray:
            return self.joint_efforts(0.0, q, v, u)[:, : self.mechanism.nv]

        return SceneOutputs(self._asked, self.forcing, self.model.names, efforts) if self._asked else None

    def model_of(self, u: np.ndarray) -> SceneModel:
        """The numbers of the scene with the parameters in u (size)."""
        row = self.forcing.layout.row(u)
        if not row or np.array_equal(row[0], self.forcing.parameters.blank, equal_nan=True):  # type: ignore[union-attr]
            return self.model

        def made() -> SceneModel:
            plant = self.forcing.parameters.plant_of(row[0])  # type: ignore[union-attr]
            return SceneModel(plant.mechanism, plant.contact or self.model.contact)

        return self._models.get(row[0].tobytes(), made)

    def stepper(self, actuation: Actuation, step: float, q: np.ndarray, v: np.ndarray) -> SceneStepper:
        return SceneStepper(self, actuation, step, q, v)

    def rows(self, actuation: Actuation, step: float) -> SceneRows:
        return SceneRows(self, lambda q, v: SceneStepper(self, actuation, step, q, v))

    def scene(self, model: SceneModel, step: float, q: np.ndarray, v: np.ndarray) -> tuple[Scene, list[RobotSteps]]:
        """A scene to step, and its robots; those whose joints are too stiff at a state for Runge-Kutta steps take none."""
        rates = [fastest_rate(robot.part.mechanism, q[robot.part.q], v[robot.part.v])[0] for robot in model.robots]
        fly = tuple(self.flies and rate * step < EXPLICIT for rate in rates)
        scene, robots = self._scenes.get((model, step, fly), lambda: self._made(model, step, fly))
        return _copied(scene), robots

    def _made(self, model: SceneModel, step: float, fly: Sequence[bool]) -> tuple[Scene, list[RobotSteps]]:
        """A scene at rest, and its robots."""
        layout = self.forcing.layout
        robots = robots_of(model.mechanism, layout.places, dict(layout.loops), self.bounds, flies=self.flies)
        for robot, flies in zip(robots, fly, strict=True):
            robot.flies = robot.flies and flies
        patience = PATIENCE if model.contact.options.get("sleeping") else 0
        made = scene_of(model.mechanism, model.contact, layout.places, step=step, patience=patience, flies=self.flies)
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

    def efforts_along(self, time: np.ndarray, q: np.ndarray, v: np.ndarray, held: np.ndarray) -> np.ndarray:
        held = np.broadcast_to(held, (len(time), held.shape[-1]))
        return held if self._acting is None else np.asarray(self._acting(time, q, v, held))

    @cached_property
    def _acting(self) -> Kernel | None:
        return None if self._program is None else Kernel(self._program)

    def joint_efforts(self, h: float, q: np.ndarray, v: np.ndarray, u: np.ndarray) -> np.ndarray:
        m = self.mechanism
        total = np.zeros((len(u), freedoms(m)))
        total[:, : m.nv] = u[:, : m.nv]
        if freedoms(m) > m.nv:
            q, v = (np.hstack(pair) for pair in zip((q, v), self._loop_coordinates(q, v), strict=True))
        for joint, command in zip(m.driven, self.forcing.layout.unpack(u.T).commands, strict=True):
            commands = (Command(*values) for values in np.array(command).T.tolist())
            states = zip(q[:, joint.q].tolist(), v[:, joint.v].tolist(), commands, strict=True)
            wished = [joint.drive.law(*state).effort for state in states]
            total[:, joint.v] += np.clip(np.array(wished, dtype=float), -joint.limit, joint.limit)
        return total

    @cached_property
    def _loop_coordinates(self) -> Kernel:
        return Kernel(loop_coordinates(self.mechanism))

    def accelerations(self, h: float, q: np.ndarray, v: np.ndarray, u: np.ndarray) -> np.ndarray:
        raise AssertionError("scenes compute contact at every state")

    def touched(self, h: float, q: np.ndarray, v: np.ndarray, u: np.ndarray) -> Touched | None:
        return None


def robots_of(
    mechanism: Mechanism, places: Sequence[str] = (), drives: Iterable[str] = (), bounds: Sequence[Bound] = (), *,
    flies: bool = False,
) -> list[RobotSteps]:  # fmt: skip
    """The robots of a mechanism, with the places of wrenches on them, the loops that are driven, and limits that are stops."""
    parts, driven = robot_parts(mechanism), [joint.name for joint in mechanism.driven]
    return [RobotSteps(part, number, places, list(drives), driven, bounds, flies) for number, part in enumerate(parts)]


def _copied(record: Any) -> Any:
    """A record of arrays, with arrays of its own."""
    if isinstance(record, tuple):
        return type(record)(*map(_copied, record))
    return record.copy() if isinstance(record, np.ndarray) else record


def _efforts_of(model: SceneModel, robots: Sequence[RobotSteps], layout: InputLayout, program: int) -> Efforts:
    """The efforts of a scene: from which places of u to which of its arrays, and from which rows the program reads q and v."""
    m, rows, bodies = model.mechanism, model.rows, len(model.mechanism.tree.links)
    place_q, place_v, on_bodies = np.zeros(m.nq), np.zeros(m.nv), np.full((bodies, 6), -1)
    place_q[rows.q] = 7 * np.array(rows.links, dtype=int)[:, None] + np.arange(7)
    place_v[rows.v] = 6 * np.array(rows.links, dtype=int)[:, None] + np.arange(6)
    on_bodies[rows.links] = rows.v
    at_q, at_v = 7 * bodies, 6 * bodies
    joints, own, commands = list[int](), list[int](), list[int]()
    for robot in robots:
        q, v = robot.part.q, robot.part.v
        place_q[q], place_v[v] = at_q + np.arange(len(q)), at_v + np.arange(len(v))
        at_q, at_v = at_q + len(q), at_v + len(v)
        for everything, of_one in zip((joints, own, commands), robot.efforts(layout), strict=True):
            everything += of_one
    pulls: list[int] = []
    for name, place in layout.group("wrenches").items():
        pulls += range(place.start, place.stop) if m.tree.places[name].link >= 0 else [-1] * 6
    whole = [np.array(numbers, dtype=np.int64).reshape(-1) for numbers in (on_bodies, pulls, joints, own, commands)]
    return Efforts(
        np.array([program], dtype=np.int64), np.zeros(1), place_q.astype(np.int64), place_v.astype(np.int64),
        np.zeros(m.nq), np.zeros(m.nv), np.full(layout.size, np.nan), np.zeros(layout.size), *whole,
    )  # fmt: skip


class SceneRows:
    """Rows of states of one scene, advanced one after the other by the same code, and at the same time in several threads.

    Each row has a stepper of its own, so that its bits are those of a run by itself. A row whose state was changed from outside
    starts without the impulses of its last step, as a run does.

    Attributes:
        seen: the arrays that are recorded.
    """

    def __init__(self, many: ManyBodies, make: Callable[[np.ndarray, np.ndarray], SceneStepper]):
        """`make`: a stepper from a state."""
        self._make = make
        self._steppers: list[SceneStepper] = []
        m = many.mechanism
        carried = tuple(Array(name, shape) for name, shape in zip(SEEN, ((m.nq,), (m.nv,), (), ()), strict=True))
        self.seen = carried + (many.outputs.arrays if many.outputs else ())

    def over(
        self, state: Mapping[str, np.ndarray], given: Mapping[str, np.ndarray], seen: Mapping[str, np.ndarray], *, batch: bool
    ) -> BoundRows:
        if not self._steppers:
            self._steppers = [self._make(q, v) for q, v in zip(state["q"], state["v"], strict=True)]
        return BoundRows(self._steppers, state, given["u"], seen)


class BoundRows:
    """Rows bound to arrays: `run` advances them in place."""

    def __init__(
        self, steppers: Sequence[SceneStepper], state: Mapping[str, np.ndarray], u: np.ndarray, seen: Mapping[str, np.ndarray]
    ):
        self._steppers, self._state, self._u, self._seen = steppers, state, u, seen

    def run(self, records: int, every: int) -> None:
        """Advances every row by records · every steps, and records after each `every` of them; without records, by `every`."""
        rows = range(len(self._steppers))
        self._each(lambda row: self._run_row(row, records, every), rows)

    def look(self, rows: np.ndarray) -> None:
        """Computes the outputs of some rows."""
        self._each(lambda row: self._look(row, self._taken(row)), rows.tolist())

    def _each(self, work: Callable[[int], None], rows: Sequence[int]) -> None:
        threads = min(thread_count(), len(rows))
        if threads <= 1:
            for row in rows:
                work(row)
            return
        for done in [pool(threads, "scenes").submit(work, row) for row in rows]:
            done.result()

    def _taken(self, row: int) -> SceneStepper:
        """The stepper of a row, with its state as it is."""
        stepper = self._steppers[row]
        own = stepper.state
        if any(not np.array_equal(own[name][0], self._state[name][row]) for name in ("number", "q", "v")):
            stepper.begin(self._state["q"][row], self._state["v"][row])
        for name in CARRIED:
            own[name][0] = self._state[name][row]
        stepper.efforts = self._u[row, 0]
        return stepper

    def _look(self, row: int, stepper: SceneStepper) -> None:
        seen = stepper.look()
        for name, array in self._seen.items():
            array[row] = seen[name]

    def _run_row(self, row: int, records: int, every: int) -> None:
        stepper = self._taken(row)
        if every == 0:
            self._look(row, stepper)
            return
        seen = {name: array[row] for name, array in self._seen.items()}
        stepper.run(seen if records else {}, max(records, 1), every)
        stepper.logged.clear()
        for name in CARRIED:
            self._state[name][row] = stepper.state[name][0]
