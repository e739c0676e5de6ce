"""SDF: what is read, what becomes a loop, what is warned of, what is refused, and what the messages say."""

import math
import warnings

import numpy as np
import pytest

import kumitate
from kumitate.errors import KumitateWarning, ModelError
from kumitate.model import Box, Capsule, Cylinder, Limits, Mechanism, Mesh, Plane, Sphere
from kumitate.model.read import from_json, read_sdf, to_json
from kumitate.model.tree.tree import alignment
from kumitate.spatial import Transform, pose

#: sin and cos of 15°, times sin 45°
S15, C15 = (part(math.pi / 12) / math.sqrt(2) for part in (math.sin, math.cos))

INERTIA = "<ixx>1</ixx><iyy>1.5</iyy><izz>2</izz>"


def sdf(inside: str, version: str = "1.9", model: str = 'name="test"') -> str:
    return f'<sdf version="{version}">\n<model {model}>\n{inside}\n</model>\n</sdf>'


def link(name: str, where: str = "0 0 0 0 0 0", inside: str = "", relative: str = "") -> str:
    inertial = f"<inertial><mass>2</mass><inertia>{INERTIA}</inertia></inertial>"
    return f'<link name="{name}"><pose{relative}>{where}</pose>{inertial}{inside}</link>'


def joint(name: str, parent: str, child: str, kind: str = "revolute", inside: str = "<axis><xyz>0 0 1</xyz></axis>") -> str:
    return f'<joint name="{name}" type="{kind}"><parent>{parent}</parent><child>{child}</child>{inside}</joint>'


def lines(*parts: str) -> str:
    return "\n".join(parts)


