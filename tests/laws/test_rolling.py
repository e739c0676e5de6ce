"""Rolling without slip: closed forms of discs and spheres, energy, forces that do no work, and the same by every method."""

from __future__ import annotations

import math

import numpy as np
import pytest

import kumitate as km
from kumitate.dynamics import Acting, aba_with_loops, crba, factored_with_loops
from kumitate.dynamics.ada import ada
from kumitate.kinematics import difference, integrate
from kumitate.lagrange.forward import lagrange
from kumitate.model import Body, Joint, Loop, Mechanism, RollingDisc, RollingSphere
from kumitate.spatial import Motion, pose

from ..mechanisms import near, random_pose, seeds, slope
from .test_joint_closures import dots, exponential, velocity

G, RADIUS, MASS = 9.81, 0.3, 2.0
DISC = (0.25 * MASS * RADIUS**2, 0.25 * MASS * RADIUS**2, 0.5 * MASS * RADIUS**2)
KINDS = (RollingDisc(0.7), RollingSphere(0.7))


def disc(**options) -> km.Robot:
    """A uniform disc about z of its body, free but for the plane z = 0."""
    coin = Body("coin", MASS, inertia=DISC)
    rolls = Loop("contact", RollingDisc(RADIUS), "world", "coin", **options)
    return km.load(Mechanism("disc", (coin,), (Joint("free", "floating", "world", "coin"),), (rolls,)))


def ball(slope_angle: float = 0.0) -> km.Robot:
    """A uniform sphere on a plane that leans about y."""
    inertia = (0.4 * MASS * RADIUS**2,) * 3
    rolls = Loop("contact", RollingSphere(RADIUS), "world", "ball", pose(rpy=(0.0, slope_angle, 0.0)))
    free = Joint("free", "floating", "world", "ball")
    return km.load(Mechanism("ball", (Body("ball", MASS, inertia=inertia),), (free,), (rolls,)))


def leaning(angle: float, turning: float, spin: float) -> tuple[np.ndarray, np.ndarray]:
    """A disc at this angle between its plane and the ground, turning about the vertical, with this ω about its axle."""
    q = np.array([math.sin(0.5 * angle), 0.0, 0.0, math.cos(0.5 * angle), 0.0, 0.0, RADIUS * math.sin(angle)])
    return q, np.array([0.0, turning * math.sin(angle), spin, -spin * RADIUS, 0.0, 0.0])


# --- the constraint ---------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
@pytest.mark.parametrize(**seeds(4))
def test_the_bias_is_the_acceleration_of_the_slip(kind, seed):
    """Along any motion, slipping or not: d/dt (T·V) = T·(A − bias), and the normal rate is that of the height."""
    rng = np.random.default_rng(seed)
    X, V, A = random_pose(rng), *(0.5 * rng.normal(size=(2, 6)))

    def moving(t: float):
        return (X @ exponential((V + 0.5 * t * A) * t)).dense()

    def closing(t: float):
        return kind.closing(moving(t), Motion.of(velocity(moving, t).tolist()))

    here = closing(0.0)
    assert len(here.constraint) == kind.rows == 3
    rates = slope(lambda t: dots(closing(t).twist, closing(t).constraint), h=4e-3)
    change = slope(lambda t: velocity(moving, t), h=4e-3)
    near(dots(change - np.array(list(here.bias)), here.constraint), rates, 1e-7)
    heights = slope(lambda t: dots(closing(t).error, closing(t).constraint)[0])
    near(heights, dots(here.twist, here.constraint)[0], 1e-8)


@pytest.mark.parametrize(**seeds(2))
def test_every_method_gives_the_same_accelerations(seed):
    robot, rng = km.load("bicycle"), np.random.default_rng(seed)
    tree = robot.mechanism.tree
    q, v = robot.assemble(robot.integrate(robot.start[0], 0.3 * rng.normal(size=robot.nv)), rng.normal(size=robot.nv))
    state = q.tolist(), v.tolist(), rng.normal(size=robot.nv).tolist(), Acting(robot.mechanism.gravity)
    expected = aba_with_loops(tree, *state)
    for found in (factored_with_loops(crba, tree, *state), ada(tree, *state).vdot, lagrange(tree, *state)):
        near(np.array(found), np.array(expected), 1e-7)


# --- closed forms -----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("integrator", ["rk4", "rkf45", "rkf45_adaptive", "semi_implicit_euler", "extrapolated_euler"])
def test_an_upright_disc_keeps_its_line_and_its_speed(integrator):
    # the velocity of a body that spins turns in the axes of the body, which semi-implicit Euler only follows to first order
    euler = integrator == "semi_implicit_euler"
    for speed in (0.2,) if euler else (0.2, 5.0):
        q, v = leaning(0.5 * math.pi, 0.0, -speed / RADIUS)
        run = km.simulate(disc(), q, v, duration=1.0, step=2e-3, integrator=integrator)
        near_enough = 1e-4 if euler else 1e-6
        np.testing.assert_allclose(run.center_of_mass[-1], [speed, 0.0, RADIUS], atol=near_enough)
        np.testing.assert_allclose(run.momentum[-1, 3:] / MASS, [speed, 0.0, 0.0], atol=near_enough)
        assert all(gap.distance < 1e-11 and gap.speed < 1e-11 for gap in run.audit.loop_gaps)


