"""A hash of a mechanism that is the same in every process: the key of what is computed from it and kept on disk."""

from __future__ import annotations

from functools import lru_cache

from .mechanism import Mechanism


@lru_cache(maxsize=256)
def digest(mechanism: Mechanism) -> str | None:
    """A hash of all parts of a mechanism; None if it has joints, drives or shapes of classes outside of kumitate."""
    import hashlib  # loaded only when something is stored

    geometries = [item for body in mechanism.bodies for item in (*body.visuals, *body.collisions)]
    kinds = (*(joint.kind for joint in mechanism.joints), *(loop.kind for loop in mechanism.loops))
    drives = [driven.drive for driven in mechanism.driven]
    parts: list[object] = [*kinds, *drives, *(item.shape for item in geometries)]
    if not all(type(part).__module__.startswith("kumitate.") for part in parts):
        return None
    text = repr(mechanism)
    return None if " at 0x" in text else hashlib.sha256(text.encode()).hexdigest()
