"""Stopping the command: SIGTERM has the same effect as Ctrl-C."""

from __future__ import annotations

import signal
import threading
from typing import Any, NoReturn

__all__ = ["Terminated", "forget_stop", "raise_stop", "stop_on_signals"]


class Terminated(KeyboardInterrupt):
    """SIGTERM was received. It is handled like Ctrl-C, so that the run so far is saved."""


#: What was raised by the last signal, until it has reached someone. Python drops exceptions that a signal raises inside of some
#: callbacks, such as those of its import system.
_raised: list[type[KeyboardInterrupt]] = []


def stop_on_signals() -> None:
    """From now on SIGTERM raises `Terminated`, and Ctrl-C KeyboardInterrupt as before, unless it is ignored.

    Outside of the main thread, where Python takes no signals, nothing changes.
    """
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, _terminate)
        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, _interrupt)


def raise_stop() -> None:
    """Raises what a signal has raised, and Python has dropped; long work calls this now and then."""
    if _raised:
        raise _raised.pop()


def forget_stop() -> None:
    """What a signal has raised has arrived."""
    _raised.clear()


def _terminate(*_: Any) -> NoReturn:
    _raised[:] = [Terminated]
    raise Terminated


def _interrupt(*_: Any) -> NoReturn:
    _raised[:] = [KeyboardInterrupt]
    raise KeyboardInterrupt
