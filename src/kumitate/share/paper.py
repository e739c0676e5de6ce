"""A page of a paper: Markdown with equations and figures, and the mechanism that it is about, to be played with.

Markdown is read by markdown-it-py, equations are made MathML by docutils; nothing is asked for from a network.
"""

from __future__ import annotations

import base64
import html
from collections.abc import Callable, Mapping
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

from ..errors import InputError, needed
from ..model.files import replacing
from ..view.page import filled
from .notebook import framed

__all__ = ["Paper", "read_paper", "write_paper"]

#: Keys of the lines between "---" at the beginning of a text.
_KEYS = ("title", "authors", "date", "sliders", "pull")
#: Images of these names are made and not read: the mechanism that plays, and figures of its run.
MECHANISM, MADE = "mechanism", ("graphs", "snapshots")
#: Files of images by suffix, with their media types.
_IMAGES = {".png": "png", ".jpg": "jpeg", ".jpeg": "jpeg", ".svg": "svg+xml", ".webp": "webp", ".gif": "gif"}


class Paper(NamedTuple):
    """A text in Markdown, read.

    Attributes:
        source: its path; title: of the page; authors: by name; date: as it is written.
        sliders, pull: of the mechanism, as of `Simulation.page`.
        figures: the names of figures to be made, of `MADE`.
        reader, tokens: what read it, and what it consists of.
    """

    source: Path
    title: str
    authors: tuple[str, ...]
    date: str
    sliders: Any
    pull: Any
    figures: tuple[str, ...]
    reader: Any
    tokens: list[Any]


def read_paper(path: str | Path) -> Paper:
    """Reads a text: first lines between "---" with a title, authors, a date, sliders and pull, then Markdown.

    Equations are $…$ and $$…$$; a label, `$$…$$ (motion)`, numbers them, and `[eq. 1](#motion)` leads there.
    `![caption](graphs)` and `![caption](snapshots)` are figures of its run, and other names files beside the text.

    Raises:
        InputError: if it cannot be read, for keys and images that there are not, and formulas that are not LaTeX.

    >>> from tempfile import mkdtemp
    >>> text = Path(mkdtemp(), "text.md")
    >>> _ = text.write_text("---\\ntitle: A pendulum\\nauthors: [A. Author]\\n---\\nIts energy is $E$.", encoding="utf-8")
    >>> read_paper(text).authors
    ('A. Author',)
    """
    source = Path(path)
    try:
        text = source.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{source}: this text cannot be read: {error}; give a file of Markdown in UTF-8") from None
    why, extra = f"{source}: texts need markdown-it-py, mdit-py-plugins and docutils", "paper"
    reader = needed("markdown_it", why, extra).MarkdownIt("commonmark", {"html": False, "typographer": True})
    reader.enable(["table", "strikethrough", "replacements", "smartquotes"])
    numbers = count(1)
    of_equations = {
        "renderer": partial(_equation, source),
        "label_renderer": lambda label: f'<a class="mathlabel" href="#{html.escape(label)}">({next(numbers)})</a>',
    }  # fmt: skip
    for name, options in (("front_matter", {}), ("footnote", {}), ("dollarmath", of_equations)):
        module = needed(f"mdit_py_plugins.{name}", why, extra)
        reader.use(getattr(module, f"{name}_plugin"), **options)
    tokens = reader.parse(text)
    head = _head(source, tokens[0].content if tokens and tokens[0].type == "front_matter" else "")
    images = [child for token in tokens for child in token.children or () if child.type == "image"]
    figures = tuple(dict.fromkeys(image.attrs["src"] for image in images if image.attrs["src"] in MADE))
    authors = head.get("authors", ())
    return Paper(
        source, str(head.get("title", source.stem)), tuple(map(str, [authors] if isinstance(authors, str) else authors)),
        str(head.get("date", "")), head.get("sliders"), head.get("pull", "all"), figures, reader, tokens,
    )  # fmt: skip


