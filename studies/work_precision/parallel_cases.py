"""Cases of further closed mechanisms: a six-bar, a delta robot, the car axis."""

from __future__ import annotations

import math

import numpy as np

import kumitate as km
from kumitate.examples.gallery.car_axis import EPSILON, FREQUENCY, HEIGHT, REST, axle_angle
from kumitate.examples.gallery.car_axis import car_axis as axle
from kumitate.examples.gallery.delta_robot import ARM, ARM_MASS, BASE, PLATFORM, PLATFORM_MASS, ROD, ROD_MASS, TURNS
from kumitate_problems.closed_loops import CAR_PLACES

from ..parallel_bench import robots
from ..parallel_bench.robots import with_hinges
from .contract import Case, converged, solved

__all__ = ["car_axis", "delta", "six_bar", "stewart"]

G = 9.81
_BACK = (0, -1, 0)


def six_bar() -> Case:
    """Stephenson's six-bar: a four-bar, and a dyad from its coupler to the ground; slender bars of 1 kg a metre, from rest."""
    bars = {"crank": 0.3, "coupler": 1.0, "rocker": 0.7, "link": 0.8, "lever": 0.6}
    bodies = tuple(km.Body(name, n, (0.5 * n, 0, 0), (0.0, n**3 / 12, n**3 / 12)) for name, n in bars.items())
    along = {name: km.pose((length, 0, 0)) for name, length in bars.items()}
    middle = km.pose((0.5, 0, 0.3))  # a point beside the coupler
    joints = (
        km.Joint("crank", "revolute", "world", "crank", axis=_BACK),
        km.Joint("coupler", "revolute", "crank", "coupler", along["crank"], _BACK),
        km.Joint("rocker", "revolute", "world", "rocker", km.pose((0.9, 0, 0)), _BACK),
        km.Joint("link", "revolute", "coupler", "link", middle, _BACK),
        km.Joint("lever", "revolute", "world", "lever", km.pose((1.5, 0, 0.2)), _BACK),
    )
    loops = (
        km.Loop("first", "revolute", "coupler", "rocker", along["coupler"], along["rocker"], axis=_BACK),
        km.Loop("second", "revolute", "link", "lever", along["link"], along["lever"], axis=_BACK),
    )
    return _fallen(
        "six-bar", "Stephenson's six-bar, 2 s", km.Mechanism("six_bar", bodies, joints, loops), (1.2, -0.8, 1.9, -0.3, 1.2), 2.0
    )


def delta() -> Case:
    """A delta robot whose drives are off: its platform, which does not turn, on three arms with a rod each for a pair."""
    bodies = [km.Body(name) for name in "xy"] + [km.Body("platform", PLATFORM_MASS, inertia=(4e-4, 4e-4, 7e-4))]
    joints = [
        km.Joint(name, "prismatic", parent, child, axis=axis)
        for name, parent, child, axis in (
            ("x", "world", "x", (1, 0, 0)), ("y", "x", "y", (0, 1, 0)), ("z", "y", "platform", (0, 0, 1)),
        )
    ]  # fmt: skip
    loops, guess = [], [0.08, -0.05, -0.75]
    slender, long = ARM_MASS * ARM**2 / 12.0, 2.0 * ROD_MASS * ROD**2 / 12.0
    for k, turn in enumerate(TURNS, 1):
        around = km.pose((BASE * math.cos(turn), BASE * math.sin(turn), 0.0), (0.0, 0.0, turn))
        there = km.pose((PLATFORM * math.cos(turn), PLATFORM * math.sin(turn), 0.0))
        bodies += [
            km.Body(f"arm{k}", ARM_MASS, (0.4 * ARM, 0.0, 0.0), (2e-4, slender, slender)),
            km.Body(f"rod{k}", 2.0 * ROD_MASS, (0.0, 0.0, -0.5 * ROD), (long, long, 1e-4)),
        ]
        joints += [
            km.Joint(f"motor{k}", "revolute", "world", f"arm{k}", around, (0, 1, 0)),
            km.Joint(f"elbow{k}", "universal", f"arm{k}", f"rod{k}", km.pose((ARM, 0.0, 0.0)), (0, 1, 0), (1, 0, 0)),
        ]
        loops.append(km.Loop(f"wrist{k}", "spherical", f"rod{k}", "platform", km.pose((0.0, 0.0, -ROD)), there))
        guess += [0.2, 0.3, 0.0]
    robot = with_hinges(km.Mechanism("delta", tuple(bodies), tuple(joints), tuple(loops)))
    return _fallen("delta", "Delta robot without drives, 0.5 s", robot, guess, 0.5)


def car_axis() -> Case:
    """The chassis on two stiff springs over a bumpy road; the axle follows the road."""
    q, v = np.array([0.0, REST, 0.0]), np.array([0.0, 0.0, -FREQUENCY * HEIGHT])
    turn = float(axle_angle(3.0))
    left = np.array(CAR_PLACES[:2])
    reach = float(left @ [-math.sin(turn), math.cos(turn)])
    ahead = np.array(CAR_PLACES[2:]) - left
    end = {"left": reach, "tilt": math.atan2(ahead[1], ahead[0]) - turn}
    return Case(
        "car-axis", f"Car axis on springs of {EPSILON**-2:g} N/m, 3 s", "published in the Test Set for IVP Solvers", axle(),
        q, v, 3.0, end, motions={"road": axle_angle}, steps=(1e-2, 5e-3, 2e-3, 1e-3, 5e-4),
    )  # fmt: skip


