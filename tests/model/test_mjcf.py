"""MJCF: what MuJoCo's compiler makes of a file, as a mechanism; everything else in the file is reported by name and line."""

from __future__ import annotations

import math
import re
import sys
import warnings
from dataclasses import replace

import numpy as np
import pytest
import trimesh

import kumitate as km
from kumitate.errors import InputError, KumitateWarning, ModelError
from kumitate.model import Capsule, Cylinder, Ellipsoid, Hull, Mesh, Plane, cut, lock, merge
from kumitate.model.drives import EffortDrive, PositionDrive, VelocityDrive
from kumitate.model.elements import NamedState
from kumitate.model.read import from_json, read_mjcf, to_json
from kumitate.model.read.mjcf.bodies import SHAPES

from .mjcf_models import DRIVEN, TIED, UNREAD, ZOO


@pytest.fixture(scope="module")
def zoo() -> km.Robot:
    with pytest.warns(KumitateWarning, match=r"limits of ball joints: not used \(wrist in line 23\)$"):
        return km.Robot(read_mjcf(ZOO))


@pytest.fixture(scope="module")
def tied() -> km.Robot:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return km.Robot(read_mjcf(TIED))


# --- bodies and joints ------------------------------------------------------------------------------------------------------
def test_joints_have_the_names_kinds_and_passive_forces_of_the_file(zoo):
    moving = {name: joint.kind.name for name, joint in zoo.joints.items() if joint.kind.nv}
    assert moving == {
        "base": "floating", "turn": "revolute", "push": "prismatic", "twist": "revolute", "wrist": "spherical",
        "rail": "prismatic", "hinge": "revolute",
    }  # fmt: skip
    turn = zoo.joints["turn"]
    assert (turn.stiffness, turn.rest, turn.armature, turn.damping) == ((3.0,), (0.2,), (0.01,), (0.1,))
    assert (turn.limits[0].lower, turn.limits[0].upper) == (-1.0, 2.0)
    assert zoo.joints["base"].damping == (0.0,) * 6  # <freejoint> takes no defaults
    assert zoo.mechanism.gravity == (0.3, -0.2, -9.7)


def test_a_cart_with_a_pendulum_has_the_inertia_matrix_of_its_closed_form(zoo):
    q, _ = zoo.start
    q[-1] = 0.7
    mass = 700.0 * 4.0 / 3.0 * math.pi * 0.1**3
    across, about = mass * 0.5 * math.cos(0.7), 0.4 * mass * 0.1**2 + mass * 0.5**2
    expected = [[2.0 * mass, -across], [-across, about]]
    np.testing.assert_allclose(zoo.mass_matrix(q)[-2:, -2:], expected, rtol=1e-13)


def test_the_posture_of_the_file_is_where_simulations_begin(zoo):
    q, v = zoo.start
    named = dict(zip(zoo.mechanism.q_names, q, strict=True))
    assert (named["turn"], named["push"], named["twist"]) == (0.3, -0.1, 0.0)
    assert not v.any()
    X = zoo.pose(q, "trunk")
    np.testing.assert_allclose(X[:3, 3], [0.5, 0.0, 1.0], atol=1e-15)
    # at refs, bodies are where the file has them: the arm at .1 .2 .3 in the trunk, the case below it
    np.testing.assert_allclose((np.linalg.inv(X) @ zoo.pose(q, "arm"))[:3, 3], [0.1, 0.2, 0.3], atol=1e-15)
    np.testing.assert_allclose((np.linalg.inv(X) @ zoo.pose(q, "case"))[:3, 3], [0.0, 0.0, -0.3], atol=1e-15)


def test_keyframes_are_named_starts(zoo):
    q, v = zoo.starts["up"]
    np.testing.assert_allclose(zoo.pose(q, "trunk"), [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 2], [0, 0, 0, 1]], atol=1e-15)
    np.testing.assert_allclose(zoo.velocity(q, v, "trunk"), [0, 0, 2, 1, 0, 0], atol=1e-15)
    assert (q[-2:].tolist(), v[-1]) == ([0.4, 3.0], 4.0)


