"""Pictures of a page at given times, by a browser without a window."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from ..errors import InputError
from .devtools import PATIENCE, Browser, opened

#: Shows the page's 3D view alone, with the title and without what only a reader uses.
_BARE = "footer, #view, #facts, #notes { display: none !important; } body { grid-template-rows: 1fr 0 !important; }"


#: Shows a time, and waits until it is drawn: the page draws in its own callback of a frame, which comes before this one.
_AT = """new Promise((done) => {
  addEventListener("hashchange", () => requestAnimationFrame(() => done(true)), { once: true });
  location.hash = "{hash}";
})"""


def page_pictures(program: str, page: Path, times: Sequence[float], size: tuple[int, int]) -> Iterator[bytes]:
    """PNG pictures of a page of `Run.page` at these times [s].

    Args:
        program: the browser's path; page: the HTML file; size: of a picture [pixels].

    Raises:
        InputError: if the browser does not start or does not answer.
    """
    with opened(program, f"{page.resolve().as_uri()}#t={float(times[0])!r}", size) as browser:
        wait_until_ready(browser)
        style = f"document.head.appendChild(document.createElement('style')).textContent = {json.dumps(_BARE)}"
        browser.evaluate(f"{style}; dispatchEvent(new Event('resize')); document.getElementById('trail').click()")
        for k, moment in enumerate(times):
            browser.evaluate(_AT.replace("{hash}", f"t={float(moment)!r}&picture={k}"))
            yield browser.picture()


def wait_until_ready(browser: Browser) -> None:
    """Waits until a page of `Run.page` has drawn itself.

    Raises:
        InputError: if it cannot.
    """
    until = time.monotonic() + PATIENCE
    while (state := browser.evaluate("document.documentElement.dataset.state")) != "ready":
        if state == "failed" or time.monotonic() > until:
            raise InputError(f"the page is {state or 'not loaded'} in the browser; open it there to see why")
        time.sleep(0.05)
    trouble = browser.evaluate("(document.querySelector('#trouble:not([hidden])') || {}).textContent")
    if trouble:
        raise InputError(f"the browser says of the page: {trouble}")
