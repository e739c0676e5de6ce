"""scripts/study papers"""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from kumitate.cli.examples import listed, run_example
from kumitate.cli.options import AsJson, Formats, Out
from kumitate.examples.catalogue import example, examples

from ..papers import GALLERY

__all__ = ["papers"]


def papers(
    name: Annotated[str | None, Parameter(help="The run to make; without it, all are listed.")] = None,
    /,
    *,
    formats: Formats = "pdf,png",
    out: Out = None,
    as_json: AsJson = False,
) -> None:
    """List the runs that reproduce the papers, or make one with all its figures."""
    if name is None:
        listed(examples(GALLERY), as_json)
    else:
        run_example(example(name, GALLERY), out, formats=formats, gif=True, as_json=as_json)
