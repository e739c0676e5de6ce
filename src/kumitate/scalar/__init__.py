"""Scalars: floats, or symbols that record how they were computed. Independent of physics."""

from .blocks import Array, Hole, Index, LoopBlock, Program, Stack, Table, Vector, origin
from .derivatives import directional, gradient, hessian, inlined, inlined_slopes, jacobian
from .evaluate import evaluate
from .graph import Graph, Scalar, Scalars, Symbol, TraceError
from .passes import live
from .rules import (
    absolute,
    arctan2,
    both,
    cos,
    either,
    equal,
    exp,
    floats,
    is_double,
    is_zero,
    log,
    maximum,
    minimum,
    select,
    sin,
    sqrt,
    tanh,
)  # fmt: skip
from .tracing import active_scope, call, flatten, loop, table, trace, when
from .under_way import under_way

__all__ = [
    "Array", "Graph", "Hole", "Index", "LoopBlock", "Program", "Scalar", "Scalars", "Stack", "Symbol", "Table", "TraceError",
    "Vector", "absolute", "active_scope", "arctan2", "both", "call", "cos", "directional", "either", "equal", "evaluate", "exp",
    "flatten", "floats", "gradient", "hessian", "inlined", "inlined_slopes", "is_double", "is_zero", "jacobian", "live", "log",
    "loop", "maximum", "minimum", "origin", "select", "sin", "sqrt", "table", "tanh", "trace", "under_way", "when",
]  # fmt: skip
