"""Steps whose actions follow a plan with feedback: several motions side by side, with what they cost, in one call."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from ..compile import Recurrence, found_or_traced
from ..compile.stored import StoredProgram, traced
from ..kinematics import difference
from ..scalar import call, maximum, minimum, trace
from ..simulate.simulation import MechanismSimulation
from ..simulate.stepping.advance import start_of
from ..spatial import dot
from .terms import Terms


class LedSteps:
    """Motions by u = plan_u + share · change + gain (x ⊖ plan_x), within bounds.

    Attributes:
        plan: plan_q, plan_v, plan_u, change and gain of each step (n, …): written to before a run.
        seen: q, v and action of each row and step (rows, n, …), q and v after it.
        u: all inputs of each row (rows, size), into which actions are put.
    """

    def __init__(
        self,
        simulation: MechanismSimulation,
        terms: Terms,
        place: slice,
        shares: np.ndarray,
        constants: Mapping[str, np.ndarray],
    ):
        """The steps of a simulation, a row for each share.

        Args:
            terms: the costs and constraints of each step.
            place: of the action among the inputs.
            constants: "low" and "high" (1, size), "shift" (n, bound) and "root" (1, 1), as of `Terms.weighed`; read in place.
        """
        m, n, rows, size = simulation.mechanism, terms.nodes, len(shares), place.stop - place.start
        plain, self._h = simulation.straight.recurrence, simulation.step_size
        own, kept = {array.name: array.shape for array in plain.step.inputs}, [array.name for array in plain.step.outputs]
        sums: dict[str, Any] = {"cost": (), "added": (), "violation": (), "action": (size,)}
        plan = {"plan_q": m.nq, "plan_v": m.nv, "plan_u": size, "change": size, "gain": (size, 2 * m.nv)}
        fixed = {"low": size, "high": size, "target": terms.targets.shape[1], "shift": terms.bound, "root": (), "share": ()}
        sizes = {**{name: own[name] for name in kept}, **sums, **own, **plan, **fixed}

        def led(*given: Any) -> dict[str, Any]:
            x = dict(zip(sizes, given, strict=True))
            away = [*difference(m.tree, x["plan_q"], x["q"]), *(a - b for a, b in zip(x["v"], x["plan_v"], strict=True))]
            planned = zip(*(x[name] for name in ("plan_u", "change", "gain", "low", "high")), strict=True)
            u = [minimum(maximum(a + x["share"] * da + dot(row, away), low), high) for a, da, row, low, high in planned]
            held = list(x["u"])
            held[place] = u
            found = terms.weighed(x["number"] * x["h"], x["q"], x["v"], u, x["target"], x["shift"], x["root"])
            after = call(traced(plain.step), *(held if name == "u" else x[name] for name in own))
            return {
                **after, "cost": x["cost"] + found["cost"], "added": x["added"] + found["added"],
                "violation": maximum(x["violation"], found["violation"]), "action": u,
            }  # fmt: skip

        def look(*given: Any) -> dict[str, Any]:
            x = dict(zip(sizes, given, strict=True))
            return {name: list(x[name]) for name in ("q", "v", "action")}

        of = f"{plain.step.key} {terms.listing} {place} {sizes}" if isinstance(plain.step, StoredProgram) else None
        step, seen = (
            found_or_traced(of and f"{name} {of}", partial(trace, page, sizes, f"{name}_{m.name}"))
            for name, page in (("led", led), ("led_look", look))
        )
        start = start_of(simulation.actuation, self._h, *simulation.starts(None, None, rows))
        self.u = start["u"]
        self._state = {name: start[name] for name in kept} | {name: np.zeros((rows, *shape)) for name, shape in sums.items()}
        self.plan = {name: np.zeros((n, *np.atleast_1d(shape))) for name, shape in plan.items()}
        self.seen = {name: np.zeros((rows, n, count)) for name, count in (("q", m.nq), ("v", m.nv), ("action", size))}
        given = {name: array[None] for name, array in {**self.plan, **constants, "target": terms.targets}.items()}
        given |= {"h": np.array([[self._h]]), "u": self.u[:, None], "share": np.array(shares)[:, None]}
        # what one step of the robot computes is compiled once for all plans; where it has a hole, around what fills that
        shared = plain.shared if plain.fillings else [*plain.shared, plain.step]
        recurrence = Recurrence(step, seen, plain.fillings, shared)
        self._rollout, self._steps = recurrence.over(self._state, given, self.seen, batch=True), n

    def run(self, q: np.ndarray, v: np.ndarray, time: float) -> Mapping[str, np.ndarray]:
        """All steps from a state at a time [s], in all rows; gives the states after them, and the sums of `Terms.weighed`."""
        for values in self._state.values():
            values[:] = 0.0
        self._state["number"][:], self._state["q"][:], self._state["v"][:] = time / self._h, q, v
        self._rollout.run(self._steps, 1)
        return self._state
