"""The self-contained page: 3D playback and linked plots on one timeline, in one HTML file that needs no network."""

from __future__ import annotations

import html
import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..errors import InputError
from ..simulate.whole_file import replacing

__all__ = ["write_page"]

ASSETS = Path(__file__).with_name("assets")


def write_page(path: str | os.PathLike[str], scene: Mapping[str, Any]) -> Path:
    """Write a scene of `build_scene` as one HTML file, whole or not at all.

    Args:
        path: of the file; its folder must exist.

    Returns:
        The path.

    Raises:
        InputError: if the folder does not exist, the disk refuses, or the scene holds something that is not plain data.
    """
    target = Path(path)
    with replacing(target) as temporary:
        temporary.write_text(_page(scene, str(target)), encoding="utf-8", newline="\n")
    return target


def _page(scene: Mapping[str, Any], target: str) -> str:
    try:
        data = json.dumps(scene, allow_nan=False, ensure_ascii=True, separators=(",", ":"))
    except (TypeError, ValueError) as error:
        raise InputError(f"{target}: the scene is not plain data ({error}); make it with build_scene") from error
    parts = {
        "title": html.escape(str(scene.get("title", ""))),
        "style": _asset("page.css"),
        # the same JSON, but nothing in it can close the HTML element that holds it
        "scene": data.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026"),
        "player": _asset("player.js"),
    }
    # one pass, so that data is never treated as a template
    return re.sub(r"\{\{(\w+)\}\}", lambda found: parts[found[1]], _asset("page.html"))


def _asset(name: str) -> str:
    return (ASSETS / name).read_text(encoding="utf-8")
