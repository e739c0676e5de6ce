"""The verbs, and what happens when one fails."""

from __future__ import annotations

import sys
import warnings

from cyclopts import App, CycloptsError

from ..errors import DivergenceError, KumitateError
from .report import complain, print_json
from .signals import Terminated

__all__ = ["app", "run"]

_VERBS = {
    "simulate": "Simulate a mechanism; leave its data, graphs and a page with 3D playback in a folder.",
    "info": "Say what a mechanism consists of.",
    "check": "Look for faults in a robot's file or a mechanism, and say what to do about them.",
    "plot": "Draw a result again without simulating: the last one, or a file's.",
    "equations": "Print the equations of motion of a small mechanism in LaTeX.",
    "examples": "List the examples, or run one with all its figures.",
    "bench": "Time kumitate beside Pinocchio and MuJoCo, where they are installed.",
    "compare": "Compare Lagrange, ABA, ADA and hybrid modelling: the thesis's tables and figures.",
    "contact-table": "Run contact models on problems with closed forms, and compare with what was expected.",
    "levels": "Measure ADA in parallel rounds against articulated bodies, over chains of 10 to 10 000 links.",
    "partitions": "Find the best partition of a mechanism into sub-chains for hybrid modelling.",
    "cache": "Show or clear the compiled code that is kept on disk.",
    "version": "Print the version.",
}


def _version() -> str:
    from .. import __version__

    return __version__


app = App(
    name="kumitate",
    help="Simulate mechanisms made of rigid bodies and joints.",
    version=_version,
    result_action="return_value",
    suppress_keyboard_interrupt=False,  # `run` says what became of the run
)
for _verb, _what in _VERBS.items():
    _function = _verb.replace("-", "_")
    app.command(f"kumitate.cli.{_function}:{_function}", name=_verb, help=_what)  # loaded when it is called


def run(arguments: list[str]) -> int:
    """Run one command. Returns the exit code.

    With --json, an error too is one object on standard output: {"error": {"kind": ..., "message": ...}}.
    """
    with warnings.catch_warnings():
        warnings.showwarning = lambda message, *_: complain(str(message), what="warning")
        try:
            code = app(arguments, exit_on_error=False)
        except CycloptsError as error:  # printed by cyclopts, with what was meant
            return _failed(arguments, error, code=2)
        except KumitateError as error:
            complain(str(error))
            if isinstance(error, DivergenceError) and error.result is None:
                complain("nothing of the run could be kept", what="note")
            return _failed(arguments, error, code=1)
        except OSError as error:
            complain(f"{error.filename or ''}: {error.strerror or error}".removeprefix(": "))
            return _failed(arguments, error, code=1)
        except KeyboardInterrupt as error:
            complain("stopped", what="note")
            return 143 if isinstance(error, Terminated) else 130
    return code if isinstance(code, int) else 0  # a verb may have a code of its own


def _failed(arguments: list[str], error: Exception, code: int) -> int:
    if "--json" in arguments:
        print_json({"error": {"kind": type(error).__name__, "message": str(error)}})
    sys.stdout.flush()
    return code
