"""Mechanisms written as URDF move as they do, read back here and by Pinocchio; what URDF has nothing for is said."""

from __future__ import annotations

import math
import warnings
from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pytest

import kumitate as km
from kumitate.dynamics import crba, rnea
from kumitate.errors import InputError, KumitateWarning
from kumitate.kinematics import link_poses, place_pose
from kumitate.model.read import from_json, read_urdf, to_json
from kumitate.model.samples import SAMPLES
from kumitate.model.write import mechanism_text
from kumitate.model.write.parts import quaternion, roll_pitch_yaw
from kumitate.spatial import Transform, pose, quaternion_rotation

from ..mechanisms import Case, random_coordinates, random_mechanism, random_rotation, random_state
from ..robots import ROBOT_FILES

#: The kinds that URDF has, and those that are rows of them with the same coordinates.
ROWS = ("fixed", "revolute", "prismatic", "planar", "cylindrical", "universal", "spherical_euler", "floating_euler")


def written(mechanism: km.Mechanism, path: str = "robot.urdf") -> tuple[km.Mechanism, list[str]]:
    """The mechanism that is read from the written text, and what was said of the writing."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        text = mechanism_text(mechanism, path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return read_urdf(text), [str(warning.message) for warning in said]


def poses(case: Case, mechanism: km.Mechanism, names: list[str]) -> np.ndarray:
    links = link_poses(mechanism.tree, case.q)
    return np.array([place_pose(mechanism.tree, links, mechanism.tree.places[name]).matrix() for name in names], dtype=float)


def efforts(case: Case, mechanism: km.Mechanism) -> np.ndarray:
    """The drives' forces, which hold every inertia, and damping and friction."""
    return np.array(rnea(mechanism.tree, case.q, case.v, case.a, gravity=mechanism.gravity), dtype=float)


def agree(case: Case, back: km.Mechanism) -> None:
    mechanism = case.mechanism
    assert (back.nq, back.nv) == (mechanism.nq, mechanism.nv)
    names = [item.name for items in (mechanism.bodies, mechanism.frames) for item in items]
    again, order = case, list(range(case.mechanism.nv))
    if back.v_names != mechanism.v_names:  # rows of joints in another order; without quaternions q has the names of v
        order = [mechanism.v_names.index(name) for name in back.v_names]
        again = Case(back, *([part[k] for k in order] for part in (case.q, case.v, case.tau, case.a)))
    np.testing.assert_allclose(poses(again, back, names), poses(case, mechanism, names), atol=1e-13)
    expected = efforts(case, mechanism)[order]
    np.testing.assert_allclose(efforts(again, back), expected, atol=1e-12 * max(1.0, np.abs(expected).max(initial=0.0)))


@pytest.mark.parametrize("seed", range(30))
def test_a_written_mechanism_moves_as_the_mechanism(seed):
    rng = np.random.default_rng(seed)
    drawn = random_mechanism(rng, rng.choice(ROWS, 7).tolist(), chain=seed % 2 == 1)
    even = {"planar": {"second_axis": None, "damping": 0.1, "friction": 0.05}}
    joints = [replace(joint, armature=0.0, **even.get(joint.kind.name, {})) for joint in drawn.joints]
    mechanism = replace(drawn, joints=tuple(joints), gravity=(0.0, 0.0, -9.81))
    back, said = written(mechanism)
    assert said == []
    agree(random_state(mechanism, rng), back)
    assert sorted(back.v_names) == sorted(mechanism.v_names)  # of floating_euler, those that slide come first


