"""Every procedure gives equal results in all its forms: as written, as machine code, as checked machine code."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

from .pages import CASES

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


@pytest.mark.parametrize(("page", "make"), CASES, ids=IDS)
def test_machine_code_computes_what_is_written(page, make):
    for seed in range(ROUNDS):
        for expected, found in both(page, make, seed, page):
            if np.asarray(expected).dtype.kind == "f":
                # products and sums fuse: rounding differs in the last places
                np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12, err_msg=f"seed {seed}")
            else:
                np.testing.assert_array_equal(found, expected, err_msg=f"seed {seed}")


@pytest.mark.parametrize(("page", "make"), CASES, ids=IDS)
def test_checked_code_gives_the_same_bits(page, make):
    for seed in range(ROUNDS):
        for expected, found in both(page, make, seed, lambda *given: page.machine(checked=True).call(given)):
            np.testing.assert_array_equal(found, expected, err_msg=f"seed {seed}")
