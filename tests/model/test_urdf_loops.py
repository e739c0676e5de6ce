"""Loops in URDF files: <loop_joint> and drake:ball_constraint."""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import kumitate as km
from kumitate.errors import KumitateWarning, ModelError
from kumitate.model import KINDS, Coupling, Distance, Helical, Limits, Line, RollingDisc, RollingSphere
from kumitate.model.read import from_json, read_urdf, to_json
from kumitate.spatial import pose

INERTIAL = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'


def chain(inside: str) -> str:
    links = "".join(f'<link name="{name}">{INERTIAL}</link>' for name in ("base", "left", "right"))
    joints = "".join(
        f'<joint name="{name}_hip" type="continuous"><parent link="base"/><child link="{name}"/></joint>'
        for name in ("left", "right")
    )
    return f'<robot name="pair">\n{links}{joints}\n{inside}</robot>'


def loop_joint(name="tie", kind="revolute", first="left", second="right", axis='<axis xyz="0 2 0"/>') -> str:
    ends = f'<link1 link="{first}" xyz="1 2 3" rpy="0.1 0.2 0.3"/><link2 link="{second}" xyz="4 5 6"/>'
    return f'<loop_joint name="{name}" type="{kind}">{ends}{axis}</loop_joint>'


def ball(a="left", b="right") -> str:
    parts = f'body_A name="{a}"', f'body_B name="{b}"', 'p_AP value="1 2 3"', 'p_BQ value="4 5 6"'
    return f"<drake:ball_constraint>{''.join(f'<drake:ball_constraint_{part}/>' for part in parts)}</drake:ball_constraint>"


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    ("kind", "ours"),
    [
        ("revolute", "revolute"), ("continuous", "revolute"), ("prismatic", "prismatic"), ("fixed", "fixed"),
        ("planar", "planar"), ("ball", "spherical"), ("spherical", "spherical"), ("cylindrical", "cylindrical"),
        ("universal", "universal"), ("helical", "helical"), ("distance", "distance"), ("line", "line"),
        ("rolling_disc", "rolling_disc"), ("rolling_sphere", "rolling_sphere"),
    ],
)  # fmt: skip
def test_a_loop_joint_is_a_loop(kind, ours):
    turns = ours in ("revolute", "prismatic", "planar", "cylindrical", "universal", "helical", "rolling_disc", "rolling_sphere")
    axes = '<axis xyz="0 2 0"/>' * turns + '<axis2 xyz="3 0 0"/>' * (kind == "universal")
    text = loop_joint(kind=kind, axis=axes)
    size = {"helical": ' pitch="-0.25"', "distance": ' length="0.75"'}
    size = {**size, "rolling_disc": ' radius="0.3"', "rolling_sphere": ' radius="0.3"'}.get(kind, "")
    mechanism = read_urdf(chain(text.replace("<loop_joint", f"<loop_joint{size}")))
    (loop,) = mechanism.loops
    assert (loop.name, loop.kind.name, loop.body_a, loop.body_b) == ("tie", ours, "left", "right")
    assert loop.pose_a.almost_equal(pose((1, 2, 3), (0.1, 0.2, 0.3)))
    assert loop.pose_b.almost_equal(pose((4, 5, 6)))
    expected = {"helical": Helical(-0.25), "distance": Distance(0.75), "line": Line()}
    expected |= {"rolling_disc": RollingDisc(0.3), "rolling_sphere": RollingSphere(0.3)}
    assert loop.kind == expected.get(ours, KINDS.get(ours))
    assert loop.second_axis == ((1.0, 0.0, 0.0) if kind == "universal" else None)
    if turns:
        np.testing.assert_allclose(loop.axis, (0, 1, 0))
    assert mechanism.nv == 2
    text = to_json(mechanism)
    assert to_json(from_json(text)) == text


@pytest.mark.filterwarnings("error")
def test_a_ball_constraint_holds_two_points_together():
    loops = read_urdf(chain(ball() + ball("base"))).loops
    assert [(loop.name, loop.body_a, loop.body_b) for loop in loops] == [
        ("ball_constraint_1", "left", "right"),
        ("ball_constraint_2", "base", "right"),
    ]
    assert {loop.kind.name for loop in loops} == {"spherical"}
    assert loops[0].pose_a.almost_equal(pose((1, 2, 3)))
    assert loops[0].pose_b.almost_equal(pose((4, 5, 6)))


@pytest.mark.parametrize(
    ("inside", "parts"),
    [
        (loop_joint(kind="hinge"), ["<text>:3", "'hinge'", "revolute, continuous"]),
        (loop_joint(second="rigth"), ["<text>:3", "'rigth'", "did you mean 'right'?"]),
        (loop_joint(name="left_hip"), ["'left_hip'", "must be unique"]),
        (loop_joint() + loop_joint(), ["'tie'", "must be unique"]),
        (loop_joint(axis='<axis xyz="0 0 0"/>'), ["no direction"]),
        (ball(b="nobody"), ["'nobody'", "the links are base, left, right"]),
        ('<loop_joint name="tie" type="ball"><link1 link="left"/></loop_joint>', ["no <link2>"]),
        (loop_joint(kind="distance", axis=""), ["<text>:3", "no attribute 'length'"]),
        (loop_joint(kind="helical"), ["<text>:3", "no attribute 'pitch'"]),
        (
            loop_joint(kind="distance", axis="").replace("<loop_joint", '<loop_joint length="0"'),
            ["<text>:3", "[m] is 0.0", "spherical"],
        ),
        (
            loop_joint(kind="helical").replace("<loop_joint", '<loop_joint pitch="0"'),
            ["<text>:3", "pitch [m] is 0.0", "revolute"],
        ),
        (loop_joint(kind="universal"), ["<text>:3", "no <axis2>"]),
        (loop_joint(kind="universal", axis='<axis xyz="1 0 0"/><axis2 xyz="1 1 0"/>'), ["<text>:3", "right angles"]),
        (
            loop_joint(kind="ball", axis='<dynamics spring_stiffness="1"/>'),
            ["<text>:3", "stiffness", "loops of the kind Line()"],
        ),
    ],
)
def test_what_is_refused(inside, parts):
    with pytest.raises(ModelError) as caught:
        read_urdf(chain(inside))
    for part in parts:
        assert part in str(caught.value)


