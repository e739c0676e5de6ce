"""Runs in the files of other programs. A new format is a function here or in a file of its own, and an entry in `WRITERS`."""

from __future__ import annotations

import csv
import inspect
import os
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import InputError, needed
from ..model.files import replacing
from ..records.record import Record
from .animated import write_gltf, write_usd
from .columns import columns_of
from .film import write_film
from .mcap_log import write_mcap


# --- A run as a table for other programs: pandas, CSV, Parquet. All have the same columns, with units in their names ------
def data_frame(result: Record) -> Any:
    """The table of a run as a `pandas.DataFrame` with one row per time.

    Raises:
        InputError: if pandas is not installed.
    """
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
    """Writes the table as Parquet; each field has its unit in its metadata, too.

    Raises:
        InputError: if pyarrow is not installed.
    """
    parquet = needed("pyarrow.parquet", "Parquet files need pyarrow", "table", ", or write .csv")
    arrow = import_module("pyarrow")
    columns = columns_of(result)
    fields = [arrow.field(column.title, arrow.float64(), metadata={"unit": column.unit}) for column in columns]
    arrays = [arrow.array(np.ascontiguousarray(column.values)) for column in columns]
    parquet.write_table(arrow.Table.from_arrays(arrays, schema=arrow.schema(fields)), path)


# --- all formats ----------------------------------------------------------------------------------------------------------
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
    _check_options(target, suffix, options)
    with replacing(target) as temporary:
        WRITERS[suffix](result, temporary, **options)
    return target


def _check_options(target: Path, suffix: str, options: Mapping[str, Any]) -> None:
    known = [p.name for p in inspect.signature(WRITERS[suffix]).parameters.values() if p.kind is p.KEYWORD_ONLY]
    for name in options:
        if name not in known:
            there = f"they have {', '.join(known)}" if known else "they have none"
            raise InputError(f"{target}: {suffix} files have no option {name!r}; {there}")
