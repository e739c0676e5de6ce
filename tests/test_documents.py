"""The pages of docs: what they import is public, their commands exist, and their blocks of Python do what the text says."""

from __future__ import annotations

import ast
import importlib
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kumitate as km
from kumitate.cli.app import app
from studies.command import app as studies
from studies.papers import all_examples, command_of

ROOT = Path(__file__).resolve().parents[1]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("studies/**/*.md")])
SCRIPTS = sorted(ROOT.glob("examples/*.py"))

#: Names of environment variables that the package reads.
VARIABLE = re.compile(
    r"\b(?:KUMITATE_[A-Z_]*[A-Z]|XDG_[A-Z_]+|ROBOT_DESCRIPTIONS_CACHE|[A-Z]+_(?:MODEL|RESOURCE|PACKAGE|PREFIX)_PATH)\b"
)

BALL = """
import numpy as np
import kumitate as km
body = km.Body("ball", 2.0, inertia=(0.008, 0.008, 0.008), collisions=(km.Geometry(km.Sphere(0.1)),))
robot = km.load(km.Mechanism("ball", (body,), (km.Joint("free", "floating", "world", "ball"),)))
q, v = np.array([0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.12]), np.zeros(6)
"""
BOX_MESH = """
from pathlib import Path
import kumitate as km
corners = [(x, y, z) for x in (-1, 1) for y in (-2, 2) for z in (-3, 3)]
faces = "2 1 3, 2 3 4, 5 6 7, 7 6 8, 1 2 5, 5 2 6, 4 3 7, 4 7 8, 3 1 5, 3 5 7, 2 4 6, 6 4 8".split(", ")
lines = ["v {} {} {}".format(*corner) for corner in corners] + [f"f {face}" for face in faces]
Path("box.obj").write_text("\\n".join(lines))
mesh = km.Mesh("box.obj", resolved=str(Path("box.obj").resolve()))
"""
URDF = """<robot name="hyq">
  <link name="trunk"><inertial><mass value="3"/><inertia ixx=".02" iyy=".03" izz=".04" ixy="0" ixz="0" iyz="0"/></inertial>
  </link>
  <link name="foot"><inertial><mass value=".5"/><inertia ixx=".002" iyy=".002" izz=".002" ixy="0" ixz="0" iyz="0"/></inertial>
    <collision><origin xyz="0 0 -.3"/><geometry><sphere radius=".03"/></geometry></collision></link>
  <joint name="lf_hfe_joint" type="continuous"><parent link="trunk"/><child link="foot"/><axis xyz="0 1 0"/></joint>
</robot>"""
SRDF = """<robot name="hyq">
  <group name="lf_leg"><joint name="lf_hfe_joint"/></group>
  <group_state name="standing" group="lf_leg"><joint name="lf_hfe_joint" value="0.7"/></group_state>
</robot>"""
WRIST = """
import numpy as np
import kumitate as km
joints = [km.Joint(name, "revolute", above, below, axis=axis, limits=km.Limits(-1.0, 1.0)) for name, above, below, axis in (
    ("yaw", "world", "ring1", (0, 0, 1)), ("pitch", "ring1", "ring2", (0, 1, 0)), ("roll", "ring2", "hand", (1, 0, 0)))]
hand = km.Body("hand", 1.0, (0.1, 0.0, -0.2), (0.02, 0.03, 0.04))
mechanism = km.Mechanism("wrist", (km.Body("ring1"), km.Body("ring2"), hand), tuple(joints))
q_three, v_three = np.array([0.3, -0.2, 0.5]), np.array([0.4, 0.1, -0.2])
"""
SENSED = """<mujoco><worldbody><body name="arm"><joint name="hinge" axis="0 1 0"/><geom size="0.1" pos="0.3 0 0"/>
<site name="tip"/></body></worldbody><sensor><accelerometer name="imu" site="tip"/></sensor></mujoco>"""
SWEEP = """
robot: pendulum
controller: {law: pd, kp: 2.0, kd: 1.0}
solver: {duration: 0.1, integrator: rk4}
outputs: [energy]
sweep: {grid: {"gain:kp": [1.0, 2.0]}}
"""
#: What a page's blocks take for granted: Python that gives it to them.
GIVEN = {
    "contact-models.md": BALL,
    "contact-shapes.md": BOX_MESH,
    "contact-speed.md": f"""{BALL}
from kumitate.examples.gallery.quadruped_standing import ANGLES, FEET, FILE
q, v = np.tile(q, (4, 1)), np.zeros((4, 6))
pd = lambda t, q, v: -0.1 * v
""",
    "contact.md": f"from pathlib import Path\nPath('hyq.urdf').write_text({URDF!r})\nbalance = lambda t, q, v: -0.5 * v",
    "control.md": """
import numpy as np
import kumitate as km
robot = arm = km.load("pa10")
q, foot_corners = arm.start[0], [(-0.1, -0.1), (0.1, -0.1), (0.1, 0.1), (-0.1, 0.1)]
run = km.simulate(arm, duration=0.05)
law = km.control.total(km.control.gravity_compensation(arm), km.control.pd(arm, q, kp=50.0, kd=20.0))
q0, v0 = q, np.zeros(7)
q1, q2 = q0 + 0.1, q0 + 0.2
""",
    "conversion.md": f"""
from pathlib import Path
import numpy as np
import kumitate as km
Path('hyq.urdf').write_text({URDF!r})
Path('hyq.srdf').write_text({SRDF!r})
arm = km.load("hyq.urdf")
model = names = ["lf_hfe_joint"]
q, v, a, tau = np.array([0.3]), np.array([0.1]), np.array([0.2]), np.array([2.0])
""",
    "five-ways.md": "import numpy as np\nq, v, tau = np.array([0.3, -0.4, 1.1]), np.array([0.2, 0.1, -0.5]), np.zeros(3)",
    "lagrange.md": "import kumitate as km",
    "meshes.md": BOX_MESH
    + """
hand = km.Body("hand", 1.0, inertia=(1, 1, 1), visuals=(km.Geometry(mesh),))
robot = km.load(km.Mechanism("m", (hand,), (km.Joint("j", "revolute", "world", "hand"),)))
""",
    "mjcf.md": f"""
from pathlib import Path
import gymnasium
import mujoco
import kumitate as km
Path('robot.xml').write_text({SENSED!r})
Path('ant.xml').write_bytes((Path(gymnasium.__file__).parent / 'envs/mujoco/assets/ant.xml').read_bytes())
""",
    "partitions.md": """
import numpy as np
import kumitate as km
robot = km.load("double_pendulum")
q, v, tau = np.ones(2), np.ones(2), np.zeros(2)
""",
    "spherical-joints.md": WRIST,
    "sweeps.md": f"from pathlib import Path\nimport kumitate as km\nPath('scenario.yaml').write_text({SWEEP!r})",
    "virtual-loops.md": """
import numpy as np
import kumitate as km
arm = km.load("planar_3r")
loop = km.Loop("held", "revolute", "world", "link3", km.pose((1, 0, 0)), km.pose((0, 0, 1)), axis=(0, 1, 0))
closed = km.Robot(km.Mechanism("closed", arm.mechanism.bodies, arm.mechanism.joints, (loop,)))
q0, v0, goal, K_p, K_d = closed.assemble([1.0, 0.5, 2.7]), np.zeros(3), 0.0, 0.0, 1.0
""",
}


