"""Results as HDF5 (.h5, .hdf5), using h5py.

A file is written in memory first: a disk that fills up while the library writes leaves it in a state in which closing the file
or the end of the program crashes. Only data in the file itself, in one piece, is read: HDF5 can also promise data that was
never written, or take it from other files.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from ...errors import InputError

#: Increment by which the file grows in memory [bytes].
_BLOCK = 2**20


def as_hdf5(
    arrays: Mapping[str, np.ndarray], texts: Mapping[str, str], units: Mapping[str, str], columns: Mapping[str, tuple[str, ...]]
) -> bytes:
    """The bytes of a file with these entries.

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


class Hdf5Entries:
    """The entries of a file.

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
    try:
        import h5py
    except ImportError as error:
        raise InputError(
            ".h5 files need h5py, which is not installed; pip install 'kumitate[hdf5]', or save as .npz"
        ) from error
    return h5py
