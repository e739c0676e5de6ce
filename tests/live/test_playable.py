"""What a page that simulates is made of: its programs against functions of the robot, its sliders against parameters."""

import json
import subprocess
from pathlib import Path

import numpy as np
import pytest

import kumitate as km
from kumitate.cli.app import run
from kumitate.compile import Kernel
from kumitate.errors import InputError
from kumitate.examples import example
from kumitate.live.loop import Spring, joint_sliders
from kumitate.live.playable import live_scene, playable
from kumitate.live.playable.programs import lever_program, mobility_program, posture_program, show_program
from kumitate.live.playable.scenes import PlayedScene, mobility_of_parts
from kumitate.live.playable.sliders import sliders_of
from kumitate.records.record import MADE_BY
from kumitate.run import as_run
from kumitate.view import page
from kumitate.view.scene import packed

from ..tools import NODE
from ..view.unpacking import unpacked

VIEWER = Path(__file__).parents[2] / "viewer" / "src"


def pd(t, q, v, target, kp=200.0, kd=20.0):
    return kp * (target - q) - kd * v


def arm(**options):
    return km.Simulation(km.load("pa10"), controller=pd, inputs={"target": 7}, integrator="rk4", **options)


# --- programs -------------------------------------------------------------------------------------------------------------
def gripped(simulation, body):
    m = simulation.mechanism
    bodies = [one.name for one in m.bodies if m.tree.places[one.name].link >= 0]
    lever = lever_program(m, [m.tree.places[name] for name in bodies])
    return lever, float(bodies.index(body))


@pytest.mark.parametrize(("name", "body"), [("pa10", "link5"), ("four_bar", "top0"), ("floating_arm", "link2")])
def test_a_grip_is_the_jacobian_of_the_point_and_what_a_force_there_moves(name, body):
    robot, rng = km.load(name), np.random.default_rng(3)
    body = body if body in [one.name for one in robot.mechanism.bodies] else robot.mechanism.bodies[-1].name
    simulation = km.Simulation(robot)
    q = simulation.start().q
    point = rng.normal(size=3)
    lever, slot = gripped(simulation, body)
    end, jacobian = Kernel(lever)(q, slot, point)
    X, J = robot.poses(q)[body], robot.jacobian(q, body)
    arm_W = X[:3, :3] @ point
    expected = J[3:] - np.cross(arm_W, J[:3], axisb=0, axisc=0)
    np.testing.assert_allclose(end, X[:3, 3] + arm_W, atol=1e-12)
    np.testing.assert_allclose(jacobian.reshape(3, -1), expected, atol=1e-12)

    mobility = Kernel(mobility_program(simulation.straight.code, lever))
    u = simulation.actuation.constants
    found = mobility(q, u, slot, point).reshape(3, 3)
    still = np.zeros(robot.mechanism.nv)

    def accelerated(force):
        wrench = np.concatenate([np.cross(arm_W, force), force])
        return robot.forward_dynamics(q, still, still, wrenches={body: wrench})

    free = accelerated(np.zeros(3))
    by_wrenches = np.column_stack([expected @ (accelerated(axis) - free) for axis in np.eye(3)])
    np.testing.assert_allclose(found, by_wrenches, atol=1e-9 * np.abs(by_wrenches).max())
    if not robot.mechanism.loops:  # the live viewer leaves the loops out
        mass = Spring.grab(robot, q, body, end).mass
        np.testing.assert_allclose(min(1.0 / np.linalg.eigvalsh(found)[-1], robot.mass), mass, rtol=1e-9)


def test_arrows_of_contact_carry_the_weight():
    body = km.Body("block", 2.0, inertia=(0.1,) * 3, collisions=(km.Geometry(km.Box((0.2, 0.2, 0.1))),))
    block = km.Mechanism("block", (body,), (km.Joint("free", "floating", "world", "block"),))
    simulation = km.Simulation(block, contact="rigid", side_by_side=True, step=1e-3)
    program = Kernel(show_program(simulation.straight.code))
    places = dict(zip([array.name for array in program.outputs], range(3), strict=True))
    state = simulation.start([0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.05])
    found = program(0.0, state.q, state.v, 1e-3, simulation.actuation.constants)
    np.testing.assert_allclose(found[places["pushes"]].reshape(-1, 9)[:, :3].sum(axis=0), [0.0, 0.0, 2.0 * 9.81], atol=1e-6)
    np.testing.assert_allclose(found[places["energy"]], [0.0, 2.0 * 9.81 * 0.05], atol=1e-12)


