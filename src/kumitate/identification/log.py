"""`MotionLog`: a recorded motion with the efforts that caused it, checked."""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..calls import checked_coordinates
from ..errors import InputError, did_you_mean
from ..model import Mechanism
from ..model.files import opened
from ..model.values import real_array
from ..robot import Robot

#: The names under which a mapping gives each part.
_NAMES = {"time": ("time", "t"), "q": ("q",), "v": ("v",), "a": ("a",), "tau": ("tau",), "wrenches": ("wrenches",)}


@dataclass(frozen=True, eq=False)
class MotionLog:
    """A recorded motion of a robot.

    Attributes:
        time: (n,) [s], increasing.
        q: coordinates (n, nq) [rad, m]; v: velocities (n, nv), None to differentiate q.
        tau: efforts of the drives (n, nv) [N·m, N]; for unknown drive constants the currents or commands that are proportional
            to them. NaN where an effort is unknown; 0 where a degree of freedom has no drive.
        a: accelerations (n, nv), None to differentiate v.
        wrenches: external [n; f] (n, 6) by name of a body or frame, in the world's axes about that frame's origin [N·m, N].
    """

    time: np.ndarray
    q: np.ndarray
    tau: np.ndarray
    v: np.ndarray | None = None
    a: np.ndarray | None = None
    wrenches: Mapping[str, np.ndarray] = field(default_factory=dict)

    @classmethod
    def of(cls, given: Any, mechanism: Mechanism) -> MotionLog:
        """A log from another one, a result of `simulate`, or a mapping with "t" or "time", "q", "tau", and what is known."""
        if isinstance(given, Mapping):
            unknown = [key for key in given if not any(key in names for names in _NAMES.values())]
            if unknown:
                raise InputError(f"log: {unknown[0]!r} is not a part of a log; there are {', '.join(_NAMES)}")
            parts = {part: next((given[key] for key in names if key in given), None) for part, names in _NAMES.items()}
        else:
            parts = {part: getattr(given, part, None) for part in _NAMES}
        if getattr(given, "contact", None) is not None:
            raise InputError("log: the run has contact, whose forces its efforts do not contain; give a mapping with wrenches")
        for part in ("time", "q", "tau"):
            if parts[part] is None:
                raise InputError(f"log: {part!r} is missing; give time, q and tau, as a mapping, a MotionLog or a result")
        n = np.size(np.asarray(parts["time"]))
        nv = mechanism.nv
        shapes = {"time": (n,), "q": (n, mechanism.nq), "tau": (n, nv), "v": (n, nv), "a": (n, nv)}
        arrays = {part: _numbers(part, parts[part], shape) for part, shape in shapes.items() if parts[part] is not None}
        wrenches = {name: _numbers(f"the wrench on {name!r}", x, (n, 6)) for name, x in (parts["wrenches"] or {}).items()}
        for name in wrenches:
            mechanism.tree.place(name, "log: a wrench acts on")
        if n < 2 or (np.diff(arrays["time"]) <= 0.0).any():
            raise InputError(f"log: {n} times that do not increase; give at least two, in order [s]")
        if "a" in arrays and "v" not in arrays:
            raise InputError("log: it has a, but not v; give both, or q alone to have it differentiated")
        arrays["q"] = checked_coordinates(mechanism, arrays["q"])
        return cls(**arrays, wrenches=wrenches)

    def __len__(self) -> int:
        return len(self.time)

    def rows(self, chosen: Any) -> MotionLog:
        """Some of its rows."""
        parts = {name: None if (x := getattr(self, name)) is None else x[chosen] for name in ("time", "q", "tau", "v", "a")}
        return MotionLog(**parts, wrenches={name: x[chosen] for name, x in self.wrenches.items()})  # type: ignore[arg-type]


def logs_of(given: Any, mechanism: Mechanism) -> list[MotionLog]:
    """One log or several."""
    several = given if isinstance(given, Sequence) and not isinstance(given, str) else [given]
    if not several:
        raise InputError("log: there is not one; give a log, or a list of them")
    return [MotionLog.of(one, mechanism) for one in several]