def test_a_leaning_disc_circles():
    """(C + m r²) ω Ω sin α − A Ω² sin α cos α = −m g r cos α, from the moments about the center; the circle has |ω| r/Ω."""
    A, _, C = DISC
    alpha, turning = math.radians(60.0), 2.5
    s, c = math.sin(alpha), math.cos(alpha)
    spin = (A * turning**2 * s * c - MASS * G * RADIUS * c) / ((C + MASS * RADIUS**2) * turning * s)
    q, v = leaning(alpha, turning, spin)
    run = km.simulate(disc(), q, v, duration=2.0, step=1e-3)
    axis = run.center_of_mass[0] + np.array([0.0, -spin * RADIUS / turning, 0.0])
    angle = turning * run.time
    expected = spin * RADIUS / turning * np.column_stack([-np.sin(angle), np.cos(angle), 0.0 * angle])
    np.testing.assert_allclose(run.center_of_mass - axis, expected, atol=1e-9)
    np.testing.assert_allclose(run.v @ [0, 0, 1, 0, 0, 0], spin, atol=1e-9)
    assert abs(run.audit.energy_drift) < 1e-9


def test_a_sphere_rolls_down_at_five_sevenths():
    tilt = 0.3
    robot = ball(tilt)
    down = np.array([math.cos(tilt), 0.0, -math.sin(tilt)])
    start = RADIUS * np.array([math.sin(tilt), 0.0, math.cos(tilt)])
    run = km.simulate(robot, [0.0, 0.0, 0.0, 1.0, *start], duration=1.0, step=1e-2)
    path = 0.5 * (5.0 / 7.0) * G * math.sin(tilt) * run.time**2
    np.testing.assert_allclose(run.center_of_mass, start + path[:, None] * down, atol=1e-9)
    force = run.joint_wrenches()["contact"][:, 3:]  # in the axes of the ball
    size = MASS * G * math.hypot(math.cos(tilt), 2.0 / 7.0 * math.sin(tilt))
    np.testing.assert_allclose(np.linalg.norm(force, axis=1), size, rtol=1e-9)


def test_a_ball_on_a_turntable_circles_at_two_sevenths_of_its_rate():
    """The table has the inertia of a mountain, so that the ball does not slow it."""
    inertia = (0.4 * MASS * RADIUS**2,) * 3
    bodies = (Body("table", 1.0, inertia=(1.0, 1.0, 1e9)), Body("ball", MASS, inertia=inertia))
    joints = (Joint("turn", "revolute", "world", "table"), Joint("free", "floating", "world", "ball"))
    robot = km.load(Mechanism("table", bodies, joints, (Loop("contact", RollingSphere(RADIUS), "table", "ball"),)))
    rate = 3.0
    q = [0.0, 0.0, 0.0, 0.0, 1.0, 0.5, 0.0, RADIUS]
    v = [rate, 0.0, 0.0, 0.0, 0.2, 0.5 * rate, 0.0]  # carried along by the table, and rolling on it
    v[2] = 0.2 / RADIUS
    run = km.simulate(robot, q, v, duration=2.0, step=2e-3)
    x = run.center_of_mass[:, :2] * (MASS + 1.0) / MASS  # of the ball: the table's is at the origin
    spun = 2.0 / 7.0 * rate * run.time
    speed = np.gradient(x, run.time, axis=0, edge_order=2)
    turned = np.unwrap(np.arctan2(speed[:, 1], speed[:, 0]))
    np.testing.assert_allclose(turned - turned[0], spun, atol=1e-4)


# --- energy and forces ------------------------------------------------------------------------------------------------
def wobbling() -> tuple[km.Robot, np.ndarray, np.ndarray]:
    robot = disc()
    q, _ = leaning(1.1, 0.0, 0.0)
    return robot, *robot.assemble(q, np.array([0.8, 1.0, -4.0, 0.0, 0.0, 0.0]))


def test_energy_is_kept_to_the_order_of_the_integrator():
    drifts = [abs(km.simulate(*wobbling(), duration=1.0, step=step).audit.energy_drift) for step in (2e-2, 1e-2)]
    assert drifts[1] < 1e-5
    assert 12.0 < drifts[0] / drifts[1] < 80.0  # RK4: the error in energy is of fourth or fifth order


def test_the_forces_of_rolling_do_no_work():
    robot, q, v = wobbling()
    run = km.simulate(robot, q, v, duration=0.5, step=1e-2)
    wrench = run.joint_wrenches()["contact"]
    power = (wrench * run.v).sum(axis=1)  # both in the axes of the disc, about its center; the plane is at rest
    parts = np.abs(wrench * run.v).sum(axis=1)
    assert parts.min() > 1.0
    assert np.abs(power).max() < 1e-10 * parts.max()


