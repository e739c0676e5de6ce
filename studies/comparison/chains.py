"""Chains for comparing methods without an advantage from zeros that a mechanism happens to have."""

from __future__ import annotations

import numpy as np

from kumitate.model import KINDS, Body, Joint, Mechanism
from kumitate.spatial import pose

__all__ = ["chain_in_space"]


def chain_in_space(links: int) -> Mechanism:
    """A chain of so many revolute joints in space, askew: no two axes are parallel."""
    rng = np.random.default_rng(links)
    bodies = tuple(
        Body(f"b{i}", 1.0, rng.uniform(-0.2, 0.2, 3).tolist(), rng.uniform(0.1, 0.12, 3).tolist()) for i in range(links)
    )
    joints = tuple(
        Joint(
            f"j{i}", KINDS["revolute"], bodies[i - 1].name if i else "world", body.name,
            pose(rng.uniform(-0.3, 0.3, 3).tolist(), rng.uniform(-1.0, 1.0, 3).tolist()),
        )
        for i, body in enumerate(bodies)
    )  # fmt: skip
    return Mechanism(f"chain{links}", bodies, joints)
