"""MuJoCo as a program: the mechanism as the package writes it in MJCF, loops as equality constraints."""

from __future__ import annotations

import importlib
import importlib.util
import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import brentq

import kumitate as km
from kumitate.model import Mechanism
from kumitate.model.convert import mujoco as in_its_order
from kumitate.model.read.xml import Notes
from kumitate.model.write import mjcf_text

from .contract import Case, Peer, Point, timed

__all__ = ["MuJoCo", "harden", "model_of"]

METHODS = ("implicitfast", "RK4")


def model_of(mujoco: Any, mechanism: Mechanism, *, limits: bool = False, contact: km.Contact | None = None) -> Any:
    """Its model of a mechanism: without limits, unless they are asked for; and contact with a floor."""
    mujoco.set_mju_user_warning(lambda _: None)  # where a run diverges, which its data say too, it would write a file
    spec = mujoco.MjSpec.from_string(mjcf_text(mechanism, Path(), Notes(mechanism.name)))
    spec.compiler.boundinertia = 1e-12  # thin rods in a plane: what they have about their own axis does not act
    spec.compiler.balanceinertia = True
    if contact is not None:
        spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_PLANE, size=(0, 0, 1))
    model = spec.compile()
    for flag, wanted in (("CONTACT", contact is not None), ("LIMIT", limits)):
        model.opt.disableflags |= 0 if wanted else int(getattr(mujoco.mjtDisableBit, f"mjDSBL_{flag}"))
    if contact is not None and contact.surface is not None:
        model.geom_friction[:, 0] = contact.surface.friction
        model.opt.cone, model.opt.impratio = int(mujoco.mjtCone.mjCONE_ELLIPTIC), 10.0
    model.opt.tolerance, model.opt.iterations = 1e-15, 100
    return model


def harden(model: Any, step: float, restitution: float = 0.0) -> None:
    """Gives a model this step [s], and the hardest constraints that are stable at it."""
    model.opt.timestep = step
    for kind in ("eq", "jnt", "geom"):
        getattr(model, f"{kind}_solref")[:] = [2.0 * step, 1.0]
        getattr(model, f"{kind}_solimp")[:, :3] = [0.9999, 0.9999, 0.001]
    if restitution:
        damping = float(brentq(lambda part: _lost(part)[0] + math.log(restitution), 1e-9, 0.7))
        rate = _lost(damping)[1] / (10.0 * step)
        model.geom_solref[:] = [-(rate**2), -2.0 * damping * rate]


def _lost(damping: float) -> tuple[float, float]:
    """−ln e of a spring and damper that cannot pull, by the part of critical damping, and how long it pushes times √(k/m).

    Schwager and Pöschel, Coefficient of restitution and linear-dashpot model revisited, Granular Matter 9, 2007.
    """
    swing = math.sqrt(1.0 - damping**2)
    angle = math.pi - math.atan2(2.0 * damping * swing, 1.0 - 2.0 * damping**2)
    return damping / swing * angle, angle / swing


class MuJoCo(Peer):
    """MuJoCo, stepped in C."""

    name = "MuJoCo"
    settings = (
        "constraints, stops and contact as hard as its documentation calls stable: `solref` of two steps, `solimp` 0.9999; for "
        "a restitution the stiffness and damping of a contact of ten steps; elliptic cones, `impratio` 10; Newton's solver, "
        "tolerance 1e-15, at most 100 iterations"
    )

    @staticmethod
    def installed() -> bool:
        return importlib.util.find_spec("mujoco") is not None

    def why_not(self, case: Case) -> str:
        return "the model here has no joints that follow a motion" if case.motions else ""

    def runs(self, case: Case) -> Iterable[Point]:
        mujoco: Any = importlib.import_module("mujoco")
        model = model_of(mujoco, case.mechanism, limits="stops" in case.beyond, contact=case.contact)
        data = mujoco.MjData(model)
        order = in_its_order(case.mechanism, model)
        q, v = order.to(case.q, case.v)
        tau = order.forces_to(case.q, [case.tau.get(name, 0.0) for name in case.mechanism.v_names])
        for method in METHODS:
            model.opt.integrator = int(getattr(mujoco.mjtIntegrator, f"mjINT_{method.upper()}"))
            for step in case.steps:
                count = case.count(step)
                harden(
                    model,
                    case.duration / count,
                    case.contact.surface.restitution if case.contact and case.contact.surface else 0.0,
                )

                def run(count: int = count) -> Mapping[str, float]:
                    mujoco.mj_resetData(model, data)
                    data.qpos[:], data.qvel[:], data.qfrc_applied[:] = q, v, tau
                    mujoco.mj_step(model, data, count)
                    failed = any(warning.number for warning in data.warning)
                    end = np.full(case.mechanism.nq, np.nan) if failed else order.back(data.qpos)
                    return dict(zip(case.mechanism.q_names, end, strict=True))

                found, seconds = timed(run)
                yield Point(self.name, method, model.opt.timestep, case.error(found), seconds)
