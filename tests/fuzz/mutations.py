"""Changes of files at random: of bytes, of words, and of structure; what comes out is the same for the same seed."""

from __future__ import annotations

import copy
import io
import json
import random
import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import numpy as np

WORDS = [
    "nan", "inf", "-inf", "-1", "0", "1e308", "1e400", "-0", "1e-320", "1,5", "1_0", "0x10", "true", "null", "world", "٣",
    "__model__", "a", "b", "c", "f", "j", "k", "#g", "99999999999", "-99999999999", "fixed", "ball", "floating", "planar",
    "continuous", "universal", "gearbox", "helical", "line", "a::b", "..", "/", "7.x", "[]", "{}", "\\ud800", "9" * 400,
    "x" * 5000, "", " ", "1 2", "1 2 3 4", "é", "<!-- -->", "&amp;", "&#0;", "\0", "90deg", "1e9", "~", "*", "[[1], 2]",
]  # fmt: skip
VALUES: list[Any] = [
    None, True, 0, -1, 1e308, -1e-320, float("nan"), float("inf"), 10**30, "", "a", "nan", [], {}, [[]], [1, 2], {"a": 1},
    "x" * 999,
]  # fmt: skip
#: Values, words, elements and lists.
PATTERNS = (
    rb'"[^"]*"', rb"'[^']*'", rb"(?<=[>,\[ :=])[-+.\w]+(?=[<,\]\s])", rb"<[^<>/]*/>", rb"<(\w+)[^<>]*>[^<>]*</\1>",
    rb"\[[^\[\]]*\]", rb"[-+]?\d+\.?\d*(?:[eE][-+]?\d+)?", rb"[A-Za-z_]\w*", rb"[^\n]*\n",
)  # fmt: skip


def by_bytes(data: bytes, rng: random.Random) -> bytes:
    """Bits turned, bytes left out, put in, doubled, exchanged or set, or the end cut off."""
    for _ in range(rng.choice((1, 1, 2, 5))):
        at, size = rng.randrange(len(data) + 1), rng.choice((1, 1, 2, 4, 8, 100))
        rest, piece = data[at + size :], data[at : at + size]
        turned = bytes([piece[0] ^ 1 << rng.randrange(8)]) + piece[1:] if piece else b""
        instead = (turned, b"", piece * 2, rng.randbytes(size), bytes(size), b"\xff" * size, data[:size], piece[::-1])
        data = data[:at] + rng.choice((*instead, turned, turned)) + rest
    return data[: rng.randrange(len(data) + 1)] if rng.random() < 0.05 else data


def by_words(data: bytes, rng: random.Random) -> bytes:
    """Some words, numbers, values, elements or lines replaced, left out or doubled."""
    for _ in range(rng.choice((1, 1, 2, 4))):
        found = list(re.finditer(rng.choice(PATTERNS), data))
        if not found:
            continue
        one = rng.choice(found)
        quote = one[0][:1] if one[0][:1] in (b'"', b"'") else b""
        word = rng.choice((*(w.encode() for w in WORDS), *(rng.choice(found)[0].strip(b"\"'") for _ in range(9))))
        data = (
            data[: one.start()] + rng.choice((quote + word + quote, quote + word + quote, one[0] * 2, b"")) + data[one.end() :]
        )
    return data


def xml(data: bytes, rng: random.Random) -> bytes:
    """Elements and attributes left out, doubled, moved, renamed or exchanged; nested deep."""
    root = ElementTree.fromstring(data)
    for _ in range(rng.choice((1, 1, 2, 4))):
        everything = list(root.iter())
        one, other, parent = (rng.choice(everything) for _ in range(3))
        act = rng.randrange(8)
        if act == 0 and len(parent):
            parent.remove(rng.choice(list(parent)))
        elif act == 1 and len(parent):
            parent.append(copy.deepcopy(rng.choice(list(parent))))
        elif act == 2:
            other.append(copy.deepcopy(one))
        elif act == 3:
            one.tag = other.tag
        elif act == 4 and one.attrib:
            del one.attrib[rng.choice(list(one.attrib))]
        elif act == 5 and other.attrib:
            name, value = rng.choice(list(other.attrib.items()))
            one.attrib[rng.choice(list(one.attrib) or [name])] = rng.choice((value, rng.choice(WORDS)))
        elif act == 6:
            one.text = rng.choice((other.text or "", rng.choice(WORDS), None))
        elif act == 7 and rng.random() < 0.2:
            inner = copy.deepcopy(one)
            for _ in range(rng.choice((3, 300))):
                inner = ElementTree.Element(one.tag, one.attrib, text="")
                one.append(inner)
                one = inner
    for element in root.iter():  # characters that XML cannot hold
        element.attrib = {k: re.sub("[\0-\x1f]", "", v) for k, v in element.attrib.items() if k != "text"}
        element.text = element.text and re.sub("[\0-\x08]", "", element.text)
    return ElementTree.tostring(root)


