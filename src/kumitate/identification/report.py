"""The report on an identification: a page with figures of efforts, and of base parameters with their deviations."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..simulate.parameters.passive import sort_of
from ..simulate.results.whole_file import replacing
from ..view.figures import panels_figure
from ..view.panels import Panel
from ..view.style import INK, PALETTE, drawing, print_style, write_figure

if TYPE_CHECKING:
    from .identified import Identified

_UNITS = {"length": "N", "angle": "N·m"}


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


def efforts_figure(found: Identified, part: int = 0) -> Any:
    """The efforts of a log, measured and predicted, as a `matplotlib.figure.Figure`: a panel per degree of freedom."""
    mechanism = found.model.mechanism
    log, measured, predicted = found.parts[part][0], found.measured(part), found.predicted(part)
    sorts = [sort_of(name) for joint in mechanism.joints for name in joint.kind.velocities]  # type: ignore[union-attr]
    panels = [
        Panel(name, _UNITS[sort], ("measured", "predicted"), np.stack([measured[:, i], predicted[:, i]], 1))
        for i, (name, sort) in enumerate(zip(mechanism.v_names, sorts, strict=True))
        if np.isfinite(measured[:, i]).any()
    ]
    left = ", ".join(f"{x:.2g}" for x in found.noise)
    return panels_figure(log.time, panels, caption=f"Standard deviations of measured from predicted efforts: {left}")


def base_figure(found: Identified) -> Any:
    """The base parameters as a `matplotlib.figure.Figure`: by how much they differ from the model, with two deviations.

    In units of what is usual for a robot of this size; those that were not excited are left out.
    """
    Figure = drawing("matplotlib.figure").Figure
    usual = np.abs(found.parameters.G) @ found.usual
    shown = [(own, size) for own, size in zip(found.base, usual.tolist(), strict=True) if own.excited]
    with print_style():
        height = 0.9 + 0.16 * len(shown)
        made = Figure(figsize=(5.2, height))
        axes = made.add_axes((0.3, 0.5 / height, 0.66, (height - 0.8) / height))
        places = np.arange(len(shown))[::-1]
        away = [(own.value - own.model) / size for own, size in shown]
        axes.axvline(0.0, color=INK, linewidth=0.8)
        axes.errorbar(
            away, places, xerr=[2.0 * own.deviation / size for own, size in shown],
            fmt="o", markersize=3, capsize=2, color=PALETTE[0],
        )  # fmt: skip
        axes.set_yticks(places, [own.name for own, _ in shown])
        axes.set_ylim(-0.8, len(shown) - 0.2)
        axes.set_xlabel("Difference from the model, relative to the usual size")
        axes.set_title("Base parameters", loc="left")
    return made
