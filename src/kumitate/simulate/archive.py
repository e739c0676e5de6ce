"""Results in files: HDF5 (.h5, .hdf5) or NumPy's .npz, with the mechanism inside, readable without kumitate.

Both hold the same entries: the arrays of `Result` by name, `energy/kinetic` and so on, and the texts `header`, `mechanism`,
`audit`, `settings`, each JSON; of runs with contact, the arrays of `ContactRecord` as `contact/force` and so on, and the
text `contact/bodies`. A file appears whole or not at all, so that a run that is killed leaves the old file as it was.
"""

from __future__ import annotations

import json
import os
import secrets
import zipfile
import zlib
from collections.abc import Callable, Container, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import InputError, KumitateError
from .audit import Audit
from .result import Energy, Result

if TYPE_CHECKING:
    from .touching import ContactRecord

__all__ = ["FORMAT", "VERSION", "load", "replacing", "save"]

FORMAT = "kumitate-result"
#: Raised when files that an older kumitate cannot read come out.
VERSION = 1
HDF5, NPZ = (".h5", ".hdf5"), (".npz",)

_UNITS = {
    "time": "s", "q": "rad, m", "v": "rad/s, m/s", "a": "rad/s^2, m/s^2", "tau": "N m, N", "center_of_mass": "m",
    "momentum": "kg m^2/s (angular, about the origin), kg m/s (linear)",
    "energy/kinetic": "J", "energy/potential": "J", "energy/total": "J",
}  # fmt: skip
_TEXTS = ("header", "mechanism", "audit", "settings")
#: Of runs with contact.
_CONTACT = "contact/"
_CONTACT_UNITS = {
    "force": "N", "position": "m", "gap": "m", "velocity": "m/s", "residual": "m/s", "penetration": "m", "work": "J",
}  # fmt: skip


def save(result: Result, path: str | os.PathLike[str]) -> Path:
    """Write a result to a file; the suffix (.h5, .hdf5, .npz) says how.

    Returns:
        The path.

    Raises:
        InputError: for another suffix, a folder that does not exist, settings that are not plain data, or HDF5 without h5py.
    """
    target = Path(path)
    if target.suffix.lower() not in (*HDF5, *NPZ):
        raise InputError(f"{target}: results are saved as .h5, .hdf5 or .npz; {target.suffix!r} is none of these")
    arrays, texts = _arrays(result), _texts(result)
    with replacing(target) as temporary:
        if target.suffix.lower() in NPZ:
            np.savez(temporary, **arrays, **{name: np.array(text) for name, text in texts.items()})  # type: ignore[arg-type]
        else:
            _write_hdf5(temporary, arrays, texts, result)
    return target