def blocks(page: Path, language: str = "python") -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", page.read_text(encoding="utf-8"), flags=re.DOTALL)


def name_of(page: Path) -> str:
    """The page within docs, or its name."""
    return page.relative_to(ROOT / "docs").as_posix() if ROOT / "docs" in page.parents else page.name


def saved(page: Path) -> dict[str, str]:
    """The files that a page asks its reader to save, by name."""
    text = page.read_text(encoding="utf-8")
    return dict(re.findall(r"`([\w.]+)`[^`\n]*[:：]\n\n```xml\n(.*?)```", text, flags=re.DOTALL))


#: The modules of the reference.
REFERENCED = {
    name
    for page in (ROOT / "docs" / "reference").glob("*.md")
    for name in re.findall(r"automodule:: (\S+)", page.read_text(encoding="utf-8"))
}


# --- imports ----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("page", [*PAGES, *SCRIPTS], ids=name_of)
def test_only_what_is_public_is_imported(page):
    """`kumitate` itself, or names in `__all__` of a package or of a module that the reference has; examples by module too."""
    for code in blocks(page) if page.suffix == ".md" else [page.read_text(encoding="utf-8")]:
        tree = ast.parse(code)
        for module, name in taken(tree):
            place = f"{page.name}: from {module} import {name}"
            here = importlib.import_module(module)
            by_module = module in REFERENCED or module.startswith(("kumitate.examples.", "studies.papers."))
            assert hasattr(here, "__path__") or by_module, f"{place}: import it from a package"
            assert name in here.__all__, f"{place}: is not in {module}.__all__"
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "km":
                assert hasattr(km, node.attr), f"{page.name}: there is no km.{node.attr}"


