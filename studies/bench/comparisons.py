"""The cases with a peer: dynamics and single calls against Pinocchio, steps of an integrator against MuJoCo."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from kumitate.compile import Kernel, host
from kumitate.measure.timing import Contender, Effort, by_turns, random_states, raw
from kumitate.model import Mechanism
from kumitate.scalar import Program
from kumitate.simulate.driving.forcing import Forcing
from kumitate.simulate.integrators import RK4
from kumitate.simulate.stepping.equations import dynamics_program
from kumitate.simulate.stepping.system import StepParts, step_program

from .contract import SubjectCase, agreement
from .mujoco_peer import MuJoCo
from .ours import compiled_drives, forward_dynamics, inverse_dynamics, rollout
from .pinocchio_peer import Pinocchio
from .report import Row

__all__ = ["Dynamics", "PythonCall", "Steps"]


@dataclass(frozen=True)
class Dynamics(SubjectCase):
    """Forward and inverse dynamics of many states on one thread, against Pinocchio's own loop over states in C++.

    Attributes:
        one, batch: targets for the ratio of forward dynamics, one state at a time and all lanes of the processor at once.
        inverse: target for the ratio of inverse dynamics, one state at a time.
        states: in the batch.
        tolerance: of forward dynamics; inverse dynamics is held to 1e-11.
    """

    one: float
    batch: float
    inverse: float | None = 10.0
    states: int = 1032
    tolerance: float = 1e-9
    peer = "Pinocchio"

    @property
    def name(self) -> str:  # type: ignore[override]
        return self.subject.name

    @property
    def title(self) -> str:  # type: ignore[override]
        return f"forward and inverse dynamics of {self.subject.title}"

    def rows(self, effort: Effort) -> Iterator[Row]:
        theirs = Pinocchio(self.subject) if Pinocchio.installed() else None
        mechanism = self.subject.mechanism
        forward = self._rows("forward dynamics", forward_dynamics(mechanism), theirs, "aba", self.tolerance, effort)
        for row, target in zip(forward, (self.one, self.batch), strict=True):
            yield replace(row, at_least=target)
        inverse = self._rows("inverse dynamics", inverse_dynamics(mechanism), theirs, "rnea", 1e-11, effort)
        for row, wanted in zip(inverse, (self.inverse, None), strict=True):
            yield replace(row, at_least=wanted)

    def _rows(
        self, what: str, program: Program, theirs: Pinocchio | None, function: str, tolerance: float, effort: Effort
    ) -> Iterator[Row]:
        kernel, states = Kernel(program), effort.share(self.states)
        q, v, x = random_states(self.subject.mechanism, states)
        out = np.empty_like(v)
        contenders = {
            "one": Contender(raw(kernel, 1, (q, v, x), (out,)), states),
            "batch": Contender(raw(kernel, host().lanes, (q, v, x), (out,)), states),
        }
        error = None
        if theirs is not None:
            run, their_out = theirs.batched(function, q, v, x)
            run()
            for ours in contenders.values():
                ours.run()
                error = agreement(f"{self.name}, {what}", out, theirs.ours(their_out.T), tolerance)
            contenders["peer"] = Contender(run, states)
        timings = by_turns(contenders, effort.rounds)
        row = Row(
            self.name, f"{what}, one state at a time", timings["one"], f"Pinocchio's {function}InParallel, 1 thread",
            timings.get("peer"), agreement=error,
        )  # fmt: skip
        yield row
        yield replace(row, what=f"{what}, {host().lanes} states at a time", ours=timings["batch"])


@dataclass(frozen=True)
class PythonCall(SubjectCase):
    """One call from Python for one state, into existing arrays, against Pinocchio's `aba` called likewise."""

    at_least: float
    calls: int = 1000
    name: str = "python_call"
    title: str = "one forward dynamics, called from Python"
    peer = "Pinocchio"

    def rows(self, effort: Effort) -> Iterator[Row]:
        kernel, count = Kernel(forward_dynamics(self.subject.mechanism)).prepare(batch=False), effort.share(self.calls)
        q, v, x = (part[0] for part in random_states(self.subject.mechanism, 1))
        out, into = np.empty_like(v), kernel.into

        def calls() -> None:
            for _ in range(count):
                into(out, q, v, x)

        contenders, error = {"ours": Contender(calls, count)}, None
        if Pinocchio.installed():
            their_calls, last = Pinocchio(self.subject).single(q, v, x)
            calls()
            their_calls(1)
            error = agreement(self.name, out, last(), 1e-9)
            contenders["peer"] = Contender(lambda: their_calls(count), count)
        timings = by_turns(contenders, effort.rounds)
        yield Row(
            self.name, f"forward dynamics of {self.subject.name}, one call of Kernel.into", timings["ours"],
            "one call of pinocchio.aba", timings.get("peer"), at_least=self.at_least, agreement=error,
        )  # fmt: skip


