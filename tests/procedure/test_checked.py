"""Checked code says at which line an index, a slice, a divisor, a shift or a list of rows was wrong."""

from __future__ import annotations

import inspect
from typing import NamedTuple

import numpy as np
import pytest

from kumitate import scalar
from kumitate.procedure import Floats, Ints, Shaped, at, over, procedure

SUMS = scalar.trace(lambda x: [x[0] + x[1], x[0]], {"x": 2}, "sums")


class Rows(NamedTuple):
    x: Floats[3]
    index: Ints


@procedure
def element(x: Floats, k: int) -> float:
    return x[k]


@procedure
def column(rows: Rows, k: int) -> float:
    total = 0.0
    for i in range(len(rows.index)):
        total += rows.x[rows.index[i], k]
    return total


@procedure
def written(x: Floats[3], k: int) -> None:
    x[k, 0] = 1.0


@procedure
def added(x: Floats[3], k: int) -> None:
    x[k, 0] += 1.0


@procedure
def row(x: Floats[3], k: int) -> None:
    one = x[k]
    one[0] = 1.0


@procedure
def deeper(x: Floats, k: int) -> float:
    """The fault is in the procedure that it calls; nothing after it is run."""
    found = element(x, k)
    x[0] = 7.0
    return found


@procedure
def sliced(x: Floats, a: int, b: int) -> int:
    return len(x[a:b])


@procedure
def divided(a: int, b: int) -> int:
    return a // b + a % b


@procedure
def moved(a: int, b: int) -> int:
    return (a << b) + (a >> b)


@procedure
def listed(x: Floats[2], out: Floats[2], k: Ints, count: int) -> None:
    over(SUMS, count, at(x, k), out)


@procedure
def doubled(x: Shaped[3], out: Shaped[3]) -> None:
    for k in range(3):
        out[k] = 2.0 * x[k]


@procedure
def rows_doubled(x: Floats[3], a: int, b: int) -> None:
    doubled(x[a], x[b])


@procedure
def small(x: Shaped[3], k: int) -> float:
    return x[k]


X = np.arange(4.0)
R = np.zeros((4, 3))
T, U = np.zeros((4, 2)), np.zeros((4, 2))
K = np.array([3, 0])
#: A procedure, arguments that it takes, one of them wrong, the expression, and the end of the message.
CASES = [
    (element, (X, 3), (X, 4), "x[k]", "index 4 of an axis of 4 elements; indices are from 0 on, and below that"),
    (element, (X, 0), (X, -1), "x[k]", "index -1 of an axis of 4 elements"),
    (column, (Rows(R, K), 2), (Rows(R, np.array([0, 4])), 2), "rows.x[rows.index[i], k]", "index 4 of an axis of 4"),
    (column, (Rows(R, K), 0), (Rows(R, K), 3), "rows.x[rows.index[i], k]", "index 3 of an axis of 3"),
    (written, (R, 3), (R, 4), "x[k, 0]", "index 4 of an axis of 4"),
    (added, (R, 3), (R, 4), "x[k, 0]", "index 4 of an axis of 4"),
    (row, (R, 3), (R, 5), "x[k]", "index 5 of an axis of 4"),
    (deeper, (X.copy(), 3), (X, 9), "x[k]", "index 9 of an axis of 4"),
    (sliced, (X, 1, 4), (X, 1, 5), "x[a:b]", "from 1 to 5"),
    (sliced, (X, 2, 2), (X, 3, 2), "x[a:b]", "from 3 to 2"),
    (sliced, (X, 0, 2), (X, -1, 2), "x[a:b]", "from -1 to 2"),
    (divided, (7, -1), (7, 0), "a // b", "divides 7 by 0"),
    (moved, (7, 63), (7, 64), "a << b", "shifts 7 by 64"),
    (moved, (7, 0), (7, -1), "a << b", "shifts 7 by -1"),
    (listed, (T, U, K, 2), (T, U, np.array([3, 4]), 2), "over(SUMS, count, at(x, k), out)", "index 4 of an axis of 4"),
    (listed, (T, U, K, 2), (T, U, K, 3), "over(SUMS, count, at(x, k), out)", "3 evaluations on a list of 2"),
    (rows_doubled, (R, 1, 2), (R, 1, 1), "doubled(x[a], x[b])", "doubled writes to out, and x and out overlap"),
    (small, (X[:3], 2), (X[:3], 3), "x[k]", "index 3 of an axis of 3"),
]  # fmt: skip


@pytest.mark.parametrize(("page", "right", "wrong", "shown", "words"), CASES, ids=[f"{k}: {c[4]}" for k, c in enumerate(CASES)])
def test_a_wrong_index_is_named_by_its_line(page, right, wrong, shown, words):
    checked = page.machine(checked=True)
    checked.call(right)
    before = [value.copy() for value in wrong if isinstance(value, np.ndarray)]
    with pytest.raises(IndexError) as caught:
        checked.call(wrong)
    message = str(caught.value)
    where = element if page is deeper else page
    lines, first = inspect.getsourcelines(where.__wrapped__)
    numbers = [first + k for k, line in enumerate(lines) if shown in line]
    assert any(message.startswith(f"{__file__}:{number}: `{shown}`: ") for number in numbers), message
    assert words in message
    for value, old in zip([value for value in wrong if isinstance(value, np.ndarray)], before, strict=True):
        np.testing.assert_array_equal(value, old)  # nothing was written after the fault
    checked.call(right)


def test_the_environment_asks_for_checks(monkeypatch):
    monkeypatch.setenv("KUMITATE_DEBUG", "1")
    fresh = procedure(element.__wrapped__)
    assert fresh(X, 2) == 2.0
    with pytest.raises(IndexError, match="index 4 of an axis of 4"):
        fresh(X, 4)


def test_a_division_by_zero_does_not_stop_the_process():
    """Unchecked, it gives 0, as NumPy's integers do; the processor itself would stop."""
    assert divided(7, 0) == 0
    assert divided(-(2**63), -1) == -(2**63)  # wraps around, as NumPy's integers do
