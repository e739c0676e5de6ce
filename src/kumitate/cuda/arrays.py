"""Arrays in a GPU's memory: those of others, which are read and written where they stand, and ours, which others can take.

Both by the two interfaces that PyTorch, CuPy, JAX and Numba have: DLPack and `__cuda_array_interface__`. Nothing is copied.
"""

from __future__ import annotations

import contextlib
import ctypes
import math
from collections.abc import Sequence
from copy import copy
from typing import Any, NamedTuple

import numpy as np

from ..errors import InputError
from .driver import Device, gpu

#: The number of the memory of NVIDIA's GPUs.
CUDA = 2
#: The letters of NumPy for DLPack's kinds of numbers.
_KINDS = {0: "i", 1: "u", 2: "f", 6: "b"}


def packed(shape: Sequence[int]) -> tuple[int, ...]:
    """The strides of a C-contiguous array, in numbers."""
    return tuple(math.prod(shape[k + 1 :]) for k in range(len(shape)))


class _Tensor(ctypes.Structure):
    _fields_ = (
        ("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32), ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)), ("offset", ctypes.c_uint64),
        ("manager", ctypes.c_void_p), ("deleter", ctypes.c_void_p),
    )  # fmt: skip


_NAME, _PYTHON = b"dltensor", ctypes.pythonapi
_pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p)(("PyCapsule_GetPointer", _PYTHON))
_is_valid = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p)(("PyCapsule_IsValid", _PYTHON))
_new = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)(("PyCapsule_New", _PYTHON))

#: What others hold of ours, by the address of its structure.
_HELD: dict[int, Any] = {}


@ctypes.CFUNCTYPE(None, ctypes.c_void_p)
def _release(address: int) -> None:
    """Forgets an array that nobody else holds any more; when the interpreter ends, there is nothing left to forget."""
    if _HELD is not None:
        _HELD.pop(address, None)


@ctypes.PYFUNCTYPE(None, ctypes.c_void_p)
def _collected(capsule: int) -> None:
    """Releases the array of a capsule that nobody took."""
    if _is_valid(capsule, _NAME):
        _HELD.pop(_pointer(capsule, _NAME), None)


def capsule_of(array: Any) -> Any:
    """An array of ours, a `DeviceArray`, for others."""
    count = len(array.shape)
    shape, strides = ((ctypes.c_int64 * count)(*values) for values in (array.shape, array.strides))
    code = next(code for code, letter in _KINDS.items() if letter == array.dtype.kind)
    pointer = ctypes.POINTER(ctypes.c_int64)
    tensor = _Tensor(
        array.address, CUDA, array.device.ordinal, count, code, 8 * array.dtype.itemsize, 1, ctypes.cast(shape, pointer),
        ctypes.cast(strides, pointer), 0, None, ctypes.cast(_release, ctypes.c_void_p),
    )  # fmt: skip
    address = ctypes.addressof(tensor)
    _HELD[address] = (tensor, shape, strides, array)
    return _new(address, _NAME, ctypes.cast(_collected, ctypes.c_void_p))


def of_capsule(capsule: Any) -> tuple[int, tuple[int, ...], tuple[int, ...], np.dtype]:
    """The address, shape, strides and dtype of an array of others; it is released with the capsule, which nobody else takes."""
    tensor = _Tensor.from_address(_pointer(id(capsule), _NAME))
    shape = tuple(tensor.shape[k] for k in range(tensor.ndim))
    strides = tuple(tensor.strides[k] for k in range(tensor.ndim)) if tensor.strides else packed(shape)
    kind = _KINDS.get(tensor.code)
    if kind is None or tensor.lanes != 1:
        raise InputError("an array on the GPU has numbers of another kind than real ones")
    dtype = np.dtype(np.bool_) if kind == "b" else np.dtype(f"{kind}{tensor.bits // 8}")
    return (tensor.data or 0) + tensor.offset, shape, strides, dtype


# --- arrays ---------------------------------------------------------------------------------------------------------------
_LEGACY = 1  # the name of stream 0 in both interfaces, where 0 says nothing


