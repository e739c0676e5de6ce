"""A browser presses what the page has: the menu, a picture, a film, the help."""

from __future__ import annotations

import base64
import io
import json
import time

import numpy as np
import pytest
from PIL import Image

import kumitate as km
from kumitate.share.browser import Browser, opened, wait_until_ready

from ..tools import CHROMIUM

#: Keeps the files that leave the page, and what it complains of.
LISTEN = """window.files = []; window.said = [];
const make = URL.createObjectURL;
URL.createObjectURL = (blob) => { files.push(blob); return make.call(URL, blob); };
HTMLAnchorElement.prototype.click = function () { files[files.length - 1].called = this.download; };
const before = console.error;
console.error = (...words) => { said.push(words.map(String).join(" ")); before(...words); };
addEventListener("error", (event) => said.push(event.message));
addEventListener("unhandledrejection", (event) => said.push(String(event.reason)));"""
CONTENT = """new Promise((done) => {
  const reader = new FileReader();
  reader.onload = () => done(reader.result.split(",")[1]);
  reader.readAsDataURL(files[files.length - 1]);
})"""
MIDDLE = "(({x, y, width, height}) => JSON.stringify([x + width / 2, y + height / 2]))"
DRAWN = "Number(document.querySelector('canvas').dataset.triangles)"


class Page:
    """The page with a mouse and a keyboard."""

    def __init__(self, browser: Browser):
        self.browser, self.ask = browser, browser.evaluate

    def press(self, element: str) -> None:
        """Clicks the middle of an element, given as an expression."""
        x, y = json.loads(self.ask(f"{MIDDLE}({element}.getBoundingClientRect())"))
        self.press_at(x, y)

    def press_at(self, x: float, y: float) -> None:
        for kind in ("mousePressed", "mouseReleased"):
            self.browser.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def key(self, name: str) -> None:
        for kind in ("keyDown", "keyUp"):
            self.browser.call("Input.dispatchKeyEvent", type=kind, key=name)

    def until(self, condition: str) -> None:
        end = time.monotonic() + 60.0
        while not self.ask(condition):
            assert time.monotonic() < end, f"never: {condition}"
            time.sleep(0.05)

    def file(self, count: int) -> tuple[str, bytes]:
        """The name and content of the file that left as the last of `count`."""
        self.until(f"files.length == {count} && !!files[{count - 1}].called")
        return self.ask(f"files[{count - 1}].called"), base64.b64decode(self.ask(CONTENT))


def by_id(name: str) -> str:
    return f"document.getElementById('{name}')"


@pytest.fixture(scope="module")
def page(bounced, tmp_path_factory):
    path = bounced.page(tmp_path_factory.mktemp("page") / "ball.html", title="A ball, thrown")
    with opened(CHROMIUM.needed(), path.as_uri(), (900, 500), before=LISTEN) as browser:
        wait_until_ready(browser)
        yield Page(browser)
        assert browser.evaluate("JSON.stringify(said)") == "[]"
        assert browser.evaluate("JSON.stringify(performance.getEntriesByType('resource').map((one) => one.name))") == "[]"


@pytest.mark.slow
def test_the_menu_shows_and_hides_layers(page):
    """Frames of bodies are drawn when their line is pressed; a press outside closes the menu."""
    line = "[...document.querySelectorAll('#layers label')].find((one) => one.textContent.startsWith('Frames'))"
    before = page.ask(DRAWN)
    page.press("document.querySelector('#show summary')")
    assert page.ask(f"{by_id('show')}.open")
    page.press(line)
    page.until(f"{DRAWN} > {before}")
    page.press(line)
    page.until(f"{DRAWN} == {before}")
    page.press_at(60, 400)
    page.until(f"!{by_id('show')}.open")


@pytest.mark.slow
def test_a_picture_leaves_as_png(page):
    page.press("document.querySelector('#show summary')")
    page.press(by_id("picture"))
    name, content = page.file(1)
    assert name == "A-ball-thrown.png"
    picture = np.asarray(Image.open(io.BytesIO(content)).convert("RGB")).astype(int)
    width, height = json.loads(
        page.ask("JSON.stringify((({width, height}) => [width, height])(document.querySelector('canvas')))")
    )
    assert picture.shape == (height, width, 3)
    assert np.ptp(picture, axis=(0, 1)).min() > 60  # the ball and its shadow on a bright floor


