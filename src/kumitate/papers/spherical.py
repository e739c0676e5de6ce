"""Three revolute joints whose axes meet in a point, merged into one spherical joint, by angles or by a quaternion (T 8.2)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from ..errors import ModelError
from ..model import Limits
from ..model.edits import check_undriven
from ..model.elements import Body, Joint, fitting
from ..model.joints import KINDS, EulerAngles, JointKind
from ..model.mechanism import WORLD, Mechanism, free_name
from ..model.tree.tree import alignment, exact
from ..scalar import floats
from ..spatial import Force, Motion, Transform, Vector3, pose


@dataclass(frozen=True)
class Ball:
    """A spherical joint and the three revolute joints that it replaces.

    Attributes:
        name: of the spherical joint.
        joints: names of the three, outward; `limits`: their limits.
        angles: the three joints as one kind of joint.
        kind: of the spherical joint: `angles` itself, or "spherical" by a quaternion.
        bodies: the two between, which are fixed now: the first to the parent of the three, the second to their child.
        notes: the approximations, as text; empty if the merge is exact.
    """

    name: str
    joints: tuple[str, str, str]
    limits: tuple[Limits, ...]
    angles: EulerAngles
    kind: JointKind
    bodies: tuple[str, str]
    notes: tuple[str, ...] = ()

    @property
    def exact(self) -> bool:
        """Whether the mechanism moves just as before."""
        return not self.notes

    @property
    def by_quaternion(self) -> bool:
        """Whether its coordinates are other than the three angles."""
        return self.kind is not self.angles

    # --- one state of this joint alone, by a quaternion ------------------------------------------------------------------
    def joined(self, q: Sequence[float]) -> list[float]:
        """Coordinates of the spherical joint for the three angles."""
        return floats(self.kind.locate(self.angles.transform(q)))

    def split(self, *given: Sequence[float]) -> list[float]:
        """The three angles for coordinates of the spherical joint, given last; nearest to those given before, if any."""
        *near, q = given
        X_FM = self.kind.transform(q)
        return self.angles.nearest(X_FM, *near) if near else floats(self.angles.locate(X_FM))

    def joined_rates(self, q: Sequence[float], v: Sequence[float]) -> list[float]:
        """ω for rates at the angles q."""
        return floats(_sum(self.angles.subspace(q), v).angular)

    def split_rates(self, q: Sequence[float], v: Sequence[float], damping: float) -> list[float]:
        """The rates at the angles q for ω; see `EulerAngles.consistent_rates`."""
        return self.angles.consistent_rates(q, v, damping)

    def joined_accelerations(self, q: Sequence[float], v: Sequence[float], a: Sequence[float]) -> list[float]:
        """ω̇ = S a + Ṡ v for accelerations at the angles q and the rates v."""
        return floats((_sum(self.angles.subspace(q), a) + _sum(self.angles.subspace_rate(q, v), v)).angular)

    def split_accelerations(self, q: Sequence[float], v: Sequence[float], a: Sequence[float], damping: float) -> list[float]:
        """The accelerations at the angles q and the rates v for ω̇."""
        rest = Vector3.of(a) - _sum(self.angles.subspace_rate(q, v), v).angular
        return self.angles.consistent_rates(q, floats(rest), damping)

    def joined_efforts(self, q: Sequence[float], tau: Sequence[float]) -> list[float]:
        """The moment in M for torques of the three drives at the angles q (2.8); without bound at the singularity."""
        return floats(sum((T * x for T, x in zip(self.angles.active(q), tau, strict=True)), Force()).moment)

    def split_efforts(self, q: Sequence[float], tau: Sequence[float]) -> list[float]:
        """The torques of the three drives at the angles q that are this moment in M: Sᵀ n, in every posture."""
        return [float(S.dot(Force(Vector3.of(tau)))) for S in self.angles.subspace(q)]


@dataclass(frozen=True)
class SphericalMerge:
    """A mechanism with spherical joints, and the one with revolute joints that it was made from.

    States may have leading axes; `split` treats the rows of a batch as a motion, and keeps its angles continuous.

    Attributes:
        mechanism: with the spherical joints; `separate`: the original.
        balls: the joints that were merged.
        refused: why other triples of revolute joints through one point were not merged, one sentence each.

    >>> from kumitate import load
    >>> from kumitate.papers import merge_spherical
    >>> merged = merge_spherical(load("pa10").mechanism, lump=True)
    >>> len(merged.balls), merged.separate.nv == merged.mechanism.nv
    (2, True)
    """

    mechanism: Mechanism
    separate: Mechanism
    balls: tuple[Ball, ...]
    refused: tuple[str, ...] = ()

    @property
    def exact(self) -> bool:
        """Whether the mechanism moves just as before."""
        return all(ball.exact for ball in self.balls)

    def merged(self, q: Any, v: Any = None) -> Any:
        """The state (q, v) of `mechanism` for one of `separate`; without v, q alone."""
        found = self._merged("nq", Ball.joined, q)
        return found if v is None else (found, self._merged("nv", Ball.joined_rates, q, v))

    def split(self, q: Any, v: Any = None, *, near: Any = None, damping: float = 0.0) -> Any:
        """The state (q, v) of `separate` for one of `mechanism`; without v, q alone.

        Args:
            q, v: of `mechanism`.
            near: coordinates (nq of `separate`); of the angles for one orientation, the nearest ones are chosen. By default,
                each second angle is in the half turn around zero. For a batch, they are the angles before the first row.
            damping: λ of `EulerAngles.consistent_rates`, which keeps rates finite at singular angles; for example 0.02.
        """
        rows = np.asarray(q, dtype=float)
        before, found = near, []
        for row in rows.reshape(-1, self.mechanism.nq):
            before = self._split("nq", Ball.split, *([] if before is None else [before]), row)
            found.append(before)
        angles = np.array(found).reshape(*rows.shape[:-1], self.separate.nq)
        return angles if v is None else (angles, self._split("nv", partial(Ball.split_rates, damping=damping), angles, v))

    def merged_accelerations(self, q: Any, v: Any, a: Any) -> np.ndarray:
        """The accelerations of `mechanism` for q, v and accelerations a of `separate`."""
        return self._merged("nv", Ball.joined_accelerations, q, v, a)

    def split_accelerations(self, q: Any, v: Any, a: Any, *, damping: float = 0.0) -> np.ndarray:
        """The accelerations of `separate` at its q and v for accelerations a of `mechanism`; `damping` as in `split`."""
        return self._split("nv", partial(Ball.split_accelerations, damping=damping), q, v, a)

    def merged_efforts(self, q: Any, tau: Any) -> np.ndarray:
        """The forces of the drives of `mechanism` equivalent to tau (nv) of `separate` at its q: of equal power."""
        return self._merged("nv", Ball.joined_efforts, q, tau)

    def split_efforts(self, q: Any, tau: Any) -> np.ndarray:
        """The forces of the drives of `separate` at its q equivalent to tau (nv) of `mechanism`."""
        return self._split("nv", Ball.split_efforts, q, tau)

    def beyond_limits(self, q: Any) -> dict[str, np.ndarray]:
        """How far angles are outside the limits of the three joints [rad], by their names; zero inside. q is of `separate`."""
        rows, columns, found = np.asarray(q, dtype=float), _columns(self.separate, "nq"), {}
        for ball in self.balls:
            for name, limit in zip(ball.joints, ball.limits, strict=True):
                x = rows[..., columns[name].start]
                low, high = limit.range
                found[name] = np.maximum(np.maximum(low - x, x - high), 0.0)
        return found

    def singularity(self, q: Any) -> dict[str, np.ndarray]:
        """The distance of the angles from their singularity, 0…1, by the spherical joint's name. q is of `separate`."""
        rows, columns, found = np.asarray(q, dtype=float), _columns(self.separate, "nq"), {}
        for ball in self.balls:
            own = rows[..., [columns[name].start for name in ball.joints]]
            distances = [ball.angles.singularity(row) for row in own.reshape(-1, 3).tolist()]
            found[ball.name] = np.array(distances).reshape(own.shape[:-1])
        return found

    def lines(self) -> list[str]:
        """What was merged and what was not, as lines of text."""
        found = []
        for ball in self.balls:
            found.append(
                f"{ball.name!r}, a {ball.kind.name} joint, stands for {', '.join(ball.joints)}; {ball.bodies[0]!r} is fixed "
                f"before it and {ball.bodies[1]!r} behind it"
            )
            found += ball.notes
        return [*found, *(f"not merged: {reason}" for reason in self.refused)]

    # --- joint by joint, row by row -----------------------------------------------------------------------------------------
    def _merged(self, size: str, way: Callable[..., list[float]], *given: Any) -> np.ndarray:
        """The last of `given`, all of `separate`, as `mechanism` has it: three columns by `way`, the others as they are."""
        columns = [_columns(self.separate, each) for each in ("nq", "nv", "nv")]
        balls = {ball.name: ball for ball in self.balls}

        def row(*values: np.ndarray) -> list[float]:
            found: list[float] = []
            for joint in self.mechanism.joints:
                if (ball := balls.get(joint.name)) is not None:
                    own = [_three(ball, *pair) for pair in zip(values, columns, strict=False)]
                    found += way(ball, *own) if ball.by_quaternion else own[-1]
                elif getattr(joint.kind, size):
                    found += values[-1][columns[len(values) - 1][joint.name]].tolist()
            return found

        return _by_rows(row, *given)

    def _split(self, size: str, way: Callable[..., list[float]], *given: Any) -> np.ndarray:
        """The last of `given`, of `mechanism`, as `separate` has it; what is given before is of `separate`."""
        columns, own = [_columns(self.separate, each) for each in ("nq", "nv")], _columns(self.mechanism, size)
        first = {ball.joints[0]: ball for ball in self.balls}
        inner = {name for ball in self.balls for name in ball.joints[1:]}  # in `separate` behind the first of their three

        def row(*values: np.ndarray) -> list[float]:
            *before, last = values
            found: list[float] = []
            for name in (joint.name for joint in self.separate.joints if joint.name not in inner):
                ball = first.get(name)
                part = last[own[name if ball is None else ball.name]].tolist()
                if ball is not None and ball.by_quaternion:
                    part = way(ball, *(_three(ball, *pair) for pair in zip(before, columns, strict=False)), part)
                found += part
            return found

        return _by_rows(row, *given)


