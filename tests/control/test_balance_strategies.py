"""Balance by upper-body motion (thesis 6.3): the robots, the control model, gravity compensation, both strategies."""

import re
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import kumitate as km
from kumitate.analysis import LoopEquations, assemble, push_force, static_equilibrium
from kumitate.analysis.momentum import momentum
from kumitate.control import closed_gravity_compensation, gravity_compensation, half_sine, partition, pulse, push
from kumitate.errors import InputError
from kumitate.kinematics import center_of_mass
from kumitate.model import KINDS, Body, Box, Joint, Mechanism
from kumitate.model.samples import (
    HOAP1_STANDING,
    HOAP2_JOINTS,
    HOAP2_STANDING,
    hoap1,
    hoap2_legs,
    hoap2_legs_free,
    hoap2_reaching,
    hoap2_soles,
)
from kumitate.papers.legged import ThreeJointModel
from kumitate.scalar import cos, sin
from kumitate.spatial import pose
from studies.papers import standing
from studies.papers.standing import STRATEGIES, correlation, model_of, read

from ..mechanisms import seeds

Y, Z = (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)


@cache
def outcome(name: str):
    result = standing.run(STRATEGIES[name])
    return result, read(STRATEGIES[name], result)


# --- the robots -----------------------------------------------------------------------------------------------------
def corners(robot, q, name: str) -> np.ndarray:
    """The lower corners (4, 3) of the one box on a foot."""
    (sole,) = robot.mechanism.body(name).collisions
    assert isinstance(sole.shape, Box)
    x, y, z = np.array(sole.shape.size) / 2.0
    own = np.array([[a * x, b * y, -z, 1.0] for a in (1, -1) for b in (1, -1)])
    return (robot.pose(q, name) @ np.array(sole.pose.matrix()) @ own.T).T[:, :3]


def test_hoap1_has_the_published_size():
    """48 cm, 6 kg, 20 driven joints, hips 39 mm off the middle, thigh and shank 100 mm; it stands on eight corners."""
    robot = km.load(hoap1())
    q = np.array(HOAP1_STANDING)
    assert (robot.nq, robot.nv) == (27, 26)
    assert sum(body.mass for body in robot.mechanism.bodies) == pytest.approx(6.0, abs=1e-12)
    places = {name: robot.pose(q, name)[:3, 3] for name in ("left_thigh", "left_shank", "left_ankle", "right_thigh", "head")}
    assert places["left_thigh"][1] == pytest.approx(0.039) == -places["right_thigh"][1]
    assert places["left_thigh"][2] - places["left_shank"][2] == pytest.approx(0.1)
    assert places["left_shank"][2] - places["left_ankle"][2] == pytest.approx(0.1)
    assert places["head"][2] + 0.036 == pytest.approx(0.48)
    soles = np.vstack([corners(robot, q, f"{side}_foot") for side in ("left", "right")])
    np.testing.assert_allclose(soles[:, 2], 0.0, atol=1e-12)
    assert km.analysis.support_polygon(soles).margin(robot.center_of_mass(q)) > 0.03
    driven = [joint for joint in robot.mechanism.joints if joint.kind.name == "revolute"]
    assert len(driven) == 20
    for joint in driven:
        assert joint.limits[0].lower < 0.0 < joint.limits[0].upper, joint.name


def test_hoap1_is_its_own_mirror_image():
    """Mirrored in its middle plane, every body has the mass and the inertia of its counterpart."""
    mechanism = hoap1()
    mirror = np.diag([1.0, -1.0, 1.0])
    for body in mechanism.bodies:
        if not body.name.startswith("left"):
            continue
        other = mechanism.body(body.name.replace("left", "right"))
        assert body.mass == other.mass
        np.testing.assert_allclose(mirror @ other.center_of_mass, body.center_of_mass, atol=1e-12)
        np.testing.assert_allclose(mirror @ np.array(other.inertia) @ mirror, np.array(body.inertia), atol=1e-12)


