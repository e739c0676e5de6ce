"""Predictive control by sampling: the optimum of a linear plant, a swing-up, and what a planner promises."""

from __future__ import annotations

import numpy as np
import pytest

import kumitate as km
from kumitate.errors import InputError
from kumitate.model import Body, Joint, Mechanism
from kumitate.predictive import SamplingPlanner

MASS, STEP, EACH, COUNT = 2.0, 0.02, 5, 10


def mass_on_a_rail(**options):
    body = Body("mass", MASS, inertia=(0.1, 0.1, 0.1))
    mechanism = Mechanism("rail", (body,), (Joint("rail", "prismatic", "world", "mass", axis=(1.0, 0.0, 0.0)),))
    return km.Simulation(
        mechanism, step=STEP, integrator="semi_implicit_euler", inputs={"push": 1},
        controller=lambda t, q, v, push: push,
        outputs={"cost": lambda t, q, v, push: q[0] ** 2 + 0.1 * v[0] ** 2 + 0.01 * push[0] ** 2, "place": lambda t, q, v: q},
        **options,
    )  # fmt: skip


def optimum(q, v):
    """The best plan from (q, v) and its cost: linear least squares over the actions, the plant's map written out."""
    rows, right = [], []
    across, rate = np.zeros(COUNT), np.zeros(COUNT)  # slopes of q and v by the actions
    for k in range(COUNT):
        for _ in range(EACH):
            rate = rate + STEP / MASS * (np.arange(COUNT) == k)
            across, q = across + STEP * rate, q + STEP * v
        rows += [across, np.sqrt(0.1) * rate, 0.1 * (np.arange(COUNT) == k)]
        right += [q, np.sqrt(0.1) * v, 0.0]
    plan, *_ = np.linalg.lstsq(np.array(rows), -np.array(right), rcond=None)
    return plan, STEP * EACH * float(np.sum((np.array(rows) @ plan + right) ** 2))


def planner_of(sim, **options):
    given = {"action": "push", "interval": STEP * EACH, "horizon": STEP * EACH * COUNT, "samples": 64, "spread": 2.0, **options}
    return SamplingPlanner(sim, "cost", **given)


def test_many_rounds_find_the_optimum_of_a_linear_plant():
    sim = mass_on_a_rail()
    planner, state = planner_of(sim, temperature=0.02), sim.start([1.0], [-0.5])
    for spread in (3.0, 1.0, 0.3):
        planner.spread = spread
        planner(state, rounds=150)
    best, least = optimum(1.0, -0.5)
    found = planner.costs(state, np.repeat(planner.plan[None], 64, axis=0))
    assert np.ptp(found) == 0.0
    assert least <= found[0] <= 1.002 * least
    assert np.abs(planner.plan[:, 0] - best).max() < 0.05 * np.abs(best).max()


def test_the_cost_of_a_plan_is_that_of_its_motion():
    sim = mass_on_a_rail()
    planner, state = planner_of(sim), sim.step(sim.start([1.0], [0.0]), 7, inputs={"push": [3.0]})
    plans = np.random.default_rng(3).normal(size=(64, COUNT, 1))
    now, total = state, 0.0
    for action in plans[5]:
        now = sim.step(now, EACH, inputs={"push": action})
        total += STEP * EACH * now.outputs["cost"]
    assert planner.costs(state, plans)[5] == pytest.approx(total, rel=1e-12)


def test_a_plan_goes_on_from_where_the_state_is():
    sim = mass_on_a_rail()
    planner, state = planner_of(sim), sim.start([1.0], [0.0])
    planner(state, rounds=5)
    before = planner.plan.copy()
    planner.spread = 0.0
    planner(sim.step(state, 3 * EACH))
    assert np.abs(planner.plan[:-3] - before[3:]).max() < 1e-14  # the mean of equal plans
    assert np.abs(planner.plan[-3:] - before[-1]).max() < 1e-14
    state, before = sim.step(state, 3 * EACH), planner.plan.copy()
    for _ in range(2 * EACH):  # calls that come more often than actions
        state = sim.step(state)
        planner(state)
    assert np.abs(planner.plan[:-2] - before[2:]).max() < 1e-14


def test_bounds_hold_and_seeds_repeat():
    sim = mass_on_a_rail()
    first, again, other = (planner_of(sim, bounds=(-1.5, 0.5), seed=seed) for seed in (4, 4, 5))
    state = sim.start([1.0], [0.0])
    for planner in (first, again, other):
        planner(state, rounds=3)
    assert np.array_equal(first.plan, again.plan)
    assert not np.array_equal(first.plan, other.plan)
    assert first.plan.min() >= -1.5
    assert first.plan.max() <= 0.5