def taken(tree: ast.AST) -> Iterator[tuple[str, str]]:
    """(module, name) of what is imported from kumitate by `from`; `import kumitate.module` is refused, but of `papers`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            modules = {item.name for item in node.names if item.name.startswith("kumitate.")} - {"kumitate.papers"}
            assert not modules, ast.unparse(node)
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "kumitate":
            yield from ((node.module or "", item.name) for item in node.names)


# --- commands ---------------------------------------------------------------------------------------------------------
COMMANDS = {"kumitate": app, "scripts/study": studies}


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page, "sh")], ids=name_of)
def test_the_commands_exist(page):
    lines = [line for block in blocks(page, "sh") for line in block.splitlines() if line.split(" ")[0] in COMMANDS]
    for line in lines:
        words = shlex.split(line.partition(">")[0], comments=True)
        COMMANDS[words[0]].parse_args(words[1:], exit_on_error=False, print_error=False)  # unknown verbs and options are errors
        if words[1] in ("examples", "papers") and len(words) > 2:
            assert words[2] in all_examples(), f"{page.name}: {line}"
            assert " ".join(words[:3]) == command_of(words[2]), f"{page.name}: {line}"


@pytest.mark.parametrize("page", [page for page in PAGES if page.name != "CHANGELOG.md"], ids=name_of)
def test_the_commands_within_sentences_exist(page):
    for name, verb in re.findall(r"`(kumitate|scripts/study) (?!as\b)([a-z][a-z-]*)", page.read_text(encoding="utf-8")):
        assert verb in COMMANDS[name], f"{page.name}: {name} {verb}"
        assert COMMANDS[name][verb].show, f"{page.name}: {name} {verb} has moved"


def test_the_pages_that_studies_print_are_listed():
    """docs/studies.md links each of them, beside the study that it says it was printed by."""
    index = (ROOT / "docs" / "studies.md").read_text(encoding="utf-8")
    listed = dict(re.findall(r"\| \[.*?\]\((.*?)\) \| `(scripts/study [a-z-]+)` \|", index))
    printed = {}
    for page in ROOT.glob("docs/*.md"):
        for study in re.findall(r"Printed by\s`(scripts/study [a-z-]+)", page.read_text(encoding="utf-8")):
            printed[page.name] = study
    assert printed == listed
    for name in ("README.md", "README.ja.md"):  # which quotes the benchmarks
        linked = set(re.findall(r"\(docs/([a-z-]+\.md)\)", (ROOT / name).read_text(encoding="utf-8")))
        assert "studies.md" in linked
        assert linked & set(printed) == {"benchmarks.md"}, f"{name}: link docs/studies.md instead"
    runs = {"papers"}  # prints no page, but figures
    assert {study.split(" ")[1] for study in listed.values()} | runs == {name for name in studies if not name.startswith("-")}


# --- Python -----------------------------------------------------------------------------------------------------------
Shown = dict[str, Any]


def executed(page: Path) -> tuple[Shown, Shown]:
    """What the names of a page's blocks hold in the end, and the values of its lines that are expressions, by their text."""
    names: Shown = {}
    values: Shown = {}
    for name, text in saved(page).items():
        Path(name).write_text(text, encoding="utf-8")
    exec(compile(GIVEN.get(name_of(page), ""), page.name, "exec"), names)
    for code in blocks(page):
        for node in ast.parse(code).body:
            if isinstance(node, ast.Expr):
                values[ast.unparse(node)] = eval(compile(ast.Expression(node.value), page.name, "eval"), names)
            else:
                exec(compile(ast.Module([node], []), page.name, "exec"), names)
    return names, values


def closes(gaps: Any) -> None:
    assert gaps
    assert max(max(gap[1:]) for gap in gaps) < 1e-9


