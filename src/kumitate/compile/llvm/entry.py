"""How compiled code is called: the contract of the function that a module shows to the outside.

The body of a program (`body`) does not know who calls it. An entry writes the function around it: what its arguments are, where
the inputs are read and the results written, which memory there is for what the body keeps, and what is repeated. `host_batch`
runs over rows of arrays, `recurrence` steps them again and again; another way of calling, or another machine, is another file.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Protocol

from ...scalar import Program
from ..precision import DOUBLE, Precision
from .module import Module

__all__ = ["Entry", "LazyEntry", "write_module"]


class Entry(Protocol):
    """The function of a module that is called from outside."""

    @property
    def name(self) -> str:
        """Its name."""

    @property
    def programs(self) -> Sequence[Program]:
        """The programs that it runs."""

    def function(self, module: Module) -> str:
        """Its text, written once for a module; what it calls is added to the module."""


class LazyEntry:
    """An entry that is made when it is written: for code that may be on disk already, so that nothing need be traced."""

    def __init__(self, name: str, make: Callable[[], Entry]):
        self.name, self._make = name, make

    @cached_property
    def _entry(self) -> Entry:
        return self._make()

    @property
    def programs(self) -> Sequence[Program]:
        """Those of the entry."""
        return self._entry.programs

    def function(self, module: Module) -> str:
        """That of the entry."""
        return self._entry.function(module)


def write_module(
    entry: Entry,
    lanes: int,
    precision: Precision = DOUBLE,
    *,
    portable: bool = False,
    shared: Mapping[Program, str] | None = None,
) -> str:
    """The LLVM module of an entry for `lanes` states at a time.

    `portable` code fuses no products with sums and takes sine and cosine from the C library: every processor with that library
    gives the same bits. An arm then takes 1.5 times as long for one state, and 6 times in a batch (the library works lane by
    lane). `shared`: as of `Module`.
    """
    module = Module(lanes, precision, portable=portable, shared=shared)
    module.functions.append(entry.function(module))
    return module.text()
