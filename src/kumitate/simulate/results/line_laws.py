"""Forces of lines that are functions: files of runs have their programs as text, and not as something to run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ...errors import InputError
from ...model import Line, Mechanism
from ...model.joints.line import LineForce
from .result import Result

#: Among the settings of a run that was read from a file: the lines whose forces the file does not have.
LEFT_OUT = "lines without their forces"


def without_line_laws(mechanism: Mechanism) -> tuple[Mechanism, dict[str, str]]:
    """The mechanism with lines that have no forces of functions, and the programs of those that it had, as text by name."""
    laws: Mapping[str, LineForce] = {
        loop.name: loop.kind.force
        for loop in mechanism.loops
        if isinstance(loop.kind, Line) and isinstance(loop.kind.force, LineForce)
    }
    if not laws:
        return mechanism, {}
    loops = tuple(replace(loop, kind=Line()) if loop.name in laws else loop for loop in mechanism.loops)
    return replace(mechanism, loops=loops), {name: law.listing for name, law in laws.items()}


def check_line_laws(result: Result, what: str) -> None:
    """Refuses to compute forces of a run whose file does not have the forces of its lines.

    Raises:
        InputError: naming the lines.
    """
    missing = result.settings.get(LEFT_OUT)
    if missing:
        raise InputError(
            f"{result.mechanism.name}: {what} depend on the forces of the lines {', '.join(map(repr, missing))}, which are "
            "functions, and the file of the run does not have them. Simulate again, or ask for them before saving"
        )
