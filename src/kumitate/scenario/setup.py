"""`Setup`: one simulation that a scenario describes, with every name looked up and every number in its place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..model import Mechanism
from ..robot import Robot
from ..run import Run
from ..simulate.parameters import Plant
from ..simulation import Simulation
from .laws import ControlLaw, controller_of

if TYPE_CHECKING:
    from ..contact.scene import Contact
    from ..simulate.prescribed.motion import PrescribedMotion

__all__ = ["Setup", "Solver"]


@dataclass(frozen=True)
class Solver:
    """How a motion is computed.

    Attributes:
        step: [s]; `duration`: [s].
        integrator: its name, or "auto".
        every: steps from one recorded state to the next; None for every step of a run, and for about a hundred records of each
            run of a sweep.
        tolerance: relative, of an adaptive step.
        sample_time: if given, the controller is called at its multiples only [s].
        stabilisation: how steps keep loops closed, "lagged" or "strict".
        baumgarte: if given, the rate at which gaps of loops decay [1/s], in place of projection.
        limits: whether joints stop at their limits.
    """

    step: float = 1e-3
    duration: float = 10.0
    integrator: str = "auto"
    every: int | None = None
    tolerance: float = 1e-8
    sample_time: float | None = None
    stabilisation: str = "lagged"
    baumgarte: float | None = None
    limits: bool = True


@dataclass(frozen=True, eq=False)
class Setup:
    """One simulation.

    Attributes:
        mechanism: that moves.
        q, v: where it starts, (nq) and (nv).
        tau: constant efforts at the joints (nv) [N·m, N]; without a controller.
        laws: the controllers, whose sum drives it.
        contact: what it touches, and by which model.
        solver: how the motion is computed.
        outputs: names of what else is computed.
        assemble: whether loops are closed from a rough start, by the nearest configuration.
        height: of the lowest point above the floor at the start [m]; None leaves the start as it is.
        motions: that joints follow, by name.
    """

    mechanism: Mechanism
    q: np.ndarray
    v: np.ndarray
    tau: np.ndarray
    laws: tuple[ControlLaw, ...] = ()
    contact: Contact | None = None
    solver: Solver = field(default_factory=Solver)
    outputs: tuple[str, ...] = ()
    assemble: bool = False
    height: float | None = None
    motions: Mapping[str, PrescribedMotion] = field(default_factory=dict)

    @property
    def plant(self) -> Plant:
        """What parameters of the model and of its laws belong to; laws whose gains differ have none in common."""
        gains: dict[str, list[Any]] = {}
        for law in self.laws:
            for name, value in law.gains.items():
                gains.setdefault(name, []).append(value)
        alike = {name: many[0] for name, many in gains.items() if all(np.array_equal(many[0], value) for value in many)}
        return Plant(self.mechanism, self.contact, alike)

    def with_solver(self, **settings: Any) -> Setup:
        """The setup with other settings of its solver."""
        return replace(self, solver=replace(self.solver, **settings))

    @property
    def start(self) -> tuple[np.ndarray, np.ndarray]:
        """(q, v), put onto the floor and with loops closed where that is asked for.

        Raises:
            ModelError: if loops cannot be closed from there.
        """
        return self.started(self.q, self.v)

    def started(self, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Another start, treated likewise."""
        if self.height is not None and self.contact is not None:
            from ..contact import on_ground

            q = np.asarray(on_ground(self.mechanism, q, self.contact, height=self.height))
        if self.assemble and self.mechanism.loops:
            q, v = Robot(self.mechanism).assemble(q, v)
        return q, v

    def simulation(self, *, equal_steps: bool = False, parameters: Sequence[str] = ()) -> Simulation:
        """What computes it.

        Args:
            parameters: of the model that may differ from run to run.
            equal_steps: whether "auto" has to take an integrator of constant step, as batches need.

        Raises:
            KumitateError: if anything of the setup is refused.
        """
        solver, start = self.solver, self.start
        robot = Robot(self.mechanism, start=start)
        driven: Any = controller_of(self.laws, robot) if self.laws else self.tau if np.any(self.tau) else None
        return Simulation(
            robot, outputs=self.outputs, start=start, step=solver.step, integrator=solver.integrator, controller=driven,
            contact=self.contact, tolerance=solver.tolerance, sample_time=solver.sample_time, motions=self.motions,
            stabilisation=solver.stabilisation, baumgarte=solver.baumgarte, limits=solver.limits, equal_steps=equal_steps,
            parameters=parameters,
        )  # fmt: skip

    def run(self, origin: Mapping[str, Any], progress: Any = None) -> Run:
        """The motion; its settings hold `origin`, as of `Scenario.settings`.

        Raises:
            DivergenceError: if it runs away; with the run up to there.
        """
        simulation = self.simulation()
        simulation.settings |= origin
        return simulation.run(duration=self.solver.duration, every=self.solver.every or 1, progress=progress)
