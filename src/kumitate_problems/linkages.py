"""Linkages: where their members are and how fast, by geometry alone; a straight line, a ring that should not move."""

from __future__ import annotations

import math

import numpy as np

import kumitate as km
from kumitate.spatial import Transform

from .contract import Measured, Problem

__all__ = ["PROBLEMS"]

#: Norton, examples 4-1 and 6-7: links of 40, 120, 80 and 100 mm, the crank at 40 deg and 25 rad/s: coupler and rocker.
NORTON_ANGLES, NORTON_RATES = (20.298, 57.325), (-4.121, 6.998)
_BACK = (0, -1, 0)  # turns about it go from x to z


def _rod(name: str, length: float) -> km.Body:
    """A slender rod along x from its frame, 1 kg a metre."""
    return km.Body(name, length, (0.5 * length, 0.0, 0.0), (0.0, length**3 / 12.0, length**3 / 12.0))


def _along(length: float) -> Transform:
    return km.pose((length, 0.0, 0.0))


def four_bar() -> list[Measured]:
    """Coupler and rocker of a four-bar linkage, for a position and speed of its crank."""
    crank, coupler, rocker, ground = 0.04, 0.12, 0.08, 0.1
    joints = (
        km.Joint("crank", "revolute", "world", "crank", axis=_BACK),
        km.Joint("elbow", "revolute", "crank", "coupler", _along(crank), _BACK),
        km.Joint("rocker", "revolute", "world", "rocker", _along(ground), _BACK),
    )
    tip = km.Loop("tip", "revolute", "coupler", "rocker", _along(coupler), _along(rocker), _BACK)
    bodies = (_rod("crank", crank), _rod("coupler", coupler), _rod("rocker", rocker))
    robot = km.Robot(km.Mechanism("four_bar", bodies, joints, (tip,)))
    begin = math.radians(40.0)
    run = km.simulate(robot, robot.assemble([begin, -0.3, 1.0]), duration=1e-3, motions={"crank": lambda t: begin + 25.0 * t})
    q, v = run.q[0], run.v[0]
    return [
        Measured("coupler", math.degrees(q[0] + q[1]), 5e-4, "deg", NORTON_ANGLES[0]),
        Measured("rocker", math.degrees(q[2]), 5e-4, "deg", NORTON_ANGLES[1]),
        Measured("coupler's rate", v[0] + v[1], 5e-4, "rad/s", NORTON_RATES[0]),
        Measured("rocker's rate", v[2], 5e-4, "rad/s", NORTON_RATES[1]),
    ]


def slider_crank() -> list[Measured]:
    """An engine at a steady speed: x = r cos θ + √(l² − r² sin² θ) and its derivatives; the pin carries the piston's m ẍ."""
    r, l, mass, rate = 0.05, 0.18, 0.6, 120.0
    joints = (
        km.Joint("crank", "revolute", "world", "crank", axis=_BACK),
        km.Joint("big_end", "revolute", "crank", "rod", _along(r), _BACK),
        km.Joint("bore", "prismatic", "world", "piston", axis=(1, 0, 0)),
    )
    pin = km.Loop("pin", "revolute", "rod", "piston", _along(l), axis=_BACK)
    bodies = (_rod("crank", r), _rod("rod", l), km.Body("piston", mass, inertia=(1e-4,) * 3))
    engine = km.Mechanism("engine", bodies, joints, (pin,), gravity=(0.0, 0.0, 0.0))
    turn = 2.0 * math.pi / rate
    options = {"duration": turn, "step": turn / 360, "integrator": "rk4", "motions": {"crank": lambda t: rate * t}}
    run = km.simulate(engine, [0.0, 0.0, r + l], [rate, -rate * (1.0 + r / l), 0.0], **options)
    c, s = np.cos(rate * run.time), np.sin(rate * run.time)
    level = np.sqrt(l * l - (r * s) ** 2)
    x, v = r * c + level, -rate * (r * s + r * r * s * c / level)
    a = -(rate**2) * (r * c + r * r * (c * c - s * s) / level + r**4 * (s * c) ** 2 / level**3)
    return [
        Measured("place of the piston", run.q[:, 2], 1e-12, "m", x),
        Measured("speed", run.v[:, 2], 1e-10, "m/s", v),
        Measured("acceleration", run.a[:, 2], 1e-8, "m/s²", a),
        Measured("force of the pin", run.joint_wrenches()["pin"][:, 3], 1e-8, "N", mass * a),
    ]


def peaucellier() -> list[Measured]:
    """Seven bars that draw a straight line: OB·OD = L² − l² with B on a circle through O, so D is on x = (L² − l²)/2r."""
    L, l, r = 1.0, 0.4, 0.35
    names = {"crank": r, "b1": l, "b2": l, "o1": L, "o2": L, "d1": l, "d2": l}
    joints = (
        km.Joint("crank", "revolute", "world", "crank", _along(r), _BACK),
        *(km.Joint(name, "revolute", "crank", name, _along(r), _BACK) for name in ("b1", "b2")),
        *(km.Joint(name, "revolute", "world", name, axis=_BACK) for name in ("o1", "o2")),
        *(km.Joint(f"d{k}", "revolute", f"b{k}", f"d{k}", _along(l), _BACK) for k in (1, 2)),
    )
    loops = (
        *(km.Loop(f"p{k}", "revolute", f"b{k}", f"o{k}", _along(l), _along(L), _BACK) for k in (1, 2)),
        km.Loop("d", "revolute", "d1", "d2", _along(l), _along(l), _BACK),
    )
    bodies = tuple(_rod(name, length) for name, length in names.items())
    robot = km.Robot(km.Mechanism("peaucellier", bodies, joints, loops))
    # at crank angle zero: B at (2r, 0), P1 and P2 above and below, D beyond
    height = math.sqrt(l * l - (((L * L - l * l) / (2.0 * r) - 2.0 * r) / 2.0) ** 2)
    foot, over = math.acos((((L * L - l * l) / (2.0 * r)) / 2.0 + r) / L), math.asin(height / l)
    angles = {"crank": 0.0, "b1": over, "b2": -over, "o1": foot, "o2": -foot, "d1": -2.0 * over, "d2": 2.0 * over}
    q = robot.assemble([angles[name] for name in robot.mechanism.q_names])
    run = km.simulate(robot, q, duration=1.0, step=5e-3, integrator="rk4", motions={"crank": lambda t: 0.9 * np.sin(6.0 * t)})
    place = robot.pose(run.q, "d1") @ np.array([l, 0.0, 0.0, 1.0])
    line = (L * L - l * l) / (2.0 * r)
    return [
        Measured("x of the point", place[:, 0], 1e-11, "m", line),
        Measured("height of it", place[:, 2], 1e-11, "m", line * np.tan(0.5 * run.q[:, 0])),
    ]


