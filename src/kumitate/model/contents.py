"""What a mechanism is made of, by name."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol, TypeVar

from ..errors import UnknownNameError
from .elements import Body, Coupling, Frame, Joint, Loop
from .mechanism import Mechanism, nearest


class _HasName(Protocol):
    @property
    def name(self) -> str: ...


Named = TypeVar("Named", bound=_HasName)


class _ByName(dict[str, Named]):
    """Elements by name, in their order; `what` they are, and of which mechanism, for the error at a name that is not there."""

    def __init__(self, mechanism: Mechanism, what: str, items: Iterable[Named]):
        super().__init__((item.name, item) for item in items)
        self._mechanism, self._what = mechanism.name, what

    def __missing__(self, name: str) -> Named:
        raise UnknownNameError(f"{self._mechanism}: there is no {self._what} {name!r}; {nearest(name, self)}")


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
        return _ByName(self.mechanism, "body", self.mechanism.bodies)

    @property
    def joints(self) -> dict[str, Joint]:
        """The joints of the tree by name, in the order of q and v."""
        return _ByName(self.mechanism, "joint", self.mechanism.joints)

    @property
    def loops(self) -> dict[str, Loop]:
        """The joints that close loops, by name."""
        return _ByName(self.mechanism, "loop", self.mechanism.loops)

    @property
    def couplings(self) -> dict[str, Coupling]:
        """The gears between joints, by name."""
        return _ByName(self.mechanism, "coupling", self.mechanism.couplings)

    @property
    def frames(self) -> dict[str, Frame]:
        """The named frames by name, in addition to the bodies' own frames, which have the bodies' names."""
        return _ByName(self.mechanism, "frame", self.mechanism.frames)
