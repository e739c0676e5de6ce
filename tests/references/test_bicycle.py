"""The benchmark bicycle beside its publication: Meijaard, Papadopoulos, Ruina, Schwab, Proc. R. Soc. A 463 (2007) 1955-1982."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import expm

import kumitate as km
from kumitate.analysis import LoopEquations
from kumitate.examples.catalogue import example
from kumitate.examples.gallery.bicycle import eigenvalues, lean_and_steer
from kumitate.model.samples import BICYCLE_START, bicycle, bicycle_velocity

#: Table 2: by forward speed [m/s], weave (real and imaginary part, or two real ones), capsize and castering [1/s].
PUBLISHED = {
    0: (3.13164324790656, 5.53094371765393, -3.13164324790656, -5.53094371765393),
    1: (3.52696170990070, 0.80774027519930, -3.13423125066578, -7.11008014637442),
    2: (2.68234517512745, 1.68066296590675, -3.07158645641514, -8.67387984831735),
    3: (1.70675605663975, 2.31582447384325, -2.63366137253667, -10.35101467245920),
    4: (0.41325331521125, 3.07910818603206, -1.42944427361326, -12.15861426576447),
    5: (-0.77534188219585, 4.46486771378823, -0.32286642900409, -14.07838969279822),
    6: (-1.52644486584142, 5.87673060598709, -0.00406690076970, -16.08537123098026),
    7: (-2.13875644258362, 7.19525913329805, 0.10268170574766, -18.15788466125262),
    8: (-2.69348683581097, 8.46037971396931, 0.14327879765713, -20.27940894394569),
    9: (-3.21675402252485, 9.69377351531791, 0.15790184030917, -22.43788559040858),
    10: (-3.72016840437287, 10.90681139476287, 0.16105338653172, -24.62459635017404),
}
#: Section 5: M q̈ + v C₁ q̇ + (g K₀ + v² K₂) q = f, with q = (lean, steer), both positive to the right.
M = [[80.81722, 2.31941332208709], [2.31941332208709, 0.29784188199686]]
K0 = [[-80.95, -2.59951685249872], [-2.59951685249872, -0.80329488458618]]
K2 = [[0.0, 76.59734589573222], [0.0, 2.65431523794604]]
C1 = [[0.0, 33.86641391492494], [-0.85035641456978, 1.68540397397560]]
#: Above figure 3: where weave becomes stable, and where capsize ceases to be [m/s].
WEAVE, CAPSIZE = 4.29238253634111, 6.02426201538837


@pytest.fixture(scope="module")
def equations() -> LoopEquations:
    return LoopEquations(bicycle())


@pytest.mark.parametrize("speed", PUBLISHED)
def test_eigenvalues_are_the_published_ones(speed, equations):
    first, second, capsize, castering = PUBLISHED[speed]
    weave = [first, second] if speed == 0 else [first - 1j * second, first + 1j * second]
    np.testing.assert_allclose(eigenvalues(speed, equations), [castering, capsize, *weave], rtol=0.0, atol=1e-9)


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
    for mode, speed in ((2, WEAVE), (1, CAPSIZE)):
        before, at, after = (eigenvalues(speed + step, equations)[mode].real for step in (-0.01, 0.0, 0.01))
        assert abs(at) < 1e-9
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
