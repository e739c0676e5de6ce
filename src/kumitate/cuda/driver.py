"""NVIDIA's driver, by ctypes: a GPU with the context that PyTorch and others use too, its memory, code and streams.

The driver alone is needed, no toolkit. It assembles PTX for the GPU that it finds; what it made is kept on disk.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

from ..compile import Target
from ..compile.target import gpu_target
from ..errors import InputError

#: The oldest driver whose functions are called here: CUDA 12.0, whose PTX is that of `gpu_target`.
_OLDEST = 12000
#: The oldest compute capability: Ampere. Minima and maxima that keep NaN are instructions from there on.
_LEAST = (8, 0)
_OUT_OF_MEMORY, _OUT_OF_RESOURCES = 2, 701
_REMEDY = "leave out target='cuda' to compute on the processor"
# attributes of devices and of functions, and options of the assembler, by their numbers in cuda.h
_MAJOR, _MINOR = 75, 76
_LOCAL_BYTES, _REGISTERS = 3, 4
_INFO, _INFO_SIZE, _ERRORS, _ERRORS_SIZE, _VERBOSE = 3, 4, 5, 6, 12
_PTX, _LOG_BYTES = 1, 16384


def _library() -> ctypes.CDLL:
    """The driver's library; raises `InputError` if there is none."""
    name = "nvcuda.dll" if os.name == "nt" else "libcuda.so.1"
    try:
        return ctypes.CDLL(name)
    except OSError as error:
        raise InputError(f"no NVIDIA driver is installed here ({error}); install one, or {_REMEDY}") from None


class DriverError(InputError):
    """A function of the driver failed; `status` is its number in cuda.h."""

    def __init__(self, status: int, message: str):
        super().__init__(message)
        self.status = status


@cache
def _driver() -> Callable[..., None]:
    """Calls a function of the driver by its name; starts it before, or raises an `InputError`."""
    library = _library()

    def call(name: str, *arguments: Any) -> None:
        status = getattr(library, name)(*arguments)
        if status:
            text = ctypes.c_char_p()
            library.cuGetErrorString(status, ctypes.byref(text))
            said = (text.value or b"an unknown error").decode()
            raise DriverError(status, f"the GPU's driver says in {name}: {said} ({status})")

    try:
        call("cuInit", 0)
    except DriverError as error:
        raise InputError(f"{error}; there is an NVIDIA driver here and no GPU that it can use: {_REMEDY}") from None
    version = ctypes.c_int()
    call("cuDriverGetVersion", ctypes.byref(version))
    if version.value < _OLDEST:
        found = f"{version.value // 1000}.{version.value % 1000 // 10}"
        raise InputError(f"the NVIDIA driver is for CUDA {found}; 12.0 or later is needed: install a newer one, or {_REMEDY}")
    return call


def gpu() -> Device:
    """The GPU whose context is current in this thread, such as PyTorch's; else the first.

    Raises:
        InputError: without a driver or a usable GPU; the message says which, and the remedy.
    """
    call, context, ordinal = _driver(), ctypes.c_void_p(), ctypes.c_int(0)
    call("cuCtxGetCurrent", ctypes.byref(context))
    if context:
        call("cuCtxGetDevice", ctypes.byref(ordinal))
    device = _device(ordinal.value)
    if not context:
        call("cuCtxSetCurrent", device.context)
    return device


@cache
def _device(ordinal: int) -> Device:
    found = Device(ordinal)
    if found.capability < _LEAST:
        have, need = (".".join(map(str, pair)) for pair in (found.capability, _LEAST))
        raise InputError(f"{found.name} has compute capability {have}; {need} or later is needed: {_REMEDY}")
    return found


