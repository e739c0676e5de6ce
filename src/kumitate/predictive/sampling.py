"""Predictive control by sampling (MPPI): the mean of many simulated plans, weighted by what each costs (Williams 2017)."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import InputError, warn
from ..simulate.simulation import MechanismSimulation
from ..simulate.stepping.advance import State

#: Rounds without a better plan, and plans in a mean, at which planners give hints.
_IDLE, _FEW = 20, 1.5


class SamplingPlanner:
    """Plans of actions, improved at every state by simulating random variations of the last plan in one batch.

    A plan is a sequence of actions, each kept for `interval`. A call returns the action for a state; the next call continues
    the plan from the state's time.

    >>> import kumitate as km
    >>> import numpy as np
    >>> cost = lambda t, q, v: 1.0 + np.cos(q[0]) + 0.1 * v[0] ** 2
    >>> sim = km.Simulation(km.load("pendulum"), step=0.01, outputs={"cost": cost})
    >>> planner = SamplingPlanner(sim, "cost", interval=0.05, horizon=0.5, samples=32, spread=2.0)
    >>> state = sim.start()
    >>> state = sim.step(state, 5, tau=planner(state))

    Attributes:
        plan: the actions (intervals, size of an action).
        spread: standard deviation of the variations, for all or each component of an action; may be changed.
        cost: of the best of the plans that were simulated in the last call; cost_spread: their standard deviation.
        effective: how many plans the mean is made of, 1 / Σ w² of their weights.
        idle: rounds in a row in which no variation was better than the plan.
    """

    def __init__(
        self,
        simulation: MechanismSimulation,
        cost: str,
        *,
        final_cost: str | None = None,
        action: str = "tau",
        interval: float,
        horizon: float,
        samples: int = 64,
        spread: Any,
        bounds: tuple[Any, Any] = (-np.inf, np.inf),
        temperature: float = 0.1,
        correlation: float = 0.0,
        seed: int = 0,
        **former: Any,
    ):
        """A planner whose plan is zero, within the bounds.

        Args:
            simulation: of the plans; it needs no controller, and its functions must be compiled.
            cost: the output that is the cost of a state, per second.
            final_cost: the output that is the cost of the last state; none by default.
            action: what plans give: "tau", or the name of an input.
            interval: how long an action is kept [s], a multiple of the step.
            horizon: length of a plan [s], a multiple of the interval.
            samples: number of plans that are simulated at a time; the first is the plan without variation.
            spread: standard deviation of the variations, for all or each component of an action.
            bounds: the least and the largest action, likewise.
            temperature: how far the mean reaches: the scale of the weights, relative to the mean excess of all costs over the
                best. Near zero, the best plan is taken.
            correlation: of a variation with that of the next interval, 0…1: near one, actions vary slowly along a plan, which
                moves heavy bodies farther and shakes drives less.
            seed: of the variations.
            former: `low` and `high`, which are `bounds` now.

        Raises:
            InputError: for an output or input that the simulation does not have, times that are not multiples, or a
                correlation that is not in 0…1.
        """
        self.simulation, self._names = simulation, (cost, final_cost)
        self._rng, self._temperature, self.spread = np.random.default_rng(seed), temperature, spread
        self._correlation = correlation
        self._batch = simulation.batch(samples)
        actions = {"tau": self._batch.tau, **self._batch.inputs}
        owner, outputs = simulation.mechanism.name, self._batch.outputs
        for name in filter(None, self._names):
            if name not in outputs or outputs[name].shape != (samples,):
                raise InputError(f"{owner}: the cost {name!r} is not an output that is one number; there are {sorted(outputs)}")
        if action not in actions:
            raise InputError(f"{owner}: there is no input {action!r} for actions; there are {sorted(actions)}")
        if not 0.0 <= correlation <= 1.0:
            raise InputError(f"{owner}: correlation={correlation:g} of a plan's variations is not in 0…1")
        self._action = actions[action]
        self._count = _multiple(owner, "interval", interval, simulation.step_size)
        self._interval = self._count * simulation.step_size
        size = self._action.shape[1]
        self._low, self._high = (np.broadcast_to(np.asarray(b, dtype=float), size) for b in _bounds(bounds, former))
        self.plan = np.clip(np.zeros((_multiple(owner, "horizon", horizon, self._interval), size)), self._low, self._high)
        self._begin, self.cost, self.cost_spread, self.effective, self.idle = 0.0, np.inf, 0.0, float(samples), 0

    def __call__(self, state: State, rounds: int = 1) -> np.ndarray:
        """The action for a state, after some rounds of simulated variations.

        The state may be of another simulation of the same mechanism, with finer steps or pushes that plans do not know.
        """
        self._shift(state.time)
        for _ in range(rounds):
            plans = np.clip(self.plan + np.asarray(self.spread) * self._variations(), self._low, self._high)
            costs = self.costs(state, plans)
            weights = _weights(costs, self._temperature)
            self.cost, self.effective = float(costs.min()), float(1.0 / np.sum(weights**2))
            self.cost_spread = float(np.std(costs[np.isfinite(costs)])) if np.isfinite(costs).any() else np.inf
            self.idle = self.idle + 1 if self.cost >= costs[0] else 0
            self.plan = np.tensordot(weights, plans, 1)
        return self.plan[0]

    @property
    def hint(self) -> str:
        """What keeps plans from getting better, with a remedy; "" if nothing does."""
        if not np.isfinite(self.cost):
            return "all plans diverge. Take smaller steps, less spread or bounds"
        if self.idle >= _IDLE:
            return (
                f"no variation was better than the plan in {self.idle} rounds: it is at a minimum, perhaps one nearby. Take "
                "more spread, more correlation, a longer horizon, or a cost that falls on the way to the goal"
            )
        if self.effective < _FEW:
            return (
                f"the mean is made of {self.effective:.1f} plans of {len(self._batch)}. Take a higher temperature, more "
                "samples, or less spread"
            )
        return ""

    def costs(self, state: State, plans: np.ndarray) -> np.ndarray:
        """What plans (samples, intervals, size) cost from a state (samples); infinite for a motion that diverges."""
        running, final = self._names
        batch, total = self._batch, np.zeros(len(self._batch))
        batch.load(state)
        batch.state["number"][:] = round(state.time / self.simulation.step_size)  # the state may be of other steps
        for actions in plans.swapaxes(0, 1):
            self._action[:] = actions
            batch.step(self._count)
            total += self._interval * batch.outputs[running]
        if final is not None:
            total += batch.outputs[final]
        return np.where(batch.lost | ~np.isfinite(total), np.inf, total)

    def _variations(self) -> np.ndarray:
        """Normal variations of plans: autoregressive from interval to interval, with the same variance in all."""
        noise = self._rng.standard_normal((len(self._batch), *self.plan.shape))
        kept, fresh = self._correlation, np.sqrt(1.0 - self._correlation**2)
        for k in range(1, noise.shape[1]):
            noise[:, k] = kept * noise[:, k - 1] + fresh * noise[:, k]
        noise[0] = 0.0
        return noise

    def _shift(self, time: float) -> None:
        """Drops the actions that are past, and repeats the last one."""
        passed = round((time - self._begin) / self._interval)
        self._begin += passed * self._interval  # calls may come more often than actions
        if past := min(max(passed, 0), len(self.plan)):
            self.plan = np.concatenate([self.plan[past:], np.repeat(self.plan[-1:], past, axis=0)])


def _bounds(bounds: tuple[Any, Any], former: dict[str, Any]) -> tuple[Any, Any]:
    """The bounds of actions, also by their former names, which warn; a `TypeError` for another keyword."""
    if unknown := set(former) - {"low", "high"}:
        raise TypeError(f"SamplingPlanner has no argument {min(unknown)!r}")
    if former:
        warn("SamplingPlanner takes bounds=(low, high); `low` and `high` go with the next release", FutureWarning)
    low, high = bounds
    return former.get("low", low), former.get("high", high)


def _weights(costs: np.ndarray, temperature: float) -> np.ndarray:
    """exp(−excess / λ), normalised (Williams eq. 34; λ relative to the mean excess): a softmax."""
    finite = np.isfinite(costs)
    if not finite.any():  # every plan diverges: the one without variation stays
        return np.eye(1, len(costs))[0]
    excess = costs - costs[finite].min()
    scale = temperature * excess[finite].mean()
    weights = np.exp(-excess / scale) if scale > 0.0 else (excess <= 0.0).astype(float)
    return np.asarray(weights / weights.sum())


def _multiple(owner: str, name: str, time: float, of: float) -> int:
    count = round(time / of)
    if count < 1 or abs(count * of - time) > 1e-9 * time:
        raise InputError(f"{owner}: {name}={time} s is not a multiple of {of} s")
    return count
