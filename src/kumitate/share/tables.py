"""A run as a table for other programs: pandas, CSV, Parquet. All have the same columns, with units in their names."""

from __future__ import annotations

import csv
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import needed
from ..simulate.results.result import Result
from .columns import columns_of


def data_frame(result: Result) -> Any:
    """The table of a run as a `pandas.DataFrame` with one row per time.

    Raises:
        InputError: if pandas is not installed.
    """
    pandas = needed("pandas", "tables in memory need pandas", "table", ", or write .csv")
    return pandas.DataFrame({column.title: column.values for column in columns_of(result)})


def write_csv(result: Result, path: Path) -> None:
    """Writes the table as comma-separated values in UTF-8; numbers are read back with the same bits."""
    columns = columns_of(result)
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([column.title for column in columns])
        writer.writerows(np.column_stack([column.values for column in columns]).tolist())


def write_parquet(result: Result, path: Path) -> None:
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
