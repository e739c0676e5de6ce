"""Machines that are driven, coupled, sprung or stopped: rotating guides, chains of springs, motors, cylinders, gears, stops."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import kumitate as km

from .contract import Measured, Problem

__all__ = ["PROBLEMS"]

G = 9.81


def _mass(name: str, mass: float) -> km.Body:
    return km.Body(name, mass, inertia=(0.01 * mass,) * 3)


def _slides(mechanism: str, *bodies: km.Body, gravity: float = 0.0, **joint: Any) -> km.Mechanism:
    """Bodies on rails of their own along x, with gravity along them."""
    joints = tuple(km.Joint(f"{body.name}_rail", "prismatic", "world", body.name, axis=(1, 0, 0), **joint) for body in bodies)
    return km.Mechanism(mechanism, bodies, joints, gravity=(-gravity, 0.0, 0.0))


def rotating_guide() -> list[Measured]:
    """A mass that slides on a rod turned at Ω: r = r0 cosh Ωt, and the rod presses with 2 m Ω ṙ."""
    rate, start, mass, t = 1.5, 0.2, 0.8, 1.2
    bodies = (_mass("rod", 1.0), km.Body("bead", mass, inertia=(1e-3,) * 3))
    joints = (
        km.Joint("turn", "revolute", "world", "rod"),
        km.Joint("slide", "prismatic", "rod", "bead", axis=(1, 0, 0)),
    )
    guide = km.Mechanism("guide", bodies, joints, gravity=(0.0, 0.0, 0.0))
    run = km.simulate(guide, [0.0, start], duration=t, step=1e-3, integrator="rk4", motions={"turn": lambda t: rate * t})
    grown = start * np.cosh(rate * run.time)
    return [
        Measured("place", run.q[:, 1], 1e-11, "m", grown),
        Measured(
            "force of the rod",
            run.joint_wrenches()["slide"][:, 4],
            1e-9,
            "N",
            2.0 * mass * rate * rate * start * np.sinh(rate * run.time),
        ),
    ]


def rotating_hoop() -> list[Measured]:
    """A bead on a hoop turned at Ω about its upright diameter: rests at cos θ = g/(R Ω²), and swings about it at Ω sin θ."""
    rate, radius, mass = 7.0, 0.4, 0.3
    bodies = (_mass("hoop", 1.0), km.Body("bead", mass, (0.0, 0.0, -radius)))
    joints = (km.Joint("turn", "revolute", "world", "hoop"), km.Joint("along", "revolute", "hoop", "bead", axis=(0, 1, 0)))
    rest = math.acos(G / (radius * rate**2))
    slow, off = rate * math.sin(rest), 1e-5
    period = 2.0 * math.pi / slow
    hoop, options = km.Mechanism("hoop", bodies, joints), {"integrator": "rk4", "motions": {"turn": lambda t: rate * t}}
    still = km.simulate(hoop, [0.0, -rest], duration=0.5, step=1e-3, **options)
    moved = km.simulate(hoop, [0.0, -rest - off], duration=1.25 * period, step=period / 1000, **options)
    return [
        Measured("place of rest", still.q[:, 1], 1e-10, "rad", -rest),
        Measured("after half a swing", (moved.q[500, 1] + rest) / off, 1e-4, "of the start", 1.0),
        Measured("after 5/4 swings", (moved.q[-1, 1] + rest) / off, 1e-4, "of the start"),
    ]


def spring_chain(count: int = 5) -> list[Measured]:
    """Equal masses between springs, both ends held: ω_j = 2 √(k/m) sin(j π/2(n + 1))."""
    k, mass = 400.0, 0.7
    masses = tuple(_mass(f"m{j}", mass) for j in range(count))
    chain = _slides("chain", *masses)
    lines = tuple(
        km.Loop(
            f"spring{j}", km.Line(), masses[j - 1].name if j else "world", masses[j].name if j < count else "world",
            km.pose((1.0 * j, 0, 0)), km.pose((1.0 * (j + 1), 0, 0)), stiffness=k, rest=1.0,
        )
        for j in range(count + 1)
    )  # fmt: skip
    poles = km.linearize(
        km.Robot(km.Mechanism("chain", chain.bodies, chain.joints, lines, gravity=(0, 0, 0))), np.zeros(count)
    ).poles
    rates = np.sort(poles.imag[poles.imag > 0.0])
    exact = 2.0 * math.sqrt(k / mass) * np.sin(np.arange(1, count + 1) * math.pi / (2.0 * (count + 1)))
    return [Measured(f"mode {j + 1}", rates[j], 1e-9, "rad/s", exact[j]) for j in range(count)]


def stiff_damper() -> list[Measured]:
    """m ẍ + c ẋ + k x = 0 with roots near −0.25 and −4e5: both parts, by steps that are 400 times longer than the fast one."""
    mass, c, k = 0.01, 4e3, 1e3
    root = math.sqrt(c * c - 4.0 * mass * k)
    slow, fast = -2.0 * k / (c + root), -(c + root) / (2.0 * mass)
    damper = _slides("damper", _mass("mass", mass), stiffness=k, damping=c)
    run = km.simulate(damper, [0.1], duration=4.0, step=1e-3, integrator="extrapolated_euler", tolerance=1e-10)
    end, share = run.time[-1], fast / (fast - slow)
    return [
        Measured("place", run.q[-1, 0], 1e-8, "m", 0.1 * share * math.exp(slow * end)),
        Measured("speed", run.v[-1, 0], 1e-8, "m/s", 0.1 * share * slow * math.exp(slow * end)),
    ]


def servo() -> list[Measured]:
    """A position drive's step: peak after π/ω√(1 − ζ²), over by exp(−π ζ/√(1 − ζ²))."""
    mass, kp, damping = 2.0, 800.0, 0.3
    rate = math.sqrt(kp / mass)
    drive = km.PositionDrive(kp=kp, kd=2.0 * damping * math.sqrt(kp * mass))
    machine = km.Mechanism(
        "servo", (_mass("mass", mass),), (km.Joint("rail", "prismatic", "world", "mass", axis=(1, 0, 0), drive=drive),)
    )
    root = math.sqrt(1.0 - damping**2)
    peak = math.pi / (rate * root)
    run = km.simulate(machine, [0.0], duration=2.0 * peak, step=peak / 500, integrator="rk4", inputs={"target": 0.5})
    over = math.exp(-math.pi * damping / root)
    return [
        Measured("speed at the peak", run.v[500, 0], 1e-8, "m/s"),
        Measured("overshoot", run.q[500, 0] / 0.5 - 1.0, 1e-8, "1", over),
        Measured("undershoot, as long after", 1.0 - run.q[-1, 0] / 0.5, 1e-8, "1", over**2),
    ]


