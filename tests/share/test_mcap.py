"""A log of a run, read back by the library of its format: times, poses, joint states and forces are the run's."""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from mcap.reader import make_reader
from mcap_ros2.decoder import DecoderFactory

import kumitate as km
from kumitate.errors import InputError, KumitateWarning
from kumitate.model.read import read_urdf

NANO = 1e-9


def messages(path) -> dict[str, list]:
    found = defaultdict(list)
    with open(path, "rb") as file:
        for _, channel, message, content in make_reader(file, decoder_factories=[DecoderFactory()]).iter_decoded_messages():
            found[channel.topic].append((message.log_time, content))
    return found


def vector(item) -> list[float]:
    return [item.x, item.y, item.z]


@pytest.fixture(scope="module")
def run() -> km.Run:
    """A ball that falls on the floor and rolls, with an arm on a hinge, a tool fixed to the arm, and a frame on it."""
    bodies = (
        km.Body("ball", 2.0, inertia=(0.008, 0.008, 0.008), collisions=(km.Geometry(km.Sphere(0.1)),)),
        km.Body("arm", 0.1, (0.0, 0.0, 0.05), inertia=(1e-3, 1e-3, 1e-3)),
        km.Body("tool", 0.1, inertia=(1e-3, 1e-3, 1e-3)),
    )
    joints = (
        km.Joint("free", "floating", "world", "ball"),
        km.Joint("hinge", "revolute", "ball", "arm", axis=(0, 1, 0), damping=0.05),
        km.Joint("weld", "fixed", "arm", "tool", km.pose((0.0, 0.0, 0.1), (0.1, 0.2, 0.3))),
    )
    frames = (km.Frame("tip", "tool", km.pose((0.0, 0.01, 0.0))),)
    mechanism = km.Mechanism("roller", bodies, joints, frames=frames)
    q, v = [0, 0, 0, 1, 0, 0, 0.1, 0.3], [0, 0, 0, 0.5, 0, 0, 1.0]
    return km.simulate(mechanism, q, v, duration=0.2, contact="rigid")


@pytest.fixture(scope="module")
def logged(run, tmp_path_factory) -> dict[str, list]:
    return messages(run.export(tmp_path_factory.mktemp("log") / "run.mcap", rate=50.0))


def test_the_times_are_the_runs_at_the_rate(logged):
    for topic in ("/tf", "/joint_states", "/joint_wrench/hinge", "/contact_wrench/ball"):
        times = np.array([time for time, _ in logged[topic]]) * NANO
        np.testing.assert_allclose(times, np.arange(0.0, 0.2001, 0.02), atol=1e-12)
    for time, message in logged["/joint_states"]:
        assert message.header.stamp.sec * 10**9 + message.header.stamp.nanosec == time


def test_joint_states_are_columns_of_the_run(run, logged):
    for k, (_, message) in enumerate(logged["/joint_states"]):
        hinge = run.joint("hinge")
        assert list(message.name) == ["hinge"]  # the floating base has no angles; it is in /tf
        for values, columns in ((message.position, hinge.q), (message.velocity, hinge.v), (message.effort, hinge.tau)):
            assert list(values) == [columns[20 * k, 0]]


def test_transforms_compose_to_the_poses_of_all_bodies_and_frames(run, logged):
    def matrix(item) -> np.ndarray:
        r = item.transform.rotation
        assert abs(r.x**2 + r.y**2 + r.z**2 + r.w**2 - 1.0) < 1e-15
        joint = km.Mechanism("one", (km.Body("b"),), (km.Joint("j", "floating", "world", "b"),))
        return km.Robot(joint).pose([r.x, r.y, r.z, r.w, *vector(item.transform.translation)], "b")

    ((_, still),) = logged["/tf_static"]
    assert [(item.header.frame_id, item.child_frame_id) for item in still.transforms] == [("arm", "tool"), ("tool", "tip")]
    time, message = logged["/tf"][7]
    q = run.q[round(time * NANO * 1000)]
    found = {item.child_frame_id: (item.header.frame_id, matrix(item)) for item in (*message.transforms, *still.transforms)}
    for name in ("ball", "arm", "tool", "tip"):
        X, at = np.eye(4), name
        while at != "world":
            at, step = found[at]
            X = step @ X
        np.testing.assert_allclose(X, run.robot.pose(q, name), atol=1e-14)


