"""A robot in a scene: the programs that the steps of the scene call for it, and its efforts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property, partial
from math import inf, isfinite
from typing import Any
from weakref import WeakValueDictionary

import numpy as np

from ... import kinematics
from ...analysis import joint_accelerations, joint_motion, loop_equations
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
from ...dynamics.settling import (
    DriveForce,
    Settled,
    Stop,
    advances,
    drive_forces,
    going_on,
    pushes_of,
    seen,
    starting,
    stiffnesses,
    stops_at,
)  # fmt: skip
from ...model import Bound, Command, Driven, Mechanism, bounds_of, freedoms
from ...model.mechanism import digest
from ...procedure import LocatedProgram
from ...scalar import Program, Scalar, call, flatten, is_zero, select, trace
from ..driving.forcing import Forcing, InputLayout, StepInputs
from ..integrators import RK4
from ..stepping.equations import applied_power, drive_power, dynamics_program, open_program, projection_program
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
        m, own = self.part.mechanism, robots.motions
        programs: dict[int, Any] = {0: self._program("moved", lambda: moved_program(m))}
        list_links(robots, self.number, m.tree)
        if self.flies:
            programs[1] = self._program(f"flown {list(self.places.values())} {list(self.drives)}", self._flown)
        if m.tree.closed:
            programs[3] = self._program("open", lambda: open_program(m))
            programs[4] = lambda: self._program("projection", lambda: projection_program(m))
            if m.loops:
                programs[2] = self._loops
            else:  # the rows of couplings stand there for good
                J = loop_equations(m).state(np.zeros(m.nq), np.zeros(m.nv)).J
                begin, end = own.first_closed[self.number : self.number + 2]
                own.closed[begin:end] = np.reshape([in_rows(row) for row in J.tolist()], (-1, ROW))
                own.lasting[self.number], own.programs[self.number, 2] = 1, 1
        self._located = {k: LocatedProgram(program) for k, program in programs.items()}
        for k, located in self._located.items():  # couplings alone stay closed to rounding by velocities that keep them so
            own.programs[self.number, k] = located.waiting(4) if k == 4 and not m.loops else located.address
        self._pages = [(_page("begun", begun_program, one), _page("settled", settled_program, one)) for one in self._acting]
        starts = own.first_q, own.first_v, own.first_command, own.first_freedom, own.first_law, own.first_piece
        q, v, command, freedom, law, piece = (int(start[self.number]) for start in starts)
        for k, (one, pages) in enumerate(zip(self._acting, self._pages, strict=True), int(own.first_acting[self.number])):
            end = int(own.first_freedom[self.number + 1]) if one.whole else freedom + one.v + 1
            places = (q + one.q, v + one.v, command + 3 * one.drive, law, piece, piece + one.pieces, freedom + one.v, end)
            own.acting[k] = (*(page.address for page in pages), *places, self.number)
            own.laws[law : law + len(one.numbers)] = one.numbers
            law, piece = law + len(one.numbers), piece + one.pieces

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

    @cached_property
    def _acting(self) -> list[ActingJoints]:
        return acting_of(self.part.mechanism, self._bounds) if self.settles else []

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """How many efforts, commands, pieces, rows of loops, degrees of freedom, rows of axes, `ActingJoints` and numbers of
        these it has, as `RobotMotions`."""
        mechanism, acting = self.part.mechanism, self._acting
        commands, pieces = 3 * max(len(self._drives), 1), sum(one.pieces for one in acting)
        free = ROW * rows_of(self.part) + freedoms(mechanism) - mechanism.nv if self.settles else 0
        looped = {one.name: one.size // ROW for one in self._loops.outputs} if mechanism.loops else {}
        coupled = len(mechanism.couplings) * rows_of(self.part)
        efforts = self._first_drive + sum(self.drives.values())
        laws = sum(len(one.numbers) for one in acting)
        return efforts, commands, pieces, looped.get("closed", coupled), free, looped.get("axes", 0), len(acting), laws

    def going_on(self, robots: Robots) -> tuple[list[int], list[int]]:
        """The places, among the pieces of all robots, of what its next step goes on with: efforts of drives with limits, each
        before its inertia, and which stops hold."""
        rows = robots.motions.acting[int(robots.motions.first_acting[self.number]) :]
        pieces = [(int(row[6]), one) for row, one in zip(rows, self._acting, strict=False)]
        drives = [at + 2 * k for at, one in pieces for k, joint in enumerate(one.driven) if joint.limited]
        return drives, [at + 2 * len(one.driven) + len(one.bounds) + k for at, one in pieces for k in range(len(one.bounds))]

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
    made = with_efforts(scene, [[robot.sizes[k] for robot in robots] for k in range(8)])
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
        size = nv + -nv % ROW
        M: list[list[Scalar]] = [[0.0] * size for _ in range(size)]
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
        nothing, sixes = [[0.0] * nv], [map(in_rows, M[k : k + ROW]) for k in range(0, size, ROW)]
        return {
            "closed": [in_rows(rates) for rates in closed or nothing],
            "bends": [-h * drift for drift in row_drifts(tree, motions, rigid)] or [0.0],
            "along": in_rows(along),
            "axes": [in_rows(rates) for rates in (axes if freedoms(mechanism) > nv else nothing)],
            "inertia": [[list(block) for block in zip(*lines, strict=True)] for lines in sixes],
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

    speeds = dict.fromkeys(("v", "free", "after", "tau"), mechanism.nv)
    return trace(moved, {"h": (), "q": mechanism.nq, **speeds, "smooth": ()}, f"moved_{mechanism.name}")


def in_rows(values: Sequence[Scalar]) -> list[list[Scalar]]:
    """Velocities or efforts in rows of six, the last filled up by zeros."""
    filled = [*values, *[0.0] * (-len(values) % ROW)]
    return [filled[k : k + ROW] for k in range(0, len(filled), ROW)]


# --- drives and stops -----------------------------------------------------------------------------------------------------
@dataclass(frozen=True, eq=False)
class ActingJoints:
    """Drives and stops that are settled together: those of a degree of freedom, or of a robot that has some in its loops.

    Attributes:
        driven, bounds, stiff: the drives, and the limits that are stops, with their stiffness.
        kind, numbers: what it shares with others, "" if nothing, and what distinguishes it from them.
        q, v, drive: where it begins in q, v and among the drives; whole: the robot, if it is all of it.
    """

    driven: Sequence[Driven]
    bounds: Sequence[Bound]
    stiff: Sequence[Any]
    kind: str = ""
    numbers: Sequence[float] = ()
    q: int = 0
    v: int = 0
    drive: int = 0
    whole: Mechanism | None = None

    @property
    def curved(self) -> bool:
        """As of `dynamics.settling`."""
        return self.whole is not None and bool(self.bounds and self.whole.loops)

    @property
    def pieces(self) -> int:
        """How many numbers say which pieces of drives and stops hold."""
        return 2 * len(self.driven) + (3 if self.curved else 2) * len(self.bounds) + 2

    def taking(self, take: Callable[[float], Any]) -> ActingJoints:
        """The same with others in place of its numbers, which are given in their order; without a place."""
        if self.whole is not None:
            return self
        driven = []
        for joint in self.driven:
            drive = copy(joint.drive)
            for name, value in vars(drive).items():
                if isinstance(value, float) and isfinite(value):
                    object.__setattr__(drive, name, take(value))  # a symbol, which its own checks would refuse
            driven.append(Driven("", drive, 0, 0, take(joint.limit) if joint.limited else inf, slice(0)))
        bounds = [Bound("", 0, 0, bound.sign, take(bound.at)) for bound in self.bounds]
        return ActingJoints(driven, bounds, [take(stiff) for stiff in self.stiff])


def acting_of(mechanism: Mechanism, bounds: Sequence[Bound]) -> list[ActingJoints]:
    """The drives and stops of a robot, degree of freedom by degree of freedom if it has none in loops, and known kinds only."""
    driven, stiff, known, found = mechanism.driven, stiffnesses(mechanism, bounds), digest(mechanism), []
    if freedoms(mechanism) > mechanism.nv or (bounds and mechanism.loops) or known is None:
        return [ActingJoints(driven, bounds, stiff, f"{known} {bounds}" if known else "", whole=mechanism)]
    for v, q in sorted({(joint.v, joint.q) for joint in driven} | {(bound.v, bound.q) for bound in bounds}):
        drives, stops = ([k for k, part in enumerate(parts) if part.v == v] for parts in (driven, bounds))  # type: ignore[attr-defined]
        one = ActingJoints([driven[k] for k in drives], [bounds[k] for k in stops], [stiff[k] for k in stops])
        numbers: list[float] = []
        kind = repr(one.taking(lambda number, to=numbers: to.append(number) or 0.0))  # type: ignore[misc]
        found.append(replace(one, kind=kind, numbers=numbers, q=q, v=v, drive=max(drives, default=0)))
    return found


#: The compiled programs of drives and stops by kind, shared by robots: a robot compiles what no robot before it had.
_PAGES: WeakValueDictionary[str, LocatedProgram] = WeakValueDictionary()


def _page(role: str, make: Callable[[ActingJoints], Program], acting: ActingJoints) -> LocatedProgram:
    key = acting.kind and f"scene {role} {acting.kind}"
    found = _PAGES.get(key) or LocatedProgram(found_or_traced(key or None, partial(make, acting)))
    if key:
        _PAGES[key] = found
    return found


def begun_program(acting: ActingJoints) -> Program:
    """(h, q, v, commands, numbers, before) → the pieces of a step's first pass, their efforts, the inertias that reduce these.

    before: the pieces of the last step, which go on where drives gave all they can, and stops held.
    Of a whole robot these are of all velocities as in rows of six, then of the degrees of freedom of driven loops (`freedoms`).
    "carried", likewise: the velocities that rates of change over the step count from, in the axes after it.
    """

    def begun(h: Scalar, q: Any, v: Any, commands: Any, numbers: Any, before: Any) -> dict[str, Any]:
        own, wished, stops = _efforts(acting, h, q, v, commands, numbers)
        start, carried = starting(wished, stops, curved=own.curved), list(v)
        now = going_on(own.driven, start, flatten(start)[1](before))
        if own.whole is not None:
            carried = [rate - h * turned for rate, turned in zip(v, kinematics.turning(own.whole.tree, v), strict=True)]
            if freedoms(own.whole) > own.whole.nv:  # a · v̇ counts from there, without the accelerations of loops at v̇ = 0
                speeds = joint_motion(own.whole, q, carried)[1][own.whole.nv :]
                rates = joint_accelerations(own.whole, q, v, [0.0] * own.whole.nv)[own.whole.nv :]
                carried += [speed - h * rate for speed, rate in zip(speeds, rates, strict=True)]
        return {**_written(own, stops, h, now), "carried": _filled(own, carried)}

    return trace(begun, _inputs(acting) | {"before": acting.pieces}, f"begun_{acting.whole.name if acting.whole else 'joint'}")


def settled_program(acting: ActingJoints) -> Program:
    """(h, q, v, commands, numbers, rates, pieces) → what rates of change in a step lead to: pieces, efforts, inertias; whether
    these are others than those that the rates result from; the work of drives and stops in the step [J]; the push of stops.
    """

    def settled(h: Scalar, q: Any, v: Any, commands: Any, numbers: Any, rates: Any, pieces: Any) -> dict[str, Any]:
        own, wished, stops = _efforts(acting, h, q, v, commands, numbers)
        place, speeds, found = q, v, {"rates": rates}
        if own.whole is not None:
            m, (place, speeds) = own.whole, joint_motion(own.whole, q, v)
            after = [rate + h * change for rate, change in zip(v, rates, strict=True)]
            if freedoms(m) > m.nv:
                turned = [rate + turn for rate, turn in zip(rates, kinematics.turning(m.tree, v), strict=True)]
                found["rates"] = [*rates, *joint_accelerations(m, q, v, turned)[m.nv :]]
            if own.curved:
                projection = projection_program(m)
                ends = partial(end_gaps, m, own.bounds, h, q, after, lambda end: call(projection, end, list(after))["q"])
                found["advances"] = advances(stops, place, ends, after, found["rates"], h)
        now = flatten(starting(wished, stops, curved=own.curved))[1](pieces)
        end = seen(own.driven, wished, stops, h, found, now)
        mean = [speed + 0.5 * h * rate for speed, rate in zip(speeds, found["rates"], strict=True)]
        power = drive_power(own.driven, wished, speeds, found["rates"], h)
        return {
            **_written(own, stops, h, end),
            "unsettled": end.unsettled,
            "work": h * power + work_of_stops(stops, end.multipliers, mean, h),
            "stopping": sum(end.multipliers, 0.0),
        }

    inputs = _inputs(acting)
    inputs |= {"rates": inputs["v"], "pieces": acting.pieces}
    return trace(settled, inputs, f"settled_{acting.whole.name if acting.whole else 'joint'}")


def _inputs(acting: ActingJoints) -> dict[str, int | tuple[int, ...]]:
    nq, nv = (acting.whole.nq, acting.whole.nv) if acting.whole else (1, 1)
    return {"h": (), "q": nq, "v": nv, "commands": (max(len(acting.driven), 1), 3), "numbers": len(acting.numbers)}


def _efforts(
    acting: ActingJoints, h: Scalar, q: Any, v: Any, commands: Any, numbers: Any
) -> tuple[ActingJoints, list[DriveForce], list[Stop]]:
    """Drives and stops with their numbers, the efforts of drives without their limits, and the stops, at a state."""
    given = iter(numbers)
    own, asked = acting.taking(lambda _: next(given)), [Command(*commands[k]) for k in range(len(acting.driven))]
    place, speeds = joint_motion(own.whole, q, v) if own.whole else (q, v)
    return own, drive_forces(own.driven, place, speeds, asked, (), h), stops_at(own.bounds, own.stiff, place, speeds, h)


def _written(acting: ActingJoints, stops: Sequence[Stop], h: Scalar, now: Settled) -> dict[str, Any]:
    """Pieces as numbers, and what they push with."""
    effort: list[Scalar] = [0.0] * (freedoms(acting.whole) if acting.whole else 1)
    resisting = list(effort)
    for push in pushes_of(acting.driven, stops, h, now):
        effort[push.index] = effort[push.index] + push.effort
        resisting[push.index] = resisting[push.index] + push.resisting
    pieces = flatten(replace(now, found={}))[0]
    return {"pieces": pieces, "effort": _filled(acting, effort), "resisting": _filled(acting, resisting)}


def _filled(acting: ActingJoints, values: Sequence[Scalar]) -> list[Scalar]:
    """Values of all degrees of freedom (`freedoms`), those of a robot's tree as in rows of six."""
    if acting.whole is None:
        return list(values)
    return [*(value for row in in_rows(values[: acting.whole.nv]) for value in row), *values[acting.whole.nv :]]
