"""A run as an MCAP log (mcap.dev) of ROS 2 messages, which Foxglove and the tools of ROS play."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import InputError, KumitateWarning, needed, warn
from ..model import WORLD, Mechanism, joint_columns
from ..model.files import replacing
from ..model.values import POSITIVE, checked_number
from ..model.write import mechanism_text
from ..records.readings import contact_loads
from ..scalar import floats
from ..spatial import quaternion_of
from ..view.scene import quaternions
from ..view.snapshots import nearest
from . import RunWithRobot

#: The types of the messages in logs. Files of ROS 2 (common_interfaces, tf2_msgs) define them, with those that they hold.
_TYPES = ("std_msgs/msg/String", "sensor_msgs/msg/JointState", "tf2_msgs/msg/TFMessage", "geometry_msgs/msg/WrenchStamped")
_MESSAGES = Path(__file__).parent / "messages"
_NANO = 1_000_000_000


def write_mcap(result: RunWithRobot, path: Path, *, rate: float | None = 100.0) -> None:
    """Writes a run as a log: what moves, and the forces at the joints and of contact.

    | topic | type | |
    |---|---|---|
    | /joint_states | sensor_msgs/JointState | all degrees of freedom but those with quaternions |
    | /tf, /tf_static | tf2_msgs/TFMessage | poses of bodies in the world; in bodies those of what is fixed to them |
    | /joint_wrench/JOINT | geometry_msgs/WrenchStamped | of the joint on the body it carries, in that body's frame |
    | /loop_wrench/LOOP | geometry_msgs/WrenchStamped | of the loop joint on its `body_b`, in its frame there, loop/LOOP |
    | /contact_wrench/BODY | geometry_msgs/WrenchStamped | of the ground and of other bodies on a body, in its frame |
    | /robot_description | std_msgs/String | the robot as URDF, where URDF can express it |

    Args:
        rate: samples per second [Hz], those of the run nearest in time; None for all of them.

    Raises:
        InputError: if mcap-ros2-support is not installed, or the rate is not a positive number.

    Warns:
        KumitateWarning: if forces at joints cannot be told, because the run does not keep all that acted.
    """
    samples = samples_at(result, rate)
    library = needed("mcap_ros2.writer", ".mcap files need mcap-ros2-support", "mcap")
    with open(path, "wb") as file, library.Writer(file) as writer:
        log = _Log(writer, result.time[samples])
        _describe(log, result.mechanism)
        _write_poses(log, result.mechanism, result.poses(samples))
        _write_joints(log, result, samples)
        _write_wrenches(log, result, samples)


class _Log:
    """Messages with the times of the samples."""

    def __init__(self, writer: Any, times: np.ndarray):
        self._writer = writer
        texts = {name: (_MESSAGES / f"{name}.msg").read_text(encoding="utf-8") for name in _TYPES}
        self._schemas = {name: writer.register_msgdef(name, text) for name, text in texts.items()}
        self.stamps = [round(time * _NANO) for time in times]

    def write(self, topic: str, kind: str, k: int, message: Mapping[str, Any]) -> None:
        """One message at the time of sample k."""
        self._writer.write_message(topic, self._schemas[kind], message, log_time=self.stamps[k], publish_time=self.stamps[k])

    def header(self, k: int, frame: str) -> dict[str, Any]:
        """The header of a message: its time, and the frame that it is in."""
        sec, nanosec = divmod(self.stamps[k], _NANO)
        return {"stamp": {"sec": sec, "nanosec": nanosec}, "frame_id": frame}

    def transform(self, k: int, parent: str, child: str, place: Sequence[float]) -> dict[str, Any]:
        """The pose of a frame in another, by its position and quaternion."""
        parts = {"translation": _vector(place[:3]), "rotation": dict(zip("xyzw", place[3:], strict=True))}
        return {"header": self.header(k, parent), "child_frame_id": child, "transform": parts}


def samples_at(result: RunWithRobot, rate: float | None) -> np.ndarray:
    """The indices of the samples nearest to multiples of 1/rate."""
    time = result.time
    if rate is None or len(time) < 2:
        return np.arange(len(time))
    rate = checked_number(result.mechanism.name, "the rate [Hz]", rate, POSITIVE, error=InputError)
    return np.unique(nearest(time, np.arange(time[0], time[-1] + 0.5 / rate, 1.0 / rate)))


def _describe(log: _Log, mechanism: Mechanism) -> None:
    """The robot as URDF: viewers draw its shapes. What URDF cannot express is of no concern for a picture."""
    with warnings.catch_warnings(), suppress(InputError):
        warnings.simplefilter("ignore", KumitateWarning)
        text = mechanism_text(mechanism, "robot.urdf")
        log.write("/robot_description", "std_msgs/msg/String", 0, {"data": text})


def _write_poses(log: _Log, mechanism: Mechanism, poses: np.ndarray) -> None:
    fixed = {joint.child: joint for joint in mechanism.joints if joint.kind.nv == 0}
    static = [(joint.parent, name, joint.pose) for name, joint in fixed.items()]
    static += [(frame.body, frame.name, frame.pose) for frame in mechanism.frames]
    static += [(loop.body_b, f"loop/{loop.name}", loop.pose_b) for loop in mechanism.loops]  # it may have the name of a body
    still = [log.transform(0, a, b, [*floats(X.translation), *floats(quaternion_of(X.rotation))]) for a, b, X in static]
    if still:
        log.write("/tf_static", "tf2_msgs/msg/TFMessage", 0, {"transforms": still})
    moving = [(k, body.name) for k, body in enumerate(mechanism.bodies) if body.name not in fixed]
    places = np.concatenate([poses[..., :3, 3], quaternions(poses[..., :3, :3])], axis=2).tolist()
    for k, frames in enumerate(places):
        found = [log.transform(k, WORLD, name, frames[body]) for body, name in moving]
        log.write("/tf", "tf2_msgs/msg/TFMessage", k, {"transforms": found})


def _write_joints(log: _Log, result: RunWithRobot, samples: np.ndarray) -> None:
    """Coordinates that are angles and lengths have rates, and so belong to the columns of v one by one."""
    plain = [item for item in joint_columns(result.mechanism) if item.kind.nv and item.kind.coordinates == item.kind.velocities]
    at_q = [k for item in plain for k in range(item.q.start, item.q.stop)]
    at_v = [k for item in plain for k in range(item.v.start, item.v.stop)]
    names = [result.mechanism.v_names[k] for k in at_v]
    for k, sample in enumerate(samples):
        message = {
            "header": log.header(k, ""), "name": names, "position": result.q[sample, at_q].tolist(),
            "velocity": result.v[sample, at_v].tolist(), "effort": result.tau[sample, at_v].tolist(),
        }  # fmt: skip
        log.write("/joint_states", "sensor_msgs/msg/JointState", k, message)


def _write_wrenches(log: _Log, result: RunWithRobot, samples: np.ndarray) -> None:
    for topic, frame, values in _wrenches(result):
        for k, sample in enumerate(samples):
            torque, force = values[sample, :3].tolist(), values[sample, 3:].tolist()
            wrench = {"force": _vector(force), "torque": _vector(torque)}
            log.write(topic, "geometry_msgs/msg/WrenchStamped", k, {"header": log.header(k, frame), "wrench": wrench})


def _wrenches(result: RunWithRobot) -> Iterator[tuple[str, str, np.ndarray]]:
    """Topic, frame and [n; f] (n, 6) in that frame, of the joints of the tree, of loops and of contact."""
    mechanism = result.mechanism
    carried = {joint.name: joint.child for joint in mechanism.joints}
    try:
        for name, values in result.joint_wrenches().items():
            topic, frame = ("joint", carried[name]) if name in carried else ("loop", f"loop/{name}")
            yield f"/{topic}_wrench/{name}", frame, values
        loads = {} if result.contact is None else contact_loads(result).wrenches
    except InputError as error:
        warn(f"the log is without forces at joints: {error}")
        return
    rotations = result.poses()[:, :, :3, :3] if loads else np.zeros(0)
    for k, body in enumerate(mechanism.bodies):
        if body.name in loads:
            own = np.einsum("nij,npi->npj", rotations[:, k], loads[body.name].reshape(-1, 2, 3)).reshape(-1, 6)
            yield f"/contact_wrench/{body.name}", body.name, own


def _vector(values: Sequence[float]) -> dict[str, float]:
    return dict(zip("xyz", values, strict=True))


# --- bags of ROS 2 --------------------------------------------------------------------------------------------------------
#: Topics whose last message late listeners get, too.
_LASTING = ("/tf_static", "/robot_description")
_EVER = {"sec": 9223372036, "nsec": 854775807}
#: The quality of service of these: reliable, transient local; of ROS 2's numbers (rmw/types.h).
_QUALITY = {
    "history": 1, "depth": 1, "reliability": 1, "durability": 1, "deadline": _EVER, "lifespan": _EVER, "liveliness": 1,
    "liveliness_lease_duration": _EVER, "avoid_ros_namespace_conventions": False,
}  # fmt: skip


def write_bag(result: RunWithRobot, folder: str | Path, *, rate: float | None = 100.0) -> Path:
    """Writes a bag; arguments and errors as of `kumitate.Run.rosbag`."""
    target = Path(folder)
    if target.exists() and not target.is_dir():
        raise InputError(f"{target}: a file of this name is there; name a folder")
    target.mkdir(parents=True, exist_ok=True)
    log = target / f"{target.name}_0.mcap"
    with replacing(log) as temporary:
        write_mcap(result, temporary, rate=rate)
    # JSON is YAML, and its texts need no rules of their own
    with replacing(target / "metadata.yaml") as temporary:
        temporary.write_text(json.dumps(_metadata(log), indent=2) + "\n", encoding="utf-8", newline="\n")
    return target


def _metadata(log: Path) -> dict[str, Any]:
    """What rosbag2 reads before it opens a log (rosbag2_storage, bag_metadata.hpp), in version 5, of Humble and later."""
    with open(log, "rb") as file:
        summary = needed("mcap.reader", "bags need mcap", "mcap").make_reader(file).get_summary()
    told = summary.statistics
    span = {
        "duration": {"nanoseconds": told.message_end_time - told.message_start_time},
        "starting_time": {"nanoseconds_since_epoch": told.message_start_time},
        "message_count": told.message_count,
    }
    topics = [
        {
            "topic_metadata": {
                "name": channel.topic, "type": summary.schemas[channel.schema_id].name, "serialization_format": "cdr",
                "offered_qos_profiles": json.dumps([_QUALITY]) if channel.topic in _LASTING else "",
            },
            "message_count": told.channel_message_counts.get(number, 0),
        }
        for number, channel in sorted(summary.channels.items())
    ]  # fmt: skip
    return {
        "rosbag2_bagfile_information": {
            "version": 5, "storage_identifier": "mcap", **span, "topics_with_message_count": topics, "compression_format": "",
            "compression_mode": "", "relative_file_paths": [log.name], "files": [{"path": log.name, **span}],
        }
    }  # fmt: skip
