"""scripts/study robot-files"""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from kumitate.cli.report import print_facts, shown

__all__ = ["robot_files"]


def robot_files(
    *,
    check: Annotated[
        bool, Parameter(negative="", show_default=False, help="Write nothing; fail if the page is out of date.")
    ] = False,
) -> None:
    """Write docs/robot-files.md: what kumitate makes of every robot file of example-robot-data."""
    from kumitate.errors import InputError
    from kumitate.examples.legged import robots_folder

    from ..pages import keep_page
    from ..robot_files import page

    folder = robots_folder()
    if folder is None:
        raise InputError("the robots of example-robot-data are not installed: pip install example-robot-data pin")
    written = keep_page("robot-files.md", page(folder), study="robot-files", check=check)
    print_facts("", [("up to date" if check else "written to", shown(written))])
