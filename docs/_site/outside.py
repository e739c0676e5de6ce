"""Links between pages: those that lie outside docs are shown in the place of a short page; names of files become titles."""

from __future__ import annotations

import os
import re
from pathlib import Path

from sphinx.application import Sphinx

DOCS = Path(__file__).resolve().parents[1]
#: The files by the pages of the site that show them.
FILES = {
    "bench-method": DOCS.parent / "studies" / "bench" / "README.md",
    "changelog": DOCS.parent / "CHANGELOG.md",
    "contributing": DOCS.parent / "CONTRIBUTING.md",
}
PAGES = {file: DOCS / f"{page}.md" for page, file in FILES.items()}


def take_in(app: Sphinx, name: str, source: list[str]) -> None:
    """Replaces the text of a page by that of its file, turns links to such files into links to their pages.

    A link whose words are the name of the file gets the title of the page.
    """
    page = (DOCS / f"{name}.md").resolve()
    file = FILES.get(name, page)
    if file != page:
        source[0] = file.read_text(encoding="utf-8")
        app.env.note_dependency(str(file))

    def link(match: re.Match[str]) -> str:
        target = Path(os.path.normpath(file.parent / match[1]))
        if file == page and target not in PAGES:
            return match[0]
        return f"]({os.path.relpath(PAGES.get(target, target), page.parent)}"

    source[0] = re.sub(r"(?<=\[)[\w/-]+\.md(?=\]\()", "", source[0])
    source[0] = re.sub(r"\]\((?!https?://|#)([^)#\s]+)", link, source[0])


def setup(app: Sphinx) -> dict[str, bool]:
    """Called by Sphinx."""
    app.connect("source-read", take_in)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
