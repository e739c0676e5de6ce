"""A paper as a page: its text, equations, figures, and the mechanism that plays; what is hostile in it stays text."""

from __future__ import annotations

import json
import re
import shutil
import time
from pathlib import Path

import pytest

from kumitate.cli.app import run
from kumitate.errors import InputError
from kumitate.share.browser import opened
from kumitate.share.paper import read_paper, write_paper

from ..live.test_in_browser import ASKED
from ..live.test_page_in_browser import WATCH
from ..tools import CHROMIUM

EXAMPLE = Path(__file__).parents[2] / "examples" / "paper"


def made(tmp_path, text, page="<p>it plays</p>"):
    source = tmp_path / "text.md"
    source.write_text(text, encoding="utf-8")
    return write_paper(tmp_path / "text.html", read_paper(source), page, lambda name: name.encode()).read_text(encoding="utf-8")


def test_the_example_is_one_page_with_all_that_it_shows(tmp_path, capsys):
    for file in EXAMPLE.iterdir():
        shutil.copy(file, tmp_path)
    assert run(["paper", str(tmp_path / "four_bar.yaml"), str(tmp_path / "four_bar.md")]) == 0
    assert "four_bar.html" in capsys.readouterr().out
    text = (tmp_path / "four_bar.html").read_text(encoding="utf-8")
    assert text.count("<iframe sandbox=") == 1
    assert text.count('<img alt="Three seconds from rest." src="data:image/png;base64,') == 1
    assert "<figcaption>Drag the coupler, turn gravity down, or give it more mass.</figcaption>" in text
    assert re.search(r'<div id="motion" class="math block">\s*<a class="mathlabel" href="#motion">\(1\)</a>\s*<math', text)
    assert text.index("<figcaption>Drag") < text.index("Equations of motion") < text.index("Three seconds")
    assert "default-src 'none'" in text
    assert len(text) < 700_000


def test_what_is_hostile_is_text(tmp_path):
    hostile = "<img src=x onerror=alert(1)>"
    text = made(
        tmp_path,
        f"---\ntitle: '{hostile}'\nauthors: ['{hostile}', B]\n---\n{hostile}\n\n[away](javascript:alert(1))\n\n"
        f"![{hostile}](graphs)\n\n$\\text{{{hostile}}}$\n\n$$x$$ (\"onclick=1)\n",
    )  # fmt: skip
    assert "<img src=x" not in text
    assert 'href="javascript' not in text
    assert 'id=""onclick' not in text
    assert text.count("&lt;img src=x onerror=alert(1)&gt;") >= 6


def test_without_a_place_the_mechanism_stands_first(tmp_path):
    text = made(tmp_path, "Words.\n\n| a | b |\n|---|---|\n| 1 | 2 |\n")
    assert text.index("<iframe") < text.index("<p>Words.</p>") < text.index("<table>")
    assert "<h1>text</h1>" in text


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("---\ntittle: x\n---\n", r"text\.md.*'tittle'; there are title, authors, date, sliders, pull"),
        ("---\n- x\n---\n", "have no keys with values"),
        ("---\na: [\n---\n", "not YAML"),
        ("$\\nosuch{x}$", r"equation '\\\\nosuch\{x\}' cannot be shown"),
        ("![x](picture.png)", r"'picture\.png' cannot be read"),
        ("![x](https://example.org/x.png)", "mechanism, graphs, snapshots, or a file"),
        ("![x](notes.txt)", r"no image 'notes\.txt'"),
    ],
)
def test_mistakes_are_named(tmp_path, text, told):
    with pytest.raises(InputError, match=told):
        made(tmp_path, text)


def wait(browser, expression):
    end = time.monotonic() + 60.0
    while not browser.evaluate(expression):
        assert time.monotonic() < end
        time.sleep(0.1)


@pytest.mark.slow
def test_a_browser_shows_it_without_a_word(tmp_path):
    assert run(["paper", str(EXAMPLE / "four_bar.yaml"), str(EXAMPLE / "four_bar.md"), "--to", str(tmp_path / "p.html")]) == 0
    with opened(CHROMIUM.needed(), (tmp_path / "p.html").as_uri(), (880, 900), before=WATCH) as browser:
        wait(browser, "document.readyState === 'complete' && document.images[0]?.naturalWidth > 100")
        assert browser.evaluate("document.querySelectorAll('math').length") >= 6
        assert browser.evaluate("document.documentElement.scrollWidth") <= 880
        assert browser.evaluate("JSON.stringify(window.said)") == "[]"
        assert [url for url in json.loads(browser.evaluate(ASKED)) if not url.startswith(("data:", "blob:"))] == []
