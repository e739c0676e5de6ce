"""Points held on surfaces: forces by two routes, closed forms, and the runs of N 5."""

import math
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from kumitate import InputError, Loop, Mechanism, Robot, load, pose
from kumitate.dynamics import Acting, Wrenches, rnea
from kumitate.held.motion import HELD_METHODS, HeldDynamics, friction_power, held_forces
from kumitate.held.point import (
    SLIDING_SPEED,
    CylinderSurface,
    HeldPoint,
    HeldPoints,
    PlaneSurface,
    SphereSurface,
    TracedSurface,
    _along,
)
from kumitate.kinematics import integrate
from kumitate.model import Body, Frame, Joint
from kumitate.run import simulate
from kumitate.simulate.interactions.held import held_motion
from kumitate.spatial import Vector3
from studies.papers.held_arms import CASES, DAMPING, FRICTION, LENGTH, MASS, START, TIP, TWO, arm, simulated, two_points

from ..mechanisms import random_mechanism, random_state

GRAVITY = 9.81
KINDS = ("revolute", "universal", "spherical", "cylindrical", "prismatic")
WAVES = HeldPoint("x", surface=lambda r: r[2] - 0.3 * np.sin(2.0 * r[0]) * np.cos(r[1]) - 0.1)


def random_surface(rng):
    center = tuple(rng.normal(size=3))
    choice = (PlaneSurface(center), SphereSurface(1.3, center), CylinderSurface(0.7, center, (0.2, -0.1, 0.4)), WAVES.surface)
    return choice[int(rng.integers(4))]


def random_held(seed, *, friction=0.4):
    """A random chain with one to three held points; they are off their surfaces, which the equations do not mind."""
    rng = np.random.default_rng(seed)
    count = int(rng.integers(4, 8))
    mechanism = random_mechanism(rng, [str(kind) for kind in rng.choice(KINDS, count)], chain=True)
    points = [
        HeldPoint(
            f"b{count - 1 - k}",
            tuple(rng.normal(scale=0.3, size=3)),
            random_surface(rng),
            float(rng.uniform(0.0, friction)),
            f"p{k}",
        )
        for k in range(int(rng.integers(1, 4)))
    ]
    return random_state(mechanism, rng), HeldPoints(mechanism, points)


def system_of(case, points, method="rows", **options):
    tree = case.mechanism.base_parameter_tree if method == "rows" else case.mechanism.tree
    return HeldDynamics(points, method).system(tree, case.q, case.v, case.tau, Acting(case.mechanism.gravity, **options))


# --- surfaces ---------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("surface", [PlaneSurface((1.0, 2.0, -2.0), (0.1, 0.0, 0.3)), SphereSurface(0.8, (0.3, -0.2, 0.5)),
                                     CylinderSurface(0.6, (1.0, 0.5, 2.0), (0.1, 0.2, 0.0)), WAVES.surface])  # fmt: skip
def test_derivatives_of_surfaces_are_those_of_differences(surface):
    r, rate, h = np.array([0.4, -0.7, 0.9]), np.array([0.3, 1.1, -0.4]), 1e-4
    state = TracedSurface(surface, "here").at(Vector3.of(r.tolist()), Vector3.of(rate.tolist()))
    slope = np.array([(surface(r + h * e) - surface(r - h * e)) / (2.0 * h) for e in np.eye(3)])
    bending = (surface(r + h * rate) - 2.0 * surface(r) + surface(r - h * rate)) / h**2
    size = np.linalg.norm(slope)
    np.testing.assert_allclose(list(state.normal), slope / size, atol=1e-8)
    assert state.gap == pytest.approx(surface(r) / size, rel=1e-8)
    assert state.bending == pytest.approx(bending / size, abs=1e-6)


def test_a_point_is_its_bodys_origin_without_friction_on_the_floor_unless_told_otherwise():
    point = HeldPoint("hand")
    assert (point.point, point.friction, point.surface, point.label) == ((0.0, 0.0, 0.0), 0.0, PlaneSurface(), "hand")
    assert SphereSurface(2.0)([0.0, 0.0, 2.0]) == CylinderSurface(2.0, (0.0, 0.0, 1.0))([0.0, 2.0, 5.0]) == 0.0


