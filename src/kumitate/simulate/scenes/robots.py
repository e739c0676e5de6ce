"""A robot in a scene: its state goes into the arrays of the scene before each step, and what the step made of it back."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property

import numpy as np

from ... import kinematics
from ...compile import Kernel, found_or_traced
from ...compile.stored import StoredProgram
from ...contact.scenes.arrays import MovingBodies, RobotMotions, Robots
from ...contact.scenes.building import rows_of
from ...contact.scenes.parts import RobotPart
from ...model import Bound
from ...model.digest import digest
from ...procedure.located import LocatedProgram
from ...scalar import Program, trace
from ..integrators import RK4
from ..stepping.equations import dynamics_program, observables_program, projection_program
from ..stepping.forcing import Forcing
from ..stepping.system import step_program
from .robot_loops import RobotLoops
from .robot_programs import ROW, moved_program, prepared_program
from .settling_programs import begun_program, bounds_on, pieces_of, settled_program

__all__ = ["RobotSteps"]


class RobotSteps:
    """The steps of one robot of a scene.

    Attributes:
        part: the robot; number: its own among those of the scene.
        places: those of the simulation's wrenches that are on it, with their numbers.
        drives: the names of its loops with drives.
        flies: whether it takes Runge-Kutta steps while nothing pushes it; with drives or stops it never does.
    """

    def __init__(
        self, part: RobotPart, number: int, places: Sequence[str], drives: Iterable[str], driven: Sequence[str],
        bounds: Sequence[Bound], flies: bool,
    ):  # fmt: skip
        self.part, self.number = part, number
        own = [joint.name for joint in part.mechanism.driven]
        self._drives, self._bounds = [k for k, name in enumerate(driven) if name in own], bounds_on(part, bounds)
        self.flies = flies and not self.settles
        self._first = 0
        known = part.mechanism.tree.places
        self.places = {k: name for k, name in enumerate(places) if name in known and known[name].link >= 0}
        self.drives = [name for name in drives if name in {loop.name for loop in part.mechanism.loops}]

    def locate(self, motions: RobotMotions) -> None:
        """Writes the addresses of its programs, by which the steps of a scene move it."""
        programs = {0: self._prepared_program, 1: self._moved_program}
        if self.flies:
            programs[2] = self._flown_program
        if self.settles:
            programs |= {3: self._begun_program, 4: self._settled_program}
        self._located = {k: LocatedProgram(program) for k, program in programs.items()}
        motions.programs[self.number, list(programs)] = [located.address for located in self._located.values()]

    def put_efforts(self, robots: Robots, tau: np.ndarray, pulls: np.ndarray, commands: np.ndarray) -> None:
        """Writes the efforts of a step: of those at the joints (nv), wrenches (places, 6) and commands (drives, 3) of all."""
        self._first = int(robots.first_row[self.number])
        self._put_row(robots.effort, tau[self.part.v])
        own = robots.motions
        u = own.u[own.first_u[self.number] : own.first_u[self.number + 1]]
        u[:] = np.concatenate([tau[self.part.v], *(pulls[k] for k in self.places)])
        if self.settles and self._drives:
            given = own.commands[own.first_command[self.number] : own.first_command[self.number + 1]]
            given[:] = commands[self._drives].reshape(-1)

    @property
    def settles(self) -> bool:
        """Whether it has drives or stops."""
        return bool(self._bounds or self._drives)

    @property
    def sizes(self) -> tuple[int, int, int]:
        """The numbers of its efforts in flight, of its commands, and of the pieces of its drives and stops."""
        commands = 3 * max(len(self._drives), 1)
        return len(self.part.v) + 6 * len(self.places), commands, pieces_of(self.part.mechanism, self._bounds)

    def put(
        self, bodies: MovingBodies, h: float, q: np.ndarray, v: np.ndarray, tau: np.ndarray, loop_tau: Mapping[str, np.ndarray]
    ) -> None:  # fmt: skip
        """Writes the state before a step h, and efforts at the joints (nv) and in loops, all of the whole scene."""
        robots, part = bodies.robots, self.part
        self._first = int(robots.first_row[self.number])
        self._v, self._own, self._loop_tau = v[part.v], tau[part.v], {name: loop_tau[name] for name in self.drives}
        poses, columns, inertia, undriven = self._prepared(h, q[part.q], self._v)
        bodies.turn[list(part.links)], bodies.place[list(part.links)] = poses[:, :9].reshape(-1, 3, 3), poses[:, 9:]
        size = ROW * len(undriven)
        self._inertia, self._undriven = inertia.transpose(0, 2, 1, 3).reshape(size, size), undriven.reshape(-1)
        self._tau = self._own
        if self.loops is not None:
            self.loops.put(h, q[part.q], self._v)
            self._inertia = self._inertia + self.loops.resisting
            self._tau = self._own + self.loops.efforts(self._loop_tau)
        jacobians = self._jacobians(columns, poses[:, 9:])
        if self.loops is not None:
            jacobians = jacobians @ self.loops.stay
        first = robots.first_column[self._slice(robots.first_link).start]
        blocks = jacobians.reshape(-1, ROW, len(undriven), ROW).transpose(0, 2, 1, 3)
        robots.jacobian[first : first + len(part.links) * len(undriven)] = blocks.reshape(-1, ROW, ROW)
        self._put_row(robots.before, self._v)
        self._let_go(robots, h, np.zeros(len(part.v)), np.zeros(len(part.v)))

    def _jacobians(self, columns: np.ndarray, places: np.ndarray) -> np.ndarray:
        """The Jacobians (links, 6, size) of the links about their origins (links, 3), from the columns (size, 6) of joints."""
        own, carries = self._carried
        levers = places[:, None] - places[own]
        J = np.zeros((len(places), len(columns), 6))
        used = columns[: len(own)]
        J[:, : len(own)] = used * carries[:, :, None]
        J[:, : len(own), 3:] += np.cross(used[:, :3], levers) * carries[:, :, None]
        return J.transpose(0, 2, 1)

    @cached_property
    def _carried(self) -> tuple[np.ndarray, np.ndarray]:
        """The link of the joint of every velocity (nv); for every link (links, nv), 1 for the joints that carry it."""
        tree = self.part.mechanism.tree
        own = np.array([link.index for link in tree.links for _ in range(link.kind.nv)])
        above = [{ancestor.index for ancestor in tree.ancestors(link.index)} for link in tree.links]
        return own, np.array([[float(k in found) for k in own] for found in above])

    def resist(self, bodies: MovingBodies, h: float, effort: np.ndarray, resisting: np.ndarray) -> None:
        """Adds efforts (nv of the scene) at the joints to those of `put`, which inertias `resisting` (nv) reduce."""
        self._let_go(bodies.robots, h, effort[self.part.v], resisting[self.part.v])

    def _let_go(self, robots: Robots, h: float, effort: np.ndarray, resisting: np.ndarray) -> None:
        """Writes the inertia and what acts in a step, with more efforts and inertias (nv)."""
        own, size, stay = len(effort), len(self._undriven), np.eye(len(self._undriven))
        more, before, free = np.zeros(size), np.zeros(size), self._undriven
        more[:own] = resisting
        inertia, tau, self._opening = self._inertia + np.diag(more), np.zeros(size), np.zeros(size)
        tau[:own] = self._tau + effort
        whole = inertia
        if self.loops is not None:
            stay, tau = self.loops.stay, self.loops.stay @ tau
            whole = stay @ inertia @ stay + np.trace(inertia) / size * (np.eye(size) - stay)
        mobility = np.linalg.inv(whole)
        if self.loops is not None or more.any():
            before[:own] = self._v - h * self._turning(self._v)  # v̇ counts from there
            free = mobility @ (stay @ (self._inertia @ free + more * before))
        if self.loops is not None:  # at the end of a step loops move on: G v is not zero where nothing pushes
            self._opening = self._undriven - mobility @ (stay @ (inertia @ self._undriven))
        blocks, rows = self._slice(robots.first_block), size // ROW
        for array, matrix in ((robots.inertia, whole), (robots.mobility, mobility)):
            array[blocks] = matrix.reshape(rows, ROW, rows, ROW).transpose(0, 2, 1, 3).reshape(-1, ROW, ROW)
        self._put_row(robots.undriven, free)
        self._put_row(robots.effort, tau)

    def _put_row(self, rows: np.ndarray, values: np.ndarray) -> None:
        rows.reshape(-1)[ROW * self._first : ROW * self._first + len(values)] = values

    def reached(self, bodies: MovingBodies) -> np.ndarray:
        """The velocities after a step, in the axes before it."""
        robots, rows, own = bodies.robots, self._slice(bodies.robots.first_row), len(self.part.v)
        if robots.pushed[self.number]:
            return robots.after[rows].reshape(-1)[:own].copy()
        return np.asarray(robots.free[rows].reshape(-1)[:own] + self._opening[:own])

    def move(self, bodies: MovingBodies, t: float, h: float, q: np.ndarray, v: np.ndarray, pulls: np.ndarray) -> float:
        """Advances its part of the state (nq), (nv) of the scene; returns the work of what drives and resists it [J].

        pulls: all wrenches of the simulation (places, 6).
        """
        part, robots = self.part, bodies.robots
        if self.flies and not robots.pushed[self.number]:
            u = np.concatenate([self._own, *(pulls[k] for k in self.places), *self._loop_tau.values()])
            q[part.q], v[part.v], work, _ = self._flown(t, h, q[part.q], v[part.v], 0.0, u)
        else:
            felt = self._tau + self._felt(bodies)[: len(part.v)]
            q[part.q], v[part.v], power = self._moved(h, q[part.q], v[part.v], self.reached(bodies), felt)
            work = h * power
        if self.loops is not None:
            q[part.q], v[part.v] = self.loops.close(q[part.q], v[part.v])
        return float(work)

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
    def loops(self) -> RobotLoops | None:
        """What keeps its loops closed; None without any."""
        mechanism = self.part.mechanism
        return RobotLoops(mechanism, ROW * rows_of(self.part), self._kernel) if mechanism.tree.closed else None

    @cached_property
    def _prepared(self) -> Kernel:
        return Kernel(self._prepared_program)

    @cached_property
    def _moved(self) -> Kernel:
        return Kernel(self._moved_program)

    @cached_property
    def _flown(self) -> Kernel:
        return Kernel(self._flown_program)

    @cached_property
    def _prepared_program(self) -> Program | StoredProgram:
        return self._program("prepared", lambda: prepared_program(self.part.mechanism))

    @cached_property
    def _moved_program(self) -> Program | StoredProgram:
        return self._program("moved", lambda: moved_program(self.part.mechanism))

    @cached_property
    def _begun_program(self) -> Program | StoredProgram:
        mechanism = self.part.mechanism
        return self._program(f"begun {self._bounds}", lambda: begun_program(mechanism, self._bounds))

    @cached_property
    def _settled_program(self) -> Program | StoredProgram:
        mechanism = self.part.mechanism
        return self._program(f"settled {self._bounds}", lambda: settled_program(mechanism, self._bounds))

    @cached_property
    def _flown_program(self) -> Program | StoredProgram:
        mechanism = self.part.mechanism
        wrenches = {name: np.zeros(6) for name in self.places.values()}
        forcing = Forcing(mechanism, wrenches=wrenches, loop_tau=dict.fromkeys(self.drives, ()))  # type: ignore[arg-type]

        def made() -> Program:
            closing = projection_program(mechanism) if mechanism.tree.closed else None
            return step_program(mechanism, RK4(), dynamics_program(mechanism, forcing, implicit_damping=False), closing, None)

        return self._program(f"flown {list(wrenches)} {self.drives}", made)

    @cached_property
    def _turning(self) -> Kernel:
        tree, name = self.part.mechanism.tree, f"turning_{self.part.mechanism.name}"
        return self._kernel("turning", lambda: trace(lambda v: kinematics.turning(tree, v), {"v": tree.nv}, name))

    @cached_property
    def observed(self) -> Kernel:
        """(q, v) → energies, center of mass, momentum."""
        return self._kernel("observed", lambda: observables_program(self.part.mechanism))

    def _kernel(self, role: str, make: Callable[[], Program]) -> Kernel:
        return Kernel(self._program(role, make))

    def _program(self, role: str, make: Callable[[], Program]) -> Program | StoredProgram:
        known = digest(self.part.mechanism)
        return found_or_traced(None if known is None else f"scene {role} {known}", make)
