"""The joints between the two ends of a chord, and how the motion of one end relative to the other changes with each of them.

All vectors are in the axes of M, at M's origin, and relative to F: what both ends share has no effect. Going from F to M, the
joints of F's branch are passed backwards (σ = −1) and those of M's branch forwards (σ = 1). A joint between the link P that
carries it and the link C, with its own twist w and ẇ (its components' rate in C), gives

    V_C = V_P + w,    A_C = A_P + ẇ + V_P × w,

and a small motion S of the joint turns and moves all that lies beyond it on the way. Seen from M, that changes

    V by σ d,  d = V_P × S + ∂w,    and A by σ (A_P × S + d × (V_M − V_P) + ∂ẇ + V_C × ∂w),

where ∂ is the change of the joint's own motion, zero where S is constant. The form is ours; it follows from the Jacobi
identity.

The law of a chord, the only part of its equations that depends on its kind, is differentiated as a small program of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from ...kinematics import chord_branches, chord_motion
from ...model import Chord, Closing, Link, Tree
from ...scalar import Program, Scalar, Scalars, call, directional, inlined_slopes, is_zero, trace
from ...spatial import Dense, DenseRotation, Force, Matrix3, Motion, Transform, Vector3
from ..loops.chord_forces import chord_drive, chord_inertia
from .fields import own_motion
from .inverse import Matrix, zeros


@dataclass(frozen=True, slots=True)
class ChordColumn:
    """What one degree of freedom on a chord's path does to M relative to F.

    Attributes:
        index: in v; `link`: of its joint.
        move: σ S, the motion of M; it is also the change of V with the velocity and of A with the acceleration.
        V_by_q, A_by_q, A_by_v: the changes of the twist and of the acceleration with the coordinate and with the velocity.
        slopes: σ ∂S/∂q of all degrees of freedom of the same joint, by index: how each `move` changes in the joint's axes.
    """

    index: int
    link: int
    move: Motion
    V_by_q: Motion
    A_by_q: Motion
    A_by_v: Motion
    slopes: dict[int, Motion]


@dataclass(frozen=True)
class ChordJoint:
    """A joint's own motion, seen from M; `sign`: σ; `by_q`, `by_v`: (∂w, ∂ẇ) of each degree of freedom."""

    link: Link
    sign: int
    S: list[Motion]
    twist: Motion
    rate: Motion
    by_q: list[tuple[Motion, Motion]]
    by_v: list[tuple[Motion, Motion]]
    subspace_slopes: list[list[Motion]]

    @classmethod
    def of(cls, link: Link, q: Scalars, v: Scalars, vdot: Scalars, X_LM: Transform, sign: int) -> ChordJoint:
        at = link.coordinates(q)
        own, by_q, by_v = own_motion(link.kind, at, link.velocities(v), link.velocities(vdot))
        S = [column.to_child(X_LM) for column in link.kind.subspace(at)]
        return cls(
            link, sign, S, own.velocity.to_child(X_LM), own.acceleration.to_child(X_LM),
            [(change.velocity.to_child(X_LM), change.acceleration.to_child(X_LM)) for change in by_q],
            [(column, change.acceleration.to_child(X_LM)) for column, change in zip(S, by_v, strict=True)],
            [[dS.to_child(X_LM) for dS in link.kind.subspace_rate(at, unit)] for unit in Dense.unit(link.kind.nv).rows],
        )  # fmt: skip

    def columns(self, V_P: Motion, V_C: Motion, A_P: Motion, beyond: Motion) -> list[ChordColumn]:
        """`beyond`: V_M − V_P."""
        found, start = [], self.link.v_start
        for k, (S, (w_q, rate_q), (w_v, rate_v)) in enumerate(zip(self.S, self.by_q, self.by_v, strict=True)):
            d = V_P.cross(S) + w_q
            A_by_q = A_P.cross(S) + d.cross(beyond) + rate_q + V_C.cross(w_q)
            A_by_v = rate_v + V_C.cross(w_v) + w_v.cross(beyond)
            slopes = {start + j: dS * float(self.sign) for j, dS in enumerate(self.subspace_slopes[k])}
            sign = float(self.sign)
            found.append(ChordColumn(start + k, self.link.index, S * sign, d * sign, A_by_q * sign, A_by_v * sign, slopes))
        return found


