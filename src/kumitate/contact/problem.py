"""The contact problem of one step: which impulses at the points, and in the loops, make the velocities what they may be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial, reduce

from ..dynamics.crba import crba
from ..dynamics.loops.constraints import chord_closings, constraint_rows
from ..dynamics.loops.jacobian import loop_jacobian
from ..dynamics.motion import link_motions
from ..dynamics.passive import resisting_inertia
from ..model import Tree
from ..scalar import Scalar, absolute, either, is_zero, maximum, when
from ..scalar.reuse import call_shared
from ..spatial import Force, Motion, SparseFactors
from .columns import Columns, Pattern, Rows, added, frozen
from .cone import onto_cone
from .limbs import Limbs
from .meetings import Meeting, Spot

__all__ = ["STIFF", "Held", "Impulses", "Problem", "Solved", "inertia", "loop_equations"]

#: How much stiffer what holds is than its surroundings: what is undetermined is resolved to 1/STIFF a sweep.
STIFF = 1e7
#: Sweeps that settle the loops' impulses.
SWEEPS = 3


@dataclass(frozen=True)
class Impulses:
    """A guess of the solution.

    Attributes:
        points: (normal, tangent, tangent) of every point of every meeting [N·s].
        held: of the loops' equations.
        v: the velocities (nv) after them.
    """

    points: list[list[list[Scalar]]]
    held: list[Scalar]
    v: list[Scalar]


@dataclass(frozen=True)
class Solved:
    """What a contact model found.

    Attributes:
        impulses: of the step.
        left: how far the search for them stopped from what it looks for [m/s]; zero of a model that does not search.
    """

    impulses: Impulses
    left: Scalar = 0.0


@dataclass(frozen=True)
class Held:
    """An equation of a loop.

    Attributes:
        push: its row of the Jacobian, by index in v.
        start: what its rate must stay off [m/s, rad/s]: zero, or for a soft one its rate before contact acts.
        softness: `dynamics.Row.softness`.
        size: of its answer to its own unit impulse.
    """

    push: dict[int, Scalar]
    start: Scalar
    softness: Scalar
    size: Scalar

    @property
    def stiffness(self) -> Scalar:
        """With which it is held within a sweep."""
        return 1.0 / (self.softness + self.size / STIFF)

    def rate(self, v: Sequence[Scalar]) -> Scalar:
        """How fast it opens."""
        return sum((value * v[k] for k, value in self.push.items()), 0.0) - self.start


@dataclass(frozen=True)
class Problem:
    """Everything that stays while it is solved.

    Attributes:
        limbs: the tree at its posture, with the inertia matrix as a step feels it.
        meetings, held: what is pushed, where.
        factors: of the inertia matrix, with the loops held stiffly.
        v_free: the velocities (nv) after the step without contact.
    """

    limbs: Limbs
    meetings: Sequence[Meeting]
    held: Sequence[Held]
    factors: SparseFactors
    v_free: Sequence[Scalar]

    @classmethod
    def of(cls, limbs: Limbs, meetings: Sequence[Meeting], held: Sequence[Held], v_free: Sequence[Scalar]) -> Problem:
        """The problem with the factors that it needs."""
        factors = limbs.factors
        if held:
            stiff = {i: dict(row) for i, row in limbs.M.items()}
            _add_held(stiff, held)
            factors = SparseFactors.of(stiff, symmetric=True)
        return cls(limbs, meetings, held, factors, v_free)

    @property
    def columns(self) -> Columns:
        """The links' Jacobians."""
        return self.limbs.columns

    @property
    def M(self) -> Pattern:
        """The inertia matrix by its entries."""
        return self.limbs.M

    @property
    def fastest(self) -> Scalar:
        """The largest component of a point's velocity after the step without contact [m/s]."""
        parts = (absolute(part) for meeting in self.meetings for point in meeting.points for part in point.free)
        return reduce(maximum, parts, 0.0)

    @property
    def coupled(self) -> bool:
        """Whether forces act between moving links, so that one limb's stiffness is felt by another."""
        return bool(self.held) or any(meeting.shift is not None for meeting in self.meetings)

    def nothing(self) -> Impulses:
        """No impulses."""
        points: list[list[list[Scalar]]] = [[[0.0, 0.0, 0.0] for _ in meeting.points] for meeting in self.meetings]
        return Impulses(points, [0.0 for _ in self.held], list(self.v_free))

    def after(self, points: list[list[list[Scalar]]], held: list[Scalar]) -> Impulses:
        """What the points' impulses do, with those in the loops that keep them closed; these are sought from `held` on."""
        wrenches = [
            sum((spot.wrench(impulse) for spot, impulse in zip(meeting.spots, of_points, strict=True)), Force())
            for meeting, of_points in zip(self.meetings, points, strict=True)
        ]
        v = list(self.v_free)
        moved: list[Scalar] = [0.0] * len(
            v
        )  # M (v − v_free): what is left to do is small after the first sweep, and so is its rounding
        for _ in range(SWEEPS if self.held else 1):
            pulls = [
                old - equation.stiffness * (equation.rate(v) + equation.softness * old)
                for equation, old in zip(self.held, held, strict=True)
            ]
            left = [effort - done for effort, done in zip(self.efforts(wrenches, pulls), moved, strict=True)]
            change = self.factors.solve(left)
            v = [rate + more for rate, more in zip(v, change, strict=True)]
            moved = [done + sum((value * change[k] for k, value in self.M[i].items()), 0.0) for i, done in enumerate(moved)]
            held = [
                old - equation.stiffness * (equation.rate(v) + equation.softness * old)
                for equation, old in zip(self.held, held, strict=True)
            ]
        return Impulses(points, held, v)

    def efforts(self, wrenches: Sequence[Force], held: Sequence[Scalar]) -> list[Scalar]:
        """Jᵀ λ (nv), of one wrench a meeting and one impulse an equation."""
        on: dict[int, Force] = {}
        for meeting, wrench in zip(self.meetings, wrenches, strict=True):
            for link, part in meeting.wrenches(wrench).items():
                on[link] = on[link] + part if link in on else part
        total = self.columns.efforts(on)
        for equation, impulse in zip(self.held, held, strict=True):
            for k, value in equation.push.items():
                total[k] = total[k] + value * impulse
        return total

    def stiffened(self, on_meetings: Sequence[Rows]) -> SparseFactors:
        """The factors of M + Jᵀ K J, of one K (6×6) a meeting, and with the loops held stiffly."""
        on: dict[int, Rows] = {}
        near: dict[int, Scalar] = {}
        for meeting, K in zip(self.meetings, on_meetings, strict=True):
            if meeting.shift is None:
                link = meeting.links[0]
                on[link] = added(on[link], K) if link in on else K
                near[link] = either(near[link], meeting.near) if link in near else meeting.near
        if not self.coupled:
            return self.limbs.stiffened(on, near)
        H = {i: dict(row) for i, row in self.M.items()}
        self.columns.add_stiffness(H, self.columns.tree.links, on)
        for meeting, K in zip(self.meetings, on_meetings, strict=True):
            if meeting.shift is not None:
                self._add_between(H, meeting, K)
        _add_held(H, self.held)
        return SparseFactors.of(H)

    def _add_between(self, H: Pattern, meeting: Meeting, K: Rows) -> None:
        """Adds the stiffness between two moving links."""
        columns = self.relative_columns(meeting)
        felt = call_shared(_congruent, frozen(K), frozen(columns.values()), name="between")
        for i, row in zip(columns, felt, strict=True):
            for j, value in zip(columns, row, strict=True):
                H[i][j] = H[i].get(j, 0.0) + value

    def relative_columns(self, meeting: Meeting) -> dict[int, list[Scalar]]:
        """The columns of A's twist against B's, by index in v."""
        tree, found = self.columns.tree, {}
        a, b = (tree.ancestors(index) for index in meeting.links)
        for link in a:
            if link not in b:
                found.update({k: list(S) for k, S in enumerate(self.columns.S[link], link.v_start)})
        if meeting.shift is None:  # B is part of the world
            return found
        for link in b:
            if link not in a:
                for k, S in enumerate(self.columns.S[link], link.v_start):
                    at_A = [*S.angular, *(S.linear + S.angular.cross(meeting.shift))]
                    found[k] = [-part for part in at_A]
        return found

    def residual(self, guess: Impulses, targets: Sequence[Sequence[Scalar]]) -> Scalar:
        """How far a guess is from obeying every law [m/s]: each point's |λ − cone(λ − u/size)|·size, each loop's open rate."""
        twists = self.columns.twists(guess.v)
        worst: Scalar = 0.0
        for meeting, impulses, wanted in zip(self.meetings, guess.points, targets, strict=True):
            twist = meeting.twist(self.columns, twists)

            state = (meeting.spots, frozen(impulses), twist, tuple(wanted))
            worst = maximum(worst, when(meeting.near, partial(call_shared, _open, *state, name="open"), 0.0))
        for equation, impulse in zip(self.held, guess.held, strict=True):
            worst = maximum(worst, absolute(equation.rate(guess.v) + equation.softness * impulse))
        return worst

    def gained(self, guess: Impulses) -> Scalar:
        """The kinetic energy that the impulses add to what the step would have without them [J]."""
        total = self._at_mean_velocity(guess, [[point.free for point in meeting.points] for meeting in self.meetings])
        for equation, impulse in zip(self.held, guess.held, strict=True):
            total = total + 0.5 * impulse * (equation.rate(self.v_free) + equation.rate(guess.v))
        return total

    def work(self, guess: Impulses) -> Scalar:
        """The work of the impulses by the mean of the velocities before and after [J]: what rests takes none.

        Loops are closed before and after; theirs do no work.
        """
        return self._at_mean_velocity(guess, [[point.velocity for point in meeting.points] for meeting in self.meetings])

    def _at_mean_velocity(self, guess: Impulses, before: Sequence[Sequence[Sequence[Scalar]]]) -> Scalar:
        twists = self.columns.twists(guess.v)
        total: Scalar = 0.0
        for meeting, impulses, starts in zip(self.meetings, guess.points, before, strict=True):
            twist = meeting.twist(self.columns, twists)
            for spot, impulse, start in zip(meeting.spots, impulses, starts, strict=True):
                speeds = zip(impulse, start, spot.along(twist), strict=True)
                total = total + 0.5 * sum((part * (a + b) for part, a, b in speeds), 0.0)
        return total


