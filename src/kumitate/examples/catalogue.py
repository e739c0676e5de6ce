"""The catalogue of examples: modules of a gallery, `kumitate.examples.gallery` at first, offer `EXAMPLE` or `EXAMPLES`.

Their figures in addition to the usual graphs: curves that are not in a result, or of several runs.
"""

from __future__ import annotations

import importlib
import pkgutil
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..errors import InputError, did_you_mean
from ..records.record import Record


class Curves(NamedTuple):
    """Curves of one quantity, over the times of a result unless the plate says otherwise: one panel of a figure.

    Attributes:
        quantity: what it is, "Error of the tip"; `unit`: of the values, empty for pure numbers.
        names: of the curves; `values`: (n, curves).
        log: whether the axis of the values is logarithmic; they are then drawn by size.
    """

    quantity: str
    unit: str
    names: tuple[str, ...]
    values: np.ndarray
    log: bool = False


class Plate(NamedTuple):
    """A figure: panels side by side, with a caption below.

    Attributes:
        panels: of the figure; `caption`: a sentence below them.
        over: what the curves are drawn over (n), the times of the result if None; `across`: its name and unit.
    """

    panels: tuple[Curves, ...]
    caption: str = ""
    over: np.ndarray | None = None
    across: str = "Time [s]"


@dataclass(frozen=True)
class Example:
    """A run to look at.

    Attributes:
        name: as given by users: "planar_3r".
        title: for lists and figures.
        rows: the ids of the papers' rows that it shows.
        summary: what is simulated and what must be seen, in a sentence or two.
        run: makes the result; takes no arguments.
        panels: of its graphs, as `kumitate.view.figures.plot` takes them; None for the usual ones.
        plates: its own figures, by the names of their files, made from what `run` gave.
    """

    name: str
    title: str
    rows: tuple[str, ...]
    summary: str
    run: Callable[[], Record]
    panels: tuple[str, ...] | None = None
    plates: Callable[[Record], Mapping[str, Plate]] = lambda result: {}


#: The examples that are installed with the package; a checkout has others in `studies.papers.runs`.
GALLERY = "kumitate.examples.gallery"


def texts(name: str) -> dict[str, Any]:
    """The fields of an example of `gallery` that are texts, from `gallery/texts.toml`: those of `Example` but its run."""
    return {"name": name, "rows": (), **_texts()[name]}


@cache
def _texts() -> dict[str, dict[str, Any]]:
    content = tomllib.loads((Path(__file__).parent / "gallery" / "texts.toml").read_text(encoding="utf-8"))
    lists = {"rows", "panels"}
    return {name: {key: tuple(part) if key in lists else part for key, part in one.items()} for name, one in content.items()}


@cache
def examples(gallery: str = GALLERY) -> dict[str, Example]:
    """All examples of a package of modules by name, in the order of their names.

    Raises:
        InputError: if two modules offer the same name, or one offers none.
    """
    catalogue: dict[str, Example] = {}
    for info in pkgutil.iter_modules(importlib.import_module(gallery).__path__):
        module = importlib.import_module(f"{gallery}.{info.name}")
        for offered in getattr(module, "EXAMPLES", (getattr(module, "EXAMPLE", None),)):
            if not isinstance(offered, Example):
                raise InputError(f"{info.name}: a module of {gallery} must offer EXAMPLE = Example(...); it has {offered!r}")
            if offered.name in catalogue:
                raise InputError(f"{info.name}: the example name {offered.name!r} is taken; names must be unique")
            catalogue[offered.name] = offered
    return dict(sorted(catalogue.items()))


def example(name: str, gallery: str = GALLERY) -> Example:
    """The example of this name.

    Raises:
        InputError: if it does not exist; the message suggests similar names.
    """
    known = examples(gallery)
    if name in known:
        return known[name]
    hint = did_you_mean(name, known, f"there are {', '.join(known)}")
    more = "; a checkout has those of the papers: scripts/study papers" if gallery == GALLERY else ""
    raise InputError(f"there is no example {name!r}; {hint}{more}")
