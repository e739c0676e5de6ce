"""A small quadruped with round feet."""

from __future__ import annotations

from collections.abc import Sequence

import kumitate as km

#: Thighs and shanks [m], and the radius of feet [m].
LENGTH, RADIUS = 0.2, 0.02


def quadruped(sides: Sequence[str] = ("fl", "fr", "hl", "hr"), effort: float = 30.0) -> km.Mechanism:
    """A trunk of 12 kg on legs with hips, thighs and knees, straight at zero; front or hind, left or right."""
    bodies = [km.Body("trunk", 12.0, inertia=(0.08, 0.25, 0.3))]
    joints = [km.Joint("base", "floating", "world", "trunk")]
    limits = (km.Limits(-2.6, 2.6, effort=effort),)
    foot = km.Geometry(km.Sphere(RADIUS), km.pose((0, 0, -LENGTH)))
    for side in sides:
        x, y = 0.2 if side[0] == "f" else -0.2, 0.1 if side[1] == "l" else -0.1
        bodies += [
            km.Body(f"{side} hip body", 0.4, inertia=(5e-4,) * 3),
            km.Body(f"{side} thigh", 0.6, (0, 0, -0.08), (2e-3, 2e-3, 5e-4)),
            km.Body(f"{side} shank", 0.2, (0, 0, -0.1), (8e-4, 8e-4, 5e-5), collisions=(foot,)),
        ]
        joints += [
            km.Joint(f"{side} hip", "revolute", "trunk", f"{side} hip body", km.pose((x, y, 0)), (1, 0, 0), limits=limits),
            km.Joint(f"{side} thigh joint", "revolute", f"{side} hip body", f"{side} thigh", axis=(0, 1, 0), limits=limits),
            km.Joint(
                f"{side} knee", "revolute", f"{side} thigh", f"{side} shank", km.pose((0, 0, -LENGTH)), (0, 1, 0), limits=limits
            ),
        ]
    return km.Mechanism("dog", tuple(bodies), tuple(joints))
