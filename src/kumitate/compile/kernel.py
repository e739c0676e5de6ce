"""Compiled programs as functions of NumPy arrays."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial
from threading import Lock
from typing import TYPE_CHECKING, Any
from weakref import finalize

import numpy as np

from ..errors import InputError
from ..scalar import Array, Program, active_scope, call
from ..scalar.arrays import SymbolArray, is_masked, is_traced
from .stored import StoredProgram, traced
from .target import Target, host, precision_of
from .threads import run_states, states_for_one_thread

if TYPE_CHECKING:
    from .engine import Code
    from .pipeline import Compilation
    from .report import KernelReport
    from .wasm import WasmModule


class ProgramKernel:
    """What kernels of a program have in common, whatever they run on: its name and arrays, and their precision."""

    def __init__(self, program: Program | StoredProgram, dtype: Any):
        self._given, self.name, self.precision = program, program.name, precision_of(dtype)
        self.inputs, self.outputs = program.inputs, program.outputs

    def __repr__(self) -> str:
        arrays = ", ".join(f"{a.name}{list(a.shape)}" for a in self.inputs)
        return f"{type(self).__name__} {self.name}({arrays}) of {self.operations} operations"

    @property
    def operations(self) -> int:
        """The number of operations of one evaluation."""
        return self._given.operations.total()

    @property
    def program(self) -> Program:
        """The program; if its code was found on disk, it is traced now."""
        return traced(self._given)


class Kernel(ProgramKernel):
    """A program, compiled on first use: for one state, or for a batch with several states per instruction.

    Called with one array per input, each of the input's shape, or with leading axes for a batch (the axes of different inputs
    are broadcast against each other). Returns a float64 array of the output's shape behind the same leading axes; a tuple of
    them if the program has several outputs. Inside a function that is being traced it takes and gives traced values.

    Attributes:
        single: runs one state without checks, for callers that make the arrays for the results: its arguments are the
            outputs and then the inputs, float64 arrays of the right shapes. It gives None; for any other arguments
            NotImplemented, with nothing done.
    """

    def __init__(
        self,
        program: Program | StoredProgram,
        dtype: Any = np.float64,
        *,
        portable: bool = False,
        quick: bool = False,
        fillings: Mapping[str, Program] | None = None,
        shared: Sequence[Program | StoredProgram] = (),
    ):
        """The kernel of a program, computing in float64 or float32.

        Args:
            portable: whether to get the same bits on every processor.
            quick: whether to compile in a quarter of the time, for few states: each then takes about twice as long.
            fillings: programs for its holes, by name; shared: long programs that it calls, as other kernels do: their code is
                compiled and kept in memory once for all.
        """
        super().__init__(program, dtype)
        self.portable, self.quick, self._dtype = portable, quick, self.precision.dtype
        self._options: dict[str, Any] = {"portable": portable, "quick": quick}
        self._only = self.outputs[0].shape if len(self.outputs) == 1 else None
        self.fillings, self.shared = fillings or {}, shared
        self._codes: dict[int, tuple[Code, Callable[..., None]]] = {}
        self._compilations: dict[int, Compilation] = {}
        self._compiling = Lock()  # a kernel is compiled by the first of the threads that call it at once
        self.single: Callable[..., Any] = partial(self._first, 1)
        self._batch: Callable[..., Any] = partial(self._first, self.lanes)

    def __reduce__(self) -> tuple[Any, ...]:
        """A copy, in another process too, is made from the program; its machine code comes from the disk cache."""
        return partial(type(self), self.program, self._dtype, fillings=self.fillings, **self._options), ()

    def filled(self, fillings: Mapping[str, Program]) -> Kernel:
        """The kernel with other programs in its holes; what is compiled around them is shared."""
        other = Kernel(self._given, self._dtype, fillings=fillings, shared=self.shared, **self._options)
        other._compilations = self._compilations
        return other

    @cached_property
    def _most(self) -> int:
        """The largest batch for one thread; kept, as counting a large program takes milliseconds."""
        return states_for_one_thread(self.operations)

    @property
    def lanes(self) -> int:
        """How many states a batch works on at a time."""
        return host().lanes * 8 // self.precision.bytes

    def __call__(self, *arrays: Any) -> Any:
        out = self._empty(()) if self._only is None else [np.empty(self._only, self._dtype)]  # faster for one output
        if self.single(*out, *arrays) is not None:
            lead = self._plain_lead(arrays)
            out = self._empty(lead)
            if not lead or self._batch(*out, *arrays) is not None:
                if active_scope() is not None and any(map(is_traced, arrays)):
                    return self._called(arrays)
                given, whole = self._checked(arrays)
                out = out if whole == lead else self._empty(whole)
                self._run(given, out, math.prod(whole))
        return out[0] if len(out) == 1 else tuple(out)

    def into(self, out: np.ndarray | Sequence[np.ndarray], *arrays: Any) -> None:
        """As a call, with the results written to existing arrays: of the kernel's dtype, C-contiguous, of the right shape."""
        outs: list[Any] = list(out) if isinstance(out, list | tuple) else [out]
        if self.single(*outs, *arrays) is None or self._batch(*outs, *arrays) is None:
            return
        given, lead = self._checked(arrays)
        plain = all(isinstance(target, np.ndarray) and not is_masked(target) for target in outs)
        if len(outs) != len(self.outputs) or not plain:
            names = ", ".join(array.name for array in self.outputs)
            raise InputError(f"{self.name}: into writes to {len(self.outputs)} NumPy arrays ({names}), got {out!r:.60}")
        for array, target in zip(self.outputs, outs, strict=True):
            if target.shape != lead + array.shape or target.dtype != self.precision.dtype or not target.flags.carray:
                raise InputError(
                    f"{self.name}: the array for {array.name!r} has shape {target.shape} and dtype {target.dtype}; it must be "
                    f"a writable C-contiguous {self.precision.dtype} array of shape {lead + array.shape}"
                )
            given = [a.copy() if np.may_share_memory(a, target) else a for a in given]
        self._run(given, outs, math.prod(lead))

    def prepare(self, *, batch: bool = True) -> Kernel:
        """Compiles now instead of at the first call; `into` is then free of Python for one state. Returns the kernel."""
        self._install(1)
        if batch:
            self._install(self.lanes)
        return self

    @property
    def widths(self) -> list[int]:
        """The numbers of lanes that it is compiled for so far."""
        return sorted(self._codes)

    def code(self, lanes: int) -> Code:
        """The machine code for `lanes` states at a time."""
        return self._compiled(lanes)[0]

    def source(self, form: str = "program", lanes: int = 1) -> str:
        """The kernel as text.

        The forms are "program" (its listing), "llvm", "c" (C99 without dependencies) and "wat" (WebAssembly, of one state).
        """
        from .exports import to_c  # loaded on first use
        from .llvm import HostBatch, write_module

        forms = {
            "program": lambda: str(self.program),
            "llvm": lambda: write_module(HostBatch(self.program), lanes, self.precision, portable=self.portable),
            "c": lambda: to_c(self.program),
            "wat": lambda: self.wasm().text,
        }
        if form not in forms:
            raise InputError(f"{self.name}: no source form {form!r}; the forms are {', '.join(forms)}")
        return forms[form]()

    def object_code(self, target: Target | None = None, *, lanes: int = 1) -> bytes:
        """A linkable object file for this processor or another, such as `kumitate.compile.ARM64`; needs no compiler.

        It offers `void kernel(int64_t n, const double *input…, double *output…)`: n states, at least as many as `lanes`, one
        contiguous row per state in every array.
        """
        from .engine import object_code

        return object_code(self.source("llvm", lanes), target or host())

    def wasm(self) -> WasmModule:
        """The kernel as WebAssembly, for one state in float64: its bytes, and where its arrays stand in the memory.

        The module exports `memory` and the function `kernel`, which reads the inputs and writes the outputs there. They have
        the bits of a kernel with `portable=True`. `WasmModule` says more.
        """
        from .wasm import wasm_module

        return wasm_module({"kernel": self.program}, self.fillings)

    def to_casadi(self) -> Any:
        """The kernel as a `casadi.Function` (extra `casadi`)."""
        from .exports import to_casadi

        return to_casadi(self.program)

    def to_sympy(self, symbols: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """The outputs by name as SymPy expressions of `symbols`, by input's name (extra `lagrange`; small kernels only)."""
        from .exports import to_sympy

        return to_sympy(self.program, symbols)

    def report(self) -> KernelReport:
        """A report: operations, and the machine code at the widths compiled so far."""
        from .report import report

        return report(self)

    def _compiled(self, lanes: int) -> tuple[Code, Callable[..., None]]:
        with self._compiling:
            if lanes not in self._codes:
                from .llvm import ENTRY, HostBatch
                from .pipeline import Compilation, compiled

                options = (lanes, self.precision, self.portable)
                wanted = Compilation(HostBatch(self._given), *options, python=True, quick=self.quick, shared=self.shared)
                code = compiled(self.name, self._compilations, wanted, self.fillings)
                pointers = [ctypes.c_void_p] * (len(self.inputs) + len(self.outputs))
                self._codes[lanes] = (code, ctypes.CFUNCTYPE(None, ctypes.c_int64, *pointers)(code.addresses[ENTRY]))
            return self._codes[lanes]

    def _first(self, lanes: int, *arrays: Any) -> Any:
        """Replaces the fast call until it is compiled, which happens on the first call with suitable arrays."""
        leading = 0 if lanes == 1 else 1
        axes = [len(a.shape) + leading for a in (*self.outputs, *self.inputs)]
        try:
            fits = len(arrays) == len(axes) and [np.ndim(x) for x in arrays] == axes
        except ValueError:  # rows of different lengths: reported when all inputs are checked
            return NotImplemented
        if not fits or (leading and len(arrays[0]) < lanes):
            return NotImplemented
        return self._install(lanes)(*arrays)

    def _install(self, lanes: int) -> Callable[..., Any]:
        """Compiles and puts the fast call in its place."""
        from .fastcall import fast_function

        function = fast_function(self.code(lanes), self.name, _refuse)
        if lanes == 1:
            self.single = function
            if len(self.outputs) == 1 and "into" not in vars(self):  # then both take the same arguments
                self.into = fast_function(self.code(1), self.name, self.into)  # type: ignore[method-assign]
        else:
            self._batch = function
        return function

    def _called(self, arrays: Sequence[Any]) -> Any:
        """The results for traced values: one call of the program in the function being traced."""
        found = call(self.program, *arrays)
        values = [found] if len(self.outputs) == 1 else [found[array.name] for array in self.outputs]
        out = [np.array(x, dtype=object).view(SymbolArray) if isinstance(x, list) else x for x in values]
        return out[0] if len(out) == 1 else tuple(out)

    def _empty(self, lead: tuple[int, ...]) -> list[np.ndarray]:
        make = _empty if lead else np.empty
        return [make(lead + array.shape, self._dtype) for array in self.outputs]

    def _plain_lead(self, arrays: Sequence[Any]) -> tuple[int, ...]:
        """The leading axis of a batch that has one, from its first array; () if all arrays must be checked."""
        if not arrays or not self.inputs or not isinstance(arrays[0], np.ndarray):
            return ()
        return arrays[0].shape[:1] if arrays[0].ndim == len(self.inputs[0].shape) + 1 else ()

    def _run(self, given: Sequence[np.ndarray], out: Sequence[np.ndarray], states: int) -> None:
        lanes = self.lanes if states >= self.lanes else 1
        _, function = self._compiled(lanes)
        run_states(
            function,
            states,
            [array.ctypes.data for array in (*given, *out)],
            [array.size * self.precision.bytes for array in (*self.inputs, *self.outputs)],
            lanes=lanes,
            most=self._most,
        )

    def _checked(self, arrays: Sequence[Any]) -> tuple[list[np.ndarray], tuple[int, ...]]:
        """The inputs as contiguous rows of numbers, one per state, and the leading axes."""
        if len(arrays) != len(self.inputs):
            names = ", ".join(array.name for array in self.inputs)
            raise InputError(f"{self.name} takes {len(self.inputs)} arrays ({names}), got {len(arrays)}")
        given = [self._numbers(spec, value) for spec, value in zip(self.inputs, arrays, strict=True)]
        leads = [value.shape[: value.ndim - len(spec.shape)] for spec, value in zip(self.inputs, given, strict=True)]
        try:
            lead = np.broadcast_shapes(*leads) if leads else ()
        except ValueError:
            shapes = ", ".join(f"{spec.name} {value.shape}" for spec, value in zip(self.inputs, given, strict=True))
            raise InputError(f"{self.name}: the leading axes do not fit together: {shapes}") from None
        pairs = zip(self.inputs, given, strict=True)
        return [np.ascontiguousarray(np.broadcast_to(value, lead + spec.shape)) for spec, value in pairs], lead

    def _numbers(self, spec: Array, value: Any) -> np.ndarray:
        if is_masked(value):
            raise InputError(f"{self.name}: {spec.name} is a masked array; give numbers alone, as .filled(0.0) makes them")
        try:
            array = np.asarray(value)
        except ValueError:  # rows of different lengths
            raise InputError(f"{self.name}: {spec.name} has rows of different lengths; give all states alike") from None
        if array.dtype.kind not in "fiu":
            raise InputError(f"{self.name}: {spec.name} has dtype {array.dtype}; it must hold real numbers")
        trailing = array.shape[array.ndim - len(spec.shape) :] if spec.shape else ()
        if array.ndim < len(spec.shape) or trailing != spec.shape:
            expected = ", ".join(str(size) for size in spec.shape)
            comma = "," if len(spec.shape) == 1 else ""
            raise InputError(
                f"{self.name}: {spec.name} has shape {array.shape}; it must be ({expected}{comma}) for one state, or "
                f"(..., {expected}) for a batch"
            )
        return array.astype(self.precision.dtype, copy=False)


#: Arrays of fewer bytes are left to malloc; as much memory is kept at most.
_LEAST, _MOST = 1 << 20, 1 << 26
_left: dict[int, list[memoryview]] = {}


def _empty(shape: tuple[int, ...], dtype: Any) -> np.ndarray:
    """An array for many results, in memory that earlier ones have left.

    New memory comes from the system page by page, each cleared first, which takes as long as many a program that fills it.
    """
    size = math.prod(shape) * np.dtype(dtype).itemsize
    if not _LEAST <= size <= _MOST:
        return np.empty(shape, dtype)
    try:
        memory = _left[size].pop()
    except (KeyError, IndexError):
        memory = np.empty(size, np.uint8).data
    array = np.frombuffer(memory, dtype)
    finalize(array, _leave, memory).atexit = False  # all views refer to this array, as its memory is not its own
    return array.reshape(shape)


def _leave(memory: memoryview) -> None:
    if sum(size * len(kept) for size, kept in list(_left.items())) + memory.nbytes > _MOST:
        _left.clear()
    _left.setdefault(memory.nbytes, []).append(memory)


def predicate(program: Program) -> Callable[..., Any]:
    """Whether a program's only result, a number, is not zero, as a function of its inputs for one state.

    The function takes float64 arrays of the inputs' shapes and answers True or False, in about a tenth of a microsecond. For
    any other arguments it gives NotImplemented, and always where this interpreter cannot have built-in functions.
    """
    from .fastcall import fast_function
    from .llvm import HostBatch
    from .pipeline import Compilation, machine_code

    code = machine_code(Compilation(HostBatch(program), 1, python=True, truth=True))
    return fast_function(code, program.name, _refuse)


def _refuse(*arrays: Any) -> Any:
    return NotImplemented