def test_sites_are_frames_and_excluded_pairs_are_kept(zoo):
    assert set(zoo.frames) == {"mark", "tool"}
    assert zoo.frames["mark"].body == "world"
    q, _ = zoo.start
    seen = np.linalg.inv(zoo.pose(q, "arm")) @ zoo.pose(q, "tool")
    np.testing.assert_allclose(seen, [[1, 0, 0, 0], [0, -1, 0, 0], [0, 0, -1, 0.3], [0, 0, 0, 1]], atol=1e-15)
    assert zoo.mechanism.no_contact == (("cart", "hand"),)


def test_geoms_are_shapes_that_are_drawn_or_touch(zoo):
    def shapes(body: str, role: str) -> list[object]:
        return [item.shape for item in getattr(zoo.bodies[body], role)]

    assert shapes("world_link", "collisions") == [Plane()]
    assert shapes("trunk", "visuals") == shapes("trunk", "collisions") == [Ellipsoid((0.1, 0.2, 0.3))]
    assert (shapes("arm", "visuals"), shapes("arm", "collisions")) == ([Capsule(0.05, 0.4)], [])  # no mask lets it touch
    assert (shapes("case", "visuals"), shapes("case", "collisions")) == ([], [Cylinder(0.05, 0.2)])  # of a hidden group


def test_starts_and_pairs_are_saved_with_the_mechanism(zoo):
    assert from_json(to_json(zoo.mechanism)) == zoo.mechanism


# --- loops ------------------------------------------------------------------------------------------------------------------
def test_connect_and_weld_are_loops_that_the_posture_of_the_file_closes(tied):
    gaps = {gap.name: gap for gap in tied.constraint_residual(tied.starts["initial"][0])}
    assert {name: loop.kind.name for name, loop in tied.loops.items()} == {
        "pin": "spherical", "glue": "fixed", "plate": "fixed", "held": "fixed",
    }  # fmt: skip
    for name in ("pin", "glue"):
        assert gaps[name].distance < 1e-14
        assert gaps[name].angle < 1e-14
    # jf is held 0.2 rad away from its ref; a gap is 2 tan(θ/2)
    assert gaps["held"].angle == pytest.approx(2.0 * math.tan(0.1), rel=1e-12)


def test_relations_of_two_joints_are_couplings(tied):
    gear, belt = tied.couplings["gear"], tied.couplings["belt"]
    assert (gear.joint, gear.of, gear.ratio, gear.offset) == ("jd1", "jd2", 2.0, 0.1)
    # 2 je1 − 3 je2 = 0.4 + 2·0.1 − 3·30°
    assert (belt.joint, belt.of, belt.ratio) == ("je1", "je2", 1.5)
    assert belt.offset == pytest.approx((0.6 - 3.0 * math.radians(30.0)) / 2.0, rel=1e-14)


def test_other_equalities_are_reported():
    with pytest.warns(KumitateWarning) as told:
        read_mjcf(TIED)
    said = "\n".join(str(warning.message) for warning in told)
    assert re.search(r"polynomials or spatial tendons: not simulated \(cam in line 26\)", said)
    assert re.search(r"more than two joints.*: not simulated \(three in line 27\)", said)
    assert re.search(r"not active, left out \(off in line 28\)", said)


# --- nothing is dropped silently ----------------------------------------------------------------------------------------------
NAMES = re.findall(r'<(?!body|option|joint name="slide|geom name="(?:block|ghost)|site|flexcomp)\w+ name="(\w+)"', UNREAD)


@pytest.fixture(scope="module")
def reported() -> list[str]:
    with pytest.warns(KumitateWarning) as told:
        read_mjcf(UNREAD)
    return [str(warning.message) for warning in told]


@pytest.mark.parametrize("name", [*NAMES, "a", "m"])
def test_what_is_not_simulated_is_reported_with_its_line(reported, name):
    (line,) = [number for number, text in enumerate(UNREAD.splitlines(), 1) if re.search(rf'<\w+ name="{name}"', text)]
    assert [text for text in reported if re.search(rf"\b{name} in line {line}\b", text)]


