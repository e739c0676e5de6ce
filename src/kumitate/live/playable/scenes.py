"""A scene of many bodies as data for a page that plays it: its steps as a module with a memory of its own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from ...contact.scenes.building import moving_bodies
from ...contact.scenes.parts import RobotPart, free_links, robot_parts
from ...contact.scenes.step import DONE, advance_scene
from ...dynamics import Acting, aba_with_loops
from ...model import Mechanism, Place
from ...model.mechanism import digest
from ...procedure import LocatedProgram
from ...procedure.exported import Exported
from ...scalar import Program, absolute, call, select, trace
from ...simulate.scenes.many_bodies import ManyBodies, SceneStepper, SceneSteps
from ...simulate.scenes.model import SceneModel
from ...simulate.simulation import MechanismSimulation
from ...simulate.stepping.interaction import Interaction, Stabilisation, StepDesign
from ...simulate.stepping.step_code import StepCode
from ...spatial import Matrix3, Vector3, dot
from .programs import GRIP
from .sliders import FixedParameterError, PageSlider

#: The numbers that parameters change stand in these parts of a scene; the others are space for its steps.
_PLACES = ("rules", "bodies", "pulls", "placed", "springs", "overlaps")
_PROGRAMS = "scene.bodies.robots.motions.programs"


class PlayedScene:
    """The steps of a simulation of a scene, as a page has them."""

    def __init__(self, simulation: MechanismSimulation):
        """Those of a simulation that goes through lists."""
        assert isinstance(simulation.compiled, ManyBodies)
        self._simulation, self._many = simulation, simulation.compiled
        self._layout = simulation.actuation.forcing.layout

    # --- what sliders change ----------------------------------------------------------------------------------------------
    def numbers(self, rows: np.ndarray) -> np.ndarray:
        """The numbers of the scene that rows of parameters (n, size) change or may change, (n, …)."""
        return np.array([np.concatenate([np.ravel(x) for x in self._changeable(row).values()]) for row in rows])

    def _changeable(self, row: np.ndarray) -> dict[str, Any]:
        """Floating-point numbers of the scene that do not depend on its state, by their names, if its programs are the same."""
        model, found = self._of(row)
        if any(not (_floats(x) or np.array_equal(x, self._own[name])) for name, x in found.items()):
            raise FixedParameterError(
                f"{model.mechanism.name}: robots and springs of a scene are compiled with the numbers of their bodies, of "
                "gravity and of springs; a page has sliders of other parameters, such as friction:floor"
            )
        return {name: x for name, x in found.items() if _floats(x)}

    @cached_property
    def _own(self) -> dict[str, Any]:
        return self._of(self._simulation.actuation.constants[self._layout.at("parameters")])[1]

    def _of(self, row: np.ndarray) -> tuple[SceneModel, dict[str, Any]]:
        """The scene of a row of parameters: arrays and numbers by their names, and digests in place of addresses."""
        u = self._simulation.actuation.constants.copy()
        u[self._layout.at("parameters")] = row
        q, v = self._simulation._starts.default
        model = self._many.model_of(u)
        steps = SceneSteps(self._many, model, self._simulation.step_size, {"q": q[None], "v": v[None]})
        found = {name: x for name, x in _leaves("scene", steps.page.whole(steps.scene)) if name.split(".")[1] in _PLACES}
        return model, {**found, _PROGRAMS: [digest(robot.part.mechanism) for robot in model.robots]}

    # --- its steps --------------------------------------------------------------------------------------------------------
    @cached_property
    def code(self) -> StepCode:
        """The programs of one robot's step of the same mechanism, of which a page of a scene has those beside the step."""
        simulation = self._simulation
        design = StepDesign(simulation.integrator, simulation.actuation, Stabilisation())
        return StepCode(design, Interaction(simulation.mechanism))

    def data(
        self, stepper: SceneStepper, sliders: Sequence[PageSlider], efforts: Program | None, replayed: int
    ) -> tuple[dict[str, Any], list[PageSlider], dict[str, Any]]:
        """The steps from the state of a stepper for a page, the sliders with places in it, and what so many steps lead to.

        `efforts`: the compiled functions, as of `pushed_program`, if there are any.
        """
        stepper.make_room()
        arguments = stepper.arguments(replayed)
        scene, log = arguments[0], arguments[-1]
        located = None if efforts is None else LocatedProgram(efforts)  # which lives as long as its address is used
        scene.efforts.program[0] = located.address if located else 0
        known = dict(_leaves("scene", scene)) | dict(_leaves("log", log)) | {"q": arguments[1], "v": arguments[2]}
        known["work"] = arguments[3]
        size = self._layout.size
        at = np.unique(np.concatenate([[size], *(one.at for one in sliders)]))
        at = at[at >= size][0 if any(size in one.at for one in sliders) else 1 :]
        changed = self._names(at - size)
        wanted = {*_ARRAYS.values(), *_INTEGERS.values(), *(name for name, _ in changed)}
        exported = Exported(advance_scene, arguments)
        module = exported.module({name: x for name, x in known.items() if name in wanted and isinstance(x, np.ndarray)})
        motions, efforts, places = scene.bodies.robots.motions, scene.efforts, stepper.compiled.model.places
        data = {
            "code": np.frombuffer(module.code, np.uint8),
            **{
                kind: {role: [module.places[name][0], int(np.prod(module.places[name][1]))] for role, name in roles.items()}
                for kind, roles in (("numbers", _ARRAYS), ("integers", _INTEGERS))
            },
            "puts": {role: _indices(getattr(efforts, own)) for role, own in _PUTS.items()},
            "order": {"q": _indices(places.q), "v": _indices(places.v)},
            "changed": np.array([module.places[name][0] + 8 * k for name, k in changed], dtype=np.uint32),
            "values": np.array([float(np.ravel(known[name])[k]) for name, k in changed]),
        }
        steps = replayed if exported.run() == DONE else int(log.marks[1])
        q, v = places.q_of(arguments[1], motions.q)[0], places.v_of(arguments[2], motions.v)[0]
        moved = [one._replace(at=np.where(one.at < size, one.at, size + np.searchsorted(at, one.at))) for one in sliders]
        return data, moved, {"steps": steps, "q": q, "v": v}

    def _names(self, at: np.ndarray) -> list[tuple[str, int]]:
        """The arrays and places in them of numbers of the scene, by their places behind u."""
        found = [(name, k) for name, x in self._own.items() if _floats(x) for k in range(np.size(x))]
        return [found[k] for k in at.tolist()]


