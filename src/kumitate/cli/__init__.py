"""The command line: `kumitate simulate pa10`. One file per verb."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import NoReturn

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None, *, commands: str = "kumitate.cli.app") -> NoReturn:
    """Run the command line and exit with its code: 0 success, 1 an error of the run, 2 of usage, 130 and 143 stopped.

    Args:
        arguments: those after the command's name; those of the process by default.
        commands: the module whose `run` knows the commands.
    """
    if sys.stdout is None:  # closed by `>&-`
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115 -- as long as the process
    from .signals import stop_on_signals

    stop_on_signals()
    try:
        run = import_module(commands).run  # loads the parser
        sys.exit(run(list(sys.argv[1:] if arguments is None else arguments)))
    except KeyboardInterrupt:  # while it was still loading
        sys.exit(130)
