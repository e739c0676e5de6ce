"""Dynamics inside a controller: one call of a program while tracing, machine code when called with numbers."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np

from ..compile import Kernel
from ..model import Mechanism
from ..scalar import active_scope, call, trace


class CompiledPage:
    """A function of arrays of scalars, traced once.

    Inside a controller that `simulate` traces, it is one call of its program, so that its code exists once in the step.
    Called with arrays of numbers, it runs as a compiled kernel, over batches too. It has one output.
    """

    def __init__(self, function: Callable[..., Any], inputs: dict[str, int | tuple[int, ...]], name: str):
        """`function` and `inputs` as in `kumitate.scalar.trace`; `name`: of the program."""
        self.program = trace(function, inputs, name)
        if len(self.program.outputs) != 1:
            raise ValueError(f"the page {name!r} has {len(self.program.outputs)} outputs; it needs one")

    def __call__(self, *arguments: Any) -> np.ndarray:
        """The output: an array of numbers, or of symbols while tracing."""
        if active_scope() is None:
            return self.kernel(*arguments)
        return np.array(call(self.program, *arguments), dtype=object)

    def __deepcopy__(self, memo: dict[int, Any]) -> CompiledPage:
        return self  # it has no state

    @cached_property
    def kernel(self) -> Kernel:
        """The compiled program."""
        return Kernel(self.program)


def mechanism_of(robot: Any) -> Mechanism:
    """The mechanism of a robot; a mechanism itself is returned unchanged.

    Raises:
        TypeError: if it is neither.
    """
    mechanism = getattr(robot, "mechanism", robot)
    if not isinstance(mechanism, Mechanism):
        raise TypeError(f"a controller is made for a Robot or a Mechanism, not for a {type(robot).__name__}")
    return mechanism
