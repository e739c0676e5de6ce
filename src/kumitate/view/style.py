"""The style of printed figures: type, colours, sizes, common to all figures of a paper."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from ..errors import InputError, needed
from ..model.files import replacing

#: Colours that are distinguishable with any colour vision, and in grey (after Okabe and Ito).
PALETTE = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7f3c8d", "#5f5f5f")
LINE_STYLES: tuple[Any, ...] = ("-", (0, (5, 1.6)), (0, (1.2, 1.2)), (0, (5, 1.4, 1.2, 1.4)), (0, (9, 2)))
INK, QUIET = "#1a1a1a", "#8a8a8a"
#: Fonts of common systems with Japanese letters, for names of bodies and joints.
_JAPANESE = (
    "Noto Serif CJK JP", "Noto Sans CJK JP", "Noto Sans JP", "IPAexMincho", "IPAexGothic", "IPAGothic", "TakaoGothic",
    "VL Gothic", "Hiragino Mincho ProN", "Hiragino Sans", "Yu Mincho", "Yu Gothic", "MS Gothic",
)  # fmt: skip
FORMATS = (".pdf", ".eps", ".png", ".svg")

_STYLE: Mapping[str, Any] = {
    "font.family": ["STIXGeneral", "DejaVu Sans"], "mathtext.fontset": "stix", "font.size": 8.5, "axes.labelsize": 8.5,
    "xtick.labelsize": 7.5, "ytick.labelsize": 7.5, "legend.fontsize": 7.5, "axes.titlesize": 8.5,
    "axes.linewidth": 0.6, "axes.edgecolor": INK, "axes.labelcolor": INK, "text.color": INK,
    "axes.spines.top": False, "axes.spines.right": False, "axes.grid": True, "axes.axisbelow": True,
    "grid.color": "#e4e4e4", "grid.linewidth": 0.5, "xtick.color": INK, "ytick.color": INK, "xtick.direction": "out",
    "xtick.major.width": 0.6, "ytick.major.width": 0.6, "xtick.major.size": 2.5, "ytick.major.size": 2.5,
    "lines.linewidth": 1.1, "lines.solid_capstyle": "round", "legend.frameon": False, "legend.handlelength": 1.7,
    "axes.formatter.limits": (-4, 5), "axes.formatter.use_mathtext": True, "axes.unicode_minus": True,
    "pdf.fonttype": 42, "ps.fonttype": 42, "svg.fonttype": "path", "svg.hashsalt": "kumitate",
    "savefig.dpi": 220, "figure.facecolor": "white", "savefig.facecolor": "white",
}  # fmt: skip


def print_style() -> AbstractContextManager[None]:
    """A context in which matplotlib draws in this style; the user's settings are restored afterwards."""
    fonts = drawing("matplotlib.font_manager").fontManager.get_font_names()
    japanese = [name for name in _JAPANESE if name in fonts][:1]  # matplotlib takes each letter from the first that has it
    return drawing("matplotlib.style").context(["default", {**_STYLE, "font.family": [*_STYLE["font.family"], *japanese]}])


def drawing(module: str) -> Any:
    """A module of matplotlib or Pillow, loaded on first use; `InputError` names the extra that installs it."""
    package = "Pillow" if module.startswith("PIL") else module.partition(".")[0]
    return needed(module, f"figures and animations need {package}", "plot")


def curve_style(index: int) -> dict[str, Any]:
    """Colour and dashes of the curve number `index`: colours first, then the same colours dashed."""
    return {"color": PALETTE[index % len(PALETTE)], "linestyle": LINE_STYLES[index // len(PALETTE) % len(LINE_STYLES)]}


def tint(color: Any, amount: float) -> tuple[float, float, float]:
    """The colour mixed with white (amount > 0, 1: white) or black (amount < 0, −1: black); opaque, for EPS."""
    goal = 1.0 if amount > 0.0 else 0.0
    red, green, blue = (part + (goal - part) * abs(amount) for part in drawing("matplotlib.colors").to_rgb(color))
    return red, green, blue


def write_figure(figure: Any, path: str | os.PathLike[str]) -> Path:
    """Write a matplotlib figure as PDF, EPS, PNG or SVG, by the suffix; whole or not at all, and the same bytes every time.

    Args:
        figure: or a function that draws it, which is called once the path is known to be good.

    Raises:
        InputError: for another suffix, or a folder that does not exist.
    """
    target = checked_target(path)
    drawn, suffix = figure() if callable(figure) else figure, target.suffix.lower()
    dated = {".pdf": {"CreationDate": None}, ".svg": {"Date": None}}
    with replacing(target) as temporary, print_style():
        drawn.savefig(temporary, format=suffix[1:], metadata=dated.get(suffix))
    return target


def checked_target(path: str | os.PathLike[str]) -> Path:
    """The path, if its suffix is one of the formats of figures."""
    target = Path(path)
    if target.suffix.lower() not in FORMATS:
        raise InputError(f"{target}: figures are written as {', '.join(FORMATS)}; {target.suffix!r} is not one of these")
    return target
