"""Flattened sums: every product fuses, signs come out right, and every number of lanes gives the same bits."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import kumitate as km
from kumitate import scalar as s
from kumitate.compile import Kernel
from kumitate.compile.llvm import straight_line as sums
from kumitate.programs import make_program

from .lanes import LANES, run_with_lanes


def instructions(page, size=8, **options):
    """How often each kind of instruction is in the text for one state."""
    text = Kernel(s.trace(lambda x: [page(x)], {"x": size}, "sum"), **options).source("llvm", 1)
    return {
        kind: text.count(f" = {word}")
        for kind, word in (("fma", "call double @llvm.fmuladd"), ("add", "fadd"), ("sub", "fsub"))
    }


def test_all_products_of_a_sum_are_fused():
    assert instructions(lambda x: x[0] + (x[1] * x[2] + x[3] * x[4])) == {"fma": 2, "add": 0, "sub": 0}
    assert instructions(lambda x: (x[0] * x[1] - x[2] * x[3]) - (x[4] * x[5] - x[6])) == {"fma": 3, "add": 0, "sub": 0}


def test_portable_code_rounds_every_operation():
    assert instructions(lambda x: x[0] + (x[1] * x[2] + x[3] * x[4]), portable=True) == {"fma": 0, "add": 2, "sub": 0}


def test_what_others_use_too_is_computed_once():
    def page(x):
        inner = x[1] * x[2] + x[3]
        return (inner + x[0]) * inner

    assert instructions(page) == {"fma": 1, "add": 1, "sub": 0}


def test_far_terms_are_added_where_they_stand():
    def page(x):
        inner, product = x[0] * x[1] + x[2], 1.0
        for k in range(2 * sums.WINDOW):
            product = product * x[k % 8]
        return inner + product

    assert instructions(page) == {"fma": 1, "add": 1, "sub": 0}


@pytest.mark.parametrize("lanes", LANES)
def test_every_pattern_of_signs(lanes):
    """Whole numbers are summed exactly in any order."""

    def pages(x):
        found = []
        for signs in itertools.product((1, -1), repeat=3):
            for kinds in itertools.product((False, True), repeat=4):
                terms = [x[2 * k] * x[2 * k + 1] if product else x[2 * k] for k, product in enumerate(kinds)]
                left = terms[0] + terms[1] if signs[0] > 0 else terms[0] - terms[1]
                right = terms[2] + terms[3] if signs[1] > 0 else terms[2] - terms[3]
                found.append(left + right if signs[2] > 0 else right - left)
        return found

    given = np.random.default_rng(3).integers(-9, 10, (9, 8)).astype(float)
    (found,) = run_with_lanes(Kernel(s.trace(pages, {"x": 8}, "signs")), lanes, given)
    np.testing.assert_array_equal(found, [pages(list(row)) for row in given])


def test_sums_within_loops():
    def page(x):
        def body(i, c):
            return c[0] * x[1] - (x[i] * c[1] - x[2] * x[3]), c[0] * c[1] - x[0] * x[2]

        last, stack = s.loop(6, lambda i, c: (body(i, c), c[0] * x[0] + x[i] * x[i]), (x[0], x[1]))
        return [*last, stack[2] - x[1] * x[2]]

    program = s.trace(page, {"x": 6}, "looped")
    given = np.random.default_rng(4).uniform(-1.0, 1.0, (11, 6))
    found = [run_with_lanes(Kernel(program), lanes, given)[0] for lanes in LANES]
    np.testing.assert_allclose(found[0], [s.evaluate(program, list(row)) for row in given], rtol=1e-13, atol=1e-14)
    assert all(np.array_equal(other, found[0]) for other in found)


@pytest.mark.parametrize("function", ["forward_dynamics", "inverse_dynamics", "mass_matrix"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_state_has_the_same_bits_alone_and_in_a_batch(function, dtype):
    kernel = Kernel(make_program(km.load("pa10").mechanism, function), dtype)
    rng = np.random.default_rng(5)
    given = [rng.normal(size=(kernel.lanes + 5, *array.shape)) for array in kernel.inputs]
    batch = kernel(*given)
    alone = np.array([kernel(*(rows[k] for rows in given)) for k in range(len(batch))])
    np.testing.assert_array_equal(batch, alone)
