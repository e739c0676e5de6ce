"""Reading mesh files: binary STL and COLLADA by our own readers, STL as text and OBJ by trimesh, whose import takes a second.

COLLADA is read here rather than by pycollada, which drops whole geometries when a texture is missing, as one is in a foot of
ANYmal.
`up_axis` is ignored, as ROS ignores it: robot files pose each mesh by its raw coordinates, and many meshes state a y-axis
that their coordinates do not follow. The unit is applied.

What is made of a surface is kept on disk with the compiled code, named by the content of the file it was made from.
"""

from __future__ import annotations

import hashlib
import io
import logging
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from xml.etree import ElementTree
from xml.parsers import expat

import numpy as np

from ...compile.disk import cached
from ...errors import InputError, needed
from ..files import file_bytes
from .contract import Facets
from .surfaces import SideFiles, join, texture_colors, weld

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
    """The root element. A first pass, up to its tag, refuses a document type, which may define entities."""
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
    begun: list[str] = []
    check.StartElementHandler = lambda tag, _: begun.append(tag)
    try:
        any(check.Parse(data[k : k + 4096]) and begun for k in range(0, len(data), 4096))  # until it has begun
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

        found = self._material_colors(symbols.get(symbol, symbol), corners, inputs)
        if found is None and "COLOR" in inputs:
            offset, source = inputs["COLOR"]
            mean = self._source(source)[corners[:, :, offset], :3].mean(axis=1)
            found = np.round(255.0 * np.clip(mean, 0.0, 1.0)).astype(np.uint8)
        return found

    def _material_colors(self, material: str, corners: np.ndarray, inputs: dict) -> np.ndarray | None:
        """The colours (count, 3) uint8 of faces of this material."""
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
            return np.tile(np.round(255.0 * rgb).astype(np.uint8), (len(corners), 1)) if len(rgb) == 3 else None
        image = None if texture is None else self._image(effect, texture.get("texture", ""))
        offset, source = inputs.get("TEXCOORD", (0, None))
        places = None if image is None or source is None else self._source(source)[corners[:, :, offset], :2]
        return None if places is None else texture_colors(image, places)

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


# --- mesh files -----------------------------------------------------------------------------------------------------------
SUFFIXES = (".stl", ".obj", ".dae")
#: The version of cached surfaces; another number invalidates all.
_VERSION = 1
#: A triangle in a binary STL: its normal, its corners, two bytes that writers use as they like.
_TRIANGLE = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("rest", "V2")])
#: The largest size of mesh files [bytes].
_LARGEST = 2**30
#: The surfaces read last, of so many vertices together, by their content: contact and pictures each make something of them.
_read_last: dict[str, Facets] = {}
_KEPT = 500_000


@np.errstate(invalid="ignore", over="ignore")  # numbers that are not finite are told as an error
def read_surface(data: bytes, path: Path, beside: SideFiles) -> Facets:
    """The surface of a mesh file, in metres, with coinciding vertices merged.

    Args:
        data: the file's bytes.
        path: its suffix says the format, in capitals or not; and it is named in messages.
        beside: the files beside it: materials, textures.

    Raises:
        InputError: if the format is unknown, the content broken or empty, or trimesh missing.
    """
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise InputError(f"{path}: meshes of the kind {path.suffix!r} are not read; convert it to one of {', '.join(SUFFIXES)}")
    if suffix == ".dae":
        surface = read_collada(data, str(path), beside.find)
    else:
        surface = _binary_stl(data) if suffix == ".stl" and _is_binary(data) else _by_trimesh(data, path, beside)
    if not np.isfinite(surface.vertices).all():
        raise InputError(f"{path}: some of its vertices are not finite; export the mesh again")
    surface = weld(surface)
    if len(surface.faces) == 0:
        raise InputError(f"{path}: there is no triangle in it; export the mesh again")
    return surface


def _is_binary(data: bytes) -> bool:
    """Whether bytes have the length that a binary STL announces."""
    return len(data) >= 84 and len(data) == 84 + _TRIANGLE.itemsize * int.from_bytes(data[80:84], "little")


def _binary_stl(data: bytes) -> Facets:
    corners = np.frombuffer(data, _TRIANGLE, offset=84)["corners"].astype(float).reshape(-1, 3)
    return Facets(corners, np.arange(len(corners)).reshape(-1, 3))