def motor() -> list[Measured]:
    """A motor behind a gear: free speed u/N k, reached with the time constant R J/(N k)²; stalled it gives N k u/R."""
    k, R, N, rotor, load, u = 0.03, 0.6, 50.0, 2e-5, 0.04, 24.0
    lag = R * (load + N**2 * rotor) / (N * k) ** 2
    drive = km.DCMotor(torque_constant=k, resistance=R, gear_ratio=N, rotor_inertia=rotor)
    wheel = km.Mechanism(
        "wheel", (km.Body("wheel", inertia=(load,) * 3),), (km.Joint("axle", "revolute", "world", "wheel", drive=drive),)
    )
    run = km.simulate(wheel, duration=5.0 * lag, step=lag / 100, integrator="rk4", inputs={"target": u})
    return [
        Measured("torque at the start", run.tau[0, 0], 1e-9, "N m", N * k * u / R),
        Measured("speed", run.v[:, 0], 1e-7, "rad/s", u / (N * k) * (1.0 - np.exp(-run.time / lag))),
    ]


def cylinder() -> list[Measured]:
    """Steady speed Q/A of a cylinder that is fed, and the swing of a mass on locked oil: ω² = β (A²/V_A + B²/V_B)/m."""
    A, B, stroke, dead, bulk, mass, flow, middle = 5e-3, 3.5e-3, 1.2, 4e-4, 1.3e9, 800.0, 2e-3, 0.5
    drive = km.HydraulicCylinder(piston_area=A, rod_side_area=B, stroke=stroke, dead_volume=dead, bulk_modulus=bulk)

    def sledge(damping: float) -> km.Mechanism:
        rail = km.Joint("rail", "prismatic", "world", "mass", axis=(1, 0, 0), drive=drive, damping=damping)
        return km.Mechanism("sledge", (_mass("mass", mass),), (rail,))

    rate = math.sqrt(bulk * (A**2 / (dead + A * middle) + B**2 / (dead + B * (stroke - middle))) / mass)
    period, speed = 2.0 * math.pi / rate, 1e-4
    fed = km.simulate(sledge(2e4), [0.1], duration=1.5, step=5e-4, integrator="rk4", inputs={"target": flow})
    locked = km.simulate(sledge(0.0), [middle], [speed], duration=1.25 * period, step=period / 400, integrator="rk4")
    return [
        Measured("speed", fed.v[-1, 0], 4e-7, "m/s", flow / A),
        Measured("force", fed.tau[-1, 0], 0.08, "N", 2e4 * flow / A),
        Measured("swing after 5/4 periods", (locked.q[-1, 0] - middle) * rate / speed, 2e-4, "of its size", 1.0),
        Measured("rate then", locked.v[-1, 0] / speed, 2e-3, "of the start"),
    ]


