"""Renamed functions and modules: former names work for one more release, with a warning that gives the new one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

from .errors import warn

#: Names of methods that a contract's table has once `kumitate.papers` is imported.
_OF_PAPERS = ("jacobian", "multipoint", "newton_euler", "unit_vector")


def of_papers(name: object) -> str:
    """The remedy for a name that a contract's table has once `kumitate.papers` is imported; "" for others."""
    return f"; {name!r} is in kumitate.papers, which is to be imported first" if name in _OF_PAPERS else ""


def load_papers(name: object) -> bool:
    """Loads `kumitate.papers` if a method of this name is there; for files and commands, which cannot import it themselves."""
    if name in _OF_PAPERS:
        import_module("kumitate.papers")
    return name in _OF_PAPERS


def former_names(package: str, names: Mapping[str, str]) -> Callable[[str], Any]:
    """The `__getattr__` of a package with renamed members.

    `names`: the present name by the former one: "Trajectory" in the package itself, "paths.spline" a module inside it,
    "kumitate.held.HeldPoint" elsewhere.
    """

    def __getattr__(name: str) -> Any:  # noqa: N807 — the name that modules use
        if name not in names:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        now = names[name] if names[name].startswith("kumitate.") else f"{package}.{names[name]}"
        message = f"{package}.{name} is now {now}; the former name goes with the next release"
        warn(message, FutureWarning)
        above, _, last = now.rpartition(".")
        offered = import_module(above)
        return getattr(offered, last) if hasattr(offered, last) else import_module(now)

    return __getattr__