@dataclass(frozen=True)
class Steps(SubjectCase):
    """Steps of the classical Runge-Kutta method with a PD controller and damped joints, against MuJoCo's integrator RK4.

    Attributes:
        one, batch: targets for the ratio, one trajectory after another and all lanes of the processor at once.
        trajectories, count: how many, and the steps of each, every one starting where the last ended.
        stiffness, damping: of the controller towards q = 0; `friction`: viscous, of the joints; `step` [s].
    """

    one: float
    batch: float
    trajectories: int = 16
    count: int = 100
    stiffness: float = 20.0
    damping: float = 1.0
    friction: float = 0.5
    step: float = 1e-3
    name: str = "rk4"
    title: str = "Runge-Kutta steps of an arm with a PD controller"
    peer = "MuJoCo"

    @property
    def mechanism(self) -> Mechanism:
        """The subject's, with damped joints."""
        bare = self.subject.mechanism
        return replace(bare, joints=tuple(replace(joint, damping=self.friction) for joint in bare.joints))

    def rows(self, effort: Effort) -> Iterator[Row]:
        mechanism, count, lanes = self.mechanism, effort.share(self.count), host().lanes
        q, v, _ = random_states(mechanism, self.trajectories)
        out = np.empty_like(q), np.empty_like(v)
        kernel = Kernel(self.program(count))
        contenders = {
            "one": Contender(raw(kernel, 1, (q, v), out), self.trajectories * count),
            "batch": Contender(raw(kernel, lanes, (q, v), out), self.trajectories * count),
        }
        error = self._checked(mechanism, contenders, q, v, out, count) if MuJoCo.installed() else None
        timings = by_turns(contenders, effort.rounds)
        row = Row(
            self.name, f"step of {self.subject.name}, one trajectory at a time", timings["one"],
            f"MuJoCo's mj_step(nstep={count})", timings.get("peer"), at_least=self.one, agreement=error,
            remarks=f"per step; {self.trajectories} trajectories of {count} steps; MuJoCo runs one",
        )  # fmt: skip
        yield row
        yield replace(
            row, what=f"step of {self.subject.name}, {lanes} trajectories at a time", ours=timings["batch"], at_least=self.batch
        )

    def program(self, count: int) -> Program:
        """(q, v) → q, v after `count` steps: the step that `simulate` compiles, in a loop."""
        mechanism = self.mechanism
        stiffness, damping = self.stiffness, self.damping  # numbers are known to be constant, `self` is not
        forcing = Forcing(mechanism, lambda t, q, v: -stiffness * q - damping * v)
        drives = compiled_drives(forcing, np.zeros(mechanism.nq), np.zeros(mechanism.nv))
        step = step_program(forcing, RK4(), StepParts(dynamics_program(Forcing(mechanism), implicit_damping=False)), drives)
        return rollout(mechanism, step, self.step, count)

    def _checked(
        self, mechanism: Mechanism, contenders: dict[str, Contender], q: np.ndarray, v: np.ndarray, out: Any, count: int
    ) -> float:
        """Accelerations and last states equal to MuJoCo's; adds it to the contenders."""
        theirs = MuJoCo(mechanism, stiffness=self.stiffness, damping=self.damping, step=self.step)
        ours = Kernel(forward_dynamics(mechanism))(q, v, -self.stiffness * q - self.damping * v)
        accelerations = np.array([theirs.acceleration(*state) for state in zip(q, v, strict=True)])
        error = agreement(f"{self.name}, acceleration", ours, accelerations, 1e-9)
        ends = [np.concatenate(theirs.steps(*state, count)()) for state in zip(q, v, strict=True)]
        for contender in list(contenders.values()):
            contender.run()
            error = max(error, agreement(f"{self.name}, state after {count} steps", np.hstack(out), np.array(ends), 1e-8))
        contenders["peer"] = Contender(theirs.steps(q[0], v[0], count), count)
        return error
