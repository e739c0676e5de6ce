"""What a reader could not use or read differently than the file says, gathered, and warned of once for each kind of thing."""

from __future__ import annotations

import warnings
from collections.abc import Mapping

from ...errors import KumitateWarning
from .xml import Element

__all__ = ["Notes"]

#: So many elements are told of each kind; the rest is counted.
_SHOWN = 3


class Notes:
    """Remarks on one file: `add` them while reading, `warn` at the end.

    Attributes:
        source: the file.
        faults: what had to be replaced for the file to be read at all; told by whatever would compute with it.
    """

    def __init__(self, source: str):
        self.source = source
        self.faults: list[str] = []
        self._places: dict[str, list[str]] = {}

    def add(self, remark: str, name: str = "", line: int | None = None) -> None:
        """A remark that holds for the element `name`, which stands in `line`."""
        where = "" if line is None else f"line {line}"
        self._places.setdefault(remark, []).append(f"{name} in {where}" if name and where else name or where)

    def shows(self, remark: str) -> bool:
        """Whether one more element of this remark would be named, rather than only counted."""
        return len(self._places.get(remark, ())) < _SHOWN

    def fault(self, message: str, line: int | None = None) -> None:
        """A fault of the element in `line`, which keeps the mechanism from being used in full."""
        self.faults.append(f"{self.source}:{line}: {message}" if line is not None else f"{self.source}: {message}")

    def leave(self, element: Element, remark: str, name: str = "") -> None:
        """A remark that says that an element is not used, with all that is in it; `name`: its own if left out."""
        element.left = remark
        self.add(remark, name or element.attributes.get("name", ""), element.line)

    def add_unread(self, root: Element, reasons: Mapping[str, str]) -> None:
        """A remark for each kind of thing in a file that nobody asked for; `reasons` by what it is, such as "<gazebo>"."""
        for what, name, line in root.unread():
            unknown = "only the first is read" if what.startswith("further ") else "not known here, not used"
            self.add(f"{what}: {reasons.get(what, unknown)}", name, line)

    def warn(self, stacklevel: int = 3) -> None:
        """One warning for each remark, with the number of elements and the first of their names and lines."""
        for remark, places in self._places.items():
            told = [place for place in dict.fromkeys(places) if place]
            shown = ", ".join(told[:_SHOWN]) + (", …" if len(told) > _SHOWN else "")
            count = f"×{len(places)}" if len(places) > 1 else ""
            told_of = ": ".join(part for part in (count, shown) if part)
            message = f"{self.source}: {remark}" + (f" ({told_of})" if told_of else "")
            warnings.warn(message, KumitateWarning, stacklevel=stacklevel + 1)
