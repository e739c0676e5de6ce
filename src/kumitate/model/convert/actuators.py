"""MuJoCo's actuators, in its order, and the targets of our drives that their `ctrl` stands for.

The force g·ctrl + b₀ + b₁·l + b₂·l̇ of an actuator, with its length l = gear·q, acts times its gear at the joint: `scale` and
`offset` of an `Actuator` make of a ctrl the target of the drive that this is (`model.read.mjcf.actuators`).
"""

from __future__ import annotations

from typing import Any, NamedTuple

from ..mechanism import Mechanism


class Actuator(NamedTuple):
    """An actuator of MuJoCo.

    Attributes:
        name: its own, or "actuator_2" of the one of number 2, counted from 0.
        joint: that it drives.
        gear: the ratio of its length and the joint's coordinate.
        lower, upper: within which MuJoCo clips its ctrl; infinite without a range.
        scale, offset: the drive's target is scale · ctrl + offset.
        fault: why there is no such drive here, or "".
    """

    name: str
    joint: str
    gear: float
    lower: float
    upper: float
    scale: float = 0.0
    offset: float = 0.0
    fault: str = ""


def actuators_of(mechanism: Mechanism, model: Any) -> tuple[Actuator, ...]:
    """The actuators of a `mujoco.MjModel`, in its order."""
    taken: set[str] = set()
    found = []
    for at in range(model.nu):
        one = _actuator(mechanism, model, at)
        if not one.fault and one.joint in taken:
            one = one._replace(fault="another one drives its joint")
        taken.add(one.joint)
        found.append(one)
    return tuple(found)


def _actuator(mechanism: Mechanism, model: Any, at: int) -> Actuator:
    name, gear = model.actuator(at).name or f"actuator_{at}", float(model.actuator_gear[at][0])
    limited = bool(model.actuator_ctrllimited[at])
    lower, upper = model.actuator_ctrlrange[at].tolist() if limited else (-float("inf"), float("inf"))
    through_joint = int(model.actuator_trntype[at]) in (0, 1)  # mjTRN_JOINT, mjTRN_JOINTINPARENT
    joint = model.joint(int(model.actuator_trnid[at][0])).name if through_joint else ""
    made = Actuator(name, joint, gear, lower, upper)
    drive = next((one.drive for one in mechanism.joints if one.name == joint), None)
    if drive is None:
        return made._replace(fault="it drives no joint that has a drive here")
    # mjDYN_NONE, mjGAIN_FIXED; mjBIAS_NONE or mjBIAS_AFFINE
    if model.actuator_dyntype[at] or model.actuator_gaintype[at] or model.actuator_biastype[at] > 1:
        return made._replace(fault="its force is not linear in ctrl")
    gain = float(model.actuator_gainprm[at][0])
    b = model.actuator_biasprm[at][:3].tolist() if model.actuator_biastype[at] else [0.0, 0.0, 0.0]
    kind, per_target = next(
        (pair for pair in (("position", -b[1] * gear), ("velocity", -b[2] * gear)) if pair[1]), ("effort", 1.0 / (gear or 1.0))
    )
    if drive.kind != kind:
        return made._replace(fault=f"it is a {kind} drive there, and its joint has a drive of kind {drive.kind!r} here")
    return made._replace(scale=gain / per_target, offset=b[0] / per_target)
