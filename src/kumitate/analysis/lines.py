"""Lines between two points that have zero length at a state: which of their forces have no direction there.

A spring with rest length 0, damping and friction are determined nevertheless (`model.joints.Line`).
"""

from __future__ import annotations

from collections.abc import Collection
from functools import cached_property
from typing import Any

import numpy as np

from ..compile import Kernel
from ..errors import InputError
from ..kinematics import chord_closing
from ..model import Chord, Line, Mechanism
from ..scalar import trace

#: Lines shorter than this count as zero length [m], and relative speeds of their ends below this as rest [m/s].
_NOTHING = 1e-15


class Lines:
    """The lines of a mechanism.

    Attributes:
        mechanism: the one that has the lines.
    """

    def __init__(self, mechanism: Mechanism):
        self.mechanism = mechanism
        self._chords = [chord for chord in mechanism.tree.chords if isinstance(chord.closure, Line)]

    def check_directions(self, q: Any, v: Any, driven: Collection[str] = (), *, smooth: bool = False) -> None:
        """Refuses states at which the force of a line of zero length has no direction.

        Args:
            q, v: coordinates (..., nq) and velocities (..., nv).
            driven: names of loops with active drives.
            smooth: whether derivatives of forces are needed as well; those of dampers of zero length do not exist.

        Raises:
            InputError: naming the line, and the force that has no direction.
        """
        asked = [(k, why) for k, chord in enumerate(self._chords) if (why := _needs_direction(chord, driven, smooth))]
        q, v = np.asarray(q, dtype=float), np.asarray(v, dtype=float)
        if not asked or not q.size:
            return
        lengths, speeds = self._kernel(q, v)
        for k, why in asked:
            lost = (lengths[..., k] < _NOTHING) & (smooth | (speeds[..., k] < _NOTHING))
            if lost.any():
                raise InputError(
                    f"{self.mechanism.name}: the line {self._chords[k].name!r} has no length at this state, where {why}; only "
                    "springs with rest 0 may start there. Start from another posture, or give the spring the rest 0"
                )

    @cached_property
    def _kernel(self) -> Kernel:
        tree, chords = self.mechanism.tree, self._chords

        def measured(q: Any, v: Any) -> dict[str, Any]:
            closings = [chord_closing(tree, q, v, chord) for chord in chords]
            return {
                "lengths": [closing.coordinates[0] for closing in closings],
                "speeds": [closing.twist.linear.norm() for closing in closings],
            }

        return Kernel(trace(measured, {"q": tree.nq, "v": tree.nv}, f"lines_{self.mechanism.name}"))


def _needs_direction(chord: Chord, driven: Collection[str], smooth: bool) -> str:
    """Which force of a line has no direction at zero length; empty if all are determined."""
    if any(chord.stiffness) and any(chord.rest):
        return f"its spring of rest {chord.rest[0]:g} m pushes in no direction"
    if _pulls_at_zero(chord):
        return "its force pushes in no direction"
    if any(chord.armature):
        return f"its armature {chord.armature[0]:g} kg acts in no direction"
    if chord.name in driven:
        return "its drive pushes in no direction"
    if smooth and isinstance(chord.closure, Line) and chord.closure.force is not None:
        return "its force has no slope"
    if smooth and (any(chord.damping) or any(chord.friction)):
        return "its damping has no slope"
    return ""


def _pulls_at_zero(chord: Chord) -> bool:
    """Whether the force of a nonlinear spring does not vanish at zero length and rest, or is not defined there."""
    try:
        return any(chord.closure.pull((0.0,), (0.0,)))
    except (ArithmeticError, ValueError):
        return True
