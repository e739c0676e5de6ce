"""The numbers of a scene: where its free bodies stand in the state, its robots, energies and momenta."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from ...contact.scene import Contact
from ...contact.scenes.arrays import MovingBodies, RobotMotions
from ...contact.scenes.building import moving_bodies, solid_names
from ...contact.scenes.parts import RobotPart, free_links
from ...model import JointKind, Mechanism
from .pages import PAGES, ScenePage
from .robots import RobotSteps, robots_of


class ScenePlaces:
    """Where coordinates and velocities of a mechanism stand in a scene: in rows of bodies, behind which those of robots stand.

    Attributes:
        links: the numbers of the free bodies; free_q (links, 7), free_v (links, 6): where theirs stand in the mechanism.
        q (nq), v (nv): where those of the mechanism stand in the scene. Rows of links of robots are not used.
    """

    def __init__(self, mechanism: Mechanism, parts: Sequence[RobotPart]):
        links, m = mechanism.tree.links, mechanism
        self.links = free_links(mechanism)
        free = [(links[k].coordinates(range(m.nq)), links[k].velocities(range(m.nv))) for k in self.links]
        self.free_q, self.free_v = (np.array([one[k] for one in free], dtype=np.int64).reshape(-1, 7 - k) for k in (0, 1))
        self.q, self.v = np.zeros(m.nq, dtype=np.int64), np.zeros(m.nv, dtype=np.int64)
        for places, rows, own in (
            (self.q, self.free_q, [part.q for part in parts]), (self.v, self.free_v, [part.v for part in parts])
        ):  # fmt: skip
            width, behind = rows.shape[1], np.concatenate([*own, np.zeros(0, dtype=np.int64)])
            places[rows] = width * np.array(self.links, dtype=np.int64)[:, None] + np.arange(width)
            places[behind] = width * len(links) + np.arange(len(behind))

    def q_of(self, rows: np.ndarray, robots: np.ndarray, records: int = 1) -> np.ndarray:
        """The coordinates (records, nq) in rows of bodies and behind them."""
        return _of_scene(self.q, rows, robots, records)

    def v_of(self, rows: np.ndarray, robots: np.ndarray, records: int = 1) -> np.ndarray:
        """The velocities (records, nv), likewise."""
        return _of_scene(self.v, rows, robots, records)

    def take(self, q: np.ndarray, v: np.ndarray, rows_q: np.ndarray, rows_v: np.ndarray, robots: RobotMotions) -> None:
        """Writes a state (nq), (nv) into rows of bodies, and of robots."""
        for values, places, rows, own in ((q, self.q, rows_q, robots.q), (v, self.v, rows_v, robots.v)):
            whole = np.zeros(rows.size + own.size)
            whole[places] = values
            rows.reshape(-1)[:], own[:] = whole[: rows.size], whole[rows.size :]


def _of_scene(places: np.ndarray, rows: np.ndarray, robots: np.ndarray, records: int) -> np.ndarray:
    if not robots.size:  # all bodies are free
        return rows.reshape(records, -1)
    return np.concatenate([rows.reshape(records, -1), robots.reshape(records, -1)], axis=1)[:, places]


class SceneModel:
    """The numbers of a scene: a mechanism and its contact, as some values of the parameters make them.

    Attributes:
        places: of coordinates and velocities; names: of the solids' bodies; robots: without wrenches, drives and stops.
    """

    def __init__(self, mechanism: Mechanism, contact: Contact):
        self.mechanism, self.contact = mechanism, contact
        self.names = solid_names(mechanism, contact)

    @cached_property
    def robots(self) -> list[RobotSteps]:
        return robots_of(self.mechanism)

    @cached_property
    def places(self) -> ScenePlaces:
        return ScenePlaces(self.mechanism, [robot.part for robot in self.robots])

    def turning(self, v: np.ndarray) -> np.ndarray:
        """The rates of velocities (n, nv) by the turning of their axes, as `kinematics.turning`."""
        rates = np.zeros_like(v)
        for kind, columns in self._columns.items():
            for k, rate in enumerate(kind.turning(list(np.moveaxis(v[:, columns], -1, 0)))):
                rates[:, columns[:, k]] = rate
        return rates

    @cached_property
    def _columns(self) -> dict[JointKind, np.ndarray]:
        """Where the velocities of all joints of a kind stand (joints, nv of the kind)."""
        found: dict[JointKind, list[Any]] = {}
        for link in self.mechanism.tree.links:
            found.setdefault(link.kind, []).append(link.velocities(range(self.mechanism.nv)))
        return {kind: np.array(columns) for kind, columns in found.items()}

    @cached_property
    def quantities(self) -> Quantities:
        """Energies and momenta; only results want them."""
        return Quantities(self.mechanism, self.places, self.robots)

    def page(self) -> ScenePage:
        """The procedures of its steps, by the model of contact."""
        return PAGES[self.contact.model](self.mechanism, self.contact)


class Quantities:
    """(q, v) → kinetic and potential energy (n), center of mass (n, 3), momentum [l; p] (n, 6) of a scene."""

    def __init__(self, mechanism: Mechanism, places: ScenePlaces, robots: Sequence[RobotSteps]):
        every = moving_bodies(mechanism, [robot.part for robot in robots])
        self._places, self._bodies = places, _FreeBodies(every, places.links, mechanism.gravity)
        self._robots = robots

    def __call__(self, q: np.ndarray, v: np.ndarray) -> list[np.ndarray]:
        found = [self._bodies(q[:, self._places.free_q], v[:, self._places.free_v])]
        masses = [float(self._bodies.mass.sum())]
        for robot in self._robots:
            found.append(robot.observed(q[:, robot.part.q], v[:, robot.part.v]))
            masses.append(float(robot.part.mechanism.tree.mass))
        kinetic, potential, centers, momenta = zip(*found, strict=True)
        center = sum(mass * center for mass, center in zip(masses, centers, strict=True)) / sum(masses)
        return [np.sum(kinetic, axis=0), np.sum(potential, axis=0), np.asarray(center), np.sum(momenta, axis=0)]


class _FreeBodies:
    """The same of the free bodies alone, from their q (n, bodies, 7) and v (n, bodies, 6)."""

    def __init__(self, every: MovingBodies, free: Sequence[int], gravity: Sequence[float]):
        self.mass, self._center, self._central = every.mass[free], every.center[free], every.central[free]
        self._base_turn, self._base_place = every.base_turn[free], every.base_place[free]
        self._gravity = np.array([float(part) for part in gravity])

    def __call__(self, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        turn = self._base_turn @ _rotations(q[:, :, :4])
        place = np.einsum("bij,nbj->nbi", self._base_turn, q[:, :, 4:]) + self._base_place
        place = place + np.einsum("nbij,bj->nbi", turn, self._center)
        spin = v[:, :, :3]
        speed = np.einsum("nbij,nbj->nbi", turn, v[:, :, 3:] + np.cross(spin, self._center))
        about = np.einsum("bij,nbj->nbi", self._central, spin)
        kinetic = 0.5 * (np.einsum("nbi,nbi->n", spin, about) + np.einsum("b,nbi,nbi->n", self.mass, speed, speed))
        linear = self.mass[:, None] * speed
        angular = np.einsum("nbij,nbj->nbi", turn, about) + np.cross(place, linear)
        moment = np.einsum("b,nbi->ni", self.mass, place)
        momentum = np.concatenate([angular.sum(axis=1), linear.sum(axis=1)], axis=1)
        return kinetic, -moment @ self._gravity, moment / max(float(self.mass.sum()), 1e-300), momentum


def _rotations(q: np.ndarray) -> np.ndarray:
    """R (..., 3, 3) of unit quaternions (..., 4), as `spatial.quaternion_rotation`."""
    x, y, z, w = np.moveaxis(q, -1, 0)
    rows = [
        [1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y)],
        [2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x)],
        [2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)],
    ]
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)
