"""Runs in the files of other programs. A new format is a function here or in a file of its own, and an entry in `WRITERS`."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from ..errors import InputError
from ..simulate.results.result import Result
from ..simulate.results.whole_file import replacing
from .film import write_film
from .mcap_log import write_mcap
from .tables import write_csv, write_parquet

#: By suffix, the function that writes a run: write(result, path, *, options by name).
WRITERS: dict[str, Callable[..., None]] = {
    ".csv": write_csv,
    ".parquet": write_parquet,
    ".mcap": write_mcap,
    ".mp4": write_film,
}


def write_run(result: Result, path: str | os.PathLike[str], **options: Any) -> Path:
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