def test_ready_made_surfaces_are_where_they_should_be():
    assert PlaneSurface((0.0, 0.0, 2.0), (0.0, 0.0, 0.5))([1.0, 2.0, 0.75]) == pytest.approx(0.25)
    assert SphereSurface(2.0, (1.0, 0.0, 0.0))([1.0, 2.0, 0.0]) == 0.0
    assert CylinderSurface(2.0, (0.0, 3.0, 0.0))([2.0, -7.0, 0.0]) == pytest.approx(0.0, abs=1e-15)


def test_directions_along_a_surface_are_at_right_angles_whatever_its_normal():
    rng = np.random.default_rng(1)
    tilted = [[0.6, 0.8 * math.cos(t), 0.8 * math.sin(t)] for t in (1e-9, -1e-9)]
    axes = [list(sign * row) for row in np.eye(3) for sign in (1.0, -1.0)]
    for n in [*axes, *tilted, *(row / np.linalg.norm(row) for row in rng.normal(size=(20, 3)))]:
        frame = np.array([list(vector) for vector in (*_along(Vector3.of(list(n))), Vector3.of(list(n)))], dtype=float)
        np.testing.assert_allclose(frame @ frame.T, np.eye(3), atol=1e-14)
        assert np.linalg.det(frame) == pytest.approx(1.0, abs=1e-14)


# --- laws -------------------------------------------------------------------------------------------------------------
@pytest.mark.row("N-1", "N-f")
@pytest.mark.parametrize("seed", range(15))
@pytest.mark.parametrize("step", [0.0, 1e-2])
def test_both_routes_give_the_same_forces_and_motion(seed, step):
    case, points = random_held(seed)
    systems = [system_of(case, points, method, implicit_step=step) for method in HELD_METHODS]
    forces = [held_forces(case.mechanism.tree, system) for system in systems]
    np.testing.assert_allclose(forces[0].normal, forces[1].normal, rtol=1e-9)
    motions = [system.accelerations(force.by_row) for system, force in zip(systems, forces, strict=True)]
    np.testing.assert_allclose(motions[0], motions[1], rtol=0.0, atol=1e-9 * np.abs(motions[0]).max())


@pytest.mark.row("N-1", "N-f")
@pytest.mark.parametrize("seed", range(12))
def test_forces_and_motion_obey_newton_and_stay_on_the_surface(seed):
    case, points = random_held(seed)
    mechanism, tree = case.mechanism, case.mechanism.tree
    system = system_of(case, points)
    forces = held_forces(tree, system)
    a = system.accelerations(forces.by_row)
    # with the forces of the surfaces as wrenches from outside, inverse dynamics asks for the drives' forces that act
    frames = tuple(Frame(f"at {p.label}", p.body, pose(p.point)) for p in points.points)
    marked = Mechanism("marked", mechanism.bodies, mechanism.joints, frames=frames, gravity=mechanism.gravity)
    wrenches = {}
    for end, f_n, (x, y), frame in zip(system.ends, forces.normal, forces.friction, frames, strict=True):
        push = end.axes[0] * f_n + end.axes[1] * x + end.axes[2] * y
        wrenches[frame.name] = [0.0, 0.0, 0.0, *push]
    tau = rnea(marked.tree, case.q, case.v, a, gravity=mechanism.gravity, wrenches=Wrenches(marked.tree, wrenches))
    np.testing.assert_allclose(tau, case.tau, atol=1e-9 * (1.0 + max(map(abs, forces.normal))))
    # the second difference of C along the motion is zero
    h = 1e-4
    v, a = np.array(case.v), np.array(a)
    gaps = []
    for t in (-h, 0.0, h):
        q = np.array(integrate(tree, case.q, (t * v + 0.5 * t * t * a).tolist()))
        ends = points.ends(tree, q.tolist(), [0.0] * tree.nv)
        gaps.append([point.surface(list(map(float, end.r))) for point, end in zip(points.points, ends, strict=True)])
    size = 1.0 + np.abs(a).max() + np.abs(v).max() ** 2
    assert np.abs(gaps[0] - 2.0 * np.array(gaps[1]) + gaps[2]).max() / h**2 < 1e-5 * size


