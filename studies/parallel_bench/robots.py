"""Robots that no file of the folder has: a delta robot, a hexapod and Cassie; and joints that every program has."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np

import kumitate as km
from kumitate.examples.gallery import cassie as hanging
from kumitate.examples.machines.delta_robot import delta_robot, posture

from ..bench.cassie import Cassie

__all__ = ["BUILT", "with_hinges"]


def _delta() -> tuple[km.Mechanism, np.ndarray]:
    """Clavel's delta robot with its platform off its middle."""
    return delta_robot(), posture(delta_robot(), (0.08, -0.05, -0.75))


def _hexapod() -> tuple[km.Mechanism, np.ndarray]:
    """Stewart's platform: six cylinders on universal joints, whose rods end in ball joints below a plate that is free."""
    base, plate, height = 0.6, 0.4, 0.7
    spread = [(math.radians(120 * (k // 2) + (10 if k % 2 else -10)), math.radians(120 * (k // 2) + (50 if k % 2 else -50)))
              for k in range(6)]  # fmt: skip
    bodies = [km.Body("plate", 8.0, inertia=(0.35, 0.35, 0.65))]
    joints = [km.Joint("free", "floating", "world", "plate")]
    loops, q = [], [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, height]
    for k, (below, above) in enumerate(spread, 1):
        foot = np.array([base * math.cos(below), base * math.sin(below), 0.0])
        head = np.array([plate * math.cos(above), plate * math.sin(above), 0.0])
        x, y, z = head - foot + np.array([0.0, 0.0, height])
        length = float(np.linalg.norm((x, y, z)))
        bodies += [
            km.Body(f"cylinder{k}", 1.2, (0.0, 0.0, 0.2), (0.02, 0.02, 1e-3)),
            km.Body(f"rod{k}", 0.5, (0.0, 0.0, -0.2), (8e-3, 8e-3, 2e-4)),
        ]
        joints += [
            km.Joint(f"foot{k}", "universal", "world", f"cylinder{k}", km.pose(tuple(foot)), (1, 0, 0), (0, 1, 0)),
            km.Joint(f"stroke{k}", "prismatic", f"cylinder{k}", f"rod{k}", axis=(0, 0, 1)),
        ]
        loops.append(km.Loop(f"head{k}", "spherical", f"rod{k}", "plate", pose_b=km.pose(tuple(head))))
        q += [math.atan2(-y, z), math.asin(x / length), length]  # about x, then y: the leg along z
    return km.Mechanism("hexapod", tuple(bodies), tuple(joints), tuple(loops)), np.array(q)


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
