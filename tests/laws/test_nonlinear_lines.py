"""Springs and dampers between points whose force is a function of length and rate: closed forms, and the linear spring."""

import warnings

import numpy as np
import pytest
from scipy.special import ellipk

import kumitate as km
from kumitate.analysis import fastest_rate
from kumitate.errors import InputError, KumitateWarning, ModelError
from kumitate.model.mechanism import digest
from kumitate.model.read.json import to_json
from kumitate.model.write import mechanism_text
from kumitate.records.readings import powers_of

MASS, K, D, REST = 2.0, 50.0, 0.7, 0.3


def slider(kind=None, **line):
    """A mass that slides along x, and a line to it from a point a metre behind."""
    block = km.Body("block", MASS, inertia=(0.1, 0.1, 0.1))
    slide = km.Joint("slide", "prismatic", "world", "block", axis=(1, 0, 0))
    spring = km.Loop("spring", kind or km.Line(), "world", "block", km.pose((-1, 0, 0)), **line)
    return km.load(km.Mechanism("slider", (block,), (slide,), (spring,), gravity=(0, 0, 0)))


def swinging(kind, **line):
    """Two bodies in space, turning, with a line between points off their centres, and a pendulum on a loop beside them."""
    rng = np.random.default_rng(3)
    bodies = [km.Body(name, 1.0, inertia=(0.2, 0.3, 0.4), center_of_mass=rng.normal(size=3) * 0.1) for name in "ab"]
    joints = [km.Joint(f"free {name}", "floating", "world", name) for name in "ab"]
    ends = {"pose_a": km.pose((0.1, 0.2, 0.3)), "pose_b": km.pose((-0.2, 0.1, 0.0), (0.3, 0.2, 0.1))}
    rod = km.Loop("rod", km.Distance(1.5), "world", "a", km.pose((0.2, -1.0, 0.5)))
    return km.load(km.Mechanism("two", tuple(bodies), tuple(joints), (km.Loop("line", kind, "a", "b", **ends, **line), rod)))


def linear(length, rate):
    return K * (length - REST) + D * rate


def states(robot, count):
    rng = np.random.default_rng(11)
    q = [[x for joint in robot.mechanism.joints for x in joint.kind.random(rng)] for _ in range(count)]
    return np.array(q), rng.normal(size=(count, robot.nv))


@pytest.mark.parametrize("method", ["aba", "crba", "unit_vector", "ada", "dca", "hybrid"])
def test_a_linear_force_is_the_linear_spring_and_damper(method):
    function, constants = swinging(km.Line(force=linear)), swinging(km.Line(), stiffness=K, rest=REST, damping=D)
    q, v = states(constants, 4)
    tau = np.zeros((4, 12))
    expected = constants.forward_dynamics(q, v, tau, method=method)
    assert np.abs(expected).max() > 10.0
    found = function.forward_dynamics(q, v, tau, method=method)
    assert np.abs(found - expected).max() <= 1e-12 * np.abs(expected).max()
    single = np.array([function.forward_dynamics(*row, method=method) for row in zip(q, v, tau, strict=True)])
    assert np.array_equal(single, found)
    assert fastest_rate(function.mechanism, q[0], v[0])[0] == pytest.approx(fastest_rate(constants.mechanism, q[0], v[0])[0])


@pytest.mark.parametrize("force", [None, lambda length, rate: 3.0 * rate])
def test_dampers_along_a_joint_and_a_line_add_up(force):
    """m v̇ = −(c₁ + c₂) v: a slider of 2 kg, whose joint has 4 N·s/m and the line along it 3."""
    body = km.Body("slider", 2.0, inertia=(0.1,) * 3)
    rail = km.Joint("rail", "prismatic", "world", "slider", axis=(1, 0, 0), damping=(4.0,))
    damper = {} if force else {"damping": (3.0,)}
    line = km.Loop("damper", km.Line(force=force), "world", "slider", km.pose((-1.0, 0.0, 0.0)), **damper)
    damped = km.Mechanism("damped", (body,), (rail,), (line,))
    assert fastest_rate(damped, np.zeros(1), np.ones(1)) == (pytest.approx(3.5, rel=1e-12), "rail")


def test_runs_with_a_linear_force_are_those_of_the_spring_and_damper():
    """Explicit steps, and steps implicit in the force; records of the loop and the power of what is lost among them."""
    function, constants = swinging(km.Line(force=linear)), swinging(km.Line(), stiffness=K, rest=REST, damping=D)
    q = constants.assemble(states(constants, 1)[0][0])
    for integrator in ("semi_implicit_euler", "rk4"):
        one, other = (km.simulate(r, q, duration=0.1, step=1e-3, integrator=integrator) for r in (function, constants))
        assert np.abs(one.q - other.q).max() < 1e-12
        assert np.abs(one.v - other.v).max() < 1e-11
    for of in (lambda run: run.loops["line"].q, lambda run: run.loops["line"].effort, lambda run: run.joint_wrenches()["line"]):
        assert np.abs(of(one) - of(other)).max() < 1e-11 * np.abs(of(other)).max()
    assert max(one.audit.energy_drift, other.audit.energy_drift) < 1e-8
    lost, stored = powers_of(one), powers_of(other)
    assert not lost.springs.any()
    assert np.abs(stored.springs).max() > 1.0
    assert lost.total == pytest.approx(stored.total, rel=1e-11, abs=1e-10)


