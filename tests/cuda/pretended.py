"""A GPU that is pretended: its memory is the processor's, and its threads run one after the other.

The text is that of a GPU's threads, compiled for the processor: everything but PTX, its assembler and the driver is tested.
"""

from __future__ import annotations

import ctypes

import numpy as np

from kumitate.compile.engine import load
from kumitate.compile.llvm import write_module
from kumitate.compile.target import gpu_target, host
from kumitate.cuda.driver import Device
from kumitate.errors import InputError

_NUMBERS = {"ctaid": "block_number", "tid": "thread_number", "ntid": "block_size"}


class Pretended(Device):
    """The device."""

    def __init__(self):
        self.ordinal, self.context, self.held = 99, None, {}
        self.name, self.capability, self.target = "a pretended GPU", (9, 0), gpu_target((9, 0))

    def allocate(self, size):
        if size > 1 << 40:
            raise InputError(f"{size / 1e6:.0f} MB are needed: take fewer states at a time")
        memory = np.full(max(size, 1), 0xFF, np.uint8)  # what is not written is NaN
        self.held[memory.ctypes.data] = memory
        return memory.ctypes.data

    def free(self, address):
        del self.held[address]

    def upload(self, address, source, size):
        ctypes.memmove(address, source, size)

    def download(self, target, address, size):
        ctypes.memmove(target, address, size)

    def synchronize(self):
        """Nothing is ever under way."""


class PretendedCode:
    """A function of it."""

    registers, local, size = 1, 0, 0

    def __init__(self, name, entry, precision, device):
        text = write_module(entry, 1, precision, threads=True).replace("define ptx_kernel void", "define void")
        for register, number in _NUMBERS.items():
            text = text.replace(f"call i32 @llvm.nvvm.read.ptx.sreg.{register}.x()", f"load i32, ptr @{number}")
            text = text.replace(f"declare i32 @llvm.nvvm.read.ptx.sreg.{register}.x()", f"@{number} = global i32 0")
        self.name, self.device = name, device
        self._code = load(text, host(), [entry.name, *_NUMBERS.values()])
        self._numbers = [ctypes.c_int32.from_address(self._code.addresses[name]) for name in _NUMBERS.values()]
        self._entry = entry.name

    def launch(self, threads, block, words, stream):
        assert stream == 0
        function = ctypes.CFUNCTYPE(None, *[ctypes.c_uint64] * len(words))(self._code.addresses[self._entry])
        number, thread, size = self._numbers
        size.value = block
        for number.value in range(-(-threads // block)):
            for thread.value in range(block):
                function(*words)

    def __str__(self):
        return f"{self.name} on {self.device.name}: 1 registers"
