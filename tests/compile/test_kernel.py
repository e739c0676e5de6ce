"""Kernels as functions of arrays: batches, existing outputs, and what is refused in which words."""

from __future__ import annotations

import pickle
import sys
import time

import numpy as np
import pytest

from kumitate.compile import Kernel, engine, host
from kumitate.errors import InputError
from kumitate.scalar import sin, trace


def make() -> Kernel:
    """Two inputs, a number, and two outputs."""
    return Kernel(
        trace(
            lambda a, M, t: {"u": [a[0] + t * M[1][0], a[1] * M[0][1], a[2] - M[1][1]], "w": [[sin(a[0])], [t * t]]},
            {"a": 3, "M": (2, 2), "t": ()},
            "example",
        )
    )


def expected(a, M, t):
    return np.stack([a[..., 0] + t * M[..., 1, 0], a[..., 1] * M[..., 0, 1], a[..., 2] - M[..., 1, 1]], axis=-1)


@pytest.fixture(scope="module")
def kernel() -> Kernel:
    return make()


@pytest.fixture
def given():
    rng = np.random.default_rng(7)
    return rng.normal(size=3), rng.normal(size=(2, 2)), 0.5


def test_one_state(kernel, given):
    u, w = kernel(*given)
    assert u.shape == (3,)
    assert w.shape == (2, 1)
    np.testing.assert_allclose(u, expected(*given), rtol=1e-15)
    np.testing.assert_allclose(w, [[np.sin(given[0][0])], [0.25]], rtol=1e-15)


@pytest.mark.parametrize("size", range(21))
def test_batches_of_any_size(kernel, size):
    rng = np.random.default_rng(size)
    a, M, t = rng.normal(size=(size, 3)), rng.normal(size=(size, 2, 2)), rng.normal(size=size)
    u, w = kernel(a, M, t)
    assert u.shape == (size, 3)
    assert w.shape == (size, 2, 1)
    np.testing.assert_allclose(u, expected(a, M, t), rtol=0, atol=1e-14)
    np.testing.assert_allclose(w[:, 1, 0], t**2, rtol=1e-15)


@pytest.mark.parametrize("size", [1, 2 * host().lanes + 1])
def test_quickly_compiled_code_computes_the_same(kernel, size, monkeypatch):
    """By code of its own: of more lines than may all be in memory, it is what every kernel gets."""
    rng, asked = np.random.default_rng(5), []
    given = rng.normal(size=(size, 3)), rng.normal(size=(size, 2, 2)), rng.normal(size=size)
    machine = engine.machine
    monkeypatch.setattr(engine, "machine", lambda target, effort=2: asked.append(effort) or machine(target, effort))
    quick = pickle.loads(pickle.dumps(Kernel(kernel.program, quick=True)))
    for made, plain in zip(quick(*given), kernel(*given), strict=True):
        np.testing.assert_allclose(made, plain, rtol=4e-16, atol=1e-15)  # products and sums are not fused
    monkeypatch.setattr(engine, "_MOST_QUICK", 10)
    again = Kernel(trace(lambda a: {"u": a[0] * rng.normal() + a[1]}, {"a": 2}, "another"), quick=True)
    again(np.ones((size, 2)))
    assert set(asked) == {0, 2}


def test_leading_axes_are_broadcast(kernel):
    rng = np.random.default_rng(8)
    a, M, t = rng.normal(size=(4, 1, 3)), rng.normal(size=(2, 2)), rng.normal(size=(5,))
    u, _ = kernel(a, M, t)
    assert u.shape == (4, 5, 3)
    np.testing.assert_allclose(u, [[expected(row[0], M, number) for number in t] for row in a], rtol=0, atol=1e-14)


def test_a_state_has_the_same_result_alone_and_in_a_batch(kernel):
    rng = np.random.default_rng(9)
    a, M, t = rng.normal(size=(host().lanes + 3, 3)), rng.normal(size=(2, 2)), 0.3
    batch, _ = kernel(a, M, t)
    np.testing.assert_allclose(batch, [kernel(row, M, t)[0] for row in a], rtol=1e-15)


