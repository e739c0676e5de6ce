"""Loops of a URDF that the YAML beside it names."""

from __future__ import annotations

import math

import pytest

import kumitate as km
from kumitate.errors import KumitateWarning, ModelError
from kumitate.model.drives import EffortDrive

INERTIAL = '<inertial><origin xyz="0.1 0 0"/><mass value="1"/><inertia ixx="0.01" iyy="0.01" izz="0.01"/></inertial>'


def link(name: str) -> str:
    return f'<link name="{name}">{INERTIAL}</link>'


def joint(name: str, parent: str, child: str, x: float, kind: str = "continuous") -> str:
    ends = f'<parent link="{parent}"/><child link="{child}"/><origin xyz="{x} 0 0"/>'
    ends += '<axis xyz="0 0 1"/>' * (kind != "fixed")
    return f'<joint name="{name}" type="{kind}">{ends}</joint>'


#: A planar five-bar linkage: two arms of two links of 0.2 m, 0.3 m apart; their tips are one point.
FIVE_BAR = "\n".join([
    '<robot name="five_bar">', link("base"), link("left_thigh"), link("left_shin"), link("right_thigh"), link("right_shin"),
    '<link name="left_tip"/><link name="right_tip"/>',
    *(
        part
        for side, x in (("left", 0.0), ("right", 0.3))
        for part in (
            joint(f"{side}_hip", "base", f"{side}_thigh", x), joint(f"{side}_knee", f"{side}_thigh", f"{side}_shin", 0.2),
            joint(f"{side}_foot", f"{side}_shin", f"{side}_tip", 0.2, "fixed"),
        )
    ),
    "</robot>",
])  # fmt: skip
LOOPS = 'closed_loop: [["left_tip", "right_foot"]]\ntype: ["3d"]\nname_mot: ["left_hip", "right_hip"]\n'


@pytest.fixture
def files(tmp_path):
    (tmp_path / "robot.urdf").write_text(FIVE_BAR, encoding="utf-8")
    path = tmp_path / "robot.yaml"
    path.write_text(LOOPS, encoding="utf-8")
    return path


def test_loops_and_drives_are_those_of_the_yaml(files):
    robot = km.load(files)
    (loop,) = robot.loops.values()
    # the frame of a joint is that of its child
    assert (loop.name, loop.kind.name, loop.body_a, loop.body_b) == (
        "left_tip-right_foot",
        "spherical",
        "left_tip",
        "right_tip",
    )
    assert {name for name, item in robot.joints.items() if item.drive == EffortDrive()} == {"left_hip", "right_hip"}
    q, _ = robot.state(q={"left_hip": math.radians(60), "right_hip": math.radians(120)})
    assert max(gap.distance for gap in robot.constraint_residual(q)) < 1e-12
    # symmetric about x = 0.15: knees at 0.1 and 0.2, tips √(0.2² − 0.05²) above or below them
    tip = robot.pose(q, "left_tip")
    assert tip[0, 3] == pytest.approx(0.15, abs=1e-12)
    assert abs(tip[1, 3] - 0.1 * math.sqrt(3.0)) == pytest.approx(math.sqrt(0.2**2 - 0.05**2), rel=1e-12)


def test_joints_have_the_types_of_the_yaml(files):
    files.write_text(
        LOOPS.replace("3d", "6d") + 'joint_name: ["left_knee", "right_knee"]\njoint_type: ["SPHERICAL", "UJOINT_XZ"]\n',
        encoding="utf-8",
    )
    robot = km.load(files)
    left, right = robot.joints["left_knee"], robot.joints["right_knee"]
    assert (left.kind.name, right.kind.name) == ("spherical", "universal")
    assert (right.axis, right.second_axis) == ((1.0, 0.0, 0.0), (0.0, 0.0, 1.0))
    assert left.pose == km.load(files.with_suffix(".urdf")).joints["left_knee"].pose
    assert next(iter(robot.loops.values())).kind.name == "fixed"


def test_types_in_capitals_mean_the_same_as_in_small_letters(files):
    types = 'joint_name: ["left_knee", "right_knee"]\njoint_type: ["SPHERICAL", "UJOINT_XZ"]\n'
    files.write_text(LOOPS + types, encoding="utf-8")
    expected = km.load(files).mechanism
    files.write_text(LOOPS.replace("3d", "3D") + types.replace("SPHERICAL", "spherical").replace("UJOINT_XZ", "ujoint_xz"))
    assert km.load(files).mechanism == expected


