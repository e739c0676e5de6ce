"""The report on an identification: a page with its figures."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from ...simulate.results.whole_file import replacing
from .figures import base_figure, efforts_figure, write_figure

if TYPE_CHECKING:
    from ..identified import Identified

__all__ = ["write_report"]


def write_report(found: Identified, folder: str | os.PathLike[str]) -> Path:
    """Writes `report.md`, `efforts.svg` (per log) and `base.svg` into a folder, which is made; returns the path of the page."""
    into = Path(folder)
    into.mkdir(parents=True, exist_ok=True)
    count = len(found.parts)
    pictures = ["efforts.svg"] if count == 1 else [f"efforts-{k + 1}.svg" for k in range(count)]
    for k, name in enumerate(pictures):
        write_figure(efforts_figure(found, k), into / name)
    write_figure(base_figure(found), into / "base.svg")
    page = into / "report.md"
    with replacing(page) as temporary:
        Path(temporary).write_text("\n".join(_page(found, pictures)) + "\n", encoding="utf-8")
    return page


def _page(found: Identified, pictures: list[str]) -> Iterator[str]:
    mechanism = found.model.mechanism
    yield f"# Identification of {mechanism.name}\n"
    yield f"{len(found.parameters)} base parameters, from {round(float(found.equations.samples.sum()))} efforts.\n"
    yield from (f"**Doubtful**: {doubt}.\n" for doubt in found.doubts)
    yield "## Efforts\n\n| degree of freedom | root mean square | left unexplained | |\n|---|---|---|---|"
    for name, noise, effort in zip(mechanism.v_names, found.noise, found.equations.efforts, strict=True):
        yield f"| {name} | {effort:.4g} | {noise:.3g} | {100.0 * noise / max(effort, 1e-300):.2g} % |"
    yield ""
    yield from (f"![measured and predicted efforts]({name})" for name in pictures)
    if found.drives:
        yield "\n## Drives\n\n| degree of freedom | constant | standard deviation |\n|---|---|---|"
        yield from (f"| {name} | {K:.6g} | {deviation:.2g} |" for name, (K, deviation) in found.drives.items())
    yield "\n## Base parameters\n\nWhat the log shows, without regard to the model.\n"
    yield "| combination | value | standard deviation | digits | model |\n|---|---|---|---|---|"
    for own in found.base:
        known = f"{own.value:.6g} | {own.deviation:.2g} | {own.digits:.1f}" if own.excited else "not excited | |"
        yield f"| {own.combination} | {known} | {own.model:.6g} |"
    yield "\n![base parameters](base.svg)\n"
    yield "## Parameters\n\nBodies that can exist, nearest to the model, that move like the base parameters.\n"
    yield "| parameter | value | standard deviation | model |\n|---|---|---|---|"
    for (name, value), before in zip(found.values.items(), found.unknowns.values.tolist(), strict=True):
        yield f"| {name} | {value:.6g} | {found.deviations[name]:.2g} | {before:.6g} |"
