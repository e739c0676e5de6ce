"""The benchmark bicycle beside its publication: Meijaard, Papadopoulos, Ruina, Schwab, Proc. R. Soc. A 463 (2007) 1955-1982.

Its eigenvalues are a problem of `kumitate validate`.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import expm

import kumitate as km
from kumitate.analysis import LoopEquations
from kumitate.examples.catalogue import example
from kumitate.examples.gallery.bicycle import eigenvalues, lean_and_steer
from kumitate.model.samples import BICYCLE_START, bicycle, bicycle_velocity
from kumitate_problems.rolling import BICYCLE_SPEEDS

#: Section 5: M q̈ + v C₁ q̇ + (g K₀ + v² K₂) q = f, with q = (lean, steer), both positive to the right.
M = [[80.81722, 2.31941332208709], [2.31941332208709, 0.29784188199686]]
K0 = [[-80.95, -2.59951685249872], [-2.59951685249872, -0.80329488458618]]
K2 = [[0.0, 76.59734589573222], [0.0, 2.65431523794604]]
C1 = [[0.0, 33.86641391492494], [-0.85035641456978, 1.68540397397560]]


@pytest.fixture(scope="module")
def equations() -> LoopEquations:
    return LoopEquations(bicycle())


def test_matrices_are_the_published_ones(equations):
    """Here steer is positive to the left."""
    signs = np.diag([1.0, -1.0])
    for speed in (0.0, 3.7):
        A = lean_and_steer(speed, equations)
        stiffness, damping = 9.81 * np.array(K0) + speed**2 * np.array(K2), speed * np.array(C1)
        np.testing.assert_allclose(A[:2], np.eye(4)[2:], atol=1e-10)
        np.testing.assert_allclose(signs @ A[2:, :2] @ signs, -np.linalg.solve(M, stiffness), rtol=0.0, atol=1e-9)
        np.testing.assert_allclose(signs @ A[2:, 2:] @ signs, -np.linalg.solve(M, damping), rtol=0.0, atol=1e-9)


def test_it_is_stable_between_the_published_speeds(equations):
    for mode, speed in zip((2, 1), BICYCLE_SPEEDS, strict=True):
        before, after = (eigenvalues(speed + step, equations)[mode].real for step in (-0.01, 0.01))
        assert before * after < 0.0


def test_the_poles_of_linearize_are_these_and_zeros():
    """Seven coordinates, three rates: ten poles. Six belong to the path: zero, of which two are one multiple pole."""
    robot = km.load("bicycle")
    q, v = robot.start
    v = np.where(np.arange(robot.nv) == 0, 0.0, v)
    v[4] = 0.0  # upright, without leaning
    found = km.linearize(robot, q, v)
    assert found.motions.shape == (9, 7)
    assert found.rates.shape == (9, 3)
    poles = found.poles[np.argsort(np.abs(found.poles))]
    assert np.abs(poles[:6]).max() < 1e-6
    np.testing.assert_allclose(np.sort_complex(poles[6:]), np.sort_complex(eigenvalues(4.6)), atol=1e-9)
    assert sum(mode.pole.real == 0.0 for mode in found.modes) >= 4


def test_it_rights_itself_as_the_linear_equations_say():
    """Pushed at 4.6 m/s (figure 4): weave decays, energy stays, and both wheels keep on the ground without slipping."""
    result = example("bicycle").run()
    steer = result.joint("steer").q[:, 0]
    assert np.abs(steer[4000:]).max() < 0.2 * np.abs(steer[:1000]).max()
    assert abs(result.audit.energy_drift) < 1e-8 * result.energy.total[0]
    for gap in result.audit.loop_gaps:
        assert gap.distance < 1e-12
        assert gap.speed < 1e-11


def test_small_pushes_follow_the_linear_equations(equations):
    """The motion is that of exp(A t), but for a part of the second order in the push."""
    size = 1e-3
    run = km.simulate(bicycle(), BICYCLE_START, bicycle_velocity(4.6, size), duration=2.0, step=2e-3)
    steer, rate = run.joint("steer").q[-1, 0], run.joint("steer").v[-1, 0]
    expected = expm(2.0 * lean_and_steer(4.6, equations)) @ [0.0, 0.0, size, 0.0]
    np.testing.assert_allclose([steer, rate], expected[[1, 3]], rtol=0.0, atol=size**2)
