"""The planar arm of four links that the thesis controls as linkages (chapter 7, fig. 7.2), and the laws that it is given.

In the plane x-z, joints about y, each link along the z axis of its frame; angles are relative to the link before, the first one
from +z towards +x. The loops are virtual: they stand where the arm starts.
"""

from __future__ import annotations

from math import acos, cos, sin
from typing import Any

import numpy as np

from kumitate.control import Controller, virtual_loop
from kumitate.model import KINDS, Body, Capsule, Cylinder, Frame, Geometry, Joint, Loop, Mechanism
from kumitate.spatial import pose

__all__ = [
    "GAIN", "LENGTHS", "PUSH_GAIN", "as_four_bar", "as_slider_crank", "as_slider_crank_by_crank", "closed_form",
    "four_link_arm", "moment_arm", "stretched", "tip", "tip_velocity",
]  # fmt: skip

#: Lengths of the links [m]; each has 1 kg.
LENGTHS = (1.0, 1.0, 1.0, 0.5)
#: Gains of the virtual spring and damper at joint 1 (eq. 7.11, 7.12) [N·m, N·m·s], and of those along x at the tip [N/m,
#: N·s/m].
GAIN, PUSH_GAIN = 5.0, 10.0
_COLORS = ((0.16, 0.42, 0.70, 1.0), (0.90, 0.49, 0.13, 1.0), (0.20, 0.60, 0.40, 1.0), (0.72, 0.25, 0.32, 1.0))
_Y = (0.0, 1.0, 0.0)


def four_link_arm(name: str = "four_link_arm") -> Mechanism:
    """The open chain, every joint driven; the frame "tip" is the end of the last link."""
    bodies, joints = [], []
    for k, l in enumerate(LENGTHS):
        pin = Geometry(Cylinder(0.042, 0.096), pose(rpy=(1.5707963267948966, 0.0, 0.0)), (0.20, 0.22, 0.26, 1.0))
        visuals = (Geometry(Capsule(0.03, l), pose((0.0, 0.0, 0.5 * l)), _COLORS[k]), pin)
        bodies.append(Body(f"link{k + 1}", 1.0, (0.0, 0.0, 0.5 * l), (l * l / 12.0, l * l / 12.0, 0.0), visuals))
        before, where = (f"link{k}", pose((0.0, 0.0, LENGTHS[k - 1]))) if k else ("world", pose())
        joints.append(Joint(f"joint{k + 1}", KINDS["revolute"], before, f"link{k + 1}", where, _Y))
    tip_frame = Frame("tip", "link4", pose((0.0, 0.0, LENGTHS[3])))
    return Mechanism(name, tuple(bodies), tuple(joints), frames=(tip_frame,))


def tip(q: Any) -> np.ndarray:
    """(x, z) of the tip (..., 2) [m], of numbers or symbols."""
    angles = np.cumsum(np.asarray(q), axis=-1)
    return np.stack([np.sin(angles) @ np.array(LENGTHS), np.cos(angles) @ np.array(LENGTHS)], axis=-1)


def tip_velocity(q: Any, v: Any) -> np.ndarray:
    """The velocity of the tip (..., 2) [m/s] (eq. 7.16)."""
    angles, rates = np.cumsum(np.asarray(q), axis=-1), np.cumsum(np.asarray(v), axis=-1)
    return np.stack([(np.cos(angles) * rates) @ np.array(LENGTHS), -(np.sin(angles) * rates) @ np.array(LENGTHS)], axis=-1)


def as_four_bar(arm: Mechanism, q0: Any, goal: float, **options: Any) -> Controller:
    """The last link held on the ground where it stands at q0; joint 1 is drawn to `goal` [rad] (eq. 7.8 to 7.12).

    The virtual linkage has the inertia 5/3 kg·m² about joint 1 in every posture: θ̈ + 3θ̇ + 3(θ − θ_des) = 0.
    """
    x, z, phi = _joint4(q0)
    ground = Loop("ground", KINDS["fixed"], "world", "link4", pose((x, 0.0, z), (0.0, phi, 0.0)))
    return virtual_loop(arm, [ground], efforts=_crank_spring(goal, GAIN), **options)


def as_slider_crank(arm: Mechanism, q0: Any, goal: float, **options: Any) -> Controller:
    """Joint 3 locked, link 4 sliding along x; the tip is drawn to x = `goal` [m] (eq. 7.13 to 7.19)."""

    def push(t: Any, q: Any, v: Any) -> Any:
        force = PUSH_GAIN * (goal - tip(q)[0]) - PUSH_GAIN * tip_velocity(q, v)[0]
        return [0.0, 0.0, 0.0, force, 0.0, 0.0]

    return virtual_loop(arm, _slider_crank(q0), wrenches={"link4": push}, **options)


def as_slider_crank_by_crank(arm: Mechanism, q0: Any, **options: Any) -> Controller:
    """The same mechanism drawn to its stretched posture by the crank's angle.

    At that posture x is at its greatest, and dx/dθ1 = 0: x says neither on which side the crank is, nor how fast it turns. The
    crank's angle does: it is a coordinate of the mechanism there.
    """
    return virtual_loop(arm, _slider_crank(q0), efforts=_crank_spring(stretched(q0), PUSH_GAIN), **options)


def stretched(q0: Any) -> float:
    """The crank's angle [rad] where crank and rod are in a line, of the slider-crank that stands at q0."""
    _, z, _ = _joint4(q0)
    return acos(z / 3.0)


def moment_arm(q0: Any, crank: Any) -> np.ndarray:
    """dx/dθ1 [m] of the slider-crank that stands at q0: the lever arm of a force along x about the crank."""
    _, z, _ = _joint4(q0)
    height = z - np.cos(crank)
    return np.cos(crank) - height * np.sin(crank) / np.sqrt(4.0 - height**2)


def closed_form(time: Any, start: float, goal: float) -> np.ndarray:
    """θ1 (n) [rad] of the four-bar linkage, from rest."""
    w = np.sqrt(0.75)
    return goal + (start - goal) * np.exp(-1.5 * time) * (np.cos(w * time) + 1.5 / w * np.sin(w * time))


def _crank_spring(goal: float, gain: float) -> Controller:
    """Virtual torques (4): K_p (θ1_des − θ1) − K_d θ̇1 at joint 1, with K_p = K_d (eq. 7.9, its damping with the right sign)."""
    return lambda t, q, v: np.array([gain * (goal - q[0]) - gain * v[0], 0.0, 0.0, 0.0])


def _slider_crank(q0: Any) -> list[Loop]:
    x, z, phi = _joint4(q0)
    upright = pose(rpy=(0.0, -phi, 0.0))
    slider = Loop("slider", KINDS["prismatic"], "world", "link4", pose((x, 0.0, z)), upright, axis=(1.0, 0.0, 0.0))
    lock = Loop("lock", KINDS["fixed"], "link2", "link3", pose((0.0, 0.0, LENGTHS[1]), (0.0, q0[2], 0.0)))
    return [slider, lock]


def _joint4(q0: Any) -> tuple[float, float, float]:
    """(x, z) of joint 4 [m] and the angle of link 4 from the upright [rad]."""
    angles = np.cumsum(q0)
    return (
        float(sum(l * sin(a) for l, a in zip(LENGTHS[:3], angles[:3], strict=True))),
        float(sum(l * cos(a) for l, a in zip(LENGTHS[:3], angles[:3], strict=True))),
        float(angles[3]),
    )