def test_drift_is_measured():
    """Without closing, the loop drifts by what the integrator makes of it; the audit says how far and how fast it slips."""
    robot, q, v = wobbling()
    free, closed = (km.simulate(robot, q, v, duration=1.0, step=2e-2, baumgarte=rate) for rate in (0.0, None))
    (drifted,), (kept,) = free.audit.loop_gaps, closed.audit.loop_gaps
    assert drifted.distance > 1e-8
    assert drifted.speed > 1e-8
    assert kept.distance < 1e-12
    assert kept.speed < 1e-11


def test_two_wheels_on_one_axle_are_redundant():
    """Both forbid the axle to slide along itself; it rolls on as if one of them said so."""
    axle = Body("axle", 1.0, inertia=(0.1, 0.02, 0.1))
    wheels = tuple(Body(side, MASS, inertia=(DISC[0], DISC[2], DISC[0])) for side in ("left", "right"))
    joints = (
        Joint("free", "floating", "world", "axle", pose((0.0, 0.0, RADIUS))),
        *(
            Joint(f"spin_{s}", "revolute", "axle", s, pose((0.0, y, 0.0)), (0.0, 1.0, 0.0))
            for s, y in (("left", 0.5), ("right", -0.5))
        ),
    )
    turned = pose(rpy=(-0.5 * math.pi, 0.0, 0.0))
    loops = tuple(Loop(f"under_{s}", RollingDisc(RADIUS), "world", s, pose_b=turned) for s in ("left", "right"))
    robot = km.load(Mechanism("wheelset", (axle, *wheels), joints, loops))
    report = robot.constraint_report(robot.neutral())
    assert (report.rows, report.rank, report.redundant) == (6, 5, 1)
    turning = 1.5  # about the point below the left wheel
    v = [0.0, 0.0, turning, 0.5 * turning, 0.0, 0.0, 0.0, turning / RADIUS]
    run = km.simulate(robot, robot.neutral(), v, duration=1.0, step=1e-2)
    expected = [0.5 * math.sin(turning), 0.5 - 0.5 * math.cos(turning)]
    poses = run.poses()[-1, 0, :2, 3]
    np.testing.assert_allclose(poses, expected, atol=1e-9)


# --- linear equations -------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", ["disc", "bicycle"])
def test_slopes_of_rolling_are_those_of_finite_differences(name):
    rng = np.random.default_rng(1)
    if name == "disc":
        robot, q, v = wobbling()
    else:
        robot = km.load(name)
        q, v = robot.assemble(robot.integrate(robot.start[0], 0.1 * rng.normal(size=robot.nv)), rng.normal(size=robot.nv))
    found, tree = km.linearize(robot, q, v), robot.mechanism.tree
    Z, W = found.motions, found.rates
    rolling = len(robot.mechanism.loops)
    assert Z.shape[1] == robot.nv - rolling
    assert W.shape[1] == robot.nv - 3 * rolling
    y, w = rng.normal(size=Z.shape[1]), rng.normal(size=W.shape[1])

    def state(e: float):
        return robot.assemble(robot.integrate(q, e * Z @ y), v + e * W @ w)

    def moved(q, v, t: float) -> list[float]:
        return integrate(tree, list(q), (t * np.asarray(v)).tolist())

    def error_rate(e: float) -> np.ndarray:
        return slope(lambda t: difference(tree, moved(q, v, t), moved(*state(e), t)))

    x_dot = found.A @ [*y, *w]
    near(x_dot[: Z.shape[1]], Z.T @ slope(error_rate), 1e-6)
    pushed = slope(lambda e: W.T @ robot.forward_dynamics(*state(e), np.zeros(robot.nv)), h=1e-4)
    near(x_dot[Z.shape[1] :] / np.abs(pushed).max(), pushed / np.abs(pushed).max(), 1e-6)


# --- starts -----------------------------------------------------------------------------------------------------------
def test_starts_that_do_not_roll_are_refused():
    robot = disc()
    q, v = leaning(1.0, 0.0, -2.0)
    high, sliding = q + 0.1 * np.eye(7)[6], v + 0.3 * np.eye(6)[3]
    with pytest.raises(km.InputError, match=r"loop 'contact' opens at 0\.3 m/s"):
        km.simulate(robot, q, sliding, duration=0.1)
    with pytest.raises(km.InputError, match=r"loop 'contact' is open by 0\.1 m"):
        km.simulate(robot, high, v, duration=0.1)
    with pytest.raises(km.KumitateError, match="a rolling disc lies flat"):
        km.simulate(robot, [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0], duration=0.1)
    closed, rolling = robot.assemble(high, sliding)
    gap = robot.constraint_residual(closed, rolling)[0]
    assert max(gap.distance, gap.speed) < 1e-12
