"""A coefficient of friction at rest above that of sliding, traced pair by pair and in scenes of many bodies."""

from __future__ import annotations

import math

import pytest

from kumitate.contact.scene import Contact
from kumitate.contact.surface import Surface
from kumitate.model import Box, Joint, Mechanism
from kumitate.simulate.setup import Setup
from kumitate.simulate.simulation import MechanismSimulation
from kumitate_problems.contact import solid

G, STATIC, KINETIC, ANGLE = 9.81, 0.6, 0.3, 0.45


@pytest.mark.parametrize("count", [1, 3], ids=["traced pairs", "scene"])
def test_a_block_on_a_slope_between_both_coefficients_rests_until_it_is_pushed(count):
    """tan θ = 0.48 is between μ_k and μ_s: it stays; once it slides it gains g (sin θ − μ_k cos θ)."""
    bodies = tuple(solid(f"block{k}", Box((0.2, 0.16, 0.12))) for k in range(count))
    joints = tuple(Joint(f"free{k}", "floating", "world", f"block{k}") for k in range(count))
    slope = Mechanism("slope", bodies, joints, gravity=(G * math.sin(ANGLE), 0.0, -G * math.cos(ANGLE)))
    simulation = MechanismSimulation(Setup(slope, contact=Contact(surface=Surface(STATIC, KINETIC))))
    q = [x for k in range(count) for x in (0.0, 0.0, 0.0, 1.0, 2.0 * k, 0.0, 0.06)]
    still = simulation.run(q, duration=0.2)
    assert abs(still.q - still.q[0]).max() < 1e-10
    pushed = simulation.run(q, [0.0, 0.0, 0.0, 0.1, *[0.0] * (6 * count - 4)], duration=0.2)
    gained = G * (math.sin(ANGLE) - KINETIC * math.cos(ANGLE)) * 0.2
    assert pushed.v[-1, 3] == pytest.approx(0.1 + gained, abs=1e-8)
