"""The player behind the live viewer, without a page: time, sliders, and bodies that are pulled."""

import threading
import time
from dataclasses import replace

import numpy as np
import pytest

import kumitate as km
from kumitate.live.loop import FREQUENCY, Player, Spring, joint_sliders, signals_of
from kumitate.model import Body, Box, Geometry, Joint, Mechanism
from kumitate.model.elements import NamedState


def player_of(robot, **options):
    return Player(km.Simulation(km.load(robot), **options)._with_pulls())


@pytest.fixture
def linkage():
    return player_of("four_bar")


def gap(player):
    robot = player.simulation.robot
    return max(max(one.distance, one.angle) for one in robot.constraint_residual(player.state.q))


def until(condition, seconds=30.0):
    """Waits until something holds, as long as a busy machine may need."""
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.01)
    assert condition()


def test_sliders_keep_loops_closed(linkage):
    crank = linkage.sliders[0]
    q0 = linkage.state.q[crank.q]
    for value in q0 + np.linspace(0.0, 1.0, 11):
        linkage.slide(crank.name, value)
        assert linkage.message == ""
        assert linkage.state.q[crank.q] == pytest.approx(value, abs=1e-12)
        assert gap(linkage) <= 1e-12
    assert not linkage.state.v.any()


def test_a_slider_that_would_open_a_loop_does_not_move():
    """Where the loop cannot be closed, the posture stays; where it can, the joint is where it was asked to be."""
    player = player_of("four_bar")
    before = player.state.q.copy()
    for one in player.sliders:
        for value in np.linspace(one.lower, one.upper, 9):
            player.reset()
            player.slide(one.name, value)
            assert gap(player) <= 1e-12
            assert player.message or np.cos(player.state.q[one.q] - value) == pytest.approx(1.0, abs=1e-12)
            if player.message:
                np.testing.assert_array_equal(player.state.q, before)


def test_sliders_end_at_limits_and_do_not_push_other_joints_past_theirs():
    two = tuple(
        km.Joint(name, "revolute", "world", f"{name} arm", axis=(0, 1, 0), limits=(km.Limits(lower, upper),))
        for name, lower, upper in (("free", -2.0, 2.0), ("narrow", -0.5, 0.5))
    )
    bodies = tuple(km.Body(f"{name} arm", 1.0, (0.1, 0, 0), (0.01, 0.01, 0.01)) for name in ("free", "narrow"))
    geared = km.Mechanism("geared", bodies, two, couplings=(km.Coupling("gear", "narrow", "free", 1.0),))
    player = Player(km.Simulation(geared))
    assert [(one.lower, one.upper) for one in player.sliders] == [(-2.0, 2.0), (-0.5, 0.5)]
    player.slide("free", 0.4)
    np.testing.assert_allclose(player.state.q, [0.4, 0.4], atol=1e-12)
    player.slide("free", 0.6)
    assert "narrow would be at 0.6, outside its limits -0.5 to 0.5" in player.message
    np.testing.assert_allclose(player.state.q, [0.4, 0.4], atol=1e-12)


def test_a_joint_with_one_limit_has_a_slider_beyond_it():
    rod = km.Body("rod", 1.0, (0.1, 0, 0), (0.01, 0.01, 0.01))
    joint = km.Joint("screw", "revolute", "world", "rod", limits=(km.Limits(lower=5.0),))
    (one,) = joint_sliders(km.Mechanism("open", (rod,), (joint,)))
    assert (one.least, one.most, one.lower, one.upper, one.turns) == (5.0, np.inf, 5.0, 5.0 + np.pi, False)


def test_a_joint_without_limits_keeps_its_turns():
    """Gears are not the same after a turn: 7 rad is shown as 7 − 2π, and a slider moved from there stays in that turn."""
    player = player_of("pendulum")
    (angle,) = player.sliders
    at = np.array([7.0])
    assert angle.shown(at) == pytest.approx(7.0 - 2.0 * np.pi)
    assert angle.meant(at, angle.shown(at)) == pytest.approx(7.0)
    assert angle.meant(np.array([0.2]), -0.3) == -0.3


def test_orientations_by_quaternions_have_no_sliders():
    names = {one.name for one in joint_sliders(km.load("floating_arm").mechanism)}
    assert names
    assert not [name for name in names if name.rpartition(".")[2] in {"qx", "qy", "qz", "qw", "x", "y", "z"}]


def test_play_moves_time_and_reset_restores_exactly(linkage):
    first = linkage.state
    linkage.begin()
    try:
        linkage.play()
        until(lambda: linkage.state.time > 0.05)
        linkage.pause()
        linkage.step()
        moved = linkage.state
        assert not np.array_equal(moved.q, first.q)
        assert gap(linkage) <= 1e-9
        linkage.reset()
        assert linkage.state.time == 0.0
        for name, array in first.carried.items():
            np.testing.assert_array_equal(linkage.state.carried[name], array)
    finally:
        linkage.close()
    assert not [thread for thread in threading.enumerate() if "live viewer" in thread.name]


