"""Timing of compiled code on this machine."""

from .timing import Contender, Effort, Timing, by_turns, machine

__all__ = ["Contender", "Effort", "Timing", "by_turns", "machine"]
