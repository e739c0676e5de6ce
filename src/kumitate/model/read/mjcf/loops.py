"""Equality constraints of MJCF as loops and couplings.

<connect> is a ball and <weld> a fixed joint that closes a loop. <joint> and <tendon> (fixed tendons) relate coordinates:
Σ cᵢ qᵢ = d is a `Coupling` of two joints, or one joint that is held.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ....spatial import Transform
from ...elements import Coupling, Joint, Loop
from ...joints import KINDS
from ...mechanism import first_circle, free_name
from ...tree.tree import alignment
from ..xml import Notes
from .bodies import BodyTree
from .compiled import CompiledModel, placed

_UPRIGHT = (1.0, 0.0, 0.0, 0.0)


class Constraints:
    """The loops and couplings of one model.

    Attributes:
        loops, couplings: of the mechanism.
    """

    def __init__(self, compiled: CompiledModel, tree: BodyTree, notes: Notes):
        self._compiled, self._tree, self._notes = compiled, tree, notes
        self._joints = {joint.name: joint for joint in tree.joints}
        self.loops: list[Loop] = []
        self.couplings: list[Coupling] = []
        model, bits = compiled.model, compiled.mujoco.mjtDisableBit
        off = int(model.opt.disableflags) & int(bits.mjDSBL_EQUALITY | bits.mjDSBL_CONSTRAINT)
        for equality in range(model.neq):
            if off or not model.eq_active0[equality]:
                self._leave("equality constraints that are not active, left out", equality)
                continue
            kind, data = compiled.enum("mjtEq", model.eq_type[equality]), model.eq_data[equality]
            if kind == "connect":
                self._close(equality, "spherical", ((data[:3], _UPRIGHT), (data[3:6], _UPRIGHT)))
            elif kind == "weld":  # the anchor in the second body; its place and the second body's orientation in the first
                self._close(equality, "fixed", ((data[3:6], data[6:10]), (data[:3], _UPRIGHT)))
            elif kind in ("joint", "tendon"):
                self._related(equality)
            else:
                self._leave(f"equality constraints of type {kind}: not simulated", equality)

    def _leave(self, remark: str, equality: int) -> None:
        self._notes.add(remark, self._compiled.names("equality")[equality], self._compiled.line("equality", equality))

    def _name(self, equality: int) -> str:
        return free_name(self._compiled.names("equality")[equality], {*self._joints, *(loop.name for loop in self.loops)})

    # --- loops ------------------------------------------------------------------------------------------------------------
    def _close(self, equality: int, kind: str, places: Sequence[tuple[Any, Any]]) -> None:
        """A loop between two bodies, at places given by position and quaternion, or between two sites, which have their own."""
        compiled, model = self._compiled, self._compiled.model
        ends = [int(model.eq_obj1id[equality]), int(model.eq_obj2id[equality])]
        if compiled.enum("mjtObj", model.eq_objtype[equality]) == "site":
            places = [(model.site_pos[end], model.site_quat[end]) for end in ends]
            ends = [int(model.site_bodyid[end]) for end in ends]
        if ends[0] == ends[1]:
            self._leave("equality constraints of a body with itself, left out", equality)
            return
        names = [self._tree.body_names[end] for end in ends]
        pose_a, pose_b = (placed(*place).dense() for place in places)
        self.loops.append(Loop(self._name(equality), KINDS[kind], names[0], names[1], pose_a, pose_b))

    # --- relations between coordinates ----------------------------------------------------------------------------------------
    def _related(self, equality: int) -> None:
        found = self._relation(equality)
        if found is None:
            self._leave(
                "equality constraints that relate coordinates by polynomials or spatial tendons: not simulated", equality
            )
            return
        factors, total = found
        factors = {name: factor for name, factor in factors.items() if factor != 0.0}
        if len(factors) == 1:
            ((name, factor),) = factors.items()
            self._hold(equality, self._joints[name], total / factor)
        elif len(factors) != 2 or not self._couple(equality, factors, total):
            self._leave(
                "equality constraints that relate more than two joints, or joints that follow others already: not simulated",
                equality,
            )

    def _relation(self, equality: int) -> tuple[dict[str, float], float] | None:
        """Factors cᵢ of coordinates and the sum d of Σ cᵢ qᵢ = d; None if it is not of this form.

        MuJoCo: y₁ − y₁⁰ = a₀ + a₁ (y₂ − y₂⁰) + …, y a coordinate or the length of a tendon, ⁰ in the posture of the file.
        """
        model = self._compiled.model
        parts = [self._measured(equality, int(model.eq_obj1id[equality]))]
        second = int(model.eq_obj2id[equality])
        if second >= 0:
            parts.append(self._measured(equality, second))
        constant, slope, *higher = model.eq_data[equality][:5].tolist()
        if any(part is None for part in parts) or (second >= 0 and any(higher)):
            return None
        factors: dict[str, float] = {}
        total = constant
        for part, sign in zip(parts, (1.0, -slope), strict=False):
            assert part is not None
            for name, factor, start in part:
                factors[name] = factors.get(name, 0.0) + sign * factor
                total += sign * factor * start
        return factors, total

    def _measured(self, equality: int, at: int) -> list[tuple[str, float, float]] | None:
        """Joints, factors and initial coordinates of a joint's coordinate or a fixed tendon's length; None for others."""
        compiled, model = self._compiled, self._compiled.model
        if compiled.enum("mjtEq", model.eq_type[equality]) == "joint":
            return [self._coordinate(at, 1.0)]
        wraps = range(int(model.tendon_adr[at]), int(model.tendon_adr[at]) + int(model.tendon_num[at]))
        if any(compiled.enum("mjtWrap", model.wrap_type[wrap]) != "joint" for wrap in wraps):
            return None
        return [self._coordinate(int(model.wrap_objid[wrap]), float(model.wrap_prm[wrap])) for wrap in wraps]

    def _coordinate(self, joint: int, factor: float) -> tuple[str, float, float]:
        model = self._compiled.model
        return self._tree.joint_names[joint], factor, float(model.qpos0[model.jnt_qposadr[joint]])

    def _couple(self, equality: int, factors: Mapping[str, float], total: float) -> bool:
        """A coupling of two joints, in either direction; whether there is one that fits with the others."""
        follows = {item.joint: item.of for item in self.couplings}
        one, two = factors
        for joint, of in ((one, two), (two, one)):
            if joint not in follows and not first_circle(follows | {joint: of}):
                ratio, offset = -factors[of] / factors[joint], total / factors[joint]
                name = free_name(self._compiled.names("equality")[equality], {item.name for item in self.couplings})
                self.couplings.append(Coupling(name, joint, of, ratio, offset))
                return True
        return False

    def _hold(self, equality: int, joint: Joint, at: float) -> None:
        """One joint held at a coordinate: its child is fixed to its parent."""
        turn = Transform(alignment(joint.axis, joint.second_axis))
        pose: Any = joint.pose @ turn @ joint.kind.transform([at]) @ turn.inverse()
        rows = np.array(pose.matrix(), dtype=float)
        if not np.isfinite(rows).all():
            message = f"holds joint {joint.name!r} at {at:g}, which must be finite"
            self._notes.mistakes.append(self._compiled.error("equality", equality, message))
            return
        self.loops.append(Loop(self._name(equality), KINDS["fixed"], joint.parent, joint.child, pose.dense()))
