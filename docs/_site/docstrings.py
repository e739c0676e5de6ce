"""What autodoc shows of a package: the names of its `__all__`, each described in one place only.

The package's docstrings are Google style, with `code` as in Markdown; a few of their habits are put into Sphinx's words.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.domains.python import PyObject
from sphinx.pycode import ModuleAnalyzer

import kumitate

#: Kinds of members whose docstring may be one line.
CONSTANTS = ("attribute", "data", "property")


def described_in_kumitate(name: str, thing: Any) -> bool:
    """Whether a name of a package is one of `kumitate` itself, which is described there."""
    return name in kumitate.__all__ and getattr(kumitate, name) is thing


def choose(app: Sphinx, kind: str, name: str, thing: Any, skip: bool, options: Any) -> bool | None:
    """Leaves out what is described under `kumitate`; keeps constants that have no docstring of their own."""
    if kind != "module" or name.startswith("_"):
        return None
    return described_in_kumitate(name, thing)


def adjust(app: Sphinx, kind: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """Puts a docstring into Sphinx's words; that of a package names what it shares with `kumitate`."""
    if kind == "data":
        lines[:] = comment(name)  # and not the docstring of a dict, say
    lines[:] = literal_blocks([_line(line) for line in lines])
    if kind in CONSTANTS and lines:
        lines[0] = f": {lines[0]}"  # otherwise napoleon takes what stands before a colon for a type
    if kind == "module":
        shared = [each for each in getattr(thing, "__all__", ()) if described_in_kumitate(each, getattr(thing, each))]
        if shared:
            roles = ", ".join(f":py:obj:`~kumitate.{each}`" for each in shared)
            lines += ["", f"Also here, and described as names of ``kumitate``: {roles}.", ""]


def comment(name: str) -> list[str]:
    """The comment `#: ...` of a constant, in the module that defines it."""
    room, _, constant = name.rpartition(".")
    for module in [room, *(each for each in sys.modules if each.startswith(f"{room}."))]:
        found = ModuleAnalyzer.for_module(module).find_attr_docs().get(("", constant))
        if found:
            return list(found)
    return []


def _line(line: str) -> str:
    """|x| is an absolute value; `Env`s is a word after a name."""
    pieces = re.split(r"(`[^`]*`)", line)
    for number in range(0, len(pieces), 2):
        pieces[number] = pieces[number].replace("|", r"\|")
        if number and re.match(r"\w", pieces[number]):
            pieces[number] = "\\ " + pieces[number]
    return "".join(pieces)


def literal_blocks(lines: list[str]) -> Iterator[str]:
    """Marks indented paragraphs as code, as Markdown reads them."""
    above, depth = "", 0
    for line, after in pairwise([*lines, ""]):
        yield line
        if line.strip():
            above, depth = line.lstrip(), len(line) - len(line.lstrip())
        elif after.startswith(" " * (depth + 4)) and not above.startswith(("- ", ".. ", ":", ">>>")) and above != "::":
            yield from (" " * depth + "::", "")
            above = "::"


def keep_options(app: Sphinx, page: nodes.document) -> None:
    """Gives options of commands back their two hyphens, which were taken for a dash."""
    for text in page.findall(nodes.Text):
        if "\N{EN DASH}" in text:
            written = re.sub(r"(?<!\S)\N{EN DASH}(?=[a-z])", "--", text)
            text.parent.replace(text, nodes.Text(written))


def setup(app: Sphinx) -> dict[str, bool]:
    """Called by Sphinx."""
    for field in PyObject.doc_field_types:
        if field.name != "exceptions":  # "q (n, nq)" names a shape and not a class; signatures link the types
            field.rolename = field.bodyrolename = field.typerolename = ""
    app.connect("autodoc-skip-member", choose)
    app.connect("autodoc-process-docstring", adjust, priority=400)  # before napoleon
    app.connect("doctree-read", keep_options)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
