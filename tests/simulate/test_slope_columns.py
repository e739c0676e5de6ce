"""The columns of a step's derivatives, from the linear system of all directions."""

from __future__ import annotations

from typing import Any

import numpy as np

from kumitate.compile import Kernel
from kumitate.scalar import trace
from kumitate.slopes.touching import StepEnd, TwoRounds, step_columns
from kumitate.spatial import Dense

N, LIMB, H = 18, 9, 1e-3


def test_columns_are_those_of_the_whole_system_where_limbs_are_coupled_by_feedback():
    """Two limbs whose inertia does not couple them, and a controller of one that reads the coordinates of the other."""
    random = np.random.default_rng(3)
    blocks = [[i // LIMB == k // LIMB for k in range(N)] for i in range(N)]
    M = np.where(blocks, random.normal(size=(N, N)) + 20.0 * np.eye(N), 0.0)
    E, over = (np.where(blocks, random.normal(size=(N, N)), 0.0) for _ in range(2))
    by_q, by_v = random.normal(size=(2, N, N))

    def page(M: Any, E: Any, by_q: Any, by_v: Any, over: Any) -> dict[str, Any]:
        sparse = [{i: {k: row[k] for k in range(N) if blocks[i][k]} for i, row in enumerate(rows)} for rows in (M, E)]
        unit = Dense.unit(N)
        return dict(zip("AB", step_columns(TwoRounds(*sparse, by_q, by_v, over), StepEnd(unit, unit, unit), H), strict=True))

    kernel = Kernel(trace(page, dict.fromkeys(("M", "E", "by_q", "by_v", "over"), (N, N)), "columns"))
    A, B = kernel(M, E, by_q, by_v, over)
    inverse, still = np.linalg.inv(M), np.zeros((N, N))
    changes = [inverse @ (r + s - E @ inverse @ r) for r, s in ((by_q, over), (by_v, still), (H * np.eye(N), still))]
    expected = [np.vstack([H * x, x]) for x in changes]
    expected[0][:N] += np.eye(N)
    np.testing.assert_allclose(A, np.hstack(expected[:2]), atol=1e-13)
    np.testing.assert_allclose(B, expected[2], atol=1e-13)
