"""Drives that hold a robot where it is, with gains from the inertia that its joints feel."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..dynamics import crba
from ..errors import InputError
from ..kinematics import jacobian, neutral
from ..model import Mechanism, Place, PositionDrive
from ..model.values import POSITIVE, checked_array, checked_number
from ..spatial import Transform
from .compiled_page import mechanism_of

__all__ = ["holding_drives"]


def holding_drives(robot: Any, q: Any = None, *, rate: float = 100.0) -> dict[str, PositionDrive]:
    """Position drives for the joints of one degree of freedom that have no drive, by name, for `Robot.with_drives`.

    A joint that feels the inertia I gets kp = I ω² and kd = 2 I ω: alone it comes back critically damped, and a load τ moves it
    by τ/kp. I is that of everything beyond the joint; on a free base, where a joint may stand on what it carries, that of all
    else if it is larger. Limits of effort are the joints' own.

    Args:
        robot: a robot or mechanism.
        q: coordinates (nq) at which the inertias are taken, neutral by default.
        rate: ω [1/s]; steps should be well below 1/ω, or implicit.

    Raises:
        InputError: for coordinates of another shape, or a rate that is not positive.

    >>> import kumitate as km
    >>> arm = km.load("pa10")
    >>> run = km.simulate(arm.with_drives(holding_drives(arm)), duration=0.5)
    >>> bool(np.abs(run.q[-1] - run.q[0]).max() < 0.005)
    True
    """
    mechanism = mechanism_of(robot)
    tree = mechanism.tree
    at = neutral(tree) if q is None else checked_array(mechanism.name, "q", q, (mechanism.nq,)).tolist()
    omega = checked_number(mechanism.name, "the rate [1/s]", rate, POSITIVE, error=InputError)
    felt = _felt(mechanism, at)
    joints = {joint.name: joint for joint in mechanism.joints}
    single = [link for link in tree.links if link.kind.nv == link.kind.nq == 1 and joints[link.name].drive is None]
    inertias = {link.name: float(felt[link.v_start]) for link in single}
    return {name: PositionDrive(kp=inertia * omega**2, kd=2.0 * inertia * omega) for name, inertia in inertias.items()}


def _felt(mechanism: Mechanism, q: list[float]) -> np.ndarray:
    """The inertia (nv) that every degree of freedom feels."""
    tree = mechanism.tree
    M = np.array(crba(tree, q), dtype=float)
    felt = np.diag(M).copy()
    for link in tree.links:
        base = tree.ancestors(link.index)[-1]
        if base.kind.nv != 6 or base.index == link.index:
            continue
        J = np.array(jacobian(tree, q, Place(link.index, Transform())), dtype=float)
        own = slice(base.v_start, base.v_start + 6)
        for k in range(link.v_start, link.v_start + link.kind.nv):  # all else turns about the joint, what it carries stays
            motion = np.zeros(tree.nv)
            motion[k], motion[own] = 1.0, -np.linalg.solve(J[:, own], J[:, k])
            felt[k] = max(felt[k], motion @ M @ motion)
    return felt
