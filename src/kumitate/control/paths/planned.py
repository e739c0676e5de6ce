"""Planned motions: functions of time with derivatives, evaluated at a number, a symbol, or many times at once."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from ...compile import Kernel
from ...scalar import Scalar, Symbol, trace


class PlannedMotion(ABC):
    """A planned motion.

    Called with a number or a symbol it returns an array of one value per component (a plain value if `_plain`); with an array
    of m times, arrays of m rows.

    Attributes:
        orders: the number of orders of derivatives, the values included.
    """

    orders: ClassVar[int]
    _plain: bool

    @abstractmethod
    def _at(self, t: Scalar, order: int) -> list[Scalar]:
        """The derivative of this order at a time, a number or a symbol."""

    def __call__(self, t: Any) -> Any:
        """The values at `t`."""
        return self.derivative(t, 0)

    def velocity(self, t: Any) -> Any:
        """The first derivative at `t`."""
        return self.derivative(t, 1)

    def acceleration(self, t: Any) -> Any:
        """The second derivative at `t`."""
        return self.derivative(t, 2)

    def derivative(self, t: Any, order: int) -> Any:
        """The derivative of an order below `orders` at `t`; outside its duration a motion rests, and derivatives are zero."""
        if np.ndim(t):
            rows = self._kernels[order](np.asarray(t, dtype=float))
            return rows[..., 0] if self._plain else rows
        found = self._at(t if isinstance(t, Symbol) else float(t), order)
        return found[0] if self._plain else np.array(found, dtype=object if isinstance(t, Symbol) else float)

    @cached_property
    def _kernels(self) -> list[Kernel]:
        def kernel(order: int) -> Kernel:
            return Kernel(trace(lambda t: self._at(t, order), {"t": ()}, f"{type(self).__name__.lower()}_{order}"))

        return [kernel(order) for order in range(self.orders)]

    def __deepcopy__(self, memo: dict[int, Any]) -> PlannedMotion:
        return self  # it has no state
