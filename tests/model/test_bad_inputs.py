"""Bad inputs: each is refused by a message that names file, line, element, value, rule and remedy, word by word as here.

In kumitate's own JSON the place of an element stands for its line (mechanism.bodies[0]). The numbers are those of the kinds of
mistakes: 1 negative mass, 2 massless moving leaf, 3 negative principal value, and so on.
"""

import json
import warnings

import numpy as np
import pytest

import kumitate as km
from kumitate.errors import InputError, ModelError
from kumitate.model.read import read_file

INERTIA = '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>'


# --- files, in few words ------------------------------------------------------------------------------------------------
def link(name, mass='<mass value="1"/>', inertia=INERTIA):
    return f'<link name="{name}"><inertial>{mass}{inertia}</inertial></link>'


def joint(name, parent, child, kind="continuous", inside=""):
    return f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>{inside}</joint>'


def urdf(*parts):
    return "\n".join(['<robot name="arm">', *parts, "</robot>"])


def pair(inside="", kind="continuous"):
    return urdf(link("a"), link("b"), joint("j", "a", "b", kind, inside))


def sdf_link(name, mass="<mass>1</mass>", inertia="", where=""):
    return f'<link name="{name}">{where}<inertial>{mass}{inertia}</inertial></link>'


def sdf_joint(name, parent, child, kind="revolute", inside="<axis/>"):
    return f'<joint name="{name}" type="{kind}"><parent>{parent}</parent><child>{child}</child>{inside}</joint>'


def sdf(*parts):
    return "\n".join(['<sdf version="1.9">', '<model name="arm">', *parts, "</model>", "</sdf>"])


def sdf_pair(inside="<axis/>", kind="revolute"):
    return sdf(sdf_link("a"), sdf_link("b"), sdf_joint("j", "a", "b", kind, inside))


def turning(name="j", parent="world", child="a"):
    return {"name": name, "kind": "revolute", "parent": parent, "child": child}


def mechanism(body=None, joint=None, **fields):
    """A mechanism of one body in JSON, with these fields of its body and its joint, and its own."""
    content = {"bodies": [{"name": "a", "mass": 1.0} | (body or {})], "joints": [turning() | (joint or {})]}
    return json.dumps({"kumitate": 1, "name": "arm"} | content | fields)


