"""The examples, each held against an independent reference: equations written by hand, closed forms, another program."""

import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.special import ellipk

import kumitate as km
from kumitate.analysis import closure_determinant, loop_motion
from kumitate.examples.gallery import free_rod
from studies.papers import all_examples
from studies.rows import row

GRAVITY = 9.81


#: Those with motors, controllers, springs with dampers, or files of their own, which have tests of their own.
DRIVEN = (
    "acrobot", "andrews", "balance_on_feet", "bouncing_stick", "car_axis", "cassie", "delta_robot", "excavator",
    "falling_mass", "falling_pendulum", "governor", "held_arm", "held_two_points", "hoap1_fall", "hoap1_jump", "hoap1_walk",
    "humanoid_standing", "pick_up", "quadruped_standing", "rotation_extension", "space_robot", "upper_body_rotation",
    "virtual_four_bar", "virtual_four_bar_singular", "virtual_rssr", "virtual_slider_crank", "virtual_slider_crank_at_rest",
    "virtual_slider_crank_singular", "virtual_two_arms", "wheeled_pendulum_balanced",
)  # fmt: skip


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow) if "40" in name else name for name in all_examples()]
)
def test_examples_run_as_announced(name):
    shown = all_examples()[name]
    assert shown.title
    assert shown.summary
    assert all(row(identity) for identity in shown.rows)
    if name in DRIVEN:
        return
    result = shown.run()
    scale = float(np.abs([result.energy.kinetic, result.energy.potential]).max())
    assert result.mechanism.name == name
    assert result.audit.work == 0.0
    assert result.audit.energy_drift < 1e-7 * scale  # the drift of RKF45 at 1 ms; the wildest, planar_tree_5, has 1e-8
    assert not np.any(result.tau)
    for gap in result.audit.loop_gaps:
        assert gap.distance < 1e-12, gap
        assert gap.angle < 1e-12, gap


# --- planar linkages: Lagrange's equations in absolute angles, by hand ----------------------------------------------
def planar(parents, angles, time, *, reach=0.5, inertia=1.0 / 12.0):
    """Absolute angles (n, links) from +z towards +x [rad] of links of 1 m and 1 kg that fall from rest.

    With c_i = Σ_j C_ij (sin φ_j, cos φ_j) the centers of mass, A = CᵀC:
    Σ_k A_jk (cos(φ_j − φ_k) φ̈_k + sin(φ_j − φ_k) φ̇_k²) + I φ̈_j = g sin φ_j Σ_i C_ij

    Args:
        parents: the link before each one, or None.
        angles: to start from, relative to the parents [rad].
        reach: of the center of mass along its link [m]; inertia: about it [kg·m²].
    """
    n = len(parents)
    lines = []
    for i in range(n):
        lines.append([i] if parents[i] is None else [*lines[parents[i]], i])
    C = np.zeros((n, n))
    for i, line in enumerate(lines):
        C[i, line] = 1.0
        C[i, i] = reach
    A = C.T @ C

    def rate(_, state):
        phi, omega = state[:n], state[n:]
        apart = phi[:, None] - phi
        force = GRAVITY * C.sum(axis=0) * np.sin(phi) - (A * np.sin(apart)) @ omega**2
        return [*omega, *np.linalg.solve(A * np.cos(apart) + inertia * np.eye(n), force)]

    start = [sum(angles[k] for k in line) for line in lines]
    solved = solve_ivp(rate, (0.0, time[-1]), [*start, *np.zeros(n)], "DOP853", time, rtol=1e-12, atol=1e-12)
    return solved.y[:n].T


def relative(phi, parents):
    return np.column_stack([phi[:, i] - (0.0 if parents[i] is None else phi[:, parents[i]]) for i in range(len(parents))])


@pytest.mark.row("T-3.1", "T-3.2")
@pytest.mark.parametrize(
    ("name", "parents", "degrees", "tolerance"),
    [
        ("planar_3r", [None, 0, 1], [135, -45, 225], 2e-8),
        ("planar_tree", [None, 0, 1, 0], [0, 0, 90, 90], 1e-6),
        ("planar_tree_5", [None, 0, 1, 0, 3], [0, 0, 90, 90, 0], 3e-5),
    ],
)
def test_linkages_move_as_lagrange_says(name, parents, degrees, tolerance):
    result = all_examples()[name].run()
    assert result.time[-1] == pytest.approx(3.0)
    expected = relative(planar(parents, np.radians(degrees), result.time), parents)
    # five times what the steps of 1 ms leave: the wilder the motion, the more
    np.testing.assert_allclose(result.q, expected, rtol=0.0, atol=tolerance)


