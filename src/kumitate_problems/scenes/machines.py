"""Machines: boxes on a conveyor, a gripper that shakes a cube, two arms of a robot that press together, a chain over a drum."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from kumitate.contact.surface import Surface
from kumitate.model import (
    Body,
    Box,
    Capsule,
    Cylinder,
    Floating,
    Geometry,
    Joint,
    Mechanism,
    Planar,
    Prismatic,
    Revolute,
    Sphere,
)
from kumitate.scalar import cos
from kumitate.spatial import pose

from ..contact import RIGID, Trial, at, solid, unconnected
from ..contract import Measured

__all__ = ["arms_meet", "chain_over_drum", "conveyor", "gripper"]

G = 9.81


def conveyor(trial: Trial = RIGID, count: int = 6) -> list[Measured]:
    """Boxes put on a belt at u: each is at rest on it after u/(μ g), on u²/(2 μ g) of way, and as far from the next as before.

    The belt's work is m u² a box: half of it heats the box's foot.
    """
    u, mu, t = 0.8, 0.4, 0.4
    boxes = unconnected(*(solid(f"box{k}", Box((0.2, 0.2, 0.2)), 1.0 + k) for k in range(count)))
    belt = {"ground": Surface(mu, belt=(u, 0.0, 0.0))}
    run = trial.run(boxes, at(*((0.3 * k, 0.0, 0.1) for k in range(count))), duration=t, surface=Surface(mu), surfaces=belt)
    way = run.q[-1, 4::7] - run.q[0, 4::7]
    return [
        Measured("speeds", run.v[-1, 3::6], 1e-9, "m/s", u),
        Measured("ways", way, 1.5 * trial.step * u, "m", u * t - 0.5 * u * u / (mu * G)),
        Measured("work of the belt", run.audit.work / (boxes.tree.mass * u * u), 1e-6, "of m u²", 0.5),
    ]


def gripper(trial: Trial = RIGID) -> list[Measured]:
    """Two fingers press a cube with P each and shake it up and down: it is held as long as 2 μ P ≥ m (g + a).

    The palm and all that it carries are moved by a force that gives them a cos ωt; 1 % below the limit the cube slips.
    """
    mass, mu, rate, most = 0.5, 0.6, 2.0 * math.pi * 2.5, 6.0
    needed = mass * (G + most) / (2.0 * mu)
    pad = Box((0.02, 0.06, 0.06))
    fingers = [Body(f"finger{k}", 0.2, inertia=(1e-3,) * 3, collisions=(Geometry(pad),)) for k in range(2)]
    cube = solid("cube", Box((0.1, 0.1, 0.1)), mass)
    joints = (
        Joint("lift", Prismatic(), "world", "palm", axis=(0.0, 0.0, 1.0)),
        *(
            Joint(
                f"close{k}",
                Prismatic(),
                "palm",
                f"finger{k}",
                axis=(1.0 - 2.0 * k, 0.0, 0.0),
                pose=pose((0.12 * k - 0.06, 0, 0)),
            )
            for k in range(2)
        ),
        Joint("free", Floating(), "world", "cube"),
    )
    mechanism = Mechanism("gripper", (Body("palm", 1.0, inertia=(0.01,) * 3), *fingers, cube), joints)
    total, slipped = mechanism.tree.mass, []
    for press in (1.01 * needed, 0.99 * needed):

        def drive(t: Any, q: Any, v: Any, press: float = press) -> list[Any]:
            return [total * (G + most * cos(rate * t)), press, press, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]

        run = trial.run(
            mechanism, [0.0, 0.0, 0.0, *at((0.0, 0.0, 0.0))], duration=2.0, surface=Surface(mu), ground=(), controller=drive
        )
        slip = run.q[:, 9] - run.q[:, 0]
        slipped.append(float(np.abs(slip).max()))
    return [
        Measured("slip, 1 % above", slipped[0], 1e-9, "m"),
        Measured("how far from slipping, 1 % below", max(0.0, 1e-5 - slipped[1]), 1e-6, "m"),
    ]


def arms_meet(trial: Trial = RIGID) -> list[Measured]:
    """A robot whose arms are driven together: plastic, they stop, and press with the moment over its lever, as on its trunk."""
    torque, length, half = 2.0, 0.4, 0.1
    fore = Geometry(Capsule(0.03, length), pose((0.5 * length, 0.0, 0.0), rpy=(0.0, 0.5 * math.pi, 0.0)))
    arms = [
        Body(f"arm{k}", 1.0, (0.5 * length, 0.0, 0.0), (1e-3, length**2 / 12.0, length**2 / 12.0), collisions=(fore,))
        for k in range(2)
    ]
    trunk = Body("trunk", 5.0, inertia=(0.1, 0.1, 0.1))
    joints = (
        Joint("base", Planar(), "world", "trunk"),
        *(
            Joint(
                f"shoulder{k}",
                Revolute(),
                "trunk",
                f"arm{k}",
                axis=(0.0, 0.0, 1.0),
                pose=pose((0.0, half - 2.0 * half * k, 0.0)),
            )
            for k in range(2)
        ),
    )
    robot = Mechanism("robot", (trunk, *arms), joints, gravity=(0.0, 0.0, 0.0))
    run = trial.run(
        robot, np.zeros(robot.nq), duration=0.5, surface=Surface(0.0), ground=(), between=[("arm0", "arm1")],
        controller=np.array([0.0, 0.0, 0.0, -torque, torque]),
    )  # fmt: skip
    # the ends of the capsules meet: their middle lines are 0.06 m apart there, half − l sin φ = 0.03, and the normal is along y
    lean = math.asin((half - 0.03) / length)
    assert run.contact is not None
    force = np.linalg.norm(run.contact.on("arm0")[-1])
    return [
        Measured("where they meet", np.abs(run.q[-1, 3:]), 1.5 * trial.step * 10.0, "rad", lean),
        Measured("force", float(force), 1e-4, "N", torque / (length * math.cos(lean))),
    ]


def chain_over_drum(trial: Trial = RIGID, beads: int = 8) -> list[Measured]:
    """A light chain of beads over a drum that does not turn: a weight holds another up to Euler's and Eytelwein's ratio.

    At each of n beads the chain bends by δ = π/n, and T2/T1 ≤ (1 + μ tan δ/2)/(1 − μ tan δ/2); for many, e^(μ π).
    """
    mu, drum, bead = 0.3, 0.2, 1e-4  # small, so that friction hardly turns a bead and its link
    bend = math.pi / beads
    ratio = ((1.0 + mu * math.tan(0.5 * bend)) / (1.0 - mu * math.tan(0.5 * bend))) ** beads
    moved = []
    for heavy in (0.98 * ratio, 1.02 * ratio):
        chain, places = _chain(beads, drum + bead, bead, heavy)
        round_ = Geometry(Cylinder(drum, 0.2), pose((0.0, 0.0, 1.0), rpy=(0.5 * math.pi, 0.0, 0.0)))
        run = trial.run(
            chain, places, duration=0.5, surface=Surface(mu), ground=(round_,), between=[],
        )  # fmt: skip
        moved.append(float(np.abs(run.q - run.q[0])[:, 1:3].max()))
    return [
        Measured("slip, 2 % below the ratio", moved[0], 1e-6, "m"),
        Measured("how far from slipping, 2 % above", max(0.0, 1e-3 - moved[1]), 1e-6, "m"),
    ]


def _chain(beads: int, radius: float, bead: float, heavy: float) -> tuple[Mechanism, list[float]]:
    """Beads of 1 g round the upper half of a circle about (0, 1 m), 1 kg hanging on the left and `heavy` on the right."""
    angles = math.pi - math.pi / beads * (np.arange(beads) + 0.5)
    spots = [np.array([radius * math.cos(a), radius * math.sin(a), 0.0]) for a in angles]
    drop = np.array([0.0, -0.3, 0.0])
    spots = [spots[0] + drop, *spots, spots[-1] + drop]
    masses = [1.0, *(1e-3,) * beads, heavy]
    shapes = [(), *((Geometry(Sphere(bead)),),) * beads, ()]
    bodies = [
        Body(f"bead{k}", mass, inertia=(1e-6,) * 3, collisions=shape)
        for k, (mass, shape) in enumerate(zip(masses, shapes, strict=True))
    ]
    upright = pose((0.0, 0.0, 1.0), rpy=(0.5 * math.pi, 0.0, 0.0))  # y of the chain's plane is up
    joints = [Joint("end", Planar(), "world", "bead0", pose=upright)]
    joints += [
        Joint(
            f"joint{k}", Revolute(), f"bead{k - 1}", f"bead{k}", axis=(0.0, 0.0, 1.0), pose=pose(tuple(spots[k] - spots[k - 1]))
        )
        for k in range(1, len(spots))
    ]
    mechanism = Mechanism("chain", tuple(bodies), tuple(joints))
    return mechanism, [0.0, *spots[0][:2], *(0.0,) * (len(spots) - 1)]
