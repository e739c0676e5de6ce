"""Faults of a mechanism or of the file it comes from, as data: what is wrong, where, and what to do about it."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from .. import kinematics
from ..dynamics import crba
from ..errors import KumitateWarning, ModelError
from ..model import Mechanism, Mesh
from ..model.read import read_file
from ..model.read.inertia import BROKEN_TRIANGLE
from ..model.tree import build_tree

__all__ = ["Finding", "check", "check_file"]

_LEVELS = ("error", "warning", "note")
#: Principal moments may break a + b ≥ c by so much, relative to a + b: files print them rounded.
_ROUNDED = 1e-3
#: A mass matrix, scaled to a diagonal of ones, is singular if an eigenvalue is below this.
_SINGULAR = 1e-13
#: Loops whose ends lie nearer than this are closed [m].
_CLOSED = 1e-6
#: What a reader's remarks are about, by words in them; anything else is about reading.
_TOPICS = {"inertia": "inertia", "meshes": "meshes", "limit": "limits", "mimic": "mimic", "loop": "loops"}


@dataclass(frozen=True)
class Finding:
    """One fault.

    Attributes:
        level: "error" (it cannot be simulated as it is), "warning" (probably not what was meant) or "note" (good to know).
        topic: what it is about: "inertia", "limits", "meshes", "mimic", "loops", "names" or "reading".
        what: the fault; `remedy`: what to do about it, if that is not said already.
        where: names of the elements that have it, each with a detail, which may be empty.
    """

    level: str
    topic: str
    what: str
    remedy: str = ""
    where: tuple[tuple[str, str], ...] = ()


def check_file(
    path: str | Path, *, floating_base: bool = False, fix_inertia: bool = False
) -> tuple[Mechanism | None, list[Finding]]:
    """The mechanism of a file (None if it cannot be read), and all that is wrong with either; options as of `read_file`.

    A file that can be read only with its inertias fixed is read so after its fault is told, in order to find the others.

    Raises:
        InputError: if the file is of a kind that is not read.
    """
    findings: list[Finding] = []
    mechanism: Mechanism | None = None
    remarks: list[str] = []
    for fix in (True,) if fix_inertia else (False, True):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", KumitateWarning)
            try:
                mechanism = read_file(path, floating_base=floating_base, fix_inertia=fix)
            except ModelError as error:
                findings = findings or [Finding("error", _topic(str(error).removeprefix(str(path))), str(error))]
        remarks = [str(item.message).removeprefix(f"{path}: ") for item in caught if issubclass(item.category, KumitateWarning)]
        if mechanism is not None:
            break
    if mechanism is not None:
        findings += check(mechanism, remarks)
    return mechanism, _sorted(findings)


def check(mechanism: Mechanism, remarks: list[str] | None = None) -> list[Finding]:
    """All that is wrong with a mechanism, errors first; `remarks` are what its reader warned of."""
    # single bodies are told of below, with their numbers
    told = [remark for remark in remarks or [] if BROKEN_TRIANGLE not in remark]
    findings = [Finding("warning", _topic(remark), remark) for remark in told]
    looks = [_inertias, _undetermined, _limits, _names]
    if not any(finding.topic == "meshes" for finding in findings):  # else the reader told of them, with the places tried
        looks.append(_meshes)
    for look in looks:
        findings += look(mechanism)
    if mechanism.loops and not any(finding.level == "error" for finding in findings):
        findings += _loops(mechanism)
    return _sorted(findings)


def _sorted(findings: list[Finding]) -> list[Finding]:
    return sorted(findings, key=lambda finding: _LEVELS.index(finding.level))


def _topic(message: str) -> str:
    return next((topic for word, topic in _TOPICS.items() if word in message), "reading")


# --- inertia ------------------------------------------------------------------------------------------------------------
def _inertias(mechanism: Mechanism) -> Iterator[Finding]:
    broken, points, weightless = [], [], []
    for body in mechanism.bodies:
        values = np.linalg.eigvalsh(np.array(body.inertia))
        if values[2] > (values[0] + values[1]) * (1.0 + _ROUNDED):
            broken.append((body.name, f"principal values ({', '.join(f'{value:.4g}' for value in values)}) kg·m²"))
        if body.mass > 0.0 and not values.any():
            points.append((body.name, f"{body.mass:.4g} kg"))
        if body.mass == 0.0 and values.any():
            weightless.append((body.name, ""))
    if broken:
        yield Finding(
            "warning", "inertia", "the largest principal value is more than the sum of the others, which no rigid body has",
            "recompute them from the shapes, check units and axes, or go on with the nearest that one can have: --fix-inertia",
            tuple(broken),
        )  # fmt: skip
    if weightless:
        yield Finding(
            "warning", "inertia", "bodies without mass have an inertia", "give them a mass, or no inertia", tuple(weightless)
        )
    if points:
        yield Finding("note", "inertia", "bodies with a mass and no inertia are points", where=tuple(points))


def _undetermined(mechanism: Mechanism) -> Iterator[Finding]:
    """Joints that move nothing that resists, and motions without inertia."""
    carried = {
        joint.child: mechanism.body(joint.child).mass > 0.0 or np.any(mechanism.body(joint.child).inertia)
        for joint in mechanism.joints
    }
    for joint in reversed(mechanism.joints):  # outward order: children before parents
        if carried[joint.child] and joint.parent in carried:
            carried[joint.parent] = True
    idle = [
        (joint.name, f"carries {joint.child!r}")
        for joint in mechanism.joints
        if joint.kind.nv and not carried[joint.child] and not np.all(np.array(joint.armature) > 0.0)
    ]
    if idle:
        yield Finding(
            "error", "inertia", "joints move only bodies without mass and inertia: their accelerations are not determined",
            "give the bodies a mass, give the joints an armature, or make them fixed", tuple(idle),
        )  # fmt: skip
    elif mechanism.nv:
        yield from _singular(mechanism)


def _singular(mechanism: Mechanism) -> Iterator[Finding]:
    tree = build_tree(mechanism, resisting=False)  # all faults are to be told, not the first
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
#: What may be wrong with limits: a key, the level, the fault, and its remedy.
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
                found["outside"].append(
                    (joint.name, f"{'−∞' if low is None else f'{low:.4g}'} … {'∞' if high is None else f'{high:.4g}'}")
                )
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
    tree = mechanism.tree
    poses = kinematics.link_poses(tree, kinematics.neutral(tree))
    apart = []
    for loop in mechanism.loops:
        ends = ((loop.body_a, loop.pose_a), (loop.body_b, loop.pose_b))
        a, b = (kinematics.place_pose(tree, poses, tree.places[body]) @ pose for body, pose in ends)
        gap = float(np.linalg.norm([float(x - y) for x, y in zip(a.translation, b.translation, strict=True)]))
        slides = any(any(float(x) for x in motion.linear) for motion in loop.kind.subspace(loop.kind.neutral()))
        if gap > _CLOSED and not slides:
            apart.append((loop.name, f"{gap:.4g} m"))
    if apart:
        yield Finding(
            "warning", "loops", "the ends of loops are apart at neutral coordinates",
            "start simulations where they meet, or correct the poses of the ends", tuple(apart),
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
