"""What a mechanism is made of, by name."""

from __future__ import annotations

from .elements import Body, Coupling, Frame, Joint, Loop
from .mechanism import Mechanism

__all__ = ["Contents"]


class Contents:
    """What `Robot` gives of its mechanism by name."""

    mechanism: Mechanism

    @property
    def name(self) -> str:
        """The mechanism's name."""
        return self.mechanism.name

    @property
    def nq(self) -> int:
        """The number of coordinates."""
        return self.mechanism.nq

    @property
    def nv(self) -> int:
        """The number of degrees of freedom of the tree."""
        return self.mechanism.nv

    @property
    def bodies(self) -> dict[str, Body]:
        """The bodies by name."""
        return {body.name: body for body in self.mechanism.bodies}

    @property
    def joints(self) -> dict[str, Joint]:
        """The joints of the tree by name, in the order of q and v."""
        return {joint.name: joint for joint in self.mechanism.joints}

    @property
    def loops(self) -> dict[str, Loop]:
        """The joints that close loops, by name."""
        return {loop.name: loop for loop in self.mechanism.loops}

    @property
    def couplings(self) -> dict[str, Coupling]:
        """The gears between joints, by name."""
        return {coupling.name: coupling for coupling in self.mechanism.couplings}

    @property
    def frames(self) -> dict[str, Frame]:
        """The named frames by name, in addition to the bodies' own frames, which have the bodies' names."""
        return {frame.name: frame for frame in self.mechanism.frames}
