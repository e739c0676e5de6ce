"""The numbers of a scene: where its free bodies stand in the state, its robots, and the energies and momenta of its states."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, cached_property, lru_cache, partial
from typing import Any, NamedTuple

import numpy as np

from ...analysis.momentum import chord_energies, strain
from ...compile import Kernel, found_or_traced
from ...contact.laws import RECOVERY
from ...contact.models.penalty import FALL, Penalty
from ...contact.parting import THROWN
from ...contact.scene import Contact
from ...contact.scenes.arrays import OverlapList, RobotMotions, Scene, Springs
from ...contact.scenes.building import solid_names
from ...contact.scenes.parts import RobotPart, free_links
from ...contact.scenes.robots.carrying import NUMBERS, link_numbers, link_of
from ...contact.scenes.springs import MOST, law_program, spring_program
from ...contact.scenes.step import advance_scene
from ...errors import InputError
from ...model import JointKind, Mechanism
from ...model.mechanism import digest
from ...procedure import Floats, Ints, LocatedProgram, apply_at, local, procedure
from ...records.contact_record import throws
from ...scalar import Program, Scalar, trace
from ...spatial import DenseRotation, Matrix3, Motion, Transform, Vector3
from .robots import RobotSteps, robots_of


class ScenePage:
    """The steps of a scene, one page for each state: those of rigid contact in this class, subclasses have others.

    `gains`: whether the energy that contact adds in a step is an error, and not what springs give back; `recovery`: how fast
    overlaps are closed, as of `Touched.closes` [m/s].
    """

    gains = True
    recovery = RECOVERY

    def __init__(self, mechanism: Mechanism, contact: Contact):
        """A page before the first step."""
        self._mechanism, thrown = mechanism, THROWN * mechanism.tree.mass * FALL
        self._overlaps = OverlapList(np.array([1, 0]), thrown, np.zeros(4), np.zeros((0, 3)))

    def bound(self, scene: Scene, *rest: Any) -> Callable[[], int]:
        """Steps from a state, with arguments as of `advance_scene`; returns how they ended."""
        return advance_scene.bound(self.whole(scene), *rest)

    def whole(self, scene: Scene) -> Scene:
        """A scene with what the page has of it."""
        self._make_room(len(scene.points.gap))
        return scene._replace(overlaps=self._overlaps, springs=self.springs(scene))

    def springs(self, scene: Scene) -> Springs:
        """The springs at its points."""
        return scene.springs

    def begin(self) -> None:
        """Lets a motion begin at another state."""
        self._overlaps.marks[:] = (1, 0)

    def carried(self) -> np.ndarray:
        """Rows (n, 6) that are carried from step to step beside impulses; the third number of each is negative."""
        rows = np.zeros((int(self._overlaps.marks[1]), 6))
        if len(rows):
            rows[:, [0, 1, 3]], rows[:, 2] = self._overlaps.rows[: len(rows)], -1.0
        return rows

    def load(self, rows: np.ndarray, *, begins: bool) -> None:
        """Continues from such rows; `begins`: whether no step was made yet."""
        self.begin()
        self._make_room(len(rows))
        self._overlaps.rows[: len(rows)] = rows[:, [0, 1, 3]]
        self._overlaps.marks[:] = (begins, len(rows))

    def refusal(self, scene: Scene) -> Exception:
        """What is wrong where steps ended otherwise than those of `advance_scene` do."""
        return AssertionError("steps end in the ways of `advance_scene`")

    def thrown(self, names: Sequence[str]) -> tuple[str, ...]:
        """A warning about solids of these names that overlap at the start, as of `throws`."""
        energy, depth, a, b = self._overlaps.held
        return throws(self._mechanism, [(names[int(a)], names[int(b)])], np.array([-depth]), np.array([energy]), slowly=True)

    def _make_room(self, rows: int) -> None:
        more, own = rows - len(self._overlaps.rows), self._overlaps
        if more > 0:  # else steps that are bound already would go on with other rows
            self._overlaps = own._replace(rows=np.concatenate([own.rows, np.zeros((more, 3))]))


class SpringsPage(ScenePage):
    """Springs and dampers at every point."""

    gains = False
    recovery = np.inf

    def __init__(self, mechanism: Mechanism, contact: Contact):
        """The law of a point with the options of the contact; it is compiled for the first steps."""
        super().__init__(mechanism, contact)
        self._model, self._clock = Penalty.of(contact.options, mechanism.tree.mass), np.zeros(2)

    def springs(self, scene: Scene) -> Springs:
        law = np.array([program.address for program in _law_of(self._model)])
        return Springs(law, self._clock, np.zeros(len(scene.bodies.mass)), np.zeros((len(scene.points.gap), 3)))

    def begin(self) -> None:
        super().begin()
        self._clock[0] = 0.0

    def refusal(self, scene: Scene) -> Exception:
        longest, step = float(self._clock[1]), scene.rules.step
        return InputError(
            f"{self._mechanism.name}: the springs of contact need steps of {longest:.2g} s, and a step of {step:g} s is made "
            f"in at most {MOST} parts. Give a step of at most {MOST * longest:.2g} s, or a smaller stiffness, such as "
            "options={'stiffness': 1e5}"
        )


@lru_cache(maxsize=64)
def _law_of(model: Penalty) -> tuple[LocatedProgram, LocatedProgram]:
    return LocatedProgram(law_program(model)), LocatedProgram(spring_program(model))


#: By the model of contact.
PAGES: dict[str, type[ScenePage]] = {"rigid": ScenePage, "penalty": SpringsPage}


# --- the numbers of a scene -----------------------------------------------------------------------------------------------
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
        # no body is free, and what robots have stands in the order of the mechanism
        self._robots_alone = not self.links and all((np.diff(places) == 1).all() for places in (self.q, self.v))

    def q_of(self, rows: np.ndarray, robots: np.ndarray, records: int = 1) -> np.ndarray:
        """The coordinates (records, nq) in rows of bodies and behind them."""
        return self._of_scene(self.q, rows, robots, records)

    def v_of(self, rows: np.ndarray, robots: np.ndarray, records: int = 1) -> np.ndarray:
        """The velocities (records, nv), likewise."""
        return self._of_scene(self.v, rows, robots, records)

    def take(self, q: np.ndarray, v: np.ndarray, rows_q: np.ndarray, rows_v: np.ndarray, robots: RobotMotions) -> None:
        """Writes a state (nq), (nv) into rows of bodies, and of robots."""
        if self._robots_alone:
            robots.q[:], robots.v[:] = q, v
            return
        for values, places, rows, own in ((q, self.q, rows_q, robots.q), (v, self.v, rows_v, robots.v)):
            whole = np.zeros(rows.size + own.size)
            whole[places] = values
            rows.reshape(-1)[:], own[:] = whole[: rows.size], whole[rows.size :]

    def _of_scene(self, places: np.ndarray, rows: np.ndarray, robots: np.ndarray, records: int) -> np.ndarray:
        if self._robots_alone:
            return robots.reshape(records, -1)
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
        """Where the velocities of all joints of a kind whose axes turn stand (joints, nv of the kind)."""
        places: dict[JointKind, list[Any]] = {}
        for link in self.mechanism.tree.links:
            if type(link.kind).turning is not JointKind.turning:
                places.setdefault(link.kind, []).append(link.velocities(range(self.mechanism.nv)))
        return {kind: np.array(columns) for kind, columns in places.items()}

    @cached_property
    def quantities(self) -> Quantities:
        """Energies and momenta; only results want them."""
        return Quantities(self.mechanism)


# --- energies and momenta, by lists of links: no robot needs code of its own ----------------------------------------------
class LinkRows(NamedTuple):
    """The links of a mechanism, each behind the one that it is joined to."""

    above: Ints  # the link that each is joined to, or −1
    first_q: Ints  # where its coordinates and velocities begin in a state
    first_v: Ints
    pages: Ints  # the address of its `_quantities_program`
    numbers: Floats[53]  # as of `carrying.link_numbers`
    pose: Floats[4, 3]  # space for its rotation to the world, and its origin [m]
    twist: Floats[6]  # and for its twist in its own axes


class Quantities:
    """(q, v) → kinetic and potential energy (n), center of mass (n, 3), momentum [l; p] (n, 6) of a scene."""

    def __init__(self, mechanism: Mechanism):
        links = mechanism.tree.links
        self._mechanism, self._pages = mechanism, [_page(link.kind) for link in links]
        numbers = np.zeros((len(links), 53))
        for row, own in zip(numbers, map(link_numbers, links), strict=True):
            row[: len(own)] = own
        rows = [(link.parent, link.q_start, link.v_start, page.address) for link, page in zip(links, self._pages, strict=True)]
        above, first_q, first_v, pages = np.array(rows, dtype=np.int64).T.copy()
        room = np.zeros((len(links), 4, 3)), np.zeros((len(links), 6))
        self._links = LinkRows(above, first_q, first_v, pages, numbers, *room)
        self._chords: Kernel | None = None
        if any(any(chord.armature) or any(chord.stiffness) for chord in mechanism.tree.chords):
            known, sizes = digest(mechanism), {"q": mechanism.nq, "v": mechanism.nv}
            program = found_or_traced(
                known and f"chord energies {known}",
                lambda: trace(partial(chord_energies, mechanism.tree), sizes, f"chords_{mechanism.name}"),
            )
            self._chords = Kernel(program, quick=True)

    def __call__(self, q: np.ndarray, v: np.ndarray) -> list[np.ndarray]:
        total = np.zeros((len(q), 11))
        observe(self._links, np.ascontiguousarray(q).reshape(-1), np.ascontiguousarray(v).reshape(-1), total)
        kinetic, potential, moment = total[:, 0], total[:, 1] - total[:, 2:5] @ self._mechanism.gravity, total[:, 2:5]
        if self._chords is not None:
            more = self._chords(q, v)
            kinetic, potential = kinetic + more[:, 0], potential + more[:, 1]
        mass = float(self._links.numbers[:, 13].sum())
        return [kinetic, potential, moment / mass if mass else moment, total[:, 5:]]


@cache
def _page(kind: JointKind) -> LocatedProgram:
    return LocatedProgram(found_or_traced(f"quantities {kind!r}", lambda: _quantities_program(kind)))


def _quantities_program(kind: JointKind) -> Program:
    """(q, v, numbers, frame, moving) → of a link from that above: pose, twist in its own axes; and what it adds to the kinetic
    energy and that of springs [J], to the first moment of mass [kg·m], and to the momentum [l; p] about the world's origin."""

    def quantities(q: Any, v: Any, numbers: Any, frame: Any, moving: Any) -> dict[str, Any]:
        link, above = link_of(kind, numbers), Transform(DenseRotation(Matrix3.of(frame[0:3])), Vector3.of(frame[3]))
        X, inertia = link.pose(q), link.inertia
        pose: Transform = (above @ X).dense()
        own = zip(kind.subspace(link.coordinates(q)), v, strict=True)
        twist = sum((S * rate for S, rate in own), Motion.of(moving).to_child(X))
        momentum = inertia.times(twist)
        doubled = twist.dot(momentum) + sum((a * x * x for a, x in zip(link.armature, v, strict=True)), 0.0)
        moment = pose.rotation.rotate(inertia.first_moment) + pose.translation * inertia.mass
        stored: Scalar = strain(link, list(q)) if kind.nq == kind.nv else 0.0
        return {
            "pose": [*map(list, pose.rotation.matrix()), list(pose.translation)],
            "twist": list(twist),
            "adds": [0.5 * doubled, stored, *moment, *momentum.to_parent(pose)],
        }

    numbers = NUMBERS + 5 * kind.nv
    return trace(
        quantities, {"q": kind.nq, "v": kind.nv, "numbers": numbers, "frame": (4, 3), "moving": 6}, f"quantities_{kind.name}"
    )


@procedure
def observe(links: LinkRows, q: Floats, v: Floats, total: Floats[11]) -> None:
    """Adds what all links have of the quantities of `_quantities_program` to the row of every state, one behind the other."""
    frame, moving, adds = local(4, 3), local(6), local(11)
    for state in range(len(total)):
        row_q, row_v = q[state * len(q) // len(total) : len(q)], v[state * len(v) // len(total) : len(v)]
        for link in range(len(links.above)):
            above = links.above[link]
            if above >= 0:
                frame[:] = links.pose[above]
                moving[:] = links.twist[above]
            else:
                frame[:] = 0.0
                moving[:] = 0.0
                for k in range(3):
                    frame[k, k] = 1.0
            apply_at(
                links.pages[link],
                (row_q[links.first_q[link] :], row_v[links.first_v[link] :], links.numbers[link], frame, moving),
                (links.pose[link], links.twist[link], adds),
            )  # fmt: skip
            total[state] += adds
