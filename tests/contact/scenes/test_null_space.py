"""The projector onto the vectors that a matrix makes zero, against NumPy's singular value decomposition."""

from __future__ import annotations

import numpy as np
import pytest

from kumitate.contact.scenes.robots.loops import make_orthonormal


def in_sixes(G: np.ndarray) -> np.ndarray:
    """A matrix whose rows are filled up to rows of six."""
    count, n = G.shape
    rows = np.zeros((count, -(-n // 6) * 6))
    rows[:, :n] = G
    return rows.reshape(-1, 6)


def projector(G: np.ndarray, call=make_orthonormal) -> tuple[np.ndarray, int]:
    """P of velocities filled up to whole rows of six, and the rank of G."""
    rows, b = in_sixes(G), G @ np.arange(1.0, G.shape[1] + 1.0)
    given, rank = b.copy(), call(rows, len(G), -(-G.shape[1] // 6), b)
    basis = rows.reshape(len(G), -1)[:rank]
    part = b[:rank] @ basis[:, : G.shape[1]]
    assert not rank or np.abs(G @ part - given).max() < 1e-8 * np.abs(given).max()  # G⁺ b is what G makes b of
    return np.eye(basis.shape[1]) - basis.T @ basis, rank


def by_numpy(G: np.ndarray) -> np.ndarray:
    """1 − G⁺ G."""
    filled = in_sixes(G).reshape(len(G), -1)
    return np.eye(filled.shape[1]) - np.linalg.pinv(filled, rcond=1e-9) @ filled


def deficient(seed: int) -> tuple[np.ndarray, int]:
    """A random matrix with dependent rows, of different lengths and in any order."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 26))
    rank = int(rng.integers(1, min(n, 14)))
    count = rank + int(rng.integers(0, 9))
    rows = rng.normal(size=(count, rank)) @ rng.normal(size=(rank, n))
    return rows * 10.0 ** rng.uniform(-2.0, 2.0, (count, 1)), rank


@pytest.mark.parametrize("seed", range(20))
def test_it_is_that_of_a_singular_value_decomposition(seed):
    G, rank = deficient(seed)
    P, found = projector(G)
    assert found == rank, seed
    assert np.abs(P - by_numpy(G)).max() < 1e-10, seed
    assert np.abs(P @ P - P).max() < 1e-14, seed
    assert np.abs(G @ P[: G.shape[1]]).max() < 1e-12 * np.abs(G).max(), seed


@pytest.mark.parametrize("seed", range(3))
def test_it_does_not_depend_on_the_order_and_the_lengths_of_rows(seed):
    rng = np.random.default_rng(seed)
    G, _ = deficient(seed)
    other = rng.permutation(G * 10.0 ** rng.uniform(-2.0, 2.0, (len(G), 1)))
    assert np.abs(projector(G)[0] - projector(other)[0]).max() < 1e-9, seed


def test_rows_that_depend_on_others_but_for_rounding_are_left_out():
    rng = np.random.default_rng(5)
    rows = rng.normal(size=(4, 9))
    G = np.vstack([rows, rng.normal(size=(3, 4)) @ rows + 1e-12 * rng.normal(size=(3, 9))])
    P, rank = projector(G)
    assert rank == 4
    assert np.abs(P - projector(rows)[0]).max() < 1e-11


def test_nothing_is_left_of_vectors_that_rows_span_and_all_of_them_without_rows():
    P, rank = projector(np.vstack([np.eye(6), np.ones((2, 6))]))
    assert rank == 6
    assert np.abs(P).max() < 1e-15
    for nothing in (np.zeros((2, 9)), np.full((2, 9), np.nan)):
        P, rank = projector(nothing)
        assert rank == 0
        assert np.array_equal(P, np.eye(12))


def test_machine_code_and_python_agree():
    G, _ = deficient(7)
    assert np.abs(projector(G)[0] - projector(G, make_orthonormal.plain)[0]).max() < 1e-12
