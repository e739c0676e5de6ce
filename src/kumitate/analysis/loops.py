"""Loop errors and their rates, by row, with the name of each loop."""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import numpy as np

from ..compile import Kernel, found_or_traced
from ..dynamics import Row, chord_closings, constraint_rows, link_motions, loop_jacobian
from ..errors import InputError, ModelError
from ..kinematics import chord_closing, chord_errors, difference, gear_errors, integrate
from ..model import Chord, Line, Mechanism, Tree
from ..model.mechanism import digest
from ..scalar import Scalar, Scalars, evaluate, is_zero, sqrt, trace

#: Lines shorter than this count as zero length [m], and relative speeds of their ends below this as rest [m/s].
_NOTHING = 1e-15


class Lines:
    """The lines of a mechanism."""

    def __init__(self, mechanism: Mechanism):
        self.mechanism = mechanism
        self._chords = [chord for chord in mechanism.tree.chords if isinstance(chord.closure, Line)]

    def check_directions(self, q: Any, v: Any, driven: Collection[str] = (), *, smooth: bool = False) -> None:
        """Refuses states at which the force of a line of zero length has no direction.

        Args:
            q, v: coordinates (..., nq) and velocities (..., nv).
            driven: names of loops with active drives.
            smooth: whether derivatives of forces are needed as well; those of dampers of zero length do not exist.

        Raises:
            InputError: naming the line, and the force that has no direction.
        """
        asked = [(k, why) for k, chord in enumerate(self._chords) if (why := _needs_direction(chord, driven, smooth))]
        q, v = np.asarray(q, dtype=float), np.asarray(v, dtype=float)
        if not asked or not q.size:
            return
        lengths, speeds = self._kernel(q, v)
        for k, why in asked:
            lost = (lengths[..., k] < _NOTHING) & (smooth | (speeds[..., k] < _NOTHING))
            if lost.any():
                raise InputError(
                    f"{self.mechanism.name}: the line {self._chords[k].name!r} has no length at this state, where {why}; only "
                    "springs with rest 0 may start there. Start from another posture, or give the spring the rest 0"
                )

    @cached_property
    def _kernel(self) -> Kernel:
        tree, chords = self.mechanism.tree, self._chords

        def measured(q: Any, v: Any) -> dict[str, Any]:
            closings = [chord_closing(tree, q, v, chord) for chord in chords]
            return {
                "lengths": [closing.coordinates[0] for closing in closings],
                "speeds": [closing.twist.linear.norm() for closing in closings],
            }

        return Kernel(trace(measured, {"q": tree.nq, "v": tree.nv}, f"lines_{self.mechanism.name}"))


def _needs_direction(chord: Chord, driven: Collection[str], smooth: bool) -> str:
    """Which force of a line has no direction at zero length; empty if all are determined."""
    if any(chord.stiffness) and any(chord.rest):
        return f"its spring of rest {chord.rest[0]:g} m pushes in no direction"
    if _pulls_at_zero(chord):
        return "its force pushes in no direction"
    if any(chord.armature):
        return f"its armature {chord.armature[0]:g} kg acts in no direction"
    if chord.name in driven:
        return "its drive pushes in no direction"
    if smooth and isinstance(chord.closure, Line) and chord.closure.force is not None:
        return "its force has no slope"
    return "its damping has no slope" if smooth and (any(chord.damping) or any(chord.friction)) else ""


def _pulls_at_zero(chord: Chord) -> bool:
    """Whether the force of a nonlinear spring does not vanish at zero length and rest, or is not defined there."""
    try:
        return any(chord.closure.pull((0.0,), (0.0,)))
    except (ArithmeticError, ValueError):
        return True


#: Names of the components of a joint's force [n; f].
COMPONENTS = ("nx", "ny", "nz", "fx", "fy", "fz")
#: Above this size, compiling a program takes longer than interpreting it for one start [operations].
_COMPILED = 20_000
#: So many evaluations of a larger one take longer than compiling it.
_PATIENCE = 40


class LoopGap(NamedTuple):
    """The error of one loop or coupling.

    Attributes:
        name: of the loop or coupling.
        distance: the gap [m]; `angle`: [rad] (for a coupling, the error of its coordinates).
        speed: the rate of the gap [m/s]; `turning`: the rate of the angle [rad/s].
    """

    name: str
    distance: float
    angle: float
    speed: float
    turning: float

    def size(self, length: float) -> float:
        """The gap as one length [m], with angles multiplied by `length`."""
        return float(np.hypot(self.distance, self.angle * length))

    def rate(self, length: float) -> float:
        """The opening speed as one value [m/s], in the same way."""
        return float(np.hypot(self.speed, self.turning * length))


