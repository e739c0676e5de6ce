"""Results in files: HDF5 (.h5, .hdf5) or NumPy's .npz, with the mechanism inside, readable without kumitate.

Both hold the same entries: the arrays of `Record` by name, `energy/kinetic` and so on, and the texts `header`, `mechanism`,
`audit`, `settings`, each JSON; of runs with contact, the arrays of `ContactRecord` as `contact/force` and so on, and the text
`contact/bodies`; of runs with outputs `output/0` and so on, and the text `output/names`; of runs with wrenches `wrenches/0`
and `wrenches/names`, of runs with drives in loops `loop_tau/0` and `loop_tau/names`, of drives with
states of their own `drive_states/0` and `drive_states/names`; of mechanisms with loops `loop/0/q` and so on (`LoopRecord`) and
`loop/names`, for other programs: `load` computes them again. The forces of nonlinear lines
are functions: the mechanism is written without them, and `lines/forces` has their programs as text, for people. A file is
written whole or not at all, so a run that is killed leaves the old file unchanged.

Readers never read more than a file holds, whatever sizes it promises, and only what is in the file itself.
"""

from __future__ import annotations

import io
import json
import math
import os
import re
import struct
import zipfile
import zlib
from collections.abc import Mapping
from contextlib import closing
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from ..errors import InputError, KumitateError, needed, warn
from ..model import Line, Mechanism
from ..model.files import opened, replacing
from ..model.joints.closures import LineForce
from .audit import Audit
from .contact_record import LIST
from .record import LEFT_OUT, Energy, Record

if TYPE_CHECKING:
    from .contact_record import ContactRecord

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

    `units` are of arrays, by name, and `columns` the names of the columns of some. Needs h5py.
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
    """The entries of an .npz file, read on demand; KeyError where there is none of a name, `DAMAGES` for damaged data."""

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
    """The entries of an HDF5 file, as of an .npz file. HDF5 can also promise data never written, or from other files."""

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


Entries = Hdf5Entries | NpzEntries

FORMAT = "kumitate-result"
#: Incremented when the format changes so that an older kumitate cannot read the files.
VERSION = 1
#: The entry of a file that holds the state of a simulation: which simulation.
STATE = "kumitate-state"
HDF5, NPZ = (".h5", ".hdf5"), (".npz",)

_UNITS = {
    "time": "s", "q": "rad, m", "v": "rad/s, m/s", "a": "rad/s^2, m/s^2", "tau": "N m, N", "center_of_mass": "m",
    "momentum": "kg m^2/s (angular, about the origin), kg m/s (linear)",
    "energy/kinetic": "J", "energy/potential": "J", "energy/total": "J",
    "contact/force": "N", "contact/position": "m", "contact/gap": "m", "contact/velocity": "m/s", "contact/residual": "m/s",
    "contact/penetration": "m", "contact/work": "J", "contact/gained": "J", "contact/moment": "N m",
}  # fmt: skip
#: Entries of runs with contact.
_CONTACT = "contact/"
#: Entries of arrays by name, the names as one text, and one numbered array for each; by the field of a result.
_NAMED = {"outputs": "output/", "wrenches": "wrenches/", "loop_tau": "loop_tau/", "drive_states": "drive_states/"}
#: Arrays with one value per time, and with three per point; the others have one value per point.
_OF_TIMES, _VECTORS = ("residual", "penetration", "work", "gained"), ("force", "position", "normal", "velocity", "moment")


def save(result: Record, path: str | os.PathLike[str]) -> Path:
    """Writes a result to a file in the format given by the suffix (.h5, .hdf5, .npz), and returns the path.

    An `InputError` for another suffix, a folder that does not exist, settings that are not plain data, or HDF5 without h5py.
    """
    target = Path(path)
    if target.suffix.lower() not in (*HDF5, *NPZ):
        raise InputError(f"{target}: results are saved as .h5, .hdf5 or .npz; {target.suffix!r} is not one of these")
    arrays, texts = _arrays(result), _texts(result)
    if result.mechanism.tree.closed and len(result):
        from .readings import loop_arrays  # compiles programs

        found = loop_arrays(result)
        texts["loop/names"] = json.dumps(list(found))
        arrays |= {f"loop/{k}/{part}": values for k, own in enumerate(found.values()) for part, values in own.items()}
    if target.suffix.lower() in NPZ:
        content = as_npz(arrays, texts)
    else:
        columns = {"q": result.mechanism.q_names, **dict.fromkeys(("v", "a", "tau"), result.mechanism.v_names)}
        content = as_hdf5(arrays, texts, _UNITS, columns)
    with replacing(target) as temporary:
        temporary.write_bytes(content)
    return target


