"""A robot in a scene: the programs that the steps of the scene call for it, and its efforts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property, partial
from typing import Any

import numpy as np

from ... import kinematics
from ...analysis import joint_accelerations, joint_motion
from ...compile import Kernel, found_or_traced
from ...compile.stored import StoredProgram
from ...contact.impulse.splitting import before_springs
from ...contact.scenes.arrays import Robots, Scene
from ...contact.scenes.building import rows_of, with_efforts
from ...contact.scenes.parts import RobotPart, robot_parts
from ...contact.scenes.robots.carrying import list_links
from ...dynamics import Row, chord_closings, chord_rows, constraint_rows, link_motions, loop_jacobian
from ...dynamics.loops.chord_forces import chord_drive, ends
from ...dynamics.loops.constraints import row_drifts
from ...dynamics.settling.drives import DriveForce, drive_forces
from ...dynamics.settling.settled import Settled, pushes_of, seen, starting
from ...dynamics.settling.stops import Stop, advances, stops_at
from ...model import Bound, Command, Mechanism, bounds_of, freedoms
from ...model.mechanism import digest
from ...procedure import LocatedProgram
from ...scalar import Program, Scalar, call, is_zero, select, trace
from ..driving.forcing import Forcing
from ..driving.inputs import InputLayout, StepInputs
from ..integrators import RK4
from ..stepping.equations import (
    applied_power,
    drive_power,
    dynamics_program,
    observables_program,
    open_program,
    projection_program,
)
from ..stepping.jumps import end_gaps, work_of_stops
from ..stepping.system import StepParts, step_program

#: The velocities of a robot stand in rows of so many.
ROW = 6


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
        self._drives, there = [k for k, name in enumerate(driven) if name in own], {(one.name, one.sign) for one in bounds}
        self._bounds = [bound for bound in bounds_of(part.mechanism) if (bound.name, bound.sign) in there]
        self.flies = flies and not self.settles
        known = part.mechanism.tree.places
        self.places = {k: name for k, name in enumerate(places) if name in known and known[name].link >= 0}
        nv = {loop.name: loop.kind.nv for loop in part.mechanism.loops}
        self.drives = {name: nv[name] for name in drives if name in nv}

    def locate(self, robots: Robots) -> None:
        """Writes the addresses of its programs, by which the steps of a scene move it."""
        m, bounds = self.part.mechanism, self._bounds
        programs: dict[int, Any] = {0: self._program("moved", lambda: moved_program(m))}
        list_links(robots, self.number, m.tree)
        if self.flies:
            programs[1] = self._program(f"flown {list(self.places.values())} {list(self.drives)}", self._flown)
        if self.settles:
            programs[2] = self._program(f"begun {bounds}", lambda: begun_program(m, bounds))
            programs[3] = self._program(f"settled {bounds}", lambda: settled_program(m, bounds))
        if m.tree.closed:
            programs[4] = self._loops
            programs[5] = self._program("open", lambda: open_program(m))
            programs[6] = lambda: self._program("projection", lambda: projection_program(m))
        self._located = {k: LocatedProgram(program) for k, program in programs.items()}
        for k, located in self._located.items():  # couplings alone stay closed to rounding by velocities that keep them so
            robots.motions.programs[self.number, k] = located.waiting(4) if k == 6 and not m.loops else located.address

    def efforts(self, layout: InputLayout) -> tuple[list[int], list[int], list[int]]:
        """Where u has its efforts at joints (6 · rows), those that free flight takes, and its commands (`arrays.Efforts`)."""
        joints = self.part.v.tolist()
        filled = [*joints, *[-1] * (ROW * rows_of(self.part) - len(joints))]
        wrenches, loops = layout.group("wrenches"), layout.group("loop_tau")
        taken = [*(wrenches[name] for name in self.places.values()), *(loops[name] for name in self.drives)]
        commands = [own.start + drive for drive in self._drives for own in layout.group("commands").values()]
        return filled, [*joints, *(k for own in taken for k in range(own.start, own.stop))], commands or [-1, -1, -1]

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
        looped = {one.name: one.size // ROW for one in self._loops.outputs} if mechanism.tree.closed else {}
        efforts = self._first_drive + sum(self.drives.values())
        return efforts, commands, pieces, looped.get("closed", 0), free, looped.get("axes", 0)

    @property
    def _first_drive(self) -> int:
        """Where the efforts of drives in loops begin among its efforts."""
        return len(self.part.v) + 6 * len(self.places)

    # --- its programs -----------------------------------------------------------------------------------------------------
    @cached_property
    def _loops(self) -> Program | StoredProgram:
        sizes, begin = list(self.drives.values()), self._first_drive
        begins = {name: begin + sum(sizes[:k]) for k, name in enumerate(self.drives)}
        return self._program(f"loops {begins} {begin}", lambda: loop_program(self.part.mechanism, begins, begin + sum(sizes)))

    def _flown(self) -> Program:
        m, wrenches = self.part.mechanism, {name: np.zeros(6) for name in self.places.values()}
        forcing = Forcing(m, wrenches=wrenches, loop_tau=dict.fromkeys(self.drives, ()))  # type: ignore[arg-type]
        closing = projection_program(m) if m.tree.closed else None
        return step_program(forcing, RK4(), StepParts(dynamics_program(forcing, implicit_damping=False), closing))

    @cached_property
    def projection(self) -> Kernel:
        """(q, v) → q, v with the loops closed to the first order in the error."""
        return Kernel(self._program("projection", lambda: projection_program(self.part.mechanism)))

    def observed(self, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, ...]:
        """Energies, center of mass and momentum of states (n), of which some are added if they are few: one code for all."""
        count = len(q)
        if count < self._observables.lanes:
            q, v = (np.concatenate([x, np.repeat(x[-1:], self._observables.lanes - count, axis=0)]) for x in (q, v))
        return tuple(values[:count] for values in self._observables(q, v))

    @cached_property
    def _observables(self) -> Kernel:
        program = self._program("observed", lambda: observables_program(self.part.mechanism))
        return Kernel(program, quick=True)  # of what one run records

    def _program(self, role: str, make: Callable[[], Program]) -> Program | StoredProgram:
        known = digest(self.part.mechanism)
        return found_or_traced(None if known is None else f"scene {role} {known}", make)


def robots_of(
    mechanism: Mechanism, places: Sequence[str] = (), drives: Iterable[str] = (), bounds: Sequence[Bound] = (), *,
    flies: bool = False,
) -> list[RobotSteps]:  # fmt: skip
    """The robots of a mechanism, with the places of wrenches on them, the loops that are driven, and limits that are stops."""
    parts, driven = robot_parts(mechanism), [joint.name for joint in mechanism.driven]
    return [RobotSteps(part, number, places, list(drives), driven, bounds, flies) for number, part in enumerate(parts)]


def with_robots(scene: Scene, robots: Sequence[RobotSteps]) -> Scene:
    """The scene with room for the numbers of its robots, which knows their programs."""
    made = with_efforts(scene, *([robot.sizes[k] for robot in robots] for k in range(6)))
    for robot in robots:
        robot.locate(made.bodies.robots)
    return made


def loop_program(mechanism: Mechanism, drives: Mapping[str, int], efforts: int) -> Program:
    """(h, q, v, u) → what closes the loops of a robot.

    "closed" (rows of G, rows of six, 6): G v are the rates at which loops and couplings open. "bends" (rows of G): by how much
    these change in a step in which joints keep their velocities. "along" (rows, 6): the efforts at the joints that are equal to
    those in loops. "axes" (degrees of freedom of loops, rows, 6): their rates per velocity; a row of zeros where no loop joint
    has a drive of its own. "inertia" (rows, rows, 6, 6), "impulse" (rows, 6): what springs, dampers and armatures along loops
    add to those of a step implicit in them.

    Args:
        drives: by the name of a loop with drives, where its efforts begin in u.
        efforts: how many numbers u has.
    """

    def loops(h: Scalar, q: Any, v: Any, u: Any) -> dict[str, Any]:
        tree, nv = mechanism.base_parameter_tree, mechanism.nv
        motions, closings = link_motions(tree, q, v), chord_closings(tree, q, v)
        rows = constraint_rows(tree, closings, q, v, motions, implicit_step=h)
        rigid, soft = ([row for row in rows if is_zero(row.softness) == stiff] for stiff in (True, False))
        M: list[list[Scalar]] = [[0.0] * len(_padded(nv)) for _ in _padded(nv)]
        impulse: list[Scalar] = [0.0] * nv
        for row, rates, drift in zip(soft, loop_jacobian(tree, motions, soft), row_drifts(tree, motions, soft), strict=True):
            moved = [(k, rate) for k, rate in enumerate(rates) if not is_zero(rate)]
            for i, left in moved:
                impulse[i] = impulse[i] - h * drift * left / row.softness
                for k, right in moved:
                    M[i][k] = M[i][k] + left * right / row.softness
        pulled = [
            Row(ends(chord, closing, chord_drive(chord, closing, {}, h)), {}, 0.0, 0.0, 0.0)
            for chord, closing in zip(tree.chords, closings, strict=True)
        ]
        for rates in loop_jacobian(tree, motions, pulled):
            impulse = [total + h * effort for total, effort in zip(impulse, rates, strict=True)]
        closed = loop_jacobian(tree, motions, rigid)
        along, axes = list[Scalar]([0.0] * nv), list[list[Scalar]]()
        for chord, closing in zip(tree.chords, closings, strict=True):
            own = loop_jacobian(tree, motions, chord_rows(tree, motions, chord, closing)[1])
            axes += own
            for k, rates in enumerate(own if chord.name in drives else (), drives.get(chord.name, 0)):
                along = [effort + rate * u[k] for effort, rate in zip(along, rates, strict=True)]
        nothing, six = [[0.0] * nv], range(len(M) // ROW)
        return {
            "closed": [in_rows(rates) for rates in closed or nothing],
            "bends": [-h * drift for drift in row_drifts(tree, motions, rigid)] or [0.0],
            "along": in_rows(along),
            "axes": [in_rows(rates) for rates in (axes if freedoms(mechanism) > nv else nothing)],
            "inertia": [[[line[_row(k)] for line in M[_row(i)]] for k in six] for i in six],
            "impulse": in_rows(impulse),
        }

    return trace(loops, {"h": (), "q": mechanism.nq, "v": mechanism.nv, "u": efforts}, f"loops_{mechanism.name}")


def moved_program(mechanism: Mechanism) -> Program:
    """(h, q, v, free, after, tau, smooth) → q, v after a step with the velocities `after` all along it, in the axes before it
    (Moreau 1988); and the power of tau and of what resists, at the mean of both velocities, as the kinetic energy requires [W].

    free: the velocities without contact; smooth: 1 for a step in which springs alone push (`contact.impulse.splitting`).
    """

    def moved(h: Scalar, q: Any, v: Any, free: Any, after: Any, tau: Any, smooth: Scalar) -> dict[str, Any]:
        tree = mechanism.tree
        begun = before_springs(tree, kinematics.link_poses(tree, q), v, free, h, mechanism.gravity)
        move = [h * select(smooth > 0.5, 0.5 * (a + b), b) for a, b in zip(begun, after, strict=True)]
        mean = [0.5 * (a + b) for a, b in zip(v, after, strict=True)]
        return {
            "q": kinematics.normalized(tree, kinematics.integrate(tree, q, move)),
            "v": kinematics.carried(tree, after, move),
            "power": applied_power(mechanism, q, mean, StepInputs(tau)),
        }

    nv = mechanism.nv
    sizes: dict[str, int | tuple[int, ...]] = {"h": (), "q": mechanism.nq, "v": nv, "free": nv, "after": nv, "tau": nv}
    return trace(moved, {**sizes, "smooth": ()}, f"moved_{mechanism.name}")


def in_rows(values: Sequence[Scalar]) -> list[list[Scalar]]:
    """Velocities or efforts in rows of six, the last filled up by zeros."""
    filled = [*values, *[0.0] * (len(_padded(len(values))) - len(values))]
    return [filled[_row(k)] for k in range(len(filled) // ROW)]


def _row(number: int) -> slice:
    return slice(ROW * number, ROW * number + ROW)


def _padded(nv: int) -> range:
    """The velocities of whole rows."""
    return range(-(-nv // ROW) * ROW)


def pieces_of(mechanism: Mechanism, bounds: Sequence[Bound]) -> int:
    """How many numbers say which pieces of drives and stops hold."""
    shifts = len(bounds) if _curved(mechanism, bounds) else 0
    return 2 * len(mechanism.driven) + 2 * len(bounds) + 1 + shifts


def begun_program(mechanism: Mechanism, bounds: Sequence[Bound]) -> Program:
    """(h, q, v, commands) → the pieces of a step's first pass, their efforts, and the inertias that reduce these.

    These are of all velocities as in rows of six, then of the degrees of freedom of driven loops (`freedoms`). "carried",
    likewise: the velocities that rates of change over the step count from, in the axes after it.
    """

    def begun(h: Scalar, q: Any, v: Any, commands: Any) -> dict[str, Any]:
        wished, stops = _acting(mechanism, bounds, h, q, v, commands)
        now = starting(wished, stops, curved=_curved(mechanism, bounds))
        turning = kinematics.turning(mechanism.tree, v)
        carried = [rate - h * turned for rate, turned in zip(v, turning, strict=True)]
        if freedoms(mechanism) > mechanism.nv:  # a · v̇ counts from there, without the accelerations of loops at v̇ = 0
            speeds = joint_motion(mechanism, q, carried)[1][mechanism.nv :]
            own = joint_accelerations(mechanism, q, v, [0.0] * mechanism.nv)[mechanism.nv :]
            carried += [speed - h * rate for speed, rate in zip(speeds, own, strict=True)]
        return {**_written(mechanism, stops, h, now), "carried": _filled(mechanism, carried)}

    return trace(begun, _inputs(mechanism), f"begun_{mechanism.name}")


def settled_program(mechanism: Mechanism, bounds: Sequence[Bound]) -> Program:
    """(h, q, v, commands, rates, pieces) → what rates of change (nv) over a step lead to: pieces, efforts, inertias; whether
    they are others than those that the rates result from; the work of drives and stops in the step [J]; and the push of stops.
    """

    def settled(h: Scalar, q: Any, v: Any, commands: Any, rates: Any, pieces: Any) -> dict[str, Any]:
        wished, stops = _acting(mechanism, bounds, h, q, v, commands)
        place, speeds = joint_motion(mechanism, q, v)
        after = [rate + h * change for rate, change in zip(v, rates, strict=True)]
        if freedoms(mechanism) > mechanism.nv:
            turned = [rate + turn for rate, turn in zip(rates, kinematics.turning(mechanism.tree, v), strict=True)]
            rates = [*rates, *joint_accelerations(mechanism, q, v, turned)[mechanism.nv :]]
        found = {"rates": rates}
        if _curved(mechanism, bounds):
            projection = projection_program(mechanism)
            ends = partial(end_gaps, mechanism, bounds, h, q, after, lambda end: call(projection, end, list(after))["q"])
            found["advances"] = advances(stops, place, ends, after, rates, h)
        end = seen(mechanism.driven, wished, stops, h, found, _read(mechanism, stops, pieces))
        mean = [speed + 0.5 * h * rate for speed, rate in zip(speeds, rates, strict=True)]
        work = h * drive_power(mechanism.driven, wished, speeds, rates, h) + work_of_stops(stops, end.multipliers, mean, h)
        return {
            **_written(mechanism, stops, h, end),
            "unsettled": end.unsettled,
            "work": work,
            "stopping": sum(end.multipliers, 0.0),
        }

    inputs = _inputs(mechanism) | {"rates": mechanism.nv, "pieces": pieces_of(mechanism, bounds)}
    return trace(settled, inputs, f"settled_{mechanism.name}")


def _inputs(mechanism: Mechanism) -> dict[str, int | tuple[int, ...]]:
    return {"h": (), "q": mechanism.nq, "v": mechanism.nv, "commands": (max(len(mechanism.driven), 1), 3)}


def _acting(
    mechanism: Mechanism, bounds: Sequence[Bound], h: Scalar, q: Any, v: Any, commands: Any
) -> tuple[list[DriveForce], list[Stop]]:
    """The efforts of drives without their limits, and the stops, at a state."""
    asked = [Command(*commands[k]) for k in range(len(mechanism.driven))]
    place, speeds = joint_motion(mechanism, q, v)
    return drive_forces(mechanism.driven, place, speeds, asked, (), h), stops_at(mechanism, bounds, place, speeds, h)


def _curved(mechanism: Mechanism, bounds: Sequence[Bound]) -> bool:
    """As of `dynamics.settling.settled`."""
    return bool(bounds and mechanism.loops)


def _read(mechanism: Mechanism, stops: Sequence[Stop], pieces: Any) -> Settled:
    drives, count = len(mechanism.driven), len(stops)
    efforts, rest = pieces[: 2 * drives], pieces[2 * drives :]
    forces = [DriveForce(efforts[k], efforts[drives + k]) for k in range(drives)]
    shifts = list(rest[2 * count + 1 :])
    return Settled({}, forces, list(rest[:count]), list(rest[count : 2 * count]), 0.0, rest[2 * count], shifts)


def _written(mechanism: Mechanism, stops: Sequence[Stop], h: Scalar, now: Settled) -> dict[str, Any]:
    """Pieces as numbers, and what they push with."""
    effort: list[Scalar] = [0.0] * freedoms(mechanism)
    resisting: list[Scalar] = [0.0] * freedoms(mechanism)
    for push in pushes_of(mechanism.driven, stops, h, now):
        effort[push.index] = effort[push.index] + push.effort
        resisting[push.index] = resisting[push.index] + push.resisting
    drives = [force.effort for force in now.drives] + [force.resisting for force in now.drives]
    pieces = [*drives, *now.multipliers, *now.holds, now.passes, *now.shifts]
    return {"pieces": pieces, "effort": _filled(mechanism, effort), "resisting": _filled(mechanism, resisting)}


def _filled(mechanism: Mechanism, values: Sequence[Scalar]) -> list[Scalar]:
    """Values of all degrees of freedom (`freedoms`), those of the tree as in rows of six."""
    return [*(value for row in in_rows(values[: mechanism.nv]) for value in row), *values[mechanism.nv :]]
