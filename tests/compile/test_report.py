"""The report of a kernel says what was compiled, and how fast it is."""

from __future__ import annotations

import numpy as np
import pytest

import kumitate as km
from kumitate import scalar
from kumitate.compile import Kernel
from kumitate.scalar import trace


def swing(q, h):
    return [q[0] + h * scalar.sin(q[1]), q[1] * q[0]]


def crowded(x):
    """More values alive at a time than a processor has registers."""
    sines = [scalar.sin(x[0] * (1.0 + k)) for k in range(50)]
    return [sum((a * b for a, b in zip(sines, sines[::-1], strict=True)), 0.0), sum((a * a for a in sines), 0.0)]


def kernel() -> Kernel:
    return Kernel(trace(swing, {"q": 2, "h": ()}, "swing"))


def test_it_reports_operations_and_each_width(tmp_path, monkeypatch):
    monkeypatch.setenv("KUMITATE_CACHE", str(tmp_path))
    first = kernel().report()
    assert first.operations == {"mul": 2, "sin": 1, "add": 1}
    one, many = first.widths
    assert (one.lanes, many.lanes) == (1, kernel().lanes)
    assert many.instructions > one.instructions > 4
    assert one.bytes > 0
    assert not one.from_cache
    assert str(first).splitlines()[0] == "swing: 4 operations (2 mul, 1 sin, 1 add)"
    assert all(width.from_cache for width in kernel().report().widths)


def test_only_compiled_widths_are_reported():
    chosen = kernel()
    chosen.code(2)
    assert [width.lanes for width in chosen.report().widths] == [2]


def test_traffic_with_the_stack_is_counted():
    few, many = (Kernel(trace(f, {"x": 9}, "x")).report().widths[0] for f in (lambda x: [x[0] * x[1]], crowded))
    assert few.stores == few.loads == 0
    assert min(many.stores, many.loads) > 10


def test_it_says_which_algorithm_was_chosen():
    small, large = (km.load(name).compile("forward_dynamics") for name in ("planar_3r", "hoap1"))
    counts = {name: km.load("planar_3r").compile("forward_dynamics", method=name).operations for name in ("aba", "crba")}
    assert small.operations == min(counts.values()) == counts["crba"]
    remark = f"method 'crba': {counts['crba']} operations; 'aba' would take {counts['aba']}"
    assert small.report().remark == remark
    assert str(small.report()).splitlines()[1] == remark
    assert large.report().remark == ""
    assert "\n\n" not in str(large.report())


@pytest.mark.parametrize("name", ["double_pendulum", "planar_tree_5", "pa10"])
def test_the_chosen_algorithm_computes_what_articulated_bodies_do(name):
    robot, rng = km.load(name), np.random.default_rng(6)
    q, v = robot.random_state(rng)
    tau = rng.normal(size=robot.nv)
    found, wanted = robot.forward_dynamics(q, v, tau), robot.forward_dynamics(q, v, tau, method="aba")
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-12 * np.abs(wanted).max())
    assert robot.compile("forward_dynamics").operations <= robot.compile("forward_dynamics", method="aba").operations
