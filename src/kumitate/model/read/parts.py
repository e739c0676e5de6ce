"""What URDF and SDF write alike: shapes, and the mesh files that they name; and values that cannot be taken as they are:
inertias that no body has, rounded angles, joints without inertia, cycles.

A body's second moments of mass Σ = ∫ r rᵀ dm about its center of mass are positive semidefinite, and its inertia is
I = tr(Σ) 1 − Σ. This is equivalent to: the principal values are not negative, and none exceeds the sum of the other two.

Files write π/2 as 1.57079632679. Its cosine is 5·10⁻¹², not zero, and every product with it is computed: a ninth of the
operations of a quadruped. What is a quarter turn up to its last digits is read as one; results change by as much as the angles.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from urllib.parse import unquote

import numpy as np

from ...spatial import Transform
from ..elements import Body, Joint
from ..mechanism import first_circle
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


# --- values that cannot be taken as they are -----------------------------------------------------------------------------
NEGATIVE = "with a large negative principal value"

BROKEN_TRIANGLE = (
    "inertias that no rigid body has (the largest principal value is more than the sum of the others), used as given; "
    "recompute them from the shapes, check their units and axes, or read the file with fix_inertia (--fix-inertia)"
)

#: The tolerance of a + b ≥ c for principal values, which files contain rounded.
_TRIANGLE_TOLERANCE = 1e-3
#: Negative principal values down to this fraction of the largest one count as rounding; a body below this mass [kg] is a
#: placeholder, whose inertia was not computed.
_NEGLIGIBLE = 1e-3
_PLACEHOLDER = 1e-3
#: Negative values down to this fraction of the largest entry are rounding of this reader.
_EXACT = 1e-9
#: Below this times the mass [m²], numbers are rounding errors of the program that wrote the file, not inertias.
_NO_INERTIA = 1e-16


def nearest_inertia(inertia: np.ndarray) -> np.ndarray:
    """The nearest physically possible inertia (3, 3), by the second moments of mass; unchanged if it is possible.

    >>> nearest_inertia(np.diag([1.0, 1.0, 4.0])).diagonal().tolist()
    [2.0, 2.0, 4.0]
    """
    moments = 0.5 * np.trace(inertia) * np.eye(3) - inertia
    clipped = _clipped(moments)
    return np.trace(clipped) * np.eye(3) - clipped


def usable_inertia(
    inertia: np.ndarray, mass: float, link: str, notes: Notes, *, line: int | None = None, fix: bool = False
) -> np.ndarray:
    """The inertia (3, 3) [kg·m²] about the center of mass to use; remarks on it are added to `notes`.

    With `fix`, impossible inertias are replaced by the nearest possible ones. Those with a negative principal value that is
    neither small nor a placeholder's are always replaced; without `fix` this is a fault, with which the mechanism has poses but
    no dynamics.
    """
    size = float(np.abs(inertia).max())
    if 0.0 < size < _NO_INERTIA * mass:
        notes.add(f"inertias below {_NO_INERTIA:g} m² times the mass, read as zero", link, line)
        return np.zeros((3, 3))
    values = np.linalg.eigvalsh(inertia)
    least, middle, most = values
    negative = least < -_EXACT * size
    broken = most > (least + middle) * (1.0 + _TRIANGLE_TOLERANCE)
    if not (negative or broken):
        return inertia
    named = f"{link!r} {_listed(values)}"
    if fix:
        nearest = nearest_inertia(inertia)
        remark = "inertias that no rigid body has, replaced by the nearest that one can have; principal values in kg·m²"
        notes.add(remark, f"{named} → {_listed(np.linalg.eigvalsh(nearest))}", line)
        return nearest
    if not negative:
        notes.add(BROKEN_TRIANGLE, link, line)
        return inertia
    remedy = "correct them, or read the file with fix_inertia (--fix-inertia)"
    if -least < _NEGLIGIBLE * most or mass < _PLACEHOLDER:
        remark = f"inertias with a small negative principal value, which is read as zero; {remedy}"
        notes.add(remark, f"{named} kg·m²", line)
        return _clipped(inertia)
    remark = f"inertias {NEGATIVE}, which no body has: poses can be computed, what needs the inertias is refused; {remedy}"
    notes.add(remark, f"{named} kg·m²", line)
    notes.fault(
        f"link {link!r}: the inertia has the principal values {_listed(values)} kg·m²; the negative principal value "
        f"{least:.6g} is physically impossible. Check signs and the axes that the numbers are given in, or read the file with "
        "fix_inertia=True (--fix-inertia) to use the nearest possible inertia",
        line,
    )
    return nearest_inertia(inertia)


#: The names of the six numbers of a symmetric inertia, of which the first three are its moments.
MOMENTS = ("ixx", "iyy", "izz", "ixy", "ixz", "iyz")
SQUARES = MOMENTS[:3]


def link_inertia(
    numbers: Sequence[float], mass: float, link: str, notes: Notes, place: Transform, *, line: int, fix: bool
) -> np.ndarray:
    """The `usable_inertia` (3, 3) of six numbers, in the axes of the link; `place`: of their frame in it."""
    xx, yy, zz, xy, xz, yz = numbers
    rows = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    rows = usable_inertia(rows, mass, link, notes, line=line, fix=fix)
    rotation = np.array([list(row) for row in place.rotation.matrix()])
    if np.array_equal(rotation, np.eye(3)):
        return rows
    rows = rotation @ rows @ rotation.T
    return (rows + rows.T) / 2.0


Color = tuple[float, float, float, float]


def clipped_color(given: Sequence[float], notes: Notes, name: str, line: int) -> Color:
    """A colour of three or four numbers, the last of which is the opacity, within 0…1."""
    if min(given) < 0.0 or max(given) > 1.0:
        notes.add("colours outside 0…1, clipped", name, line)
    red, green, blue, *opacity = (min(max(value, 0.0), 1.0) for value in given)
    return red, green, blue, *(opacity or (1.0,))  # type: ignore[return-value]


def _clipped(matrix: np.ndarray) -> np.ndarray:
    """The symmetric matrix with its negative eigenvalues set to zero."""
    values, vectors = np.linalg.eigh(matrix)
    if values[0] >= 0.0:
        return matrix
    clipped = (vectors * np.maximum(values, 0.0)) @ vectors.T
    return 0.5 * (clipped + clipped.T)


def _listed(values: np.ndarray) -> str:
    return "(" + ", ".join(f"{value:.4g}" for value in values) + ")"


#: How far from a whole number of quarter turns an angle may be to be read as one [rad].
NEAR = 1e-10
#: Changes as small as the rounding of a float64 are not mentioned.
_ROUNDING = 1e-15
_REMARK = f"angles within {NEAR:g} rad of a quarter turn, read as exactly that (keep_angles=True keeps them as written)"


def exact_quarter_turn(angle: float) -> float:
    """An angle [rad]; the nearest whole number of quarter turns, if it is that near.

    >>> exact_quarter_turn(1.57079632679) == math.pi / 2.0, exact_quarter_turn(1.5708)
    (True, 1.5708)
    """
    turns = math.pi / 2.0 * round(angle / (math.pi / 2.0)) if math.isfinite(angle) else angle
    return turns if abs(angle - turns) <= NEAR else angle


def read_quarter_turns(root: Element, notes: Notes) -> None:
    """Makes angles exact in all elements of a file: in attributes `rpy`, and in the texts of <pose> that are in radians.

    What is not three angles stays as it is, for the reader to refuse.
    """
    waiting = [(root, "")]
    while waiting:
        element, owner = waiting.pop()
        name = element.attributes.get("name") or owner
        before, after = element.attributes.get("rpy", ""), None
        if before:
            after = element.attributes["rpy"] = _exact(before)
        elif element.tag == "pose" and element.attributes.get("degrees", "false") in ("false", "0"):
            before = element.raw_text
            if element.attributes.get("rotation_format", "euler_rpy") == "euler_rpy":
                after = element.raw_text = _exact(before, behind=3)
        pairs = zip(before.split(), (after or before).split(), strict=True) if after != before else ()
        if any(a != b and abs(float(a) - float(b)) > _ROUNDING for a, b in pairs):
            notes.add(_REMARK, name, element.line)
        waiting.extend((part, name) for part in reversed(element.children))


def _exact(text: str, *, behind: int = 0) -> str:
    """The numbers of a text, those after the first `behind` being three angles; the text itself if nothing changes."""
    words = text.split()
    try:
        angles = [float(word) for word in words[behind:]]
    except ValueError:
        return text
    exact = [exact_quarter_turn(angle) for angle in angles]
    if len(words) != behind + 3 or exact == angles:
        return text
    return " ".join([*words[:behind], *map(repr, exact)])


WEIGHTLESS = (
    "joints that move only bodies without mass and inertia: poses and velocities can be computed, accelerations are not "
    "determined; give the links a mass, or make these joints fixed"
)


def note_weightless(bodies: Iterable[Body], joints: Iterable[Joint], lines: Mapping[str, int], notes: Notes) -> None:
    """Adds a remark on `weightless` joints; `lines`: theirs, by name."""
    for joint in weightless(bodies, joints):
        notes.add(WEIGHTLESS, joint.name, lines.get(joint.name))


def weightless(bodies: Iterable[Body], joints: Iterable[Joint]) -> list[Joint]:
    """The moving joints of a tree beyond which nothing has mass, inertia or armature."""
    carrier = {joint.child: joint for joint in joints}
    resisting: set[str] = set()
    for body in bodies:
        name = body.name
        if not (body.mass or np.any(body.inertia)):
            continue
        while name in carrier and name not in resisting:  # so are all its ancestors
            resisting.add(name)
            name = carrier[name].parent
    idle = (joint for joint in carrier.values() if joint.kind.nv and joint.child not in resisting)
    return [joint for joint in idle if not all(joint.armature)]  # type: ignore[arg-type]


_MISSING_LEADER = "<mimic> of joints that the file does not have; these joints move independently"


def check_circles(followed: Mapping[str, str], joints: Mapping[str, Element]) -> None:
    """Refuses joints that follow themselves through the one that each follows, at the element of one of them."""
    if circle := first_circle(followed):
        raise joints[circle[0]].error(
            f"joint {circle[0]!r} mimics itself ({' → '.join([*circle, circle[0]])}); let one of these joints move by itself"
        )


def leave_leaderless(mimic: Element, name: str, leader: str, joints: Sequence[str], notes: Notes) -> None:
    """Adds a remark on a joint that follows a missing one; the first few with the joint that may be meant."""
    near = get_close_matches(leader, joints, 1) if notes.shows(_MISSING_LEADER) else []
    notes.leave(mimic, _MISSING_LEADER, f"{name!r} of {leader!r}" + (f", not {near[0]!r}?," if near else ""))