def atwood() -> list[Measured]:
    """Two weights over a pulley with inertia: a = (m1 − m2) g/(m1 + m2 + I/r²), and the two strands' pulls."""
    m1, m2, inertia, r = 3.0, 2.0, 0.02, 0.1
    weights = _slides("atwood", _mass("left", m1), _mass("right", m2), gravity=G)
    pulley = km.Joint("pulley", "revolute", "world", "pulley")
    strands = tuple(km.Coupling(name, f"{name}_rail", "pulley", sign * r) for name, sign in (("left", -1.0), ("right", 1.0)))
    machine = km.Mechanism(
        "atwood", (*weights.bodies, km.Body("pulley", inertia=(inertia,) * 3)), (*weights.joints, pulley),
        couplings=strands, gravity=weights.gravity,
    )  # fmt: skip
    run = km.simulate(machine, duration=0.5, step=1e-3, integrator="rk4")
    a = (m1 - m2) * G / (m1 + m2 + inertia / r**2)
    return [
        Measured("way", run.q[-1, :2], 1e-10, "m", 0.125 * a * np.array([-1.0, 1.0])),
        Measured("pull at the left", run.couplings["left"].effort[-1], 1e-10, "N", m1 * (G - a)),
        Measured("pull at the right", run.couplings["right"].effort[-1], 1e-10, "N", m2 * (G + a)),
    ]


def gears() -> list[Measured]:
    """A train of two gears: the motor feels I1 + I2 n² + I3 (n m)²; its end turns n m times as fast, with the torque left."""
    inertias, n, m, torque = (0.01, 0.2, 3.0), -0.25, 0.2, 1.5
    bodies = tuple(km.Body(f"g{k}", inertia=(one,) * 3) for k, one in enumerate(inertias))
    joints = tuple(km.Joint(f"g{k}", "revolute", "world", f"g{k}") for k in range(3))
    train = km.Mechanism(
        "train", bodies, joints, couplings=(km.Coupling("first", "g1", "g0", n), km.Coupling("second", "g2", "g1", m))
    )
    run = km.simulate(train, duration=0.4, step=1e-3, integrator="rk4", controller=np.array([torque, 0.0, 0.0]))
    a = torque / (inertias[0] + inertias[1] * n**2 + inertias[2] * (n * m) ** 2)
    return [
        Measured("rates", run.v[-1], 1e-10, "rad/s", 0.4 * a * np.array([1.0, n, n * m])),
        Measured("torque of the second", run.couplings["second"].effort[-1], 1e-10, "N m", inertias[2] * a * n * m),
    ]