def test_wrenches_are_in_the_frames_that_they_name(run, logged):
    expected = run.joint_wrenches()["hinge"]
    for k, (_, message) in enumerate(logged["/joint_wrench/hinge"]):
        assert message.header.frame_id == "arm"
        found = [*vector(message.wrench.torque), *vector(message.wrench.force)]
        np.testing.assert_array_equal(found, expected[20 * k])
    force = run.contact.on("ball")
    for k, (_, message) in enumerate(logged["/contact_wrench/ball"]):
        R = run.robot.pose(run.q[20 * k], "ball")[:3, :3]
        np.testing.assert_allclose(R @ vector(message.wrench.force), force[20 * k], atol=1e-12)
        arm = np.array([0.0, 0.0, -0.1])  # the floor touches the ball's lowest point
        np.testing.assert_allclose(R @ vector(message.wrench.torque), np.cross(arm, force[20 * k]), atol=2e-4)


def test_forces_of_loops_are_in_the_frames_of_their_joints(tmp_path):
    """Two unlike bars hang from two pivots, their lower ends held apart by a rod."""
    bodies = [km.Body(name, 1.0, (0.0, 0.0, -c), (0.1, 0.1, 1e-3)) for name, c in (("left", 0.3), ("right", 0.7))]
    hinges = [km.Joint(f"at_{body.name}", "revolute", "world", body.name, km.pose((x, 0, 0)), axis=(0, 1, 0))
              for x, body in zip((0.0, 0.5), bodies, strict=True)]  # fmt: skip
    turned = km.pose((0.0, 0.0, -1.0), (0.4, -0.3, 0.2))
    rod = km.Loop("rod", km.Distance(0.5), "left", "right", km.pose((0.0, 0.0, -1.0)), turned)
    robot = km.Robot(km.Mechanism("swing", tuple(bodies), tuple(hinges), (rod,)))
    run = km.simulate(robot, robot.assemble([0.4, 0.4]), duration=0.1)
    logged = messages(run.export(tmp_path / "loop.mcap", rate=None))
    ((_, still),) = logged["/tf_static"]
    (frame,) = still.transforms
    assert (frame.header.frame_id, frame.child_frame_id) == ("right", "loop/rod")
    np.testing.assert_allclose(vector(frame.transform.translation), [0.0, 0.0, -1.0])
    found = [[*vector(item.wrench.torque), *vector(item.wrench.force)] for _, item in logged["/loop_wrench/rod"]]
    np.testing.assert_array_equal(found, run.loops["rod"].wrench)
    assert {item.header.frame_id for _, item in logged["/loop_wrench/rod"]} == {"loop/rod"}
    # the rod pulls along itself, from the end of one bar to that of the other
    ends = [robot.pose(run.q, body)[:, :3] @ [0.0, 0.0, -1.0, 1.0] for body in ("left", "right")]
    world = np.einsum("nij,jk,nk->ni", robot.pose(run.q, "right")[:, :3, :3], _matrix(turned), np.array(found)[:, 3:])
    np.testing.assert_allclose(np.cross(world, ends[1] - ends[0]), 0.0, atol=1e-10)
    assert np.linalg.norm(world, axis=1).max() > 1e-3


def _matrix(place) -> np.ndarray:
    joint = km.Joint("fixed", "fixed", "world", "b", place)
    return km.Robot(km.Mechanism("one", (km.Body("b"),), (joint,))).pose([], "b")[:3, :3]


def test_the_robot_is_described_for_viewers(run, logged):
    ((_, message),) = logged["/robot_description"]
    assert {body.name for body in read_urdf(message.data).bodies} >= {"ball", "arm", "tool", "tip"}


def test_what_a_log_cannot_have_is_said(tmp_path):
    arm = km.load("double_pendulum")
    pushed = km.simulate(arm, duration=0.01, wrenches={arm.mechanism.bodies[-1].name: [0, 0, 0, 1.0, 0, 0]})
    assert [topic for topic in messages(pushed.export(tmp_path / "whole.mcap", rate=None)) if topic.startswith("/joint_wrench")]
    pushed = replace(pushed, wrenches={})  # as in files of earlier versions
    with pytest.warns(KumitateWarning, match=r"the log is without forces at joints: .* acted in this run; give them again"):
        found = messages(pushed.export(tmp_path / "pushed.mcap", rate=None))
    assert len(found["/tf"]) == len(pushed)
    assert not [topic for topic in found if topic.startswith("/joint_wrench")]
    with pytest.raises(InputError, match=re.escape("the rate [Hz]")):
        pushed.export(tmp_path / "x.mcap", rate=0.0)


