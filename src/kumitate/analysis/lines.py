"""Lines between two points that have no length at a state: what of them has no direction there, said in words.

A spring that is at ease without length, damping and friction are determined all the same (`model.joints.Line`).
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

__all__ = ["Lines"]

#: Lines shorter than this have no length [m], and points slower than this against each other rest [m/s].
_NOTHING = 1e-15


class Lines:
    """The lines of a mechanism.

    Attributes:
        mechanism: whose they are.
    """

    def __init__(self, mechanism: Mechanism):
        self.mechanism = mechanism
        self._chords = [chord for chord in mechanism.tree.chords if isinstance(chord.closure, Line)]

    def check_directions(self, q: Any, v: Any, driven: Collection[str] = (), *, smooth: bool = False) -> None:
        """Refuses states at which a line without length would have to push somewhere.

        Args:
            q, v: coordinates (..., nq) and velocities (..., nv).
            driven: names of loops that drives act in.
            smooth: whether slopes are asked for besides forces, which dampers of no length do not have, moving or at rest.

        Raises:
            InputError: naming the line, and what of it has no direction.
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
                    "springs with rest 0 may begin there. Start from another posture, or give the spring the rest 0"
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
    """What of a line has no direction where it has no length; nothing where all of it goes on."""
    if any(chord.stiffness) and any(chord.rest):
        return f"its spring of rest {chord.rest[0]:g} m pushes in no direction"
    if any(chord.armature):
        return f"its armature {chord.armature[0]:g} kg acts in no direction"
    if chord.name in driven:
        return "its drive pushes in no direction"
    if smooth and (any(chord.damping) or any(chord.friction)):
        return "its damping has no slope"
    return ""
