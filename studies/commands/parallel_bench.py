"""scripts/study parallel-bench"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from kumitate.cli.report import print_text

__all__ = ["parallel_bench"]


def parallel_bench(
    *,
    only: Annotated[list[str] | None, Parameter(help="Only these robots; several times.")] = None,
    folder: Annotated[Path | None, Parameter(help="Of robots, NAME/robot.urdf and NAME/robot.yaml each.")] = None,
    out: Annotated[Path | None, Parameter(help="Write all results to this file, as JSON.")] = None,
    markdown: Annotated[Path | None, Parameter(help="Write the page to this file.")] = None,
) -> None:
    """Time programs on published robots with closed loops: forward dynamics, steps, drift of loops."""
    from ..parallel_bench.run import measured, page, table

    found = measured(folder or Path(__file__).parents[2] / "tests" / "data" / "parallel-robots", only or ())
    if out is not None:
        out.write_text(json.dumps(found, indent=1), encoding="utf-8")
    if markdown is not None:
        markdown.write_text(page(found), encoding="utf-8")
    print_text(table(found))
