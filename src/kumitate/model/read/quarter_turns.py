"""Angles that a file rounds: what is a quarter turn up to its last digits is read as one.

Files write π/2 as 1.57079632679. Its cosine is 5·10⁻¹², not zero, and every product with it is computed: a ninth of the
operations of a quadruped. Results change by as much as the angles.
"""

from __future__ import annotations

import math

from .notes import Notes
from .xml import Element

#: How far from a whole number of quarter turns an angle may be to be read as one [rad].
NEAR = 1e-10
#: Changes as small as the rounding of a float64 are not mentioned.
_ROUNDING = 1e-15
_REMARK = f"angles within {NEAR:g} rad of a quarter turn, read as exactly that (keep_angles=True keeps them as written)"


def exact_quarter_turn(angle: float) -> float:
    """An angle [rad]; the nearest whole number of quarter turns, if it is that near.

    >>> exact_quarter_turn(1.57079632679) == math.pi / 2.0, exact_quarter_turn(1.5708)
    (True, 1.5708)
    """
    turns = math.pi / 2.0 * round(angle / (math.pi / 2.0)) if math.isfinite(angle) else angle
    return turns if abs(angle - turns) <= NEAR else angle


def read_quarter_turns(root: Element, notes: Notes) -> None:
    """Makes angles exact in all elements of a file: in attributes `rpy`, and in the texts of <pose> that are in radians.

    What is not three angles stays as it is, for the reader to refuse.
    """
    waiting = [(root, "")]
    while waiting:
        element, owner = waiting.pop()
        name = element.attributes.get("name") or owner
        before, after = element.attributes.get("rpy", ""), None
        if before:
            after = element.attributes["rpy"] = _exact(before)
        elif element.tag == "pose" and element.attributes.get("degrees", "false") in ("false", "0"):
            before = element.raw_text
            if element.attributes.get("rotation_format", "euler_rpy") == "euler_rpy":
                after = element.raw_text = _exact(before, behind=3)
        if after not in (None, before) and _largest_change(before, after) > _ROUNDING:
            notes.add(_REMARK, name, element.line)
        waiting.extend((part, name) for part in reversed(element.children))


def _exact(text: str, *, behind: int = 0) -> str:
    """The numbers of a text, those after the first `behind` being three angles; the text itself if nothing changes."""
    words = text.split()
    try:
        angles = [float(word) for word in words[behind:]]
    except ValueError:
        return text
    exact = [exact_quarter_turn(angle) for angle in angles]
    if len(words) != behind + 3 or exact == angles:
        return text
    return " ".join([*words[:behind], *map(repr, exact)])


def _largest_change(before: str, after: str) -> float:
    return max(abs(float(a) - float(b)) for a, b in zip(before.split(), after.split(), strict=True))