def _three(ball: Ball, values: np.ndarray, columns: dict[str, slice]) -> list[float]:
    return [float(x) for name in ball.joints for x in values[columns[name]]]


def _by_rows(row: Callable[..., list[float]], *given: Any) -> np.ndarray:
    """A function of rows over the leading axes that arrays have or share."""
    arrays = [np.asarray(array, dtype=float) for array in given]
    lead = np.broadcast_shapes(*(array.shape[:-1] for array in arrays))
    flat = [np.broadcast_to(x, (*lead, x.shape[-1])).reshape(-1, x.shape[-1]) for x in arrays]
    return np.array([row(*values) for values in zip(*flat, strict=True)]).reshape(*lead, -1)


def _columns(mechanism: Mechanism, size: str) -> dict[str, slice]:
    """Which columns belong to which joint."""
    found, start = {}, 0
    for joint in mechanism.joints:
        count = getattr(joint.kind, size)
        found[joint.name] = slice(start, start + count)
        start += count
    return found


def _sum(motions: Sequence[Motion], rates: Sequence[float]) -> Motion:
    return sum((S * rate for S, rate in zip(motions, rates, strict=True)), Motion())


# --- merging --------------------------------------------------------------------------------------------------------------
#: The largest distance of axes, and of centers of mass, from the common point [m].
_APART = 1e-9
#: Rounding error of directions that are products of rotations.
_ROUNDING = 4e-15

