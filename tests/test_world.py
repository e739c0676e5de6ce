"""Worlds: robots and objects in one place are the mechanism that they stand for, and what is said of them is said by name."""

from __future__ import annotations

import math
import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import kumitate as km
from kumitate.errors import InputError, KumitateError, UnknownNameError
from kumitate.model import Ellipsoid, Hull, attach
from kumitate.model.solid_bodies import solid


def hopper(drive: km.PositionDrive | None = None) -> km.Mechanism:
    foot = km.Body("foot", 1.0, inertia=(0.01, 0.01, 0.01), collisions=(km.Geometry(km.Sphere(0.1)),))
    joints = (
        km.Joint("lift", "prismatic", "world", "base"),
        km.Joint("knee", "prismatic", "base", "foot", pose=km.pose((0.0, 0.0, -0.3)), drive=drive),
    )
    return km.Mechanism("hopper", (km.Body("base", 2.0, inertia=(0.02, 0.02, 0.02)), foot), joints)


def world(**options) -> km.World:
    made = km.World(**options)
    made.add(hopper(), name="one", at=(0.0, 0.0, 0.5))
    made.add(km.load(hopper()), name="two", at=(1.0, 0.0, 0.6))
    made.add(km.box((0.1, 0.2, 0.1), mass=0.5), name="cube", at=km.pose((2.0, 0.0, 0.3), (0.1, 0.2, 0.3)))
    made.ground(friction=0.4)
    return made


def test_a_world_is_the_mechanism_that_it_stands_for():
    """The same bits as two robots and a body that are put together by hand."""
    cube = replace(km.box((0.1, 0.2, 0.1), mass=0.5), name="cube")
    free = km.Mechanism("cube", (cube,), (km.Joint("cube", "floating", "world", "cube"),))
    whole = km.Mechanism("world", (), ())
    for name, x, z in (("one/", 0.0, 0.5), ("two/", 1.0, 0.6)):
        whole = attach(whole, hopper(), "world", km.pose((x, 0.0, z)), prefix=name)
    robot = km.Robot(attach(whole, free, "world"))
    q, v = robot.state(pose={"cube": km.pose((2.0, 0.0, 0.3), (0.1, 0.2, 0.3))})
    contact = km.Contact(surfaces={"ground": km.Surface(0.4)})
    expected = km.simulate(robot, q, v, duration=0.4, contact=contact)
    found = world().simulate(duration=0.4)
    assert found.mechanism.q_names == expected.mechanism.q_names
    np.testing.assert_array_equal(found.q, expected.q)
    np.testing.assert_array_equal(found.contact.force, expected.contact.force)


def test_things_have_their_own_columns_poses_and_forces():
    run = world().simulate(duration=0.4)
    names = run.mechanism.q_names
    for name, joints in (("one", ("one/lift", "one/knee")), ("two", ("two/lift", "two/knee"))):
        columns = [names.index(joint) for joint in joints]
        np.testing.assert_array_equal(run[name].q, run.q[:, columns])
        np.testing.assert_array_equal(run[name].tau, run.tau[:, columns])
        np.testing.assert_array_equal(run[name].pose("foot"), run.robot.pose(run.q, f"{name}/foot"))
        np.testing.assert_array_equal(run[name].pose(f"{name}/foot"), run[name].pose("foot"))
    np.testing.assert_array_equal(run["cube"].position, run.q[:, [names.index(f"cube.{axis}") for axis in "xyz"]])
    weights = [run.contact.on(name)[-1, 2] for name in ("one", "two")]
    by_foot = [run.contact.between(f"{name}/foot", "ground")[-1, 2] for name in ("one", "two")]
    np.testing.assert_array_equal(weights, by_foot)
    np.testing.assert_array_equal(run.contact.between("ground", "two"), -run.contact.between("two", "ground"))


