"""URDF: what is read, what is warned of, what is refused, and what the messages say."""

import textwrap
import time
import warnings
from pathlib import Path

import numpy as np
import pytest

from kumitate.errors import KumitateWarning, ModelError
from kumitate.model import Box, Capsule, Coupling, Cylinder, Limits, Mesh, Sphere
from kumitate.model.read import read_urdf
from kumitate.spatial import pose


def robot(body: str, name: str = "test") -> str:
    return f'<robot name="{name}">\n{body}\n</robot>'


def link(
    name: str, mass: float = 1.0, inertia: str = 'ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"', origin: str = ""
) -> str:
    return f'<link name="{name}"><inertial>{origin}<mass value="{mass}"/><inertia {inertia}/></inertial></link>'


def joint(name: str, parent: str, child: str, kind: str = "continuous", inside: str = "") -> str:
    return f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>{inside}</joint>'


def pair(kind: str, inside: str = "") -> str:
    return robot("\n".join([link("a"), link("b"), joint("j", "a", "b", kind, inside)]))


def quiet(text, **options):
    """Read, where nothing may be warned of."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return read_urdf(text, **options)


def warned(text, **options):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        mechanism = read_urdf(text, **options)
    assert all(issubclass(item.category, KumitateWarning) for item in caught)
    return mechanism, [str(item.message) for item in caught]


def refused(text, *parts: str, **options) -> None:
    with pytest.raises(ModelError) as caught:
        read_urdf(text, **options)
    for part in parts:
        assert part in str(caught.value)


# --- what is read ---------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("kind", "ours", "nv"),
    [
        ("fixed", "fixed", 0), ("continuous", "revolute", 1), ("prismatic", "prismatic", 1), ("revolute", "revolute", 1),
        ("planar", "planar", 3), ("floating", "floating", 6),
    ],
)  # fmt: skip
def test_joint_types(kind, ours, nv):
    limit = '<limit lower="-1" upper="2" effort="3" velocity="4"/>' if kind in ("revolute", "prismatic") else ""
    mechanism = quiet(pair(kind, limit))
    assert mechanism.joint("j").kind.name == ours
    assert mechanism.nv == nv
    if limit:
        assert mechanism.joint("j").limits == (Limits(-1.0, 2.0, 4.0, 3.0),)


def test_joint_pose_axis_and_friction():
    inside = '<origin xyz="1 2 3" rpy="0.1 -0.2 0.3"/><axis xyz="0 3 4"/><dynamics damping="0.5" friction="0.25"/>'
    mechanism = quiet(pair("continuous", inside))
    read = mechanism.joint("j")
    assert read.pose.almost_equal(pose((1, 2, 3), (0.1, -0.2, 0.3)))
    assert read.axis == pytest.approx((0.0, 0.6, 0.8))
    assert (read.damping, read.friction) == ((0.5,), (0.25,))


def test_the_axis_is_x_when_it_is_left_out():
    assert quiet(pair("continuous")).joint("j").axis == (1.0, 0.0, 0.0)


def test_a_continuous_joint_keeps_speed_and_effort_but_no_bounds():
    limit = '<limit lower="0" upper="0" effort="3" velocity="4"/>'
    assert quiet(pair("continuous", limit)).joint("j").limits == (Limits(None, None, 4.0, 3.0),)
    mechanism, (said,) = warned(pair("continuous", limit.replace('"0"', '"1"')))
    assert mechanism.joint("j").limits == (Limits(None, None, 4.0, 3.0),)
    assert "lower and upper" in said
    assert "j in line 4" in said


def test_what_fixed_and_floating_joints_have_no_use_for_is_told():
    said_nothing = '<axis xyz="0 0 0"/><limit lower="0" upper="0" effort="0" velocity="0"/>'
    assert quiet(pair("fixed", said_nothing)).nv == 0
    _, messages = warned(pair("fixed", '<axis xyz="0 0 1"/><limit upper="1"/><dynamics damping="1"/>'))
    told = "<text>: <axis>, <limit> and <dynamics> of fixed joints, which do not move, not used (×3: j in line 4)"
    assert messages == [told]
    _, messages = warned(pair("floating", '<axis xyz="0 0 1"/>'))
    assert messages == ["<text>: <axis> of floating joints, which have none, not used (j in line 4)"]


def test_a_file_without_links_is_a_mechanism_without_bodies():
    mechanism, (said,) = warned('<robot name="r"/>')
    assert (mechanism.bodies, mechanism.joints, mechanism.nq) == ((), (), 0)
    assert (
        said
        == "<text>: robot 'r' has no <link>, and so no bodies; if it is a xacro source, expand it with what calls its macros"
    )
    refused('<robot name="r"/>', ":1:", "floating_base", "no <link>", floating_base=True)


def test_materials_that_nothing_uses_and_that_disagree_are_told_of():
    shape = '<visual><geometry><sphere radius="1"/></geometry><material name="{}">{}</material></visual>'
    red, blue = ('<color rgba="1 0 0 1"/>', '<color rgba="0 0 1 1"/>')
    parts = [f'<material name="m">{red}</material>', f'<material name="n">{red}</material>']
    body = shape.format("m", "") + shape.format("o", red) + shape.format("o", blue)
    mechanism, messages = warned(robot("\n".join([*parts, f'<link name="a">{body}</link>'])))
    assert [item.color for item in mechanism.body("a").visuals] == [(1, 0, 0, 1), (1, 0, 0, 1), (0, 0, 1, 1)]
    assert messages == [
        "<text>: materials of one name with different colours; each shape keeps its own colour (o in line 4)",
        "<text>: <material> that no shape has, not used (n in line 3)",
    ]


def test_joints_that_move_nothing_with_inertia_are_told_of():
    bare = '<link name="b"/>'
    _, (said,) = warned(robot("\n".join([link("a"), bare, joint("j", "a", "b")])))
    assert "move only bodies without mass and inertia" in said
    assert said.endswith("(j in line 4)")
    quiet(robot("\n".join([link("a"), bare, link("c"), joint("j", "a", "b"), joint("k", "b", "c")])))


def test_stray_text_further_elements_and_versions_are_told_of():
    body = '<link name="a">weld<inertial><mass value="1"/><mass value="2"/><inertia ixx="1" iyy="1" izz="1"/></inertial></link>'
    _, messages = warned(robot(body).replace("<robot", '<robot version="7"'))
    assert messages == [
        "<text>: version '7' of URDF is not known here (known: 1, 1.0, 1.1, 1.2), read like 1.2 (line 1)",
        "<text>: text in <link>: not known here, not used (a in line 2)",
        "<text>: further <mass>: only the first is read (a in line 2)",
    ]


def test_bounds_left_out_are_zero_and_infinite_ones_are_none():
    limits = quiet(pair("prismatic", '<limit upper="inf" effort="1" velocity="inf"/>')).joint("j").limits
    assert limits == (Limits(0.0, None, None, 1.0),)


def test_a_limit_without_bounds_locks_nothing_and_is_told_of():
    mechanism, (said,) = warned(pair("revolute", '<limit effort="1" velocity="20"/>'))
    assert mechanism.joint("j").limits == (Limits(None, None, 20.0, 1.0),)
    assert "neither lower nor upper, read as without bounds (j in line" in said


def test_the_inertia_is_turned_into_the_axes_of_the_body():
    origin = '<origin xyz="0.1 0.2 0.3" rpy="0 0 1.5707963267948966"/>'
    text = robot(link("a", 2.0, 'ixx="1" iyy="2" izz="2.5" ixy="0.1" ixz="0" iyz="0"', origin))
    body = quiet(text).body("a")
    assert body.mass == 2.0
    assert body.center_of_mass == (0.1, 0.2, 0.3)
    np.testing.assert_allclose(body.inertia, [[2.0, -0.1, 0.0], [-0.1, 1.0, 0.0], [0.0, 0.0, 2.5]], atol=1e-15)


def test_a_link_without_inertial_has_no_mass():
    body = quiet(robot('<link name="frame"/>')).body("frame")
    assert body.mass == 0.0
    assert np.all(np.asarray(body.inertia) == 0.0)


def test_the_root_is_fixed_or_floats():
    text = robot(link("trunk"))
    assert [(j.name, j.kind.name, j.parent) for j in quiet(text).joints] == [("fixed_base", "fixed", "world")]
    floating = quiet(text, floating_base=True)
    assert [(j.name, j.kind.name) for j in floating.joints] == [("floating_base", "floating")]
    assert floating.nq == 7


def test_a_joint_of_the_file_may_have_our_name():
    mechanism = quiet(robot("\n".join([link("a"), link("b"), joint("fixed_base", "a", "b")])))
    assert [j.name for j in mechanism.joints] == ["fixed_base_", "fixed_base"]


def test_a_bare_root_called_world_is_the_world():
    text = robot("\n".join(['<link name="world"/>', link("arm"), joint("stand", "world", "arm", "fixed")]))
    mechanism = quiet(text)
    assert [body.name for body in mechanism.bodies] == ["arm"]
    assert [j.name for j in mechanism.joints] == ["stand"]
    refused(text, ":2:", "floating_base", "'world'", floating_base=True)


def test_a_heavy_link_called_world_is_a_body_and_this_is_said():
    mechanism, messages = warned(robot(link("world")))
    assert [body.name for body in mechanism.bodies] == ["world_link"]
    assert "world_link" in messages[0]


def test_shapes_and_colors():
    text = robot("""
        <material name="red"><color rgba="1 0 0 0.5"/></material>
        <link name="a">
          <visual name="v"><origin xyz="0 0 1"/><geometry><box size="1 2 3"/></geometry><material name="red"/></visual>
          <visual><geometry><sphere radius="0.5"/></geometry><material name="own"><color rgba="0 1 0 1"/></material></visual>
          <visual><geometry><cylinder radius="0.1" length="2"/></geometry><material name="own"/></visual>
          <collision><geometry><capsule radius="0.1" length="1"/></geometry></collision>
        </link>""")
    body = quiet(text).body("a")
    assert [item.shape for item in body.visuals] == [Box((1.0, 2.0, 3.0)), Sphere(0.5), Cylinder(0.1, 2.0)]
    assert [item.color for item in body.visuals] == [(1.0, 0.0, 0.0, 0.5), (0.0, 1.0, 0.0, 1.0), (0.0, 1.0, 0.0, 1.0)]
    assert body.visuals[0].name == "v"
    assert tuple(body.visuals[0].pose.translation) == (0.0, 0.0, 1.0)
    assert [item.shape for item in body.collisions] == [Capsule(0.1, 1.0)]


def test_files_have_names_and_text_may_declare_an_encoding(tmp_path):
    file = tmp_path / "stick.urdf"
    file.write_text(robot(link("a"), name=""), encoding="utf-8")
    assert quiet(file).name == "stick"
    assert quiet(str(file)).source == str(file)
    declared = '\ufeff<?xml version="1.0" encoding="latin-1"?>' + robot('<link name="関節"/>')
    assert quiet(declared).bodies[0].name == "関節"


# --- meshes -------------------------------------------------------------------------------------------------------------
def mesh_robot(*uris: str) -> str:
    visuals = "".join(f'<visual><geometry><mesh filename="{uri}" scale="1 -1 1"/></geometry></visual>' for uri in uris)
    return robot(f'<link name="a">{visuals}</link>')


def test_meshes_are_found_above_the_file_and_by_the_path_variable(tmp_path, monkeypatch):
    monkeypatch.delenv("ROS_PACKAGE_PATH", raising=False)
    package, elsewhere = tmp_path / "ws" / "my_robot", tmp_path / "other" / "parts"
    for place in (package / "meshes" / "a b.stl", elsewhere / "b.stl", package / "urdf" / "c.stl"):
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text("")
    file = package / "urdf" / "robot.urdf"
    uris = ("package://my_robot/meshes/a%20b.stl", "package://parts/b.stl", "c.stl", f"file://{elsewhere}/b.stl")
    file.write_text(mesh_robot(*uris))
    monkeypatch.setenv("ROS_PACKAGE_PATH", f"/nowhere:{tmp_path / 'other'}")
    shapes = [item.shape for item in quiet(file).body("a").visuals]
    assert all(isinstance(shape, Mesh) and shape.scale == (1.0, -1.0, 1.0) for shape in shapes)
    expected = [package / "meshes" / "a b.stl", elsewhere / "b.stl", package / "urdf" / "c.stl", elsewhere / "b.stl"]
    assert [Path(shape.resolved) for shape in shapes] == expected
    monkeypatch.setenv("ROS_PACKAGE_PATH", str(elsewhere))
    assert quiet(file).body("a").visuals[1].shape.resolved == str(elsewhere / "b.stl")


def test_missing_meshes_are_one_warning_that_names_the_places(tmp_path):
    file = tmp_path / "robot.urdf"
    file.write_text(mesh_robot("package://gone/a.stl", "package://gone/b.stl", "c.stl"))
    mechanism, messages = warned(file)
    assert len(messages) == 1
    for part in (str(file), "×3", "package://gone/a.stl", str(tmp_path / "gone"), "ROS_PACKAGE_PATH"):
        assert part in messages[0]
    assert [item.shape.resolved for item in mechanism.body("a").visuals] == [None] * 3


# --- what is warned of ----------------------------------------------------------------------------------------------------
def test_what_is_not_used_is_told_once_a_kind_with_names():
    text = robot("\n".join([
        link("a"), *(link(f"b{i}") for i in range(5)),
        *(joint(f"j{i}", "a", f"b{i}", inside='<mimic joint="j0"/>' * (i > 0) + '<calibration rising="0"/>') for i in range(5)),
        '<transmission name="t1"/>', '<gazebo reference="a"><self/></gazebo>', "<novelty/>", '<link name="c" colour="red"/>',
        joint("jc", "a", "c", "fixed"),
    ]))  # fmt: skip
    _, messages = warned(text)
    assert {message.split(": ", 1)[1] for message in messages} == {
        "<calibration>: not needed in simulation (×5: j0 in line 8, j1 in line 9, j2 in line 10, …)",
        "attribute colour of <link>: not known here, not used (c in line 16)",
        "<transmission> without a type: not simulated; torques act at the joints (t1 in line 13)",
        "<gazebo>: settings for Gazebo, not used (a in line 14)",
        "<novelty>: not known here, not used (test in line 15)",
    }


def test_an_inertia_that_breaks_the_triangle_inequality_is_used_with_a_warning():
    mechanism, messages = warned(robot(link("a", 1.0, 'ixx="1" iyy="1" izz="3"')))
    assert mechanism.body("a").inertia[2][2] == 3.0
    assert len(messages) == 1
    assert "(a in line 2)" in messages[0]


def test_rounding_left_in_an_inertia_is_zero():
    mechanism, messages = warned(robot(link("a", 1.0, 'ixx="0" iyy="0" izz="0" ixz="1e-20"')))
    assert np.all(np.asarray(mechanism.body("a").inertia) == 0.0)
    assert "read as zero" in messages[0]


def test_other_remarks():
    _, messages = warned(pair("revolute"))
    assert "without <limit>" in messages[0]
    _, messages = warned(pair("planar", '<limit upper="1"/>'))
    assert any("<limit> of joints that have not one degree of freedom, not used" in message for message in messages)
    _, messages = warned(pair("continuous", '<mimic joint="gone"/>'))
    assert messages[0].endswith("does not have; these joints move independently ('j' of 'gone' in line 4)")
    shape = '<geometry><sphere radius="1"/></geometry>'
    red = '<material><color rgba="2 0 0 1"/></material>'
    body = f'<visual>{shape}<material name="m"/></visual><visual/><visual>{shape}{red}</visual>'
    mechanism, messages = warned(robot(f'<link name="a">{body}</link>'))
    assert [item.color for item in mechanism.body("a").visuals] == [None, (1.0, 0.0, 0.0, 1.0)]
    assert sorted(message.split(": ")[1].split(" ")[0] for message in messages) == ["<visual>", "colours", "material"]


# --- what is refused ------------------------------------------------------------------------------------------------------
LAUGHS = '<!DOCTYPE lol [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;">]>\n<robot name="&b;"/>'


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        (LAUGHS, (":1:", "<!DOCTYPE lol>", "remove")),
        ('<!DOCTYPE r SYSTEM "file:///etc/passwd"><robot/>', (":1:", "document type")),
        ('<robot name="r">\n<link name="a">\n</robot>', (":3:", "malformed")),
        ("<robot>&nbsp;</robot>", (":1:", "malformed")),
        ('<sdf version="1.7"/>', (":1:", "<sdf>", "<robot>")),
        (robot("<link/>"), (":2:", "<link>", "'name'")),
        (robot(link("a") + "\n" + link("a")), (":3:", "'a'", "line 2", "unique")),
        (robot('<link name="a"><inertial><mass value="1"/></inertial></link>'), (":2:", "<inertia>", "add")),
        (robot(link("a", -2.0)), (":2:", "'a'", "-2.0", "negative")),
        (robot(link("a", 1.0, 'ixx="1" iyy="1"')), (":2:", "<inertia>", "'izz'")),
        (robot(link("a", float("nan"))), (":2:", "nan", "finite")),
        (robot(link("a", 1.0, 'ixx="1,5" iyy="1" izz="1"')), (":2:", "'1,5'", "decimal point")),
        (robot(link("a", 1.0, 'ixx="${i}" iyy="1" izz="1"')), (":2:", "'${i}'", "xacro")),
        (robot(link("a", 1.0, 'ixx="1_0" iyy="1" izz="1"')), (":2:", "'1_0'")),
        (pair("hinge"), (":4:", "'j'", "'hinge'", "continuous")),
        (pair("continuous", '<axis xyz="0 0 0"/>'), (":4:", "'j'", "no direction")),
        (pair("continuous", '<axis xyz="0 1"/>'), (":4:", "2 numbers", "3")),
        (pair("continuous", '<limit effort="nan"/>'), (":4:", "'nan'")),
        (pair("continuous", '<dynamics damping="-1"/>'), (":4:", "damping", "negative")),
        (pair("revolute", '<limit lower="1" upper="-1"/>'), (":4:", "'j'", "lower limit 1 ")),
        (pair("continuous", '<mimic joint="j"/>'), (":4:", "'j'", "mimics itself")),
        (robot(link("a") + joint("j", "a", "arm_left") + link("arm_lefd")), ("'j'", "'arm_left'", "did you mean 'arm_lefd'")),
        (robot(link("a") + '<joint name="j" type="fixed"><parent link="a"/></joint>'), ("'j'", "no <child>")),
        (robot('<link name="a"><visual><geometry><sphere radius="-1"/></geometry></visual></link>'), (":2:", "negative")),
        (robot("\n".join([link("a"), link("b"), joint("j", "a", "b"), joint("k", "a", "b")])), (":5:", "line 4", "Loop")),
        (robot("\n".join([link("a"), link("b"), joint("j", "a", "b"), joint("k", "b", "a")])), ("circle", "root")),
        (robot("\n".join([link("a"), link("b"), link("c"), joint("j", "a", "b")])), (":4:", "'a' (line 2)", "'c' (line 4)")),
        ("<robot>\ud800</robot>", ("malformed",)),
        ("", ("empty",)),
        ("gone.urdf", ("gone.urdf", "cannot be read", "check the path")),
    ],
)  # fmt: skip
def test_refusals_name_file_line_element_rule_and_remedy(text, parts):
    refused(text, *parts)


def test_a_mimic_is_a_coupling():
    inside = '<mimic joint="{}" multiplier="{}" offset="0.25"/>'
    parts = [link(name) for name in "abcd"]
    parts += [joint("j", "a", "b"), joint("k", "b", "c", "prismatic", '<limit upper="1"/>' + inside.format("j", -2))]
    mechanism = quiet(robot("\n".join([*parts, joint("l", "c", "d", inside=f"{inside.format('k', 3)}")])))
    assert mechanism.couplings == (Coupling("k", "k", "j", -2.0, 0.25), Coupling("l", "l", "k", 3.0, 0.25))
    assert mechanism.nv == 3  # they count; the equations tie them
    (plain,) = quiet(robot("\n".join([*parts[:4], joint("j", "a", "b"), joint("k", "a", "c", inside='<mimic joint="j"/>'),
                                      joint("l", "c", "d")]))).couplings  # fmt: skip
    assert (plain.ratio, plain.offset) == (1.0, 0.0)


def test_a_mimic_between_joints_that_have_not_one_freedom_is_told_of():
    parts = [link("a"), link("b"), link("c"), joint("j", "a", "b", "planar")]
    mechanism, messages = warned(robot("\n".join([*parts, joint("k", "b", "c", inside='<mimic joint="j"/>')])))
    assert mechanism.couplings == ()
    assert messages == [
        "<text>: <mimic> between joints that have not one degree of freedom each, not used "
        "(k (revolute) of j (planar) in line 6)"
    ]


def test_a_spring_in_a_joint_has_the_words_of_sdf():
    spring = '<dynamics damping="0.5" spring_stiffness="3" spring_reference="-0.2"/>'
    item = quiet(pair("continuous", spring)).joint("j")
    assert (item.damping, item.stiffness, item.rest) == ((0.5,), (3.0,), (-0.2,))
    refused(pair("continuous", '<dynamics spring_stiffness="-1"/>'), ":4:", "'j'", "spring_stiffness", "negative")
    refused(pair("floating", spring), ":4:", "'j'", "angles or lengths")


def test_a_circle_of_mimics_is_refused():
    parts = [link("a"), link("b"), link("c"), joint("j", "a", "b", inside='<mimic joint="k"/>')]
    refused(robot("\n".join([*parts, joint("k", "b", "c", inside='<mimic joint="j"/>')])), "j → k → j")


def test_files_that_are_empty_or_no_text_are_refused(tmp_path):
    file = tmp_path / "bad.urdf"
    for content, part in (
        (b"", "empty"),
        (b" \n", "empty"),
        (b"\x00\xff\x00", "malformed"),
        (b"<robot \xff='1'/>", "malformed"),
    ):
        file.write_bytes(content)
        refused(file, str(file), part)
    file.write_bytes(b'<?xml version="1.0" encoding="klingon"?><robot/>')
    refused(file, str(file))
    refused(tmp_path, "cannot be read")


def test_deep_nesting_and_long_files_are_no_trouble():
    depth = 20_000
    mechanism, _ = warned(robot(link("a") + "<x>" * depth + "</x>" * depth))
    assert mechanism.bodies[0].name == "a"
    links = [link(f"l{i}") for i in range(400)]
    joints = [joint(f"j{i}", f"l{i}", f"l{i + 1}") for i in range(399)]
    start = time.perf_counter()
    assert quiet(robot("\n".join(links + joints))).nv == 399
    assert time.perf_counter() - start < 5.0


def test_a_small_file():
    text = textwrap.dedent("""
        <robot name="pendulum">
          <link name="rod">
            <inertial><origin xyz="0 0 -0.5"/><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial>
          </link>
          <link name="ceiling"/>
          <joint name="hinge" type="continuous"><parent link="ceiling"/><child link="rod"/><axis xyz="0 1 0"/></joint>
        </robot>""")
    mechanism = quiet(text)
    assert mechanism.q_names == ("hinge",)
    assert [body.name for body in mechanism.bodies] == ["ceiling", "rod"]
