"""scripts/study rows"""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from kumitate.cli.report import print_facts, shown

__all__ = ["rows"]


def rows(
    *,
    check: Annotated[
        bool, Parameter(negative="", show_default=False, help="Write nothing; fail if the page is out of date.")
    ] = False,
) -> None:
    """Write docs/rows.md, the example, tests and figures of every row of the papers; and docs/ja/rows.md, in Japanese."""
    from ..pages import ROOT, keep_page
    from ..rows_japanese import japanese_page
    from ..rows_page import page

    written = keep_page("rows.md", page(ROOT), study="rows", check=check)
    keep_page("ja/rows.md", japanese_page(), study="rows", check=check)
    print_facts("", [("up to date" if check else "written to", shown(written))])
