"""The command line: `kumitate simulate pa10`. One file per verb."""

from __future__ import annotations

import atexit
import gc
import os
import signal
import sys
import threading
from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from typing import Any, NoReturn

from ..stopping import as_before, end_at_once

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None, *, commands: str = "kumitate.cli.app") -> NoReturn:
    """Run the command line and exit with its code: 0 success, 1 an error of the run, 2 of usage, 130 and 143 stopped.

    Args:
        arguments: those after the command's name; those of the process by default.
        commands: the module whose `run` knows the commands.
    """
    if sys.stdout is None:  # closed by `>&-`
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115 -- as long as the process
    gc.set_threshold(20_000, 20, 50)  # a command makes many objects that live on, and few circles of them: 5 % of its time
    if arguments is None:  # nor does Python look for circles at the end of the process, a tenth of a short command's time
        atexit.register(gc.freeze)
    end_at_once()
    run = import_module(commands).run  # loads the parser
    as_before()
    stop_on_signals()
    try:
        code = run(list(sys.argv[1:] if arguments is None else arguments))
    except (Exception, KeyboardInterrupt):  # what other libraries make of a stop is not to be read
        if stop_code() is None:
            raise
        code = 1
    if code and (stopped := stop_code()) is not None:
        atexit._run_exitfuncs()
        os._exit(stopped)  # sys.exit would send SIGINT once more if the first came while Python ran a text by `exec`
    sys.exit(code)


# --- stopping the command: SIGTERM has the same effect as Ctrl-C ----------------------------------------------------------
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
