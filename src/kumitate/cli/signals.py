"""Stopping the command: SIGTERM has the same effect as Ctrl-C."""

from __future__ import annotations

import signal
import threading
from typing import Any, NoReturn

__all__ = ["Terminated", "stop_on_sigterm"]


class Terminated(KeyboardInterrupt):
    """SIGTERM was received. It is handled like Ctrl-C, so that the run so far is saved."""


def stop_on_sigterm() -> None:
    """From now on SIGTERM raises `Terminated`; outside of the main thread, which alone receives signals, nothing changes."""
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, _terminate)


def _terminate(*_: Any) -> NoReturn:
    raise Terminated
