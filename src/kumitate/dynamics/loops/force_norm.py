"""The norm that is minimized by forces that the motion does not determine (row T-sing)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ...scalar import Scalar, is_zero, sqrt
from ...spatial import DampedFactors, Force, Vector3, dot


@dataclass(frozen=True)
class JointForce:
    """The force of one joint as a function of the forces λ of the loops' rows: given + Σ units λ.

    Attributes:
        given: the part that does not depend on λ; `units`: by the row's number.
        to_base: from the reference point of both to the origin of the joint's other end, in their axes [m].
        counted: whether the norm counts this joint.
    """

    given: Force
    units: Mapping[int, Force]
    to_base: Vector3
    counted: bool = True

    def total(self, strengths: Sequence[Scalar]) -> Force:
        """The joint's force for given forces λ of the rows."""
        return sum((unit * strengths[k] for k, unit in self.units.items()), self.given)

    def measured(self, force: Force, length: float) -> list[Scalar]:
        """The components whose squares the norm sums: |f|² + |n|²/ℓ², half of n² about each end."""
        about_base = force.moment - self.to_base.cross(force.force)
        weight = sqrt(0.5) / length
        return [*(force.moment * weight), *(about_base * weight), *force.force]


def least_norm(joints: Sequence[JointForce], n: int, length: float) -> tuple[list[list[Scalar]], list[Scalar]]:
    """The metric (n, n) of Σ|force|² over joints as a function of the rows' forces λ, and the λ (n) that minimize the sum."""
    metric: list[list[Scalar]] = [[0.0] * n for _ in range(n)]
    pull: list[Scalar] = [0.0] * n
    for joint in joints:
        if joint.counted:
            units = {k: joint.measured(unit, length) for k, unit in joint.units.items()}
            given = joint.measured(joint.given, length)
            for i, a in units.items():
                pull[i] = pull[i] - dot(a, given)
                for j, b in units.items():
                    metric[i][j] = metric[i][j] + dot(a, b)
    for i in range(n):
        if is_zero(metric[i][i]):
            metric[i][i] = 1.0  # gears, and chords with both ends on one link, do not load a joint
    still = [[0.0] * n for _ in range(n)]
    return metric, DampedFactors(metric, still).solve(pull)
