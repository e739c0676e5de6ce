"""Edits of a mechanism, such as locking joints or attaching a tool. They return a new mechanism and leave theirs unchanged."""

from .attach import attach, merge
from .cut import cut
from .lock import lock, without_friction
from .recut import recut
from .reroot import reroot
from .weld import weld

__all__ = [
    "attach",
    "cut",
    "lock",
    "merge",
    "recut",
    "reroot",
    "weld",
    "without_friction",
]
