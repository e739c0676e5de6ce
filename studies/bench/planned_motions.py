"""Motions of least cost, planned by the derivatives of their steps: a round of ours beside one of Crocoddyl's solvers."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

import kumitate as km
from kumitate.inverse_kinematics import PositionGoal
from kumitate.measure.timing import Contender, Effort, Timing, by_turns, thread_seconds
from kumitate.predictive import TrajectoryOptimizer

from .contract import SubjectCase, agreement
from .planning import AnymalCase
from .report import Row
from .simulation import threads

__all__ = ["PlannedGait", "PlannedMotion"]

#: Nodes, their distance [s], rounds from the start that are timed, and rounds after which both have settled.
NODES, STEP, ROUNDS, SETTLED = 100, 0.02, 5, 60
#: Of the arm's problem, the weights of half the squares: where the hand is at the end, and for a second on the way [1/m²];
#: velocities and efforts for a second.
END, WAY, VELOCITY, EFFORT = 1e4, 10.0, 0.1, 1e-3
#: Where the hand is to be, from where it is at first [m].
AWAY = (0.10, -0.20, 0.30)


@dataclass(frozen=True)
class PlannedMotion(SubjectCase):
    """The hand of an arm is led to a point, beside Crocoddyl's DDP and FDDP on the same steps and costs.

    Attributes:
        hand: the body whose origin is led.
        at_most: the target for our seconds a round.
        tolerance: how far the least costs that are found may differ.
    """

    hand: str
    at_most: float
    tolerance: float = 1e-6
    peer: str = "Crocoddyl"

    @property
    def name(self) -> str:  # type: ignore[override]
        return f"planned_motion_{self.subject.name}"

    @property
    def title(self) -> str:  # type: ignore[override]
        return f"a round of planning {NODES} steps of {self.subject.title} by derivatives"

    def rows(self, effort: Effort) -> Iterator[Row]:
        mechanism = self.subject.mechanism
        robot, q0, v0 = km.Robot(mechanism), np.full(mechanism.nq, 0.1), np.zeros(mechanism.nv)
        held = np.asarray(robot.inverse_dynamics(q0, v0, v0))
        goal = robot.pose(q0, self.hand)[:3, 3] + np.array(AWAY)
        sim = km.Simulation(robot, step=STEP, integrator="semi_implicit_euler", limits=False)
        running = [
            lambda q, v, u: np.concatenate([(VELOCITY * STEP) ** 0.5 * v, (EFFORT * STEP) ** 0.5 * u]),
            PositionGoal(self.hand, goal, weight=WAY * STEP),
        ]
        final = [PositionGoal(self.hand, goal, weight=END), lambda q, v: VELOCITY**0.5 * v]
        with threads(1):
            plan = TrajectoryOptimizer(sim, running, final, NODES)
            start = np.tile(held, (NODES, 1))
            solve = partial(plan, start, q=q0, v=v0, rounds=ROUNDS, tolerance=0.0)
            found, least = solve(), solve(rounds=SETTLED).cost[-1]
            contenders = {"ours": Contender(solve, len(found.cost) - 1)}
            agree = None
            if importlib.util.find_spec("crocoddyl") is not None:
                theirs = _Crocoddyl(self.subject, self.hand, goal, np.concatenate([q0, v0]), held)
                for name in ("DDP", "FDDP"):
                    run = theirs.solver(name)
                    agree = agreement(f"{self.name}, {name}", np.array(least), np.array(run(SETTLED)), self.tolerance)
                    contenders[name] = Contender(run, ROUNDS)
            timings = by_turns(contenders, effort.rounds, clock=thread_seconds)
        for name in ("DDP", "FDDP"):
            beside = f"{self.peer} {name}" if name in timings else self.peer
            told = f"of the first {ROUNDS}, mean; the least costs, {least:.6g}, are compared"
            yield Row(
                self.name,
                "round",
                timings["ours"],
                beside,
                timings.get(name),
                at_most=self.at_most,
                agreement=agree,
                remarks=told,
            )


class _Crocoddyl:
    """The same problem as Crocoddyl's own classes put it."""

    def __init__(self, subject: Any, hand: str, goal: np.ndarray, start: np.ndarray, held: np.ndarray):
        croc, pin = (importlib.import_module(name) for name in ("crocoddyl", "pinocchio"))
        self._croc, self._start, self._held = croc, start, held
        model = subject.pinocchio(pin)
        state = croc.StateMultibody(model)
        actuation = croc.ActuationModelFull(state)
        frame, n = model.getFrameId(hand), model.nv
        still = croc.ActivationModelWeightedQuad(np.r_[np.zeros(n), np.ones(n)])
        aim = croc.CostModelResidual(state, croc.ResidualModelFrameTranslation(state, frame, goal))
        slow = croc.CostModelResidual(state, still, croc.ResidualModelState(state, np.zeros(2 * n)))
        effort = croc.CostModelResidual(state, croc.ResidualModelControl(state))
        running, final = croc.CostModelSum(state), croc.CostModelSum(state)
        for name, cost, on_the_way, at_the_end in (("aim", aim, WAY, END), ("slow", slow, VELOCITY, VELOCITY)):
            running.addCost(name, cost, on_the_way)
            final.addCost(name, cost, at_the_end)
        running.addCost("effort", effort, EFFORT)

        def action(costs: Any, time: float) -> Any:
            free = croc.DifferentialActionModelFreeFwdDynamics(state, actuation, costs)
            return croc.IntegratedActionModelEuler(free, time)

        self._problem = croc.ShootingProblem(start, [action(running, STEP)] * NODES, action(final, 0.0))
        self._problem.nthreads = 1

    def solver(self, name: str) -> Callable[..., float]:
        """A call that makes a number of rounds from the start, and gives the cost that they end with."""
        solver = getattr(self._croc, f"Solver{name}")(self._problem)
        solver.th_stop = 1e-300
        actions = [self._held] * NODES
        states = list(self._problem.rollout(actions))

        def run(rounds: int = ROUNDS) -> float:
            solver.solve(states, actions, rounds, True, 1e-9)
            return float(solver.cost)

        return run