def _congruent(K: Sequence[Sequence[Scalar]], columns: Sequence[Sequence[Scalar]]) -> Rows:
    """Sᵀ K S, of S by its columns."""
    pushed = [[sum((a * b for a, b in zip(row, column, strict=True)), 0.0) for row in K] for column in columns]
    return [[sum((a * b for a, b in zip(one, felt, strict=True)), 0.0) for felt in pushed] for one in columns]


def _open(spots: Sequence[Spot], impulses: Sequence[Sequence[Scalar]], twist: Motion, targets: Sequence[Scalar]) -> Scalar:
    """How far the points of a meeting are from obeying their laws [m/s]."""
    most: Scalar = 0.0
    for spot, impulse, target in zip(spots, impulses, targets, strict=True):
        u = spot.along(twist)
        aim = [a - rate * spot.mass for a, rate in zip(impulse, (u[0] - target, *u[1:]), strict=True)]
        errors = (absolute(a - b) * spot.size for a, b in zip(impulse, onto_cone(aim, spot.friction), strict=True))
        most = reduce(maximum, errors, most)
    return most


def _add_held(H: Pattern, held: Sequence[Held]) -> None:
    """Adds the stiffness of the loops' equations."""
    for equation in held:
        for i, value in equation.push.items():
            for j, other in equation.push.items():
                H[i][j] = H[i].get(j, 0.0) + value * other * equation.stiffness


