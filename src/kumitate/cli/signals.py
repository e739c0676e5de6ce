"""Stopping the command: SIGTERM has the same effect as Ctrl-C."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable
from functools import partial
from typing import Any, NoReturn


class Terminated(KeyboardInterrupt):
    """SIGTERM was received. It is handled like Ctrl-C, so that the run so far is saved."""


#: Time after which a signal is sent again whose exception Python has dropped [s].
_AGAIN = 0.05
#: The last signal that raised.
_last: list[int] = []


def stop_on_signals() -> None:
    """From now on SIGTERM raises `Terminated`, and Ctrl-C KeyboardInterrupt as before, unless it is ignored.

    Python drops exceptions that a signal raises inside of some callbacks, such as those of weak references in its import
    system, and prints them; here the signal comes again a moment later instead. Outside of the main thread, where Python takes
    no signals, nothing changes.
    """
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, _raise)
        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, _raise)
        sys.unraisablehook = partial(_dropped, sys.unraisablehook)


def stop_code() -> int | None:
    """The exit code of a process that a signal has stopped; None if there was none."""
    return 128 + _last[0] if _last else None


def _raise(number: int, *_: Any) -> NoReturn:
    _last[:] = [number]
    raise Terminated if number == signal.SIGTERM else KeyboardInterrupt


def _dropped(otherwise: Callable[[Any], None], what: Any) -> None:
    if not isinstance(what.exc_value, KeyboardInterrupt):
        otherwise(what)
        return
    again = threading.Timer(_AGAIN, _send, [signal.SIGTERM if isinstance(what.exc_value, Terminated) else signal.SIGINT])
    again.daemon = True
    again.start()


def _send(number: int) -> None:
    if hasattr(signal, "pthread_kill"):  # ends a wait of the main thread, too
        signal.pthread_kill(threading.main_thread().ident or 0, number)
    else:
        signal.raise_signal(number)
