"""MuJoCo as a program: the mechanism as the package writes it in MJCF, loops as equality constraints."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from kumitate.model.read.xml import Notes
from kumitate.model.write import mjcf_text

from .contract import Case, Peer, Point, timed

__all__ = ["MuJoCo"]

METHODS = ("implicitfast", "RK4")


class MuJoCo(Peer):
    """MuJoCo, stepped in C."""

    name = "MuJoCo"
    settings = (
        "constraints as hard as its documentation calls stable: `solref` of two steps, `solimp` 0.9999; Newton's solver, "
        "tolerance 1e-15, at most 100 iterations; no contact, no limits"
    )

    @staticmethod
    def installed() -> bool:
        return importlib.util.find_spec("mujoco") is not None

    def why_not(self, case: Case) -> str:
        return ""

    def runs(self, case: Case) -> Iterable[Point]:
        mujoco: Any = importlib.import_module("mujoco")
        mujoco.set_mju_user_warning(lambda _: None)  # where a run diverges, which its data say too, it would write a file
        spec = mujoco.MjSpec.from_string(mjcf_text(case.mechanism, Path(), Notes(case.name)))
        spec.compiler.boundinertia = 1e-12  # thin rods in a plane: what they have about their own axis does not act
        spec.compiler.balanceinertia = True
        model = spec.compile()
        model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONTACT) | int(mujoco.mjtDisableBit.mjDSBL_LIMIT)
        model.opt.tolerance, model.opt.iterations = 1e-15, 100
        data = mujoco.MjData(model)
        q_at = {name: model.joint(name).qposadr[0] for name in case.mechanism.q_names}
        v_at = {name: model.joint(name).dofadr[0] for name in case.mechanism.v_names}
        for method in METHODS:
            model.opt.integrator = int(getattr(mujoco.mjtIntegrator, f"mjINT_{method.upper()}"))
            for step in case.steps:
                count = case.count(step)
                model.opt.timestep = case.duration / count
                model.eq_solref[:] = [2.0 * model.opt.timestep, 1.0]
                model.eq_solimp[:, :3] = [0.9999, 0.9999, 0.001]

                def run(count: int = count) -> Mapping[str, float]:
                    mujoco.mj_resetData(model, data)
                    for names, at, to, values in (
                        (case.mechanism.q_names, q_at, data.qpos, case.q), (case.mechanism.v_names, v_at, data.qvel, case.v),
                    ):  # fmt: skip
                        for name, value in zip(names, values, strict=True):
                            to[at[name]] = value
                    for name, effort in case.tau.items():
                        data.qfrc_applied[v_at[name]] = effort
                    mujoco.mj_step(model, data, count)
                    failed = any(warning.number for warning in data.warning)
                    return {name: float("nan") if failed else data.qpos[place] for name, place in q_at.items()}

                found, seconds = timed(run)
                yield Point(self.name, method, model.opt.timestep, case.error(found), seconds)
