"""Remarks of a reader on what it could not use or read differently, collected to one warning for each kind of thing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from ...errors import ModelError, warn
from .xml import Element

#: How many elements are named for each remark; the others are counted.
_SHOWN = 3


class Notes:
    """Remarks on one file: `add` them while reading, `warn` at the end.

    Attributes:
        source: the file.
        mistakes: errors of single elements, so far.
        faults: data that had to be replaced to read the file; functions that would compute with it raise them.
    """

    def __init__(self, source: str):
        self.source = source
        self.faults: list[str] = []
        self.mistakes: list[ModelError] = []
        self._places: dict[str, list[str]] = {}

    def add(self, remark: str, name: str = "", line: int | None = None) -> None:
        """Adds a remark on the element `name` in `line`."""
        where = "" if line is None else f"line {line}"
        self._places.setdefault(remark, []).append(f"{name} in {where}" if name and where else name or where)

    def shows(self, remark: str) -> bool:
        """Whether another element of this remark would be named, rather than only counted."""
        return len(self._places.get(remark, ())) < _SHOWN

    def fault(self, message: str, line: int | None = None) -> None:
        """Adds a fault of the element in `line`, which restricts the use of the mechanism."""
        self.faults.append(f"{self.source}:{line}: {message}" if line is not None else f"{self.source}: {message}")

    @contextmanager
    def catching(self) -> Iterator[None]:
        """Collects the error of an element, so that the others are read and all mistakes are told at once, by `check`."""
        try:
            yield
        except ModelError as error:
            self.mistakes.append(error)

    def check(self) -> None:
        """Raises the first of the mistakes, which has the messages of the others.

        Raises:
            ModelError: if there are any.
        """
        if self.mistakes:
            first, *others = self.mistakes
            first.others = tuple(map(str, others))
            if others:
                first.add_note(f"There are {len(others)} more mistakes in the file; `kumitate check` lists them all")
            raise first

    def leave(self, element: Element, remark: str, name: str = "") -> None:
        """Adds a remark that an element and its content are not used; `name`: its own by default."""
        element.left = remark
        self.add(remark, name or element.attributes.get("name", ""), element.line)

    def add_unread(self, root: Element, reasons: Mapping[str, str]) -> None:
        """Adds a remark for each kind of thing in a file that was not read; `reasons` by its name, such as "<gazebo>"."""
        for what, name, line in root.unread():
            unknown = "only the first is read" if what.startswith("further ") else "not known here, not used"
            self.add(f"{what}: {reasons.get(what, unknown)}", name, line)

    def warn(self) -> None:
        """Issues one warning for each remark, with the number of elements and the first of their names and lines."""
        for remark, places in self._places.items():
            told = [place for place in dict.fromkeys(places) if place]
            shown = ", ".join(told[:_SHOWN]) + (", …" if len(told) > _SHOWN else "")
            count = f"×{len(places)}" if len(places) > 1 else ""
            told_of = ": ".join(part for part in (count, shown) if part)
            message = f"{self.source}: {remark}" + (f" ({told_of})" if told_of else "")
            warn(message)
