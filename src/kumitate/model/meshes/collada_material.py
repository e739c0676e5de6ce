"""Materials of COLLADA: the diffuse colour or texture of a face."""

from __future__ import annotations

from collections.abc import Callable
from xml.etree import ElementTree

import numpy as np

from .paint import texture_colors


class Materials:
    """The materials of one file; `ids` are its elements by id, `find` gives a texture's content by its name, or None."""

    def __init__(self, ids: dict[str, ElementTree.Element], find: Callable[[str], bytes | None]):
        self._ids = ids
        self._find = find

    def colors(self, material: str, count: int, uv: np.ndarray | None) -> np.ndarray | None:
        """The colours (count, 3) uint8 of faces of this material, with texture coordinates (count, 3, 2) if they have some."""
        effect = self._follow(self._ids.get(material.removeprefix("#")), "instance_effect")
        shading = None if effect is None else effect.find("profile_COMMON/technique")
        diffuse = None if shading is None else shading.find("*/diffuse")
        if diffuse is None and shading is not None:
            diffuse = shading.find("constant/emission")
        if effect is None or diffuse is None:
            return None
        color, texture = diffuse.find("color"), diffuse.find("texture")
        if color is not None:
            rgb = np.clip([float(word) for word in (color.text or "").split()[:3]], 0.0, 1.0)
            return np.tile(np.round(255.0 * rgb).astype(np.uint8), (count, 1)) if len(rgb) == 3 else None
        image = None if texture is None or uv is None else self._image(effect, texture.get("texture", ""))
        return None if image is None or uv is None else texture_colors(image, uv)

    def _follow(self, element: ElementTree.Element | None, tag: str) -> ElementTree.Element | None:
        part = None if element is None else element.find(tag)
        return None if part is None else self._ids.get(part.get("url", "").removeprefix("#"))

    def _image(self, effect: ElementTree.Element, name: str) -> bytes | None:
        """The texture that a sampler's name leads to: sampler, surface, image, file. Some files name the image at once."""
        parameters = {item.get("sid"): item for item in effect.iter("newparam")}
        for step in ("sampler2D/source", "surface/init_from"):
            if name in parameters:
                name = (parameters[name].findtext(step) or "").strip()
        image = self._ids.get(name)
        file = None if image is None else image.findtext("init_from") or image.findtext("init_from/ref")
        return self._find(file.strip()) if file and file.strip() else None