@pytest.mark.row("N-1")
@pytest.mark.parametrize("seed", range(20))
def test_friction_has_its_size_and_never_drives(seed):
    case, points = random_held(seed)
    system = system_of(case, points)
    forces = held_forces(case.mechanism.tree, system)
    assert friction_power(system.ends, forces) <= 0.0
    for end, f_n, f_t in zip(system.ends, forces.normal, forces.friction, strict=True):
        speed = math.hypot(*end.slip)
        np.testing.assert_allclose(math.hypot(*f_t), end.friction * abs(f_n) * math.tanh(speed / SLIDING_SPEED), rtol=1e-9)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("slowness", [1.0, 1e-3])
def test_implicit_friction_is_that_of_the_sliding_at_the_end_of_the_step(seed, slowness):
    case, points = random_held(seed, friction=0.15)
    case.v[:] = [slowness * rate for rate in case.v]
    h, tree = 1e-2, case.mechanism.tree
    system = system_of(case, points, implicit_step=h)
    forces = held_forces(tree, system, implicit_step=h)
    row_accelerations = np.array(system.Lambda) @ forces.by_row + system.free
    for k, (end, f_n, f_t) in enumerate(zip(system.ends, forces.normal, forces.friction, strict=True)):
        assert abs(row_accelerations[3 * k]) < 1e-9 * (1.0 + abs(system.free[3 * k]))
        w = np.array(end.slip) + h * row_accelerations[3 * k + 1 : 3 * k + 3]
        law = -end.friction * abs(f_n) * math.tanh(np.linalg.norm(w) / SLIDING_SPEED) * w / np.linalg.norm(w)
        np.testing.assert_allclose(f_t, law, atol=1e-6 * end.friction * abs(f_n))


@pytest.mark.row("N-1")
@pytest.mark.parametrize("seed", [1, pytest.param(4, marks=pytest.mark.slow)])
def test_energy_goes_where_friction_and_damping_take_it(seed):
    rng = np.random.default_rng(seed)
    mechanism = random_mechanism(rng, ["revolute"] * 5, chain=True)
    state = random_state(mechanism, rng)
    (end,) = HeldPoints(mechanism, [HeldPoint("b4")]).ends(mechanism.tree, state.q, state.v)
    here = [float(x) for x in end.r]
    bowl = HeldPoint(
        "b4", (0.0, 0.0, 0.0), lambda r: r[2] - here[2] + 0.4 * (r[0] - here[0]) + 0.3 * (r[1] - here[1]) ** 2, 0.3
    )
    run = simulate(mechanism, state.q, duration=0.3, step=2e-4, integrator="rkf45", held=[bowl])
    moved = held_motion(run, [bowl])["b4"]
    assert np.abs(moved.gap).max() < 1e-12
    assert np.linalg.norm(moved.position[-1] - moved.position[0]) > 1e-2
    assert run.audit.work < 0.0
    # friction is a steep but smooth function of the sliding: from rest, order five is reached only after 1 ms
    assert run.audit.energy_drift < 2e-6 * max(1.0, abs(run.audit.work))
    power = np.einsum("ni,ni->n", moved.friction, moved.velocity)
    assert power.max() <= 0.0