# --- what is refused -----------------------------------------------------------------------------------------------------
# fmt: off
REFUSED = [
    ("1 negative mass", "urdf", urdf(link("a", '<mass value="-2"/>')),
     "arm.urdf:2: link 'a': <mass> value=\"-2\" is negative; a mass is zero or more, in kilograms"),
    ("1 negative mass", "sdf", sdf(sdf_link("a", "<mass>-2</mass>")),
     "arm.sdf:3: link 'a': <mass> -2 is negative; a mass is zero or more, in kilograms"),
    ("1 negative mass", "json", mechanism({"mass": -2}),
     "arm.json: mechanism.bodies[0]: body 'a': the mass [kg] is -2.0; it must be zero, or from 1e-100 to 1e+50. Check the "
     "unit (SI), or write 0 for what has none"),
    ("3 negative principal value", "json", mechanism({"inertia": [1, 1, -1]}),
     "arm.json: mechanism.bodies[0]: body 'a': inertia has the negative principal value -1 kg·m²; zero is allowed "
     "(thin rods, points), less is not. Check signs and the frame that the numbers are given in"),
    ("5 unsymmetric inertia", "json", mechanism({"inertia": [[1, 0.5, 0], [0, 1, 0], [0, 0, 1]]}),
     "arm.json: mechanism.bodies[0]: body 'a': inertia [[1.0, 0.5, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]] is not "
     "symmetric; give the same product of inertia in row i, column j and in row j, column i"),
    ("6 not a number", "urdf", urdf(link("a", '<mass value="nan"/>')),
     "arm.urdf:2: <mass> value='nan' is not finite; write finite numbers"),
    ("6 infinite", "urdf", urdf(link("a"), link("b"), joint("j", "a", "b", inside='<origin xyz="0 inf 0"/>')),
     "arm.urdf:4: <origin> xyz='0 inf 0' is not finite; write finite numbers"),
    ("6 no limit at all", "urdf", pair('<limit effort="nan"/>'),
     "arm.urdf:4: <limit> effort='nan' is not a number; write one, or leave the attribute out"),
    ("6 no number at all", "urdf", urdf(link("a", '<mass value="1,5"/>')),
     "arm.urdf:2: <mass> value: '1,5' is not a number; write a decimal point, and blanks between numbers"),
    ("6 not a number", "sdf", sdf(sdf_link("a", "<mass>nan</mass>")),
     "arm.sdf:3: <mass> 'nan' is not finite; write finite numbers"),
    ("6 not a number", "json", mechanism({"mass": float("nan")}),
     'arm.json: mechanism.bodies[0].mass: NaN is not a JSON number; write a finite number, or "inf" for no limit'),
    ("6 infinite", "json", mechanism(gravity=[0, 0, float("-inf")]),
     'arm.json: mechanism.gravity: -Infinity is not a JSON number; write a finite number, or "inf" for no limit'),
    ("7 axis of zero length", "urdf", pair('<axis xyz="0 0 0"/>'),
     "arm.urdf:4: joint 'j': <axis> xyz=\"0 0 0\" has no direction; give a vector that is not zero, such as \"0 0 1\""),
    ("7 axis of zero length", "sdf", sdf_pair("<axis><xyz>0 0 0</xyz></axis>"),
     "arm.sdf:5: joint 'j': the axis (0, 0, 0) has no direction; give a vector that is not zero, such as 0 0 1"),
    ("7 axis of zero length", "json", mechanism(joint={"axis": [0, 0, 0]}),
     "arm.json: mechanism.joints[0]: joint 'j': the axis (0.0, 0.0, 0.0) has no direction; give a vector that is "
     "not zero"),
    ("8 unknown joint type", "urdf", pair(kind="hinge"),
     "arm.urdf:4: joint 'j' has the unknown type 'hinge'; the types are fixed, revolute, continuous, prismatic, "
     "planar, floating, ball, spherical, universal, cylindrical"),
    ("8 unknown joint type", "sdf", sdf_pair(kind="hinge"),
     "arm.sdf:5: joint 'j' has the type 'hinge', which cannot be read; the types are fixed, revolute, continuous, "
     "prismatic, screw, ball, universal, revolute2, gearbox"),
    ("8 unknown joint type", "json", mechanism(joint={"kind": "hinge"}),
     "arm.json: mechanism.joints[0]: joint 'j': unknown kind 'hinge'; the kinds are cylindrical, fixed, floating, "
     "floating_euler, planar, prismatic, revolute, spherical, spherical_euler, universal, and Helical(pitch), "
     "EulerAngles(axes)"),
    ("9 two parents", "urdf", urdf(link("a"), link("b"), joint("j", "a", "b"), joint("k", "a", "b")),
     "arm.urdf:5: link 'b' is the child of two joints, 'j' (line 4) and 'k': a closed loop, which URDF cannot "
     "hold. Write one of the two as a <loop_joint>, or take it out and add it as a Loop"),
    ("9 two parents", "json", mechanism(joints=[turning("j"), turning("k")]),
     "arm.json: mechanism: arm: body 'a' is the child of the joints ['j', 'k']; keep one of them in the tree and "
     "declare the others as loops"),
    ("10 cycle without root", "urdf", urdf(link("a"), link("b"), link("c"), joint("j", "b", "c"), joint("k", "c", "b")),
     "arm.urdf:5: the joints 'j' (line 5), 'k' (line 6) run in a circle, so that none of their links is the root; "
     "take one of them out, or write it as a <loop_joint>"),
    ("10 cycle without root", "json",
     mechanism(bodies=[{"name": "a"}, {"name": "b"}], joints=[turning("j", "b", "a"), turning("k", "a", "b")]),
     "arm.json: mechanism: arm: the joints of ['a', 'b'] form a cycle that nothing holds to 'world'; join one of "
     "them to the world and declare the joint that closes the cycle as a loop"),
    ("10 joint to itself", "urdf", urdf(link("a"), link("b"), joint("j", "b", "b")),
     "arm.urdf:4: joint 'j' joins the link 'b' to itself; name two links"),
    ("10 joint to itself", "sdf", sdf(sdf_link("a"), sdf_joint("j", "a", "a")),
     "arm.sdf:4: joint 'j' joins 'a' to itself; name two links"),
    ("10 joint to itself", "json", mechanism(joint={"parent": "a"}),
     "arm.json: mechanism: arm: joint 'j' joins 'a' to itself; name two bodies"),
    ("11 joint names a missing link", "urdf", urdf(link("hand"), link("arm"), joint("j", "arm", "hant")),
     "arm.urdf:4: joint 'j' names the child link 'hant', which the file does not have; did you mean 'hand'?"),
    ("11 joint names a missing link", "sdf", sdf(sdf_link("hand"), sdf_joint("j", "hand", "hant")),
     "arm.sdf:4: <child> 'hant' refers to the frame 'hant', which the file does not have; did you mean 'hand'?"),
    ("11 joint names a missing link", "json", mechanism(joint={"parent": "b"}),
     "arm.json: mechanism: arm: joint 'j' names the parent 'b', which is not a body; there are a, world"),
    ("12 duplicate link", "urdf", urdf(link("a"), link("a")),
     "arm.urdf:3: the link name 'a' is used in line 2 already; names must be unique, rename one"),
    ("12 duplicate joint", "urdf", urdf(link("a"), link("b"), link("c"), joint("j", "a", "b"), joint("j", "b", "c")),
     "arm.urdf:6: the joint name 'j' is used in line 5 already; names must be unique, rename one"),
    ("12 duplicate link", "sdf", sdf(sdf_link("a"), sdf_link("a")),
     "arm.sdf:4: the name 'a' of this <link> is used in line 3 already; links, joints and frames share one set of "
     "names, rename one"),
    ("12 duplicate body", "json", mechanism(bodies=[{"name": "a"}, {"name": "a"}]),
     "arm.json: mechanism: arm: the body name 'a' is used 2 times; names must be unique, rename one"),
    ("12 duplicate entry", "json", '{"kumitate": 1, "name": "a", "name": "b"}',
     "arm.json: not valid JSON: an object has the entry 'name' twice; keep one"),
    ("13 two roots", "urdf", urdf(link("a"), link("b"), link("c"), joint("j", "a", "b")),
     "arm.urdf:4: 2 links are not the child of a joint: 'a' (line 2), 'c' (line 4); a robot has one root; join the others "
     "to it by joints"),
    ("13 body that nothing carries", "json", mechanism(bodies=[{"name": "a"}, {"name": "b"}]),
     "arm.json: mechanism: arm: body 'b' is the child of no joint; join it to another body or to 'world' (fixed, "
     "or floating if it is free)"),
    ("14 lower limit above upper", "urdf", pair('\n<limit lower="1" upper="-1"/>', "revolute"),
     "arm.urdf:5: joint 'j': the lower limit 1 is above the upper limit -1; swap the two, or correct a sign"),
    ("14 lower limit above upper", "sdf", sdf_pair("<axis>\n<limit><lower>1</lower><upper>-1</upper></limit></axis>"),
     "arm.sdf:6: joint 'j': <lower> 1 is above <upper> -1; swap the two, or correct a sign"),
    ("14 lower limit above upper", "json", mechanism(joint={"limits": [{"lower": 1, "upper": -1}]}),
     "arm.json: mechanism.joints[0]: joint 'j': lower limit 1.0 is above the upper limit -1.0; swap the two, or correct a "
     "sign"),
    ("15 missing attribute", "urdf", urdf("<link/>"),
     "arm.urdf:2: <link> has no attribute 'name'; write name=\"…\""),
    ("15 missing attribute", "urdf", urdf(link("a", inertia='<inertia ixx="1" iyy="1"/>')),
     "arm.urdf:2: <inertia> has no attribute 'izz'; write izz=\"…\""),
    ("15 missing element", "urdf", urdf(link("a"), '<joint name="j" type="fixed"><parent link="a"/></joint>'),
     "arm.urdf:3: <joint> 'j' has no <child>; add it"),
    ("15 missing attribute", "sdf", sdf("<link/>"),
     "arm.sdf:3: <link> has no attribute 'name'; write name=\"…\""),
    ("15 missing element", "sdf", sdf(sdf_link("a"), '<joint name="j" type="fixed"><parent>a</parent></joint>'),
     "arm.sdf:4: <joint> 'j' has no <child>; add it"),
    ("15 missing field", "json", mechanism(bodies=[{"mass": 1}]),
     "arm.json: mechanism.bodies[0]: Body needs the field 'name'; add it"),
    ("17 malformed", "urdf", '<robot name="arm">\n<link name="a">\n</robot>',
     "arm.urdf:3: malformed XML at column 3: mismatched tag; close every element and quote every attribute"),
    ("17 not a robot", "urdf", "<html/>",
     "arm.urdf:1: the root element is <html>; a file of this kind starts with <robot>"),
    ("17 empty", "urdf", " \n",
     "arm.urdf: the file is empty; a <robot> is expected"),
    ("17 billion laughs", "urdf", '<!DOCTYPE lol [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;">]>\n<robot name="&b;"/>',
     "arm.urdf:1: the file declares a document type or entities (<!DOCTYPE lol>), which model files do not need "
     "and which can be used to exhaust memory or read other files; remove the declaration"),
    ("17 external entity", "urdf", '<!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/hostname">]>\n<robot name="&x;"/>',
     "arm.urdf:1: the file declares a document type or entities (<!DOCTYPE r>), which model files do not need and "
     "which can be used to exhaust memory or read other files; remove the declaration"),
    ("17 malformed", "sdf", '<sdf version="1.9">\n<model>',
     "arm.sdf:2: malformed XML at column 8: no element found; close every element and quote every attribute"),
    ("17 not a robot", "sdf", "<robot/>",
     "arm.sdf:1: the root element is <robot>; a file of this kind starts with <sdf>"),
    ("17 empty", "sdf", "",
     "arm.sdf: the file is empty; a <sdf> is expected"),
    ("17 no model", "sdf", '<sdf version="1.9"/>',
     "arm.sdf:1: <sdf> has no <model>; add one"),
    ("17 malformed", "json", '{"kumitate": 1,\n "name" 2}',
     "arm.json:2: not valid JSON at column 9: Expecting ':' delimiter; close every bracket and quote every name"),
    ("17 not a robot", "json", "[]",
     'arm.json: the JSON is not a mechanism of kumitate: it has no entry "kumitate" with the version; robot files '
     "end in .urdf or .sdf"),
    ("17 empty", "json", "",
     "arm.json: not valid JSON: the file is empty; a mechanism as kumitate writes it is expected"),
    ("18 zero quaternion", "sdf", sdf(sdf_link("a", where='<pose rotation_format="quat_xyzw">0 0 0 0 0 0 0</pose>')),
     "arm.sdf:3: <pose> '0 0 0 0 0 0 0': the quaternion has the length 0; it must be one. The order is x y z, "
     "then qx qy qz qw, and no turn is 0 0 0 1"),
    ("18 unnormalised quaternion", "sdf", sdf(sdf_link("a", where='<pose rotation_format="quat_xyzw">0 0 0 1 0 0 1</pose>')),
     "arm.sdf:3: <pose> '0 0 0 1 0 0 1': the quaternion has the length 1.414; it must be one. The order is x y z, "
     "then qx qy qz qw; divide its parts by its length"),
    ("18 no rotation", "json", mechanism(joint={"pose": {"xyz": [0,0,0], "rotation": [[2,0,0],[0,1,0],[0,0,1]]}}),
     "arm.json: mechanism.joints[0].pose: pose: the matrix [[2.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]] is not a "
     "rotation; its rows must be orthonormal and right-handed. Divide rows by their lengths, and check their signs"),
    ("19 mimic of itself", "urdf", pair('<mimic joint="j"/>'),
     "arm.urdf:4: joint 'j' mimics itself (j → j); let one of these joints move by itself"),
    ("19 cycle of mimics", "urdf",
     urdf(link("a"), link("b"), link("c"), joint("j", "a", "b", inside='<mimic joint="k"/>'),
          joint("k", "b", "c", inside='<mimic joint="j"/>')),
     "arm.urdf:5: joint 'j' mimics itself (j → k → j); let one of these joints move by itself"),
    ("20 wrong size", "sdf", sdf(sdf_link("a", where="<pose>0 0 1</pose>")),
     "arm.sdf:3: <pose> '0 0 1' has 3 numbers; it must have 6, with blanks between"),
    ("20 wrong size", "urdf", pair('<axis xyz="0 1"/>'),
     "arm.urdf:4: <axis> xyz='0 1' has 2 numbers; it must have 3, with blanks between"),
    ("20 wrong size", "json", mechanism({"center_of_mass": [0, 0]}),
     "arm.json: mechanism.bodies[0]: body 'a': the center_of_mass [m] is (0, 0) (2 values); it must be 3 numbers. Give "
     "them as a tuple or list"),
]
# fmt: on


