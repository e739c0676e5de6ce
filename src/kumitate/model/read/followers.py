"""Joints that follow others (<mimic>): cycles of them are refused."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import get_close_matches

from ..mechanism import first_circle
from .notes import Notes
from .xml import Element

MISSING_LEADER = "<mimic> of joints that the file does not have; these joints move independently"


def check_circles(followed: Mapping[str, str], joints: Mapping[str, Element]) -> None:
    """Refuses joints that follow themselves, directly or through others.

    Args:
        followed: by joint, the one that it follows; joints: the elements, by name.

    Raises:
        ModelError: at one of the joints of a cycle, naming all of them.
    """
    circle = first_circle(followed)
    if circle:
        raise joints[circle[0]].error(
            f"joint {circle[0]!r} mimics itself ({' → '.join([*circle, circle[0]])}); let one of these joints move by itself"
        )


def missing_leader(name: str, leader: str, joints: Sequence[str], notes: Notes) -> str:
    """The remark on a joint that follows a missing one; the first few with the joint that may be meant."""
    near = get_close_matches(leader, joints, 1) if notes.shows(MISSING_LEADER) else []
    return f"{name!r} of {leader!r}" + (f", not {near[0]!r}?," if near else "")