def test_a_loop_is_two_held_points():
    """A pin in a plane holds x and z: a chain with a pinned end and one held point is a chain with three held points."""
    chain = arm(5)
    q = np.array([-0.3, -0.9, -0.4, -0.5, -0.6])
    v, tau = np.array([0.4, -0.2, 0.7, 0.1, -0.3]), [0.3, -0.8, 0.5, 0.2, -0.1]
    (end,) = HeldPoints(chain, [HeldPoint("link5", (0.0, 0.0, LENGTH))]).ends(chain.tree, q.tolist(), v.tolist())
    x, z = float(end.r.x), float(end.r.z)
    pinned = Mechanism(
        "pinned", chain.bodies, chain.joints,
        (Loop("pin", "revolute", "world", "link5", pose((x, 0.0, z)), pose((0.0, 0.0, LENGTH)), axis=(0.0, 1.0, 0.0)),),
    )  # fmt: skip
    middle = HeldPoint("link3", (0.0, 0.0, LENGTH), SphereSurface(0.9, (0.1, 0.0, 0.2)), 0.3, "middle")
    ends = [HeldPoint("link5", (0.0, 0.0, LENGTH), (lambda r, k=k: r[k]), name=f"end {k}") for k in (0, 2)]
    looped, open_chain = HeldPoints(pinned, [middle]), HeldPoints(chain, [middle, *ends])
    one = HeldDynamics(looped).system(pinned.tree, q.tolist(), v.tolist(), tau, Acting(pinned.gravity))
    other = HeldDynamics(open_chain).system(chain.tree, q.tolist(), v.tolist(), tau, Acting(chain.gravity))
    forces = [held_forces(chain.tree, system) for system in (one, other)]
    assert forces[0].normal[0] == pytest.approx(forces[1].normal[0], rel=1e-9)
    motions = [system.accelerations(force.by_row) for system, force in zip((one, other), forces, strict=True)]
    np.testing.assert_allclose(motions[0], motions[1], atol=1e-9 * np.abs(motions[1]).max())


# --- closed forms -----------------------------------------------------------------------------------------------------
def bead(mass=2.0, gravity=(0.0, 0.0, -GRAVITY)):
    """A point mass that slides freely in space."""
    axes = np.eye(3)
    bodies = (Body("along_x", 0.0), Body("along_y", 0.0), Body("bead", mass))
    carriers = ("world", "along_x", "along_y")
    joints = tuple(
        Joint(name, "prismatic", carrier, body.name, axis=tuple(axis))
        for name, carrier, body, axis in zip("xyz", carriers, bodies, axes, strict=True)
    )
    return Mechanism("bead", bodies, joints, gravity=gravity)


@pytest.mark.parametrize("degrees", [5.0, 35.0])
@pytest.mark.parametrize("step", [1e-2, 1e-3])
def test_a_bead_on_a_slope_creeps_or_slides(degrees, step):
    slope, K = math.radians(degrees), 0.3
    plane = HeldPoint("bead", surface=PlaneSurface((math.sin(slope), 0.0, math.cos(slope))), friction=K)
    run = simulate(bead(), duration=2.0, step=step, held=[plane])
    moved = held_motion(run, [plane])["bead"]
    speed = np.linalg.norm(moved.velocity[-1])
    if math.tan(slope) < K:  # it rests, but for the creeping that the smooth law allows
        assert speed == pytest.approx(SLIDING_SPEED * math.atanh(math.tan(slope) / K), rel=1e-6)
    else:
        assert speed == pytest.approx(2.0 * GRAVITY * (math.sin(slope) - K * math.cos(slope)), rel=1e-3)
    np.testing.assert_allclose(moved.normal, 2.0 * GRAVITY * math.cos(slope), rtol=1e-9)


@pytest.mark.parametrize("K", [0.0, 0.25])
def test_a_bead_in_a_drum_is_slowed_by_its_own_pressure(K):
    """f_n = m v²/R and v̇ = −K v²/R: v = v₀/(1 + K v₀ t/R)."""
    R, v_0 = 0.7, 3.0
    drum = HeldPoint("bead", surface=CylinderSurface(R, (0.0, 1.0, 0.0)), friction=K)
    run = simulate(bead(gravity=(0.0, 0.0, 0.0)), (R, 0.0, 0.0), (0.0, 0.0, v_0), duration=2.0, step=1e-3, integrator="rk4",
                   held=[drum])  # fmt: skip
    moved = held_motion(run, [drum])["bead"]
    speed = v_0 / (1.0 + K * v_0 * run.time / R)
    np.testing.assert_allclose(np.linalg.norm(moved.velocity, axis=1), speed, rtol=1e-7)
    np.testing.assert_allclose(moved.normal, -2.0 * speed**2 / R, rtol=1e-6)


