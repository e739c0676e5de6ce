"""`State`: a simulation at one time, with everything needed to continue."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from ...errors import InputError
from ...model.read.content import opened
from ..results.archive import DAMAGES
from ..results.npz import NpzEntries, as_npz
from ..results.whole_file import replacing

__all__ = ["LIST", "State", "read_carried", "write_carried"]

_FORMAT = "kumitate-state"
#: The array of a state whose number of rows changes from step to step.
LIST = "impulses"


@dataclass(frozen=True, eq=False)
class State:
    """A simulation at one time. Steps do not change it: continuing from it twice gives the same motion twice.

    Attributes:
        time: [s], since the start.
        q, v: (nq) and (nv).
        work: [J], done on the mechanism by drives, damping, wrenches and contact since the start.
        outputs: the additional outputs of the simulation, by name.
        carried: the arrays from which the next step begins, by name.
        parameters: their values, by name; NaN where a name stands for numbers of the mechanism that differ and none was given.
    """

    time: float
    q: np.ndarray
    v: np.ndarray
    work: float
    outputs: Mapping[str, np.ndarray]
    carried: Mapping[str, np.ndarray] = field(repr=False)
    parameters: Mapping[str, np.ndarray] = field(default_factory=dict)


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