@pytest.mark.parametrize("seed", range(20))
def test_angles_and_quaternions_give_the_rotation_back(seed):
    """At a pitch of ±90° and turns of 180°, too, where formulas by one ratio lose half of the digits."""
    rng = np.random.default_rng(seed)
    steep = pose(
        rpy=(rng.uniform(-3, 3), rng.choice([-0.5, 0.5]) * math.pi + rng.choice([0.0, 1e-9, 1e-5]), rng.uniform(-3, 3))
    )
    half = pose(rpy=rng.choice([0.0, math.pi], 3).tolist())
    for place in (steep, half, pose(matrix=random_rotation(rng).tolist())):
        assert pose(rpy=roll_pitch_yaw(place)).almost_equal(place, 1e-15)
        w, *xyz = quaternion(place)
        assert Transform(quaternion_rotation([*xyz, w])).almost_equal(place, 2e-15)


@pytest.mark.parametrize("name", [name for name in SAMPLES if name != "four_bars_40"])
def test_samples_come_back_with_their_loops(name):
    mechanism = SAMPLES[name]()
    back, said = written(mechanism)
    still = mechanism.gravity == (0.0, 0.0, 0.0)
    assert [message.partition("gravity")[1] for message in said] == ["gravity"] * still
    back = replace(back, gravity=mechanism.gravity)
    agree(random_state(mechanism, np.random.default_rng(3)), back)
    assert len(back.tree.chords) == len(mechanism.tree.chords)
    for ours, theirs in zip(mechanism.tree.chords, back.tree.chords, strict=True):
        assert (ours.closure, ours.damping, ours.stiffness, ours.rest) == (
            theirs.closure, theirs.damping, theirs.stiffness, theirs.rest,
        )  # fmt: skip
        for side in ("base", "follower"):
            a, b = getattr(ours, side), getattr(theirs, side)
            np.testing.assert_allclose(np.array(a.pose.matrix(), float), np.array(b.pose.matrix(), float), atol=1e-14)


@pytest.mark.parametrize("name", ["g1_29dof_rev_1_0", "talos_reduced", "panda", "tiago"])
def test_a_robots_file_comes_back(name):
    """With its shapes, limits and couplings, exactly; angles of poses are found from rotations again."""
    (file,) = ROBOT_FILES.rglob(f"{name}.urdf")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        mechanism = read_urdf(file)
    back, said = written(mechanism, str(file.with_name("written.urdf")))
    assert said == []
    assert [joint.limits for joint in back.joints] == [joint.limits for joint in mechanism.joints]
    assert back.couplings == mechanism.couplings
    for ours, theirs in zip(mechanism.bodies, back.bodies, strict=True):
        assert [item.shape.kind for item in ours.visuals] == [item.shape.kind for item in theirs.visuals]
        assert [item.color for item in ours.visuals] == [item.color for item in theirs.visuals]
        assert (ours.mass, ours.center_of_mass) == (theirs.mass, theirs.center_of_mass)
    case = Case(mechanism, random_coordinates(mechanism, np.random.default_rng(5)), *([0.3] * mechanism.nv for _ in range(3)))
    agree(case, back)


@pytest.mark.parametrize(
    "name", [name for name, item in SAMPLES.items() if len(item.q) == len(item.v) and name != "four_bars_40"]
)
@pytest.mark.filterwarnings("ignore:.*gravity")  # of the samples that have none
def test_pinocchio_reads_it_with_the_same_inertia_matrix(name, tmp_path):
    pinocchio = pytest.importorskip("pinocchio")
    robot = km.load(name)
    model = pinocchio.buildModelFromUrdf(str(robot.save(tmp_path / f"{name}.urdf")))
    q = np.random.default_rng(8).uniform(-1.0, 1.0, robot.nq)
    theirs = pinocchio.neutral(model)
    for joint, angle in zip(robot.mechanism.v_names, q, strict=True):  # they have a cosine and a sine of endless angles
        item = model.joints[model.getJointId(joint)]
        theirs[item.idx_q : item.idx_q + item.nq] = [angle] if item.nq == 1 else [math.cos(angle), math.sin(angle)]
    order = [model.joints[model.getJointId(joint)].idx_v for joint in robot.mechanism.v_names]
    upper = np.triu(pinocchio.crba(model, model.createData(), theirs))
    M = (upper + np.triu(upper, 1).T)[np.ix_(order, order)]
    armature = np.diag([joint.armature[0] for joint in robot.mechanism.joints if joint.kind.nv])
    np.testing.assert_allclose(
        M,
        np.array(crba(robot.mechanism.tree, q.tolist()), dtype=float).reshape(M.shape) - armature,
        atol=1e-9 * np.abs(M).max(),
    )


