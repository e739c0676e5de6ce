"""What notebooks display: small enough to be kept, in a frame that reaches nothing outside, and alive in a browser."""

from __future__ import annotations

import base64
import gzip
import html
import re

import numpy as np
import pytest

import kumitate as km
from kumitate.errors import InputError
from kumitate.share import notebook
from kumitate.share.notebook import MOST, framed

from ..view.browser import played
from ..view.unpacking import unpacked


@pytest.fixture(scope="module")
def run() -> km.Run:
    return km.simulate(km.load("double_pendulum"), duration=0.3)


def frame_of(displayed: str) -> tuple[str, str]:
    """The attributes of the one frame, and the document in it."""
    ((before, document),) = re.findall(r'<iframe ([^>]*?)srcdoc="([^"]*)"></iframe>', displayed)
    return before, html.unescape(document)


def page_of(document: str) -> str:
    (packed,) = re.findall(r'atob\("([^"]*)"\)', document)
    return gzip.decompress(base64.b64decode(packed)).decode()


def test_a_run_is_its_page_in_a_frame(run, tmp_path):
    displayed = run._repr_html_()
    before, document = frame_of(displayed)
    assert len(displayed) < MOST
    assert 'sandbox="allow-scripts"' in before  # and nothing else: not the notebook's origin, forms or windows
    assert page_of(document) == run.page(tmp_path / "page.html").read_text(encoding="utf-8")
    assert all(html.escape(line) in displayed for line in run.audit.lines())


@pytest.mark.slow
def test_the_frame_plays_in_a_browser(run, tmp_path):
    _, document = frame_of(run._repr_html_())
    page = tmp_path / "frame.html"
    page.write_text(document, encoding="utf-8")
    assert float(re.search(r'id="now"[^>]*>([\d.]+)<', played(page, tmp_path))[1]) > 0.0


def test_runs_side_by_side_are_displayed_with_their_curves(tmp_path):
    runs = km.simulate_batch(km.load("double_pendulum"), [[0.1, 0.0], [0.2, 0.0], [0.3, 0.0]], duration=0.1)
    displayed = runs._repr_html_()
    assert "3 runs of 101 times" in displayed
    page = page_of(frame_of(displayed)[1])
    (data,) = re.findall(r'id="scene">([^<]*)<', page)
    (angle, _) = unpacked(data)["channels"]
    assert [one["name"] for one in angle["series"]] == ["run 0", "run 1", "run 2"]
    assert angle["unit"] == "rad"
    assert page != runs.page(tmp_path / "page.html", shown=2).read_text(encoding="utf-8")
    with pytest.raises(InputError, match="there is no run 3; there are 0 to 2"):
        runs.page(tmp_path / "page.html", shown=3)


def test_pages_that_are_too_large_become_plainer_and_then_a_remark(monkeypatch):
    monkeypatch.setattr(notebook, "MOST", 30_000)
    rng = np.random.default_rng(0)
    asked = []

    def page(rate: int) -> str:
        asked.append(rate)
        return rng.bytes(500 * rate).hex()  # cannot be compressed below its bytes

    displayed = notebook.run_html("run", [], page)
    assert asked == [50, 25]
    assert "iframe" in displayed
    displayed = notebook.run_html("run", [], lambda rate: rng.bytes(40_000).hex())
    assert "run.page(path) writes it" in displayed
    assert "iframe" not in displayed


def test_texts_of_a_model_cannot_leave_their_places():
    body = km.Body('<img src=x onerror="alert(1)">', 1.0, inertia=(1, 1, 1))
    mechanism = km.Mechanism("</script><b>", (body,), (km.Joint('"><i>', "revolute", "world", body.name),))
    displayed = km.Robot(mechanism)._repr_html_()
    assert "<img src=x" not in displayed
    assert "</script><b>" not in displayed
    assert '"></iframe><script>' not in framed('"></iframe><script>').removesuffix('"></iframe>')


def test_a_robot_is_its_picture_and_joints(monkeypatch):
    robot = km.load("andrews")
    displayed = robot._repr_html_()
    assert displayed.count("<img ") == 1
    assert all(f">{joint.name}<" in displayed for joint in robot.mechanism.joints)
    assert ">line, loop<" in displayed
    (picture,) = re.findall(r"data:image/png;base64,([^\"]*)", displayed)
    assert base64.b64decode(picture)[:8] == b"\x89PNG\r\n\x1a\n"
    monkeypatch.setattr(notebook, "find_spec", lambda name: None)  # as where matplotlib is not installed
    assert "<img " not in robot._repr_html_()


def test_a_mechanism_of_no_bodies_is_displayed_too():
    empty = km.Mechanism("nothing", (), ())
    assert "nq = 0" in km.Robot(empty)._repr_html_()