@pytest.mark.parametrize(("kind", "text", "message"), [case[1:] for case in REFUSED], ids=[f"{c[0]}, {c[1]}" for c in REFUSED])
def test_a_bad_file_is_refused_by_a_message_that_says_all(kind, text, message, tmp_path):
    file = tmp_path / f"arm.{kind}"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(ModelError) as caught:
        read_file(file)
    assert str(caught.value).replace(f"{tmp_path}/", "") == message
    assert caught.value.__cause__ is None  # what is behind it is no help to whoever wrote the file


@pytest.mark.parametrize("kind", ["urdf", "sdf", "json"])
def test_a_file_that_is_not_there_is_refused(kind, tmp_path):
    with pytest.raises(ModelError, match=rf"gone\.{kind}: cannot be read \(No such file or directory\); check the path"):
        read_file(tmp_path / f"gone.{kind}")


# --- what is read, and said ------------------------------------------------------------------------------------------------
def read(text, kind, folder):
    file = folder / f"arm.{kind}"
    file.write_text(text, encoding="utf-8")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        robot = km.load(file)
    return robot, [str(item.message).replace(f"{folder}/", "") for item in caught]


def test_2_a_massless_moving_leaf_is_read_with_a_warning_and_has_no_dynamics(tmp_path):
    text = urdf(link("a"), '<link name="b"/>', joint("j", "a", "b"))
    robot, said = read(text, "urdf", tmp_path)
    assert said == [
        "arm.urdf: joints that move only bodies without mass and inertia: poses and velocities can be computed, accelerations "
        "are not determined; give the links a mass, or make these joints fixed (j in line 4)"
    ]
    with pytest.raises(ModelError) as caught:
        robot.forward_dynamics(*np.zeros((3, 1)))
    for part in ("arm.urdf", "joint 'j' moves only bodies without mass", "make it fixed"):
        assert part in str(caught.value)
    assert robot.pose([0.3], "b").shape == (4, 4)  # and has poses
    assert robot.inverse_dynamics([0.3], [1.0], [2.0]) == [0.0]
    with pytest.raises(ModelError, match="joint 'j' moves only bodies without mass"):
        km.simulate(robot, duration=0.1)


