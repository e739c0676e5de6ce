"""The API reference: every documented name has an example that runs, in its docstring or on its page."""

from __future__ import annotations

import doctest
import inspect
import re
import runpy
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from .test_documents import ROOT, blocks

REFERENCE = ROOT / "docs" / "reference"
PAGES = sorted(REFERENCE.glob("*.md"))
#: As in tests/repo/test_docstrings.py.
OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
#: Names without an example of their own, each with the reason.
WITHOUT = {"kumitate.share.film.write_film": "renders by a browser, for 9 s; tests/share/test_film.py runs it"}


def found(name: str) -> Any:
    """The thing of a dotted name: of a module, or an attribute of one."""
    try:
        return import_module(name)
    except ModuleNotFoundError:
        before, _, last = name.rpartition(".")
        return getattr(found(before), last)


def documented(page: Path) -> dict[str, Any]:
    """The classes and functions that a page describes, by their dotted names; errors and constants need no example."""
    text = page.read_text(encoding="utf-8")
    names = re.findall(r"\.\. auto(?:class|function):: (\S+)", text)
    for module in re.findall(r"\.\. automodule:: (\S+)", text):
        names += [f"{module}.{name}" for name in found(module).__all__]
    things = {name: found(name) for name in names}
    return {name: thing for name, thing in things.items() if inspect.isclass(thing) or inspect.isroutine(thing)}


def shown_in_docstrings(thing: Any) -> bool:
    """Whether it, or one of its methods, has an example; tests/repo/test_docstrings.py runs them."""
    parts = [thing]
    if inspect.isclass(thing):
        parts += [getattr(thing, part) for part in dir(thing) if not part.startswith("_")]
    return any(">>>" in (inspect.getdoc(part) or "") for part in parts)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_documented_name_has_an_example(page):
    examples = "\n".join(blocks(page, "pycon") + blocks(page))
    bare = []
    for name, thing in documented(page).items():
        error = inspect.isclass(thing) and issubclass(thing, Exception)
        word = re.search(rf"\b{name.rpartition('.')[2]}\b", examples)
        if not (error or word or shown_in_docstrings(thing) or name in WITHOUT):
            bare.append(name)
    assert not bare, f"{page.name}: show {bare} in the docstring or in a block of the page"


def test_exceptions_are_needed():
    names = {name: thing for page in PAGES for name, thing in documented(page).items()}
    assert [name for name in WITHOUT if name not in names or shown_in_docstrings(names[name])] == []


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page, "pycon")], ids=lambda page: page.stem)
def test_examples_of_the_reference_run(page, tmp_path, monkeypatch):
    """All blocks of a page are one session."""
    monkeypatch.chdir(tmp_path)
    session = doctest.DocTestParser().get_doctest("\n".join(blocks(page, "pycon")), {}, page.stem, str(page), 0)
    said: list[str] = []
    result = doctest.DocTestRunner(optionflags=OPTIONS).run(session, out=said.append)
    assert result.failed == 0, "".join(said)


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page)], ids=lambda page: page.stem)
def test_scripts_of_the_reference_run(page, tmp_path, monkeypatch):
    """Blocks of Python are scripts, which say by `assert` what holds."""
    monkeypatch.chdir(tmp_path)
    for code in blocks(page):
        Path("script.py").write_text(code, encoding="utf-8")
        runpy.run_path("script.py")
