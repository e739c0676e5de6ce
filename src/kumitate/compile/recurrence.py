"""A step applied repeatedly to rows of states, without the interpreter in between."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import InputError
from ..scalar import Array, Program
from .stored import StoredProgram
from .target import DOUBLE, host
from .threads import can_pool, run_blocks, thread_count

if TYPE_CHECKING:
    from .engine import Code
    from .pipeline import Compilation
    from .wasm import WasmModule

#: Work from which threads share a call [operations of one lane]: waking one takes some microseconds.
WORTH_SHARING = 100_000
#: Work after which a call returns to Python, which only then notices Ctrl-C [operations of one lane]: some tenths of a second.
#: Operations are an upper bound where there is contact; so many steps of one block, over all blocks, are made in any case.
_PIECE, _STEPS = 10**9, 1000


class Recurrence:
    """A step, compiled together with what is recorded of it.

    Attributes:
        step: (carried…, given…) → carried…: its outputs are the first of its inputs, in their order.
        look: the same inputs → seen…: what is recorded.
        carried, given, seen: the arrays.
        fillings: programs for the holes of both, by name; `shared`: as of a `Kernel`.
    """

    def __init__(
        self,
        step: Program | StoredProgram,
        look: Program | StoredProgram,
        fillings: Mapping[str, Program] | None = None,
        shared: Sequence[Program | StoredProgram] = (),
    ):
        names = [array.name for array in step.outputs]
        if names != [array.name for array in step.inputs[: len(names)]] or step.inputs != look.inputs:
            raise ValueError(f"the step {step.name!r} must give its first inputs, and {look.name!r} must take the same ones")
        self.step, self.look = step, look
        self.carried, self.given, self.seen = step.inputs[: len(names)], step.inputs[len(names) :], look.outputs
        self.fillings, self.shared = fillings or {}, shared
        self._codes: dict[int, Code] = {}
        self._compilations: dict[int, Compilation] = {}

    def filled(self, fillings: Mapping[str, Program]) -> Recurrence:
        """The recurrence with other programs in its holes; what is compiled around them is shared."""
        other = Recurrence(self.step, self.look, fillings, self.shared)
        other._compilations = self._compilations
        vars(other)["operations"] = self.operations  # counting those of a large step takes milliseconds
        return other

    @cached_property
    def operations(self) -> int:
        """The number of operations of one step."""
        return self.step.operations.total()

    def code(self, lanes: int) -> Code:
        """The machine code for so many states at a time, compiled on first use."""
        if lanes not in self._codes:
            from .llvm.recurrence import RolloutEntry
            from .pipeline import Compilation, compiled

            wanted = Compilation(RolloutEntry(self.step, self.look), lanes, shared=self.shared)
            self._codes[lanes] = compiled(self.step.name, self._compilations, wanted, self.fillings)
        return self._codes[lanes]

    def wasm(self, further: Mapping[str, Program | StoredProgram] | None = None) -> WasmModule:
        """The module of the programs `step` and `look`, whose `run(n)` steps n times, and of further ones by name."""
        from .wasm import wasm_module

        return wasm_module({"step": self.step, "look": self.look, **(further or {})}, self.fillings, repeated="step")

    def over(
        self, state: Mapping[str, np.ndarray], given: Mapping[str, np.ndarray], seen: Mapping[str, np.ndarray], *, batch: bool
    ) -> Rollout:
        """The recurrence over rows in memory.

        Args:
            state: every carried array by name, (N, …), written to.
            given: every given one, (N or 1, records or 1, …).
            seen: every recorded one, (N, records, …), written to.
            batch: whether several states are worked on at a time.
        """
        return Rollout(self, state, given, seen, host().lanes if batch else 1)


class Rollout:
    """A recurrence bound to arrays: `run` advances them in place."""

    def __init__(
        self,
        recurrence: Recurrence,
        state: Mapping[str, np.ndarray],
        given: Mapping[str, np.ndarray],
        seen: Mapping[str, np.ndarray],
        lanes: int,
    ):
        from .llvm.recurrence import ROLLOUT

        self._kept: list[Any] = [recurrence.code(lanes)]
        self.rows, self.lanes = len(next(iter(state.values()))), lanes
        words = [self.rows, 0, 0]
        for arrays, axes, values in ((recurrence.carried, 1, state), (recurrence.given, 2, given), (recurrence.seen, 2, seen)):
            words += self._words(arrays, axes, values)
        self._arguments = np.array(words, dtype=np.int64)
        self._address = self._arguments.ctypes.data
        self._function = recurrence.code(lanes).addresses[ROLLOUT]
        self._run = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)(self._function)
        self._blocks = -(-self.rows // lanes)
        self._work = self._blocks * recurrence.operations
        self._piece = max(1 + _STEPS // max(self._blocks, 1), _PIECE // max(self._work, 1))

    def run(self, records: int, every: int) -> None:
        """Advances every row by records · every steps, and records after each `every` of them; without records, by `every`."""
        while every > self._piece and records <= 1:
            self._go(0, self._piece)
            every -= self._piece
        self._go(records, every)

    def _go(self, records: int, every: int) -> None:
        """The same in one call."""
        self._arguments[1], self._arguments[2] = records, every
        worth = self._blocks > 1 and self._work * max(records, 1) * max(every, 1) > WORTH_SHARING
        threads = min(thread_count(), self._blocks) if worth else 1
        if threads > 1 and can_pool():
            run_blocks(self._function, self._address, self._blocks, threads)
        else:
            self._run(self._address, 0, self._blocks)

    def look(self, rows: np.ndarray) -> None:
        """Records of some rows (k), and of those that share a block with them, as they are."""
        if len(rows) == self.rows:
            self.run(1, 0)
            return
        self._arguments[1], self._arguments[2] = 1, 0
        for block in np.unique(rows // self.lanes).tolist():
            self._run(self._address, block, block + 1)

    def _words(self, arrays: Sequence[Array], axes: int, values: Mapping[str, np.ndarray]) -> list[int]:
        words = []
        for array in arrays:
            value = values[array.name]
            own = value.shape[axes:]
            if value.dtype != DOUBLE.dtype or own != array.shape or not value[(0,) * axes].flags.c_contiguous:
                raise InputError(
                    f"{array.name} has shape {value.shape} and dtype {value.dtype}; it must be float64 of shape "
                    f"{('N', 'records')[:axes]} + {array.shape}"
                )
            if value.shape[0] not in (self.rows, 1) or (axes == 1 and value.shape[0] != self.rows):
                raise InputError(f"{array.name} has {value.shape[0]} rows; there are {self.rows}")
            between = [0 if value.shape[axis] == 1 else value.strides[axis] // value.itemsize for axis in range(axes)]
            words += [value.ctypes.data, *between, *([0] if axes == 1 else [])]
            self._kept.append(value)
        return words
