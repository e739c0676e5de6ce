"""The definitions of ROS 2 messages that logs hold, as `.msg` files have them (common_interfaces; tf2_msgs)."""

from __future__ import annotations

_RULE = "\n" + "=" * 80 + "\n"
_TIME = "MSG: builtin_interfaces/Time\nint32 sec\nuint32 nanosec"
_HEADER = "MSG: std_msgs/Header\nbuiltin_interfaces/Time stamp\nstring frame_id"
_VECTOR = "MSG: geometry_msgs/Vector3\nfloat64 x\nfloat64 y\nfloat64 z"
_QUATERNION = "MSG: geometry_msgs/Quaternion\nfloat64 x\nfloat64 y\nfloat64 z\nfloat64 w"

#: By the name of a type, its text with those of the types inside.
DEFINITIONS = {
    "std_msgs/msg/String": "string data",
    "sensor_msgs/msg/JointState": _RULE.join(
        [
            "std_msgs/Header header\nstring[] name\nfloat64[] position\nfloat64[] velocity\nfloat64[] effort",
            _HEADER,
            _TIME,
        ]
    ),
    "tf2_msgs/msg/TFMessage": _RULE.join(
        [
            "geometry_msgs/TransformStamped[] transforms",
            "MSG: geometry_msgs/TransformStamped\nstd_msgs/Header header\nstring child_frame_id\n"
            "geometry_msgs/Transform transform",
            "MSG: geometry_msgs/Transform\ngeometry_msgs/Vector3 translation\ngeometry_msgs/Quaternion rotation",
            _HEADER,
            _TIME,
            _VECTOR,
            _QUATERNION,
        ]
    ),
    "geometry_msgs/msg/WrenchStamped": _RULE.join(
        [
            "std_msgs/Header header\ngeometry_msgs/Wrench wrench",
            "MSG: geometry_msgs/Wrench\ngeometry_msgs/Vector3 force\ngeometry_msgs/Vector3 torque",
            _HEADER,
            _TIME,
            _VECTOR,
        ]
    ),
}
