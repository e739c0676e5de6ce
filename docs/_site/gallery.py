"""The gallery: the directive `example` runs an example and shows its pictures, its summary and its page with 3D playback.

    ```{example} planar_4r snapshots graphs
    kumitate examples planar_4r
    ```

Pictures are not kept in the repository: they are made with the site, in its folder `_gallery`, and again only if the sources of
the package or of the studies have changed. Pages unpack themselves, so that all of them are a third as large. The setting
`gallery_examples` names those that are run, separated by commas; "all" is what scripts/docs has.
"""

from __future__ import annotations

import hashlib
import warnings
from functools import cache
from html import escape
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

import kumitate
import studies
from kumitate.compile.stored import Sources
from kumitate.errors import KumitateError
from kumitate.examples.catalogue import Example
from kumitate.run import Run, as_run
from kumitate.share.notebook import self_unpacking
from kumitate.view.page import ASSETS
from studies.papers import all_examples

FOLDER = "_gallery"
FOLDERS = [Path(module.__file__).parent for module in (kumitate, studies)]
LOG = logging.getLogger(__name__)


def example(name: str) -> Example:
    """The example of this name, installed with the package or among the runs of the papers."""
    return all_examples()[name]


class ExampleDirective(SphinxDirective):
    """An example by name, with the pictures to show: snapshots, graphs, or a figure of its own; without, it is not run."""

    required_arguments, optional_arguments, has_content = 1, 4, True

    def run(self) -> list[nodes.Node]:
        """Called by docutils: the card of the example, and its command."""
        name, *pictures = self.arguments
        command = nodes.literal_block("\n".join(self.content), "\n".join(self.content), language="sh")
        chosen = self.config.gallery_examples.split(",")
        if not pictures or (chosen != ["all"] and name not in chosen):
            return [nodes.paragraph("", example(name).summary), command]
        folder = Path(self.env.app.outdir) / FOLDER
        try:
            draw(name, pictures, folder)
        except KumitateError as error:
            if "pip install" not in str(error):  # any other cause is a fault
                raise
            LOG.info(f"gallery: {name} is not drawn: {error}")
            return [nodes.paragraph("", f"{example(name).summary} (Not drawn here: {error})"), command]
        return [nodes.raw("", card(name, pictures), format="html"), command]


def draw(name: str, pictures: list[str], folder: Path) -> None:
    """Runs the example and writes its pictures and its page, unless they were made of the same sources.

    Raises:
        KumitateError: if the example cannot run here.
    """
    folder.mkdir(parents=True, exist_ok=True)
    files = [folder / f"{name}-{picture}.png" for picture in pictures]
    page = folder / f"{name}.html"
    made, stamp = folder / f"{name}.made", sources()
    if all(path.exists() for path in (*files, page, made)) and made.read_text(encoding="utf-8") == stamp:
        return
    LOG.info(f"gallery: {name}")
    shown = example(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what a run reports is the matter of its tests
        run = as_run(shown.run())
        own = set(pictures) - {"graphs", "snapshots"}
        plates = shown.plates(run) if own else {}  # only if asked: they may take long
        for picture, file in zip(pictures, files, strict=True):
            if picture == "graphs":
                run.plot(file, panels=shown.panels)
            elif picture == "snapshots":
                run.snapshots(file)
            else:
                from kumitate.view.figures import plot_plate

                plot_plate(run.time, plates[picture], file)
        write_page(run, page, shown.title)
    made.write_text(stamp, encoding="utf-8")


@cache
def sources() -> str:
    """A digest of what pictures and pages are made of."""
    parts = [*(Sources(str(folder)).digest for folder in FOLDERS), *(path.read_bytes() for path in sorted(ASSETS.iterdir()))]
    return hashlib.sha256(b"".join(parts)).hexdigest()


def write_page(run: Run, page: Path, title: str) -> None:
    """The page of a run: one that can be taken over, where its simulation can play in a page."""
    try:
        run.page(page, title=title, live=True)
    except KumitateError as error:
        LOG.info(f"gallery: {page.stem} only plays back: {error}")
        run.page(page, title=title)
    page.write_text(self_unpacking(page.read_text(encoding="utf-8")), encoding="utf-8")


def card(name: str, pictures: list[str]) -> str:
    """The summary of the example, its pictures, and the link to its page."""
    shown = example(name)
    images = "".join(
        f'<a href="{FOLDER}/{name}-{picture}.png"><img loading="lazy" src="{FOLDER}/{name}-{picture}.png" '
        f'alt="{escape(shown.title, quote=True)}: {picture}"></a>'
        for picture in pictures
    )
    play = f'<a href="{FOLDER}/{name}.html">3D playback and graphs</a>'
    return f'<div class="example"><p>{escape(shown.summary)} {play}.</p><div class="pictures">{images}</div></div>'


def setup(app: Sphinx) -> dict[str, bool]:
    """Called by Sphinx."""
    app.add_config_value("gallery_examples", "all", "env")
    app.add_directive("example", ExampleDirective)
    return {"parallel_read_safe": False, "parallel_write_safe": True}
