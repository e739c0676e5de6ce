"""Robot files of other packages: what is read of each, and how far the dynamics agree with MuJoCo's own."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from kumitate.dynamics import Acting, aba, crba, rnea
from kumitate.model import Mechanism
from kumitate.model.convert import mujoco as mujoco_order
from kumitate.model.read.mjcf.compiled import compiled_file

__all__ = ["Agreement", "agreement", "bare"]


@dataclass(frozen=True)
class Agreement:
    """The largest relative differences from MuJoCo over some random states: of M, of the bias forces, of accelerations."""

    mass_matrix: float
    bias: float
    accelerations: float

    @property
    def worst(self) -> float:
        """The largest of the three."""
        return max(self.mass_matrix, self.bias, self.accelerations)


def bare(mechanism: Mechanism) -> Mechanism:
    """The mechanism without what MuJoCo computes as constraints: loops, couplings, dry friction."""
    joints = tuple(replace(joint, friction=0.0) for joint in mechanism.joints)
    return replace(mechanism, joints=joints, loops=(), couplings=())


def agreement(file: Path | str, mechanism: Mechanism, *, states: int = 3, seed: int = 0) -> Agreement:
    """How far a mechanism that was read from an MJCF file agrees with MuJoCo, with MuJoCo's constraints switched off.

    What the reader reports as not simulated is switched off too: fluids, tendons, springs of ball and free joints.
    """
    import mujoco

    model = compiled_file(file).model
    _switch_off(mujoco, model)
    data = mujoco.MjData(model)
    mechanism = bare(mechanism)
    order = mujoco_order(mechanism, [joint.name for joint in mechanism.joints if joint.kind.nv])
    rng, tree = np.random.default_rng(seed), mechanism.tree
    worst = np.zeros(3)
    for _ in range(states):
        q = np.array([x for joint in mechanism.joints for x in joint.kind.random(rng)])
        v, tau = rng.normal(size=(2, mechanism.nv))
        their_q, their_v = order.to(q, v)
        data.qpos[:], data.qvel[:], data.qfrc_applied[:] = their_q, their_v, order.forces_to(q, tau)
        mujoco.mj_forward(model, data)
        inertia = np.zeros((model.nv, model.nv))
        mujoco.mj_fullM(model, data, inertia)
        floats = q.tolist(), v.tolist()
        turn = order.velocity_matrix(q)
        own = turn @ np.array(crba(tree, floats[0]), dtype=float) @ turn.T
        still = order.back(their_q, their_v, np.zeros(model.nv))[2]
        bias = order.forces_to(q, np.array(rnea(tree, *floats, still.tolist(), gravity=mechanism.gravity), dtype=float))
        a = np.array(aba(tree, *floats, tau.tolist(), Acting(mechanism.gravity)), dtype=float)
        pairs = (own, inertia), (bias, data.qfrc_bias - data.qfrc_passive), (order.to(q, v, a)[2], data.qacc)
        worst = np.maximum(worst, [_apart(ours, theirs) for ours, theirs in pairs])
    return Agreement(*worst.tolist())


def _apart(ours: np.ndarray, theirs: np.ndarray) -> float:
    return float(np.abs(ours - theirs).max(initial=0.0) / max(np.abs(theirs).max(initial=0.0), 1e-300))


def _switch_off(mujoco: Any, model: Any) -> None:
    model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONSTRAINT | mujoco.mjtDisableBit.mjDSBL_ACTUATION)
    model.opt.density, model.opt.viscosity, model.opt.wind[:] = 0.0, 0.0, 0.0
    model.body_gravcomp[:] = 0.0
    round_joints = model.jnt_type < 2
    model.jnt_stiffness[round_joints] = 0.0
    for name in ("tendon_stiffness", "tendon_damping", "tendon_armature", "jnt_stiffnesspoly", "dof_dampingpoly"):
        getattr(model, name)[:] = 0.0
