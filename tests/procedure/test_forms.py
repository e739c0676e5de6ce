"""Every procedure gives equal results in all its forms: as written, as machine code, as checked machine code, as C."""

from __future__ import annotations

import copy
import ctypes
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kumitate.procedure.c_form import CText
from kumitate.procedure.called import Procedure
from kumitate.procedure.llvm_form import loops_side_by_side, statements_in
from kumitate.procedure.tree import Counting

from ..tools import GCC
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


@pytest.fixture(scope="module")
def compiled(tmp_path_factory) -> Callable[[Procedure], Callable[..., None]]:
    folder: Path = tmp_path_factory.mktemp("c")

    def compile_it(page: Procedure) -> Callable[..., None]:
        form, name = CText(page.typed), page.__name__
        files = [folder / f"{name}.c", *(folder / f"{name}_{k}.c" for k in range(len(form.programs)))]
        for file, text in zip(files, [form.text, *form.programs.values()], strict=True):
            file.write_text(text)
        library = folder / f"{name}.so"
        flags = ["-std=gnu99", "-O1", "-Wall", "-Wextra", "-ffp-contract=off", "-fwrapv", "-shared", "-fPIC"]
        subprocess.run([GCC.needed(), *flags, *map(str, files), "-o", str(library), "-lm"], check=True)
        function: Callable[..., None] = getattr(ctypes.CDLL(str(library)), name)
        return function

    return compile_it


def c_arguments(kind: Any, value: Any) -> list[Any]:
    """The leaves of an argument for C."""
    if isinstance(value, tuple):
        return [leaf for part, one in zip(kind.parts, value, strict=True) for leaf in c_arguments(part, one)]
    if isinstance(value, np.ndarray):
        address = ctypes.c_void_p(value.ctypes.data)
        return [address] if kind.is_fixed else [address, ctypes.c_longlong(len(value))]
    return [{"float": ctypes.c_double, "int": ctypes.c_longlong, "bool": ctypes.c_int}[kind.name](value)]


@pytest.mark.parametrize(("page", "make"), CASES, ids=IDS)
def test_c_gives_the_same_bits(page, make, compiled):
    function = compiled(page)
    kinds = [kind for _, kind in page.typed.parameters]
    types = {"float": ctypes.c_double, "int": ctypes.c_longlong, "bool": ctypes.c_int}

    def run(*given: Any) -> Any:
        results = [types[leaf]() for leaf in page.typed.result.leaves]
        leaves_given = [leaf for kind, one in zip(kinds, given, strict=True) for leaf in c_arguments(kind, one)]
        function(*leaves_given, *map(ctypes.byref, results))
        values = [one.value for one in results]
        return None if not values else values[0] if len(values) == 1 else tuple(values)

    for seed in range(ROUNDS):
        for expected, found in both(page, make, seed, run):
            compare(page, found, expected, seed)
