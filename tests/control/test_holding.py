"""Drives that hold a robot: their gains, the motion that follows from them, and the command's option."""

from __future__ import annotations

import json
import re
import warnings

import numpy as np
import pytest

import kumitate as km
from kumitate import control
from kumitate.analysis import loop_equations
from kumitate.cli.app import run
from kumitate.contact import lowest_bodies
from kumitate.control import holding_drives, holding_efforts
from kumitate.dynamics import crba, rnea
from kumitate.errors import InputError, KumitateWarning
from kumitate.model import reroot
from tests.quadruped import quadruped

G, RATE = 9.81, 30.0


def bar(gravity=(0.0, 0.0, -G)):
    """A bar of 2 kg that turns about a level axis, 0.4 m from its center of mass; and a ball joint at its end."""
    bodies = (km.Body("bar", 2.0, (0.4, 0, 0), (0.01, 0.03, 0.03)), km.Body("tip", 0.1, inertia=(1e-3,) * 3))
    hinge = km.Joint("hinge", "revolute", "world", "bar", axis=(0, 1, 0), armature=0.05)
    return km.Mechanism(
        "bar", bodies, (hinge, km.Joint("ball", "spherical", "bar", "tip", km.pose((0.8, 0, 0)))), gravity=gravity
    )


def test_a_displaced_joint_comes_back_critically_damped():
    mechanism = bar(gravity=(0.0, 0.0, 0.0))
    drives = holding_drives(mechanism, rate=RATE)
    held = mechanism.with_drives(drives)
    assert list(drives) == ["hinge"]
    inertia = 0.03 + 2.0 * 0.4**2 + 0.05 + 1e-3 + 0.1 * 0.8**2
    assert drives["hinge"].kp == pytest.approx(inertia * RATE**2)
    locked = km.load(held).locked(["ball"])
    found = km.simulate(locked, [0.2], duration=0.3, integrator="rk4", inputs={"target": 0.0})
    expected = 0.2 * (1.0 + RATE * found.time) * np.exp(-RATE * found.time)
    np.testing.assert_allclose(found.q[:, 0], expected, rtol=0.0, atol=1e-7)


def test_a_load_moves_a_joint_by_itself_over_the_stiffness():
    mechanism = km.load(bar()).locked(["ball"]).mechanism
    drive = holding_drives(mechanism)["hinge"]
    found = km.simulate(mechanism.with_drives({"hinge": drive}), duration=0.5)
    sag = found.q[-1, 0]
    assert drive.kp * sag == pytest.approx((2.0 * 0.4 + 0.1 * 0.8) * G * np.cos(sag), rel=1e-6)


def test_on_a_free_base_gains_do_not_depend_on_which_body_is_the_base():
    """Joints feel what they carry, or all the rest: the larger of the two stays so when the tree hangs from the other end."""
    bodies = [km.Body(name, 1.0 + k, (0.1, 0.02 * k, 0.03), (0.02, 0.03, 0.04)) for k, name in enumerate("abc")]
    hinges = [
        km.Joint("ab", "revolute", "a", "b", km.pose((0.2, 0, 0)), (0, 1, 0)),
        km.Joint("bc", "prismatic", "b", "c", km.pose((0.1, 0.3, 0)), (1, 0, 2)),
    ]
    free = km.Mechanism("free", tuple(bodies), (km.Joint("base", "floating", "world", "a"), *hinges))
    one, other = holding_drives(free), holding_drives(reroot(free, "c"))
    assert set(one) == set(other) == {"ab", "bc"}
    for name, drive in one.items():
        assert other[name].kp == pytest.approx(drive.kp, rel=1e-10)
        assert other[name].kd == pytest.approx(drive.kd, rel=1e-10)
    assert one["bc"].kp == pytest.approx(1e4 * 3.0)  # a slider feels a mass: c has 3 kg, a and b together too