def test_the_double_pendulum_moves_as_lagrange_says():
    result = all_examples()["double_pendulum"].run()
    early = result.time <= 3.0
    expected = relative(planar([None, 0], [1.5 * np.pi, 0.0], result.time[early], reach=1.0, inertia=0.0), [None, 0])
    np.testing.assert_allclose(result.q[early] + [np.pi, 0.0], expected, rtol=0.0, atol=1e-8)


def test_the_pendulum_has_the_period_of_the_elliptic_integral():
    result = all_examples()["pendulum"].run()
    angle = result.q[:, 0]
    period = 4.0 * math.sqrt(1.0 / GRAVITY) * ellipk(math.sin(math.radians(30.0)) ** 2)
    assert f"{period:.4f} s" in all_examples()["pendulum"].summary
    downward = np.flatnonzero((angle[:-1] > 0.0) & (angle[1:] <= 0.0))
    crossings = result.time[downward] + 1e-3 * angle[downward] / (angle[downward] - angle[downward + 1])
    np.testing.assert_allclose(np.diff(crossings), period, atol=1e-7)  # a straight line between samples of 1 ms


# --- closed loops: a parallelogram moves as one pendulum --------------------------------------------------------------
def parallelogram(degrees, time, *, gravity=GRAVITY):
    """θ1 of the thesis's loop [rad], from rest: θ̈ = (6/5)(g/l) sin θ."""
    return pendulum_like(1.2 * gravity, math.radians(degrees), 0.0, time)


def pendulum_like(factor, angle, speed, time):
    solved = solve_ivp(
        lambda _, x: [x[1], factor * math.sin(x[0])], (0, time[-1]), [angle, speed], "DOP853", time, rtol=1e-13, atol=1e-14
    )
    return solved.y[0]


@pytest.mark.row("T-3.3", "T-3.4", "T-sing")
@pytest.mark.parametrize(
    ("name", "degrees", "gravity"),
    [("planar_4r", 135, GRAVITY), ("planar_4r_singular", 60, GRAVITY), ("planar_4r_leaning", 60, GRAVITY * math.sqrt(0.75))],
)
def test_the_closed_loop_moves_as_one_pendulum(name, degrees, gravity):
    result = all_examples()[name].run()
    first = parallelogram(degrees, result.time, gravity=gravity)
    np.testing.assert_allclose(result.q[:, 0], first, rtol=0.0, atol=1e-8)
    np.testing.assert_allclose(result.q[:, 0] + result.q[:, 1], math.pi / 2, rtol=0.0, atol=1e-9)  # the middle rod stays level
    np.testing.assert_allclose(result.q[:, 2], first + math.pi / 2, rtol=0.0, atol=1e-8)
    assert result.audit.energy_drift < 1e-8


@pytest.mark.row("T-3.3", "T-3.4")
@pytest.mark.parametrize(("name", "degrees"), [("planar_4r", 135), ("planar_4r_singular", 60)])
def test_the_fourth_angle_is_that_of_the_last_rod_seen_from_the_ground(name, degrees):
    result = all_examples()[name].run()
    (fourth,) = loop_motion(result.mechanism, result.q, result.v, result.a)
    assert fourth.name == "joint4"
    assert fourth.q[0, 0] == pytest.approx(math.radians(degrees), abs=1e-12)
    np.testing.assert_allclose(fourth.q[:, 0], result.q[:, 0], rtol=0.0, atol=1e-9)  # opposite rods are parallel
    np.testing.assert_allclose(fourth.v[:, 0], result.v[:, 0], rtol=0.0, atol=1e-8)
    # at a sample within 1 ms of the singular posture the loop's equations say little of a
    np.testing.assert_allclose(fourth.a[:, 0], result.a[:, 0], rtol=0.0, atol=2e-4)


@pytest.mark.row("T-3.4")
def test_the_loop_passes_its_singular_posture_five_times():
    result = all_examples()["planar_4r_singular"].run()
    determinant = closure_determinant(result.mechanism, result.q)
    # det(J Jᵀ) is the sum, over triples of joints, of the square of twice their triangle's area: four of cos²θ
    np.testing.assert_allclose(determinant, 4.0 * np.cos(result.q[:, 0]) ** 2, rtol=0.0, atol=1e-12)
    inner = determinant[1:-1]
    lowest = (inner < determinant[:-2]) & (inner < determinant[2:]) & (inner < 1e-3)
    assert np.count_nonzero(lowest) == 5
    assert np.count_nonzero(np.diff(np.sign(np.cos(result.q[:, 0])))) == 5