@pytest.mark.row("T-6.2")
def test_the_lower_body_is_a_loop_of_ten_joints_and_four_degrees_of_freedom():
    robot = km.load(hoap2_legs())
    q = np.zeros(10)
    assert sum(body.mass for body in robot.mechanism.bodies) == pytest.approx(7.068, abs=5e-4)
    assert robot.constraint_report(q).mobility == 4
    assert sorted(HOAP2_JOINTS) == sorted(robot.mechanism.v_names)
    for lean in (0.05, 0.3):  # both legs forward, the trunk upright: 9 and 4 turn opposite ways along the chain
        turns = {9: lean, 8: -lean, 3: lean, 4: -lean}
        for i, angle in turns.items():
            q[robot.mechanism.v_names.index(HOAP2_JOINTS[i - 1])] = angle
        assert max(gap.distance for gap in robot.constraint_residual(q)) < 1e-12
        np.testing.assert_allclose(robot.pose(q, "trunk")[:3, :3], np.eye(3), atol=1e-12)
        assert robot.pose(q, "trunk")[0, 3] == pytest.approx(0.2 * np.sin(lean))


def test_free_and_held_lower_body_are_one_robot():
    """The floating variant stands on both soles where the held one has them, and moves as it does while its foot rests."""
    free, held = km.load(hoap2_legs_free()), km.load(hoap2_legs())
    q = np.array(HOAP2_STANDING)
    soles = np.vstack([corners(free, q, f"{side}_foot") for side in ("left", "right")])
    np.testing.assert_allclose(np.sort(soles, axis=0), np.sort(np.array(hoap2_soles()), axis=0), atol=1e-12)
    rng = np.random.default_rng(1)
    angles = 0.3 * rng.normal(size=10)
    q[7:] = angles
    np.testing.assert_allclose(free.mass_matrix(q)[6:, 6:], held.mass_matrix(angles), rtol=0.0, atol=1e-14)
    np.testing.assert_allclose(free.pose(q, "right_foot"), held.pose(angles, "right_foot"), atol=1e-14)


def test_the_reaching_arm_is_stretched_forward():
    """Shoulder and elbow at 60 deg: upper arm 60 deg and forearm 120 deg from hanging (fig. 6.5b)."""
    hand = km.load(hoap2_reaching()).pose(np.zeros(10), "left_hand")[:3, 3]
    turns = np.radians([60.0, 120.0])
    way = 0.101 * np.array([np.sin(turns[0]), 0.0, -np.cos(turns[0])]) + 0.12 * np.array(
        [np.sin(turns[1]), 0.0, -np.cos(turns[1])]
    )
    np.testing.assert_allclose(hand, np.array([0.0, 0.0995, 0.3805]) + way, atol=1e-12)


# --- the control model (figure 6.7) ---------------------------------------------------------------------------------
def three_joints(model: ThreeJointModel) -> Mechanism:
    """The model as bodies: leg, hip, upper body; a weightless one between the hip's two turns."""
    round_ = (0.01, 0.01, 0.01)
    bodies = (
        Body("leg", model.leg, (0.0, 0.0, model.leg_center), round_),
        Body("hip", model.hip),
        Body("yoke"),
        Body("body", model.body, (0.0, 0.0, model.body_center), round_),
    )
    joints = (
        Joint("a", KINDS["revolute"], "world", "leg", axis=Y),
        Joint("top", KINDS["fixed"], "leg", "hip", pose((0.0, 0.0, model.leg_length))),
        Joint("h1", KINDS["revolute"], "hip", "yoke", axis=Z),
        Joint("h2", KINDS["revolute"], "yoke", "body", axis=Y),
    )
    return Mechanism("three_joints", bodies, joints)


def random_model(rng) -> ThreeJointModel:
    return ThreeJointModel(*rng.uniform(0.2, 2.0, 6).tolist())


