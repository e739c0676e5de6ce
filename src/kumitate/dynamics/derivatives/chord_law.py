"""The law of a chord, the only part of its equations that depends on its kind: differentiated as a small program of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ...kinematics import chord_motion
from ...model import Chord, Closing, Tree
from ...scalar import Program, Scalar, call, directional, inlined_slopes, is_zero, trace
from ...spatial import DenseRotation, Force, Matrix3, Motion, Transform, Vector3
from ..loops.chord_drives import chord_drive
from ..loops.line_pulls import chord_inertia


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

    def force(self, strengths: Sequence[Scalar]) -> Force:
        """The whole force on the follower: of the rows, and of springs, damping and friction."""
        return _law(self.tree, self.chord, self.pose, self.twist, Motion(), strengths)[0]

    def slope(
        self, A: Motion, strengths: Sequence[Scalar], move: Motion, V_rate: Motion, A_rate: Motion
    ) -> tuple[Force, list[Scalar]]:
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


def chord_law(tree: Tree, q: Sequence[Scalar], v: Sequence[Scalar], chord: Chord) -> ChordLaw:
    """The law of a chord at a state."""
    pose, twist = chord_motion(tree, q, v, chord)
    rows = _rows(tree, chord, chord.closure.closing(pose, twist))

    def law(R: Any, p: Any, V: Any, A: Any, strengths: Any) -> list[Any]:
        X = Transform(DenseRotation(Matrix3.of([[R[3 * i + j] for j in range(3)] for i in range(3)])), Vector3.of(p))
        force, accelerations = _law(tree, chord, X, Motion.of(list(V)), Motion.of(list(A)), strengths)
        return [*force, *accelerations]

    sizes: dict[str, int | tuple[int, ...]] = {"R": 9, "p": 3, "V": 6, "A": 6, "strengths": len(rows)}
    program = trace(law, sizes, f"law_{chord.name}")
    return ChordLaw(tree, chord, pose, twist, [T for T, _ in rows], [soft for _, soft in rows], program)


def _law(
    tree: Tree, chord: Chord, X_FM: Transform, V: Motion, A: Motion, strengths: Sequence[Scalar]
) -> tuple[Force, list[Scalar]]:
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