#: What a page reads and writes in the memory of a scene, by the names that it has there.
_ARRAYS = {
    "q": "q", "v": "v", "work": "work", "robotQ": "scene.bodies.robots.motions.q", "robotV": "scene.bodies.robots.motions.v",
    "number": "scene.efforts.number", "held": "scene.efforts.held", "effort": "scene.bodies.effort",
    "pull": "scene.pulls.value", "robotEffort": "scene.bodies.robots.effort", "robotU": "scene.bodies.robots.motions.u",
    "commands": "scene.bodies.robots.motions.commands", "impulse": "scene.memory.impulse", "parted": "scene.overlaps.rows",
    "clock": "scene.springs.clock", "touches": "log.touches",
}  # fmt: skip
_INTEGERS = {
    "every": "every", "result": "result", "marks": "log.marks", "counts": "scene.counts", "quiet": "scene.bodies.quiet",
    "still": "scene.bodies.still", "bed": "scene.bodies.bed", "solid": "scene.memory.solid", "feature": "scene.memory.feature",
    "begun": "scene.overlaps.marks",
}  # fmt: skip
#: The fields of `Efforts` that say from which numbers of u some of these arrays come.
_PUTS = {"effort": "bodies", "pull": "pulls", "robotEffort": "robots", "robotU": "own", "commands": "commands"}


def _indices(places: np.ndarray) -> np.ndarray:
    """Indices as a page has them, one more than they are, as there is −1."""
    return (np.ravel(places) + 1).astype(np.uint32)


def mobility_of_parts(m: Mechanism, lever: Program, places: Sequence[Place]) -> Program:
    """(q, body, point) → J M⁻¹ Jᵀ (9) of a point of a scene, as of `mobility_program`, from the parts that do not move others.

    M⁻¹ of free bodies is that of one, of which the numbers are chosen.
    """
    parts, bodies, layout = robot_parts(m), moving_bodies(m, robot_parts(m)), free_links(m)
    first = [m.tree.links[k].v_start for k in layout]

    def accelerations(part: RobotPart) -> Program:
        tree, nv, still = part.mechanism.base_parameter_tree, part.mechanism.nv, Acting((0.0, 0.0, 0.0))

        def moved(q: Any, tau: Any) -> list[Any]:
            return list(aba_with_loops(tree, q, [0.0] * nv, tau, still))

        return trace(moved, {"q": part.mechanism.nq, "tau": nv}, f"yield_{part.mechanism.name}")

    moved = [accelerations(part) for part in parts]

    def mobility(q: Any, body: Any, point: Any) -> list[Any]:
        jacobian = call(lever, q, body, point)["jacobian"]
        rows = [[jacobian[k * m.nv + j] for j in range(m.nv)] for k in range(3)]
        found: list[Any] = [0.0] * 9
        for part, program in zip(parts, moved, strict=True):
            own, at = [[row[k] for k in part.v] for row in rows], [q[k] for k in part.q]
            free = list(call(program, at, [0.0] * len(part.v)))
            gained = [[a - b for a, b in zip(call(program, at, row), free, strict=True)] for row in own]
            found = [x + dot(own[k // 3], gained[k % 3]) for k, x in enumerate(found)]
        if not layout:
            return found
        chosen: list[Any] = [0.0] * len(m.tree.links)
        for k, place in enumerate(places):
            chosen[place.link] = chosen[place.link] + select(absolute(body - k) < 0.5, 1.0, 0.0)
        numbers = [[1.0 / bodies.mass[k], *bodies.center[k], *bodies.yielding[k].ravel()] for k in layout]
        lightness, *rest = [dot(column, [chosen[k] for k in layout]) for column in zip(*numbers, strict=True)]
        center, yielding = Vector3.of(rest[:3]), Matrix3.of([rest[k : k + 3] for k in (3, 6, 9)])
        wrenches = [[sum(row[k + i] for k in first) for i in range(6)] for row in rows]
        forces = [Vector3.of(wrench[3:]) for wrench in wrenches]
        moments = [Vector3.of(wrench[:3]) - center.cross(f) for wrench, f in zip(wrenches, forces, strict=True)]
        return [
            x + moments[k // 3].dot(yielding @ moments[k % 3]) + lightness * forces[k // 3].dot(forces[k % 3])
            for k, x in enumerate(found)
        ]

    return trace(lambda *given: {"mobility": mobility(*given)}, {"q": m.nq, **GRIP}, f"mobility_{m.name}")


def _leaves(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    """The arrays and numbers in a record, by their names."""
    if isinstance(value, tuple):
        for field, part in zip(value._fields, value, strict=True):  # type: ignore[attr-defined]
            yield from _leaves(f"{name}.{field}", part)
    else:
        yield name, value


def _floats(value: Any) -> bool:
    return isinstance(value, float) or (isinstance(value, np.ndarray) and value.dtype == np.float64)