def on_two_legs():
    """A trunk on two straight legs with round feet, and an arm with a finger."""
    masses = {"trunk": 20.0, "left": 3.0, "right": 3.0, "arm": 2.0, "finger": 0.01}
    ball = km.Geometry(km.Sphere(0.05), km.pose((0, 0, -0.6)))
    bodies = [
        km.Body(name, mass, (0, 0, -0.2), (0.1 * mass,) * 3, collisions=(ball,) if name in ("left", "right", "arm") else ())
        for name, mass in masses.items()
    ]
    joints = [
        km.Joint("base", "floating", "world", "trunk"),
        *(
            km.Joint(f"{n} hip", "revolute", "trunk", n, km.pose((0, y, -0.3)), (0, 1, 0))
            for n, y in (("left", 0.1), ("right", -0.1))
        ),
        km.Joint("shoulder", "revolute", "trunk", "arm", km.pose((0, 0.3, 0)), (0, 1, 0)),
        km.Joint("knuckle", "revolute", "arm", "finger", km.pose((0, 0, -0.6)), (0, 1, 0)),
    ]
    return km.Mechanism("on two legs", tuple(bodies), tuple(joints))


def test_joints_that_carry_no_standing_body_feel_only_what_they_move():
    """A knuckle turns a finger, not the robot about the finger; hips between the base and a foot carry all the rest."""
    mechanism = on_two_legs()
    q = np.zeros(mechanism.nq)
    q[mechanism.q_names.index("base.qw")] = 1.0
    assert lowest_bodies(mechanism, q) == ["left", "right"]
    standing, anywhere = holding_drives(mechanism, q, standing=["left", "right"]), holding_drives(mechanism, q)
    own = {"knuckle": 0.01 * (0.1 + 0.2**2), "shoulder": 2.0 * (0.1 + 0.2**2) + 0.01 * (0.1 + 0.8**2)}
    for name, inertia in own.items():
        assert standing[name].kp == pytest.approx(1e4 * inertia, rel=1e-12)
        assert anywhere[name].kp > 10.0 * standing[name].kp
    for name in ("left hip", "right hip"):
        assert standing[name] == anywhere[name]
    in_flight = holding_drives(mechanism, q, standing=[])
    assert in_flight["left hip"].kp == pytest.approx(1e4 * 3.0 * (0.1 + 0.2**2), rel=1e-12)
    with pytest.raises(InputError, match="standing has 'leg', which is not a body; there are arm, finger"):
        holding_drives(mechanism, q, standing=["leg"])


def parallelogram():
    """Two legs of 1 m under a bar of 3 kg that stays level; the first, light, has a motor, the second is heavy."""
    masses = {"driven": 0.1, "other": 50.0, "top": 3.0}
    bodies = tuple(km.Body(name, mass, (0.5, 0, 0), (0.0, mass / 12, mass / 12)) for name, mass in masses.items())
    joints = (
        km.Joint("motor", "revolute", "world", "driven", drive=km.EffortDrive(limit=40.0, gear_ratio=10.0, rotor_inertia=1e-3)),
        km.Joint("pivot", "revolute", "world", "other", km.pose((1, 0, 0))),
        km.Joint("corner", "revolute", "driven", "top", km.pose((1, 0, 0))),
    )
    loop = km.Loop("closing", "revolute", "other", "top", km.pose((1, 0, 0)), km.pose((1, 0, 0)))
    return km.Mechanism("parallelogram", bodies, joints, (loop,), gravity=(0.0, -G, 0.0))


def test_motors_of_loops_are_held_and_feel_what_the_loops_move():
    mechanism = parallelogram()
    angles = {"motor": 1.2, "pivot": 1.2, "corner": -1.2}
    (drive,) = holding_drives(mechanism, [angles[name] for name in mechanism.q_names], rate=RATE).values()
    inertia = (0.1 + 50.0) / 3.0 + 3.0 + 10.0**2 * 1e-3
    assert drive.kp == pytest.approx(inertia * RATE**2, rel=1e-9)
    assert (drive.limit, drive.gear_ratio, drive.rotor_inertia) == (40.0, 10.0, 1e-3)


def slider(height):
    """Two cranks of 1 m with motors 1.8 m apart, whose rods hold a point mass of 2 kg at a height over them."""
    names, apart = ("left", "right"), 1.8
    bodies = tuple(km.Body(name, 0.1, (0.5, 0, 0), (0, 0.1 / 12, 0.1 / 12)) for name in (*names, "left_rod", "right_rod"))
    bodies = (*bodies, km.Body("load", 2.0))
    at = dict(zip(names, (0.0, apart), strict=True))
    joints = tuple(
        km.Joint(f"motor_{name}", "revolute", "world", name, km.pose((x, 0, 0)), drive=km.EffortDrive())
        for name, x in at.items()
    )
    rods = tuple(km.Joint(f"elbow_{name}", "revolute", name, f"{name}_rod", km.pose((1, 0, 0))) for name in names)
    held = km.Joint("held", "fixed", "left_rod", "load", km.pose((1, 0, 0)))
    loop = km.Loop("closing", "revolute", "load", "right_rod", pose_b=km.pose((1, 0, 0)))
    up, bend = np.arctan2(height, 0.9), np.arccos(np.hypot(height, 0.9) / 2.0)
    mechanism = km.Mechanism("slider", bodies, (*joints, *rods, held), (loop,), gravity=(0.0, -G, 0.0))
    angles = {"motor_left": up + bend, "elbow_left": -2.0 * bend, "motor_right": np.pi - up - bend, "elbow_right": 2.0 * bend}
    return mechanism, np.array([angles[name] for name in mechanism.q_names])


