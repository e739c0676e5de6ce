"""Threads that load, trace, compile, simulate and save at the same time get what one thread gets, in every bit."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import kumitate as km

NAMES = ["planar_3r", "four_bar", "pendulum", "free_rod", "double_pendulum", "planar_4r", "distance_pendulum", "planar_7r"]


def controlled(t, q, v):
    return np.clip(-3.0 * v, -1.0, 1.0)


def simulated(robot, path):
    """A run, a batch and a few kernels of a robot, saved and read again, as arrays."""
    q, v = robot.start
    run = km.simulate(robot, q, v, duration=0.02, controller=controlled, integrator="rk4")
    run.save(path)
    kept = km.open(path)
    batch = km.simulate_batch(robot, np.tile(q, (16, 1)), np.tile(v, (16, 1)), duration=0.01, integrator="rk4")
    return [kept.q, kept.v, kept.tau, kept.energy.total, batch.q, robot.mass_matrix(q), robot.bias_forces(q, v)]


@pytest.mark.slow
def test_eight_threads_give_the_bits_of_one(tmp_path):
    alone = {name: simulated(km.load(name), tmp_path / f"{name}.npz") for name in NAMES}
    shared = km.load("planar_3r")

    def work(k):
        own = simulated(km.load(NAMES[k]), tmp_path / f"{k}-own.npz")
        return own, simulated(shared, tmp_path / f"{k}-shared.npz")

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)  # threads take turns within every trace
    try:
        with ThreadPoolExecutor(8) as pool:
            found = list(pool.map(work, range(8)))
    finally:
        sys.setswitchinterval(interval)
    for k, (own, common) in enumerate(found):
        for arrays, name in ((own, NAMES[k]), (common, "planar_3r")):
            for array, expected in zip(arrays, alone[name], strict=True):
                np.testing.assert_array_equal(array, expected, err_msg=f"thread {k}, {name}")
