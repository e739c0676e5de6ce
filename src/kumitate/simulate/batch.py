"""`Batch`: many states of one simulation advanced together, in memory that is read and written in place.

What is assigned to its arrays is written into them: `batch.tau = values` would otherwise make an attribute that no program
reads.
"""

from __future__ import annotations

from collections import UserDict
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import InputError, did_you_mean
from ..model.values import real_array, shown
from .checks import checked_count, chosen_rows
from .divergence import FAST, RUNAWAY, gains, leaps
from .stepping.advance import start_of
from .stepping.outputs import STATE

if TYPE_CHECKING:
    from .simulation import MechanismSimulation
    from .stepping.advance import State


class SettledAttributes:
    """An object whose public attributes are settled by `_settle`, last in its constructor; live arrays take what is given."""

    def _settle(self) -> None:
        self.__dict__["_settled"] = True

    def __setattr__(self, name: str, value: Any) -> None:
        live = self.__dict__.get(name)
        if name.startswith("_") or "_settled" not in self.__dict__:
            super().__setattr__(name, value)
        elif value is live and live is not None:
            return  # `batch.tau += 1.0` has written already
        elif isinstance(live, np.ndarray):
            fill_array(f"{type(self).__name__}.{name}", live, value)
        elif isinstance(live, LiveArrays):
            if not isinstance(value, Mapping):
                raise InputError(f"{live.what} is {shown(value)}; it must be a dictionary by name: {', '.join(live) or 'none'}")
            live.update(value)
        else:
            raise self._refusal(name)

    def _refusal(self, name: str) -> InputError:
        owner, public = type(self).__name__, [key for key in dir(self) if not key.startswith("_")]
        if name in public:
            return InputError(f"{owner}.{name} cannot be assigned: it is settled when a {owner} is made. Make another one")
        near = did_you_mean(name, public, lead=", ")
        return InputError(f"{owner} has no attribute {name!r}{near}. Begin the name of an attribute of your own with _")


class LiveArrays(UserDict[str, np.ndarray]):
    """Live arrays by name, which do not change: `arrays[name] = values` copies; `what` these are, for messages."""

    def __init__(self, what: str, arrays: Mapping[str, np.ndarray]):
        self.what = what
        self.data = dict(arrays)

    def __setitem__(self, name: str, values: Any) -> None:
        if name not in self.data:
            near = did_you_mean(name, self.data, lead=", ")
            raise InputError(f"{self.what} has no {name!r}{near}; there are {', '.join(self.data) or 'none'}")
        fill_array(f"{self.what}[{name!r}]", self.data[name], values)

    def __delitem__(self, name: str) -> None:
        raise InputError(f"{self.what}[{name!r}] cannot be taken out; write zeros to it")


def fill_array(what: str, live: np.ndarray, values: Any) -> None:
    """Copies values into an array, as `live[:] = values` does; refuses other shapes, and what are not finite real numbers."""
    if values is live:
        return
    array = real_array(values)
    if array is None or not np.isfinite(array).all():
        raise InputError(f"{what} is {shown(values)}; it must be finite real numbers")
    try:
        live[...] = array
    except ValueError:
        raise InputError(f"{what} has shape {array.shape}; it must have the shape {live.shape}, or fit it") from None