def test_states_and_batches_know_the_things():
    simulation = km.Simulation(world(), outputs={"height": "pose:cube"})
    state = simulation.step(simulation.start(), 50)
    run = world().simulate(duration=0.05)
    np.testing.assert_array_equal(state["two"].q, run["two"].q[-1])
    np.testing.assert_allclose(state["cube"].pose(), run["cube"].pose()[-1], rtol=0, atol=1e-15)
    np.testing.assert_allclose(state.outputs["height"], state["cube"].pose(), rtol=0, atol=1e-15)
    batch = simulation.batch(3)
    batch.step(50)
    np.testing.assert_allclose(batch.q, np.tile(state.q, (3, 1)), rtol=0, atol=1e-9)


@pytest.mark.parametrize("side_by_side", [False, True], ids=["lists", "traced"])
def test_forces_between_things_are_those_of_the_record(side_by_side):
    """A ball that falls onto a table beside a hopper: what each feels, and from whom, at every step."""
    made = km.World()
    made.add(hopper(), name="one", at=(0.0, 0.0, 0.5))
    made.add(km.box((0.4, 0.4, 0.1), mass=1.0), name="table", at=(2.0, 0.0, 0.5), fixed=True)
    made.add(km.ball(0.05, mass=0.5), name="ball", at=(2.0, 0.0, 0.7))
    made.ground()
    names = ("force:ball", "force:ball/table", "force:one/foot/ground", "force:one", "force:one/ball")
    run = made.simulate(duration=0.6, outputs=names, side_by_side=side_by_side)
    pairs = {
        "force:ball": ("ball", "table"),
        "force:ball/table": ("ball", "table"),
        "force:one/foot/ground": ("one/foot", "ground"),
    }
    for name, (one, other) in pairs.items():
        np.testing.assert_allclose(run.outputs[name], run.contact.between(one, other), rtol=0, atol=1e-9)
    np.testing.assert_array_equal(run.outputs["force:one"], run.outputs["force:one/foot/ground"])
    assert not run.outputs["force:one/ball"].any()
    np.testing.assert_allclose(run.outputs["force:ball"][-1], [0.0, 0.0, 0.5 * 9.81], atol=1e-6)
    ended = made.simulate(
        duration=0.6, outputs={"grip": "force:ball/table"}, until=lambda t, q, v, grip: grip[2] > 0.0, side_by_side=side_by_side
    )
    first = int(np.argmax(run.outputs["force:ball/table"][:, 2] > 0.0))
    assert ended.time[-1] == run.time[first]
    assert 0 < first < len(run) - 1


@pytest.mark.parametrize(
    ("output", "words"),
    [
        ("force:cubes", "no 'cubes', did you mean 'cube'"),
        ("force:cube/cube", "there is no 'cube/cube'"),
        ("force:one/base/two", "is the force on 'one/base' from 'two', which can never touch"),
        ("force:one/two", "is the force on 'one' from 'two', which can never touch"),
    ],
)
def test_forces_between_what_cannot_touch_are_refused(output, words):
    made = world()
    made.apart("one", "two")
    with pytest.raises(InputError, match=words):
        made.simulate(duration=0.1, outputs=[output])


def test_a_run_ends_by_outputs_that_there_are():
    with pytest.raises(InputError, match="until has the parameter 'grip', which is not an output"):
        world().simulate(duration=0.1, until=lambda t, q, v, grip: False)
    with pytest.raises(InputError, match="is a force of contact, and nothing touches anything; give contact="):
        km.simulate(hopper(), duration=0.1, outputs=["force:foot"])