def load(path: str | os.PathLike[str]) -> Record:
    """The result that `save` wrote, whatever the file's suffix.

    Raises:
        InputError: if there is no such file, or it is damaged, of another program, or of a newer kumitate.
    """
    with opened(path, error=InputError) as (file, target, _):
        start = file.read(8)
    if start == b"\x89HDF\r\n\x1a\n":
        reader: type[Hdf5Entries] | type[NpzEntries] = Hdf5Entries
    elif start[:4] == b"PK\x03\x04":
        reader = NpzEntries
    else:
        raise InputError(f"{target}: is neither an HDF5 nor an .npz file; give a file that `save` wrote")
    try:
        with closing(reader(target)) as entries:
            header = json.loads(entries.text("header")) if "header" in entries else None
            if not isinstance(header, dict) or header.get("format") != FORMAT:
                raise InputError(f"{target}: is not a result of kumitate (no header {FORMAT!r}); give a file that `save` wrote")
            if header.get("version") != VERSION:  # of a newer one
                raise InputError(
                    f"{target}: is of format {header.get('version')!r}, and this kumitate reads format {VERSION}; "
                    "update kumitate (pip install --upgrade kumitate)"
                )
            return _result(entries)
    except KumitateError:
        raise
    except KeyError as error:
        raise InputError(f"{target}: has no entry {error}, so it is not a result of kumitate; give one that is") from error
    except DAMAGES as error:
        raise InputError(f"{target}: is damaged ({error}); run the simulation again, or take a copy of the file") from error


# --- writing ----------------------------------------------------------------------------------------------------------
def _arrays(result: Record) -> dict[str, np.ndarray]:
    plain = {name: getattr(result, name) for name in _UNITS if "/" not in name}
    contact = {} if result.contact is None else vars(result.contact)
    return {
        **plain,
        **{f"energy/{name}": values for name, values in result.energy._asdict().items()},
        **{_CONTACT + name: values for name, values in contact.items() if name != "bodies" and values is not None},
        **{f"{at}{k}": values for key, at in _NAMED.items() for k, values in enumerate(getattr(result, key).values())},
    }


def _texts(result: Record) -> dict[str, str]:
    from ..model.read.json import to_json  # the readers are loaded when they are needed

    header = {"format": FORMAT, "version": VERSION}
    mechanism, laws = _without_line_laws(result.mechanism)
    try:
        settings = json.dumps(result.settings | ({LEFT_OUT: list(laws)} if laws else {}), default=_plain)
    except (TypeError, ValueError) as error:
        raise InputError(
            f"{result.mechanism.name}: the settings of the result are not plain data ({error}); keep numbers, texts, lists and "
            "dictionaries only"
        ) from error
    audit = json.dumps(result.audit.as_dict())
    texts = {"header": json.dumps(header), "mechanism": to_json(mechanism), "audit": audit, "settings": settings}
    if laws:
        texts["lines/forces"] = json.dumps(laws)
    if result.contact is not None:
        texts[_CONTACT + "bodies"] = json.dumps(result.contact.bodies)
    texts |= {f"{at}names": json.dumps(list(getattr(result, key))) for key, at in _NAMED.items() if getattr(result, key)}
    return texts


def _without_line_laws(mechanism: Mechanism) -> tuple[Mechanism, dict[str, str]]:
    """The mechanism with lines that have no forces of functions, and the programs of those that it had, as text by name."""
    laws = {
        loop.name: loop.kind.force.listing
        for loop in mechanism.loops
        if isinstance(loop.kind, Line) and isinstance(loop.kind.force, LineForce)
    }
    loops = tuple(replace(loop, kind=Line()) if loop.name in laws else loop for loop in mechanism.loops)
    return (replace(mechanism, loops=loops) if laws else mechanism), laws


def _plain(value: Any) -> Any:
    """NumPy's numbers and arrays as plain Python numbers and lists."""
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    raise TypeError(f"{value!r} is of type {type(value).__name__}")


