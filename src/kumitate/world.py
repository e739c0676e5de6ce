"""`World`: robots and objects in one place, each with its own name, coordinates and controller."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .analysis import joint_motion
from .contact import Contact, Surface
from .contact.placement import ground_gaps
from .control.controllers import evaluated, signature_of
from .errors import InputError, KumitateError, did_you_mean
from .loading import load
from .model import WORLD, Body, Geometry, Joint, Mechanism, Mesh, Plane, Shape, merge
from .model.shapes.mesh_files import SUFFIXES
from .model.solid_bodies import solid
from .model.things import SEPARATOR, Thing, things_of
from .model.values import checked_array, checked_numbers, checked_pose, shown
from .robot import Robot
from .run import Run, simulate
from .spatial import Transform, pose

if TYPE_CHECKING:
    from .simulation import Simulation

#: What a controller can know of others, by what stands before the colon.
_TOLD = ("pose", "velocity", "q", "v")
#: A thing that is deeper in the ground at the start than this is refused [m].
_DEEP = 5e-3


@dataclass(frozen=True, eq=False)
class PlacedThing:
    """A robot or an object in a world.

    Attributes:
        name: of it, which begins the names of a robot's bodies and joints: "arm/hand"; an object's body has the name alone.
        robot: it alone, standing where it does, with its functions: its poses and inverse kinematics are those of the world.
        start: its own state (q, v) at the start.

    >>> arm = World().add("pa10", name="arm", at=(0.0, 0.0, 1.0))
    >>> arm.robot.pose(arm.start[0], "base")[:3, 3].tolist()
    [0.0, 0.0, 1.0]
    """

    name: str
    robot: Robot
    start: tuple[np.ndarray, np.ndarray]
    prefix: str


class World:
    """Robots and objects with their ground, from which simulations are made.

    Attributes:
        name: of the world; gravity: acceleration of free fall [m/s²] (3).
        placed: what stands in it, by name.

    >>> import kumitate as km
    >>> world = World()
    >>> arm = world.add("pa10", name="arm")
    >>> cube = world.add(km.box((0.05, 0.05, 0.05), mass=0.1), at=(0.8, 0.0, 0.025), name="cube")
    >>> world.ground(friction=0.6)
    >>> world.control("arm", km.control.gravity_compensation(arm.robot))
    >>> run = world.simulate(duration=0.1)
    >>> run["arm"].q.shape, run["cube"].position[-1].round(3).tolist()
    ((101, 7), [0.8, 0.0, 0.025])
    """

    def __init__(self, name: str = "world", *, gravity: Any = (0.0, 0.0, -9.81)):
        """An empty world."""
        x, y, z = checked_numbers(name, "gravity [m/s²]", gravity, 3)
        self.name, self.gravity = name, (x, y, z)
        self.placed: dict[str, PlacedThing] = {}
        self._ground: list[Geometry] = []
        self._surfaces: dict[str, Surface] = {}
        self._apart: list[tuple[str, str]] = []
        self._driving: dict[tuple[str, str], tuple[Callable[..., Any], dict[str, str]]] = {}

    def __repr__(self) -> str:
        return f"World({self.name!r}, {', '.join(self.placed) or 'empty'})"

    # --- what stands in it ------------------------------------------------------------------------------------------------
    def add(
        self, what: Any, *, at: Any = (0.0, 0.0, 0.0), name: str = "", q: Any = None, fixed: bool = False, **options: Any
    ) -> PlacedThing:  # fmt: skip
        """Adds a robot or an object.

        Args:
            what: a robot, a mechanism, or what `km.load` loads: a name, or the path of a file, such as a whole SDF or MJCF
                world; or an object: a body, as of `km.box`, or the path of a mesh.
            at: where: a position [m] (3), or a pose, of an object, of a floating base, or of the base of a robot.
            name: by which it is called; by default its own.
            q: coordinates that a robot starts at: a list, a dictionary by joints, or the name of one of its `starts`.
            fixed: whether an object stands still, as a table does.
            options: of `km.load`, such as `floating_base=True`; of a mesh, those of `km.solid`, such as `mass=0.3`.

        Raises:
            InputError: for a name that is taken, and for an object without mass or shape.
            ModelError: as of `km.load`.
        """
        X = _pose(self.name, at)
        if isinstance(what, str | Path) and Path(what).suffix.lower() in SUFFIXES:
            path = Path(what)
            what = solid(Mesh(str(path), resolved=str(path.resolve())), **{"name": name or path.stem, **options})
        elif options and not isinstance(what, str | Path):
            raise InputError(f"{self.name}: {next(iter(options))} is an option of files and names; make {shown(what)} with it")
        if isinstance(what, Body):
            placed = self._object(replace(what, name=name or what.name), X, fixed)
        else:
            robot = what if isinstance(what, Robot) else load(what, **options)
            placed = _standing(self.name, robot, name or robot.name, X, q, self.gravity)
        if placed.name in self.placed:
            raise InputError(f"{self.name}: there is a {placed.name!r} already; give this one another name, name=…")
        if not placed.name or SEPARATOR in placed.name or placed.name in (WORLD, "ground"):
            raise InputError(
                f"{self.name}: something is called {placed.name!r}; a name must have letters, no {SEPARATOR!r}, and not be "
                "world or ground. Give another, name=…"
            )
        self.placed[placed.name] = placed
        vars(self).pop("robot", None)
        return placed

    def _object(self, body: Body, X: Transform, fixed: bool) -> PlacedThing:
        """A body that is free, or stands still."""
        if not body.collisions:
            raise InputError(
                f"{self.name}: the object {body.name!r} has no shape to touch with; give it `collisions`, or use km.box"
            )
        if not (fixed or body.mass > 0.0):
            raise InputError(
                f"{self.name}: the object {body.name!r} has no mass, so it cannot move; give it one, or fixed=True"
            )
        joint = Joint(body.name, "fixed" if fixed else "floating", WORLD, body.name, X if fixed else Transform())  # type: ignore[arg-type]
        robot = Robot(Mechanism(body.name, (body,), (joint,), gravity=self.gravity))
        start = robot.start if fixed else robot.state(pose={body.name: X})
        return PlacedThing(body.name, robot, start, "")

    def place(self, name: str, q: Any, v: Any = None) -> None:
        """Lets a robot or an object begin at other coordinates.

        Args:
            name: of it.
            q: as of `add`, or of an object a position [m] or a pose; v: its velocities (nv), at rest unless given.

        Raises:
            InputError: for a name that is not in the world, and numbers of another shape.
        """
        placed = self._thing(name)
        robot = placed.robot
        if not placed.prefix and np.shape(q) != (robot.nq,):
            start = robot.state(pose={name: _pose(self.name, q, "q")})
        else:
            start = _start(self.name, robot, name, q)
        speeds = start[1] if v is None else checked_array(self.name, f"v of {name!r}", v, (robot.nv,), error=InputError)
        self.placed[name] = replace(placed, start=(start[0], speeds))
        vars(self).pop("robot", None)

    def ground(
        self, shape: Shape | None = None, *, at: Any = (0.0, 0.0, 0.0), friction: float | None = None, **surface: Any
    ) -> None:
        """Adds ground: the floor z = 0, or a shape that stands still, such as a slope, a step, or a `km.HeightField`.

        Args:
            shape: by default a plane; at: where, as of `add`.
            friction: of all ground [1], 0.5 unless given; surface: its other properties, as of `km.Surface`, such as
                `restitution`. What is not given stays as an earlier call said.
        """
        self._ground.append(Geometry(shape or Plane(), _pose(self.name, at)))
        given = surface if friction is None else {"friction": friction, **surface}
        self._surfaces["ground"] = replace(self._surfaces.get("ground", Surface(0.5)), **given)

    def surface(self, name: str, friction: float = 0.5, **surface: Any) -> None:
        """Gives a robot, an object, or one body such as "arm/hand" a surface: friction and more, as of `km.Surface`."""
        for body in self._bodies(name):
            self._surfaces[body] = Surface(friction, **surface)

    def apart(self, one: str, other: str) -> None:
        """Lets two things, bodies, or one of them and "ground", pass through each other."""
        ends = [["ground"] if name == "ground" else self._bodies(name) for name in (one, other)]
        self._apart += [(a, b) for a in ends[0] for b in ends[1]]

    def control(self, name: str, controller: Any = None, *, target: Any = None, **told: str) -> None:
        """Gives a robot what drives it, in place of what did before.

        Args:
            name: of the robot.
            controller: its efforts (nv), constant, or as a function of time, of its own q and v, and of what else it is told.
            target: of its drives, one value per joint with a drive, likewise. Position drives hold the start otherwise.
            told: further parameters of the functions by name, and what they are: "pose:cube", "velocity:arm/hand", "q:cube",
                "v:cube".

        Raises:
            InputError: for a robot or a body that is not in the world, and for a target of a robot without drives.
        """
        mechanism = self._thing(name).robot.mechanism
        for parameter, what in told.items():
            kind, _, of = what.partition(":")
            if kind not in _TOLD or not of:
                known = ", ".join(f"{kind}:NAME" for kind in _TOLD)
                raise InputError(f"{self.name}: {parameter}={what!r} is not known; give one of {known}")
            self._thing(of) if kind in "qv" else self._bodies(of)
        if target is not None and not mechanism.driven:
            raise InputError(f"{self.name}: {name!r} has no drives, which have targets; give it some, robot.with_drives({{…}})")
        for group, given, size in (("controller", controller, mechanism.nv), ("target", target, len(mechanism.driven))):
            self._driving.pop((group, name), None)
            if given is not None:
                what = "the efforts" if group == "controller" else "the targets"
                values = (
                    given if callable(given) else _constant(checked_array(self.name, f"{what} of {name!r}", given, (size,)))
                )
                self._driving[group, name] = values, told

    def _missing(self, what: str, name: str, known: Collection[str]) -> InputError:
        near = did_you_mean(name, known, lead=", ")
        return InputError(f"{self.name}: there is no {what} {name!r}{near}; there are {', '.join(self.placed) or 'none'}")

    def _thing(self, name: str) -> PlacedThing:
        if name not in self.placed:
            raise self._missing("robot or object", name, self.placed)
        return self.placed[name]

    def _bodies(self, name: str) -> list[str]:
        """The bodies of a thing, or the one body or frame of this name."""
        if name in self.placed:
            placed = self.placed[name]
            return [placed.prefix + body.name for body in placed.robot.mechanism.bodies]
        known = [placed.prefix + place for placed in self.placed.values() for place in placed.robot.mechanism.tree.places]
        if name not in known:
            raise self._missing("robot, object or body", name, [*self.placed, *known])
        return [name]

    # --- as one mechanism -------------------------------------------------------------------------------------------------
    @cached_property
    def robot(self) -> Robot:
        """All of it as one robot, which starts where everything is put.

        Raises:
            InputError: for a world in which nothing moves, and for what begins in the ground, all at once.
        """
        mechanism = Mechanism(self.name, (), (), gravity=self.gravity)
        for placed in self.placed.values():
            mechanism = merge(mechanism, placed.robot.mechanism, prefix=placed.prefix)
        starts = [placed.start for placed in self.placed.values()]
        q, v = (np.concatenate([np.zeros(0), *parts]) for parts in zip(*starts, strict=True)) if starts else np.zeros((2, 0))
        if not mechanism.nv:
            raise InputError(f"{self.name}: nothing moves in it; add a robot, or an object that is not fixed")
        return Robot(mechanism, start=(q, v))

    @property
    def contact(self) -> Contact | None:
        """Who may touch whom: all that only the world connects, and the ground; None where nobody may touch anybody."""
        apart = {frozenset(pair) for pair in self._apart}
        things = self.placed.values()
        solids = [[one.prefix + body.name for body in one.robot.mechanism.bodies if body.collisions] for one in things]
        others = [["ground"] if self._ground else [], *solids]
        pairs = (frozenset((a, b)) for k, one in enumerate(solids) for two in others[: k + 1] for a in one for b in two)
        if all(pair in apart for pair in pairs):
            return None
        return Contact(ground=self._ground, surfaces=dict(self._surfaces), apart=list(dict.fromkeys(self._apart)))

    def _law(self, group: str) -> Callable[..., Any] | None:
        """The efforts of all (nv), or the targets of all drives, as a function of (t, q, v); None where nobody has any."""
        given = {name: law for (kind, name), law in self._driving.items() if kind == group}
        if not given:
            return None
        robot, things = self.robot, things_of(self.robot.mechanism)
        values = [0.0] * robot.nv
        if group == "target":
            place = joint_motion(robot.mechanism, robot.start[0].tolist(), [0.0] * robot.nv)[0]
            values = [float(place[joint.q]) if joint.drive.holds else 0.0 for joint in robot.mechanism.driven]
        parts = []
        for name, (function, told) in given.items():
            thing, own = things[name], self.placed[name]
            reads = {parameter: _reader(robot, things, what) for parameter, what in told.items()}
            names = {own.prefix + joint.name for joint in own.robot.mechanism.driven}
            places = [k for k, joint in enumerate(robot.mechanism.driven) if joint.name in names]
            where = range(thing.v.start, thing.v.stop) if group == "controller" else places
            parts.append((function, thing.q, thing.v, tuple(where), reads))

        def law(t: Any, q: Any, v: Any, **inputs: Any) -> Any:
            whole = list(values)
            for function, of_q, of_v, where, reads in parts:
                seen = {parameter: read(q, v) for parameter, read in reads.items()}
                own = np.asarray(evaluated(function, t, q[of_q], v[of_v], {**inputs, **seen}))
                for k, value in zip(where, own, strict=True):
                    whole[k] = value
            return np.array(whole)

        told_by_world = {parameter for _, told in given.values() for parameter in told}
        whole = signature_of(*(function for function, *_ in parts))
        kept = [one for one in whole.parameters.values() if one.name not in told_by_world]
        law.__signature__ = whole.replace(parameters=kept)  # type: ignore[attr-defined]
        return law

    # --- in motion --------------------------------------------------------------------------------------------------------
    def simulation_options(self, **options: Any) -> dict[str, Any]:
        """The options of a simulation of the world, with others.

        Raises:
            InputError: for options that the world says itself, and for robots and objects that begin in the ground.
        """
        own = {"contact": self.contact, "controller": self._law("controller")}
        if (target := self._law("target")) is not None:
            options = {**options, "inputs": {"target": target, **(options.get("inputs") or {})}}
        for name, remedy in (("contact", "world.ground, world.surface and world.apart"), ("controller", "world.control")):
            if name in options:
                raise InputError(f"{self.name}: {name} is what the world says; use {remedy}")
        self._check_start()
        return {**{name: value for name, value in own.items() if value is not None}, **options}

    def simulate(self, *, duration: float, **options: Any) -> Run:
        """Simulates it from its start; `run["arm"]` is a robot or an object along the run.

        Args:
            duration: [s]; options: as of `km.simulate`.
        """
        return simulate(self.robot, **self.simulation_options(duration=duration, **options))

    def simulation(self, **options: Any) -> Simulation:
        """A simulation of it to step, or to make batches of; `state["arm"]` is a robot or an object. As of `km.Simulation`."""
        from .simulation import Simulation  # loaded where steps are asked for

        return Simulation(self.robot, **self.simulation_options(**options))

    def _check_start(self) -> None:
        """Refuses a start in the ground, naming all that are."""
        if not self._ground:
            return
        told = []
        for placed in self.placed.values():
            with suppress(KumitateError):  # nothing of it can touch, or by routines of lists alone, whose runs warn
                gaps = ground_gaps(placed.robot.mechanism, placed.start[0], Contact(ground=self._ground))
                body, gap = min(gaps.items(), key=lambda one: one[1])
                barred = (placed.prefix + body, "ground") in self._apart or ("ground", placed.prefix + body) in self._apart
                if gap < -_DEEP and not barred:
                    told.append(f"{placed.name!r} begins {-gap:.3g} m deep in the ground, at its body {body!r}")
        if told:
            raise InputError(f"{self.name}: {'; '.join(told)}. Move it up, at=…, or let it pass, world.apart(NAME, 'ground')")


def _pose(owner: str, given: Any, what: str = "at") -> Transform:
    """A pose from a position, or from what is one."""
    if np.shape(given) == (3,) and not isinstance(given, Transform):
        return pose(xyz=given)
    return checked_pose(owner, what, given)


def _standing(owner: str, robot: Robot, name: str, X: Transform, q: Any, gravity: Any) -> PlacedThing:
    """A robot whose base stands, or begins, at a pose."""
    start = _start(owner, robot, name, q)
    free = [joint for joint in robot.mechanism.joints if joint.parent == WORLD and joint.kind.nv == 6]
    mechanism = replace(robot.mechanism, gravity=gravity)
    if not free:
        mechanism = merge(Mechanism(mechanism.name, (), (), gravity=gravity), mechanism, X)
        return PlacedThing(name, Robot(mechanism, start=start), start, f"{name}{SEPARATOR}")
    placed = Robot(mechanism, start=start)
    poses = {joint.child: X @ checked_pose(joint.child, "its pose", placed.pose(start[0], joint.child)) for joint in free}
    start = placed.state(pose=poses)[0], start[1]
    return PlacedThing(name, Robot(mechanism, start=start), start, f"{name}{SEPARATOR}")


def _start(owner: str, robot: Robot, name: str, q: Any) -> tuple[np.ndarray, np.ndarray]:
    """The state of a robot with these coordinates, by joints or the name of a start; its own for None."""
    if q is None:
        return robot.start
    if isinstance(q, str):
        return robot.state(start=q)
    if isinstance(q, Mapping):
        return robot.state(q)
    return np.array(checked_array(owner, f"q of {name!r}", q, (robot.nq,), error=InputError)), np.zeros(robot.nv)


def _constant(values: np.ndarray) -> Callable[..., Any]:
    return lambda t, q, v: values


def _reader(robot: Robot, things: Mapping[str, Thing], what: str) -> Callable[[Any, Any], Any]:
    """(q, v) of all → what a controller is told."""
    kind, _, of = what.partition(":")
    if kind in ("q", "v"):
        place = getattr(things[of], kind)
        return (lambda q, v: q[place]) if kind == "q" else (lambda q, v: v[place])
    body = things[of].bodies[0] if of in things else of
    read_pose, read_velocity = robot.pose, robot.velocity
    return (lambda q, v: read_pose(q, body)) if kind == "pose" else (lambda q, v: read_velocity(q, v, body))