def test_a_grip_in_a_scene_moves_the_bodies_of_its_part_alone():
    rng, world = np.random.default_rng(4), km.World()
    world.add("four_bar", name="loop")
    for k in range(2):
        body = km.Body(
            f"box{k}", 2.0 + k, rng.normal(size=3), np.diag([0.1, 0.2, 0.25]), collisions=(km.Geometry(km.Sphere(0.1)),)
        )
        world.add(body, at=(1.0 + k, 0, 0))
    mechanism = world.robot.mechanism
    places = [mechanism.tree.places[name] for name in ("loop/top0", "box0", "box1")]
    lever = lever_program(mechanism, places)
    simulation = km.Simulation(mechanism)
    q = simulation.start().q
    q[-7:] = [0.5, 0.5, -0.5, 0.5, 1.0, 2.0, 3.0]
    both = Kernel(mobility_of_parts(mechanism, lever, places)), Kernel(mobility_program(simulation.straight.code, lever))
    for slot, point in enumerate(rng.normal(size=(3, 3))):
        parts, whole = both[0](q, float(slot), point), both[1](q, simulation.actuation.constants, float(slot), point)
        np.testing.assert_allclose(parts, whole, atol=1e-12 * np.abs(whole).max())


def test_a_joint_that_is_turned_keeps_the_loops_closed():
    simulation = km.Simulation(km.load("four_bar"))
    posture, q = Kernel(posture_program(simulation.straight.code)), simulation.start().q
    goal, direction = q[0] + 0.3, np.eye(3)[0]
    for _ in range(8):
        q, share = posture(q, direction, goal - q[0])
    assert abs(q[0] - goal) < 1e-10
    assert share > 0.1
    loops = km.analysis.LoopEquations(simulation.mechanism)
    assert max(gap.size(1.0) for gap in loops.gaps(q, np.zeros(3))) < 1e-9


# --- sliders --------------------------------------------------------------------------------------------------------------
def test_sliders_set_what_parameters_set():
    names = ["kp", "gravity", "mass:link3", "mass:link6", "target"]
    simulation = playable(arm(), names)
    sliders = sliders_of(simulation, names)
    assert [one.label for one in sliders][:4] == ["gain:kp", "gravity", "mass:link3", "mass:link6"]
    assert len(sliders) == 4 + 7
    varied = simulation.parameters
    start, own = simulation.actuation.forcing.layout.at("parameters").start, simulation.actuation.constants
    values = {one.label: one.low + 0.37 * (one.high - one.low) for one in sliders if one.rows is not None}
    exact = varied.blank[None].copy()
    varied.put(exact, values)
    u = own.copy()
    for one in sliders[:4]:
        part = (values[one.label] - one.low) / (one.high - one.low) * (len(one.rows) - 1)
        before = min(int(part), len(one.rows) - 2)
        u[one.at] += one.rows[before] + (part - before) * (one.rows[before + 1] - one.rows[before]) - own[one.at]
    count = len(varied.columns)
    np.testing.assert_allclose(u[start + count :], exact[0, count:], rtol=1e-12, atol=1e-13)
    target = next(one for one in sliders if one.label == "target joint2")
    joint = next(one for one in joint_sliders(simulation.mechanism) if one.name == "joint2")
    assert (target.low, target.high, target.unit) == (joint.lower, joint.upper, "rad")
    assert target.at.tolist() == [simulation.actuation.forcing.own["target"].start + 1]


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        (["kq"], "'kq'.*kp"),
        (["mass:lnk3"], "did you mean 'mass:link3'"),
        ({"kp": (3.0, 2.0)}, r"ends 3.0 and 2.0; give two finite numbers"),
        ({"mass:link3": (-1.0, 20.0)}, "reach too far.*Give them ends"),
        (["mass:*"], "stands for different numbers"),
        (["mass:link3", "center_of_mass:link3.x"], "not independently of each other"),
    ],
)
def test_sliders_that_cannot_be(asked, told):
    with pytest.raises(InputError, match=told):
        live_scene(arm(), asked)


def test_without_names_inputs_gains_and_gravity_can_be_set():
    labels = [one.label for one in sliders_of(playable(arm()), None)]
    assert labels[7:] == ["gain:kp", "gain:kd", "gravity"]
    assert labels[0] == "target joint1"


# --- what cannot play -----------------------------------------------------------------------------------------------------
class Counted:
    """A controller that keeps state."""

    def __init__(self):
        self.calls = 0

    def __call__(self, t, q, v):
        self.calls += 1
        return -0.1 * v * self.calls


def boxes(count):
    box = (km.Geometry(km.Box((0.1, 0.1, 0.1))),)
    bodies = tuple(km.Body(f"box{k}", 1.0, inertia=(0.01,) * 3, collisions=box) for k in range(count))
    joints = tuple(km.Joint(f"free{k}", "floating", "world", f"box{k}") for k in range(count))
    return km.Mechanism("boxes", bodies, joints)


@pytest.mark.parametrize(
    ("made", "told"),
    [
        (lambda: km.Simulation(km.load("pendulum"), controller=Counted()), "has no Python.*self.calls.*make it an input"),
        (lambda: arm(sample_time=0.01), "has no Python.*sampled"),
        (lambda: km.Simulation(km.load("pendulum"), integrator="rkf45_adaptive"), "equal length.*integrator='rk4'"),
        (lambda: km.Simulation(boxes(101), contact="rigid"), "up to 100 bodies.*has 101.*run.page"),
    ],
)
def test_what_cannot_play_is_refused_with_the_remedy(made, told):
    with pytest.raises(InputError, match=told):
        playable(made())