class Device:
    """A GPU. Attributes: its `ordinal` among those of this machine, its primary `context`."""

    def __init__(self, ordinal: int):
        self.ordinal, self._call = ordinal, _driver()
        self._handle, self.context = ctypes.c_int(), ctypes.c_void_p()
        self._call("cuDeviceGet", ctypes.byref(self._handle), ordinal)
        self._call("cuDevicePrimaryCtxRetain", ctypes.byref(self.context), self._handle)

    def __repr__(self) -> str:
        return f"Device({self.ordinal}, {self.name!r})"

    @cached_property
    def name(self) -> str:
        """What NVIDIA calls it."""
        text = ctypes.create_string_buffer(256)
        self._call("cuDeviceGetName", text, len(text), self._handle)
        return text.value.decode()

    @cached_property
    def capability(self) -> tuple[int, int]:
        """Its compute capability, such as (9, 0)."""
        major, minor = (self._number("cuDeviceGetAttribute", which, self._handle) for which in (_MAJOR, _MINOR))
        return major, minor

    @property
    def memory(self) -> tuple[int, int]:
        """Bytes that are free, and all."""
        free, total = ctypes.c_size_t(), ctypes.c_size_t()
        self._call("cuMemGetInfo_v2", ctypes.byref(free), ctypes.byref(total))
        return free.value, total.value

    @property
    def driver(self) -> str:
        """The version of CUDA that the driver is for."""
        version = self._number("cuDriverGetVersion")
        return f"{version // 1000}.{version % 1000 // 10}"

    @cached_property
    def target(self) -> Target:
        """What LLVM compiles for it."""
        return gpu_target(self.capability)

    def _number(self, name: str, *arguments: Any) -> int:
        """The number that a function of the driver gives by its first argument."""
        value = ctypes.c_int()
        self._call(name, ctypes.byref(value), *arguments)
        return value.value

    # --- memory -----------------------------------------------------------------------------------------------------------
    def allocate(self, size: int) -> int:
        """The address of so many bytes; an `InputError` if there are not so many."""
        address = ctypes.c_uint64()
        try:
            self._call("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(max(size, 1)))
        except DriverError as error:
            if error.status != _OUT_OF_MEMORY:
                raise
            free, total = self.memory
            raise InputError(
                f"{self.name} has {free / 1e6:.0f} of {total / 1e6:.0f} MB free, and {size / 1e6:.0f} MB are needed: take "
                "fewer states at a time"
            ) from None
        return address.value

    def free(self, address: int) -> None:
        """Gives memory back."""
        self._call("cuMemFree_v2", ctypes.c_uint64(address))

    def upload(self, address: int, source: int, size: int) -> None:
        """Bytes from the processor's memory."""
        self._call("cuMemcpyHtoD_v2", ctypes.c_uint64(address), ctypes.c_void_p(source), ctypes.c_size_t(size))

    def download(self, target: int, address: int, size: int) -> None:
        """Bytes to the processor's memory, when all that was begun before is done."""
        self._call("cuMemcpyDtoH_v2", ctypes.c_void_p(target), ctypes.c_uint64(address), ctypes.c_size_t(size))

    # --- streams ----------------------------------------------------------------------------------------------------------
    def synchronize(self) -> None:
        """Waits for all that was begun on the GPU."""
        self._call("cuCtxSynchronize")

    def follow(self, stream: int, other: int) -> None:
        """Has a stream wait for what another has begun."""
        event = ctypes.c_void_p()
        self._call("cuEventCreate", ctypes.byref(event), 2)  # without times
        self._call("cuEventRecord", event, ctypes.c_void_p(other))
        self._call("cuStreamWaitEvent", ctypes.c_void_p(stream), event, 0)
        self._call("cuEventDestroy_v2", event)

    # --- code -------------------------------------------------------------------------------------------------------------
    def assemble(self, name: str, ptx: str) -> bytes:
        """PTX as code for this GPU, by the driver's assembler; an `InputError` with what it says if it refuses."""
        logs = [ctypes.create_string_buffer(_LOG_BYTES) for _ in range(2)]
        # the driver writes to these while it links, so that they must live until then
        values = (ctypes.c_void_p * 5)(ctypes.addressof(logs[0]), _LOG_BYTES, ctypes.addressof(logs[1]), _LOG_BYTES, 1)
        options = (ctypes.c_int * 5)(_INFO, _INFO_SIZE, _ERRORS, _ERRORS_SIZE, _VERBOSE)
        state, image, size = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_size_t()
        self._call("cuLinkCreate_v2", 5, options, values, ctypes.byref(state))
        try:
            text = ptx.encode() + b"\0"
            self._call("cuLinkAddData_v2", state, _PTX, text, ctypes.c_size_t(len(text)), name.encode(), 0, None, None)
            self._call("cuLinkComplete", state, ctypes.byref(image), ctypes.byref(size))
            return ctypes.string_at(image, size.value)
        except DriverError as error:
            said = logs[1].value.decode(errors="replace").strip()
            raise InputError(f"{name}: {error}; {said}; {_REMEDY}") from None
        finally:
            self._call("cuLinkDestroy", state)

    def load(self, name: str, image: bytes, function: str) -> DeviceCode:
        """Code in the GPU's memory, ready to be launched."""
        module, handle = ctypes.c_void_p(), ctypes.c_void_p()
        self._call("cuModuleLoadData", ctypes.byref(module), image)
        self._call("cuModuleGetFunction", ctypes.byref(handle), module, function.encode())
        registers, local = (self._number("cuFuncGetAttribute", which, handle) for which in (_REGISTERS, _LOCAL_BYTES))
        return DeviceCode(self, name, handle, registers, local, len(image))


@dataclass(frozen=True)
class DeviceCode:
    """A function in a GPU's memory.

    Attributes:
        registers: that a thread has, of at most 255; local: bytes of its own memory, for values that no register was left for,
            and for what loops keep; size: bytes of the code.
    """

    device: Device
    name: str
    handle: ctypes.c_void_p
    registers: int
    local: int
    size: int

    def launch(self, threads: int, block: int, words: Sequence[int], stream: int) -> None:
        """Begins so many threads on a stream, with arguments of 64 bits each; an `InputError` if there is no room for them."""
        values = (ctypes.c_uint64 * len(words))(*words)
        first = ctypes.addressof(values)
        pointers = (ctypes.c_void_p * len(words))(*range(first, first + 8 * len(words), 8))
        blocks = -(-threads // block)
        try:
            self.device._call(
                "cuLaunchKernel", self.handle, blocks, 1, 1, block, 1, 1, 0, ctypes.c_void_p(stream), pointers, None
            )
        except DriverError as error:
            if error.status not in (_OUT_OF_MEMORY, _OUT_OF_RESOURCES):
                raise
            raise InputError(f"{error}; {self}: too large for this GPU; {_REMEDY}") from None

    def __str__(self) -> str:
        spilled = f"{self.local} bytes of local memory" if self.local else "no local memory"
        return f"{self.name} on {self.device.name}: {self.registers} registers and {spilled} a thread"
