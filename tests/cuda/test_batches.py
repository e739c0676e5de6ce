"""Batches move as on the processor: on a pretended GPU, and by `scripts/test --gpu tests/cuda` on one, too."""

from __future__ import annotations

import numpy as np
import pytest

import kumitate as km
from kumitate.cuda import to_device

pytestmark = pytest.mark.usefixtures("device")

STATES = 300  # not a multiple of the threads of a block


def off(found, expected) -> float:
    """The largest difference, as a part of the largest number."""
    found = np.asarray(found, float)
    assert found.shape == np.shape(expected)
    return float(np.abs(found - expected).max(initial=0.0) / max(1.0, np.abs(expected).max(initial=0.0)))


def simulation(kind: str) -> km.Simulation:
    """Simulations of several kinds, whose steps have all that a step may have."""
    arm = km.load("pa10")
    if kind == "free":
        return km.Simulation(arm, integrator="rk4", outputs=["energy", "pose:link7"])
    if kind == "drives":
        drives = {joint.name: km.PositionDrive(kp=50.0, kd=5.0) for joint in arm.mechanism.joints if joint.kind.nv}
        return km.Simulation(arm.with_drives(drives))
    if kind == "controller":
        return km.Simulation(
            arm, controller=lambda t, q, v, goal: 30.0 * (goal - q) - 5.0 * v, inputs={"goal": np.full(7, 0.2)}
        )
    if kind == "parameters":
        return km.Simulation(arm, parameters=["mass:link7", "damping:*"])
    if kind == "wrench":
        return km.Simulation(arm, wrenches={"link7": None})
    if kind == "loops":
        return km.Simulation(km.load("four_bar"))
    ball = km.Body("ball", 1.0, inertia=(0.004, 0.004, 0.004), collisions=(km.Geometry(km.Sphere(0.1)),))
    thrown = km.Mechanism("thrown", (ball,), (km.Joint("free", "floating", "world", "ball"),))
    q = np.array([0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.101])
    return km.Simulation(km.Robot(thrown, start=(q, np.zeros(6))), contact="rigid")


KINDS = ("free", "drives", "controller", "parameters", "wrench", "loops", "contact")


def pair(kind: str, dtype=np.float64):
    """A batch of the processor and one of the GPU, from the same states with the same efforts."""
    sim, rng = simulation(kind), np.random.default_rng(2)
    host = sim.batch(STATES)
    if kind != "loops":
        v = 0.3 * rng.normal(size=host.v.shape)
        host = sim.batch(
            host.q.copy(), v, parameters={"mass:link7": rng.uniform(1, 3, STATES)} if kind == "parameters" else None
        )
    if kind != "controller":
        host.tau[:] = rng.normal(size=host.tau.shape)
    for wrench in host.wrenches.values():
        wrench[:] = rng.normal(size=wrench.shape)
    if kind == "controller":
        host.inputs["goal"][:] = rng.normal(size=(STATES, 7))
    device = sim.batch(host.q.copy(), host.v.copy(), target="cuda", dtype=dtype)
    device.efforts.set(host.efforts)
    return host, device


@pytest.mark.parametrize("kind", KINDS)
def test_batches_move_as_on_the_processor(kind):
    host, device = pair(kind)
    for count in (1, 7, 12):
        host.step(count)
        device.step(count)
        for name, array in device.state.items():
            assert off(array.numpy(), host.state[name]) <= 1e-11, (name, count)


@pytest.mark.parametrize("kind", KINDS)
def test_single_precision_is_near(kind):
    host, device = pair(kind, np.float32)
    host.step(10)
    device.step(10)
    assert off(device.q.numpy(), host.q) <= 2e-5
    assert off(device.v.numpy(), host.v) <= 2e-3


def test_many_steps_at_once_are_these_steps_one_by_one():
    _, once = pair("drives")
    _, again = pair("drives")
    once.step(12)
    for _ in range(12):
        again.step()
    assert np.array_equal(once.q.numpy(), again.q.numpy())


def test_rows_do_not_know_each_other():
    sim = simulation("free")
    rng = np.random.default_rng(8)
    q, v = rng.normal(size=(STATES, 7)), rng.normal(size=(STATES, 7))
    whole, few = (sim.batch(q[:count], v[:count], target="cuda") for count in (STATES, 3))
    whole.step(5)
    few.step(5)
    assert np.array_equal(whole.q.numpy()[:3], few.q.numpy())


@pytest.mark.parametrize("kind", ["drives", "loops"])
def test_rows_are_restarted(kind):
    host, device = pair(kind)
    mask = np.arange(STATES) % 3 == 0
    for batch in (host, device):
        batch.step(5)
        batch.reset(mask)
        batch.step(5)
    for name, array in device.state.items():
        assert off(array.numpy(), host.state[name]) <= 1e-11, name
    q, v = host.q.copy(), host.v.copy()
    device.step(3)
    device.reset(to_device(mask, float), to_device(q, float), to_device(v, float))
    assert off(device.q.numpy()[mask], q[mask]) <= 1e-15
    assert not device.state["number"].numpy()[mask].any()
    assert (device.state["number"].numpy()[~mask] == 13).all()


def test_outputs_are_looked_at():
    host, device = pair("free")
    host.step(4)
    device.step(4)
    seen = device.look()
    for name, expected in host.outputs.items():
        assert off(seen[name].numpy(), expected) <= 1e-12
