"""Robots that no file of the folder has: a delta robot, a hexapod and Cassie; and joints that every program has."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

import kumitate as km
from kumitate.examples.gallery import cassie as hanging
from kumitate.examples.gallery.delta_robot import delta_robot, posture

from ..bench.cassie import Cassie

__all__ = [
    "BUILT", "CYLINDER_INERTIA", "CYLINDER_MASS", "HEIGHT", "MIDDLE", "PLATE_INERTIA", "PLATE_MASS", "ROD_INERTIA", "ROD_MASS",
    "hexapod", "leg_ends", "with_hinges",
]  # fmt: skip

#: Stewart's platform: masses [kg], inertias [kg m²], and from the end of a cylinder or rod to its middle [m].
PLATE_MASS, PLATE_INERTIA, HEIGHT = 8.0, (0.35, 0.35, 0.65), 0.7
CYLINDER_MASS, CYLINDER_INERTIA = 1.2, (0.02, 0.02, 1e-3)
ROD_MASS, ROD_INERTIA, MIDDLE = 0.5, (8e-3, 8e-3, 2e-4), 0.2


def _delta() -> tuple[km.Mechanism, np.ndarray]:
    """Clavel's delta robot with its platform off its middle."""
    return delta_robot(), posture(delta_robot(), (0.08, -0.05, -0.75))


def _hexapod() -> tuple[km.Mechanism, np.ndarray]:
    """Stewart's platform, whose plate is free."""
    return hexapod((km.Body("plate", PLATE_MASS, inertia=PLATE_INERTIA),), (km.Joint("free", "floating", "world", "plate"),),
                   (0.0, 0.0, 0.0, 1.0, 0.0, 0.0, HEIGHT))  # fmt: skip


def hexapod(plate: Sequence[km.Body], carriers: Sequence[km.Joint], q: Sequence[float]) -> tuple[km.Mechanism, np.ndarray]:
    """Stewart's platform: six cylinders on universal joints, whose rods end in ball joints below a plate, and a closed posture.

    The last body of `plate` is the plate itself, level at the height `HEIGHT` by the coordinates `q` of its `carriers`.
    """
    bodies, joints, loops, posture = list(plate), list(carriers), [], list(q)
    for k, (foot, head) in enumerate(zip(*leg_ends(), strict=True), 1):
        x, y, z = head - foot + np.array([0.0, 0.0, HEIGHT])
        length = float(np.linalg.norm((x, y, z)))
        bodies += [
            km.Body(f"cylinder{k}", CYLINDER_MASS, (0.0, 0.0, MIDDLE), CYLINDER_INERTIA),
            km.Body(f"rod{k}", ROD_MASS, (0.0, 0.0, -MIDDLE), ROD_INERTIA),
        ]
        joints += [
            km.Joint(f"foot{k}", "universal", "world", f"cylinder{k}", km.pose(tuple(foot)), (1, 0, 0), (0, 1, 0)),
            km.Joint(f"stroke{k}", "prismatic", f"cylinder{k}", f"rod{k}", axis=(0, 0, 1)),
        ]
        loops.append(km.Loop(f"head{k}", "spherical", f"rod{k}", plate[-1].name, pose_b=km.pose(tuple(head))))
        posture += [math.atan2(-y, z), math.asin(x / length), length]  # about x, then y: the leg along z
    return km.Mechanism("hexapod", tuple(bodies), tuple(joints), tuple(loops)), np.array(posture)


def leg_ends() -> tuple[np.ndarray, np.ndarray]:
    """Where legs stand on the ground and, in the plate's frame, where they end below it [m]: 6 × 3 each."""
    turns = np.radians([120 * (k // 2) + (10 if k % 2 else -10) for k in range(6)])
    further = np.radians([120 * (k // 2) + (50 if k % 2 else -50) for k in range(6)])
    feet, heads = (
        radius * np.stack([np.cos(angles), np.sin(angles), np.zeros(6)], axis=1)
        for radius, angles in ((0.6, turns), (0.4, further))
    )
    return feet, heads


def _cassie() -> tuple[km.Mechanism, np.ndarray]:
    """Cassie, hanging by its pelvis, without its springs and damping."""
    return Cassie().mechanism, hanging.start(hanging.cassie())


def with_hinges(mechanism: km.Mechanism) -> km.Mechanism:
    """The mechanism with two hinges and a cross without mass for each universal joint, which not every program has."""
    bodies, joints = [], []
    for body, joint in zip(mechanism.bodies, mechanism.joints, strict=True):
        if joint.kind.name == "universal":
            cross = f"{joint.name} cross"
            bodies.append(km.Body(cross))
            joints.append(km.Joint(f"{joint.name} first", "revolute", joint.parent, cross, joint.pose, joint.axis))
            assert joint.second_axis is not None
            joint = km.Joint(f"{joint.name} second", "revolute", cross, joint.child, axis=joint.second_axis)
        bodies.append(body)
        joints.append(joint)
    return replace(mechanism, bodies=tuple(bodies), joints=tuple(joints))


#: What makes each robot, in a posture that closes its loops or nearly.
BUILT: dict[str, Callable[[], tuple[km.Mechanism, np.ndarray]]] = {"delta": _delta, "hexapod": _hexapod, "cassie": _cassie}
