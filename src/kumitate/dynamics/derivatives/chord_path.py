"""The joints between the two ends of a chord, and how the motion of one end relative to the other changes with each of them.

All vectors are in the axes of M, at M's origin, and relative to F: what both ends share has no effect. Going from F to M, the
joints of F's branch are passed backwards (σ = −1) and those of M's branch forwards (σ = 1). A joint between the link P that
carries it and the link C, with its own twist w and ẇ (its components' rate in C), gives

    V_C = V_P + w,    A_C = A_P + ẇ + V_P × w,

and a small motion S of the joint turns and moves all that lies beyond it on the way. Seen from M, that changes

    V by σ d,  d = V_P × S + ∂w,    and A by σ (A_P × S + d × (V_M − V_P) + ∂ẇ + V_C × ∂w),

where ∂ is the change of the joint's own motion, zero where S is constant. The form is ours; it follows from the Jacobi
identity.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...kinematics import chord_branches
from ...model import Chord, Link, Tree
from ...scalar import Scalar
from ...spatial import Motion, Transform
from .chord_joint import ChordColumn, ChordJoint


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


def chord_path(
    tree: Tree, q: Sequence[Scalar], v: Sequence[Scalar], vdot: Sequence[Scalar], chord: Chord, X_FM: Transform
) -> ChordPath:
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


def _poses(branch: Sequence[Link], q: Sequence[Scalar], X_LM: Transform) -> list[tuple[Link, Transform]]:
    """The links of a branch, each with the pose of M in it."""
    found = []
    for link in branch:
        found.append((link, X_LM))
        X_LM = (link.pose(q) @ X_LM).dense()
    return found