# --- the batch ------------------------------------------------------------------------------------------------------------
class Batch(SettledAttributes):
    """N states of a simulation, advanced together.

    The arrays are live: `step` writes to those of the state and reads those of the efforts and inputs, and so may you;
    `batch.tau = values` copies into the array, as `batch.tau[:] = values` does. The `rows` that methods take are numbers, a
    mask, or a slice.

    Attributes:
        q, v: (N, nq) and (N, nv).
        work: (N) [J], done on the mechanism by drives, damping, wrenches and contact since the start.
        error: (N), the largest error estimate of a step since the start, as a multiple of the tolerance.
        tau: (N, nv), constant efforts at the joints [N·m, N]; where the simulation has a controller, they have no effect.
        wrenches: [n; f] (N, 6) by place, and `loop_tau` by loop: constants, likewise.
        efforts: (N, size of u), all of these constants.
        inputs: by name, (N, k): what functions read.
        outputs: by name, (N, ...), as they were at the end of the last `step`, or when `look` was called.
        lost: (N), whether a row has run away, also by energy that it gains from nowhere in a call (`exchange`), or its contact
            had no usable solution; rows are not reset unless asked for.
        state: what is carried from step to step, by name.
    """

    def __init__(
        self, simulation: MechanismSimulation, q: np.ndarray, v: np.ndarray, parameters: Mapping[str, Any] | None = None
    ):
        """The batch of these states, (N, nq) and (N, nv), with their loops closed, and of these parameters, as of `set`.

        Raises:
            InputError: without states; if the simulation cannot be stepped without Python: an adaptive integrator, or
                functions that must be called.
        """
        simulation.compiled.check_rows(simulation.actuation)
        self.simulation = simulation
        self.lost, actuation = np.zeros(checked_count(len(q), "the number of states", 1), dtype=bool), simulation.actuation
        carried = start_of(actuation, simulation.step_size, q, v)
        self.efforts = carried["u"]
        state = {name: array for name, array in carried.items() if name not in ("u", "size")}
        self.q, self.v, self.work, self.error = (state[name] for name in ("q", "v", "work", "error"))
        self.state = LiveArrays("Batch.state", state)
        given = actuation.forcing.layout.rows(self.efforts)
        self.tau, self.wrenches = given.tau, LiveArrays("Batch.wrenches", given.wrenches)
        self.loop_tau = LiveArrays("Batch.loop_tau", given.loop_tau)
        inputs = {name: self.efforts[:, actuation.forcing.own[name]] for name in actuation.forcing.values_of_inputs}
        self.inputs = LiveArrays("Batch.inputs", inputs)
        actuation.put_parameters(self.efforts, parameters or {})
        self._rows = simulation.compiled.rows(actuation, simulation.step_size, carried)
        seen = self.room(1)
        self._step = self._rows(seen)
        self._before = {name: np.array(state[name]) for name in ("q", "v", "work")}
        outputs = {name: array[:, 0] for name, array in seen.items() if name not in (*STATE, "states")}
        self.outputs = LiveArrays("Batch.outputs", outputs)
        self.look()
        self._settle()

    def __len__(self) -> int:
        return len(self.q)

    def __reduce__(self) -> tuple[Any, ...]:
        """Its simulation and its arrays; of a scene not the impulses of the last step, from which its solver begins."""
        return type(self), (self.simulation, self.q, self.v), self.arrays()

    def __setstate__(self, arrays: Mapping[str, Any]) -> None:
        for live, values in zip(self.arrays().values(), arrays.values(), strict=True):
            live[...] = values

    def arrays(self) -> dict[str, np.ndarray]:
        """All that differs from a batch of the same simulation, by name: the live arrays themselves."""
        return {"efforts": self.efforts, "lost": self.lost, **self.state, **self.outputs}

    @property
    def time(self) -> np.ndarray:
        """Time since the start of each row (N) [s]."""
        return self.state["number"] * self.simulation.step_size

    @property
    def parameters(self) -> dict[str, np.ndarray]:
        """The values of the parameters, by name: (N), or (N, targets) for a name with several; `set` changes them."""
        shown = self.simulation.actuation.parameters(self.efforts)
        for values in shown.values():
            values.flags.writeable = False  # what programs read is computed of them by `set`
        return shown

    def set(self, parameters: Mapping[str, Any], rows: Any = slice(None)) -> None:
        """Gives parameters other values, from the next step on; those that are not named stay. Outputs follow at `look`.

        Args:
            parameters: by name: a number, one for each of the rows, or one for each of the rows and targets.

        Raises:
            InputError: for a name that is not a parameter, a wrong shape, or impossible values, such as negative masses.
        """
        chosen = chosen_rows(rows, len(self))
        u = self.efforts[chosen]
        self.simulation.actuation.put_parameters(u, parameters)
        self.efforts[chosen] = u

    def step(self, count: int = 1) -> None:
        """Advances all rows by `count` steps, with the efforts as they are.

        Raises:
            InputError: if the number of steps is negative or not whole.
        """
        count = checked_count(count)
        for name, before in self._before.items():
            before[...] = self.state[name]
        self._step.run(1 if self.outputs else 0, count)
        if not (self.v.max(initial=0.0) < FAST and self.v.min(initial=0.0) > -FAST):
            self._mark(self._before)

    def look(self, rows: Any = slice(None)) -> None:
        """Computes the outputs of the states as they are: of all rows, or of some and of those beside them."""
        if self.outputs:
            self._step.look(chosen_rows(rows, len(self)))

    def record(self, records: int, every: int = 1, out: Mapping[str, np.ndarray] | None = None) -> dict[str, np.ndarray]:
        """Advances all rows by records · every steps; returns "q", "v", "work" and "error" after each `every` steps.

        Args:
            every: steps; with 0, all records are of the states as they are.
            out: arrays (N, records, ...) to write to, by name; new arrays by default.

        Raises:
            InputError: if a number is negative or not whole, or without records.
        """
        records, every = checked_count(records, "the number of records", 1), checked_count(every)
        seen = self.room(records) if out is None else dict(out)
        before = {name: self.state[name].copy() for name in self._before}
        self._rows(seen).run(records, every)
        self._mark(before)
        return seen

    def room(self, records: int) -> dict[str, np.ndarray]:
        """Empty arrays (N, records, ...) for a number of records, by name."""
        return {array.name: np.empty((len(self), records, *array.shape)) for array in self.simulation.compiled.seen}

    def reset(self, rows: Any = slice(None), q: Any = None, v: Any = None) -> None:
        """Restarts some rows; their parameters, inputs and efforts stay.

        Args:
            q, v: (nq) and (nv), or one row for each, (k, nq) and (k, nv); the simulation's start by default.

        Raises:
            InputError: for rows that there are not; if q or v have another shape, or loops are open.
        """
        chosen = chosen_rows(rows, len(self))
        actuation, start = self.simulation.actuation, self.simulation.starts(q, v, len(chosen))
        self._put(start_of(actuation, self.simulation.step_size, *start), chosen)

    def load(self, state: State, rows: Any = slice(None)) -> None:
        """Continues some rows from a state of the same simulation; their parameters, inputs and efforts stay."""
        self._put(state.carried, chosen_rows(rows, len(self)))

    def _put(self, carried: Mapping[str, np.ndarray], rows: np.ndarray) -> None:
        """Puts what is carried from step to step into some rows."""
        for name, values in self.state.items():
            values[rows] = carried[name]
        depths = self.simulation.actuation.forcing.layout.at("depths")
        self.efforts[rows, depths] = carried["u"][..., depths]
        self.lost[rows] = False

    def save(self, rows: Any = slice(None)) -> dict[str, np.ndarray]:
        """All that some rows hold, by name, in arrays of their own: states, efforts, inputs, parameters, outputs."""
        chosen = chosen_rows(rows, len(self))
        return {name: array[chosen] for name, array in self.arrays().items()}

    def restore(self, saved: Mapping[str, np.ndarray], rows: Any = slice(None)) -> None:
        """Brings some rows back to what `save` of a batch of the same simulation gave, bit by bit.

        Args:
            saved: of as many rows, or of one, from which all go on.

        Raises:
            InputError: for what another simulation, or another number of rows, has saved.
        """
        chosen, arrays = chosen_rows(rows, len(self)), self.arrays()
        shapes = {name: np.shape(array) for name, array in saved.items()}
        count = next((shape[0] for shape in shapes.values() if shape), 0)
        if count not in (1, len(chosen)) or shapes != {name: (count, *array.shape[1:]) for name, array in arrays.items()}:
            raise InputError(
                f"{self.simulation.mechanism.name}: what was saved does not fit: it has {count} rows for {len(chosen)}, or is "
                "of another simulation. Give what `save` of a batch of this simulation gave, of as many rows or of one"
            )
        for name, array in arrays.items():
            array[chosen] = saved[name]

    def _mark(self, before: Mapping[str, np.ndarray]) -> None:
        """Notes the rows that have run away since the states before, by their velocities or by energy from nowhere."""
        self.lost |= ~(np.abs(self.v).max(axis=1, initial=0.0) < RUNAWAY)
        rows = np.flatnonzero(~self.lost & leaps(before["v"], self.v))
        if len(rows):
            q, v, work = (np.concatenate([before[name][rows], self.state[name][rows]]) for name in ("q", "v", "work"))
            kinetic, potential, *_ = self.simulation.compiled.observed(q, v, np.tile(self.efforts[rows], (2, 1)))
            mass = float(self.simulation.mechanism.tree.mass)
            self.lost[rows] = gains(mass, *(part.reshape(2, -1) for part in (kinetic, potential, work)))