NEGATIVE = (
    "arm.{0}:3: link 'a': the inertia has the principal values (-1, 1, {1}) kg·m²; the negative principal value -1 is "
    "physically impossible. Check signs and the axes that the numbers are given in, or read the file with fix_inertia=True "
    "(--fix-inertia) to use the nearest possible inertia"
)


@pytest.mark.parametrize(
    ("kind", "text", "most"),
    [
        ("urdf", urdf(link("a", inertia='\n<inertia ixx="1" iyy="1" izz="-1"/>')), 1),
        ("sdf", sdf(sdf_link("a", inertia="<inertia><ixy>2</ixy></inertia>")), 3),
    ],
)
def test_3_a_negative_principal_value_is_read_with_a_warning_and_has_no_dynamics(kind, text, most, tmp_path):
    robot, said = read(text, kind, tmp_path)
    assert said == [
        f"arm.{kind}: inertias with a large negative principal value, which no body has: poses can be computed, what needs the "
        "inertias is refused; correct them, or read the file with fix_inertia (--fix-inertia) "
        f"('a' (-1, 1, {most}) kg·m² in line 3)"
    ]
    assert robot.pose([], "a").shape == (4, 4)
    none = np.zeros(0)
    for call in (
        lambda: robot.forward_dynamics(none, none, none),
        lambda: robot.inverse_dynamics(none, none, none),
        lambda: robot.mass_matrix(none),
        lambda: robot.energy(none, none),
        lambda: km.simulate(robot, duration=0.1),
    ):
        with pytest.raises(ModelError) as caught:
            call()
        assert str(caught.value).replace(f"{tmp_path}/", "") == NEGATIVE.format(kind, most)
    with pytest.warns(UserWarning, match="replaced by the nearest"):
        fixed = km.load(tmp_path / f"arm.{kind}", fix_inertia=True)
    assert fixed.mechanism.faults == ()
    fixed.energy(none, none)


