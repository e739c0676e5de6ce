"""The states at which joints with prescribed motions may begin, and motions that the loops of a mechanism contradict."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

import numpy as np

from ...analysis import LoopEquations, assemble
from ...analysis.constraint_report import closed_neighbours
from ...errors import InputError, ModelError
from ...model import Mechanism
from ...model.tree.traversal import rolled_runs
from .motion import FollowingJoint, PrescribedMotion

#: Singular values below this fraction of the largest count as zero, and as many times the largest part belong to a conflict.
_ZERO, _PART = 1e-7, 1e-3
#: Coordinates of a start that differ by more than this from the motion's are reported [rad or m].
_SAME = 1e-9


def check_followed(mechanism: Mechanism, in_scene: bool) -> None:
    """Refuses steps in which joints cannot follow prescribed motions.

    Raises:
        InputError: in scenes of many bodies, and in long chains that are compiled as loops.
    """
    if in_scene:
        raise InputError(
            f"{mechanism.name}: joints cannot follow prescribed motions where contact is computed as a scene, as of many free "
            "bodies or of shapes that only scenes know. Take the motions out, or fewer free bodies and boxes in place of other "
            "shapes; sim.explain_contact() says why"
        )
    if rolled_runs(mechanism.base_parameter_tree):
        raise InputError(
            f"{mechanism.name}: its chains of similar links are so long that they are compiled as loops, in which no joint can "
            "follow a prescribed motion. Hold the joint with a stiff PositionDrive"
        )


class FollowedStarts:
    """Starts with their joints where the prescribed motions begin, and loops closed around them."""

    def __init__(self, loops: LoopEquations, following: Sequence[FollowingJoint], motions: Sequence[PrescribedMotion]):
        self._loops, self._following = loops, following
        self._begin = [motion.at(0.0) for motion in motions]
        self._free = np.ones(loops.mechanism.nv)
        self._free[[joint.v for joint in following]] = 0.0

    def of(self, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The start nearest to q (nq), v (nv) that follows the motions.

        Raises:
            InputError: if the loops cannot be closed there, or if the motions contradict them.
        """
        if self._loops.names:
            with suppress(ModelError):  # where motions contradict the loops, these may not close with them
                self._check(assemble(self._loops, self._set(q, v)[0])[0])
        return self._closed(q, v)

    def _closed(self, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        q, v = self._set(q, v)
        if not self._loops.names:
            return q, v
        try:
            q, v = assemble(self._loops, q, v, free=self._free)
        except ModelError as error:
            names = ", ".join(repr(joint.name) for joint in self._following)
            raise InputError(f"{error}. The motions of {names} hold these joints where they begin") from None
        return self._set(q, v)

    def rows(self, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """`of` for states (N, nq), (N, nv), after one of them was found to be possible."""
        pairs = [self._closed(*row) for row in zip(q, v, strict=True)]
        return np.array([q for q, _ in pairs]), np.array([v for _, v in pairs])

    def notes(self, q: np.ndarray) -> list[str]:
        """The joints that do not begin at q (nq), where they were told to, but where their motions do."""
        return [
            f"joint {joint.name!r} begins where its prescribed motion does, at {float(begin[0]):.6g}, not at {q[joint.q]:.6g}"
            for joint, begin in zip(self._following, self._begin, strict=True)
            if joint.positional and abs(q[joint.q] - float(begin[0])) > _SAME
        ]

    def _set(self, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        q, v = np.array(q, dtype=float), np.array(v, dtype=float)
        for joint, (position, velocity, _) in zip(self._following, self._begin, strict=True):
            q[joint.q] = position if joint.positional else q[joint.q]
            v[joint.v] = velocity
        return q, v

    def _check(self, q: np.ndarray) -> None:
        """Refuses motions that the loops restrict: where the other joints alone do not span all rows of the loops.

        At a singular posture they may not span them for an instant; so only what holds nearby counts.
        """
        loops, owner = self._loops, self._loops.mechanism.name
        still = np.zeros(loops.mechanism.nv)
        for at in (q, *closed_neighbours(loops, q)):
            J = loops.state(at, still).J
            conflict = _unmatched(J, self._free)
            if not len(conflict):
                return
        rows = loops.rows(at, still)
        held = {row.owner for row, part in zip(rows, np.abs(conflict).max(axis=0), strict=True) if part > _PART}
        pushed = np.abs(conflict @ J).max(axis=0)
        fighting = [joint.name for joint in self._following if pushed[joint.v] > _PART * pushed.max()]
        who = f"the prescribed motion of joint {fighting[0]!r}" if len(fighting) == 1 else (
            f"the prescribed motions of joints {', '.join(map(repr, fighting))}"
        )  # fmt: skip
        raise InputError(
            f"{owner}: {who} and {_listed(sorted(held))} determine each other: the loop does not leave room for "
            f"{'it' if len(fighting) == 1 else 'all of them'}, and efforts would have no unique values. Prescribe fewer "
            "motions (`robot.constraint_report(q)` tells the mobility), and let the other joints follow"
        )


def _unmatched(J: np.ndarray, free: np.ndarray) -> np.ndarray:
    """(k, rows): combinations of the loops' rows that move prescribed joints alone; none where all is well."""
    U, s, _ = np.linalg.svd(J * free)
    rank = int((s > _ZERO * max(s[0], 1.0)).sum()) if len(s) else 0
    alone = U[:, rank:].T  # (k, rows), of which some are redundant rows, which move nothing
    left, sizes, _ = np.linalg.svd(alone @ J) if len(alone) else (alone, np.zeros(0), None)
    return np.asarray(left.T[: len(sizes)][sizes > _ZERO * max(1.0, float(s[0]) if len(s) else 1.0)] @ alone)


def _listed(names: Sequence[str]) -> str:
    return f"loop {names[0]!r}" if len(names) == 1 else f"loops {', '.join(map(repr, names))}"
