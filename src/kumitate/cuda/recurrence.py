"""A step applied again and again to states that stay on a GPU."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..compile import Recurrence
from ..compile.target import precision_of
from .arrays import DeviceArray
from .driver import DeviceCode, gpu
from .kernel import BLOCK, compiled, stream_of
from .ptx import StepsPerThread


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
        self._code: DeviceCode | None = None

    @property
    def code(self) -> DeviceCode:
        """The code, compiled on first use, with its registers and local memory."""
        if self._code is None:
            self._code = compiled(self._step.name, self._entry, self.precision, self._device)
        return self._code

    def run(self, count: int, stream: Any = None) -> None:
        """Advances every row by so many steps, without waiting for them."""
        words = [self.rows, count]
        for array in self._step.inputs:
            found = self.arrays[array.name]
            words += [found.address, 0 if found.shape == array.shape else array.size]
        self.code.launch(self.rows, BLOCK, words, stream_of(stream))
