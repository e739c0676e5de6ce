"""A scenario simulates what `km.simulate` does of the same values, and what it leaves can be run again."""

from dataclasses import replace

import numpy as np
import pytest

import kumitate as km
from kumitate.errors import InputError
from kumitate.model.read.json import to_json
from kumitate.scenario.parameters import KINDS, parameter

SOLVER = {"duration": 0.1, "step": 1e-3, "integrator": "rk4"}
ARM = {"robot": "planar_3r", "start": {"q": {"joint1": "30deg", "joint2": -0.4}, "v": {"joint3": 0.5}}, "solver": SOLVER}
START = np.array([np.pi / 6, -0.4, km.load("planar_3r").start[0][2]]), np.array([0.0, 0.0, 0.5])
LINK = km.load("planar_3r").bodies["link2"]
LAW = """
def law(robot, kp, kd=1.0):
    return lambda t, q, v: -kp * q - kd * v
"""


def test_a_scenario_is_what_simulate_does():
    robot, pd = km.load("planar_3r"), {"law": "pd", "kp": 20, "kd": {"joint1": 3}}
    run = km.read_scenario({**ARM, "controller": ["gravity_compensation", pd]}).run()
    law = km.control.total(km.control.gravity_compensation(robot), km.control.pd(robot, START[0], kp=20.0, kd=[3.0, 0.0, 0.0]))
    other = km.simulate(robot, *START, controller=law, duration=0.1, integrator="rk4")
    np.testing.assert_array_equal(run.q, other.q)
    tau = km.read_scenario({**ARM, "tau": {"joint2": 3.0}}).run()
    np.testing.assert_array_equal(tau.q, km.simulate(robot, *START, controller=[0, 3.0, 0], duration=0.1, integrator="rk4").q)


def test_joints_follow_motions_and_resist():
    given = {"joint1": {"mean": 0.2, "amplitude": "10deg", "frequency": 0.5}, "joint3": {"velocity": 0.5}}
    run = km.read_scenario({**ARM, "prescribed": given}).run()
    np.testing.assert_allclose(run.q[:, 0], 0.2 + np.radians(10.0) * np.sin(np.pi * run.time), atol=1e-14)
    np.testing.assert_allclose(run.q[:, 2], START[0][2] + 0.5 * run.time, atol=1e-12)
    assert np.abs(run.tau[:, [0, 2]]).min() > 0.0
    np.testing.assert_array_equal(km.scenario_of(run).run().q, run.q)


@pytest.mark.parametrize(
    "more",
    [
        {},
        {"start": {"q": [0.1, 1.5, 0.1], "v": [0.0, 0.0, 0.0], "assemble": True}, "tau": {"corner0": 0.2}},
        {"start": {"q": {"pivot0": 0.0}}, "controller": "gravity_compensation"},
    ],
    ids=["its own start", "a rough start", "a start by name"],
)
def test_loop_joints_follow_motions_and_results_run_again(more):
    """A loop joint that follows a motion has a coordinate, which the result's scenario starts at its value, not at zero."""
    robot = km.load("four_bar")
    loop = robot.mechanism.loops[0].name
    here = {"robot": "four_bar", "solver": {"duration": 0.05}, "prescribed": {loop: {"velocity": 0.3}}, **more}
    run = km.read_scenario(here).run()
    k = run.mechanism.q_names.index(loop)
    np.testing.assert_allclose(run.v[1:, k], 0.3, atol=1e-12)
    again = km.scenario_of(run).run()
    np.testing.assert_array_equal(again.q, run.q)
    np.testing.assert_array_equal(km.scenario_of(again).run().tau, run.tau)


def ball(friction):
    body = km.Body("ball", 1.0, inertia=(0.004, 0.004, 0.004), collisions=(km.Geometry(km.Sphere(0.1)),))
    contact = {"model": "rigid", "friction": friction}
    given = {"robot": "ball", "start": {"v": {"free.vx": 1.0}, "height": 0.0}, "contact": contact, "solver": {"duration": 0.2}}
    return km.read_scenario(given, mechanism=km.Mechanism("ball", (body,), (km.Joint("free", "floating", "world", "ball"),)))


