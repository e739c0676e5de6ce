"""The options that several verbs share, said once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

__all__ = ["AsJson", "FixInertia", "FloatingBase", "Formats", "Gif", "Out", "RobotName"]

RobotName = Annotated[str, Parameter(help="A robot's file (.urdf, or .json of kumitate's own) or a sample's name.")]
FloatingBase = Annotated[bool, Parameter(negative="", show_default=False, help="Let the root body move freely.")]
FixInertia = Annotated[
    bool, Parameter(negative="", show_default=False, help="Replace inertias that no body has by the nearest that one can have.")
]
Gif = Annotated[bool, Parameter(negative="", show_default=False, help="Draw an animated GIF too.")]
Formats = Annotated[str, Parameter(help="Of graphs and snapshots: any of pdf, png, eps, svg, with commas.")]
Out = Annotated[Path | None, Parameter(help="Folder to write to, instead of ./kumitate-runs/NAME.")]
AsJson = Annotated[
    bool,
    Parameter(
        name="--json", negative="", show_default=False, help="Print one JSON object, and nothing else on standard output."
    ),
]