def balance(shown: Shown, values: Shown) -> None:
    assert 0.01 < np.abs(shown["run"].q[-1]).max() < 0.2  # rad: it is pushed, and stands
    closes(shown["run"].audit.loop_gaps)


def closed_loops(shown: Shown, values: Shown) -> None:
    assert "joint4" in shown["w"]
    assert np.isfinite(shown["a"]).all()
    closes(shown["run"].audit.loop_gaps)
    drop, rope = shown["drop"], shown["drop"].loops["rope"]
    assert rope.effort.max() == 0.0
    assert drop.q[-1, 0] == pytest.approx(-0.8 - 2.0 * 9.81 / 2000.0, abs=1e-4)  # the weight's stretch
    assert rope.effort[-1, 0] == pytest.approx(-2.0 * 9.81, rel=1e-2)


def contact_models(shown: Shown, values: Shown) -> None:
    (normal, residual, _) = values["(run.contact.normal_force, run.contact.residual, run.audit.contact)"]
    assert residual.max() < 1e-9
    assert normal[-1] == pytest.approx(2.0 * 9.81)
    assert 0.1 - shown["run"].q[-1, 6] == pytest.approx(2.0 * 9.81 / 8e3, rel=1e-3)  # the penalty run sank in by W/K
    smooth = shown["smooth"]
    fall = smooth.time < np.sqrt(2.0 * 0.02 / 9.81) - 1e-3
    np.testing.assert_allclose(smooth.q[fall, 6], 0.12 - 0.5 * 9.81 * smooth.time[fall] ** 2, atol=1e-12)
    assert smooth.q[-1, 6] == pytest.approx(0.1, abs=1e-9)


def contact_shapes(shown: Shown, values: Shown) -> None:
    found = list(shown["touches"](km.Box((0.2, 0.2, 0.1)), km.pose((0, 0, 0.049)), km.Plane(), km.pose()))
    assert [touch.gap for touch in found] == pytest.approx([-1e-3] * 4)
    assert values["left_out(mesh, sole)"] < 1e-12
    assert isinstance(shown["sole"], km.Hull)


def contact_speed(shown: Shown, values: Shown) -> None:
    time, q, v, work = values["(runs.time, runs.q, runs.v, runs.work)"]
    n = len(time)
    assert (q.shape, v.shape, work.shape) == ((4, n, 7), (4, n, 6), (4, n))
    assert np.isinf(values["runs.lost"]).all()
    assert values["runs.contact(3)"].force.shape[0] == n
    run, stance = shown["run"], shown["stance"]
    assert np.abs(run.v[-1]).max() < 1e-5  # ANYmal stands
    assert run.contact.force[-1, :, 2].sum() == pytest.approx(30.476 * 9.81, rel=1e-3)
    assert np.abs(run.q[-1, 7:] - stance.q[7:]).max() < 0.05  # rad


def contact(shown: Shown, values: Shown) -> None:
    run = shown["run"]
    assert run.poses([0])[0, 1, 2, 3] - 0.3 - 0.03 == pytest.approx(0.05)  # the foot, below its joint, above the floor
    assert run.contact.force[..., 2].max() > 0.0
    assert shown["contact"].surfaces["left_foot"].friction == 0.9


def control(shown: Shown, values: Shown) -> None:
    assert values["(linear.A, linear.B, linear.poles, linear.stable)"][3]
    assert np.abs(shown["run"].q[-1] - shown["q2"]).max() < 1e-6
    assert all(Path(name).stat().st_size for name in ("balance.pdf", "momentum.pdf", "power.pdf"))


def conversion(shown: Shown, values: Shown) -> None:
    assert [shown[name].item() for name in ("v", "a", "tau")] == pytest.approx([0.1, 0.2, 2.0])
    assert shown["q"].tolist() == [0.7]  # the posture "standing"


def five_ways(shown: Shown, values: Shown) -> None:
    fourth = values["energies.compile()(q, v)"]
    others = [value for line, value in values.items() if line.startswith("arm.forward_dynamics")]
    assert len(others) == 3
    for found in (*others, values["np.linalg.solve(A, b)"]):
        np.testing.assert_allclose(np.ravel(found), fourth, rtol=1e-10)