def quiet(text, **options) -> Mechanism:
    """Read, where nothing may be warned of."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return read_sdf(text, **options)


def warned(text, **options) -> tuple[Mechanism, str]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        mechanism = read_sdf(text, **options)
    assert all(issubclass(item.category, KumitateWarning) for item in caught)
    return mechanism, "\n".join(str(item.message) for item in caught)


def refused(text, *parts: str, **options) -> None:
    with pytest.raises(ModelError) as caught:
        read_sdf(text, **options)
    for part in parts:
        assert part in str(caught.value)


def places(mechanism: Mechanism, **q) -> dict[str, np.ndarray]:
    """The poses (4, 4) of bodies and frames in the world; coordinates by joint, neutral ones otherwise."""
    X = {"world": Transform()}
    for item in mechanism.joints:
        turn = Transform(alignment(item.axis, item.second_axis))
        moved = item.kind.transform(q.get(item.name, item.kind.neutral()))
        X[item.child] = (X[item.parent] @ item.pose @ turn @ moved @ turn.inverse()).dense()
    for frame in mechanism.frames:
        X[frame.name] = X[frame.body] @ frame.pose
    return {name: np.array(place.matrix(), dtype=float) for name, place in X.items()}


def matrix(xyz, rpy=(0.0, 0.0, 0.0)) -> np.ndarray:
    return np.array(pose(xyz, rpy).matrix(), dtype=float)


# --- poses ----------------------------------------------------------------------------------------------------------
def test_links_stand_where_the_file_has_them_and_the_first_is_fixed_to_the_world():
    text = lines("<pose>1 0 0 0 0 0</pose>", link("a", "0 0 1 0 0 0.5"), link("b", "0 2 1 0.1 0.2 0.3"), joint("j", "a", "b"))
    mechanism = quiet(sdf(text))
    assert [item.name for item in mechanism.joints] == ["fixed_base", "j"]
    assert mechanism.joint("fixed_base").kind.name == "fixed"
    found = places(mechanism)
    np.testing.assert_allclose(found["a"], matrix((1, 0, 1), (0, 0, 0.5)), atol=1e-15)
    np.testing.assert_allclose(found["b"], matrix((1, 2, 1), (0.1, 0.2, 0.3)), atol=1e-15)


def test_a_floating_base_stands_where_the_file_has_it():
    mechanism = quiet(sdf(link("a", "0 0 1 0 0 0.5")), floating_base=True)
    assert mechanism.joints[0].name == "floating_base"
    assert mechanism.nv == 6
    np.testing.assert_allclose(places(mechanism)["a"], matrix((0, 0, 1), (0, 0, 0.5)), atol=1e-15)


@pytest.mark.parametrize(
    "where",
    [
        '<pose degrees="true">1 2 3 30 0 90</pose>',
        f'<pose rotation_format="quat_xyzw">1 2 3 {S15} {S15} {C15} {C15}</pose>',
        '<pose relative_to="near">0 0 0 0.5235987755982988 0 1.5707963267948966</pose>',
        f'<pose relative_to="turned">2 -1 3 {math.pi / 6} 0 0</pose>',
    ],
    ids=["degrees", "quaternion", "frame", "turned frame"],
)
def test_the_forms_of_poses(where):
    frames = lines(
        '<frame name="near"><pose>1 2 3 0 0 0</pose></frame>',
        '<frame name="turned"><pose degrees="true">0 0 0 0 0 90</pose></frame>',
    )
    mechanism = quiet(sdf(lines(f'<link name="a">{where}<inertial/></link>', frames)))
    np.testing.assert_allclose(places(mechanism)["a"], matrix((1, 2, 3), (math.pi / 6, 0, math.pi / 2)), atol=1e-14)


def test_frames_are_kept_on_the_links_that_they_are_attached_to():
    text = lines(
        link("a", "0 0 1 0 0 0"), link("b", "0 1 0 0 0 0", relative=' relative_to="a"'), joint("j", "a", "b"),
        '<frame name="tool" attached_to="b"><pose>0 0 0.1 0 0 0</pose></frame>',
        '<frame name="tip" attached_to="tool"><pose relative_to="a">0 5 0 0 0 0</pose></frame>',
        '<frame name="hinge" attached_to="j"/>',
        '<frame name="ground"/>',
    )  # fmt: skip
    mechanism = quiet(sdf(text))
    assert {frame.name: frame.body for frame in mechanism.frames} == {"tool": "b", "tip": "b", "hinge": "b", "ground": "a"}
    found = places(mechanism)
    np.testing.assert_allclose(found["tool"], matrix((0, 1, 1.1)), atol=1e-15)
    np.testing.assert_allclose(found["tip"], matrix((0, 5, 1)), atol=1e-15)
    np.testing.assert_allclose(found["hinge"], found["b"], atol=1e-15)
    np.testing.assert_allclose(found["ground"], np.eye(4), atol=1e-15)
    moved = places(mechanism, j=[math.pi / 2])
    np.testing.assert_allclose(moved["tip"][:3, 3], (-4, 1, 1), atol=1e-15)


def test_the_placement_frame_stands_where_the_model_is_said_to():
    text = lines("<pose>0 0 2 0 0 0</pose>", link("a", "0 0 0.5 0 0 1"))
    np.testing.assert_allclose(
        places(quiet(sdf(text, model='name="m" placement_frame="a"')))["a"], matrix((0, 0, 2)), atol=1e-15
    )


def test_nested_models_put_their_names_in_front():
    inner = f'<model name="hand"><pose>0 0 1 0 0 0</pose>{link("palm", "0 1 0 0 0 0")}{link("finger", "0 2 0 0 0 0")}'
    inner += f"{joint('knuckle', 'palm', 'finger')}</model>"
    mechanism = quiet(sdf(lines(link("arm"), inner, joint("wrist", "arm", "hand::palm"))))
    assert [body.name for body in mechanism.bodies] == ["arm", "hand::palm", "hand::finger"]
    assert [item.name for item in mechanism.joints] == ["fixed_base", "wrist", "hand::knuckle"]
    np.testing.assert_allclose(places(mechanism)["hand::finger"], matrix((0, 2, 1)), atol=1e-15)


# --- joints -----------------------------------------------------------------------------------------------------------
def test_a_joint_apart_from_its_child_is_a_body_without_mass_that_carries_it():
    text = lines(link("a"), link("b", "1 0 0 0 0 0"), joint("hinge", "a", "b", inside="<pose>-1 0 0 0 0.3 0</pose><axis/>"))
    mechanism = quiet(sdf(text))
    assert mechanism.body("hinge").mass == 0.0
    assert mechanism.joint("hinge").child == "hinge"
    np.testing.assert_allclose(places(mechanism)["b"], matrix((1, 0, 0)), atol=1e-15)
    turned = places(mechanism, hinge=[math.pi])["b"]  # half a turn about (sin 0.3, 0, cos 0.3) through the origin
    axis = np.array([math.sin(0.3), 0.0, math.cos(0.3)])
    np.testing.assert_allclose(turned[:3, 3], 2 * axis[0] * axis - (1, 0, 0), atol=1e-15)
    assert len(mechanism.tree.links) == 1


def test_a_joint_on_its_axis_needs_no_body_between():
    text = lines(link("a"), link("b", "1 0 0 0 0 0"), joint("j", "a", "b", inside="<pose>0 0 -1 0 0 0.3</pose><axis/>"))
    assert [body.name for body in quiet(sdf(text)).bodies] == ["a", "b"]


@pytest.mark.parametrize(
    ("version", "axis", "expected"),
    [
        ("1.4", "<xyz>1 0 0</xyz>", (1, 0, 0)),
        ("1.5", "<xyz>1 0 0</xyz>", (0, 1, 0)),
        ("1.6", "<xyz>1 0 0</xyz><use_parent_model_frame>1</use_parent_model_frame>", (1, 0, 0)),
        ("1.6", "<xyz>1 0 0</xyz><use_parent_model_frame>false</use_parent_model_frame>", (0, 1, 0)),
        ("1.7", '<xyz expressed_in="__model__">1 0 0</xyz>', (1, 0, 0)),
        ("1.7", '<xyz expressed_in="a">1 0 0</xyz>', (0, 0, 1)),
        ("1.11", "<xyz>1 0 0</xyz>", (0, 1, 0)),
        ("1.11", "", (0, 0, 1)),
    ],
)
def test_axes_are_given_in_different_frames(version, axis, expected):
    quarter = math.pi / 2
    text = lines(
        link("a", f"0 0 0 0 {-quarter} 0"),
        link("b", f"0 0 0 0 0 {quarter}"),
        joint("j", "a", "b", inside=f"<axis>{axis}</axis>"),
    )
    mechanism = quiet(sdf(text, version))
    turned = places(mechanism, j=[0.4])["b"] @ np.linalg.inv(places(mechanism)["b"])
    np.testing.assert_allclose(turned[:3, :3] @ expected, expected, atol=1e-14)
    across = np.roll(expected, 1)
    assert across @ turned[:3, :3] @ across == pytest.approx(math.cos(0.4))
    assert np.cross(across, turned[:3, :3] @ across) @ expected > 0.0


@pytest.mark.parametrize(
    ("kind", "ours", "axes"),
    [
        ("revolute", "revolute", 1), ("continuous", "revolute", 1), ("prismatic", "prismatic", 1), ("fixed", "fixed", 0),
        ("ball", "spherical", 0), ("universal", "universal", 2), ("revolute2", "universal", 2),
    ],
)  # fmt: skip
def test_every_type_of_joint(kind, ours, axes):
    inside = "".join(("<axis><xyz>0 0 1</xyz></axis>", "<axis2><xyz>0 1 0</xyz></axis2>")[:axes])
    item = quiet(sdf(lines(link("a"), link("b", "1 0 0 0 0 0"), joint("j", "a", "b", kind, inside)))).joint("j")
    assert item.kind.name == ours
    if axes == 2:
        np.testing.assert_allclose(item.second_axis, (0, 1, 0))


def test_two_axes_that_are_not_at_right_angles_are_two_joints():
    inside = "<axis><xyz>0 0 1</xyz></axis><axis2><xyz>0 1 1</xyz><limit><lower>-1</lower><upper>2</upper></limit></axis2>"
    mechanism = quiet(sdf(lines(link("a"), link("b", "1 0 0 0 0 0"), joint("j", "a", "b", "revolute2", inside))))
    assert [(item.name, item.kind.name) for item in mechanism.joints[1:]] == [("j", "revolute"), ("j_2", "revolute")]
    assert mechanism.joint("j_2").limits == (Limits(-1.0, 2.0),)
    np.testing.assert_allclose(places(mechanism)["b"], matrix((1, 0, 0)), atol=1e-15)


def test_limits_and_friction():
    inside = (
        "<axis><xyz>0 0 2</xyz><limit><lower>-1</lower><upper>1e16</upper><effort>5</effort><velocity>-1</velocity></limit>"
        "<dynamics><damping>0.1</damping><friction>0.2</friction></dynamics></axis>"
    )
    item = quiet(sdf(lines(link("a"), link("b"), joint("j", "a", "b", inside=inside)))).joint("j")
    assert item.limits == (Limits(-1.0, None, None, 5.0),)
    assert (item.damping, item.friction, item.axis) == ((0.1,), (0.2,), (0.0, 0.0, 1.0))


def test_a_link_that_nothing_carries_hangs_on_its_own_joint_turned_around():
    joints = [
        joint("one", "a", "c"),
        joint(
            "two", "b", "c", inside="<pose>0 0.5 0 0 0 0</pose><axis><xyz>1 0 0</xyz><limit><lower>-1</lower></limit></axis>"
        ),
    ]
    mechanism, said = warned(sdf(lines(link("a"), link("b", "0 1 0 0 0.2 0"), link("c", "1 0 0 0 0 0"), *joints)))
    assert "from child to parent" in said
    assert mechanism.loops == ()
    assert [(item.name, item.parent, item.child) for item in mechanism.joints[2:]] == [
        ("two", "c", "two"),
        ("two_to_b", "two", "b"),
    ]
    assert mechanism.joint("two").limits[0].lower == -1.0
    rest, moved = places(mechanism), places(mechanism, two=[0.3])
    np.testing.assert_allclose(rest["b"], matrix((0, 1, 0), (0, 0.2, 0)), atol=1e-15)
    # the coordinate turns the file's child in its parent, as if the tree ran the other way
    X = np.linalg.inv(moved["b"]) @ moved["c"]
    hinge = np.linalg.inv(rest["b"]) @ rest["c"] @ matrix((0, 0.5, 0))
    np.testing.assert_allclose(X, hinge @ matrix((0, 0, 0), (0.3, 0, 0)) @ matrix((0, -0.5, 0)), atol=1e-14)


# --- couplings, springs, screws ---------------------------------------------------------------------------------------
def test_springs_of_joints_and_loops_are_read():
    spring = "<dynamics><spring_reference>-0.2</spring_reference><spring_stiffness>7</spring_stiffness></dynamics>"
    item = quiet(sdf(lines(link("a"), link("b"), joint("j", "a", "b", inside=f"<axis>{spring}</axis>")))).joint("j")
    assert (item.stiffness, item.rest) == ((7.0,), (-0.2,))
    (loop,) = quiet(sdf(FOUR_BAR.replace("<xyz>0 0.1 1</xyz>", f"<xyz>0 0.1 1</xyz>{spring}"))).loops
    assert (loop.stiffness, loop.rest) == ((7.0,), (-0.2,))
    axes = f"<axis>{spring}</axis><axis2><xyz>0 1 0</xyz></axis2>"
    item = quiet(sdf(lines(link("a"), link("b"), joint("j", "a", "b", "universal", axes)))).joint("j")
    assert (item.stiffness, item.rest) == ((7.0, 0.0), (-0.2, 0.0))
    text = sdf(lines(link("a"), link("b"), joint("j", "a", "b", inside=f"<axis>{spring.replace('>7', '>-7')}</axis>")))
    refused(text, "'j'", "<spring_stiffness> -7", "negative")


@pytest.mark.parametrize(
    ("thread", "pitch"),
    [
        ("<screw_thread_pitch>0.5</screw_thread_pitch>", 0.5),
        ("<thread_pitch>-12.566370614359172</thread_pitch>", 0.5),  # rad/m, left-handed
        ("", 1.0),
    ],
)
def test_a_screw_is_helical(thread, pitch):
    inside = f"<pose>-1 0 0.25 0 0.3 0</pose><axis/>{thread}"
    mechanism = quiet(sdf(lines(link("a"), link("b", "1 0 0 0 0 0"), joint("j", "a", "b", "screw", inside))))
    assert mechanism.joint("j").kind.name == "helical"
    assert mechanism.joint("j").kind.pitch == pytest.approx(pitch, rel=1e-15)
    rest, moved = places(mechanism)["b"], places(mechanism, j=[2.0 * math.pi])["b"]
    axis = np.array([math.sin(0.3), 0.0, math.cos(0.3)])
    np.testing.assert_allclose(moved[:3, :3], rest[:3, :3], atol=1e-12)  # a whole turn on
    np.testing.assert_allclose(moved[:3, 3] - rest[:3, 3], pitch * axis, atol=1e-12)
    (loop,) = quiet(sdf(lines(link("a"), link("b"), joint("h", "a", "b"), joint("j", "a", "b", "screw", inside)))).loops
    assert loop.kind.pitch == pytest.approx(pitch, rel=1e-15)


def test_a_screw_of_both_words_has_the_new_one():
    thread = "<thread_pitch>1</thread_pitch><screw_thread_pitch>0.5</screw_thread_pitch>"
    mechanism, said = warned(sdf(lines(link("a"), link("b"), joint("j", "a", "b", "screw", thread))))
    assert mechanism.joint("j").kind.pitch == 0.5
    assert "<thread_pitch>" in said
    refused(
        sdf(lines(link("a"), link("b"), joint("j", "a", "b", "screw", "<thread_pitch>0</thread_pitch>"))), "pitch of no screw"
    )


def gearbox(parent: str, child: str, reference: str, ratio: float = 3.0, axis: str = "0 0 1", axis2: str = "0 0 1", name="box"):
    """A gearbox with axes in the model's frame."""
    axes = f'<axis><xyz expressed_in="__model__">{axis}</xyz></axis><axis2><xyz expressed_in="__model__">{axis2}</xyz></axis2>'
    inside = f"<gearbox_reference_body>{reference}</gearbox_reference_body><gearbox_ratio>{ratio}</gearbox_ratio>{axes}"
    return joint(name, parent, child, "gearbox", inside)