@dataclass(frozen=True)
class PlannedGait(AnymalCase):
    """A round of a motion of ANYmal ahead on a floor of rigid contact, 100 steps of 10 ms, from its stance.

    Attributes:
        at_most: the target for our seconds a round.
    """

    at_most: float
    name: str = "planned_gait_anymal"
    title: str = "a round of planning 100 steps of ANYmal on a floor of rigid contact"

    def rows(self, effort: Effort) -> Iterator[Row]:
        sim = self.simulation(km.Contact("rigid"))
        (q,), (v,) = sim.starts(None, None, 1)

        def running(q: Any, v: Any, u: Any) -> Any:
            return np.concatenate([0.1 * v, u])

        def final(q: Any, v: Any) -> Any:
            return np.concatenate([10.0 * (q[4:7] - ahead), v])

        ahead = q[4:7] + np.array([0.1, 0.0, 0.0])
        phases = np.tile([0.0, np.pi, np.pi, 0.0], 3)  # of the twelve joints
        gait = 0.05 * np.sin(2.0 * np.pi * np.arange(NODES)[:, None] / 40 + phases)
        with threads(1):
            plan = TrajectoryOptimizer(sim, running, final, NODES, action="change")
            solve = partial(plan, gait, q=q, v=v, rounds=ROUNDS, tolerance=0.0)
            rounds = len(solve().cost) - 1
            timing: Timing = by_turns({"ours": Contender(solve, rounds)}, effort.rounds, clock=thread_seconds)["ours"]
        yield Row(
            self.name, "round", timing, at_most=self.at_most, remarks="contact begins and ends by its laws, in every step"
        )