def test_a_controller_sees_its_own_robot_and_what_it_is_told():
    """Of two robots each is driven by its own law, as it would be alone, and one of them follows what the other does."""
    made = km.World(gravity=(0.0, 0.0, 0.0))
    for name, at in (("one", (0.0, 0.0, 1.0)), ("two", (1.0, 0.0, 1.0))):
        made.add(hopper(), name=name, at=at)
    made.apart("one", "two")
    seen = []

    def first(t, q, v):
        return np.array([1.0, -2.0]) * np.cos(3.0 * t) - 0.5 * q - 0.1 * v

    def second(t, q, v, height, speed, pushed):
        return np.array([5.0 * (height[2, 3] - 1.0) + speed[5], pushed[1]]) - 0.2 * v

    made.control("one", first)
    made.control("two", second, height="pose:one/foot", speed="velocity:one/foot", pushed="q:one")
    run = made.simulate(duration=0.5)
    assert run.audit.efforts == ("the controller: compiled",)
    alone = km.simulate(replace(hopper(), gravity=(0.0, 0.0, 0.0)), duration=0.5, controller=first)
    np.testing.assert_allclose(run["one"].q, alone.q, rtol=0, atol=1e-12)
    robot = run.robot
    for k in (0, 250, 500):
        q, v = run.q[k], run.v[k]
        seen = second(
            0.0, run["two"].q[k], run["two"].v[k], robot.pose(q, "one/foot"), robot.velocity(q, v, "one/foot"), run["one"].q[k]
        )
        np.testing.assert_allclose(run["two"].tau[k], seen, rtol=0, atol=1e-12)


def test_targets_are_of_each_robots_own_drives():
    """Two robots with drives: one follows its target, the other holds where it began."""
    drive = km.PositionDrive(kp=400.0, kd=40.0)
    made = km.World(gravity=(0.0, 0.0, 0.0))
    made.add(hopper(drive), name="still", at=(0.0, 0.0, 1.0), q=[0.0, 0.05])
    made.add(hopper(drive), name="moving", at=(1.0, 0.0, 1.0))
    made.control("moving", target=lambda t, q, v: 0.1 * t + 0.0 * q[:1])
    run = made.simulate(duration=3.0)
    np.testing.assert_allclose(run["still"].q[:, 1], 0.05, rtol=0, atol=1e-12)
    assert run["moving"].q[-1, 1] == pytest.approx(0.1 * 3.0 - 0.1 * 40.0 / 400.0, abs=1e-3)  # behind by its damping
    made.control("moving", target=[0.2])
    assert made.simulate(duration=3.0)["moving"].q[-1, 1] == pytest.approx(0.2, abs=1e-3)


def test_places_are_those_of_objects_bases_and_floating_bases():
    X = km.pose((0.3, -0.2, 0.9), (0.2, -0.1, 0.7))
    body = replace(km.ball(0.1, mass=1.0), name="trunk")
    leg = km.Body("leg", 0.5, inertia=(0.01, 0.01, 0.01))
    joints = (
        km.Joint("base", "floating", "world", "trunk"), km.Joint("hip", "revolute", "trunk", "leg", axis=(1, 0, 0)),
    )  # fmt: skip
    walker = km.Mechanism("walker", (body, leg), joints)
    made = km.World()
    made.add(walker, name="free", at=X, q={"hip": 0.4})
    fixed = made.add("pa10", name="arm", at=X)
    made.add(km.ball(0.1, mass=1.0), at=X)
    state = made.simulation().start()
    for name in ("free", "ball"):
        np.testing.assert_allclose(state[name].pose(), X.matrix(), rtol=0, atol=1e-12)
    assert state["free"].q[-1] == 0.4
    q = fixed.robot.start[0]
    np.testing.assert_allclose(state["arm"].pose("link3"), fixed.robot.pose(q, "link3"), rtol=0, atol=1e-12)
    np.testing.assert_allclose(
        fixed.robot.pose(q, "link3"), np.array(X.matrix()) @ km.load("pa10").pose(q, "link3"), rtol=0, atol=1e-12
    )
    made.place("ball", (5.0, 0.0, 1.0))
    assert made.simulation().start()["ball"].position.tolist() == [5.0, 0.0, 1.0]


