"""What parts and mechanisms refuse, and what the messages say; the order that a mechanism keeps."""

import math
from dataclasses import replace

import numpy as np
import pytest

from kumitate.errors import ModelError
from kumitate.model import KINDS, Body, Coupling, Distance, Frame, Joint, Limits, Line, Loop, Mechanism, check_resistance
from kumitate.robot import Robot


def body(name: str, **options) -> Body:
    return Body(name, **{"mass": 1.0, "inertia": (1.0, 1.0, 1.0)} | options)


def joint(name: str, parent: str, child: str, kind: str = "revolute", **options) -> Joint:
    return Joint(name, kind, parent, child, **options)


def chain(*names: str) -> Mechanism:
    parents = ("world", *names)
    return Mechanism("m", tuple(map(body, names)), tuple(joint(f"j{c}", p, c) for p, c in zip(parents, names, strict=False)))


# --- parts ------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("options", "parts"),
    [
        ({"mass": -1.0}, ("the mass [kg] is -1.0", "zero, or from 1e-100", "Check the unit")),
        ({"mass": math.nan}, ("nan", "zero, or from 1e-100")),
        ({"center_of_mass": (0.0, math.inf, 0.0)}, ("(0.0, inf, 0.0)", "must be finite")),
        ({"center_of_mass": (0.0, 0.0)}, ("(0.0, 0.0) (2 values)", "3 numbers")),
        ({"inertia": (1.0, 1.0)}, ("(1.0, 1.0)", "3×3")),
        ({"inertia": (1.0, 1.0, math.nan)}, ("(1.0, 1.0, nan)", "must be finite")),
        ({"inertia": (1.0, 1.0, -0.5)}, ("negative principal value -0.5", "zero is allowed")),
        ({"inertia": ((1.0, 0.1, 0.0), (0.2, 1.0, 0.0), (0.0, 0.0, 1.0))}, ("0.2", "not symmetric", "row j, column i")),
    ],
)
def test_bodies_refuse(options, parts):
    with pytest.raises(ModelError) as caught:
        body("arm", **options)
    for part in ("'arm'", *parts):
        assert part in str(caught.value)


@pytest.mark.parametrize("inertia", [(1.0, 1.0, 0.0), (0.0, 0.0, 0.0), (1.0, 1.0, -1e-12)])
def test_thin_rods_points_and_rounding_are_allowed(inertia):
    assert body("rod", inertia=inertia).inertia[2][2] == inertia[2]


@pytest.mark.parametrize(
    ("options", "parts"),
    [
        ({"kind": "ball"}, ("'ball'", "spherical", "revolute")),
        ({"axis": (0.0, 0.0, 0.0)}, ("no direction", "not zero")),
        ({"axis": (0.0, math.nan, 0.0)}, ("(0.0, nan, 0.0)", "must be finite")),
        ({"kind": "universal", "second_axis": (0.0, 1.0, 1.0)}, ("right angles", "two revolute joints")),
        ({"limits": Limits(2.0, 1.0)}, ("lower limit 2.0", "1.0", "swap the two")),
        ({"limits": (Limits(), Limits())}, ("2 limits", "1 degrees of freedom")),
        ({"damping": -1.0}, ("the damping is -1.0", "zero or more", "Check the sign")),
        ({"friction": math.inf}, ("the friction is inf", "at most 1e+50", "Check")),
        ({"armature": (0.0, 1.0)}, ("2 values of armature", "1 degrees of freedom", "one for all")),
        ({"kind": Distance(1.0)}, ("a distance closes loops", "write it as a Loop", "Helical(pitch)")),
        ({"kind": Line()}, ("a line closes loops", "write it as a Loop")),
        ({"kind": 3}, ("unknown kind 3", "revolute")),
        ({"kind": "spherical", "stiffness": 1.0}, ("stiffness", "spherical_euler", "Line()")),
    ],
)
def test_joints_refuse(options, parts):
    with pytest.raises(ModelError) as caught:
        joint("elbow", "a", "b", **options)
    for part in ("'elbow'", *parts):
        assert part in str(caught.value)


def test_joints_complete_themselves():
    read = joint("j", "world", "a", "universal", axis=(0.0, 3.0, 4.0), damping=0.5, limits=())
    assert read.axis == (0.0, 0.6, 0.8)
    assert read.damping == (0.5, 0.5)
    assert read.limits == (Limits(), Limits())