#: Properties that act on each angle by itself.
_PASSIVE = ("damping", "friction", "armature", "stiffness", "rest")

Names = tuple[str, str, str]


def merge_spherical(
    mechanism: Mechanism,
    joints: Sequence[Sequence[str]] | Sequence[str] | None = None,
    *,
    by: str = "euler",
    lump: bool = False,
) -> SphericalMerge:
    """The mechanism with three consecutive revolute joints, whose axes meet in one point, as one spherical joint.

    This is exact if the two bodies between are massless, or are points where the axes meet. The two remain as fixed bodies: the
    first on the parent of the three joints, the second on their child, in their poses at zero angles; shapes drawn on them no
    longer turn with the angles between. All other bodies move as before.

    Args:
        mechanism: to change.
        joints: names of the three, outward; or several such triples. By default, all triples that can be merged.
        by: "euler": the three angles stay the coordinates, about the axes as they are, with their limits, damping, friction,
            armature and springs; they stay singular too. "quaternion": cheaper and never singular; limits are no longer
            the joint's (see `SphericalMerge.split` and `beyond_limits`), and damping and the like on one angle are refused.
        lump: merge bodies with mass too: an approximation, in which the two bodies no longer turn relative to those that they
            are fixed to. `Ball.notes` says how much mass that is.

    Raises:
        ModelError: if named joints cannot be merged, with the body or joint that prevents it and the remedy; or without names,
            if no triple can be merged.

    >>> from kumitate import Body, Joint, Mechanism
    >>> axes = {"yaw": (0, 0, 1), "pitch": (0, 1, 0), "roll": (1, 0, 0)}
    >>> bodies = (Body("ring1"), Body("ring2"), Body("hand", 1.0, (0.1, 0, -0.2), (0.02, 0.03, 0.04)))
    >>> names = ["world", "ring1", "ring2", "hand"]
    >>> joints = [Joint(name, "revolute", *names[k : k + 2], axis=axis) for k, (name, axis) in enumerate(axes.items())]
    >>> merged = merge_spherical(Mechanism("wrist", bodies, tuple(joints)))
    >>> [joint.kind.nv for joint in merged.mechanism.joints if joint.kind.nv]
    [3]
    """
    if by not in ("euler", "quaternion"):
        raise ModelError(f'{mechanism.name}: joints are merged by "euler" or by "quaternion", not by {by!r}')
    found = list(_triples(mechanism)) if joints is None else _named(mechanism, joints)
    changed, balls, refused = mechanism, [], []
    taken: set[str] = set()
    for names in found:
        if taken & set(names):
            if joints is not None:
                raise ModelError(f"{mechanism.name}: {', '.join(taken & set(names))} is named in two triples; merge it in one")
            continue
        try:
            changed, ball = _merged(changed, names, by, lump)
        except ModelError as error:
            if joints is not None:
                raise
            refused.append(str(error).removeprefix(f"{mechanism.name}: "))
            continue
        balls.append(ball)
        taken |= set(names)
    if not balls:
        reasons = "; ".join(refused) or "no three revolute joints in a row have axes that meet in one point"
        raise ModelError(f"{mechanism.name}: nothing to merge: {reasons}")
    return SphericalMerge(changed, mechanism, tuple(balls), tuple(refused))