# --- reading ----------------------------------------------------------------------------------------------------------
def _result(entries: Entries) -> Record:
    from ..model.read.json import from_json  # the readers are loaded when they are needed

    settings = json.loads(entries.text("settings"))
    if not isinstance(settings, dict):
        raise ValueError("the settings are not a dictionary")
    energy = Energy(*(entries.array(f"energy/{name}") for name in Energy._fields))
    arrays = {name: entries.array(name) for name in _UNITS if "/" not in name}
    contact = _contact(entries, len(arrays["time"])) if _CONTACT + "bodies" in entries else None
    audit = Audit.from_dict(json.loads(entries.text("audit")))
    if settings.get(LEFT_OUT):
        warn(
            f"the forces of the lines {', '.join(map(repr, settings[LEFT_OUT]))} are functions, which files of runs "
            "do not have: the run's mechanism is without them, and its motion and recorded efforts are with them"
        )
    try:
        mechanism = from_json(entries.text("mechanism"), "mechanism")
        named = {key: _by_name(entries, at) for key, at in _NAMED.items()}
        more: dict[str, Any] = {**arrays, **named}
        return Record(mechanism, energy=energy, audit=audit, settings=settings, contact=contact, **more)
    except KumitateError as error:
        raise ValueError(str(error)) from error


def _by_name(entries: Entries, at: str) -> dict[str, np.ndarray]:
    names = json.loads(entries.text(f"{at}names")) if f"{at}names" in entries else []
    return {str(name): entries.array(f"{at}{k}") for k, name in enumerate(names)}


def _contact(entries: Entries, times: int) -> ContactRecord:
    from .contact_record import ContactRecord  # loaded only when a run with contact is read

    bodies = tuple((str(a), str(b)) for a, b in json.loads(entries.text(_CONTACT + "bodies")))
    names = [field.name for field in fields(ContactRecord) if field.name != "bodies"]
    later = {"moment", "gained"}  # not in all files
    arrays = {name: entries.array(_CONTACT + name) for name in names if name not in later or _CONTACT + name in entries}
    arrays.setdefault("gained", arrays["work"])  # which `work` was before it had an entry of its own
    for name, array in arrays.items():
        shape = (times,) if name in _OF_TIMES else (times, len(bodies), *((3,) if name in _VECTORS else ()))
        if array.shape != shape:
            raise ValueError(f"{name} of the contact has the shape {array.shape}, where {shape} is expected")
    return ContactRecord(bodies, **arrays)


# --- The state of a simulation, from which it goes on exactly ------------------------------------------------------------


def write_carried(carried: Mapping[str, np.ndarray], owner: str, path: str | os.PathLike[str]) -> Path:
    """Writes the arrays that a state carries to an .npz file; `owner`: the simulation it belongs to."""
    target = Path(path)
    if target.suffix != ".npz":
        raise InputError(f"{target}: states are saved as .npz; {target.suffix!r} is another suffix")
    with replacing(target) as temporary:
        temporary.write_bytes(as_npz({f"state/{name}": array for name, array in carried.items()}, {STATE: owner}))
    return target


def read_carried(expected: Mapping[str, np.ndarray], owner: str, path: str | os.PathLike[str]) -> dict[str, np.ndarray]:
    """Reads what `write_carried` wrote; an `InputError` if it is damaged, of another simulation, or of other shapes."""
    with opened(path, error=InputError) as (_, target, _):
        pass
    try:
        with closing(NpzEntries(target)) as entries:
            found = entries.text(STATE) if STATE in entries else None
            if found != owner:
                what = "is not a state of a simulation" if found is None else f"is a state of {found}"
                raise InputError(f"{target}: {what}; give one that was saved by {owner}")
            carried = {name: entries.array(f"state/{name}") for name in expected}
    except DAMAGES as error:
        raise InputError(f"{target}: is damaged ({error}); take a copy of the file, or simulate again") from error
    for name, array in carried.items():
        shape = array.shape[:1] + expected[name].shape[1:] if name == LIST else expected[name].shape
        if array.shape != shape or array.dtype != float:
            raise InputError(f"{target}: {name!r} has shape {array.shape}; it must be {expected[name].shape} for {owner}")
    return carried
