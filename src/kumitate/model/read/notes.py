"""What a reader could not use or read differently than the file says, gathered, and warned of once for each kind of thing."""

from __future__ import annotations

import warnings

from ...errors import KumitateWarning

__all__ = ["Notes"]

#: So many names are told of each kind; the rest is counted.
_SHOWN = 3


class Notes:
    """Remarks on one file: `add` them while reading, `warn` at the end."""

    def __init__(self, source: str):
        self.source = source
        self._names: dict[str, list[str]] = {}

    def add(self, remark: str, name: str = "") -> None:
        """A remark that holds for the element `name`."""
        self._names.setdefault(remark, []).append(name)

    def warn(self, stacklevel: int = 3) -> None:
        """One warning for each remark, with the number of elements and the first of their names."""
        for remark, names in self._names.items():
            told = [name for name in dict.fromkeys(names) if name]
            shown = ", ".join(told[:_SHOWN]) + (", …" if len(told) > _SHOWN else "")
            count = f"×{len(names)}" if len(names) > 1 else ""
            told_of = ": ".join(part for part in (count, shown) if part)
            message = f"{self.source}: {remark}" + (f" ({told_of})" if told_of else "")
            warnings.warn(message, KumitateWarning, stacklevel=stacklevel + 1)
