"""The command line: `kumitate simulate pa10`. One file a verb."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import NoReturn

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command line and leave with its exit code: 0 well, 1 an error of the run, 2 of usage, 130 and 143 stopped."""
    from .signals import stop_on_sigterm

    stop_on_sigterm()
    try:
        from .app import run  # loads the parser

        sys.exit(run(list(sys.argv[1:] if arguments is None else arguments)))
    except KeyboardInterrupt:  # while it was still loading
        sys.exit(130)