def test_loops_refuse():
    with pytest.raises(ModelError, match=r"'l'.*'ball'"):
        Loop("l", "ball", "a", "b")
    with pytest.raises(ModelError, match=r"'l'.*'ball'.*Distance\(length\) and Line\(\)"):
        Loop("l", "ball", "a", "b")
    with pytest.raises(ModelError, match=r"'l'.*no direction"):
        Loop("l", "revolute", "a", "b", axis=(0.0, 0.0, 0.0))


@pytest.mark.parametrize(
    ("couplings", "parts"),
    [
        ((Coupling("c", "ja", "kb"),), ("'c'", "'kb'", "tree does not have", "there are ja, jb, jc, jd")),
        ((Coupling("c", "ja", "jc"),), ("'c'", "'jc'", "spherical", "3 degrees of freedom")),
        ((Coupling("c", "ja", "jb"), Coupling("d", "ja", "jd")), ("'ja' follows both 'jb' and 'jd'", "let the second")),
        ((Coupling("c", "ja", "jb"), Coupling("d", "jb", "ja")), ("cycle", "ja → jb → ja", "leave one of them out")),
        ((Coupling("c", "ja", "jb"), Coupling("c", "jd", "jb")), ("coupling name 'c'", "rename one")),
    ],
)
def test_couplings_refuse(couplings, parts):
    mechanism = chain("a", "b", "c", "d")
    joints = tuple(joint("jc", "b", "c", "spherical") if item.name == "jc" else item for item in mechanism.joints)
    with pytest.raises(ModelError) as caught:
        replace(mechanism, joints=joints, couplings=couplings)
    for part in parts:
        assert part in str(caught.value)
    for values in ({"ratio": math.nan}, {"offset": math.inf}):
        with pytest.raises(ModelError, match=r"'c'.*(zero, or from 1e-100|must be finite)"):
            Coupling("c", "ja", "jb", **values)


# --- mechanisms -------------------------------------------------------------------------------------------------------
A, B = body("a"), body("b")


@pytest.mark.parametrize(
    ("bodies", "joints", "rest", "parts"),
    [
        ((A, A), (joint("j", "world", "a"),), {}, ("body name 'a'", "2 times", "unique")),
        ((body("world"),), (), {}, ("body name 'world'", "2 times")),
        ((body(""),), (joint("j", "world", ""),), {}, ("empty name",)),
        ((A, B), (joint("j", "world", "a"), joint("j", "a", "b")), {}, ("joint name 'j'", "2 times")),
        ((A,), (joint("j", "world", "a"),), {"loops": (Loop("j", "fixed", "a", "world"),)}, ("joint name 'j'", "2 times")),
        ((A,), (joint("j", "world", "a"),), {"frames": (Frame("a", "a"),)}, ("frame name 'a'", "2 times")),
        ((A,), (joint("j", "moon", "a"),), {}, ("joint 'j'", "parent 'moon'", "not a body", "there are a, world")),
        ((body("arm"),), (joint("j", "world", "amr"),), {}, ("child 'amr'", "did you mean 'arm'?")),
        ((A,), (joint("j", "world", "b"),), {}, ("joint 'j'", "child 'b'", "not a body")),
        (
            (A,),
            (joint("j", "world", "a"),),
            {"loops": (Loop("l", "fixed", "a", "b"),)},
            ("loop 'l'", "'b'", "not a body", "there are a, world"),
        ),
        ((A,), (joint("j", "world", "a"),), {"frames": (Frame("f", "b"),)}, ("frame 'f'", "'b'", "not a body")),
        ((A,), (joint("j", "world", "a"), joint("k", "a", "world")), {}, ("'k'", "world does not move")),
        ((A,), (joint("j", "a", "a"),), {}, ("'j'", "'a' to itself", "name two bodies")),
        ((A, B), (joint("j", "world", "a"),), {}, ("body 'b'", "no joint", "'world'", "floating")),
        ((A,), (joint("j", "world", "a"), joint("k", "world", "a")), {}, ("'a'", "['j', 'k']", "loops")),
        ((A, B), (joint("j", "a", "b"), joint("k", "b", "a")), {}, ("cycle", "'a'", "'b'", "loop")),
    ],
)
def test_mechanisms_refuse(bodies, joints, rest, parts):
    with pytest.raises(ModelError) as caught:
        Mechanism("robot", bodies, joints, **rest)
    for part in ("robot:", *parts):
        assert part in str(caught.value)


