"""Robots that differ from their models, and logs of them, for the tests of identification."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

import kumitate as km
from kumitate.identification import Identified
from kumitate.identification.base_parameters import Unknowns, unknowns_of
from kumitate.identification.identify import ALL
from kumitate.identification.physical import inertia_numbers, logarithms, scales_of

__all__ = ["all_of", "base_truth", "parallel_arm", "states", "true_values", "with_screws"]


def true_values(unknowns: Unknowns, rng: np.random.Generator, spread: float = 0.3) -> np.ndarray:
    """Parameters of a robot that could exist, near those of its model."""
    values = unknowns.values
    for k in range(0, unknowns.inertial, 10):
        theta = logarithms(values[k : k + 10])
        values[k : k + 10] = inertia_numbers(theta + spread * rng.normal(size=10) * scales_of(theta))[0]
    joints = slice(unknowns.inertial, None)
    values[joints] = rng.uniform(0.1, 0.6, len(values[joints]))
    return values


def states(robot: km.Robot, rng: np.random.Generator, n: int) -> dict[str, np.ndarray]:
    """A log without efforts: states and accelerations of no relation to each other, which equations of motion allow."""
    q = np.array([robot.random_state(rng)[0] for _ in range(n)])
    v, a = 2.0 * rng.normal(size=(n, robot.nv)), 5.0 * rng.normal(size=(n, robot.nv))
    return {"t": 0.01 * np.arange(n), "q": q, "v": v, "a": a}


def parallel_arm(joints: int = 2) -> km.Robot:
    """An arm in a vertical plane, with irregular bodies."""
    bodies = [km.Body(f"link{k + 1}", 2.0 - 0.4 * k, (0.02, 0.01, 0.2 - 0.02 * k), (0.03, 0.04, 0.02)) for k in range(joints)]
    above = ["world", *(body.name for body in bodies)]
    made = [
        km.Joint(f"joint{k + 1}", "revolute", above[k], above[k + 1], km.pose((0, 0, 0.4 if k else 0.0)), axis=(0, 1, 0))
        for k in range(joints)
    ]
    return km.Robot(km.Mechanism("parallel_arm", tuple(bodies), tuple(made)))


def base_truth(found: Identified, values: np.ndarray) -> np.ndarray:
    """The true base parameters."""
    return found.parameters.G @ values


def with_screws(mechanism: km.Mechanism) -> km.Mechanism:
    """The mechanism with screws in place of its revolute joints."""
    joints = (replace(j, kind=km.Helical(0.4)) if j.kind.name == "revolute" else j for j in mechanism.joints)  # type: ignore[union-attr]
    return replace(mechanism, joints=tuple(joints))


def all_of(robot: km.Robot, find: tuple[str, ...] = ALL) -> Unknowns:
    """The unknown parameters of a robot."""
    return unknowns_of(robot.mechanism, find)
