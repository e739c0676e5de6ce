"""The contract of what advances the states of a simulation: one robot's compiled step, or the steps of many bodies.

`start_of` gives the arrays that it advances in place, a `Stepper` has one state in progress, and `State` is what users hold.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from ...errors import InputError
from ...kinematics import link_poses, place_pose
from ...model import Mechanism
from ...model.things import ThingMotion, thing_named
from ...scalar import Array
from ..checks import checked_count
from ..driving.actuation import Actuation, How
from ..integrators import Integrator

if TYPE_CHECKING:
    from ...compile import Kernel
    from ...records.contact_record import Touched


@dataclass(frozen=True, eq=False)
class State:
    """A simulation at one time. Steps do not change it: continuing from it twice gives the same motion twice.

    Attributes:
        time: [s], since the start.
        q, v: (nq) and (nv).
        work: [J], done on the mechanism by drives, damping, wrenches and contact since the start.
        outputs: the additional outputs of the simulation, by name.
        carried: the arrays from which the next step begins, by name, read-only.
        parameters: their values, by name; NaN where a name stands for numbers of the mechanism that differ and none was given.
        mechanism: that moves; `state["arm"]` is the robot or object of that name in it.
    """

    time: float
    q: np.ndarray
    v: np.ndarray
    work: float
    outputs: Mapping[str, np.ndarray]
    carried: Mapping[str, np.ndarray] = field(repr=False)
    parameters: Mapping[str, np.ndarray]
    mechanism: Mechanism = field(repr=False)

    def __getitem__(self, name: str) -> ThingMotion:
        """A robot or an object by name, with its own coordinates and velocities; refuses others, with the closest one."""
        tree = self.mechanism.tree

        def pose(body: str) -> np.ndarray:
            placed = place_pose(tree, link_poses(tree, self.q.tolist()), tree.places[body])
            return np.array(placed.matrix(), dtype=float)

        return ThingMotion(thing_named(self.mechanism, name), self.q, self.v, pose)


class Carried(Mapping[str, np.ndarray]):
    """Read-only arrays by name, most of them in one row of numbers: made at every step, but looked into by few."""

    __slots__ = ("_more", "_numbers", "_places")

    def __init__(self, numbers: np.ndarray, places: Mapping[str, Any], more: Mapping[str, np.ndarray]):
        """Numbers (size); where each array stands among them, a slice or the place of one; and further arrays."""
        numbers.flags.writeable = False
        self._numbers, self._places, self._more = numbers, places, more

    def __getitem__(self, name: str) -> np.ndarray:
        return self._more[name] if name in self._more else self._numbers[self._places[name]]

    def __iter__(self) -> Iterator[str]:
        return chain(self._places, self._more)

    def __len__(self) -> int:
        return len(self._places) + len(self._more)


def start_of(actuation: Actuation, step: float, q: np.ndarray, v: np.ndarray) -> dict[str, np.ndarray]:
    """What steps from states (N, nq) and (N, nv) carry, by name, (N, …): the one thing that they advance in place.

    In addition to the arrays of a step "size", of the last step that an adaptive integrator made [s], and "u", the efforts
    that are held, in which the overlaps of bodies are those at these states.
    """
    rows, layout = len(q), actuation.forcing.layout
    u = np.tile(actuation.constants, (rows, 1))
    actuation.begin(u, q)
    own = {name: u[:, layout.at("states")].copy() for name in layout.own_states}
    carried = {"number": np.zeros(rows), "q": np.array(q, order="C"), "v": np.array(v, order="C"), "work": np.zeros(rows)}
    own |= {name: np.zeros((rows, size)) for name, size in actuation.kept.items()}
    return {**carried, "error": np.zeros(rows), **own, "size": np.full(rows, step), "u": u}


class Stepper(ABC):
    """One state of a driven mechanism, advanced in place by steps of one length.

    Attributes:
        state: the arrays that are carried from step to step, each with a leading axis of length 1, as of `start_of`; efforts:
            the held ones, u, in it.
        steps, rejected: the number of steps made, and of adaptive steps that had to be repeated.
        reached: what the last step led to, unless the state has changed since: the next one begins there without loading it.
        whole: whether steps follow each other in machine code, without Python in between.
        operations: how many a step takes at most; of scenes, whose steps have no fixed number, a large number.
    """

    whole: bool = True
    operations: int
    reached: State | None = None

    def __init__(self, compiled: Advance, actuation: Actuation, step: float, state: dict[str, np.ndarray]):
        """A stepper of a state, as of `start_of`, which it advances in place."""
        self.compiled, self.actuation, self.step, self.state = compiled, actuation, step, state
        self.efforts = state["u"][0]
        self._own = actuation.forcing.layout.own_states
        self._flat, ends = [array.reshape(-1) for array in state.values()], np.cumsum([array.size for array in state.values()])
        self._places: dict[str, Any] = {
            name: slice(end - array.size, end) if array.ndim > 1 else end - 1
            for (name, array), end in zip(state.items(), ends.tolist(), strict=True)
        }
        self.steps = self.rejected = 0

    @property
    def time(self) -> float:
        """Time since the start [s]."""
        return float(self.state["number"][0]) * self.step

    def begin(self, q: np.ndarray, v: np.ndarray) -> None:
        """Restarts from a state at time zero, as a new stepper would begin."""
        self.reached = None
        for name, array in start_of(self.actuation, self.step, q[None], v[None]).items():
            self.state[name][:] = array
        self.steps = self.rejected = 0

    def rest(self) -> None:  # noqa: B027 - most have nothing to do
        """Lets go of what was recorded in a run that is over."""

    def load(self, carried: Mapping[str, np.ndarray]) -> None:
        """Continues from a state given by `carried`."""
        self.reached = None
        for name, array in self.state.items():
            array[0] = carried[name]

    def carried(self) -> Carried:
        """Copies of the arrays that the next step begins from."""
        return Carried(np.concatenate(self._flat), self._places, self._further())

    def _further(self) -> dict[str, np.ndarray]:
        """Copies of what is carried beside `state`."""
        return {}

    def sample(self) -> None:
        """Calls the functions that are called once per step or at the sample times."""
        if self.actuation.samples:
            self.efforts[:] = self.actuation.sampled(self.time, self.state["q"][0], self.state["v"][0], self.efforts)

    def observe(self) -> None:  # noqa: B027 - most have nothing to do
        """Updates `efforts` to the current state if they are called at every stage; compiled ones are evaluated later."""

    def advance(self, count: int, hold: int) -> None:
        """Advances by `count` steps, calling sampled functions every `hold` steps; a FloatingPointError as of `run`."""
        count = checked_count(count)
        while count:
            done = int(self.state["number"][0]) % hold
            if done == 0:
                self.sample()
            self.observe()
            steps = min(count, hold - done) if self.actuation.samples else count
            self.run({}, 1, steps)
            count -= steps

    @abstractmethod
    def look(self) -> dict[str, np.ndarray]:
        """The recorded quantities of the current state."""

    @abstractmethod
    def run(self, seen: Mapping[str, np.ndarray], records: int, every: int) -> None:
        """Advances by records · every steps, recording after each `every`; a FloatingPointError if steps become too small."""

    @abstractmethod
    def touched(self, q: np.ndarray, v: np.ndarray, u: np.ndarray) -> Touched | None:
        """The contact along a run that this stepper has made, in the steps that begin at the states (n, nq), (n, nv)."""

    @abstractmethod
    def gained(self, time: float, count: int, q: np.ndarray, v: np.ndarray, u: np.ndarray) -> float:
        """The energy that contact has added by itself in `count` steps from a state, with efforts u [J]; zero if not known."""


class RowsInPlace(Protocol):
    """Rows of states in arrays that `run` advances in place."""

    def run(self, records: int, every: int) -> None:
        """Advances every row by records · every steps, and records after each `every` of them; without records, by `every`."""

    def look(self, rows: np.ndarray) -> None:
        """Computes the outputs of some rows."""


class Advance(ABC):
    """How a mechanism moves from step to step, with all that acts on it.

    `CompiledStep` has one robot's steps in straight-line code, `ManyBodies` those of scenes over lists of bodies.

    Attributes:
        mechanism, integrator: whose steps they are.
        follows: whether efforts at joints follow from the state, as those of drives do, and are not only those that are given.
        keeps_closed: whether projection alone keeps loops closed: nothing touches the mechanism, and no point of it is held.
        refusal: why steps have no derivatives and joints cannot follow prescribed motions, or "".
    """

    mechanism: Mechanism
    integrator: Integrator
    follows: bool
    keeps_closed: bool
    refusal: str = ""

    @abstractmethod
    def stepper(self, actuation: Actuation, step: float, q: np.ndarray, v: np.ndarray) -> Stepper:
        """One state (nq), (nv) in progress."""

    @property
    @abstractmethod
    def seen(self) -> Sequence[Array]:
        """The arrays that are recorded of a state."""

    @abstractmethod
    def rows(
        self, actuation: Actuation, step: float, state: Mapping[str, np.ndarray]
    ) -> Callable[[Mapping[str, np.ndarray]], RowsInPlace]:
        """The room for records (N, records, …) → what advances N states, as of `start_of`, side by side and fills that room.

        Rows of scenes keep impulses, so that each batch has its own.
        """

    @abstractmethod
    def observed(self, q: np.ndarray, v: np.ndarray, u: np.ndarray) -> list[np.ndarray]:
        """Energies, center of mass and momentum of states (n, nq), (n, nv) with efforts and parameters u (n, size)."""

    @abstractmethod
    def closed(self, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """States (n, nq), (n, nv) with their loops closed, by the mechanism as it was made."""

    @property
    @abstractmethod
    def acting(self) -> Kernel | None:
        """(t, q, v, u) → u with the values of the compiled functions; None if there are none."""

    def efforts_along(self, time: np.ndarray, q: np.ndarray, v: np.ndarray, held: np.ndarray) -> np.ndarray:
        """u at many states: `held` (n, size) or (size), with the compiled functions' values."""
        held = np.broadcast_to(held, (len(time), held.shape[-1]))
        return held if self.acting is None else np.asarray(self.acting(time, q, v, held))

    @abstractmethod
    def joint_efforts(self, h: float, q: np.ndarray, v: np.ndarray, u: np.ndarray) -> np.ndarray:
        """The efforts (n, `freedoms`) at the joints at states: of a controller, of drives, and of prescribed motions."""

    @abstractmethod
    def accelerations(self, h: float, q: np.ndarray, v: np.ndarray, u: np.ndarray) -> np.ndarray:
        """v̇ (n, nv) at states where no contact is computed."""

    def touched(self, h: float, q: np.ndarray, v: np.ndarray, u: np.ndarray) -> Touched | None:
        """The contact of steps h from states, with efforts u; None where nothing can touch, or only runs record it."""
        return None

    def check_rows(self, actuation: Actuation) -> None:
        """Refuses steps that cannot be made side by side: of an adaptive integrator, and with functions that must be called."""
        name = self.mechanism.name
        if self.integrator.adaptive:
            raise InputError(f"{name}: batched runs need a constant step; {self.integrator.name} has none, take 'auto'")
        if called := actuation.lines(but=How.COMPILED):
            raise InputError(
                f"{name}: batched runs need functions that can be compiled; {called[0]}. Give `sample_time`, and the "
                "controller is called with the states of all runs at once"
            )
