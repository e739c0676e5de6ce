"""The thesis's two simulations by hybrid modelling (T-4.1, T-4.2), integrated here with Fehlberg's fifth-order formula."""

from __future__ import annotations

import numpy as np
import pytest

import kumitate as km
from kumitate.compile import Kernel
from kumitate.dynamics import Acting
from kumitate.dynamics.hybrid import hybrid
from kumitate.kinematics import rate
from kumitate.model.samples import FLOATING_ARM_START, floating_arm, planar_7r
from kumitate.scalar import trace

STAGES = (
    (), (1 / 4,), (3 / 32, 9 / 32), (1932 / 2197, -7200 / 2197, 7296 / 2197), (439 / 216, -8.0, 3680 / 513, -845 / 4104),
    (-8 / 27, 2.0, -3544 / 2565, 1859 / 4104, -11 / 40),
)  # fmt: skip
WEIGHTS = (16 / 135, 0.0, 6656 / 12825, 28561 / 56430, -9 / 50, 2 / 55)


def rates(mechanism: km.Mechanism, partition) -> Kernel:
    """(q, v) → (q̇, v̇) without drives, v̇ by hybrid modelling."""
    tree, still = mechanism.tree, [0.0] * mechanism.nv

    def page(q, v):
        return {"qdot": rate(tree, q, v), "vdot": hybrid(tree, q, v, still, Acting(mechanism.gravity), partition=partition)}

    return Kernel(trace(page, {"q": tree.nq, "v": tree.nv}, "rates"))


def integrated(mechanism: km.Mechanism, partition, q, v, steps: int, h: float = 1e-3) -> tuple[np.ndarray, np.ndarray]:
    """q and v at every step."""
    kernel, nq = rates(mechanism, partition), mechanism.nq
    x = np.array([*q, *v], dtype=float)
    found = [x]
    for _ in range(steps):
        slopes: list[np.ndarray] = []
        for row in STAGES:
            at = x + h * sum((a * k for a, k in zip(row, slopes, strict=True)), np.zeros_like(x))
            slopes.append(np.concatenate(kernel(at[:nq], at[nq:])))
        x = x + h * sum(b * k for b, k in zip(WEIGHTS, slopes, strict=True))
        if mechanism.nq != mechanism.nv:
            x[:4] /= np.linalg.norm(x[:4])
        found.append(x)
    states = np.array(found)
    return states[:, :nq], states[:, nq:]


def energies(mechanism: km.Mechanism, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    return km.load(mechanism).energy(q, v).total


@pytest.mark.row("T-4.1")
def test_the_planar_arm_split_4_and_3_keeps_its_energy():
    mechanism = planar_7r()
    parts = [[f"joint{i}" for i in range(1, 5)], [f"joint{i}" for i in range(5, 8)]]
    q, v = integrated(mechanism, parts, [np.pi / 2] + [0.0] * 6, [0.0] * 7, 3000)
    total = energies(mechanism, q, v)
    assert np.ptp(q[:, 0]) > 0.5  # it falls
    assert abs(total[0]) < 1e-13
    assert np.abs(total - total[0]).max() < 1e-8


@pytest.mark.row("T-4.2")
def test_the_floating_arm_split_3_and_3_keeps_energy_and_momentum():
    """At 1 ms the momenta drift by 2e-8, by any method: the integrator's error, which falls 32-fold with half the step."""
    mechanism = floating_arm()
    robot = km.load(mechanism)
    parts = [["base", "joint1", "joint2"], ["joint3", "joint4", "joint5"]]
    drifts = []
    for refined in (1, 2, 4):
        q, v = (x[:: 10 * refined] for x in integrated(mechanism, parts, *FLOATING_ARM_START, 10_000 * refined, 1e-3 / refined))
        total, momentum = energies(mechanism, q, v), robot.momentum(q, v)
        assert np.abs(total / total[0] - 1.0).max() < 1e-8
        drifts.append(np.abs(momentum - momentum[0]).max())
    assert drifts[0] > 28.0 * drifts[1] > 28.0**2 * drifts[2]
    assert drifts[2] < 1e-10
    center, time = robot.center_of_mass(q), 1e-2 * np.arange(len(q))
    velocity = momentum[0, 3:] / robot.mass
    assert np.linalg.norm(velocity) == pytest.approx(0.013744, abs=5e-7)
    assert np.abs(center - center[0] - np.outer(time, velocity)).max() < 1e-9


@pytest.mark.row("T-4.2")
@pytest.mark.parametrize("axial_inertia", [1e-4, 1e-8])
def test_rod_directions_do_not_depend_on_the_axial_inertia(axial_inertia):
    """For a second: the axial inertias are what the thesis leaves out, and carry what they store to nobody else."""
    parts = [["base", "joint1", "joint2"], ["joint3", "joint4", "joint5"]]
    ends = []
    for value in (1e-6, axial_inertia):
        mechanism = floating_arm(axial_inertia=value)
        q, _ = integrated(mechanism, parts, *FLOATING_ARM_START, 1000)
        poses = km.load(mechanism).poses(q[-1])
        ends.append(np.array([poses[f"link{i}"][:3, 2] for i in range(1, 7)]))
    assert np.abs(ends[0] - ends[1]).max() < 100.0 * max(1e-6, axial_inertia)