class DeviceArray:
    """An array in a GPU's memory, or some columns of one; the memory is given back with the last of them.

    Attributes:
        address: of the first number; shape, dtype: as of NumPy's arrays; strides: in numbers; device: the GPU.
    """

    def __init__(self, shape: Sequence[int], dtype: Any = np.float32, *, device: Device | None = None):
        """A C-contiguous array of numbers that are not set."""
        self.device, self.shape, self.dtype = device or gpu(), tuple(shape), np.dtype(dtype)
        self.strides = packed(self.shape)
        self._memory = _Memory(self.device, math.prod(self.shape) * self.dtype.itemsize)
        self.address = self._memory.address
        self._whole: DeviceArray | None = None
        self._place = slice(None)

    def columns(self, place: slice) -> DeviceArray:
        """A view of columns of a table."""
        other = copy(self)
        first, last, _ = place.indices(self.shape[1])
        other.shape, other.address = (self.shape[0], last - first), self.address + first * self.dtype.itemsize
        other._whole, other._place = self, slice(first, last)
        return other

    def __len__(self) -> int:
        return self.shape[0]

    def __repr__(self) -> str:
        return f"DeviceArray({self.shape}, {self.dtype}, on {self.device.name})"

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        size = self.dtype.itemsize
        return {
            "shape": self.shape, "typestr": self.dtype.str, "data": (self.address, False), "version": 3, "stream": None,
            "strides": tuple(size * stride for stride in self.strides),
        }  # fmt: skip

    def __dlpack_device__(self) -> tuple[int, int]:
        return CUDA, self.device.ordinal

    def __dlpack__(self, **options: Any) -> Any:
        """The array as DLPack's capsule; `options`, such as the stream, say nothing: work is in order on the default stream."""
        return capsule_of(self)

    def numpy(self) -> np.ndarray:
        """A copy in the processor's memory, when all that was begun before is done."""
        if self._whole is not None:
            return self._whole.numpy()[:, self._place].copy()
        self.device.synchronize()
        out = np.empty(self.shape, self.dtype)
        self.device.download(out.ctypes.data, self.address, out.nbytes)
        return out

    def set(self, values: Any) -> None:
        """Copies numbers from the processor's memory, as NumPy would broadcast them."""
        if self._whole is not None:
            table = self._whole.numpy()
            table[:, self._place] = values
            self._whole.set(table)
            return
        source = np.ascontiguousarray(np.broadcast_to(np.asarray(values, self.dtype), self.shape))
        self.device.upload(self.address, source.ctypes.data, source.nbytes)


class _Memory:
    """Bytes of a GPU, which are given back with this."""

    def __init__(self, device: Device, size: int):
        self.device, self.address = device, device.allocate(size)

    def __del__(self) -> None:
        with contextlib.suppress(Exception):  # when the interpreter ends, the driver may be gone
            self.device.free(self.address)


def to_device(values: Any, dtype: Any = np.float32) -> DeviceArray:
    """A copy of numbers in the memory of the current GPU.

    Raises:
        InputError: without a GPU, or without memory for them.
    """
    array = np.asarray(values, dtype)
    out = DeviceArray(array.shape, array.dtype)
    out.set(array)
    return out


# --- arrays of others -----------------------------------------------------------------------------------------------------
class DeviceView(NamedTuple):
    """An array where it stands; `strides` in numbers, `owner` keeps it alive."""

    address: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: np.dtype
    owner: Any

    def is_contiguous(self, axes: int) -> bool:
        """Whether the last of its axes, so many, stand behind each other."""
        last = len(self.shape) - axes
        return all(
            n == 1 or s == t for n, s, t in zip(self.shape[last:], self.strides[last:], packed(self.shape)[last:], strict=True)
        )


def view(name: str, value: Any, device: Device, stream: int) -> DeviceView:
    """An array of any library with one of the interfaces, filled before what follows on the stream; else an `InputError`."""
    if isinstance(value, DeviceArray):
        place = value.device.ordinal
        found = DeviceView(value.address, value.shape, value.strides, value.dtype, value)
    elif hasattr(value, "__dlpack__") and not isinstance(value, np.ndarray):
        kind, place = value.__dlpack_device__()
        if kind != CUDA:
            raise InputError(_elsewhere(name, value))
        try:
            capsule = value.__dlpack__(stream=stream or _LEGACY)
        except (BufferError, RuntimeError) as error:
            raise InputError(f"{name}: {error}") from None
        found = DeviceView(*of_capsule(capsule), capsule)
    elif hasattr(value, "__cuda_array_interface__"):
        place, found = device.ordinal, _of_interface(value, device, stream)
    else:
        raise InputError(_elsewhere(name, value))
    if place != device.ordinal:
        raise InputError(f"{name} is on GPU {place}, and the current one is GPU {device.ordinal}: move it there, or switch")
    return found


def _elsewhere(name: str, value: Any) -> str:
    return (
        f"{name} is {type(value).__name__} in the processor's memory; give an array on the GPU: of PyTorch, CuPy or JAX, or "
        f"what kumitate.cuda.to_device({name}) returns"
    )


def _of_interface(value: Any, device: Device, stream: int) -> DeviceView:
    known = value.__cuda_array_interface__
    shape, dtype = tuple(known["shape"]), np.dtype(known["typestr"])
    strides = known.get("strides")
    own = packed(shape) if strides is None else tuple(s // dtype.itemsize for s in strides)
    theirs = known.get("stream")
    if theirs is not None and (theirs if theirs != _LEGACY else 0) != stream:
        device.follow(stream, 0 if theirs == _LEGACY else theirs)
    return DeviceView(known["data"][0], shape, own, dtype, value)
