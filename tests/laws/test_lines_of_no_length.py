"""Lines between two points that may coincide: springs at ease without length are −k p, smooth everywhere; the rest is said."""

import math

import numpy as np
import pytest

import kumitate as km
from kumitate.analysis import fastest_rate
from kumitate.dynamics import Acting
from kumitate.errors import InputError

MASS, K, D = 2.0, 50.0, 0.7


def point(count=3, **line):
    """A point mass that slides along x, y and z, and a line from the origin to it."""
    axes = np.eye(3)[:count]
    bodies = [km.Body(f"slide{k}") for k in range(count - 1)]
    bodies.append(km.Body("point", MASS, inertia=(0.1, 0.1, 0.1)))
    names = ["world", *(body.name for body in bodies)]
    joints = [km.Joint(f"j{k}", "prismatic", names[k], names[k + 1], axis=axes[k]) for k in range(count)]
    return km.load(
        km.Mechanism(
            "m", tuple(bodies), tuple(joints), (km.Loop("line", km.Line(), "world", "point", **line),), gravity=(0, 0, 0)
        )
    )


def swinging(**line):
    """Two bodies in space, turning, with lines between points off their centres."""
    rng = np.random.default_rng(3)
    bodies = [km.Body(name, 1.0, inertia=(0.2, 0.3, 0.4), center_of_mass=rng.normal(size=3) * 0.1) for name in "ab"]
    joints = [km.Joint(f"free {name}", "floating", "world", name) for name in "ab"]
    ends = {"pose_a": km.pose((0.1, 0.2, 0.3)), "pose_b": km.pose((-0.2, 0.1, 0.0), (0.3, 0.2, 0.1))}
    loops = (km.Loop("line", km.Line(), "a", "b", **ends, **line),)
    return km.load(km.Mechanism("two", tuple(bodies), tuple(joints), loops, gravity=(0, 0, 0)))


METHODS = ("aba", "crba", "unit_vector", "ada", "dca", "hybrid")


@pytest.mark.parametrize("method", METHODS)
def test_a_spring_at_ease_without_length_is_a_spring_in_all_directions(method):
    """v̇ = −(k/m) p, at zero length as anywhere else; here over floats' whole range of lengths."""
    ball = km.Body("ball", MASS, inertia=(0.1, 0.1, 0.1))
    spring = km.Loop("spring", km.Line(), "world", "ball", stiffness=K)
    free = km.Joint("free", "floating", "world", "ball")
    robot = km.load(km.Mechanism("m", (ball,), (free,), (spring,), gravity=(0, 0, 0)))
    for size in (0.0, 1e-300, 1e-160, 1e-30, 1e-18, 1e-3, 1.0):
        p = size * np.array([1.0, -2.0, 2.0]) / 3.0
        found = robot.forward_dynamics([0, 0, 0, 1, *p], np.zeros(6), np.zeros(6), method=method)
        assert np.abs(found[3:] + K / MASS * p).max() <= 1e-14 * K / MASS * size, size
        assert not found[:3].any()


def test_traced_and_over_floats_it_is_the_same():
    from kumitate.dynamics import aba_with_loops

    robot = point(stiffness=K, damping=D)
    tree = robot.mechanism.base_parameter_tree
    for p, v in (([0.0] * 3, [0.0] * 3), ([0.0] * 3, [0.3, 0.4, 0.0]), ([0.1, 0.2, 0.3], [0.3, -0.4, 0.0])):
        plain = aba_with_loops(tree, p, v, [0.0] * 3, Acting((0.0, 0.0, 0.0)))
        assert np.allclose(plain, robot.forward_dynamics(p, v, np.zeros(3)), rtol=1e-14, atol=1e-14)


def test_a_mass_on_such_a_spring_swings_through_the_middle():
    """x(t) = (v/ω) sin ωt from the middle; in space every motion is an ellipse about it, which a straight one is too."""
    omega = math.sqrt(K / MASS)
    run = km.simulate(point(stiffness=K), [0.0, 0.0, 0.0], [0.3, -0.1, 0.2], duration=2.0, integrator="rk4")
    exact = np.sin(omega * run.time)[:, None] / omega * np.array([0.3, -0.1, 0.2])
    assert np.abs(run.q - exact).max() < 1e-9
    assert run.audit.energy_drift < 1e-9
    still = km.simulate(point(stiffness=K), duration=0.1)
    assert not still.q.any()


@pytest.mark.parametrize("integrator", ["rk4", "semi_implicit_euler", "rkf45_adaptive", "extrapolated_euler"])
def test_a_damped_mass_passes_through_the_middle_as_theory_says(integrator):
    """m ẍ + d ẋ + k x = 0 along one direction, from x = 0 with a speed: the damper acts there as it does on either side."""
    robot = point(stiffness=K, damping=D)
    start = np.array([0.3, 0.0, -0.4])
    decay, omega = D / (2.0 * MASS), math.sqrt(K / MASS - (D / (2.0 * MASS)) ** 2)
    run = km.simulate(robot, np.zeros(3), start, duration=1.0, step=1e-3, integrator=integrator)
    exact = (np.exp(-decay * run.time) * np.sin(omega * run.time) / omega)[:, None] * start
    # of order 1, semi-implicit Euler is off by about h ω² t/2 of the amplitude
    assert np.abs(run.q - exact).max() < (3e-3 if integrator == "semi_implicit_euler" else 1e-9)
    assert np.abs(run.a[0] + D / MASS * start).max() < 1e-12


