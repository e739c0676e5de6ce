"""Long lines cut into functions: the same numbers, and a time for LLVM that grows with the number of operations."""

from __future__ import annotations

import numpy as np
import pytest

import kumitate as km
from kumitate.compile import Kernel
from kumitate.compile.llvm import plan as partition
from kumitate.programs import make_program
from kumitate.scalar import Program, call, loop, select, table, trace


@pytest.fixture
def cut(monkeypatch):
    """Sets how long a line may be and how long a part is."""

    def set_lengths(longest: int, part: int) -> None:
        monkeypatch.setattr(partition, "LONGEST_LINE", longest)
        monkeypatch.setattr(partition, "PART", part)
        partition.line_partition.clear()

    yield set_lengths
    partition.line_partition.clear()


def dynamics() -> Program:
    return make_program(km.load("pa10").mechanism, "forward_dynamics")


def everything() -> Program:
    """Loops read later, calls, conditions that cross, an output that is an input."""
    called, values = dynamics(), table([1.0, 2.0, 3.0])

    def page(x):
        last, kept = loop(3, lambda i, c: ((c[0] * x[1] + values[i] * x[0], c[1] * 1.5), c[0] * x[1]), (x[0], x[1]))
        first = x[0] < last[0]
        total, _ = loop(3, lambda i, c: (c + kept[2 - i] * x[1], None), 0.0)
        a = call(called, [x[0]] * 7, [x[1]] * 7, [total] * 7)
        return [last[0], last[1], total, select(first, kept[1], kept[0]), *a, x[0]]

    return trace(page, {"x": 2}, name="everything")


@pytest.mark.parametrize("part", [1, 7, 100])
@pytest.mark.parametrize("n", [1, 19])
def test_parts_give_the_same_numbers(cut, part, n):
    rng = np.random.default_rng(part)
    for program in (dynamics(), everything()):
        given = [rng.normal(size=(n, array.size)) for array in program.inputs]
        whole = Kernel(program)(*given)
        cut(5, part)
        assert np.allclose(Kernel(program)(*given), whole, rtol=1e-13, atol=1e-13)
        cut(20_000, 1000)


def test_slots_are_used_again(cut):
    cut(5, 100)
    plan = partition.line_partition(dynamics())
    assert plan is not None
    assert plan.size < len(plan.slots)
    assert set(plan.slots.values()) == set(range(plan.size))
    assert sum(map(len, plan.parts)) == len(dynamics().line)


def test_short_lines_stay_whole():
    assert partition.line_partition(dynamics()) is None