@pytest.mark.row("T-sing")
def test_the_ground_carries_the_leaning_loop():
    result = all_examples()["planar_4r_leaning"].run()
    robot = km.Robot(result.mechanism)
    some = slice(None, None, 50)
    wrenches = robot.joint_wrenches(result.q[some], result.v[some], result.tau[some], in_world=True)
    # momentum's rate is the weight and what both joints on the ground give: joint4 to the last rod as joint1 to the first
    rate = np.gradient(result.momentum[:, 3:], result.time, axis=0)[some]
    carried = wrenches["joint1"][:, 3:] + wrenches["joint4"][:, 3:] + [0.0, 0.0, -3.0 * GRAVITY]
    np.testing.assert_allclose(carried[1:-1], rate[1:-1], rtol=0.0, atol=1e-3)  # differences of 1 ms
    report = robot.constraint_report(result.q[0])
    assert report.redundant == 3
    for name in ("joint1", "joint2", "joint3", "joint4"):
        assert report.determined[name] == (False, True, False, True, False, True)


@pytest.mark.row("T-3.4", "T-sing")
def test_the_loops_have_their_graphs():
    pytest.importorskip("matplotlib")
    from kumitate.view.panels import panels_of

    drawn = {panel.quantity: panel for panel in panels_of(all_examples()["planar_4r_singular"].run())}
    assert list(drawn) == [
        "Joint angle", "Joint angular velocity", "Joint angular acceleration", "Joint torque", "Energy",
        "Determinant of the loops' J Jᵀ",
    ]  # fmt: skip
    assert drawn["Joint angle"].names == ("joint1", "joint2", "joint3", "joint4")
    shown = all_examples()["planar_4r_leaning"]
    forces = {panel.quantity: panel.names for panel in panels_of(shown.run(), shown.panels) if panel.unit in ("N", "N·m")}
    assert set(forces) == {"Joint force, determined", "Joint force, least in norm", "Joint moment, least in norm"}
    assert {name[-2:] for name in forces["Joint force, determined"]} == {"fx", "fz"}
    assert {name[-2:] for name in forces["Joint force, least in norm"]} == {"fy"}
    assert {name[-2:] for name in forces["Joint moment, least in norm"]} == {"nx", "nz"}


def test_a_point_held_at_a_distance_swings_as_the_pendulum():
    result = all_examples()["distance_pendulum"].run()
    np.testing.assert_allclose(
        result.center_of_mass[-1], [-0.275087462576117, 0.0, -0.961419205099125], rtol=0.0, atol=1e-9
    )  # fmt: skip


@pytest.mark.parametrize("count", [2, pytest.param(40, marks=pytest.mark.slow)])
def test_rows_of_four_bars_topple_as_one_pendulum(count):
    result = all_examples()[f"four_bars_{count}"].run()
    factor = GRAVITY * ((count + 1) / 2 + count) / ((count + 1) / 3 + count)
    lean = pendulum_like(factor, 0.0, 1.0, result.time)
    np.testing.assert_allclose(result.q[:, 0], lean, rtol=0.0, atol=1e-8 if count == 2 else 1e-6)
    if count == 2:
        assert result.q[-1, 0] == pytest.approx(31.7505971869861, abs=1e-8)
        corner = [math.sin(result.q[-1, 0]), math.cos(result.q[-1, 0])]
        np.testing.assert_allclose(corner, [0.328458111540815, 0.944518538178601], rtol=0.0, atol=1e-8)


def test_bricards_mechanism_moves_with_a_period_of_just_under_five_seconds():
    result = all_examples()["bricard"].run()
    potential = result.energy.potential
    inner = potential[1:-1]
    back = result.time[1:-1][(inner > potential[:-2]) & (inner > potential[2:])]
    assert len(back) == 4  # as high as at first on the other side and here again, twice
    assert 4.95 < back[1] < 5.0
    assert km.Robot(result.mechanism).constraint_report(result.q[0]).mobility == 1


# --- the free rod: the symmetric top ----------------------------------------------------------------------------------
def axis_of(result):
    """The direction of the rod in the world (n, 3), from its quaternion."""
    x, y, z, w = result.q[:, :4].T
    return np.column_stack([2.0 * (x * z + w * y), 2.0 * (y * z - w * x), 1.0 - 2.0 * (x * x + y * y)])


@pytest.mark.row("T-3.5")
def test_the_free_rod_moves_as_the_symmetric_top():
    result = all_examples()["free_rod"].run()
    across, along = 1.0 / 12.0, free_rod.AXIAL_INERTIA
    momentum = np.array([across * 0.72, across * 0.48, along * 0.24])  # constant; about it the axis turns evenly
    size = np.linalg.norm(momentum)
    n, phase = momentum / size, (size / across) * result.time[:, None]
    start = np.array([0.0, 0.0, 1.0])
    expected = np.cos(phase) * start + np.sin(phase) * np.cross(n, start) + (1.0 - np.cos(phase)) * n * (n @ start)
    np.testing.assert_allclose(axis_of(result), expected, atol=1e-10)
    np.testing.assert_allclose(result.center_of_mass, np.broadcast_to([0.0, 0.0, 0.5], (len(result), 3)), atol=1e-10)
    np.testing.assert_allclose(result.momentum, np.broadcast_to([*momentum, 0, 0, 0], (len(result), 6)), atol=1e-12)
    np.testing.assert_allclose(result.energy.total, 0.5 * across * (0.72**2 + 0.48**2) + 0.5 * along * 0.24**2, rtol=1e-12)


