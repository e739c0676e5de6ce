"""Files of named entries, arrays and texts: HDF5 (.h5, .hdf5), using h5py, and NumPy's .npz, a zip archive of arrays.

Readers never read more than a file holds, whatever sizes it promises, and only what is in the file itself.
"""

from __future__ import annotations

import io
import math
import re
import struct
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from ..errors import needed

#: Increment by which an HDF5 file grows in memory [bytes].
_BLOCK = 2**20
#: The header of an array in an .npz file: a type of numbers or a text of fixed length, the order of its elements, the shape.
#: NumPy's own reader hands it to Python's parser, and makes arrays of the sizes that it promises.
_HEADER = re.compile(
    rb"\{'descr': '([<>|=]?[fiu][1248]|[<>=]U\d{1,10})', 'fortran_order': (True|False), "
    rb"'shape': \(((?:\d{1,18}(?:, |,)?)*)\), \}\s*"
)
_MAGIC, _LONGEST = b"\x93NUMPY", 2**16
#: Exceptions that reading a damaged file raises.
DAMAGES = (
    OSError, ValueError, TypeError, AttributeError, ArithmeticError, EOFError, RuntimeError, MemoryError,
    zipfile.BadZipFile, zlib.error, struct.error,
)  # fmt: skip


def as_npz(arrays: Mapping[str, np.ndarray], texts: Mapping[str, str]) -> bytes:
    """The bytes of an .npz file with these entries."""
    file = io.BytesIO()
    np.savez(file, **arrays, **{name: np.array(text) for name, text in texts.items()})  # type: ignore[arg-type]
    return file.getvalue()


def as_hdf5(
    arrays: Mapping[str, np.ndarray], texts: Mapping[str, str], units: Mapping[str, str], columns: Mapping[str, tuple[str, ...]]
) -> bytes:
    """The bytes of an HDF5 file with these entries.

    It is written in memory: a disk that fills up while the library writes leaves it in a state in which closing the file or the
    end of the program crashes.

    Args:
        arrays, texts: the entries by name.
        units: of arrays, by name; columns: names of the columns of some arrays.

    Raises:
        InputError: if h5py is not installed.
    """
    h5py = _h5py()
    with h5py.File("result.h5", "w", driver="core", backing_store=False, block_size=_BLOCK) as file:
        for name, text in texts.items():
            file.create_dataset(name, data=text)
        for name, values in arrays.items():
            data = file.create_dataset(name, data=values)
            data.attrs["unit"] = units.get(name, "")
        for name, names in columns.items():  # an attribute holds 64 kB at most: long lists of names become data sets
            file.create_dataset(f"columns/{name}", data=list(names), dtype=h5py.string_dtype())
        file.flush()
        return file.id.get_file_image()


class NpzEntries:
    """The entries of an .npz file, read on demand.

    Raises:
        ValueError: if entries are compressed or promise more than the file holds; zipfile's errors if the file is not an
            archive. Entries raise KeyError where the file has none of this name, and `DAMAGES` for damaged data.
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
        header = _HEADER.fullmatch(data[start : start + length]) if length <= _LONGEST else None
        if data[:6] != _MAGIC or header is None:
            raise ValueError(f"the entry {name!r} is not an array of numbers or a text")
        kind = np.dtype(header[1].decode())
        shape = tuple(int(size) for size in header[3].replace(b",", b" ").split())
        content = memoryview(data)[start + length :]
        if kind.kind not in kinds or math.prod(shape) * kind.itemsize != len(content):
            raise ValueError(f"the entry {name!r} promises {kind} of shape {shape}, and has {len(content)} bytes")
        array = np.frombuffer(content, kind) if len(content) else np.zeros(0, kind)
        return array.reshape(shape, order="F" if header[2] == b"True" else "C")


class Hdf5Entries:
    """The entries of an HDF5 file, as of an .npz file. HDF5 can also promise data that was never written, or from other files.

    Raises:
        InputError: if h5py is not installed; OSError if the file is not an HDF5 file.
    """

    def __init__(self, path: Path):
        self._h5py = _h5py()
        self._path, self._size = path, path.stat().st_size
        self._file = self._h5py.File(path, "r")

    def __contains__(self, name: str) -> bool:
        try:
            self._dataset(name)
        except KeyError:
            return False
        return True

    def text(self, name: str) -> str:
        """The text of this name."""
        data = self._dataset(name)
        kind = self._h5py.check_string_dtype(data.dtype)
        if data.shape != () or kind is None or data.dtype.itemsize > self._size:
            raise ValueError(f"the entry {name!r} is {data.dtype} of shape {data.shape}, where one text is expected")
        if kind.length is not None:
            return data.asstr()[()]
        with open(self._path, "rb") as file:
            return _heap_object(file, data.id.get_offset() or 0).decode()

    def array(self, name: str) -> np.ndarray:
        """The numbers of this name."""
        data = self._dataset(name)
        if data.dtype.kind not in "fiu" or data.shape is None:
            raise ValueError(f"the entry {name!r} is of type {data.dtype}, where numbers are expected")
        if data.nbytes > self._size or data.id.get_storage_size() != data.nbytes:
            raise ValueError(
                f"the entry {name!r} promises {data.nbytes} bytes of shape {data.shape}, which the file does not hold"
            )
        return data[()]

    def close(self) -> None:
        self._file.close()

    def _dataset(self, name: str) -> Any:
        """The data set of this name, if it is stored in this file."""
        place = self._file
        for part in name.split("/"):
            link = place.get(part, getlink=True) if isinstance(place, self._h5py.Group) else None
            if link is None:
                raise KeyError(name)
            if not isinstance(link, self._h5py.HardLink):
                raise ValueError(f"the entry {name!r} is a link to elsewhere, which is not followed")
            place = place[part]
        if not isinstance(place, self._h5py.Dataset):
            raise ValueError(f"the entry {name!r} is not a data set")
        if place.is_virtual or place.external:
            raise ValueError(f"the entry {name!r} takes its data from other files, which are not read")
        if place.chunks is not None:
            raise ValueError(f"the entry {name!r} is in chunks; write it in one piece (h5repack -l CONTI)")
        return place


def _heap_object(file: BinaryIO, offset: int) -> bytes:
    """The variable-length text that the element at `offset` of a file refers to: a part of a global heap.

    Read here because the library's own reader never returns from heaps whose sizes are damaged (HDF5 File Format
    Specification 3.0, III.E).
    """
    file.seek(offset)
    length, heap, wanted = struct.unpack("<IQI", file.read(16))
    file.seek(heap)
    signature, size = struct.unpack("<8sQ", file.read(16))
    if signature != b"GCOL\x01\0\0\0":
        raise ValueError("a text is not where the file says")
    end = heap + size
    while (at := file.tell()) + 16 <= end:
        index, _, held = struct.unpack("<HH4xQ", file.read(16))
        after = at + 16 + held + -held % 8  # padded to eight bytes
        if index == wanted and wanted and length <= held and after <= end:
            return file.read(length)
        if index == 0 or after > end:  # free space comes last
            break
        file.seek(after)
    raise ValueError("a text is not where the file says")


def _h5py() -> Any:
    return needed("h5py", ".h5 files need h5py", "hdf5", ", or save as .npz")
