"""`DeviceBatch`: many states of one simulation that stay on a GPU."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ..compile import Recurrence
from ..cuda import DeviceArray, DeviceKernel, DeviceRecurrence
from ..errors import InputError
from ..scalar import Program, equal, select, trace
from .stepping.advance import start_of

if TYPE_CHECKING:
    from .simulation import MechanismSimulation


class DeviceBatch:
    """N states of a simulation on a GPU, advanced together: a thread makes all steps of a row.

    The arrays are live, and those of PyTorch, CuPy and JAX can be made of them without copies, such as by `torch.as_tensor`:
    `step` writes to those of the state and reads those of the efforts and inputs, and so may you. What is called on the default
    stream happens in its order.

    Attributes:
        q, v: (N, nq) and (N, nv); work: (N) [J]; error: (N), the largest error estimate, as of `Batch`.
        tau: (N, nv), constant efforts at the joints [N·m, N]; wrenches, loop_tau: by place and loop; inputs: by name, (N, k).
        efforts: (N, size of u), all of these constants.
        state: what is carried from step to step, by name.
    """

    def __init__(
        self,
        simulation: MechanismSimulation,
        q: np.ndarray,
        v: np.ndarray,
        parameters: Mapping[str, Any] | None = None,
        dtype: Any = np.float32,
    ):
        """The batch of these states, (N, nq) and (N, nv), with their loops closed, and of these parameters, as of `Batch.set`.

        Raises:
            InputError: without a GPU; for steps that are not one robot's compiled code.
        """
        straight, actuation = simulation.straight, simulation.actuation
        straight.check_rows(actuation)
        if actuation.forcing.overlaps:
            raise InputError(
                f"{simulation.mechanism.name}: springs of contact leave overlaps at the start out, which is not done on a GPU; "
                "take contact='rigid', or target='cpu'"
            )
        carried = start_of(actuation, simulation.step_size, q, v)
        actuation.put_parameters(carried["u"], parameters or {})
        self.simulation, recurrence = simulation, straight.recurrence
        self._recurrence = DeviceRecurrence(recurrence, {**carried, "h": np.array(simulation.step_size)}, dtype)
        arrays = self._recurrence.arrays
        self.state = {array.name: arrays[array.name] for array in recurrence.carried}
        self.q, self.v, self.work, self.error = (self.state[name] for name in ("q", "v", "work", "error"))
        self.efforts, forcing = arrays["u"], actuation.forcing
        self.tau = self.efforts.columns(forcing.layout.at("tau"))
        self.wrenches, self.loop_tau = (
            {name: self.efforts.columns(place) for name, place in forcing.layout.group(group).items()}
            for group in ("wrenches", "loop_tau")
        )
        self.inputs = {name: self.efforts.columns(forcing.own[name]) for name in forcing.values_of_inputs}
        self._look = DeviceKernel(recurrence.look, dtype, fillings=recurrence.fillings)
        self._reset = DeviceKernel(_restart(recurrence), dtype)

    def __len__(self) -> int:
        return len(self.q)

    @property
    def code(self) -> Any:
        """The code of the steps, with its registers and local memory."""
        return self._recurrence.code

    def step(self, count: int = 1, *, stream: Any = None) -> None:
        """Advances all rows by `count` steps, with the efforts as they are; does not wait for it."""
        self._recurrence.run(count, stream)

    def look(self, *, stream: Any = None) -> dict[str, DeviceArray]:
        """The recorded quantities of the states as they are, by name: q, v with their loops closed, work, error and outputs."""
        arrays = self._recurrence.arrays
        found = self._look(*(arrays[array.name] for array in self._look.inputs), stream=stream)
        return {array.name: one for array, one in zip(self._look.outputs, found, strict=True)}

    def reset(self, mask: Any, q: Any = None, v: Any = None, *, stream: Any = None) -> None:
        """Restarts rows where the mask is not zero; their parameters, inputs and efforts stay.

        Args:
            mask: (N), on the GPU in the batch's dtype, or NumPy's.
            q, v: (nq) and (nv), or a row for each of all, (N, nq) and (N, nv): on the GPU, taken as they are, or NumPy's, whose
                loops are closed; the simulation's start by default.
        """
        simulation = self.simulation
        if not hasattr(mask, "__dlpack_device__") or isinstance(mask, np.ndarray):
            mask = self._uploaded(np.asarray(mask))
        given = {"q": q, "v": v} if hasattr(q, "__dlpack_device__") and not isinstance(q, np.ndarray) else {}
        rows = len(q) if not given and np.ndim(q) == 2 else 1
        start = simulation.starts(None if given else q, None if given else v, rows)
        begun = start_of(simulation.actuation, simulation.step_size, *start)
        carried = list(self.state.values())
        fresh = [
            given[name] if name in given else self._uploaded(begun[name][0] if rows == 1 else begun[name])
            for name in self.state
        ]
        self._reset(mask, *carried, *fresh, out=carried, stream=stream)

    def _uploaded(self, values: np.ndarray) -> DeviceArray:
        found = DeviceArray(values.shape, self._recurrence.precision.dtype)
        found.set(values)
        return found


def _restart(recurrence: Recurrence) -> Program:
    """The program (mask, carried…, the same at the start…) → carried…, as at the start where the mask is not zero."""
    sizes = {array.name: array.shape for array in recurrence.carried}

    def page(mask: Any, *given: Any) -> dict[str, Any]:
        def chosen(a: Any, b: Any) -> Any:
            return select(equal(mask, 0.0), a, b)

        pairs = zip(sizes.items(), given[: len(sizes)], given[len(sizes) :], strict=True)
        return {
            name: [chosen(a, b) for a, b in zip(now, begun, strict=True)] if shape else chosen(now, begun)
            for (name, shape), now, begun in pairs
        }

    return trace(page, {"mask": (), **sizes, **{f"{name}_begun": shape for name, shape in sizes.items()}}, "restart")