# --- finding ------------------------------------------------------------------------------------------------------------
def _named(mechanism: Mechanism, joints: Sequence[Sequence[str]] | Sequence[str]) -> list[Names]:
    """The triples that a user names, or the only one."""
    triples: Any = [joints] if all(isinstance(name, str) for name in joints) else joints
    for names in triples:
        items = [mechanism.joint(name) for name in names]
        if len(items) != 3 or any(a.child != b.parent for a, b in pairwise(items)):
            raise ModelError(
                f"{mechanism.name}: {', '.join(names)} are not three joints one after the other; name three, outward, each on "
                "the body that the one before carries"
            )
        wrong = next((item for item in items if not _is_revolute(item)), None)
        if wrong is not None:
            raise ModelError(
                f"{mechanism.name}: {wrong.name!r} is a {wrong.kind.name} joint; three revolute joints make a spherical one"
            )
        gap = _gap(*items)[1]
        if gap > _APART:
            raise ModelError(
                f"{mechanism.name}: the axes of {', '.join(names)} pass {gap:.3g} m from a common point; a spherical joint "
                "needs them to meet in one"
            )
    return [tuple(names) for names in triples]  # type: ignore[misc]


def _is_revolute(joint: Joint) -> bool:
    return joint.kind == KINDS["revolute"]


def _triples(mechanism: Mechanism) -> Iterator[Names]:
    """Three consecutive revolute joints with axes through one point, from the world outward."""
    carried: dict[str, list[Joint]] = {}
    for joint in mechanism.joints:
        carried.setdefault(joint.parent, []).append(joint)
    for a in filter(_is_revolute, mechanism.joints):
        for b in filter(_is_revolute, carried.get(a.child, [])):
            for c in filter(_is_revolute, carried.get(b.child, [])):
                if _gap(a, b, c)[1] <= _APART and _independent(a, b, c):
                    yield a.name, b.name, c.name


def _independent(a: Joint, b: Joint, c: Joint) -> bool:
    try:
        EulerAngles(tuple(map(tuple, _axes(a, b, c))))  # type: ignore[arg-type]
    except ModelError:
        return False
    return True