def _head(source: Path, text: str) -> Mapping[str, Any]:
    """What the first lines say."""
    if not text.strip():
        return {}
    yaml = needed("ruamel.yaml", f"{source}: the lines between --- need ruamel.yaml", "paper")
    try:
        head = yaml.YAML(typ="safe", pure=True).load(text)
    except yaml.error.YAMLError as error:
        raise InputError(f"{source}: the lines between --- are not YAML: {error}") from None
    if not isinstance(head, dict) or (unknown := [key for key in head if key not in _KEYS]):
        told = f"have the key {unknown[0]!r}" if isinstance(head, dict) else "have no keys with values"
        raise InputError(f"{source}: the lines between --- {told}; there are {', '.join(_KEYS)}")
    return head


def write_paper(path: str | Path, paper: Paper, page: str, figure: Callable[[str], bytes]) -> Path:
    """Writes a text as one self-contained HTML page; whole or not at all.

    Args:
        path: of the file; paper: the text.
        page: the document in which the mechanism plays.
        figure: gives a figure of a name as a PNG.

    Raises:
        InputError: for another suffix, images that there are not, or if the disk refuses.
    """
    target = Path(path)
    if target.suffix.lower() not in (".html", ".htm"):
        raise InputError(
            f"{target}: a paper is a file that browsers open, .html or .htm; {target.suffix!r} is not one of these"
        )
    tokens, rules = paper.tokens, paper.reader.renderer.rules
    frame, frames = framed(page), 0

    def image(tokens: Any, k: int, options: Any, env: Any) -> str:
        nonlocal frames
        name, caption = tokens[k].attrs["src"], html.escape(tokens[k].content)
        if name == MECHANISM:
            frames += 1
            return _figure(frame, caption)
        data = figure(name) if name in MADE else _read(paper.source, name)
        kind = "png" if name in MADE else _IMAGES[Path(name).suffix.lower()]
        shown = f"data:image/{kind};base64,{base64.b64encode(data).decode('ascii')}"
        return _figure(f'<img alt="{caption}" src="{shown}">', caption)

    rules["image"] = image
    for before, inline, after in zip(tokens, tokens[1:], tokens[2:], strict=False):  # figures are not in paragraphs
        if inline.type == "inline" and [child.type for child in inline.children] == ["image"]:
            before.hidden = after.hidden = True
    body = paper.reader.renderer.render(tokens, paper.reader.options, {})
    parts = {
        "title": html.escape(paper.title), "authors": html.escape(", ".join(paper.authors)), "date": html.escape(paper.date),
        "mechanism": "" if frames else _figure(frame, ""), "body": body,
    }  # fmt: skip
    with replacing(target) as temporary:
        temporary.write_text(filled("paper.html", parts, style="paper.css"), encoding="utf-8", newline="\n")
    return target


def _figure(shown: str, caption: str) -> str:
    return f"<figure>{shown}{f'<figcaption>{caption}</figcaption>' if caption else ''}</figure>\n"


def _read(source: Path, name: str) -> bytes:
    """The bytes of an image beside a text."""
    made = ", ".join((MECHANISM, *MADE))
    if Path(name).suffix.lower() not in _IMAGES or ":" in name:
        raise InputError(f"{source}: there is no image {name!r}: give {made}, or a file: {', '.join(_IMAGES)}")
    try:
        return (source.parent / name).read_bytes()
    except OSError as error:
        raise InputError(
            f"{source}: the image {name!r} cannot be read: {error.strerror}; its path counts from the text"
        ) from None


def _equation(source: Path, text: str, options: dict[str, bool]) -> str:
    """LaTeX as MathML."""
    convert = needed("docutils.utils.math.latex2mathml", f"{source}: equations need docutils", "paper").tex2mathml
    try:
        return str(convert(text, as_block=options["display_mode"]))
    except Exception as error:  # also what it does not expect of wrong text
        raise InputError(f"{source}: the equation {text.strip()!r} cannot be shown: {error}; write it in LaTeX") from None
