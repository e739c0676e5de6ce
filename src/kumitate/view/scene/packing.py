"""A scene as text: plain data as JSON, arrays as bytes behind it, all deflated, in base64.

The page needs curves and poses to the width of a pixel. `Steps` are therefore rounded to 65535 steps of each row's range and
stored as differences along the row, low bytes before high bytes, because smooth rows become bytes that repeat.

Layout of the inflated bytes: the length of the JSON text in bytes as a little-endian u4; the text, in which an array is
{"array": [kind, place, shape]}; then the arrays, each at a multiple of 8 bytes from the end of the text's padding.
Kinds: u1, u2, u4, f4, f8 (little-endian, C order), and "steps": f8 low and f8 step of each row, then the bytes of the
differences.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...errors import InputError

_KINDS = {"u1": "<u1", "u2": "<u2", "u4": "<u4", "f4": "<f4", "f8": "<f8"}
#: The code of NaN; those of numbers are below it.
_MISSING = 65535


@dataclass(frozen=True, eq=False)
class Steps:
    """Rows of numbers that are needed to 1/65534 of each row's range; NaN stays NaN."""

    values: np.ndarray  # (k, n)
    finest: float | np.ndarray = 0.0  # steps need not be finer, in a row or all (k): what differs by rounding is constant


def packed(scene: Mapping[str, Any], target: str = "page") -> str:
    """A scene as text in base64, of plain data and arrays of the kinds above; `target` names it in errors about others."""
    arrays: list[bytes] = []

    def stored(value: Any) -> dict[str, Any]:
        if isinstance(value, Steps):
            kind, shape, data = "steps", value.values.shape, _differences(value)
        elif isinstance(value, np.ndarray) and value.dtype.str.lstrip("<|") in _KINDS:
            kind, shape = value.dtype.str.lstrip("<|"), value.shape
            data = np.ascontiguousarray(value, dtype=_KINDS[kind]).tobytes()
        else:
            raise TypeError(f"a {type(value).__name__} is not plain data")
        place = sum(map(len, arrays))
        arrays.append(data + bytes(-len(data) % 8))
        return {"array": [kind, place, list(shape)]}

    try:
        text = json.dumps(scene, allow_nan=False, ensure_ascii=False, separators=(",", ":"), default=stored).encode()
    except (TypeError, ValueError) as error:
        raise InputError(f"{target}: the scene is not plain data ({error}); make it with build_scene") from error
    head = len(text).to_bytes(4, "little") + text
    return base64.b64encode(zlib.compress(head + bytes(-len(head) % 8) + b"".join(arrays))).decode("ascii")


def unpacked(text: str) -> dict[str, Any]:
    """The scene in a text of `packed`; `Steps` come back as arrays of f8."""
    data = zlib.decompress(base64.b64decode(text))
    length = int.from_bytes(data[:4], "little")
    base = 4 + length + -(4 + length) % 8

    def restored(found: dict[str, Any]) -> Any:
        if set(found) != {"array"}:
            return found
        kind, place, shape = found["array"]
        if kind == "steps":
            return _summed(data, base + place, *shape)
        return np.frombuffer(data, _KINDS[kind], int(np.prod(shape)), base + place).reshape(shape)

    result: dict[str, Any] = json.loads(data[4 : 4 + length], object_hook=restored)
    return result


def _differences(steps: Steps) -> bytes:
    rows = np.asarray(steps.values, dtype=float)
    known = np.isfinite(rows)
    low = np.where(known, rows, np.inf).min(axis=1, initial=np.inf)
    high = np.where(known, rows, -np.inf).max(axis=1, initial=-np.inf)
    low, span = np.where(low <= high, low, 0.0), np.where(low <= high, high - low, 0.0)
    step = np.maximum(span / (_MISSING - 1), steps.finest)
    codes = np.where(known, np.round((rows - low[:, None]) / np.where(step > 0.0, step, 1.0)[:, None]), _MISSING)
    changes = np.diff(codes.astype(np.int64), axis=1, prepend=0).astype(np.uint16)
    halves = np.concatenate([(changes & 0xFF).ravel(), (changes >> 8).ravel()]).astype(np.uint8)
    return np.concatenate([low, step]).astype("<f8").tobytes() + halves.tobytes()


def _summed(data: bytes, place: int, count: int, length: int) -> np.ndarray:
    low, step = np.frombuffer(data, "<f8", 2 * count, place).reshape(2, count, 1)
    small, large = np.frombuffer(data, "u1", 2 * count * length, place + 16 * count).reshape(2, count, length).astype(np.uint16)
    codes = np.cumsum(small + (large << 8), axis=1, dtype=np.uint16)
    return np.where(codes == _MISSING, np.nan, low + step * codes)
