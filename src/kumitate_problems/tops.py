"""Bodies that spin: free tops, a heavy one that precesses, and the bearings of a rotor that is turned."""

from __future__ import annotations

import math

import numpy as np

import kumitate as km

from .contract import Measured, Problem

__all__ = ["AXIAL", "EULER_END", "PROBLEMS", "START", "SYMMETRIC_END", "TRANSVERSE", "UPRIGHT", "top"]

G = 9.81
#: Torque-free symmetric top: transverse and axial inertia [kg m²], how it starts, and ω after 1.23 s [rad/s].
TRANSVERSE, AXIAL, START = 0.04, 0.02, (2.0, 4.0, 6.0)
SYMMETRIC_END = (-3.792026961749025, -2.370766019953985, 6.0)
#: Euler's top with inertias 1, 2, 3 kg m² from (1, 0, 1) rad/s, after 10 s: (cn, sn, dn)(10, 1/3).
EULER_END = (-0.9210699984443322, 0.389397044115332, 0.9744006605830824)
UPRIGHT = (0.0, 0.0, 0.0, 1.0)


def top(inertia: tuple[float, float, float], kind: str = "spherical") -> km.Mechanism:
    """A body of 1 kg about its center of mass, without gravity."""
    body = km.Body("body", 1.0, inertia=inertia)
    return km.Mechanism("top", (body,), (km.Joint("joint", kind, "world", "body"),), gravity=(0.0, 0.0, 0.0))


def _components(run: km.Run, exact: tuple[float, ...], bar: float) -> list[Measured]:
    return [Measured(f"ω{axis}", run.v[-1, k], bar, "rad/s", exact[k]) for k, axis in enumerate("xyz")]


def symmetric_top() -> list[Measured]:
    """ω and the attitude: L is constant in space, and the axis goes round it at |L|/I."""
    run = km.simulate(top((TRANSVERSE, TRANSVERSE, AXIAL)), UPRIGHT, START, duration=1.23)
    momentum = np.array([TRANSVERSE * START[0], TRANSVERSE * START[1], AXIAL * START[2]])
    rate = np.linalg.norm(momentum) / TRANSVERSE
    along = momentum / np.linalg.norm(momentum)
    axis, phase = np.array([0.0, 0.0, 1.0]), 1.23 * rate  # Rodrigues' formula
    turned = axis * math.cos(phase) + np.cross(along, axis) * math.sin(phase) + along * along[2] * (1.0 - math.cos(phase))
    x, y, z, w = run.q[-1]
    found = np.array([2.0 * (x * z + w * y), 2.0 * (y * z - w * x), 1.0 - 2.0 * (x * x + y * y)])
    return [*_components(run, SYMMETRIC_END, 1e-11), Measured("direction of the axis", found, 1e-11, "1", turned)]


def euler_top() -> list[Measured]:
    """Jacobi's elliptic functions, and the same numbers of a body that floats."""
    tied = km.simulate(top((1.0, 2.0, 3.0)), UPRIGHT, [1.0, 0.0, 1.0], duration=10.0)
    loose = km.simulate(top((1.0, 2.0, 3.0), "floating"), [*UPRIGHT, 0, 0, 0], [1.0, 0.0, 1.0, 0, 0, 0], duration=10.0)
    return [*_components(tied, EULER_END, 1e-11), Measured("ω, floating", loose.v[-1, :3], 1e-11, "rad/s", np.array(EULER_END))]


def heavy_top() -> list[Measured]:
    """Steady precession: I1 cos θ φ̇² − I3 ω3 φ̇ + m g l = 0; slow and fast."""
    mass, arm, I1, I3, spin, lean = 1.5, 0.2, 0.09, 0.02, 120.0, math.radians(60.0)
    body = km.Body("top", mass, (0.0, 0.0, arm), (I1 - mass * arm**2, I1 - mass * arm**2, I3))
    mechanism = km.Mechanism("heavy_top", (body,), (km.Joint("ball", "spherical", "world", "top"),))
    c, s = math.cos(lean), math.sin(lean)
    root = math.sqrt((I3 * spin) ** 2 - 4.0 * I1 * c * mass * G * arm)
    found = []
    for name, sign in (("slow", -1.0), ("fast", 1.0)):
        rate = (I3 * spin + sign * root) / (2.0 * I1 * c)
        # leaning about y, φ̇ is about the vertical: (−sin θ, 0, cos θ) in the body's axes
        q, v = [0.0, math.sin(0.5 * lean), 0.0, math.cos(0.5 * lean)], [-rate * s, 0.0, spin]
        time = 2.0 * math.pi / rate
        run = km.simulate(mechanism, q, v, duration=1.25 * time, step=time / round(max(4000, 5000.0 * time)))
        place = run.center_of_mass / arm
        found += [
            Measured(f"azimuth after 5/4 turns, {name}", place[-1, :2], 1e-8, "1", np.array([0.0, s])),
            Measured(f"cos θ all the way, {name}", place[:, 2], 1e-9, "1", c),
        ]
    return found


def gyroscope() -> list[Measured]:
    """A rotor about x on a frame that is turned about z: its bearings give I ω Ω about y, and its center m Ω² r."""
    inertia, spin, turning, out, mass = 0.05, 200.0, 1.5, 0.3, 4.0
    frame, rotor = km.Body("frame", 1.0, inertia=(0.1,) * 3), km.Body("rotor", mass, inertia=(inertia, 0.03, 0.03))
    joints = (
        km.Joint("turn", "revolute", "world", "frame", axis=(0, 0, 1)),
        km.Joint("spin", "revolute", "frame", "rotor", km.pose((out, 0, 0)), axis=(1, 0, 0)),
    )
    robot = km.Robot(km.Mechanism("gyroscope", (frame, rotor), joints, gravity=(0.0, 0.0, 0.0)))
    n, f = np.split(robot.joint_wrenches([0.0, 0.0], [turning, spin], [0.0, 0.0])["spin"], 2)
    return [
        Measured("moment of the bearings", n, 1e-12, "N m", np.array([0.0, inertia * spin * turning, 0.0])),
        Measured("force of the bearings", f, 1e-12, "N", np.array([-mass * turning**2 * out, 0.0, 0.0])),
    ]


_KIND = "spinning bodies"
PROBLEMS = (
    Problem(
        "symmetric top",
        _KIND,
        "Free, I = 0.04, 0.04, 0.02: ω after 1.23 s",
        "Kane, Likins, Levinson, Spacecraft Dynamics, 1983",
        symmetric_top,
    ),
    Problem(
        "Euler top",
        _KIND,
        "Free, I = 1, 2, 3: ω after 10 s by Jacobi's functions",
        "Landau and Lifshitz, Mechanics, § 37",
        euler_top,
    ),
    Problem("heavy top", _KIND, "Steady precession, slow and fast", "Goldstein, Classical Mechanics, 5.7", heavy_top),
    Problem(
        "gyroscope",
        _KIND,
        "Moment I ω Ω on the bearings of a rotor that is turned",
        "Meriam and Kraige, Dynamics, 7/11",
        gyroscope,
    ),
)
