"""The catalogue of examples: every module of `kumitate.examples.gallery` offers one, as its `EXAMPLE`."""

from __future__ import annotations

import difflib
import importlib
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from ..errors import InputError
from ..simulate.results.result import Result

__all__ = ["Example", "example", "examples"]


@dataclass(frozen=True)
class Example:
    """A run that reproduces rows of the papers.

    Attributes:
        name: as given by users: "planar_3r".
        title: for lists and figures.
        rows: the ids of the rows that it shows.
        summary: what is simulated and what must be seen, in a sentence or two.
        run: makes the result; takes no arguments.
        panels: of its graphs, as `kumitate.view.figures.plot` takes them; None for the usual ones.
    """

    name: str
    title: str
    rows: tuple[str, ...]
    summary: str
    run: Callable[[], Result]
    panels: tuple[str, ...] | None = None


@cache
def examples() -> dict[str, Example]:
    """All examples by name, in the order of their names.

    Raises:
        InputError: if two modules offer the same name, or one offers none.
    """
    from . import gallery

    found: dict[str, Example] = {}
    for info in pkgutil.iter_modules(gallery.__path__):
        offered = getattr(importlib.import_module(f"{gallery.__name__}.{info.name}"), "EXAMPLE", None)
        if not isinstance(offered, Example):
            raise InputError(f"{info.name}: a module of examples.gallery must offer EXAMPLE = Example(...); it has {offered!r}")
        if offered.name in found:
            raise InputError(f"{info.name}: the example name {offered.name!r} is taken; names must be unique")
        found[offered.name] = offered
    return dict(sorted(found.items()))


def example(name: str) -> Example:
    """The example of this name.

    Raises:
        InputError: if it does not exist; the message suggests similar names.
    """
    known = examples()
    if name in known:
        return known[name]
    alike = difflib.get_close_matches(name, known, n=3, cutoff=0.5)
    hint = f"did you mean {' or '.join(alike)}?" if alike else "`kumitate examples` lists them"
    raise InputError(f"there is no example {name!r}; {hint}")