def test_a_cubic_spring_swings_with_the_period_of_duffing():
    """m ẍ + a x + b x³ = 0 from x = A: T = 4 K(k²)/Ω with Ω² = (a + b A²)/m and k² = b A²/(2 m Ω²)."""
    a, b, far = 30.0, 400.0, 0.5
    robot = slider(km.Line(force=lambda length, rate: a * (length - 1.0) + b * (length - 1.0) ** 3))
    rate = np.sqrt((a + b * far**2) / MASS)
    period = 4.0 * ellipk(b * far**2 / (2.0 * MASS * rate**2)) / rate
    run = km.simulate(robot, [far], duration=period, step=period / 2000, integrator="rk4")
    assert run.q[-1, 0] == pytest.approx(far, abs=1e-9)
    assert abs(run.v[-1, 0]) < 1e-8
    assert run.q[1000, 0] == pytest.approx(-far, abs=1e-9)
    assert run.audit.energy_drift < 1e-9 * 0.5 * MASS * np.ptp(run.v) ** 2
    assert run.loops["spring"].effort[:, 0] == pytest.approx(-(a * run.q[:, 0] + b * run.q[:, 0] ** 3), abs=1e-9)


def test_a_cubic_damper_brakes_by_its_closed_form_and_its_loss_is_accounted_for():
    """m v̇ = −c v³: v = v₀/√(1 + 2 c v₀² t/m). The audit counts its work, and the power of damping is −c v⁴."""
    c, v0 = 3.0, 2.0
    robot = slider(km.Line(force=lambda length, rate: c * rate**3))
    run = km.simulate(robot, [0.0], [v0], duration=0.5, step=1e-3, integrator="rk4")
    expected = v0 / np.sqrt(1.0 + 2.0 * c * v0**2 * run.time / MASS)
    assert run.v[:, 0] == pytest.approx(expected, rel=1e-10)
    assert run.audit.energy_drift < 1e-9 < 0.5 * MASS * (v0**2 - run.v[-1, 0] ** 2)
    assert powers_of(run).damping.sum(axis=1) == pytest.approx(-c * run.v[:, 0] ** 4, rel=1e-12)


def test_implicit_steps_hold_a_stiff_force_that_hardens():
    """A damper of c = 1e6 N·s/m: explicit steps of 1 ms would diverge at 2 m/h = 4000; a falling slope is not made inertia."""
    stiff = slider(km.Line(force=lambda length, rate: 1e6 * rate + 1e3 * (length - 1.0) ** 3))
    run = km.simulate(stiff, [0.2], [1.0], duration=0.05, step=1e-3, integrator="semi_implicit_euler")
    assert np.abs(run.v[1:]).max() < 0.003
    assert run.q[-1, 0] == pytest.approx(0.2, abs=1e-4)
    soft = slider(km.Line(force=lambda length, rate: -60.0 * (length - 1.0)))
    run = km.simulate(soft, [0.1], duration=0.2, step=1e-4, integrator="semi_implicit_euler")
    assert run.q[-1, 0] == pytest.approx(0.1 * np.cosh(np.sqrt(60.0 / MASS) * 0.2), rel=1e-3)


def test_linearize_has_the_slopes_of_the_force():
    """A three-link arm with a line to the world: central differences of its accelerations; the slider in closed form."""
    arm = km.load("planar_3r").mechanism
    kind = km.Line(force=lambda length, rate: 20.0 * (length - 0.3) ** 3 + 2.0 * rate * length + rate**3)
    line = km.Loop("line", kind, "world", "link3", km.pose((0.4, 0.0, 1.0)), km.pose((0.0, 0.0, 0.7)))
    robot = km.Robot(km.Mechanism("pulled", arm.bodies, arm.joints, (line,)))
    x, n = np.array([0.3, 0.8, -0.5, 0.4, -0.7, 0.9]), 3
    shifts = 1e-5 * np.eye(2 * n)
    ahead, behind = (
        robot.forward_dynamics((x + side * shifts)[:, :n], (x + side * shifts)[:, n:], np.zeros((6, 3))) for side in (1, -1)
    )
    A = np.asarray(km.linearize(robot, x[:n], x[n:]).A)
    assert np.abs(A[n:] - (ahead - behind).T / 2e-5).max() < 1e-7 * np.abs(A).max()
    one, x, rate = slider(km.Line(force=lambda length, rate: 20.0 * length**3 + 2.0 * rate * length)), 0.2, 0.5
    expected = [[0.0, 1.0], [-(60.0 * (1 + x) ** 2 + 2.0 * rate) / MASS, -2.0 * (1 + x) / MASS]]
    assert np.abs(np.asarray(km.linearize(one, [x], [rate]).A) - expected).max() < 1e-12


