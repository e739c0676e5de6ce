"""A chain of 300 equal joints compiles in seconds, because its walk is a loop; and its answers are right."""

from __future__ import annotations

import numpy as np
import pytest

import kumitate as km
from kumitate.compile import host

LINKS = 300
#: Stated requirement for LLVM's time on this chain [s].
AT_MOST = 3.0


@pytest.fixture(scope="module")
def chain() -> km.Robot:
    bodies = tuple(km.Body(f"link{i}", 1.0, (0.0, 0.0, 0.05), (0.01, 0.01, 0.005)) for i in range(LINKS))
    joints = tuple(
        km.Joint(
            f"joint{i}", "revolute", f"link{i - 1}" if i else "world", f"link{i}",
            km.pose((0.0, 0.0, 0.1 if i else 0.0), (0.0, 0.0, 0.5)), axis=(0, 1, 0),
        )
        for i in range(LINKS)
    )  # fmt: skip
    return km.Robot(km.Mechanism("chain", bodies, joints))


@pytest.mark.parametrize("lanes", [1, 8])
@pytest.mark.parametrize("function", ["forward_dynamics", "inverse_dynamics"])
def test_compiles_in_time(chain, function, lanes, tmp_path, monkeypatch):
    monkeypatch.setenv("KUMITATE_CACHE", str(tmp_path))
    code = chain.compile(function).code(lanes)
    assert not code.from_cache
    assert code.seconds < AT_MOST


@pytest.mark.parametrize("states", [1, host().lanes + 1])
def test_forward_and_inverse_dynamics_agree(chain, states):
    rng = np.random.default_rng(12)
    q, v, tau = (rng.normal(size=(states, LINKS)) * scale for scale in (0.3, 0.2, 1.0))
    a = chain.forward_dynamics(q, v, tau)
    bias = chain.bias_forces(q, v)
    # the accelerations of such a chain are large and cancel: what M a + h gives is judged by the size of its parts
    residual = np.abs(chain.inverse_dynamics(q, v, a) - tau).max()
    assert residual < 1e-11 * np.abs(tau - bias).max()
