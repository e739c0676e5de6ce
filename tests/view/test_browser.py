"""A browser plays the page. Opening one takes many seconds without a graphics card, so two pages show everything."""

from __future__ import annotations

import re
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest

import kumitate as km
from kumitate.view.page import playback, write_page

from .browser import played
from .test_page import tetra_file


def untouched(run: km.Run, folder: Path) -> km.Run:
    """The same motion, as if nothing had touched."""
    record = run.contact
    columns = {item.name: getattr(record, item.name) for item in fields(record) if item.name != "bodies"}
    cut = {name: values[:, :0] for name, values in columns.items() if values is not None and values.ndim > 1}
    return replace(run, contact=replace(record, bodies=(), **cut))


def with_mesh(run: km.Run, folder: Path) -> km.Run:
    """The same motion of a body that looks like a mesh of two colours, mirrored."""
    path = tetra_file(folder, 2)
    look = km.Geometry(km.Mesh(path.name, (0.2, -0.2, 0.2), str(path)))
    bodies = tuple(replace(body, visuals=(look,)) for body in run.mechanism.bodies)
    return replace(run, mechanism=replace(run.mechanism, bodies=bodies))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("seen", "fragment", "touched"),
    [(untouched, "", False), (with_mesh, "#t=0.55&link=ball&show=xamizg", True)],
    ids=["playing", "paused, with all"],
)
def test_a_browser_plays_the_page_without_complaint(bounced, tmp_path, monkeypatch, seen, fragment, touched):
    monkeypatch.setenv("KUMITATE_CACHE", str(tmp_path / "cache"))
    run = seen(bounced, tmp_path)
    samples = np.unique(np.linspace(0, len(run) - 1, 31).astype(int))
    scene = playback(run, samples, run.poses(samples))
    document = played(write_page(tmp_path / "ball.html", scene), tmp_path, fragment)
    assert document.count('<section class="plot">') == len(scene["channels"]) > 4
    assert all(note in document for note in scene["notes"])
    now = float(re.search(r'id="now"[^>]*>([\d.]+)<', document)[1])
    assert now == 0.55 if fragment else now > 0.0
    facts = re.search(r'<p id="facts">(.*?)</p>', document)[1]
    assert ("N per m" in facts) == touched
    menu = re.search(r'<div id="layers">.*?</div>', document, flags=re.S)[0]
    for layer in ("Shapes", "Frames", "Centers of mass", "Inertia as boxes"):
        assert layer in menu
    assert [layer in menu for layer in ("Contact forces", "Support polygon and zero-moment point")] == [touched] * 2
    card = re.search(r'<section id="chosen".*?</section>', document, flags=re.S)[0]
    if not touched:
        assert "hidden" in card
        return
    told = dict(re.findall(r"<dt>(.*?)</dt><dd>(.*?)</dd>", card))
    assert (told["mass"], told["joint"]) == ("2.000 kg", "free, floating")
    at = int(np.searchsorted(run.time, 0.55))
    place = [float(part.replace("−", "-")) for part in told["position"].split()[:3]]
    np.testing.assert_allclose(place, run.q[at, 4:7], atol=2e-3)  # between the 31 frames that the page has
    rates = [float(part.replace("−", "-")) for part in told["velocity"].split()[:3]]
    np.testing.assert_allclose(rates, np.gradient(run.q[:, 4:7], run.time, axis=0)[at], atol=0.05)