def _places(value: Any) -> list[tuple[Any, Any]]:
    """Every (container, key) below a value."""
    found: list[tuple[Any, Any]] = []
    if isinstance(value, dict | list):
        for key in value if isinstance(value, dict) else range(len(value)):
            found += [(value, key), *_places(value[key])]
    return found


def plain(value: Any, rng: random.Random) -> Any:
    """Lists and objects with entries left out, renamed, doubled, exchanged, or of another kind."""
    value = copy.deepcopy(value)
    for _ in range(rng.choice((1, 1, 2, 4))):
        places = _places(value)
        if not places:
            break
        (at, key), (there, other) = rng.choice(places), rng.choice(places)
        act = rng.randrange(6)
        if act == 0:
            del at[key]
        elif act in (1, 2):
            at[key] = copy.deepcopy(rng.choice(VALUES))
        elif act == 3:
            at[key] = copy.deepcopy(there[other])
        elif act == 4 and isinstance(at, list):
            at.append(copy.deepcopy(at[key]))
        elif act == 4:
            at[str(rng.choice((other, rng.choice(WORDS))))] = at.pop(key)
        elif act == 5:
            at[key] = rng.choice(
                ([at[key]], {"a": at[key]}, str(at[key]), at[key][0] if isinstance(at[key], list) and at[key] else 3)
            )
    return value


def json_text(data: bytes, rng: random.Random) -> bytes:
    """The text of what `plain` makes."""
    return json.dumps(plain(json.loads(data), rng)).encode()


def yaml_text(data: bytes, rng: random.Random) -> bytes:
    """The text of what `plain` makes, in YAML."""
    import yaml

    return yaml.safe_dump(plain(yaml.safe_load(data), rng)).encode()


def array(values: np.ndarray, rng: random.Random) -> np.ndarray:
    """Another type, shape, or other numbers."""
    acts: list[Callable[[], Any]] = [
        lambda: values[:-1] if values.ndim else values, lambda: np.concatenate([values, values]) if values.ndim else values,
        lambda: values[None], lambda: values.reshape(-1), lambda: np.zeros(0), lambda: np.array("text"),
        lambda: values.astype("S4"), lambda: values.astype(complex) if values.dtype.kind in "fiu" else values,
        lambda: values.astype(bool), lambda: np.full_like(values, -1) if values.dtype.kind in "fi" else values,
        lambda: np.full(values.shape, rng.choice((np.nan, np.inf, 1e308, -1e9))), lambda: values.T,
        lambda: values.astype("f2") if values.dtype.kind == "f" else values, lambda: np.zeros((2, 0, 3)),
    ]  # fmt: skip
    with np.errstate(all="ignore"):
        return np.asarray(rng.choice(acts)())


def text_inside(value: str, rng: random.Random) -> str:
    """A text with JSON in it, changed as JSON, or as words."""
    if rng.random() < 0.6:
        try:
            return json.dumps(plain(json.loads(value), rng))
        except ValueError:
            pass
    return by_words(value.encode(), rng).decode(errors="replace")


def npz(data: bytes, rng: random.Random) -> bytes:
    """Entries of a whole archive left out, renamed, or of other types, shapes and numbers."""
    with ZipFile(io.BytesIO(data)) as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    for _ in range(rng.choice((1, 1, 3))):
        name = rng.choice(list(entries))
        act, content = rng.randrange(5), entries[name]
        if act == 0:
            del entries[name]
        elif act == 1:
            entries[rng.choice((*entries, "../x.npy", "a", ""))] = entries.pop(name)
        elif act == 2:
            entries[name] = by_bytes(content, rng)
        elif name.endswith(".npy"):
            values = np.load(io.BytesIO(content), allow_pickle=False)
            into = io.BytesIO()
            changed = np.array(text_inside(str(values), rng)) if values.dtype.kind == "U" else array(values, rng)
            np.save(into, changed, allow_pickle=False)
            entries[name] = into.getvalue()
        else:
            entries[name] = text_inside(content.decode(errors="replace"), rng).encode()
        if not entries:
            break
    into = io.BytesIO()
    with ZipFile(into, "w") as archive:
        for name, content in entries.items():
            archive.writestr(name or "empty", content)
    return into.getvalue()