def test_a_bead_on_a_sphere_is_a_pendulum():
    ball = HeldPoint("bead", surface=SphereSurface(1.0))
    run = simulate(bead(), (math.sin(1.0), 0.0, -math.cos(1.0)), duration=3.0, step=1e-3, integrator="rkf45", held=[ball])
    solved = solve_ivp(lambda _, x: [x[1], -GRAVITY * math.sin(x[0])], (0.0, 3.0), [1.0, 0.0], "DOP853", rtol=1e-12, atol=1e-12)
    angle, rate = solved.y[:, -1]
    np.testing.assert_allclose(run.q[-1], [math.sin(angle), 0.0, -math.cos(angle)], atol=1e-8)
    (moved,) = held_motion(run, [ball]).values()
    assert moved.normal[-1] == pytest.approx(-2.0 * (rate**2 + GRAVITY * math.cos(angle)), rel=1e-7)
    assert run.audit.energy_drift < 1e-8


# --- the runs of N 5 --------------------------------------------------------------------------------------------------
#: Those that move each in its own way: vi and vii move as v and iv do, see `test_mass_and_damping_count_by_their_ratio`.
DIFFERENT = [number for number in CASES if number not in ("vi", "vii")]


@cache
def ten_milliseconds(number):
    """A case at N's sampling time."""
    return simulated(CASES[number])


def by_hand(case):
    """q (3) of a case at 10 s, from Lagrange's equations in absolute angles, written out and solved by a stiff method."""
    m, d = case.mass * MASS, case.damping * DAMPING
    C = LENGTH * np.array([[0.5, 0.0, 0.0], [1.0, 0.5, 0.0], [1.0, 1.0, 0.5]])  # centers of mass: x = C sin φ, z = C cos φ
    A, turn = C.T @ C, np.array([[1.0, 0.0, 0.0], [-1.0, 1.0, 0.0], [0.0, -1.0, 1.0]])  # q = turn φ

    def rate(t, state):
        phi, omega = state[:3], state[3:]
        s, c, apart = np.sin(phi), np.cos(phi), phi[:, None] - phi
        M = m * (A * np.cos(apart) + LENGTH**2 / 12.0 * np.eye(3))
        tau = np.zeros(3) if case.torque is None else np.array(case.torque(t, None, None))
        push = m * (-(A * np.sin(apart)) @ omega**2 + GRAVITY * C.sum(axis=0) * s) + turn.T @ (tau - d * turn @ omega)
        n, x = -LENGTH * s, LENGTH * c  # height and x of the tip by φ̇
        f = n - FRICTION * math.tanh(x @ omega / SLIDING_SPEED) * x
        held = np.block([[M, -f[:, None]], [n[None], np.zeros((1, 1))]])
        return [*omega, *np.linalg.solve(held, [*push, LENGTH * c @ omega**2])[:3]]

    solved = solve_ivp(rate, (0.0, 10.0), [*np.cumsum(START), 0.0, 0.0, 0.0], "BDF", rtol=1e-8, atol=1e-10)
    return turn @ solved.y[:3, -1]


@pytest.mark.row("N-1", "N-2")
@pytest.mark.parametrize("number", CASES)
def test_the_tip_stays_on_the_floor(number):
    run = ten_milliseconds(number)
    one, other = (held_motion(run, [TIP], method=method)["tip"] for method in HELD_METHODS)
    assert np.abs(one.position[:, 2]).max() < 1e-9
    np.testing.assert_allclose(one.normal, other.normal, rtol=1e-9)
    np.testing.assert_allclose(one.friction, other.friction, atol=1e-9)
    assert one.normal.min() > 0.0  # N's law, f_t = K f_n, is ours with |f_n|
    assert any("on its surface" in note for note in run.audit.notes)


