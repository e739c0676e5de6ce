"""The motion that a joint is given as a function of time; its effort is what results."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np

from ...analysis import LoopEquations, assemble
from ...analysis.constraint_report import closed_neighbours
from ...analysis.loop_motion import loops_at
from ...errors import InputError, ModelError, did_you_mean
from ...model import JointKind, Mechanism
from ...model.edits import with_loops_in_tree
from ...model.tree.traversal import rolled_runs
from ...scalar import Program, Scalar, call, directional, trace
from ...scalar.purity import judged

#: Times at which a function is tried before it is compiled [s].
_TRIED = (0.0, 0.7, 1.9)


class PrescribedMotion:
    """The motion of a joint as a function of time: its position, or its velocity. Derivatives are found by differentiation.

    >>> from math import isclose
    >>> from kumitate.scalar import sin
    >>> motion = PrescribedMotion(position=lambda t: 0.5 * sin(2.0 * t))
    >>> position, velocity, acceleration = motion.at(0.0)
    >>> position, isclose(velocity, 1.0), acceleration
    (0.0, True, 0.0)
    """

    def __init__(self, position: Callable[[Any], Any] | None = None, *, velocity: Callable[[Any], Any] | None = None):
        """The motion of a joint of one degree of freedom.

        Args:
            position: f(t) [rad or m], with continuous velocity; or
            velocity: f(t) [rad/s or m/s], continuous; the position is then integrated from the start.

        Raises:
            InputError: if both are given, or none; or if the function cannot be compiled, with the reason.
        """
        if (position is None) == (velocity is None):
            raise InputError("a prescribed motion is a position or a velocity as a function of time; give one of the two")
        self.positional = position is not None
        given = _program(position if position is not None else velocity)  # type: ignore[arg-type]
        self._orders = (
            [given, rate := _derivative(given), _derivative(rate)] if self.positional else [given, _derivative(given)]
        )

    def at(self, t: Scalar) -> list[Scalar]:
        """Position, velocity and acceleration at a time [s]; the position is zero where only the velocity is known."""
        values = [call(program, t)[0] for program in self._orders]
        return values if self.positional else [0.0, *values]

    def __call__(self, t: Any, q: Any, v: Any) -> np.ndarray:
        """As `at`, as a source of a simulation."""
        return np.array(self.at(t))


def _derivative(program: Program) -> Program:
    both = directional(program)
    return trace(lambda t: list(call(both, t, 1.0)["result_dot"]), {"t": ()}, program.name)


def _program(function: Callable[[Any], Any]) -> Program:
    if not callable(function):
        raise InputError(f"a prescribed motion is {function!r}; it must be a function of time, f(t)")

    def values(t: Any) -> Any:
        return np.reshape(np.asarray(function(t)), (1,))

    verdict = judged(values, [(t,) for t in _TRIED], 1, ("t",))
    if verdict.program is None:
        raise InputError(
            f"a prescribed motion must be a function of time that can be compiled, f(t), and {verdict.reason}. Write it with "
            "plain operators and NumPy's functions, or take a spline of kumitate.control.paths"
        )
    return trace(lambda t: call(verdict.program, t), {"t": ()}, "motion")  # type: ignore[arg-type]


class FollowingJoint(NamedTuple):
    """A joint that follows a motion: where its coordinate and velocity stand; whether its position is given."""

    name: str
    q: int
    v: int
    positional: bool


def motions_of(mechanism: Mechanism, given: Mapping[str, Any]) -> dict[str, PrescribedMotion]:
    """The motions of joints by name; a function of time stands for a position. Joints that cannot follow one are refused."""
    found, known = {}, {joint.name: joint for joint in mechanism.joints}
    for name, motion in given.items():
        joint = known.get(name)
        if joint is None:
            kinds = [loop.kind.name for loop in mechanism.loops if loop.name == name]
            hint = f"is a loop of kind {kinds[0]}: a motion is of one degree of freedom" if kinds else "is not a joint"
            raise InputError(f"{mechanism.name}: motions names {name!r}, which {hint}{did_you_mean(name, known, lead=', ')}")
        if (joint.kind.nq, joint.kind.nv) != (1, 1):
            raise InputError(
                f"{mechanism.name}: the motion of {name!r}, a {joint.kind.name} joint, cannot be prescribed: it has "
                f"{joint.kind.nv} degrees of freedom, and a motion is of one. Write it as joints of one each"
            )
        if joint.drive is not None:
            raise InputError(
                f"{mechanism.name}: joint {name!r} follows a prescribed motion and has a drive; take the drive out with "
                f"`robot.with_drives({{{name!r}: None}})`, or the motion"
            )
        found[name] = motion if isinstance(motion, PrescribedMotion) else PrescribedMotion(motion)
    return found


# --- loop joints that follow motions: they stand in the tree, and rigid loops tie them to where they were ------------------
def with_followed_loops(
    mechanism: Mechanism, motions: Mapping[str, Any] | None, start: tuple[Any, Any]
) -> tuple[Mechanism, tuple[Any, Any]]:
    """The mechanism and its start (q, v) with a coordinate for each loop joint of one degree of freedom among the motions.

    These coordinates have the names of the loop joints; `q_names` tells where they are, after those of body A. Where no loop
    joint follows a motion, mechanism and start are as they were.
    """
    loops = [loop for loop in mechanism.loops if loop.name in (motions or ()) and isinstance(loop.kind, JointKind)]
    names = [loop.name for loop in loops if loop.kind.nq == loop.kind.nv == 1]
    if not names:
        return mechanism, start
    changed = with_loops_in_tree(mechanism, names)
    q, v = (None if part is None else np.asarray(part, dtype=float) for part in start)
    if q is not None and q.shape == (mechanism.nq,):
        there = dict(zip(mechanism.loop_q_names, loops_at(mechanism, q, np.zeros(mechanism.nv))["loop_q"], strict=True))
        there |= dict(zip(mechanism.q_names, q, strict=True))
        q = np.array([there[name] for name in changed.q_names])
    if v is not None and v.shape == (mechanism.nv,):
        known = dict(zip(mechanism.v_names, v, strict=True))
        v = np.array([known.get(name, 0.0) for name in changed.v_names])
    return changed, (q, v)


# --- starts of joints that follow prescribed motions, and motions that the loops of a mechanism contradict ----------------
#: Singular values below this fraction of the largest count as zero, and as many times the largest part belong to a conflict.
_ZERO, _PART = 1e-7, 1e-3
#: Coordinates of a start that differ by more than this from the motion's are reported [rad or m].
_AS_TOLD = 1e-9


def check_followed(mechanism: Mechanism, in_scene: bool) -> None:
    """Refuses steps in which joints cannot follow motions: in scenes, and in long chains that are compiled as loops."""
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
        """The start nearest to q (nq), v (nv) that follows the motions; refused if these contradict the loops."""
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
            if joint.positional and abs(q[joint.q] - float(begin[0])) > _AS_TOLD
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
        several, closing = len(fighting) > 1, _listed("loop", sorted(held))
        raise InputError(
            f"{owner}: the prescribed motion{'s' * several} of {_listed('joint', fighting)} and {closing} determine each other:"
            f" the loop does not leave room for {'all of them' if several else 'it'}, and efforts would have no unique values. "
            "Prescribe fewer motions (`robot.constraint_report(q)` tells the mobility), and let the other joints follow"
        )


def _unmatched(J: np.ndarray, free: np.ndarray) -> np.ndarray:
    """(k, rows): combinations of the loops' rows that move prescribed joints alone; none where all is well."""
    U, s, _ = np.linalg.svd(J * free)
    rank = int((s > _ZERO * max(s[0], 1.0)).sum()) if len(s) else 0
    alone = U[:, rank:].T  # (k, rows), of which some are redundant rows, which move nothing
    left, sizes, _ = np.linalg.svd(alone @ J) if len(alone) else (alone, np.zeros(0), None)
    return np.asarray(left.T[: len(sizes)][sizes > _ZERO * max(1.0, float(s[0]) if len(s) else 1.0)] @ alone)


def _listed(noun: str, names: Sequence[str]) -> str:
    return f"{noun}{'s' * (len(names) > 1)} {', '.join(map(repr, names))}"