def test_the_list_of_what_is_not_simulated_is_whole(reported):
    assert len(NAMES) == 13
    for what in (
        "flexes (deformable bodies): not simulated (sheet)",
        "density of <option>: forces of fluids are not simulated",
    ):
        assert any(what in text for text in reported)


HINGE = '<mujoco>\n<worldbody><body>\n<joint name="elbow"/><geom size=".1"/></body></worldbody>'


# --- refusals -----------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('<mujoco>\n<worldbody>\n<geom sise="1"/></worldbody></mujoco>', r":3: MuJoCo refuses.*unrecognized attribute: 'sise'"),
        ("<mujoco>\n<worldbody>\n<body>\n</worldbody></mujoco>", r":3: MuJoCo refuses the file: .*MISMATCHED"),
        ("<mujoco><worldbody>\n<body>\n<joint/></body></worldbody></mujoco>", r":2: MuJoCo refuses.*mass and inertia"),
        (HINGE.replace("/>", ' range="2 1" limited="true"/>', 1) + "</mujoco>", r":3: MuJoCo refuses.*smaller than range"),
        (
            HINGE + '\n<actuator>\n<motor joint="elbo"/></actuator></mujoco>',
            r":5: MuJoCo refuses.*unknown transmission target 'elbo'",
        ),
        ('<robot name="r"/>', r"r\.xml: starts with <robot>; MJCF starts with <mujoco>; a URDF: give it the suffix \.urdf"),
    ],
)
def test_what_mujoco_refuses_is_refused_with_its_reason_and_line(tmp_path, text, message):
    file = tmp_path / "r.xml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(ModelError, match=message):
        km.load(file)


def test_floating_base_and_a_missing_package_are_errors_with_remedies(monkeypatch):
    with pytest.raises(ModelError, match=r"<text>: floating_base was asked for.*write <freejoint/>"):
        read_mjcf("<mujoco/>", floating_base=True)
    monkeypatch.setitem(sys.modules, "mujoco", None)
    with pytest.raises(InputError, match=r"pip install 'kumitate\[mjcf\]'"):
        read_mjcf("<mujoco/>")


def test_a_geom_of_a_type_without_a_shape_is_left_out_with_its_name_and_line(monkeypatch):
    monkeypatch.delitem(SHAPES, "sphere")
    with pytest.warns(
        KumitateWarning, match=r"geoms of type sphere, of which there is no shape here, left out \(ball in line 4\)"
    ):
        read = read_mjcf(HINGE.replace("<geom", '\n<geom name="ball"') + "</mujoco>")
    assert read.bodies[0].collisions == read.bodies[0].visuals == ()


def test_included_files_are_read(tmp_path):
    (tmp_path / "part.xml").write_text(
        '<mujoco><worldbody><body name="b"><joint name="j"/><geom size=".1"/></body></worldbody></mujoco>', encoding="utf-8"
    )
    file = tmp_path / "whole.xml"
    file.write_text('<mujoco model="whole"><include file="part.xml"/></mujoco>', encoding="utf-8")
    robot = km.load(file)
    assert (robot.name, list(robot.joints)) == ("whole", ["j"])


# --- meshes -------------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(("scale", "turn", "kind"), [((1, -2, 1), (1, 0, 0, 0), Mesh), ((2, 2, 2), (1, 0.2, 0.3, 0), Mesh),
                                                     ((1, 2, 3), (1, 0.2, 0.3, 0), Hull)])  # fmt: skip
