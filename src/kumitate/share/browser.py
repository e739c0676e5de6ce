"""Pictures of a page at given times, by a browser without a window."""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import signal
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

from ..errors import InputError

# --- A browser without a window, and what it shows ------------------------------------------------------------------------
# Chromium is spoken to by its DevTools protocol over two pipes, its file descriptors 3 and 4: JSON texts that end with a zero
# byte.

#: Whether a process can be given pipes of these numbers here: not on Windows.
SUPPORTED = hasattr(os, "posix_spawn")
#: Seconds that an answer may take: without a graphics card a picture of a large robot takes some.
PATIENCE = 120.0
_FLAGS = (
    "--headless", "--remote-debugging-pipe", "--disable-dev-shm-usage", "--hide-scrollbars",
    "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader",  # WebGL without a graphics card
    "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--force-prefers-reduced-motion",  # the page does not begin to play
)  # fmt: skip


@contextmanager
def opened(program: str, url: str, size: tuple[int, int], *, before: str = "") -> Iterator[Browser]:
    """A browser, by its path, that shows an address in a window of a size [pixels]; it ends with the block.

    The script `before` runs before those of the page. Raises `InputError` if the browser does not start or answer.
    """
    with tempfile.TemporaryDirectory(prefix="kumitate-", ignore_cleanup_errors=True) as folder, ExitStack() as stack:
        browser = _with_page(stack, [program, *_FLAGS, f"--user-data-dir={folder}", f"--window-size={size[0]},{size[1]}"])
        browser.resize(size)
        browser.call("Page.enable")
        if before:
            browser.call("Page.addScriptToEvaluateOnNewDocument", source=before)
        browser.call("Page.navigate", url=url)
        yield browser


def _with_page(stack: ExitStack, command: Sequence[str]) -> Browser:
    """A browser with an empty page, which ends with the stack.

    Its sandbox is left out where it does not start: for root, and in containers that keep users from making one.
    """
    for option in ("--no-sandbox",) if os.geteuid() == 0 else ("", "--no-sandbox"):
        browser = stack.enter_context(_started([*command, *([option] if option else []), "about:blank"]))
        try:
            target = browser.call("Target.createTarget", url="about:blank")["targetId"]
            browser.session = browser.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
            break
        except InputError:
            stack.close()
            if option:
                raise
    return browser