@pytest.mark.parametrize(
    "convert",
    [
        list,
        lambda x: x.astype(np.float32),
        lambda x: np.asfortranarray(np.vstack([x, x]).T)[:, 0],
        lambda x: x[::-1][::-1],
        tuple,
    ],
    ids=["list", "float32", "strided", "negative strides", "tuple"],
)
def test_numbers_in_other_forms_are_converted(kernel, given, convert):
    a, M, t = given
    u, _ = kernel(convert(a), M.tolist(), np.float64(t))
    np.testing.assert_allclose(u, expected(a, M, t), rtol=1e-6, atol=1e-6)
    exact = np.array(convert(a), dtype=float)
    np.testing.assert_allclose(u, expected(exact, M, t), rtol=1e-14, atol=1e-14)


def test_integers_are_numbers(kernel):
    u, _ = kernel([1, 2, 3], np.array([[1, 2], [3, 4]]), 2)
    np.testing.assert_array_equal(u, [7.0, 4.0, -1.0])


def test_read_only_inputs_are_fine_and_not_written(kernel, given):
    a, M, t = given
    a.flags.writeable = False
    before = a.copy()
    kernel(a, M, t)
    np.testing.assert_array_equal(a, before)


def test_nan_passes(kernel, given):
    a, M, t = given
    a[1] = np.nan
    u, _ = kernel(a, M, t)
    assert np.isnan(u[1])
    assert np.isfinite(u[[0, 2]]).all()


# --- into existing arrays ----------------------------------------------------------------------------------------------
@pytest.mark.parametrize("size", [None, 1, 3, host().lanes, 19])
def test_into(kernel, size):
    lead = () if size is None else (size,)
    rng = np.random.default_rng(10)
    a, M, t = rng.normal(size=(*lead, 3)), rng.normal(size=(*lead, 2, 2)), rng.normal(size=lead)
    u, w = np.empty((*lead, 3)), np.empty((*lead, 2, 1))
    assert kernel.into([u, w], a, M, float(t) if size is None else t) is None
    np.testing.assert_allclose(u, expected(a, M, t), rtol=0, atol=1e-14)


@pytest.mark.parametrize("size", [None, 3, 2 * host().lanes + 1])
def test_into_an_input_itself(size):
    turned = Kernel(trace(lambda x: [x[1], x[2], x[0] + x[1]], {"x": 3}, "turned"))
    x = np.random.default_rng(11).normal(size=3 if size is None else (size, 3))
    correct = turned(x.copy())
    turned.into(x, x)
    np.testing.assert_array_equal(x, correct)


@pytest.mark.parametrize("size", [None, 2 * host().lanes + 1])
@pytest.mark.parametrize("count", [3, 8, 20, 100])
def test_into_an_input_of_which_something_is_read_late(count, size):
    """No result is stored while an input is still to be read, in whatever order they are computed."""
    orders = {"forwards": range(count), "backwards": range(count - 1, -1, -1)}
    for name, order in orders.items():

        def page(x, order=order):
            found = {k: sin(x[k]) * x[0] - x[count - 1 - k] for k in order}
            return [found[k] for k in range(count)]

        kernel = Kernel(trace(page, {"x": count}, name))
        x = np.random.default_rng(12).normal(size=count if size is None else (size, count))
        correct = kernel(x.copy())
        kernel.into(x, x)
        np.testing.assert_array_equal(x, correct)


def test_results_are_stored_where_they_are_computed():
    """Once no input is left to read: nine of ten are stored before the last product."""

    def page(x):
        powers = [x[0] * x[1]]
        for _ in range(9):
            powers.append(powers[-1] * powers[0])
        return powers

    for lanes, stored in ((1, 9), (8, 8 + 8)):  # of eight lanes, a stretch of eight results, then the ninth lane by lane
        lines = Kernel(trace(page, {"x": 2}, "powers")).source("llvm", lanes).splitlines()
        last = max(k for k, line in enumerate(lines) if " = fmul " in line)
        assert sum("store" in line for line in lines[:last]) == stored


