"""Contact of many free bodies: steps by procedures whose code is the same for any number of bodies."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ...analysis.loop_motion import loop_coordinates
from ...compile import Kernel
from ...contact.plan import ContactPlan, pairs_of_scene
from ...contact.scene import Contact
from ...contact.scenes.building import roomier, scene_of, solid_names
from ...contact.scenes.motion import read_state
from ...contact.scenes.parts import free_links, robot_parts
from ...contact.scenes.robots import let_go
from ...contact.scenes.scene import Scene
from ...contact.scenes.step import find
from ...contact.settings import as_plain
from ...contact.shapes import FAR
from ...errors import InputError
from ...model import Bound, Command, Mechanism, freedoms
from ..integrators import INTEGRATORS, RK4, Integrator, Midpoint, TimeStepping
from ..results.contact_record import ContactRecord, Touched, thrown
from ..scenes.free_rows import FreeRows
from ..scenes.pages import PAGES, ScenePage
from ..scenes.quantities import Quantities
from ..scenes.robots import RobotSteps, with_robots
from ..scenes.stepper import Logged, SceneStepper
from ..stepping.actuation import Actuation
from ..stepping.choice import EXPLICIT
from ..stepping.equations import parts_of
from ..stepping.forcing import Forcing
from ..stepping.stiffness import fastest_rate
from .contract import Asked, Interaction
from .traced_or_scene import BEGINS

__all__ = ["SceneContact"]

#: With the option "sleeping", bodies sleep after this many steps in which they have hardly moved.
PATIENCE = 20
#: Shapes this close to each other are reported as touching where contact failed [m].
_NEAR = 1e-3
#: To compile a scene for the first time, and the equations of motion of each robot in it [s].
_SECONDS, _PER_ROBOT = 4.0, 1.0


@dataclass(frozen=True, eq=False)
class SceneContact(Interaction):
    """Contact of a mechanism of many free bodies.

    Attributes:
        steps_itself: its steps are not traced, but made by a `SceneStepper`.
    """

    mechanism: Mechanism
    contact: Contact
    steps_itself = True

    def plan(self) -> ContactPlan:
        """The pairs that a step looks for near ones among; its code is the same for any number."""
        begins = BEGINS[self.contact.model]
        bodies, robots = len(free_links(self.mechanism)), len(robot_parts(self.mechanism))
        enough = bodies >= (begins.fewest if robots else begins.alone)
        why = f"{bodies} bodies are free" if enough else "shapes touch that have no traced routine"
        if self.contact.belts:
            why = f"the surface of {self.contact.belts[0]!r} moves"
        return ContactPlan("scene", why, pairs_of_scene(self.mechanism, self.contact), None, _SECONDS + robots * _PER_ROBOT)

    def integrator(self, asked: Asked, notes: list[str]) -> Integrator:
        """`time_stepping`, with Runge-Kutta steps of the bodies that nothing touches.

        Raises:
            InputError: for an integrator that cannot handle jumps of the velocities.
        """
        if asked.name in ("auto", "time_stepping"):
            return TimeStepping(RK4())
        if asked.name == "semi_implicit_euler":
            return TimeStepping()
        if asked.name == Midpoint.name:
            raise InputError(
                f"{self.mechanism.name}: integrator='midpoint' is for contact of one robot, and this is a scene of many bodies "
                "(`contact.explain()` says why). Take integrator='auto', with which bodies that nothing touches are at order 4 "
                "and others turn at order 2, and a smaller step for more"
            )
        if asked.name in INTEGRATORS:
            raise InputError(
                f"the contact model {self.contact.model!r} makes velocities jump, which {asked.name} cannot: take "
                "integrator='auto', or a model of springs and dampers, contact='penalty'"
            )
        raise InputError(
            f"there is no integrator {asked.name!r}; with contact there are auto, time_stepping, semi_implicit_euler"
        )

    @property
    def key(self) -> Hashable:  # type: ignore[override]
        """The object itself: there is one per mechanism and content."""
        return self

    @cached_property
    def plain(self) -> dict[str, Any]:  # type: ignore[override]
        """The contact as numbers, texts, lists and dictionaries."""
        return as_plain(self.contact)

    @cached_property
    def names(self) -> list[str]:
        """The names of the solids' bodies."""
        return solid_names(self.mechanism, self.contact)

    def touching(self, q: np.ndarray) -> list[str]:
        """The pairs that touch, or nearly do (within `_NEAR`), at q (nq), in words: "'ball' on 'ground'"."""
        robots, still = robots_of(self.mechanism), np.zeros(self.mechanism.nv)
        scene = with_robots(scene_of(self.mechanism, self.contact, [], step=_NEAR, patience=0, flies=False), robots)
        for robot in robots:
            robot.put(scene.bodies.robots.motions, q, still)
        read_state(scene.rules, scene.bodies, scene.pulls, *FreeRows(self.mechanism).of(q, still))
        let_go(scene.rules, scene.bodies)
        while (count := find(scene)) < 0:
            scene = roomier(scene)
        near = scene.points.solid[:count][scene.points.gap[:count] < _NEAR]
        return list(dict.fromkeys(f"{self.names[a]!r} on {self.names[b]!r}" for a, b in near))

    def page(self) -> ScenePage:
        """What steps call, by the model of contact."""
        return PAGES[self.contact.model](self.mechanism, self.contact)

    def stepper(
        self, actuation: Actuation, integrator: Integrator, step: float, q: np.ndarray, v: np.ndarray,
        bounds: Sequence[Bound] = (),
    ) -> SceneStepper:  # fmt: skip
        """A stepper of the scene from a state."""
        return SceneStepper(SceneCode(self, integrator, actuation.forcing), actuation, step, q, v, bounds)

    def record_of(self, found: Sequence[Logged], page: ScenePage, h: float, q: np.ndarray, v: np.ndarray) -> Touched:
        """The record of the steps of length h that begin at the states (n, nq), (n, nv), from all that was logged."""
        rows = len(q)
        begins = np.concatenate([part.begins for part in found])
        first = np.searchsorted(begins, begins[-1] * np.arange(rows) // max(rows - 1, 1))
        sums = np.maximum.reduceat(np.concatenate([part.log.sums for part in found]), first)
        added = np.add.reduceat(np.concatenate([part.log.sums[:, 3:] for part in found]), first)
        acceleration = self._acceleration(found, first, h, v)
        starts = np.cumsum([0, *(len(part.begins) for part in found)])
        touches = np.concatenate([part.log.touches + start * _UNIT for part, start in zip(found, starts, strict=False)])
        row_of = np.full(len(begins), -1)
        row_of[first] = np.arange(rows)
        touches[:, 0] = row_of[touches[:, 0].astype(int)]
        record = self._record(touches[touches[:, 0] >= 0.0], rows, sums, added)
        stiffness = np.array([self.contact.where(*pair).stiffness or 0.0 for pair in record.bodies], dtype=float)
        closes, warned = page.overlap(h, self.names)
        warned = (*warned, *thrown(self.mechanism, record, stiffness))
        return Touched(record, acceleration, sums[:, 1], np.where(stiffness > 0.0, np.inf, closes), warned)

    def _acceleration(self, found: Sequence[Logged], first: np.ndarray, h: float, v: np.ndarray) -> np.ndarray:
        """The mean accelerations (n, nv) of the steps with these numbers, from velocities (n, nv)."""
        bodies, rows = len(self.mechanism.tree.links), FreeRows(self.mechanism)
        reached = np.concatenate([part.log.reached for part in found]).reshape(-1, bodies, 6)[first][:, rows.links]
        twists, acceleration = v[:, rows.v], np.zeros_like(v)
        rates = (reached - twists) / h
        rates[:, :, 3:] += np.cross(twists[:, :, 3:], twists[:, :, :3])
        acceleration[:, rows.v] = rates
        for robot in robots_of(self.mechanism):
            after = np.concatenate([part.reached[robot.number] for part in found])[first]
            acceleration[:, robot.part.v] = robot.acceleration(h, after, v[:, robot.part.v])
        return acceleration

    def _record(self, touches: np.ndarray, rows: int, sums: np.ndarray, added: np.ndarray) -> ContactRecord:
        """One point per pair of solids that ever pushed each other, at the center of its normal forces."""
        at, solids = touches[:, 0].astype(int), touches[:, 1:3].astype(int)
        pairs, column = np.unique(solids, axis=0, return_inverse=True)
        column = column.reshape(-1)
        shape = (rows, len(pairs))
        load = np.einsum("nk,nk->n", touches[:, 3:6], touches[:, 9:12])
        total = np.zeros(shape)
        np.add.at(total, (at, column), load)
        share = load / np.where(total[at, column] > 0.0, total[at, column], 1.0)

        def mean(columns: slice, weight: np.ndarray) -> np.ndarray:
            out = np.zeros((*shape, columns.stop - columns.start))
            np.add.at(out, (at, column), touches[:, columns] * weight[:, None])
            return out

        normal = mean(slice(9, 12), share)
        length = np.linalg.norm(normal, axis=2, keepdims=True)
        gap, friction = np.full(shape, np.inf), np.zeros(shape)
        np.minimum.at(gap, (at, column), touches[:, 12])
        np.maximum.at(friction, (at, column), touches[:, 16])
        return ContactRecord(
            bodies=tuple((self.names[a], self.names[b]) for a, b in pairs),
            force=mean(slice(3, 6), np.ones(len(touches))), position=mean(slice(6, 9), share),
            normal=normal / np.where(length > 0.0, length, 1.0), gap=np.where(np.isfinite(gap), gap, FAR),
            velocity=mean(slice(13, 16), share), friction=friction, residual=sums[:, 0], penetration=sums[:, 2],
            work=added[:, 1], gained=added[:, 0],
            moment=mean(slice(17, 20), np.ones(len(touches))) if self.contact.turns else None,
        )  # fmt: skip


def robots_of(
    mechanism: Mechanism, places: Sequence[str] = (), drives: Iterable[str] = (), bounds: Sequence[Bound] = (), *,
    flies: bool = False,
) -> list[RobotSteps]:  # fmt: skip
    """The robots of a mechanism, with the places of wrenches on them, the loops that are driven, and limits that are stops."""
    parts, driven = robot_parts(mechanism), [joint.name for joint in mechanism.driven]
    return [RobotSteps(part, number, places, list(drives), driven, bounds, flies) for number, part in enumerate(parts)]


#: Touches are logged with the number of their record; this row moves them on by one record.
_UNIT = np.array([1.0] + [0.0] * 19)


class SceneCode:
    """What a `SceneStepper` and results of its runs need in place of a compiled step.

    Attributes:
        mechanism, integrator: as of a `StepCode`.
        alone: whether nothing touches the mechanism.
    """

    alone = False

    def __init__(self, interaction: SceneContact, integrator: Integrator, forcing: Forcing):
        self.mechanism, self.integrator, self._interaction = interaction.mechanism, integrator, interaction
        self._forcing = forcing
        self._robots = robots_of(self.mechanism)
        self.code = self

    @cached_property
    def _quantities(self) -> Quantities:
        """Only results want them."""
        return Quantities(self.mechanism, self._robots)

    def scene(self, step: float, places: Sequence[str]) -> Scene:
        """A scene to step."""
        contact, flies = self._interaction.contact, getattr(self.integrator, "flight", None) is not None
        patience = PATIENCE if contact.options.get("sleeping") else 0
        return scene_of(self.mechanism, contact, places, step=step, patience=patience, flies=flies)

    def observed(self, q: np.ndarray, v: np.ndarray, u: np.ndarray) -> list[np.ndarray]:
        """Energies, center of mass and momentum of states (n, nq), (n, nv); efforts (n, size) do not matter."""
        return self._quantities(q, v)

    def closed(self, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """States (n, nq), (n, nv) with the loops of their robots closed."""
        q, v = q.copy(), v.copy()
        for robot in self._robots:
            if robot.part.mechanism.tree.closed:
                q[:, robot.part.q], v[:, robot.part.v] = robot.projection(q[:, robot.part.q], v[:, robot.part.v])
        return q, v

    def robots(
        self, step: float, places: Sequence[str], q: np.ndarray, v: np.ndarray, bounds: Sequence[Bound]
    ) -> list[RobotSteps]:
        """The robots of the scene; those whose joints are too stiff at a state for Runge-Kutta steps take none."""
        flies = getattr(self.integrator, "flight", None) is not None
        found = robots_of(self.mechanism, places, self._forcing.drives, bounds, flies=flies)
        for robot in found:
            rate, _ = fastest_rate(robot.part.mechanism, q[robot.part.q], v[robot.part.v])
            robot.flies = robot.flies and rate * step < EXPLICIT
        return found

    def page(self) -> ScenePage:
        """What its steps call."""
        return self._interaction.page()

    @property
    def efforts_follow(self) -> bool:
        """Whether efforts at joints follow from the state, as those of drives do."""
        return bool(self.mechanism.driven)

    def efforts_kernel(self, h: float, q: np.ndarray, v: np.ndarray, u: np.ndarray) -> np.ndarray:
        """The efforts at the joints (n, `freedoms`) at states, those of a controller and of drives; as of a `StepCode`."""
        m = self.mechanism
        total = np.zeros((len(u), freedoms(m)))
        total[:, : m.nv] = u[:, : m.nv]
        if freedoms(m) > m.nv:
            q, v = (np.hstack(pair) for pair in zip((q, v), self._loop_coordinates(q, v), strict=True))
        for joint, command in zip(m.driven, parts_of(self._forcing, u.T).commands, strict=True):
            commands = (Command(*values) for values in np.array(command).T.tolist())
            states = zip(q[:, joint.q].tolist(), v[:, joint.v].tolist(), commands, strict=True)
            wished = [joint.drive.law(*state).effort for state in states]
            total[:, joint.v] += np.clip(np.array(wished, dtype=float), -joint.limit, joint.limit)
        return total

    @cached_property
    def _loop_coordinates(self) -> Kernel:
        return Kernel(loop_coordinates(self.mechanism))

    def efforts_along(self, time: np.ndarray, q: np.ndarray, v: np.ndarray, held: np.ndarray) -> np.ndarray:
        """The efforts along a run, which are those that were held."""
        return np.broadcast_to(held, (len(time), held.shape[-1]))