#: A base with two wheels on it, apart and turned; the second wheel's hinge points the other way.
WHEELS = lines(
    link("base"), link("one", "1 0 0 0.3 0 0"), link("two", "0 2 0 0 0 0.2"),
    joint("j1", "base", "one", inside='<axis><xyz expressed_in="__model__">0 0 1</xyz></axis>'),
    joint("j2", "base", "two", inside='<pose>0.5 0 0 0 0 0</pose><axis><xyz expressed_in="__model__">0 0 -1</xyz></axis>'),
)  # fmt: skip


def angle(mechanism: Mechanism, body: str, **q) -> float:
    """How far a body has turned about z against the base, which does not."""
    R = places(mechanism, **{name: [value] for name, value in q.items()})[body] @ np.linalg.inv(places(mechanism)[body])
    return math.atan2(R[1, 0] - R[0, 1], R[0, 0] + R[1, 1])


@pytest.mark.parametrize(("axis", "axis2", "sign"), [("0 0 1", "0 0 1", 1), ("0 0 -2", "0 0 1", -1), ("0 0 -1", "0 0 -1", 1)])
def test_a_gearbox_is_a_coupling_by_the_angles_that_it_means(axis, axis2, sign):
    """theta_2 = -ratio theta_1, of child and parent against the reference body, in the direction of axis2 and axis."""
    mechanism = quiet(sdf(lines(WHEELS, gearbox("one", "two", "base", 3.0, axis, axis2))))
    (coupling,) = mechanism.couplings
    assert (coupling.name, coupling.joint, coupling.of, coupling.offset) == ("box", "j2", "j1", 0.0)
    follows = coupling.ratio * 0.2
    assert angle(mechanism, "two", j2=follows) == pytest.approx(-3.0 * sign * angle(mechanism, "one", j1=0.2))
    text = to_json(mechanism)
    assert from_json(text).couplings == mechanism.couplings