def stop() -> list[Measured]:
    """A weight falls on its stop: arrives after √(2h/g), loses m g h, and rests there with m g on it."""
    mass, height = 2.0, 1.0
    rail = km.Joint("rail", "prismatic", "world", "weight", limits=(km.Limits(-height, None),))
    fall, step = math.sqrt(2.0 * height / G), 1e-4
    run = km.simulate(km.Mechanism("stop", (_mass("weight", mass),), (rail,)), duration=1.0, step=step, integrator="rk4")
    landed = run.time[int(np.argmax(run.q[:, 0] <= -height + 1e-9))]
    resting = run.time > fall + 2.0 * step
    return [
        Measured("when", landed, step, "s", fall),
        Measured("place of rest", run.q[resting, 0], 1e-9, "m", -height),
        Measured("energy lost", run.energy.total[0] - run.energy.total[-1], 1e-6, "J", mass * G * height),
        Measured("work of the stop", run.audit.work, 2.0 * mass * G * step * mass * G * fall, "J", -mass * G * height),
    ]


def dry_joint() -> list[Measured]:
    """A mass on a spring whose rail has dry friction f: each half swing is shorter by 2 f/k; at last it sticks."""
    mass, k, friction, start, step = 1.0, 100.0, 2.0, 0.11, 1e-4
    slider = _slides("slider", _mass("mass", mass), stiffness=k, friction=friction)
    half = math.pi / math.sqrt(k / mass)
    run = km.simulate(slider, [start], duration=4.0 * half, step=step, integrator="semi_implicit_euler")
    bar, lost = 3.0 * step * start * math.sqrt(k / mass), 2.0 * friction / k
    heat = 0.5 * k * (start**2 - (start - 3.0 * lost) ** 2)
    return [
        *(
            Measured(f"after {n} half swings", run.q[round(n * half / step), 0], n * bar, "m", (-1) ** n * (start - n * lost))
            for n in (1, 2, 3)
        ),
        Measured("energy into heat", run.energy.total[0] - run.energy.total[-1], 5e-3, "J", heat),
    ]


_KIND = "driven and coupled"
PROBLEMS = (
    Problem(
        "rotating guide",
        _KIND,
        "r = r0 cosh Ωt, 2 m Ω ṙ from the side",
        "Goldstein, Classical Mechanics, ch. 1",
        rotating_guide,
    ),
    Problem(
        "rotating hoop", _KIND, "Bead at cos θ = g/(R Ω²), swings at Ω sin θ", "Taylor, Classical Mechanics, 7.6", rotating_hoop
    ),
    Problem(
        "chain of springs",
        "vibrations",
        "ω_j = 2 √(k/m) sin(j π/2(n + 1))",
        "French, Vibrations and Waves, ch. 5",
        spring_chain,
    ),
    Problem(
        "stiff damper",
        "stiff",
        "Overdamped, roots 1.6 million times apart",
        "Hairer and Wanner, Solving ODEs II, IV.1",
        stiff_damper,
    ),
    Problem("servo", "drives", "Peak and overshoot of a step", "Franklin, Powell, Emami-Naeini, Feedback Control, 3.4", servo),
    Problem(
        "motor behind a gear",
        "drives",
        "Free speed, time constant, stall torque",
        "Spong, Hutchinson, Vidyasagar, Robot Modeling and Control, 6.2",
        motor,
    ),
    Problem(
        "hydraulic cylinder",
        "drives",
        "Speed Q/A; ω² = β (A²/V_A + B²/V_B)/m",
        "Merritt, Hydraulic Control Systems, 1967, 6.2",
        cylinder,
    ),
    Problem(
        "Atwood's machine",
        _KIND,
        "Two weights over a pulley with inertia",
        "Kleppner and Kolenkow, An Introduction to Mechanics, ch. 7",
        atwood,
    ),
    Problem(
        "train of gears",
        _KIND,
        "Inertia I1 + I2 n² + I3 (n m)²",
        "Shigley and Uicker, Theory of Machines and Mechanisms",
        gears,
    ),
    Problem(
        "weight on a stop",
        "limits",
        "Falls on the limit of its joint and rests",
        "Meriam and Kraige, Dynamics, 3/12 (e = 0)",
        stop,
    ),
    Problem(
        "spring with a dry rail",
        "limits",
        "Amplitude falls by 2 f/k each half swing",
        "Den Hartog, Mechanical Vibrations, 8.7",
        dry_joint,
    ),
)
