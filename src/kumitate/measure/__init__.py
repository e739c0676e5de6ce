"""Timing of compiled code on this machine."""

from .machine import machine
from .timing import Contender, Effort, Timing, by_turns

__all__ = ["Contender", "Effort", "Timing", "by_turns", "machine"]
