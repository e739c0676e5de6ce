"""SRDF: every part by small texts, and the 38 files of example-robot-data."""

from __future__ import annotations

import math
import warnings
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from kumitate.errors import InputError, KumitateWarning, ModelError
from kumitate.model import Body, Joint, Loop, Mechanism
from kumitate.model.read import read_file, read_urdf
from kumitate.model.read.srdf import EndEffector, VirtualJoint, read_srdf

from ..robots import ROBOT_FILES

INERTIA = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))


def body(name: str) -> Body:
    return Body(name, 1.0, (0.0, 0.0, 0.0), INERTIA)


def walker(base: str = "floating") -> Mechanism:
    """A trunk with two legs of a hip, a knee and a fixed foot each."""
    joints = [Joint("base", base, "world", "trunk")]
    for side in ("left", "right"):
        joints += [
            Joint(f"{side}_hip", "spherical", "trunk", f"{side}_thigh"),
            Joint(f"{side}_knee", "revolute", f"{side}_thigh", f"{side}_shank"),
            Joint(f"{side}_ankle", "fixed", f"{side}_shank", f"{side}_foot"),
        ]
    rod = Loop("rod", "spherical", "left_foot", "right_foot")
    return Mechanism("walker", tuple(body(joint.child) for joint in joints), tuple(joints), (rod,))


def read(inside: str, mechanism: Mechanism | None = None, **options):
    return read_srdf(f'<robot name="w">{inside}</robot>', walker() if mechanism is None else mechanism, **options)


