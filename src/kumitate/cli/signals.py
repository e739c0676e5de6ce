"""What the command does when it is told to stop: the same on SIGTERM as on Ctrl-C."""

from __future__ import annotations

import signal
import threading
from typing import Any, NoReturn

__all__ = ["Terminated", "stop_on_sigterm"]


class Terminated(KeyboardInterrupt):
    """SIGTERM came. It takes the way of Ctrl-C, so that what was simulated is saved."""


def stop_on_sigterm() -> None:
    """From now on SIGTERM raises `Terminated`; outside of the main thread, where Python takes no signals, nothing changes."""
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, _terminate)


def _terminate(*_: Any) -> NoReturn:
    raise Terminated
