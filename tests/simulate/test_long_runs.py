"""Long motions of a mechanism with a loop that nothing damps: means at the start and at the end are the same.

`python -m tests.simulate.test_long_runs` makes the ten million steps of docs/simulation.md.
"""

from __future__ import annotations

import sys

import numpy as np

import kumitate as km


def linkage() -> km.Robot:
    """A four-bar linkage that flies freely and tumbles."""
    lengths = {"base": 1.0, "crank": 0.4, "coupler": 0.9, "rocker": 0.7}
    masses = {"base": 2.0, "crank": 0.6, "coupler": 0.9, "rocker": 0.8}
    bodies = tuple(
        km.Body(name, m, center_of_mass=(x / 2, 0, 0), inertia=(0.01 * m, m * x * x / 12, m * x * x / 12))
        for (name, x), m in zip(lengths.items(), masses.values(), strict=True)
    )
    at = {name: km.pose((x, 0, 0)) for name, x in lengths.items()}
    joints = (
        km.Joint("free", "floating", "world", "base"),
        km.Joint("a", "revolute", "base", "crank"),
        km.Joint("b", "revolute", "crank", "coupler", pose=at["crank"]),
        km.Joint("c", "revolute", "base", "rocker", pose=at["base"]),
    )
    loop = km.Loop("d", "revolute", "coupler", "rocker", pose_a=at["coupler"], pose_b=at["rocker"])
    return km.Robot(km.Mechanism("linkage", bodies, joints, loops=(loop,), gravity=(0, 0, 0)))


def drift(integrator: str, step: float, steps: int, mean: int) -> tuple[float, float]:
    """By how much means of the first and last steps differ: of energy, and of angular momentum about the center of mass."""
    robot = linkage()
    q, v = robot.assemble([*robot.neutral()[:-3], 1.0, -0.7, 1.6], [0.3, 0.2, 0.5, 0.0, 0.0, 0.0, 2.0, 0.0, 0.0])
    row = km.Simulation(robot, step=step, integrator=integrator).batch(q[None], v[None])

    def means() -> tuple[float, np.ndarray]:
        seen = row.record(mean)
        states = seen["q"].reshape(mean, -1), seen["v"].reshape(mean, -1)
        return float(robot.energy(*states).total.mean()), robot.centroidal_momentum(*states)[:, :3].mean(axis=0)

    (energy, turning), _ = means(), row.step(steps - 2 * mean)
    late, turned = means()
    return abs(late / energy - 1.0), float(np.linalg.norm(turned - turning) / np.linalg.norm(turning))


def test_neither_energy_nor_angular_momentum_drifts():
    energy, turning = drift("rkf45", 1e-3, 200_000, 2_000)
    assert energy < 1e-12
    assert turning < 1e-11


def test_semi_implicit_steps_drift_in_proportion_to_the_step():
    """The inertia matrix varies with the posture, so that they are not symplectic."""
    one, half = drift("semi_implicit_euler", 8e-3, 4_000, 100)[0], drift("semi_implicit_euler", 4e-3, 8_000, 200)[0]
    assert one > 1.7 * half > 1e-4


if __name__ == "__main__":
    for name, step in (("rkf45", 1e-3), ("rkf45", 5e-3), ("rk4", 1e-3), ("midpoint", 1e-3), ("semi_implicit_euler", 1e-3)):
        found = drift(name, step, int(float((sys.argv[1:] or ["1e7"])[0])), 100_000)
        print(f"| `{name}` | {1e3 * step:g} ms | {found[0]:.1e} | {found[1]:.1e} |")
