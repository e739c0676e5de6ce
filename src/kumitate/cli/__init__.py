"""The command line: `kumitate simulate pa10`. One file per verb."""

from __future__ import annotations

import atexit
import gc
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import NoReturn

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
    from .app import stop_code, stop_on_signals

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
