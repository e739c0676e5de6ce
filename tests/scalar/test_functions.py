"""What functions say of a scalar that is known, and of one that is not."""

import numpy as np
import pytest

from kumitate.analysis import zero_moment_point
from kumitate.scalar import TraceError, floats, is_zero, trace


@pytest.mark.parametrize(("value", "known"), [(0.0, True), (-0.0, True), (0, True), (np.float64(0.0), True), (5e-324, False)])
def test_numbers_are_zero_or_not(value, known):
    assert is_zero(value) is known


def test_pages_over_arrays_take_no_shortcut():
    """They compute many states at once, of which some may be zero."""
    assert is_zero(np.zeros(2)) is False  # type: ignore[arg-type]
    p = zero_moment_point([np.zeros(2), np.array([-1.0, -2.0]), *np.zeros((3, 2)), np.array([5.0, 10.0])])
    np.testing.assert_allclose(p[0], [0.2, 0.2])


def test_a_symbol_is_not_known_to_be_zero_unless_it_cancels():
    found = []

    def page(x):
        found.extend([is_zero(x[0]), is_zero(x[0] - x[0]), is_zero(0.0 * x[0])])
        return [x[0]]

    trace(page, {"x": 1}, "page")
    assert found == [False, True, True]


def test_numbers_of_a_model_are_floats_and_symbols_are_refused():
    assert floats(np.array([1, 2])) == [1.0, 2.0]
    assert all(type(x) is float for x in floats((1, np.float64(2.0))))
    with pytest.raises(TraceError, match="cannot be converted to a float"):
        trace(lambda x: floats([x[0]]), {"x": 1}, "page")
