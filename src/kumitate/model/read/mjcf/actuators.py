"""The actuators of MJCF as drives of joints.

An actuator's force is g·ctrl + b₀ + b₁·l + b₂·l̇, where its length l is gear·q; at the joint it acts times its gear. That is the
effort of an `EffortDrive` (b₁ = b₂ = 0), a `VelocityDrive` (b₁ = 0) or a `PositionDrive` (b₁ < 0).
"""

from __future__ import annotations

import math
from typing import Any

from ...drives import Drive, EffortDrive, PositionDrive, VelocityDrive
from ..notes import Notes
from .compiled import CompiledModel

#: What has no drive here, by what it acts through.
_THROUGH = {
    "slidercrank": "cranks", "tendon": "tendons", "site": "sites", "body": "adhesion", "so3": "orientations",
}  # fmt: skip


def joint_drives(compiled: CompiledModel, notes: Notes) -> dict[int, Drive]:
    """The drives of joints, by MuJoCo's numbers; with a remark on every actuator that has none, and why."""
    model, found = compiled.model, dict[int, Drive]()
    for at, name in enumerate(compiled.names("actuator")):
        drive = _drive(compiled, at)
        if isinstance(drive, str):
            notes.add(f"actuators {drive}: not simulated", name, compiled.line("actuator", at))
        elif int(model.actuator_trnid[at][0]) in found:
            notes.add("actuators of joints that another one drives already: not simulated", name, compiled.line("actuator", at))
        else:
            found[int(model.actuator_trnid[at][0])] = drive
            if model.actuator_forcelimited[at] and abs(model.actuator_forcerange[at].sum()) > 1e-12:
                notes.add("forcerange that is not symmetric: its larger bound", name, compiled.line("actuator", at))
    return found


def reflected(compiled: CompiledModel, joint: int) -> tuple[float, float]:
    """The damping and armature that actuators add to a joint: theirs times the square of the gear."""
    model = compiled.model
    acting = [at for at in range(model.nu) if _of_joint(compiled, at) and int(model.actuator_trnid[at][0]) == joint]
    squares = [float(model.actuator_gear[at][0]) ** 2 for at in acting]
    damping = sum(gear * float(model.actuator_damping[at]) for gear, at in zip(squares, acting, strict=True))
    return damping, sum(gear * float(model.actuator_armature[at]) for gear, at in zip(squares, acting, strict=True))


def _of_joint(compiled: CompiledModel, at: int) -> bool:
    """Whether an actuator acts on a joint of one degree of freedom."""
    model = compiled.model
    through = compiled.enum("mjtTrn", model.actuator_trntype[at])
    return through in ("joint", "jointinparent") and int(model.jnt_type[int(model.actuator_trnid[at][0])]) >= 2


def _drive(compiled: CompiledModel, at: int) -> Drive | str:
    """The drive that an actuator is, or what it is instead."""
    model = compiled.model
    if not _of_joint(compiled, at):
        through = compiled.enum("mjtTrn", model.actuator_trntype[at])
        return f"by {_THROUGH[through]}" if through in _THROUGH else "of ball and free joints"
    kinds = [
        compiled.enum(kind, getattr(model, f"actuator_{name}")[at])
        for kind, name in (("mjtGain", "gaintype"), ("mjtBias", "biastype"), ("mjtDyn", "dyntype"))
    ]
    if "muscle" in kinds:
        return "that are muscles"
    if kinds[2] != "none":
        return "with a state of their own"
    if kinds[0] != "fixed" or kinds[1] not in ("none", "affine"):
        return f"with gain {kinds[0]} and bias {kinds[1]}"
    gear, gain = float(model.actuator_gear[at][0]), float(model.actuator_gainprm[at][0])
    bias = model.actuator_biasprm[at][:3].tolist() if kinds[1] == "affine" else [0.0, 0.0, 0.0]
    if gear == 0.0 or gain == 0.0:
        return "whose gear or gain is zero"
    kp, kd = -bias[1] * gear**2, -bias[2] * gear**2
    if kp < 0.0 or kd < 0.0:
        return "whose bias drives the joint"
    limit = abs(gear) * _most(model, at, gain, bias)
    options = {} if math.isinf(limit) else {"limit": limit}
    if kp > 0.0:
        return PositionDrive(kp=kp, kd=kd, **options)
    return VelocityDrive(kd=kd, **options) if kd > 0.0 else EffortDrive(**options)


def _most(model: Any, at: int, gain: float, bias: list[float]) -> float:
    """The largest force of an actuator: by its forcerange, and, where ctrl alone makes the force, by its ctrlrange."""
    most = math.inf
    if model.actuator_forcelimited[at]:
        most = float(abs(model.actuator_forcerange[at]).max())
    if not any(bias) and model.actuator_ctrllimited[at]:
        most = min(most, abs(gain) * float(abs(model.actuator_ctrlrange[at]).max()))
    return most