def test_functions_are_told_apart_by_what_they_compute():
    def cubic(strength):
        return slider(km.Line(force=lambda length, rate: strength * (length - 1.0) ** 3)).mechanism

    same, other = cubic(5.0), cubic(6.0)
    assert cubic(5.0) == same != other
    assert digest(cubic(5.0)) == digest(same) != digest(other) is not None
    assert hash(cubic(5.0)) == hash(same)
    ends = [km.simulate(m, [0.5], duration=0.1, step=1e-3).q[-1, 0] for m in (same, other, cubic(5.0))]
    assert ends[0] == ends[2] != ends[1]


@pytest.mark.parametrize("suffix", [".urdf", ".xml"])
def test_files_of_robots_report_the_line(suffix, tmp_path):
    robot = slider(km.Line(force=linear))
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        mechanism_text(robot.mechanism, tmp_path / f"robot{suffix}")
    assert any("nonlinear line" in str(item.message) and "spring" in str(item.message) for item in told)


def test_json_refuses_the_line_by_its_name():
    with pytest.raises(ModelError, match="force of the line 'spring' is a function"):
        to_json(slider(km.Line(force=linear)).mechanism)


def test_a_force_without_direction_is_refused():
    for force in (lambda length, rate: length - 1.0, lambda length, rate: 1.0 / length):
        robot = slider(km.Line(force=force))
        assert robot.forward_dynamics([1.0], [0.0], [0.0]) == pytest.approx(-force(2.0, 0.0) / MASS)
        with pytest.raises(InputError, match="'spring' has no length at this state, where its force"):
            robot.forward_dynamics([-1.0], [0.0], [0.0])
    robot = slider(km.Line(force=lambda length, rate: length**3))
    assert robot.forward_dynamics([-1.0], [0.0], [0.0]) == 0.0


@pytest.mark.parametrize(
    ("force", "said"),
    [
        (3.0, "give a function"),
        (lambda length: length, "cannot be compiled"),
        (lambda length, rate: np.random.default_rng().normal() * rate, "cannot be compiled"),
        (lambda length, rate: 1.0 if length > 1.0 else 0.0, "cannot be compiled"),
        (lambda length, rate: float("nan") * rate, "cannot be compiled"),
        (lambda length, rate: [length, rate], "cannot be compiled"),
    ],
)
def test_what_is_no_force_is_refused(force, said):
    with pytest.raises(ModelError, match=said):
        km.Line(force=force)


def test_lines_work_under_rigid_contact():
    """A ball on a line falls to the floor and bounces: by a function, or by a spring and a damper, it is the same run."""
    ball = km.Body("ball", MASS, inertia=(0.02, 0.02, 0.02), collisions=(km.Geometry(km.Sphere(0.1)),))
    free = km.Joint("free", "floating", "world", "ball")
    ends = {"pose_a": km.pose((0, 0, 1.0)), "pose_b": km.pose((0.05, 0, 0))}
    runs = [
        km.simulate(km.Mechanism("ball", (ball,), (free,), (km.Loop("line", kind, "world", "ball", **ends, **line),)),
                    [0, 0, 0, 1, 0.3, 0.1, 0.4], [0, 0, 0, 0.5, 0, -3.0], duration=0.3, contact="rigid")
        for kind, line in ((km.Line(force=linear), {}), (km.Line(), {"stiffness": K, "rest": REST, "damping": D}))
    ]  # fmt: skip
    assert runs[0].contact.force.max() > 100.0
    assert np.abs(runs[0].q - runs[1].q).max() < 1e-11


@pytest.mark.parametrize("suffix", ["npz", "h5"])
def test_runs_with_nonlinear_lines_are_saved_without_the_force_and_say_so(tmp_path, suffix):
    machine = slider(km.Line(force=linear)).mechanism
    run = km.simulate(machine, duration=0.1)
    path = run.save(tmp_path / f"run.{suffix}")
    (name,) = (loop.name for loop in machine.loops)
    with pytest.warns(
        KumitateWarning, match=f"the forces of the lines '{name}' are functions, which files of runs do not have"
    ):
        again = km.open(path)
    for part in ("q", "v", "a", "tau"):
        np.testing.assert_array_equal(getattr(again, part), getattr(run, part))
    assert again.mechanism.loops[0].kind == km.Line()
    np.testing.assert_array_equal(again.loops[name].q, run.loops[name].q)
    for ask in (lambda: again.loops[name].effort, again.joint_wrenches, lambda: powers_of(again)):
        with pytest.raises(InputError, match=f"depend on the forces of the lines '{name}', which are functions"):
            ask()
    with pytest.warns(KumitateWarning, match="forces of loops are left out"):
        twice = again.save(tmp_path / f"again.{suffix}")
    with pytest.warns(KumitateWarning, match="files of runs do not have"):
        assert km.open(twice).settings == again.settings
