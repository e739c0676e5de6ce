"""The live viewer in a headless browser: a button and the mouse reach the simulation, and nothing is asked for from outside."""

import json
import time

import pytest

import kumitate as km
from kumitate.share.browser import opened

from ..tools import CHROMIUM

WIDE, HIGH = 900, 500
#: Keeps the errors of the page's console; viser's libraries warn of their own changes to come.
LISTEN = """window.said = [];
const before = console.error;
console.error = (...words) => { window.said.push(words.map(String).join(" ")); before(...words); };
addEventListener("error", (event) => window.said.push(event.message));
addEventListener("unhandledrejection", (event) => window.said.push(String(event.reason)));"""
PLAY = "[...document.querySelectorAll('button')].find((one) => one.textContent.trim() == 'Play')"
ASKED = "JSON.stringify(performance.getEntriesByType('resource').map((one) => one.name))"


def until(condition, seconds=90.0):
    """Waits until something holds, as long as a slow machine without a graphics card may need."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "the page does not answer"
        time.sleep(0.1)


@pytest.mark.slow
def test_a_button_plays_and_the_mouse_drags():
    """A ball without weight stays in the middle of the picture until the mouse takes it along."""
    body = km.Body("ball", 1.0, inertia=(0.1, 0.1, 0.1), visuals=(km.Geometry(km.Sphere(0.5)),))
    floating = km.Mechanism("floating", (body,), (km.Joint("free", "floating", "world", "ball"),), gravity=(0, 0, 0))
    with (
        km.Simulation(floating).view(port=18480) as view,
        opened(CHROMIUM.needed(), view.url, (WIDE, HIGH), before=LISTEN) as browser,
    ):
        player = view.player

        def mouse(kind, x, y):
            browser.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", buttons=1, clickCount=1)

        def dragged():
            mouse("mousePressed", WIDE / 2, HIGH / 2)
            for k in range(1, 9):
                mouse("mouseMoved", WIDE / 2 - 10 * k, HIGH / 2)
                time.sleep(0.05)
            if player.spring is None:  # the scene is not drawn yet
                mouse("mouseReleased", WIDE / 2 - 80, HIGH / 2)
            return player.spring is not None

        until(lambda: browser.evaluate(f"!!{PLAY}"))
        browser.evaluate(f"{PLAY}.click()")
        until(lambda: player.playing and player.state.time > 0.1)
        assert abs(player.state.q[4:]).max() == 0.0
        until(dragged)
        assert player.spring.body == "ball"
        until(lambda: abs(player.state.q[4:]).max() > 0.02)
        mouse("mouseReleased", WIDE / 2 - 80, HIGH / 2)
        until(lambda: player.spring is None)
        assert browser.evaluate("JSON.stringify(window.said)") == "[]"
        asked = json.loads(browser.evaluate(ASKED))
        assert [url for url in asked if not url.startswith((view.url, "data:", "blob:"))] == []