@dataclass(frozen=True)
class ChordPath:
    """The motion of a chord's M relative to its F.

    Attributes:
        acceleration: A, the rate of the components of M's twist in the axes of M.
        columns: of all degrees of freedom on the path.
        base, follower: the links of the two branches, each from the tip inwards.
    """

    acceleration: Motion
    columns: list[ChordColumn]
    base: list[int]
    follower: list[int]

    def turns(self, i: ChordColumn, j: ChordColumn) -> int:
        """c of ∂S_j = c S_i × S_j, seen from M: 1 if i's joint carries j's or is the same, less 1 if it carries M."""
        branch = self.base if j.link in self.base else self.follower
        carries = i.link in branch and branch.index(i.link) >= branch.index(j.link)
        return int(carries) - int(i.link in self.follower)


def chord_path(tree: Tree, q: Scalars, v: Scalars, vdot: Scalars, chord: Chord, X_FM: Transform) -> ChordPath:
    """The path of a chord whose follower is at X_FM from its base; other arguments as for `rnea`."""
    base, follower = chord_branches(tree, chord)
    joints = [ChordJoint.of(link, q, v, vdot, X, -1) for link, X in _poses(base, q, (chord.base.pose @ X_FM).dense())]
    joints += [ChordJoint.of(link, q, v, vdot, X, 1) for link, X in _poses(follower, q, chord.follower.pose)][::-1]
    V, A = Motion(), Motion()
    passed: list[tuple[Motion, Motion, Motion]] = []  # V_P, V_C, A_P of each joint
    for joint in joints:
        if joint.sign < 0:  # V is V_C: the way goes from C to P
            V_P = V - joint.twist
            A_P = A - joint.rate - V_P.cross(joint.twist)
            passed.append((V_P, V, A_P))
            V, A = V_P, A_P
        else:
            V_C = V + joint.twist
            passed.append((V, V_C, A))
            V, A = V_C, A + joint.rate + V.cross(joint.twist)
    columns = [
        column
        for joint, (V_P, V_C, A_P) in zip(joints, passed, strict=True)
        for column in joint.columns(V_P, V_C, A_P, V - V_P)
    ]
    return ChordPath(A, columns, [link.index for link in base], [link.index for link in follower])


def _poses(branch: Sequence[Link], q: Scalars, X_LM: Transform) -> list[tuple[Link, Transform]]:
    """The links of a branch, each with the pose of M in it."""
    found = []
    for link in branch:
        found.append((link, X_LM))
        X_LM = (link.pose(q) @ X_LM).dense()
    return found


@dataclass(frozen=True)
class ChordLaw:
    """The rows and forces of a chord at one state, in the axes of M.

    Attributes:
        tree, chord: whose law it is.
        pose, twist: X_FM, and the velocity of M in F.
        units: the unit force on the follower of each row; `softness`: of each row.
        program: (R, p, V, A, λ) → the whole force on the follower, and the rows; R and p are the pose.
    """

    tree: Tree
    chord: Chord
    pose: Transform
    twist: Motion
    units: list[Force]
    softness: list[Scalar]
    program: Program

    def accelerations(self, A: Motion) -> list[Scalar]:
        """T·(A − bias) of the rows, for an acceleration A of M in F."""
        return _law(self.tree, self.chord, self.pose, self.twist, A, [0.0] * len(self.units))[1]

    def force(self, strengths: Scalars) -> Force:
        """The whole force on the follower: of the rows, and of springs, damping and friction."""
        return _law(self.tree, self.chord, self.pose, self.twist, Motion(), strengths)[0]

    def slope(self, A: Motion, strengths: Scalars, move: Motion, V_rate: Motion, A_rate: Motion) -> tuple[Force, list[Scalar]]:
        """The changes of the force and of T·(A − bias) + softness·λ when M moves, and V and A change, all seen from M."""
        R, p = self.pose.rotation.matrix(), self.pose.translation
        turned = [x for row in R for x in row.cross(move.angular)]  # R [θ]×, row by row
        shifted = [row.dot(move.linear) for row in R]
        at: list[list[Scalar]] = [[x for row in R for x in row], list(p), list(self.twist), list(A), list(strengths)]
        rates: list[list[Scalar]] = [turned, shifted, list(V_rate), list(A_rate), [0.0] * len(strengths)]
        if any(node.op in ("call", "loop") for node in self.program.line):  # of a line whose law is a program of its own
            found = call(directional(self.program), *at, *rates)["result_dot"]
        else:
            (found,) = inlined_slopes(self.program, at, [rates])
        return Force.of(found[:6]), found[6:]