def test_what_urdf_has_nothing_for_is_said():
    base = km.Joint("base", "fixed", "world", "trunk")
    trunk = km.Body("trunk", 1.0, inertia=(1.0, 1.0, 1.0), visuals=(km.Geometry(km.Plane()),))
    ball = km.Body("ball", 1.0, inertia=(1.0, 1.0, 1.0))
    joint = km.Joint("shoulder", "spherical", "trunk", "ball", armature=0.1)
    turning = {"damping": 0.0, "friction": 0.0, "armature": 0.0, "stiffness": 0.0, "rest": 0.0, "limits": ()}
    loop = km.Loop("euler", km.EulerAngles("zyx"), "ball", "world")
    mechanism = km.Mechanism("all", (trunk, ball), (base, joint), (loop,), gravity=(0.0, 0.0, -1.62))
    back, said = written(mechanism)
    words = ["gravity 0 0 -1.62", "kind plane, left out", "joints' armature", "spherical joints", "kind euler_angles, left out"]
    assert len(said) == len(words)
    assert all(any(word in message for message in said) for word in words), said
    assert back.v_names == ("shoulder.turn_x", "shoulder.turn_y", "shoulder.turn_z")
    driven = replace(joint, kind="revolute", drive=km.PositionDrive(kp=1.0), **turning)
    _, said = written(replace(mechanism, joints=(base, driven)))
    assert any("numbers of drives, which <ros2_control> names by what they are commanded (shoulder)" in one for one in said)
    screw = replace(mechanism, joints=(base, replace(joint, kind=km.Helical(0.01), **turning)), loops=())
    with pytest.raises(InputError, match=r"joint 'shoulder' is helical, which URDF has nothing for; .* \.json"):
        mechanism_text(screw, "screw.urdf")


def test_robots_are_saved_by_suffix(tmp_path):
    robot = km.load("governor")
    with warnings.catch_warnings():
        warnings.simplefilter("error", KumitateWarning)
        path = robot.save(tmp_path / "governor.json")
    assert to_json(from_json(path.read_text(encoding="utf-8"))) == to_json(robot.mechanism)
    assert to_json(km.load(path).mechanism) == to_json(robot.mechanism)
    with pytest.raises(InputError, match=r"arm\.step: mechanisms are written as \.urdf.* and kumitate's own \.json; '\.step'"):
        robot.save(tmp_path / "arm.step")
    with pytest.raises(InputError, match=r"the folder .* does not exist"):
        robot.save(tmp_path / "nowhere" / "arm.urdf")


def test_drives_are_tags_of_ros2_control():
    arm = km.load("planar_3r")
    drives = {"joint1": km.PositionDrive(kp=3.0), "joint2": km.VelocityDrive(kd=1.0), "joint3": km.EffortDrive()}
    with pytest.warns(KumitateWarning, match="numbers of drives"):
        text = mechanism_text(arm.with_drives(drives).mechanism, "arm.urdf")
    control = ElementTree.fromstring(text).find("ros2_control")
    assert control.find("hardware/plugin").text == "mock_components/GenericSystem"
    told = {joint.get("name"): [part.get("name") for part in joint] for joint in control.findall("joint")}
    states = ["position", "velocity", "effort"]
    assert told == {"joint1": ["position", *states], "joint2": ["velocity", *states], "joint3": ["effort", *states]}
    assert "ros2_control" not in mechanism_text(arm.mechanism, "arm.urdf")