#: What the cylinders of Stewart's platform push with [N]: they nearly carry it, one more than another.
PUSHES = (23.0, 19.0, 21.0, 17.0, 24.0, 20.0)


def stewart() -> Case:
    """Stewart's platform on six cylinders of constant pressure, from rest: the plate rises, drifts and turns.

    Every program has the plate on three slides and three hinges; the reference knows nothing but the plate's six coordinates.
    """
    names = ("x", "y", "z", "roll", "pitch", "yaw")
    bodies = (*(km.Body(name) for name in names[:-1]), km.Body("plate", robots.PLATE_MASS, inertia=robots.PLATE_INERTIA))
    carriers = [
        km.Joint(name, kind, parent, body.name, axis=tuple(float(k % 3 == row) for row in range(3)))
        for k, (name, kind, parent, body) in enumerate(
            zip(names, ["prismatic"] * 3 + ["revolute"] * 3, ("world", *names), bodies, strict=False)
        )
    ]
    mechanism, q = robots.hexapod(bodies, carriers, (0.0, 0.0, robots.HEIGHT, 0.0, 0.0, 0.0))
    duration = 0.6
    end = solved(_plate_rates, np.concatenate([q[:6], np.zeros(6)]), duration)
    mechanism = with_hinges(mechanism)
    return Case(
        "stewart", f"Stewart platform on six cylinders, {duration:g} s",
        "Lagrange's equations in the plate's six coordinates, DOP853 to 1e-13", mechanism, q, np.zeros(mechanism.nv), duration,
        dict(zip(names, end[:6], strict=True)), {f"stroke{k}": push for k, push in enumerate(PUSHES, 1)},
    )  # fmt: skip


def _plate_rates(t: float, state: np.ndarray) -> np.ndarray:
    """M q̈ = Q − (Σ_k q̇_k ∂M/∂q_k) q̇ + ½ ∂(q̇ᵀ M q̇)/∂q, slopes by complex steps."""
    q, v = state[:6], state[6:]
    inertia, force = _plate_inertia(q)
    slopes = np.array([_plate_inertia(q + 1e-40j * unit)[0].imag / 1e-40 for unit in np.eye(6)])  # ∂M/∂q_k
    bias = np.einsum("k,kij,j->i", v, slopes, v) - 0.5 * np.einsum("i,kij,j->k", v, slopes, v)
    return np.concatenate([v, np.linalg.solve(inertia.real, force.real - bias)])


def _plate_inertia(q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The inertia of plate and legs by x, y, z, roll, pitch, yaw, and what weights and pushes do to these; q may be complex."""
    (ca, cb, cc), (sa, sb, sc) = np.cos(q[3:]), np.sin(q[3:])
    about_x = np.array([[1, 0, 0], [0, ca, -sa], [0, sa, ca]])
    about_y = np.array([[cb, 0, sb], [0, 1, 0], [-sb, 0, cb]])
    about_z = np.array([[cc, -sc, 0], [sc, cc, 0], [0, 0, 1]])
    turned = about_x @ about_y @ about_z
    spin = np.zeros((3, 6), q.dtype)  # the plate's angular velocity in its own frame
    spin[:, 3:] = [[cb * cc, sc, 0], [-cb * sc, cc, 0], [sb, 0, 1]]
    shift = np.eye(3, 6).astype(q.dtype)

    inertia = robots.PLATE_MASS * shift.T @ shift + spin.T @ np.diag(robots.PLATE_INERTIA) @ spin
    force = -G * robots.PLATE_MASS * shift[2]
    for foot, head, push in zip(*robots.leg_ends(), PUSHES, strict=True):
        leg = q[:3] + turned @ head - foot
        moved = shift + turned @ np.cross(spin, head, axisa=0, axisc=0)  # the velocity of the leg's head
        length = np.sqrt(leg @ leg)
        along = leg / length
        stretch = along @ moved
        swing = (moved - np.outer(along, stretch)) / length  # of the unit vector along the leg
        # The cross turns about x, then the leg about y: sin b = x/L, tan a = −y/z.
        flat = np.sqrt(leg[1] ** 2 + leg[2] ** 2)
        first = (leg[1] * moved[2] - leg[2] * moved[1]) / flat**2
        turn = np.stack(
            [flat / length * first, (moved[0] * length - leg[0] * stretch) / (length * flat), leg[0] / length * first]
        )
        for mass, moments, velocity in (
            (robots.CYLINDER_MASS, robots.CYLINDER_INERTIA, robots.MIDDLE * swing),
            (robots.ROD_MASS, robots.ROD_INERTIA, np.outer(along, stretch) + (length - robots.MIDDLE) * swing),
        ):
            inertia = inertia + mass * velocity.T @ velocity + turn.T @ np.diag(moments) @ turn
            force = force - G * mass * velocity[2]
        force = force + push * stretch
    return inertia, force


def _fallen(name: str, title: str, mechanism: km.Mechanism, guess: object, duration: float) -> Case:
    """A case that begins at rest, in the closed posture near a guess."""
    q = np.asarray(km.Robot(mechanism).assemble(np.array(guess)))
    return converged(name, title, mechanism, q, np.zeros(mechanism.nv), duration)