@pytest.mark.parametrize("height", [0.5, 1e-2, 1e-4])
def test_drives_in_loops_are_no_stiffer_than_what_they_move_beside_singular_postures(height):
    """Where the rods are nearly in line, motors at rest hardly hold the load: it is not what tells how stiff they must be."""
    mechanism, q = slider(height)
    drives = holding_drives(mechanism, q, rate=RATE)
    assert set(drives) == {"motor_left", "motor_right"}
    links = {link.name: link.v_start for link in mechanism.tree.links}
    K = np.zeros(mechanism.nv)
    for name, drive in drives.items():
        K[links[name]] = drive.kp
    J = loop_equations(mechanism).state(q, np.zeros(mechanism.nv)).J
    _, s, Vt = np.linalg.svd(J)
    N = Vt[int((s > 1e-9 * s[0]).sum()) :].T
    M = N.T @ np.array(crba(mechanism.tree, q.tolist())) @ N
    squares = np.linalg.eigvals(np.linalg.solve(M, N.T @ np.diag(K) @ N)).real
    assert 0.0 < squares.max() <= 2.0 * RATE**2 * (1.0 + 1e-6)


def test_joints_whose_effort_nothing_commands_are_held():
    mechanism = bar().with_drives({"hinge": km.EffortDrive()})
    assert set(holding_drives(mechanism)) == {"hinge"}


def test_joints_with_drives_keep_them():
    mechanism = bar().with_drives({"hinge": km.VelocityDrive(kd=1.0)})
    assert holding_drives(mechanism) == {}
    with pytest.raises(InputError, match="shape"):
        holding_drives(bar(), [0.0])
    with pytest.raises(InputError, match="the rate"):
        holding_drives(bar(), rate=0.0)


def test_the_command_holds_a_robot_where_it_starts(tmp_path, capsys):
    options = ["--duration", "0.2", "--formats", "", "--json", "--out", str(tmp_path / "out")]
    assert run(["simulate", "pa10", "--hold", "--q", "joint2=30deg", *options]) == 0
    held = km.open(json.loads(capsys.readouterr().out)["files"]["result.h5"])
    assert held.q[0, 1] == pytest.approx(np.radians(30.0))
    assert 0.0 < np.abs(held.q - held.q[0]).max() < 0.005
    assert len(held.mechanism.driven) == 7
    again = ["simulate", str(tmp_path / "out" / "result.h5"), "--formats", "", "--json", "--out", str(tmp_path / "again")]
    assert run(again) == 0
    np.testing.assert_array_equal(km.open(json.loads(capsys.readouterr().out)["files"]["result.h5"]).q, held.q)


# --- standing robots ----------------------------------------------------------------------------------------------------
def standing_dog(rate: float, **options):
    """A small quadruped held in its stance, that posture, and the efforts that carry it."""
    robot = km.load(quadruped())
    stance = robot.stance()
    drives = holding_drives(robot, stance.q, rate=rate, standing=stance.feet, **options)
    return robot.with_drives(drives), stance.q, {"feed_forward": holding_efforts(robot, stance.q, standing=stance.feet)}


def up(run) -> np.ndarray:
    """How far the base has risen [m]."""
    z = run.q[:, run.mechanism.q_names.index("base.z")]
    return z - z[0]


def test_a_held_robot_stands_still_and_the_floor_carries_its_weight():
    robot, q, inputs = standing_dog(2.0 * np.pi * 10.0)
    run = km.simulate(robot, q, contact="rigid", inputs=inputs, duration=2.0, step=1e-3)
    assert np.abs(up(run)).max() < 1e-6
    floor = run.contact.force[-1].sum(axis=0)
    np.testing.assert_allclose(floor, [0.0, 0.0, robot.mass * G], atol=1e-4 * robot.mass * G)
    assert (run.contact.force[-1, :, 2] > 0.1 * robot.mass * G).all()


