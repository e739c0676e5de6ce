"""Trajectory optimization by the iterative linear-quadratic regulator (Li and Todorov 2004; Tassa, Erez and Todorov 2012).

A round is four calls of machine code: the derivatives of all steps, those of all costs, Riccati's recursion backwards, and
the steps forwards with its feedback, for all shares of the change side by side.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ..compile import Recurrence, found_or_traced
from ..compile.stored import StoredProgram, traced
from ..errors import InputError
from ..kinematics import difference
from ..scalar import call, maximum, minimum, trace
from ..simulate.divergence import RUNAWAY
from ..simulate.simulation import MechanismSimulation
from ..simulate.stepping.advance import start_of
from ..slopes import SlopedStep
from ..spatial import dot
from .riccati import riccati
from .terms import Terms

#: Shares of the change that are tried, side by side in one batch.
SHARES = 0.5 ** np.arange(8)
#: The damping of the curvature by actions, in parts of it: at first, at least, at most; its factors after rounds that fail
#: and that do not.
DAMPING, LEAST, MOST, MORE, LESS = 1e-6, 1e-9, 1e6, 10.0, 0.3
#: The penalty μ at first and at most, its factor where violations did not fall to `FALLEN` of what they were, how far
#: costs settle before multipliers change, and the violation at which constraints hold.
PENALTY, STEEPEST, STEEPER, FALLEN, LOOSE, HOLDS = 10.0, 1e8, 10.0, 0.25, 1e-4, 1e-6


class OptimizedMotion(NamedTuple):
    """A motion of least cost nearby.

    Attributes:
        q, v: states (n + 1, nq), (n + 1, nv).
        actions: (n, size), each kept for one step.
        gains: K (n, size, 2nv) of the feedback u + K δx about it, δx = (ξ, δv), ξ by `Robot.difference`.
        cost: of each round, the first is that of the start; without what constraints add.
        settled: whether the last round found nothing better by more than the tolerance, and constraints hold.
        violation: the largest of a constraint.
    """

    q: np.ndarray
    v: np.ndarray
    actions: np.ndarray
    gains: np.ndarray
    cost: list[float]
    settled: bool
    violation: float = 0.0

    def later(self, count: int) -> OptimizedMotion:
        """The plan `count` steps later: what is past is dropped, and its last step is repeated."""
        q, v, u, gains = (np.concatenate([x[count:], np.repeat(x[-1:], count, axis=0)]) for x in self[:4])  # type: ignore[arg-type]
        return self._replace(q=q, v=v, actions=u, gains=gains)


def iterated_lqr(
    simulation: MechanismSimulation, running: Any, final: Any, actions: Any, *,
    q: Any = None, v: Any = None, action: str = "tau", bounds: tuple[Any, Any] = (-np.inf, np.inf), rounds: int = 100,
    tolerance: float = 1e-8,
) -> OptimizedMotion:  # fmt: skip
    """The actions and feedback gains that make the sum of half the squared residuals least, near the given ones.

    Args:
        simulation, running, final, action, bounds: as of `TrajectoryOptimizer`.
        actions: to begin with (n, size), one for each step.
        q, v, rounds, tolerance: as of a call of it.

    Raises:
        InputError: for an unknown action, a wrong shape or cost, or if the first motion diverges.
    """
    owner, actions = simulation.mechanism.name, np.array(actions, dtype=float)
    if actions.ndim != 2 or not len(actions):
        raise InputError(f"{owner}: actions have shape {actions.shape}; give (steps, size of an action)")
    optimizer = TrajectoryOptimizer(simulation, running, final, len(actions), action=action, bounds=bounds)
    return optimizer(actions, q=q, v=v, rounds=rounds, tolerance=tolerance)


class LedSteps:
    """Motions by u = plan_u + share · change + gain (x ⊖ plan_x), within bounds: one for each of `SHARES`, in one call.

    Attributes:
        plan: plan_q, plan_v, plan_u, change and gain of each step (n, …): written to before a run.
        seen: q, v and action of each row and step (rows, n, …), q and v after it.
        u: all inputs of each row (rows, size), into which actions are put.
    """

    def __init__(self, simulation: MechanismSimulation, terms: Terms, place: slice, constants: Mapping[str, np.ndarray]):
        """The steps of a simulation, a row for each share.

        Args:
            terms: the costs and constraints of each step.
            place: of the action among the inputs.
            constants: "low" and "high" (1, size), "shift" (n, bound) and "root" (1, 1), as of `Terms.weighed`; read in place.
        """
        m, n, rows, size = simulation.mechanism, terms.nodes, len(SHARES), place.stop - place.start
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
        given |= {"h": np.array([[self._h]]), "u": self.u[:, None], "share": SHARES[:, None].copy()}
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


class _Motion(NamedTuple):
    """A motion, what it costs, and with what constraints add; and the largest violation of these."""

    q: np.ndarray
    v: np.ndarray
    actions: np.ndarray
    cost: float
    merit: float
    violation: float


class TrajectoryOptimizer:
    """Plans of as many steps, by the iterative linear-quadratic regulator: its programs, and the memory they work in.

    >>> import kumitate as km, numpy as np
    >>> sim = km.Simulation(km.load("pendulum"), step=0.02, integrator="semi_implicit_euler")
    >>> plan = TrajectoryOptimizer(sim, lambda q, v, u: 0.01 * u, lambda q, v: 10.0 * (q - 0.5), 40, bounds=(-6.0, 6.0))
    >>> motion = plan(np.zeros((40, 1)), q=[0.0])
    >>> again = plan(motion.later(1), q=motion.q[1], v=motion.v[1], rounds=2)
    >>> bool(abs(motion.q[-1, 0] - 0.5) < 0.01), bool(abs(motion.actions).max() <= 6.0)
    (True, True)
    """

    def __init__(
        self, simulation: MechanismSimulation, running: Any, final: Any, steps: int, *,
        action: str = "tau", bounds: tuple[Any, Any] = (-np.inf, np.inf),
    ):  # fmt: skip
        """An optimizer of motions of a number of steps.

        Args:
            simulation: whose steps are differentiated (`Simulation.slopes`): loops, drives, stops and rigid contact included.
            running: costs and constraints at each step, one or a list: functions of (q, v, u) or (t, q, v, u) that give
                residuals as an array, which are traced; goals of inverse kinematics; `velocity_of`, `exactly`,
                `not_positive`, `within_limits`, `friction_cone`. Targets are one, or one for each step.
            final: likewise, at the end, of (q, v) or (t, q, v).
            steps: their number.
            action: "tau", or the name of an input.
            bounds: the least and the largest action, each a number or an array (size).

        Raises:
            InputError: for an unknown action, wrong bounds or costs, or steps that cannot be differentiated.
        """
        self.simulation, self.mechanism, self.steps = simulation.side_by_side, simulation.mechanism, steps
        owner, forcing = self.mechanism.name, self.simulation.actuation.forcing
        self._sloped = SlopedStep(self.simulation)
        known = {"tau": self.mechanism.nv, **{name: len(x) for name, x in forcing.values_of_inputs.items()}}
        if action not in known:
            raise InputError(f"{owner}: there is no input {action!r} for actions; there are {sorted(known)}")
        if action == "tau" and forcing.controller is not None:
            raise InputError(
                f"{owner}: 'tau' has no effect beside a controller. Let that read an input, and name it as the action"
            )
        self.size, self._place = known[action], self._sloped.places[action]
        low, high = (np.asarray(end, dtype=float) for end in bounds)
        if {low.shape, high.shape} - {(), (self.size,)} or not (low <= high).all():
            raise InputError(
                f"{owner}: bounds are {low.tolist()} and {high.tolist()}; give the least and the largest action, each a number "
                f"or {self.size} of them"
            )
        self._ends = [np.array(np.broadcast_to(end, self.size)) for end in (low, high)]
        self._bounded = bool(np.isfinite(self._ends).any())
        rows = len(SHARES)  # side by side at the end, each with the same target
        self._terms = Terms(self.mechanism, running, self.size, steps), Terms(self.mechanism, final, 0, 1, rows)
        self._shifts = [np.zeros((len(terms.targets), terms.bound)) for terms in self._terms]
        self._root, self._no_action = np.zeros((1, 1)), np.zeros((rows, 0))
        self._times = [self.simulation.step_size * x for x in (np.arange(steps), np.full(rows, steps))]
        constants = {"shift": self._shifts[0], "root": self._root[0], "low": self._ends[0][None], "high": self._ends[1][None]}
        self._led = LedSteps(self.simulation, self._terms[0], self._place, constants)
        self._held = np.zeros((steps, self._led.u.shape[1]))

    def __call__(
        self, start: Any, *, q: Any = None, v: Any = None, time: float = 0.0, rounds: int = 100, tolerance: float = 1e-8
    ) -> OptimizedMotion:
        """The motion of least cost from a state.

        Args:
            start: actions (n, size) to begin with; or a motion found before, whose feedback leads the first one.
            q, v: where the motion begins; the simulation's start by default.
            time: there [s], as costs see it.
            rounds: most rounds; tolerance: the relative decrease of cost below which the motion is settled.

        Raises:
            InputError: for a wrong shape, if the first motion diverges, or if a step of a motion has no derivatives.
        """
        motion = self._first(start, self.simulation.starts(q, v, 1), time)
        gains, damping, settled, costs, before = self._led.plan["gain"].copy(), DAMPING, False, [motion.cost], np.inf
        for _ in range(rounds):
            better = self._forward(motion, motion.q[0], motion.v[0], time) if self._backward(motion, damping, time) else None
            if better is None or not better.merit < motion.merit:
                damping *= MORE
                still = damping > MOST
            else:
                enough = tolerance if motion.violation <= HOLDS else max(tolerance, LOOSE)
                still = motion.merit - better.merit <= enough * motion.merit
                motion, damping = better, max(LESS * damping, LEAST)
                gains[:] = self._led.plan["gain"]
                costs.append(motion.cost)
            if still and (motion.violation <= HOLDS or self._root[0, 0] ** 2 >= STEEPEST):
                settled = motion.violation <= HOLDS
                break
            if still:
                fell, before, damping = motion.violation <= FALLEN * before, motion.violation, DAMPING
                motion = self._tightened(motion, time, 1.0 if fell else STEEPER)
        return OptimizedMotion(motion.q, motion.v, motion.actions, gains, costs, settled, motion.violation)

    def _first(self, start: Any, state: tuple[np.ndarray, np.ndarray], time: float) -> _Motion:
        """The motion of the given actions, or by the feedback of a motion found before."""
        owner, n = self.mechanism.name, self.steps
        known = isinstance(start, OptimizedMotion)
        actions = start.actions if known else np.array(start, dtype=float)
        if actions.shape != (n, self.size):
            raise InputError(f"{owner}: actions have shape {actions.shape}; give (steps, {self.size}), for {n} steps")
        self._led.plan["change"][:] = 0.0
        self._led.plan["gain"][:] = start.gains if known else 0.0
        if not known:
            self._root[:] = PENALTY**0.5
            for shift in self._shifts:
                shift[:] = 0.0
        q, v = (start.q, start.v) if known else (np.repeat(part, n + 1, axis=0) for part in state)
        self.simulation.actuation.begin(self._led.u, np.repeat(state[0], len(SHARES), axis=0))
        self._held[:] = self._led.u[0]
        found = self._forward(_Motion(q, v, actions, np.inf, np.inf, np.inf), state[0][0], state[1][0], time)
        if not np.isfinite(found.merit):
            raise InputError(f"{owner}: the motion of the first actions diverges; give gentler ones")
        return found

    def _forward(self, plan: _Motion, q: np.ndarray, v: np.ndarray, time: float) -> _Motion:
        """The best of the motions from a state by shares of the change of a plan's actions, with the feedback."""
        led = self._led
        led.plan["plan_q"][:], led.plan["plan_v"][:], led.plan["plan_u"][:] = plan.q[:-1], plan.v[:-1], plan.actions
        sums = led.run(q, v, time)
        ends = self._weighed(1, (sums["q"], sums["v"], self._no_action), time)
        cost = sums["cost"] + ends["cost"]
        merit = cost + sums["added"] + ends["added"]
        usual = np.isfinite(merit) & (np.abs(led.seen["v"]).max(axis=(1, 2), initial=0.0) < RUNAWAY)
        best = int(np.argmin(np.where(usual, merit, np.inf)))
        q, v = (np.concatenate([first[None], led.seen[name][best]]) for name, first in (("q", q), ("v", v)))
        worst = max(sums["violation"][best], ends["violation"][best])
        return _Motion(q, v, led.seen["action"][best].copy(), cost[best], merit[best] if usual[best] else np.inf, worst)

    def _weighed(self, end: int, nodes: tuple[np.ndarray, ...], time: float) -> dict[str, np.ndarray]:
        """What nodes (q, v, u) cost, as of `Terms.weighed`; those of the steps, or, if `end` is 1, some states at the end."""
        terms, n = self._terms[end], len(nodes[0])
        given = terms.targets[:n], self._shifts[end][:n], np.full(n, self._root[0, 0])
        found = terms.weigh(time + self._times[end][:n], *nodes, *given)
        return dict(zip((array.name for array in terms.weigh.outputs), found, strict=True))

    def _tightened(self, motion: _Motion, time: float, steeper: float) -> _Motion:
        """The same motion with the multipliers that its violations ask for, and a steeper penalty."""
        last = (motion.q[-1:], motion.v[-1:], self._no_action[:1])
        nodes = ((motion.q[:-1], motion.v[:-1], motion.actions), last)
        for end in (0, 1):
            self._shifts[end][:] = self._weighed(end, nodes[end], time)["pushed"] / steeper  # at the end alike in all rows
        self._root[:] = min(self._root[0, 0] ** 2 * steeper, STEEPEST) ** 0.5
        added = sum(float(self._weighed(end, nodes[end], time)["added"].sum()) for end in (0, 1))
        return motion._replace(merit=motion.cost + added)

    def _backward(self, motion: _Motion, damping: float, time: float) -> bool:
        """Puts the change of actions and the gains into the plan; False if a curvature is not positive."""
        q, v, u, times = motion.q[:-1], motion.v[:-1], motion.actions, time + self._times[0]
        self._held[:, self._place] = u
        *_, A, by = self._sloped.arrays(times, q, v, self._held)
        slopes = [np.ascontiguousarray(part) for part in (A, by(self._place))]
        running, final = self._terms
        root = self._root[0, 0]
        bent = running.bend(times, q, v, u, running.targets, self._shifts[0], np.full(self.steps, root))
        last = (motion.q[-1], motion.v[-1], self._no_action[0], final.targets[0], self._shifts[1][0], root)
        bent += final.bend(time + self._times[1][0], *last)
        recursion = riccati(2 * self.mechanism.nv, self.size, self._bounded)
        change, gains = self._led.plan["change"], self._led.plan["gain"]
        if recursion(*slopes, *bent, u, *self._ends, damping, change, gains):
            return True
        if not (usual := np.isfinite(A).all(axis=(1, 2))).all():
            bad = int(np.argmin(usual))
            raise InputError(
                f"{self.mechanism.name}: step {bad} of the motion, at {times[bad]:g} s, cannot be differentiated: its contact "
                "has no solution that obeys all laws. Begin with other actions, or take a smaller step or less restitution"
            )
        return False