def chord_law(tree: Tree, q: Scalars, v: Scalars, chord: Chord) -> ChordLaw:
    """The law of a chord at a state."""
    pose, twist = chord_motion(tree, q, v, chord)
    rows = _rows(tree, chord, chord.closure.closing(pose, twist))

    def law(R: Any, p: Any, V: Any, A: Any, strengths: Any) -> list[Any]:
        X = Transform(DenseRotation(Matrix3.of([[R[3 * i + j] for j in range(3)] for i in range(3)])), Vector3.of(p))
        force, accelerations = _law(tree, chord, X, Motion.of(list(V)), Motion.of(list(A)), strengths)
        return [*force, *accelerations]

    program = trace(law, {"R": 9, "p": 3, "V": 6, "A": 6, "strengths": len(rows)}, f"law_{chord.name}")
    return ChordLaw(tree, chord, pose, twist, [T for T, _ in rows], [soft for _, soft in rows], program)


def _law(tree: Tree, chord: Chord, X_FM: Transform, V: Motion, A: Motion, strengths: Scalars) -> tuple[Force, list[Scalar]]:
    """The whole force on the follower, and T·(A − bias) + softness·λ of every row."""
    closing = chord.closure.closing(X_FM, V)
    force, accelerations, relative = chord_drive(chord, closing, {}), [], A - closing.bias
    for (T, softness), strength in zip(_rows(tree, chord, closing), strengths, strict=True):
        force = force + T * strength
        accelerations.append(relative.dot(T) + softness * strength)
    return force, accelerations


def _rows(tree: Tree, chord: Chord, closing: Closing) -> list[tuple[Force, Scalar]]:
    """The unit force and the softness of every row, in the order of `constraint_rows`."""
    inertias = zip(closing.active, chord_inertia(tree, chord, closing, 0.0, [0.0] * len(closing.active)), strict=True)
    soft = [(T, 1.0 / inertia) for T, inertia in inertias if not is_zero(inertia)]
    return [*((T, 0.0) for T in closing.constraint), *soft]


class LoopSlopes(NamedTuple):
    """The derivatives, at fixed v̇ and λ, of the forces in loops (nv, nv) and of the accelerations of their rows (rows, nv)."""

    force_by_q: Matrix
    force_by_v: Matrix
    rows_by_q: Matrix
    rows_by_v: Matrix

    @classmethod
    def of(cls, tree: Tree, laws: Sequence[ChordLaw], paths: Sequence[ChordPath], strengths: Scalars, count: int) -> LoopSlopes:
        n = tree.nv
        found = cls(zeros(n), zeros(n), zeros(count, n), zeros(count, n))
        first = 0
        for law, path in zip(laws, paths, strict=True):
            found._add(law, path, strengths[first : first + len(law.units)], first)
            first += len(law.units)
        return found

    def _add(self, law: ChordLaw, path: ChordPath, own: Scalars, first: int) -> None:
        force = law.force(own)
        for i in path.columns:
            by_q = law.slope(path.acceleration, own, i.move, i.V_by_q, i.A_by_q)
            by_v = law.slope(path.acceleration, own, Motion(), i.move, i.A_by_v)
            for j in path.columns:
                turned = _turned(path, i, j).dot(force) + j.move.dot(by_q[0])
                self.force_by_q[j.index][i.index] = self.force_by_q[j.index][i.index] + turned
                self.force_by_v[j.index][i.index] = self.force_by_v[j.index][i.index] + j.move.dot(by_v[0])
            for k, (of_q, of_v) in enumerate(zip(by_q[1], by_v[1], strict=True), start=first):
                self.rows_by_q[k][i.index], self.rows_by_v[k][i.index] = of_q, of_v


def _turned(path: ChordPath, i: ChordColumn, j: ChordColumn) -> Motion:
    """The change of the direction of j with the coordinate of i, seen from M."""
    own = i.slopes.get(j.index, Motion())
    turns = path.turns(i, j)
    # both moves contain their σ, and the change is that of j alone
    return own + i.move.cross(j.move) * float(turns * (1 if i.link in path.follower else -1)) if turns else own
