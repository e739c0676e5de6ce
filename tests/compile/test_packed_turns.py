"""Sines of several angles in one vector, for one state: the same bits as one by one, whatever is added to the angles."""

from __future__ import annotations

import numpy as np
import pytest

from kumitate import scalar as s
from kumitate.compile import Kernel
from kumitate.compile.llvm import plan as partition
from kumitate.compile.llvm.straight_line import packed_angles

from .lanes import LANES, run_with_lanes

OFFSETS = (0.0, 0.3, -1.5, 0.0, 2.0, 0.0, -0.25, 3.0, 0.5)


def angles(x, count):
    """Inputs, inputs plus and minus numbers, numbers minus inputs, and one angle that is neither."""
    listed = [x[k] + OFFSETS[k] if k % 3 else OFFSETS[k] - x[k] for k in range(count)]
    return [*listed, x[0] * x[1]]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("count", range(1, 10))
def test_the_same_bits_for_one_state_and_for_several(count, dtype):
    def page(x):
        return [value for angle in angles(x, count) for value in (s.sin(angle), s.cos(angle) * x[2])]

    kernel = Kernel(s.trace(page, {"x": 9}, "turns"), dtype)
    given = np.random.default_rng(count).uniform(-20.0, 20.0, (2 * kernel.lanes + 1, 9)).astype(dtype)
    batch = kernel(given)
    np.testing.assert_array_equal(batch, [kernel(row) for row in given])
    expected = [page(list(map(float, row))) for row in given]
    # the product of two inputs, up to 400, is rounded before its cosine is multiplied by up to 20
    np.testing.assert_allclose(batch, expected, rtol=0, atol=20 * 400 * np.finfo(dtype).eps)


def test_angles_that_are_known_at_once_are_grouped():
    def grouped(page):
        return [len(group) for group in packed_angles(s.trace(page, {"x": 9}).line)]

    assert grouped(lambda x: [s.sin(angle) for angle in angles(x, 9)]) == [4, 4]  # the ninth goes alone
    assert grouped(lambda x: [s.sin(angle) for angle in angles(x, 6)]) == [4, 2]
    assert grouped(lambda x: [s.sin(x[0]) + s.cos(x[0])]) == []
    assert grouped(lambda x: [s.sin(x[0] * x[1]), s.cos(x[2] + x[3])]) == []


@pytest.mark.parametrize("lanes", LANES)
def test_in_the_parts_of_a_long_line(lanes, monkeypatch):
    def page(x):
        total, found = x[0], []
        for k in range(9):
            total = total * s.sin(x[k] + 0.1) + s.cos(x[8 - k])
            found.append(total)
        return found

    program = s.trace(page, {"x": 9}, "long")
    given = np.random.default_rng(1).uniform(-3.0, 3.0, (8, 9))
    (whole,) = run_with_lanes(Kernel(program), lanes, given)
    monkeypatch.setattr(partition, "LONGEST_LINE", 20)
    monkeypatch.setattr(partition, "PART", 20)
    partition.line_partition.clear()
    (parts,) = run_with_lanes(Kernel(s.trace(page, {"x": 9}, "cut")), lanes, given)
    partition.line_partition.clear()
    np.testing.assert_allclose(parts, whole, rtol=1e-14)
    np.testing.assert_allclose(whole, [page(list(row)) for row in given], rtol=1e-13, atol=1e-14)
