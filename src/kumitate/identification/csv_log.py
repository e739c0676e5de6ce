"""Logs of motion in tables of text, as robots and test benches write them: comma-separated values with a line of names."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import InputError, did_you_mean
from ..model.files import opened

#: The columns of a run that kumitate has exported.
_OWN = {"t": "time*", "q": "q.*", "v": "v.*", "a": "a.*", "tau": "tau.*"}
#: What numbers in these units are multiplied by: seconds and radians come out.
_UNITS = {"deg": np.pi / 180.0, "deg/s": np.pi / 180.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9, "mm": 1e-3}
_SEPARATORS = ",;\t"


def read_log(
    path: str | Path, *, columns: Mapping[str, str | Sequence[str]] | None = None, units: Mapping[str, str] | None = None
) -> dict[str, np.ndarray]:
    """A log of motion from a file of comma-separated values, for `identify`.

    The first line that is not empty and does not begin with # has the names of the columns; semicolons and tabs separate, too.

    Args:
        path: of the file.
        columns: of "t", "q", "tau", and "v" and "a" if they are known, the name of a column, or the names of several in the
            order of the joints; * stands for any part of a name, such as "position_*", for columns in the order of the file.
            By default those of a run that `export` has written.
        units: of parts that are not in seconds, radians and meters: "deg", "deg/s", "ms", "us", "ns", "mm".

    Returns:
        "t" (n), and the other parts (n, columns), by name.

    Raises:
        InputError: if the file is missing, a column is not in it, or a cell is not a number, with its line and column.

    >>> from tempfile import mkdtemp
    >>> import kumitate as km
    >>> run = km.simulate(km.load("double_pendulum"), [0.3, 0.1], duration=0.1)
    >>> log = read_log(run.export(f"{mkdtemp()}/log.csv"))
    >>> log["q"].shape, bool((log["tau"] == run.tau).all())
    ((101, 2), True)
    """
    names, numbers = _table(path)
    asked = _OWN if columns is None else columns
    found: dict[str, np.ndarray] = {}
    for part, wanted in asked.items():
        chosen = _chosen(path, names, part, wanted, optional=columns is None)
        if chosen:
            found[part] = numbers[:, chosen]
    for part, unit in (units or {}).items():
        if part not in found:
            raise InputError(f"{path}: units names {part!r}, which is not read{did_you_mean(part, found, lead=', ')}")
        if unit not in _UNITS:
            raise InputError(f"{path}: the unit of {part!r} is {unit!r}; there are {', '.join(_UNITS)}")
        found[part] = found[part] * _UNITS[unit]
    if "t" in found:
        found["t"] = found["t"][:, 0]
    return found


def _table(path: str | Path) -> tuple[list[str], np.ndarray]:
    """The names of the columns, and all numbers (n, columns)."""
    with opened(path, error=InputError) as (file, target, _):
        text = file.read().decode("utf-8-sig", errors="replace")
    lines = [(k, line) for k, line in enumerate(text.splitlines(), 1) if line.strip() and not line.lstrip().startswith("#")]
    if len(lines) < 2:
        raise InputError(f"{target}: has no rows of numbers below a line of names; give a table with both")
    separator = max(_SEPARATORS, key=lines[0][1].count)
    names, *rows = [[cell.strip() for cell in row] for row in csv.reader((line for _, line in lines), delimiter=separator)]
    numbers = np.empty((len(rows), len(names)))
    for k, row in enumerate(rows):
        if len(row) != len(names):
            raise InputError(f"{target}: line {lines[k + 1][0]} has {len(row)} cells, and there are {len(names)} names")
        for column, cell in enumerate(row):
            numbers[k, column] = _number(target, lines[k + 1][0], names[column], cell)
    return names, numbers


def _number(path: Any, line: int, name: str, cell: str) -> float:
    try:
        return float(cell) if cell else float("nan")
    except ValueError:
        raise InputError(f"{path}: line {line}: the column {name!r} has {cell!r}; it must be a number, or empty") from None


def _chosen(path: Any, names: Sequence[str], part: str, wanted: str | Sequence[str], *, optional: bool) -> list[int]:
    """The numbers of the columns of a part."""
    found: list[int] = []
    for name in (wanted,) if isinstance(wanted, str) else wanted:
        own = [k for k, column in enumerate(names) if column == name] or [
            k for k, one in enumerate(names) if fnmatchcase(one, name)
        ]
        if not own and not (optional and part != "t"):
            near = did_you_mean(name, names, lead=", ")
            remedy = "; give columns={'t': …, 'q': […], 'tau': […]}" if optional else ""
            raise InputError(f"{path}: there is no column {name!r} for {part!r}{near}; there are {', '.join(names)}{remedy}")
        found += own
    return found
