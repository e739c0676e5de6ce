"""kumitate paper"""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

from cyclopts import Parameter

from .options import AsJson
from .report import print_facts, print_json, progress, shown


def paper(
    scenario: Annotated[Path, Parameter(help="A scenario's file (.yaml): the mechanism, and what drives it.")],
    text: Annotated[Path, Parameter(help="The text, in Markdown.")],
    /,
    *,
    to: Annotated[Path | None, Parameter(help="The page to write; beside the text, as .html, unless given.")] = None,
    as_json: AsJson = False,
) -> None:
    """Write a paper as one page: its text, equations and figures, and the mechanism that readers play with.

    kumitate paper swing.yaml swing.md
    """
    from ..live.playable import live_scene
    from ..scenario import read_scenario
    from ..share.paper import read_paper, write_paper
    from ..view.page import page_text

    read = read_paper(text)
    setup = read_scenario(scenario).setup
    simulation = setup.simulation(equal_steps=True)
    with progress(f"compiling {scenario.stem}"):
        page = page_text(live_scene(simulation, read.sliders, read.pull))
    with TemporaryDirectory() as folder:
        figures = {name: Path(folder, f"{name}.png") for name in read.figures}
        if figures:
            run = simulation.run(duration=setup.duration)
        for name, file in figures.items():
            run.plot(file) if name == "graphs" else run.snapshots(file)
        written = write_paper(to or text.with_suffix(".html"), read, page, lambda name: figures[name].read_bytes())
    if as_json:
        print_json({"page": written.resolve()})
    else:
        print_facts(read.title, [("open this", shown(written))])
