"""kumitate plot"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from . import run_folder as runs
from .options import AsJson, Formats, Gif, Out
from .simulate import report


def plot(
    file: Annotated[Path | None, Parameter(help="The file of a result or its folder; without it, the last result.")] = None,
    /,
    *,
    gif: Gif = False,
    formats: Formats = "pdf,png",
    out: Out = None,
    as_json: AsJson = False,
) -> None:
    """Draw the last result, or that of a file, again without simulating."""
    from .. import open as reopen

    wanted = runs.formats_of(formats)
    source = runs.latest(file)
    result = reopen(source)
    folder = source.parent if out is None else runs.make(result.mechanism.name, out)
    files = {source.name: source, **runs.draw(result, folder, gif=gif, formats=wanted)}
    report(result.mechanism.name, result, folder, files, as_json=as_json)
