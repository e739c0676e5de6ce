"""The rotation that takes z to an axis is exact for every axis, those next to z and −z too."""

import numpy as np
import pytest

from kumitate.model.tree.tree import alignment

TILTS = [0.0, 1e-14, 2.3e-8, 1e-6, 2.6e-3, 0.5]


@pytest.mark.parametrize("side", [1.0, -1.0])
@pytest.mark.parametrize("tilt", TILTS)
def test_z_goes_to_the_axis_by_a_rotation(tilt, side):
    axis = np.array([0.6 * np.sin(tilt), -0.8 * np.sin(tilt), side * np.cos(tilt)])
    R = np.array([list(row) for row in alignment(axis.tolist(), None).matrix()], dtype=float)
    np.testing.assert_allclose(R[:, 2], axis, rtol=1e-14, atol=1e-22)
    np.testing.assert_allclose(R.T @ R, np.eye(3), atol=4e-16)
    assert np.linalg.det(R) == pytest.approx(1.0, abs=4e-16)
