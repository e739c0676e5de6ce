"""The options that several verbs share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from ..model.read import readable

__all__ = ["AsJson", "FixInertia", "FloatingBase", "Formats", "Gif", "Hold", "Out", "RobotName", "StartQ"]

RobotName = Annotated[str, Parameter(help=f"A robot file ({readable()}) or a name that `kumitate robots` lists.")]
FloatingBase = Annotated[bool, Parameter(negative="", show_default=False, help="Let the root body float freely.")]
FixInertia = Annotated[
    bool,
    Parameter(
        negative="", show_default=False, help="Replace inertias that are physically impossible by the nearest possible ones."
    ),
]
StartQ = Annotated[
    str | None,
    Parameter(help='Initial coordinates, "name=value, ...", in SI units; angles also as 30deg. Other joints close loops.'),
]  # fmt: skip
Hold = Annotated[
    bool, Parameter(help="Joints without drives hold their initial positions, by drives with gains from the inertia.")
]
Gif = Annotated[bool, Parameter(negative="", show_default=False, help="Draw an animated GIF too.")]
Formats = Annotated[str, Parameter(help="File formats of graphs and snapshots, separated by commas: pdf, png, eps, svg.")]
Out = Annotated[Path | None, Parameter(help="Folder to write to; ./kumitate-runs/NAME by default.")]
AsJson = Annotated[
    bool,
    Parameter(
        name="--json", negative="", show_default=False, help="Print one JSON object, and nothing else on standard output."
    ),
]