def quietly(inside: str, mechanism: Mechanism | None = None, **options):
    """The file, and what is warned of."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        found = read(inside, mechanism, **options)
    assert all(issubclass(one.category, KumitateWarning) for one in told)
    return found, [str(one.message) for one in told]


def pose(*joints: tuple[str, str], name: str = "up", group: str = "all") -> str:
    inside = "".join(f'<joint name="{joint}" value="{value}"/>' for joint, value in joints)
    return f'<group name="{group}"/><group_state name="{name}" group="{group}">{inside}</group_state>'


# --- postures -----------------------------------------------------------------------------------------------------------
def test_a_posture_is_by_names_and_in_our_order():
    found, told = quietly(pose(("root_joint", "1 2 3 0.6 0 0 0.8"), ("right_knee", "-0.5"), ("left_hip", "0 1 0 0")))
    assert told == []
    assert found.poses == {
        "up": {"base": (0.6, 0.0, 0.0, 0.8, 1.0, 2.0, 3.0), "right_knee": (-0.5,), "left_hip": (0.0, 1.0, 0.0, 0.0)}
    }
    left, right = [0.0, 1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0, -0.5]
    assert found.q("up").tolist() == [0.6, 0.0, 0.0, 0.8, 1.0, 2.0, 3.0, *left, *right]


def test_joints_that_a_posture_leaves_out_stay():
    found = read(pose(("left_knee", "1")))
    start = np.arange(17.0)
    assert np.flatnonzero(found.q("up", start) != start).tolist() == [11]
    assert start[11] == 11.0  # not changed in place
    with pytest.raises(InputError, match=r"start has the shape \(3,\); it must be \(17,\)"):
        found.q("up", [0.0] * 3)
    with pytest.raises(InputError, match="no pose 'down' in the file; there are 'up'"):
        found.q("down")


@pytest.mark.parametrize(
    ("kind", "values", "expected"),
    [
        ("revolute", "0.3", (0.3,)),
        ("revolute", f"{math.cos(2.0)} {math.sin(2.0)}", (2.0,)),
        ("prismatic", "-1e-3", (-0.001,)),
        ("planar", "1 2 0.5", (0.5, 1.0, 2.0)),
        ("planar", f"1 2 {math.cos(0.5)} {math.sin(0.5)}", (0.5, 1.0, 2.0)),
        ("cylindrical", "1 2", (1.0, 2.0)),
        ("spherical", "0 0 -0.6 0.8", (0.0, 0.0, -0.6, 0.8)),
    ],
)
def test_how_joints_are_written(kind, values, expected):
    mechanism = Mechanism("one", (body("b"),), (Joint("j", kind, "world", "b"),))
    assert read(pose(("j", values)), mechanism).poses["up"]["j"] == pytest.approx(expected, abs=1e-15)


def test_a_printed_quaternion_is_brought_to_unit_length():
    found = read(pose(("left_hip", "0.60001 0 0 0.8")))
    assert math.hypot(*found.poses["up"]["left_hip"]) == pytest.approx(1.0, abs=1e-15)


def test_states_of_one_name_are_one_posture():
    found = read(pose(("left_knee", "1"), group="left") + pose(("right_knee", "2"), ("left_knee", "1"), group="right"))
    assert found.poses == {"up": {"left_knee": (1.0,), "right_knee": (2.0,)}}
    twice = pose(("left_knee", "1"), group="left") + "\n" + pose(("left_knee", "2"), group="right")
    with pytest.raises(ModelError, match=r"<text>:2: pose 'up' has two values .*\(2\.0,\) here and \(1\.0,\) in line 1"):
        read(twice)


@pytest.mark.parametrize(
    ("declared", "name"),
    [("", "root_joint"), ('<virtual_joint name="v" type="floating" parent_frame="odom" child_link="trunk"/>', "v")],
)
def test_the_joint_on_the_world(declared, name):
    text = declared + pose((name, "1 2 3 0 0 0 1"))
    assert read(text).q("up")[:7].tolist() == [0.0, 0.0, 0.0, 1.0, 1.0, 2.0, 3.0]
    found, told = quietly(text, walker("fixed"))
    assert found.poses == {"up": {}}
    assert len(told) == 1
    assert "joints that are fixed here, not used (base in line 1)" in told[0]


def test_of_several_roots_the_declared_one_is_meant():
    joints = tuple(Joint(f"{side}_base", "revolute", "world", side) for side in ("left", "right"))
    pair = Mechanism("pair", (body("left"), body("right")), joints)
    declared = "".join(
        f'<virtual_joint name="to_{side}" type="fixed" parent_frame="odom" child_link="{side}"/>' for side in ("left", "right")
    )
    assert read(declared + pose(("to_right", "0.5"), ("to_left", "0.25")), pair).q("up").tolist() == [0.25, 0.5]
    with pytest.raises(ModelError, match="names the joint 'root_joint', which 'pair' does not have"):
        read(declared + pose(("root_joint", "0.5")), pair)


def test_a_root_of_its_name_is_itself():
    mechanism = Mechanism(
        "one", (body("b"), body("c")), (Joint("j", "revolute", "world", "b"), Joint("root_joint", "revolute", "b", "c"))
    )
    assert read(pose(("root_joint", "1")), mechanism).poses["up"] == {"root_joint": (1.0,)}


# --- groups, pairs, and what is kept ------------------------------------------------------------------------------------
def test_groups_are_the_moving_joints_in_the_order_of_the_mechanism():
    found = read(
        '<group name="legs"><group name="right"/><chain base_link="trunk" tip_link="left_foot"/></group>'
        '<group name="right"><joint name="right_ankle"/><joint name="right_knee"/><link name="right_thigh"/></group>'
        '<group name="both"><chain base_link="left_shank" tip_link="right_thigh"/></group>'
        '<group name="base"><joint name="root_joint"/></group><group name="none"/>'
    )
    assert found.groups == {
        "legs": ("left_hip", "left_knee", "right_hip", "right_knee"),
        "right": ("right_hip", "right_knee"),
        "both": ("left_hip", "left_knee", "right_hip"),  # by way of the trunk
        "base": ("base",),
        "none": (),
    }


def test_groups_that_do_not_fit_are_told_of():
    found, told = quietly(
        '<group name="a"><joint name="x"/><link name="y"/><chain base_link="z" tip_link="trunk"/><group name="b"/>'
        '<joint name="left_knee"/></group>'
    )
    assert found.groups == {"a": ("left_knee",)}
    assert [message.split("<text>: ")[1] for message in told] == [
        "groups name joints that the mechanism does not have, left out (x in line 1)",
        "groups name links that the mechanism does not have, left out (y in line 1)",
        "chains between links that the mechanism does not have, left out (z … trunk in line 1)",
        "groups name groups that the file does not have, left out (b in line 1)",
    ]
    with pytest.raises(ModelError, match="group 'a' contains itself \\(a → b → a\\)"):
        read('<group name="a"><group name="b"/></group><group name="b"><group name="a"/></group>')


def test_pairs_that_need_no_check():
    found = read(
        '<disable_collisions link1="trunk" link2="left_thigh" reason="Adjacent"/><disable_collisions link1="left_thigh" '
        'link2="trunk" reason="Never"/><disable_collisions link1="left_foot" link2="right_foot"/>'
    )
    assert found.disabled_collisions == {("left_thigh", "trunk"): "Adjacent", ("left_foot", "right_foot"): ""}


def test_what_is_kept_as_it_is_written():
    found = read(
        '<group name="leg"/><virtual_joint name="v" type="planar" parent_frame="odom" child_link="trunk"/>'
        '<passive_joint name="left_knee"/><passive_joint name="left_ankle"/>'
        '<end_effector name="toe" parent_link="left_foot" group="leg" parent_group="leg"/>'
    )
    assert found.virtual_joints == (VirtualJoint("v", "planar", "odom", "trunk"),)
    assert found.passive_joints == ("left_knee",)  # a fixed one is no joint that a drive could move
    assert found.end_effectors == (EndEffector("toe", "leg", "left_foot", "leg"),)


def test_what_is_not_used_is_told_of():
    _, told = quietly(
        '<gripper name="g"><position>0 0 0</position></gripper><end_effector name="e" parent_link="n" group="n"/>'
        '<group_state name="s"><joint name="rod" value="0 0 0 1"/></group_state><passive_joint name="rod"/>'
    )
    assert len(told) == 5
    for words in (
        "<gripper>: not known here",
        "<end_effector> of a group or link that is not there",
        "<group_state> of no group that the file has",
        "<group_state> 's' of joints that close loops or couple others, not used (rod in line 1)",
        "<passive_joint> of joints that close loops or couple others, not used",
    ):
        assert sum(words in message for message in told) == 1, told


# --- faults -------------------------------------------------------------------------------------------------------------
UNKNOWN = {
    "pose": (pose(("left_kne", "1")), "<group_state> 'up' names the joint 'left_kne', .* did you mean 'left_knee'"),
    "prefix": (pose(("walker/left_hip", "0 0 0 1")), "did you mean 'left_hip'"),
    "passive": (
        '<passive_joint name="elbow"/>',
        "names the joint 'elbow', which 'walker' does not have; they are base, left_hip",
    ),
    "pair": ('<disable_collisions link1="trunk" link2="left_fot"/>', "names the link 'left_fot', .* did you mean 'left_foot'"),
}


@pytest.mark.parametrize("key", UNKNOWN)
def test_unknown_names_are_errors_unless_they_are_to_be_skipped(key):
    text, words = UNKNOWN[key]
    with pytest.raises(ModelError, match=f"<text>:1: .*{words}.*skip_unknown=True"):
        read(text)
    found, told = quietly(text, skip_unknown=True)
    assert (found.poses.get("up", {}), found.passive_joints, found.disabled_collisions) == ({}, (), {})
    assert len(told) == 1
    assert "that 'walker' does not have, left out" in told[0]


@pytest.mark.parametrize(
    ("inside", "words"),
    [
        (pose(("left_knee", "1 2 3")), r"'left_knee' has 3 values, .* takes \(angle\) or \(cos, sin\)"),
        (pose(("left_knee", "1 2")), r"\(cos, sin\) of \(1\.0, 2\.0\) is 1\.24 off unit length"),
        (pose(("base", "0 0 0 1 1 2 3")), r"must be \(x, y, z, qx, qy, qz, qw\), in this order"),
        (pose(("base", "0 0 0 0 0 0")), r"has 6 values"),
        (pose(("left_knee", "one")), "'one' is not a number"),
        (pose(("left_knee", "nan")), "not finite"),
        ('<group_state name="s" group="g"><joint name="left_knee"/></group_state>', "no attribute 'value'"),
        ("<group/>", "no attribute 'name'"),
        ('<disable_collisions link1="trunk"/>', "no attribute 'link2'"),
        ('<end_effector name="e" group="g"/>', "no attribute 'parent_link'"),
        ('<virtual_joint name="v"/>', "no attribute 'type'"),
    ],
)
def test_what_breaks_a_rule_is_an_error_with_its_line(inside, words):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(ModelError, match=f"<text>:2: .*{words}"):
            read("\n" + inside)


def test_a_document_type_and_another_root_are_refused(tmp_path):
    with pytest.raises(ModelError, match="document type"):
        read_srdf('<!DOCTYPE robot [<!ENTITY a "b">]><robot name="w">&a;</robot>', walker())
    with pytest.raises(ModelError, match="root element is <sdf>"):
        read_srdf("<sdf/>", walker())
    file = tmp_path / "w.srdf"
    file.write_text('<robot name="w">\n<passive_joint/></robot>', encoding="utf-8")
    with pytest.raises(ModelError, match=r"w\.srdf:2: "):
        read_srdf(file, walker())


# --- the files of example-robot-data ------------------------------------------------------------------------------------
FILES = sorted(ROBOT_FILES.rglob("*.srdf"))

#: Whose robot a file is, where it is not the one of its own name, or the only one of its folder.
ROBOTS = {
    "alexander": "alexander_v1.lowerBodyOnly.urdf", "baxter_manipulation": "baxter.urdf", "cassie_v2": "cassie.sdf",
    "hyq": "hyq_no_sensors.urdf", "pr2_manipulation": "pr2.urdf", "romeo_moveit": "romeo.urdf", "solo": "solo12.urdf",
    "talos": "talos_full_v2.urdf", "ur5": "ur5_robot.urdf",
}  # fmt: skip
#: Files that name joints which their robot does not have: the first of them.
LARGER = {
    "alexander": "NECK_Z", "baxter_manipulation": "baxter/head_pan", "romeo": "LToePitch", "romeo_small": "LToePitch",
}  # fmt: skip


def robot_of(file: Path) -> Path:
    wanted = ROBOTS.get(file.stem, f"{file.stem}.urdf")
    return next(path for path in sorted(file.parents[1].rglob("*")) if path.name == wanted)


def test_all_files_are_there():
    assert len(FILES) == 38
    assert set(LARGER) <= {file.stem for file in FILES}


@pytest.mark.parametrize("file", FILES, ids=lambda file: f"{file.parents[1].name}-{file.stem}")
def test_every_file_is_read_as_a_plain_reading_of_the_xml_has_it(file):
    mechanism = read_quietly(robot_of(file))
    if file.stem in LARGER:
        with pytest.raises(ModelError, match=f"{file.name}:\\d+: .*the joint '{LARGER[file.stem]}'"):
            read_srdf(file, mechanism)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = read_srdf(file, mechanism, skip_unknown=file.stem in LARGER)
    root = ElementTree.parse(file).getroot()
    states = {}
    for state in root.iter("group_state"):
        states.setdefault(state.get("name"), {}).update({part.get("name"): part.get("value") for part in state})
    assert list(found.poses) == list(states)
    joints, used = {joint.name: joint for joint in mechanism.joints}, 0
    for name, values in states.items():
        q = found.q(name)
        for joint, text in values.items():
            numbers = [float(word) for word in text.split()]
            if joint in joints and joints[joint].kind.nq == 1:
                assert q[mechanism.q_names.index(joint)] == numbers[0]
                used += 1
        if "root_joint" in values and mechanism.joints[0].kind.nq == 7:
            numbers = [float(word) for word in values["root_joint"].split()]
            np.testing.assert_allclose(q[:7], [*numbers[3:], *numbers[:3]], atol=1e-7)
    assert used or not states or file.stem == "baxter_manipulation"
    bodies = {body.name for body in mechanism.bodies}
    pairs = [(part.get("link1"), part.get("link2")) for part in root.iter("disable_collisions")]
    assert set(found.disabled_collisions) == {(min(pair), max(pair)) for pair in pairs if set(pair) <= bodies}
    assert list(found.groups) == list(dict.fromkeys(part.get("name") for part in root.findall("group")))
    assert len(found.end_effectors) == len(root.findall("end_effector"))


def read_quietly(file: Path) -> Mechanism:
    held = ("centauro", "finger_edu", "panda", "pr2", "ur", "xarm", "z1", "kinova", "baxter")  # to the ground
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return read_file(file, floating_base=not file.name.startswith(held))
        except ModelError:  # the file itself holds the robot
            return read_file(file)


def test_pinocchio_reads_the_same_postures():
    pin = pytest.importorskip("pinocchio")
    from kumitate.model import convert

    for name, srdf in (("hyq_description/robots/hyq_no_sensors", "hyq"), ("talos_data/robots/talos_full_v2", "talos")):
        urdf = ROBOT_FILES / f"{name}.urdf"
        file = urdf.parents[1] / "srdf" / f"{srdf}.srdf"
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            mechanism = read_urdf(urdf, floating_base=True)
            found = read_srdf(file, mechanism)
        model = pin.buildModelFromUrdf(str(urdf), pin.JointModelFreeFlyer())
        pin.loadReferenceConfigurations(model, str(file), False)
        order = convert.pinocchio(mechanism, model)
        theirs = model.referenceConfigurations
        assert sorted(entry.key() for entry in theirs) == sorted(found.poses)
        for pose_name in found.poses:
            np.testing.assert_allclose(order.to(found.q(pose_name)), theirs[pose_name], atol=1e-12)
