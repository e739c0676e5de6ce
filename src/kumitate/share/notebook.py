"""What notebooks display: a robot's picture and joints, runs that play."""

from __future__ import annotations

import base64
import gzip
import html
import io
from collections.abc import Callable, Iterable, Sequence
from importlib.util import find_spec
from typing import Any

from ..errors import KumitateError
from ..model import Mechanism
from ..model.bounds import limits_text

# --- A page inside another: compressed, in a frame of its own that can reach nothing outside of it ------------------------
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


def framed(page: str) -> str:
    """A page, the whole document, as an element: it plays in notebooks that are opened again, without a running Python."""
    document = html.escape(self_unpacking(page), quote=True)
    style = "width:100%;height:560px;border:1px solid #8884;border-radius:6px"
    # without allow-same-origin the page cannot read the notebook, its cookies or its files
    return f'<iframe sandbox="allow-scripts" loading="lazy" title="3D playback" style="{style}" srcdoc="{document}"></iframe>'


def self_unpacking(page: str) -> str:
    """A page as a third of its characters, a document that unpacks itself where it is opened."""
    packed = base64.b64encode(gzip.compress(page.encode(), mtime=0)).decode("ascii")
    return _LOADER.replace("{page}", packed)


# --- robots and runs ------------------------------------------------------------------------------------------------------
#: Pictures per second of the page in a notebook, tried in this order until it is small enough.
_RATES = (50, 25, 10)
#: Joints that are listed at once; the others are folded.
_LISTED = 12
#: Size of a picture's longer side [inches], and its sharpness [dots per inch].
_SIDE, _DOTS = 3.6, 130


def robot_html(mechanism: Mechanism, q: Any) -> str:
    """A robot at coordinates q (nq): its picture, if matplotlib is installed, and its joints."""
    picture = _picture(mechanism, q) if find_spec("matplotlib") and mechanism.bodies else ""
    counted = ((len(mechanism.bodies), "body", "bodies"), (len(mechanism.loops), "loop", "loops"))
    counts = [f"{count} {one if count == 1 else many}" for count, one, many in counted if count]
    counts += [f"nq = {mechanism.nq}, nv = {mechanism.nv}", f"{sum(body.mass for body in mechanism.bodies):.4g} kg"]
    rows = [(j.name, j.kind.name, f"{j.parent} → {j.child}", limits_text(j.limits)) for j in mechanism.joints]
    rows += [(loop.name, f"{loop.kind.name}, loop", f"{loop.body_a} – {loop.body_b}", "") for loop in mechanism.loops]
    titles = ("joint", "kind", "between", "limits [rad, m]")
    columns = slice(None) if any(row[-1] for row in rows) else slice(-1)
    table = _table(titles[columns], [row[columns] for row in rows])
    return (
        f'<div><p><b>{html.escape(mechanism.name)}</b> · {html.escape(", ".join(counts))}</p>'
        f'<div style="display:flex;flex-wrap:wrap;gap:1em;align-items:flex-start">{picture}<div>{table}</div></div></div>'
    )  # fmt: skip


def run_html(title: str, facts: Sequence[str], page: Callable[[int], str]) -> str:
    """A run that plays in a frame: its title, facts about it, and `page`, the document at so many pictures per second."""
    frames = (framed(page(rate)) for rate in _RATES)
    frame = next((frame for frame in frames if len(frame) <= MOST), None)  # from the richest to the plainest
    shown = frame or "<p>Too large to be kept in a notebook; run.page(path) writes it to a file.</p>"
    notes = "".join(f"<li>{html.escape(fact)}</li>" for fact in facts)
    return f"<div><p><b>{html.escape(title)}</b></p>{shown}<details><summary>Notes</summary><ul>{notes}</ul></details></div>"


def live_html(title: str, page: Callable[[], str]) -> str:
    """A simulation that plays in a frame, as `page` gives the document; or the reason that it does not play."""
    try:
        frame = framed(page())
        shown = frame if len(frame) <= MOST else "<p>Too large for a notebook; simulation.page(path) writes it to a file.</p>"
    except KumitateError as error:
        shown = f"<p>{html.escape(str(error))}</p>"
    return f"<div><p><b>{html.escape(title)}</b></p>{shown}</div>"


def _table(titles: Iterable[str], rows: Sequence[Sequence[str]]) -> str:
    head = "".join(f'<th style="text-align:left">{title}</th>' for title in titles)
    lines = [
        "<tr>" + "".join(f'<td style="text-align:left">{html.escape(cell)}</td>' for cell in row) + "</tr>" for row in rows
    ]
    first = f"<table><tr>{head}</tr>{''.join(lines[:_LISTED])}</table>"
    if len(lines) <= _LISTED:
        return first
    return f"{first}<details><summary>{len(lines) - _LISTED} more</summary><table>{''.join(lines[_LISTED:])}</table></details>"


def _picture(mechanism: Mechanism, q: Any) -> str:
    """The robot as a PNG in an element."""
    from ..view.drawing_window import Stage
    from ..view.scene import body_poses
    from ..view.stick_shapes import with_struts
    from ..view.style import drawing, print_style

    drawn, poses = with_struts(mechanism, body_poses(mechanism, q)[None])
    stage = Stage(drawn, poses)
    width, height = _SIDE * stage.size / max(stage.size)
    file = io.BytesIO()
    with print_style():
        figure = drawing("matplotlib.figure").Figure(figsize=(max(width, 1.2), max(height, 1.2)))
        axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
        stage.frame(axes, poses[0])
        stage.draw(axes, poses[0])
        figure.savefig(file, format="png", dpi=_DOTS)
    data = base64.b64encode(file.getvalue()).decode("ascii")
    return (
        f'<img alt="{html.escape(mechanism.name)}" style="max-width:100%;max-height:20em" src="data:image/png;base64,{data}">'
    )
