"""The state of a simulation in a file, from which it goes on exactly."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

import numpy as np

from ...errors import InputError
from ...model.files import opened, replacing
from .archive import DAMAGES
from .npz import NpzEntries, as_npz

_FORMAT = "kumitate-state"
#: The array of a state whose number of rows changes from step to step.
LIST = "impulses"


def write_carried(carried: Mapping[str, np.ndarray], owner: str, path: str | os.PathLike[str]) -> Path:
    """Writes the arrays that a state carries to an .npz file; `owner`: the simulation it belongs to.

    Raises:
        InputError: for another suffix, or if the file cannot be written.
    """
    target = Path(path)
    if target.suffix != ".npz":
        raise InputError(f"{target}: states are saved as .npz; {target.suffix!r} is another suffix")
    with replacing(target) as temporary:
        temporary.write_bytes(as_npz({f"state/{name}": array for name, array in carried.items()}, {_FORMAT: owner}))
    return target


def read_carried(expected: Mapping[str, np.ndarray], owner: str, path: str | os.PathLike[str]) -> dict[str, np.ndarray]:
    """Reads what `write_carried` wrote, checked against the expected shapes.

    Raises:
        InputError: if there is no such file, or it is damaged, or of another simulation.
    """
    with opened(path, error=InputError) as (_, target, _):
        pass
    try:
        with closing(NpzEntries(target)) as entries:
            found = entries.text(_FORMAT) if _FORMAT in entries else None
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
