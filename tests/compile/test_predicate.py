"""Compiled questions: True, False, or no answer for arguments that they are not for."""

from __future__ import annotations

import numpy as np
import pytest

from kumitate.compile.kernel import predicate
from kumitate.scalar import both, select, trace


@pytest.fixture(scope="module")
def within():
    """Whether both elements of x lie below the number `limit`."""

    def page(x, limit):
        return [select(both(x[0] < limit, x[1] < limit), 1.0, 0.0)]

    return predicate(trace(page, {"x": 2, "limit": ()}, "within"))


def test_it_answers_true_or_false(within):
    assert within(np.array([1.0, 2.0]), 3.0) is True
    assert within(np.array([1.0, 3.0]), 3.0) is False


def test_nan_lies_nowhere(within):
    assert within(np.array([np.nan, 2.0]), 3.0) is False
    assert within(np.array([1.0, 2.0]), np.nan) is False


@pytest.mark.parametrize(
    "x", [[1.0, 2.0], np.zeros(3), np.zeros((2, 2)), np.zeros(2, np.float32), np.zeros(4)[::2], "ab", None]
)
def test_other_arguments_have_no_answer(within, x):
    assert within(x, 3.0) is NotImplemented


def test_nor_has_another_number_of_them(within):
    assert within(np.zeros(2)) is NotImplemented
    assert within() is NotImplemented
