"""Procedures as WebAssembly, run in Node: the bits of what is written, in all arrays and in what is returned."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

from kumitate.errors import InputError
from kumitate.procedure.exported import Exported

from ..compile.in_node import Instance, run_in_node
from .pages import CASES, chosen_program, real_numbers
from .test_forms import compare, leaves


def instance_of(page: Any, given: Any) -> Instance:
    arrays = [array for array in leaves(given) if isinstance(array, np.ndarray)]
    module = Exported(page, given).module({f"array{k}": array for k, array in enumerate(arrays)})
    instance = Instance(module)
    got = [f"array{k}" for k in range(len(arrays))] + (["result"] if "result" in module.places else [])
    instance.call("run", {}, got)
    return instance


def test_what_is_written_comes_out():
    prepared = []
    for page, make in CASES:
        if page is real_numbers:
            continue  # it calls the tangent and others of C's library
        given = make(np.random.default_rng(1))
        instance = instance_of(page, given)
        own = copy.deepcopy(given)
        result = page.plain(*own)
        changed = [array for array in leaves(own) if isinstance(array, np.ndarray)]
        prepared.append((page, instance, [*changed, *([result] if "result" in instance.module.places else [])]))
    for (page, _, expected), (found,) in zip(prepared, run_in_node([instance for _, instance, _ in prepared]), strict=True):
        for k, (one, other) in enumerate(zip(found, expected, strict=True)):
            whole = np.asarray(other).dtype.kind in "ib"
            if page is chosen_program and not k:  # addresses became places in the table of functions
                other = [2, 1, 2] if other[0] > other[1] else [1, 2, 1]
            compare(page, one.view(np.int64) if whole else one, other, 1)


def test_the_same_code_runs_here():
    prepared = []
    for page, make in CASES:
        if page is real_numbers:
            continue
        given = make(np.random.default_rng(1))
        instance, before = instance_of(page, given), copy.deepcopy(given)
        result = Exported(page, given).run()
        own = [array for array in leaves(given) if isinstance(array, np.ndarray)]
        prepared.append((page, instance, [*own, *([result] if "result" in instance.module.places else [])], before))
    for (page, _, expected, before), (found,) in zip(prepared, run_in_node([one[1] for one in prepared]), strict=True):
        for k, (one, other) in enumerate(zip(found, expected, strict=True)):
            if page is chosen_program and not k:
                np.testing.assert_array_equal(other, before[0])  # addresses are again what they were
                continue
            kind = np.int64 if np.asarray(other).dtype.kind in "ib" else np.float64
            np.testing.assert_array_equal(one.view(kind), np.asarray(other), err_msg=str(page))


def test_what_browsers_do_not_have_is_named():
    given = dict(CASES)[real_numbers](np.random.default_rng(0))
    with pytest.raises(InputError, match=r"calls .*tan.* of C's library"):
        Exported(real_numbers, given).module({})