def test_parameters_in_the_code_of_a_scene_are_refused_or_left_out():
    world = km.World()
    world.ground()
    world.add("pendulum", name="swing")
    for k in range(5):
        world.add(km.box((0.1, 0.1, 0.1), mass=1.0), name=f"box{k}", at=(1.0 + k, 0.0, 0.05))
    simulation = playable(world.simulation())
    further = PlayedScene(simulation).numbers
    assert [one.label for one in sliders_of(simulation, None, further)] == ["friction:floor"]
    with pytest.raises(InputError, match=r"compiled with the numbers.*such as friction:floor"):
        sliders_of(simulation, ["gravity"], further)


def test_bodies_that_cannot_be_pulled():
    simulation = km.Simulation(km.load("pa10"))
    for pull, told in (("lnk3", "is not a body.*did you mean 'link3'"), (["base"], "fixed to the world")):
        with pytest.raises(InputError, match=told):
            live_scene(simulation, pull=pull)


def test_only_a_run_of_this_process_can_be_taken_over(tmp_path):
    swing = km.simulate(km.load("pendulum"), duration=0.05)
    scene = swing.page(tmp_path / "swing.html", live=True)
    assert scene.stat().st_size > 500_000
    again = km.open(swing.save(tmp_path / "swing.npz"))
    with pytest.raises(InputError, match=r"from a file.*live=kumitate.Simulation"):
        again.page(tmp_path / "again.html", live=True)
    again.page(tmp_path / "again.html", live=km.Simulation(again.mechanism))
    with pytest.raises(InputError, match="of another mechanism"):
        again.page(tmp_path / "again.html", live=km.Simulation(km.load("double_pendulum")))


def test_a_run_with_notes_or_from_a_file_can_be_taken_over(tmp_path):
    run = as_run(example("car_axis").run().noted("a note"))
    assert run.audit.notes[-1] == "a note"
    run.page(tmp_path / "car.html", live=True)
    again = km.open(run.save(tmp_path / "car.npz"))  # files keep turned poses as matrices
    again.page(tmp_path / "again.html", live=MADE_BY[run])


# --- the page -------------------------------------------------------------------------------------------------------------
def test_a_page_too_large_says_of_what(tmp_path, monkeypatch):
    monkeypatch.setattr(page, "MOST", 10_000)
    with pytest.raises(InputError, match=r"it is live .* MB.*decimate the meshes"):
        km.Simulation(km.load("pendulum")).page(tmp_path / "swing.html")


@pytest.mark.parametrize(("made", "most"), [(arm, 25_000), (lambda: km.Simulation(km.load("four_bar")), 10_000)])
def test_the_simulator_is_small(made, most):
    scene = live_scene(made())
    bare = {name: part for name, part in scene.items() if name != "live"}
    assert len(packed(scene)) - len(packed(bare)) < most


def test_notebooks_show_a_page_or_the_reason():
    shown = km.Simulation(km.load("pendulum"))._repr_html_()
    assert shown.count("<iframe") == 1
    refused = km.Simulation(km.load("pendulum"), integrator="rkf45_adaptive")._repr_html_()
    assert "<iframe" not in refused
    assert "chooses its own" in refused


RUN = """
import { readFileSync } from "node:fs";
const { Machine, replayed } = await import(process.argv[2]);
const live = JSON.parse(readFileSync(0, "utf8"));
live.code = Uint8Array.from(Buffer.from(live.code, "base64"));
console.log(JSON.stringify(replayed(await Machine.of(live))));
"""


@pytest.mark.parametrize("made", [arm, lambda: km.Simulation(km.load("four_bar"))], ids=["pa10", "four_bar"])
def test_the_page_makes_the_bits_of_native_code(made, tmp_path):
    import base64

    live = dict(live_scene(made())["live"])
    plain = json.dumps(
        {**live, "code": base64.b64encode(live["code"].tobytes()).decode()}, default=lambda array: np.asarray(array).tolist()
    )
    script = tmp_path / "replay.mjs"
    script.write_text(RUN)
    command = [NODE.needed(), str(script), (VIEWER / "machine.js").as_uri()]
    done = subprocess.run(command, input=plain, capture_output=True, text=True, timeout=60, check=True)
    assert json.loads(done.stdout) == {"steps": 1000, "same": True, "away": 0}


def test_the_command_writes_a_live_page_or_says_why_not_before_it_simulates(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert run(["simulate", "pendulum", "--duration", "0.05", "--live", "--out", "swing"]) == 0
    text = (tmp_path / "swing" / "page.html").read_text(encoding="utf-8")
    scene = unpacked(text.split('id="scene">')[1].split("</script>")[0])
    assert scene["live"]["code"][:4].tobytes() == b"\0asm"
    np.testing.assert_array_equal(scene["live"]["states"]["q"][0], scene["live"]["state"]["q"][0])
    capsys.readouterr()
    options = ["--duration", "0.05", "--integrator", "rkf45_adaptive", "--live", "--out", "other"]
    assert run(["simulate", "pendulum", *options]) != 0
    assert "chooses its own" in capsys.readouterr().err
    assert not (tmp_path / "other").exists()
