"""Every procedure gives equal results in all its forms: as written, as machine code, as checked machine code."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

from kumitate.procedure.side_by_side import loops_side_by_side, statements_in
from kumitate.procedure.tree import Counting

from .pages import CASES, look_alike, side_by_side, vectors, whole_arrays

ROUNDS = 6
IDS = [page.__name__ for page, _ in CASES]


def leaves(value: Any) -> list[Any]:
    """The arrays and numbers in arguments or results."""
    return [leaf for part in value for leaf in leaves(part)] if isinstance(value, tuple) else [value]


def both(page: Any, make: Any, seed: int, run: Any) -> list[tuple[Any, Any]]:
    """Pairs of numbers and arrays after a call as written and one by `run`: the results, and all arguments."""
    given = make(np.random.default_rng(seed))
    other = copy.deepcopy(given)
    expected, found = page.plain(*given), run(*other)
    return list(zip(leaves((expected, given)), leaves((found, other)), strict=True))


def compare(page: Any, found: Any, expected: Any, seed: int) -> None:
    """The same bits, but for `@`, whose products NumPy sums in an order of its own."""
    if page in (vectors, whole_arrays):
        np.testing.assert_allclose(found, expected, rtol=1e-13, atol=1e-13, err_msg=f"seed {seed}")
    else:
        np.testing.assert_array_equal(found, expected, err_msg=f"seed {seed}")


@pytest.mark.parametrize(("page", "make"), CASES, ids=IDS)
def test_machine_code_computes_what_is_written(page, make):
    for seed in range(ROUNDS):
        for expected, found in both(page, make, seed, page):
            if np.asarray(expected).dtype.kind == "f":
                # products and sums fuse: rounding differs in the last places
                np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12, err_msg=f"seed {seed}")
            else:
                np.testing.assert_array_equal(found, expected, err_msg=f"seed {seed}")


@pytest.mark.parametrize(
    ("page", "expected"), [(side_by_side, [False, True, True, True, False, True]), (look_alike, [False] * 10)], ids=str
)
def test_which_loops_are_computed_side_by_side(page, expected):
    """So that what the forms compare is computed in both ways."""
    found = loops_side_by_side(page.typed)
    loops = [statement for statement in statements_in(page.typed.body) if isinstance(statement, Counting)]
    assert [id(loop) in found for loop in loops] == expected


@pytest.mark.parametrize(("page", "make"), CASES, ids=IDS)
def test_checked_code_gives_the_same_bits(page, make):
    for seed in range(ROUNDS):
        for expected, found in both(page, make, seed, lambda *given: page.machine(checked=True).call(given)):
            compare(page, found, expected, seed)
