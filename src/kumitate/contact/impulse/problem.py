"""The contact problem of one step: the impulses at points and in loops that make the velocities satisfy the contact laws."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

from ...dynamics.crba import crba
from ...dynamics.loops.constraints import chord_closings, constraint_rows, loop_jacobian
from ...dynamics.motion import link_motions
from ...dynamics.passive import resisting_inertia
from ...model import Mechanism, PerLink, Tree, by_loop
from ...scalar import Scalar, Scalars, absolute, either, is_zero, maximum, select
from ...scalar.reuse import call_shared
from ...spatial import Dense, Force, Motion, SparseFactors
from .. import tuned
from ..laws import STIFF, worst
from .branch_factors import BranchFactors
from .contact_points import ContactPatch, ContactPoint
from .frames import ContactFrame
from .jacobians import LinkJacobians, Pattern, along, frozen


@dataclass(frozen=True)
class Impulses:
    """A guess of the solution."""

    points: list[list[list[Scalar]]]  # (normal, tangent, tangent, and those of turns) of every point of every patch [N·s]
    loops: list[Scalar]  # of the loop equations
    v: list[Scalar]  # the velocities (nv) after these impulses


@dataclass(frozen=True)
class Solved:
    """The result of a contact model."""

    impulses: Impulses  # of the step
    left: Scalar = 0.0  # the residual at which the iteration stopped [m/s]; zero for a model that does not iterate
    # of a mixture of two solutions, which obeys no law of its own, the larger of both [m/s]; None: to be measured
    residual: Scalar | None = None
    enough: Scalar = 0.0  # the residual that was accepted in the end [m/s]; zero for a model that does not iterate


@dataclass(frozen=True)
class LoopEquation:
    """One equation of a loop."""

    row: dict[int, Scalar]  # its row of the Jacobian, by index in v
    start: Scalar  # the reference of its rate [m/s, rad/s]: zero, or its rate before contact acts, as for a soft equation
    softness: Scalar  # `dynamics.Row.softness`
    size: Scalar  # its change of rate per unit impulse of its own

    @property
    def stiffness(self) -> Scalar:
        """The stiffness of the equation within a sweep."""
        return 1.0 / (self.softness + self.size / STIFF)

    def rate(self, v: Scalars) -> Scalar:
        """The rate at which it opens, relative to `start`."""
        return along(self.row, v) - self.start


@dataclass(frozen=True)
class Problem:
    """Everything that is constant during the solution."""

    branch_factors: BranchFactors  # the tree at its posture, with the inertia matrix of the implicit step
    patches: Sequence[ContactPatch]  # where impulses act
    loops: Sequence[LoopEquation]
    held: Pattern  # the inertia matrix plus the stiffness of loops
    factors: SparseFactors  # of `held`
    v_free: Scalars  # the velocities (nv) after the step without contact

    @classmethod
    def of(
        cls, branch_factors: BranchFactors, patches: Sequence[ContactPatch], loops: Sequence[LoopEquation],
        v_free: Scalars,
    ) -> Problem:  # fmt: skip
        """The problem with its factors."""
        if not loops:
            return cls(branch_factors, patches, loops, branch_factors.M, branch_factors.factors, v_free)
        held = {i: dict(row) for i, row in branch_factors.M.items()}
        for equation in loops:
            for i, value in equation.row.items():
                for j, other in equation.row.items():
                    held[i][j] = held[i].get(j, 0.0) + value * other * equation.stiffness
        return cls(branch_factors, patches, loops, held, SparseFactors.of(held, symmetric=True), v_free)

    @classmethod
    def at(
        cls, mechanism: Mechanism, jacobians: LinkJacobians, met: Sequence[ContactPatch], h: Scalar, q: Any, v: Any,
        v_free: Any, resisting: Any, as_free: bool = False,
    ) -> Problem:  # fmt: skip
        """The problem of a step h at the state (q, v), with what its bodies meet, whose points do not yet know their masses.

        Args:
            v_free: the velocities (nv) after the step without contact.
            resisting: the inertia that drives and stops add, that of loop joints after those of the tree.
            as_free: whether loops open at the rates that they have without contact, and not at zero.
        """
        tree = jacobians.tree
        branch_factors = BranchFactors.of(jacobians, inertia(tree, q, v, h, resisting[: tree.nv]))
        sized = [patch.sized(branch_factors) for patch in met]
        loops = loop_equations(tree, q, v_free, h, branch_factors.M, by_loop(mechanism, resisting), as_free)
        return cls.of(branch_factors, sized, loops, v_free)

    @property
    def jacobians(self) -> LinkJacobians:
        """The links' Jacobians."""
        return self.branch_factors.jacobians

    @property
    def M(self) -> Pattern:
        """The inertia matrix, sparse."""
        return self.branch_factors.M

    def twists(self, v: Scalars) -> PerLink[Motion]:
        """Those of all links at the velocities v."""
        return self.jacobians.twists(v)

    def turned(self, change: Scalars) -> PerLink[Motion]:
        """The change of the twists with that of the velocities."""
        return self.jacobians.twists(change)

    def speeds(self, v: Scalars) -> list[list[Scalar]]:
        """The normal velocities of all points at the velocities v."""
        twists = self.twists(v)
        found = [(patch.frames, patch.twist(self.jacobians, twists)) for patch in self.patches]
        return [[frame.along(twist)[0] for frame in frames] for frames, twist in found]

    @property
    def fastest(self) -> Scalar:
        """The largest component of a point's velocity after the step without contact [m/s]."""
        parts = (absolute(part) for patch in self.patches for point in patch.points for part in point.free)
        return reduce(maximum, parts, 0.0)

    @property
    def targets(self) -> list[list[Scalar]]:
        """The targets of every point of every patch [m/s]."""
        return [[point.target for point in patch.points] for patch in self.patches]

    def struck(self, v: Scalars) -> Problem:
        """The problem after earlier impacts of the step, which left the velocities v; of rigid points without moments."""
        turned = self.turned([rate - free for rate, free in zip(v, self.v_free, strict=True)])
        loops = [
            equation if is_zero(equation.softness) else replace(equation, start=along(equation.row, v))
            for equation in self.loops
        ]
        patches = [patch.struck(patch.twist(self.jacobians, turned)) for patch in self.patches]
        return replace(self, patches=patches, loops=loops, v_free=v)

    def nothing(self) -> Impulses:
        """No impulses."""
        points: list[list[list[Scalar]]] = [[frame.nothing for frame in patch.frames] for patch in self.patches]
        return Impulses(points, [0.0 for _ in self.loops], list(self.v_free))

    def after(self, points: list[list[list[Scalar]]], loops: list[Scalar]) -> Impulses:
        """The effect of the points' impulses, and of the impulses that keep the loops closed; `loops`: their first guess."""
        wrenches = self._wrenches(points)
        v = list(self.v_free)
        # M (v − v_free): the correction is small after the first sweep, and so is its rounding error
        moved: list[Scalar] = [0.0] * len(v)
        for _ in range(tuned.LOOP_SWEEPS if self.loops else 1):
            left = [effort - done for effort, done in zip(self.efforts(wrenches, self.pulls(v, loops)), moved, strict=True)]
            change = self.factors.solve(left)
            v = [rate + more for rate, more in zip(v, change, strict=True)]
            moved = [done + along(self.M[i], change) for i, done in enumerate(moved)]
            loops = self.pulls(v, loops)
        return Impulses(points, loops, v)

    def unbalanced(self, guess: Impulses) -> Scalar:
        """How far the velocities of a guess are from those that its impulses cause: M (v − v_free) − Jᵀλ, by M's diagonal."""
        pushed = self.efforts(self._wrenches(guess.points), guess.loops)
        moved = [rate - free for rate, free in zip(guess.v, self.v_free, strict=True)]
        return worst([absolute(along(self.M[i], moved) - effort) / self.M[i][i] for i, effort in enumerate(pushed)])

    def _wrenches(self, points: list[list[list[Scalar]]]) -> list[Force]:
        """The wrench of every patch, from its points' impulses."""
        return [
            sum((frame.wrench(impulse) for frame, impulse in zip(patch.frames, of_points, strict=True)), Force())
            for patch, of_points in zip(self.patches, points, strict=True)
        ]

    def pulls(self, v: Scalars, loops: Scalars) -> list[Scalar]:
        """The impulses of the loops by their stiffness, from those so far and the velocities."""
        return [
            old - equation.stiffness * (equation.rate(v) + equation.softness * old)
            for equation, old in zip(self.loops, loops, strict=True)
        ]

    def efforts(self, wrenches: Sequence[Force], loops: Scalars) -> list[Scalar]:
        """Jᵀ λ (nv), from one wrench per patch and one impulse per equation."""
        on: dict[int, Force] = {}
        for patch, wrench in zip(self.patches, wrenches, strict=True):
            for link, part in patch.wrenches(wrench).items():
                on[link] = on[link] + part if link in on else part
        total = self.jacobians.efforts(on)
        for equation, impulse in zip(self.loops, loops, strict=True):
            for k, value in equation.row.items():
                total[k] = total[k] + value * impulse
        return total

    def stiffened(self, on_patches: Sequence[Dense]) -> SparseFactors:
        """The factors of M + Jᵀ K J with one K (6×6) per patch, plus the stiffness of loops."""
        on: dict[int, Dense] = {}
        near: dict[int, Scalar] = {}
        for patch, K in zip(self.patches, on_patches, strict=True):
            if patch.shift is None:
                link = patch.links[0]
                on[link] = on[link] + K if link in on else K
                near[link] = either(near[link], patch.near) if link in near else patch.near
        if not self.loops and all(patch.shift is None for patch in self.patches):
            return self.branch_factors.stiffened(on, near)  # nothing couples the branches
        H = {i: dict(row) for i, row in self.held.items()}
        self.jacobians.add_stiffness(H, self.jacobians.tree.links, on)
        for patch, K in zip(self.patches, on_patches, strict=True):
            if patch.shift is not None:  # between two moving links
                columns = self.relative_columns(patch)
                felt = call_shared(_congruent, K, Dense.columns(list(columns.values())), name="between")
                for i, row in zip(columns, felt.rows, strict=True):
                    for j, value in zip(columns, row, strict=True):
                        H[i][j] = H[i].get(j, 0.0) + value
        return SparseFactors.of(H)

    def relative_columns(self, patch: ContactPatch) -> dict[int, list[Scalar]]:
        """The columns of A's twist relative to B's, by index in v."""
        a, b = (self.jacobians.tree.ancestors(index) for index in patch.links)
        S = self.jacobians.S
        found = {k: list(own) for link in a if link not in b for k, own in enumerate(S[link], link.v_start)}
        for link in b:
            if link not in a and patch.shift is not None:
                for k, own in enumerate(S[link], link.v_start):
                    found[k] = [-part for part in (*own.angular, *(own.linear + own.angular.cross(patch.shift)))]
        return found

    def residual(self, guess: Impulses, targets: Sequence[Scalars]) -> Scalar:
        """The residual of a guess [m/s]: the largest |λ − cone(λ − u/size)|·size of a point, or opening rate of a loop.

        It is infinite if any of them is NaN.
        """
        twists = self.twists(guess.v)
        errors: list[Scalar] = []
        for patch, impulses, wanted in zip(self.patches, guess.points, targets, strict=True):
            twist = patch.twist(self.jacobians, twists)
            state = (patch.frames, frozen(impulses), twist, tuple(wanted))
            errors.append(patch.if_near(_open, *state, otherwise=0.0))
        for equation, impulse in zip(self.loops, guess.loops, strict=True):
            errors.append(absolute(equation.rate(guess.v) + equation.softness * impulse))
        return worst(errors)

    def gained(self, guess: Impulses) -> Scalar:
        """The energy of motion, and of springs at the points, that the impulses add to that of the step without them [J]."""
        total = self._mean_work(guess, "free") + self._stored(guess)
        for equation, impulse in zip(self.loops, guess.loops, strict=True):
            total = total + 0.5 * impulse * (equation.rate(self.v_free) + equation.rate(guess.v))
        return total

    def work(self, guess: Impulses) -> Scalar:
        """The work of the impulses at the mean of the velocities before and after [J]; points at rest contribute nothing.

        Loops are closed before and after, so their impulses do no work.
        """
        return self._mean_work(guess, "velocity")

    def added(self, guess: Impulses) -> Scalar:
        """The work of the impulses, and what springs at the points take up [J]; above zero where contact adds energy.

        Springs work from the velocities before they act.
        """
        total = self.work(guess) + self._stored(guess)
        for point, impulse, _ in self._pushed(guess):
            if point.compliance is not None:
                total = total + 0.5 * impulse[0] * (point.begun - point.velocity[0])
        return total

    def springs_alone(self, guess: Impulses) -> Scalar:
        """1 if no other points push than compliant ones whose springs the step resolves, else 0."""
        hard: Scalar = 0.0
        for point, impulse, _ in self._pushed(guess):
            hard = hard + (1.0 - point.resolved) * impulse[0]
        return select(hard <= 0.0, 1.0, 0.0)

    def _stored(self, guess: Impulses) -> Scalar:
        """The energy that springs at the points take up [J]."""
        return sum((point.stored(u[0]) for point, _, u in self._pushed(guess) if point.compliance is not None), 0.0)

    def _mean_work(self, guess: Impulses, start: str) -> Scalar:
        """The work of the impulses at the mean of the velocities after them and those of points that `start` names [J]."""
        total: Scalar = 0.0
        for point, impulse, u in self._pushed(guess):
            speeds = zip(impulse, getattr(point, start), u, strict=True)
            total = total + 0.5 * sum((part * (a + b) for part, a, b in speeds), 0.0)
        return total

    def _pushed(self, guess: Impulses) -> Iterator[tuple[ContactPoint, Scalars, list[Scalar]]]:
        """Every point with its impulse and its velocity after it."""
        twists = self.jacobians.twists(guess.v)
        for patch, impulses in zip(self.patches, guess.points, strict=True):
            twist = patch.twist(self.jacobians, twists)
            yield from ((p, impulse, p.frame.along(twist)) for p, impulse in zip(patch.points, impulses, strict=True))


