"""scripts/study formats"""

from __future__ import annotations

from typing import Annotated, Literal

from cyclopts import Parameter

from kumitate.cli.report import print_facts, shown

__all__ = ["formats"]

#: The packages whose files are read, where they are installed.
PACKAGES = ("gymnasium", "dm_control", "robosuite")


def formats(
    *,
    only: Annotated[
        Literal["mjcf", "parallel"] | None, Parameter(show_default=False, help="Write one of the two pages only.")
    ] = None,
    check: Annotated[
        bool, Parameter(negative="", show_default=False, help="Write nothing; fail if a page is out of date.")
    ] = False,
) -> None:
    """Write docs/formats.md: what is read of the MJCF files of gymnasium, dm_control and robosuite, where installed; and
    docs/parallel-robots.md: how published robots with closed loops are closed, and whether they stay so."""
    from ..pages import ROOT, keep_page

    told = []
    if only != "parallel":
        text, packages = _mjcf()
        written = keep_page("formats.md", text, study="formats", check=check)
        told += [("up to date" if check else "written to", shown(written)), ("packages", packages)]
    if only != "mjcf":
        from ..parallel_robots import page

        text = page(ROOT / "tests" / "data" / "parallel-robots")
        written = keep_page("parallel-robots.md", text, study="formats --only parallel", check=check)
        told += [("up to date" if check else "written to", shown(written))]
    print_facts("", told)


def _mjcf() -> tuple[str, str]:
    """The page of MJCF files, and the packages on it."""
    from importlib.util import find_spec
    from pathlib import Path

    from ..formats_page import page

    found = {name: find_spec(name) for name in PACKAGES}
    folders = {
        name: Path(spec.submodule_search_locations[0])
        for name, spec in found.items()
        if spec is not None and spec.submodule_search_locations
    }
    return page(folders), ", ".join(folders)