def test_a_gearbox_relative_to_a_link_that_the_tree_carries():
    """The reference body is the child of one of the two joints: the angle counts backwards."""
    text = lines(
        link("a"), link("arm", "0 0 1 0 0 0"), link("b", "0 0 2 0 0 0"), joint("j1", "a", "arm"), joint("j2", "arm", "b"),
        gearbox("a", "b", "arm", 2.0),
    )  # fmt: skip
    (coupling,) = quiet(sdf(text)).couplings
    assert (coupling.joint, coupling.of, coupling.ratio) == ("j2", "j1", 2.0)  # theta_1 is -j1


@pytest.mark.parametrize(
    ("box", "reason"),
    [
        (gearbox("one", "two", "one"), "has 'one' fixed on its reference body 'one'"),
        (gearbox("one", "base", "two"), "is between 'two' and 'one', which no revolute joint of the tree joins directly"),
        (gearbox("one", "two", "base", axis="0 1 1"), "counts the angle about another axis than that of joint 'j1'"),
        (gearbox("one", "one", "base"), "ties joint 'j1' to itself"),
    ],
)
def test_a_gearbox_that_is_no_coupling_is_told_of(box, reason):
    mechanism, said = warned(sdf(lines(WHEELS, box)))
    assert mechanism.couplings == ()
    assert f"<joint> of type gearbox, which {reason}" in said
    assert "box in line 8" in said