def test_elapsed_time_becomes_steps_and_none_is_lost(monkeypatch):
    """100 pictures at 12.34 ms are 1.234 s, of which all but less than a step is simulated; the motion is that of a run."""
    monkeypatch.setattr("kumitate.live.loop.FRAME", float("inf"))  # a busy machine may take longer than a picture
    player = player_of("pendulum", step=1e-3, integrator="rk4")
    player.play()
    for _ in range(100):
        player.advance(0.01234)
    assert player.state.time in (pytest.approx(1.233), pytest.approx(1.234))
    run = player.simulation.run(duration=round(player.state.time, 6))
    np.testing.assert_allclose(player.state.q, run.q[-1], rtol=1e-12)


def test_a_dragged_body_follows_the_spring():
    """At rest, the spring's force balances the weight: m g along the chord of the pendulum against m ω² of the stretch."""
    player = player_of("pendulum")
    robot = player.simulation.robot
    player.slide(player.sliders[0].name, 0.0)
    (bob,) = player.pulled
    grabbed = robot.pose(player.state.q, bob)[:3, 3] + robot.mechanism.body(bob).center_of_mass
    player.grab(bob, grabbed)
    player.drag(grabbed + np.array([0.3, 0.0, 0.2]))
    spring = player.spring
    assert spring.mass == pytest.approx(1.0)  # a point mass of 1 kg at 1 m can only move across
    player.step(4000)
    q, v = player.state.q, player.state.v
    assert abs(q[0]) > 0.1
    assert abs(v[0]) < 1e-6
    balance = robot.jacobian(q, bob).T @ spring.wrench(robot, q, v) - robot.gravity_forces(q)
    assert abs(balance[0]) < 1e-6
    player.release()
    player.step(200)
    assert abs(player.state.v[0]) > 0.1


def test_a_springs_mass_is_that_of_a_free_body_and_its_force_acts_at_its_point():
    robot = km.load("free_rod")
    q = robot.start[0]
    (rod,) = (body.name for body in robot.mechanism.bodies)
    X = robot.pose(q, rod)
    center = X[:3, :3] @ np.asarray(robot.mechanism.body(rod).center_of_mass) + X[:3, 3]
    spring = Spring.grab(robot, q, rod, center)
    assert spring.mass == pytest.approx(robot.mass)
    np.testing.assert_allclose(spring.end(robot, q), center, atol=1e-14)
    pulled = spring.to(center + np.array([0.0, 0.1, 0.0]))
    wrench = pulled.wrench(robot, q, np.zeros(robot.nv))
    np.testing.assert_allclose(wrench[3:], [0.0, robot.mass * FREQUENCY**2 * 0.1, 0.0], atol=1e-9)
    np.testing.assert_allclose(wrench[:3], np.cross(center - X[:3, 3], wrench[3:]), atol=1e-9)


def test_a_body_that_is_turned_is_not_moved():
    """A couple: the center of mass stays where it is, and the point that was taken comes to where the mouse is."""
    body = Body("top", 2.0, (0.1, 0.0, 0.0), (0.02, 0.02, 0.02), collisions=(Geometry(Box((0.2, 0.2, 0.2))),))
    robot = km.Robot(Mechanism("top", (body,), (Joint("free", "floating", "world", "top"),), gravity=(0.0, 0.0, 0.0)))
    player = Player(km.Simulation(robot)._with_pulls())
    player.grab("top", (0.1, 0.0, 0.3), turns=True)
    player.drag((0.4, 0.0, 0.0))
    player.step(3000)
    X = robot.pose(player.state.q, "top")
    np.testing.assert_allclose(X[:3] @ [0.1, 0.0, 0.0, 1.0], [0.1, 0.0, 0.0], atol=1e-6)
    np.testing.assert_allclose(player.spring.end(robot, player.state.q), [0.4, 0.0, 0.0], atol=1e-2)
    assert np.abs(player.state.v).max() < 0.1


def test_a_diverging_motion_stops_and_says_why():
    robot = km.load("pendulum")
    player = Player(km.Simulation(robot, controller=lambda t, q, v: [1e9 * v[0] ** 3 + 1e9], integrator="rk4"))
    player.play()
    for _ in range(20):
        player.advance(0.02)
    assert not player.playing
    assert "diverge" in player.message or "speed" in player.message, player.message
    assert np.isfinite(player.state.q).all()