def _by_trimesh(data: bytes, path: Path, beside: SideFiles) -> Facets:
    trimesh = needed("trimesh", "meshes need the package trimesh", "mesh")
    if path.suffix.lower() == ".obj":  # names in it may be in any encoding, and do not matter
        data = data.decode("utf-8", errors="replace").encode()
    if path.suffix.lower() == ".stl" and not _is_text(data):
        raise InputError(
            f"{path}: cannot be read as .stl (it is neither of the binary kind nor text in UTF-8); export it again"
        )
    try:
        with _silent("trimesh"):
            scene = trimesh.load_scene(io.BytesIO(data), file_type=path.suffix.lower()[1:], process=False, resolver=beside)
            parts = [item for item in scene.dump(concatenate=False) if isinstance(item, trimesh.Trimesh)]
            return join([_surface(part) for part in parts])
    except Exception as error:  # the loaders raise errors of any kind
        why = f"{type(error).__name__}: {error}"
    raise InputError(f"{path}: cannot be read as {path.suffix} ({why}); export it again")


def _is_text(data: bytes) -> bool:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _surface(part: Any) -> Facets:
    for what, rows in (("vertices", part.vertices), ("faces", part.faces)):
        if np.ndim(rows) != 2 or np.shape(rows)[1] != 3:
            raise ValueError(f"its {what} have the shape {np.shape(rows)}, where three columns are expected")
    if len(part.faces) and not 0 <= np.min(part.faces) <= np.max(part.faces) < len(part.vertices):
        raise ValueError("a face names a vertex that is not there")
    return Facets(part.vertices, part.faces, _colors(part))


@contextmanager
def _silent(name: str) -> Iterator[None]:
    """Suppresses a package's messages about errors, which are raised anyway."""
    logger = logging.getLogger(name)
    before = logger.level
    logger.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        logger.setLevel(before)


def _colors(part: Any) -> np.ndarray | None:
    """The colour of each face (m, 3): of its material, or its texture in the face's middle; None if the file says none."""
    material, uv = getattr(part.visual, "material", None), getattr(part.visual, "uv", None)
    if material is None:
        return part.visual.face_colors[:, :3] if part.visual.defined else None
    textured = getattr(material, "image", None) is not None
    if textured and uv is not None and np.shape(uv) == (len(part.vertices), 2):
        return texture_colors(material.image, uv[part.faces])
    if "kd" not in map(str.lower, getattr(material, "kwargs", ())):  # trimesh has a colour for materials without one
        return None
    return np.tile(material.main_color[:3], (len(part.faces), 1))


def mesh_surface(name: str, place: str | None) -> Facets:
    """The surface of the mesh that a robot file calls `name`, at its place, in metres; errors as of `Mesh.facets`."""
    path, data, beside = _content(name, place)
    return read_surface(data, path, beside)


def _content(name: str, place: str | None) -> tuple[Path, bytes, SideFiles]:
    if place is None:
        raise InputError(f"the mesh {name!r} was not found; set ROS_PACKAGE_PATH to the folder that holds its package")
    data, path = file_bytes(place, _LARGEST, error=InputError)
    return path, data, SideFiles(path.parent)


def stored(name: str, place: str | None, what: str, make: Callable[[Facets], Facets]) -> Facets:
    """What is made of a mesh's surface, before scaling, from the disk if it is there."""
    path, data, beside = _content(name, place)
    suffix = path.suffix.lower()
    digest = hashlib.sha256(data)
    for part in beside.named_in(data, suffix):
        digest.update(hashlib.sha256(part).digest())
    content = f"{suffix} {digest.hexdigest()}"

    def surface() -> Facets:
        if content not in _read_last:
            read = read_surface(data, path, beside)
            while _read_last and sum(len(other.vertices) for other in _read_last.values()) + len(read.vertices) > _KEPT:
                del _read_last[next(iter(_read_last))]
            _read_last[content] = read
        return _read_last[content]

    return _unpack(cached(f"mesh {_VERSION} {what} {content}", lambda: _pack(make(surface())), suffix=".npz").content)


def _pack(surface: Facets) -> bytes:
    file = io.BytesIO()
    np.savez(file, **{name: array for name, array in vars(surface).items() if array is not None})
    return file.getvalue()


def _unpack(raw: bytes) -> Facets:
    with np.load(io.BytesIO(raw), allow_pickle=False) as arrays:
        return Facets(**{name: arrays[name] for name in arrays.files})
