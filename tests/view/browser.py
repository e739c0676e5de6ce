"""A page in a headless browser."""

from __future__ import annotations

import subprocess
from pathlib import Path

from ..tools import CHROMIUM

FLAGS = (
    "--headless", "--no-sandbox", "--disable-dev-shm-usage",  # in a container root has no sandbox, and /dev/shm is small
    "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader",  # WebGL without a graphics card
    "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-quic",
    "--enable-logging=stderr", "--window-size=600,400", "--virtual-time-budget=2500",  # of the page's own clock [ms]
)  # fmt: skip


def played(page: Path, folder: Path, fragment: str = "") -> str:
    """The page's document after it was open for a while. Fails if the page says anything on the browser's console.

    Args:
        page: the HTML file.
        folder: an empty folder, for the browser's profile.
        fragment: what stands behind the page's address, with its "#".
    """
    command = [CHROMIUM.needed(), *FLAGS, f"--user-data-dir={folder / 'profile'}", "--dump-dom", page.as_uri() + fragment]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert "CONSOLE" not in done.stderr, done.stderr
    assert 'data-state="ready"' in done.stdout, done.stderr
    return done.stdout
