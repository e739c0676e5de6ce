"""Compiled programs as functions of arrays on a GPU."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from ..compile import Recurrence
from ..compile.engine import kept_image
from ..compile.kernel import ProgramKernel
from ..compile.llvm import Entry
from ..compile.stored import StoredProgram, joint_key, source_stamp, traced
from ..compile.target import Precision, precision_of
from ..errors import InputError
from ..scalar import Array, Program
from ..scalar.under_way import under_way
from .arrays import DeviceArray, DeviceView, view
from .driver import Device, DeviceCode, gpu
from .ptx import KERNEL, StatePerThread, StepsPerThread, ptx

#: Threads of a block.
BLOCK = 128


def compiled(name: str, entry: Entry, precision: Precision, device: Device) -> DeviceCode:
    """The code of an entry for a GPU; assembled code is kept on disk."""
    key = joint_key(entry.programs) or f"{source_stamp()}\0" + "\0".join(str(traced(p)) for p in entry.programs)
    whole = f"{key} {type(entry).__name__} {precision.name} {device.capability} driver {device.driver}"

    def assembled() -> bytes:
        return device.assemble(name, ptx(entry, precision, device.target))

    with under_way(lambda: f"compiling {name} for {device.name}"):
        return device.load(name, kept_image(whole, device.target, assembled).content, KERNEL)


def stream_of(stream: Any) -> int:
    """The driver's number of a stream: of an integer, or of PyTorch's, CuPy's and others'; 0 for None; else an `InputError`."""
    if stream is None or isinstance(stream, int):
        return stream or 0
    for name in ("cuda_stream", "ptr", "handle"):  # of PyTorch, CuPy, and NVIDIA's own
        if hasattr(stream, name):
            return int(getattr(stream, name))
    if hasattr(stream, "__cuda_stream__"):
        return int(stream.__cuda_stream__()[1])
    raise InputError(f"{stream!r:.60} is not a stream; give one of PyTorch's or CuPy's, or its number")


class DeviceKernel(ProgramKernel):
    """A program on a GPU, compiled on first use: a thread for each state.

    Called with one array per input, as the processor's `Kernel`: of the input's shape, or with leading axes for a batch. They
    are arrays on the GPU with `__dlpack__` or `__cuda_array_interface__`, such as those of PyTorch, CuPy and JAX, of the
    kernel's dtype, and are read where they stand. Returns a `DeviceArray` for each output, without waiting for it.
    """

    def __init__(
        self, program: Program | StoredProgram, dtype: Any = np.float32, *, fillings: Mapping[str, Program] | None = None
    ):
        """The kernel of a program, computing in float32 or float64; `fillings`: programs for its holes, by name."""
        super().__init__(program, dtype)
        self._entry = StatePerThread(program, fillings)
        self._codes: dict[int, DeviceCode] = {}

    def code(self, device: Device | None = None) -> DeviceCode:
        """The code for a GPU, the current one by default, with its registers and local memory."""
        device = device or gpu()
        if device.ordinal not in self._codes:
            self._codes[device.ordinal] = compiled(self.name, self._entry, self.precision, device)
        return self._codes[device.ordinal]

    def source(self) -> str:
        """The kernel as PTX for the current GPU."""
        return ptx(self._entry, self.precision, gpu().target)

    def report(self) -> str:
        """The operations, and what a thread of the current GPU needs."""
        return f"{self.code()}; {self.operations} operations in {self.precision.dtype}"

    def __call__(self, *arrays: Any, out: Any = None, stream: Any = None) -> Any:
        """The outputs for arrays on the GPU.

        Args:
            arrays: one per input; an input without the leading axes that others have is the same for all states.
            out: arrays on the GPU to write to, one per output, C-contiguous; new ones by default, which takes the driver some
                time. With them, calls can be captured in a graph.
            stream: the stream of PyTorch, CuPy or the driver that the work is put on; the default stream otherwise.

        Raises:
            InputError: for arrays elsewhere, of other shapes or dtypes, and without a GPU.
        """
        device, on = gpu(), stream_of(stream)
        if len(arrays) != len(self.inputs):
            names = ", ".join(array.name for array in self.inputs)
            raise InputError(f"{self.name} takes {len(self.inputs)} arrays ({names}), got {len(arrays)}")
        given = [view(spec.name, value, device, on) for spec, value in zip(self.inputs, arrays, strict=True)]
        leads = {self._lead(spec, found) for spec, found in zip(self.inputs, given, strict=True)} - {()}
        if len(leads) > 1:
            shapes = ", ".join(f"{spec.name} {found.shape}" for spec, found in zip(self.inputs, given, strict=True))
            raise InputError(f"{self.name}: the leading axes do not fit together: {shapes}")
        lead = leads.pop() if leads else ()
        results = self._outputs(out, lead, device, on)
        code, words = self.code(device), [math.prod(lead)]
        for spec, found in zip((*self.inputs, *self.outputs), (*given, *(target for _, target in results)), strict=True):
            words += [found.address, apart(spec, found)]
        if words[0]:
            code.launch(words[0], BLOCK, words, on)
        made = [result for result, _ in results]
        return made[0] if len(made) == 1 else tuple(made)

    def _outputs(self, out: Any, lead: tuple[int, ...], device: Device, stream: int) -> list[tuple[Any, DeviceView]]:
        """The arrays for the outputs, and where they stand."""
        if out is None:
            outs: Sequence[Any] = [DeviceArray(lead + spec.shape, self.precision.dtype, device=device) for spec in self.outputs]
        else:
            outs = out if isinstance(out, list | tuple) else [out]
        if len(outs) != len(self.outputs):
            names = ", ".join(array.name for array in self.outputs)
            raise InputError(f"{self.name} writes to {len(self.outputs)} arrays ({names}), got {len(outs)}")
        found = []
        for spec, target in zip(self.outputs, outs, strict=True):
            place = view(spec.name, target, device, stream)
            if place.shape != lead + spec.shape or (self._lead(spec, place) and not place.is_contiguous(len(place.shape))):
                raise InputError(
                    f"{self.name}: the array for {spec.name!r} has shape {place.shape}; it must be a C-contiguous one of "
                    f"shape {lead + spec.shape}"
                )
            found.append((target, place))
        return found

    def _lead(self, spec: Array, found: DeviceView) -> tuple[int, ...]:
        return checked_lead(self.name, spec, found, self.precision)


def checked_lead(name: str, spec: Array, found: DeviceView, precision: Precision) -> tuple[int, ...]:
    """The leading axes of an array; an `InputError` for another dtype or shape, or numbers of a state that are not together."""
    axes = len(found.shape) - len(spec.shape)
    if found.dtype != precision.dtype:
        raise InputError(f"{name}: {spec.name} has dtype {found.dtype}; this kernel computes in {precision.dtype}")
    if axes < 0 or found.shape[axes:] != spec.shape:
        expected = ", ".join(map(str, spec.shape))
        raise InputError(
            f"{name}: {spec.name} has shape {found.shape}; it must be ({expected}), or (..., {expected}) for a batch"
        )
    if not found.is_contiguous(len(spec.shape) if axes <= 1 else len(found.shape)):
        raise InputError(
            f"{name}: the numbers of a state of {spec.name} do not stand behind each other; give a contiguous array"
        )
    return found.shape[:axes]


def apart(spec: Array, found: DeviceView) -> int:
    """The numbers between two rows of an array; 0 if all states have the same."""
    axes = len(found.shape) - len(spec.shape)
    return 0 if not axes else found.strides[0] if axes == 1 else spec.size


class DeviceRecurrence:
    """The step of a `Recurrence` on arrays on a GPU: a thread makes all steps of a row, between which nothing is stored.

    Attributes:
        arrays: carried… and given…, by name, with a leading axis, the rows; a given one without it is the same for all.
    """

    def __init__(self, recurrence: Recurrence, arrays: Mapping[str, np.ndarray], dtype: Any = np.float32):
        """Copies of these arrays on the current GPU, in float32 or float64."""
        self._step, self._device, self.precision = recurrence.step, gpu(), precision_of(dtype)
        self._entry = StepsPerThread(recurrence.step, recurrence.fillings)
        self.arrays = {}
        for array in recurrence.step.inputs:
            self.arrays[array.name] = DeviceArray(arrays[array.name].shape, dtype, device=self._device)
            self.arrays[array.name].set(arrays[array.name])
        self.rows = len(self.arrays[recurrence.carried[0].name])

    @cached_property
    def code(self) -> DeviceCode:
        """The code, compiled on first use, with its registers and local memory."""
        return compiled(self._step.name, self._entry, self.precision, self._device)

    def run(self, count: int, stream: Any = None) -> None:
        """Advances every row by so many steps, without waiting for them."""
        words = [self.rows, count]
        for array in self._step.inputs:
            found = self.arrays[array.name]
            words += [found.address, 0 if found.shape == array.shape else array.size]
        self.code.launch(self.rows, BLOCK, words, stream_of(stream))
