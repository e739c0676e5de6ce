"""A robot in a scene: the programs that the steps of the scene call for it, and its efforts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property

import numpy as np

from ... import kinematics
from ...compile import Kernel, found_or_traced
from ...compile.stored import StoredProgram
from ...contact.scenes.arrays import RobotMotions, Robots
from ...contact.scenes.building import rows_of, with_efforts
from ...contact.scenes.parts import RobotPart
from ...contact.scenes.scene import Scene
from ...model import Bound, freedoms
from ...model.digest import digest
from ...procedure.located import LocatedProgram
from ...scalar import Program, trace
from ..integrators import RK4
from ..stepping.equations import dynamics_program, observables_program, projection_program, seen_program
from ..stepping.forcing import Forcing
from ..stepping.system import step_program
from .robot_programs import ROW, loop_program, moved_program, prepared_program
from .settling_programs import begun_program, bounds_on, pieces_of, settled_program

__all__ = ["RobotSteps", "with_robots"]


class RobotSteps:
    """The steps of one robot of a scene.

    Attributes:
        part: the robot; number: its own among those of the scene.
        places: those of the simulation's wrenches that are on it, with their numbers.
        drives: its loops with drives by name, and their degrees of freedom.
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
        known = part.mechanism.tree.places
        self.places = {k: name for k, name in enumerate(places) if name in known and known[name].link >= 0}
        nv = {loop.name: loop.kind.nv for loop in part.mechanism.loops}
        self.drives = {name: nv[name] for name in drives if name in nv}

    def locate(self, motions: RobotMotions) -> None:
        """Writes the addresses of its programs, by which the steps of a scene move it."""
        programs = {0: self._prepared_program, 1: self._moved_program}
        if self.flies:
            programs[2] = self._flown_program
        if self.settles:
            programs |= {3: self._begun_program, 4: self._settled_program}
        if self.part.mechanism.tree.closed:
            programs |= {5: self._loop_program, 6: self._closed_program}
        self._located = {k: LocatedProgram(program) for k, program in programs.items()}
        motions.programs[self.number, list(programs)] = [located.address for located in self._located.values()]

    def put_efforts(
        self, robots: Robots, tau: np.ndarray, pulls: np.ndarray, commands: np.ndarray, loop_tau: Mapping[str, np.ndarray]
    ) -> None:  # fmt: skip
        """Writes the efforts of a step: of those of all joints (nv), wrenches (places, 6), commands (drives, 3) and loops."""
        own, first = robots.motions, ROW * int(robots.first_row[self.number])
        robots.effort.reshape(-1)[first : first + len(self.part.v)] = tau[self.part.v]
        u = own.u[own.first_u[self.number] : own.first_u[self.number + 1]]
        u[:] = np.concatenate([tau[self.part.v], *(pulls[k] for k in self.places), *(loop_tau[name] for name in self.drives)])
        if self.settles and self._drives:
            given = own.commands[own.first_command[self.number] : own.first_command[self.number + 1]]
            given[:] = commands[self._drives].reshape(-1)

    @property
    def settles(self) -> bool:
        """Whether it has drives or stops."""
        return bool(self._bounds or self._drives)

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many efforts, commands, pieces, rows of loops, degrees of freedom and rows of axes it has, as `RobotMotions`."""
        mechanism = self.part.mechanism
        commands, pieces = 3 * max(len(self._drives), 1), pieces_of(mechanism, self._bounds)
        free = ROW * rows_of(self.part) + freedoms(mechanism) - mechanism.nv if self.settles else 0
        looped = self._loop_program.outputs if mechanism.tree.closed else ()
        closed, _, axes = (array.size // ROW for array in looped) if looped else (0, 0, 0)
        return self._first_drive + sum(self.drives.values()), commands, pieces, closed, free, axes

    @property
    def _first_drive(self) -> int:
        """Where the efforts of drives in loops begin among its efforts."""
        return len(self.part.v) + 6 * len(self.places)

    def put(self, motions: RobotMotions, q: np.ndarray, v: np.ndarray) -> None:
        """Writes its part of a state (nq), (nv) of the scene."""
        motions.q[motions.first_q[self.number] : motions.first_q[self.number + 1]] = q[self.part.q]
        motions.v[motions.first_v[self.number] : motions.first_v[self.number + 1]] = v[self.part.v]

    def acceleration(self, h: float, reached: np.ndarray, v: np.ndarray) -> np.ndarray:
        """The mean accelerations (n, nv) of steps that led from velocities v to those `reached`."""
        return (reached - v) / h + self._turning(v)

    # --- its programs -----------------------------------------------------------------------------------------------------
    @cached_property
    def _prepared_program(self) -> Program | StoredProgram:
        return self._program("prepared", lambda: prepared_program(self.part.mechanism))

    @cached_property
    def _moved_program(self) -> Program | StoredProgram:
        return self._program("moved", lambda: moved_program(self.part.mechanism))

    @cached_property
    def _loop_program(self) -> Program | StoredProgram:
        sizes, begin = list(self.drives.values()), self._first_drive
        begins = {name: begin + sum(sizes[:k]) for k, name in enumerate(self.drives)}
        return self._program(f"loops {begins} {begin}", lambda: loop_program(self.part.mechanism, begins, begin + sum(sizes)))

    @cached_property
    def _closed_program(self) -> Program | StoredProgram:
        mechanism = self.part.mechanism
        return self._program("closed", lambda: seen_program(mechanism, projection_program(mechanism)))

    @cached_property
    def projection(self) -> Kernel:
        """(q, v) → q, v with the loops closed to the first order in the error."""
        return self._kernel("projection", lambda: projection_program(self.part.mechanism))

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

        return self._program(f"flown {list(wrenches)} {list(self.drives)}", made)

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


def with_robots(scene: Scene, robots: Sequence[RobotSteps]) -> Scene:
    """The scene with room for the numbers of its robots, which knows their programs."""
    made = with_efforts(scene, *([robot.sizes[k] for robot in robots] for k in range(6)))
    for robot in robots:
        robot.locate(made.bodies.robots.motions)
    return made
