"""DLPack's capsules, by which libraries hand each other arrays. The structures of dlpack.h have kept their form."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..errors import InputError

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
