"""The actuators of MJCF."""

from __future__ import annotations

from ..notes import Notes
from .compiled import Compiled

__all__ = ["note_actuators"]


def note_actuators(compiled: Compiled, notes: Notes) -> None:
    """Adds a remark on actuators."""
    for at, name in enumerate(compiled.names("actuator")):
        notes.add("actuators: not simulated; efforts act at the joints", name, compiled.line("actuator", at))