def load(path: str | os.PathLike[str]) -> Result:
    """The result that `save` wrote, whatever the file's suffix.

    Raises:
        InputError: if there is no such file, or it is damaged, of another program, or of a newer kumitate.
    """
    target = Path(path)
    try:
        with target.open("rb") as file:
            start = file.read(8)
    except OSError as error:
        raise InputError(f"{target}: cannot be read ({error.strerror}); give the path of a saved result") from error
    if start == b"\x89HDF\r\n\x1a\n":
        entries = _read(target, _read_hdf5)
    elif start[:4] == b"PK\x03\x04":
        entries = _read(target, _read_npz)
    else:
        raise InputError(f"{target}: is neither an HDF5 nor an .npz file; give a file that `save` wrote")
    return _result(target, entries)


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A temporary path beside `path`, with its suffix; what is written there takes its place when the block ends well.

    Raises:
        InputError: if the folder does not exist.
    """
    target = Path(path)
    if not target.parent.is_dir():
        raise InputError(f"{target}: the folder {str(target.parent)!r} does not exist; make it first, or choose another")
    temporary = target.with_name(f".{target.stem}.{os.getpid()}-{secrets.token_hex(4)}{target.suffix}")
    try:
        yield temporary
        os.replace(temporary, target)
    finally:
        temporary.unlink(missing_ok=True)


# --- writing ----------------------------------------------------------------------------------------------------------
def _arrays(result: Result) -> dict[str, np.ndarray]:
    plain = {name: getattr(result, name) for name in _UNITS if "/" not in name}
    contact = {} if result.contact is None else vars(result.contact)
    return {
        **plain,
        **{f"energy/{name}": values for name, values in result.energy._asdict().items()},
        **{_CONTACT + name: values for name, values in contact.items() if name != "bodies"},
    }


def _texts(result: Result) -> dict[str, str]:
    from ..model.read.json import to_json  # the readers are loaded when they are needed

    header = {"format": FORMAT, "version": VERSION}
    try:
        settings = json.dumps(result.settings, default=_plain)
    except (TypeError, ValueError) as error:
        raise InputError(
            f"{result.mechanism.name}: the settings of the result are not plain data ({error}); keep numbers, texts, lists and "
            "dictionaries only"
        ) from error
    audit = json.dumps(result.audit.as_dict())
    texts = {"header": json.dumps(header), "mechanism": to_json(result.mechanism), "audit": audit, "settings": settings}
    return texts if result.contact is None else {**texts, _CONTACT + "bodies": json.dumps(result.contact.bodies)}


def _plain(value: Any) -> Any:
    """NumPy's numbers and arrays as Python's."""
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    raise TypeError(f"{value!r} is of type {type(value).__name__}")


def _write_hdf5(path: Path, arrays: Mapping[str, np.ndarray], texts: Mapping[str, str], result: Result) -> None:
    h5py = _h5py(path.suffix)
    columns = {"q": result.mechanism.q_names, **dict.fromkeys(("v", "a", "tau"), result.mechanism.v_names)}
    with h5py.File(path, "w") as file:
        for name, text in texts.items():
            file.create_dataset(name, data=text)
        for name, values in arrays.items():
            data = file.create_dataset(name, data=values)
            data.attrs["unit"] = _UNITS.get(name) or _CONTACT_UNITS.get(name.removeprefix(_CONTACT), "")
        for name, names in columns.items():  # an attribute holds 64 kB at most: names of large mechanisms go beside the data
            file.create_dataset(f"columns/{name}", data=list(names), dtype=h5py.string_dtype())


def _h5py(suffix: str) -> Any:
    try:
        import h5py
    except ImportError as error:
        raise InputError(f"{suffix} files need h5py; install it (pip install 'kumitate[hdf5]'), or save as .npz") from error
    return h5py


# --- reading ----------------------------------------------------------------------------------------------------------
def _read(target: Path, reader: Any) -> dict[str, Any]:
    try:
        return reader(target)
    except KumitateError:
        raise
    except KeyError as error:
        raise InputError(f"{target}: has no entry {error}, so it is no result of kumitate; give one that is") from error
    except (OSError, ValueError, EOFError, RuntimeError, AttributeError, TypeError, zipfile.BadZipFile, zlib.error) as error:
        raise InputError(f"{target}: is damaged ({error}); run the simulation again, or take a copy of the file") from error


def _read_hdf5(path: Path) -> dict[str, Any]:
    with _h5py(".h5").File(path, "r") as file:
        return _entries(path, file, lambda name: file[name].asstr()[()], lambda name: file[name][()])


def _read_npz(path: Path) -> dict[str, Any]:
    with np.load(path, allow_pickle=False) as file:
        return _entries(path, file, lambda name: str(file[name]), lambda name: file[name])


def _entries(
    path: Path, names: Container[str], text: Callable[[str], str], array: Callable[[str], np.ndarray]
) -> dict[str, Any]:
    """All entries of a file, once its header says that it is one of ours and not newer than we are."""
    header = json.loads(text("header")) if "header" in names else None
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise InputError(f"{path}: is no result of kumitate (no header {FORMAT!r}); give a file that `save` wrote")
    if header.get("version") != VERSION:
        raise InputError(
            f"{path}: is of format {header.get('version')!r}, and this kumitate reads format {VERSION}; "
            "update kumitate (pip install --upgrade kumitate)"
        )
    entries: dict[str, Any] = {**{name: text(name) for name in _TEXTS}, **{name: array(name) for name in _UNITS}}
    if _CONTACT + "bodies" in names:
        entries["contact"] = _contact(text, array)
    return entries


def _contact(text: Callable[[str], str], array: Callable[[str], np.ndarray]) -> ContactRecord:
    from .touching import ContactRecord  # its room is loaded when a run with contact is

    bodies = tuple((str(a), str(b)) for a, b in json.loads(text(_CONTACT + "bodies")))
    arrays = {field.name: array(_CONTACT + field.name) for field in fields(ContactRecord) if field.name != "bodies"}
    return ContactRecord(bodies, **arrays)


def _result(target: Path, entries: Mapping[str, Any]) -> Result:
    from ..model.read.json import from_json  # the readers are loaded when they are needed

    try:
        energy = Energy(*(entries[f"energy/{name}"] for name in Energy._fields))
        arrays = {name: entries[name] for name in _UNITS if "/" not in name}
        audit, settings = Audit.from_dict(json.loads(entries["audit"])), json.loads(entries["settings"])
        contact = entries.get("contact")
        if contact is not None and contact.force.shape != (len(entries["time"]), len(contact.bodies), 3):
            raise ValueError(f"forces of contact have the shape {contact.force.shape}")
        mechanism = from_json(entries["mechanism"])
        return Result(mechanism, **arrays, energy=energy, audit=audit, settings=settings, contact=contact)
    except (KumitateError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise InputError(f"{target}: is damaged ({error}); run the simulation again, or take a copy of the file") from error