def test_names_that_are_not_there_and_unknown_entries_are_reported(files):
    files.write_text(
        LOOPS.replace('"right_hip"]', '"hip"]') + 'joint_name: ["rod"]\njoint_type: ["SPHERICAL"]\ncolour: red\n',
        encoding="utf-8",
    )
    with pytest.warns(KumitateWarning) as told:
        km.load(files)
    said = "\n".join(str(item.message) for item in told)
    for part in (r"joint_name that the URDF does not have, not used (rod)", "not used (hip)", "not used (colour)"):
        assert part in said


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            LOOPS.replace("left_tip", "left_tap"),
            r"names 'left_tap', which is neither a link nor a joint.*did you mean 'left_tip'",
        ),
        (LOOPS.replace('"3d"', '"2d"'), r"has the type '2d'; the types are 6d, 3d"),
        (LOOPS.replace('["3d"]', "[]"), r"closed_loop and type must be lists of the same length"),
        (LOOPS.replace('["left_tip", "right_foot"]', '"left_tip"'), r"it must hold pairs of links or joints"),
        (LOOPS + 'joint_name: ["left_knee"]\njoint_type: ["UJOINT_XX"]\n', r"joint_type 'UJOINT_XX'; it must be SPHERICAL, or"),
        ("closed_loop: [", r"robot\.yaml: not valid YAML"),
        ("[[1], 2]: 3\n" + LOOPS, r"robot\.yaml: not valid YAML: unhashable"),
        (LOOPS + "day: 2001-99-99\n", r"robot\.yaml: not valid YAML: month"),
        (LOOPS + "deep: " + "[" * 3000 + "]" * 3000, r"robot\.yaml: not valid YAML: maximum recursion"),
        ("robot: pa10\n", r"names no loops of the URDF beside it"),
        (
            LOOPS.replace('["left_tip"', '[["left_tip"]'),
            r"robot\.yaml: closed_loop\[0\] is \[\['left_tip'\], 'right_foot'\]; write names",
        ),
        (LOOPS.replace('"left_tip"', "{a: 1}"), r"robot\.yaml: closed_loop\[0\] is \[\{'a': 1\}, 'right_foot'\]; write names"),
        ("closed_loop: 7\n", r"robot\.yaml: closed_loop is 7; write a list"),
        (LOOPS.replace('"3d"', "[3d]"), r"robot\.yaml: type\[0\] is \['3d'\]; write names"),
        (LOOPS.replace('"right_hip"', "12"), r"robot\.yaml: name_mot\[1\] is 12; write names as texts"),
        (LOOPS.replace('["left_hip", "right_hip"]', "3"), r"robot\.yaml: name_mot is 3; write a list"),
        (LOOPS + "joint_name: [{a: 1}]\njoint_type: [SPHERICAL]\n", r"robot\.yaml: joint_name\[0\] is \{'a': 1\}; write names"),
        (
            LOOPS + "joint_name: [left_knee]\njoint_type: [[SPHERICAL]]\n",
            r"robot\.yaml: joint_type\[0\] is \['SPHERICAL'\]; write",
        ),
        (
            'closed_loop: [["left_tip", "right_foot"], ["left_tip", "right_foot"]]\ntype: [3d, 3d]\n',
            r"robot\.yaml: .*left_tip-right_foot",
        ),
    ],
)
def test_faults_are_named(files, text, message):
    files.write_text(text, encoding="utf-8")
    with pytest.raises(ModelError, match=message):
        km.load(files)


def test_all_faults_are_named_at_once(files):
    """Those of the text's form first, and of what it names once the form is right."""
    files.write_text("closed_loop: 7\nname_mot: [1, 2]\n", encoding="utf-8")
    with pytest.raises(ModelError, match="closed_loop is 7") as error:
        km.load(files)
    assert [message.partition(": ")[2][:11] for message in error.value.others] == ["name_mot[0]", "name_mot[1]"]
    wrong = LOOPS.replace("left_tip", "left_tap") + 'joint_name: ["left_knee"]\njoint_type: ["UJOINT_XX"]\n'
    files.write_text(wrong, encoding="utf-8")
    with pytest.raises(ModelError, match="UJOINT_XX") as error:
        km.load(files)
    (other,) = error.value.others
    assert "'left_tap'" in other
