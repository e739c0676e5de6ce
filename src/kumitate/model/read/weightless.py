"""Joints that move nothing with inertia: they have poses and velocities, but their accelerations are not determined."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from ..elements import Body, Joint
from .notes import Notes

WEIGHTLESS = (
    "joints that move only bodies without mass and inertia: poses and velocities can be computed, accelerations are not "
    "determined; give the links a mass, or make these joints fixed"
)


def note_weightless(bodies: Iterable[Body], joints: Iterable[Joint], lines: Mapping[str, int], notes: Notes) -> None:
    """Adds a remark on joints of the tree beyond which nothing has mass, inertia or armature; `lines`: theirs, by name."""
    carrier = {joint.child: joint for joint in joints}
    resisting: set[str] = set()
    for body in bodies:
        name = body.name
        if not (body.mass or np.any(body.inertia)):
            continue
        while name in carrier and name not in resisting:  # so are all its ancestors
            resisting.add(name)
            name = carrier[name].parent
    for joint in carrier.values():
        if joint.kind.nv and joint.child not in resisting and not all(joint.armature):  # type: ignore[arg-type]
            notes.add(WEIGHTLESS, joint.name, lines.get(joint.name))
