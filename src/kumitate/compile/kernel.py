"""Compiled programs as functions of NumPy arrays."""

from __future__ import annotations

import ctypes
import math
import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..errors import InputError
from ..scalar import Array, Program
from .engine import Code, load
from .fastcall import FAST_ENTRY, can_wrap, fast_function, fast_wrapper
from .llvm import ENTRY, emit
from .target import host

__all__ = ["Kernel"]

#: Compilations that take longer than this [s] are told of.
SLOW_COMPILATION = 0.5


class Kernel:
    """A program, compiled on first use: for one state, or for a batch with several states an instruction.

    Called with one array an input, each of the input's shape, or with leading axes for a batch (the axes of different inputs
    are broadcast against each other). Returns a float64 array of the output's shape behind the same leading axes; a tuple of
    them if the program has several outputs.
    """

    def __init__(self, program: Program):
        self.program = program
        self.name = program.name
        self.inputs = program.inputs
        self.outputs = program.outputs
        self._codes: dict[int, tuple[Code, Callable[..., None]]] = {}
        self._fast: Callable[..., Any] = self._first

    def __repr__(self) -> str:
        arrays = ", ".join(f"{a.name}{list(a.shape)}" for a in self.inputs)
        return f"Kernel {self.name}({arrays}) of {self.operations} operations"

    @property
    def operations(self) -> int:
        """The number of operations of one evaluation."""
        return self.program.operations.total()

    def __call__(self, *arrays: Any) -> Any:
        single = [np.empty(array.shape) for array in self.outputs]
        if self._fast(*single, *arrays) is None:
            return single[0] if len(single) == 1 else tuple(single)
        given, lead = self._checked(arrays)
        out = [np.empty(lead + array.shape) for array in self.outputs]
        self._run(given, out, math.prod(lead))
        return out[0] if len(out) == 1 else tuple(out)

    def into(self, out: np.ndarray | Sequence[np.ndarray], *arrays: Any) -> None:
        """As a call, with the results written to existing arrays: float64, C-contiguous, of the right shape."""
        outs = [out] if isinstance(out, np.ndarray) else list(out)
        if self._fast(*outs, *arrays) is None:
            return
        given, lead = self._checked(arrays)
        for array, target in zip(self.outputs, outs, strict=True):
            if target.shape != lead + array.shape or target.dtype != np.float64 or not target.flags.carray:
                raise InputError(
                    f"{self.name}: the array for {array.name!r} has shape {target.shape} and dtype {target.dtype}; it must be "
                    f"a writable C-contiguous float64 array of shape {lead + array.shape}"
                )
            given = [a.copy() if np.may_share_memory(a, target) else a for a in given]
        self._run(given, outs, math.prod(lead))

    def prepare(self, *, batch: bool = True) -> Kernel:
        """Compiles now instead of at the first call. Returns the kernel."""
        self.code(1)
        if batch:
            self.code(host().lanes)
        return self

    def code(self, lanes: int) -> Code:
        """The machine code for `lanes` states at a time."""
        return self._compiled(lanes)[0]

    def source(self, form: str = "program", lanes: int = 1) -> str:
        """The kernel as text: "program" (its listing) or "llvm"."""
        forms = {"program": lambda: str(self.program), "llvm": lambda: emit(self.program, lanes)}
        if form not in forms:
            raise InputError(f"{self.name}: no source form {form!r}; the forms are {', '.join(forms)}")
        return forms[form]()

    def _compiled(self, lanes: int) -> tuple[Code, Callable[..., None]]:
        found = self._codes.get(lanes)
        if found is None:
            text, functions = emit(self.program, lanes), [ENTRY]
            if lanes == 1 and can_wrap():
                text, functions = f"{text}\n{fast_wrapper(self.program, ENTRY)}\n", [ENTRY, FAST_ENTRY]
            code = load(text, host(), functions)
            if code.seconds > SLOW_COMPILATION and not code.from_cache:
                sys.stderr.write(f"kumitate: compiled {self.name} in {code.seconds:.1f} s; it is kept on disk\n")
            pointers = [ctypes.c_void_p] * (len(self.inputs) + len(self.outputs))
            function = ctypes.CFUNCTYPE(None, ctypes.c_int64, *pointers)(code.addresses[ENTRY])
            found = self._codes[lanes] = (code, function)
        return found

    def _first(self, *arrays: Any) -> Any:
        """Stands in for the fast call until there is one: a batch never needs it."""
        if all(np.ndim(value) == len(spec.shape) for spec, value in zip((*self.outputs, *self.inputs), arrays, strict=False)):
            self._fast = fast_function(self.code(1), self.name) or _refuse
            return self._fast(*arrays)
        return NotImplemented

    def _run(self, given: Sequence[np.ndarray], out: Sequence[np.ndarray], states: int) -> None:
        lanes = host().lanes if states >= host().lanes else 1
        _, function = self._compiled(lanes)
        function(states, *(array.ctypes.data for array in (*given, *out)))

    def _checked(self, arrays: Sequence[Any]) -> tuple[list[np.ndarray], tuple[int, ...]]:
        """The inputs as contiguous float64 rows, one a state, and the leading axes."""
        if len(arrays) != len(self.inputs):
            names = ", ".join(array.name for array in self.inputs)
            raise InputError(f"{self.name} takes {len(self.inputs)} arrays ({names}), got {len(arrays)}")
        given = [_numbers(self.name, spec, value) for spec, value in zip(self.inputs, arrays, strict=True)]
        leads = [value.shape[: value.ndim - len(spec.shape)] for spec, value in zip(self.inputs, given, strict=True)]
        try:
            lead = np.broadcast_shapes(*leads) if leads else ()
        except ValueError:
            shapes = ", ".join(f"{spec.name} {value.shape}" for spec, value in zip(self.inputs, given, strict=True))
            raise InputError(f"{self.name}: the leading axes do not fit together: {shapes}") from None
        rows = [
            np.ascontiguousarray(np.broadcast_to(value, lead + spec.shape))
            for spec, value in zip(self.inputs, given, strict=True)
        ]
        return rows, lead


def _refuse(*arrays: Any) -> Any:
    return NotImplemented


def _numbers(kernel: str, spec: Array, value: Any) -> np.ndarray:
    array = np.asarray(value)
    if array.dtype.kind not in "fiu":
        raise InputError(f"{kernel}: {spec.name} has dtype {array.dtype}; it must hold real numbers")
    trailing = array.shape[array.ndim - len(spec.shape) :] if spec.shape else ()
    if array.ndim < len(spec.shape) or trailing != spec.shape:
        expected = ", ".join(str(size) for size in spec.shape)
        raise InputError(
            f"{kernel}: {spec.name} has shape {array.shape}; it must be ({expected}{',' if len(spec.shape) == 1 else ''}) for "
            f"one state, or (..., {expected}) for a batch"
        )
    return array.astype(np.float64, copy=False)
