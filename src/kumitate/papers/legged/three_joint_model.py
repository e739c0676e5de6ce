"""Ankle, hip yaw and hip pitch under a standing upper body: the control model of thesis 6.3.2, figure 6.7.

A leg of mass m1 leans by θ_a about y on the floor. At its upper end, l1 over the ankle, sits a hip of mass m_h1; above it the
upper body m2 turns by θ_h1 about the leg's axis and then by θ_h2 about its own y. The centers of mass lie on the axes, l_g1
above the ankle and l_g2 over the hip. With the foot at rest, the momentum along x is M_fl θ̇ with M_fl (1 × 3):

    ∂p_x/∂θ̇_a  = (m1 l_g1 + (m_h1 + m2) l1) C_a + m2 l_g2 (C_a C_h2 − S_a C_h1 S_h2)
    ∂p_x/∂θ̇_h1 = −m2 l_g2 C_a S_h1 S_h2
    ∂p_x/∂θ̇_h2 = m2 l_g2 (C_a C_h1 C_h2 − S_a S_h2)

The first is n_31 and the last −n_11 of eq. 6.11. The thesis prints n_31 with m_h1 l1 alone for the hip's carried mass, and with
S_h1 where C_h1 belongs; the formulas here follow from the momentum.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...errors import InputError
from ...kinematics import link_poses, neutral, place_pose
from ...model import Mechanism
from ...scalar import Scalar, cos, sin
from ...spatial import Vector3


@dataclass(frozen=True)
class ThreeJointModel:
    """Masses [kg] and lengths [m] of the model.

    Attributes:
        leg, leg_center: m1, and its center of mass over the ankle, l_g1.
        leg_length: l1, from the ankle to the hip.
        hip: m_h1.
        body, body_center: m2, and its center of mass over the hip, l_g2.
    """

    leg: float
    leg_center: float
    leg_length: float
    hip: float
    body: float
    body_center: float

    @classmethod
    def of(
        cls, mechanism: Mechanism, legs: Sequence[str], hips: Sequence[str], body: Sequence[str], *, ankle: str, hip: str
    ) -> ThreeJointModel:
        """The model of a robot that stands upright at its neutral coordinates.

        Args:
            legs, hips, body: names of the bodies that make up each part, both sides.
            ankle, hip: names of bodies or frames whose origins are at an ankle and a hip.

        Raises:
            InputError: if a part has no mass.
        """
        tree = mechanism.tree
        poses = link_poses(tree, neutral(tree))

        def height(name: str, center: Sequence[float] = (0.0, 0.0, 0.0)) -> float:
            return float(place_pose(tree, poses, tree.places[name]).point(Vector3.of(center)).z)

        def part(names: Sequence[str], over: float) -> tuple[float, float]:
            bodies = [mechanism.body(name) for name in names]
            mass = sum(one.mass for one in bodies)
            if mass <= 0.0:
                given = ", ".join(names) or "no bodies"
                raise InputError(f"{mechanism.name}: {given} have no mass; name the bodies that make up that part")
            return mass, sum(one.mass * height(one.name, one.center_of_mass) for one in bodies) / mass - over

        low, high = height(ankle), height(hip)
        m1, l_g1 = part(legs, low)
        m_h1, _ = part(hips, high)
        m2, l_g2 = part(body, high)
        return cls(m1, l_g1, high - low, m_h1, m2, l_g2)

    def coupling(self, ankle: Scalar, yaw: Scalar, pitch: Scalar) -> list[Scalar]:
        """M_fl (3): the momentum along x per rate of ankle, hip yaw and hip pitch [kg·m]; angles in rad."""
        C_a, S_a, C_1, S_1, C_2, S_2 = cos(ankle), sin(ankle), cos(yaw), sin(yaw), cos(pitch), sin(pitch)
        below = self.leg * self.leg_center + (self.hip + self.body) * self.leg_length
        above = self.body * self.body_center
        return [
            below * C_a + above * (C_a * C_2 - S_a * C_1 * S_2),
            -above * C_a * S_1 * S_2,
            above * (C_a * C_1 * C_2 - S_a * S_2),
        ]

    def reactionless_ankle_rate(self, ankle: Scalar, yaw: Scalar, pitch: Scalar, pitch_rate: Scalar) -> Scalar:
        """θ̇_a = (n_11 / n_31) θ̇_h2 (eq. 6.12): with the hip's yaw at rest, it keeps the x of the center of mass [rad/s]."""
        n_31, _, carried = self.coupling(ankle, yaw, pitch)
        return -carried / n_31 * pitch_rate
