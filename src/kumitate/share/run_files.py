"""Runs in the files of other programs. A new format is a function here or in a file of its own, and an entry in `WRITERS`."""

from __future__ import annotations

import csv
import inspect
import os
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..errors import InputError, needed
from ..model import Mechanism, joint_columns
from ..model.files import replacing
from ..records.record import Record
from ..view.panels import names_of, unit_of
from .animated import write_gltf, write_usd
from .film import write_film
from .mcap_log import write_mcap

_XYZ = ("x", "y", "z")


class Column(NamedTuple):
    """One column: its `name`, the `unit` of its values ("" if they have none), and the `values` (n)."""

    name: str
    unit: str
    values: np.ndarray

    @property
    def title(self) -> str:
        """The name with the unit, as in the first line of a file.

        >>> Column("q.hinge", "rad", np.zeros(3)).title
        'q.hinge [rad]'
        """
        return f"{self.name} [{self.unit}]" if self.unit else self.name


def columns_of(result: Record) -> list[Column]:
    """The columns of a result.

    Time; q, v, a, tau by joint, then by loop joint, with efforts and wrenches; energies, center of mass, momentum; contact by
    body; wrenches that acted; outputs.
    """
    return [
        Column("time", "s", result.time),
        *_of_joints(result),
        *_of_loops(result),
        *(Column(f"energy.{name}", "J", values) for name, values in result.energy._asdict().items()),
        *_vector("center_of_mass", "m", result.center_of_mass),
        *_vector("momentum.angular", "kg·m²/s", result.momentum[:, :3]),
        *_vector("momentum.linear", "kg·m/s", result.momentum[:, 3:]),
        *_of_contact(result),
        *(column for name, values in result.wrenches.items() for column in _wrench(f"wrench.{name}", values)),
        *_of_outputs(result),
    ]


def _of_joints(result: Record) -> Iterator[Column]:
    names = (result.mechanism.q_names, *(result.mechanism.v_names,) * 3)
    for order, quantity in enumerate(("q", "v", "a", "tau")):
        columns = zip(names[order], units(result.mechanism, order), getattr(result, quantity).T, strict=True)
        yield from (Column(f"{quantity}.{name}", unit, values) for name, unit, values in columns)


def _of_loops(result: Record) -> Iterator[Column]:
    """What loop joints, lines and couplings did. The effort of a coupling is that at its joint."""
    if not result.mechanism.tree.closed or not len(result):
        return
    from ..records.readings import loop_arrays  # compiles programs

    kinds = {loop.name: loop.kind for loop in result.mechanism.loops}
    for name, arrays in loop_arrays(result).items():
        kind = kinds.get(name)
        for order, part in enumerate(("q", "v", "a", "tau", "effort")):
            parts = getattr(kind, "coordinates" if part == "q" else "velocities", ())
            for k, own in enumerate(parts):
                if part in arrays:
                    whole = f"{part}.{name}" if len(parts) == 1 else f"{part}.{name}.{own}"
                    yield Column(whole, unit_of(own, min(order, 3)), arrays[part][:, k])
        if kind is None:
            (coupling,) = (one for one in result.mechanism.couplings if one.name == name.removesuffix(" (coupling)"))
            unit = unit_of(result.mechanism.joint(coupling.joint).kind.velocities[0], 3)
            yield from (Column(f"effort.{name}", unit, x[:, 0]) for x in arrays.values())
        elif "wrench" in arrays:
            yield from _wrench(f"joint_wrench.{name}", arrays["wrench"])


def _wrench(name: str, values: np.ndarray) -> Iterator[Column]:
    yield from _vector(name, "N·m", values[:, :3], ("nx", "ny", "nz"))
    yield from _vector(name, "N", values[:, 3:], ("fx", "fy", "fz"))


def units(mechanism: Mechanism, order: int) -> list[str]:
    """The units of the columns of q (order 0), v, a or tau."""
    return [unit_of(name, order) for item in joint_columns(mechanism) for name in names_of(item, order)]


def _vector(name: str, unit: str, values: np.ndarray, parts: Sequence[str] = _XYZ) -> Iterator[Column]:
    for k, part in enumerate(parts):
        yield Column(f"{name}.{part}", unit, values[:, k])


def _of_contact(result: Record) -> Iterator[Column]:
    """The force on every body that touches, as a sum over its points: their number differs from run to run."""
    record = result.contact
    if record is None:
        return
    for body in dict.fromkeys(name for pair in record.bodies for name in pair if name in result.mechanism.tree.places):
        yield from _vector(f"contact_force.{body}", "N", record.on(body))
    yield Column("contact.residual", "m/s", record.residual)
    yield Column("contact.penetration", "m", record.penetration)


def _of_outputs(result: Record) -> Iterator[Column]:
    """Outputs of several numbers by their indices, as in "pose:hand.0.3"; their units are not known."""
    for name, values in result.outputs.items():
        for index in np.ndindex(values.shape[1:]):
            yield Column(".".join([f"output.{name}", *map(str, index)]), "", values[(slice(None), *index)])


# --- A run as a table for other programs: pandas, CSV, Parquet. All have the same columns, with units in their names ------
def data_frame(result: Record) -> Any:
    """The table of a run as a `pandas.DataFrame` with one row per time."""
    pandas = needed("pandas", "tables in memory need pandas", "table", ", or write .csv")
    return pandas.DataFrame({column.title: column.values for column in columns_of(result)})


def write_csv(result: Record, path: Path) -> None:
    """Writes the table as comma-separated values in UTF-8; numbers are read back with the same bits."""
    columns = columns_of(result)
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([column.title for column in columns])
        writer.writerows(np.column_stack([column.values for column in columns]).tolist())


def write_parquet(result: Record, path: Path) -> None:
    """Writes the table as Parquet; each field has its unit in its metadata, too."""
    parquet = needed("pyarrow.parquet", "Parquet files need pyarrow", "table", ", or write .csv")
    arrow = import_module("pyarrow")
    columns = columns_of(result)
    fields = [arrow.field(column.title, arrow.float64(), metadata={"unit": column.unit}) for column in columns]
    arrays = [arrow.array(np.ascontiguousarray(column.values)) for column in columns]
    parquet.write_table(arrow.Table.from_arrays(arrays, schema=arrow.schema(fields)), path)


#: By suffix, the function that writes a run: write(result, path, *, options by name).
WRITERS: dict[str, Callable[..., None]] = {
    ".csv": write_csv,
    ".parquet": write_parquet,
    ".mcap": write_mcap,
    ".mp4": write_film,
    ".glb": write_gltf,
    ".usda": write_usd,
}


def write_run(result: Record, path: str | os.PathLike[str], **options: Any) -> Path:
    """Writes a run in the format of the path's suffix, whole or not at all.

    Raises:
        InputError: for another suffix, a folder that does not exist, options that the format does not have, or a package that
            is not installed.
    """
    target = Path(path)
    suffix = target.suffix.lower()
    if suffix not in WRITERS:
        raise InputError(
            f"{target}: runs are exported as {', '.join(WRITERS)}; {target.suffix!r} is not one of these. To open a run again "
            "in kumitate, save it as .h5 or .npz"
        )
    known = [p.name for p in inspect.signature(WRITERS[suffix]).parameters.values() if p.kind is p.KEYWORD_ONLY]
    if other := [name for name in options if name not in known]:
        raise InputError(f"{target}: {suffix} files have no option {other[0]!r}; they have {', '.join(known) or 'none'}")
    with replacing(target) as temporary:
        WRITERS[suffix](result, temporary, **options)
    return target