def test_the_cycle_that_is_named_is_the_cycle():
    bodies = tuple(map(body, "abcd"))
    joints = (joint("1", "b", "a"), joint("2", "c", "b"), joint("3", "d", "c"), joint("4", "c", "d"))
    with pytest.raises(ModelError, match="cycle") as caught:
        Mechanism("robot", bodies, joints)
    named = str(caught.value)
    assert "'c'" in named
    assert "'d'" in named
    assert "'a'" not in named


def test_joints_and_bodies_are_kept_depth_first():
    bodies = tuple(map(body, "edcba"))
    joints = (joint("4", "b", "d"), joint("3", "b", "c"), joint("5", "a", "e"), joint("2", "a", "b"), joint("1", "world", "a"))
    mechanism = Mechanism("robot", bodies, joints)
    assert [item.name for item in mechanism.joints] == ["1", "5", "2", "4", "3"]
    assert [item.name for item in mechanism.bodies] == ["a", "e", "b", "d", "c"]


def test_sizes_and_names():
    bodies = (body("a"), body("b"))
    mechanism = Mechanism("robot", bodies, (joint("base", "world", "a", "floating"), joint("hinge", "a", "b")))
    assert (mechanism.nq, mechanism.nv) == (8, 7)
    assert mechanism.q_names[:2] == ("base.qx", "base.qy")
    assert mechanism.v_names[-2:] == ("base.vz", "hinge")
    with pytest.raises(ModelError, match=r"no joint 'elbow'.*base, hinge"):
        mechanism.joint("elbow")
    with pytest.raises(ModelError, match="no body 'c'"):
        mechanism.body("c")


def test_a_moving_leaf_without_mass_has_no_accelerations():
    mechanism = chain("a", "b")
    light = replace(mechanism, bodies=(mechanism.bodies[0], Body("b")))
    with pytest.raises(ModelError, match=r"'jb'.*without mass.*armature"):
        check_resistance(light)
    geared = replace(light, joints=(light.joints[0], replace(light.joints[1], armature=0.1)))
    check_resistance(geared)
    assert light.tree.nv == geared.tree.nv == 2


def test_all_joints_that_move_nothing_are_counted():
    mechanism = chain("a", "b", "c")
    light = replace(mechanism, bodies=(mechanism.bodies[0], Body("b"), Body("c")))
    with pytest.raises(ModelError, match=r"joint 'jb' moves only .*; so do 1 more \(jc\)"):
        check_resistance(light)
    with pytest.raises(ModelError, match="has no bodies, so that there is nothing to move"):
        check_resistance(Mechanism("nothing", (), ()))


def test_fixed_bodies_are_one_link():
    tool = Joint("weld", "fixed", "a", "tool")
    mechanism = Mechanism("m", (body("a"), body("tool", mass=2.0)), (joint("j", "world", "a"), tool))
    assert len(mechanism.tree.links) == 1
    assert np.isclose(mechanism.tree.links[0].inertia.mass, 3.0)


def test_a_rod_that_turns_about_itself_is_refused_by_name():
    """Its inertia about the joint's axis is exactly zero: the acceleration would be a division by zero."""
    rod = Body("rod", 1.0, (0.0, 0.0, 0.5), (1.0 / 12.0, 1.0 / 12.0, 0.0))
    mechanism = Mechanism("spindle", (rod,), (Joint("spin", KINDS["revolute"], "world", "rod"),))
    with pytest.raises(ModelError, match=r"spindle: joint 'spin' moves only bodies .* without inertia about its axis"):
        check_resistance(mechanism)
    driven = Joint("spin", KINDS["revolute"], "world", "rod", armature=0.1)
    check_resistance(Mechanism("spindle", (rod,), (driven,)))


@pytest.mark.parametrize("what", ["body", "joint", "loop", "coupling", "frame"])
def test_an_unknown_name_is_told_with_what_is_close_to_it(what):
    """By subscript as by method; it is a KeyError too, which programs may expect."""
    rod = Body("rod", 1.0, inertia=(1.0, 1.0, 0.1))
    robot = Robot(Mechanism("pendulum", (rod,), (Joint("rod_pivot", KINDS["revolute"], "world", "rod"),)))
    found = getattr(robot, {"body": "bodies"}.get(what, f"{what}s"))
    near = {"body": "there are rod", "joint": "did you mean 'rod_pivot'"}.get(what, "there are none")
    with pytest.raises(ModelError, match=f"^pendulum: there is no {what} 'rod_pivo'; {near}") as told:
        found["rod_pivo"]
    assert isinstance(told.value, KeyError)
    assert found.get("rod_pivo") is None
    assert list(found) == [item.name for item in getattr(robot.mechanism, {"body": "bodies"}.get(what, f"{what}s"))]