def inertia(tree: Tree, q: Sequence[Scalar], v: Sequence[Scalar], implicit_step: Scalar) -> Pattern:
    """The inertia matrix as a step h feels that is implicit in damping and springs, by its entries that are not always zero."""
    M = crba(tree, q)
    for link in tree.links:
        resisting = resisting_inertia(link, link.velocities(v), implicit_step)
        for k, (all_of_it, armature) in enumerate(zip(resisting, link.armature, strict=True), link.v_start):
            M[k][k] = M[k][k] + (all_of_it - armature)
    return {i: {j: value for j, value in enumerate(row) if not is_zero(value)} for i, row in enumerate(M)}


def loop_equations(tree: Tree, q: Sequence[Scalar], v_free: Sequence[Scalar], implicit_step: Scalar, M: Pattern) -> list[Held]:
    """The equations of a mechanism's loops at a posture."""
    if not tree.closed:
        return []
    motions = link_motions(tree, q, v_free)
    rows = constraint_rows(tree, chord_closings(tree, q, v_free), q, v_free, motions, implicit_step=implicit_step)
    found = []
    for row, entries in zip(rows, loop_jacobian(tree, motions, rows), strict=True):
        push = {k: value for k, value in enumerate(entries) if not is_zero(value)}
        size = sum((value * value / M[k][k] for k, value in push.items()), 0.0)
        soft = not is_zero(row.softness)
        start = sum((value * v_free[k] for k, value in push.items()), 0.0) if soft else 0.0
        found.append(Held(push, start, row.softness, maximum(size, 1e-30)))
    return found