def test_plans_that_diverge_have_no_weight():
    sim = mass_on_a_rail()
    planner = planner_of(sim)
    planner.plan[:] = 1.0
    plans = np.repeat(planner.plan[None], 64, axis=0)
    plans[1:] = 1e200
    costs = planner.costs(sim.start([1.0], [0.0]), plans)
    assert np.isfinite(costs[0])
    assert np.isinf(costs[1:]).all()
    planner.spread = 1e200
    assert planner(sim.start([1.0], [0.0])) == pytest.approx(1.0)


@pytest.mark.parametrize("seed", [0, 1])
def test_a_weak_motor_swings_a_pendulum_up_and_holds_it(seed):
    """It can hold 24° at most, so that it has to gain energy first."""
    sim = km.Simulation(
        km.load("pendulum"), step=0.01, outputs={"cost": lambda t, q, v: 5.0 * (1.0 + np.cos(q[0])) + 0.1 * v[0] ** 2}
    )
    planner = SamplingPlanner(
        sim, "cost", final_cost="cost", interval=0.05, horizon=2.0, samples=128, spread=3.0, bounds=(-4.0, 4.0), seed=seed
    )
    state, heights = sim.start([0.0]), []
    for _ in range(120):
        state = sim.step(state, 5, tau=planner(state))
        heights.append(-np.cos(state.q[0]))
    assert max(heights[:15]) < 0.0
    assert min(heights[-20:]) > 0.95


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"action": "pull"}, "no input 'pull'"), ({"interval": 0.031}, "interval=0.031 s is not a multiple"),
        ({"horizon": 0.25}, "horizon=0.25 s is not a multiple"), ({"final_cost": "place"}, "'place' is not an output"),
        ({"correlation": 1.5}, "correlation=1.5"),
    ],
)  # fmt: skip
def test_mistakes_are_named(wrong, words):
    with pytest.raises(InputError, match=words):
        planner_of(mass_on_a_rail(), **wrong)


def test_plans_may_take_longer_steps_than_the_motion():
    """The cost depends on time: plans of 20 ms go on from the time of a state of 1 ms steps."""
    body = Body("mass", MASS, inertia=(0.1, 0.1, 0.1))
    mechanism = Mechanism("rail", (body,), (Joint("rail", "prismatic", "world", "mass", axis=(1.0, 0.0, 0.0)),))
    coarse, fine = (
        km.Simulation(mechanism, step=step, integrator="semi_implicit_euler", outputs={"cost": lambda t, q, v: t**2})
        for step in (STEP, 1e-3)
    )
    planner = SamplingPlanner(coarse, "cost", interval=STEP, horizon=3 * STEP, samples=4, spread=1.0)
    state = fine.step(fine.start(), 700)
    costs = planner.costs(state, np.zeros((4, 3, 1)))
    assert costs == pytest.approx(STEP * sum((0.7 + STEP * k) ** 2 for k in (1, 2, 3)), rel=1e-12)


def test_variations_have_the_spread_and_correlation_that_were_asked_for():
    seed, samples = 11, 20000
    planner = planner_of(mass_on_a_rail(), samples=samples, correlation=0.9, seed=seed)
    seen = []
    planner.costs = lambda state, plans: seen.append(plans[1:, :, 0]) or np.zeros(samples)
    planner(mass_on_a_rail().start())
    among = np.cov(seen[0], rowvar=False)
    apart = np.abs(np.subtract.outer(np.arange(COUNT), np.arange(COUNT)))
    assert np.abs(among / 4.0 - 0.9**apart).max() < 6.0 / np.sqrt(samples), f"seed {seed}"


def test_former_names_of_bounds_warn():
    sim = mass_on_a_rail()
    with pytest.warns(FutureWarning, match=r"bounds=\(low, high\)"):
        planner = planner_of(sim, low=-1.5, high=0.5)
    assert np.array_equal(planner.plan, planner_of(sim, bounds=(-1.5, 0.5)).plan)
    with pytest.raises(TypeError, match="no argument 'lower'"):
        planner_of(sim, lower=-1.0)


def test_a_planner_says_why_plans_do_not_get_better():
    """At rest at a minimum; with all weight on one plan; and effective plans by the definition, from equal to one."""
    sim = mass_on_a_rail()
    resting = SamplingPlanner(sim, "cost", action="push", interval=0.1, horizon=1.0, samples=16, spread=1.0)
    state = sim.start([0.0], [0.0])
    resting._temperature = 1e-9
    resting(state, rounds=19)
    assert "no variation" not in resting.hint
    resting(state)
    assert resting.idle == 20
    assert "no variation was better than the plan in 20 rounds" in resting.hint
    away = sim.start([1.0], [0.0])
    resting(away)
    assert resting.idle == 0
    assert resting.effective == pytest.approx(1.0, abs=1e-6)
    assert "the mean is made of 1.0 plans of 16" in resting.hint
    even = SamplingPlanner(sim, "cost", action="push", interval=0.1, horizon=1.0, samples=16, spread=1.0, temperature=1e9)
    even(away)
    assert even.effective == pytest.approx(16.0)
    assert 0.0 < even.cost_spread < np.inf
    assert even.hint == ""