class LoopState(NamedTuple):
    """The equations of all loops at a state, one per row.

    Attributes:
        error: (rows) [m, rad]; `rate`: (rows) [m/s, rad/s].
        J: (rows, nv), the Jacobian: rate = J v.
    """

    error: np.ndarray
    rate: np.ndarray
    J: np.ndarray


class LoopEquations:
    """The loop equations of a mechanism, compiled on first use.

    Attributes:
        mechanism: the one that has the loops.
        names: of the loops, then of the couplings.
        lines: the loops that are lines between two points.
    """

    def __init__(self, mechanism: Mechanism):
        self.mechanism = mechanism
        self._asked = 0
        self.lines = Lines(mechanism)
        self.names = [*(loop.name for loop in mechanism.loops), *(coupling.name for coupling in mechanism.couplings)]

    def gaps(self, q: Any, v: Any) -> list[LoopGap]:
        """The gap of every loop, then of every coupling, at one state; over a batch, the largest of each."""
        if not self.names:
            return []
        gaps = self.gaps_of_rows(np.asarray(q, dtype=float), np.asarray(v, dtype=float))
        worst = gaps.reshape(-1, len(self.names), 4).max(axis=0)
        return [LoopGap(name, *map(float, row)) for name, row in zip(self.names, worst, strict=True)]

    def gaps_of_rows(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """(N, loops and couplings, 4): distance, angle, speed and turning of every gap, as in `LoopGap`, at N states."""
        if not self.mechanism.loops:
            error, rate = np.abs(self._of_couplings(q, v))
            return np.stack([0.0 * error, error, 0.0 * rate, rate], axis=-1)
        return np.abs(np.asarray(self._gaps(q, v)))

    def jacobians(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """J (N, rows, nv) at N states."""
        return self._parts(self._states(q, v)).J

    def rates(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """(N, rows): the rates of all rows at N states."""
        return self._parts(self._states(q, v)).rate

    def moved(self, q: np.ndarray, dv: np.ndarray) -> np.ndarray:
        """(N, nq): the coordinates after moves (N, nv)."""
        return np.asarray(self._moved(q, dv))

    def stepped(self, q: np.ndarray, dv: np.ndarray) -> np.ndarray:
        """The coordinates (nq) after one move (nv); compiled when many are asked for."""
        if self._asked > _PATIENCE:
            return np.asarray(self._moved(q, dv))
        return np.array(integrate(self.mechanism.tree, q.tolist(), dv.tolist()))

    def difference(self, start: np.ndarray, q: np.ndarray) -> np.ndarray:
        """The move (nv) that leads from one posture to another, as `stepped` makes it; compiled when many are asked for."""
        if self._asked > _PATIENCE:
            return np.asarray(self._difference(start, q))
        return np.array(difference(self.mechanism.tree, start.tolist(), q.tolist()))

    def state(self, q: Any, v: Any) -> LoopState:
        """Errors, rates and Jacobian of all rows of the loops at one state."""
        q, v = np.ascontiguousarray(q, dtype=float), np.ascontiguousarray(v, dtype=float)
        if not self.mechanism.loops:
            error, rate = self._of_couplings(q, v)
            return LoopState(error, rate, self._couplings[1].copy())
        self._asked += 1
        try:
            compiled = self._asked > _PATIENCE or self._states.operations <= _COMPILED
            values = self._states(q, v) if compiled else np.array(evaluate(self._states.program, [*q.tolist(), *v.tolist()]))
        except ZeroDivisionError:
            values = np.array([np.nan])
        if not np.isfinite(values).all():
            raise ModelError(
                f"{self.mechanism.name}: the loops {', '.join(self.names)} have no equations at this posture: the ends of a "
                "rod or line coincide, a joint is turned by 180°, or a rolling disc lies flat. Start from another posture"
            )
        return self._parts(values)

    def _parts(self, values: np.ndarray) -> LoopState:
        """Errors, rates and Jacobians (..., rows) in what `_states` gives."""
        rows = values.shape[-1] // (2 + self.mechanism.nv)
        J = values[..., 2 * rows :].reshape(*values.shape[:-1], rows, self.mechanism.nv)
        return LoopState(values[..., :rows], values[..., rows : 2 * rows], J)

    def positions(self, q: Any) -> tuple[np.ndarray, np.ndarray]:
        """The errors of the rows that restrict positions (k), at one posture, and their Jacobian (k, nv)."""
        state = self.state(q, np.zeros(self.mechanism.nv))
        return state.error[self.holonomic], state.J[self.holonomic]

    @cached_property
    def _couplings(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """A (couplings, nq), J (couplings, nv) and b of the equations A q = b of couplings, of which J v are the rates."""
        gears = self.mechanism.tree.gears
        A, J = (np.zeros((len(gears), size)) for size in (self.mechanism.nq, self.mechanism.nv))
        for row, gear in enumerate(gears):
            for matrix, ratios in ((A, gear.q_ratios), (J, gear.v_ratios)):
                for k, ratio in ratios:
                    matrix[row, k] += ratio
        return A, J, np.array([gear.offset for gear in gears])

    def _of_couplings(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """(2, …, couplings): the errors of couplings and their rates, with nothing compiled, as they are linear."""
        A, J, b = self._couplings
        return np.array([q @ A.T - b, v @ J.T])

    @cached_property
    def holonomic(self) -> np.ndarray:
        """(rows) which rows restrict positions; the others, of rolling, restrict velocities alone."""
        kinds = [loop.kind for loop in self.mechanism.loops]
        parts = [k < kind.holonomic_rows for kind in kinds for k in range(kind.rows)]
        return np.array(parts + [True] * len(self.mechanism.couplings), dtype=bool)

    @cached_property
    def blocks(self) -> np.ndarray:
        """The index of the loop or coupling, as in `names`, of every row that restricts positions."""
        counts = [loop.kind.holonomic_rows for loop in self.mechanism.loops] + [1] * len(self.mechanism.couplings)
        return np.repeat(np.arange(len(counts)), counts)

    def rows(self, q: Any, v: Any) -> list[Row]:
        """The rigid rows of all loops and couplings at one state; armatures in loops are not constraints."""
        return rigid_rows(self.mechanism.tree, list(map(float, q)), list(map(float, v)))[0]

    def label(self, row: Row) -> str:
        """The loop, and the component of its force if the row's is along one; else all its components."""
        turns = {chord.name: chord.turn for chord in self.mechanism.tree.chords}
        if row.owner not in turns:
            return f"{row.owner}: ratio"
        parts = np.abs([float(x) for x in row.unit.to_parent(turns[row.owner])])
        return f"{row.owner}: {' '.join(name for name, part in zip(COMPONENTS, parts, strict=True) if part > 1e-9)}"

    @cached_property
    def _states(self) -> Kernel:
        tree = self.mechanism.tree

        def state(q: Any, v: Any) -> list[Any]:
            rows, J = rigid_rows(tree, q, v)
            return [*(row.error for row in rows), *(row.rate for row in rows), *(entry for line in J for entry in line)]

        return self.kernel("state", state, q=tree.nq, v=tree.nv)

    @cached_property
    def _moved(self) -> Kernel:
        tree = self.mechanism.tree
        return self.kernel("moved", lambda q, dv: integrate(tree, q, dv), q=tree.nq, dv=tree.nv)

    @cached_property
    def _difference(self) -> Kernel:
        tree = self.mechanism.tree
        return self.kernel("difference", lambda start, q: difference(tree, start, q), start=tree.nq, q=tree.nq)

    @cached_property
    def _gaps(self) -> Kernel:
        tree = self.mechanism.tree

        def gaps(q: Any, v: Any) -> list[list[Any]]:
            chords = [
                [sqrt(part.dot(part)) for part in (error.linear, error.angular, opening.linear, opening.angular)]
                for error, opening in chord_errors(tree, q, v)
            ]
            return chords + [[0.0, error, 0.0, rate] for error, rate in gear_errors(tree, q, v)]

        return self.kernel("gaps", gaps, q=tree.nq, v=tree.nv)

    def kernel(self, role: str, page: Callable[..., Any], **sizes: int) -> Kernel:
        """The machine code of a function, whose program is found on disk by its role and the mechanism."""
        known = digest(self.mechanism)
        key = None if known is None else f"loops {role} {known}"
        return Kernel(found_or_traced(key, lambda: trace(page, sizes, f"loop_{role}_{self.mechanism.name}")))


def rigid_rows(tree: Tree, q: Scalars, v: Scalars) -> tuple[list[Row], list[list[Scalar]]]:
    """The rows of all loops and couplings, without armatures in loops, which are not constraints; and their Jacobian J."""
    motions = link_motions(tree, q, v)
    rows = constraint_rows(tree, chord_closings(tree, q, v), q, v, motions)
    rows = [row for row in rows if is_zero(row.softness)]
    return rows, loop_jacobian(tree, motions, rows)


@lru_cache(maxsize=64)
def loop_equations(mechanism: Mechanism) -> LoopEquations:
    """The loop equations of a mechanism, cached with their compiled programs."""
    return LoopEquations(mechanism)
