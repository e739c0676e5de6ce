"""Faults of a mechanism or of the file it comes from, as data: what is wrong, where, and what to do about it."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from .. import kinematics
from ..analysis import LoopEquations, assemble
from ..dynamics import crba
from ..errors import KumitateWarning, ModelError
from ..model import Mechanism, Mesh
from ..model.bounds import limits_text
from ..model.read import read_file
from ..model.read.parts import BROKEN_TRIANGLE, NEGATIVE, WEIGHTLESS, weightless
from ..scalar import floats

_LEVELS = ("error", "warning", "note")
#: Tolerance of the triangle inequality a + b ≥ c of principal moments, relative to a + b: files print them rounded.
_ROUNDED = 1e-3
#: A mass matrix, scaled to a diagonal of ones, is singular if an eigenvalue is below this.
_SINGULAR = 1e-13
#: Loops whose ends lie nearer than this are closed [m].
_CLOSED = 1e-6
#: Topics of a reader's remarks, by words in them; all others have the topic "reading".
_TOPICS = {
    "inertia": "inertia", "meshes": "meshes", "limit": "limits", "mimic": "mimic", "gearbox": "mimic", "loop": "loops",
}  # fmt: skip


@dataclass(frozen=True)
class Finding:
    """One fault.

    Attributes:
        level: "error" (it cannot be simulated as it is), "warning" (probably not what was meant) or "note" (good to know).
        topic: what it is about: "inertia", "limits", "meshes", "mimic", "loops", "names" or "reading".
        what: the fault; `remedy`: what to do about it, if the fault does not already say so.
        where: names of the affected elements, each with a detail, which may be empty.
    """

    level: str
    topic: str
    what: str
    remedy: str = ""
    where: tuple[tuple[str, str], ...] = ()


def check_file(
    path: str | Path, *, floating_base: bool = False, fix_inertia: bool = False
) -> tuple[Mechanism | None, list[Finding]]:
    """The mechanism of a file (None if it cannot be read), and the faults of both; options and errors as of `read_file`."""
    findings: list[Finding] = []
    mechanism: Mechanism | None = None
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", KumitateWarning)
        try:
            mechanism = read_file(path, floating_base=floating_base, fix_inertia=fix_inertia)
        except ModelError as error:
            messages = (str(error), *error.others)
            findings = [Finding("error", _topic(message.removeprefix(str(path))), message) for message in messages]
    remarks = [str(item.message).removeprefix(f"{path}: ") for item in caught if issubclass(item.category, KumitateWarning)]
    if mechanism is not None:
        findings += check(mechanism, remarks)
    return mechanism, _sorted(findings)


def check(mechanism: Mechanism, remarks: list[str] | None = None) -> list[Finding]:
    """The faults of a mechanism, errors first; `remarks` are the warnings of its reader."""
    # single bodies and joints are reported below, with their numbers
    told = [remark for remark in remarks or [] if not any(said in remark for said in (BROKEN_TRIANGLE, NEGATIVE, WEIGHTLESS))]
    findings = [Finding("error", "inertia", fault) for fault in mechanism.faults]
    findings += [Finding("warning", _topic(remark), remark) for remark in told]
    looks = [_inertias, _undetermined, _limits, _names]
    if not any(finding.topic == "meshes" for finding in findings):  # otherwise the reader reported them, with the places tried
        looks.append(_meshes)
    for look in looks:
        findings += look(mechanism)
    if mechanism.tree.closed:
        findings += _loops(mechanism)
    return _sorted(findings)


def _sorted(findings: list[Finding]) -> list[Finding]:
    return sorted(findings, key=lambda finding: _LEVELS.index(finding.level))


def _topic(message: str) -> str:
    """The topic of the first keyword; later ones may be in the names of files."""
    return min(((message.find(word), topic) for word, topic in _TOPICS.items() if word in message), default=(0, "reading"))[1]


# --- inertia ------------------------------------------------------------------------------------------------------------
def _inertias(mechanism: Mechanism) -> Iterator[Finding]:
    broken, points, massless = [], [], []
    for body in mechanism.bodies:
        values = np.linalg.eigvalsh(np.array(body.inertia))
        if values[2] > (values[0] + values[1]) * (1.0 + _ROUNDED):
            broken.append((body.name, f"principal values ({', '.join(f'{value:.4g}' for value in values)}) kg·m²"))
        if body.mass > 0.0 and not values.any():
            points.append((body.name, f"{body.mass:.4g} kg"))
        if body.mass == 0.0 and values.any():
            massless.append((body.name, ""))
    if broken:
        yield Finding(
            "warning", "inertia", "the largest principal value is more than the sum of the others, which no rigid body has",
            "recompute them from the shapes, check units and axes, or go on with the nearest that one can have: --fix-inertia",
            tuple(broken),
        )  # fmt: skip
    if massless:
        remedy = "give them a mass, or no inertia"
        yield Finding("warning", "inertia", "bodies without mass have an inertia", remedy, tuple(massless))
    if points:
        yield Finding("note", "inertia", "bodies with a mass and no inertia are points", where=tuple(points))


def _undetermined(mechanism: Mechanism) -> Iterator[Finding]:
    """Joints that move only massless bodies, and motions without inertia."""
    if idle := [(joint.name, f"carries {joint.child!r}") for joint in weightless(mechanism.bodies, mechanism.joints)]:
        yield Finding(
            "error", "inertia", "joints move only bodies without mass and inertia: their accelerations are not determined",
            "give the bodies a mass, give the joints an armature, or make them fixed", tuple(idle),
        )  # fmt: skip
    elif mechanism.nv:
        yield from _singular(mechanism)


def _singular(mechanism: Mechanism) -> Iterator[Finding]:
    tree = mechanism.tree
    q = kinematics.random_coordinates(tree, np.random.default_rng(0))  # single postures may be singular
    M = np.array(crba(tree, q), dtype=float)
    size = np.sqrt(np.where(M.diagonal() > 0.0, M.diagonal(), 1.0))
    values, vectors = np.linalg.eigh(M / np.outer(size, size))
    if values[0] < _SINGULAR:
        motion = vectors[:, 0] / size
        parts = np.abs(motion) > 0.1 * np.abs(motion).max()
        yield Finding(
            "error", "inertia", "a motion of these joints has no inertia: its acceleration is not determined",
            "give the bodies that they carry an inertia, or the joints an armature",
            tuple((name, "") for name, part in zip(mechanism.v_names, parts, strict=True) if part),
        )  # fmt: skip


# --- limits -------------------------------------------------------------------------------------------------------------
#: Possible faults of limits: a key, the level, the fault, and its remedy.
_LIMITS = (
    ("held", "warning", "lower and upper limit are the same", "make these joints fixed, or widen the limits"),
    ("slow", "warning", "velocity limits of zero or less", "give the drives' real speeds, or leave the limit out"),
    ("weak", "warning", "effort limits of zero or less", "give the drives' real forces, or leave the limit out"),
    ("outside", "note", "the limits exclude zero; simulations start at the nearest limit", ""),
    ("open", "note", "sliding joints without end stops", "give them a lower and an upper limit"),
)


def _limits(mechanism: Mechanism) -> Iterator[Finding]:
    found: dict[str, list[tuple[str, str]]] = {key: [] for key, *_ in _LIMITS}
    for joint in mechanism.joints:
        for limit in joint.limits:
            low, high = limit.lower, limit.upper
            if low is not None and low == high:
                found["held"].append((joint.name, f"at {low:.6g}"))
            elif (low is not None and low > 0.0) or (high is not None and high < 0.0):
                found["outside"].append((joint.name, limits_text([limit])))
            if limit.velocity is not None and limit.velocity <= 0.0:
                found["slow"].append((joint.name, f"{limit.velocity:g}"))
            if limit.effort is not None and limit.effort <= 0.0:
                found["weak"].append((joint.name, f"{limit.effort:g}"))
            if joint.kind.name == "prismatic" and (low is None or high is None):
                found["open"].append((joint.name, ""))
    for key, level, what, remedy in _LIMITS:
        if found[key]:
            yield Finding(level, "limits", what, remedy, tuple(found[key]))


# --- meshes, loops, names -------------------------------------------------------------------------------------------------
def _meshes(mechanism: Mechanism) -> Iterator[Finding]:
    missing = {
        shape.shape.path: body.name
        for body in mechanism.bodies
        for shape in (*body.visuals, *body.collisions)
        if isinstance(shape.shape, Mesh) and (shape.shape.resolved is None or not Path(shape.shape.resolved).is_file())
    }
    if missing:
        yield Finding(
            "warning", "meshes", "meshes not found, not drawn", "set ROS_PACKAGE_PATH to the folder that holds the package",
            tuple((uri, f"of {body!r}") for uri, body in missing.items()),
        )  # fmt: skip


def _loops(mechanism: Mechanism) -> Iterator[Finding]:
    """Loops and couplings that neutral coordinates leave open: whether they can be closed from there."""
    loops, neutral = LoopEquations(mechanism), kinematics.neutral(mechanism.tree)
    size = mechanism.tree.size
    where: tuple[tuple[str, str], ...] = ()
    try:
        gaps = loops.gaps(neutral, np.zeros(mechanism.nv))
        apart = [gap for gap in gaps if not gap.size(size) <= _CLOSED]
        where = tuple((gap.name, f"{gap.distance:.4g} m, {gap.angle:.4g} rad") for gap in apart)
        if not apart:
            return
        closed, _ = assemble(loops, neutral)
    except ArithmeticError:
        what = "the ends of a rod or line are one point at neutral coordinates, where it has no direction"
        yield Finding("note", "loops", what, "start simulations elsewhere", where)
    except ModelError as error:
        said = str(error).removeprefix(f"{mechanism.name}: ")
        what = f"loops are open at neutral coordinates, and cannot be closed from there: {said}"
        yield Finding("error", "loops", what, "correct the poses of the ends, or assemble it from a better guess", where)
    else:
        moved = np.abs(floats(kinematics.difference(mechanism.tree, neutral, closed.tolist())))
        most = int(np.argmax(moved))
        yield Finding(
            "note", "loops",
            f"loops are open at neutral coordinates; the nearest posture that closes them is {np.linalg.norm(moved):.3g} away "
            f"in coordinates, the farthest {mechanism.v_names[most]!r} by {moved[most]:.3g} rad or m",
            "`robot.assemble(q)` gives it", where,
        )  # fmt: skip


def _names(mechanism: Mechanism) -> Iterator[Finding]:
    for many, names in (
        ("bodies", [body.name for body in mechanism.bodies]),
        ("joints", [*(joint.name for joint in mechanism.joints), *(loop.name for loop in mechanism.loops)]),
    ):
        spelt: dict[str, list[str]] = {}
        for name in names:
            spelt.setdefault(name.casefold(), []).append(name)
        alike = tuple((" and ".join(same), "") for same in spelt.values() if len(same) > 1)
        if alike:
            yield Finding("warning", "names", f"names of {many} differ only by capitals", "rename one of each", alike)
        odd = tuple((repr(name), "") for name in names if name != name.strip() or set(name) & set(",="))
        if odd:
            remedy = "use letters, digits and _ - . / in names"
            yield Finding("warning", "names", f"names of {many} that cannot be given on the command line", remedy, odd)