def test_of_two_gearboxes_on_one_shaft_the_second_turns_round():
    text = lines(WHEELS, link("three"), joint("j3", "base", "three"), gearbox("one", "two", "base"))
    text = lines(text, gearbox("three", "two", "base", 0.5, name="other"))
    couplings = quiet(sdf(text)).couplings
    assert [(item.name, item.joint, item.of, item.ratio) for item in couplings] == [
        ("box", "j2", "j1", 3.0),
        ("other", "j3", "j2", 2.0),
    ]


def mimic(leader: str, inside: str = "<multiplier>-2</multiplier>", axis: str = "") -> str:
    return f'<axis><mimic joint="{leader}"{axis}>{inside}</mimic></axis>'


def test_an_axis_that_mimics_another_is_a_coupling():
    relation = "<multiplier>-2</multiplier><offset>0.5</offset><reference>0.1</reference>"
    text = lines(link("a"), link("b"), link("c"), joint("lead", "a", "b"), joint("j", "b", "c", inside=mimic("lead", relation)))
    (coupling,) = quiet(sdf(text, "1.11")).couplings
    assert (coupling.name, coupling.joint, coupling.of, coupling.ratio) == ("j", "j", "lead", -2.0)
    assert coupling.offset == pytest.approx(0.7)  # -2 (x - 0.1) + 0.5


@pytest.mark.parametrize(
    ("lead", "follower", "said"),
    [
        (joint("lead", "a", "b"), mimic("laed"), "these joints move independently ('j' of 'laed', not 'lead'?,"),
        (joint("lead", "a", "b", "ball", ""), mimic("lead"), "<mimic> between joints that have not one degree of freedom each"),
        (joint("lead", "a", "b"), mimic("lead", axis=' axis="axis2"'), "<mimic> between joints that have not one degree"),
    ],
)  # fmt: skip
def test_an_axis_that_mimics_what_it_cannot_is_told_of(lead, follower, said):
    mechanism, messages = warned(
        sdf(lines(link("a"), link("b"), link("c"), lead, joint("j", "b", "c", inside=follower)), "1.11")
    )
    assert mechanism.couplings == ()
    assert said in messages


def test_mimics_that_are_refused():
    parts = lines(link("a"), link("b"), link("c"))
    two = joint("j", "a", "b", inside=mimic("k")) + joint("k", "b", "c", inside=mimic("j"))
    refused(sdf(lines(parts, two), "1.11"), "'j' mimics itself (j → k → j)")
    refused(
        sdf(lines(parts, joint("j", "a", "b", inside=mimic("j")), joint("k", "b", "c")), "1.11"), "'j' mimics itself (j → j)"
    )
    refused(sdf(lines(parts, joint("j", "a", "b", inside=mimic("j", "")), joint("k", "b", "c")), "1.11"), "no <multiplier>")
    wrong = mimic("j", axis=' axis="z"')
    refused(sdf(lines(parts, joint("j", "a", "b"), joint("k", "b", "c", inside=wrong)), "1.11"), 'axis="z"', "neither")


# --- loops ------------------------------------------------------------------------------------------------------------
FOUR_BAR = lines(
    link("ground"), link("crank", "0 0 0 0 0 0.4"), link("rocker", "3 0 0 0 0 1"), link("coupler", "1 1 0 0 0 0.2"),
    joint("a", "ground", "crank"), joint("b", "ground", "rocker"), joint("c", "crank", "coupler"),
    joint("d", "rocker", "coupler", inside="<pose>2 1 0 0 0.1 0</pose><axis><xyz>0 0.1 1</xyz></axis>"),
)  # fmt: skip


def test_what_closes_a_cycle_is_a_loop_with_its_frame_on_both_bodies():
    mechanism = quiet(sdf(FOUR_BAR))
    (loop,) = mechanism.loops
    assert (loop.name, loop.kind.name, loop.body_a, loop.body_b) == ("d", "revolute", "rocker", "coupler")
    np.testing.assert_allclose(loop.axis, np.array((0, 0.1, 1)) / math.hypot(0.1, 1))
    found = places(mechanism)
    on_a = found["rocker"] @ np.array(loop.pose_a.matrix(), dtype=float)
    on_b = found["coupler"] @ np.array(loop.pose_b.matrix(), dtype=float)
    np.testing.assert_allclose(on_a, on_b, atol=1e-14)
    np.testing.assert_allclose(on_b, matrix((1, 1, 0), (0, 0, 0.2)) @ matrix((2, 1, 0), (0, 0.1, 0)), atol=1e-14)
    text = to_json(mechanism)
    assert to_json(from_json(text)) == text