def test_dampers_at_rest_without_length_give_nothing():
    robot = point(damping=D, friction=0.2)
    assert not robot.forward_dynamics(np.zeros(3), np.zeros(3), np.zeros(3)).any()


def test_power_and_energy_agree_where_lines_pass_through_no_length():
    """Of bodies that turn, too: d/dt of the energy is the power of the damper, by differences along the motion."""
    robot = swinging(stiffness=40.0, damping=0.5)
    rng = np.random.default_rng(5)
    v = rng.normal(size=12)
    q = robot.neutral()
    X_a, X_b = (robot.pose(q, name) for name in "ab")
    ends = X_a[:3, :3] @ [0.1, 0.2, 0.3] + X_a[:3, 3], X_b[:3, :3] @ [-0.2, 0.1, 0.0] + X_b[:3, 3]
    q[11:14] += ends[0] - ends[1]  # the two points coincide
    run = km.simulate(robot, q, v, duration=0.5, step=1e-3, integrator="rkf45")
    assert run.audit.energy_drift < 1e-7  # its direction turns fast while the line is short
    assert run.audit.work < -1e-2  # the damper took something
    momentum = run.momentum - run.momentum[0]
    assert np.abs(momentum).max() < 1e-8  # the line pushes both ends alike


def test_slopes_at_no_length_are_those_of_the_spring():
    """The poles of three springs of one stiffness, in all directions: ±i ω, three times."""
    linear = km.linearize(point(stiffness=K), np.zeros(3))
    omega = math.sqrt(K / MASS)
    assert np.abs(np.abs(linear.poles.imag) - omega).max() < 1e-9
    assert np.abs(linear.poles.real).max() < 1e-9
    with pytest.raises(InputError, match=r"m: the line 'line' has no length at this state, where its damping has no slope"):
        km.linearize(point(stiffness=K, damping=D), np.zeros(3))


@pytest.mark.parametrize("p", [np.zeros(3), np.array([0.1, 0.2, -0.1])])
def test_the_fastest_rate_is_that_of_the_spring_at_any_length(p):
    rate, _ = fastest_rate(point(stiffness=1e8).mechanism, p, np.zeros(3))
    assert rate == pytest.approx(math.sqrt(1e8 / MASS), rel=1e-9)


def test_a_stiff_spring_that_begins_without_length_is_integrated_implicitly():
    run = km.simulate(point(1, stiffness=1e8), [0.0], [1.0], duration=0.05)
    assert run.settings["integrator"] == "extrapolated_euler"


# --- what has no direction, in words ------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("line", "options", "words"),
    [
        ({"stiffness": K, "rest": 0.1}, {}, r"its spring of rest 0\.1 m pushes in no direction"),
        ({"armature": 0.5}, {}, r"its armature 0\.5 kg acts in no direction"),
        ({"stiffness": K}, {"loop_tau": {"line": [1.0]}}, "its drive pushes in no direction"),
    ],
)
def test_what_has_no_direction_is_said_before_anything_is_computed(line, options, words):
    robot = point(**line)
    message = (
        rf"^m: the line 'line' has no length at this state, where {words}; only springs with rest 0 may start there\. Start "
        r"from another posture, or give the spring the rest 0$"
    )
    still = np.zeros(3)
    with pytest.raises(InputError, match=message):
        km.simulate(robot, duration=0.01, **options)
    with pytest.raises(InputError, match=message):
        robot.forward_dynamics(still, still, still, **options)
    with pytest.raises(InputError, match=message):  # one of a batch
        robot.forward_dynamics(np.array([[0.1, 0.0, 0.0], [0.0, 0.0, 0.0]]), np.zeros((2, 3)), np.zeros((2, 3)), **options)
    with pytest.raises(InputError, match=message):
        robot.joint_wrenches(still, still, still, **options)
    if not options:
        with pytest.raises(InputError, match=message):
            km.simulate_batch(robot, np.zeros((2, 3)), duration=0.01)
        with pytest.raises(InputError, match=message):
            km.linearize(robot, still)


def test_in_motion_there_is_a_direction():
    """From the origin with a speed, a spring of rest r pushes on at once: along one direction, x is m ẍ = −k (x − r)."""
    robot = point(stiffness=K, rest=0.1)
    start = np.array([0.0, 0.6, 0.8])
    assert np.allclose(robot.forward_dynamics(np.zeros(3), start, np.zeros(3)), K * 0.1 / MASS * start, rtol=1e-12)
    omega = math.sqrt(K / MASS)
    run = km.simulate(robot, np.zeros(3), start, duration=0.2, integrator="rk4")
    exact = 0.1 * (1.0 - np.cos(omega * run.time)) + np.sin(omega * run.time) / omega
    assert np.abs(run.q - exact[:, None] * start).max() < 1e-9


def test_a_spring_is_drawn_though_it_has_no_length_for_a_while():
    """Its tube points along the line where there is one, and as before or after where there is none."""
    from kumitate.view.stick_shapes import with_struts

    run = km.simulate(point(stiffness=K), np.zeros(3), [0.0, 0.6, 0.8], duration=0.1, step=0.01)
    drawn, X = with_struts(run.mechanism, run.poses())
    assert [body.name for body in drawn.bodies][-2:] == ["line (tube)", "line (core)"]
    assert np.abs(X[:, -1, :3, 2] - [0.0, 0.6, 0.8]).max() < 1e-9
    still = km.simulate(point(stiffness=K), duration=0.01)
    assert with_struts(still.mechanism, still.poses())[0] is still.mechanism