def test_a_start_on_the_floor_slides_as_friction_says():
    """A sliding ball is slowed by μ g until it rolls."""
    run = ball(0.1).run()
    assert run.momentum[-1, 3] == pytest.approx(1.0 - 0.1 * 9.81 * 0.2, rel=1e-6)
    assert run.settings["scenario"]["contact"]["friction"] == 0.1
    np.testing.assert_array_equal(km.scenario_of(run).run().q, run.q)


MADE = {
    "mass:link3": (2.5, lambda setup: setup.mechanism.body("link3").mass),
    "inertia:link2": (
        0.5,
        lambda setup: setup.mechanism.body("link2").inertia[0][0] / LINK.inertia[0][0],
    ),
    "center_of_mass:link2.z": (0.1, lambda setup: setup.mechanism.body("link2").center_of_mass[2]),
    "moment:link2.xy": (1e-4, lambda setup: setup.mechanism.body("link2").inertia[1][0]),
    "damping:*": (0.3, lambda setup: setup.mechanism.joint("joint2").damping[0]),
    "friction:joint1": (0.2, lambda setup: setup.mechanism.joint("joint1").friction[0]),
    "armature:joint1": (0.2, lambda setup: setup.mechanism.joint("joint1").armature[0]),
    "stiffness:joint3": (4.0, lambda setup: setup.mechanism.joint("joint3").stiffness[0]),
    "gravity": (1.62, lambda setup: -setup.mechanism.gravity[2]),
    "q:joint2": (0.7, lambda setup: setup.q[1]),
    "v:joint2": (0.7, lambda setup: setup.v[1]),
    "tau:joint2": (0.7, lambda setup: setup.tau[1]),
    "solver:step": (0.01, lambda setup: setup.step),
}


@pytest.mark.parametrize("name", MADE)
def test_a_parameter_sets_what_it_names(name):
    value, found = MADE[name]
    setup = km.read_scenario({**ARM, "parameters": {name: value}}).setup
    assert found(setup) == pytest.approx(value, rel=1e-15)


def test_every_kind_of_parameter_is_tested_or_has_a_test_of_its_own():
    assert {kind.name for kind in KINDS} == {name.partition(":")[0] for name in MADE} | {"gain", "restitution", "kp", "kd"}


def test_parameters_of_gains_and_surfaces():
    setup = km.read_scenario({**ARM, "controller": {"law": "pd", "kp": 2, "kd": 1}, "parameters": {"gain:kp:joint2": 7}}).setup
    np.testing.assert_array_equal(setup.laws[0].gains["kp"], [2.0, 7.0, 2.0])
    assert parameter(setup, "gain:kd").put(setup, 4.0).laws[0].gains["kd"] == 4.0
    on_floor = ball(0.3).setup
    assert parameter(on_floor, "friction:floor").put(on_floor, 0.2).contact.surface.friction == 0.2
    assert parameter(on_floor, "restitution:floor").put(on_floor, 0.2).contact.surface.restitution == 0.2
    with pytest.raises(InputError, match="tau is a constant effort, and there is a controller"):
        parameter(setup, "tau:joint1").put(setup, 1.0)


def test_a_result_is_run_again_with_its_own_mechanism(tmp_path):
    """A factor such as that on an inertia does not act a second time, and the robot's file is not needed."""
    (tmp_path / "arm.json").write_text(to_json(km.load("planar_3r").mechanism))
    given = {**ARM, "robot": str(tmp_path / "arm.json"), "parameters": {"inertia:*": 2.0, "mass:link1": 3.0}}
    run = km.read_scenario(given).run()
    run.save(tmp_path / "run.npz")
    (tmp_path / "arm.json").unlink()
    again = km.scenario_of(km.open(tmp_path / "run.npz")).run()
    np.testing.assert_array_equal(again.q, run.q)
    with pytest.raises(InputError, match="holds no scenario"):
        km.scenario_of(km.simulate(km.load("pendulum"), duration=0.01))


