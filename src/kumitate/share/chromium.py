"""Chromium, or a browser made of it: where it is on this machine."""

from __future__ import annotations

import os
import shutil

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
