"""Procedures: algorithms with memory and loops over data, written as Python functions in a small subset of the language.

Traced programs (`kumitate.scalar`) are straight-line arithmetic over one robot. Lists whose length is known only at run
time, such as the pairs of bodies that touch, need loops over data and memory at computed places; a procedure has both. It
is an ordinary function: called, it runs as written on NumPy arrays.

The subset:

- Parameters have annotations: `float`, `int`, `Floats` and `Ints` (arrays of any length), `Floats[6]` or `Floats[3, 3]`
  (rows of a fixed shape, any number of them), `Shaped[6, 6]` (an array of a fixed shape), or a `NamedTuple` class whose
  fields have these. Arrays are float64 or int64 and contiguous; no two arguments overlap. The return annotation is `None`,
  `int`, `float`, or a tuple of these.
- Statements: assignment to names, elements `x[i, k]` and several names at once, also `+=` and its kin; `if`, `while`, `for
  i in range(...)`, `break`, `continue`, `return`; a name keeps one type.
- Expressions: arithmetic, comparisons, `and`, `or`, `not`, `a if c else b`; `& | ^ << >>` and `x.bit_count()` of integers;
  `abs`, `min`, `max`, `int`, `float`, `len`; functions of `math`; constants of the module; other procedures.
- `x[i]` of an array of rows is the row itself, which may be named or handed on as a `Shaped`. `local(6, 6)` is a new array
  of zeros of a fixed shape, `local_ints(8)` one of integers; both last until the procedure returns.
"""

from __future__ import annotations

from .called import Procedure, procedure
from .forms import Floats, Ints, Shaped, ShapedInts, local, local_ints
from .programs import apply, at, over

__all__ = [
    "Floats", "Ints", "Procedure", "Shaped", "ShapedInts", "apply", "at", "local", "local_ints", "over", "procedure",
]  # fmt: skip
