"""Splines, trapezoids and cut-offs: through their way-points, smooth where they say so, the same for all kinds of numbers."""

import numpy as np
import pytest

from kumitate.compile import Kernel
from kumitate.control import PoseSpline, Spline, Trapezoid, blend, smooth_clamp, smooth_step, smooth_trapezoid
from kumitate.errors import InputError
from kumitate.scalar import evaluate, trace

from ..mechanisms import near, seeds, slope


def draw(seed: int) -> tuple[np.random.Generator, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    k = int(rng.integers(2, 7))
    return rng, np.cumsum(rng.uniform(0.3, 1.5, k)) - 2.0, rng.normal(size=(k, 3))


def same_for_all_numbers(function, times, tolerance: float = 1e-12) -> None:
    """Floats, arrays, and symbols compiled or evaluated."""
    single = np.array([function(float(t)) for t in times])
    np.testing.assert_allclose(function(np.asarray(times)), single, rtol=0.0, atol=tolerance)
    program = trace(lambda t: list(np.atleast_1d(np.asarray(function(t)))), {"t": ()}, "function")
    compiled = Kernel(program)(np.asarray(times))
    np.testing.assert_allclose(compiled, single.reshape(compiled.shape), rtol=0.0, atol=tolerance)
    np.testing.assert_allclose(evaluate(program, [float(times[0])]), np.atleast_1d(single[0]), rtol=0.0, atol=tolerance)


@pytest.mark.row("T-5.2")
@pytest.mark.parametrize(**seeds(6))
def test_a_spline_meets_what_is_given(seed):
    rng, times, values = draw(seed)
    v, a = rng.normal(size=(2, *values.shape))
    spline = Spline(times, values, velocities=v, accelerations=a)
    for k, t in enumerate(times):
        for wanted, found in ((values, spline(t)), (v, spline.velocity(t)), (a, spline.acceleration(t))):
            np.testing.assert_allclose(found, wanted[k], atol=1e-11)


@pytest.mark.row("T-5.2")
@pytest.mark.parametrize(**seeds(6))
def test_derivatives_are_slopes_and_do_not_jump(seed):
    _, times, values = draw(seed)
    spline = Spline(times, values)
    for t in np.linspace(times[0], times[-1], 9)[1:-1] + 1e-3:
        for order in range(3):
            scale = 1.0 + np.abs(spline.derivative(t, order + 1)).max()
            found = slope(lambda dt, o=order, t=t: spline.derivative(t + dt, o), h=1e-4)
            np.testing.assert_allclose(found, spline.derivative(t, order + 1), atol=1e-5 * scale)
    tiny = 1e-9
    for t in times[1:-1]:  # chosen velocities and accelerations: snap does not jump either
        for order in range(5):
            left, right = spline.derivative(t - tiny, order), spline.derivative(t + tiny, order)
            np.testing.assert_allclose(left, right, atol=1e-5 * (1.0 + np.abs(left).max()))
    for t in (times[0], times[-1]):
        for order in (1, 2):
            np.testing.assert_allclose(spline.derivative(t, order), 0.0, atol=1e-9)


@pytest.mark.parametrize("pieces", [25, 90])
def test_a_long_spline_is_the_same_for_all_numbers(pieces):
    """Symbols look its pieces up in tables: at way-points, between them, and beyond both ends."""
    rng = np.random.default_rng(pieces)
    times = np.cumsum(rng.uniform(0.5, 1.5, pieces + 1))
    spline = Spline(times, rng.normal(size=(pieces + 1, 2)))
    asked = np.concatenate([[times[0] - 0.3, times[-1] + 0.3], times, times[:-1] + 0.4 * np.diff(times)])
    for order in range(3):
        same_for_all_numbers(lambda t, order=order: spline.derivative(t, order), asked, 1e-10)


@pytest.mark.row("T-5.2")
def test_between_two_points_the_jerk_is_least():
    """The closed form 10 s³ − 15 s⁴ + 6 s⁵; and ∫ jerk² = 720 d²/T⁵ grows with any bump that keeps the ends."""
    T, d = 1.7, 2.5
    spline = Spline([0.0, T], [0.0, d])
    t = np.linspace(0.0, T, 4001)
    s = t / T
    np.testing.assert_allclose(spline(t), d * (10 * s**3 - 15 * s**4 + 6 * s**5), atol=1e-12)
    jerk = spline.derivative(t, 3)
    cost = np.trapezoid(jerk**2, t)
    assert cost == pytest.approx(720.0 * d**2 / T**5, rel=1e-5)
    u = np.linspace(-1.0, 1.0, len(t))
    bump = np.polynomial.Polynomial.fromroots([-1] * 3 + [1] * 3).deriv(3)(u) * (2.0 / T) ** 3
    for size in (0.1, -0.1):
        assert np.trapezoid((jerk + size * bump) ** 2, t) > cost


@pytest.mark.row("T-5.2")
@pytest.mark.parametrize(**seeds(4))
def test_chosen_velocities_make_the_jerk_least(seed):
    rng, times, values = draw(seed + 10)
    spline = Spline(times, values)
    t = np.linspace(times[0], times[-1], 20_001)

    def cost(other: Spline) -> float:
        return float(np.trapezoid((other.derivative(t, 3) ** 2).sum(axis=1), t))

    least = cost(spline)
    for _ in range(4 if len(times) > 2 else 0):
        v, a = spline.velocities.copy(), spline.accelerations.copy()
        v[1:-1] += 0.1 * rng.normal(size=v[1:-1].shape)
        a[1:-1] += 0.1 * rng.normal(size=a[1:-1].shape)
        assert cost(Spline(times, values, velocities=v, accelerations=a)) > least
    half = np.full_like(values, np.nan)  # some are given, the others chosen
    half[0], half[-1], half[len(times) // 2, 1] = 0.0, 0.0, 0.5
    assert Spline(times, values, velocities=half).velocity(times[len(times) // 2])[1] == pytest.approx(0.5, abs=1e-12)


@pytest.mark.parametrize(**seeds(3))
def test_splines_of_floats_arrays_and_symbols_agree(seed):
    _, times, values = draw(seed)
    probes = [times[0] - 1.0, *times, *np.linspace(times[0], times[-1], 7), times[-1] + 1.0]
    spline = Spline(times, values)
    for order in range(6):
        same_for_all_numbers(lambda t, o=order: spline.derivative(t, o), probes, 1e-9)
    gain = Spline([0.0, 0.2], [0.0, 3.5])  # a gain over an angle
    same_for_all_numbers(gain, [-1.0, 0.0, 0.1, 0.2, 2.0])
    assert (gain(-1.0), gain(5.0)) == pytest.approx((0.0, 3.5), rel=1e-14)


@pytest.mark.parametrize(
    ("times", "values", "options"),
    [
        ([0.0], [1.0], {}), ([0.0, 0.0], [1.0, 2.0], {}), ([0.0, 1.0], [1.0, 2.0, 3.0], {}), ([0.0, 1.0], [1.0, np.nan], {}),
        ([0.0, 1.0], [1.0, 2.0], {"velocities": [1.0]}),
    ],
)  # fmt: skip
def test_splines_of_nonsense_are_refused(times, values, options):
    with pytest.raises(InputError):
        Spline(times, values, **options)


# --- trapezoids ---------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(**seeds(8))
def test_a_trapezoid_keeps_its_limits_and_uses_them(seed):
    rng = np.random.default_rng(seed)
    start, goal = rng.normal(size=(2, 3))
    v_max, a_max = rng.uniform(0.2, 2.0, (2, 3))
    move = Trapezoid(start, goal, velocity=v_max, acceleration=a_max, begin=0.4)
    t = np.linspace(0.0, move.end + 0.3, 5001)
    p, v, a = move(t), move.velocity(t), move.acceleration(t)
    assert (np.abs(v) <= v_max * (1.0 + 1e-12)).all()
    assert (np.abs(a) <= a_max * (1.0 + 1e-12)).all()
    assert max((np.abs(v) / v_max).max(), (np.abs(a) / a_max).max()) == pytest.approx(1.0, abs=1e-9)
    np.testing.assert_allclose(p[0], start)
    np.testing.assert_allclose(p[-1], goal, atol=1e-12)
    for x, rate in ((p, v), (v, a)):  # position and velocity are the integrals of what follows
        integral = np.concatenate([np.zeros((1, 3)), np.cumsum(0.5 * (rate[1:] + rate[:-1]) * np.diff(t)[:, None], axis=0)])
        np.testing.assert_allclose(x - x[0], integral, atol=3.0 * np.diff(t)[0] * np.abs(rate).max())
    line = (p - start) / (goal - start)
    np.testing.assert_allclose(line, line[:, :1] * np.ones(3), atol=1e-9)
    probes = [0.0, 0.5, move.begin + move.rise / 2.0, (move.begin + move.end) / 2.0, move.end - move.rise / 3.0, move.end + 1.0]
    for order in range(3):
        same_for_all_numbers(lambda t, o=order: move.derivative(t, o), probes)


def test_a_trapezoid_is_the_fastest_there_is():
    """Against closed forms: a long way d/v + v/a, a short one 2 √(d/a)."""
    assert Trapezoid(0.0, 10.0, velocity=2.0, acceleration=4.0).duration == pytest.approx(10.0 / 2.0 + 2.0 / 4.0)
    assert Trapezoid(0.0, 0.1, velocity=2.0, acceleration=4.0).duration == pytest.approx(2.0 * np.sqrt(0.1 / 4.0))
    stay = Trapezoid([1.0, 2.0], [1.0, 2.0], velocity=1.0, acceleration=1.0, begin=3.0)
    assert (stay.duration, list(stay(4.0)), list(stay.acceleration(3.0))) == (0.0, [1.0, 2.0], [0.0, 0.0])
    with pytest.raises(InputError, match="positive"):
        Trapezoid(0.0, 1.0, velocity=0.0, acceleration=1.0)


# --- poses ----------------------------------------------------------------------------------------------------------------
def random_poses(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng, times, positions = draw(seed)
    quaternions = rng.normal(size=(len(times), 4))
    return times, quaternions / np.linalg.norm(quaternions, axis=1)[:, None], positions


def rotation(q) -> np.ndarray:
    x, y, z, w = q
    K = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.eye(3) + 2.0 * w * K + 2.0 * K @ K


@pytest.mark.row("T-5.2")
@pytest.mark.parametrize(**seeds(6))
def test_a_pose_spline_goes_through_its_poses(seed):
    times, quaternions, positions = random_poses(seed)
    spline = PoseSpline(times, quaternions, positions)
    for t, q, p in zip(times, quaternions, positions, strict=True):
        found = spline(t)
        np.testing.assert_allclose(rotation(found[:4]), rotation(q), atol=1e-11)
        np.testing.assert_allclose(found[4:], p, atol=1e-12)
    probes = [times[0] - 1.0, *times, *np.linspace(times[0], times[-1], 5), times[-1] + 1.0]
    for function in (spline, spline.velocity, spline.acceleration):
        same_for_all_numbers(function, probes, 1e-9)


@pytest.mark.row("T-5.2")
@pytest.mark.parametrize(**seeds(6))
def test_a_pose_splines_velocities_are_slopes_and_do_not_jump(seed):
    times, quaternions, positions = random_poses(seed)
    spline = PoseSpline(times, quaternions, positions)
    for t in np.linspace(times[0], times[-1], 8)[1:-1] + 1e-3:
        R_rate = slope(lambda dt, t=t: rotation(spline(t + dt)[:4]), h=1e-4)
        W = R_rate @ rotation(spline(t)[:4]).T
        near(spline.velocity(t)[:3], [W[2, 1], W[0, 2], W[1, 0]], 1e-8)
        near(spline.velocity(t)[3:], slope(lambda dt, t=t: spline(t + dt)[4:], h=1e-4), 1e-8)
        near(spline.acceleration(t), slope(lambda dt, t=t: spline.velocity(t + dt), h=1e-4), 1e-6)
    for t in times[1:-1]:
        for function in (spline.velocity, spline.acceleration):
            np.testing.assert_allclose(function(t - 1e-9), function(t + 1e-9), atol=1e-5)
    np.testing.assert_allclose(spline.velocity(times[-1]), 0.0, atol=1e-9)


def test_a_pose_spline_about_one_axis_is_a_spline_of_the_angle():
    angles = np.array([0.0, 1.0, 3.5, 2.0])
    q = np.column_stack([np.zeros((4, 2)), np.sin(angles / 2.0), np.cos(angles / 2.0)])
    times = [0.0, 1.0, 2.5, 3.0]
    spline = PoseSpline(times, q, np.zeros((4, 3)))
    # inner way-points are passed as the parabola through each and its neighbours passes
    np.testing.assert_allclose(spline.turnings[1:-1, 2], np.gradient(angles, times)[1:-1], atol=1e-12)
    plain = Spline(times, angles, velocities=spline.turnings[:, 2], accelerations=np.zeros(4))
    for t in np.linspace(0.0, 3.0, 31):
        np.testing.assert_allclose(
            rotation(spline(t)[:4]), rotation([0, 0, np.sin(plain(t) / 2), np.cos(plain(t) / 2)]), atol=1e-12
        )
        np.testing.assert_allclose(spline.velocity(t)[2], plain.velocity(t), atol=1e-11)
        np.testing.assert_allclose(spline.acceleration(t)[2], plain.acceleration(t), atol=1e-10)
    with pytest.raises(InputError, match="unit length"):
        PoseSpline([0.0, 1.0], [[0, 0, 0, 1], [0, 0, 0, 2]], np.zeros((2, 3)))


# --- cut-offs -------------------------------------------------------------------------------------------------------------
@pytest.mark.row("Y-fall")
def test_smooth_steps_are_the_sigmoids_of_the_lecture():
    x = np.linspace(-0.9, 0.9, 37)
    np.testing.assert_allclose(smooth_step(x, 100.0), 1.0 / (1.0 + np.exp(-100.0 * x)), rtol=1e-12, atol=1e-15)
    assert (smooth_step(-1e9, 1e4), smooth_step(1e9, 1e4)) == (0.0, 1.0)  # no overflow
    found = smooth_trapezoid(x, 0.1, 0.29, 100.0)
    np.testing.assert_allclose(found, smooth_step(0.29 - (x - 0.1), 100.0) * smooth_step(0.29 + (x - 0.1), 100.0))
    functions = (
        lambda t: smooth_step(t, 30.0), lambda t: smooth_trapezoid(t, 0.1, 0.3, 30.0), lambda t: blend(t, 0.2, -0.4),
        lambda t: smooth_clamp(t, 0.5),
    )  # fmt: skip
    for function in functions:
        same_for_all_numbers(function, x)


def test_blends_and_smooth_limits_have_no_corners():
    for start, end in ((0.3, 1.1), (1.1, 0.3)):
        spline = Spline(sorted((start, end)), [0.0, 1.0] if start < end else [1.0, 0.0])
        x = np.linspace(0.0, 1.5, 31)
        np.testing.assert_allclose(blend(x, start, end), spline(x), atol=1e-13)
    for x in (-2.0, -0.79, 0.3, 0.81, 3.0):
        step = 1e-7
        left, middle, right = (smooth_clamp(x + dx, 1.0) for dx in (-step, 0.0, step))
        assert abs((right - middle) - (middle - left)) < 1e-12
        assert abs(middle) < 1.0
    for knee in (0.8 - 1e-9, 0.8 + 1e-9):  # value and slope meet
        assert smooth_clamp(knee, 1.0) == pytest.approx(knee, abs=1e-15)
