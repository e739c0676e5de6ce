"""Results as NumPy's .npz: a zip archive of arrays, each stored as in memory after a short header.

The reader is our own: NumPy's trusts the sizes in a header, and a file of a few bytes can promise
terabytes; this one never reads more than the file holds.
"""

from __future__ import annotations

import io
import math
import re
import zipfile
from collections.abc import Mapping
from pathlib import Path

import numpy as np

#: The header of an array: a type of numbers or a text of fixed length, the order of its elements, and the shape.
_HEADER = re.compile(
    rb"\{'descr': '([<>|=]?[fiu][1248]|[<>=]U\d{1,10})', 'fortran_order': (True|False), "
    rb"'shape': \(((?:\d{1,18}(?:, |,)?)*)\), \}\s*"
)
_MAGIC, _LONGEST = b"\x93NUMPY", 2**16


def as_npz(arrays: Mapping[str, np.ndarray], texts: Mapping[str, str]) -> bytes:
    """The bytes of a file with these entries."""
    file = io.BytesIO()
    np.savez(file, **arrays, **{name: np.array(text) for name, text in texts.items()})  # type: ignore[arg-type]
    return file.getvalue()


class NpzEntries:
    """The entries of a file.

    Raises:
        ValueError: if entries are compressed or promise more than the file holds; zipfile's errors if the file is not an
            archive.
    """

    def __init__(self, path: Path):
        self._file = zipfile.ZipFile(path)
        infos = self._file.infolist()
        promised = sum(info.file_size for info in infos)
        if any(info.compress_type != zipfile.ZIP_STORED for info in infos):
            raise ValueError("its entries are compressed, which those of results are not")
        if promised > path.stat().st_size:
            raise ValueError(f"its entries promise {promised} bytes, which is more than the file has")

    def __contains__(self, name: str) -> bool:
        return f"{name}.npy" in self._file.NameToInfo

    def text(self, name: str) -> str:
        """The text of this name."""
        return str(self._read(name, "U")[()])

    def array(self, name: str) -> np.ndarray:
        """The numbers of this name."""
        return self._read(name, "fiu")

    def close(self) -> None:
        self._file.close()

    def _read(self, name: str, kinds: str) -> np.ndarray:
        if name not in self:
            raise KeyError(name)
        data = self._file.read(f"{name}.npy")
        start = 10 if data[6:7] == b"\x01" else 12
        length = int.from_bytes(data[8:start], "little")
        found = _HEADER.fullmatch(data[start : start + length]) if length <= _LONGEST else None
        if data[:6] != _MAGIC or found is None:
            raise ValueError(f"the entry {name!r} is not an array of numbers or a text")
        kind = np.dtype(found[1].decode())
        shape = tuple(int(size) for size in found[3].replace(b",", b" ").split())
        content = memoryview(data)[start + length :]
        if kind.kind not in kinds or math.prod(shape) * kind.itemsize != len(content):
            raise ValueError(f"the entry {name!r} promises {kind} of shape {shape}, and has {len(content)} bytes")
        array = np.frombuffer(content, kind) if len(content) else np.zeros(0, kind)
        return array.reshape(shape, order="F" if found[2] == b"True" else "C")
