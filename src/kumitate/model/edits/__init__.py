"""Edits of a mechanism, such as locking joints or attaching a tool. They return a new mechanism and leave theirs unchanged."""

from .attach import attach, cut, merge
from .recut import recut, reroot
from .weld import lock, weld, without_friction

__all__ = ["attach", "cut", "lock", "merge", "recut", "reroot", "weld", "without_friction"]
