"""The verbs of the command, how their errors are reported, and how the command is stopped."""

from __future__ import annotations

import signal
import sys
import threading
import warnings
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NoReturn

from cyclopts import App, CycloptsError

from ..errors import DivergenceError, KumitateError
from ..version import __version__
from .report import answering, complain, drop_output, print_json

_VERBS = {
    "simulate": "Simulate a mechanism; write its data and a page with 3D playback and plots to a folder.",
    "sweep": "Simulate all runs of a scenario's sweep, on one machine or several; write a table and a page to a folder.",
    "cluster": "Start a scheduler with workers on this machine, for sweeps.",
    "info": "List the bodies, joints and sizes of a mechanism.",
    "robots": "List the robots that have a name, where they come from and what they need.",
    "check": "Check a robot file or a mechanism for faults, with a remedy for each.",
    "view": "Play a mechanism live in a browser: sliders, play, pause, step, reset, bodies to drag.",
    "plot": "Draw the last result, or that of a file, again without simulating.",
    "export": "Write a run or a robot in the formats of other programs: CSV, Parquet, MCAP, URDF, MJCF.",
    "paper": "Write a paper as one page: its text, equations and figures, and the mechanism that readers play with.",
    "equations": "Print the equations of motion of a small mechanism in LaTeX.",
    "examples": "List the examples, or run one with all its figures.",
    "cache": "Show or clear the compiled code that is kept on disk.",
    "doctor": "Show what kumitate finds on this machine: processor, LLVM, cache, extras, a browser.",
    "validate": "Run problems whose answer is published, and compare: a table with source, error and bar of each.",
    "version": "Print the version.",
}


def command(name: str, what: str, verbs: Mapping[str, str], *, package: str) -> App:
    """A command with these verbs and their help texts.

    The function of "contact-table", `contact_table`, is loaded from the module of that name in the `package` when it is called.
    """
    made = App(
        name=name,
        help=what,
        version=__version__,
        result_action="return_value",
        suppress_keyboard_interrupt=False,  # `run_command` reports what was saved
    )
    for verb, told in verbs.items():
        function = verb.replace("-", "_")
        made.command(f"{package}.{function}:{function}", name=verb, help=told)
    return made


app = command("kumitate", "Simulate mechanisms made of rigid bodies and joints.", _VERBS, package="kumitate.cli")


def run(arguments: list[str]) -> int:
    """Run one verb of `kumitate`. Returns the exit code."""
    return run_command(app, arguments)


def run_command(commands: App, arguments: list[str]) -> int:
    """Run one verb of a command. Returns the exit code.

    With --json, an error is one object on standard output as well: {"error": {"kind": ..., "message": ...}}. If the
    reader of standard output closes it early, as `| head -1` does, the command ends quietly with the exit code of SIGPIPE.
    """
    with warnings.catch_warnings():
        warnings.showwarning = lambda message, *_: complain(str(message), what="warning")
        try:
            code = commands(arguments, exit_on_error=False)
            with answering():
                sys.stdout.flush()
        except CycloptsError as error:  # cyclopts has printed it, with a suggestion
            return _failed(arguments, error, code=2)
        except KumitateError as error:
            complain(str(error))
            if isinstance(error, DivergenceError) and error.result is None:
                complain("nothing of the run could be kept", what="note")
            return _failed(arguments, error, code=1)
        except BrokenPipeError:
            drop_output()
            return 128 + 13
        except OSError as error:
            complain(f"{error.filename or ''}: {error.strerror or error}".removeprefix(": "))
            return _failed(arguments, error, code=1)
        except KeyboardInterrupt as error:
            complain("stopped", what="note")
            return 143 if isinstance(error, Terminated) else 130
    return code if isinstance(code, int) else 0  # a verb may return an exit code


def _failed(arguments: list[str], error: Exception, code: int) -> int:
    try:
        if "--json" in arguments:
            print_json({"error": {"kind": type(error).__name__, "message": str(error)}})
        sys.stdout.flush()
    except OSError:  # there is still the message on standard error
        drop_output()
    return code


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
