"""The cases with closed loops: dynamics against Pinocchio's constraintDynamics, steps against MuJoCo's equality constraints."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from kumitate.analysis import LoopEquations
from kumitate.compile import Kernel, host
from kumitate.measure.timing import Contender, Effort, by_turns, raw
from kumitate.scalar import Program
from kumitate.simulate.driving.forcing import Forcing
from kumitate.simulate.integrators import RK4
from kumitate.simulate.stepping.equations import dynamics_program, projection_program
from kumitate.simulate.stepping.system import StepParts, step_program

from .cassie import Cassie
from .contract import Case, agreement
from .four_bars import FourBars
from .mujoco_peer import MuJoCo
from .ours import forward_dynamics, rollout
from .pinocchio_peer import Pinocchio, without_calls
from .report import Row

__all__ = ["ClosedDynamics", "ClosedSteps"]

#: Over the batch in each of our samples.
PASSES = 32


@dataclass(frozen=True)
class ClosedDynamics(Case):
    """Forward dynamics of many states on closed loops, one thread.

    Pinocchio has no loop over states in C++ for this function. It is called from Python at every state, and what such a call
    costs is taken off: all that it takes for one leg without loops, its few operations included.

    Attributes:
        one, batch: targets for the ratio, one state at a time and all lanes of the processor at once.
        states: in the batch.
    """

    subject: FourBars | Cassie
    one: float
    batch: float | None = None
    states: int = 1032
    peer = "Pinocchio"

    @property
    def name(self) -> str:  # type: ignore[override]
        return self.subject.name

    @property
    def title(self) -> str:  # type: ignore[override]
        return f"forward dynamics of {self.subject.title}"

    @property
    def missing(self) -> str:  # type: ignore[override]
        return self.subject.missing

    def rows(self, effort: Effort) -> Iterator[Row]:
        program = forward_dynamics(self.subject.mechanism)
        kernel, states = Kernel(program), effort.share(self.states)
        q, v, tau = self.subject.random_states(states)
        out = np.empty_like(v)
        contenders = {
            "one": _passes(raw(kernel, 1, (q, v, tau), (out,)), states),
            "batch": _passes(raw(kernel, host().lanes, (q, v, tau), (out,)), states),
        }
        error = None
        if Pinocchio.installed():
            theirs = Pinocchio(self.subject)
            run, result = theirs.constrained(self.subject.constraints(theirs.pin, theirs.model), q, v, tau)
            for ours in contenders.values():
                ours.run()
                error = agreement(f"{self.name}, forward dynamics", out, theirs.ours(result), 1e-9)
            contenders |= {"peer": Contender(run, states), "calls": Contender(_bare_calls(states), states)}
        timings = by_turns(contenders, effort.rounds)
        row = Row(
            self.name, "forward dynamics, one state at a time", timings["one"],
            "Pinocchio's constraintDynamics, less the cost of calls", without_calls(timings), at_least=self.one,
            agreement=error, remarks=f"{program.operations.total()} operations of ours",
        )  # fmt: skip
        yield row
        what = f"forward dynamics, {host().lanes} states at a time"
        yield replace(row, what=what, ours=timings["batch"], at_least=self.batch)


def _passes(run: Callable[[], None], states: int) -> Contender:
    """Some passes over a batch: a single one can be over in 13 µs, too short to be timed alone."""

    def passes() -> None:
        for _ in range(PASSES):
            run()

    return Contender(passes, PASSES * states)


def _bare_calls(count: int) -> Callable[[], None]:
    """Calls of constraintDynamics with almost no work."""
    leg = FourBars("leg", "one leg", 0)
    theirs = Pinocchio(leg)
    return theirs.constrained(leg.constraints(theirs.pin, theirs.model), *leg.random_states(count))[0]


@dataclass(frozen=True)
class ClosedSteps(Case):
    """Steps of the classical Runge-Kutta method of a swinging linkage, against MuJoCo's integrator RK4 with `equality`.

    Ours closes the loops at every stage; theirs pull them together by the stiffest springs that MuJoCo offers for the step.

    Attributes:
        one: target for the ratio, one trajectory after another.
        tighter: how many times further than ours MuJoCo's loops must be open for the case to hold.
        trajectories, count: how many, and the steps of each, every one starting where the last ended.
        step: [s]; `watched`: steps of the first trajectory during which the gap of the loops is watched.
    """

    subject: FourBars
    one: float
    batch: float | None = None
    tighter: float = 1e4
    trajectories: int = 16
    count: int = 100
    step: float = 1e-3
    watched: int = 1000
    peer = "MuJoCo"

    @property
    def name(self) -> str:  # type: ignore[override]
        return f"rk4_{self.subject.name}"

    @property
    def title(self) -> str:  # type: ignore[override]
        return f"Runge-Kutta steps of {self.subject.title}"

    def rows(self, effort: Effort) -> Iterator[Row]:
        count, lanes = effort.share(self.count), host().lanes
        # about the lowest posture, from a fifth of a radian to one
        swings = [self.subject.state(np.pi - angle, 0.5) for angle in np.linspace(0.2, 1.0, self.trajectories)]
        q, v = (np.array(part) for part in zip(*swings, strict=True))
        out = np.empty_like(q), np.empty_like(v)
        kernel = Kernel(self.program(count))
        contenders = {
            "one": Contender(raw(kernel, 1, (q, v), out), self.trajectories * count),
            "batch": Contender(raw(kernel, lanes, (q, v), out), self.trajectories * count),
        }
        error, remarks = None, f"per step; {self.trajectories} trajectories of {count} steps; MuJoCo runs one"
        if MuJoCo.installed():
            theirs = MuJoCo(self.subject.mechanism, step=self.step)
            ends = np.array([np.concatenate(theirs.steps(*state, count)()) for state in zip(q, v, strict=True)])
            for ours in contenders.values():
                ours.run()
                error = agreement(f"{self.name}, state after {count} steps", np.hstack(out), ends, 1e-6)
            contenders["peer"] = Contender(theirs.steps(q[0], v[0], count), count)
            open_ours, open_theirs = self._open(q[-1], v[-1]), self._open_theirs(theirs, q[-1], v[-1])
            held = "" if open_theirs >= self.tighter * open_ours else f", less than {self.tighter:g} times ours"
            remarks += (
                f"; loops open by {open_ours:.0e} m at most over {self.watched} steps, MuJoCo's by {open_theirs:.0e} m{held}"
            )
        timings = by_turns(contenders, effort.rounds)
        row = Row(
            self.name, "step, one trajectory at a time", timings["one"], f"MuJoCo's mj_step(nstep={count})",
            timings.get("peer"), at_least=self.one, agreement=error, remarks=remarks,
        )  # fmt: skip
        yield row
        yield replace(row, what=f"step, {lanes} trajectories at a time", ours=timings["batch"], at_least=self.batch)

    def program(self, count: int) -> Program:
        """(q, v) → q, v after `count` steps: the step that `simulate` compiles, in a loop."""
        mechanism = self.subject.mechanism
        parts = StepParts(dynamics_program(Forcing(mechanism), implicit_damping=False), projection_program(mechanism))
        step = step_program(Forcing(mechanism), RK4(), parts)
        return rollout(mechanism, step, self.step, count)

    def _open(self, q: np.ndarray, v: np.ndarray) -> float:
        """The largest gap of our loops [m] along a trajectory."""
        kernel, equations = Kernel(self.program(1)), LoopEquations(self.subject.mechanism)
        states = []
        for _ in range(self.watched):
            q, v = kernel(q, v)
            states.append((q, v))
        along_q, along_v = (np.array(part) for part in zip(*states, strict=True))
        return max(gap.distance for gap in equations.gaps(along_q, along_v))

    def _open_theirs(self, theirs: MuJoCo, q: np.ndarray, v: np.ndarray) -> float:
        equations = LoopEquations(self.subject.mechanism)
        along_q, along_v = theirs.trajectory(q, v, self.watched)
        return max(gap.distance for gap in equations.gaps(along_q, along_v))
