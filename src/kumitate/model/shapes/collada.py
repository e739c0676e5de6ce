"""COLLADA (.dae): geometries with the transforms of the scene, in metres, with the colours of their materials.

Read here rather than by pycollada, which drops whole geometries when a texture is missing, as one is in a foot of ANYmal.
`up_axis` is ignored, as ROS ignores it: robot files pose each mesh by its raw coordinates, and many meshes state a y-axis
that their coordinates do not follow. The unit is applied.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from xml.etree import ElementTree
from xml.parsers import expat

import numpy as np

from ...errors import InputError
from .contract import Facets
from .surfaces import join, texture_colors

#: Nodes may refer to nodes; files with more instances than this, or deeper ones, are refused as malicious.
_MOST_NODES, _DEEPEST = 100_000, 100
#: Nodes may show one geometry any number of times: more triangles than this in all are refused.
_MOST_FACES = 5_000_000
#: Encodings that every XML parser takes alike.
_ENCODINGS = {"utf-8", "us-ascii", "ascii", "iso-8859-1", "utf-16"}


def read_collada(data: bytes, where: str, find: Callable[[str], bytes | None]) -> Facets:
    """The surface of a COLLADA file's scene; of all its geometries if it has no scene.

    Args:
        data: the file's bytes.
        where: its name, for messages.
        find: gives the content of a texture by its name, or None.

    Raises:
        InputError: if it is malformed, has a document type, or refers to itself without end.
    """
    root = _parse(data, where)
    for element in root.iter():
        element.tag = element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""
    try:
        return _Scene(root, where, find).surface()
    except (LookupError, ValueError, TypeError, AttributeError, ArithmeticError, MemoryError, RecursionError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{where}: malformed COLLADA ({type(error).__name__}: {error}); export the mesh again") from None


def _parse(data: bytes, where: str) -> ElementTree.Element:
    """The root element. A first pass refuses a document type, which may define entities."""
    check = expat.ParserCreate()

    def refuse(*_: object) -> None:
        raise InputError(
            f"{where}:{check.CurrentLineNumber}: the file declares a document type, which meshes do not need and which can be "
            "used to exhaust memory or read other files; remove the declaration (<!DOCTYPE …>)"
        )

    def declared(_version: str, encoding: str | None, _standalone: int) -> None:
        if encoding and encoding.lower() not in _ENCODINGS:
            raise InputError(f"{where}: the encoding {encoding!r} is not read; save the file in UTF-8")

    check.XmlDeclHandler = declared
    check.StartDoctypeDeclHandler = check.EntityDeclHandler = refuse
    try:
        check.Parse(data, True)
        return ElementTree.fromstring(data)
    except (expat.ExpatError, ElementTree.ParseError, LookupError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{where}: malformed XML ({error}); export the mesh again") from None


class _Scene:
    """One file while it is read."""

    def __init__(self, root: ElementTree.Element, where: str, find: Callable[[str], bytes | None]):
        self.root, self.where = root, where
        self.ids = {name: element for element in root.iter() if (name := element.get("id")) is not None}
        self.find = find
        self.nodes = self.faces = 0
        self._positions: dict[str, np.ndarray] = {}

    def surface(self) -> Facets:
        unit = self.root.find("asset/unit")
        meter = float(unit.get("meter", "1").replace(",", ".")) if unit is not None else 1.0
        if not (np.isfinite(meter) and meter > 0.0):
            raise InputError(f'{self.where}: <unit meter="{meter:g}"> is not a length; write a number above 0')
        scene = self._target(self.root.find("scene/instance_visual_scene"))
        if scene is not None:
            parts = [part for node in scene.findall("node") for part in self._node(node, np.eye(4), 0)]
        else:
            parts = [part for item in self.root.iter("geometry") for part in self._geometry(item, np.eye(4), {})]
        return join(parts).scaled((meter, meter, meter))

    def _target(self, instance: ElementTree.Element | None, key: str = "url") -> ElementTree.Element | None:
        return None if instance is None else self.ids.get(instance.get(key, "").removeprefix("#"))

    # --- nodes ----------------------------------------------------------------------------------------------------------
    def _node(self, node: ElementTree.Element, above: np.ndarray, depth: int) -> Iterator[Facets]:
        self.nodes += 1
        if self.nodes > _MOST_NODES or depth > _DEEPEST:
            raise InputError(f"{self.where}: its nodes refer to one another without end, or more than {_MOST_NODES} times")
        matrix = above
        for element in node:
            if element.tag in _TRANSFORMS:
                matrix = matrix @ _TRANSFORMS[element.tag](_numbers(element))
        for element in node:
            if element.tag == "node":
                yield from self._node(element, matrix, depth + 1)
            elif element.tag == "instance_node" and (target := self._target(element)) is not None:
                yield from self._node(target, matrix, depth + 1)
            elif element.tag in ("instance_geometry", "instance_controller"):
                symbols = {item.get("symbol", ""): item.get("target", "") for item in element.iter("instance_material")}
                item = self._target(element)
                if element.tag == "instance_controller":
                    item, matrix_of_skin = self._unskinned(item)
                    yield from self._geometry(item, matrix @ matrix_of_skin, symbols)
                else:
                    yield from self._geometry(item, matrix, symbols)

    def _unskinned(self, controller: ElementTree.Element | None) -> tuple[ElementTree.Element | None, np.ndarray]:
        """The geometry of a controller (skin) in its bind pose, and its transform."""
        skin = None if controller is None else next(iter(controller), None)
        shape = None if skin is None else skin.find("bind_shape_matrix")
        return self._target(skin, "source"), np.eye(4) if shape is None else _numbers(shape).reshape(4, 4)

    # --- geometries -----------------------------------------------------------------------------------------------------
    def _geometry(self, geometry: ElementTree.Element | None, X: np.ndarray, symbols: dict[str, str]) -> Iterator[Facets]:
        mesh = None if geometry is None else geometry.find("mesh")
        for primitive in () if mesh is None else mesh:
            if primitive.tag not in _TRIANGLES:
                continue
            inputs: dict[str, tuple[int, str]] = {}
            for item in primitive.findall("input"):
                inputs.setdefault(item.get("semantic", ""), (int(item.get("offset", "0")), item.get("source", "")[1:]))
            stride = 1 + max((int(item.get("offset", "0")) for item in primitive.findall("input")), default=0)
            corners = _TRIANGLES[primitive.tag](primitive, stride)
            if len(corners) == 0:
                continue
            offset, vertices = inputs["VERTEX"]
            points = self._source(self._position_source(vertices))[:, :3]
            faces = corners[:, :, offset]
            self.faces += len(faces)
            if self.faces > _MOST_FACES:
                raise InputError(f"{self.where}: its nodes show more than {_MOST_FACES} triangles; decimate the mesh first")
            if faces.min() < 0 or faces.max() >= len(points):
                raise InputError(f"{self.where}: a face of {geometry.get('id')!r} names a vertex that is not there")  # type: ignore[union-attr]
            placed = points @ X[:3, :3].T + X[:3, 3]
            faces = faces[:, [0, 2, 1]] if np.linalg.det(X[:3, :3]) < 0.0 else faces
            yield Facets(placed, faces, self._colors(primitive, corners, inputs, symbols))

    def _position_source(self, vertices: str) -> str:
        for item in self.ids[vertices].findall("input"):
            if item.get("semantic") == "POSITION":
                return item.get("source", "")[1:]
        raise KeyError(f"the vertices {vertices!r} have no POSITION")

    def _source(self, name: str) -> np.ndarray:
        """The rows of a <source>."""
        if name not in self._positions:
            element = self.ids[name]
            accessor = element.find("technique_common/accessor")
            values = _numbers(element.find("float_array"))
            stride = 3 if accessor is None else int(accessor.get("stride", "1"))
            start = 0 if accessor is None else int(accessor.get("offset", "0"))
            count = (len(values) - start) // stride
            self._positions[name] = values[start : start + count * stride].reshape(count, stride)
        return self._positions[name]

    def _colors(self, primitive: ElementTree.Element, corners: np.ndarray, inputs: dict, symbols: dict) -> np.ndarray | None:
        """The colour of each face: of its material, of its texture at the middle of the face, or the mean of its vertices."""
        symbol = primitive.get("material", "")
        uv = None
        if "TEXCOORD" in inputs:
            offset, source = inputs["TEXCOORD"]
            uv = self._source(source)[corners[:, :, offset], :2]
        found = self._material_colors(symbols.get(symbol, symbol), len(corners), uv)
        if found is None and "COLOR" in inputs:
            offset, source = inputs["COLOR"]
            mean = self._source(source)[corners[:, :, offset], :3].mean(axis=1)
            found = np.round(255.0 * np.clip(mean, 0.0, 1.0)).astype(np.uint8)
        return found

    def _material_colors(self, material: str, count: int, uv: np.ndarray | None) -> np.ndarray | None:
        """The colours (count, 3) uint8 of faces of this material, with texture coordinates (count, 3, 2) if they have some."""
        element = self.ids.get(material.removeprefix("#"))
        effect = None if element is None else self._target(element.find("instance_effect"))
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

    def _image(self, effect: ElementTree.Element, name: str) -> bytes | None:
        """The texture that a sampler's name leads to: sampler, surface, image, file. Some files name the image at once."""
        parameters = {item.get("sid"): item for item in effect.iter("newparam")}
        for step in ("sampler2D/source", "surface/init_from"):
            if name in parameters:
                name = (parameters[name].findtext(step) or "").strip()
        image = self.ids.get(name)
        file = None if image is None else image.findtext("init_from") or image.findtext("init_from/ref")
        return self.find(file.strip()) if file and file.strip() else None