def _numbers(part: str, given: Any, shape: tuple[int, ...]) -> np.ndarray:
    array = real_array(given)
    if array is None or array.shape != shape:
        found = "not real numbers" if array is None else f"of shape {array.shape}"
        raise InputError(f"log: {part} is {found}; it must be an array of shape {shape}, a row per time")
    bad = ~np.isfinite(array) if part != "tau" else np.isinf(array)
    if bad.any():
        row = int(np.argwhere(bad)[0][0])
        raise InputError(f"log: {part} is not finite in row {row}; leave the row out")
    return np.array(array, dtype=float)


# --- velocities and accelerations, by polynomials through the samples around each one, by least squares -------------------
# Savitzky, Golay, Smoothing and differentiation of data by simplified least squares procedures, Analytical Chemistry 36(8),
# 1964; here for any spacing of the samples, and on the manifold: of coordinates, the differences to those at the sample are
# smoothed. Smoothing is without delay, since the samples on both sides count.

#: The degree of the polynomials; they need more samples than this.
DEGREE = 4
#: Samples that are smoothed at a time.
_BLOCK = 512


class States(NamedTuple):
    """Coordinates (n, nq), velocities and accelerations (n, nv) of a log."""

    q: np.ndarray
    v: np.ndarray
    a: np.ndarray


def states_of(robot: Robot, log: MotionLog, window: int) -> States:
    """The states of a log; what it gives is taken as it is. `window`: the samples that each polynomial goes through."""
    if log.a is not None and log.v is not None:
        return States(log.q, log.v, log.a)

    def around(k: np.ndarray, near: np.ndarray) -> np.ndarray:
        return np.asarray(robot.difference(log.q[k][:, None, :], log.q[near]))

    shift, slope = _fitted(log.time, around, window)
    rates = slope if log.v is None else log.v
    v, a = _fitted(log.time, lambda k, near: rates[near], window)
    return States(robot.integrate(log.q, shift), slope if log.v is None else v, a)


def _fitted(
    time: np.ndarray, around: Callable[[np.ndarray, np.ndarray], np.ndarray], window: int
) -> tuple[np.ndarray, np.ndarray]:
    """The values and slopes (n, …) at every sample k of polynomials through `around(k, near)` (k, window, …)."""
    n = len(time)
    window = min(window, n)
    first = np.clip(np.arange(n) - window // 2, 0, n - window)  # near the ends, more samples are on one side
    values, slopes = [], []
    for start in range(0, n, _BLOCK):
        k = np.arange(start, min(start + _BLOCK, n))
        near = first[k][:, None] + np.arange(window)
        away = time[near] - time[k][:, None]
        size = np.abs(away).max(axis=1)
        powers = (away / size[:, None])[..., None] ** np.arange(DEGREE + 1)
        turned = np.swapaxes(powers, 1, 2)
        fitted = np.linalg.solve(turned @ powers, turned @ around(k, near))
        values.append(fitted[:, 0])
        slopes.append(fitted[:, 1] / size[:, None])
    return np.concatenate(values), np.concatenate(slopes)


# --- logs in CSV files ----------------------------------------------------------------------------------------------------
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
    places = {part: _chosen(path, names, part, wanted, optional=columns is None) for part, wanted in asked.items()}
    found = {part: numbers[:, chosen] for part, chosen in places.items() if chosen}
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
            try:
                numbers[k, column] = float(cell or "nan")
            except ValueError:
                where = f"{target}: line {lines[k + 1][0]}: the column {names[column]!r}"
                raise InputError(f"{where} has {cell!r}; it must be a number, or empty") from None
    return names, numbers


def _chosen(path: Any, names: Sequence[str], part: str, wanted: str | Sequence[str], *, optional: bool) -> list[int]:
    """The numbers of the columns of a part."""
    found: list[int] = []
    for name in (wanted,) if isinstance(wanted, str) else wanted:
        own = [k for k, one in enumerate(names) if one == name] or [k for k, one in enumerate(names) if fnmatchcase(one, name)]
        if not own and not (optional and part != "t"):
            near = did_you_mean(name, names, lead=", ")
            remedy = "; give columns={'t': …, 'q': […], 'tau': […]}" if optional else ""
            raise InputError(f"{path}: there is no column {name!r} for {part!r}{near}; there are {', '.join(names)}{remedy}")
        found += own
    return found