# --- a robot on a robot ---------------------------------------------------------------------------------------------------
def test_a_robot_on_a_flange_is_where_it_is_mounted_and_starts_as_it_did():
    """Its poses are the flange's, the mount's and its own, one after the other; a frame is as good as a body."""
    X, flange = km.pose((0.0, 0.1, 0.2), (0.3, 0.0, 0.5)), km.pose((0.1, 0.0, 0.0), (0.0, 0.2, 0.0))
    arm = km.load("pa10")
    framed = km.load(replace(arm.mechanism, frames=(*arm.mechanism.frames, km.Frame("flange", "link7", flange))))
    hand = km.Robot(hopper(), start=([0.1, 0.2], [0.3, 0.4]))
    q = np.linspace(0.1, 0.7, 7)
    for whole, mount in (
        (arm.attach(hand, to="link7", at=X, name="hand"), X),
        (framed.attach(hopper(), to="flange", at=X, name="leg"), flange @ X),
    ):
        prefix = whole.mechanism.q_names[-1].partition("/")[0]
        expected = arm.pose(q, "link7") @ np.array(mount.matrix()) @ hand.pose([0.2, -0.1], "foot")
        np.testing.assert_allclose(whole.pose([*q, 0.2, -0.1], f"{prefix}/foot"), expected, rtol=0, atol=1e-12)
        assert whole.mass == pytest.approx(arm.mass + 3.0)
    whole = arm.attach(hand, to="link7", at=X, name="hand")
    np.testing.assert_array_equal(whole.start[0], [*arm.start[0], 0.1, 0.2])
    np.testing.assert_array_equal(whole.start[1], [*arm.start[1], 0.3, 0.4])


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (lambda arm: arm.attach(hopper(), to="link8"), "link8"),
        (lambda arm: arm.attach(arm, to="link7"), "both have the joint names base, joint1.*Robot.attach"),
        (lambda arm: arm.attach(hopper(), to="link7", at=(0.0, 0.0, 0.1)), "it must be a pose. Make one by kumitate.pose"),
        (lambda arm: arm.attach(km.load("free_rod"), to="link7"), "its base floats by the joint"),
    ],
)
def test_mounts_that_cannot_be_are_refused(wrong, words):
    with pytest.raises(KumitateError, match=words):
        wrong(km.load("pa10"))


# --- objects of even density ------------------------------------------------------------------------------------------------
def _by_slices(radius_at, ends: tuple[float, float]) -> tuple[float, float, float]:
    """Volume, and the moments about an axis across and along z per mass, of a solid of revolution, from its slices."""
    x, w = np.polynomial.legendre.leggauss(300)
    z = 0.5 * (ends[1] - ends[0]) * x + 0.5 * (ends[0] + ends[1])
    r = radius_at(z)
    slices = 0.5 * (ends[1] - ends[0]) * w * np.pi * r * r
    volume = slices.sum()
    return volume, (slices * (r * r / 4 + z * z)).sum() / volume, (slices * r * r / 2).sum() / volume


@pytest.mark.parametrize(
    ("body", "radius_at", "ends"),
    [
        (km.ball(0.3, density=700.0), lambda z: np.sqrt(0.09 - z * z), (-0.3, 0.3)),
        (km.cylinder(0.2, 0.7, density=700.0), lambda z: 0.2 + 0.0 * z, (-0.35, 0.35)),
        (
            km.capsule(0.2, 0.5, density=700.0),
            lambda z: np.sqrt(np.maximum(0.04 - np.maximum(np.abs(z) - 0.25, 0.0) ** 2, 0.0)), (-0.45, 0.45),
        ),
        (solid(Ellipsoid((0.2, 0.2, 0.5)), density=700.0), lambda z: 0.2 * np.sqrt(1.0 - z * z / 0.25), (-0.5, 0.5)),
    ],
    ids=["ball", "cylinder", "capsule", "ellipsoid"],
)  # fmt: skip
def test_round_objects_weigh_and_turn_as_their_slices_do(body, radius_at, ends):
    volume, across, along = _by_slices(radius_at, ends)
    assert body.mass == pytest.approx(700.0 * volume, rel=1e-6)
    np.testing.assert_allclose(np.diag(body.inertia) / body.mass, [across, across, along], rtol=1e-6)


