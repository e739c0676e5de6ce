"""An open chain in space that moves as a spatial four-bar linkage, revolute-spherical-spherical-revolute (T-f5)."""

from collections.abc import Mapping
from functools import partial
from math import pi
from typing import Any

import numpy as np

from kumitate.control import closed_by, virtual_loop
from kumitate.examples.catalogue import Curves, Example, Plate
from kumitate.model import KINDS, Body, Capsule, Cylinder, Geometry, Joint, Loop, Mechanism, Sphere
from kumitate.records.record import Record
from kumitate.simulate.run import simulate
from kumitate.spatial import Transform, pose, quaternion_of

from ..virtual_loops import loop_distance, with_sampled

#: The crank turns about the world's z; the rocker is to turn about an axis along x through `PIVOT`. Lengths [m].
CRANK, ROCKER, PIVOT = 0.4, 0.7, (0.3, 1.0, 0.0)
#: The rocker's angle from the upright at the start [rad], where the crank's is 0; and the crank's goal [rad].
LEAN, GOAL = pi / 9.0, 10.0 * pi / 9.0
#: Of the spring [N·m] and the damper [N·m·s] at the crank, and of a damper against the coupler's spin about itself.
GAIN, SPIN_DAMPING = 5.0, 0.005


def rocker_end(angle: float | np.ndarray) -> np.ndarray:
    """Where the rocker's ball is (3, ...) when it leans by `angle` [rad]."""
    x, y, z = PIVOT
    return np.array([x + 0.0 * angle, y - ROCKER * np.sin(angle), z + ROCKER * np.cos(angle)])


#: Of the coupler, between both balls [m].
COUPLER = float(np.linalg.norm(rocker_end(LEAN) - (CRANK, 0.0, 0.0)))


def mechanism() -> Mechanism:
    """The open chain: crank, coupler, rocker, every joint driven. The rocker's end hangs free."""
    crank = _bar("crank", CRANK, (0.16, 0.42, 0.70, 1.0), along_x=True)
    coupler = _bar("coupler", COUPLER, (0.90, 0.49, 0.13, 1.0))
    rocker = _bar("rocker", ROCKER, (0.20, 0.60, 0.40, 1.0))
    joints = (
        Joint("crank", KINDS["revolute"], "world", "crank", axis=(0.0, 0.0, 1.0)),
        Joint("ball1", KINDS["spherical"], "crank", "coupler", pose((CRANK, 0.0, 0.0))),
        Joint("ball2", KINDS["spherical"], "coupler", "rocker", pose((0.0, 0.0, COUPLER))),
    )
    return Mechanism("virtual_rssr", (crank, coupler, rocker), joints)


def start() -> tuple[np.ndarray, Loop]:
    """q (9) with the crank along x, and the joint about x that holds the rocker's end to the ground there."""
    first, second = np.array((CRANK, 0.0, 0.0)), rocker_end(LEAN)
    R_WC = _along(second - first)
    R_WR = _along(np.array(PIVOT) - second, x=np.array((1.0, 0.0, 0.0)))
    q = (0.0, *quaternion_of(_turned(R_WC).rotation), *quaternion_of(_turned(R_WC.T @ R_WR).rotation))
    held = Loop(
        "pivot", KINDS["revolute"], "world", "rocker", pose(PIVOT, matrix=R_WR.tolist()), pose((0.0, 0.0, ROCKER)),
        axis=(1.0, 0.0, 0.0),
    )  # fmt: skip
    return np.array(q), held