class Browser:
    """A browser's end of the pipes; `session`: of the page."""

    def __init__(self, read: int, write: int):
        self._read, self._write, self._buffer, self._count = read, write, b"", 0
        self.session = ""

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Calls a method of the protocol and gives its result."""
        self._count += 1
        message: dict[str, Any] = {"id": self._count, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        data = json.dumps(message).encode() + b"\0"
        try:
            while data:
                data = data[os.write(self._write, data) :]
        except OSError as error:
            raise InputError(f"the browser ended ({error.strerror})") from error
        while True:
            answer = json.loads(self._next())
            if answer.get("id") == self._count:
                if "error" in answer:
                    raise InputError(f"the browser refuses {method}: {answer['error'].get('message')}")
                return dict(answer["result"])

    def evaluate(self, expression: str) -> Any:
        """The value of an expression in the page, or that a promise comes to."""
        found = self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        return found["result"].get("value")

    def resize(self, size: tuple[int, int]) -> None:
        """Gives the page another size [pixels]."""
        self.call("Emulation.setDeviceMetricsOverride", width=size[0], height=size[1], deviceScaleFactor=1, mobile=False)

    def picture(self) -> bytes:
        """What is seen now, as PNG."""
        return base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"])

    def _next(self) -> bytes:
        until = time.monotonic() + PATIENCE
        while b"\0" not in self._buffer:
            ready, _, _ = select.select([self._read], [], [], max(0.0, until - time.monotonic()))
            part = os.read(self._read, 1 << 20) if ready else b""
            if not part:
                raise InputError("the browser ended, or did not answer within two minutes")
            self._buffer += part
        found, _, self._buffer = self._buffer.partition(b"\0")
        return found


@contextmanager
def _started(command: Sequence[str]) -> Iterator[Browser]:
    """The browser with its pipes; it is ended with the block."""
    import fcntl  # not on Windows

    theirs_in, ours_out = os.pipe()
    ours_in, theirs_out = os.pipe()
    # away from 3 and 4 first, which may be among them
    high = [fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 10) for end in (theirs_in, theirs_out)]
    nothing = os.open(os.devnull, os.O_RDWR)
    actions = [(os.POSIX_SPAWN_DUP2, nothing, k) for k in range(3)]
    actions += [(os.POSIX_SPAWN_DUP2, high[0], 3), (os.POSIX_SPAWN_DUP2, high[1], 4)]
    try:
        process = os.posix_spawn(command[0], list(command), dict(os.environ), file_actions=actions)
    except OSError as error:
        raise InputError(f"{command[0]}: the browser does not start ({error.strerror})") from error
    finally:
        for end in (theirs_in, theirs_out, *high, nothing):
            os.close(end)
    try:
        yield Browser(ours_in, ours_out)
    finally:
        for end in (ours_in, ours_out):
            os.close(end)  # the browser ends when its pipe does
        _ended(process)


def _ended(process: int) -> None:
    until = time.monotonic() + 5.0
    while time.monotonic() < until:
        if os.waitpid(process, os.WNOHANG)[0]:
            return
        time.sleep(0.02)
    with suppress(ProcessLookupError):
        os.kill(process, signal.SIGKILL)
    os.waitpid(process, 0)


# --- Chromium, or a browser made of it: where it is on this machine -------------------------------------------------------
#: The environment variable that names another one.
VARIABLE = "KUMITATE_CHROMIUM"
#: What it may be called on the PATH, or in full, the first choice first.
NAMES = (
    "chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "microsoft-edge", "microsoft-edge-stable",
    "brave-browser", "chrome", "msedge", "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium", "/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge",
    r"C:\Program Files\Google\Chrome\Application\chrome.exe", r"C:\Program Files (x86)\Microsoft\Edge\Application\msedge.exe",
)  # fmt: skip


def find_chromium() -> str | None:
    """The path of the browser; None where there is none."""
    chosen = os.environ.get(VARIABLE)
    names = (chosen,) if chosen else NAMES
    return next((path for name in names if (path := shutil.which(name))), None)


# --- pictures of a page ---------------------------------------------------------------------------------------------------
#: Shows the page's 3D view alone, with the title and without what only a reader uses.
_BARE = "footer, #view, #facts, #notes { display: none !important; } body { grid-template-rows: 1fr 0 !important; }"
#: Shows a time, and waits until it is drawn: the page draws in its own callback of a frame, which comes before this one.
_AT = """new Promise((done) => {
  addEventListener("hashchange", () => requestAnimationFrame(() => done(true)), { once: true });
  location.hash = "{hash}";
})"""


def page_pictures(program: str, page: Path, times: Sequence[float], size: tuple[int, int]) -> Iterator[bytes]:
    """PNG pictures, of a size [pixels], of a file of `Run.page` at these times [s], by a browser; errors as of `opened`."""
    with opened(program, f"{page.resolve().as_uri()}#t={float(times[0])!r}", size) as browser:
        wait_until_ready(browser)
        style = f"document.head.appendChild(document.createElement('style')).textContent = {json.dumps(_BARE)}"
        browser.evaluate(f"{style}; dispatchEvent(new Event('resize')); document.getElementById('trail').click()")
        for k, moment in enumerate(times):
            browser.evaluate(_AT.replace("{hash}", f"t={float(moment)!r}&picture={k}"))
            yield browser.picture()


def wait_until_ready(browser: Browser) -> None:
    """Waits until a page of `Run.page` has drawn itself; raises `InputError` if it cannot."""
    until = time.monotonic() + PATIENCE
    while (state := browser.evaluate("document.documentElement.dataset.state")) != "ready":
        if state == "failed" or time.monotonic() > until:
            raise InputError(f"the page is {state or 'not loaded'} in the browser; open it there to see why")
        time.sleep(0.05)
    trouble = browser.evaluate("(document.querySelector('#trouble:not([hidden])') || {}).textContent")
    if trouble:
        raise InputError(f"the browser says of the page: {trouble}")