def test_functions_of_files_drive_and_are_run_again_only_when_they_are_named(tmp_path):
    (tmp_path / "mine.py").write_text(LAW)
    (tmp_path / "s.yaml").write_text("robot: planar_3r\nsolver: {duration: 0.1}\ncontroller: {law: 'mine.py:law', kp: 5}\n")
    run = km.read_scenario(tmp_path / "s.yaml").run()
    other = km.simulate(km.load("planar_3r"), controller=lambda t, q, v: -5.0 * q - v, duration=0.1)
    np.testing.assert_array_equal(run.q, other.q)
    with pytest.raises(InputError, match="is code that a file of results names"):
        km.scenario_of(run)
    name = f"{tmp_path / 'mine.py'}:law"
    np.testing.assert_array_equal(km.scenario_of(run, controller=name).run().q, run.q)
    (tmp_path / "mine.py").write_text(LAW + "\n")
    with pytest.raises(InputError, match="has changed since"):
        km.scenario_of(run, controller=name)


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("1 / 0", "fails when it is loaded"),
        ("x = 1", "has no function 'law'"),
        ("def law(robot, k): return 3", "law: fails .TypeError"),
        ("def law(robot): return 3", "gives a controller"),
    ],
)
def test_files_without_a_controller_are_refused(tmp_path, code, words):
    (tmp_path / "mine.py").write_text(code)
    (tmp_path / "s.yaml").write_text("robot: pendulum\ncontroller: mine.py:law\n")
    with pytest.raises(InputError, match=words):
        km.read_scenario(tmp_path / "s.yaml")


def test_loops_are_closed_from_a_rough_start_where_that_is_asked_for():
    given = {"robot": "four_bars_2", "solver": {"duration": 0.01}}
    q = km.load("four_bars_2").start[0] + 1e-3
    with pytest.raises(InputError, match="open"):
        km.read_scenario({**given, "start": {"q": q.tolist()}})
    setup = km.read_scenario({**given, "start": {"q": q.tolist(), "assemble": True}}).setup
    np.testing.assert_allclose(setup.start[0], km.Robot(setup.mechanism).assemble(q), atol=1e-12)
    assert replace(setup, assemble=False).start[0] is setup.q


SURFACES = """\
robot: ball
start: {height: 0.0}
contact:
  friction: 0.4
  threshold: 0.2
  torsional: 0.003
  surfaces:
    ground: {friction: 0.6, belt: [0.5, 0, 0]}
    ball: {rolling: 2.0e-3, stiffness: 2.0e+4, damping: 30}
  pairs:
    - {bodies: [ground, ball], friction: 0.1, kinetic_friction: 0.05}
  between: all
  apart: []
  groups: {ball: [1, 3]}
"""


def test_all_numbers_of_surfaces_have_keys(tmp_path):
    (tmp_path / "ball.yaml").write_text(SURFACES)
    contact = km.read_scenario(tmp_path / "ball.yaml", mechanism=ball(0.1).setup.mechanism).setup.contact
    assert contact.surface == km.Surface(0.4, threshold=0.2, torsional=0.003)
    assert contact.surfaces["ground"] == km.Surface(0.6, belt=(0.5, 0.0, 0.0))
    assert contact.surfaces["ball"] == km.Surface(rolling=2e-3, stiffness=2e4, damping=30.0)
    assert contact.pairs == {("ground", "ball"): km.Surface(0.1, 0.05)}
    assert (contact.between, contact.apart, contact.groups) == ("all", (), {"ball": (1, 3)})
    apart = SURFACES.replace("apart: []", "apart: [[ball, ground]]")
    (tmp_path / "ball.yaml").write_text(apart)
    with pytest.raises(InputError, match="nothing may touch 'ball', as `apart` and `groups` of the contact leave no pair"):
        km.read_scenario(tmp_path / "ball.yaml", mechanism=ball(0.1).setup.mechanism)
