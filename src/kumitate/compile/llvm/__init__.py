"""A program as LLVM text, for one state or for several lanes at once.

The kernel's signature is `void kernel(i64 n, ptr in…, ptr out…)`: n states, each array with one contiguous row a state. Lanes
are gathered from and scattered to the user's rows; what a program calls works on lanes throughout. The last block of a batch
slides back over states that are done already, so that no tail needs code of its own: n must be at least the number of lanes.
"""

from ...scalar import Program
from ..precision import DOUBLE, Precision
from .function import ENTRY, Function
from .module import Module

__all__ = ["ENTRY", "Function", "Module", "emit"]


def emit(program: Program, lanes: int, precision: Precision = DOUBLE, *, portable: bool = False) -> str:
    """The LLVM module of `program` for `lanes` states at a time.

    `portable` code fuses no products with sums and takes sine and cosine from the C library: every processor with that library
    gives the same bits. An arm then takes 1.5 times as long for one state, and 6 times in a batch (the library works lane by
    lane).
    """
    module = Module(lanes, precision, portable=portable)
    module.functions.append(Function(module, program, blocked=False).entry_text())
    return module.text()
