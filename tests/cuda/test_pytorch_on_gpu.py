"""Tensors of PyTorch on a GPU, which kernels and batches use where they stand. `scripts/test --gpu tests/cuda` runs these."""

from __future__ import annotations

import numpy as np
import pytest

import kumitate as km
from kumitate.errors import InputError

torch = pytest.importorskip("torch")
STATES = 300


def off(found, expected) -> float:
    """The largest difference, as a part of the largest number."""
    return float(np.abs(np.asarray(found, float) - expected).max() / max(1.0, np.abs(expected).max()))


def test_tensors_are_used_where_they_stand():
    of, rng = km.load("pa10"), np.random.default_rng(5)
    kernel = of.compile("forward_dynamics", dtype=np.float32, target="cuda")
    given = [rng.normal(size=(STATES, 7)) for _ in range(3)]
    q, v, tau = (torch.as_tensor(part, dtype=torch.float32, device="cuda") for part in given)
    expected = of.forward_dynamics(*given)
    out, stream = torch.empty_like(q), torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    kernel(q, v, tau, out=out, stream=stream)
    stream.synchronize()
    assert off(out.cpu().numpy(), expected) < 1e-4
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=stream):
        for _ in range(3):
            kernel(q, v, tau, out=out, stream=stream)
    tau += 1.0
    graph.replay()
    torch.cuda.synchronize()
    assert off(out.cpu().numpy(), of.forward_dynamics(*given[:2], given[2] + 1.0)) < 1e-4
    found = torch.from_dlpack(kernel(q, v, tau))
    assert off(found.cpu().numpy(), out.cpu().numpy()) == 0.0
    with pytest.raises(InputError, match="gradient"):
        kernel(q.requires_grad_(), v, tau)
    with pytest.raises(InputError, match="in the processor's memory"):
        kernel(q.detach().cpu(), v, tau)


def test_efforts_are_written_in_place():
    sim = km.Simulation(km.load("pa10"), wrenches={"link7": None})
    host, device = sim.batch(STATES), sim.batch(STATES, target="cuda", dtype=np.float64)
    tau = torch.as_tensor(device.tau, device="cuda")
    tau[:] = 0.5
    host.tau[:] = 0.5
    torch.from_dlpack(device.wrenches["link7"])[:] = 1.5
    host.wrenches["link7"][:] = 1.5
    host.step(3)
    device.step(3)
    assert off(device.q.numpy(), host.q) <= 1e-12
    assert device.tau.numpy().shape == (STATES, 7)
    torch.as_tensor(device.q, device="cuda")[:] = 0.0
    assert not device.q.numpy().any()