def test_meshes_are_drawn_where_mujoco_has_them(tmp_path, scale, turn, kind):
    """MuJoCo moves meshes to their principal axes; the corners are in the same places."""
    box = trimesh.creation.box((0.2, 0.3, 0.5))
    box.apply_transform(trimesh.transformations.rotation_matrix(0.4, (1, 1, 0), (0.3, 0.1, 0.2)))
    box.export(tmp_path / "box.stl")
    shown = f'scale="{scale[0]} {scale[1]} {scale[2]}" refpos=".1 .2 .3" refquat="{turn[0]} {turn[1]} {turn[2]} {turn[3]}"'
    file = tmp_path / "box.xml"
    file.write_text(
        f'<mujoco><asset><mesh name="m" file="box.stl" {shown}/></asset><worldbody><body name="b">'
        '<geom type="mesh" mesh="m" pos="1 2 3" euler="10 20 30"/></body></worldbody></mujoco>', encoding="utf-8",
    )  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        (geometry,) = km.load(file).bodies["b"].collisions
    assert isinstance(geometry.shape, kind)
    X = np.array(geometry.pose.matrix(), dtype=float)
    ours = geometry.shape.facets().vertices @ X[:3, :3].T + X[:3, 3]

    def turned(w: float, x: float, y: float, z: float) -> np.ndarray:
        return trimesh.transformations.quaternion_matrix((w, x, y, z))[:3, :3]

    # MuJoCo's rule: R(refquat)ᵀ (p − refpos), scaled, then as the geom stands
    placed = ((box.vertices - [0.1, 0.2, 0.3]) @ turned(*turn)) * scale
    standing = trimesh.transformations.euler_matrix(*np.radians([10, 20, 30]), axes="rxyz")[:3, :3]
    theirs = placed @ standing.T + [1.0, 2.0, 3.0]
    apart = np.linalg.norm(ours[:, None] - theirs[None], axis=2)
    assert max(apart.min(axis=0).max(), apart.min(axis=1).max()) < 1e-6  # files of single precision


# --- starts and edits ---------------------------------------------------------------------------------------------------------
def test_edits_keep_what_still_fits_of_the_starts(zoo):
    mechanism = zoo.mechanism
    locked = {state.name: dict(state.q) for state in lock(mechanism, ["turn"]).starts}
    assert ("turn" in locked["up"], locked["up"]["push"]) == (False, (0.1,))
    part = cut(mechanism, "wrist")
    assert ([dict(state.q) for state in part.starts], part.no_contact) == ([{}, {}], ())
    both = merge(mechanism, mechanism, prefix="other_")
    assert [state.name for state in both.starts] == ["initial", "up", "other_initial", "other_up"]
    assert both.no_contact == (("cart", "hand"), ("other_cart", "other_hand"))
    q, _ = km.Robot(both).starts["other_up"]
    np.testing.assert_array_equal(q[zoo.nq :], zoo.starts["up"][0])


@pytest.mark.parametrize(
    ("q", "message"),
    [
        ({"hing": (0.1,)}, r"pendulum: start 's' names the joint 'hing', which is not there; did you mean 'hinge'\?"),
        ({"hinge": (0.1, 0.2)}, r"start 's' has 2 numbers for q of joint 'hinge'; it has 1, give these"),
        ({"hinge": (math.nan,)}, r"start 's': q of joint 'hinge' is nan"),
    ],
)
def test_starts_are_checked(q, message):
    with pytest.raises(ModelError, match=message):
        replace(km.load("pendulum").mechanism, starts=(NamedState("s", q),))


def test_pairs_without_contact_are_checked():
    with pytest.raises(ModelError, match=r"no_contact names 'bobb', which is not a body; did you mean 'bob'"):
        replace(km.load("pendulum").mechanism, no_contact=(("bobb", "bob"),))


FAULTY = """<mujoco><worldbody>
  <body name="a"><joint name="j" tipe="hinge"/><geom size="0.1" mass="1"/>
    <body name="b" pos="0 0 1 2">
      <joint name="k" type="hinge" axis="0 0 0"/>
      <geom size="-0.1"/>
    </body></body>
  <body name="c"><freejoint/></body>
</worldbody><actuator>
  <motor joint="nothing"/>
  <motor joint="k"/>
</actuator></mujoco>"""


def test_all_reasons_of_mujoco_to_refuse_a_file_are_told_at_once(tmp_path):
    """And none that only follows from taking out what another one names: neither the motor of k, nor the mass of b."""
    path = tmp_path / "faulty.xml"
    path.write_text(FAULTY, encoding="utf-8")
    with pytest.raises(ModelError) as error:
        km.load(path)
    told = {message.removeprefix(f"{path}:").partition(":")[0]: message for message in (str(error.value), *error.value.others)}
    words = {"2": "'tipe'", "3": "'pos'", "4": "axis too small", "5": "size 0", "7": "mass and inertia", "9": "'nothing'"}
    assert told.keys() == words.keys()
    assert len(error.value.others) == len(words) - 1
    assert all(word in told[line] for line, word in words.items())