def test_3_a_zero_principal_value_is_no_fault(tmp_path):
    rod = '<inertia ixx="0" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>'
    assert read(urdf(link("a", inertia=rod)), "urdf", tmp_path)[1] == []


TRIANGLE = (
    "inertias that no rigid body has (the largest principal value is more than the sum of the others), used as given; "
    "recompute them from the shapes, check their units and axes, or read the file with fix_inertia "
    "(--fix-inertia) (a in line {})"
)


def test_4_a_broken_triangle_inequality_is_warned_of(tmp_path):
    robot, said = read(urdf(link("a", inertia='<inertia ixx="1" iyy="1" izz="4"/>')), "urdf", tmp_path)
    assert said == [f"arm.urdf: {TRIANGLE.format(2)}"]
    assert robot.bodies["a"].inertia[2][2] == 4.0
    said = read(sdf(sdf_link("a", inertia="<inertia><izz>4</izz></inertia>")), "sdf", tmp_path)[1]
    assert said == [f"arm.sdf: {TRIANGLE.format(3)}"]


def test_13_two_roots_in_sdf_are_two_robots_on_one_ground(tmp_path):
    robot, said = read(sdf(sdf_link("a"), sdf_link("b")), "sdf", tmp_path)
    assert said == ["arm.sdf: links that no joint carries, each joined to the world by itself (×2: a in line 3, b in line 4)"]
    assert [item.parent for item in robot.joints.values()] == ["world", "world"]