@pytest.mark.row("T-6.4")
@pytest.mark.parametrize(**seeds(8))
def test_the_models_coupling_is_the_numeric_momentum(seed):
    """Momentum along x of unit rates, the general partition's x row, and differences of the center of mass agree with it."""
    rng = np.random.default_rng(seed)
    model, angles = random_model(rng), rng.uniform(-2.0, 2.0, 3)
    tree = three_joints(model).tree
    row = np.array(model.coupling(*angles))
    np.testing.assert_allclose(row, [momentum(tree, angles, unit)[3] for unit in np.eye(3)], atol=1e-13)
    np.testing.assert_allclose(row, partition(tree, angles).M_fl[3], atol=1e-13)
    h, mass = 1e-6, model.leg + model.hip + model.body
    ways = [(center_of_mass(tree, angles + h * u)[0] - center_of_mass(tree, angles - h * u)[0]) / (2 * h) for u in np.eye(3)]
    np.testing.assert_allclose(row, mass * np.array(ways), atol=1e-8)


@pytest.mark.parametrize(**seeds(4))
def test_the_ankle_follows_without_momentum(seed):
    """n_1 = (n_11, 0, n_31) is in the null space: M_fl n_1 = 0 (eq. 6.11); n_31 as printed is not."""
    rng = np.random.default_rng(seed)
    model, (a, h1, h2) = random_model(rng), rng.uniform(-1.0, 1.0, 3)
    rate = model.reactionless_ankle_rate(a, h1, h2, 1.7)
    row = model.coupling(a, h1, h2)
    assert row[0] * rate + row[2] * 1.7 == pytest.approx(0.0, abs=1e-13)
    carried = model.body * model.body_center
    printed = (model.leg * model.leg_center + model.hip * model.leg_length) * cos(a)
    printed += carried * cos(a) * cos(h2) - sin(a) * sin(h1) * sin(h2)
    assert abs(printed - row[0]) > 1e-3


def test_the_model_of_the_robot_has_its_momentum():
    """All but the masses of ankles and feet; both legs leaning, and the trunk bowing, have the robot's momentum along x."""
    mechanism = hoap2_legs()
    model = model_of(mechanism)
    below = [body for body in mechanism.bodies if body.name.split("_")[-1] in ("ankle", "foot")]
    whole = sum(body.mass for body in mechanism.bodies)
    assert model.leg + model.hip + model.body == pytest.approx(whole - sum(body.mass for body in below))
    assert model.leg_length == pytest.approx(0.2)
    robot = km.load(mechanism)
    leaning = np.zeros(10)
    for i, rate in {9: 1.0, 4: -1.0}.items():  # both legs and the trunk with them, about the ankles
        leaning[mechanism.v_names.index(HOAP2_JOINTS[i - 1])] = rate
    assert model.coupling(0.0, 0.0, 0.0)[0] == pytest.approx(robot.momentum(np.zeros(10), leaning)[3], rel=0.005)
    bowing = np.zeros(10)
    for i, rate in {8: 1.0, 3: -1.0}.items():
        bowing[mechanism.v_names.index(HOAP2_JOINTS[i - 1])] = rate
    assert model.coupling(0.0, 0.0, 0.0)[2] == pytest.approx(robot.momentum(np.zeros(10), bowing)[3], rel=0.005)


def test_a_part_without_mass_is_refused():
    with pytest.raises(InputError, match="have no mass"):
        ThreeJointModel.of(hoap2_legs(), [], ["left_hip"], ["trunk"], ankle="left_ankle", hip="left_hip")


# --- gravity compensation and pushes --------------------------------------------------------------------------------
def closed_posture(seed: int) -> tuple[Mechanism, np.ndarray]:
    mechanism = hoap2_legs()
    return mechanism, assemble(LoopEquations(mechanism), 0.2 * np.random.default_rng(seed).normal(size=10))[0]


@pytest.mark.row("T-6.2")
@pytest.mark.parametrize(**seeds(3))
def test_closed_gravity_compensation_holds_with_the_least_torques(seed):
    """The closed mechanism stays at rest; the torques are those of `static_equilibrium`, which finds them by another road."""
    mechanism, q = closed_posture(seed)
    robot, still = km.load(mechanism), np.zeros(10)
    tau = closed_gravity_compensation(mechanism)(0.0, q, still)
    tree = gravity_compensation(mechanism)(0.0, q, still)
    np.testing.assert_allclose(robot.forward_dynamics(q, still, tau), 0.0, atol=1e-9)
    np.testing.assert_allclose(robot.forward_dynamics(q, still, tree), 0.0, atol=1e-9)
    np.testing.assert_allclose(tau, static_equilibrium(LoopEquations(mechanism), q).tau, atol=1e-9)
    assert np.linalg.norm(tau) < 0.99 * np.linalg.norm(tree)