def test_bodies_in_loops_have_poses():
    robot = kumitate.Robot(quiet(sdf(FOUR_BAR)))
    assert robot.poses(robot.neutral())["coupler"] == pytest.approx(places(robot.mechanism)["coupler"])


def test_universal_joints_close_loops_in_the_axes_of_their_kind():
    inside = "<axis><xyz>1 0 0</xyz></axis><axis2><xyz>0 0 1</xyz></axis2>"
    text = lines(link("a"), link("b"), joint("j", "a", "b"), joint("k", "a", "b", "universal", inside))
    (loop,) = quiet(sdf(text)).loops
    np.testing.assert_allclose(np.array(loop.pose_a.matrix(), dtype=float)[:3, [2, 1]].T, [(1, 0, 0), (0, 0, 1)], atol=1e-15)
    assert loop.axis == (0.0, 0.0, 1.0)


def test_limits_and_friction_of_loops_are_read():
    inside = "<limit><lower>-1</lower><effort>5</effort></limit><dynamics><damping>1</damping><friction>2</friction></dynamics>"
    (loop,) = quiet(sdf(FOUR_BAR.replace("<xyz>0 0.1 1</xyz>", f"<xyz>0 0 1</xyz>{inside}"))).loops
    assert loop.limits == (Limits(-1.0, None, None, 5.0),)
    assert (loop.damping, loop.friction) == ((1.0,), (2.0,))


def test_the_frames_of_joints_are_kept_where_they_are_others_than_the_links():
    text = lines(
        link("a"), link("b", "1 0 0 0 0 0"), link("c", "2 0 0 0 0 0"), link("d"),
        joint("weld", "a", "b", "fixed", "<pose>0 0.5 0 0 0 0.3</pose>"),
        joint("slide", "b", "c", "prismatic", "<pose>0 0 1 0 0 0</pose><axis/>"),
        joint("plain", "c", "d"),
    )  # fmt: skip
    mechanism = quiet(sdf(text))
    assert {frame.name: frame.body for frame in mechanism.frames} == {"weld": "b", "slide": "c"}
    np.testing.assert_allclose(places(mechanism)["weld"], matrix((1, 0.5, 0), (0, 0, 0.3)), atol=1e-15)
    np.testing.assert_allclose(places(mechanism, slide=[0.25])["slide"], matrix((2, 0, 1.25)), atol=1e-15)


def test_bounds_of_continuous_joints_and_unknown_versions_are_told_of():
    inside = "<axis><limit><lower>-1</lower></limit></axis>"
    _, said = warned(sdf(lines(link("a"), link("b"), joint("j", "a", "b", "continuous", inside))))
    assert said == "<text>: <lower> and <upper> of continuous joints, which turn without end, not used (j in line 5)"
    for version in ("1.3", "2.0"):
        assert warned(sdf(link("a"), version))[1] == (
            f"<text>: version {version} of SDF is not known here (known: 1.4 to 1.12), read like the nearest (line 1)"
        )


# --- worlds -----------------------------------------------------------------------------------------------------------
def test_a_joint_to_the_world_holds_the_model():
    text = lines(link("a", "0 0 1 0 0 0"), joint("rail", "world", "a", "prismatic"))
    mechanism = quiet(sdf(text))
    assert [(item.name, item.parent) for item in mechanism.joints] == [("rail", "world")]
    np.testing.assert_allclose(places(mechanism)["a"], matrix((0, 0, 1)), atol=1e-15)
    refused(sdf(text), "floating_base was asked for", "read it without", floating_base=True)


def test_a_world_holds_several_models_and_gravity():
    def model(name: str, z: int, inside: str = "") -> str:
        return f'<model name="{name}"><pose>0 0 {z} 0 0 0</pose>{inside}{link("base")}</model>'

    inside = f"<gravity>0 0 -1.6</gravity>{model('post', 0, '<static>true</static>')}{model('ball', 3)}"
    mechanism = quiet(f'<sdf version="1.8"><world name="moon"><physics/><scene/>{inside}</world></sdf>')
    assert (mechanism.name, mechanism.gravity) == ("moon", (0.0, 0.0, -1.6))
    kinds = {item.child: item.kind.name for item in mechanism.joints}
    assert kinds == {"post::base": "fixed", "ball::base": "floating"}
    np.testing.assert_allclose(places(mechanism)["ball::base"], matrix((0, 0, 3)))


def test_models_of_a_world_are_free_unless_they_are_static_or_joined_to_it():
    def model(name: str, inside: str = "") -> str:
        return f'<model name="{name}">{inside}{link("base")}</model>'

    held = joint("hold", "world", "base", "fixed", "")
    inside = model("ball") + model("arm", held) + model("wall", "<static>true</static>")
    mechanism = quiet(f'<sdf version="1.8"><world name="w">{inside}</world></sdf>')
    assert {item.child: item.kind.name for item in mechanism.joints} == {
        "ball::base": "floating", "arm::base": "fixed", "wall::base": "fixed",
    }  # fmt: skip
    alone = quiet(f'<sdf version="1.8"><world name="w">{model("ball")}</world></sdf>')
    assert (alone.name, alone.nv) == ("ball", 6)
    assert quiet(f'<sdf version="1.8">{model("ball")}</sdf>').nv == 0  # a file of a model says nothing of the world


