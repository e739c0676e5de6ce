"""What hardly any format has: noted by the fields of the parts of a mechanism, so that a new field is never lost silently."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import MISSING, Field, fields
from typing import Any

from ..elements import Limits
from ..mechanism import Mechanism
from ..read.notes import Notes

#: Fields of a mechanism that do not describe it: where it was read from, and the faults found there.
_ABOUT = {"name", "source", "faults"}


def note_mechanism(mechanism: Mechanism, written: Collection[str], notes: Notes) -> None:
    """Notes the fields of a mechanism that are not written and not at their defaults; faults of inertias are noted, too."""
    note_fields(mechanism, {*_ABOUT, *written}, "the mechanism's", notes)
    for fault in mechanism.faults:
        notes.add(f"inertias are written that replace impossible ones: {fault}")


def note_fields(part: Any, written: Collection[str], whose: str, notes: Notes) -> None:
    """Notes the fields of a part that are not written and not at their defaults."""
    for item in fields(part):
        if item.name not in written and _says_something(item, getattr(part, item.name)):
            notes.add(f"{whose} {item.name}, not written", part.name)


def _says_something(item: Field[Any], value: Any) -> bool:
    default = item.default if item.default is not MISSING else None
    if item.default_factory is not MISSING:
        default = item.default_factory()
    if item.name == "limits":  # one for each degree of freedom, which may say nothing
        return any(limit != Limits() for limit in value)
    if isinstance(value, tuple) and not isinstance(default, tuple):  # one number for all degrees of freedom
        return any(entry != default for entry in value)
    return bool(value != default)
