"""A brick, and two bricks on each other: steps beside MuJoCo, one run at a time and as many as the processor has lanes."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from kumitate.compile import Kernel, host
from kumitate.contact.scene import Contact
from kumitate.measure.timing import Contender, Effort, by_turns, raw, thread_seconds
from kumitate.model import Mechanism
from kumitate.model.convert import mujoco as mujoco_order
from kumitate.simulate.driving.forcing import Forcing
from kumitate.simulate.integrators import TimeStepping
from kumitate.simulate.interactions import Asked, StepDesign
from kumitate.simulate.interactions.impulses import ImpulseContact
from kumitate.simulate.interactions.scene import SceneContact
from kumitate.simulate.scenes.many_bodies import SceneStepper
from kumitate.simulate.setup import Setup
from kumitate.simulate.simulation import MechanismSimulation
from kumitate.simulate.stepping.equations import dynamics_program
from kumitate.simulate.stepping.interaction import Stabilisation
from kumitate.simulate.stepping.jumps import jump_program
from kumitate.simulate.stepping.system import StepParts, step_program

from .contract import Case
from .mujoco_floor import DEFAULT
from .mujoco_peer import MuJoCo
from .ours import rollout
from .report import Row
from .scenes import STEP, mjcf, piled

__all__ = ["FewBricks"]


@dataclass(frozen=True)
class FewBricks(Case):
    """Bricks that come to rest from a millimetre above it, pushed by some centimetres per second.

    Of one brick the code is traced. Two are a scene, and traced where lanes are wanted (`side_by_side`).

    Attributes:
        at_most: targets of one brick and of two, for our seconds a step, one run at a time.
        batch: the target beside MuJoCo with all lanes.
        runs, count: how many, and the steps of each.
    """

    at_most: tuple[float, float] = (1.7e-6, 2.5e-6)
    batch: float = 10.0
    runs: int = 32
    count: int = 200
    name: str = "few_bricks"
    title: str = "a brick and two bricks on a floor"
    peer = "MuJoCo"

    def rows(self, effort: Effort) -> Iterator[Row]:
        for title, masses, at_most in zip(("a brick", "two bricks"), ((1.0,), (1.0, 1.0)), self.at_most, strict=True):
            mechanism, contact, q, _ = piled(*masses)
            q = np.tile((q + 1e-3 * np.eye(7)[6]).ravel(), (self.runs, 1))
            v = np.random.default_rng(1).normal(scale=0.02, size=(self.runs, mechanism.nv))
            kernel, out = Kernel(_steps(mechanism, contact, self.count)), (np.empty_like(q), np.empty_like(v))
            contenders = {
                f"{lanes}": Contender(raw(kernel, lanes, (q, v), out), len(q) * self.count) for lanes in (1, host().lanes)
            }
            scene = _scene(mechanism, contact, q[0], v[0])
            if len(masses) > 1:
                contenders["1"] = Contender(partial(_run_all, scene, q, v, self.count), len(q) * self.count)
            if MuJoCo.installed():
                contenders["peer"] = Contender(_theirs(mechanism, contact, q, v, self.count), len(q) * self.count)
            timings = by_turns(contenders, min(effort.rounds, 10), clock=thread_seconds)
            what, beside = f"{title}, a step", f"MuJoCo's mj_step(nstep={self.count}), {DEFAULT.name}"
            peer = timings.get("peer")
            yield Row(self.name, f"{what}, one run at a time", timings["1"], beside if peer else "", peer, at_most=at_most)
            many = f"{what}, {host().lanes} runs at a time"
            yield Row(self.name, many, timings[f"{host().lanes}"], beside, peer, at_least=self.batch)
            if len(masses) > 1:
                rest = Contender(partial(scene.run, {}, 1, 2000), 2000)
                alone = by_turns({"": rest}, 3, clock=thread_seconds)[""]
                told = f"{what}, at rest"
                yield Row(self.name, told, alone, beside if peer else "", peer, at_most=at_most)


def _scene(mechanism: Mechanism, contact: Contact, q: np.ndarray, v: np.ndarray) -> SceneStepper:
    simulation = MechanismSimulation(Setup(mechanism, step=STEP))
    design = StepDesign(TimeStepping(), simulation.actuation, Stabilisation())
    return SceneContact(mechanism, contact).advance(design).stepper(simulation.actuation, STEP, q, v)


def _run_all(scene: SceneStepper, q: np.ndarray, v: np.ndarray, count: int) -> None:
    """Runs of so many steps from all states, one after the other."""
    for start in zip(q, v, strict=True):
        scene.begin(*start)
        scene.run({}, 1, count)


def _steps(mechanism: Mechanism, contact: Contact, count: int) -> Any:
    """(q, v) → q, v after `count` steps."""
    touching, q, v = ImpulseContact.of(mechanism, contact), np.zeros(mechanism.nq), np.zeros(mechanism.nv)
    integrator = touching.integrator(Asked("semi_implicit_euler", STEP, 1e-8, q, v), [])
    forcing = Forcing(mechanism)
    dynamics = dynamics_program(forcing, implicit_damping=integrator.implicit_damping)
    jumps = jump_program(forcing, dynamics, touching.impacts(resisted=False))
    return rollout(mechanism, step_program(forcing, integrator, StepParts(dynamics, jumps=jumps)), STEP, count)


def _theirs(mechanism: Mechanism, contact: Contact, q: np.ndarray, v: np.ndarray, count: int) -> Callable[[], None]:
    mujoco: Any = importlib.import_module("mujoco")
    model = mujoco.MjModel.from_xml_string(mjcf(mechanism, contact, DEFAULT))
    data, order = mujoco.MjData(model), mujoco_order(mechanism, model)
    starts = [order.to(*state)[:2] for state in zip(q, v, strict=True)]

    def run() -> None:
        for at, speed in starts:
            mujoco.mj_resetData(model, data)
            data.qpos[:], data.qvel[:] = at, speed
            mujoco.mj_step(model, data, count)

    return run