def test_a_static_model_needs_no_inertia_and_planes_have_their_normal():
    shape = "<geometry><plane><normal>1 0 1</normal><size>2 2</size></plane></geometry>"
    ground = f'<link name="l"><collision name="c"><pose>0 0 0.5 0 0 0</pose>{shape}</collision></link>'
    text = f'<sdf version="1.8"><world name="w"><model name="m"><static>1</static>{ground}</model></world></sdf>'
    body = quiet(text).body("l")
    assert body.mass == 0.0
    (item,) = body.collisions
    assert item.shape == Plane()
    X = np.array(item.pose.matrix(), dtype=float)
    np.testing.assert_allclose(X[:3, 2], [math.sqrt(0.5), 0.0, math.sqrt(0.5)], atol=1e-15)
    np.testing.assert_allclose(X[:3, 3], [0.0, 0.0, 0.5])


def test_included_models_take_the_place_of_their_elements(tmp_path, monkeypatch):
    """By folder, by model://, by file; with name, pose and static of the <include>; their meshes are beside them."""
    mesh = '<visual name="v"><geometry><mesh><uri>meshes/m.stl</uri></mesh></geometry></visual>'
    for name in ("ball", "elsewhere/box"):
        folder = tmp_path / name
        (folder / "meshes").mkdir(parents=True)
        (folder / "meshes" / "m.stl").write_text("solid\nendsolid\n")
        (folder / "model.sdf").write_text(sdf("<pose>9 9 9 0 0 0</pose>" + link("l", inside=mesh), model='name="m"'))
    config = '<model><sdf version="1.5">none.sdf</sdf><sdf version="1.9">model.sdf</sdf></model>'
    (tmp_path / "elsewhere/box" / "model.config").write_text(config)
    monkeypatch.setenv("GZ_SIM_RESOURCE_PATH", str(tmp_path / "elsewhere"))
    inside = lines(
        "<include><uri>ball</uri><name>one</name><pose>0 0 1 0 0 0</pose></include>",
        "<include><uri>ball/model.sdf</uri></include>",
        "<include><uri>model://box</uri><name>held</name><static>true</static></include>",
    )
    path = tmp_path / "world.sdf"
    path.write_text(f'<sdf version="1.9"><world name="w">{inside}</world></sdf>')
    mechanism = quiet(path)
    kinds = {item.child: item.kind.name for item in mechanism.joints}
    assert kinds == {"one::l": "floating", "m::l": "floating", "held::l": "fixed"}
    found = places(mechanism)
    np.testing.assert_allclose(found["one::l"], matrix((0, 0, 1)))
    np.testing.assert_allclose(found["m::l"], matrix((9, 9, 9)))
    shape = mechanism.body("held::l").visuals[0].shape
    assert shape == Mesh("meshes/m.stl", (1, 1, 1), str(tmp_path / "elsewhere/box/meshes/m.stl"))
    inner = tmp_path / "inner.sdf"
    inner.write_text(sdf("<include><uri>ball</uri><name>part</name></include>" + link("own")))
    assert {body.name for body in read_sdf(inner, floating_base=True).bodies} == {"own", "part::l"}


def test_files_that_include_themselves_and_faults_in_included_files_are_refused(tmp_path):
    path = tmp_path / "round.sdf"
    path.write_text(sdf("<include><uri>round.sdf</uri></include>"))
    refused(path, "round.sdf", "include one another more than 20 deep")
    (tmp_path / "bad.sdf").write_text(sdf(link("a").replace("<mass>2", "<mass>-2")))
    path.write_text(sdf(link("b") + "<include><uri>bad.sdf</uri><name>c</name></include>"))
    refused(path, "bad.sdf:3", "<mass> -2")


# --- links ------------------------------------------------------------------------------------------------------------
def test_inertia_in_turned_axes():
    inertial = f"<inertial><pose>0.1 0.2 0.3 0 0 {math.pi / 2}</pose><mass>3</mass><inertia>{INERTIA}</inertia></inertial>"
    body = quiet(sdf(f'<link name="a">{inertial}</link>')).body("a")
    assert (body.mass, body.center_of_mass) == (3.0, (0.1, 0.2, 0.3))
    np.testing.assert_allclose(body.inertia, np.diag([1.5, 1.0, 2.0]), atol=1e-15)


def test_a_link_without_inertial_has_what_sdf_says():
    mechanism, said = warned(sdf('<link name="a"/>'))
    assert mechanism.body("a").mass == 1.0
    np.testing.assert_allclose(mechanism.body("a").inertia, np.eye(3))
    assert "1 kg and 1 kg·m²" in said


def test_shapes_and_colours(tmp_path):
    (tmp_path / "part.stl").write_text("solid\nendsolid\n")
    shapes = [
        "<box><size>1 2 3</size></box>", "<sphere><radius>0.5</radius></sphere>",
        "<cylinder><radius>0.1</radius><length>2</length></cylinder>",
        "<capsule><radius>0.1</radius><length>2</length></capsule>",
        "<mesh><uri>part.stl</uri><scale>1 1 2</scale></mesh>",
    ]  # fmt: skip
    visuals = "".join(
        f'<visual name="v{k}"><pose>0 0 {k} 0 0 0</pose><geometry>{shape}</geometry>'
        "<material><diffuse>1 0.5 0 0.5</diffuse></material></visual>"
        for k, shape in enumerate(shapes)
    )
    path = tmp_path / "model.sdf"
    path.write_text(sdf(link("a", inside=visuals)))
    found = quiet(path).body("a").visuals
    assert [item.shape for item in found] == [
        Box((1, 2, 3)), Sphere(0.5), Cylinder(0.1, 2), Capsule(0.1, 2),
        Mesh("part.stl", (1, 1, 2), str(tmp_path / "part.stl")),
    ]  # fmt: skip
    assert [item.pose.translation.z for item in found] == [0, 1, 2, 3, 4]
    assert found[0].color == (1.0, 0.5, 0.0, 0.5)
    assert kumitate.load(path, floating_base=True).mass == 2.0