def efforts(t: Any, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Virtual: a spring and a damper at the crank (eq. 7.9), and what ends the coupler's spin, which the loop leaves free."""
    return np.array([GAIN * (GOAL - q[0]) - GAIN * v[0], 0.0, 0.0, -SPIN_DAMPING * v[3], 0.0, 0.0, 0.0])


def run() -> Record:
    """Five seconds from rest, with gravity."""
    q0, held = start()
    chain = mechanism()
    law = partial(virtual_loop, chain, [held], efforts=efforts)
    result = simulate(chain, q0, np.zeros(7), duration=5.0, step=1e-3, integrator="rk4", controller=law())
    return with_sampled(result, law, gap, "the loop is open by")


def gap(result: Record) -> np.ndarray:
    """How far (n) [m] the rocker's end is from the pivot."""
    return loop_distance(closed_by(result.mechanism, [start()[1]]), result.q, result.v)


def rocker_angle(crank: np.ndarray) -> np.ndarray:
    """The rocker's angle from the upright (n) [rad] when the crank's is given: both balls are a coupler apart.

    |rocker_end(ψ) − ball1|² = COUPLER² is A sin ψ + B cos ψ = C, of whose two solutions the start chooses.
    """
    x, y, z = (p - b for p, b in zip(PIVOT, (CRANK * np.cos(crank), CRANK * np.sin(crank), 0.0), strict=True))
    A, B = -2.0 * ROCKER * y, 2.0 * ROCKER * z
    C = COUPLER**2 - ROCKER**2 - x**2 - y**2 - z**2
    return np.arctan2(A, B) + np.arccos(C / np.hypot(A, B))


def plates(result: Record) -> Mapping[str, Plate]:
    """How the virtual linkage moves, and how well the open chain keeps to it."""
    X = rocker_angle(result.q[:, 0])
    angles = np.column_stack([result.q[:, 0], X])
    ball = ball2(result.q)
    off = np.column_stack([gap(result), np.linalg.norm(ball - rocker_end(X).T, axis=1)])
    virtual = np.array([efforts(None, q, v)[[0, 3]] for q, v in zip(result.q, result.v, strict=True)])
    panels = (
        Curves("Angle of crank and rocker", "deg", ("crank", "rocker"), np.degrees(angles)),
        Curves("Virtual torque", "N·m", ("crank", "coupler's spin"), virtual),
        Curves("Spin of coupler about itself", "deg/s", ("in the crank",), np.degrees(result.v[:, [3]])),
        Curves("Off the linkage", "m", ("loop", "ball 2"), off, log=True),
    )
    caption = (
        "The rocker's angle in (a) is the closed form of the linkage at the crank's angle; (d) shows how far the chain's "
        "end is from the pivot, and the ball between coupler and rocker from where that closed form has it."
    )
    return {"virtual": Plate(panels, caption)}


def ball2(q: np.ndarray) -> np.ndarray:
    """Where the ball between coupler and rocker is (n, 3) [m], by hand."""
    c, s, (x, y, z, w) = np.cos(q[:, 0]), np.sin(q[:, 0]), q[:, 1:5].T
    direction = (2.0 * (x * z + w * y), 2.0 * (y * z - w * x), 1.0 - 2.0 * (x * x + y * y))  # of the coupler, in the crank
    a, b, h = CRANK + COUPLER * direction[0], COUPLER * direction[1], COUPLER * direction[2]
    return np.column_stack([c * a - s * b, s * a + c * b, h])


def _bar(name: str, length: float, color: tuple[float, float, float, float], *, along_x: bool = False) -> Body:
    """A round bar of 1 kg and 2 cm radius with a ball at its far end, along z or x from its frame."""
    across, axial = length**2 / 12.0, 0.5 * 0.02**2
    turned = (0.0, pi / 2.0, 0.0) if along_x else (0.0, 0.0, 0.0)
    middle, end = ((0.5 * length, 0.0, 0.0), (length, 0.0, 0.0)) if along_x else ((0.0, 0.0, 0.5 * length), (0.0, 0.0, length))
    visuals = [Geometry(Capsule(0.02, length), pose(middle, turned), color)]
    if name == "rocker":
        visuals.append(Geometry(Cylinder(0.03, 0.1), pose(end, (0.0, pi / 2.0, 0.0)), (0.20, 0.22, 0.26, 1.0)))
    else:
        visuals.append(Geometry(Sphere(0.04), pose(end), (0.20, 0.22, 0.26, 1.0)))
    inertia = (axial, across, across) if along_x else (across, across, axial)
    return Body(name, 1.0, middle, inertia, visuals=tuple(visuals))


def _turned(R: np.ndarray) -> Transform:
    return pose(matrix=R.tolist())


def _along(z: np.ndarray, x: np.ndarray | None = None) -> np.ndarray:
    """A rotation (3, 3) whose z axis points along `z`, its x axis along `x` or at right angles to the world's y."""
    k = z / np.linalg.norm(z)
    i = np.cross((0.0, 1.0, 0.0), k) if x is None else x
    i = i / np.linalg.norm(i)
    return np.column_stack([i, np.cross(k, i), k])


EXAMPLE = Example(
    name="virtual_rssr",
    title="Chain in space controlled as a spatial four-bar linkage (RSSR)",
    rows=("T-f5",),
    summary=(
        "Crank, coupler and rocker, joined by balls, every joint driven, the rocker's end free. Under gravity the chain "
        "moves as if that end turned on a pivot in the ground, whose axis is square to the crank's: a virtual spring and "
        "damper turn the crank by 200 deg. The loop stays closed to 1e-6 m over 5 s."
    ),
    run=run,
    panels=("q", "v", "a", "tau", "energy"),
    plates=plates,
)
