"""A robot in a scene: its state goes into the arrays of the scene before each step, and what the step made of it back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property

import numpy as np

from ... import kinematics
from ...compile import Kernel, StoredProgram, found_or_traced
from ...contact.scenes.arrays import MovingBodies, Robots
from ...contact.scenes.parts import RobotPart
from ...model.digest import digest
from ...scalar import Program, trace
from ..integrators import RK4
from ..stepping.equations import dynamics_program, observables_program
from ..stepping.forcing import Forcing
from ..stepping.system import step_program
from .robot_programs import ROW, moved_program, prepared_program

__all__ = ["RobotSteps"]


class RobotSteps:
    """The steps of one robot of a scene.

    Attributes:
        part: the robot; number: its own among those of the scene.
        places: those of the simulation's wrenches that are on it, with their numbers.
        flies: whether it takes Runge-Kutta steps while nothing pushes it.
    """

    def __init__(self, part: RobotPart, number: int, places: Sequence[str], flies: bool):
        self.part, self.number, self.flies = part, number, flies
        self._first = 0
        known = part.mechanism.tree.places
        self.places = {k: name for k, name in enumerate(places) if name in known and known[name].link >= 0}

    def put(self, bodies: MovingBodies, h: float, q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> None:
        """Writes the state before a step h, and the efforts tau at the joints, all of the whole scene."""
        robots, part = bodies.robots, self.part
        self._first = int(robots.first_row[self.number])
        self._v, self._tau = v[part.v], tau[part.v]
        poses, jacobians, inertia, undriven = self._prepared(h, q[part.q], self._v)
        bodies.turn[list(part.links)], bodies.place[list(part.links)] = poses[:, :9].reshape(-1, 3, 3), poses[:, 9:]
        first = robots.first_column[self._slice(robots.first_link).start]
        robots.jacobian[first : first + len(part.links) * len(undriven)] = jacobians.reshape(-1, 6, 6)
        size = ROW * len(undriven)
        self._inertia, self._undriven = inertia.transpose(0, 2, 1, 3).reshape(size, size), undriven.reshape(-1)
        self._put_row(robots.before, self._v)
        self._put_rows(robots, self._inertia, self._undriven, self._tau)

    def resist(self, bodies: MovingBodies, h: float, effort: np.ndarray, resisting: np.ndarray) -> None:
        """Adds efforts (nv of the scene) at the joints to those of `put`, which inertias `resisting` (nv) reduce."""
        own, inertia, undriven = resisting[self.part.v], self._inertia, self._undriven
        if own.any():
            more = np.zeros(len(undriven))
            more[: len(own)] = own
            before = np.zeros(len(undriven))
            before[: len(own)] = self._v - h * self._turning(self._v)  # v̇ counts from there
            inertia = self._inertia + np.diag(more)
            undriven = before + np.linalg.solve(inertia, self._inertia @ (undriven - before))
        self._put_rows(bodies.robots, inertia, undriven, self._tau + effort[self.part.v])

    def _put_rows(self, robots: Robots, inertia: np.ndarray, undriven: np.ndarray, tau: np.ndarray) -> None:
        blocks, rows = self._slice(robots.first_block), len(undriven) // ROW
        for array, whole in ((robots.inertia, inertia), (robots.mobility, np.linalg.inv(inertia))):
            array[blocks] = whole.reshape(rows, ROW, rows, ROW).transpose(0, 2, 1, 3).reshape(-1, ROW, ROW)
        self._put_row(robots.undriven, undriven)
        self._put_row(robots.effort, tau)

    def _put_row(self, rows: np.ndarray, values: np.ndarray) -> None:
        rows.reshape(-1)[ROW * self._first : ROW * self._first + len(values)] = values

    def reached(self, bodies: MovingBodies) -> np.ndarray:
        """The velocities after a step, in the axes before it."""
        robots = bodies.robots
        found = robots.after if robots.pushed[self.number] else robots.free
        return found[self._slice(robots.first_row)].reshape(-1)[: len(self.part.v)].copy()

    def move(self, bodies: MovingBodies, t: float, h: float, q: np.ndarray, v: np.ndarray, pulls: np.ndarray) -> float:
        """Advances its part of the state (nq), (nv) of the scene; returns the work of what drives and resists it [J].

        pulls: all wrenches of the simulation (places, 6).
        """
        part, robots = self.part, bodies.robots
        if self.flies and not robots.pushed[self.number]:
            u = np.concatenate([self._tau, *(pulls[k] for k in self.places)])
            q[part.q], v[part.v], work, _ = self._flown(t, h, q[part.q], v[part.v], 0.0, u)
            return float(work)
        felt = self._tau + self._felt(bodies)[: len(part.v)]
        q[part.q], v[part.v], power = self._moved(h, q[part.q], v[part.v], self.reached(bodies), felt)
        return float(h * power)

    def acceleration(self, h: float, reached: np.ndarray, v: np.ndarray) -> np.ndarray:
        """The mean accelerations (n, nv) of steps that led from velocities v to those `reached`."""
        return (reached - v) / h + self._turning(v)

    def _felt(self, bodies: MovingBodies) -> np.ndarray:
        """The efforts at joints of the wrenches on the links."""
        robots, links = bodies.robots, self._slice(bodies.robots.first_link)
        blocks = self._slice(robots.first_row)
        rows, first = blocks.stop - blocks.start, robots.first_column[links.start]
        J = robots.jacobian[first : first + len(self.part.links) * rows].reshape(-1, rows, 6, 6)
        return np.einsum("lrik,li->rk", J, bodies.push[list(self.part.links)]).reshape(-1)

    def _slice(self, starts: np.ndarray) -> slice:
        return slice(int(starts[self.number]), int(starts[self.number + 1]))

    # --- its programs -----------------------------------------------------------------------------------------------------
    @cached_property
    def _prepared(self) -> Kernel:
        return Kernel(self._stored("prepared", lambda: prepared_program(self.part.mechanism)))

    @cached_property
    def _moved(self) -> Kernel:
        return Kernel(self._stored("moved", lambda: moved_program(self.part.mechanism)))

    @cached_property
    def _flown(self) -> Kernel:
        mechanism = self.part.mechanism
        forcing = Forcing(mechanism, wrenches={name: np.zeros(6) for name in self.places.values()})  # type: ignore[misc]

        def made() -> Program:
            return step_program(mechanism, RK4(), dynamics_program(mechanism, forcing, implicit_damping=False), None, None)

        return Kernel(self._stored(f"flown {sorted(self.places.values())}", made))

    @cached_property
    def _turning(self) -> Kernel:
        tree, name = self.part.mechanism.tree, f"turning_{self.part.mechanism.name}"
        return Kernel(self._stored("turning", lambda: trace(lambda v: kinematics.turning(tree, v), {"v": tree.nv}, name)))

    @cached_property
    def observed(self) -> Kernel:
        """(q, v) → energies, center of mass, momentum."""
        return Kernel(self._stored("observed", lambda: observables_program(self.part.mechanism)))

    def _stored(self, role: str, make: Callable[[], Program]) -> Program | StoredProgram:
        known = digest(self.part.mechanism)
        return found_or_traced(None if known is None else f"scene {role} {known}", make)
