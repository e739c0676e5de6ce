"""Procedures as objects that are called."""

from __future__ import annotations

import functools
import os
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, TypeVar

from ..errors import ProcedureError

if TYPE_CHECKING:
    from .machine import Machine
    from .tree import TypedProcedure

Given = ParamSpec("Given")
Result = TypeVar("Result")
_here = threading.local()
_lock = threading.RLock()


if hasattr(os, "register_at_fork"):  # the thread that holds the lock is not in a forked process
    os.register_at_fork(after_in_child=lambda: globals().update(_lock=threading.RLock()))


class Procedure(Generic[Given, Result]):
    """A function of the subset. Called, it runs as machine code, which is made at the first call and kept on disk.

    With the environment variable `KUMITATE_DEBUG` set when the first call is made, every index is checked.

    Attributes:
        plain: the function as written; procedures that it calls run as written too.
    """

    def __init__(self, function: Callable[Given, Result], key: str = "", *, waits: bool = False):
        functools.update_wrapper(self, function)
        self._function, self._key, self._waits = function, key, waits
        self._typed: TypedProcedure | None = None
        self._machines: dict[bool, Machine] = {}
        self._reading = False

    def __repr__(self) -> str:
        return f"<procedure {self._function.__qualname__}>"

    @property
    def typed(self) -> TypedProcedure:
        """The typed tree of the function; a `ProcedureError` if it leaves the subset."""
        with _lock:
            if self._typed is None:
                from .statements import read_procedure

                if self._reading:
                    raise ProcedureError(f"{self._function.__qualname__} calls itself; write a loop with a stack in an array")
                self._reading = True
                try:
                    self._typed = read_procedure(self._function)
                    self._typed.waits = self._waits
                finally:
                    self._reading = False
            return self._typed

    def machine(self, *, checked: bool | None = None) -> Machine:
        """The machine code; `checked` code checks indices, divisors and shifts, and rounds every operation as Python does."""
        from .machine import Machine

        wanted = bool(os.environ.get("KUMITATE_DEBUG")) if checked is None else checked
        with _lock:
            if wanted not in self._machines:
                self._machines[wanted] = Machine(self._function, lambda: self.typed, checked=wanted, key=self._key)
            return self._machines[wanted]

    def __call__(self, *arguments: Given.args, **named: Given.kwargs) -> Result:
        if getattr(_here, "plain", False):
            return self._function(*arguments, **named)
        given = arguments if not named else self._signature.bind(*arguments, **named).args
        found: Result = self._current.call(given)
        return found

    @functools.cached_property
    def _current(self) -> Machine:
        return self.machine()

    @functools.cached_property
    def _signature(self) -> Any:
        import inspect

        return inspect.signature(self._function)

    def bound(self, *arguments: Given.args, **named: Given.kwargs) -> Callable[[], Result]:
        """A function without arguments that runs the machine code on these: arrays are checked once, and read as they are then.

        It takes half a microsecond, and is for one thread at a time.
        """
        found: Callable[[], Result] = self._current.bound(self._signature.bind(*arguments, **named).args)
        return found

    @functools.cached_property
    def address(self) -> int:
        """The number by which `call_at` calls it; compiled on first use, and kept as long as the process."""
        from .kinds import ENTRY
        from .programs import PROCEDURES

        found = self._current.code.addresses[ENTRY]
        PROCEDURES[found] = self
        return found

    def source(self) -> str:
        """The text of the procedure and of all procedures that it calls, in LLVM's language."""
        from .modules import LlvmText

        return LlvmText(self.typed).text

    def plain(self, *arguments: Given.args, **named: Given.kwargs) -> Result:
        """The function as written, on NumPy arrays."""
        before, _here.plain = getattr(_here, "plain", False), True
        try:
            return self._function(*arguments, **named)
        finally:
            _here.plain = before


def procedure(function: Callable[Given, Result], key: str = "") -> Procedure[Given, Result]:
    """Makes a function a procedure; `key`: how one in a function of this package is called on disk, as no other is."""
    return Procedure(function, key)


def later(function: Callable[Given, Result]) -> Procedure[Given, Result]:
    """Makes a function a procedure whose code is made apart, when others first call it: what most runs never call."""
    return Procedure(function, waits=True)