@pytest.mark.parametrize("hertz", [6.0, 10.0])
def test_a_held_robot_bounces_at_the_frequency_that_is_asked_for(hertz):
    robot, q, inputs = standing_dog(2.0 * np.pi * hertz, damping=0.02)
    kick = control.push((0.0, 0.0, -20.0), control.pulse(0.0, 0.01))
    run = km.simulate(robot, q, contact="rigid", inputs=inputs, duration=1.0, step=5e-4, wrenches={"trunk": kick})
    z = up(run)[len(run.time) // 10 :]
    z = z - z.mean()
    crossings = np.flatnonzero((z[:-1] < 0.0) & (z[1:] >= 0.0))
    measured = (len(crossings) - 1) / (run.time[crossings[-1]] - run.time[crossings[0]])
    assert measured == pytest.approx(hertz, rel=0.1)


def test_a_push_shows_and_the_robot_comes_back():
    robot, q, inputs = standing_dog(2.0 * np.pi * 10.0)
    push = control.push((60.0, 0.0, 0.0), control.pulse(0.1, 0.2))
    run = km.simulate(
        robot, q, contact=km.Contact(surface=km.Surface(2.0)), inputs=inputs, duration=1.0, step=1e-3, wrenches={"trunk": push}
    )
    x = run.q[:, robot.mechanism.q_names.index("base.x")]
    moved = np.abs(x - x[0])
    assert 3e-3 < moved.max() < 0.05
    assert moved[-1] < 0.2 * moved.max()
    assert np.abs(up(run)).max() < 0.01


def test_springs_too_soft_for_the_weight_are_told_and_let_it_sink():
    with pytest.warns(
        KumitateWarning, match=r"dog: held at 1 Hz it sinks to the floor, as legs carry its weight from (.*) Hz on"
    ) as told:
        robot, q, inputs = standing_dog(2.0 * np.pi * 1.0)
    least = float(re.search(r"from (.*) Hz on", str(told[0].message))[1])
    nudge = {"trunk": control.push((3.0, 2.0, 0.0), control.pulse(0.0, 0.05))}
    fell = []
    for hertz in (0.8 * least, 1.25 * least):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            robot, q, inputs = standing_dog(2.0 * np.pi * hertz)
        run = km.simulate(
            robot, q, contact=km.Contact(surface=km.Surface(2.0)), inputs=inputs, duration=3.0, step=1e-3, wrenches=nudge
        )
        fell.append(up(run)[-1] < -0.02)
    assert fell == [True, False]


def test_the_motor_of_a_loop_holds_it_by_virtual_work_as_other_joints_carry_nothing():
    plain = km.load("four_bar")
    motor = km.Robot(plain.mechanism.with_drives({plain.mechanism.joints[0].name: km.EffortDrive()}), start=plain.start)
    q, still = motor.assemble(motor.start[0] + 0.5 * np.eye(motor.nq)[0]), np.zeros(motor.nv)
    *_, along = np.linalg.svd(loop_equations(motor.mechanism).state(q, still).J)[2]
    tree = motor.mechanism.tree
    work = along @ rnea(tree, q.tolist(), still.tolist(), still.tolist(), gravity=motor.mechanism.gravity)
    (effort,) = holding_efforts(motor, q).values()
    assert effort == pytest.approx(work / along[0], rel=1e-9)
    assert abs(effort) > 0.1


def test_efforts_that_hold_an_arm_are_those_of_gravity_and_none_are_in_free_fall():
    arm = km.load("pa10")
    q = np.linspace(0.1, 0.7, arm.nq)
    np.testing.assert_allclose(list(holding_efforts(arm, q).values()), arm.gravity_forces(q), atol=1e-9)
    dog = km.load(quadruped())
    bent = np.where([name.endswith("knee") for name in dog.mechanism.q_names], -0.8, dog.start[0])
    assert np.abs(dog.gravity_forces(bent)[6:]).max() > 0.01
    assert set(holding_efforts(dog, bent).values()) == {0.0}
    with pytest.raises(InputError, match="standing has 'fl hip body', which has no shape to stand on"):
        holding_efforts(km.load(quadruped()), standing=["fl hip body"])
