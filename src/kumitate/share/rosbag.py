"""A run as a bag of ROS 2: a folder that `ros2 bag play` takes, with an MCAP log and its metadata.yaml."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ..errors import InputError, needed
from ..model.files import replacing
from . import RunWithRobot
from .mcap_log import write_mcap

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
