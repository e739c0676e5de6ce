"""What pages of procedures write: the kinds of their arrays, and new arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .kinds import FLOAT, INT, ArrayKind, NumberKind

__all__ = ["Floats", "Ints", "Shaped", "ShapedInts", "local", "local_ints"]


class _Form:
    """An annotation: alone an array of numbers, with sizes an array of rows, or of that shape if `fixed`."""

    def __init__(self, name: str, element: NumberKind, *, fixed: bool):
        self.name, self.element, self.fixed = name, element, fixed

    def __getitem__(self, sizes: int | tuple[int, ...]) -> ArrayKind:
        shape = sizes if isinstance(sizes, tuple) else (sizes,)
        if not shape or not all(isinstance(size, int) and size > 0 for size in shape):
            raise TypeError(f"{self.name}{list(shape)}: sizes are whole numbers above 0, as in {self.name}[6]")
        return ArrayKind(self.element, shape if self.fixed else (None, *shape))

    def __call__(self, *arguments: object) -> Any:
        raise TypeError(f"{self.name} is an annotation; make arrays with NumPy, or with local() inside a procedure")

    def __repr__(self) -> str:
        return self.name


if TYPE_CHECKING:  # type checkers take them for anything: the procedure's own check knows the shapes
    #: An array of floats of any length; `Floats[6]` has rows of six.
    Floats: Any
    #: The same of integers.
    Ints: Any
    #: `Shaped[6, 6]` is an array of floats of that shape.
    Shaped: Any
    #: The same of integers.
    ShapedInts: Any
else:
    Floats, Ints = _Form("Floats", FLOAT, fixed=False), _Form("Ints", INT, fixed=False)
    Shaped, ShapedInts = _Form("Shaped", FLOAT, fixed=True), _Form("ShapedInts", INT, fixed=True)


def local(*shape: int) -> np.ndarray:
    """A new array of zeros."""
    return np.zeros(shape)


def local_ints(*shape: int) -> np.ndarray:
    """A new array of zeros of integers."""
    return np.zeros(shape, dtype=np.int64)