def test_into_overlapping_rows():
    # states of a batch that overlap with results of others must be read before they are written
    turned = Kernel(trace(lambda x: [2.0 * x[0], x[1] + 1.0], {"x": 2}, "shifted"))
    memory = np.arange(2.0 * (3 * host().lanes + 2))
    x, out = memory[:-2].reshape(-1, 2), memory[2:].reshape(-1, 2)
    correct = turned(x.copy())
    turned.into(out, x)
    np.testing.assert_array_equal(out, correct)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (np.empty(4), r"has shape \(4,\)"),
        (np.empty((1, 3)), r"has shape \(1, 3\)"),
        (np.empty(3, dtype=np.float32), "dtype float32"),
        (np.empty(6)[::2], "C-contiguous"),
        (np.empty(3, dtype=complex), "dtype complex128"),
    ],
)
def test_into_refuses_what_it_cannot_write(wrong, words):
    kernel = Kernel(trace(lambda x: [x[0], x[1], x[2]], {"x": 3}, "copied"))
    with pytest.raises(InputError, match=words) as caught:
        kernel.into(wrong, np.zeros(3))
    assert "copied: the array for 'result'" in str(caught.value)


def test_into_refuses_read_only_arrays():
    kernel = Kernel(trace(lambda x: [x[0] + 1.0], {"x": 1}, "next"))
    out = np.zeros(1)
    out.flags.writeable = False
    with pytest.raises(InputError, match="writable"):
        kernel.into(out, np.zeros(1))
    assert out[0] == 0.0


@pytest.mark.parametrize(
    "wrong",
    [None, "ab", 0.0, [], [np.empty(3)], [np.empty(3), [[0.0], [0.0]]], [np.empty(3), np.ma.zeros((2, 1))], np.empty(3)],
)
def test_into_anything_but_the_right_number_of_arrays(kernel, given, wrong):
    with pytest.raises(InputError, match=r"example: into writes to 2 NumPy arrays \(u, w\), got "):
        kernel.into(wrong, *given)


@pytest.mark.parametrize("wrong", [None, "a", [0.0] * 3, [np.empty(3)] * 2, np.ma.zeros(3)])
def test_into_anything_but_one_array(wrong):
    kernel = Kernel(trace(lambda x: [x[0], x[1], x[2]], {"x": 3}, "copied"))
    for _ in range(2):  # by way of Python, and by the compiled call
        with pytest.raises(InputError, match=r"copied: into writes to 1 NumPy arrays \(result\), got "):
            kernel.into(wrong, np.zeros(3))
        kernel.prepare()


# --- what is refused --------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("arrays", "words"),
    [
        (
            (np.zeros(4), np.zeros((2, 2)), 0.0),
            r"example: a has shape \(4,\); it must be \(3,\) for one state, or \(\.\.\., 3\)",
        ),
        ((np.zeros(3), np.zeros((2, 3)), 0.0), r"M has shape \(2, 3\); it must be \(2, 2\) for one state, or \(\.\.\., 2, 2\)"),
        ((np.zeros(()), np.zeros((2, 2)), 0.0), r"a has shape \(\)"),
        ((np.zeros((2, 3)), np.zeros((3, 2, 2)), 0.0), "the leading axes do not fit together"),
        ((np.zeros(3), np.zeros((2, 2))), r"example takes 3 arrays \(a, M, t\), got 2"),
        ((np.zeros(3), np.zeros((2, 2)), 0.0, 0.0), "got 4"),
        ((np.array(["a", "b", "c"]), np.zeros((2, 2)), 0.0), "must hold real numbers"),
        ((np.zeros(3, dtype=complex), np.zeros((2, 2)), 0.0), "a has dtype complex128; it must hold real numbers"),
        ((np.zeros(3), np.zeros((2, 2)), None), "t has dtype object"),
        ((np.zeros(3, "M8[s]"), np.zeros((2, 2)), 0.0), r"a has dtype datetime64\[s\]; it must hold real numbers"),
        ((np.zeros(3), np.zeros((2, 2)), np.timedelta64(1, "s")), r"t has dtype timedelta64\[s\]"),
        ((np.zeros(3), np.ma.array(np.zeros((2, 2)), mask=True), 0.0), "M is a masked array"),
    ],
)
def test_wrong_inputs_are_refused(kernel, arrays, words):
    kernel.prepare()
    with pytest.raises(InputError, match=words):
        kernel(*arrays)


