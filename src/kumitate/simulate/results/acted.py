"""What acted in a run apart from efforts at its joints: wrenches on bodies and drives of loop joints, which the run keeps."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ...errors import InputError
from .result import Result

#: What acts, by name: arrays at all times of a run, constants, or functions of (t, q, v).
Given = Mapping[str, Sequence[float] | np.ndarray | Callable[[Any, Any, Any], Any]]


def acted(result: Result, what: str, given: Given | None = None) -> dict[str, np.ndarray]:
    """The wrenches, or the drives of loops, along a run, (n, …) or constant, by name.

    Args:
        what: "wrenches" or "loop_tau".
        given: others than those that the run keeps, in their place or in addition.

    Raises:
        InputError: if some acted that are neither kept nor given, which files of earlier versions lack; for a number of rows
            that is not the run's.
    """
    found = {**getattr(result, what), **(given or {})}
    missing = set(result.settings.get(what) or ()) - set(found)
    if missing:
        raise InputError(
            f"{result.mechanism.name}: {what} of {', '.join(sorted(missing))} acted in this run; give them again, "
            f"{what}={{name: (n, …) array or function}}, as the run does not keep their values"
        )
    return {name: _at_all_times(result, f"{what} of {name!r}", source) for name, source in found.items()}


def _at_all_times(result: Result, label: str, source: Any) -> np.ndarray:
    if callable(source):
        source = [source(t, q, v) for t, q, v in zip(result.time, result.q, result.v, strict=True)]
    array = np.asarray(source, dtype=float)
    if array.ndim == 2 and len(array) != len(result):
        raise InputError(f"{result.mechanism.name}: {label} has {len(array)} rows; the result has {len(result)}")
    return array