# --- warnings ---------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("inside", "said"),
    [
        ("<plugin/>", "<plugin>: programs for simulators, not used"),
        ("<frobnicate/>", "<frobnicate>: not known here, not used (test in line 4)"),
        (
            lines(link("b"), joint("j", "a", "b"), joint("g", "a", "b", "gearbox", "<gearbox_ratio>0.1</gearbox_ratio>")),
            "names no <gearbox_reference_body>: not simulated, the turns that it ties together are independent (g in line",
        ),
        (
            lines(link("b"), joint("j", "a", "b", "ball")),
            "<axis>: of joints that move about no axis of their own (ball, fixed)",
        ),
        (
            link("b", inside='<visual name="v"><geometry><heightmap/></geometry></visual>'),
            "(<heightmap>), left out (v in line 4)",
        ),
        ("<include><uri>model://b</uri></include>", "<include> of files that are not at hand"),
        ('<include merge="true"><uri>model://b</uri></include>', '<include merge="true">: not read'),
        (link("b", inside='<visual name="v"><geometry><mesh><uri>no.stl</uri></mesh></geometry></visual>'), "meshes not found"),
    ],
)
def test_what_is_not_used_is_told_of(inside, said):
    assert said in warned(sdf(lines(link("a"), inside)))[1]


# --- refusals ---------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ('<sdf version="1.9"/>', ["<text>:1", "no <model>"]),
        ('<sdf><model name="a"/></sdf>', ["no attribute 'version'"]),
        ('<sdf version="new"><model name="a"/></sdf>', ["version 'new'"]),
        (sdf(""), ["<text>:2", "no <link>", "add one"]),
        (sdf(lines(link("a"), link("a"))), ["<text>:4", "'a'", "line 3 already"]),
        (sdf(link("world")), ["'world'", "the world's"]),
        (sdf(lines(link("hand"), joint("j", "hand", "hant"))), ["<text>:4", "'hant'", "did you mean 'hand'?"]),
        (sdf(lines(link("a"), joint("j", "a", "a"))), ["joins 'a' to itself"]),
        (sdf(lines(link("a"), link("b"), joint("j", "a", "b", "hinge"))), ["<text>:5", "'hinge'", "the types are fixed"]),
        (sdf(lines(link("a"), link("b"), joint("j", "a", "b", "hinge"))), ["'hinge'", "revolute, continuous"]),
        (sdf(lines(link("a"), link("b"), joint("j", "a", "b", "universal"))), ["no <axis2>"]),
        (sdf(lines(link("a"), link("b"), joint("j", "a", "b", inside="<axis><xyz>0 0 0</xyz></axis>"))), ["no direction"]),
        (sdf(link("a", "0 0 1")), ["<text>:3", "has 3 numbers; it must have 6"]),
        (sdf(link("a", "0 0 0 0 0 x")), ["'x' is not a number"]),
        (sdf(link("a", "0 0 0 0 0 nan")), ["not finite"]),
        (sdf(link("a", relative=' rotation_format="matrix"')), ["rotation_format 'matrix'"]),
        (sdf(link("a", relative=' relative_to="b"') + link("b", relative=' relative_to="a"')), ["in a circle: a → b → a"]),
        (sdf(link("a") + '<frame name="f" attached_to="g"/><frame name="g" attached_to="f"/>'), ["in a circle: f → g → f"]),
        (sdf('<model name="m">' * 2000 + link("a") + "</model>" * 2000), ["nested more than 50 deep"]),
        (sdf(link("a").replace("<mass>2", "<mass>-2")), ["<text>:3", "<mass> -2"]),
        (sdf(link("a") + "<include><name>b</name></include>"), ["<text>:3", "<include> has no <uri>"]),
        ('<sdf version="1.9"><world name="w"><include><uri>model://b</uri></include></world></sdf>', ["not at hand; add one"]),
        (sdf(link("a", inside='<visual name="v"><geometry><plane><normal>0 0 0</normal></plane></geometry></visual>')),
         ["<text>:3", "<normal> 0 0 0 has no direction"]),
        (sdf('<link name="a"><inertial auto="true"/></link>'), ["not computed from shapes", "write the numbers"]),
    ],
)  # fmt: skip
def test_what_is_refused_and_what_is_said(text, parts):
    refused(text, *parts)


def test_links_and_joints_might_share_names_before_frames():
    text = lines(link("a"), link("b", "1 0 0 0 0 0"), joint("b", "a", "b"))
    assert [body.name for body in quiet(sdf(text, "1.6")).bodies] == ["a", "b"]
    refused(sdf(text, "1.7"), "share one set of names")