# --- triangles of primitives: (m, 3, stride) indices ------------------------------------------------------------------------
def _fans(indices: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Polygons of so many corners each, cut into triangles from their first corner."""
    counts = _whole(np.asarray(counts))
    if len(counts) and (counts.min() < 0 or counts.sum() > len(indices)):
        raise ValueError("the polygons have more corners than are listed")
    starts = np.concatenate([[0], np.cumsum(counts)[:-1]]).astype(int)
    pieces = np.maximum(counts - 2, 0)
    first = np.repeat(starts, pieces)
    step = np.arange(pieces.sum()) - np.repeat(np.cumsum(pieces) - pieces, pieces) + 1
    return indices[np.stack([first, first + step, first + step + 1], axis=1)]


def _triangles(primitive: ElementTree.Element, stride: int) -> np.ndarray:
    indices = np.concatenate([_indices(part, 3 * stride) for part in primitive.findall("p")] or [np.zeros(0, dtype=int)])
    return indices.reshape(-1, 3, stride)


def _polylist(primitive: ElementTree.Element, stride: int) -> np.ndarray:
    found = primitive.find("p")
    return _fans(_indices(found, stride).reshape(-1, stride), _numbers(primitive.find("vcount")))


def _polygons(primitive: ElementTree.Element, stride: int) -> np.ndarray:
    """Each <p> a polygon. Holes (<ph>) are filled."""
    rings = [_indices(part, stride).reshape(-1, stride) for part in [*primitive.findall("p"), *primitive.findall("ph/p")]]
    return _fans(np.concatenate(rings or [np.zeros((0, stride), dtype=int)]), np.array([len(ring) for ring in rings]))


def _strips(primitive: ElementTree.Element, stride: int) -> np.ndarray:
    found = [np.zeros((0, 3, stride), dtype=int)]
    for part in primitive.findall("p"):
        ring = _indices(part, stride).reshape(-1, stride)
        triangles = np.stack([ring[:-2], ring[1:-1], ring[2:]], axis=1)
        triangles[1::2] = triangles[1::2, [1, 0, 2]]  # every other one is listed in reverse order
        found.append(triangles)
    return np.concatenate(found)


_TRIANGLES = {
    "triangles": _triangles, "polylist": _polylist, "polygons": _polygons, "trifans": _polygons, "tristrips": _strips,
}  # fmt: skip


# --- numbers and transforms -------------------------------------------------------------------------------------------------
def _numbers(element: ElementTree.Element | None, kind: type = float) -> np.ndarray:
    text = "" if element is None or element.text is None else element.text
    if not text.strip():
        return np.zeros(0, kind)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # the only sign of a word that is not a number
        try:
            return np.fromstring(text, kind, sep=" ")
        except (DeprecationWarning, ValueError):
            raise ValueError(f"<{element.tag}> holds words that are not numbers") from None  # type: ignore[union-attr]


def _whole(values: np.ndarray) -> np.ndarray:
    """Indices and counts, written as whole numbers."""
    if not (np.abs(values) < 2**31).all():  # NaN is not
        raise ValueError("an index is not a whole number of a usual size")
    return values.astype(int)


def _indices(element: ElementTree.Element | None, multiple: int) -> np.ndarray:
    values = _whole(_numbers(element, int))
    return values[: len(values) // multiple * multiple]


def _translate(v: np.ndarray) -> np.ndarray:
    matrix = np.eye(4)
    matrix[:3, 3] = v[:3]
    return matrix


def _rotate(v: np.ndarray) -> np.ndarray:
    """About an axis by an angle in degrees, by Rodrigues' formula."""
    matrix, length = np.eye(4), float(np.linalg.norm(v[:3]))
    if length > 0.0:
        x, y, z = v[:3] / length
        cross, angle = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]]), np.deg2rad(v[3])
        matrix[:3, :3] += np.sin(angle) * cross + (1.0 - np.cos(angle)) * cross @ cross
    return matrix


_TRANSFORMS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "matrix": lambda v: v.reshape(4, 4), "translate": _translate, "rotate": _rotate,
    "scale": lambda v: np.diag([*v[:3], 1.0]),
}  # fmt: skip