def h5(data: bytes, rng: random.Random) -> bytes:
    """Entries of a whole file left out, renamed, replaced by a group, or of other types, shapes and numbers."""
    import h5py

    into = io.BytesIO(data)
    with h5py.File(into, "r+") as file:
        for _ in range(rng.choice((1, 1, 3))):
            names: list[str] = []
            file.visit(names.append)
            holders = [file, *(file[name] for name in names)]
            one = rng.choice(names)
            act = rng.randrange(6)
            if act == 0:
                del file[one]
            elif act == 1 and one + "x" not in file:
                file.move(one, one + "x")
            elif act == 2:
                del file[one]
                file.create_group(one) if rng.random() < 0.5 else file.create_dataset(
                    one, data=rng.choice((1.0, "text", b"\xff"))
                )
            elif act == 3 and isinstance(file[one], h5py.Dataset):
                values = file[one][()]
                del file[one]
                if isinstance(values, bytes):
                    file[one] = text_inside(values.decode(errors="replace").replace("\0", ""), rng).replace("\0", "")
                else:
                    changed = array(np.asarray(values), rng)
                    file[one] = str(changed) if changed.dtype.kind in "UO" else changed
            else:
                holder = rng.choice(holders)
                if len(holder.attrs):
                    name = rng.choice(list(holder.attrs))
                    value = holder.attrs[name]
                    text = isinstance(value, str) and text_inside(value, rng).replace("\0", "")[:20000]
                    holder.attrs[name] = rng.choice((text or "", 3, [1.5, 2.5], b"\xff\xfe"))
            if not list(file):
                break
    return into.getvalue()


def sealed_json(digest: Callable[[Any], str]) -> Callable[[bytes, random.Random], bytes]:
    """A change of JSON to which the right digest is written, as a program with a fault might."""

    def change(data: bytes, rng: random.Random) -> bytes:
        changed = plain(json.loads(data), rng)
        if isinstance(changed, dict) and rng.random() < 0.9:
            changed["digest"] = digest({key: value for key, value in changed.items() if key != "digest"})
        return json.dumps(changed).encode()

    return change


def sealed_table(seal: Callable[[bytes], bytes]) -> Callable[[bytes, random.Random], bytes]:
    """Columns of a table left out, renamed, of another type or with other values, and sealed again."""

    def change(data: bytes, rng: random.Random) -> bytes:
        import pyarrow
        import pyarrow.parquet as parquet

        table = parquet.read_table(pyarrow.BufferReader(data))
        for _ in range(rng.choice((1, 1, 2))):
            if table.num_columns == 0:
                break
            k, act = rng.randrange(table.num_columns), rng.randrange(7)
            name, length = table.column_names[k], table.num_rows
            if act == 0:
                table = table.drop_columns([name])
            elif act == 1:
                table = table.rename_columns(
                    [rng.choice((other, "x")) if n == k else other for n, other in enumerate(table.column_names)]
                )
            elif act == 2:
                table = table.slice(rng.randrange(length or 1))
            elif act == 3:
                table = table.replace_schema_metadata(rng.choice((None, {"a": "b"})))
            else:
                column = (
                    pyarrow.array([rng.choice((None, "text", [1.0], {"a": 1}))] * length)
                    if act < 6
                    else pyarrow.array([rng.choice((float("nan"), 1e308, -1.0))] * length)
                )
                table = table.set_column(k, name, column)
        into = pyarrow.BufferOutputStream()
        parquet.write_table(table, into)
        return seal(into.getvalue().to_pybytes())

    return change


#: How structure is changed, by the suffix of a file.
STRUCTURE: dict[str, Callable[[bytes, random.Random], bytes]] = {
    ".urdf": xml, ".sdf": xml, ".xml": xml, ".xacro": xml, ".srdf": xml, ".dae": xml, ".json": json_text, ".yaml": yaml_text,
    ".npz": npz, ".h5": h5,
}  # fmt: skip


def changed(
    data: bytes, path: Path, rng: random.Random, structure: Callable[[bytes, random.Random], bytes] | None = None
) -> bytes:
    """A file's content, changed at one of the three levels."""
    acts = [by_bytes, by_words, structure or STRUCTURE.get(path.suffix, by_words)]
    act = rng.choice(acts if path.suffix not in (".npz", ".h5", ".parquet") else [by_bytes, acts[2]])
    try:
        return act(data, rng)
    except Exception:  # of any kind, by the library that writes the format
        return by_bytes(data, rng)  # what was drawn cannot be written in this format