def test_without_loops_it_is_the_plain_one():
    arm = km.load("pa10")
    q = np.linspace(0.1, 0.9, 7)
    np.testing.assert_allclose(
        closed_gravity_compensation(arm)(0.0, q, q), gravity_compensation(arm)(0.0, q, q), rtol=0.0, atol=1e-12
    )


def test_a_push_is_a_force_for_its_time():
    wrench = push((3.0, -2.0, 1.0), pulse(1.0, 1.1))
    np.testing.assert_array_equal(wrench(1.0, None, None), [0.0, 0.0, 0.0, 3.0, -2.0, 1.0])
    assert not np.any(wrench(0.999, None, None))
    assert not np.any(wrench(1.1, None, None))
    blow, soft = half_sine(2.0, 2.5), pulse(1.0, 1.1, rise=0.02)
    np.testing.assert_allclose([blow(t) for t in (1.9, 2.0, 2.125, 2.25, 2.6)], [0.0, 0.0, np.sqrt(0.5), 1.0, 0.0], atol=1e-12)
    times = np.linspace(0.9, 1.2, 3001)
    assert np.trapezoid([soft(t) for t in times], times) == pytest.approx(0.1, rel=1e-9)
    with pytest.raises(InputError, match="2 components"):
        push((1.0, 0.0), pulse(0.0, 1.0))
    with pytest.raises(InputError, match=r"cannot rise for 0\.2 s"):
        pulse(1.0, 1.1, rise=0.2)


@pytest.mark.row("T-6.0")
def test_a_steady_push_shows_in_the_center_of_pressure():
    """Eq. 6.5 gives back the force that a body at rest answers a push with: minus the push."""
    robot = km.load(hoap2_legs_free())
    q, still = np.array(HOAP2_STANDING), np.zeros(16)
    at, f = robot.pose(q, "right_shoulder_back")[:3, 3], 2.5
    pressure = robot.zmp(q, still, still, wrenches={"right_shoulder_back": [0.0, 0.0, 0.0, f, 0.0, 0.0]})
    mass = sum(body.mass for body in robot.mechanism.bodies)
    found = push_force(mass, 9.81, float(at[2]), float(robot.center_of_mass(q)[0]), float(pressure[0]))
    assert found == pytest.approx(-f, rel=1e-12)


# --- the strategies -------------------------------------------------------------------------------------------------
@pytest.mark.row("T-6.3")
def test_upper_body_rotation_turns_the_trunk_about_z():
    """With the printed gains the momenta about y and z run in opposite phase, and the trunk turns about z above all."""
    result, shown = outcome("rotation")
    assert correlation(shown) < -0.5
    assert result.settings["forcing"] == "compiled"
    _, about_y, about_z = np.ptp(shown.trunk, axis=0)
    assert about_z > 1.5 * about_y
    _, alone = outcome("rotation, eq. 6.6 of the reaction alone")
    assert shown.margin.min() > 0.005
    assert alone.margin.min() < -0.05  # the robot would fall
    assert np.degrees(alone.trunk[:, 1].min()) < -25.0  # backward
    assert alone.moved.max() > 5.0 * shown.moved.max()


@pytest.mark.row("T-6.4")
def test_rotation_extension_keeps_center_of_mass_and_zero_moment_point():
    """In phase; the center of mass moves < 10 mm; the zero-moment point stays in the soles, and leaves them without the law."""
    result, shown = outcome("combined")
    assert correlation(shown) > 0.5
    assert shown.moved.max() < 0.010
    assert shown.margin.min() > 0.005
    assert max(gap.distance for gap in result.audit.loop_gaps) < 1e-12
    for name in ("combined, eq. 6.6 alone", "combined, retuned without eq. 6.13"):
        _, alone = outcome(name)
        assert alone.margin.min() < 0.0
        assert alone.moved.max() > 0.03
    _, printed = outcome("combined, gains as printed, half sine")  # these gains hold what a softer blow of 10 N brings
    assert correlation(printed) > 0.5
    assert printed.margin.min() > 0.0


