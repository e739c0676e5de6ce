"""A page inside another: compressed, in a frame of its own that can reach nothing outside of it."""

from __future__ import annotations

import base64
import gzip
import html
from collections.abc import Callable, Iterable

#: Bytes of a frame in a notebook: more make notebooks slow to load and to keep in version control.
MOST = 3_000_000

#: Unpacks the page where it is shown. Browsers of 2023 and later have DecompressionStream.
_LOADER = """<!doctype html><html lang="en"><meta charset="utf-8">
<meta name="color-scheme" content="light dark"><title>kumitate</title>
<body><p id="wait" style="font:14px system-ui;color:#888">unpacking…</p><script>
(async () => {
  try {
    const bytes = Uint8Array.from(atob("{page}"), (c) => c.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    const text = await new Response(stream).text();
    document.open(); document.write(text); document.close();
  } catch (error) {
    document.getElementById("wait").textContent =
      "This browser cannot unpack the page (" + error + "). run.page(path) writes it plainly.";
  }
})();
</script></body></html>"""


def framed(page: str, *, height: int = 560) -> str:
    """A page as an HTML element: it plays in notebooks that are opened again, without a network or a running Python.

    Args:
        page: the whole document; height: of the frame [pixels].
    """
    packed = base64.b64encode(gzip.compress(page.encode(), mtime=0)).decode("ascii")
    document = html.escape(_LOADER.replace("{page}", packed), quote=True)
    style = f"width:100%;height:{height}px;border:1px solid #8884;border-radius:6px"
    # without allow-same-origin the page cannot read the notebook, its cookies or its files
    return f'<iframe sandbox="allow-scripts" loading="lazy" title="3D playback" style="{style}" srcdoc="{document}"></iframe>'


def smallest_framed(pages: Iterable[Callable[[], str]]) -> str | None:
    """The first of these pages that is small enough in a frame, or None; they come from the richest to the plainest."""
    for page in pages:
        found = framed(page())
        if len(found) <= MOST:
            return found
    return None