def test_a_box_is_the_hull_of_its_corners_wherever_these_are():
    """Closed forms against integrals over the surface, Steiner's rule in between."""
    size, at = np.array([0.3, 0.2, 0.5]), np.array([0.1, -0.4, 0.2])
    corners = [tuple((at + 0.5 * size * signs).tolist()) for signs in np.stack(np.meshgrid(*[[-1, 1]] * 3), -1).reshape(-1, 3)]
    box, hull = km.box(size, density=500.0), solid(Hull(tuple(corners)), density=500.0)
    assert hull.mass == pytest.approx(box.mass, rel=1e-12)
    np.testing.assert_allclose(hull.center_of_mass, at, atol=1e-12)
    np.testing.assert_allclose(hull.inertia, box.inertia, rtol=0, atol=1e-12 * box.mass)


# --- bad input ----------------------------------------------------------------------------------------------------------------
def _floating_box() -> km.Body:
    return km.box((0.1, 0.1, 0.1), mass=1.0)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (lambda w: w.add(_floating_box(), name="cube"), "there is a 'cube' already; give this one another name"),
        (lambda w: w.add(_floating_box(), name="a/b"), "something is called 'a/b'; a name must have letters, no '/'"),
        (lambda w: w.add(_floating_box(), name="ground"), "must have letters, no '/', and not be world or ground"),
        (lambda w: w.add(km.Body("dust", 1.0)), "'dust' has no shape to touch with; give it `collisions`"),
        (
            lambda w: w.add(replace(_floating_box(), mass=0.0)),
            "'box' has no mass, so it cannot move; give it one, or fixed=True",
        ),
        (lambda w: w.add(_floating_box(), mass=2.0), "mass is an option of files and names"),
        (lambda w: w.add("pa10", at=(1.0, 2.0)), "it must be a pose"),
        (lambda w: w.add("pa10", q=[1.0, 2.0]), "q of 'pa10'"),
        (lambda w: w.control("oen", [0.0, 0.0]), "no robot or object 'oen', did you mean 'one'"),
        (lambda w: w.control("one", [0.0]), "the efforts of 'one'"),
        (lambda w: w.control("one", target=[0.0]), "'one' has no drives, which have targets"),
        (lambda w: w.control("one", lambda t, q, v, x: v, x="pose:cub"), "no robot, object or body 'cub', did you mean 'cube'"),
        (lambda w: w.control("one", lambda t, q, v, x: v, x="mass:cube"), "x='mass:cube' is not known; give one of pose:NAME"),
        (lambda w: w.surface("cub"), "no robot, object or body 'cub'"),
        (lambda w: w.simulate(duration=0.1, contact="rigid"), "contact is what the world says; use world.ground"),
        (lambda w: w.simulate(duration=0.1, controller=[0.0] * 10), "controller is what the world says; use world.control"),
        (lambda w: w.place("cube", [1.0, 2.0]), "q is .1.0, 2.0.; it must be a pose"),
        (lambda w: km.solid(km.Box((1.0, 1.0, 1.0))), "box: give mass=… .kg. or density=…"),
        (lambda w: km.solid(km.Plane(), mass=1.0), "has no volume that is known; it must be a box"),
        (lambda w: km.ball(0.1, mass=-1.0), "the mass .kg. is -1"),
    ],
)
def test_what_cannot_be_is_refused_with_a_remedy(wrong, words):
    with pytest.raises(KumitateError, match=words):
        wrong(world())


