"""scripts/study formats"""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from kumitate.cli.report import print_facts, shown

__all__ = ["formats"]

#: The packages whose files are read, where they are installed.
PACKAGES = ("gymnasium", "dm_control", "robosuite")


def formats(
    *,
    check: Annotated[
        bool, Parameter(negative="", show_default=False, help="Write nothing; fail if the page is out of date.")
    ] = False,
) -> None:
    """Write docs/formats.md: what is read of the MJCF files of gymnasium, dm_control and robosuite, where installed."""
    from importlib.util import find_spec
    from pathlib import Path

    from ..formats_page import page
    from ..pages import keep_page

    found = {name: find_spec(name) for name in PACKAGES}
    folders = {
        name: Path(spec.submodule_search_locations[0])
        for name, spec in found.items()
        if spec is not None and spec.submodule_search_locations
    }
    written = keep_page("formats.md", page(folders), study="formats", check=check)
    print_facts("", [("up to date" if check else "written to", shown(written)), ("packages", ", ".join(folders))])