def test_unknown_source_form(kernel):
    with pytest.raises(InputError, match="the forms are program, llvm"):
        kernel.source("fortran")
    assert "define void @kernel" in kernel.source("llvm")
    assert kernel.source().startswith("program example(")


# --- calls without Python on the way ----------------------------------------------------------------------------------
def test_calls_leak_nothing(kernel, given):
    a, M, _ = given
    out = [np.empty(3), np.empty((2, 1))]
    number = 12345.678
    watched = [a, M, number, *out, None, NotImplemented]
    short, wrong = np.zeros(2), np.zeros(3, dtype=np.float32)
    watched += [short, wrong]

    def refused(*arrays):
        try:
            kernel.into(out, *arrays)
        except InputError:
            return
        raise AssertionError("this should have been refused")

    for call in (
        lambda: kernel.into(out, a, M, number),
        lambda: kernel(a, M, number),
        lambda: kernel.into(out, wrong, M, number),  # the slow path
        lambda: refused(short, M, number),
        lambda: refused(a, M),
        lambda: refused(a, M, "no number"),
    ):
        call()
        before = [sys.getrefcount(item) for item in watched]
        for _ in range(10_000):
            call()
        after = [sys.getrefcount(item) for item in watched]
        # immortal objects report a constant; a leak would add ten thousand
        assert all(abs(y - x) < 100 for x, y in zip(before, after, strict=True)), (before, after)
    # buffers are released: an array that is still exported cannot be resized
    for array in (a, out[0]):
        array.resize(array.size + 1, refcheck=False)


def test_kernels_can_be_called_from_threads(kernel, given, monkeypatch):
    """Those that call one at once compile it once."""
    from concurrent.futures import ThreadPoolExecutor

    from kumitate.compile import pipeline

    correct, _ = kernel(*given)
    made, compiled = [], pipeline.compiled
    monkeypatch.setattr(pipeline, "compiled", lambda *given: made.append(time.sleep(0.1)) or compiled(*given))
    with ThreadPoolExecutor(4) as pool:
        fresh = Kernel(kernel.program)
        assert all(np.array_equal(u, correct) for u, _ in pool.map(lambda _: fresh(*given), range(4)))
        assert len(made) == 1
        for u, _ in pool.map(lambda _: kernel(*given), range(400)):
            np.testing.assert_array_equal(u, correct)


@pytest.mark.parametrize("rows", [1, 3, 9])
def test_sparse_results_have_their_zeros(rows):
    """Three thousand numbers, most of them zero, which loops fill in, also over what stood there."""

    def sparse(x):
        found = [0.0] * 3000
        for k in (0, 1, 40, 700, 701, 1500, 2999):
            found[k] = x[0] + k
        return {"few": found, "twice": [2.0 * x[0]]}

    kernel = Kernel(trace(sparse, {"x": 1}, "sparse"))
    x = np.arange(1.0, rows + 1.0)[:, None]
    few, twice = np.full((rows, 3000), np.nan), np.empty((rows, 1))
    kernel.into([few, twice], x)
    np.testing.assert_array_equal(few, [sparse(row)["few"] for row in x.tolist()])
    np.testing.assert_array_equal(twice, 2.0 * x)


def test_memory_of_large_results_is_used_again_once_nothing_refers_to_it():
    """And not before: not while a part of them is kept."""
    kernel = Kernel(trace(lambda x: [2.0 * part for part in x], {"x": 8}, "doubled"))
    ones = np.ones((20_000, 8))
    first = kernel(ones)
    place, part = first.ctypes.data, first[5]
    del first
    assert not np.may_share_memory(kernel(3.0 * ones), part)
    assert (part == 2.0).all()
    del part
    assert kernel(ones).ctypes.data == place