def test_all_that_begins_in_the_ground_is_named_at_once():
    made = world()
    made.place("cube", (2.0, 0.0, -0.01))
    made.add(km.ball(0.2, mass=1.0), at=(4.0, 0.0, 0.1), name="ball")
    with pytest.raises(InputError, match=r"'cube' begins 0.06 m deep in the ground.*'ball' begins 0.1 m deep") as caught:
        made.simulate(duration=0.1)
    assert "one" not in str(caught.value).partition(":")[2].split()
    made.apart("ball", "ground")
    made.place("cube", (2.0, 0.0, 0.1))
    assert made.simulate(duration=0.1)["ball"].position[-1, 2] < 0.1 - 0.5 * 9.81 * 0.01 + 1e-3


def test_names_that_are_not_there_are_told_with_the_closest_one():
    run = world().simulate(duration=0.01)
    with pytest.raises(UnknownNameError, match=r"no robot or object 'tow'.*two"):
        run["tow"]
    with pytest.raises(UnknownNameError, match="one: there is no body 'fot'"):
        run["one"].pose("fot")
    with pytest.raises(InputError, match="nothing moves in it"):
        km.World().simulate(duration=0.1)


def test_things_without_ground_touch_each_other():
    """A ball that hits another of its mass gives it its velocity; nothing touches where there is one thing and no ground."""
    made = km.World(gravity=(0.0, 0.0, 0.0))
    made.add(km.ball(0.1, mass=1.0), name="cue", at=(0.0, 0.0, 0.0))
    assert made.contact is None
    made.add(km.ball(0.1, mass=1.0), name="ball", at=(0.5, 0.0, 0.0))
    for name in ("cue", "ball"):
        made.surface(name, friction=0.0, restitution=1.0)
    made.place("cue", (0.0, 0.0, 0.0), v=[0.0, 0.0, 0.0, 1.0, 0.0, 0.0])
    run = made.simulate(duration=0.6)
    np.testing.assert_allclose(run["ball"].v[-1, 3:], [1.0, 0.0, 0.0], atol=1e-9)
    assert math.isclose(run["cue"].v[-1, 3], 0.0, abs_tol=1e-9)


def test_a_hall_with_an_arm_a_conveyor_meshes_and_a_quadruped(tmp_path):
    """The example: what lies on the conveyor moves with it, the arm holds, the quadruped walks; outputs, a batch, a page."""
    root = Path(km.__file__).resolve().parents[2]
    environment = {**os.environ, "PYTHONPATH": str(root / "src")}
    script = root / "examples" / "control" / "hall.py"
    done = subprocess.run(
        [sys.executable, str(script)], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    speed, load = (float(x) for x in re.findall(r"at (\S+) m/s and bears part 1 with (\S+) N", done.stdout)[0])
    assert speed == pytest.approx(0.4, abs=1e-6)
    assert load == pytest.approx(0.2 * 9.81, rel=1e-6)
    told = re.findall(r"moved by (\S+) rad; ANYmal walked (\S+) m, (\S+) m high", done.stdout)
    moved, walked, high = (float(x) for x in told[0])
    assert moved < 1e-12
    assert walked > 0.4
    assert 0.3 < high < 0.45
    assert "a batch of 3 halls: (3, 98), 0 lost" in done.stdout
    assert (tmp_path / "hall.html").stat().st_size > 1e6


def test_a_further_piece_of_ground_leaves_the_friction_as_it_was():
    world = km.World()
    world.add(km.box((0.1, 0.1, 0.1), mass=1.0), at=(0.0, 0.0, 0.06), name="cube")
    world.ground(friction=0.8, restitution=0.1)
    world.ground(km.Box((1.0, 1.0, 0.1)), at=(3.0, 0.0, 0.0))
    assert world.contact.surfaces["ground"] == km.Surface(0.8, restitution=0.1)
    world.ground(km.Box((1.0, 1.0, 0.1)), at=(6.0, 0.0, 0.0), friction=0.3)
    assert world.contact.surfaces["ground"] == km.Surface(0.3, restitution=0.1)