@pytest.mark.row("T-6.4")
def test_the_readings_are_what_the_feet_bear():
    """The zero-moment point again, from the forces at both ankles: by the joints' forces instead of the rate of momentum."""
    result, shown = outcome("combined")
    strategy = STRATEGIES["combined"]
    robot = km.load(result.mechanism)
    some = np.flatnonzero(np.isin(np.round(result.time, 6), (0.5, 1.03, 1.05, 1.08, 1.2, 1.5)))
    assert len(some) == 6
    wrench = strategy.wrench()
    for k in some:
        q, v, t = result.q[k], result.v[k], result.time[k]
        forces = robot.joint_wrenches(
            q, v, result.tau[k], wrenches={strategy.place: np.asarray(wrench(t, q, v), dtype=float)}
        )  # fmt: skip
        floor = np.zeros(6)
        for name, body in (("left_ankle_roll", "left_ankle"), ("right_foot_hold", "right_foot")):
            X = robot.pose(q, body)
            force = X[:3, :3] @ forces[name][3:]
            floor += [*(X[:3, :3] @ forces[name][:3] + np.cross(X[:3, 3], force)), *force]
        foot = result.mechanism.body("left_foot")
        at = robot.pose(q, "left_foot") @ [*foot.center_of_mass, 1.0]
        weight = np.array([0.0, 0.0, 9.81 * foot.mass])
        floor += [*np.cross(at[:3], weight), *weight]
        np.testing.assert_allclose(shown.zmp[k, :2], [-floor[1] / floor[5], floor[0] / floor[5]], atol=1e-9)


def test_the_torques_act_on_top_of_gravity_compensation():
    """Without gravity, and without what carries it, the motion is the same: nothing of the springs bears weight."""
    strategy = STRATEGIES["combined"]
    mechanism = strategy.mechanism()
    light = replace(mechanism, gravity=(0.0, 0.0, 0.0))
    runs = [
        km.simulate(
            m, duration=1.2, step=2e-3, integrator="rkf45", controller=strategy.controller(m),
            wrenches={strategy.place: strategy.wrench()},
        )
        for m in (mechanism, light)
    ]  # fmt: skip
    np.testing.assert_allclose(runs[0].q, runs[1].q, atol=1e-9)
    assert np.abs(runs[0].q[-1]).max() > 0.1
    assert np.abs(runs[0].tau[0]).max() > 0.05 > np.abs(runs[1].tau[0]).max()


def test_traced_and_called_controllers_move_alike():
    strategy = STRATEGIES["combined"]
    mechanism = strategy.mechanism()
    start = {"duration": 0.06, "step": 2e-3, "integrator": "rkf45", "controller": strategy.controller(mechanism)}
    q = assemble(LoopEquations(mechanism), 0.05 * np.random.default_rng(2).normal(size=10))[0]
    compiled, called = (km.simulate(mechanism, q, traced=traced, **start) for traced in (True, False))
    assert (compiled.settings["forcing"], called.settings["forcing"]) == ("compiled", "called")
    np.testing.assert_allclose(compiled.q, called.q, atol=1e-12)


@pytest.mark.slow
def test_the_table_in_the_documents_is_what_the_runs_say():
    page = (Path(__file__).parents[2] / "docs" / "balance.md").read_text(encoding="utf-8")

    def numbers(text: str) -> list[float]:
        return [float(x.replace("−", "-")) for x in re.findall(r"[-−+]?\d+(?:\.\d+)?", text)]

    wanted = standing.table().splitlines()
    for line in wanted[2:]:
        title = line.split(" | ")[0]
        found = next(row for row in page.splitlines() if row.startswith(title + " |"))
        np.testing.assert_allclose(numbers(found), numbers(line), atol=1.0)
