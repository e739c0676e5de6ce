"""kumitate examples"""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from ..examples import catalogue
from . import run_folder as runs
from .options import AsJson, Formats, Out
from .report import print_json, print_table, progress
from .simulate import finish

__all__ = ["examples"]


def examples(
    name: Annotated[str | None, Parameter(help="The example to run; without it, all are listed.")] = None,
    /,
    *,
    formats: Formats = "pdf,png",
    out: Out = None,
    as_json: AsJson = False,
) -> None:
    """List the examples, or run one with all its figures."""
    if name is not None:
        _run(name, formats, out, as_json)
        return
    known = catalogue.examples().values()
    if as_json:
        print_json({"examples": [{"name": ex.name, "title": ex.title, "rows": ex.rows, "summary": ex.summary} for ex in known]})
        return
    print_table(("example", "rows", "what"), [(ex.name, ", ".join(ex.rows), ex.title) for ex in known])


def _run(name: str, formats: str, out: Out, as_json: bool) -> None:
    from .. import open as reopen
    from ..examples.illustrated import Illustrated
    from ..simulate.results.archive import save
    from .draw_result import formats_of

    wanted = formats_of(formats)
    example = catalogue.example(name)
    with progress(example.title):
        result = example.run()
    folder = runs.make(example.name, out)
    # Examples may not import robot.py and return plain results; opened as runs, they can be drawn.
    saved = save(result, runs.result_file(folder))
    plates = example.plates(result) if isinstance(example, Illustrated) else {}
    finish(
        example.name,
        reopen(saved),
        saved,
        gif=True,
        formats=wanted,
        as_json=as_json,
        panels=example.panels,
        plates=plates,
    )