def bennett() -> list[Measured]:
    """Four skew hinges with a/sin α = b/sin β turn, although 3 − 5 < 0: tan(θ1/2) tan(θ2/2) is constant.

    Its value is sin((β + α)/2)/sin((β − α)/2), for angles between the common normals.
    """
    alpha, beta, a = math.radians(70.0), math.radians(30.0), 0.5
    b = a * math.sin(beta) / math.sin(alpha)
    link = {0: km.pose((a, 0, 0), (alpha, 0, 0)), 1: km.pose((b, 0, 0), (beta, 0, 0))}
    bodies = tuple(km.Body(f"link{k}", 1.0, (0.1, 0.0, 0.0), (0.02, 0.03, 0.04)) for k in range(3))
    joints = (
        km.Joint("h1", "revolute", "world", "link0"),
        km.Joint("h2", "revolute", "link0", "link1", link[0]),
        km.Joint("h3", "revolute", "link1", "link2", link[1]),
    )
    ring = km.Loop("h4", "revolute", "link2", "world", link[0], link[1].inverse())
    robot = km.Robot(km.Mechanism("bennett", bodies, joints, (ring,), gravity=(0.0, 0.0, 0.0)))
    ratio = math.sin(0.5 * (beta + alpha)) / math.sin(0.5 * (beta - alpha))
    first = 1.0
    start = robot.assemble([first, 2.0 * math.atan(ratio / math.tan(0.5 * first)), -first])
    report = robot.constraint_report(start)
    run = km.simulate(robot, start, robot.assemble(start, [1.0, 0.0, 0.0])[1], duration=2.0, step=2e-3)
    return [
        Measured("mobility", report.mobility, 0.0, "1", 1),
        Measured("redundant rows", report.redundant, 0.0, "1", 3),
        Measured("product of the tangents", np.tan(0.5 * run.q[:, 0]) * np.tan(0.5 * run.q[:, 1]), 1e-10, "1", ratio),
        Measured("opposite angle", run.q[:, 2], 1e-10, "rad", -run.q[:, 0]),
    ]


def cardan() -> list[Measured]:
    """Two shafts at β on one cross: tan θ2 = cos β tan θ1, ω2/ω1 = cos β/(1 − sin² β sin² θ1)."""
    lean, rate = math.radians(35.0), 3.0
    c, s = math.cos(lean), math.sin(lean)
    shafts = tuple(km.Body(name, 1.0, inertia=(0.1,) * 3) for name in ("one", "two"))
    joints = (
        km.Joint("one", "revolute", "world", "one", axis=(1, 0, 0)),
        km.Joint("two", "revolute", "world", "two", axis=(c, s, 0)),
    )
    cross = km.Loop("cross", "universal", "one", "two", axis=(0, 0, 1), second_axis=(-s, c, 0))
    mechanism = km.Mechanism("cardan", shafts, joints, (cross,))
    run = km.simulate(
        mechanism, [0.0, 0.0], [rate, rate * c], duration=2.0, step=5e-3, integrator="rk4", motions={"one": lambda t: rate * t}
    )
    sines = np.sin(run.q[:, 0])
    return [
        Measured("angle", np.tan(run.q[:, 1]) * np.cos(run.q[:, 0]), 1e-9, "of tan θ1", c * sines),
        Measured("rate", run.v[:, 1] / rate, 1e-10, "1", c / (1.0 - (s * sines) ** 2)),
    ]


_KIND = "linkages"
PROBLEMS = (
    Problem(
        "four-bar linkage",
        _KIND,
        "Angles and rates of coupler and rocker",
        "Norton, Design of Machinery, examples 4-1, 6-7",
        four_bar,
    ),
    Problem(
        "slider-crank",
        _KIND,
        "Piston of an engine at a steady speed, and the force of its pin",
        "Norton, Design of Machinery, ch. 13",
        slider_crank,
    ),
    Problem(
        "Peaucellier's cell",
        _KIND,
        "Seven bars that draw a straight line",
        "Peaucellier 1864; Norton, Design of Machinery, 3.8",
        peaucellier,
    ),
    Problem(
        "Bennett's linkage",
        _KIND,
        "Four skew hinges that turn: tan(θ1/2) tan(θ2/2) is constant",
        "Bennett, A new mechanism, Engineering 76, 1903",
        bennett,
    ),
    Problem(
        "Cardan's joint",
        _KIND,
        "Two shafts on a cross: angles and rates",
        "Shigley and Uicker, Theory of Machines and Mechanisms, 3.8",
        cardan,
    ),
)
