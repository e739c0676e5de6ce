"""States of three revolute joints and of the spherical joint that replaces them, converted both ways."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from ...model import EulerAngles, JointKind, Limits, Mechanism
from ...scalar import floats
from ...spatial import Force, Motion, Vector3


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

    # --- one state, of this joint alone -----------------------------------------------------------------------------------
    def joined(self, q: Sequence[float]) -> list[float]:
        """Coordinates of the spherical joint for the three angles."""
        return [float(x) for x in self.kind.locate(self.angles.transform(q))] if self._by_quaternion else list(q)

    def split(self, q: Sequence[float], near: Sequence[float] | None) -> list[float]:
        """The three angles for coordinates of the spherical joint; of all solutions, those nearest to `near`."""
        if not self._by_quaternion:
            return list(q)
        X_FM = self.kind.transform(q)
        return self.angles.nearest(X_FM, near) if near is not None else floats(self.angles.locate(X_FM))

    def joined_rates(self, q: Sequence[float], v: Sequence[float]) -> list[float]:
        """ω for rates at the angles q."""
        return floats(_sum(self.angles.subspace(q), v).angular) if self._by_quaternion else list(v)

    def split_rates(self, q: Sequence[float], v: Sequence[float], damping: float) -> list[float]:
        """The rates at the angles q for ω; see `EulerAngles.consistent_rates`."""
        return self.angles.consistent_rates(q, v, damping) if self._by_quaternion else list(v)

    def joined_accelerations(self, q: Sequence[float], v: Sequence[float], a: Sequence[float]) -> list[float]:
        """ω̇ = S a + Ṡ v for accelerations at the angles q and the rates v."""
        if not self._by_quaternion:
            return list(a)
        return floats((_sum(self.angles.subspace(q), a) + _sum(self.angles.subspace_rate(q, v), v)).angular)

    def split_accelerations(self, q: Sequence[float], v: Sequence[float], a: Sequence[float], damping: float) -> list[float]:
        """The accelerations at the angles q and the rates v for ω̇."""
        if not self._by_quaternion:
            return list(a)
        rest = Vector3.of(a) - _sum(self.angles.subspace_rate(q, v), v).angular
        return self.angles.consistent_rates(q, floats(rest), damping)

    def joined_efforts(self, q: Sequence[float], tau: Sequence[float]) -> list[float]:
        """The moment in M for torques of the three drives at the angles q (2.8); without bound at the singularity."""
        if not self._by_quaternion:
            return list(tau)
        return floats(sum((T * x for T, x in zip(self.angles.active(q), tau, strict=True)), Force()).moment)

    def split_efforts(self, q: Sequence[float], tau: Sequence[float]) -> list[float]:
        """The torques of the three drives at the angles q that are this moment in M: Sᵀ n, in every posture."""
        if not self._by_quaternion:
            return list(tau)
        return [float(S.dot(Force(Vector3.of(tau)))) for S in self.angles.subspace(q)]

    @property
    def _by_quaternion(self) -> bool:
        return self.kind is not self.angles


@dataclass(frozen=True)
class SphericalMerge:
    """A mechanism with spherical joints, and the one with revolute joints that it was made from.

    States may have leading axes; `split` treats the rows of a batch as a motion, and keeps its angles continuous.

    Attributes:
        mechanism: with the spherical joints; `separate`: the original.
        balls: the joints that were merged.
        refused: why other triples of revolute joints through one point were not merged, one sentence each.

    >>> from kumitate import load, merge_spherical
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
            before = self._angles(row, before)
            found.append(before)
        angles = np.array(found).reshape(*rows.shape[:-1], self.separate.nq)
        return angles if v is None else (angles, self._split(partial(Ball.split_rates, damping=damping), angles, v))

    def merged_accelerations(self, q: Any, v: Any, a: Any) -> np.ndarray:
        """The accelerations of `mechanism` for q, v and accelerations a of `separate`."""
        return self._merged("nv", Ball.joined_accelerations, q, v, a)

    def split_accelerations(self, q: Any, v: Any, a: Any, *, damping: float = 0.0) -> np.ndarray:
        """The accelerations of `separate` at its q and v for accelerations a of `mechanism`; `damping` as in `split`."""
        return self._split(partial(Ball.split_accelerations, damping=damping), q, v, a)

    def merged_efforts(self, q: Any, tau: Any) -> np.ndarray:
        """The forces of the drives of `mechanism` equivalent to tau (nv) of `separate` at its q: of equal power."""
        return self._merged("nv", Ball.joined_efforts, q, tau)

    def split_efforts(self, q: Any, tau: Any) -> np.ndarray:
        """The forces of the drives of `separate` at its q equivalent to tau (nv) of `mechanism`."""
        return self._split(Ball.split_efforts, q, tau)

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
        columns = [_columns(self.separate, "nq"), *[_columns(self.separate, "nv")] * (len(given) - 1)]
        balls = {ball.name: ball for ball in self.balls}

        def row(*values: np.ndarray) -> list[float]:
            found: list[float] = []
            for joint in self.mechanism.joints:
                if joint.name in balls:
                    ball = balls[joint.name]
                    found += way(ball, *(_three(ball, *pair) for pair in zip(values, columns, strict=True)))
                elif getattr(joint.kind, size):
                    found += values[-1][columns[-1][joint.name]].tolist()
            return found

        return _by_rows(row, *given)

    def _split(self, way: Callable[..., list[float]], *given: Any) -> np.ndarray:
        """The last of `given`, velocities of `mechanism`, as `separate` has them; what is given before is of `separate`."""
        columns, own = (
            [_columns(self.separate, "nq"), *[_columns(self.separate, "nv")] * (len(given) - 2)],
            _columns(self.mechanism, "nv"),
        )

        def row(*values: np.ndarray) -> list[float]:
            def split(ball: Ball) -> list[float]:
                before = (_three(ball, *pair) for pair in zip(values[:-1], columns, strict=True))
                return way(ball, *before, values[-1][own[ball.name]].tolist())

            return self._laid_out(split, lambda name: values[-1][own[name]].tolist())

        return _by_rows(row, *given)

    def _angles(self, row: np.ndarray, near: Any) -> np.ndarray:
        own, columns = _columns(self.mechanism, "nq"), _columns(self.separate, "nq")

        def split(ball: Ball) -> list[float]:
            before = None if near is None else _three(ball, np.asarray(near, dtype=float), columns)
            return ball.split(row[own[ball.name]].tolist(), before)

        return np.array(self._laid_out(split, lambda name: row[own[name]].tolist()))

    def _laid_out(self, split: Callable[[Ball], list[float]], other: Callable[[str], list[float]]) -> list[float]:
        """Values in the order of `separate`, where the three joints of a ball follow each other."""
        first = {ball.joints[0]: ball for ball in self.balls}
        inner = {name for ball in self.balls for name in ball.joints[1:]}
        names = (joint.name for joint in self.separate.joints if joint.name not in inner)
        return [x for name in names for x in (split(first[name]) if name in first else other(name))]


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
