"""kumitate examples"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from cyclopts import Parameter

from ..examples import Example, catalogue
from . import run_folder as runs
from .options import AsJson, Formats, Gif, Out
from .report import print_json, print_table, progress
from .simulate import finish


def examples(
    name: Annotated[str | None, Parameter(help="The example to run; without it, all are listed.")] = None,
    /,
    *,
    gif: Gif = False,
    formats: Formats = "",
    out: Out = None,
    as_json: AsJson = False,
) -> None:
    """List the examples, or run one; write its data, and a page with 3D playback and plots, to a folder."""
    if name is None:
        listed(catalogue.examples(), as_json)
    else:
        run_example(catalogue.example(name), out, formats=formats, gif=gif, as_json=as_json)


def listed(known: Mapping[str, Example], as_json: bool) -> None:
    """Prints the examples of a catalogue."""
    if as_json:
        fields = ("name", "title", "rows", "summary")
        print_json({"examples": [{field: getattr(shown, field) for field in fields} for shown in known.values()]})
        return
    print_table(("example", "rows", "what"), [(shown.name, ", ".join(shown.rows), shown.title) for shown in known.values()])


def run_example(example: Example, out: Out, *, formats: str, gif: bool, as_json: bool) -> None:
    """Runs an example, and writes its result, its page, and the figures that are asked for into a folder."""
    from .. import open as reopen
    from ..records.archive import save

    wanted = runs.formats_of(formats)
    with progress(example.title):
        result = example.run()
    folder = runs.make(example.name, out)
    # Examples may not import robot.py and return plain results; opened as runs, they can be drawn.
    saved = save(result, runs.result_file(folder))
    drawing = {"panels": example.panels, "plates": example.plates(result)}
    finish(example.name, reopen(saved), saved, as_json=as_json, gif=gif, formats=wanted, **drawing)