@pytest.mark.filterwarnings("error")
def test_limits_and_friction_of_loops_are_read():
    inside = (
        '<axis xyz="0 1 0"/><limit lower="-1" upper="1" effort="2"/>'
        '<dynamics damping="0.1" friction="0.2" spring_stiffness="3" spring_reference="-0.4"/>'
    )
    (loop,) = read_urdf(chain(loop_joint(axis=inside))).loops
    assert (loop.stiffness, loop.rest) == ((3.0,), (-0.4,))
    (line,) = read_urdf(chain(loop_joint(kind="line", axis=inside.removeprefix('<axis xyz="0 1 0"/>')))).loops
    assert (line.damping, line.stiffness, line.rest, line.limits[0].upper) == ((0.1,), (3.0,), (-0.4,), 1.0)
    assert loop.limits == (Limits(-1.0, 1.0, None, 2.0),)
    assert (loop.damping, loop.friction) == ((0.1,), (0.2,))


def test_what_a_loop_joint_does_not_use_is_told_of():
    with pytest.warns(UserWarning, match=r"<axis> of loop joints without one \(fixed, ball, .*\), not used"):
        read_urdf(chain(loop_joint(kind="ball")))
    with pytest.warns(UserWarning, match="<limit> of joints that have not one degree of freedom, not used"):
        read_urdf(chain(loop_joint(kind="ball", axis='<limit lower="0" upper="1"/>')))
    with pytest.warns(UserWarning, match="<mimic>: not known here, not used"):
        read_urdf(chain(loop_joint(axis='<mimic joint="left_hip"/>')))


@pytest.mark.filterwarnings("error")
def test_the_examples_of_the_page_are_read():
    page = (Path(__file__).parents[2] / "docs" / "urdf-and-sdf.md").read_text(encoding="utf-8")
    examples = re.findall(r"```xml\n(.*?)```", page, flags=re.DOTALL)
    assert len(examples) == 2
    for example, (a, b) in zip(examples, (("lower_arm", "upper_arm"), ("left", "right")), strict=True):
        text = chain(example).replace("left", a).replace("right", b)
        (loop,) = read_urdf(text).loops
        assert (loop.body_a, loop.body_b) == (a, b)


def test_rods_and_couplings_come_back_from_json():
    mechanism = read_urdf(chain(loop_joint(kind="fixed", axis="")))
    rod = replace(mechanism.loops[0], kind=Distance(0.3), limits=(), damping=(), friction=(), armature=())
    couplings = (Coupling("gear", "left_hip", "right_hip", -2.0, 0.1),)
    text = to_json(replace(mechanism, loops=(rod,), couplings=couplings))
    back = from_json(text)
    assert to_json(back) == text
    assert back.loops[0].kind == Distance(0.3)
    assert back.couplings == couplings
    for wrong, said in (('"length": 0.3', '"length": -1'), ('"kind": "distance"', '"kind": "spring"')):
        with pytest.raises(ModelError, match=r"mechanism\.loops\[0\]"):
            from_json(text.replace(wrong, said))


def test_the_world_has_its_name_in_loops_without_a_link_for_it():
    text = chain(loop_joint(second="world") + ball(a="world", b="left"))
    tie, point = read_urdf(text).loops
    assert (tie.body_b, point.body_a) == ("world", "world")
    moved = (
        text.replace('<link name="base"/>', "").replace('name="base"', 'name="world"').replace('link="base"', 'link="world"')
    )
    with pytest.warns(KumitateWarning, match="is a body here, not the world, and is called 'world_link'"):
        tie, point = read_urdf(moved).loops
    assert (tie.body_b, point.body_a) == ("world_link", "world_link")  # the link of this name has inertia: it is a body


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("kind", ["ball", "spherical", "universal", "cylindrical"])
def test_joints_of_the_tree_may_be_balls_universal_or_cylindrical(kind):
    axes = {"universal": '<axis xyz="0 2 0"/><axis2 xyz="3 0 0"/>', "cylindrical": '<axis xyz="0 2 0"/>'}.get(kind, "")
    joint = f'<joint name="j" type="{kind}"><parent link="a"/><child link="b"/>{axes}<dynamics damping="0.5"/></joint>'
    text = f'<robot name="pair"><link name="a">{INERTIAL}</link><link name="b">{INERTIAL}</link>{joint}</robot>'
    read = read_urdf(text).joint("j")
    assert read.kind == KINDS["spherical" if kind == "ball" else kind]
    assert read.damping == (0.5,) * read.kind.nv
    if axes:
        assert read.axis == (0.0, 1.0, 0.0)
    assert read.second_axis == ((1.0, 0.0, 0.0) if kind == "universal" else None)
    assert km.Robot(from_json(to_json(read_urdf(text)))).nv == read.kind.nv
