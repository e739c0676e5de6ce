"""Runs of free bodies, traced pair by pair, or in a scene with others that are far away."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from kumitate.contact.scene import Contact
from kumitate.model import Body, Sphere
from kumitate.records.record import Record
from kumitate.simulate.setup import Setup
from kumitate.simulate.simulation import MechanismSimulation
from kumitate_problems.contact import solid, unconnected

__all__ = ["G", "R", "run", "ways"]

#: Gravity [m/s²], and the radius of the balls [m].
G, R = 9.81, 0.1
ways = pytest.mark.parametrize("others", [0, 3], ids=["traced pairs", "scene"])


def run(
    bodies: Sequence[Body], places: Sequence[Sequence[float]], v: Any, contact: Contact | str, duration: float, others: int,
    **options: Any,
) -> Record:  # fmt: skip
    """The run of upright bodies at these places with velocities v; so many other balls lie far away."""
    mechanism = unconnected(*bodies, *(solid(f"far{k}", Sphere(R)) for k in range(others)))
    q = [x for place in (*places, *((50.0 + k, 0.0, R) for k in range(others))) for x in (0.0, 0.0, 0.0, 1.0, *place)]
    simulation = MechanismSimulation(Setup(mechanism, contact=contact, side_by_side=not others, **options))
    assert bool(simulation.interaction.of_many_bodies) == (others > 0)
    return simulation.run(q, [*np.ravel(v), *[0.0] * 6 * others], duration=duration)
