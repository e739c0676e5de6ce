"""The process of the command `kumitate`, as soon as it imports the package: Ctrl-C, and NumPy's threads.

Ctrl-C while it still imports ends it at once, as there is nothing to save and nothing to trace.
"""

import os
import signal
import sys
from contextlib import suppress
from itertools import pairwise

_ENDED = 130


def end_at_once() -> None:
    """From now on Ctrl-C ends the process, unless something else handles it, or it is ignored."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        with suppress(ValueError):  # not in the main thread
            signal.signal(signal.SIGINT, _end)


def as_before() -> None:
    """Ctrl-C raises KeyboardInterrupt again, if `end_at_once` had it changed."""
    if signal.getsignal(signal.SIGINT) is _end:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _end(*_: object) -> None:
    os._exit(_ENDED)


def _is_command(words: list[str]) -> bool:
    """Whether a process was started as `kumitate` or `python -m kumitate`."""
    script = os.path.basename(words[1]) if len(words) > 1 else ""
    return script == "kumitate" or ("-m", "kumitate") in pairwise(words)


if _is_command(sys.orig_argv):  # when the package begins to be imported; its last line ends this
    end_at_once()
    # matrices of mechanisms are small: a second thread of NumPy's library gains nothing, and burns a tenth of a second waiting
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