def test_16_a_missing_mesh_is_warned_of_with_the_places_tried(tmp_path, monkeypatch):
    monkeypatch.setenv("ROS_PACKAGE_PATH", "/nowhere")
    for variable in ("AMENT_PREFIX_PATH", "GZ_SIM_RESOURCE_PATH", "GAZEBO_MODEL_PATH"):
        monkeypatch.delenv(variable, raising=False)
    shape = '<visual><geometry><mesh filename="meshes/a.stl"/></geometry></visual>'
    said = read(urdf(f'<link name="a">{shape}</link>'), "urdf", tmp_path)[1]
    assert said == [
        f"arm.urdf: meshes not found (sought in {tmp_path}; set ROS_PACKAGE_PATH to the folder that holds the package), not "
        "drawn (meshes/a.stl in line 2)"
    ]


def test_19_a_mimic_of_a_missing_joint_moves_by_itself(tmp_path):
    """Real robots have it: a hand whose fingers were renamed, but for the joints that they follow."""
    robot, said = read(pair('<mimic joint="jj"/>'), "urdf", tmp_path)
    assert robot.nv == 1
    assert said == [
        "arm.urdf: <mimic> of joints that the file does not have; these joints move independently "
        "('j' of 'jj', not 'j'?, in line 4)"
    ]


def test_a_file_without_links_is_read_with_a_warning(tmp_path):
    robot, said = read(urdf(), "urdf", tmp_path)
    assert (robot.nq, robot.bodies) == (0, {})
    assert said == [
        "arm.urdf: robot 'arm' has no <link>, and so no bodies; if it is a xacro source, expand it with what calls its macros"
    ]


# --- states and sizes --------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("q", "off", "shown"),
    [
        ([0, 0, 0.5, 0, 0, 0, 1], 0.5, "[0.0, 0.0, 0.5, 0.0, 0.0, 0.0, 1.0]"),
        ([0] * 7, 1, "[0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]"),
        ([2, 0, 0, 0, 0, 0, 0], 1, "[2.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]"),
    ],
)
def test_18_a_quaternion_that_is_none_is_refused_with_the_order_of_components(q, off, shown, tmp_path):
    (tmp_path / "arm.urdf").write_text(urdf(link("a")))
    robot = km.load(tmp_path / "arm.urdf", floating_base=True)
    with pytest.raises(InputError) as caught:
        robot.forward_dynamics(q, np.zeros(6), np.zeros(6))
    assert str(caught.value) == (
        f"arm: the quaternion in q of joint 'floating_base' is {off:g} off unit length: {shown}. The order of its components "
        "is (qx, qy, qz, qw, x, y, z); some programs put the position or w first"
    )


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ((6, 6, 6), "q has shape (6,); it must be (7,) for one state, or (..., 7) for a batch"),
        ((7, 5, 6), "v has shape (5,); it must be (6,) for one state, or (..., 6) for a batch"),
        ((7, 6, 7), "tau has shape (7,); it must be (6,) for one state, or (..., 6) for a batch"),
    ],
)
def test_20_arrays_of_a_wrong_size_are_refused(sizes, message, tmp_path):
    (tmp_path / "arm.urdf").write_text(urdf(link("a")))
    robot = km.load(tmp_path / "arm.urdf", floating_base=True)
    arrays = [np.zeros(size) for size in sizes]
    arrays[0][:4] = (0, 0, 0, 1)
    with pytest.raises(InputError) as caught:
        robot.forward_dynamics(*arrays)
    assert str(caught.value) == f"forward_dynamics_arm: {message}"
