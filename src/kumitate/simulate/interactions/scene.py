"""Contact of many free bodies: steps by procedures whose code is the same for any number of bodies."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ...contact.plan import ContactPlan, pairs_of_scene, pairs_traced
from ...contact.scene import Touchable, contact_pairs, nothing_touches
from ...contact.scenes.building import roomier, scene_of, solid_names
from ...contact.scenes.motion import read_state
from ...contact.scenes.parts import free_links, robot_parts
from ...contact.scenes.robots import let_go
from ...contact.scenes.step import touch
from ...errors import InputError, ModelError
from ...model import drive_states
from ..integrators import RK4, Integrator, Midpoint, TimeStepping
from ..scenes.many_bodies import ManyBodies
from ..scenes.model import ScenePlaces
from ..scenes.robots import robots_of, with_robots
from ..stepping.interaction import Asked, Stabilisation, StepDesign
from .contact import ContactOfBodies

#: Shapes this close to each other are reported as touching where contact failed [m].
_NEAR = 1e-3
#: To compile a scene for the first time, and the equations of motion of each robot in it [s].
_SECONDS, _PER_ROBOT = 4.0, 1.0


@dataclass(frozen=True, eq=False)
class SceneContact(ContactOfBodies):
    """Contact of a mechanism of many free bodies, whose steps are made over lists of bodies."""

    of_many_bodies = True

    @cached_property
    def begins_traced(self) -> bool:  # type: ignore[override]
        """Of robots with up to two objects, and of one body."""
        bodies = len(free_links(self.mechanism))
        return bodies <= (1 if bodies == len(self.mechanism.tree.links) else 2)

    def plan(self) -> ContactPlan:
        """The pairs that a step looks for near ones among; its code is the same for any number."""
        belts, seconds = self.contact.belts, _SECONDS + len(robot_parts(self.mechanism)) * _PER_ROBOT
        why = f"the surface of {belts[0]!r} moves" if belts else "one motion goes through lists of what is near"
        pairs = pairs_of_scene(self.mechanism, self.contact)
        return ContactPlan("scene", why, pairs, None, seconds, self._traced_seconds())

    def _traced_seconds(self) -> float | None:
        """The time to compile code of its own [s], where batches begin with it; None also for shapes that it does not have."""
        with suppress(InputError, ModelError):
            if self.begins_traced:
                return pairs_traced(contact_pairs(self.mechanism, self.mechanism.tree, self.contact), self.mechanism.nv)[2]
        return None

    def integrator(self, asked: Asked, notes: list[str]) -> Integrator:
        """`time_stepping`, with Runge-Kutta steps of the bodies that nothing touches."""
        if asked.name in ("auto", "time_stepping", "semi_implicit_euler"):
            return TimeStepping() if asked.name == "semi_implicit_euler" else TimeStepping(RK4())
        if asked.name == Midpoint.name:
            raise InputError(
                f"{self.mechanism.name}: integrator='midpoint' is for contact of one robot, and this is a scene of many bodies "
                "(`contact.explain()` says why). Take integrator='auto', with which bodies that nothing touches are at order 4 "
                "and others turn at order 2, and a smaller step for more"
            )
        raise self._no_integrator(asked.name, "auto, time_stepping, semi_implicit_euler")

    def touching(self, q: np.ndarray) -> list[str]:
        robots, bodies = robots_of(self.mechanism), len(self.mechanism.tree.links)
        scene = with_robots(scene_of(self.mechanism, self.contact, [], step=_NEAR, patience=0, flies=False), robots)
        rows, places = (np.zeros((bodies, 7)), np.zeros((bodies, 6))), ScenePlaces(self.mechanism, [one.part for one in robots])
        places.take(q, np.zeros(self.mechanism.nv), *rows, scene.bodies.robots.motions)
        read_state(scene.rules, scene.bodies, scene.pulls, *rows)
        let_go(scene.rules, scene.bodies)
        while (count := touch(scene)) < 0:
            scene = roomier(scene)
        near, names = scene.points.solid[:count][scene.points.gap[:count] < _NEAR], solid_names(self.mechanism, self.contact)
        return list(dict.fromkeys(f"{names[a]!r} on {names[b]!r}" for a, b in near))

    def advance(self, design: StepDesign) -> ManyBodies:
        return ManyBodies(self.mechanism, self.contact, design)

    def check(self, stabilisation: Stabilisation) -> None:
        """Refuses bodies without shapes, drives with states of their own, and loops not closed by projection."""
        if not Touchable.of(self.mechanism, self.mechanism.tree, self.contact).moving:
            raise nothing_touches(self.mechanism)
        for joint in self.mechanism.driven:
            if drive_states(joint.drive):
                raise InputError(
                    f"{self.mechanism.name}: the {joint.drive.kind} drive of {joint.name!r} has a state of its own, which "
                    f"scenes of many free bodies cannot simulate; take it out by with_drives({{{joint.name!r}: None}})"
                )
        if not stabilisation.projects and self.mechanism.tree.closed:
            closing = [*(loop.name for loop in self.mechanism.loops), *(item.name for item in self.mechanism.couplings)]
            raise InputError(
                f"{self.mechanism.name}: a scene of many free bodies closes its loops ({', '.join(closing)}) by projection "
                "after every step, not by errors that decay; leave out `baumgarte`"
            )
