"""Scenes of pages read back: what the page's script does, in Python."""

from __future__ import annotations

import base64
import json
import zlib
from typing import Any

import numpy as np

MISSING = 65535  # the count of steps that stands for NaN


def unpacked(text: str) -> dict[str, Any]:
    """The scene in a text of `kumitate.view.scene.packed`; `Steps` come back as arrays of f8."""
    data = zlib.decompress(base64.b64decode(text))
    length = int.from_bytes(data[:4], "little")
    base = 4 + length + -(4 + length) % 8

    def restored(found: dict[str, Any]) -> Any:
        if set(found) != {"array"}:
            return found
        kind, place, shape = found["array"]
        if kind == "steps":
            return summed(data, base + place, *shape)
        return np.frombuffer(data, f"<{kind}", int(np.prod(shape)), base + place).reshape(shape)

    return json.loads(data[4 : 4 + length], object_hook=restored)


def summed(data: bytes, place: int, count: int, length: int) -> np.ndarray:
    """Rows of numbers from their lowest ones, steps, and the changes of the steps' counts, by low and high bytes."""
    low, step = np.frombuffer(data, "<f8", 2 * count, place).reshape(2, count, 1)
    small, large = np.frombuffer(data, "u1", 2 * count * length, place + 16 * count).reshape(2, count, length).astype(np.uint16)
    codes = np.cumsum(small + (large << 8), axis=1, dtype=np.uint16)
    return np.where(codes == MISSING, np.nan, low + step * codes)
