"""The simulation object: the cost of a user's call against the compiled step it contains, and against MuJoCo's batches."""

from __future__ import annotations

import importlib
import os
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

import kumitate as km
from kumitate.examples.gallery import cassie
from kumitate.measure.timing import Contender, Effort, Timing, by_turns, once, random_states, thread_seconds
from kumitate.model.samples import hoap1

from .cassie import AROUND
from .contract import Case, SubjectCase, agreement
from .mujoco_peer import MuJoCo, mjcf
from .report import Row
from .subjects import Subject, robots_folder

__all__ = ["LoopSteps", "Rollouts", "SecondRun", "SingleRun", "from_start", "threads"]


@contextmanager
def threads(count: int) -> Iterator[None]:
    """Batches on so many threads meanwhile."""
    before = os.environ.get("KUMITATE_THREADS")
    os.environ["KUMITATE_THREADS"] = str(count)
    try:
        yield
    finally:
        if before is None:
            del os.environ["KUMITATE_THREADS"]
        else:
            os.environ["KUMITATE_THREADS"] = before


def from_start(batch: Any, q: np.ndarray, v: np.ndarray, work: Callable[[], object], count: int) -> Contender:
    """Work that takes a batch from the states (q, v) on by `count` steps."""

    def run() -> None:
        batch.q[:], batch.v[:] = q, v
        work()

    return Contender(run, len(q) * count)


