"""Renamed functions and modules: former names work for one more release, with a warning that gives the new one."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

__all__ = ["former_names"]


def former_names(package: str, names: Mapping[str, str]) -> Callable[[str], Any]:
    """The `__getattr__` of a package with renamed members.

    Args:
        package: its `__name__`.
        names: the present name by the former one: "Trajectory" in the package itself, "legged.gait" a module inside it.

    >>> found = former_names("kumitate.control", {"upright": "legged.whole_body_ik"})
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     module = found("upright")
    >>> str(caught[0].message)
    'kumitate.control.upright is now kumitate.control.legged.whole_body_ik; the former name goes with the next release'
    """

    def __getattr__(name: str) -> Any:  # noqa: N807 — the name that modules use
        if name not in names:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        now = f"{package}.{names[name]}"
        message = f"{package}.{name} is now {now}; the former name goes with the next release"
        warnings.warn(message, FutureWarning, stacklevel=2)
        above, _, last = now.rpartition(".")
        offered = import_module(above)
        return getattr(offered, last) if hasattr(offered, last) else import_module(now)

    return __getattr__
