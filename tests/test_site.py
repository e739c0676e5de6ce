"""The documentation site: it builds without a warning, describes every public name, and asks for nothing from outside."""

from __future__ import annotations

import base64
import gzip
import importlib
import os
import re
import subprocess
import sys
import zlib
from pathlib import Path

import pytest
from PIL import Image

import kumitate as km
from studies.papers import all_examples, command_of

from .test_documents import ROOT

DOCS = ROOT / "docs"
#: The example that the tests draw; scripts/docs draws all.
DRAWN = "planar_4r"
ROOMS = sorted(path.parent.name for path in Path(km.__file__).parent.glob("*/__init__.py"))


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    """The site, built as by scripts/docs but with Sphinx's plainest theme, which takes two thirds of the time."""
    folder = tmp_path_factory.mktemp("site")
    options = ["-W", "--keep-going", "-q", "-b", "html", "-D", "html_theme=basic", "-d", str(folder / "trees")]
    options += ["-D", f"gallery_examples={DRAWN}"]
    where = {**os.environ, "PYTHONPATH": os.pathsep.join([str(Path(km.__file__).parents[1]), os.environ.get("PYTHONPATH", "")])}
    built = subprocess.run(
        [sys.executable, "-m", "sphinx", *options, str(DOCS), str(folder / "html")],
        capture_output=True, text=True, encoding="utf-8", env=where, check=False,
    )  # fmt: skip
    assert built.returncode == 0, built.stderr
    return folder / "html"


@pytest.fixture(scope="module")
def described(site) -> set[str]:
    """The names that the reference describes."""
    from sphinx.util.inventory import InventoryFile

    with (site / "objects.inv").open("rb") as file:
        found = InventoryFile.load(file, "", os.path.join)
    return {name for kind, names in found.items() if kind.startswith("py:") for name in names}


def test_every_page_is_built(site):
    pages = {path.relative_to(DOCS).with_suffix(".html") for path in DOCS.rglob("*.md")}
    assert [page for page in sorted(pages) if not (site / page).exists()] == []


def test_the_gallery_shows_every_example_with_pictures_of_its_run(site):
    """A picture is of a run that was made with the site, and its page plays without anything from elsewhere."""
    listed = re.findall(r"```\{example\} (\w+)", (DOCS / "gallery.md").read_text(encoding="utf-8"))
    assert sorted(listed) == sorted(all_examples())
    text = (site / "gallery.html").read_text(encoding="utf-8")
    assert [name for name in listed if command_of(name) not in re.sub(r"<[^>]*>", "", text)] == []
    pictures = re.findall(r'<img loading="lazy" src="(_gallery/[^"]+)"', text)
    assert pictures == [f"_gallery/{DRAWN}-{kind}.png" for kind in ("snapshots", "graphs")]
    for picture in pictures:
        with Image.open(site / picture) as shown:
            assert min(shown.size) > 200
    page = (site / f"_gallery/{DRAWN}.html").read_text(encoding="utf-8")
    packed = re.search(r'atob\("([^"]+)"\)', page)
    unpacked = gzip.decompress(base64.b64decode(packed[1])).decode()
    scene = re.search(r'<script[^>]*id="scene"[^>]*>(.*?)</script>', unpacked, flags=re.S)[1]
    assert b"\0asm" in zlib.decompress(base64.b64decode(scene))  # the page can be taken over
    assert len(page) < 350_000  # 53 of them are in a site of less than 40 MB


def test_every_public_name_is_described(described):
    missing = [name for name in km.__all__ if f"kumitate.{name}" not in described and name not in ROOMS]
    for room in ROOMS:
        module = importlib.import_module(f"kumitate.{room}")
        for name in getattr(module, "__all__", ()):
            shared = name in km.__all__ and getattr(km, name) is getattr(module, name)
            if not shared and f"kumitate.{room}.{name}" not in described:
                missing.append(f"{room}.{name}")
    assert not missing, f"{missing}: name them in docs/reference"


def test_the_reference_says_what_functions_take(described, site):
    """A few of the first page, by their words: a method, a property, an option."""
    assert {"kumitate.Robot.forward_dynamics", "kumitate.Run.page", "kumitate.Simulation.step"} <= described
    text = re.sub(r"<[^>]*>", "", (site / "reference" / "simulation.html").read_text(encoding="utf-8"))
    assert {"sample_time", "held_method", "baumgarte"} <= set(re.findall(r"\w+", text.partition("simulate_batch(")[0]))


def test_menus_can_be_read_without_a_japanese_font(site):
    """Where there is none, a browser draws boxes: the way to the Japanese pages has Latin letters, too."""
    page = (site / "ja" / "index.html").read_text(encoding="utf-8")
    for text in (page, (site / "index.html").read_text(encoding="utf-8")):
        labels = [
            re.sub(r"<[^>]*>", "", label) for label in re.findall(r'<a [^>]*href="[^"]*ja/index.html"[^>]*>(.*?)</a>', text)
        ]
        assert all(re.search(r"[A-Za-z]{6}", label) for label in labels), labels
    labels = re.findall(r"^(.+) <ja/index>$", (DOCS / "index.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert labels == ["Japanese"]


def test_no_page_asks_for_anything_from_outside(site):
    """Links may lead out; scripts, styles, fonts and pictures may not come from there."""
    for page in site.rglob("*.html"):
        asked = re.findall(
            r"<(?:script|link|img|iframe)\b[^>]*?(?:src|href)=\"(https?:[^\"]+)\"", page.read_text(encoding="utf-8")
        )
        assert not asked, f"{page.relative_to(site)}: {asked}"
    for style in site.rglob("*.css"):
        assert "url(http" not in style.read_text(encoding="utf-8").replace('"', ""), style.name


def test_formulas_are_drawn_by_the_browser(site):
    page = (site / "tutorials" / "paper-to-figure.html").read_text(encoding="utf-8")
    assert page.count("<math") == 3
    assert "MathJax.js" not in page