def _congruent(K: Dense, S: Dense) -> Dense:
    """Sᵀ K S."""
    return S.T @ (K @ S)


def _open(frames: Sequence[ContactFrame], impulses: Sequence[Scalars], twist: Motion, targets: Scalars) -> Scalar:
    """The residual of the points of a patch [m/s]."""
    errors: list[Scalar] = []
    for frame, impulse, target in zip(frames, impulses, targets, strict=True):
        u = frame.along(twist)
        asked = frame.projected(impulse, u, target)
        errors += [absolute(a - b) * size for a, b, size in zip(impulse, asked, frame.sizes, strict=True)]
    return worst(errors)


def inertia(tree: Tree, q: Scalars, v: Scalars, implicit_step: Scalar, drives: Scalars = ()) -> Pattern:
    """The inertia matrix for a step h that is implicit in damping and springs, sparse; `drives` (nv): inertia that they add."""
    M = crba(tree, q)
    for link in tree.links:
        resisting = resisting_inertia(link, link.velocities(v), implicit_step)
        for k, (all_of_it, armature) in enumerate(zip(resisting, link.armature, strict=True), link.v_start):
            M[k][k] = M[k][k] + (all_of_it - armature)
    for k, more in enumerate(drives):
        M[k][k] = M[k][k] + more
    return {i: {j: value for j, value in enumerate(row) if not is_zero(value)} for i, row in enumerate(M)}


def loop_equations(
    tree: Tree, q: Scalars, v_free: Scalars, implicit_step: Scalar, M: Pattern,
    drives: Mapping[str, Scalars], as_free: bool = False,
) -> list[LoopEquation]:  # fmt: skip
    """The equations of a mechanism's loops at a posture.

    `drives`: inertia added by those of loop joints, by name; `as_free`: as of `Problem.at`.
    """
    if not tree.closed:
        return []
    motions = link_motions(tree, q, v_free)
    closings = chord_closings(tree, q, v_free)
    rows = constraint_rows(tree, closings, q, v_free, motions, implicit_step=implicit_step, resisting=drives)
    found = []
    for row, all_entries in zip(rows, loop_jacobian(tree, motions, rows), strict=True):
        entries = {k: value for k, value in enumerate(all_entries) if not is_zero(value)}
        size = sum((value * value / M[k][k] for k, value in entries.items()), 0.0)
        start = 0.0 if is_zero(row.softness) and not as_free else along(entries, v_free)
        found.append(LoopEquation(entries, start, row.softness, maximum(size, 1e-30)))
    return found