@pytest.mark.row("T-3.5")
@pytest.mark.parametrize("axial_inertia", [1e-4, 1e-8])
def test_what_the_rod_shows_does_not_depend_on_its_axial_inertia(axial_inertia):
    usual, other = free_rod.run(), free_rod.run(axial_inertia=axial_inertia)
    change = max(axial_inertia, free_rod.AXIAL_INERTIA) / (1.0 / 12.0)  # the share in which the two bodies differ at all
    np.testing.assert_allclose(axis_of(other), axis_of(usual), atol=10.0 * change)
    np.testing.assert_allclose(other.center_of_mass, usual.center_of_mass, atol=1e-9)
    np.testing.assert_allclose(other.energy.total, usual.energy.total, atol=change)
    np.testing.assert_allclose(other.momentum, usual.momentum, atol=change)


@pytest.mark.row("T-3.5")
def test_the_free_rod_reports_its_axial_inertia():
    assert "1e-06 kg·m²" in all_examples()["free_rod"].summary
    told = " ".join(free_rod.run(axial_inertia=1e-4).audit.lines())
    assert "axial_inertia = 0.0001 kg·m²" in told
    assert "do not depend on the value" in told


@pytest.mark.row("T-3.5")
def test_the_free_rod_has_the_graphs_of_the_thesis():
    pytest.importorskip("matplotlib")
    from kumitate.view.panels import panels_of

    drawn = {panel.quantity: panel.unit for panel in panels_of(all_examples()["free_rod"].run())}
    assert drawn == {
        "Base torque": "N·m", "Base force": "N", "Base angular velocity": "deg/s", "Base angular acceleration": "deg/s²",
        "Base quaternion": "", "Base position": "m", "Base velocity": "m/s", "Base acceleration": "m/s²",
        "Center of mass": "m", "Velocity of center of mass": "m/s", "Energy": "J",
    }  # fmt: skip


# --- the PA-10: Pinocchio, with the numbers of its data sheet typed a second time -------------------------------------
def pinocchio_arm(pin):
    model = pin.Model()
    heights = (0.2, 0.315 - 0.2, 0.28, 0.45 - 0.28, 0.25, 0.5 - 0.25, 0.08)
    masses = (9.78, 8.41, 3.52, 4.31, 3.45, 1.46, 0.24)
    centers = (-0.0518, 0.0618, 0.0771, 0.0446, 0.0838, -0.0315, -0.0305)
    joint = 0
    for axis, height, mass, center in zip("zyzyzyz", heights, masses, centers, strict=True):
        kind = pin.JointModelRZ() if axis == "z" else pin.JointModelRY()
        joint = model.addJoint(joint, kind, pin.SE3(np.eye(3), np.array([0.0, 0.0, height])), f"joint{joint + 1}")
        model.appendBodyToJoint(joint, pin.Inertia(mass, np.array([0.0, 0.0, center]), np.eye(3)), pin.SE3.Identity())
    return model


@pytest.mark.row("T-PA10")
def test_the_arm_falls_as_in_pinocchio():
    pin = pytest.importorskip("pinocchio")
    model = pinocchio_arm(pin)
    data = model.createData()
    result = all_examples()["pa10"].run()
    assert result.time[-1] == pytest.approx(10.0)
    np.testing.assert_allclose(np.degrees(result.q[0]), [0, 45, 10, 0, 0, 0, 0])
    for k in range(0, len(result), 97):
        q, v = result.q[k], result.v[k]
        a = pin.aba(model, data, q, v, np.zeros(7))
        np.testing.assert_allclose(result.a[k], a, rtol=0.0, atol=1e-10 * max(1.0, np.abs(a).max()))
        np.testing.assert_allclose(result.energy.kinetic[k], pin.computeKineticEnergy(model, data, q, v), rtol=1e-11)
        np.testing.assert_allclose(result.energy.potential[k], pin.computePotentialEnergy(model, data, q), rtol=0, atol=1e-10)

    def rate(_, x):
        return [*x[7:], *pin.aba(model, data, x[:7], x[7:], np.zeros(7))]

    early = result.time[result.time <= 3.0]
    solved = solve_ivp(rate, (0.0, early[-1]), [*result.q[0], *np.zeros(7)], "DOP853", early, rtol=1e-11, atol=1e-11)
    np.testing.assert_allclose(result.q[: len(early)], solved.y[:7].T, rtol=0.0, atol=1e-7)