@pytest.mark.row("N-2")
@pytest.mark.parametrize(
    "number", ["iv", *(pytest.param(other, marks=pytest.mark.slow) for other in DIFFERENT if other != "iv")]
)
def test_ten_milliseconds_are_short_enough(number):
    np.testing.assert_allclose(ten_milliseconds(number).q[-1], by_hand(CASES[number]), atol=1e-2)


@pytest.mark.slow
@pytest.mark.row("N-2")
@pytest.mark.parametrize("number", DIFFERENT)
def test_ten_milliseconds_agree_with_a_tenth(number):
    coarse, fine = ten_milliseconds(number), simulated(CASES[number], step=1e-4)
    np.testing.assert_allclose(coarse.q, fine.q[::100], atol=1e-2)
    tip = held_motion(fine, [TIP])["tip"]
    assert np.abs(tip.position[:, 2]).max() < 1e-9


@pytest.mark.row("N-1")
def test_the_extended_newton_euler_method_moves_the_arm_alike():
    runs = [ten_milliseconds("iii"), simulated(CASES["iii"], held_method="newton_euler")]
    np.testing.assert_allclose(runs[0].q, runs[1].q, atol=1e-7)


@pytest.mark.row("N-2")
@pytest.mark.parametrize(("heavy", "loose"), [("iv", "vii"), ("v", "vi")])
def test_mass_and_damping_count_by_their_ratio(heavy, loose):
    """Weight and friction grow with the mass: twice the mass moves as half the damping, with twice the forces."""
    one, other = ten_milliseconds(heavy), ten_milliseconds(loose)
    np.testing.assert_allclose(one.q, other.q, atol=1e-9)
    forces = [held_motion(run, [TIP])["tip"].normal for run in (one, other)]
    np.testing.assert_allclose(forces[0], CASES[heavy].mass * forces[1], rtol=1e-6)


@pytest.mark.row("N-2")
def test_without_projection_the_tip_drifts_and_the_audit_says_so():
    run = simulated(CASES["iii"], baumgarte=0.0)
    tip = held_motion(run, [TIP])["tip"]
    drift = np.abs(tip.gap).max()
    assert 1e-3 < drift < 0.1
    assert any(f"{drift:.3g} m" in note for note in run.audit.notes)
    decaying = held_motion(simulated(CASES["iii"], baumgarte=20.0), [TIP])["tip"]
    assert np.abs(decaying.gap).max() < 0.1 * drift


@pytest.mark.row("N-2")
def test_the_audit_tells_explicit_steps_of_ten_milliseconds():
    """Half the mass makes modes that such steps do not follow: what implicit damping is for."""
    assert simulated(CASES["v"], integrator="rk4").audit.energy_drift > 1e3
    assert ten_milliseconds("v").audit.energy_drift < 0.1


@pytest.mark.row("N-f")
def test_elbow_and_tip_are_held_at_once():
    run = two_points(step=1e-2)
    one, other = (held_motion(run, TWO, method=method) for method in HELD_METHODS)
    assert np.abs(one["elbow"].position[:, 2] - 0.4).max() < 1e-9
    assert np.abs(one["tip"].position[:, 2]).max() < 1e-9
    for name in one:
        np.testing.assert_allclose(one[name].normal, other[name].normal, rtol=1e-9)
        assert np.ptp(one[name].position[:, 0]) > 0.3


# --- use --------------------------------------------------------------------------------------------------------------
def test_wrenches_act_together_with_held_points():
    """A wrench that lifts the tip's weight off is taken from the floor's force."""
    push = {"link3": [0.0, 0.0, 0.0, 0.0, 0.0, 2.0]}
    still = HeldDynamics(HeldPoints(arm(), [TIP]))
    q = list(START)
    plain, lifted = (
        simulate(arm(), q, duration=1e-2, step=1e-2, held=[TIP], wrenches=wrenches) for wrenches in (None, push)
    )  # fmt: skip
    assert still.method == "rows"
    with pytest.raises(InputError, match="wrenches of link3 acted"):
        held_motion(replace(lifted, wrenches={}), [TIP])
    np.testing.assert_array_equal(lifted.wrenches["link3"], np.tile(push["link3"], (len(lifted), 1)))
    given = {"link3": np.tile(push["link3"], (len(lifted), 1))}
    forces = [held_motion(plain, [TIP])["tip"].normal, held_motion(lifted, [TIP])["tip"].normal]
    again = held_motion(lifted, [TIP], wrenches=given, method="newton_euler")["tip"].normal
    np.testing.assert_allclose(forces[1], again, rtol=1e-9)
    assert forces[1][0] < forces[0][0] - 0.5
    with pytest.raises(InputError, match="efforts of shape"):
        held_motion(lifted, [TIP], wrenches={"link3": np.zeros((len(lifted), 3))})