def held_arm():
    """An arm whose drives hold it, with a mass that can be changed."""
    robot = km.load("planar_4r")
    joints = [joint.name for joint in robot.mechanism.joints]
    driven = robot.with_drives(dict.fromkeys(joints, km.PositionDrive(kp=400.0, kd=40.0)))
    return Player(km.Simulation(driven, step=1e-3, parameters=["gravity"])._with_pulls())


def test_targets_and_parameters_act_from_the_next_step_as_given_to_a_simulation():
    player = held_arm()
    targets = [one for one in player.settings if one.name == "target"]
    (gravity,) = [one for one in player.settings if one.group == "parameters"]
    assert [player.of(one) for one in targets] == [one.value for one in targets]
    player.set(targets[1], 0.4)
    player.set(gravity, 1.5)
    assert (player.of(targets[1]), player.of(gravity), player.of(targets[0])) == (0.4, 1.5, targets[0].value)
    player.step(50)
    sim, values = player.simulation, [one.value for one in targets]
    values[1] = 0.4
    expected = sim.step(sim.start(), 50, inputs={"target": np.array(values)}, parameters={"gravity": 1.5})
    np.testing.assert_array_equal(player.state.q, expected.q)
    assert abs(player.state.q - sim.step(sim.start(), 50).q).max() > 1e-3


def test_an_impossible_value_is_refused_and_the_old_one_stays():
    robot = km.load("pendulum")
    (body,) = [body.name for body in robot.mechanism.bodies]
    player = Player(km.Simulation(robot, parameters=[f"mass:{body}"]))
    (mass,) = player.settings
    before = player.of(mass)
    player.set(mass, -2.0)
    assert "mass" in player.message
    assert player.of(mass) == before
    player.step(5)
    assert player.state.time == pytest.approx(0.005)


def test_the_past_is_gone_back_to_exactly_and_goes_on_from_there():
    player = player_of("pendulum")
    for _ in range(40):
        player.step(5)
    there = player.past[20]
    player.seek(there.time + 1e-4)
    assert player.state is there
    assert len(player.past) == 41  # what comes later is seen until time goes on
    player.step(5)
    assert [state.time for state in player.past] == sorted(state.time for state in player.past)
    assert len(player.past) == 22
    np.testing.assert_array_equal(player.state.q, player.simulation.step(there, 5).q)
    player.reset()
    assert [state.time for state in player.past] == [0.0]


def test_slow_motion_simulates_a_part_of_the_time(monkeypatch):
    monkeypatch.setattr("kumitate.live.loop.FRAME", float("inf"))
    player = player_of("pendulum", step=1e-3)
    player.speed = 0.2
    player.play()
    for _ in range(50):
        player.advance(0.02)
    assert player.state.time in (pytest.approx(0.199), pytest.approx(0.2))
    assert player.pace == pytest.approx(1.0, abs=0.3)


def test_it_restarts_at_named_states():
    mechanism = km.load("pendulum").mechanism
    first = mechanism.joints[0].name
    named = replace(mechanism, starts=(NamedState("bent", q={first: (0.3,)}),))
    player = Player(km.Simulation(named))
    player.step(10)
    player.reset("bent")
    assert player.state.q[0] == pytest.approx(0.3)
    player.reset()
    assert player.state.time == 0.0


def test_signals_are_those_of_the_states():
    player = Player(km.Simulation(km.load("pendulum"), outputs=("center_of_mass",)))
    player.step(30)
    signals = signals_of(player.simulation.robot, player.state)
    np.testing.assert_array_equal(signals["center_of_mass"].read(player.state), player.state.outputs["center_of_mass"])
    assert signals["center_of_mass"].parts == ("center_of_mass[0]", "center_of_mass[1]", "center_of_mass[2]")
    kinetic, potential, total = signals["energy [J]"].read(player.state)
    assert total == pytest.approx(kinetic + potential)
    for kind, values in (("q", player.state.q), ("v", player.state.v)):
        read = [signal.read(player.state)[0] for name, signal in signals.items() if name.startswith(f"{kind} ")]
        np.testing.assert_array_equal(read, values)


@pytest.mark.parametrize(
    ("joint", "drive", "ends"),
    [
        ("loop0", km.PositionDrive(kp=50.0, kd=5.0), (None, None)),  # a joint that closes a loop has no coordinate in q
        ("pivot0", km.PositionDrive(kp=50.0, kd=5.0), (-np.pi, np.pi)),
        ("pivot0", km.EffortDrive(limit=3.0), (-3.0, 3.0)),
        ("pivot0", km.VelocityDrive(kd=5.0), (None, None)),
    ],
)
def test_targets_of_all_sorts_of_drives_have_their_ends(joint, drive, ends):
    player = Player(km.Simulation(km.load("four_bar").with_drives({joint: drive})))
    (target,) = player.settings
    assert (target.label, target.lower, target.upper) == (f"target {joint}", *ends)
    player.set(target, 0.5)
    player.step(3)
    assert player.message == ""