@dataclass(frozen=True)
class Rollouts(SubjectCase):
    """Many runs side by side: recorded often or seldom, by one thread or two, against the same steps without records.

    Attributes:
        runs: side by side; `count`: steps of each.
    """

    runs: int = 1024
    count: int = 100
    name: str = "rollouts"
    title: str = "1024 runs of an arm side by side, Runge-Kutta"
    peer = "MuJoCo"

    def rows(self, effort: Effort) -> Iterator[Row]:
        sim = km.Simulation(self.subject.mechanism, integrator="rk4", limits=False)
        runs, count = effort.share(self.runs), self.count
        q, v, _ = random_states(self.subject.mechanism, runs)
        batch = sim.batch(q, v)

        def timed(work: Callable[[], object]) -> Contender:
            return from_start(batch, q, v, work, count)

        def one_by_one() -> None:
            for _ in range(count):
                batch.step()

        often, seldom = batch.room(count), batch.room(count // 10)
        contenders = {
            "kernel": timed(lambda: batch.step(count)),
            "seldom": timed(lambda: batch.record(count // 10, 10, out=seldom)),
            "often": timed(lambda: batch.record(count, 1, out=often)),
            "single": timed(one_by_one),
        }
        error = None
        if MuJoCo.installed():
            peer = _MuJoCoBatch(self.subject, runs)
            contenders["kernel"].run()
            error = agreement(self.name, batch.q, peer.rollout(q, v, count), 1e-6)
            contenders["peer"] = Contender(lambda: peer.rollout(q, v, count), runs * count)
        with threads(1):
            timings = by_turns(contenders, effort.rounds, clock=thread_seconds)
        kernel = f"the same {count} steps in one call, unrecorded"
        told = f"{runs} runs of {count} steps, one thread; per step of one run"
        yield Row(self.name, "every 10th step recorded", timings["seldom"], kernel, timings["kernel"], 0.9, remarks=told)
        yield Row(
            self.name, "every step recorded", timings["often"], kernel, timings["kernel"], 0.8, remarks="into reused arrays"
        )
        yield Row(self.name, "one step per call", timings["single"], kernel, timings["kernel"], remarks="from Python")
        yield Row(
            self.name, "every 10th step recorded", timings["seldom"], "mujoco.batch, one thread", timings.get("peer"), 45.0,
            agreement=error,
        )  # fmt: skip
        if (os.cpu_count() or 1) > 1:
            yield from self._two_threads(sim, q, v, effort)

    def _two_threads(self, sim: km.Simulation, q: np.ndarray, v: np.ndarray, effort: Effort) -> Iterator[Row]:
        """One step a call on two threads; beside it what two threads can give at that time, apart from each other."""
        runs, whole = len(q), sim.batch(q, v)
        halves = [sim.batch(q[part], v[part]) for part in (slice(0, runs // 2), slice(runs // 2, None))]
        pool = ThreadPoolExecutor(2)

        def apart() -> None:
            with threads(1):
                wait([pool.submit(half.step, 20) for half in halves])

        def on(count: int) -> Contender:
            def work() -> None:
                with threads(count):
                    for _ in range(20):
                        whole.step()

            return Contender(work, 20 * runs)

        timings = by_turns({"two": on(2), "one": on(1), "apart": Contender(apart, 20 * runs)}, effort.rounds)
        most = timings["one"].minimum / timings["apart"].minimum
        told = f"needs a free second core: two batches of half the rows, 20 steps a call and a thread each, gave {most:.2f}×"
        yield Row(self.name, "one step per call, two threads", timings["two"], "one thread", timings["one"], 1.9, remarks=told)


class _MuJoCoBatch:
    """The same runs by `mujoco.batch`, as a user starts it."""

    def __init__(self, subject: Subject, runs: int):
        mujoco, batches = (importlib.import_module(name) for name in ("mujoco", "mujoco.batch"))
        model = mujoco.MjModel.from_xml_string(mjcf(subject.mechanism, step=1e-3))
        self.batch: Any = batches.Batch(model, runs, nthread=1)
        self.q, self.v = self.batch.bind("qpos"), self.batch.bind("qvel")

    def rollout(self, q: np.ndarray, v: np.ndarray, count: int) -> np.ndarray:
        """q after so many steps."""
        self.batch.reset()
        self.q[:], self.v[:] = q, v
        self.batch.step(nstep=count)
        return np.array(self.q)


@dataclass(frozen=True)
class SingleRun(SubjectCase):
    """One run by `simulate`, every step recorded and all outputs computed, against the steps alone."""

    duration: float = 10.0
    name: str = "single_run"
    title: str = "one run of an arm by simulate, Runge-Kutta"

    def rows(self, effort: Effort) -> Iterator[Row]:
        robot = km.load(self.subject.mechanism)
        sim, count = km.Simulation(robot, integrator="rk4", limits=False), round(self.duration * 1e3)
        start = sim.start()
        contenders = {
            "run": Contender(lambda: km.simulate(robot, duration=self.duration, integrator="rk4", limits=False), count),
            "steps": Contender(lambda: sim.step(start, count), count),
        }
        with threads(1):
            timings = by_turns(contenders, max(3, effort.rounds // 4), clock=thread_seconds)
        yield Row(
            self.name, f"simulate, {self.duration:g} s at 1 ms", timings["run"], "its steps in machine code, unrecorded",
            timings["steps"], 1.0 / 1.5, remarks="per step; with accelerations, energies, momenta and audit of every step",
        )  # fmt: skip
        yield self._single_steps(sim, effort)

    def _single_steps(self, sim: km.Simulation, effort: Effort) -> Row:
        """A loop of Python that gives efforts and makes a step, as a controller outside does."""
        tau, calls, state = np.zeros(sim.mechanism.nv), 1000, sim.start()

        def steps() -> None:
            nonlocal state
            for _ in range(calls):
                state = sim.step(state, tau=tau)

        contenders = {"ours": Contender(steps, calls)}
        if MuJoCo.installed():
            peer = MuJoCo(sim.mechanism, step=1e-3)
            contenders["theirs"] = Contender(partial(peer.driven, tau, calls), calls)
        timings = by_turns(contenders, max(3, effort.rounds // 4), clock=thread_seconds)
        return Row(
            self.name, "a step a call from Python, with efforts", timings["ours"], "MuJoCo's mj_step, likewise",
            timings.get("theirs"), remarks="a state of its own after each step; MuJoCo's arrays are written in place",
        )  # fmt: skip


@dataclass(frozen=True)
class LoopSteps(Case):
    """Steps of a robot with closed loops, against its forward dynamics alone; and starts that are closed in one batch."""

    runs: int = 512
    count: int = 20
    starts: int = 4096
    name: str = "loop_steps"
    title: str = "steps of Cassie with its loops, and starts closed and assembled at once"

    @property
    def missing(self) -> str:  # type: ignore[override]
        folder = robots_folder()
        return "" if folder is not None and (folder / cassie.FILE).exists() else "example-robot-data"

    def rows(self, effort: Effort) -> Iterator[Row]:
        mechanism = cassie.cassie()
        q0, rng = cassie.start(mechanism), np.random.default_rng(0)
        robot, runs = km.Robot(mechanism, start=(q0, np.zeros(mechanism.nv))), effort.share(self.runs)
        kernel = robot.compile("forward_dynamics").prepare()
        q, v, out = np.tile(q0, (runs, 1)), np.zeros((runs, mechanism.nv)), np.empty((runs, mechanism.nv))
        for integrator, target in (("semi_implicit_euler", 1.6), ("rk4", 5.5)):
            sim = km.Simulation(robot, integrator=integrator, step=2e-4)
            batch = sim.batch(q)
            contenders = {
                "steps": Contender(partial(batch.step, self.count), runs * self.count),
                "dynamics": Contender(lambda: kernel.into(out, q, v, v), runs),
            }
            with threads(1):
                timings = by_turns(contenders, effort.rounds, clock=thread_seconds)
            gap = max(gap.distance for gap in robot.constraint_residual(batch.q))
            yield Row(
                self.name, f"step by {integrator}, batch", timings["steps"], "forward dynamics, batch", timings["dynamics"],
                1.0 / target, remarks=f"target: {target:g} forward dynamics; loops open by {gap:.0e} m",
            )  # fmt: skip
        rows = q0 + 1e-9 * rng.normal(size=(self.starts, mechanism.nq))
        far = robot.integrate(np.tile(q0, (self.starts, 1)), rng.uniform(-AROUND, AROUND, (self.starts, mechanism.nv)))
        robot.assemble(far[:16])  # compiles
        calls = {"starts": Contender(lambda: sim.batch(rows), 1), "far": Contender(lambda: robot.assemble(far), 1)}
        with threads(1):
            timings = by_turns(calls, max(3, effort.rounds // 4), clock=thread_seconds)
        yield Row(self.name, f"closing {self.starts} starts", timings["starts"], at_most=0.010)
        gap = max(gap.distance for gap in robot.constraint_residual(robot.assemble(far)))
        told = f"from postures whose joints are up to {AROUND:g} rad off, by robot.assemble; open by {gap:.0e} m"
        yield Row(self.name, f"assembling {self.starts} at once", timings["far"], at_most=0.050, remarks=told)


@dataclass(frozen=True)
class SecondRun(Case):
    """A second `simulate` of a process: the same again, and with another controller.

    Attributes:
        repeats: how often each.
    """

    repeats: int = 20
    name: str = "second_run"
    title: str = "a second simulate of a humanoid with contact in one process"

    def rows(self, effort: Effort) -> Iterator[Row]:
        robot = km.load(hoap1())

        def simulate(gain: float) -> float:
            begin = time.perf_counter()
            km.simulate(robot, duration=1e-3, contact="rigid", controller=lambda t, q, v: -gain * v)
            return time.perf_counter() - begin

        first, repeats = once(simulate(0.1)), min(self.repeats, effort.rounds)
        again = Timing.of([simulate(0.1) for _ in range(repeats)])
        others = Timing.of([simulate(0.2 + 0.01 * k) for k in range(repeats)])
        told = f"1 step of 1 ms; the fastest of {repeats}, the median behind the stroke"
        yield Row(self.name, "the same again", again, "the first", first, at_most=5e-3, remarks=told)
        each = "each with a controller that no run of the process has had"
        yield Row(self.name, "another controller", others, "the first", first, at_most=10e-3, remarks=each)