def held_points(shown: Shown, values: Shown) -> None:
    assert np.abs(shown["tip"].gap).max() < 1e-12
    x, _, z = shown["tip"].position.T
    np.testing.assert_allclose(z, 0.2 * np.sin(x + 2), atol=1e-12)
    assert x[0] == pytest.approx(-2.0)


def lagrange(shown: Shown, values: Shown) -> None:
    assert np.ptp(shown["motion"].total) < 1e-6 * np.abs(shown["motion"].total).max()
    # A q̈ = b + F by hand at alpha = 0, beta = 0.2, at rest, T = 1.5
    M, m, g, l, r, I = 1.0, 5.0, 9.8, 1.0, 0.2, 0.1
    A = [[(M + m) * r**2 + I, m * l * r * np.cos(0.2)], [m * l * r * np.cos(0.2), m * l**2]]
    expected = np.linalg.solve(A, [1.5, m * g * l * np.sin(0.2) - 1.5])
    np.testing.assert_allclose(values["forward([0.0, 0.2], [0.0, 0.0], [1.5])"], expected)


def learning(shown: Shown, values: Shown) -> None:
    assert shown["observations"].shape == (64, 4)
    assert shown["rewards"].max() <= 1.0
    np.testing.assert_allclose(shown["envs"].batch.inputs["action"], 1.0)
    assert np.ptp(shown["robots"].batch.parameters["mass:*"]) > 0.0
    reaching = shown["VectorEnv"](shown["reaching"], 2)
    reaching.reset(seed=0)
    for _ in range(3000):
        seen, *_ = reaching.step(np.ones((2, 3)))
    assert np.abs(reaching.batch.q - 0.5).max() < 1.0  # rad: gravity bends it
    assert np.abs(reaching.batch.v).max() < 0.1
    np.testing.assert_allclose(seen[:, :3], reaching.batch.q - 0.5, atol=1e-6)


def meshes(shown: Shown, values: Shown) -> None:
    assert values["load_mesh(mesh)"].vertices.shape == values["hull(mesh)"].vertices.shape == (8, 3)
    assert len(values["decimated(mesh, faces=2000)"].faces) == 12


def partitions(shown: Shown, values: Shown) -> None:
    ((_, found),) = values.items()
    np.testing.assert_allclose(found, shown["robot"].forward_dynamics(shown["q"], shown["v"], shown["tau"]), rtol=1e-10)


def spherical_joints(shown: Shown, values: Shown) -> None:
    apart = km.simulate(shown["mechanism"], shown["q_three"], shown["v_three"], duration=1.0, limits=False)
    np.testing.assert_allclose(shown["angles"], apart.q, atol=1e-6)
    np.testing.assert_allclose(shown["rates"], apart.v, rtol=0.02, atol=1e-5)  # the damping is felt a little everywhere
    for (name, over), q in zip(values["merge.beyond_limits(angles)"].items(), apart.q.T, strict=True):
        np.testing.assert_allclose(over, np.maximum(np.abs(q) - 1.0, 0.0), atol=1e-6, err_msg=name)


def simulation(shown: Shown, values: Shown) -> None:
    state, batch, sim = shown["state"], shown["batch"], shown["sim"]
    assert shown["run"].outputs["center_of_mass"].shape == (501, 3)
    assert state.time == pytest.approx(0.1)
    assert np.abs(state.v).max() < np.abs(shown["run"].v[100]).max()  # damped by the input
    assert list(np.flatnonzero(batch.time < 0.1)) == [3, 7]  # started again
    np.testing.assert_array_equal(shown["seen"]["q"][0, -1], batch.q[0])
    joint4 = shown["driven"].mechanism.v_names.index("joint4")
    assert shown["posed"].q[joint4] == pytest.approx(0.5, abs=0.05)  # its weight over its stiffness
    waved = shown["waved"]
    assert waved.q[-1, 0] == pytest.approx(0.1 * np.sin(3.0 * 0.5), abs=0.01)  # about the vertical: no weight
    stood, spun = shown["stood"], shown["spun"]
    assert np.abs(stood.q - stood.q[0]).max() < 0.005
    assert spun.tau[0, 0] == pytest.approx(100.0 * 0.05 * 24.0 / 0.3)  # N·m at rest: N k u/R
    assert shown["current"][0] == pytest.approx(24.0 / 0.3)
    np.testing.assert_allclose(shown["stirred"].q[:, 0], 0.4 * np.sin(5.0 * shown["stirred"].time), atol=1e-14)
    assert np.abs(shown["reaction"]).max() > 1.0
    fallen = shown["fallen"]
    assert fallen.q[:, 1].max() == pytest.approx(0.6, abs=1e-9)
    assert fallen.audit.limits_passed == ()
    last = sim.start()
    np.testing.assert_allclose(last.outputs["hand"], shown["arm"].pose(last.q, "link7"), atol=1e-15)
    assert (shown["heavier"].parameters["mass:link3"], shown["shaken"].mechanism.body("link3").mass) == (6.0, 6.0)
    assert shown["many"].parameters["gravity"].tolist() == [3.7] * 8 + [9.81] * 56


