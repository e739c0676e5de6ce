"""What is recorded of a scene along a run: its contact, from what steps have logged, and its outputs.

Outputs are programs of one state, evaluated on the recorded rows. A program's size follows what it reads and not the number of
bodies, so that nothing of a scene is compiled again for them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from ...compile import Kernel
from ...contact.pairs import FAR
from ...model.things import belongs, pushes
from ...records.contact_record import ContactRecord, Touched
from ...scalar import Array, Program, trace
from ..driving.forcing import PUSH, PUSHES, Forcing
from ..stepping.outputs import Output, evaluated
from .model import SceneModel, ScenePage

#: Where a row of `SceneLog.touches` has the force on A, the place and the normal from B to A.
_PUSHED = slice(3, 12)


class Logged(NamedTuple):
    """What was logged of some records, as of `SceneLog`.

    Attributes:
        begins: the number of the step that each begins with.
        reached: the velocities (records, nv) after the first step of each record, in the axes before it.
    """

    begins: np.ndarray
    sums: np.ndarray
    reached: np.ndarray
    touches: np.ndarray


#: Touches are logged with the number of their record; this row moves them on by one record.
UNIT = np.array([1.0] + [0.0] * 19)


def joined(logged: Sequence[Logged]) -> Logged:
    """The log of all these records."""
    starts = np.cumsum([0, *(len(part.begins) for part in logged)])
    touches = [part.touches + start * UNIT for part, start in zip(logged, starts, strict=False)]
    return Logged(*(np.concatenate(parts) for parts in (*list(zip(*logged, strict=True))[:3], touches)))


def record_of(model: SceneModel, page: ScenePage, logged: Logged, h: float, v: np.ndarray) -> Touched:
    """The record of the steps of length h that begin with the velocities (n, nv), from all that was logged."""
    rows, begins, touches = len(v), logged.begins, logged.touches
    first = np.searchsorted(begins, begins[-1] * np.arange(rows) // max(rows - 1, 1))
    sums, added = np.maximum.reduceat(logged.sums, first), np.add.reduceat(logged.sums[:, 3:], first)
    row_of = np.full(len(begins), -1)
    row_of[first] = np.arange(rows)
    touches[:, 0] = row_of[touches[:, 0].astype(int)]
    record = _record(model, touches[touches[:, 0] >= 0.0], rows, sums, added)
    closes = np.where(model.contact.stiffness(record.bodies) > 0.0, np.inf, page.recovery * h)
    acceleration = acceleration_of(model, logged.reached[first], h, v)
    solver = np.column_stack([added[:, 2:6], sums[:, 9:]])
    return Touched(record, acceleration, sums[:, 1], closes, page.thrown(model.names), solver=solver)


def acceleration_of(model: SceneModel, reached: np.ndarray, h: float, v: np.ndarray) -> np.ndarray:
    """The mean accelerations (n, nv) of steps that lead from velocities v to those `reached`."""
    return (reached - v) / h + model.turning(v)


def _record(model: SceneModel, touches: np.ndarray, rows: int, sums: np.ndarray, added: np.ndarray) -> ContactRecord:
    """One point per pair of solids that ever pushed each other, at the center of its normal forces."""
    at, solids = touches[:, 0].astype(int), touches[:, 1:3].astype(int)
    keys, column = np.unique(solids @ [len(model.names), 1], return_inverse=True)
    pairs = np.stack(np.divmod(keys, len(model.names)), axis=1)
    shape = (rows, len(pairs))
    load = np.einsum("nk,nk->n", touches[:, 3:6], touches[:, 9:12])
    total = np.zeros(shape)
    np.add.at(total, (at, column), load)
    share = load / np.where(total[at, column] > 0.0, total[at, column], 1.0)

    def mean(columns: slice, weight: np.ndarray) -> np.ndarray:
        out = np.zeros((*shape, columns.stop - columns.start))
        np.add.at(out, (at, column), touches[:, columns] * weight[:, None])
        return out

    normal, each = mean(slice(9, 12), share), np.ones(len(touches))
    length = np.linalg.norm(normal, axis=2, keepdims=True)
    gap, friction = np.full(shape, np.inf), np.zeros(shape)
    np.minimum.at(gap, (at, column), touches[:, 12])
    np.maximum.at(friction, (at, column), touches[:, 16])
    return ContactRecord(
        bodies=tuple((model.names[a], model.names[b]) for a, b in pairs),
        force=mean(slice(3, 6), each), position=mean(slice(6, 9), share),
        normal=normal / np.where(length > 0.0, length, 1.0), gap=np.where(np.isfinite(gap), gap, FAR),
        velocity=mean(slice(13, 16), share), friction=friction, residual=sums[:, 0], penetration=sums[:, 2],
        work=added[:, 1], gained=added[:, 0],
        moment=mean(slice(17, 20), each) if model.contact.turns else None,
    )  # fmt: skip


# --- outputs ------------------------------------------------------------------------------------------------------------
class SceneOutputs:
    """The outputs of a simulation of a scene: `arrays`, their names and shapes.

    `follow`: whether any reads what the step that begins at a state does: accelerations, or what pushes.
    """

    def __init__(
        self, outputs: Sequence[Output], forcing: Forcing, names: Sequence[str], efforts: Callable[..., np.ndarray]
    ):  # fmt: skip
        """The outputs; `names`: of the solids' bodies; `efforts`: as of `Advance.joint_efforts`."""
        self._forcing, self._names, self._efforts = forcing, names, efforts
        self._felt = [output for output in outputs if output.feels]
        self._others = [output for output in outputs if not output.feels]
        reads = {array.name for output in self._others for array in output.make().inputs}
        felt = [output.name for output in self._felt]
        self._reads = [name for name in ("t", "q", "v", "u", "a", "tau", *felt) if name in reads or name == "u"]
        self.follow = bool(felt) or "a" in reads
        self._shapes = {output.name: output.make().outputs[0].shape for output in self._felt}
        known = {array.name: array.shape for array in self._program.outputs} | self._shapes
        self.arrays = tuple(Array(name, shape) for name, shape in known.items())

    @cached_property
    def _program(self) -> Program:
        """(what outputs read: t, q, v, u, a, tau, and what touch sensors feel) → all other outputs."""
        m, layout, own = self._forcing.mechanism, self._forcing.layout, self._forcing.own
        sizes: dict[str, int | tuple[int, ...]] = {"t": (), "q": m.nq, "v": m.nv, "u": layout.size, "a": m.nv, "tau": m.nv}
        sizes |= self._shapes

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
                values["tau"] = np.ascontiguousarray(self._efforts(0.0, q, v, u)[:, : v.shape[1]])
            arrays = self._kernel(*(values[name] for name in self._reads))
            arrays = arrays if len(self._kernel.outputs) > 1 else [arrays]
            found |= {array.name: values for array, values in zip(self._kernel.outputs, arrays, strict=True)}
        return found

    def _sum(self, output: Output, kernel: Kernel, q: np.ndarray, touches: np.ndarray) -> np.ndarray:
        """(n, …) of an output that is a sum over what pushes on a body: of each push, with the body as A, and added up."""
        total = np.zeros((len(q), kernel.outputs[0].size))
        for side, sign in ((1, 1.0), (2, -1.0)):
            own, others = ([self._names[int(solid)] for solid in touches[:, column]] for column in (side, 3 - side))
            felt = [belongs(a, output.feels) and pushes(b, output.by) for a, b in zip(own, others, strict=True)]
            rows = touches[np.array(felt, dtype=bool)]
            if len(rows):
                pushed = np.ascontiguousarray(rows[:, _PUSHED]) * np.repeat([sign, 1.0, sign], 3)
                state = rows[:, 0].astype(int)
                values: Mapping[str, np.ndarray] = {"q": q[state], PUSHES: pushed.reshape(-1, PUSH)}
                np.add.at(total, state, kernel(*(values[array.name] for array in kernel.inputs)))
        return total
