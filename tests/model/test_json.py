"""The package's own format: everything comes back, bit by bit; what breaks a rule is refused with its place."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kumitate.errors import ModelError
from kumitate.model import (
    KINDS,
    Body,
    Box,
    Capsule,
    Closure,
    Coupling,
    Cylinder,
    Distance,
    Frame,
    Geometry,
    Helical,
    Joint,
    Limits,
    Line,
    Loop,
    Mechanism,
    Mesh,
    Revolute,
    Sphere,
)  # fmt: skip
from kumitate.model.read import from_json, to_json
from kumitate.model.samples import SAMPLES
from kumitate.spatial import Transform, pose

SOME_POSE = pose((0.1, -0.2, 1e-17), (0.3, -0.0, 1.0 / 3.0))


def everything() -> Mechanism:
    """A mechanism with every field in use and every kind of joint and shape."""
    shapes = [
        Box((1.0, 2.0, 3.0)),
        Sphere(0.1),
        Cylinder(0.1, 0.2),
        Capsule(0.3, 0.4),
        Mesh("m.stl", (1.0, -1.0, 0.5), "/m.stl"),
    ]
    visuals = tuple(Geometry(shape, SOME_POSE, (0.1, 0.2, 0.3, 1.0), f"v{i}") for i, shape in enumerate(shapes))
    inertia = ((1.0, 0.1, 0.2), (0.1, 1.1, -0.3), (0.2, -0.3, 1.2))
    bodies = tuple(Body(f"b_{kind}", 1.0 / 3.0, (0.1, 0.2, 0.3), inertia, visuals, visuals[:1]) for kind in KINDS)
    joints = []
    for i, (name, kind) in enumerate(KINDS.items()):
        limits = tuple(Limits(-math.inf, None, 0.1 * k, 1e300) for k in range(kind.nv))
        second = (0.0, 0.6, -0.8) if name == "universal" else None
        axis = (1.0, 0.0, 0.0) if name == "universal" else (1.0, 2.0, 1.0 + i)
        parent = "world" if i == 0 else bodies[i - 1].name
        friction = [0.1 * k for k in range(kind.nv)]
        joints.append(
            Joint(f"j_{name}", kind, parent, bodies[i].name, SOME_POSE, axis, second, limits, 0.1, friction, 1e-5)
        )  # fmt: skip
    screw = Joint("j_screw", Helical(-0.1), "b_fixed", "b_screw", SOME_POSE, (1.0, 2.0, 3.0), stiffness=2.0, rest=1.0 / 3.0)
    loops = (
        Loop("l", "spherical", "b_fixed", "world", SOME_POSE, pose((1, 2, 3)), (1.0, 1.0, 1.0)),
        Loop("thread", Helical(1.0 / 3.0), "b_fixed", "world", SOME_POSE, limits=(Limits(-1.0, 1.0),), rest=0.1, stiffness=2.0),
        Loop("rod", Distance(1.0 / 7.0), "b_fixed", "world"),
        Loop("spring", Line(), "b_fixed", "world", stiffness=3.0, rest=0.1, damping=0.2),
    )
    couplings = (Coupling("gear", "j_revolute", "j_screw", -1.0 / 3.0, 1e-17),)
    frames = (Frame("tool", "b_fixed", SOME_POSE),)
    gravity = (0.1, 0.2, -9.80665)
    bodies, joints = (*bodies, Body("b_screw")), [*joints, screw]
    return Mechanism("全部", bodies, tuple(joints), loops, frames, gravity, "file.urdf", couplings, ("bad",))


def same(a: object, b: object) -> bool:
    """Equality with poses compared by their entries, bit by bit."""
    if isinstance(a, Transform):
        return isinstance(b, Transform) and repr(a.matrix()) == repr(b.dense().matrix())
    if isinstance(a, tuple):
        return isinstance(b, tuple) and len(a) == len(b) and all(map(same, a, b))
    names = getattr(a, "__dataclass_fields__", None)
    if names and not isinstance(a, Closure):
        return type(a) is type(b) and all(same(getattr(a, name), getattr(b, name)) for name in names)
    return repr(a) == repr(b)


@pytest.mark.parametrize("mechanism", [everything(), *(item() for item in SAMPLES.values())], ids=lambda m: m.name)
def test_round_trip(mechanism):
    text = to_json(mechanism)
    back = from_json(text)
    assert to_json(back) == text
    for name in ("name", "gravity", "source", "bodies", "joints", "loops", "frames", "couplings", "faults"):
        assert same(tuple_of(getattr(mechanism, name)), tuple_of(getattr(back, name))), name


def tuple_of(value: object) -> tuple:
    return value if isinstance(value, tuple) else (value,)


finite = st.floats(-1e3, 1e3)


@given(st.tuples(finite, finite, finite).filter(lambda a: np.linalg.norm(a) > 1e-3), st.tuples(finite, finite, finite))
def test_axes_and_poses_come_back_bit_by_bit(axis, xyz):
    joint = Joint("j", "revolute", "world", "b", pose(xyz, xyz), axis)
    mechanism = Mechanism("m", (Body("b", 1.0),), (joint,))
    back = from_json(to_json(mechanism)).joints[0]
    assert repr(back.axis) == repr(joint.axis)
    assert repr(back.pose.matrix()) == repr(joint.pose.dense().matrix())


def test_it_is_standard_json_with_a_version():
    def refuse(word):
        raise AssertionError(word)

    content = json.loads(to_json(everything()), parse_constant=refuse)
    assert content["kumitate"] == 1
    assert content["joints"][1]["kind"] == "revolute"


def test_an_axis_may_be_written_by_hand():
    text = to_json(SAMPLES["pendulum"]()).replace('"axis": [0.0, 1.0, 0.0]', '"axis": [0, 2, 0]')
    assert '"axis": [0, 2, 0]' in text
    assert from_json(text).joints[0].axis == (0.0, 1.0, 0.0)


def changed(**changes: object) -> str:
    return json.dumps(json.loads(to_json(SAMPLES["pendulum"]())) | changes)


EYE = [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
MIRROR = [[1, 0, 0], [0, 1, 0], [0, 0, -1]]


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("", ("not valid JSON",)),
        ("{", ("not valid JSON",)),
        ('{"kumitate": NaN}', ("NaN",)),
        ("[]", ("not a mechanism",)),
        ("{}", ("not a mechanism", "kumitate")),
        (changed(kumitate=2), ("version 2", "reads version 1")),
        (changed(colour=1), ("mechanism:", "'colour'", "bodies")),
        ('{"kumitate": 1}', ("needs the field 'name'",)),
        (changed(bodies=1), ("mechanism.bodies", "list")),
        (changed(bodies=[1]), ("mechanism.bodies[0]", "Body")),
        (changed(bodies=[{"name": "bob", "mass": -1}]), ("mechanism.bodies[0]", "the mass [kg] is -1.0")),
        (changed(bodies=[{"name": "bob", "mass": "much"}]), ("mechanism.bodies[0]",)),
        (
            changed(bodies=[{"name": "bob", "visuals": [{"shape": {"kind": "egg"}}]}]),
            ("bodies[0].visuals[0].shape", "egg", "mesh"),
        ),
        (changed(frames=[{"name": "f", "body": "bob", "pose": [1]}]), ("mechanism.frames[0].pose", "xyz")),
        (changed(frames=[{"name": "f", "body": "bob", "pose": {"xyz": ["nan", 0, 0], "rotation": EYE}}]), ("pose", "finite")),
        (
            changed(frames=[{"name": "f", "body": "bob", "pose": {"xyz": [0, 0, 0], "rotation": MIRROR}}]),
            ("pose", "right-handed"),
        ),
        ("[" * 100_000, ("too deep in one another",)),
        (changed(frames=[{"name": "f", "body": "x"}]), ("'f'", "'x'")),
        (changed(joints=[{"name": "j", "kind": "ball", "parent": "world", "child": "bob"}]), ("joints[0]", "'ball'")),
        (
            changed(joints=[{"name": "j", "kind": {"kind": "helical", "pitch": 0}, "parent": "world", "child": "bob"}]),
            ("joints[0].kind", "pitch [m] is 0", "revolute"),
        ),
        (
            changed(joints=[{"name": "j", "kind": {"kind": "line"}, "parent": "world", "child": "bob"}]),
            ("joints[0]", "'j'", "closes loops", "write it as a Loop"),
        ),
        (changed(joints=[{"name": "j", "kind": {"kind": "rope"}, "parent": "world", "child": "bob"}]), ("rope", "helical")),
        (changed(couplings=[{"name": "c", "joint": "hinge", "of": "hing"}]), ("'c'", "'hing'", "did you mean 'hinge'?")),
    ],
)
def test_refusals(text, parts):
    with pytest.raises(ModelError) as caught:
        from_json(text)
    for part in parts:
        assert part in str(caught.value)


def test_all_mistakes_of_a_file_are_told_at_once():
    """Of every element, with its place; those of one element together, unless it cannot be made of its fields."""
    text = json.dumps({
        "kumitate": 1, "name": "m",
        "bodies": [
            {"name": "a", "visuals": [{"shape": {"kind": "cone"}}, {"shape": {"kind": "sphere", "radius": -2.0}}]},
            {"name": "b", "mass": -1.0},
            {"name": "c", "weight": 1.0},
        ],
        "joints": [{"kind": "revolute", "parent": "world"}, {"name": "k", "kind": "revolt", "parent": "world", "child": "b"}],
    })  # fmt: skip
    with pytest.raises(ModelError) as error:
        from_json(text, "m.json")
    told = [str(error.value), *error.value.others]
    places = (
        "bodies[0].visuals[0].shape",
        "bodies[0].visuals[1].shape",
        "bodies[1]",
        "bodies[2]",
        "joints[0]",
        "joints[0]",
        "joints[1]",
    )
    words = ("cone", "radius", "mass", "'weight'", "'name'", "'child'", "'revolt'")
    for message, place, word in zip(told, places, words, strict=True):
        assert message.startswith(f"m.json: mechanism.{place}: ")
        assert word in message


def test_a_kind_that_no_reader_knows_is_refused():
    class Screw(Revolute):
        name = "screw"

    pendulum = SAMPLES["pendulum"]()
    with pytest.raises(ModelError, match="'screw'"):
        to_json(replace(pendulum, joints=(replace(pendulum.joints[0], kind=Screw()),)))