def sweeps(shown: Shown, values: Shown) -> None:
    assert shown["kp"].tolist() == [1.0, 2.0]
    assert shown["energy"].shape == (2,)
    np.testing.assert_array_equal(shown["again"].q, shown["run"].q)
    assert shown["later"].equals(shown["sweep"].table)


def urdf_and_sdf(shown: Shown, values: Shown) -> None:
    assert shown["arm"].mechanism.joint("elbow").drive == km.EffortDrive(gear_ratio=50.0)
    assert shown["run"].v[-1, 0] == pytest.approx(2.0 * 0.1 / 0.2, rel=1e-12)  # v = τ t/I


def virtual_loops(shown: Shown, values: Shown) -> None:
    tip = shown["arm"].pose(shown["run"].q, "link3") @ [0.0, 0.0, 1.0, 1.0]
    np.testing.assert_allclose(tip, np.tile([1.0, 0.0, 0.0, 1.0], (len(tip), 1)), atol=1e-6)


def derivatives(shown: Shown, values: Shown) -> None:
    robot, found = shown["robot"], shown["found"]
    moved = robot.forward_dynamics(robot.integrate(shown["q"], shown["small"]), shown["v"], shown["tau"])
    np.testing.assert_allclose(shown["expected"], moved, rtol=0, atol=1e-8)
    assert np.abs(moved - found.a).max() > 1e-6
    step, by_pushes = shown["step"], shown["step"].by("link7")
    after = shown["sim"].step(shown["state"], tau=shown["tau"], wrenches={"link7": np.full(6, 0.01)})
    np.testing.assert_allclose(np.r_[after.q - step.q, after.v - step.v], 0.01 * by_pushes.sum(axis=1), rtol=0, atol=1e-12)
    assert shown["at"].active.lines() == 4 * ["'block' on 'ground': sliding"]
    motion, gradient = shown["motion"], shown["gradient"].efforts["tau"]
    assert motion.q.shape == (20, 5, 7)
    pushed = shown["sim"].rollout(shown["sim"].batch(20), {"tau": -1e-3 * gradient}, steps=200, every=50)
    assert ((pushed.q - shown["goal"]) ** 2).sum() < ((motion.q - shown["goal"]) ** 2).sum()


def inverse_kinematics(shown: Shown, values: Shown) -> None:
    robot, hand, X = shown["robot"], shown["hand"], shown["X"]
    np.testing.assert_allclose(robot.pose(shown["found"].q, hand), X, atol=1e-7)
    np.testing.assert_allclose(robot.pose(shown["nearby"].q, hand)[:3, 3], X[:3, 3], atol=1e-7)
    away = [np.linalg.norm(shown[name].q - shown["near"]) for name in ("nearby", "found")]
    assert away[0] < away[1]


def humanoid(shown: Shown, values: Shown) -> None:
    assert shown["read"](shown["run"]).lifts == (3, 3)
    assert np.ptp(shown["run"].center_of_mass[:, 0]) == pytest.approx(5 * 0.03, abs=0.015)  # m: two are half steps


def identification(shown: Shown, values: Shown) -> None:
    found = shown["found"]
    assert found["link7.mass"] == pytest.approx(2.5, abs=5.0 * found.deviations["link7.mass"])
    assert found.deviations["link7.mass"] < 0.05
    assert shown["better"].bodies["link7"].mass == found["link7.mass"]
    assert all((Path("report") / name).stat().st_size for name in ("report.md", "efforts.svg", "base.svg"))
    assert shown["base"].combination(2) == "upper.Iyy + 1·lower.mass"


