"""What URDF and SDF write alike: shapes, and the mesh files that they name."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator
from functools import partial
from pathlib import Path
from urllib.parse import unquote

from ..shapes import Box, Capsule, Cylinder, Ellipsoid, Mesh, Shape, Sphere
from .xml import Element, Notes

#: By the name of its element: a shape of the numbers in it, each given as lengths(name, count).
_SHAPES: dict[str, Callable[[Callable[..., tuple[float, ...]]], Shape]] = {
    "box": lambda lengths: Box(lengths("size", 3)),  # type: ignore[arg-type]  # three, as asked for
    "sphere": lambda lengths: Sphere(*lengths("radius")),
    "cylinder": lambda lengths: Cylinder(*lengths("radius"), *lengths("length")),
    "ellipsoid": lambda lengths: Ellipsoid(lengths("radii", 3)),  # type: ignore[arg-type]
    "capsule": lambda lengths: Capsule(*lengths("radius"), *lengths("length")),
}


def read_shape(
    geometry: Element, mesh: Callable[[Element], Shape | None], lengths: Callable[..., tuple[float, ...]]
) -> Shape | None:
    """The shape in a <geometry>; None if it is of no kind that is known here. `mesh` reads a <mesh>.

    `lengths` reads numbers from a shape's element, by name and count (1): attributes in one format, elements in the other.
    """
    if (part := geometry.child("mesh")) is not None:
        return mesh(part)
    for name, read in _SHAPES.items():
        if (part := geometry.child(name)) is not None:
            return read(partial(lengths, part))
    return None


#: Variables that hold lists of folders with packages in them; the last two are Gazebo's.
_VARIABLES = ("ROS_PACKAGE_PATH", "AMENT_PREFIX_PATH", "GZ_SIM_RESOURCE_PATH", "GAZEBO_MODEL_PATH")


class MeshFinder:
    """Finds the meshes of one model file; `path` is that of the file (None: the model was given as text).

    `package://name/…` and `model://name/…` are searched in the folders of ROS_PACKAGE_PATH (also AMENT_PREFIX_PATH and Gazebo's
    two), then in every folder above the file: the package may be that folder or one in it.
    """

    def __init__(self, path: Path | None):
        self._file = None if path is None else path.absolute()
        self._packages: dict[str, list[Path]] = {}
        self._found: dict[str, str | None] = {}
        #: the folders searched without success, and the names and lines of the meshes that were not found
        self.tried: dict[str, None] = {}
        self.missing: list[tuple[str, int]] = []

    def mesh(self, uri: str, scale: tuple[float, ...], line: int) -> Mesh:
        """A mesh that the file names in a line."""
        resolved = self.find(uri)
        if resolved is None:
            self.missing.append((uri, line))
        return Mesh(uri, scale, resolved)  # type: ignore[arg-type]  # three, as asked for

    def find(self, uri: str) -> str | None:
        """The path of a mesh, or None if it is not found."""
        if uri not in self._found:
            places = (folder / rest for folder, rest in self.candidates(uri))
            self._found[uri] = next((str(place) for place in places if _is(Path.is_file, place)), None)
            if self._found[uri] is None:
                self.tried.update({str(folder): None for folder, _ in self.candidates(uri)})
        return self._found[uri]

    def candidates(self, uri: str) -> Iterator[tuple[Path, str]]:
        """Folders, and the path in each."""
        scheme = uri.partition("://")[0].lower() if "://" in uri else ""
        if scheme in ("package", "model"):
            package, _, rest = unquote(uri.split("://", 1)[1]).partition("/")
            for folder in self._folders(package):
                yield folder, rest
        elif scheme == "file" or not scheme:
            place = Path(unquote(uri.split("://", 1)[1]) if scheme else uri)
            if place.is_absolute():
                yield place.parent, place.name
            elif self._file is not None:
                yield self._file.parent, str(place)

    def _folders(self, package: str) -> list[Path]:
        """The folders that may be this package, existing ones, nearest to what the user said first."""
        if package not in self._packages:
            listed = [Path(entry) for name in _VARIABLES for entry in os.environ.get(name, "").split(os.pathsep) if entry]
            above = list(self._file.parents) if self._file is not None else []
            folders = [
                place
                for base in [*listed, *above]
                for place in (base if base.name == package else base / package, base / "share" / package)
                if _is(Path.is_dir, place)
            ]
            if not folders:  # for the message on where it was searched
                self.tried.update({str(base / package): None for base in [*listed, *above[:2]]})
            self._packages[package] = list(dict.fromkeys(folders))
        return self._packages[package]


def note_missing(finders: Collection[MeshFinder], variable: str, notes: Notes) -> None:
    """Adds a remark on the meshes that were not found; `variable`: what to set, and to what."""
    tried = list(dict.fromkeys(place for finder in finders for place in finder.tried))
    places = ", ".join(tried[:4]) + ", …" * (len(tried) > 4) if tried else "no folder, as there is nothing to search"
    for uri, line in (item for finder in finders for item in finder.missing):
        notes.add(f"meshes not found (sought in {places}; set {variable}), not drawn", uri, line)


def _is(kind: Callable[[Path], bool], place: Path) -> bool:
    """Whether the file or folder exists; False for names that a file system cannot have."""
    try:
        return kind(place)
    except (OSError, ValueError):
        return False