# --- bags -----------------------------------------------------------------------------------------------------------------
def test_another_library_opens_a_bag(tmp_path):
    """rosbags reads the metadata and the log, and finds as many messages of each topic in both."""
    from rosbags.rosbag2 import Reader

    run = km.simulate(km.load("pendulum"), [0.4], duration=0.5)
    folder = run.rosbag(tmp_path / "swing", rate=50.0)
    assert sorted(path.name for path in folder.iterdir()) == ["metadata.yaml", "swing_0.mcap"]
    with Reader(folder) as bag:
        counts = {one.topic: one.msgcount for one in bag.connections}
        read = Counter(one.topic for one, _, _ in bag.messages())
        assert bag.duration == 500_000_001  # the last message is inside
    assert counts["/joint_states"] == counts["/tf"] == read["/joint_states"] == read["/tf"] == 26
    assert counts["/robot_description"] == 1
    told = json.loads((folder / "metadata.yaml").read_text(encoding="utf-8"))["rosbag2_bagfile_information"]
    lasting = {
        t["topic_metadata"]["name"] for t in told["topics_with_message_count"] if t["topic_metadata"]["offered_qos_profiles"]
    }
    assert lasting == {"/robot_description", *({"/tf_static"} & counts.keys())}


#: The fields of metadata.yaml at version 5 and their types, as rosbag2 decodes them (rosbag2_storage, yaml.hpp and qos.hpp).
SPAN = {
    "duration": {"nanoseconds": int},
    "starting_time": {"nanoseconds_since_epoch": int},
    "message_count": int,
}
TOPIC = {"name": str, "type": str, "serialization_format": str, "offered_qos_profiles": str}
SCHEMA = {
    "rosbag2_bagfile_information": {
        "version": int, "storage_identifier": str, **SPAN, "compression_format": str, "compression_mode": str,
        "relative_file_paths": [str], "files": [{"path": str, **SPAN}],
        "topics_with_message_count": [{"topic_metadata": TOPIC, "message_count": int}],
    }
}  # fmt: skip
TIME = {"sec": int, "nsec": int}
QUALITIES = [{
    "history": int, "depth": int, "reliability": int, "durability": int, "deadline": TIME, "lifespan": TIME, "liveliness": int,
    "liveliness_lease_duration": TIME, "avoid_ros_namespace_conventions": bool,
}]  # fmt: skip


def faults(found: Any, schema: Any, place: str = "") -> list[str]:
    """Where what is found is not as a schema says: a field more or less, another type, a negative number."""
    if isinstance(schema, dict):
        if not isinstance(found, dict) or found.keys() != schema.keys():
            return [f"{place}: the fields are not {sorted(schema)}"]
        return [fault for name, kind in schema.items() for fault in faults(found[name], kind, f"{place}/{name}")]
    if isinstance(schema, list):
        if not isinstance(found, list) or not found:
            return [f"{place}: no list"]
        return [fault for k, one in enumerate(found) for fault in faults(one, schema[0], f"{place}/{k}")]
    return (
        [] if type(found) is schema and (schema is not int or found >= 0) else [f"{place}: {found!r} is no {schema.__name__}"]
    )


def test_the_metadata_of_a_bag_is_as_its_schema_says(tmp_path):
    yaml = pytest.importorskip("ruamel.yaml").YAML(typ="safe")
    folder = km.simulate(km.load("pendulum"), [0.4], duration=0.1).rosbag(tmp_path / "swing")
    told = yaml.load(folder / "metadata.yaml")
    assert faults(told, SCHEMA) == []
    bag = told["rosbag2_bagfile_information"]
    assert (bag["version"], bag["storage_identifier"]) == (5, "mcap")
    assert bag["relative_file_paths"] == [one["path"] for one in bag["files"]] == [path.name for path in folder.glob("*.mcap")]
    counts = [one["message_count"] for one in bag["topics_with_message_count"]]
    assert bag["message_count"] == sum(counts) == bag["files"][0]["message_count"]
    topics = [one["topic_metadata"] for one in bag["topics_with_message_count"]]
    assert {one["serialization_format"] for one in topics} == {"cdr"}
    assert all(re.fullmatch(r"/[a-z_/0-9]+", one["name"]) and re.fullmatch(r"\w+/msg/\w+", one["type"]) for one in topics)
    qualities = [yaml.load(one["offered_qos_profiles"]) for one in topics if one["offered_qos_profiles"]]
    assert qualities
    assert [fault for one in qualities for fault in faults(one, QUALITIES)] == []
    for name in SCHEMA["rosbag2_bagfile_information"]:  # what is not so is found
        assert faults({"rosbag2_bagfile_information": {key: x for key, x in bag.items() if key != name}}, SCHEMA)
        assert faults({"rosbag2_bagfile_information": bag | {name: None}}, SCHEMA)


def test_a_bag_replaces_no_file(tmp_path):
    (tmp_path / "swing").write_text("mine", encoding="utf-8")
    with pytest.raises(InputError, match="name a folder"):
        km.simulate(km.load("pendulum"), duration=0.01).rosbag(tmp_path / "swing")
