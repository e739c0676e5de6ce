"""M⁻¹ times many columns: in loops over them, against the straight line and linear algebra."""

from __future__ import annotations

import numpy as np
import pytest

import kumitate as km
from kumitate.compile import Kernel
from kumitate.dynamics import Acting
from kumitate.dynamics.derivatives import aba_derivatives, factors
from kumitate.dynamics.derivatives.factors import column_groups, inverse_factors, solve_in_loops
from kumitate.scalar import evaluate, trace

from ..compile.lanes import LANES, run_with_lanes

#: Two branches of three and two rows behind a trunk of two.
REACHED = [[0], [0, 1], [0, 1, 2], [0, 1, 2, 3], [0, 1, 2, 3, 4], [0, 1, 5], [0, 1, 5, 6]]


def sparse(rng: np.random.Generator, width: int) -> tuple[np.ndarray, np.ndarray]:
    """A positive definite matrix with the zeros of the tree, and columns of which each acts along one branch."""
    n = len(REACHED)
    lower = 2.0 * np.eye(n) + np.array([[0.4 * rng.normal() if j in row else 0.0 for j in range(n)] for row in REACHED])
    right = np.zeros((n, width))
    for k in range(width):
        row = REACHED[(4, 6, 1)[k % 3]]
        right[row, k] = rng.normal(size=len(row))
    return lower.T @ lower, right


@pytest.mark.parametrize("width", [7, 24, 30, 61])
def test_columns_in_loops(width):
    M, right = sparse(np.random.default_rng(width), width)
    of_M = inverse_factors(M.tolist())

    def page(_):
        return solve_in_loops(of_M.rows, of_M.inverse, right.tolist())

    program = trace(page, {"unused": 1}, "columns")
    expected = np.linalg.solve(M, right)
    np.testing.assert_allclose(np.reshape(evaluate(program, [0.0]), expected.shape), expected, rtol=0, atol=1e-12)
    for lanes in LANES:
        (found,) = run_with_lanes(Kernel(program), lanes, np.zeros((8, 1)))
        np.testing.assert_allclose(found[3], expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("width", [1, 8, 24, 61])
def test_groups_of_columns(width):
    """Every column that is not zero is in one group, with the rows of its entries; groups have more than eight columns."""
    _, right = sparse(np.random.default_rng(width), width)
    right[:, 0] = 0.0
    groups = column_groups(right.tolist(), REACHED)
    assert sorted(j for group in groups for j in group.columns) == list(range(1, width))
    for group in groups:
        assert {i for j in group.columns for i in np.flatnonzero(right[:, j])} <= set(group.rows)
        assert len(groups) == 1 or len(group.columns) > 8


@pytest.mark.parametrize("name", ["pa10", "planar_tree"])
def test_derivatives_with_columns_in_loops(name, monkeypatch):
    """Forward dynamics with its derivatives, all of whose columns are solved for in loops, is what it is without."""
    m, rng = km.load(name).mechanism, np.random.default_rng(3)
    given = [np.tile(x, (8, 1)) for x in (rng.normal(size=m.nq), *rng.normal(size=(2, m.nv)))]
    straight = km.Robot(m).derivatives(*(x[0] for x in given))

    def page(q, v, tau):
        return aba_derivatives(m.base_parameter_tree, q, v, tau, Acting(m.gravity))._asdict()

    monkeypatch.setattr(factors, "_LONGEST", 0)
    program = trace(page, {"q": m.nq, "v": m.nv, "tau": m.nv}, "looped")
    assert [callee.name for callee in program.callees] == ["solve_columns"]
    for lanes in (1, 8):
        for found, expected in zip(run_with_lanes(Kernel(program), lanes, *given), straight, strict=True):
            np.testing.assert_allclose(found[5], expected, rtol=0, atol=1e-11 * max(1.0, np.abs(expected).max()))
