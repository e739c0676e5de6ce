"""The outputs of a scene: programs of one state, evaluated on the recorded rows.

A program's size follows what it reads and not the number of bodies, so that nothing of a scene is compiled again for them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from ...compile import Kernel
from ...scalar import Array, Program, trace
from ..driving.forcing import Forcing
from ..driving.inputs import PUSH, PUSHES
from ..stepping.outputs import Output, evaluated

#: Where a row of `SceneLog.touches` has the force on A, the place and the normal from B to A.
_PUSHED = slice(3, 12)


class SceneOutputs:
    """The outputs of a simulation of a scene.

    Attributes:
        arrays: their names and shapes.
        follow: whether any reads what the step that begins at a state does: accelerations, or what pushes.
    """

    def __init__(
        self, outputs: Sequence[Output], forcing: Forcing, names: Sequence[str], efforts: Callable[..., np.ndarray]
    ):  # fmt: skip
        """The outputs; `names`: of the solids' bodies; `efforts`: (q, v, u) → the efforts at the joints (n, nv)."""
        self._forcing, self._names, self._efforts = forcing, names, efforts
        self._felt = [output for output in outputs if output.feels]
        self._others = [output for output in outputs if not output.feels]
        reads = {array.name for output in self._others for array in output.make().inputs}
        self._reads: list[str] = [name for name in ("t", "q", "v", "u", "a", "tau") if name in reads or name == "u"]
        self._reads += [output.name for output in self._felt if output.name in reads]
        self.follow = bool(self._felt) or "a" in reads
        felt = {output.name: (1,) for output in self._felt}
        known = {array.name: array.shape for array in self._program.outputs} | felt
        self.arrays = tuple(Array(name, shape) for name, shape in known.items())

    @cached_property
    def _program(self) -> Program:
        """(what outputs read: t, q, v, u, a, tau, and what touch sensors feel) → all other outputs."""
        m, layout, own = self._forcing.mechanism, self._forcing.layout, self._forcing.own
        sizes: dict[str, int | tuple[int, ...]] = {"t": (), "q": m.nq, "v": m.nv, "u": layout.size, "a": m.nv, "tau": m.nv}
        sizes |= {output.name: 1 for output in self._felt}

        def page(*values: Any) -> dict[str, Any]:
            signals = dict(zip(self._reads, values, strict=True))
            u = signals["u"]
            signals |= {name: u[place] for name, place in {**layout.group("commands"), **own}.items()}
            signals["parameters"] = u[layout.at("parameters")]
            return evaluated(self._others, signals.__getitem__)

        return trace(page, {name: sizes[name] for name in self._reads}, f"outputs_{m.name}")

    @cached_property
    def _kernel(self) -> Kernel:
        return Kernel(self._program)

    @cached_property
    def _felt_kernels(self) -> list[Kernel]:
        return [Kernel(output.make()) for output in self._felt]

    def of(
        self, time: np.ndarray, q: np.ndarray, v: np.ndarray, u: np.ndarray, acceleration: np.ndarray | None = None,
        touches: np.ndarray | None = None,
    ) -> dict[str, np.ndarray]:  # fmt: skip
        """The outputs of states (n, …), by name, with the efforts u and the values of functions in them.

        Args:
            acceleration: (n, nv), means over the steps that begin at the states, if `follow`.
            touches: of these steps, rows of `SceneLog.touches`, each with the number of its state.
        """
        found: dict[str, np.ndarray] = {}
        if touches is not None:
            for output, kernel in zip(self._felt, self._felt_kernels, strict=True):
                found[output.name] = self._sum(output, kernel, q, touches)
        if self._others:
            values: dict[str, Any] = {"t": time, "q": q, "v": v, "u": u, "a": acceleration, **found}
            if "tau" in self._reads:
                values["tau"] = np.ascontiguousarray(self._efforts(q, v, u))
            arrays = self._kernel(*(values[name] for name in self._reads))
            arrays = arrays if len(self._kernel.outputs) > 1 else [arrays]
            found |= {array.name: values for array, values in zip(self._kernel.outputs, arrays, strict=True)}
        return found

    def _sum(self, output: Output, kernel: Kernel, q: np.ndarray, touches: np.ndarray) -> np.ndarray:
        """(n, 1) of an output that is a sum over what pushes on a body: of each push, with the body as A, and added up."""
        total = np.zeros((len(q), 1))
        for side, sign in ((1, 1.0), (2, -1.0)):
            rows = touches[[self._names[int(solid)] == output.feels for solid in touches[:, side]]]
            if len(rows):
                pushes = np.ascontiguousarray(rows[:, _PUSHED]) * np.repeat([sign, 1.0, sign], 3)
                state = rows[:, 0].astype(int)
                values: Mapping[str, np.ndarray] = {"q": q[state], PUSHES: pushes.reshape(-1, PUSH)}
                np.add.at(total, state, kernel(*(values[array.name] for array in kernel.inputs)))
        return total