def _axes(a: Joint, b: Joint, c: Joint) -> np.ndarray:
    """The three directions at zero angles, in the parent's frame."""
    found, R = [], np.eye(3)
    for joint in (a, b, c):
        R = R @ _matrix(joint.pose)[:3, :3]
        found.append(R @ joint.axis)
    return np.array(found)


def _gap(a: Joint, b: Joint, c: Joint) -> tuple[np.ndarray, float]:
    """The point nearest to the three axes at zero angles, in the parent's frame, and its distance from the farthest [m].

    Turning about one axis does not move that point, so that axes which meet there at zero angles always do.
    """
    axes, X, points = _axes(a, b, c), np.eye(4), []
    for joint in (a, b, c):
        X = X @ _matrix(joint.pose)
        points.append(X[:3, 3])
    across = [np.eye(3) - np.outer(axis, axis) for axis in axes]
    nearest = np.linalg.lstsq(sum(across), sum(P @ p for P, p in zip(across, points, strict=True)), rcond=1e-12)[0]
    return nearest, max(float(np.linalg.norm(P @ (nearest - p))) for P, p in zip(across, points, strict=True))


def _matrix(X: Transform) -> np.ndarray:
    return np.array(X.matrix(), dtype=float)


# --- merging ------------------------------------------------------------------------------------------------------------
def _merged(mechanism: Mechanism, names: Names, by: str, lump: bool) -> tuple[Mechanism, Ball]:
    a, b, c = (mechanism.joint(name) for name in names)
    _check_free(mechanism, (a, b, c))
    X_1, X_2, X_3 = (_matrix(joint.pose) for joint in (a, b, c))
    center = _gap(a, b, c)[0]
    notes = _check_bodies(mechanism, (a, b, c), center, lump)
    X_PM = np.eye(4)  # the joint's frame: where the axes meet, with the child's axes at zero angles
    X_PM[:3, :3], X_PM[:3, 3] = (X_1 @ X_2 @ X_3)[:3, :3], center
    axes = _axes(a, b, c) @ X_PM[:3, :3]
    first, second, angles = _aligned(axes)
    kind: JointKind = angles
    if by == "quaternion":
        _check_quaternion(mechanism, (a, b, c), angles)
        kind = KINDS["spherical"]
    name = free_name("+".join(names), {joint.name for joint in mechanism.joints} | {loop.name for loop in mechanism.loops})
    limits = (*a.limits, *b.limits, *c.limits)
    own: dict[str, Any] = {}
    if kind is angles:
        own = {"limits": limits, **{key: sum((getattr(j, key) for j in (a, b, c)), ()) for key in _PASSIVE}}
    X_MC = np.linalg.inv(X_PM) @ X_1 @ X_2 @ X_3
    bodies, carrier = mechanism.bodies, c.child
    welds = [Joint(a.name, KINDS["fixed"], a.parent, a.child, a.pose)]
    if np.abs(X_MC[:3, 3]).max() > 0.1 * _APART:  # the child's frame is elsewhere on the last axis
        places = {body.name for body in mechanism.bodies} | {frame.name for frame in mechanism.frames}
        carrier = free_name(f"{c.child}_center", places)
        bodies = (*bodies, Body(carrier))
        welds.append(Joint(c.name, KINDS["fixed"], carrier, c.child, _pose(X_MC)))
    welds.append(Joint(b.name, KINDS["fixed"], carrier, b.child, _pose(np.linalg.inv(X_PM) @ X_1 @ X_2)))
    ball = Joint(name, kind, a.parent, carrier, _pose(X_PM), first, second, **own)
    made = {a.name: (welds[0], ball, *welds[1:]), b.name: (), c.name: ()}
    joints = tuple(part for joint in mechanism.joints for part in made.get(joint.name, (joint,)))
    changed = replace(mechanism, bodies=bodies, joints=joints, starts=fitting(mechanism.starts, joints))
    return changed, Ball(name, names, limits, angles, kind, (a.child, b.child), notes)


