"""The programs of kumitate that are timed."""

from __future__ import annotations

from typing import Any

import numpy as np

from kumitate.errors import KumitateError
from kumitate.model import Mechanism
from kumitate.programs import make_program
from kumitate.scalar import Program, call, loop, trace
from kumitate.simulate.driving.actuation import Actuation
from kumitate.simulate.driving.forcing import Forcing

__all__ = ["compiled_drives", "forward_dynamics", "inverse_dynamics", "rollout"]


def forward_dynamics(mechanism: Mechanism) -> Program:
    """(q, v, tau) → v̇ with loops closed, as `Robot.forward_dynamics` compiles it."""
    return make_program(mechanism, "forward_dynamics")


def inverse_dynamics(mechanism: Mechanism) -> Program:
    """(q, v, a) → tau by the recursive Newton-Euler algorithm, as `Robot.inverse_dynamics` compiles it."""
    return make_program(mechanism, "inverse_dynamics")


def compiled_drives(forcing: Forcing, q: np.ndarray, v: np.ndarray) -> Program | None:
    """The program of all efforts of a forcing, as `simulate` compiles it into a step of a run that starts at (q, v).

    Raises:
        KumitateError: if one of its functions would be called instead; `rollout` has no Python between its steps to call it.
    """
    actuation = Actuation.of(forcing, q, v)
    if actuation.mode not in {"compiled", "held"}:
        raise KumitateError(f"{forcing.mechanism.name}: {'; '.join(actuation.lines())}; drives that are timed must be compiled")
    return actuation.program


def rollout(mechanism: Mechanism, step: Program, size: float, count: int) -> Program:
    """(q, v) → q, v after `count` steps of a size [s], by the step that `simulate` compiles, in a loop."""
    held = [0.0] * mechanism.nv

    def rolled(q: Any, v: Any) -> dict[str, Any]:
        def body(i: Any, state: Any) -> tuple[Any, None]:
            after = call(step, 0.0, size, state[0], state[1], state[2], held)
            return (after["q"], after["v"], after["work"]), None

        (q_end, v_end, _), _ = loop(count, body, (list(q), list(v), 0.0))
        return {"q": q_end, "v": v_end}

    return trace(rolled, {"q": mechanism.nq, "v": mechanism.nv}, f"rollout_{mechanism.name}")
