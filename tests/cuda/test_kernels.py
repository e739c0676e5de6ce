"""On a GPU: kernels and batches give what the processor gives. `scripts/test --gpu tests/cuda` runs these."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import kumitate as km
from kumitate.cuda import DeviceArray, to_device
from kumitate.errors import InputError

from ..mechanisms import every_kind, random_case

pytestmark = pytest.mark.usefixtures("device")

STATES = 300  # not a multiple of the threads of a block

FUNCTIONS = (
    "forward_dynamics", "inverse_dynamics", "mass_matrix", "bias_forces", "poses", "energy", "centroidal_momentum", "integrate",
    "difference",
)  # fmt: skip


@cache
def robot(name: str) -> km.Robot:
    if name == "every kind of joint":
        return km.Robot(every_kind(3).mechanism)
    if name.startswith("tree"):
        return km.Robot(random_case(int(name.removeprefix("tree "))).mechanism)
    return km.load(name)


def inputs(of: km.Robot, kernel) -> list[np.ndarray]:
    """Random numbers for a kernel's inputs; coordinates are on the manifold."""
    rng = np.random.default_rng(5)
    q = of.integrate(np.tile(of.neutral(), (STATES, 1)), rng.normal(size=(STATES, of.nv)))
    return [
        q if array.shape == (of.nq,) and array.name.startswith("q") else rng.normal(size=(STATES, *array.shape))
        for array in kernel.inputs
    ]


def off(found, expected) -> float:
    """The largest difference, as a part of the largest number."""
    found = np.asarray(found, float)
    assert found.shape == np.shape(expected)
    return float(np.abs(found - expected).max(initial=0.0) / max(1.0, np.abs(expected).max(initial=0.0)))


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("name", ["pa10", "hoap1", "every kind of joint", "tree 1", "four_bar"])
def test_functions_are_as_on_the_processor(name, function):
    of = robot(name)
    host, single = (of.compile(function, dtype=dtype) for dtype in (np.float64, np.float32))
    given = inputs(of, host)
    expected, coarse = host(*given), single(*(part.astype(np.float32) for part in given))
    for dtype, reference in ((np.float64, expected), (np.float32, coarse)):
        kernel = of.compile(function, dtype=dtype, target="cuda")
        found = kernel(*(to_device(part, dtype) for part in given))
        many = isinstance(found, tuple)
        for array, value, fine in zip(
            found if many else [found], reference if many else [reference], expected if many else [expected], strict=True
        ):
            least = 1e-12 if dtype is np.float64 else 4.0 * off(value, fine) + 1e-5
            assert off(array.numpy(), value) <= least, (dtype, off(array.numpy(), value))


@pytest.mark.parametrize("method", ["aba", "crba", "ada", "dca", "hybrid", "lagrange"])
def test_methods_agree(method):
    of = robot("pa10")
    kernel = of.compile("forward_dynamics", method=method, target="cuda")
    given = inputs(of, kernel)
    found = kernel(*(to_device(part, float) for part in given))
    assert off(found.numpy(), of.forward_dynamics(*given)) <= 1e-10


def test_a_state_a_batch_and_what_is_the_same_for_all():
    of = robot("pa10")
    kernel = of.compile("forward_dynamics", target="cuda")
    q, v, tau = inputs(of, kernel)
    one = kernel(*(to_device(part[0], float) for part in (q, v, tau)))
    assert one.shape == (7,)
    assert off(one.numpy(), of.forward_dynamics(q[0], v[0], tau[0])) <= 1e-13
    shared = kernel(to_device(q, float), to_device(v, float), to_device(tau[0], float))
    assert off(shared.numpy(), of.forward_dynamics(q, v, tau[0])) <= 1e-13
    axes = kernel(*(to_device(part.reshape(3, 100, 7), float) for part in (q, v, tau)))
    assert axes.shape == (3, 100, 7)
    none = kernel(*(to_device(part[:0], float) for part in (q, v, tau)))
    assert none.shape == (0, 7)
    with pytest.raises(InputError, match="the leading axes do not fit together"):
        kernel(to_device(q, float), to_device(v[:5], float), to_device(tau, float))
    out = DeviceArray((STATES, 7), float)
    assert kernel(*(to_device(part, float) for part in (q, v, tau)), out=out) is out
    assert off(out.numpy(), of.forward_dynamics(q, v, tau)) <= 1e-13
    with pytest.raises(InputError, match="must be a C-contiguous one of shape"):
        kernel(*(to_device(part, float) for part in (q, v, tau)), out=DeviceArray((3, 7), float))


def test_the_report_tells_registers(device):
    assert f"{device.name}: " in robot("pa10").compile("forward_dynamics", target="cuda").report()


def test_more_memory_than_there_is_is_refused():
    with pytest.raises(InputError, match="MB are needed: take fewer"):
        DeviceArray((1 << 50,), np.float32)