def test_called_controllers_and_compiled_ones_move_the_arm_alike():
    runs = [ten_milliseconds("ii"), simulated(CASES["ii"], traced=False)]
    np.testing.assert_allclose(runs[0].q, runs[1].q, atol=1e-12)


def test_a_held_robot_keeps_its_quaternion():
    rod = load("free_rod").mechanism
    end = HeldPoint("rod", (0.0, 0.0, 1.0), PlaneSurface(through=(0.0, 0.0, 1.0)), 0.2)
    v = (0.3, 0.1, 0.0, 0.1, -0.2, 0.0)
    run = simulate(Robot(rod), v=v, duration=1.0, step=1e-3, held=[end])
    assert run.audit.quaternion_error < 1e-14
    assert np.abs(held_motion(run, [end])["rod"].gap).max() < 1e-12


@pytest.mark.parametrize(
    ("point", "message"),
    [
        (HeldPoint("hand"), "'hand', which is not a body or frame; there are world, link1"),
        (HeldPoint("world"), "which does not move"),
        (HeldPoint("link3", (0.0, math.nan, 0.5)), r"point 'link3': the point in the axes .* must be finite"),
        (HeldPoint("link3", friction=-0.1), "friction K is -0.1; it must be zero or more"),
        (HeldPoint("link3", surface=0.3), "give a function"),
        (HeldPoint("link3", surface=lambda r: math.sin(r[0])), "cannot be traced"),
        (HeldPoint("link3", surface=lambda r: 1.0 if r[2] > 0.0 else r[0]), "cannot be traced"),
        (HeldPoint("link3", surface=lambda r: [r[0], r[1]]), "cannot be traced"),
        (HeldPoint("link3", surface=lambda r: 0.25), "does not depend on r"),
        (HeldPoint("link3", (0.0, 0.0, 0.5), PlaneSurface(through=(0.0, 0.0, 0.1))), "0.1 m off its surface"),
    ],
)
def test_points_that_cannot_be_held_are_refused(point, message):
    with pytest.raises(InputError, match=message):
        simulate(arm(), START, duration=0.1, held=[point])


def test_what_cannot_be_simulated_is_refused():
    with pytest.raises(InputError, match="leaves its surface"):
        simulate(arm(), START, (0.3, 0.0, 0.0), duration=0.1, held=[TIP])
    with pytest.raises(InputError, match="do not constrain one degree of freedom each"):
        simulate(arm(), START, duration=0.1, held=[TIP, HeldPoint("link3", (0.0, 0.0, LENGTH), name="again")])
    with pytest.raises(InputError, match="two held points are named 'tip'"):
        simulate(arm(), START, duration=0.1, held=[TIP, TIP])
    with pytest.raises(InputError, match="there are rows, newton_euler"):
        simulate(arm(), START, duration=0.1, held=[TIP], held_method="newton")
    looped = load("planar_4r")
    held = HeldPoint("link1", (0.0, 0.0, 1.0), SphereSurface(1.0))
    with pytest.raises(InputError, match="Use held_method='rows'"):
        simulate(looped, duration=0.1, held=[held], held_method="newton_euler")
    for surface in (lambda: SphereSurface(0.0), lambda: CylinderSurface(1.0, (0.0, 0.0, 0.0))):
        with pytest.raises(InputError):
            surface()
