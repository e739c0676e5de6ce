"""Bricard's mechanism (A04): five bars and six joints that move although the count of equations says that they cannot."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from ...spatial import pose
from ..elements import Body, Joint, Loop
from ..joints import KINDS
from ..mechanism import WORLD, Mechanism
from ..shapes import Box, Cylinder, Geometry
from .linkages import COLORS, DARK

#: Where the joints are [m], and about which axes; IFToMM's y is z here, its z is −y.
_POINTS = (
    (0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (1.0, 0.0, -1.0), (1.0, -1.0, -1.0), (0.0, -1.0, -1.0), (0.0, -1.0, 0.0)
)  # fmt: skip
_AXES = "zyxzyx"
_DIRECTIONS = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}
_WIDTH = 0.1


def bricard() -> Mechanism:
    """Five bars of 1 m, 1 kg and 0.1 m × 0.1 m, each square to the next, the outer two on the ground by revolute joints.

    Six bodies with the ground and six joints of one degree of freedom should leave 6·5 − 6·5 = 0 degrees of freedom, yet one
    remains: one equation always follows from the others.
    """
    points = np.array(_POINTS)
    bodies, joints = [], []
    for k, (start, end) in enumerate(pairwise(points)):
        along = end - start
        size = np.where(along != 0.0, 1.0, _WIDTH)
        inertia = (np.dot(size, size) - size**2) / 12.0
        drawn = np.where(along != 0.0, 1.0 - _WIDTH, _WIDTH)
        bar = Geometry(Box(tuple(drawn.tolist())), pose(along / 2.0), COLORS[k % len(COLORS)])  # type: ignore[arg-type]
        bodies.append(Body(f"bar{k + 1}", 1.0, along / 2.0, inertia, (bar, _pin(_AXES[k]))))
        parent, place = (WORLD, start) if k == 0 else (f"bar{k}", start - points[k - 1])
        joints.append(Joint(f"joint{k + 1}", KINDS["revolute"], parent, f"bar{k + 1}", pose(place), _DIRECTIONS[_AXES[k]]))
    last = points[-1] - points[-2]
    bodies[-1] = Body("bar5", 1.0, bodies[-1].center_of_mass, bodies[-1].inertia, (*bodies[-1].visuals, _pin(_AXES[5], last)))
    joint6 = Loop("joint6", KINDS["revolute"], "bar5", WORLD, pose(last), pose(points[-1]), _DIRECTIONS[_AXES[5]])
    return Mechanism("bricard", tuple(bodies), tuple(joints), (joint6,))


def _pin(axis: str, place: np.ndarray | tuple[float, float, float] = (0.0, 0.0, 0.0)) -> Geometry:
    quarter = 1.5707963267948966
    turn = {"x": (0.0, quarter, 0.0), "y": (quarter, 0.0, 0.0), "z": (0.0, 0.0, 0.0)}[axis]
    return Geometry(Cylinder(0.6 * _WIDTH, 1.3 * _WIDTH), pose(tuple(place), turn), DARK)