# --- drives -------------------------------------------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def driven() -> tuple[km.Robot, list[str]]:
    with pytest.warns(KumitateWarning) as told:
        robot = km.Robot(read_mjcf(DRIVEN))
    return robot, [str(warning.message) for warning in told]


def test_motors_and_servos_are_drives(driven):
    robot, _ = driven
    assert {name: joint.drive for name, joint in robot.joints.items() if joint.drive} == {
        "motor": EffortDrive(limit=10.0),
        "position": PositionDrive(kp=90.0, kd=18.0, limit=12.0),  # times the square of the gear
        "velocity": VelocityDrive(kd=24.0),
        "general": PositionDrive(kp=3.0, kd=0.5),
    }
    assert (robot.joints["position"].armature, robot.joints["position"].damping) == ((4.5,), (0.7 * 9.0,))
    assert robot.joints["general"].limits[0].effort == 9.0


BACKWARD = """<mujoco><worldbody>
  <body><joint name="hip" axis="0 1 0"/><geom size="0.1" mass="1"/>
    <body pos="0 0 -1"><joint name="knee" axis="0 1 0"/><geom size="0.1" mass="1"/>
      <body pos="0 0 -1"><joint name="ankle" axis="0 1 0"/><geom size="0.1" mass="1"/></body></body></body>
</worldbody><actuator>
  <motor name="last" joint="ankle" gear="50" ctrlrange="-1 1" ctrllimited="true"/>
  <position name="middle" joint="knee" gear="2" kp="30"/>
  <general name="first" joint="hip" gainprm="4" biastype="affine" biasprm="0.5 0 -2" gear="3"/>
</actuator></mujoco>"""


def test_a_robot_keeps_the_order_of_its_actuators_through_files_and_edits():
    """In the file's order, not in that of the joints; controls become the targets that a conversion with the model gives."""
    mujoco = pytest.importorskip("mujoco")
    robot, model = km.Robot(read_mjcf(BACKWARD)), mujoco.MjModel.from_xml_string(BACKWARD)
    order = km.convert.mujoco(robot, model)
    assert robot.actuators == order.actuators
    assert [(one.name, one.joint, one.gear) for one in robot.actuators] == [
        ("last", "ankle", 50.0), ("middle", "knee", 2.0), ("first", "hip", 3.0)
    ]  # fmt: skip
    controls = np.array([[0.5, 0.2, -0.1], [7.0, 0.0, 1.0]])
    assert np.array_equal(robot.targets(controls), order.control(controls))
    assert robot.targets(controls)[1, 2] == 50.0  # clipped, and last among the joints
    again = km.Robot(from_json(to_json(robot.mechanism)))
    assert again.actuators == robot.actuators
    moved = km.Robot(merge(robot.mechanism, km.load("pendulum").mechanism, prefix="other_"))
    assert moved.actuators == robot.actuators
    short = km.Robot(lock(robot.mechanism.with_drives({"knee": None}), {"knee": 0.0}))
    assert [one.name for one in short.actuators] == ["last", "first"]
    with pytest.raises(InputError, match=r"ctrl has shape \(3,\); it must be \(\.\.\., 2\): last, first"):
        short.targets(controls[0])
    with pytest.raises(InputError, match="its file has named no actuators"):
        km.load("pendulum").targets([0.0])
    other = km.Robot(robot.mechanism.with_drives({"knee": EffortDrive()}))
    with pytest.raises(InputError, match="'knee' has a drive here that no actuator is"):
        other.targets(controls[0, :2])


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("second", "of joints that another one drives already"), ("pull", "by tendons"), ("muscle", "that are muscles"),
        ("integrated", "with a state of their own"), ("pushing", "whose bias drives the joint"),
    ],
)  # fmt: skip
def test_other_actuators_are_reported(driven, name, why):
    (line,) = [number for number, text in enumerate(DRIVEN.splitlines(), 1) if f'name="{name}"' in text]
    assert f"<text>: actuators {why}: not simulated ({name} in line {line})" in driven[1]