def predictive_control(shown: Shown, values: Shown) -> None:
    assert shown["height"] > 0.95
    assert np.abs(shown["planner"].plan).max() <= 4.0
    np.testing.assert_allclose(shown["motion"].q[-1], np.pi, atol=0.02)
    assert np.abs(shown["upright"].q[-1] - np.pi).max() < 0.1  # the last plans reach on from where the pendulum is


def whole_body_control(shown: Shown, values: Shown) -> None:
    assert np.abs(shown["reached"] - shown["target"]).max() < 2e-3
    effort = np.array([joint.limits[0].effort or np.inf for joint in shown["arm"].mechanism.joints if joint.limits])
    assert (np.abs(shown["run"].tau) <= effort + 1e-3).all()


def mjcf(shown: Shown, values: Shown) -> None:
    np.testing.assert_allclose(np.linalg.norm(shown["run"].outputs["imu"], axis=1), 9.81, atol=1e-9)  # on the axis of the hinge


def sharing(n: dict[str, Any], values: list[Any]) -> None:
    table, run = n["table"], n["run"]
    np.testing.assert_array_equal(table["q.joint2 [rad]"], run.joint("joint2").q[:, 0])
    assert (round(table["q.joint2 [rad]"].iloc[-1], 2), table.shape) == (2.05, (501, 41))
    assert all(Path(name).stat().st_size for name in ("motion.csv", "motion.parquet", "motion.mcap", "pa10.xml"))
    assert km.load("pa10.urdf").nv == 7
    assert n["live"].url.startswith("http://127.0.0.1:")
    assert n["live"].player.state.time >= 0.0


def walkers_with_stops(shown: Shown, values: Shown) -> None:
    np.testing.assert_allclose(shown["run"].contact.velocity[0, 0, 2], 4.0, atol=1e-9)  # of multipoint: m x²/I
    np.testing.assert_allclose(shown["run"].energy.kinetic, [1.0, 4.0], atol=1e-9)


JUDGES = {
    "balance.md": balance,
    "closed-loops.md": closed_loops,
    "contact-models.md": contact_models,
    "contact-shapes.md": contact_shapes,
    "contact-speed.md": contact_speed,
    "contact.md": contact,
    "control.md": control,
    "conversion.md": conversion,
    "derivatives.md": derivatives,
    "five-ways.md": five_ways,
    "held-points.md": held_points,
    "humanoid.md": humanoid,
    "identification.md": identification,
    "inverse-kinematics.md": inverse_kinematics,
    "lagrange.md": lagrange,
    "mjcf.md": mjcf,
    "learning.md": learning,
    "meshes.md": meshes,
    "partitions.md": partitions,
    "predictive-control.md": predictive_control,
    "sharing.md": sharing,
    "simulation.md": simulation,
    "spherical-joints.md": spherical_joints,
    "sweeps.md": sweeps,
    "urdf-and-sdf.md": urdf_and_sdf,
    "virtual-loops.md": virtual_loops,
    "walkers-with-stops.md": walkers_with_stops,
    "whole-body-control.md": whole_body_control,
}


#: Run by test_guides.
GUIDES = {"start.md", "coming-from.md"}
RUN = [page for page in PAGES if page.parent.name == "docs" and blocks(page) and page.name not in GUIDES]


@pytest.mark.parametrize("page", RUN, ids=name_of)
def test_blocks_run_and_do_what_they_say(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names, values = executed(page)
    assert page.name in JUDGES, f"{page.name}: say what must hold after its blocks"
    JUDGES[page.name](names, values)


def test_the_page_of_environment_variables_has_each_that_the_package_reads_and_no_other():
    text = (ROOT / "docs/security.md").read_text(encoding="utf-8").partition("## Environment variables")[2]
    listed = {name for line in text.splitlines() if line.startswith("| `") for name in VARIABLE.findall(line.split("|")[1])}
    read = {name for path in (ROOT / "src").rglob("*.py") for name in VARIABLE.findall(path.read_text(encoding="utf-8"))}
    assert listed == read
    # names that do not look like these are read nowhere
    asked = re.compile(r"""environ(?:\.get\(|\[)"([^"]+)""")
    assert {name for path in (ROOT / "src").rglob("*.py") for name in asked.findall(path.read_text(encoding="utf-8"))} <= read