@pytest.mark.slow
def test_a_film_leaves_after_one_passage(page):
    """It starts where the motion does and ends with it; then the page is as it was."""
    count = page.ask("files.length")
    page.ask("location.hash = 't=0.3'")
    if not page.ask(f"{by_id('show')}.open"):
        page.press("document.querySelector('#show summary')")
    page.press(by_id("film"))
    page.until(f"{by_id('film')}.textContent == 'Stop filming'")
    name, content = page.file(count + 1)
    assert (name, content[4:8]) == ("A-ball-thrown.mp4", b"ftyp") or (name[-5:], content[:4]) == (".webm", b"\x1a\x45\xdf\xa3")
    assert len(content) > 5_000
    assert page.ask(f"{by_id('film')}.textContent") == "Save a film"
    assert float(page.ask(f"{by_id('now')}.textContent")) == 0.6
    assert page.ask(f"{by_id('play')}.dataset.playing") == "false"


@pytest.mark.slow
def test_help_opens_and_closes_by_button_and_key(page):
    is_open = f"{by_id('help')}.open"
    page.press(by_id("explain"))
    assert page.ask(is_open)
    assert "draw calls" in page.ask(f"{by_id('drawn')}.textContent")
    page.press(f"{by_id('help')}.querySelector('button')")
    page.until(f"!{is_open}")
    page.key("?")
    page.until(is_open)
    page.key("?")
    page.until(f"!{is_open}")


@pytest.mark.slow
@pytest.mark.parametrize("size", [(900, 500), (390, 844)], ids=["wide", "phone"])
def test_names_in_legends_are_not_cut(page, size):
    """The texts of legends, the buttons and the title lie within what holds them."""
    page.browser.resize(size)
    try:
        names = "[...document.querySelectorAll('.legend .name, #view button, h1')]"
        page.until(f"innerWidth == {size[0]} && {names}.length > 20")
        assert (
            page.ask(f"{names}.filter((one) => one.scrollWidth > one.clientWidth + 1).map((one) => one.textContent).join()")
            == ""
        )
        assert page.ask("document.documentElement.scrollWidth") <= size[0]
    finally:
        page.browser.resize((900, 500))


@pytest.mark.slow
@pytest.mark.parametrize("size", [(1280, 720), (885, 560), (861, 500), (390, 780)], ids=lambda size: f"{size[0]} px")
def test_the_title_leaves_the_buttons_free(page, size):
    page.browser.resize(size)
    try:
        page.until(f"innerWidth == {size[0]}")
        boxes = "JSON.stringify(['#stage header', '#view'].map((one) => document.querySelector(one).getBoundingClientRect()))"
        title, buttons = json.loads(page.ask(boxes))
        assert title["right"] < buttons["left"] or title["bottom"] < buttons["top"]
        assert buttons["right"] <= size[0]
    finally:
        page.browser.resize((900, 500))


@pytest.mark.slow
@pytest.mark.parametrize("size", [(1280, 720), (390, 844)], ids=["wide", "phone"])
def test_legends_of_many_joints_are_whole(size, tmp_path):
    """Twenty-four joints: no line is cut, nothing is scrolled, and each card holds its legend."""
    bodies = tuple(km.Body(f"link{k}", 1.0, (0.0, 0.0, -0.1), (0.01, 0.01, 0.01)) for k in range(24))
    joints = tuple(
        km.Joint(f"joint_{k}", "revolute", f"link{k - 1}" if k else "world", f"link{k}", km.pose((0, 0, -0.2)), axis=(0, 1, 0))
        for k in range(24)
    )
    path = km.simulate(km.Mechanism("chain", bodies, joints), duration=0.01).page(tmp_path / "chain.html")
    with opened(CHROMIUM.needed(), path.as_uri(), size) as browser:
        wait_until_ready(browser)
        legends = "[...document.querySelectorAll('.legend')].filter((one) => one.children.length == 24)"
        assert browser.evaluate(f"{legends}.length") >= 3
        assert browser.evaluate(f"{legends}.every((one) => one.scrollHeight <= one.clientHeight + 1)")
        bottom = "one.getBoundingClientRect().bottom"
        assert browser.evaluate(f"{legends}.every((one) => {bottom} <= one.parentNode.getBoundingClientRect().bottom)")