def _aligned(axes: np.ndarray) -> tuple[tuple[float, ...], tuple[float, ...] | None, EulerAngles]:
    """`axis` and `second_axis` of the joint, and the angles about axes in these: coordinate axes where that is possible."""
    axes = np.where(np.abs(axes - np.round(axes)) < _ROUNDING, np.round(axes), axes)
    if (np.abs(axes).max(axis=1) == 1.0).all():
        return (0.0, 0.0, 1.0), None, EulerAngles(tuple(map(tuple, axes)))
    second = axes[1] - axes[0] * (axes[0] @ axes[1])
    second /= np.linalg.norm(second)
    A = np.array([list(row) for row in alignment(tuple(axes[0]), tuple(second)).matrix()], dtype=float)
    turned = axes @ A
    turned = np.where(np.abs(turned - np.round(turned)) < _ROUNDING, np.round(turned), turned)
    return tuple(axes[0]), tuple(second), EulerAngles(tuple(map(tuple, turned)))


def _pose(X: np.ndarray) -> Transform:
    return exact(pose(X[:3, 3].tolist(), matrix=X[:3, :3].tolist()))


# --- reasons to refuse ---------------------------------------------------------------------------------------------
def _check_free(mechanism: Mechanism, joints: tuple[Joint, Joint, Joint]) -> None:
    """Refuses triples with other joints or loops on the bodies between, or with couplings of single angles."""
    names = {joint.name for joint in joints}
    check_undriven(mechanism, names, "becomes part of a spherical joint")
    for coupling in mechanism.couplings:
        if {coupling.joint, coupling.of} & names:
            raise ModelError(
                f"{mechanism.name}: the coupling {coupling.name!r} is between single angles, which {', '.join(sorted(names))} "
                "would not have as one joint; take the coupling out, or leave these joints as they are"
            )
    for body, onward in ((joints[0].child, joints[1]), (joints[1].child, joints[2])):
        loop = next((loop for loop in mechanism.loops if body in (loop.body_a, loop.body_b)), None)
        other = next((joint for joint in mechanism.joints if joint.parent == body and joint.name != onward.name), None)
        if loop is not None or other is not None:
            what = f"the loop {loop.name!r}" if loop is not None else f"the joint {other.name!r}"  # type: ignore[union-attr]
            raise ModelError(
                f"{mechanism.name}: {what} holds on to {body!r}, between {joints[0].name!r} and {joints[2].name!r}; as one "
                "spherical joint these have no body between. Attach it elsewhere (`weld` makes one body of two)"
            )


def _check_bodies(mechanism: Mechanism, joints: tuple[Joint, Joint, Joint], center: np.ndarray, lump: bool) -> tuple[str, ...]:
    """Notes on the masses that are lumped."""
    notes, X = [], np.eye(4)
    for joint, held, where in ((joints[0], joints[0].parent, "before"), (joints[1], joints[2].child, "behind")):
        X = X @ _matrix(joint.pose)
        body = mechanism.body(joint.child)
        beside = float(np.linalg.norm((X @ [*body.center_of_mass, 1.0])[:3] - center))
        turning = float(np.abs(body.inertia).max())
        if turning == 0.0 and (body.mass == 0.0 or beside <= _APART):
            continue
        what = (
            f"{body.name!r} weighs {body.mass:.4g} kg, {beside:.3g} m from where the axes meet, with inertias up to "
            f"{turning:.3g} kg·m²"
        )
        if not lump:
            raise ModelError(
                f"{mechanism.name}: {what}, and lies between {joints[0].name!r} and {joints[2].name!r}; merging these is exact "
                "only for bodies without mass, or points where the axes meet. lump=True fixes it on "
                f"{held!r}, which is an approximation; or give its mass to a body that stays"
            )
        notes.append(f"approximate: {what}; it no longer turns against {held!r}, {where} the joint")
        if held == WORLD:
            notes[-1] += ", so that nothing moves it"
    return tuple(notes)


def _check_quaternion(mechanism: Mechanism, joints: tuple[Joint, Joint, Joint], angles: EulerAngles) -> None:
    """Refuses damping and the like on one angle, which cannot act along ω, and axes that do not reach all orientations."""
    for joint in joints:
        for key in _PASSIVE[:4]:
            if any(getattr(joint, key)):  # type: ignore[arg-type]
                raise ModelError(
                    f"{mechanism.name}: joint {joint.name!r} has {key} {getattr(joint, key)[0]:g}, which acts on its own "
                    'angle; a quaternion has no such angle. Merge by="euler", or take it out (`without_friction`)'
                )
    if not angles.reaches_all:
        raise ModelError(
            f"{mechanism.name}: the axes of {', '.join(joint.name for joint in joints)} are not at right angles one after the "
            'other, so that they do not reach every orientation as a quaternion does; merge by="euler"'
        )
