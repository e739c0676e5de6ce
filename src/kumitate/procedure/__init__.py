"""Procedures: algorithms with memory and loops over data, written as Python functions in a small subset of the language.

Traced programs (`kumitate.scalar`) are straight-line arithmetic over one robot. Lists whose length is known only at run
time, such as the pairs of bodies that touch, need loops over data and memory at computed places; a procedure has both.
Called, it runs as machine code, which is made at the first call and kept on disk; `f.plain(...)` runs the function as
written on NumPy arrays. Both compute the same; `f.source()` is the text of the machine code, in LLVM's language.

    @procedure
    def root(parent: Ints, k: int) -> int:
        while parent[k] != k:
            parent[k] = parent[parent[k]]
            k = parent[k]
        return k

The subset:

- Parameters have annotations: `float`, `int`, `bool`, `Floats` and `Ints` (arrays of any length), `Floats[6]` or
  `Floats[3, 3]` (rows of a fixed shape, any number of them), `Shaped[6, 6]` and `ShapedInts[2]` (an array of a fixed
  shape), or a `NamedTuple` class whose fields have these. Arrays are float64 or int64 and contiguous; no two arguments
  overlap if one of them is written to. The return annotation is `None`, `int`, `float`, `bool`, or a tuple of these.
- Statements: assignment to names, elements `x[i, k]` and several names at once, also `+=` and its kin; `if`, `while`,
  `for i in range(...)` with a constant step, `for k in numbers` of an `Ints`, `break`, `continue`, `return`. A name keeps
  one type, and has a value on every path that leads to where it is read. An int becomes a float where one is needed.
- Expressions: arithmetic, comparisons, `and`, `or`, `not`, `a if c else b`; `& | ^ << >>`, `x.bit_count()` and
  `x.bit_length()` of integers, which have 64 bits; `//` and `%` of integers, squares of floats, powers of integers up to
  4; `abs`, `min`, `max`, `int`, `float`, `bool`, `len`; functions of `math`; constants of the module or of the function
  around, also tuples and arrays of numbers, which are copied into the code; other procedures, but not a procedure itself;
  `NamedTuple` classes. `min` and `max` are Python's: NaN counts if it stands first. `kumitate.scalar.minimum` and `maximum` of
  two numbers keep every NaN.
- `x[i]` of an array of rows is the row itself, which may be named or handed on as a `Shaped`; so is `x[a:b]`, of fixed
  shape if a and b are constants. `local(6, 6)` is a new array of zeros of a fixed shape, `local_ints(8)` one of integers;
  both last until the procedure returns, and are one array for each place where they are written, zeros again when the
  place is passed again.
- Arithmetic on arrays, rows and slices is NumPy's: `x[:] = 0.0`, `a[i] = b[k]`, `x[0:3] += s * (y - z)`, and `d = y - z` is a
  new local array; with `A @ b` for products of matrices and vectors, `A.T`, and `np.cross(a, b)` of vectors of three. Sizes
  are equal, or one side is a number. `a @ b` of two vectors is a number. Procedures take such values, and several names:
  `f(y - z)`, `u, w = y - z, A @ y`.
- `apply(program, rows...)` evaluates a traced program once, `over(program, count, arrays...)` once for each row, or each
  row that a list names: `at(rows, index)`. In machine code `over` works on several rows at a time. Inputs come first,
  then outputs. `apply_at(address, (inputs...), (outputs...))` evaluates a program that is chosen at run time, by the
  address of a `LocatedProgram`; `programs.call_at(address, like, arguments...)` calls the procedure with that `address`,
  which is compiled apart, and takes, returns and writes what the procedure `like` does.

Indices are from 0 to the length. Only constant ones may be negative and then count from the end. Machine code does not
check them; with the environment variable KUMITATE_DEBUG set at the first call, or by `f.machine(checked=True)`, it does,
and an `IndexError` names the file, the line and the expression. Checked code rounds every operation as Python does; usual
code fuses products with sums. Division of floats by zero gives infinity, of integers 0.

Loops of up to 16 passes are written out. A loop of 4 to 16 passes that only gives `x[..., k]` values, k being its
counter, is one operation on neighbouring numbers: write the innermost loop of small matrices over their columns. Blocks
of 6 x 6 numbers with rows of 8 (`Shaped[6, 8]`) are a little faster than those with rows of 6.
"""

from __future__ import annotations

from .called import procedure
from .kinds import Floats, Ints, Shaped, ShapedInts, local, local_ints
from .programs import LocatedProgram, apply, apply_at, at, over

__all__ = [
    "Floats", "Ints", "LocatedProgram", "Shaped", "ShapedInts", "apply", "apply_at", "at", "local", "local_ints",
    "over", "procedure",
]  # fmt: skip
